package query_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/query"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/transcript"
)

// events runs one request on an index; a request that names a session means its
// whole id.
func events(t testing.TB, r *store.Reader, req contract.SearchEventsRequest) (contract.SearchEventsResponse, error) {
	t.Helper()
	ctx := context.Background()
	snap, err := r.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	var session *store.Session
	if req.OfSession() {
		if session, err = snap.Exactly(ctx, "claude", req.SessionID); err != nil || session == nil {
			t.Fatalf("%s: %v", req.SessionID, err)
		}
	}
	return query.New().Events(ctx, snap, session, req, query.Options{Now: storetest.Now, Transport: contract.TransportLocal})
}

func mustEvents(t testing.TB, r *store.Reader, req contract.SearchEventsRequest) contract.SearchEventsResponse {
	t.Helper()
	res, err := events(t, r, req)
	if err != nil {
		t.Fatalf("%q: %v", req.Query, err)
	}
	return res
}

// places are the hits as session:seq.
func places(res contract.SearchEventsResponse) string {
	var out []string
	for _, h := range res.Hits {
		out = append(out, fmt.Sprintf("%s:%d", h.SessionID, h.Seq))
	}
	return strings.Join(out, " ")
}

func of(session, q string) contract.SearchEventsRequest {
	req := contract.NewSearchEventsRequest(q)
	req.SessionID = session
	return req
}

func code(err error) string {
	var fault *contract.Error
	if errors.As(err, &fault) {
		return fault.Code
	}
	return fmt.Sprint(err)
}

