package analysis_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessionls/sessionls/index/analysis"
	"golang.org/x/text/unicode/norm"
)

var seeds = []string{
	"", "plain text", "resolveTerminalPath resolve_terminal-path.HTTPServer2x URLs", "it's 10.0.0.5 100% src/main.go", "CAFÉ cafe\u0301 İ ß ﷺ ΐ",
	"重跑gen-itgc后 索引是什么时候重构的？", "ｶﾞｷﾞ か\u3099\u309a\u3099 \u1112\u1161\u11ab ﾞ", "𠮷野家 㐀 豈 ⼀", "ภาษาไทย ລາວ ខ្មែរ မြန်မာ हिन्दी", "👩\u200d💻👍🏽❤\ufe0f🇩🇪🇫🇷🇩",
	"\x00\x01\xff\xed\xa0\x80\u200b\u00ad\ufeff", "C++ c# .NET f#g++", "\u0301\u0301a\u0301", strings.Repeat("é", 40) + strings.Repeat("aB", 40), "Ａ＿Ｂ－ｃ．d‐e",
	"go1.26.8 v2.0.0-rc1 v1.2 lib/python3.11 MyGo1.2_x3.4 1a2.3 a1b2.3 e\u03011.2 कि1.2 1\u0301.2 ｖ１．２ 用go1.2后",
}

// checkTokens states what holds for the terms of any text.
func checkTokens(t *testing.T, text string) {
	t.Helper()
	last := int32(-1)
	analysis.New().Tokens(text, func(tok analysis.Token) bool {
		if tok.Start < last || tok.End <= tok.Start || int(tok.End) > len(text) {
			t.Fatalf("%q: token [%d,%d) after %d", text, tok.Start, tok.End, last)
		}
		last = tok.Start
		if !boundary(text, int(tok.Start)) || !boundary(text, int(tok.End)) {
			t.Fatalf("%q: token [%d,%d) cuts a character", text, tok.Start, tok.End)
		}
		if len(tok.Term) == 0 || len(tok.Term) > analysis.MaxTerm || !utf8.Valid(tok.Term) || bytes.ContainsAny(tok.Term, " \"") ||
			bytes.ContainsFunc(tok.Term, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("%q: term %q", text, tok.Term)
		}
		return true
	})
}

// boundary reports whether s[:i] ends with a character; an invalid byte is one.
func boundary(s string, i int) bool {
	for at := range s {
		if at >= i {
			return at == i
		}
	}
	return i == len(s)
}

func FuzzAnalyse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkTokens(t, text)
		a := analysis.New()
		main, side, n := a.Append(nil, nil, text)
		if bytes.Count(main, []byte(" ")) != n {
			t.Fatalf("%q: %d terms in %q", text, n, main)
		}
		seen := map[string]bool{}
		for _, term := range strings.Fields(string(side)) {
			if seen[term] || len(term) > analysis.MaxTerm {
				t.Fatalf("%q: side %q", text, side)
			}
			seen[term] = true
		}
		// The normal form of the text does not matter.
		if utf8.ValidString(text) {
			c, _, _ := a.Append(nil, nil, norm.NFC.String(text))
			d, _, _ := a.Append(nil, nil, norm.NFD.String(text))
			if !bytes.Equal(c, d) {
				t.Fatalf("%q: NFC %q, NFD %q", text, c, d)
			}
		}
		end := 0
		a.Rows(text, 0, 8, func(s, e int) bool {
			if s > end || e <= end {
				t.Fatalf("%q: row [%d,%d) behind %d", text, s, e, end)
			}
			end = e
			return true
		})
		if end != len(text) {
			t.Fatalf("%q: rows end at %d", text, end)
		}
	})
}

// FuzzQuery: every word of a text finds the text, and the matcher agrees with the index.
func FuzzQuery(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, seeds[(i+1)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		a := analysis.New()
		x := index(text)
		for _, w := range a.Words(text) {
			if p := w.Pattern(false); !x.holds(p) {
				t.Fatalf("%q does not find itself in %q: %+v", w.Text, text, w)
			}
			for _, piece := range w.Pieces {
				if p := piece.Pattern(false); !x.holds(p) {
					t.Fatalf("piece %q does not find itself in %q: %+v", piece.Text, text, piece)
				}
			}
		}
		for _, w := range a.Words(query) {
			for _, complete := range []bool{false, true} {
				p := w.Pattern(complete)
				spans := analysis.NewMatcher([]analysis.Pattern{p}).Find(text, 5)
				if x.holds(p) != (len(spans) > 0) {
					t.Fatalf("index of %q holds %+v: %v, matcher: %v", text, p, x.holds(p), spans)
				}
				end := 0
				for _, s := range spans {
					if s.Start < end || s.End <= s.Start || s.End > len(text) || !boundary(text, s.Start) || !boundary(text, s.End) {
						t.Fatalf("%q in %q: span %+v after %d", query, text, s, end)
					}
					end = s.End
				}
			}
		}
		if l := strings.TrimSpace(query); l != "" && !analysis.NewLiteral(l).In(text+" "+query) {
			t.Fatalf("literal %q is not in %q", l, text+" "+query)
		}
	})
}
