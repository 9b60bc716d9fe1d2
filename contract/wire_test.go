package contract_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// wire is the JSON of a value as a server writes it, on one line.
func wire(t *testing.T, value any) string {
	t.Helper()
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// lines joins the lines of a golden value.
func lines(parts ...string) string { return strings.Join(parts, "") }

func fullHit() contract.Hit {
	return contract.Hit{
		Agent: "codex", ExecutionHostID: "ssh:box", SessionID: "s-1", Title: "Fix <the> tern & gull",
		Cwd: ptr("/work/app"), Branch: ptr("main"), Model: ptr("m-1"),
		CreatedAt: ptr(contract.Instant(0)), UpdatedAt: ptr(contract.Instant(1793527200123)),
		MessageCount: 12, Score: 1.5, Relation: contract.RelationFork, Automated: true, Active: true,
		ParentSessionID: ptr("s-0"), DuplicateCount: 2, MatchCount: 3,
		Source: contract.Source{Presence: contract.PresencePresent, FilePath: "/home/ann/.codex/s-1.jsonl", CodexHome: "/home/ann/.codex"},
		Evidence: &contract.Evidence{
			Snippet: "a [[tern]]", Marks: contract.List[contract.Mark]{{4, 8}}, Role: contract.RoleUser,
			Timestamp: ptr(contract.Instant(1793527200000)), Seq: ptr(int64(0)), EventID: ptr("e-1"),
			Type: "message", Surface: contract.SurfaceCurrent,
		},
		ResumeCommand: "codex resume s-1",
	}
}

func TestResponsesOnTheWire(t *testing.T) {
	for _, tt := range []struct {
		name     string
		response contract.SearchSessionsResponse
		want     string
	}{
		{"results", contract.ResultsResponse(contract.SearchResults{
			Hits:        []contract.Hit{fullHit()},
			Page:        contract.Page{Cursor: ptr("c"), HasMore: true},
			Generation:  7,
			Truncated:   contract.Truncated{Candidates: true, Snippets: 1, Query: true, Freshness: true},
			DurationMs:  2.5,
			Total:       contract.Total{Sessions: 40},
			Diagnostics: []contract.Diagnostic{{Start: 0, End: 4, Message: "unknown operator foo:"}},
			Debug: &contract.Debug{Route: contract.RouteTypoAnd, RepairedTerms: []string{"tern"}, PlannerReport: contract.PlannerReport{
				Route: contract.RouteTypoAnd, RepairedTerms: []string{"tern"}, Scope: contract.ScopeAll,
				Timings: []contract.Timing{{Step: "match", Ms: 1.25}},
			}},
		}), lines(
			`{"kind":"results","hits":[{"agent":"codex","executionHostId":"ssh:box","sessionId":"s-1","title":"Fix <the> tern & gull",`,
			`"cwd":"/work/app","branch":"main","model":"m-1","createdAt":"1970-01-01T00:00:00.000Z","updatedAt":"2026-11-01T10:00:00.123Z",`,
			`"messageCount":12,"score":1.5,"relation":"fork","automated":true,"active":true,"parentSessionId":"s-0","duplicateCount":2,"matchCount":3,`,
			`"source":{"presence":"present","filePath":"/home/ann/.codex/s-1.jsonl","codexHome":"/home/ann/.codex"},`,
			`"evidence":{"snippet":"a [[tern]]","marks":[[4,8]],"role":"user","timestamp":"2026-11-01T10:00:00.000Z","seq":0,"eventId":"e-1","type":"message","surface":"current"},`,
			`"resumeCommand":"codex resume s-1"}],"page":{"cursor":"c","hasMore":true},"generation":7,`,
			`"truncated":{"candidates":true,"snippets":1,"query":true,"freshness":true},"durationMs":2.5,"total":{"sessions":40,"exact":false},`,
			`"diagnostics":[{"start":0,"end":4,"message":"unknown operator foo:"}],`,
			`"debug":{"route":"typo+and","repairedTerms":["tern"],"plannerReport":{"route":"typo+and","repairedTerms":["tern"],"scope":"all","timings":[{"step":"match","ms":1.25}]}}}`,
		)},
		{"a hit of nothing but null", contract.ResultsResponse(contract.SearchResults{
			Hits:  []contract.Hit{{Agent: "pi", SessionID: "s", Title: "t", Relation: contract.RelationRoot, Source: contract.Source{Presence: contract.PresenceUnverifiable}}},
			Total: contract.Total{Sessions: 1, Exact: true},
		}), lines(
			`{"kind":"results","hits":[{"agent":"pi","sessionId":"s","title":"t","cwd":null,"branch":null,"model":null,"createdAt":null,"updatedAt":null,`,
			`"messageCount":0,"score":0,"relation":"root","automated":false,"active":false,"parentSessionId":null,"matchCount":0,`,
			`"source":{"presence":"unverifiable"},"evidence":null}],"page":{"cursor":null,"hasMore":false},"generation":0,`,
			`"truncated":{"candidates":false,"snippets":0,"query":false,"freshness":false},"durationMs":0,"total":{"sessions":1,"exact":true}}`,
		)},
		{"no hits", contract.ResultsResponse(contract.SearchResults{Total: contract.Total{Exact: true}}), lines(
			`{"kind":"results","hits":[],"page":{"cursor":null,"hasMore":false},"generation":0,`,
			`"truncated":{"candidates":false,"snippets":0,"query":false,"freshness":false},"durationMs":0,"total":{"sessions":0,"exact":true}}`,
		)},
		{"stale", contract.StaleResponse(8, 0), `{"kind":"stale-cursor","generation":8,"expectedGeneration":0}`},
		{"stale from nowhere", contract.SearchSessionsResponse{Kind: contract.KindStaleCursor, Stale: &contract.StaleCursor{Generation: 8}}, `{"kind":"stale-cursor","generation":8}`},
		{"malformed", contract.MalformedResponse(), `{"kind":"malformed-cursor"}`},
		{"disabled", contract.UnavailableResponse(contract.ReasonDisabled), `{"kind":"unavailable","reason":"disabled"}`},
		{"not ready", contract.UnavailableResponse(contract.ReasonNotReady), `{"kind":"unavailable","reason":"not-ready"}`},
		{"no service", contract.UnavailableResponse(contract.ReasonNoService), `{"kind":"unavailable","reason":"no-service"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := wire(t, tt.response)
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			var read contract.SearchSessionsResponse
			if err := json.Unmarshal([]byte(got), &read); err != nil {
				t.Fatal(err)
			}
			if again := wire(t, read); again != got {
				t.Errorf("read and written again: %s", again)
			}
		})
	}
}

func TestResponsesThatCannotBeRead(t *testing.T) {
	for _, raw := range []string{`{}`, `{"kind":"later"}`, `{"kind":"unavailable"}`, `{"kind":"results","hits":7}`, `{"kind":7}`, `[]`, `7`} {
		var response contract.SearchSessionsResponse
		if err := json.Unmarshal([]byte(raw), &response); err == nil {
			t.Errorf("%s was read as %+v", raw, response)
		}
	}
	var response contract.SearchSessionsResponse
	if err := json.Unmarshal([]byte(`{"kind":"malformed-cursor","later":1}`), &response); err != nil {
		t.Errorf("a field more: %v", err)
	}
}

func TestResponsesThatCannotBeWritten(t *testing.T) {
	for _, response := range []contract.SearchSessionsResponse{
		{}, {Kind: contract.KindResults}, {Kind: contract.KindStaleCursor}, {Kind: contract.KindUnavailable}, {Kind: "later"},
	} {
		if out, err := json.Marshal(response); err == nil {
			t.Errorf("%+v was written as %s", response, out)
		}
	}
}

func fullStatus() contract.Status {
	return contract.Status{
		Enabled: true, Decided: true, Phase: contract.PhaseDegraded, FilesIndexed: 5, FilesDue: 4, FilesFailed: 3,
		DegradedRoots:   []contract.DegradedRoot{{Root: "/home/ann/.pi", Reason: "permission denied: /home/ann/.pi"}, {Reason: "the index cannot be opened"}},
		LastReconcileAt: ptr(int64(1793527200123)), LastSweepCompletedAt: ptr(int64(1793527200000)),
		Generation: 9, Identity: "abc", Sessions: 6, Events: 70, IndexBytes: 8000,
		Progress: &contract.Progress{BytesDone: 1, BytesTotal: 2, FilesDone: 3, FilesTotal: 4},
		Agents:   []contract.AgentStatus{{Agent: "pi", Label: "Pi", Roots: []string{"/home/ann/.pi"}, Sessions: 6, Events: 70, Failed: 3}},
		Writer:   contract.WriterThis,
	}
}

func TestOtherAnswersOnTheWire(t *testing.T) {
	for _, tt := range []struct {
		name  string
		value any
		want  string
	}{
		{"notices", contract.Status{Notices: []string{"watches ran out"}, Phase: contract.PhaseIdle, Writer: contract.WriterNone},
			`{"enabled":false,"decided":false,"phase":"idle","filesIndexed":0,"filesDue":0,"filesFailed":0,"degradedRoots":[],"lastReconcileAt":null,` +
				`"lastSweepCompletedAt":null,"generation":0,"identity":"","sessions":0,"events":0,"indexBytes":0,"agents":[],"writer":"none","notices":["watches ran out"]}`},
		{"status", fullStatus(), lines(
			`{"enabled":true,"decided":true,"phase":"degraded","filesIndexed":5,"filesDue":4,"filesFailed":3,`,
			`"degradedRoots":[{"root":"/home/ann/.pi","reason":"permission denied: /home/ann/.pi"},{"reason":"the index cannot be opened"}],`,
			`"lastReconcileAt":1793527200123,"lastSweepCompletedAt":1793527200000,"generation":9,"identity":"abc","sessions":6,"events":70,"indexBytes":8000,`,
			`"progress":{"bytesDone":1,"bytesTotal":2,"filesDone":3,"filesTotal":4},`,
			`"agents":[{"agent":"pi","label":"Pi","roots":["/home/ann/.pi"],"sessions":6,"events":70,"failed":3}],"writer":"this"}`,
		)},
		{"idle status", contract.IdleStatus(true), lines(
			`{"enabled":false,"decided":true,"phase":"idle","filesIndexed":0,"filesDue":0,"filesFailed":0,"degradedRoots":[],`,
			`"lastReconcileAt":null,"lastSweepCompletedAt":null,"generation":0,"identity":"","sessions":0,"events":0,"indexBytes":0,"agents":[],"writer":"none"}`,
		)},
		{"policy", contract.Policy{Enabled: ptr(false), HistoryDays: ptr(30)}, `{"enabled":false,"historyDays":30}`},
		{"undecided policy", contract.Policy{}, `{"enabled":null,"historyDays":null}`},
		{"clear", contract.ClearResponse{Cleared: true, Identity: "new"}, `{"cleared":true,"identity":"new"}`},
		{"forget", contract.ForgetSessionResponse{
			Forgotten:  contract.List[contract.SessionName]{{SessionID: "s", Agent: "pi"}, {SessionID: "s#agent-1", Agent: "pi"}},
			Generation: 9,
		}, `{"forgotten":[{"sessionId":"s","agent":"pi"},{"sessionId":"s#agent-1","agent":"pi"}],"generation":9}`},
		{"a request to forget", contract.ForgetSessionRequest{SessionName: contract.SessionName{SessionID: "s", Agent: "pi"}}, `{"sessionId":"s","agent":"pi"}`},
		{"header", contract.Header{
			Agent: "claude", SessionID: "s", Title: "t", Relation: contract.RelationRoot, Presence: contract.PresencePresent,
			SourcePath: "/p", Format: "claude/1", FormatStatus: contract.FormatCurrent, Epoch: 3,
		}, lines(
			`{"agent":"claude","sessionId":"s","createdAt":null,"updatedAt":null,"cwd":null,"branch":null,"model":null,"title":"t","messageCount":0,`,
			`"automated":false,"active":false,"relation":"root","parentSessionId":null,"parentEvent":null,"lineageEvidence":null,`,
			`"inheritedEventCount":0,"inheritedKnown":false,"delegationDepth":0,"presence":"present","sourcePath":"/p","format":"claude/1","formatStatus":"current","epoch":3,"warnings":[]}`,
		)},
		{"event", contract.EventRecord{Agent: "pi", SessionID: "s", Seq: 1, Type: "message", RawType: "message", Role: contract.RoleUser, Surface: contract.SurfaceShadowed},
			`{"agent":"pi","sessionId":"s","seq":1,"eventId":null,"type":"message","rawType":"message","role":"user","time":null,"surface":"shadowed","inherited":false}`},
		{"event with text and data", contract.EventRecord{Synthetic: true, Text: ptr(""), Data: json.RawMessage(`{"a":"<b>"}`)},
			`{"agent":"","sessionId":"","seq":0,"eventId":null,"type":"","rawType":"","role":"","time":null,"surface":"","inherited":false,"synthetic":true,"text":"","data":{"a":"<b>"}}`},
		{"event too large", contract.EventRecord{Data: json.RawMessage(`null`), DataBytes: 300_000, DataTruncated: true},
			`{"agent":"","sessionId":"","seq":0,"eventId":null,"type":"","rawType":"","role":"","time":null,"surface":"","inherited":false,"data":null,"dataBytes":300000,"dataTruncated":true}`},
		{"a request of another host's search", contract.NewSearchSessionsRequest("x"),
			`{"query":"x","scope":"all","freshness":"indexed","limit":20,"filters":{"sort":"relevance"},"executionHost":"local"}`},
		{"setPolicy keeps null apart from absent", contract.SetPolicyRequest{HistoryDays: contract.Null[int]()}, `{"historyDays":null}`},
		{"setPolicy", contract.SetPolicyRequest{Enabled: contract.Some(false)}, `{"enabled":false}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := wire(t, tt.value)
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			read := reflect.New(reflect.TypeOf(tt.value))
			if err := json.Unmarshal([]byte(got), read.Interface()); err != nil {
				t.Fatal(err)
			}
			if again := wire(t, read.Elem().Interface()); again != got {
				t.Errorf("read and written again: %s", again)
			}
		})
	}
}