func TestEvents(t *testing.T) {
	path := storetest.Path(t)
	bash := storetest.Say("call", "grep -n quillwort fen.go")
	bash.Tools = []string{"Bash"}
	shadowed := storetest.Say("user", "an old word on the wetland")
	shadowed.Surface = transcript.Shadowed
	storetest.Build(t, path,
		storetest.Session{Header: transcript.Header{SessionID: "a", Title: "Plovers of the marsh"}, Events: []transcript.Event{
			storetest.Say("user", "count the marsh birds"), storetest.Say("assistant", "the plover nests in the marsh"),
			bash, storetest.Say("tool", "12: quillwort by the marsh"), shadowed,
			storetest.Say("assistant", "a plover; and far from it, the reed and the marsh"), storetest.Say("user", "getFenHeight is wrong, getFenHeight!"),
		}},
		storetest.Session{Header: transcript.Header{SessionID: "b", Title: "zz"}, Events: []transcript.Event{
			storetest.Say("user", "marsh plover"), storetest.Say("assistant", "“marsh plover”, or was it Marsh Plover? marsh"), storetest.Say("user", "the heron"),
		}},
	)
	r := storetest.Open(t, path)
	for _, tt := range []struct {
		name, session, query string
		change               func(*contract.SearchEventsRequest)
		want                 string
	}{
		{"one hit for each event, in which the words are", "", "heron ", nil, "b:2"},
		{"titles are no events", "", "plovers ", nil, "b:0 a:1 b:1 a:5"},
		{"nothing but a title", "", "zz ", nil, ""},
		{"the phrase, then all words, then some", "", "marsh plover ", nil, "b:0 b:1 a:1 a:5 a:0 a:3"},
		{"in one session", "a", "marsh plover ", nil, "a:1 a:5 a:0 a:3"},
		{"a quoted phrase is in every event", "", `"marsh plover" `, nil, "b:0 b:1"},
		{"and is never relaxed", "a", `"marsh plover" `, nil, ""},
		{"parts of identifiers", "", "fen height ", nil, "a:6 a:2"},
		{"repaired", "", "herron ", nil, "b:2"},
		{"inside others", "", "illwor ", nil, "a:3 a:2"},
		{"a word held elsewhere is not changed", "a", "heron ", nil, ""},
		{"not: leaves out events", "a", "marsh not:plover ", nil, "a:0 a:3"},
		{"not: a phrase", "", `marsh not:"marsh plover" `, nil, "a:0 a:1 a:5 a:3"},
		{"conversation", "", "quillwort ", func(q *contract.SearchEventsRequest) { q.Scope = contract.ScopeConversation }, ""},
		{"tools", "", "quillwort ", nil, "a:3 a:2"},
		{"operator tool:", "", "quillwort tool:bash ", nil, "a:2"},
		{"operator role:", "", "marsh role:user ", nil, "b:0 a:0"},
		{"operator agent: of nothing", "", "marsh agent:pi ", nil, ""},
		{"operators alone list the newest", "", "role:user ", nil, "a:6 a:4 b:2 a:0 b:0"},
		{"operators alone in a session", "a", "role:assistant ", nil, "a:5 a:2 a:1"},
		{"operators alone, in conversation", "a", "role:assistant ", func(q *contract.SearchEventsRequest) { q.Scope = contract.ScopeConversation }, "a:5 a:1"},
		{"operators alone with not:", "", "role:user not:marsh ", nil, "a:6 a:4 b:2"},
		{"tools alone", "", "tool:Bash ", nil, "a:2"},
		{"only signs", "", "?!", nil, ""},
		{"types", "", "marsh ", func(q *contract.SearchEventsRequest) {
			q.Filters.Events = &contract.EventFilters{Types: []string{transcript.TypeToolResult}}
		}, "a:3"},
		{"surfaces", "", "wetland ", func(q *contract.SearchEventsRequest) {
			q.Filters.Events = &contract.EventFilters{Surfaces: []contract.Surface{contract.SurfaceCurrent}}
		}, ""},
		{"surfaces that pass", "a", "wetland ", func(q *contract.SearchEventsRequest) {
			q.Filters.Events = &contract.EventFilters{Surfaces: []contract.Surface{contract.SurfaceShadowed}}
		}, "a:4"},
		{"positions", "a", "marsh ", func(q *contract.SearchEventsRequest) {
			from := int64(3)
			q.Filters.Events = &contract.EventFilters{Seq: &contract.SeqRange{From: &from}}
		}, "a:5 a:3"},
		{"positions alone", "a", "role:user ", func(q *contract.SearchEventsRequest) {
			from := int64(3)
			q.Filters.Events = &contract.EventFilters{Seq: &contract.SeqRange{From: &from}}
		}, "a:6 a:4"},
		{"no roles", "", "marsh ", func(q *contract.SearchEventsRequest) {
			q.Filters.Events = &contract.EventFilters{Roles: []contract.Role{}}
		}, ""},
		{"sessions", "", "marsh ", func(q *contract.SearchEventsRequest) { q.Filters.SessionIDs = []string{"b"} }, "b:0 b:1"},
		{"filters of sessions do not count in one", "b", "marsh ", func(q *contract.SearchEventsRequest) { q.Filters.SessionIDs = []string{"a"} }, "b:0 b:1"},
		{"newest", "", "marsh ", func(q *contract.SearchEventsRequest) { q.Filters.Sort = contract.SortNewest }, "a:5 a:3 a:1 b:1 a:0 b:0"},
		{"newest: the highest group only", "", "marsh plover ", func(q *contract.SearchEventsRequest) { q.Filters.Sort = contract.SortNewest }, "a:5 a:1 b:1 b:0"},
	} {
		req := of(tt.session, tt.query)
		if tt.change != nil {
			tt.change(&req)
		}
		res := mustEvents(t, r, req)
		if got := places(res); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if res.Total.Events != len(res.Hits) || !res.Total.Exact || res.Page.HasMore {
			t.Errorf("%s: total %+v, page %+v", tt.name, res.Total, res.Page)
		}
		for _, h := range res.Hits {
			if len(h.Marks) > 0 {
				checkMarks(t, &contract.Evidence{Snippet: h.Snippet, Marks: h.Marks})
			}
			words := !strings.HasPrefix(tt.name, "operators alone") && !strings.HasSuffix(tt.name, " alone")
			if (len(h.Marks) > 0) != words || h.Snippet == "" || (h.Score > 0) != words {
				t.Errorf("%s: %q, marks %v, score %v", tt.name, h.Snippet, h.Marks, h.Score)
			}
		}
	}
	res := mustEvents(t, r, of("a", "tool:Bash quillwort "))
	h := res.Hits[0]
	if h.Agent != "claude" || h.Seq != 2 || *h.EventID != "a-e2" || h.Type != transcript.TypeToolCall || h.Role != contract.RoleAssistant || h.Time == nil || h.Surface != contract.SurfaceCurrent {
		t.Errorf("%+v", h)
	}
	if cut := mustEvents(t, r, of("", strings.Repeat("marsh ", 100))); !cut.Truncated.Query || len(cut.Diagnostics) == 0 {
		t.Errorf("a query that is too long: %+v", cut.Truncated)
	}
}

