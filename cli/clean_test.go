package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessionls/sessionls/contract"
)

func TestClean(t *testing.T) {
	for _, tc := range []struct{ name, in, line string }{
		{"plain", "a b", "a b"},
		{"colours", "\x1b[1;31mred\x1b[0m", "red"},
		{"8-bit CSI", "a\u009b31mb", "ab"},
		{"raw 8-bit byte", "a\x9b31mb", "a\uFFFD31mb"},
		{"window title", "\x1b]0;evil\ax", "x"},
		{"link", "\x1b]8;;http://e\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"device control", "\x1bPq#0\x1b\\x", "x"},
		{"charset", "\x1b(Bx", "x"},
		{"reset", "\x1bcx", "x"},
		{"lone escape", "a\x1b", "a"},
		{"escape before a letter of another script", "\x1bé", "é"},
		{"unended string keeps the text", "\x1b]0;all of this\nand more", "0;all of this and more"},
		{"unended CSI", "\x1b[1;2", ""},
		{"line breaks", "a\r\nb\rc\vd\u2028e\u0085f", "a b c d e f"},
		{"tabs", "a\tb", "a b"},
		{"NUL and DEL", "a\x00b\x7fc\bd", "abcd"},
		{"bidirectional override", "a\u202egnp\u202c.exe\u2066\u2069\u200e\u200f\u061c", "agnp.exe"},
		{"zero width", "a\u200bb\ufeffc\u00add", "abcd"},
		{"tags", "a\U000e0041b", "ab"},
		{"emoji joined", "👩\u200d💻", "👩\u200d💻"},
		{"Persian with a joiner", "می\u200cخواهم", "می\u200cخواهم"},
		{"invalid", "a\xff\xc3b", "a\uFFFD\uFFFDb"},
		{"combining", "e\u0301", "e\u0301"},
	} {
		if got := cleanLine(tc.in); got != tc.line {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.line)
		}
	}
	if got, want := clean("a\tb\r\n\tc\td\x1b[K"), "a   b\n    c   d"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"a\x1b[31mb", "\x1b]0;x\a", "\x1b\x1b[", "\u202e\x9b\xff\r\n\t", "\x1bP\x1b", strings.Repeat("\x1b[", 50), "👩‍💻潮"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if !utf8.ValidString(got) {
			t.Errorf("%q is not valid", got)
		}
		for _, r := range got {
			if r != '\n' && hidden(r) || r == '\t' || r == '\r' || r == '\x1b' {
				t.Errorf("%q keeps %U", got, r)
			}
		}
		if again := clean(got); again != got {
			t.Errorf("not stable: %q, then %q", got, again)
		}
		for _, width := range []int{1, 7, 80} {
			if cut := truncate(got, width); textWidth(cut) > max(width, 0) && !strings.Contains(got, "\n") {
				t.Errorf("%q is %d wide, want %d", cut, textWidth(cut), width)
			}
		}
		for _, line := range wrap([]span{{text: strings.ReplaceAll(got, "\n", " ")}}, 10, 3) {
			if w := textWidth(paint(false, line...)); w > 10 {
				t.Errorf("a line of %d columns", w)
			}
		}
	})
}

func TestWrapKeepsEveryWord(t *testing.T) {
	in := "the quick brown fox jumps over 潮汐表 the lazy-dog-with-a-very-long-name twice"
	var out []string
	for _, line := range wrap([]span{{"the quick ", bold}, {strings.TrimPrefix(in, "the quick "), dim}}, 12, 0) {
		out = append(out, paint(false, line...))
	}
	want := []string{"the quick", "brown fox", "jumps over", "潮汐表 the", "lazy-dog-wit", "h-a-very-lon", "g-name twice"}
	if strings.Join(out, "|") != strings.Join(want, "|") {
		t.Errorf("got %q\nwant %q", out, want)
	}
}

func TestWords(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{size(0), "0 bytes"}, {size(1), "1 byte"}, {size(999), "999 bytes"}, {size(1000), "1.0 kB"}, {size(9949), "9.9 kB"},
		{size(10_000), "10 kB"}, {size(999_499), "999 kB"}, {size(999_500), "1.0 MB"}, {size(1 << 62), "4.6 EB"},
		{thousands(0), "0"}, {thousands(999), "999"}, {thousands(1000), "1,000"}, {thousands(-1234567), "-1,234,567"},
		{count(1, "file", "files"), "1 file"}, {count(2, "file", "files"), "2 files"},
		{project(ptr("/home/dev/work/tide/")), "tide"}, {project(ptr(`C:\Users\dev\x`)), "x"}, {project(ptr("/")), "/"}, {project(nil), ""}, {project(ptr("")), ""},
		{shellWord("/a/b-c.d"), "/a/b-c.d"}, {shellWord("/a b/it's"), `'/a b/it'\''s'`}, {shellWord("$(x)"), "'$(x)'"},
		{contract.Age(fixedNow.Add(-30e9), fixedNow), "just now"}, {contract.Age(fixedNow.Add(-5*60e9), fixedNow), "5 min ago"}, {contract.Age(fixedNow.Add(-23*3600e9), fixedNow), "23 h ago"},
		{contract.Age(fixedNow.Add(-25*3600e9), fixedNow), "yesterday"}, {contract.Age(fixedNow.AddDate(0, 0, -9), fixedNow), "9 days ago"},
		{contract.Age(fixedNow.AddDate(0, 0, -40), fixedNow), "2026-02-02"}, {contract.Age(fixedNow.AddDate(0, 0, 2), fixedNow), "2026-03-16"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

// FuzzSnippet holds a snippet to its text whatever its marks say.
func FuzzSnippet(f *testing.F) {
	f.Add("the [[overflow]] of [[x]]", 6, 14, 22, 23)
	f.Add("🌊[[潮]]", 4, 5, 0, 1)
	f.Add("a", -1, 7, 9, 2)
	f.Add("\x1b[[31m]]\xff", 3, 6, 6, 9)
	f.Fuzz(func(t *testing.T, snippet string, a, b, c, d int) {
		marks := []contract.Mark{{a, b}, {c, d}}
		whole, marked := "", 0
		for _, p := range (&contract.Evidence{Snippet: snippet, Marks: marks}).Pieces() {
			whole += p.Text
			if p.Marked {
				marked++
				if p.Text == "" {
					t.Error("an empty mark")
				}
			}
		}
		// Nothing is lost but one pair of brackets for each mark.
		if lost := len(snippet) - len(whole); lost%4 != 0 || lost < 0 || lost > 4*marked {
			t.Errorf("%q became %q", snippet, whole)
		}
		for _, s := range snippetSpans(&contract.Evidence{Snippet: snippet, Marks: marks}, dim) {
			for _, r := range s.text {
				if hidden(r) {
					t.Errorf("%q keeps %U", s.text, r)
				}
			}
		}
	})
}
