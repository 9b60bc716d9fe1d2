package analysis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/analysis"
)

// patterns analyses a query the way the engine does: the last word is open, words have variants.
func patterns(query string) []analysis.Pattern {
	words := analysis.New().Words(query)
	var ps []analysis.Pattern
	for i, w := range words {
		p := w.Pattern(i == len(words)-1 && !strings.HasSuffix(query, " "))
		if len(w.Terms) == 1 {
			p.Variants = analysis.Variants(w.Terms[0])
		}
		ps = append(ps, p)
	}
	return ps
}

func TestMarks(t *testing.T) {
	forms := [...]string{"exact", "joined", "prefix", "variant"}
	for _, tt := range []struct {
		name, text, query string
		want              []string // pattern:marked text:form, ordered by start
	}{
		{"case and diacritics", "Un CAFÉ noir, un cafe\u0301.", "cafe ", []string{"0:CAFÉ:exact", "0:cafe\u0301:exact"}},
		{"part of an identifier", "resolveTerminalPath", "terminal ", []string{"0:Terminal:exact"}},
		{"all parts", "a resolve_terminal-path b", "resolveTerminalPath ", []string{"0:resolve_terminal-path:exact"}},
		{"joined form", "a shell.resolveTerminalPath(b", "resolveterminalpath ", []string{"0:resolveTerminalPath:joined"}},
		{"joined form of the text", "a resolveterminalpath b", "resolveTerminalPath ", []string{"0:resolveterminalpath:joined"}},
		{"joined form with a prefix", "a resolveTerminalPath b", "resolveterm", []string{"0:resolveTerminalPath:prefix"}},
		{"prefix marks the word", "zvakoxish of zvakox", "zvakox", []string{"0:zvakoxish:prefix", "0:zvakox:exact"}},
		{"prefix of a part, not of the whole", "a codeBase", "cod", []string{"0:code:prefix"}},
		{"variants", "It failed. Failing fails!", "fail ", []string{"0:failed:variant", "0:Failing:variant", "0:fails:variant"}},
		{"path", "see src/parser/zvakox_lexer.rs:12", "parser/zvakox_lexer.rs ", []string{"0:parser/zvakox_lexer.rs:exact"}},
		{"special word", "write C++, not C", "c++ ", []string{"0:C++:joined"}},
		{"several words in any order", "b x a b", "a b ", []string{"1:b:exact", "0:a:exact", "1:b:exact"}},
		{"phrase starting over", "a a b", "a,b ", []string{"0:a b:exact"}},
		{"matches of one pattern do not overlap", "a,a,a,a,a", "a,a ", []string{"0:a,a:exact", "0:a,a:exact"}},
		{"one Chinese character", "索引索", "索", []string{"0:索:exact", "0:索:exact"}},
		{"two", "重构了索引服务", "索引", []string{"0:索引:exact"}},
		{"three", "重构了索引服务", "索引服", []string{"0:索引服:exact"}},
		{"last of the run", "重构了索引服务", "务", []string{"0:务:exact"}},
		{"glued", "重跑gen-itgc后测试", "gen-itgc后", []string{"0:gen-itgc后:exact"}},
		{"glued on the left", "重跑gen-itgc后测试", "跑gen ", []string{"0:跑gen:exact"}},
		{"half-width with sound mark", "新ｻｰﾊﾞｰ機", "サーバ", []string{"0:ｻｰﾊﾞ:exact"}},
		{"half-width single with sound mark", "ｶﾞｷ", "ガ", []string{"0:ｶﾞ:exact"}},
		{"emoji with its modifier", "ok 👍🏽!", "👍", []string{"0:👍🏽:exact"}},
		{"nothing", "some text", "other", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range analysis.NewMatcher(patterns(tt.query)).Find(tt.text, 100) {
				got = append(got, fmt.Sprintf("%d:%s:%s", s.Pattern, tt.text[s.Start:s.End], forms[s.Form]))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFindBoundsEachPattern(t *testing.T) {
	text := strings.Repeat("cache ", 5000) + "cache stampede lock"
	spans := analysis.NewMatcher(patterns("cache stampede ")).Find(text, 3)
	want := []analysis.Span{
		{Start: 0, End: 5}, {Start: 6, End: 11}, {Start: 12, End: 17}, {Start: 30006, End: 30014, Pattern: 1},
	}
	if !slices.Equal(spans, want) {
		t.Errorf("got %v, want %v", spans, want)
	}
	m := analysis.NewMatcher(patterns("cache stampede "))
	if got := m.Find(text, 0); got != nil {
		t.Errorf("no matches asked for, got %v", got)
	}
	n := 0
	m.Each(text, func(analysis.Span) bool { n++; return n < 7 })
	if n != 7 {
		t.Errorf("Each went on after false: %d calls", n)
	}
}

func TestEmptyPatterns(t *testing.T) {
	m := analysis.NewMatcher([]analysis.Pattern{{}, {Prefix: true, Terms: []string{""}, Joined: []string{""}, Variants: []string{""}}})
	if got := m.Find("some textBase text", 10); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestLiteral(t *testing.T) {
	for _, tt := range []struct {
		text, literal string
		want          bool
	}{
		{"the Tight\n\t phrase", "tight phrase", true},
		{"the tight\u00a0phrase", " tight  phrase ", true},
		{"tight, phrase", "tight phrase", false},
		{"tightphrase", "tight phrase", false},
		{"ÄRGER ΟΔΟΣ", "ärger οδος", true},
		{"cafe", "café", false},
		{"a,b(", "A,B(", true},
		{"aaaab aaab", "aab a", true},
		{"abababac", "ababac", true},
		{"x\xff", "\xff", true},
		{"x\xfe", "\xff", false},
		{"anything", "", false},
		{"any thing", " ", false},
		{"", "a", false},
	} {
		if got := analysis.NewLiteral(tt.literal).In(tt.text); got != tt.want {
			t.Errorf("%q in %q: %v, want %v", tt.literal, tt.text, got, tt.want)
		}
	}
}

func TestRows(t *testing.T) {
	const size, overlap = 2048, 64
	for _, tt := range []struct{ name, text string }{
		{"empty", ""},
		{"short", "one row"},
		{"prose", numbered(4000, " ")},
		{"lines", numbered(3000, "\n")},
		{"no white space", numbered(3000, ",")},
		{"Chinese", strings.Repeat("昨晚重构了索引服务", 2000)},
		{"no terms", strings.Repeat("→", 5000)},
		{"one long word", strings.Repeat("x", 20000)},
		{"invalid", strings.Repeat("\x80", 9000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			end := 0
			var rows []string
			analysis.New().Rows(tt.text, size, overlap, func(s, e int) bool {
				if s > end || e <= end || e-s > size {
					t.Fatalf("row [%d,%d) behind %d", s, e, end)
				}
				end = e
				rows = append(rows, tt.text[s:e])
				return true
			})
			if end != len(tt.text) {
				t.Fatalf("rows end at %d of %d", end, len(tt.text))
			}
			if tt.name != "prose" && tt.name != "lines" {
				return
			}
			// Every phrase of 64 words stands whole in a row.
			words := strings.Fields(tt.text)
			row := 0
			for i := 0; i+overlap <= len(words); i++ {
				p := words[i : i+overlap]
				for row < len(rows) && !phrase(index(rows[row]).main, p, false) {
					row++
				}
				if row == len(rows) {
					t.Fatalf("phrase at word %d is in no row", i)
				}
				i += 6 // not all of them, for speed
			}
		})
	}
	n := 0
	analysis.New().Rows(numbered(4000, " "), size, overlap, func(int, int) bool { n++; return false })
	if n != 1 {
		t.Errorf("Rows went on after false: %d calls", n)
	}
}

// numbered returns n different words.
func numbered(n int, sep string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%d%s", i, sep)
	}
	return b.String()
}
