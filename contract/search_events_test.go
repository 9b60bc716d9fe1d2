package contract_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

func TestParseSearchEvents(t *testing.T) {
	type request = contract.SearchEventsRequest
	for _, tt := range []struct {
		name, raw string
		change    func(r *request)
	}{
		{"defaults", `{"query":"x"}`, func(*request) {}},
		{"null is absence", `{"query":"x","sessionId":null,"agent":null,"scope":null,"freshness":null,"filters":null,"limit":null,"cursor":null,"mode":null,"regex":null,"partialResultToken":null,"executionHost":null}`, func(*request) {}},
		{"unknown fields are dropped", `{"query":"x","Limit":5,"filters":{"colour":1}}`, func(*request) {}},
		{"no text", `{"query":""}`, func(r *request) { r.Query = "" }},
		{"a session", `{"query":"x","sessionId":"s","agent":"pi"}`, func(r *request) { r.SessionName = contract.SessionName{SessionID: "s", Agent: "pi"} }},
		{"scope, freshness", `{"query":"x","scope":"conversation","freshness":"wait-until-current"}`, func(r *request) {
			r.Scope, r.Freshness = contract.ScopeConversation, contract.FreshnessWait
		}},
		{"all filters without a session", `{"query":"x","filters":{"agents":["pi"],"sort":"newest","events":{"types":["a"]}}}`, func(r *request) {
			r.Filters = contract.Filters{Agents: []string{"pi"}, Sort: contract.SortNewest, Events: &contract.EventFilters{Types: []string{"a"}}}
		}},
		{"flat event clauses are none of all sessions", `{"query":"x","filters":{"types":["a"]}}`, func(*request) {}},
		{"the events clause, flat, of a session", `{"query":"x","sessionId":"s","filters":{"types":["a"],"seq":{"from":1},"sort":"newest","agents":["nobody"],"events":{"types":[]}}}`, func(r *request) {
			r.SessionID = "s"
			r.Filters = contract.Filters{Sort: contract.SortNewest, Events: &contract.EventFilters{Types: []string{"a"}, Seq: &contract.SeqRange{From: ptr(int64(1))}}}
		}},
		{"limit", `{"query":"x","limit":1000}`, func(r *request) { r.Limit = 1000 }},
		{"limit 0", `{"query":"x","limit":0}`, func(r *request) { r.Limit = 0 }},
		{"a limit below 0 is 0", `{"query":"x","limit":-7e300}`, func(r *request) { r.Limit = 0 }},
		{"cursor", `{"query":"x","cursor":""}`, func(r *request) { r.Cursor = ptr("") }},
		{"scan", `{"query":"a(b","mode":"scan"}`, func(r *request) { r.Query, r.Mode = "a(b", contract.ModeScan }},
		{"no regex without its mode", `{"query":"x","regex":false}`, func(*request) {}},
		{"regex", `{"query":"a.*b","mode":"scan","regex":true}`, func(r *request) { r.Query, r.Mode, r.Regex = "a.*b", contract.ModeScan, true }},
		{"a word for a token", `{"query":"x","partialResultToken": "t\u00e9" }`, func(r *request) { r.PartialResultToken = json.RawMessage(`"t\u00e9"`) }},
		{"a number for a token", `{"query":"x","partialResultToken":-12}`, func(r *request) { r.PartialResultToken = json.RawMessage(`-12`) }},
		{"host", `{"query":"x","executionHost":"ssh:box"}`, func(r *request) { r.ExecutionHost = "ssh:box" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := contract.NewSearchEventsRequest("x")
			tt.change(&want)
			got, err := contract.Parser{}.ParseSearchEvents([]byte(tt.raw))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
			}
			// What is sent on is read as the same.
			sent := wire(t, got)
			if again, err := (contract.Parser{}).ParseSearchEvents([]byte(sent)); err != nil || wire(t, again) != sent {
				t.Errorf("%s became %s, %v", sent, wire(t, again), err)
			}
		})
	}
}

