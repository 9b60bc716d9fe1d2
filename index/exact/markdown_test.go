package exact

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/sessionls/sessionls/index/transcript"
)

func markdown(text string) string {
	var l lines
	l.prose(text)
	return l.b.String()
}

func TestProse(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"plain *text*, a list:\n- [ ] one\n- two", "plain *text*, a list:\n- [ ] one\n- two\n\n"},
		{"a < b && c > d", "a < b && c > d\n\n"},
		{"<script>alert(1)</script>", "\\<script>alert(1)\\</script>\n\n"},
		{"<!-- x --> <?php <a", "\\<!-- x --> \\<?php \\<a\n\n"},
		{"[x](command:evil) ![y](http://t/p.png) [z]: javascript:x [a][b]", "[x\\](command:evil) ![y\\](http://t/p.png) [z\\]: javascript:x [a\\][b]\n\n"},
		{"use `Vec<T>` here", "use `Vec<T>` here\n\n"},
		{"``a ` b`` c", "``a ` b`` c\n\n"},
		{"`open and <b>", "\\`open and \\<b>\n\n"},
		{"a ``` b", "a \\`\\`\\` b\n\n"},
		{"| `a | <img src=x> | b` |", "| \\`a | \\<img src=x> | b\\` |\n\n"},
		{"\\`<b>`", "\\`\\<b>\\`\n\n"},
		{"\\<b> \\\\<b> \\", "\\<b> \\\\\\<b> \\\n\n"},
		{"costs $5, $`$<img>`", "costs \\$5, \\$`$<img>`\n\n"},
		{"# One\n###### Six\n#tag", "### One\n###### Six\n#tag\n\n"},
		{"Title\n===\ntext\n---\n\n---", "Title\n\\===\ntext\n\\---\n\n---\n\n"},
		{"x\n```go\na := 1\n```\ny", "x\n\n```go\na := 1\n```\n\ny\n\n"},
		{"  ```\n  a\n    b\n  ```", "```\na\n  b\n```\n\n"},
		{"~~~\n```\ninner\n```\n~~~", "````\n```\ninner\n```\n````\n\n"},
		{"```mermaid\ngraph\n```", "```text\ngraph\n```\n\n"},
		{"```<b> x\ny", "```\ny\n```\n\n"}, // never closed: closed here
		{"> ```\n> <b>", "> \\`\\`\\`\n> \\<b>\n\n"},
		{"a\r\nb\rc\u2028d\te\x00\x1b[31mred\x1b[0m\x1b]0;title\x07!", "a\nb\nc\nd    ered!\n\n"},
		{"evil \u202etxt.exe", "evil ⟨U+202E⟩txt.exe\n\n"},
		{"bad \xff byte", "bad \ufffd byte\n\n"},
	} {
		if got := markdown(tt.text); got != tt.want {
			t.Errorf("%q:\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
	if got, want := label("a\n*b* [c](d) <e> # `f`", 100), "a \\*b\\* \\[c\\]\\(d\\) \\<e\\> \\# \\`f\\`"; got != want {
		t.Errorf("label %q, want %q", got, want)
	}
}

// danger looks for what a renderer could take for more than text, as a renderer
// reads: block by block, then spans of code, then the rest.
func danger(md string) string {
	fence := ""
	for i, line := range strings.Split(md, "\n") {
		for _, r := range line {
			if unicode.IsControl(r) || turns(r) {
				return fmt.Sprintf("line %d: character %U", i, r)
			}
		}
		if fence != "" {
			if strings.HasPrefix(line, fence) && strings.Trim(line, "` ") == "" {
				fence = ""
			}
			continue
		}
		if n := len(line) - len(strings.TrimLeft(line, "`")); n >= 3 && !strings.Contains(line[n:], "`") {
			fence = line[:n]
			continue
		}
		if s := strings.TrimLeft(line, " "); len(line)-len(s) < 4 && strings.HasPrefix(s, "~~~") {
			return fmt.Sprintf("line %d: another fence", i)
		}
		// A bar ends a cell of a table, also within code.
		cells := []string{line}
		if strings.Contains(line, "|") {
			cells = append(cells, strings.Split(line, "|")...)
		}
		for _, cell := range cells {
			if what := dangerIn(cell); what != "" {
				return fmt.Sprintf("line %d: %s in %q", i, what, cell)
			}
		}
	}
	if fence != "" {
		return "a fence is not closed"
	}
	return ""
}

func dangerIn(s string) string {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && punctuation(s[i+1]):
			i++
		case c == '`':
			run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
			end := -1
			for at := i + run; at < len(s); {
				next := strings.IndexByte(s[at:], '`')
				if next < 0 {
					break
				}
				at += next
				n := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
				if n == run {
					end = at + n
					break
				}
				at += n
			}
			if end < 0 {
				return "an open code span"
			}
			i = end - 1
		case c == '<' && i+1 < len(s) && tagStart(s[i+1]):
			return "a tag"
		case c == ']' && i+1 < len(s) && strings.IndexByte("([:", s[i+1]) >= 0:
			return "a link"
		case c == '$':
			return "a formula"
		}
	}
	return ""
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{
		"text", "```\ncode\n```", "`<a>` `` ` ``", "| `a | <b> | c` |", "~~~x\n~~~\n<b>", "[a](b)\n[c]: d", "# h\n---\n===", "\\`\\<\\[", "$`$<img>`", "\x1b[0m\u202e\r\n\u2029",
		"   ````md\n```\n<b>\n```", "- ```\n  <b>\n  ```", "> ~~~\n> <b>", "    ```\n    <b>", "``` `x`\n<b>", "\\", "`\\`<b>`",
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		var l lines
		l.line("## User")
		l.line("")
		l.prose(text)
		l.code(strings.Split(visible(text), "\n"), n&7, text)
		l.line(fmt.Sprint("## ", label(text, 50)))
		md := l.b.String()
		if what := danger(md); what != "" {
			t.Fatalf("%s\nof %q:\n%s", what, text, md)
		}
		if got := strings.Count(md, "\n"); got != l.n {
			t.Fatalf("%d lines counted, %d written", l.n, got)
		}
	})
}

