package contract_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

// headerJSON is the header of a session of which nothing but its name is known.
const headerJSON = `{"agent":"pi","sessionId":"s","createdAt":null,"updatedAt":null,"cwd":null,"branch":null,"model":null,"title":"t","messageCount":0,` +
	`"automated":false,"active":false,"relation":"root","parentSessionId":null,"parentEvent":null,"lineageEvidence":null,` +
	`"inheritedEventCount":0,"inheritedKnown":false,"delegationDepth":0,"presence":"present","format":"3","formatStatus":"current","epoch":1,"warnings":[]}`

const eventJSON = `{"agent":"pi","sessionId":"s","seq":2,"eventId":"e","type":"user/message","rawType":"message","role":"user","time":null,"surface":"current","inherited":false`

func plainHeader() contract.Header {
	return contract.Header{
		Agent: "pi", SessionID: "s", Title: "t", Relation: contract.RelationRoot, Presence: contract.PresencePresent,
		Format: "3", FormatStatus: contract.FormatCurrent, Epoch: 1,
	}
}

func plainEvent() contract.EventRecord {
	return contract.EventRecord{
		Agent: "pi", SessionID: "s", Seq: 2, EventID: ptr("e"), Type: "user/message", RawType: "message",
		Role: contract.RoleUser, Surface: contract.SurfaceCurrent,
	}
}