// Pages put together are the whole answer, whatever their sizes, in both orders.
func TestPagesOfEvents(t *testing.T) {
	path := storetest.Path(t)
	var all []storetest.Session
	for i := range 9 {
		var texts []string
		for k := range 13 {
			texts = append(texts, strings.Repeat("basalt ", 1+(i+k)%4)+"rock")
		}
		s := storetest.Talk(fmt.Sprint("s", i), texts...)
		for k := range s.Events {
			// Times of sessions overlap; some are equal, some lie in the future.
			s.Events[k].Time = storetest.Now.Add(time.Duration(-i*20+k*17%60) * time.Minute)
			if k == 5 {
				s.Events[k].Time = storetest.Now.AddDate(3, 0, 0)
			}
		}
		all = append(all, s)
	}
	storetest.Build(t, path, all...)
	r := storetest.Open(t, path)
	for _, q := range []string{"basalt ", "basalt rock", "role:user "} {
		for _, session := range []string{"", "s4"} {
			for _, sort := range []contract.Sort{contract.SortRelevance, contract.SortNewest} {
				req := of(session, q)
				req.Filters.Sort, req.Limit = sort, 1000
				whole := mustEvents(t, r, req)
				want, total := places(whole), 117
				if session != "" {
					total = 13
				}
				if whole.Total.Events != total || len(whole.Hits) != total {
					t.Fatalf("%q: total %d, %d hits", q, whole.Total.Events, len(whole.Hits))
				}
				if sort == contract.SortNewest {
					for i := 1; i < len(whole.Hits); i++ {
						a, b := whole.Hits[i-1].Time, whole.Hits[i].Time
						if *a < *b && b.Time().Before(storetest.Now.AddDate(1, 0, 0)) && a.Time().Before(storetest.Now.AddDate(1, 0, 0)) {
							t.Fatalf("%q: %v before %v", q, a, b)
						}
					}
				}
				var got []string
				req.Limit = 7
				for page := 0; ; page++ {
					res := mustEvents(t, r, req)
					got = append(got, places(res))
					if res.Total != whole.Total {
						t.Errorf("total %+v on page %d", res.Total, page)
					}
					if !res.Page.HasMore {
						break
					}
					req.Cursor, req.Limit = res.Page.Cursor, 3+page
				}
				if s := strings.Join(got, " "); s != want {
					t.Errorf("%q in %q by %s:\n got %s\nwant %s", q, session, sort, s, want)
				}
			}
		}
	}
}

