package analysis_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sessionls/sessionls/index/analysis"
	"golang.org/x/text/unicode/norm"
)

func TestAppend(t *testing.T) {
	for _, tt := range []struct{ name, text, main, side string }{
		{"empty", "", "", ""},
		{"only separators", " \x00\x01\xff\xed\xa0\x80\"'() \n", "", ""},
		{"prose", "The end. (It) \"works\", now!", "the end it works now ", ""},
		{"camel case", "resolveTerminalPath", "resolve terminal path ", "resolveterminalpath "},
		{"snake case", "resolve_terminal_path", "resolve terminal path ", "resolveterminalpath "},
		{"kebab case", "resolve-terminal-path", "resolve terminal path ", "resolveterminalpath "},
		{"pascal case", "ResolveTerminalPath", "resolve terminal path ", "resolveterminalpath "},
		{"abbreviation in front", "HTTPServer", "http server ", "httpserver "},
		{"abbreviation in the middle", "parseJSONBody", "parse json body ", "parsejsonbody "},
		{"plural abbreviation", "URLs getIDs", "urls get ids ", "getids "},
		{"letters and digits", "E0308 utf8 sha256 http2 MD5SUM", "e0308 utf8 sha256 http2 md5sum ", ""},
		{"digit before upper case", "HTTP2Server base64URL 10Mb", "http2 server base64 url 10mb ", "http2server base64url "},
		{"short camel case", "iOS", "i os ", "ios "},
		{"every level of an identifier", "my_fooBar.baz", "my foo bar baz ", "foobar myfoobar myfoobarbaz "},
		{"several underscores", "mcp__srv__tool __init__", "mcp srv tool init ", "mcpsrvtool "},
		{"a dash between words joins nothing", "this -- that a--b", "this that a b ", ""},
		{"address, version, date, UUID", "10.0.0.5 v1.2.3 2024-01-02T10 550e8400-e29b-41d4-a716-446655440000",
			"10 0 0 5 v1 v 1 2 3 2024 01 02t10 550e8400 e29b 41d4 a716 446655440000 ", ""},
		{"a name glued to a dotted number", "go1.26.8 v2.0.0-rc1 MyGo1.26 lib/python3.11.", "go1 go 1 26 8 v2 v 2 0 0 rc1 my go1 go 1 26 lib python3 python 3 11 ",
			"0rc1 mygo1 mygo126 python311 "},
		{"no such number", "go1 go1. go1.x go1_2 1a2.3 a1b2.3 1go.2", "go1 go1 go1 x go1 2 1a2 3 a1b2 3 1go 2 ", "go1x go12 1a23 a1b23 1go2 "},
		{"such a number in other letters", "ｖ１．２ e\u03011.2 用go1.2后", "v1 v 1 2 e1 e 1 2 用 go1 go 1 2 后 ", "go12 "},
		{"path by segment", "src/parser/zvakox_lexer.rs", "src parser zvakox lexer rs ", "zvakoxlexer zvakoxlexerrs "},
		{"side terms once", "fooBar foo_bar foo-bar", "foo bar foo bar foo bar ", "foobar "},
		{"apostrophes", "it's it’s itʼs", "it s it s it s ", ""},
		{"special words", "C++ c++17 C# F# g++ .NET i++ a.net c+++", "c c 17 c f g net i a net c ", "c++ c# f# g++ .net anet "},
		{"special word in Chinese", "使用.NET开发", "使用 用 net 开发 发 ", ".net "},
		{"case and diacritics", "CAFÉ CAFE\u0301 Straße STRASSE Łódź İstanbul", "cafe cafe strasse strasse lodz istanbul ", ""},
		{"case change with diacritics", "éÉtat e\u0301E\u0301tat", "e etat e etat ", "eetat "},
		{"Greek and Cyrillic", "ΟΔΟΣ οδος Ёлка ЕЛКА", "οδοσ οδοσ елка елка ", ""},
		{"vowel signs stay", "हिन्दी", "हिन्दी ", ""},
		{"ligatures and full width", "ﬁle ＨＴＴＰ＿ｓｅｒｖｅｒ　１２", "file http server 12 ", "httpserver "},
		{"soft hyphen and zero width joiner", "foo\u00adbar foo\u200dbar", "foobar foobar ", ""},
		{"one Chinese character", "索", "索 ", ""},
		{"Chinese", "索引服务", "索引 引服 服务 务 ", ""},
		{"Chinese punctuation", "索引，服务。", "索引 引 服务 务 ", ""},
		{"glued", "重跑gen-itgc后", "重跑 跑 gen itgc 后 ", "genitgc "},
		{"supplementary plane", "𠮷野", "𠮷野 野 ", ""},
		{"kana with a long vowel", "テスト・データ", "テス スト ト デー ータ タ ", ""},
		{"half-width katakana", "ｶﾞｲﾄﾞ", "ガイ イド ド ", ""},
		{"decomposed kana and Hangul", "か\u3099 \u1112\u1161\u11ab", "が 한 ", ""},
		{"Hangul", "한국어", "한국 국어 어 ", ""},
		{"Thai keeps its marks", "ที่", "ที ี่ ่ ", ""},
		{"Lao, Khmer, Burmese", "ລາວ ខ្មែ မြန်", "ລາ າວ ວ ខ្ ្ម មែ ែ မြ ြန န် ် ", ""},
		{"emoji", "done✅🚀🔥", "done ✅ 🚀 🔥 ", ""},
		{"emoji with modifiers", "👩\u200d💻 👍🏽 ❤\ufe0f 1\ufe0f\u20e3", "👩 💻 👍 ❤ 1 ", ""},
		{"flags", "🇩🇪🇫🇷", "🇩🇪 🇫🇷 ", ""},
		{"decoration is no text", "│ ── → ▓ ⠋ •", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := analysis.New()
			main, side, n := a.Append(nil, nil, tt.text)
			if string(main) != tt.main {
				t.Errorf("main = %q, want %q", main, tt.main)
			}
			if string(side) != tt.side {
				t.Errorf("side = %q, want %q", side, tt.side)
			}
			count := 0
			a.Tokens(tt.text, func(analysis.Token) bool { count++; return true })
			if n != count {
				t.Errorf("Append counts %d terms, Tokens %d", n, count)
			}
			if got := a.AppendMain([]byte("x "), tt.text); string(got) != "x "+tt.main {
				t.Errorf("AppendMain = %q", got)
			}
		})
	}
}

