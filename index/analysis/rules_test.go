package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/analysis"
)

// indexed is a text as the index holds it.
type indexed struct{ main, side []string }

func index(text string) indexed {
	main, side, _ := analysis.New().Append(nil, nil, text)
	return indexed{strings.Fields(string(main)), strings.Fields(string(side))}
}

// phrase reports whether the terms stand in a row; with prefix, the last may go on.
func phrase(column, terms []string, prefix bool) bool {
	for i := 0; i+len(terms) <= len(column); i++ {
		last := len(terms) - 1
		if slices.Equal(column[i:i+last], terms[:last]) &&
			(column[i+last] == terms[last] || prefix && strings.HasPrefix(column[i+last], terms[last])) {
			return true
		}
	}
	return false
}

// holds is the question the query engine puts to the index for one pattern.
func (x indexed) holds(p analysis.Pattern) bool {
	if len(p.Terms) > 0 && phrase(x.main, p.Terms, p.Prefix) {
		return true
	}
	for _, t := range p.Joined {
		if phrase(x.main, []string{t}, p.Prefix) || phrase(x.side, []string{t}, p.Prefix) {
			return true
		}
	}
	for _, t := range p.Variants {
		if phrase(x.main, []string{t}, false) {
			return true
		}
	}
	return false
}

// check asks the index and the matcher, which must agree.
func check(t *testing.T, text string, p analysis.Pattern, want bool) {
	t.Helper()
	if got := index(text).holds(p); got != want {
		t.Errorf("index of %q holds %+v: %v, want %v", text, p, got, want)
	}
	if got := len(analysis.NewMatcher([]analysis.Pattern{p}).Find(text, 1)) > 0; got != want {
		t.Errorf("matcher finds %+v in %q: %v, want %v", p, text, got, want)
	}
}