func TestSearchEventsRefusals(t *testing.T) {
	const scan = `"mode":"scan",`
	for _, tt := range []struct{ raw, code, field string }{
		{`[]`, contract.CodeInvalidConfig, "arguments"},
		{`{}`, contract.CodeInvalidQuery, "query"},
		{`{"query":7}`, contract.CodeInvalidQuery, "query"},
		{`{"query":"x","sessionId":""}`, contract.CodeInvalidConfig, "sessionId"},
		{`{"query":"x","sessionId":7}`, contract.CodeInvalidConfig, "sessionId"},
		{`{"query":"x","sessionId":"s","agent":"nobody"}`, contract.CodeInvalidConfig, "agent"},
		{`{"query":"x","agent":"pi"}`, contract.CodeInvalidConfig, "agent"},
		{`{"query":"x","scope":"tools"}`, contract.CodeInvalidConfig, "scope"},
		{`{"query":"x","freshness":"now"}`, contract.CodeInvalidConfig, "freshness"},
		{`{"query":"x","filters":[]}`, contract.CodeInvalidFilter, "filters"},
		{`{"query":"x","filters":{"agents":["nobody"]}}`, contract.CodeInvalidFilter, "filters.agents"},
		{`{"query":"x","filters":{"events":{"seq":{"from":2,"to":1}}}}`, contract.CodeInvalidFilter, "filters.events.seq"},
		{`{"query":"x","sessionId":"s","filters":{"seq":{"from":2,"to":1}}}`, contract.CodeInvalidFilter, "filters.seq"},
		{`{"query":"x","sessionId":"s","filters":{"surfaces":["mirror"]}}`, contract.CodeInvalidFilter, "filters.surfaces"},
		{`{"query":"x","sessionId":"s","filters":{"sort":"oldest"}}`, contract.CodeInvalidFilter, "filters.sort"},
		{`{"query":"x","limit":1001}`, contract.CodeInvalidLimit, "limit"},
		{`{"query":"x","limit":2.5}`, contract.CodeInvalidLimit, "limit"},
		{`{"query":"x","limit":-0.5}`, contract.CodeInvalidLimit, "limit"},
		{`{"query":"x","limit":"9"}`, contract.CodeInvalidLimit, "limit"},
		{`{"query":"x","cursor":7}`, contract.CodeInvalidCursor, "cursor"},
		{`{"query":"x","mode":"grep"}`, contract.CodeInvalidConfig, "mode"},
		{`{"query":"x","regex":true}`, contract.CodeInvalidConfig, "regex"},
		{`{"query":"x","regex":"yes"}`, contract.CodeInvalidConfig, "regex"},
		{`{"query":"x",` + scan + `"cursor":"c"}`, contract.CodeInvalidCursor, "cursor"},
		{`{"query":"x",` + scan + `"cursor":""}`, contract.CodeInvalidCursor, "cursor"},
		{`{"query":"a(",` + scan + `"regex":true}`, contract.CodeInvalidQuery, "query"},
		{`{"query":"(?=a)",` + scan + `"regex":true}`, contract.CodeInvalidQuery, "query"},
		{`{"query":"a{1000}{1000}",` + scan + `"regex":true}`, contract.CodeInvalidQuery, "query"},
		{`{"query":"(a|b|c){1000}",` + scan + `"regex":true}`, contract.CodeInvalidQuery, "query"},
		{`{"query":"` + strings.Repeat("a", contract.MaxPattern+1) + `",` + scan + `"regex":true}`, contract.CodeInvalidQuery, "query"},
		{`{"query":"` + strings.Repeat("a", contract.MaxScanQuery+1) + `","mode":"scan"}`, contract.CodeInvalidQuery, "query"},
		{`{"query":"x","partialResultToken":true}`, contract.CodeInvalidConfig, "partialResultToken"},
		{`{"query":"x","partialResultToken":1.5}`, contract.CodeInvalidConfig, "partialResultToken"},
		{`{"query":"x","partialResultToken":{}}`, contract.CodeInvalidConfig, "partialResultToken"},
		{`{"query":"x","partialResultToken":"` + strings.Repeat("t", contract.MaxProgressToken) + `"}`, contract.CodeInvalidConfig, "partialResultToken"},
		{`{"query":"x","executionHost":"all"}`, contract.CodeInvalidConfig, "executionHost"},
		// Of several faults the first in the contract's order.
		{`{"executionHost":"all","limit":1001,"query":7}`, contract.CodeInvalidQuery, "query"},
	} {
		_, err := contract.Parser{}.ParseSearchEvents([]byte(tt.raw))
		var fault *contract.Error
		if !errors.As(err, &fault) || fault.RPCCode != contract.RPCInvalidParams || fault.Code != tt.code || fault.Field != tt.field {
			t.Errorf("%.200s: %+v", tt.raw, err)
		}
	}
}

