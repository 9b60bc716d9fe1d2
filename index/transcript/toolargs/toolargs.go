// Package toolargs reads the arguments of tool calls: their text, and the files
// they name.
package toolargs

import (
	"slices"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// Args returns the arguments as an object. Some writers store them as a string
// that holds JSON; such a string is opened.
func Args(v jsonv.Value) jsonv.Value {
	if v.Kind() != jsonv.String || len(v) < 4 {
		return v
	}
	s := strings.TrimSpace(v.Str())
	if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		if b := []byte(s); jsonv.Valid(b) {
			return jsonv.Value(b)
		}
	}
	return v
}

// Text is the searchable text of a call (transcript.CallText), without NULs.
func Text(name string, args jsonv.Value) string {
	return strings.ReplaceAll(transcript.CallText(name, args), "\x00", "")
}

// fileKeys are the arguments that name one file in the tools of the agents
// (formats.md §32).
var fileKeys = []string{
	"file_path", "filePath", "path", "absolute_path", "target_file", "notebook_path", "filename", "fileName",
	"old_path", "new_path",
}

// fileListKeys are the arguments that name several.
var fileListKeys = []string{"paths", "file_paths", "filePaths", "files"}

// maxFiles bounds the files of one call.
const maxFiles = 256

// searching names parts of the names of tools whose path is where they look,
// not a file they read or write.
var searching = []string{"grep", "glob", "search", "find", "list"}

// Files lists the paths that the arguments of a read, write or edit name,
// absolute where cwd is known: path arguments and the file lines of patches.
func Files(name, cwd string, args jsonv.Value) []string {
	for _, s := range searching {
		if strings.Contains(strings.ToLower(name), s) {
			return nil
		}
	}
	args = Args(args)
	var out []string
	add := func(p string) {
		if p = strings.TrimSpace(p); p == "" || len(p) > 4096 || strings.ContainsAny(p, "\n\x00") || len(out) >= maxFiles {
			return
		}
		if p = transcript.Absolute(cwd, p); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if args.Kind() == jsonv.String {
		Patch(args.Str(), add)
		return out
	}
	args.Each(func(k, v jsonv.Value) bool {
		switch key := k.Str(); {
		case v.Kind() == jsonv.String && slices.Contains(fileKeys, key):
			add(v.Str())
		case v.Kind() == jsonv.Array && slices.Contains(fileListKeys, key):
			v.Elems(func(_ int, e jsonv.Value) bool {
				if e.Kind() == jsonv.String {
					add(e.Str())
				} else {
					for _, fk := range fileKeys {
						add(e.Get(fk).Str())
					}
				}
				return true
			})
		case v.Kind() == jsonv.String && (key == "patch" || key == "input" || key == "patchText"):
			Patch(v.Str(), add)
		}
		return true
	})
	return out
}

// Patch calls add for each file that a "*** Begin Patch" text names.
func Patch(text string, add func(string)) {
	if !strings.Contains(text, "*** ") {
		return
	}
	for line := range strings.Lines(text) {
		for _, p := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if rest, ok := strings.CutPrefix(line, p); ok {
				add(strings.TrimRight(rest, "\r\n"))
			}
		}
	}
}