func TestRules(t *testing.T) {
	const identifier = "call resolveTerminalPath( now"
	for _, tt := range []struct {
		rule, text, query string
		complete          bool // the query is being typed
		want              bool
	}{
		{"1 literal", "it's here", "it's", false, true},
		{"1 literal", "it’s here", "it's", false, true},
		{"1 literal", "it is here", "it's", false, false},
		{"1 literal", "f(a,b)", "a,b", false, true},
		{"1 literal", "f(a, c, b)", "a,b", false, false},
		{"1 literal", "call foo(1)", "foo(", true, true},
		{"1 literal", "call food(1)", "foo(", true, false},
		{"1 literal", "status:500", "status:500", false, true},
		{"1 literal", "status 404 of 500", "status:500", false, false},
		{"1 literal", "host 10.0.0.5 up", "10.0.0.5", false, true},
		{"1 literal", "10 items", "10.0.0.5", false, false},
		{"1 literal", "host 10.0.0.55", "10.0.0.5", false, false},
		{"1 literal", "100% done", "100%", true, true},
		{"1 literal", "1000", "100%", true, false},
		{"1 literal", "half a day", `"half`, false, true},
		{"1 literal", "this AND that", "AND", false, true},
		{"1 literal", "NEAR(a b)", "NEAR(", false, true},
		{"1 literal", "cut -x", "-x", false, true},
		{"1 literal", "see #tag", "#tag", false, true},
		{"1 literal", "u@h", "u@h", false, true},
		{"1 literal", "a\x00b", "a\x00b", false, true},
		{"1 literal", "a\xed\xa0\x80b", "a\xed\xa0\x80b", false, true},

		{"2 words", "CAFÉ", "cafe", false, true},
		{"2 words", "cafe", "CAFÉ", false, true},
		{"2 words", "cafe\u0301", "caf\u00e9", false, true},
		{"2 words", "It works.", "works", false, true},
		{"2 words", "(works)", "works", false, true},
		{"2 words", "“works”", "works", false, true},
		{"2 words", "clockworks", "works", false, false},
		{"2 words", "workshop", "works", false, false},
		{"2 words", "JavaScript", "javascript", false, true},
		{"2 words", "javascript", "JavaScript", false, true},
		{"2 words", "GitHub", "GITHUB", false, true},
		{"2 words", "iOS", "ios", false, true},

		{"3 identifiers", identifier, "resolveTerminalPath", false, true},
		{"3 identifiers", identifier, "resolve_terminal_path", false, true},
		{"3 identifiers", identifier, "resolve-terminal-path", false, true},
		{"3 identifiers", identifier, "ResolveTerminalPath", false, true},
		{"3 identifiers", identifier, "RESOLVE_TERMINAL_PATH", false, true},
		{"3 identifiers", identifier, "resolveterminalpath", false, true},
		{"3 identifiers", identifier, "terminal", false, true},
		{"3 identifiers", identifier, "terminalPath", false, true},
		{"3 identifiers", identifier, "path.terminal", false, false},
		{"3 identifiers", "resolveterminalpath", "resolveTerminalPath", false, true},
		{"3 identifiers", "shell.resolveTerminalPath", "resolveterminalpath", false, true},
		{"3 identifiers", "do-resolveTerminalPath", "resolveterminalpath", false, true},
		{"3 identifiers", "HTTPServer", "server", false, true},
		{"3 identifiers", "HTTPServer", "http", false, true},
		{"3 identifiers", "utf-8", "utf8", false, true},
		{"3 identifiers", "utf8", "UTF-8", false, true},
		{"3 identifiers", "error[E0308]", "E0308", false, true},
		{"3 identifiers", "error[E0308]", "E", false, false},
		{"3 identifiers", "sha256", "sha", false, false},
		{"3 identifiers", "C++ is old", "c++", false, true},
		{"3 identifiers", "C is old", "c++", false, false},
		{"3 identifiers", "plan C", "C#", false, false},
		{"3 identifiers", "in C#.", "(C#)", false, true},
		{"3 identifiers", "in F#", "f#", false, true},
		{"3 identifiers", "on .NET 8", ".NET", false, true},
		{"3 identifiers", "on the net", ".NET", false, false},
		{"3 identifiers", "let x = 1", "x", false, true},
		{"3 identifiers", "use R here", "R", false, true},
		{"3 versions", "v1.2.3 is out", "1.2.3", false, true},
		{"3 versions", "v1.2.3 is out", "v1.2.3", false, true},
		{"3 versions", "v1.2.3 is out", "v1", false, true},
		{"3 versions", "v1.2.3 is out", "2.3", false, true},
		{"3 versions", "v1.2.30 is out", "1.2.3", false, false},
		{"3 versions", "v11.2.3 is out", "1.2.3", false, false},
		{"3 versions", "v2.0.0-rc1", "2.0.0", false, true},
		{"3 versions", "v2.0.0-rc1", "2.0.0-rc1", false, true},
		{"3 versions", "1.0.0-rc1.2", "1.0.0-rc1", false, true},
		{"3 versions", "with go1.26.8", "1.26.8", false, true},
		{"3 versions", "with go1.26.8", "go1.26.8", false, true},
		{"3 versions", "with go1.26.8", "go", false, true},
		{"3 versions", "with go1.26.8", "go1.2", true, true},
		{"3 versions", "with go1.26.8", "go1.2", false, false},
		{"3 versions", "with go1.26.8", `"go 1.26"`, false, true},
		{"3 versions", "node18.2", "18.2", false, true},
		{"3 versions", "/lib/python3.11/site", "lib/python3", false, true},
		{"3 versions", "/lib/python3.11/site", "python311", false, true},
		{"3 versions", "/lib/python3.11/site", "3.11/site", false, true},
		{"3 versions", "ip10.0.0.5 is up", "10.0.0.5", false, true},
		{"3 versions", "v1 and 2 and 3", "1", false, false},
		{"3 versions", "v1. 2 of 3", "1.2", false, false},
		{"3 versions", "v1.x", "1", false, false},
		{"3 identifiers", "at src/parser/zvakox_lexer.rs:12", "zvakox_lexer.rs", false, true},
		{"3 identifiers", "at src/parser/zvakox_lexer.rs:12", "parser/zvakox_lexer.rs", false, true},
		{"3 identifiers", "at src/parser/zvakox_lexer.rs:12", "src/parser", false, true},
		{"3 identifiers", "at src/parser/zvakox_lexer.rs:12", "src/zvakox_lexer.rs", false, false},
		{"3 identifiers", "at src/parser/zvakox_lexer.rs:12", "zvakoxLexer", false, true},
		{"3 identifiers", `C:\work\zvakox`, "work/zvakox", false, true},
		{"3 identifiers", "getZvakoxBuffer", "zvakox", false, true},
		{"3 identifiers", "retry-zvakox-budget", "retry-zvakox-budget", false, true},

		{"4 unspaced", "昨晚重构了索引服务", "索引服务", false, true},
		{"4 unspaced", "昨晚重构了索引服务", "昨", false, true},
		{"4 unspaced", "昨晚重构了索引服务", "构", false, true},
		{"4 unspaced", "昨晚重构了索引服务", "务", false, true},
		{"4 unspaced", "昨晚重构了索引服务", "服务", false, true},
		{"4 unspaced", "昨晚重构了索引服务", "重构了索", false, true},
		{"4 unspaced", "昨晚重构了索引服务", "重索", false, false},
		{"4 unspaced", "索引。服务", "引服", false, false},
		{"4 unspaced", "重跑gen-itgc后测试", "gen", false, true},
		{"4 unspaced", "重跑gen-itgc后测试", "gen-itgc", false, true},
		{"4 unspaced", "重跑gen-itgc后测试", "跑gen", false, true},
		{"4 unspaced", "重跑gen-itgc后测试", "itgc后", false, true},
		{"4 unspaced", "重跑gen-itgc后测试", "itgc后测", false, true},
		{"4 unspaced", "重跑gen-itgc后测试", "重跑gen-itgc后", false, true},
		{"4 unspaced", "重跑gen-itgc后测试", "重gen", false, false},
		{"4 unspaced", "ＨＴＴＰサーバー", "http", false, true},
		{"4 unspaced", "ｻｰﾊﾞｰ", "サーバー", false, true},
		{"4 unspaced", "サーバーを再起動", "バーを再", false, true},
		{"4 unspaced", "검색엔진을", "엔진", false, true},
		{"4 unspaced", "검색엔진을", "\u110b\u1166\u11ab진", false, true},
		{"4 unspaced", "ภาษาไทยง่าย", "ไทย", false, true},
		{"4 unspaced", "ພາສາລາວ", "ລາວ", false, true},
		{"4 unspaced", "ភាសាខ្មែរ", "ខ្មែ", false, true},
		{"4 unspaced", "မြန်မာဘာသာ", "မာဘာ", false, true},
		{"4 unspaced", "𠮷野家", "𠮷", false, true},
		{"4 emoji", "ship it 🚀🔥✅", "🚀🔥✅", false, true},
		{"4 emoji", "ship it 🚀🔥✅", "🔥", false, true},
		{"4 emoji", "👍🏽", "👍", false, true},
		{"4 emoji", "👩\u200d💻 here", "💻", false, true},
		{"4 emoji", "❤️", "❤", false, true},
		{"4 emoji", "🇩🇪", "🇩🇪", false, true},
		{"4 emoji", "🇩🇪", "🇫🇷", false, false},

		{"5 prefix", identifier, "resolveTerm", true, true},
		{"5 prefix", identifier, "resolveterm", true, true},
		{"5 prefix", identifier, "resolveTerm", false, false},
		{"5 prefix", "zvakoxation", "zvakox", true, true},
		{"5 prefix", "zvakoxation", "zvakox", false, false},

		{"6 phrases", "the tight\nphrase here", `"tight phrase"`, false, true},
		{"6 phrases", "the tight, phrase", `"tight phrase"`, false, true},
		{"6 phrases", "phrase tight", `"tight phrase"`, false, false},
		{"6 phrases", "the to and fro", `"to and fro"`, false, true},
		{"6 phrases", "tight phrases", `"tight phrase"`, true, false},
		{"6 phrases", "modern C++ code", `"C++ code"`, false, true},
	} {
		t.Run(tt.rule+"/"+tt.query, func(t *testing.T) {
			w, ok := analysis.New().Word(tt.query, 0)
			if !ok {
				t.Fatalf("no term in %q", tt.query)
			}
			check(t, tt.text, w.Pattern(tt.complete), tt.want)
		})
	}
}

