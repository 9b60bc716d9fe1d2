package claude

import (
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// todoTools write a plan rather than do work.
var todoTools = map[string]bool{"TodoWrite": true, "TaskCreate": true, "TaskUpdate": true}

// block is one block of a message's content.
type block struct {
	typ                    string
	text, id, name, input  jsonv.Value
	toolID, content, error jsonv.Value
}

// blocks calls f for the blocks of a message's content, whatever its form: a
// string, a list of blocks, one block alone. The message may also be the
// content itself.
func blocks(message jsonv.Value, f func(b *block)) {
	content := message
	if message.Kind() == jsonv.Object {
		if c := message.Get("content"); c != nil {
			content = c
		}
	}
	content.Items(func(v jsonv.Value) {
		var b block
		switch v.Kind() {
		case jsonv.String:
			b.typ, b.text = "text", v
		case jsonv.Object:
			v.Each(func(k, val jsonv.Value) bool {
				if len(k) < 4 {
					return true
				}
				switch string(k[1 : len(k)-1]) {
				case "type":
					b.typ = word(val)
				case "text":
					b.text = val
				case "id":
					b.id = val
				case "name":
					b.name = val
				case "input":
					b.input = val
				case "tool_use_id":
					b.toolID = val
				case "content":
					b.content = val
				case "is_error":
					b.error = val
				}
				return true
			})
			if b.typ == "" && b.text.Kind() == jsonv.String {
				b.typ = "text"
			}
		default:
			return
		}
		f(&b)
	})
}

// str returns a string's text without NULs, which no index can hold.
func str(v jsonv.Value) string {
	s := v.Str()
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return s
}

// outputText is the text of a tool result's content: a string, or blocks of
// which images and documents are left out.
func outputText(content jsonv.Value) string {
	switch content.Kind() {
	case jsonv.String:
		return transcript.CleanText(content.Str())
	case jsonv.Number, jsonv.Bool:
		return str(content)
	}
	var b strings.Builder
	add := func(s string) {
		if s = transcript.CleanText(s); s == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	var one func(v jsonv.Value, depth int)
	one = func(v jsonv.Value, depth int) {
		switch v.Kind() {
		case jsonv.String:
			add(v.Str())
		case jsonv.Array:
			if depth < 8 {
				v.Elems(func(_ int, e jsonv.Value) bool { one(e, depth+1); return true })
			}
		case jsonv.Object:
			var typ string
			var parts [6]jsonv.Value
			v.Pick([]string{"title", "url", "text", "content", "resource", "tool_name"}, parts[:])
			typ = word(v.Get("type"))
			if typ == "image" || typ == "document" {
				return
			}
			for _, p := range parts {
				if p.Kind() == jsonv.String {
					add(p.Str())
				} else if depth < 8 {
					one(p, depth+1)
				}
			}
		}
	}
	one(content, 0)
	return b.String()
}

// typed is what a person typed in one text block, "" for injected text. A
// slash command with arguments is kept as it was typed: a custom command holds
// the real request; one without is plumbing (formats.md §3, Noise).
func typed(text string) (prompt string, command bool) {
	t := strings.TrimLeft(text, " \t\r\n")
	if strings.HasPrefix(t, "<command-name>") || strings.HasPrefix(t, "<command-message>") {
		if line, args, ok := transcript.Command(t); ok {
			if args == "" {
				return "", true
			}
			return line, true
		}
	}
	return transcript.Typed(text), false
}

// interrupted reports the marker that stands for a stopped turn.
func interrupted(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "[Request interrupted by user")
}

// summaryText strips the fixed sentences that introduce a compaction's summary.
func summaryText(text string) string {
	if strings.HasPrefix(text, "This session is being continued from a previous conversation") {
		if _, rest, ok := strings.Cut(text, "\n"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return strings.TrimSpace(text)
}
