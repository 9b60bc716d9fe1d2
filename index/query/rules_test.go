package query_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/query"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/transcript"
)

// ask runs one request on an index.
func ask(t testing.TB, r *store.Reader, req contract.SearchSessionsRequest) contract.SearchSessionsResponse {
	t.Helper()
	snap, err := r.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	resp, err := query.New().Search(context.Background(), snap, req, query.Options{Now: storetest.Now, Transport: contract.TransportLocal})
	if err != nil {
		t.Fatalf("%q: %v", req.Query, err)
	}
	return resp
}

func search(t testing.TB, r *store.Reader, q string) *contract.SearchResults {
	t.Helper()
	resp := ask(t, r, contract.NewSearchSessionsRequest(q))
	if resp.Results == nil {
		t.Fatalf("%q: %s", q, resp.Kind)
	}
	return resp.Results
}

func ids(res *contract.SearchResults) string {
	var out []string
	for _, h := range res.Hits {
		out = append(out, h.SessionID)
	}
	return strings.Join(out, " ")
}

// TestWhatAQueryFinds holds matching.md rules 1 to 6 against a real index: text,
// query, found or not.
func TestWhatAQueryFinds(t *testing.T) {
	cases := []struct {
		rule, text, query string
		want              bool
	}{
		{"1", "it's broken", `it's`, true},
		{"1", "it's broken", `it’s`, true},
		{"1", "take a,b and c", `a,b`, true},
		{"1", "call foo(bar)", `foo(`, true},
		{"1", "got status:500 again", `status:500`, true},
		{"1", "got status 200 and 500 times", `status:500`, false},
		{"1", "host 10.0.0.5 is down", `10.0.0.5`, true},
		{"1", "10 items", `10.0.0.5`, false},
		{"1", "in src/main.go line 3", `src/main.go`, true},
		{"1", "the half of it", `"half`, true},
		{"1", "this AND that", `AND`, true},
		{"1", "NEAR(a b)", `NEAR(`, true},
		{"1", "flag -x is set", `-x`, true},
		{"1", "see #tag here", `#tag`, true},
		{"1", "100% done", `100%`, true},
		{"1", "1000 done", `100%`, false},
		{"1", "anything", `*`, false},
		{"1", "u@h wrote why? [x]", `u@h`, true},
		{"1", "u@h wrote why? [x]", `why?`, true},
		{"1", "see https://example.org/x", `https://example.org/x`, true},
		{"1", "std::vector<foo::bar>", `foo::bar`, true},
		{"2", "le CAFÉ est bon", `cafe`, true},
		{"2", "le cafe est bon", `CAFÉ`, true},
		{"2", "le cafe\u0301 est bon", `café`, true},
		{"2", "it is done.", `done `, true},
		{"2", "the (done) part", `done `, true},
		{"2", "it failed again", `failing `, true},
		{"2", "they were running", `run `, true},
		{"2", "failed_jobs list", `"failing"`, false},
		{"2", "the parser2 module", `parsers2 `, false},
		{"2", "undone", `done `, false},
		{"3", "see resolveTerminalPath()", `resolveTerminalPath`, true},
		{"3", "see resolveTerminalPath()", `resolve_terminal_path`, true},
		{"3", "see resolveTerminalPath()", `resolve-terminal-path`, true},
		{"3", "see resolveTerminalPath()", `ResolveTerminalPath`, true},
		{"3", "see resolveTerminalPath()", `terminal path`, true},
		{"3", "see resolveTerminalPath()", `resolveterminalpath`, true},
		{"3", "see resolve_terminal_path", `resolveTerminalPath`, true},
		{"3", "see resolveterminalpath", `resolveTerminalPath`, true},
		{"3", "an HTTPServer", `http server`, true},
		{"3", "an HTTPServer", `httpserver`, true},
		{"3", "error E0308 here", `E0308`, true},
		{"3", "as utf8 text", `utf8`, true},
		{"3", "as UTF-8 text", `utf8`, true},
		{"3", "write it in C++ now", `C++`, true},
		{"3", "write it in C now", `C++`, false},
		{"3", "write it in C# now", `c#`, true},
		{"3", "on .NET 8", `.NET`, true},
		{"3", "let x be", `x `, true},
		{"3", "in R it is", `R `, true},
		{"3", "/usr/local/share/app", `local/share`, true},
		{"4", "昨晚重构了索引服务", `索引服务`, true},
		{"4", "昨晚重构了索引服务", `索引`, true},
		{"4", "昨晚重构了索引服务", `构`, true},
		{"4", "昨晚重构了索引服务", `务`, true},
		{"4", "昨晚重构了索引服务", `引索`, false},
		{"4", "重跑gen-itgc后", `gen`, true},
		{"4", "重跑gen-itgc后", `gen-itgc`, true},
		{"4", "重跑gen-itgc后", `重跑gen-itgc后`, true},
		{"4", "ｆｕｌｌ width", `full `, true},
		{"4", "データベースを更新", `ベース`, true},
		{"4", "데이터베이스 갱신", `베이스`, true},
		{"4", "ฐานข้อมูลเสียหาย", `ข้อมูล`, true},
		{"4", "我问：索引是昨天重构的。", `索引是什么时候重构的？`, true},
		{"4", "ship it 🚀 now", `🚀`, true},
		{"5", "the terminal is", `termi`, true},
		{"5", "the terminal is", `termi `, false},
		{"5", "the terminal is", `termi is`, false},
		{"6", "a cache\nstampede lock", `"cache stampede"`, true},
		{"6", "cache of the stampede", `"cache stampede"`, false},
		{"6", "failed build", `"failing build"`, false},
		{"6", "stampede cache", `"cache stampede"`, false},
		{"1", "say \u201chello\u201d now", `hello`, true},
		{"1", "a NUL\x00byte", `NUL`, true},
		{"1", "a NUL\x00byte", "NUL\x00byte", true},
		{"1", "broken \uFFFD\uFFFD text", "broken", true},
		{"1", "x=1; y->z; a|b", `a|b`, true},
		{"1", "rate 50%", `50% `, true},
		{"1", "v1.2.3 is out", `v1.2.3`, true},
		{"1", "v1.2.3 is out", `1.2.3 `, true},
		{"1", "v1.2.3 is out", `"1.2.3"`, true},
		{"1", "tagged v2.0.0-rc1", `2.0.0-rc1 `, true},
		{"3", "built by go1.26.8 here", `1.26.8 `, true},
		{"3", "built by go1.26.8 here", `go1.26.8 `, true},
		{"3", "built by go1.26.8 here", `go 1.26 `, true},
		{"3", "built by go1.26.8 here", `go1.2`, true},
		{"3", "built by go1.26.8 here", `go1.2 `, false},
		{"3", "built by go1.26.8 here", `26.1 `, false},
		{"3", "/usr/lib/python3.11/site-packages", `lib/python3 `, true},
		{"3", "/usr/lib/python3.11/site-packages", `"lib/python3"`, true},
		{"3", "on node18.2 and v1", `18.2 `, true},
		{"1", "v1.2.30 is out", `1.2.3 `, false},
		{"1", "at 10.0.0.50", `10.0.0.5 `, false},
		{"1", "cost $100", `$100`, true},
		{"1", "issue #123 is old", `#123`, true},
		{"1", "error-401 again", `error-401`, true},
		{"1", "C:\\Users\\kim\\x.txt", `C:\Users\kim`, true},
		{"1", "OR and NOT", `OR NOT`, true},
		{"1", "{\"key\": \"plover\"}", `{"key": "plover"}`, true},
		{"2", "(done), \"ready\"; [open]: go!", `ready `, true},
		{"2", "(done), \"ready\"; [open]: go!", `open `, true},
		{"2", "„Größe“ zählt", `größe `, true},
		{"2", "„Größe“ zählt", `GROSSE `, true},
		{"2", "İstanbul", `istanbul `, true},
		{"2", "ΤΕΛΟΣ", `τέλος `, true},
		{"2", "Привет, мир", `привет `, true},
		{"2", "naïve", "nai\u0308ve ", true},
		{"2", "it was stopped", `stopping `, true},
		{"2", "two queries", `query `, true},
		{"2", "the failed_job ran", `failed `, true},
		{"2", "failing_jobs", `failed_jobs `, false},
		{"2", "how does the marmot sleep", `where is the marmot?`, true},
		{"3", "see resolveTerminalPath()", `RESOLVE_TERMINAL_PATH`, true},
		{"3", "see resolveTerminalPath()", `resolve.terminal.path`, true},
		{"3", "see resolveTerminalPath()", `resolve terminal path`, true},
		{"3", "see resolve-terminal-path", `resolve_terminal_path`, true},
		{"3", "see ResolveTerminalPath", `resolveterminalpath`, true},
		{"3", "see RESOLVE_TERMINAL_PATH", `resolveTerminalPath`, true},
		{"3", "see resolveTerminalPath()", `resolvetermi`, true},
		{"3", "see resolveTerminalPath()", `resolveTermi`, true},
		{"3", "see resolveTerminalPath()", `resolve_ter`, true},
		{"3", "parseHTTPRequest2", `http request2`, true},
		{"3", "parseHTTPRequest2", `parsehttprequest2`, true},
		{"3", "an iOS app", `ios `, true},
		{"3", "the sha256 sum", `sha256`, true},
		{"3", "error E0308 here", `e0308 `, true},
		{"3", "write it in F# now", `F#`, true},
		{"3", "write it in F now", `F#`, false},
		{"3", "in C++, not C", `c++ `, true},
		{"3", "use g++ here", `g++`, true},
		{"3", "an internet", `.NET`, false},
		{"3", "R and Rust", `R `, true},
		{"3", "only Rust", `R `, false},
		{"3", "x and xy", `x `, true},
		{"3", "only xy", `x `, false},
		{"3", "/usr/local/share/app.conf", `share/app.conf`, true},
		{"3", "/usr/local/share/app.conf", `/usr/local`, true},
		{"3", "/usr/local/share/app.conf", `usr/local/share/app.conf`, true},
		{"3", "/usr/local/share/app.conf", `local/app`, false},
		{"3", "src\\query\\plan.go", `query/plan.go`, true},
		{"3", "std::vec::Vec", `vec::Vec`, true},
		{"3", "obj.method_name(x)", `methodName`, true},
		{"4", "昨晚重构了索引服务", `昨`, true},
		{"4", "昨晚重构了索引服务", `服务`, true},
		{"4", "昨晚重构了索引服务", `昨晚重构了索引服务`, true},
		{"4", "昨晚重构了索引服务", `昨务`, false},
		{"4", "重跑gen-itgc后", `后`, true},
		{"4", "重跑gen-itgc后", `重跑gen`, true},
		{"4", "重跑gen-itgc后", `itgc后`, true},
		{"4", "重跑 gen-itgc 后", `重跑gen-itgc后`, true},
		{"4", "ｇｅｎ－ｉｔｇｃ", `gen-itgc`, true},
		{"4", "gen-itgc", `ｇｅｎ`, true},
		{"4", "ﾃﾞｰﾀﾍﾞｰｽ", `データベース`, true},
		{"4", "１２３番", `123`, true},
		{"4", "「索引」、完了。", `索引`, true},
		{"4", "「索引」、完了。", `引完`, false},
		{"4", "ひらがなのテスト", `がな`, true},
		{"4", "カタカナ", `タ`, true},
		{"4", "데이터베이스를 갱신했다", `갱신`, true},
		{"4", "데이터베이스를 갱신했다", `터`, true},
		{"4", "ฐานข้อมูลเสียหาย", `ฐาน`, true},
		{"4", "ฐานข้อมูลเสียหาย", `ย`, true},
		{"4", "ຖານຂໍ້ມູນເສຍຫາຍ", `ຂໍ້ມູນ`, true},
		{"4", "ຖານຂໍ້ມູນເສຍຫາຍ", `ນ`, true},
		{"4", "មូលដ្ឋានទិន្នន័យខូច", `ទិន្នន័យ`, true},
		{"4", "មូលដ្ឋានទិន្នន័យខូច", `ខ`, true},
		{"4", "ဒေတာဘေ့စ်ပျက်နေသည်", `ဘေ့စ်`, true},
		{"4", "ဒေတာဘေ့စ်ပျက်နေသည်", `ပျက်`, true},
		{"4", "ship it 🚀 now", `it 🚀`, true},
		{"4", "ok👍🏽 done", `👍`, true},
		{"4", "ok👍 done", `👍🏽`, true},
		{"4", "family 👨‍👩‍👧 trip", `👨‍👩‍👧`, true},
		{"4", "family 👨‍👩‍👧 trip", `👩`, true},
		{"4", "flag 🇩🇪 up", `🇩🇪`, true},
		{"4", "flag 🇩🇰 up", `🇩🇪`, false},
		{"4", "heart ❤️ red", `❤`, true},
		{"4", "done ✅ yes", `✅`, true},
		{"5", "базы данных", `данн`, true},
		{"5", "see HTTPServer", `httpser`, true},
		{"5", "see src/terminal/main.go", `src/term`, true},
		{"5", "see src/terminal/main.go", `main.g`, true},
		{"5", "größere Zahl", `größ`, true},
		{"6", "a cache  \t stampede lock", `"cache stampede lock"`, true},
		{"6", "cache\r\nstampede", `"cache stampede"`, true},
		{"6", "the cache stampede", `"the cache"`, true},
		{"6", "the caches", `"the cache"`, false},
		{"6", "resolveTerminalPath", `"resolve terminal"`, true},
		{"6", "昨晚重构了索引服务", `"重构了"`, true},
		{"6", "a cach stampede", `"cache stampede"`, false},
	}
	// One index has all texts, so that words are common and held elsewhere, too;
	// each question is put to one session.
	var sessions []storetest.Session
	roles := []string{"user", "tool"}
	for i, c := range cases {
		for _, role := range roles {
			sessions = append(sessions, storetest.Session{Header: transcript.Header{SessionID: fmt.Sprint(role, i), Title: "zz"}, Events: []transcript.Event{storetest.Say(role, c.text)}})
		}
	}
	path := storetest.Path(t)
	storetest.Build(t, path, sessions...)
	r := storetest.Open(t, path)
	for i, c := range cases {
		t.Run(c.rule+"/"+c.query, func(t *testing.T) {
			for _, role := range roles {
				req := contract.NewSearchSessionsRequest(c.query)
				req.Filters.SessionIDs = []string{fmt.Sprint(role, i)}
				req.Debug = true
				res := ask(t, r, req).Results
				// As it was typed, that is; lower rungs are in TestLowerRungs. A query
				// of several words counts as found when all were.
				got := len(res.Hits) > 0 && typed(res.Debug.Route) && (len(strings.Fields(c.query)) == 1 || res.Hits[0].Score >= 2)
				if got != c.want {
					t.Errorf("%s: text %q, query %q: found %v, want %v", role, c.text, c.query, got, c.want)
				}
				if c.want && len(res.Hits) > 0 {
					checkMarks(t, res.Hits[0].Evidence)
				}
			}
		})
	}
}

