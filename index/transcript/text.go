package transcript

import (
	"strings"
	"unicode"
)

// blobLength is the length in bytes from which base64 alone is no text.
const blobLength = 256

// CleanText makes the searchable text of s: without NULs, base64 payloads and
// the content of data URLs (matching.md rule 12). "" when nothing else is left.
func CleanText(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	if blob(s) {
		return ""
	}
	if strings.Contains(s, dataMark) {
		s = withoutPayloads(s)
	}
	return s
}

// AddText adds a piece of searchable text, cleaned; blank text is none. It
// reports whether anything was added.
func (e *Event) AddText(kind PartKind, text string) bool {
	if text = CleanText(text); strings.TrimSpace(text) == "" {
		return false
	}
	e.Parts = append(e.Parts, Part{Kind: kind, Text: text})
	return true
}

// dataMark stands between the type and the content of a data URL.
const dataMark = ";base64,"

// blob reports whether s is nothing but an image or an encrypted payload: a
// data URL, or base64, plain or URL-safe, of some length. Long words, paths and
// hex are none: base64 mixes upper case, lower case and digits.
func blob(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "data:") {
		if i := strings.Index(s[:min(len(s), 128)], dataMark); i >= 0 {
			i += len(dataMark)
			return base64Run(s[i:]) == len(s)-i
		}
	}
	return len(s) >= blobLength && base64Run(s) == len(s) && mixed(s)
}

func base64Run(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9',
			c == '+', c == '/', c == '=', c == '-', c == '_':
		default:
			return i
		}
	}
	return len(s)
}

func mixed(s string) bool {
	var upper, lower, digit bool
	for i := range min(len(s), 512) {
		c := s[i]
		upper = upper || c >= 'A' && c <= 'Z'
		lower = lower || c >= 'a' && c <= 'z'
		digit = digit || c >= '0' && c <= '9'
	}
	return upper && lower && digit
}

// payload is the length in bytes from which base64 behind a dataMark is taken
// for content rather than for talk about data URLs.
const payload = 64

func withoutPayloads(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, dataMark)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		i += len(dataMark)
		b.WriteString(s[:i])
		s = s[i:]
		if n := base64Run(s); n >= payload {
			s = s[n:]
		}
	}
}

// Clip returns the first n bytes of s at most, as valid UTF-8: no character is
// cut through.
func Clip(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }

const (
	maxWord = 400  // bytes of a name that are kept
	maxPath = 4096 // bytes of the longest path there is
)

// CleanWord makes a name that goes into a header or names an event (a model, a
// branch, an id) safe to carry: without control bytes and of bounded length.
func CleanWord(s string) string {
	if len(s) > maxWord {
		s = Clip(s, maxWord)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// CleanPath makes a recorded path safe to carry: as it stands, or "" when it is
// longer than any path or holds what no path does.
func CleanPath(s string) string {
	if len(s) > maxPath || strings.ContainsAny(s, "\x00\n") {
		return ""
	}
	return s
}
