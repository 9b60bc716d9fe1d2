package contract_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

// exactParsers are the parsers of the exact reads, by command.
func exactParsers(p contract.Parser) map[string]func([]byte) (any, error) {
	return map[string]func([]byte) (any, error){
		"listSessions":     func(raw []byte) (any, error) { return p.ParseListSessions(raw) },
		"readSession":      func(raw []byte) (any, error) { return p.ParseReadSession(raw) },
		"listEvents":       func(raw []byte) (any, error) { return p.ParseListEvents(raw) },
		"filterEvents":     func(raw []byte) (any, error) { return p.ParseFilterEvents(raw) },
		"readEvent":        func(raw []byte) (any, error) { return p.ParseReadEvent(raw) },
		"readSurface":      func(raw []byte) (any, error) { return p.ParseReadSurface(raw) },
		"readTitles":       func(raw []byte) (any, error) { return p.ParseReadTitles(raw) },
		"traceSession":     func(raw []byte) (any, error) { return p.ParseTraceSession(raw) },
		"traceEvent":       func(raw []byte) (any, error) { return p.ParseTraceEvent(raw) },
		"renderTranscript": func(raw []byte) (any, error) { return p.ParseRenderTranscript(raw) },
		"resumePlan":       func(raw []byte) (any, error) { return p.ParseResumePlan(raw) },
	}
}

func TestParseExactReads(t *testing.T) {
	name := contract.SessionName{SessionID: "s", Agent: "pi"}
	const local = contract.LocalHost
	for _, tt := range []struct {
		command, raw string
		want         any
	}{
		{"listSessions", `{}`, contract.ListSessionsRequest{Filters: contract.Filters{Sort: contract.SortRelevance}, Sort: "createdAt", Limit: 100, ExecutionHost: local}},
		{"listSessions", `{"sort":"updatedAt","limit":1000,"cursor":"","filters":{"branches":[],"sort":"newest"},"executionHost":"ssh:box","x":1}`,
			contract.ListSessionsRequest{Filters: contract.Filters{Sort: contract.SortNewest, Branches: []string{}}, Sort: "updatedAt", Limit: 1000, Cursor: ptr(""), ExecutionHost: "ssh:box"}},
		{"readSession", `{"sessionId":"s","agent":"pi","fromSeq":7,"limit":1}`, contract.ReadSessionRequest{SessionName: name, FromSeq: 7, Limit: 1, ExecutionHost: local}},
		{"readSession", `{"sessionId":"s","agent":null,"fromSeq":null,"limit":null,"executionHost":null}`, contract.ReadSessionRequest{SessionName: contract.SessionName{SessionID: "s"}, Limit: 100, ExecutionHost: local}},
		// filters is the events clause itself; one that says nothing is none.
		{"listEvents", `{"sessionId":"s","agent":"pi","filters":{"types":["x"],"surfaces":["current"],"roles":[],"tools":["Bash"],"seq":{"from":1.5},"time":{"to":"2026-01-01T00:00:00Z"}}}`,
			contract.ListEventsRequest{SessionName: name, Limit: 100, ExecutionHost: local, Filters: &contract.EventFilters{
				Types: []string{"x"}, Surfaces: []contract.Surface{"current"}, Roles: []contract.Role{}, Tools: []string{"Bash"},
				Seq: &contract.SeqRange{From: ptr(int64(2))}, Time: &contract.InstantRange{To: ptr(contract.Instant(1767225600000))},
			}}},
		{"listEvents", `{"sessionId":"s","agent":"pi","filters":{"events":{"types":["x"]},"agents":["nobody"]}}`, contract.ListEventsRequest{SessionName: name, Limit: 100, ExecutionHost: local}},
		{"filterEvents", `{"sessionId":"s","agent":"pi","text":" A  b ","cursor":"c"}`, contract.FilterEventsRequest{SessionName: name, Text: ptr(" A  b "), Limit: 100, Cursor: ptr("c"), ExecutionHost: local}},
		{"readEvent", `{"sessionId":"s","agent":"pi","seq":-3}`, contract.ReadEventRequest{SessionName: name, EventName: contract.EventName{Seq: ptr(int64(-3))}, MaxBytes: 262144, ExecutionHost: local}},
		{"readEvent", `{"sessionId":"s","agent":"pi","seq":2.0,"eventId":"","before":50,"after":0,"maxBytes":16777216}`,
			contract.ReadEventRequest{SessionName: name, EventName: contract.EventName{Seq: ptr(int64(2)), EventID: ptr("")}, Before: 50, MaxBytes: 16777216, ExecutionHost: local}},
		{"readSurface", `{"sessionId":"s","agent":"pi"}`, contract.ReadSurfaceRequest{SessionName: name, Limit: 100, ExecutionHost: local}},
		{"readTitles", `{"sessions":[{"sessionId":"s","agent":"pi","x":1},{"sessionId":"s","agent":"pi"}]}`, contract.ReadTitlesRequest{Sessions: contract.List[contract.SessionName]{name, name}, ExecutionHost: local}},
		{"readTitles", `{"sessions":[]}`, contract.ReadTitlesRequest{Sessions: contract.List[contract.SessionName]{}, ExecutionHost: local}},
		{"traceSession", `{"sessionId":"s","agent":"pi"}`, contract.TraceSessionRequest{SessionName: name, ExecutionHost: local}},
		{"traceEvent", `{"sessionId":"s","agent":"pi","eventId":"e"}`, contract.TraceEventRequest{SessionName: name, EventName: contract.EventName{EventID: ptr("e")}, ExecutionHost: local}},
		{"renderTranscript", `{"sessionId":"s","agent":"pi"}`, contract.RenderTranscriptRequest{SessionName: name, Limit: 100, Tools: "fold", ExecutionHost: local}},
		{"renderTranscript", `{"sessionId":"s","agent":"pi","limit":2000,"thinking":true,"tools":"none","fromSeq":9}`,
			contract.RenderTranscriptRequest{SessionName: name, Limit: 2000, Thinking: true, Tools: "none", FromSeq: 9, ExecutionHost: local}},
		{"resumePlan", `{"sessionId":"s","agent":"pi"}`, contract.ResumePlanRequest{SessionName: name, Shell: "posix", ExecutionHost: local}},
		{"resumePlan", `{"sessionId":"s","agent":"pi","shell":"powershell"}`, contract.ResumePlanRequest{SessionName: name, Shell: "powershell", ExecutionHost: local}},
	} {
		got, err := exactParsers(contract.Parser{})[tt.command]([]byte(tt.raw))
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s%s:\n got %+v, %v\nwant %+v", tt.command, tt.raw, got, err, tt.want)
			continue
		}
		if again, err := exactParsers(contract.Parser{})[tt.command]([]byte(wire(t, got))); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s: sent as %s, read as %+v, %v", tt.command, wire(t, got), again, err)
		}
	}
}

