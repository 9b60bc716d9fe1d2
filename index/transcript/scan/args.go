package scan

import (
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// Arguments makes readable lines of a tool call's input: its strings, without
// JSON syntax, in order. Encrypted and binary payloads are left out. The zero
// value is ready.
type Arguments struct {
	Lines []string
	Files []string // paths named by the input and by patches in it, absolute where Dir is known
	Dir   string   // what relative paths start from
	Skip  string   // a working directory that every call repeats, not worth a line
}

// Text is the call as it is searched: the tool's name, then the lines.
func (c *Arguments) Text(tool string) string {
	return strings.Join(append([]string{tool}, c.Lines...), "\n")
}

// Free reads an input that is JSON written as a string, JSON, or plain text.
func (c *Arguments) Free(v jsonv.Value) {
	if v.Kind() != jsonv.String {
		c.Value("", v)
		return
	}
	text := v.Str()
	if strings.HasPrefix(text, "{") && jsonv.Valid([]byte(text)) {
		c.Value("", jsonv.Value(text))
		return
	}
	c.line("", text)
}

// maxDepth bounds how deep Value descends; what lies deeper is taken as it
// stands. Every level is walked anew, so depth without bound would cost
// quadratic time.
const maxDepth = 24

// Value adds the strings in v, which stands under key. A workdir at the top of
// v is what relative paths start from.
func (c *Arguments) Value(key string, v jsonv.Value) {
	if d := v.Get("workdir"); d.Kind() == jsonv.String && d.Str() != "" {
		c.Dir = transcript.Absolute(c.Dir, d.Str())
	}
	c.value(key, v, 0)
}

func (c *Arguments) value(key string, v jsonv.Value, depth int) {
	if depth > maxDepth {
		c.line(key, string(v))
		return
	}
	switch v.Kind() {
	case jsonv.String:
		c.line(key, v.Str())
	case jsonv.Object:
		v.Each(func(k, val jsonv.Value) bool {
			if !k.EqualKey("type") {
				c.value(k.Str(), val, depth+1)
			}
			return true
		})
	case jsonv.Array:
		if key == "command" || key == "cmd" {
			var words []string
			v.Elems(func(_ int, w jsonv.Value) bool { words = append(words, w.Str()); return true })
			c.line(key, strings.Join(words, " "))
			return
		}
		v.Elems(func(_ int, val jsonv.Value) bool { c.value(key, val, depth+1); return true })
	}
}

func (c *Arguments) line(key, text string) {
	if text = Text(text); strings.TrimSpace(text) == "" {
		return
	}
	if (key == "workdir" || key == "working_directory") && text == c.Skip {
		return
	}
	c.Lines = append(c.Lines, text)
	if (key == "path" || key == "file_path" || key == "filePath") && len(text) < 4096 && !strings.Contains(text, "\n") {
		c.File(text)
	}
	if strings.Contains(text, "*** Begin Patch") {
		c.patch(text)
	}
}

// MaxFiles bounds the files named by one event.
const MaxFiles = 1000

// File adds a path.
func (c *Arguments) File(path string) {
	path = transcript.Absolute(c.Dir, Word(strings.TrimSpace(path)))
	if path == "" || len(c.Files) >= MaxFiles {
		return
	}
	for _, f := range c.Files {
		if f == path {
			return
		}
	}
	c.Files = append(c.Files, path)
}

// patch reads the file headers of a patch. Inside a script a line may end in
// an escaped line break.
func (c *Arguments) patch(text string) {
	for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
		rest := text
		for len(c.Files) < MaxFiles {
			_, after, ok := strings.Cut(rest, mark)
			if !ok {
				break
			}
			rest = after
			end := strings.IndexAny(after[:min(len(after), 4096)], "\n\r\"`")
			if end < 0 {
				end = min(len(after), 4096)
			}
			path := after[:end]
			if i := strings.Index(path, `\n`); i >= 0 {
				path = path[:i]
			}
			c.File(path)
		}
	}
}