// typed reports whether a route is one of words as they were typed.
func typed(r contract.Route) bool {
	return r == contract.RoutePhrase || r == contract.RouteAnd || r == contract.RouteOr
}

// checkMarks holds marks against the snippet: each lies between its brackets.
func checkMarks(t testing.TB, ev *contract.Evidence) {
	t.Helper()
	if ev == nil {
		t.Error("no evidence")
		return
	}
	u := utf16.Encode([]rune(ev.Snippet))
	if len(ev.Marks) == 0 {
		t.Errorf("nothing marked in %q", ev.Snippet)
	}
	for _, m := range ev.Marks {
		if m[0] < 2 || m[1] <= m[0] || m[1]+2 > len(u) {
			t.Errorf("mark %v outside %q", m, ev.Snippet)
			continue
		}
		if got := string(utf16.Decode(u[m[0]-2:m[0]])) + string(utf16.Decode(u[m[1]:m[1]+2])); got != "[[]]" {
			t.Errorf("mark %v of %q stands between %q", m, ev.Snippet, got)
		}
	}
}

// TestOrder holds rules 5 to 7, 10 and 11 against real indexes: the best session
// first.
func TestOrder(t *testing.T) {
	long := strings.Repeat("other words stand here and there ", 40)
	cases := []struct {
		name, query string
		sessions    []storetest.Session
		want, route string
	}{
		{"an exact word above a prefix", "term", []storetest.Session{storetest.Talk("pre", "the terminal"), storetest.Talk("exact", "the term")}, "exact pre", "phrase"},
		{"an exact form above an inflected one", "failed ", []storetest.Session{storetest.Talk("infl", "it is failing"), storetest.Talk("exact", "it failed")}, "exact infl", "phrase"},
		{
			"phrase, message, session, some", "quill marmot basalt ",
			[]storetest.Session{
				storetest.Talk("some", "quill and marmot", "nothing"),
				storetest.Talk("session", "a quill", "a marmot", "a basalt"),
				storetest.Talk("message", "basalt then quill with a marmot"),
				storetest.Talk("phrase", "the quill marmot basalt"),
			},
			"phrase message session some", "phrase",
		},
		{"a word nobody has does not silence the rest", "marmot zzqx basalt ", []storetest.Session{storetest.Talk("a", "basalt marmot"), storetest.Talk("b", "else")}, "a", "or"},
		{"an unknown word alone finds nothing", "zzqx ", []storetest.Session{storetest.Talk("a", "basalt marmot")}, "", "or"},
		{
			"a title above a body", "plover ",
			[]storetest.Session{
				storetest.Talk("body", "a plover sat"),
				{Header: transcript.Header{SessionID: "title", Title: "the plover parser"}, Events: []transcript.Event{storetest.Say("user", "tidy up")}},
			},
			"title body", "phrase",
		},
		{"stop words do not matter below the phrase", "where is the marmot ", []storetest.Session{storetest.Talk("stop", "where is the thing"), storetest.Talk("word", "a marmot")}, "word", "and"},
		{"a stop word alone is looked for", "the ", []storetest.Session{storetest.Talk("a", "the thing"), storetest.Talk("b", "a thing")}, "a", "phrase"},
		{"a quoted phrase is mandatory", `"quill marmot" basalt `, []storetest.Session{storetest.Talk("apart", "marmot quill basalt"), storetest.Talk("phrase", "quill marmot")}, "phrase", "or"},
		{"not: excludes", `marmot not:basalt`, []storetest.Session{storetest.Talk("both", "marmot", "basalt"), storetest.Talk("one", "marmot")}, "one", "phrase"},
		{"not: with a phrase", `marmot not:"quill basalt"`, []storetest.Session{storetest.Talk("both", "marmot quill basalt"), storetest.Talk("one", "marmot basalt quill")}, "one", "phrase"},
		{
			"the character-exact phrase first", `"Foo.Bar"`,
			[]storetest.Session{storetest.Talk("spaced", "foo bar"), storetest.Talk("exact", "Foo.Bar")}, "exact spaced", "phrase",
		},
		{
			"talk above tool output", "plover ",
			[]storetest.Session{
				{Header: transcript.Header{SessionID: "tool"}, Events: []transcript.Event{storetest.Say("tool", "plover")}},
				storetest.Talk("talk", "plover"),
			},
			"talk tool", "phrase",
		},
		{
			"the end and the middle of a long output", "widget7731 middling ",
			[]storetest.Session{{Header: transcript.Header{SessionID: "tool"}, Events: []transcript.Event{storetest.Say("tool", strings.Repeat(long, 30)+" middling "+strings.Repeat(long, 30)+" E: widget7731 missing")}}},
			"tool", "and",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := storetest.Path(t)
			storetest.Build(t, path, c.sessions...)
			req := contract.NewSearchSessionsRequest(c.query)
			req.Debug = true
			res := ask(t, storetest.Open(t, path), req).Results
			if got := ids(res); got != c.want {
				for _, h := range res.Hits {
					t.Logf("%s %.4f", h.SessionID, h.Score)
				}
				t.Errorf("got %q, want %q", got, c.want)
			}
			if string(res.Debug.Route) != c.route {
				t.Errorf("route %s, want %s", res.Debug.Route, c.route)
			}
			if res.Total.Sessions != len(res.Hits) || !res.Total.Exact || res.Truncated.Candidates {
				t.Errorf("total %+v of %d hits, truncated %+v", res.Total, len(res.Hits), res.Truncated)
			}
		})
	}
}