// Each field has the error code that the contract gives it, in every command
// that takes it.
func TestExactReadsRefuse(t *testing.T) {
	takes := map[string]string{ // the fields of each command, and a request that is good without them
		"listSessions": "limit cursor filters filters.agents sort executionHost", "readSession": "sessionId agent limit fromSeq executionHost",
		"listEvents": "sessionId agent limit cursor filters filters.types executionHost", "filterEvents": "sessionId agent limit cursor filters filters.types text executionHost",
		"readEvent": "sessionId agent seq eventId before after maxBytes executionHost", "readSurface": "sessionId agent limit cursor executionHost",
		"readTitles": "sessions executionHost", "traceSession": "sessionId agent executionHost", "traceEvent": "sessionId agent seq eventId executionHost",
		"renderTranscript": "sessionId agent renderLimit fromSeq thinking tools executionHost", "resumePlan": "sessionId agent shell executionHost",
	}
	const config, window, filter, limit, cursor = contract.CodeInvalidConfig, contract.CodeInvalidWindow, contract.CodeInvalidFilter, contract.CodeInvalidLimit, contract.CodeInvalidCursor
	bad := map[string]struct {
		code   string
		values []string // members that are wrong
	}{
		"sessionId": {config, []string{`"sessionId":""`, `"sessionId":7`, `"sessionId":null`, `"sessionId":["s"]`}},
		"agent":     {config, []string{`"agent":"clade"`, `"agent":1`, `"agent":"Claude"`}},
		"limit":     {limit, []string{`"limit":0`, `"limit":-1`, `"limit":1001`, `"limit":1.5`, `"limit":"5"`, `"limit":1e99`, `"limit":true`}},
		"cursor":    {cursor, []string{`"cursor":1`, `"cursor":{}`, `"cursor":true`}},
		"filters":   {filter, []string{`"filters":[]`, `"filters":"x"`, `"filters":1`}},
		"filters.agents": {filter, []string{`"filters":{"agents":["clade"]}`, `"filters":{"since":"yesterday"}`, `"filters":{"events":{"seq":{"from":3,"to":2}}}`,
			`"filters":{"presence":["here"]}`, `"filters":{"relations":["cousin"]}`, `"filters":{"cwds":[1]}`, `"filters":{"createdAt":{"from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z"}}`}},
		"filters.types": {filter, []string{`"filters":{"types":"x"}`, `"filters":{"types":[1]}`, `"filters":{"surfaces":["hidden"]}`, `"filters":{"roles":["robot"]}`,
			`"filters":{"seq":{"from":3,"to":2}}`, `"filters":{"seq":[1,2]}`, `"filters":{"seq":{"from":"1"}}`, `"filters":{"time":{"from":"2026-01-01"}}`, `"filters":{"time":{"from":1}}`}},
		"text":          {filter, []string{`"text":""`, `"text":" \t\n\u00a0"`, `"text":1`, `"text":["x"]`}},
		"fromSeq":       {window, []string{`"fromSeq":-1`, `"fromSeq":1.5`, `"fromSeq":"1"`, `"fromSeq":true`}},
		"before":        {window, []string{`"before":-1`, `"before":51`, `"before":0.5`, `"before":"1"`}},
		"after":         {window, []string{`"after":-1`, `"after":51`, `"after":0.5`, `"after":[]`}},
		"seq":           {config, []string{`"seq":1.5`, `"seq":"1"`, `"seq":null`, `"seq":{}`}},
		"eventId":       {config, []string{`"eventId":1`, `"eventId":["e"]`}},
		"maxBytes":      {config, []string{`"maxBytes":0`, `"maxBytes":16777217`, `"maxBytes":1.5`, `"maxBytes":"1"`}},
		"renderLimit":   {limit, []string{`"limit":0`, `"limit":2001`}},
		"thinking":      {config, []string{`"thinking":1`, `"thinking":"true"`}},
		"tools":         {config, []string{`"tools":"some"`, `"tools":true`}},
		"sort":          {config, []string{`"sort":"newest"`, `"sort":1`}},
		"shell":         {config, []string{`"shell":"bash"`, `"shell":1`}},
		"executionHost": {config, []string{`"executionHost":"all"`, `"executionHost":""`, `"executionHost":"ssh:-x"`, `"executionHost":1`}},
		"sessions": {config, []string{`"sessions":null`, `"sessions":"s"`, `"sessions":{}`, `"sessions":["s"]`, `"sessions":[{}]`, `"sessions":[{"sessionId":"s","agent":"x"}]`,
			`"sessions":[` + strings.Repeat(`{"sessionId":"s"},`, 1000) + `{"sessionId":"s"}]`}},
	}
	for command, fields := range takes {
		for field := range strings.FieldsSeq(fields) {
			for _, member := range bad[field].values {
				raw := `{"sessionId":"s","seq":1,"sessions":[],` + member + `}`
				_, err := exactParsers(contract.Parser{})[command]([]byte(raw))
				var fault *contract.Error
				first, _, _ := strings.Cut(field, ".")
				if !errors.As(err, &fault) || fault.RPCCode != -32602 || fault.Code != bad[field].code {
					t.Errorf("%s%.200s: got %v", command, raw, err)
				} else if first = strings.Replace(first, "renderLimit", "limit", 1); !strings.HasPrefix(fault.Field, first) || !strings.HasPrefix(fault.Message, fault.Field+": ") {
					t.Errorf("%s%.200s: field %q, message %q", command, raw, fault.Field, fault.Message)
				}
			}
		}
		for _, raw := range []string{`[]`, `7`, `"s"`, `{`, `{"sessionId":"s"`} {
			_, err := exactParsers(contract.Parser{})[command]([]byte(raw))
			var fault *contract.Error
			if !errors.As(err, &fault) || fault.Field != "arguments" || fault.Code != config {
				t.Errorf("%s%s: got %v", command, raw, err)
			}
		}
	}
	// An event must be named, a session too.
	for _, command := range []string{"readEvent", "traceEvent"} {
		_, err := exactParsers(contract.Parser{})[command]([]byte(`{"sessionId":"s"}`))
		wantFault(t, err, "seq", config, "is required")
	}
	_, err := contract.Parser{}.ParseListEvents(nil)
	wantFault(t, err, "sessionId", config, "is required")
}

