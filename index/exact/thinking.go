package exact

import (
	"slices"
	"strings"

	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// reasoning finds the model's reasoning in an agent's record. All agents mark it
// by the word for its kind, or by the name of the member (formats.md §3 to §10):
// {"type":"thinking","thinking":…} Claude Code and Pi, {"type":"reasoning",
// "summary":[{"text":…}]} Codex, {"type":"reasoning","text":…} dsh and OpenCode,
// {"kind":"thinking","value":…} VS Code, "thoughts" Gemini CLI, "reasoningText"
// Copilot CLI, "thinking":{"text":…} Cursor, {"say":"reasoning","text":…} Cline.
func reasoning(record []byte) string {
	var f thoughts
	f.look(jsonv.Parse(record), 0)
	return strings.Join(f.found, "\n\n")
}

// maxDepth is how deep reasoning lies in a record at most.
const maxDepth = 12

type thoughts struct{ found []string }

func (f *thoughts) add(s string) {
	if s = strings.TrimSpace(s); s != "" && !slices.Contains(f.found, s) {
		f.found = append(f.found, s)
	}
}

func (f *thoughts) look(v jsonv.Value, depth int) {
	if depth > maxDepth {
		return
	}
	switch v.Kind() {
	case jsonv.Array:
		v.Elems(func(_ int, x jsonv.Value) bool {
			f.look(x, depth+1)
			return true
		})
	case jsonv.Object:
		for _, word := range []string{v.Get("type").Str(), v.Get("kind").Str(), v.Get("say").Str()} {
			if word == "thinking" || word == "reasoning" || word == "agent_reasoning" {
				f.take(v, depth)
				return
			}
		}
		v.Each(func(key, x jsonv.Value) bool {
			switch name := key.Str(); {
			case name == "thoughts", name == "reasoningText", name == "thinking" && x.Kind() == jsonv.Object:
				f.take(x, depth)
			default:
				f.look(x, depth+1)
			}
			return true
		})
	}
}

// take adds the texts of a piece of reasoning.
func (f *thoughts) take(v jsonv.Value, depth int) {
	if depth > maxDepth {
		return
	}
	switch v.Kind() {
	case jsonv.String:
		f.add(v.Str())
	case jsonv.Array:
		v.Elems(func(_ int, x jsonv.Value) bool {
			f.take(x, depth+1)
			return true
		})
	case jsonv.Object:
		for _, name := range []string{"thinking", "text", "value", "subject", "description", "summary", "content"} {
			f.take(v.Get(name), depth+1)
		}
	}
}