// TestSnippetFindsTheTightPlace is case B86: a word repeated thousands of times
// does not hide the place where the whole query stands.
func TestSnippetFindsTheTightPlace(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("s", strings.Repeat("cache ", 5000)+"cache stampede lock"))
	ev := search(t, storetest.Open(t, path), "cache stampede lock").Hits[0].Evidence
	if !strings.Contains(strings.NewReplacer("[[", "", "]]", "").Replace(ev.Snippet), "cache stampede lock") {
		t.Errorf("snippet %q", ev.Snippet)
	}
	checkMarks(t, ev)
}

// TestPaging walks all pages of different sizes and meets every session once,
// in the order of one large page.
func TestPaging(t *testing.T) {
	path := storetest.Path(t)
	var all []storetest.Session
	for i := range 57 {
		all = append(all, storetest.Talk(fmt.Sprintf("s%02d", i), strings.Repeat("basalt ", 1+i%5)+"rock"))
	}
	storetest.Build(t, path, all...)
	r := storetest.Open(t, path)
	for _, sort := range []contract.Sort{contract.SortRelevance, contract.SortNewest} {
		req := contract.NewSearchSessionsRequest("basalt")
		req.Filters.Sort, req.Limit = sort, 100
		want := ids(ask(t, r, req).Results)
		var got []string
		req.Limit = 7
		for page := 0; ; page++ {
			res := ask(t, r, req).Results
			if res.Total.Sessions != 57 {
				t.Fatalf("total %d", res.Total.Sessions)
			}
			got = append(got, ids(res))
			if !res.Page.HasMore {
				break
			}
			req.Cursor = res.Page.Cursor
			req.Limit = 5 + page
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s:\n got %s\nwant %s", sort, s, want)
		}
	}
}