// TestEveryCharacter asks of all characters of Unicode what no table of examples can.
func TestEveryCharacter(t *testing.T) {
	const iotaBelow = 0x0345 // a mark with a letter for its upper case
	a := analysis.New()
	terms := func(s string) string { return string(a.AppendMain(nil, s)) }
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		s := string(r)
		got := terms(s)
		if !unicode.In(r, unicode.Co, unicode.Cn) {
			checkTokens(t, "a"+s+"b"+s)
		}
		if nfd := norm.NFD.String(s); nfd != s && terms(nfd) != got {
			t.Errorf("%U %q: terms %q, of its decomposition %q", r, s, got, terms(nfd))
		}
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if other := terms(string(f)); other != got && r != iotaBelow && f != iotaBelow {
				t.Errorf("%U %q: terms %q, of %U %q: %q", r, s, got, f, string(f), other)
			}
		}
		// What a query shows of the vocabulary must mean the same when it is searched for.
		if again := terms(got); again != got {
			t.Errorf("%U %q: terms %q, analysed again %q", r, s, got, again)
		}
		bare := strings.TrimFunc(norm.NFKD.String(s), func(r rune) bool { return r == ' ' || unicode.Is(unicode.Mn, r) })
		if (unicode.IsLetter(r) || unicode.IsDigit(r)) && got == "" && bare != "" && bare != "ʻ" && bare != "ʼ" {
			t.Errorf("%U %q: a letter or digit without a term", r, s)
		}
	}
}