func TestWordsWithoutTerm(t *testing.T) {
	for _, q := range []string{"", "*", "-", `"`, "()", "\x00", "\xff", "→", "，", "\u200d"} {
		if w, ok := analysis.New().Word(q, 0); ok {
			t.Errorf("Word(%q) = %+v", q, w)
		}
	}
}

func TestInflections(t *testing.T) {
	for _, forms := range [][]string{
		{"fail", "fails", "failed", "failing"}, {"run", "runs", "running"}, {"index", "indexes", "indexed", "indexing"},
		{"query", "queries", "queried"}, {"stop", "stops", "stopped", "stopping"}, {"cache", "caches", "cached", "caching"},
		{"retry", "retries", "retried", "retrying"}, {"deploy", "deployment", "deployed"}, {"parse", "parses", "parsed", "parsing"},
		{"implement", "implementation", "implemented"}, {"dependency", "dependencies"}, {"agree", "agreed", "agreeing"}, {"connect", "connected", "connection", "connections"},
		{"configure", "configured", "configuring", "configuration"}, {"use", "uses", "used", "using"}, {"pass", "passes", "passed"},
		{"match", "matches"}, {"try", "tries", "tried", "trying"}, {"optimization", "optimizations"}, {"quick", "quickly"}, {"panic", "panics"},
		{"build", "builds", "building", "built"}, {"run", "ran", "running"}, {"break", "broke", "broken", "breaks"}, {"write", "wrote", "written", "writing"},
		{"throw", "threw", "thrown", "throws"}, {"child", "children"}, {"matrix", "matrices"}, {"rebuild", "rebuilt"}, {"goes", "went", "going", "gone"},
		{"zvakoxing", "zvakoxed"},
	} {
		for _, query := range forms {
			got := analysis.Variants(query)
			if len(got) > 24 || slices.Contains(got, query) {
				t.Errorf("Variants(%q) = %q", query, got)
			}
			for _, text := range forms {
				if text != query {
					check(t, "it "+text+" here", analysis.Pattern{Terms: []string{query}, Variants: got}, true)
				}
			}
		}
	}
	for _, term := range []string{"", "go", "e0308", "café", "the", "索引", "a b", strings.Repeat("a", 64)} {
		if got := analysis.Variants(term); got != nil {
			t.Errorf("Variants(%q) = %q, want none", term, got)
		}
	}
	// What is more often a word of its own is found by the word and does not find it; a derived word is
	// no inflection.
	check(t, "it left", analysis.Pattern{Terms: []string{"leave"}, Variants: analysis.Variants("leave")}, true)
	check(t, "they leave", analysis.Pattern{Terms: []string{"left"}, Variants: analysis.Variants("left")}, false)
	check(t, "people", analysis.Pattern{Terms: []string{"personal"}, Variants: analysis.Variants("personal")}, false)
	check(t, "it fell", analysis.Pattern{Terms: []string{"fail"}, Variants: analysis.Variants("fail")}, false)
}
