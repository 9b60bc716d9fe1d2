package exact

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text of a transcript becomes Markdown in such a way that it still reads as
// Markdown, but can neither be HTML, nor a link, nor formulas, nor end the block
// that it is in:
//
//   - what is a fenced code block there is one here, at the margin, where a
//     fence always begins one, and longer than any fence in it;
//   - a code span must end on its line; other backticks are escaped, so that no
//     renderer pairs them in another way than is done here;
//   - outside of code what begins a tag, ends a link's text or begins a formula
//     is escaped; web addresses stay plain text;
//   - headings are two levels lower, below those of the turns.

// visible makes a text safe to show: without control characters and terminal
// sequences, every line break a line feed, and with characters that turn the
// direction of text shown as what they are.
func visible(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] >= ' ' && s[i] < 0x7f || s[i] == '\n'
	}
	if clean {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0x1b:
			i += sequence(s[i:])
			continue
		case r == '\r':
			if i+1 >= len(s) || s[i+1] != '\n' {
				b.WriteByte('\n')
			}
		case r == '\n', r == '\u0085', r == '\u2028', r == '\u2029':
			b.WriteByte('\n')
		case r == '\t':
			b.WriteString("    ")
		case turns(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		case r == '\ufeff', unicode.IsControl(r):
		default:
			b.WriteRune(r) // U+FFFD for bytes that are no character
		}
		i += size
	}
	return b.String()
}

// turns tells the characters that change the direction of text.
func turns(r rune) bool {
	return r == '\u061c' || r == '\u200e' || r == '\u200f' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// maxSequence bounds a terminal sequence: what is longer is text after an escape.
const maxSequence = 4096

// sequence is the length of the terminal sequence that s begins with.
func sequence(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch c := s[1]; {
	case c == '[':
		for i := 2; i < min(len(s), maxSequence); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i
			}
		}
	case strings.IndexByte("]PX^_", c) >= 0: // a string, up to BEL or ESC \
		for i := 2; i < min(len(s), maxSequence); i++ {
			switch {
			case s[i] == 0x07:
				return i + 1
			case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			case s[i] == '\n':
				return 1
			}
		}
	}
	return 1
}

// lines is Markdown under way. Every block ends with an empty line.
type lines struct {
	b strings.Builder
	n int // lines so far
}

func (l *lines) line(s string) {
	l.b.WriteString(s)
	l.b.WriteByte('\n')
	l.n++
}

// prose writes a text that is Markdown itself.
func (l *lines) prose(text string) {
	text = strings.Trim(visible(text), "\n")
	if text == "" {
		return
	}
	rest := strings.Split(text, "\n")
	blank := true // the line before was
	for len(rest) > 0 {
		line := strings.TrimRight(rest[0], " ")
		rest = rest[1:]
		if fence, info, indent, ok := opensFence(line); ok {
			body := rest
			rest = nil
			for i, x := range body {
				if closesFence(x, fence) {
					body, rest = body[:i], body[i+1:]
					break
				}
			}
			if !blank {
				l.line("")
			}
			l.code(body, indent, info)
			blank = true
			continue
		}
		l.line(proseLine(line, blank))
		blank = line == ""
	}
	if !blank {
		l.line("")
	}
}

// opensFence tells a line that begins a code block.
func opensFence(line string) (fence, info string, indent int, ok bool) {
	s := strings.TrimLeft(line, " ")
	indent = len(line) - len(s)
	for _, c := range "`~" {
		n := len(s) - len(strings.TrimLeft(s, string(c)))
		if n < 3 {
			continue
		}
		info = strings.TrimSpace(s[n:])
		return s[:n], info, indent, c != '`' || !strings.Contains(info, "`")
	}
	return "", "", 0, false
}

func closesFence(line, fence string) bool {
	s := strings.Trim(line, " ")
	return len(s) >= len(fence) && strings.Trim(s, fence[:1]) == ""
}

// code writes a code block, without the indentation of the fence it had.
func (l *lines) code(body []string, indent int, info string) {
	longest := 2
	for _, line := range body {
		longest = max(longest, longestRun(line))
	}
	fence := strings.Repeat("`", longest+1)
	l.line(fence + language(info))
	for _, line := range body {
		bare := strings.TrimLeft(line, " ")
		l.line(line[min(indent, len(line)-len(bare)):])
	}
	l.line(fence)
	l.line("")
}

// longestRun is the length of the longest run of backticks.
func longestRun(s string) int {
	longest, n := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

// language is the name of a language that a code block may carry. Those that a
// preview draws instead of showing them are left out.
func language(info string) string {
	name, _, _ := strings.Cut(strings.ToLower(info), " ")
	if len(name) > 24 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789+#-_.") != "" {
		return ""
	}
	switch name {
	case "mermaid", "math", "latex", "katex", "plantuml", "dot", "graphviz":
		return "text"
	}
	return name
}

// proseLine is a line of prose outside of code blocks.
func proseLine(line string, afterBlank bool) string {
	bare := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(bare)]
	if len(indent) <= 3 {
		level := len(bare) - len(strings.TrimLeft(bare, "#"))
		if level >= 1 && level <= 6 && (len(bare) == level || bare[level] == ' ') {
			return strings.Repeat("#", min(6, level+2)) + inline(bare[level:])
		}
	}
	if bare != "" && (strings.Trim(bare, "=") == "" || strings.Trim(bare, "-") == "") && !afterBlank {
		return indent + `\` + bare // would make a heading of the line before
	}
	return indent + inline(bare)
}

// inline escapes what is not text or plain formatting in a line.
func inline(s string) string {
	if !strings.ContainsAny(s, "\\`<]$") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s) && s[i+1] == '`':
			i++
			i += escapeTicks(&b, s[i:])
			continue
		case c == '\\' && i+1 < len(s) && punctuation(s[i+1]):
			b.WriteString(s[i : i+2])
			i += 2
			continue
		case c == '`':
			if n := codeSpan(s[i:]); n > 0 {
				b.WriteString(s[i : i+n])
				i += n
			} else {
				i += escapeTicks(&b, s[i:])
			}
			continue
		case c == '<' && i+1 < len(s) && tagStart(s[i+1]),
			c == ']' && i+1 < len(s) && strings.IndexByte("([:", s[i+1]) >= 0,
			c == '$':
			b.WriteByte('\\')
		}
		b.WriteByte(c)
		i++
	}
	return b.String()
}

// escapeTicks escapes the run of backticks that s begins with.
func escapeTicks(b *strings.Builder, s string) int {
	n := 0
	for n < len(s) && s[n] == '`' {
		b.WriteString("\\`")
		n++
	}
	return n
}

// codeSpan is the length of the code span that s, which begins with a backtick,
// begins with; 0 if it is none that every renderer takes for one: a table's cell
// ends at any bar.
func codeSpan(s string) int {
	n := len(s) - len(strings.TrimLeft(s, "`"))
	for i := n; i < len(s); {
		at := strings.IndexByte(s[i:], '`')
		if at < 0 {
			return 0
		}
		i += at
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if run == n {
			if strings.Contains(s[n:i], "|") {
				return 0
			}
			return i + run
		}
		i += run
	}
	return 0
}

func tagStart(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '/' || c == '!' || c == '?'
}

func punctuation(c byte) bool {
	return c > ' ' && c < 0x7f && !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9')
}

// label is a short text within a line of Markdown, of at most n characters.
func label(s string, n int) string {
	s = strings.Join(strings.Fields(visible(s)), " ")
	if runes := []rune(s); len(runes) > n {
		s = string(runes[:n-1]) + "…"
	}
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte("\\`*_{}[]<>()#+!|$~&", s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