func TestInstant(t *testing.T) {
	for _, tt := range []struct {
		instant contract.Instant
		want    string
	}{
		{0, `"1970-01-01T00:00:00.000Z"`},
		{-1, `"1969-12-31T23:59:59.999Z"`},
		{1793527200120, `"2026-11-01T10:00:00.120Z"`},
		{253402300799999, `"9999-12-31T23:59:59.999Z"`},
		{253402300800000, `null`},
		{-62167219200000, `"0000-01-01T00:00:00.000Z"`},
		{-62167219200001, `null`},
		{math.MaxInt64, `null`},
		{math.MinInt64, `null`},
	} {
		got := wire(t, tt.instant)
		if got != tt.want {
			t.Errorf("%d: got %s, want %s", tt.instant, got, tt.want)
		}
		var again contract.Instant
		if err := json.Unmarshal([]byte(got), &again); err != nil {
			t.Errorf("%s: %v", got, err)
		} else if tt.want != "null" && again != tt.instant {
			t.Errorf("%s read as %d", got, again)
		}
	}
	if got := contract.InstantOf(time.Date(2026, 11, 1, 12, 0, 0, 999_999, time.FixedZone("", 7200))); got != 1793527200000 {
		t.Errorf("InstantOf = %d", got)
	}
	var i contract.Instant
	for _, raw := range []string{`"2026-11-01"`, `7`, `"now"`, `{}`} {
		if err := json.Unmarshal([]byte(raw), &i); err == nil {
			t.Errorf("%s was read as %d", raw, i)
		}
	}
}

func TestRanges(t *testing.T) {
	instants := contract.InstantRange{From: ptr(contract.Instant(10)), To: ptr(contract.Instant(20))}
	positions := contract.SeqRange{From: ptr(int64(10)), To: ptr(int64(20))}
	for n, want := range map[int64]bool{9: false, 10: true, 20: true, 21: false} {
		if instants.Contains(contract.Instant(n)) != want || positions.Contains(n) != want {
			t.Errorf("%d: want %v", n, want)
		}
	}
	if !(contract.InstantRange{}).Contains(math.MinInt64) || !(contract.SeqRange{}).Contains(math.MaxInt64) {
		t.Error("open ranges contain everything")
	}
}

func TestPolicy(t *testing.T) {
	for _, tt := range []struct {
		policy          contract.Policy
		allows, decided bool
	}{
		{contract.Policy{}, false, false},
		{contract.Policy{Enabled: ptr(false)}, false, true},
		{contract.Policy{Enabled: ptr(true)}, true, true},
	} {
		if tt.policy.Allows() != tt.allows || tt.policy.Decided() != tt.decided {
			t.Errorf("%+v: allows %v, decided %v", tt.policy, tt.policy.Allows(), tt.policy.Decided())
		}
	}
}