// TestCursorChecks holds contract.md §4's order of checks against a real index.
func TestCursorChecks(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("a", "basalt"), storetest.Talk("b", "basalt"))
	r := storetest.Open(t, path)
	req := contract.NewSearchSessionsRequest("basalt")
	req.Limit = 1
	first := ask(t, r, req).Results
	with := func(q, c string) contract.SearchSessionsResponse {
		x := contract.NewSearchSessionsRequest(q)
		x.Cursor = &c
		return ask(t, r, x)
	}
	cursor := *first.Page.Cursor
	if k := with("basalt", "").Kind; k != contract.KindMalformedCursor {
		t.Errorf("empty cursor: %s", k)
	}
	if k := with("basalt", cursor+"x").Kind; k != contract.KindMalformedCursor {
		t.Errorf("tampered cursor: %s", k)
	}
	if k := with("marmot", cursor).Kind; k != contract.KindMalformedCursor {
		t.Errorf("cursor of another query: %s", k)
	}
	if got := with("basalt", cursor); got.Results == nil || ids(got.Results) != "b" {
		t.Errorf("second page: %+v", got)
	}
	storetest.Build(t, path, storetest.Talk("c", "basalt"))
	moved := with("basalt", cursor)
	if moved.Kind != contract.KindStaleCursor || moved.Stale.ExpectedGeneration == nil || moved.Stale.Generation == *moved.Stale.ExpectedGeneration {
		t.Errorf("after a change: %+v", moved)
	}
	if k := with("marmot", cursor).Kind; k != contract.KindStaleCursor {
		t.Errorf("another query after a change is stale first: %s", k)
	}
	other := storetest.Path(t)
	storetest.Build(t, other, storetest.Talk("a", "basalt"), storetest.Talk("b", "basalt"))
	x := contract.NewSearchSessionsRequest("basalt")
	x.Cursor = &cursor
	if k := ask(t, storetest.Open(t, other), x).Kind; k != contract.KindStaleCursor {
		t.Errorf("cursor of another index: %s", k)
	}
}