// Chains, links and orders against plain ways to find the same.
func FuzzOutline(f *testing.F) {
	f.Add([]byte{0, 3, 7, 2, 9, 1, 0, 10, 9}, uint8(10))
	f.Add([]byte{0, 0, 0, 255, 3, 9, 9, 200, 4, 4, 5, 4}, uint8(30))
	f.Fuzz(func(t *testing.T, ops []byte, n uint8) {
		b := newBuilder()
		count := int(n)
		for i := range count {
			if err := b.event(&transcript.Event{Seq: i, Type: "x", Role: transcript.RoleUser, Surface: transcript.Current, ID: fmt.Sprint(i)}, 0); err != nil {
				t.Fatal(err)
			}
		}
		by := make([]int, count)
		model := make([]int, count)
		for i := range by {
			by[i], model[i] = -1, i
		}
		for ; len(ops) >= 3; ops = ops[3:] {
			x, y, z := int(ops[0])-2, int(ops[1])-2, int(ops[2])-2
			b.take(x, y, z)
			if x >= 0 && y <= count && z >= 0 && z < count {
				for i := x; i < y; i++ {
					if by[i] < 0 {
						by[i] = z
					}
				}
			}
			b.move(x, y)
			if x != y && x >= 0 && x < count && y >= 0 && y < count {
				var rest []int
				for _, m := range model {
					if m == y {
						rest = append(rest, x)
					}
					if m != x {
						rest = append(rest, m)
					}
				}
				model = rest
			}
			b.from(x, y, z, false)
			b.copyOf(x, "p", y)
		}
		o := b.finish()
		for i := range count {
			got := -1
			if i < len(o.replacedBy) {
				got = int(o.replacedBy[i])
			}
			if got != by[i] {
				t.Fatalf("event %d is replaced by %d, want %d", i, got, by[i])
			}
			if o.find(fmt.Sprint(i)) != i || o.id(i) != fmt.Sprint(i) {
				t.Fatalf("event %d has the id %q", i, o.id(i))
			}
		}
		listed := 0
		for _, r := range o.replaced {
			for i := r.from; i < r.to; i++ {
				if by[i] != int(r.by) {
					t.Fatalf("%d is listed for %d", i, r.by)
				}
				listed++
			}
		}
		for _, x := range by {
			if x >= 0 {
				listed--
			}
		}
		if listed != 0 {
			t.Fatalf("%d replaced events listed too often", listed)
		}
		for i, seq := range o.current() {
			if int(seq) != model[i] {
				t.Fatalf("model order %v, want %v", o.current(), model)
			}
		}
	})
}
