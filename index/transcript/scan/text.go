package scan

import "strings"

// blobLength is the length in bytes from which a run of base64 is left out.
const blobLength = 256

// Text makes the searchable text of s: without NUL bytes, base64 payloads and
// the content of data URLs (matching.md rule 12). "" when nothing else is left.
func Text(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	if Blob(s) {
		return ""
	}
	if strings.Contains(s, ";base64,") {
		s = dropDataURLs(s)
	}
	return s
}

// Blob reports whether s is nothing but base64, plain or URL-safe, of at least
// 256 bytes: an image or an encrypted payload. Long words, paths and hex are
// none: base64 mixes upper case, lower case and digits.
func Blob(s string) bool {
	if len(s) < blobLength {
		return false
	}
	s = strings.TrimSpace(s)
	n := base64Run(s)
	return n >= blobLength && n == len(s) && mixed(s)
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

func dropDataURLs(s string) string {
	const mark = ";base64,"
	var b strings.Builder
	for {
		i := strings.Index(s, mark)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		i += len(mark)
		b.WriteString(s[:i])
		s = s[i:]
		if n := base64Run(s); n >= 64 {
			s = s[n:]
		}
	}
}

// maxWord bounds what is kept of a name, in bytes.
const maxWord = 400

// Word makes a name that goes into a header (a model, a branch) safe to carry:
// without control bytes and of bounded length.
func Word(s string) string {
	if len(s) > maxWord {
		s = strings.ToValidUTF8(s[:maxWord], "")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// Path makes a recorded folder safe to carry in a header: as it stands, or ""
// when it is longer than any path.
func Path(s string) string {
	if len(s) > 4096 || strings.IndexByte(s, 0) >= 0 {
		return ""
	}
	return s
}
