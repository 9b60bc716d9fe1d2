package query_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/query"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/store/storetest"
)

// hostileIndex has text of every script and shape a query may be made of.
func hostileIndex(t testing.TB) *store.Reader {
	path := storetest.Path(t)
	storetest.Build(t, path,
		storetest.Talk("a", "it's a,b foo(bar) status:500 10.0.0.5 src/main.go \"half * AND NEAR( -x #tag C++ .NET [[mark]]"),
		storetest.Talk("b", "昨晚重构了索引服务 重跑gen-itgc后 データベース 데이터베이스 ฐานข้อมูล 🚀👍🏽🇩🇪", "resolveTerminalPath HTTPServer ï̈́ ﬁ ß İ"),
		storetest.Talk("c", strings.Repeat("word ", 3000)+"end"),
	)
	return storetest.Open(t, path)
}

// pieces of queries: operators, FTS syntax, quotes, scripts, broken encodings.
var pieces = []string{
	"it's", "a,b", "foo(", "status:500", "10.0.0.5", `"`, `""`, `'`, `*`, "AND", "OR", "NOT", "NEAR(", "NEAR/2", "-x", "#tag", "\x00", "\xff\xfe", "\xed\xa0\x80", "^",
	"{u a} : x", "u:", "ft MATCH", "rowid", ";DROP TABLE session", "%", "_", `\`, "(((", ")))", "+", "|", "=tool=bash", "=", "not:", "not:foo", `not:"a b"`, "agent:", "agent:claude",
	"agent:cladue", "is:active", "is:", "since:7d", "since:99999d", "until:2026-13-45", "role:user", "tool:bash", "tool:\x01", `file:a"b`, "path:%", "repo:_", "branch:\\", "model:x",
	"索引", "重", "ｆｕ", "데이터", "ฐาน", "🚀", "🏽", "🇩", "\u200d", "\u0301", "e\u0301", "İ", "ß", "ﬁ", "\u202e", "\u2028", "C++", "c#", ".NET", "https://x/y?z=1", "foo::bar", "->", "resolveTerminalPath", "resolve_t",
	"the", "where", "a", " ", "  ", "\t", "\n", strings.Repeat("x", 200), strings.Repeat("重", 100), strings.Repeat(`"a`, 40), strings.Repeat("a-", 60),
}

// hold checks what every answer must keep, whatever was asked.
func hold(t testing.TB, e *query.Engine, snap *store.Snapshot, q string) {
	req := contract.NewSearchSessionsRequest(q)
	resp, err := e.Search(context.Background(), snap, req, query.Options{Now: storetest.Now, Transport: contract.TransportLocal})
	if err != nil {
		t.Fatalf("query %q: %v", q, err)
	}
	res := resp.Results
	if res == nil {
		t.Fatalf("query %q: %s", q, resp.Kind)
	}
	if res.Total.Exact == res.Truncated.Candidates || res.Total.Sessions < len(res.Hits) {
		t.Fatalf("query %q: total %+v, truncated %+v, %d hits", q, res.Total, res.Truncated, len(res.Hits))
	}
	n := len(utf16.Encode([]rune(q)))
	for _, d := range res.Diagnostics {
		if d.Start < 0 || d.End <= d.Start || d.End > n || d.Message == "" {
			t.Fatalf("query %q: remark %+v", q, d)
		}
	}
	for _, h := range res.Hits {
		if ev := h.Evidence; ev != nil {
			if !utf8.ValidString(ev.Snippet) || utf8.RuneCountInString(ev.Snippet) > 512+5*len(ev.Marks) {
				t.Fatalf("query %q: snippet of %d code points", q, utf8.RuneCountInString(ev.Snippet))
			}
			u := len(utf16.Encode([]rune(ev.Snippet)))
			last := 0
			for _, m := range ev.Marks {
				if m[0] < last || m[1] < m[0] || m[1] > u {
					t.Fatalf("query %q: mark %v in %q", q, m, ev.Snippet)
				}
				last = m[1]
			}
		}
	}
}

// TestHostileQueries asks 100,000 queries put together from hostile pieces and
// random bytes: never an engine error, never a broken answer.
func TestHostileQueries(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 2_000
	}
	r := hostileIndex(t)
	snap, err := r.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	e := query.New()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range n {
		var b strings.Builder
		for range 1 + rnd.IntN(5) {
			switch rnd.IntN(8) {
			case 0:
				for range rnd.IntN(6) {
					b.WriteByte(byte(rnd.IntN(256)))
				}
			case 1:
				for range rnd.IntN(4) {
					b.WriteRune(rune(rnd.IntN(0x11000)))
				}
			default:
				b.WriteString(pieces[rnd.IntN(len(pieces))])
			}
			if rnd.IntN(2) == 0 {
				b.WriteByte(' ')
			}
		}
		hold(t, e, snap, strings.ToValidUTF8(b.String(), "\uFFFD"))
	}
}

// FuzzQuery is the same with the fuzzer's own ideas.
func FuzzQuery(f *testing.F) {
	for _, p := range pieces {
		f.Add(p)
	}
	r := hostileIndex(f)
	snap, err := r.Snapshot(context.Background())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { snap.Close() })
	e := query.New()
	f.Fuzz(func(t *testing.T, q string) { hold(t, e, snap, strings.ToValidUTF8(q, "\uFFFD")) })
}