func readCursor() contract.ReadCursor {
	return contract.ReadCursor{RequestHash: "h", Fence: contract.Fence{Generation: 3, Identity: "i"}, Clock: 5, Last: 7, Check: 1<<64 - 1}
}

func TestReadCursor(t *testing.T) {
	good := contract.EncodeReadCursor(readCursor())
	if got, err := contract.CheckReadCursor(good, readCursor().Fence, "h"); err != nil || got != readCursor() {
		t.Errorf("got %+v, %v", got, err)
	}
	search := contract.EncodeCursor(contract.Cursor{RequestHash: "h", Generation: 3, Identity: "i"})
	for _, tt := range []struct {
		cursor string
		now    contract.Fence
		hash   string
		code   string
	}{
		{"", readCursor().Fence, "h", contract.CodeInvalidCursor},
		{"!", readCursor().Fence, "h", contract.CodeInvalidCursor},
		{good + "=", readCursor().Fence, "h", contract.CodeInvalidCursor},
		{good[:len(good)-1], readCursor().Fence, "h", contract.CodeInvalidCursor},
		{strings.Repeat("e30", 1000), readCursor().Fence, "h", contract.CodeInvalidCursor},
		{search, readCursor().Fence, "h", contract.CodeInvalidCursor},
		{contract.WrapCursor("ssh:box", good), readCursor().Fence, "h", contract.CodeInvalidCursor},
		{good, readCursor().Fence, "other", contract.CodeInvalidCursor},
		// Of another request before too old: epochs of two sessions do not compare.
		{good, contract.Fence{Generation: 4, Identity: "i"}, "other", contract.CodeInvalidCursor},
		{good, contract.Fence{Generation: 4, Identity: "i"}, "h", contract.CodeStaleCursor},
		{good, contract.Fence{Generation: 2, Identity: "i"}, "h", contract.CodeStaleCursor},
		{good, contract.Fence{Generation: 3, Identity: "j"}, "h", contract.CodeStaleCursor},
	} {
		_, err := contract.CheckReadCursor(tt.cursor, tt.now, tt.hash)
		var fault *contract.Error
		if !errors.As(err, &fault) || fault.Code != tt.code {
			t.Errorf("%.40q: got %v, want %s", tt.cursor, err, tt.code)
		}
	}
	// The cursors of searchSessions are no better off with one of these.
	if _, err := contract.DecodeCursor(good); !errors.Is(err, contract.ErrMalformedCursor) {
		t.Errorf("got %v", err)
	}
}

