package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text of a transcript is anything: a program's coloured output, a file with
// escapes that rewrite what was printed before, or letters that a bidirectional
// override shows in another order than the shell would read them. Three things are
// removed: control sequences (whole, so that no "[31m" is left standing),
// control characters, and format characters that reorder or hide text.

// cleanLine makes s safe and puts it on one line: runs of white space become one
// space.
func cleanLine(s string) string {
	return strings.Join(strings.Fields(clean(s)), " ")
}

// clean makes s safe for a terminal and keeps line breaks as "\n". Tabs become
// spaces up to the next multiple of four characters.
func clean(s string) string {
	if plain(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	column := 0
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '\x1b' || r == '\u009b' || r == '\u009d' || r == '\u0090':
			s = s[sequenceLength(s, r, size):]
			continue
		case r == '\n' || r == '\u2028' || r == '\u2029' || r == '\u0085' || r == '\v' || r == '\f':
			out.WriteByte('\n')
			column = 0
		case r == '\r':
			// "\r\n" is one line break; a lone one returned to the start of the
			// line to overwrite it, as progress displays do.
			if !strings.HasPrefix(s[size:], "\n") {
				out.WriteByte('\n')
				column = 0
			}
		case r == '\t':
			n := 4 - column%4
			out.WriteString("    "[:n])
			column += n
		case hidden(r):
		default:
			// An invalid byte is U+FFFD here.
			out.WriteRune(r)
			column++
		}
		s = s[size:]
	}
	return out.String()
}

// plain reports whether s is printable ASCII and line feeds only, which most text is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\n') || c >= 0x7f {
			return false
		}
	}
	return true
}

// hidden tells the characters that are dropped. The joiners U+200C and U+200D
// and the variation selectors stay: emoji and several scripts need them.
func hidden(r rune) bool {
	switch {
	case r == '\u200c' || r == '\u200d':
		return false
	case unicode.Is(unicode.Cc, r):
		return true
	case r == '\u00ad' || r == '\u034f' || r == '\u180e':
		return true
	case unicode.Is(unicode.Cf, r):
		// Bidirectional marks, embeddings, overrides and isolates; zero width
		// spaces; tags; annotation anchors; the byte order mark.
		return true
	case unicode.Is(unicode.Cs, r), unicode.Is(unicode.Co, r):
		return true
	}
	return false
}

// maxSequence bounds how much text a control sequence may take with it: what is
// longer was not one, and must not hide the rest of a message.
const maxSequence = 256

// sequenceLength is the length of the control sequence s begins with, ECMA-48's
// forms: CSI with parameters and a final byte, a string ended by BEL or ST (OSC, DCS,
// SOS, PM, APC), or ESC with intermediates and one final byte.
func sequenceLength(s string, first rune, size int) int {
	i := size
	kind := byte(0)
	switch first {
	case '\u009b':
		kind = '['
	case '\u009d':
		kind = ']'
	case '\u0090':
		kind = 'P'
	default:
		if i >= len(s) {
			return i
		}
		kind = s[i]
		if kind < 0x20 || kind > 0x7e {
			return i // a lone ESC
		}
		i++
	}
	end := min(len(s), size+maxSequence)
	switch kind {
	case '[':
		for i < end && s[i] >= 0x20 && s[i] <= 0x3f {
			i++
		}
		if i < end && s[i] >= 0x40 && s[i] <= 0x7e {
			i++
		}
		return i
	case ']', 'P', 'X', '^', '_':
		for j := i; j < end; j++ {
			switch {
			case s[j] == '\a':
				return j + 1
			case s[j] == '\x1b' && j+1 < len(s) && s[j+1] == '\\':
				return j + 2
			case s[j] == '\xc2' && j+1 < len(s) && s[j+1] == '\x9c':
				return j + 2
			case s[j] == '\n':
				return i // never ended: only the introducer goes
			}
		}
		return i
	}
	// ESC, intermediates (0x20-0x2f), final byte.
	for kind >= 0x20 && kind <= 0x2f && i < end && s[i] >= 0x20 && s[i] <= 0x7e {
		kind = s[i]
		i++
	}
	return i
}
