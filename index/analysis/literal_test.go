package analysis_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sessionls/sessionls/index/analysis"
)

func TestLiteralFind(t *testing.T) {
	for _, tt := range []struct {
		literal, text string
		want          []string
	}{
		{"a b", "xa  \n by a b", []string{"a  \n b", "a b"}},
		{"aa", "aaaaa", []string{"aa", "aa"}},
		{"ärger", "Ärger, ÄRGER", []string{"Ärger", "ÄRGER"}},
		{"kilo", "\u212ailo KILO", []string{"\u212ailo", "KILO"}},
		{"\xe2", "a\xe2\x84b", []string{"\xe2"}},
		{"aab", "aaab", []string{"aab"}},
		{"x", "nothing", nil},
		{" ", "  ", nil},
	} {
		var got []string
		for _, s := range analysis.NewLiteral(tt.literal).Find(tt.text, 10) {
			got = append(got, tt.text[s.Start:s.End])
		}
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%q in %q: %q, want %q", tt.literal, tt.text, got, tt.want)
		}
	}
	if got := analysis.NewLiteral("a").Find("aaaa", 2); len(got) != 2 {
		t.Errorf("with a limit: %v", got)
	}
}

// A character is found by every character of the other case, wherever in
// Unicode those are.
func TestLiteralFoldsEveryCharacter(t *testing.T) {
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if unicode.IsSpace(r) || !utf8.ValidRune(r) || unicode.SimpleFold(r) == r {
			continue
		}
		l := analysis.NewLiteral(string(r) + "z")
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if !l.In("a" + string(f) + "Z") {
				t.Errorf("%U does not find %U", r, f)
			}
		}
	}
}

// Nothing else is found: what only the languages of some people take for one
// letter, as Turkish does İ and i, or more than one character, as ß and ss, is
// not the same under simple folding.
func TestLiteralFoldsNothingElse(t *testing.T) {
	folded := map[rune]rune{} // by what a literal makes of it: the least character of its kind
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if unicode.IsSpace(r) || !utf8.ValidRune(r) {
			continue
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		same := unicode.ToLower(unicode.ToUpper(r)) // candidates only, the literal decides
		if first, ok := folded[same]; !ok {
			folded[same] = least
		} else if first != least && analysis.NewLiteral(string(first)).In(string(r)) {
			t.Errorf("%U finds %U", first, r)
		}
	}
	for _, r := range "İı" {
		if l := analysis.NewLiteral(string(r)); l.In("iI") || !l.In("x"+string(r)) {
			t.Errorf("%U is found in iI, or not in itself", r)
		}
	}
}

func TestSubstringTakesWhiteSpaceAsItIs(t *testing.T) {
	for _, tt := range []struct {
		substring, text string
		want            []string
	}{
		{"a  B", "a b A  b a\t b a   b", []string{"A  b"}},
		{"a\nb", "a b a\nB", []string{"a\nB"}},
		{" a b\t", "xa by", []string{"a b"}},
		{"a\u00a0b", "a b a\u00a0b", []string{"a\u00a0b"}},
		{"a  a", "a  a  a  a", []string{"a  a", "a  a"}},
		{"  ", "   ", nil},
		{"\u212a\t\t\xff", "k\t\xff k\t\t\xff", []string{"k\t\t\xff"}},
	} {
		var got []string
		for _, s := range analysis.NewSubstring(tt.substring).Find(tt.text, 10) {
			got = append(got, tt.text[s.Start:s.End])
		}
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%q in %q: %q, want %q", tt.substring, tt.text, got, tt.want)
		}
	}
}

func FuzzLiteral(f *testing.F) {
	f.Add("a b", "xA\t\n b", 3)
	f.Add("\xe2\x84", "\xe2\x84\xaa", 1)
	f.Add("aab", "aaaab", 2)
	f.Add("k", "\u212a", 0)
	f.Add("ſ s", "S \u00a0s", 2)
	f.Fuzz(func(t *testing.T, literal, text string, cut int) {
		for _, l := range []*analysis.Literal{analysis.NewLiteral(literal), analysis.NewSubstring(literal)} {
			checkLiteral(t, l, literal, text, cut)
		}
	})
}

func checkLiteral(t *testing.T, l *analysis.Literal, literal, text string, cut int) {
	t.Helper()
	spans := l.Find(text, len(text)+1)
	if l.In(text) != (len(spans) > 0) {
		t.Fatalf("%q in %q: %v, found %v", literal, text, l.In(text), spans)
	}
	end := 0
	for _, s := range spans {
		if s.Start < end || s.End <= s.Start || s.End > len(text) || !l.In(text[s.Start:s.End]) {
			t.Fatalf("%q in %q: span %+v after %d", literal, text, s, end)
		}
		end = s.End
	}
	// In two pieces it is the same.
	at := 0
	for i := range text {
		if i <= cut {
			at = i
		}
	}
	search := l.Search()
	if found := search.Feed(text[:at]) || search.Feed(text[at:]); found != l.In(text) {
		t.Fatalf("%q in %q cut at %d: %v", literal, text, at, found)
	}
}