// A cursor of one session outlives what happens to others, one of all sessions
// does not.
func TestCursorsOfEvents(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("a", "basalt one", "basalt two", "basalt three, marmots"), storetest.Talk("b", "basalt"))
	r := storetest.Open(t, path)
	first := func(session, q string) contract.SearchEventsRequest {
		req := of(session, q)
		req.Limit = 1
		req.Cursor = mustEvents(t, r, req).Page.Cursor
		if req.Cursor == nil {
			t.Fatalf("%q has one page", q)
		}
		return req
	}
	inOne, inAll, repaired := first("a", "basalt "), first("", "basalt "), first("a", "basolt ")
	rest := places(mustEvents(t, r, inOne))
	for name, c := range map[string]string{"empty": "", "tampered with": *inOne.Cursor + "x", "of all sessions": *inAll.Cursor} {
		req := inOne
		req.Cursor = &c
		if _, err := events(t, r, req); code(err) != contract.CodeInvalidCursor {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := inOne
	other.Query = "marmots "
	if _, err := events(t, r, other); code(err) != contract.CodeInvalidCursor {
		t.Errorf("of another query: %v", err)
	}
	storetest.Build(t, path, storetest.Talk("c", "basalt and more basalt"))
	if _, err := events(t, r, inAll); code(err) != contract.CodeStaleCursor {
		t.Errorf("of all sessions after another was written: %v", err)
	}
	if res, err := events(t, r, inOne); err != nil || places(res) != rest {
		t.Errorf("of one session after another was written: %q, want %q, %v", places(res), rest, err)
	}
	if _, err := events(t, r, repaired); err != nil {
		t.Errorf("of a repaired word: %v", err)
	}
	storetest.Build(t, path, storetest.Talk("d", "basolt"))
	if _, err := events(t, r, repaired); code(err) != contract.CodeStaleCursor {
		t.Errorf("of a repaired word that another session has now: %v", err)
	}
}

// An event of several rows is one hit, for words in different ones, too.
func TestEventOfSeveralRows(t *testing.T) {
	path := storetest.Path(t)
	long := "quill " + strings.Repeat("filler ", 60_000) + "marmot " + strings.Repeat("filler ", 60_000) + "basalt"
	storetest.Build(t, path, storetest.Talk("long", "before", long, "quill and nothing", long), storetest.Talk("short", "basalt quill"))
	r := storetest.Open(t, path)
	for q, want := range map[string]string{
		"filler ":               "long:3 long:1",
		"quill basalt ":         "short:0 long:3 long:1 long:2",
		"marmot ":               "long:3 long:1",
		"filler not:basalt ":    "",
		"role:user not:marmot ": "long:2 long:0 short:0",
	} {
		req := of("", q)
		res := mustEvents(t, r, req)
		if got := places(res); got != want || res.Total.Events != len(res.Hits) {
			t.Errorf("%q: %q, total %d, want %q", q, got, res.Total.Events, want)
		}
	}
}

// What is not all looked at is not called all.
func TestTotalOfManyEvents(t *testing.T) {
	path := storetest.Path(t)
	texts := make([]string, 20_500)
	for i := range texts {
		texts[i] = "basalt"
	}
	storetest.Build(t, path, storetest.Talk("many", texts...))
	r := storetest.Open(t, path)
	if res := mustEvents(t, r, of("", "basalt ")); res.Total.Exact || !res.Truncated.Candidates || res.Total.Events != 20_000 {
		t.Errorf("of all sessions: %+v", res.Total)
	}
	if res := mustEvents(t, r, of("many", "basalt ")); !res.Total.Exact || res.Total.Events != len(texts) {
		t.Errorf("of one: %+v", res.Total)
	}
	newest := of("", "basalt ")
	newest.Filters.Sort = contract.SortNewest
	if res := mustEvents(t, r, newest); !res.Total.Exact || res.Total.Events != len(texts) || res.Hits[0].Seq != 20_499 {
		t.Errorf("by time: %+v", res.Total)
	}
}

func TestEventsEndWithTheirContext(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("a", "basalt"))
	r := storetest.Open(t, path)
	snap, err := r.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	ctx, end := context.WithCancel(context.Background())
	end()
	if _, err := query.New().Events(ctx, snap, nil, of("", "basalt"), query.Options{Now: storetest.Now}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
