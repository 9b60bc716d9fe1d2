package transcript

import (
	"strings"

	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// CallText is the searchable text of a tool call: the tool's name, then every
// string of its input on a line of its own, in order and without JSON syntax,
// so that a command or an edited piece of code is found as it was written. An
// input that is JSON inside a string (function call arguments) is opened.
// Base64 and data URLs are left out.
func CallText(name string, input jsonv.Value) string {
	var b strings.Builder
	b.WriteString(name)
	add := func(s string) {
		if s == "" || Blob(s) {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	if input.Kind() == jsonv.String {
		text := input.Str()
		inner := jsonv.Value(strings.TrimSpace(text))
		if k := inner.Kind(); k != jsonv.Object && k != jsonv.Array || !jsonv.Valid(inner) {
			add(text)
			return b.String()
		}
		input = inner
	}
	input.Strings(func(s jsonv.Value) bool { add(s.Str()); return true })
	return b.String()
}

// Blob reports whether text is a data URL or a wall of base64, which no search
// is for.
func Blob(text string) bool {
	return len(text) >= 512 && jsonv.Blob(text) || strings.HasPrefix(text, "data:") && strings.Contains(text[:min(len(text), 128)], ";base64,")
}