func TestExactAnswersOnTheWire(t *testing.T) {
	h, e := plainHeader(), plainEvent()
	full := e
	full.Text, full.TextTruncated, full.Data = ptr("a <b>"), true, json.RawMessage(`{"x":1}`)
	large := e
	large.Text, large.Data, large.DataBytes, large.DataTruncated = ptr(""), json.RawMessage(`null`), 300_000, true
	name := contract.SessionName{SessionID: "s", Agent: "pi"}
	last := contract.Page{}
	for _, tt := range []struct {
		name  string
		value any
		want  string
	}{
		{"listSessions", contract.ListSessionsResponse{Sessions: contract.List[contract.Header]{h}, Page: contract.Page{Cursor: ptr("c"), HasMore: true},
			Skipped: []contract.SkippedSession{{Agent: "pi", SessionID: "x", Code: contract.CodeCorruptSession}}},
			`{"sessions":[` + headerJSON + `],"page":{"cursor":"c","hasMore":true},"skipped":[{"agent":"pi","sessionId":"x","code":"SESSION_QUERY_CORRUPT_SESSION"}]}`},
		{"no sessions", contract.ListSessionsResponse{Page: last}, `{"sessions":[],"page":{"cursor":null,"hasMore":false}}`},
		{"readSession", contract.ReadSessionResponse{Session: h, Events: contract.List[contract.EventRecord]{full}, NextSeq: ptr(int64(3))},
			`{"session":` + headerJSON + `,"events":[` + eventJSON + `,"text":"a <b>","textTruncated":true,"data":{"x":1}}],"nextSeq":3}`},
		{"readSession at its end", contract.ReadSessionResponse{Session: h}, `{"session":` + headerJSON + `,"events":[],"nextSeq":null}`},
		{"listEvents", contract.EventPage{Session: h, Events: contract.List[contract.EventRecord]{e}}, `{"session":` + headerJSON + `,"events":[` + eventJSON + `}],"page":{"cursor":null,"hasMore":false}}`},
		{"readEvent", contract.ReadEventResponse{Session: h, Target: large, Events: contract.List[contract.EventRecord]{large}, StartSeq: 2, EndSeq: 2},
			`{"session":` + headerJSON + `,"target":` + eventJSON + `,"text":"","data":null,"dataBytes":300000,"dataTruncated":true},"events":[` +
				eventJSON + `,"text":"","data":null,"dataBytes":300000,"dataTruncated":true}],"startSeq":2,"endSeq":2}`},
		{"readSurface of nothing", contract.ReadSurfaceResponse{Session: h}, `{"session":` + headerJSON + `,"capturedThroughSeq":null,"events":[],"page":{"cursor":null,"hasMore":false}}`},
		{"readTitles", contract.ReadTitlesResponse{Titles: contract.List[contract.TitleResult]{
			{SessionName: name, Status: contract.TitleFulfilled, Session: &h, Title: &contract.Title{Text: "t", Source: "user", Seq: ptr(int64(7))}},
			{SessionName: contract.SessionName{SessionID: "x"}, Status: contract.TitleRejected, Code: contract.CodeSessionNotFound},
		}}, `{"titles":[{"sessionId":"s","agent":"pi","status":"fulfilled","session":` + headerJSON + `,"title":{"text":"t","source":"user","seq":7}},` +
			`{"sessionId":"x","status":"rejected","code":"SESSION_QUERY_SESSION_NOT_FOUND"}]}`},
		{"traceSession", contract.TraceSessionResponse{Target: h, Complete: true, Root: &h,
			Descendants: []contract.LineageNode{{Session: h, Depth: 1, Descendants: []contract.LineageNode{}}},
			Deeper:      []contract.DeeperSession{{Session: h, ParentSessionID: "p", Depth: 201}}},
			`{"target":` + headerJSON + `,"ancestors":[],"descendants":[{"session":` + headerJSON + `,"depth":1,"descendants":[]}],"complete":true,"root":` + headerJSON +
				`,"deeper":[{"session":` + headerJSON + `,"parentSessionId":"p","depth":201}]}`},
		{"traceSession without an end", contract.TraceSessionResponse{Target: h, Descendants: []contract.LineageNode{}, UnresolvedParentID: ptr("gone")},
			`{"target":` + headerJSON + `,"ancestors":[],"descendants":[],"complete":false,"unresolvedParentId":"gone"}`},
		{"traceEvent", contract.TraceEventResponse{Session: h, Target: e, ReplacedBy: ptr(int64(0)), ReplacementChain: contract.List[int64]{0, 7},
			SourceEventSeqs: contract.List[int64]{1}, DerivedProvenance: true, InheritedFrom: &contract.InheritedFrom{SessionID: "p", Seq: 2}},
			`{"session":` + headerJSON + `,"target":` + eventJSON + `},"replacedBy":0,"replacementChain":[0,7],"replacedEventSeqs":[],"sourceEventSeqs":[1],` +
				`"derivedEventSeqs":[],"derivedProvenance":true,"inheritedFrom":{"sessionId":"p","seq":2}}`},
		{"traceEvent of what stands alone", contract.TraceEventResponse{Session: h, Target: e},
			`{"session":` + headerJSON + `,"target":` + eventJSON + `},"replacementChain":[],"replacedEventSeqs":[],"sourceEventSeqs":[],"derivedEventSeqs":[],"derivedProvenance":false}`},
		{"renderTranscript", contract.RenderTranscriptResponse{Session: h, Markdown: "# t\n", Lines: contract.List[contract.LineRange]{{Line: 0, EndLine: 2, Seq: 0}}, NextSeq: ptr(int64(0))},
			`{"session":` + headerJSON + `,"markdown":"# t\n","lines":[{"line":0,"endLine":2,"seq":0}],"nextSeq":0,"truncated":false}`},
		{"resumePlan", contract.ResumePlanResponse{Agent: "pi", SessionID: "s", Argv: []string{"pi", "--session", "s"}, Command: ptr("pi --session s"), Cwd: ptr("/w"),
			Checks: contract.ResumeChecks{Binary: ptr(true), Directory: ptr(false)}, Warnings: contract.List[contract.ResumeWarning]{{Code: contract.WarnNoDirectory, Message: "gone"}}},
			`{"agent":"pi","sessionId":"s","argv":["pi","--session","s"],"command":"pi --session s","cwd":"/w","checks":{"binary":true,"directory":false,"transcript":null},` +
				`"warnings":[{"code":"no-directory","message":"gone"}]}`},
		{"no plan", contract.ResumePlanResponse{Agent: "dsh", SessionID: "s"},
			`{"agent":"dsh","sessionId":"s","argv":null,"command":null,"cwd":null,"checks":{"binary":null,"directory":null,"transcript":null},"warnings":[]}`},
		{"a request for events", contract.ListEventsRequest{SessionName: name, Filters: &contract.EventFilters{Types: []string{}}, Limit: 3},
			`{"sessionId":"s","agent":"pi","filters":{"types":[]},"limit":3}`},
		{"a request for an event", contract.ReadEventRequest{SessionName: name, EventName: contract.EventName{Seq: ptr(int64(0))}, MaxBytes: 9},
			`{"sessionId":"s","agent":"pi","seq":0,"maxBytes":9}`},
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

// What leaves this machine names no path of a transcript, and no command.
func TestRedactExactAnswers(t *testing.T) {
	secret := plainHeader()
	secret.SourcePath, secret.ParentSessionID, secret.Warnings = "/home/ann/.pi/s.jsonl", ptr("/home/ann/.pi/p.jsonl"), []string{"cannot read /home/ann/.pi/p.jsonl"}
	node := contract.LineageNode{Session: secret, Depth: 1, Descendants: []contract.LineageNode{{Session: secret, Depth: 2, Descendants: []contract.LineageNode{}}}}
	for name, redact := range map[string]func(contract.Transport) any{
		"listSessions": func(to contract.Transport) any {
			return contract.RedactSessions(contract.ListSessionsResponse{Sessions: contract.List[contract.Header]{secret}}, to)
		},
		"readTitles": func(to contract.Transport) any {
			return contract.RedactTitles(contract.ReadTitlesResponse{Titles: contract.List[contract.TitleResult]{{Session: &secret}, {}}}, to)
		},
		"traceSession": func(to contract.Transport) any {
			return contract.RedactLineage(contract.TraceSessionResponse{
				Target: secret, Ancestors: contract.List[contract.Header]{secret}, Descendants: []contract.LineageNode{node}, Root: &secret,
				UnresolvedParentID: ptr("/home/ann/.pi/p.jsonl"), Deeper: []contract.DeeperSession{{Session: secret}},
			}, to)
		},
		"resumePlan": func(to contract.Transport) any {
			return contract.RedactResumePlan(contract.ResumePlanResponse{
				Agent: "pi", SessionID: "s", Argv: []string{"/home/ann/.pi/bin"}, Command: ptr("/home/ann/.pi/bin"), Cwd: ptr("/work"),
				Checks: contract.ResumeChecks{Binary: ptr(true)}, Warnings: contract.List[contract.ResumeWarning]{{Message: "/home/ann/.pi"}},
			}, to)
		},
	} {
		before := wire(t, secret)
		if got := wire(t, redact(contract.TransportLocal)); !strings.Contains(got, "/home/ann/.pi") {
			t.Errorf("%s, local: %s", name, got)
		}
		got := wire(t, redact(contract.TransportRemote))
		if strings.Contains(got, "/home/ann") || strings.Contains(got, "true") && name == "resumePlan" {
			t.Errorf("%s, remote: %s", name, got)
		}
		if wire(t, secret) != before || node.Descendants[0].Session.SourcePath == "" {
			t.Errorf("%s: what was given was changed", name)
		}
	}
	plan := contract.RedactResumePlan(contract.ResumePlanResponse{Agent: "pi", SessionID: "s", Cwd: ptr("/work")}, contract.TransportRemote)
	if plan.Agent != "pi" || plan.SessionID != "s" || plan.Cwd == nil {
		t.Errorf("the asking side has nothing to make a plan of: %+v", plan)
	}
}