// askIn searches with the present in a time zone.
func askIn(t testing.TB, r *store.Reader, q string, zone *time.Location) *contract.SearchResults {
	t.Helper()
	snap, err := r.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	resp, err := query.New().Search(context.Background(), snap, contract.NewSearchSessionsRequest(q), query.Options{Now: storetest.Now.In(zone), Transport: contract.TransportLocal})
	if err != nil || resp.Results == nil {
		t.Fatalf("%q: %v %v", q, resp.Kind, err)
	}
	return resp.Results
}

// TestSnippetOfWordsFarApart shows both places, and every mark is exact.
func TestSnippetOfWordsFarApart(t *testing.T) {
	path := storetest.Path(t)
	pad := strings.Repeat("nothing of note stands here ", 60)
	storetest.Build(t, path, storetest.Talk("s", pad+"the quill lies "+pad+"a marmot sleeps "+pad))
	ev := search(t, storetest.Open(t, path), "marmot quill ").Hits[0].Evidence
	for _, want := range []string{"[[quill]]", "[[marmot]]", " … "} {
		if !strings.Contains(ev.Snippet, want) {
			t.Errorf("%q is not in %q", want, ev.Snippet)
		}
	}
	if len(ev.Marks) != 2 {
		t.Errorf("marks %v", ev.Marks)
	}
	checkMarks(t, ev)
}