func TestAsksNothing(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"query":"x"}`:                                                  false,
		`{"query":""}`:                                                   true,
		`{"query":" \t\u00a0\n"}`:                                        true,
		`{"query":"x","limit":0}`:                                        true,
		`{"query":"x","limit":-1}`:                                       true,
		`{"query":"x","filters":{"events":{"types":[]}}}`:                true,
		`{"query":"x","sessionId":"s","filters":{"types":[]}}`:           true,
		`{"query":"x","sessionId":"s","filters":{"roles":[]}}`:           false,
		`{"query":"x","filters":{"sessionIds":[]}}`:                      false,
		`{"query":"agent:pi","filters":{"events":{"types":["other"]}}}`:  false,
		`{"query":"x","mode":"scan","filters":{"events":{"types":[]}}}`:  true,
		`{"query":"","mode":"scan","regex":true,"partialResultToken":1}`: true,
	} {
		r, err := contract.Parser{}.ParseSearchEvents([]byte(raw))
		if err != nil || r.AsksNothing() != want {
			t.Errorf("%s: %v, %v", raw, r.AsksNothing(), err)
		}
	}
}

func TestSearchEventsOnTheWire(t *testing.T) {
	h := plainHeader()
	hit := contract.EventHit{EventRecord: plainEvent(), Snippet: "a [[<b>]]", Marks: contract.List[contract.Mark]{{4, 7}}, Score: 4.25}
	hitJSON := eventJSON + `,"snippet":"a [[<b>]]","marks":[[4,7]],"score":4.25}`
	const cut = `"truncated":{"candidates":false,"snippets":0,"query":false,"freshness":false},"durationMs":0`
	for _, tt := range []struct {
		name  string
		value any
		want  string
	}{
		{"of all sessions", contract.SearchEventsResponse{Hits: contract.List[contract.EventHit]{hit}, Page: contract.Page{Cursor: ptr("c"), HasMore: true}, Total: contract.EventTotal{Events: 2, Exact: true}},
			`{"hits":[` + hitJSON + `],"page":{"cursor":"c","hasMore":true},"total":{"events":2,"exact":true},` + cut + `}`},
		{"of a session without a hit", contract.SearchEventsResponse{Session: &h, Total: contract.EventTotal{Exact: true}},
			`{"session":` + headerJSON + `,"hits":[],"page":{"cursor":null,"hasMore":false},"total":{"events":0,"exact":true},` + cut + `}`},
		{"of a scan", contract.SearchEventsResponse{Skipped: []contract.SkippedSession{{Agent: "pi", SessionID: "x", Code: contract.CodeCorruptSession}}},
			`{"hits":[],"page":{"cursor":null,"hasMore":false},"total":{"events":0,"exact":false},` + cut +
				`,"skipped":[{"agent":"pi","sessionId":"x","code":"SESSION_QUERY_CORRUPT_SESSION"}]}`},
		{"hits ahead of the answer", contract.PartialHits{Kind: contract.KindHits, Hits: contract.List[contract.EventHit]{hit}}, `{"kind":"hits","hits":[` + hitJSON + `]}`},
	} {
		if got := wire(t, tt.value); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
		read := reflect.New(reflect.TypeOf(tt.value))
		if err := json.Unmarshal([]byte(tt.want), read.Interface()); err != nil {
			t.Fatal(err)
		}
		if again := wire(t, read.Elem().Interface()); again != tt.want {
			t.Errorf("%s: read and written again: %s", tt.name, again)
		}
	}
}

func TestRedactEvents(t *testing.T) {
	h := plainHeader()
	h.SourcePath, h.Warnings = "/home/ann/.pi/s.jsonl", []string{"cannot read /home/ann/.pi/p.jsonl"}
	r := contract.SearchEventsResponse{Session: &h}
	if got := wire(t, contract.RedactEvents(r, contract.TransportLocal)); !strings.Contains(got, "/home/ann") {
		t.Errorf("local: %s", got)
	}
	if got := wire(t, contract.RedactEvents(r, contract.TransportRemote)); strings.Contains(got, "/home/ann") || !strings.Contains(got, "p.jsonl") {
		t.Errorf("remote: %s", got)
	}
	if h.SourcePath == "" {
		t.Error("what was given was changed")
	}
	contract.RedactEvents(contract.SearchEventsResponse{}, contract.TransportRemote)
}

func TestEventCursors(t *testing.T) {
	fence := contract.Fence{Generation: 7, Identity: "abc"}
	c := contract.EventCursor{RequestHash: "h", Fence: fence, Clock: 5, Plan: math.MaxUint64, Key: math.Inf(-1), Session: 3, Row: 1 << 41}
	s := contract.EncodeEventCursor(c)
	if got, err := contract.CheckEventCursor(s, fence, "h"); err != nil || got != c {
		t.Errorf("%+v, %v", got, err)
	}
	for name, tt := range map[string]struct {
		s    string
		now  contract.Fence
		hash string
		code string
	}{
		"nothing":                {"", fence, "h", contract.CodeInvalidCursor},
		"tampered with":          {s + "A", fence, "h", contract.CodeInvalidCursor},
		"of another kind":        {contract.EncodeReadCursor(contract.ReadCursor{RequestHash: "h", Fence: fence}), fence, "h", contract.CodeInvalidCursor},
		"no number":              {contract.EncodeEventCursor(contract.EventCursor{RequestHash: "h", Fence: fence, Key: math.NaN()}), fence, "h", contract.CodeInvalidCursor},
		"of another request":     {s, fence, "i", contract.CodeInvalidCursor},
		"of another one and old": {s, contract.Fence{}, "i", contract.CodeInvalidCursor},
		"old":                    {s, contract.Fence{Generation: 8, Identity: "abc"}, "h", contract.CodeStaleCursor},
		"of another index":       {s, contract.Fence{Generation: 7, Identity: "abd"}, "h", contract.CodeStaleCursor},
	} {
		_, err := contract.CheckEventCursor(tt.s, tt.now, tt.hash)
		var fault *contract.Error
		if !errors.As(err, &fault) || fault.Code != tt.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSearchEventsHash(t *testing.T) {
	of := contract.SessionName{Agent: "pi", SessionID: "s-whole"}
	hash := func(raw string) string {
		r, err := contract.Parser{}.ParseSearchEvents([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		if r.OfSession() {
			return r.Hash(of)
		}
		return r.Hash(contract.SessionName{})
	}
	for _, same := range []string{`{"query":"x","limit":3,"freshness":"wait-until-current","partialResultToken":1,"cursor":"c"}`, `{"query":"x","scope":"all","filters":{"agents":[]}}`} {
		if hash(same) != hash(`{"query":"x"}`) {
			t.Errorf("%s is another walk", same)
		}
	}
	if hash(`{"query":"x","sessionId":"s-prefix1","filters":{"roles":["user","tool"]}}`) != hash(`{"query":"x","sessionId":"s-whole","filters":{"roles":["tool","user"]}}`) {
		t.Error("the spelling of the session's name counts")
	}
	seen := map[string]string{}
	for _, raw := range []string{
		`{"query":"x"}`, `{"query":"x "}`, `{"query":"x","scope":"conversation"}`, `{"query":"x","filters":{"sort":"newest"}}`, `{"query":"x","filters":{"agents":["pi"]}}`,
		`{"query":"x","sessionId":"s"}`, `{"query":"x","sessionId":"s","filters":{"roles":[]}}`, `{"query":"x","sessionId":"s","filters":{"sort":"newest"}}`,
	} {
		if other, taken := seen[hash(raw)]; taken {
			t.Errorf("%s and %s are one walk", raw, other)
		}
		seen[hash(raw)] = raw
	}
}

// No pattern may panic, and one that is taken is a regular expression of bounded
// size that ignores case.
func FuzzCompilePattern(f *testing.F) {
	for _, s := range []string{"a", "a(", `\bfoo\d{2,}`, "(a*)*", "x{1000}", "[[:alpha:]]+", "(?-i)A", "\xff", "(?P<n>a)|(?P<n>b)", strings.Repeat("(", 2000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		re, size, err := contract.CompilePattern(s)
		if (re == nil) != (err != nil) || err == nil && size <= 0 {
			t.Fatalf("%q: %v, %d, %v", s, re, size, err)
		}
		if err == nil {
			re.MatchString(s)
		}
	})
}
