package analysis_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/analysis"
)

// fragments are what texts and queries of the tests are put together from: words in
// all spellings, what is folded, and all kinds of what stands in between.
var fragments = []string{
	"cache", "Cache", "CACHE", "caching", "terminal", "resolveTerminalPath", "resolve_terminal-path", "RESOLVE.TERMINAL", "resolveterminalpath", "HTTPServer", "URLs", "utf8", "E0308",
	"a", "b", "x", "the", "fail", "failing", "failed", "C++", "c#", ".NET", "g++", "node.js", "sha256", "10.0.0.5", "it's", "foo__bar", "foo", "bar", "don’t",
	"café", "cafe\u0301", "ｃａｃｈｅ", "ca\u00adche", "ﬁle", "file", "索引", "重跑gen-itgc后", "gen", "索", "ｶﾞｷ", "👍🏽", "🇩🇪", "ß", "ss", "K", "k\u200d", "naïve", "é",
	"\xff", "\x00", "\u0301", "\u200b", "│", "…", strings.Repeat("z", 70), strings.Repeat("aB", 40),
}

var separators = []string{" ", " ", " ", " ", "\n", "\t", "", "", "_", "-", ".", "/", ", ", "(", "+", "#", "++", "\"", " -- ", "=", "::", " ... ", "\u2003", "——", "'"}

func mixed(r *rand.Rand, fragments []string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(fragments[r.IntN(len(fragments))])
		b.WriteString(separators[r.IntN(len(separators))])
	}
	return b.String()
}

// checkLocated holds a Matcher that looks for stretches first against one that
// analyses everything.
func checkLocated(t *testing.T, text string, patterns []analysis.Pattern) {
	t.Helper()
	got, want := analysis.NewMatcher(patterns).Find(text, 1000), analysis.NewWholeMatcher(patterns).Find(text, 1000)
	if !slices.Equal(got, want) {
		t.Fatalf("%+v in %q:\n got %+v\nwant %+v", patterns, text, got, want)
	}
}

func TestLocatedIsWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	filler := []string{"some", "other", "text", "42", "of", "Words", "in-between", "(see)", "...", "----------", "{\"k\":1}"}
	for range 4000 {
		var parts []string
		for range 1 + r.IntN(6) {
			parts = append(parts, mixed(r, filler, r.IntN(60)), mixed(r, fragments, 1+r.IntN(8)))
		}
		text := strings.Join(parts, "")
		text += mixed(r, filler, 1+max(0, 300-len(text))/4)
		ps := patterns(mixed(r, fragments, 1+r.IntN(4)))
		if phrase := phraseOf(ps); r.IntN(2) == 0 && len(phrase) > 1 {
			ps = append(ps, analysis.Pattern{Terms: phrase, Prefix: r.IntN(2) == 0})
		}
		checkLocated(t, text, ps)
	}
}

// phraseOf joins the terms of patterns, as the phrase of a query.
func phraseOf(ps []analysis.Pattern) (terms []string) {
	for _, p := range ps {
		terms = append(terms, p.Terms...)
	}
	return terms
}

func TestLocated(t *testing.T) {
	far := strings.Repeat("nothing to see here, ", 200)
	for _, tt := range []struct {
		name, text, query string
		most              int // bytes analysed
	}{
		{"rare", far + "a zvakox b" + far, "zvakox ", 10},
		{"any case", far + "zvaKox ZVAKOX" + far, "zvakox ", 20},
		{"joined with joiners", far + "x resolve_terminal-Path y" + far, "resolveterminalpath ", 30},
		{"not ASCII", far + "x cafe\u0301 y" + far, "café ", 10},
		{"not there", far, "zvakox ", 0},
		{"Chinese in English", far, "索引", 0},
		{"special word", far + "c++" + far, "c++ ", 30},
		{"one letter", far, "e", -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := analysis.NewMatcher(patterns(tt.query)).Located(tt.text)
			if (n < 0) != (tt.most < 0) || n > tt.most {
				t.Errorf("%d bytes are analysed, want at most %d", n, tt.most)
			}
			checkLocated(t, tt.text, patterns(tt.query))
		})
	}
	// A phrase reaches over any amount of what holds no word.
	for _, between := range []string{strings.Repeat("-", 5000), strings.Repeat(" - ", 2000), strings.Repeat("│ ", 1000), strings.Repeat("\n", 5000)} {
		text := far + "tide " + between + " table " + far
		ps := []analysis.Pattern{{Terms: []string{"tide", "table"}}}
		checkLocated(t, text, ps)
		if got := len(analysis.NewMatcher(ps).Find(text, 10)); got != 1 {
			t.Errorf("%d matches over %d bytes of %q", got, len(between), between[:3])
		}
	}
	// One segment full of matches, and a hundred thousand of them, are no more than one pass.
	for _, text := range []string{strings.Repeat("tide.table_", 50_000), strings.Repeat("tide - table - ", 30_000)} {
		checkLocated(t, text, []analysis.Pattern{{Terms: []string{"tide", "table"}}, {Terms: []string{"tide"}, Joined: []string{"tide"}}})
	}
}

func FuzzLocated(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, seeds[(i+1)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		words := patterns(query)
		far := strings.Repeat(" nothing ", 40)
		checkLocated(t, text+far+text+far+query+text, append(words, analysis.Pattern{Terms: phraseOf(words)}))
	})
}