func FuzzReadCursor(f *testing.F) {
	f.Add(contract.EncodeReadCursor(readCursor()))
	f.Add(contract.EncodeReadCursor(contract.ReadCursor{RequestHash: "h"}))
	f.Add("")
	f.Add("eyJ2IjoyfQ")
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := contract.DecodeReadCursor(s); err == nil && contract.EncodeReadCursor(c) != s {
			t.Errorf("%q is not what its content encodes to", s)
		}
	})
}

// The hash tells walks apart, and nothing but walks.
func TestReadHashes(t *testing.T) {
	parse := func(command, raw string) any {
		request, err := exactParsers(contract.Parser{})[command]([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		return request
	}
	hash := func(command, raw string, of contract.SessionName) string {
		switch r := parse(command, raw).(type) {
		case contract.ListSessionsRequest:
			return r.Hash()
		case contract.ListEventsRequest:
			return r.Hash(of)
		case contract.FilterEventsRequest:
			return r.Hash(of)
		case contract.ReadSurfaceRequest:
			return r.Hash(of)
		}
		t.Fatal(command)
		return ""
	}
	one, two := contract.SessionName{SessionID: "one", Agent: "pi"}, contract.SessionName{SessionID: "one", Agent: "codex"}
	seen := map[string]string{}
	for _, w := range []struct {
		command, raw string
		of           contract.SessionName
	}{
		{"listSessions", `{}`, one}, {"listSessions", `{"sort":"updatedAt"}`, one}, {"listSessions", `{"filters":{"branches":[]}}`, one},
		{"listSessions", `{"filters":{"events":{"types":["a"]}}}`, one}, {"listEvents", `{"sessionId":"s"}`, one}, {"listEvents", `{"sessionId":"s"}`, two},
		{"listEvents", `{"sessionId":"s","filters":{"types":["a","b"]}}`, one}, {"listEvents", `{"sessionId":"s","filters":{"tools":["a","b"]}}`, one},
		{"filterEvents", `{"sessionId":"s"}`, one}, {"filterEvents", `{"sessionId":"s","text":"a"}`, one}, {"filterEvents", `{"sessionId":"s","text":"A"}`, one},
		{"readSurface", `{"sessionId":"s"}`, one}, {"readSurface", `{"sessionId":"s"}`, two},
	} {
		h, name := hash(w.command, w.raw, w.of), fmt.Sprint(w)
		if other := seen[h]; other != "" {
			t.Errorf("%s and %s are one walk", name, other)
		}
		seen[h] = name
	}
	for _, same := range [][3]string{
		{"listSessions", `{"limit":3,"filters":{"sort":"newest"}}`, `{"sort":"createdAt","filters":{}}`},
		{"listSessions", `{"filters":{"branches":["b","a","b"],"agents":[]}}`, `{"filters":{"branches":["a","b"]},"executionHost":"ssh:box"}`},
		{"listEvents", `{"sessionId":"s","filters":{"types":["b","a"]},"limit":9}`, `{"sessionId":"sess","filters":{"types":["a","b","a"]}}`},
		{"filterEvents", `{"sessionId":"s","filters":{}}`, `{"sessionId":"s"}`},
	} {
		if hash(same[0], same[1], one) != hash(same[0], same[2], one) {
			t.Errorf("%s: %s and %s are two walks", same[0], same[1], same[2])
		}
	}
}
