// Package toolargs reads the input of tool calls: its text, as people search
// it, and the files it names. Tools and their arguments are those of formats.md
// §32; a tool that is not listed there is read by the names of its arguments.
package toolargs

import (
	"slices"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// Args gathers what is searched of one call: the tool's name, then every
// string and number of its input on a line of its own, in order and without JSON
// syntax, so that a command or an edited piece of code is found as it was written,
// and an issue or a port by its number (matching.md rule 11). The zero value is ready; Add it the input, then take Text and Files.
type Args struct {
	Tool string
	// Dir is the folder that relative paths start from, unless the input names
	// another one (workdir).
	Dir string

	text  strings.Builder
	files []string
	base  string // what relative paths start from
}

// AddCall gives an event a call: tool, text and files. An input that is a
// string with JSON inside (function call arguments) is opened.
func AddCall(e *transcript.Event, tool, dir string, input jsonv.Value) {
	a := Args{Tool: tool, Dir: dir}
	a.Add("", input)
	a.AddTo(e)
}

// AddTo gives an event what was gathered.
func (a *Args) AddTo(e *transcript.Event) {
	if a.Tool != "" {
		e.Tools = append(e.Tools, a.Tool)
	}
	for _, f := range a.Files() {
		e.Files = transcript.AppendPath(e.Files, "", f)
	}
	e.AddText(transcript.Call, a.Text())
}

// Text is the tool's name, then the input's strings.
func (a *Args) Text() string {
	if a.Tool == "" {
		return strings.TrimPrefix(a.text.String(), "\n")
	}
	return a.Tool + a.text.String()
}

// searching names parts of the names of tools whose path is where they look,
// not a file they read or write.
var searching = []string{"grep", "glob", "search", "find", "list"}

// Files lists the paths that were named, absolute where Dir is known, each
// once. A tool that searches touches none.
func (a *Args) Files() []string {
	tool := strings.ToLower(a.Tool)
	if tool == "ls" {
		return nil
	}
	for _, s := range searching {
		if strings.Contains(tool, s) {
			return nil
		}
	}
	return a.files
}

// Open returns an input as an object or a list where it is a string that holds
// one; any other value is returned as it is.
func Open(v jsonv.Value) jsonv.Value {
	if v.Kind() != jsonv.String || len(v) < 4 {
		return v
	}
	s := strings.TrimSpace(v.Str())
	if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		if b := []byte(s); jsonv.Valid(b) {
			return b
		}
	}
	return v
}

// Add takes in one argument, or with the key "" a whole input. What depends on
// the key (paths, commands, patches) is read under the names that tools use.
func (a *Args) Add(key string, v jsonv.Value) {
	if key == "" {
		v = Open(v)
	}
	if d := v.Get("workdir"); d.Kind() == jsonv.String {
		a.base = transcript.Absolute(a.Dir, d.Str())
	}
	a.value(key, v, 0)
}

// maxDepth bounds how deep keys are told apart; of what lies deeper the strings
// count alone. Every level is walked anew, so depth without bound would cost
// quadratic time.
const maxDepth = 24

func (a *Args) value(key string, v jsonv.Value, depth int) {
	if depth > maxDepth {
		v.Strings(func(s jsonv.Value) bool { a.line("-", s.Str()); return true })
		return
	}
	switch v.Kind() {
	case jsonv.String:
		a.line(key, v.Str())
	case jsonv.Number:
		if !slices.Contains(limitKeys, key) {
			a.line("-", v.Str()) // no path and no patch, whatever its name
		}
	case jsonv.Object:
		v.Each(func(k, val jsonv.Value) bool { a.value(k.Str(), val, depth+1); return true })
	case jsonv.Array:
		if key == "command" || key == "cmd" { // the words of a command line
			var words []string
			v.Elems(func(_ int, w jsonv.Value) bool { words = append(words, w.Str()); return true })
			a.line(key, strings.Join(words, " "))
			return
		}
		v.Elems(func(_ int, val jsonv.Value) bool { a.value(key, val, depth+1); return true })
	}
}

// What the arguments of formats.md §32 hold, by their names.
var (
	pathKeys = []string{
		"file_path", "filePath", "path", "absolute_path", "target_file", "notebook_path", "filename", "fileName", "old_path", "new_path",
		"paths", "file_paths", "filePaths", "files",
	}
	// patchKeys may hold a patch, by itself or inside a script; anywhere else
	// its text is somebody's example.
	patchKeys = []string{"", "patch", "patchText", "input", "command", "cmd", "script", "code"}
	// dirKeys name the folder a command runs in: not worth a line when it is
	// the one that every call repeats.
	dirKeys = []string{"workdir", "working_directory"}
	// limitKeys bound how long a tool works and how much it says: numbers that
	// stand in almost every call, and that nobody looks for.
	limitKeys = []string{"timeout", "timeout_ms", "timeoutMs", "yield_time_ms", "max_output_tokens", "max_tokens"}
)

func (a *Args) line(key, text string) {
	if text = transcript.CleanText(text); strings.TrimSpace(text) == "" {
		return
	}
	if text == a.Dir && slices.Contains(dirKeys, key) {
		return
	}
	a.text.WriteByte('\n')
	a.text.WriteString(text)
	switch {
	case slices.Contains(pathKeys, key):
		a.File(text)
	case slices.Contains(patchKeys, key):
		a.patch(text)
	}
}

// File adds a path that the call touched.
func (a *Args) File(path string) {
	base := a.base
	if base == "" {
		base = a.Dir
	}
	a.files = transcript.AppendPath(a.files, base, path)
}

// patch reads the file headers of a patch. Inside a script a line may end in
// an escaped line break.
func (a *Args) patch(text string) {
	if !strings.Contains(text, "*** Begin Patch") {
		return
	}
	for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
		rest := text
		for len(a.files) < transcript.MaxFiles {
			_, after, ok := strings.Cut(rest, mark)
			if !ok {
				break
			}
			rest = after
			path := after[:min(len(after), 4096)]
			if end := strings.IndexAny(path, "\n\r\"`"); end >= 0 {
				path = path[:end]
			}
			path, _, _ = strings.Cut(path, `\n`)
			a.File(path)
		}
	}
}
