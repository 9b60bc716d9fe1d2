package exact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

// fake is a world of made-up transcripts.
func fake(t *testing.T) *world {
	return newWorld(t, contract.TransportLocal, &fakeReader{agent: "claude"})
}

// put writes a transcript <place>/<id>.fake of those lines.
func (w *world) put(place, id string, lines ...fakeLine) string {
	w.t.Helper()
	var b strings.Builder
	for _, l := range lines {
		raw, err := json.Marshal(l)
		w.must(err)
		b.Write(append(raw, '\n'))
	}
	return w.write(place+"/"+id+".fake", b.String())
}

func say(text string) fakeLine { return fakeLine{Text: text, Inherited: -1} }

func TestErrorsOfExactReads(t *testing.T) {
	w := fake(t)
	w.put("one", "session-one", say("hello"), fakeLine{ID: "e1", Text: "again", Inherited: -1}, say("third"))
	w.put("one", "session-other", say("hello"))
	w.put("one", "a-cycle", fakeLine{Parent: "b-cycle", Text: "x"})
	w.put("one", "b-cycle", fakeLine{Parent: "a-cycle", Text: "x"})
	w.put("one", "c-own", fakeLine{Parent: "c-own", Text: "x"})
	broken := w.put("one", "broken", say("x"))
	unreadable := w.put("one", "unreadable", say("x"))
	panics := w.put("one", "panics", say("x"))
	w.put("one", "twice", fakeLine{Cwd: "/one", Created: 5, Text: "the same"}, say("and longer"))
	w.put("two", "twice", fakeLine{Cwd: "/two", Created: 5, Text: "the same"})
	w.put("one", "copied", fakeLine{Cwd: "/one", Text: "the same"}, say("and longer"))
	w.put("two", "copied", fakeLine{Cwd: "/one", Text: "the same"})
	w.put("one", "parent-0001", say("x"))
	for i := range 40 {
		w.put("one", fmt.Sprintf("parent-0001#agent-%02d", i), say("x"))
	}
	w.put("one", "parent-0001#agent-x1", say("x"))
	w.put("one", "parent-0001#agent-x1#agent-1", say("x"))
	w.put("one", "orphan-0001#agent-1", say("x"))
	w.put("one", "crowd-0001", say("x"))
	w.put("one", "crowd-0001#agent-1", say("x"))
	w.put("one", "crowd-0002", say("x"))
	w.reconcile()
	w.must(os.WriteFile(broken, []byte("no record\nat all\n"), 0o644))
	w.must(os.WriteFile(unreadable, []byte(`{"Fail":"io"}`+"\n"), 0o644))
	w.must(os.WriteFile(panics, []byte(`{"Fail":"panic"}`+"\n"), 0o644))

	for _, tt := range []struct{ command, request, code string }{
		{"readSession", `{"sessionId":"nothing-like-it"}`, contract.CodeSessionNotFound},
		{"readSession", `{"sessionId":"session"}`, contract.CodeSessionNotFound}, // too short for a prefix
		{"readSession", `{"sessionId":"SESSION-ONE"}`, contract.CodeSessionNotFound},
		{"readSession", `{"sessionId":"session-one","agent":"pi"}`, contract.CodeSessionNotFound},
		{"readSession", `{"sessionId":"session-%"}`, contract.CodeSessionNotFound},
		{"readSession", `{"sessionId":"session-"}`, contract.CodeSourceConflict},
		{"readEvent", `{"sessionId":"session-one","seq":3}`, contract.CodeEventNotFound},
		{"readEvent", `{"sessionId":"session-one","seq":-1}`, contract.CodeEventNotFound},
		{"readEvent", `{"sessionId":"session-one","seq":9223372036854775807}`, contract.CodeEventNotFound},
		{"readEvent", `{"sessionId":"session-one","eventId":"e2"}`, contract.CodeEventNotFound},
		{"readEvent", `{"sessionId":"session-one","eventId":""}`, contract.CodeEventNotFound},
		{"readEvent", `{"sessionId":"session-one","seq":0,"eventId":"e1"}`, contract.CodeEventNotFound},
		{"traceEvent", `{"sessionId":"session-one","seq":0,"eventId":"e1"}`, contract.CodeEventNotFound},
		{"traceEvent", `{"sessionId":"session-one","seq":-7}`, contract.CodeEventNotFound},
		{"traceSession", `{"sessionId":"a-cycle"}`, contract.CodeInvalidLineage},
		{"traceSession", `{"sessionId":"c-own"}`, contract.CodeInvalidLineage},
		{"traceSession", `{"sessionId":"nothing-like-it"}`, contract.CodeSessionNotFound},
		{"resumePlan", `{"sessionId":"nothing-like-it"}`, contract.CodeSessionNotFound},
		{"listEvents", `{"sessionId":"broken"}`, contract.CodeCorruptSession},
		{"readEvent", `{"sessionId":"broken","seq":0}`, contract.CodeCorruptSession},
		{"listEvents", `{"sessionId":"unreadable"}`, contract.CodePersistenceFailed},
		{"renderTranscript", `{"sessionId":"unreadable"}`, contract.CodePersistenceFailed},
		{"listEvents", `{"sessionId":"twice"}`, contract.CodeSourceConflict},
		{"readSurface", `{"sessionId":"twice"}`, contract.CodeSourceConflict},
		{"listSessions", `{"cursor":""}`, contract.CodeInvalidCursor},
		{"listEvents", `{"sessionId":"session-one","cursor":"x"}`, contract.CodeInvalidCursor},
		{"readSurface", `{"sessionId":"session-one","cursor":"x"}`, contract.CodeInvalidCursor},
		{"filterEvents", `{"sessionId":"session-one","cursor":"x"}`, contract.CodeInvalidCursor},
	} {
		w.fails(tt.command, tt.request, tt.code)
	}
	// A reader that goes mad fails its own session only.
	if _, err := try[json.RawMessage](w, "listEvents", `{"sessionId":"panics"}`); err == nil {
		t.Error("a reader's panic was no failure")
	}
	// What names several names them all.
	fault := w.fails("readEvent", `{"sessionId":"session-","seq":0}`, contract.CodeSourceConflict)
	if raw, _ := json.Marshal(fault.Candidates); string(raw) != `[{"agent":"claude","sessionId":"session-one","title":"Fake session-"},{"agent":"claude","sessionId":"session-other","title":"Fake session-"}]` {
		t.Errorf("candidates %s", raw)
	}
	// A sub-agent's id begins with its parent's: what both share names the parent, also when the sub-agents are many.
	for name, want := range map[string]string{
		"parent-0": "parent-0001", "parent-0001": "parent-0001", "parent-0001#a": "", "parent-0001#agent-07": "parent-0001#agent-07",
		"parent-0001#agent-x": "parent-0001#agent-x1", "parent-0001#agent-0": "", "orphan-00": "orphan-0001#agent-1", "crowd-00": "",
	} {
		request := fmt.Sprintf(`{"sessionId":%q}`, name)
		if want == "" {
			w.fails("readSession", request, contract.CodeSourceConflict)
		} else if r := ask[contract.ReadSessionResponse](w, "readSession", request); r.Session.SessionID != want {
			t.Errorf("%s is %s", name, r.Session.SessionID)
		}
	}
	// Copies that agree are one session, the longer of them.
	if r := ask[contract.ReadSessionResponse](w, "readSession", `{"sessionId":"copied"}`); len(r.Events) != 2 {
		t.Errorf("%d events", len(r.Events))
	}
	// One session's failure is its own.
	titles := ask[contract.ReadTitlesResponse](w, "readTitles", `{"sessions":[{"sessionId":"session-"},{"sessionId":"broken"},{"sessionId":"session-one"},{"sessionId":"broken"},{"sessionId":"none-such"}]}`).Titles
	var got []string
	for _, r := range titles {
		got = append(got, fmt.Sprint(r.SessionID, " ", r.Status, " ", strings.TrimPrefix(r.Code, "SESSION_QUERY_")))
	}
	if want := []string{"session- rejected SOURCE_CONFLICT", "broken fulfilled ", "session-one fulfilled ", "none-such rejected SESSION_NOT_FOUND"}; !slices.Equal(got, want) {
		t.Errorf("titles %q", got)
	}
	if n := len(w.all()); n != 57 {
		t.Errorf("%d sessions listed", n)
	}
}

// Only dsh's own logs are held to its rules.
func TestStrictLogs(t *testing.T) {
	for agent, codes := range map[string][2]string{contract.AgentDsh: {contract.CodeInvalidSurface, contract.CodeCorruptSession}, contract.AgentPi: {}} {
		w := newWorld(t, contract.TransportLocal, &fakeReader{agent: agent})
		w.put("one", "odd-surface", say("x"), fakeLine{Fail: "surface"}, say("y"))
		w.put("one", "odd-record", say("x"), fakeLine{Fail: "corrupt"}, say("y"))
		w.reconcile()
		for id, code := range map[string]string{"odd-surface": codes[0], "odd-record": codes[1]} {
			for _, command := range []string{"listEvents", "filterEvents", "readSurface", "traceEvent", "readSession", "readEvent", "renderTranscript"} {
				want := code
				// The raw log and its windows need no surface.
				if id == "odd-surface" && slices.Contains([]string{"readSession", "readEvent", "renderTranscript"}, command) {
					want = ""
				}
				request := fmt.Sprintf(`{"sessionId":%q,"seq":1}`, id)
				if want != "" {
					w.fails(command, request, want)
				} else if _, err := try[json.RawMessage](w, command, request); err != nil {
					t.Errorf("%s of %s: %v", command, agent, err)
				}
			}
		}
		// That there is no such event is told first.
		if codes[0] != "" {
			w.fails("traceEvent", `{"sessionId":"odd-surface","seq":2}`, contract.CodeEventNotFound)
		}
	}
}

func TestNothingWithoutConsent(t *testing.T) {
	w := fake(t)
	w.put("one", "session-one", say("hello"))
	w.reconcile()
	_, err := w.service.SetPolicy(t.Context(), contract.SetPolicyRequest{Enabled: contract.Some(false)})
	w.must(err)
	for _, command := range []string{"listSessions", "readSession", "listEvents", "filterEvents", "readEvent", "readSurface", "readTitles", "traceSession", "traceEvent", "renderTranscript", "resumePlan"} {
		fault := w.fails(command, `{"sessionId":"session-one","seq":0,"sessions":[]}`, contract.CodeSearchDisabled)
		if fault.RPCCode != -32803 {
			t.Errorf("%s: %d", command, fault.RPCCode)
		}
		// A bad request is refused before that.
		w.fails(command, `{"sessionId":"session-one","seq":0,"sessions":[],"executionHost":"all"}`, contract.CodeInvalidConfig)
	}
}

func TestCancelledReads(t *testing.T) {
	w := fake(t)
	w.put("one", "session-one", say("hello"))
	w.reconcile()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, command := range []string{"listSessions", "readSession", "listEvents", "readSurface", "renderTranscript"} {
		_, err := w.run.Run(ctx, "sessionls."+command, []json.RawMessage{json.RawMessage(`{"sessionId":"session-one"}`)})
		var fault *contract.Error
		if !errors.As(err, &fault) || fault.RPCCode != -32800 || fault.Code != contract.CodeAborted {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// A read that goes on for long ends with its request, and when the user withdraws
// the consent: then nothing is being read any more.
func TestReadsEnd(t *testing.T) {
	reader := &fakeReader{agent: "claude", waiting: make(chan struct{})}
	w := newWorld(t, contract.TransportLocal, reader)
	path := w.put("one", "long", say("hello"))
	w.reconcile()
	w.must(os.WriteFile(path, []byte(`{"Fail":"wait"}`+"\n"), 0o644))
	read := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := w.service.ReadSession(ctx, contract.ReadSessionRequest{SessionName: contract.SessionName{SessionID: "long"}})
			done <- err
		}()
		<-reader.waiting
		return done
	}
	ended := func(done <-chan error, code string) {
		t.Helper()
		var fault *contract.Error
		if err := <-done; !errors.As(err, &fault) || fault.Code != code {
			t.Errorf("got %v, want %s", err, code)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := read(ctx)
	cancel()
	ended(done, contract.CodeAborted)

	done = read(t.Context())
	_, err := w.service.SetPolicy(t.Context(), contract.SetPolicyRequest{Enabled: contract.Some(false)})
	w.must(err)
	ended(done, contract.CodeSearchDisabled)
}

func TestEventCursors(t *testing.T) {
	w := fake(t)
	var lines []fakeLine
	for i := range 10 {
		lines = append(lines, fakeLine{Session: "s", Text: fmt.Sprint("event ", i), ID: fmt.Sprint("e", i), Inherited: -1})
	}
	w.put("one", "s", lines...)
	w.put("one", "o", lines[0], fakeLine{Session: "o", Text: "x"})
	w.reconcile()
	first := map[string]string{}
	for _, command := range []string{"listEvents", "filterEvents", "readSurface"} {
		first[command] = *ask[contract.EventPage](w, command, `{"sessionId":"s","limit":4}`).Page.Cursor
	}
	next := func(command, more string) ([]int64, error) {
		r, err := try[contract.EventPage](w, command, `{"sessionId":"s","limit":3,"cursor":`+quoted(first[command])+more+`}`)
		return seqs(r.Events), err
	}
	// Other sessions' writes and the log's own growth do no harm.
	w.put("one", "another", say("x"))
	w.put("one", "s", append(slices.Clone(lines), fakeLine{Session: "s", Text: "grown", Inherited: -1})...)
	for command := range first {
		if got, err := next(command, ""); err != nil || !slices.Equal(got, []int64{4, 5, 6}) {
			t.Errorf("%s: %v, %v", command, got, err)
		}
		for _, wrong := range []string{`{"sessionId":"o","cursor":`, `{"sessionId":"s","filters":{"roles":["user"]},"text":"x","cursor":`} {
			if command == "readSurface" && strings.Contains(wrong, "filters") {
				continue
			}
			w.fails(command, wrong+quoted(first[command])+`}`, contract.CodeInvalidCursor)
		}
	}
	w.fails("listEvents", `{"sessionId":"s","cursor":`+quoted(first["filterEvents"])+`}`, contract.CodeInvalidCursor)
	// The log is another one now: read anew, it has another epoch; and before
	// that the event that the cursor names is not there any more.
	w.put("one", "s", fakeLine{Session: "s", Text: "all new", ID: "n", Inherited: -1})
	for _, known := range []bool{false, true} {
		if known {
			w.reconcile()
		}
		for command := range first {
			if _, err := next(command, ""); err == nil || !strings.Contains(err.Error(), "has changed since") {
				t.Errorf("%s: %v", command, err)
			}
		}
	}
	// The list of sessions is bound to the generation.
	page := ask[contract.ListSessionsResponse](w, "listSessions", `{"limit":1}`)
	again := `{"limit":2,"cursor":` + quoted(*page.Page.Cursor) + `}`
	if got := ask[contract.ListSessionsResponse](w, "listSessions", again); len(got.Sessions) == 0 || got.Sessions[0].SessionID == page.Sessions[0].SessionID {
		t.Errorf("got %+v", got)
	}
	w.fails("listSessions", `{"sort":"updatedAt","cursor":`+quoted(*page.Page.Cursor)+`}`, contract.CodeInvalidCursor)
	w.put("one", "newest", say("x"))
	w.reconcile()
	w.fails("listSessions", again, contract.CodeStaleCursor)
}

func TestListSessions(t *testing.T) {
	w := fake(t)
	w.put("one", "all",
		fakeLine{Session: "b", Created: 300, Text: "x"}, fakeLine{Session: "a", Created: 300, Text: "x", Cwd: "/w/app"},
		fakeLine{Session: "B", Created: 300, Call: "ls", Inherited: -1}, fakeLine{Session: "old", Created: 100, Text: "x"}, fakeLine{Session: "unknown", Text: "x"},
		fakeLine{Session: "new", Created: 400, Parent: "old", Output: "out", Inherited: -1})
	w.reconcile()
	list := func(request string) string {
		var ids []string
		for next := ""; ; {
			r := ask[contract.ListSessionsResponse](w, "listSessions", strings.TrimSuffix(request, "}")+next+"}")
			for _, h := range r.Sessions {
				ids = append(ids, h.SessionID)
			}
			if r.Page.Cursor == nil {
				return strings.Join(ids, " ")
			}
			next = `,"cursor":` + quoted(*r.Page.Cursor)
		}
	}
	for request, want := range map[string]string{
		`{"limit":1000}`: "new B a b old unknown", `{"limit":1}`: "new B a b old unknown", `{"limit":2,"sort":"createdAt"}`: "new B a b old unknown",
		`{"limit":9,"filters":{"sessionIds":["a","old","none"]}}`: "a old", `{"limit":9,"filters":{"sessionIds":[]}}`: "",
		`{"limit":1,"filters":{"cwds":[null]}}`: "new B b old unknown", `{"limit":9,"filters":{"parents":["old"]}}`: "new",
		`{"limit":9,"filters":{"scopePaths":["/w"]}}`: "a", `{"limit":9,"filters":{"relations":["fork"]}}`: "new",
		`{"limit":9,"filters":{"createdAt":{"to":"1970-01-01T00:02:00Z"}}}`: "old", `{"limit":9,"filters":{"agents":["pi"]}}`: "",
		`{"limit":9,"filters":{"events":{"tools":["bash"]}}}`: "B", `{"limit":9,"filters":{"events":{"roles":["tool"]}}}`: "new",
		`{"limit":9,"filters":{"events":{"types":[]}}}`: "", `{"limit":9,"filters":{"presence":["missing"]}}`: "",
	} {
		if got := list(request); got != want {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
	}
	if got := strings.Fields(list(`{"limit":2,"sort":"updatedAt"}`)); len(got) != 6 {
		t.Errorf("by update: %q", got)
	}
}

func TestEventFilters(t *testing.T) {
	w := fake(t)
	w.put("one", "s", say("Hello\n(AI)+"), fakeLine{Call: "ls -la", Inherited: -1}, fakeLine{Output: "Café au\u00a0lait", Inherited: -1}, fakeLine{Type: "turn/end", LogOnly: true, Inherited: -1},
		fakeLine{Type: "assistant/message", Text: "hello again", Inherited: -1}, fakeLine{Replaced: []int{0, 1, 4}})
	w.reconcile()
	for filter, want := range map[string]string{
		`{}`: "0 1 2 3 4", `{"types":["turn/end"]}`: "3", `{"types":[]}`: "", `{"surfaces":["log-only"]}`: "3", `{"surfaces":[]}`: "", `{"roles":["tool","assistant"]}`: "1 2 4",
		`{"tools":["BASH"]}`: "1", `{"seq":{"from":1,"to":2}}`: "1 2", `{"seq":{"from":3.2}}`: "4", `{"time":{"from":"1970-01-01T00:00:00Z"}}`: "", `{"types":["x"],"roles":["user"]}`: "",
	} {
		if got := fmt.Sprint(seqs(ask[contract.EventPage](w, "listEvents", `{"sessionId":"s","filters":`+filter+`}`).Events)); got != "["+want+"]" {
			t.Errorf("%s: %s, want %s", filter, got, want)
		}
	}
	for text, want := range map[string]string{
		"hello   (ai)+": "0", "HELLO": "0 4", "CAFÉ AU LAIT": "2", "CAFE": "", "ls\t-LA": "1", "o\n(": "0", "turn/end": "", ".*": "", "  again  ": "4",
	} {
		if got := fmt.Sprint(seqs(ask[contract.EventPage](w, "filterEvents", `{"sessionId":"s","text":`+quoted(text)+`}`).Events)); got != "["+want+"]" {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// One event, none at all, and records too large for an answer.
func TestSizesOfSessions(t *testing.T) {
	w := fake(t)
	w.put("one", "single", say("only"))
	w.put("one", "large", say("before"), fakeLine{Text: "head", Pad: strings.Repeat("x", 300<<10), Inherited: -1}, fakeLine{Output: strings.Repeat("words of output ", 40<<10), Inherited: -1}, say("after"))
	var many []fakeLine
	for i := range 100 {
		many = append(many, fakeLine{Output: strings.Repeat(fmt.Sprintf("%04d ", i), 20<<10), Inherited: -1})
	}
	w.put("one", "many", many...)
	// One that no short way leads to, among many of which there is one.
	many = slices.Clone(many)
	many[50] = fakeLine{Output: strings.Repeat("a giant ", 600<<10), Inherited: -1}
	w.put("one", "giant", many...)
	w.reconcile()

	r := ask[contract.ReadEventResponse](w, "readEvent", `{"sessionId":"single","seq":0,"before":50,"after":50}`)
	if len(r.Events) != 1 || r.StartSeq != 0 || r.EndSeq != 0 || *r.Target.Text != "only" || !strings.Contains(string(r.Target.Data), `"Text":"only"`) {
		t.Errorf("single: %+v", r)
	}
	e := ask[contract.ReadSessionResponse](w, "readSession", `{"sessionId":"large"}`).Events
	if len(e) != 4 || string(e[1].Data) != "null" || !e[1].DataTruncated || e[1].DataBytes < 300<<10 || *e[1].Text != "head" || e[1].TextTruncated || e[0].DataTruncated || *e[3].Text != "after" {
		t.Errorf("large: %d events", len(e))
	}
	if len(*e[2].Text) > 256<<10 || !e[2].TextTruncated || !e[2].DataTruncated {
		t.Errorf("large output: %d bytes of text", len(*e[2].Text))
	}
	big := ask[contract.ReadEventResponse](w, "readEvent", `{"sessionId":"large","seq":2,"maxBytes":16777216,"before":1}`).Target
	if big.DataTruncated || big.TextTruncated || len(*big.Text) != 16*40<<10 || len(big.Data) < 16*40<<10 {
		t.Errorf("asked for more: %d bytes of text, %d of data", len(*big.Text), len(big.Data))
	}
	// Pages end early, and go on where they ended.
	raw := ask[json.RawMessage](w, "readSession", `{"sessionId":"many","limit":1000}`)
	if len(raw) > contract.MaxPageBytes+64<<10 {
		t.Errorf("a page of %d bytes", len(raw))
	}
	if all := w.log(contract.SessionName{SessionID: "many"}, 1000); len(all) != 100 || *all[99].Text != strings.Repeat("0099 ", 20<<10) {
		t.Errorf("%d events", len(all))
	}
	if all := w.log(contract.SessionName{SessionID: "giant"}, 1000); len(all) != 100 || !all[50].TextTruncated {
		t.Errorf("%d events", len(all))
	}
	for from := int64(0); ; {
		r := ask[contract.RenderTranscriptResponse](w, "renderTranscript", fmt.Sprintf(`{"sessionId":"giant","limit":2000,"fromSeq":%d}`, from))
		if r.NextSeq == nil {
			break
		}
		from = *r.NextSeq
	}
	if all := w.events("filterEvents", contract.SessionName{SessionID: "many"}, 1000); len(all) != 100 {
		t.Errorf("%d events", len(all))
	}
	md := ask[contract.RenderTranscriptResponse](w, "renderTranscript", `{"sessionId":"many","limit":2000,"tools":"full"}`)
	if md.NextSeq == nil || len(md.Markdown) > contract.MaxPageBytes {
		t.Errorf("rendered %d bytes, next %v", len(md.Markdown), md.NextSeq)
	}
	// A window as large as can be stays within bounds, its target whole.
	raw = ask[json.RawMessage](w, "readEvent", `{"sessionId":"many","seq":50,"before":50,"after":50}`)
	if len(raw) > contract.MaxPageBytes+256<<10 {
		t.Errorf("a window of %d bytes", len(raw))
	}
}

// A transcript that grew since it was indexed is read as it is.
// A record that is not valid JSON is read for its text, and who gets null for its
// data is told why.
func TestRecordsThatAreNoJSON(t *testing.T) {
	w := newWorld(t, contract.TransportLocal)
	line := func(uuid, text string) string {
		return `{"type":"user","uuid":"` + uuid + `","sessionId":"bad-escape","cwd":"/w","timestamp":"2031-01-02T03:04:05.000Z","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	w.write(".claude/projects/-w/bad-escape.jsonl", line("u0", "good words")+line("u1", `bad \d escape`)+line("u2", `and \q more`)+line("u3", "good again"))
	w.reconcile()
	const one, two = "a record of this answer is not valid JSON; its data is null", "2 records of this answer are not valid JSON; their data is null"

	all := ask[contract.ReadSessionResponse](w, "readSession", `{"sessionId":"bad-escape"}`)
	if len(all.Events) != 4 || !slices.Equal(all.Session.Warnings, []string{two}) {
		t.Fatalf("%d events, warnings %q", len(all.Events), all.Session.Warnings)
	}
	for i, e := range all.Events {
		if bad := i == 1 || i == 2; (string(e.Data) == "null") != bad || e.DataTruncated || e.Text == nil || *e.Text == "" {
			t.Errorf("event %d: data %s, text %v", i, e.Data, e.Text)
		}
	}
	for _, tt := range []struct{ request, want string }{
		{`{"sessionId":"bad-escape","seq":0}`, ""},
		{`{"sessionId":"bad-escape","seq":1}`, one},
		{`{"sessionId":"bad-escape","seq":0,"after":3}`, two},
	} {
		r := ask[contract.ReadEventResponse](w, "readEvent", tt.request)
		if got := strings.Join(r.Session.Warnings, "|"); got != tt.want {
			t.Errorf("%s: warnings %q, want %q", tt.request, got, tt.want)
		}
	}
	// The session itself has nothing wrong with it.
	if r := ask[contract.EventPage](w, "listEvents", `{"sessionId":"bad-escape"}`); len(r.Session.Warnings) != 0 {
		t.Errorf("listEvents: warnings %q", r.Session.Warnings)
	}
}

func TestReadsAreOfThePresent(t *testing.T) {
	w := fake(t)
	w.put("one", "s", say("one"))
	w.reconcile()
	w.put("one", "s", say("one"), say("two"))
	if r := ask[contract.ReadSessionResponse](w, "readSession", `{"sessionId":"s"}`); len(r.Events) != 2 || *r.Events[1].Text != "two" || r.NextSeq != nil {
		t.Errorf("got %+v", r)
	}
	if r := ask[contract.ReadSessionResponse](w, "readSession", `{"sessionId":"s","fromSeq":2}`); len(r.Events) != 0 || r.NextSeq != nil {
		t.Errorf("beyond the end: %+v", r)
	}
}

func TestTraceSession(t *testing.T) {
	w := fake(t)
	lines := []fakeLine{
		{Session: "root", Created: 1, Text: "x"}, {Session: "target", Parent: "root", Created: 2, Text: "x"},
		{Session: "b", Parent: "target", Created: 4, Text: "x"}, {Session: "a", Parent: "target", Created: 4, Text: "x"}, {Session: "older", Parent: "target", Created: 3, Text: "x"},
		{Session: "grandchild", Parent: "a", Created: 5, Text: "x"}, {Session: "orphan", Parent: "gone", Created: 5, Text: "x"}, {Session: "of-orphan", Parent: "orphan", Text: "x"},
	}
	const deep = 3000
	for i := range deep {
		l := fakeLine{Session: fmt.Sprintf("deep-%04d", i), Created: i + 1, Text: "x"}
		if i > 0 {
			l.Parent = fmt.Sprintf("deep-%04d", i-1)
		}
		lines = append(lines, l)
	}
	w.put("one", "all", lines...)
	w.reconcile()
	// No log is opened: the transcripts need not be there.
	w.must(os.Remove(filepath.Join(w.home, "one", "all.fake")))

	var shape func([]contract.LineageNode) string
	shape = func(nodes []contract.LineageNode) string {
		var out []string
		for _, n := range nodes {
			s := fmt.Sprint(n.Session.SessionID, "@", n.Depth)
			if len(n.Descendants) > 0 {
				s += "(" + shape(n.Descendants) + ")"
			}
			out = append(out, s)
		}
		return strings.Join(out, " ")
	}
	ids := func(list []contract.Header) string {
		var out []string
		for _, h := range list {
			out = append(out, h.SessionID)
		}
		return strings.Join(out, " ")
	}
	r := ask[contract.TraceSessionResponse](w, "traceSession", `{"sessionId":"target"}`)
	if ids(r.Ancestors) != "root" || !r.Complete || r.Root.SessionID != "root" || shape(r.Descendants) != "older@1 a@1(grandchild@2) b@1" || r.UnresolvedParentID != nil {
		t.Errorf("target: %s, %v, %s", ids(r.Ancestors), r.Complete, shape(r.Descendants))
	}
	r = ask[contract.TraceSessionResponse](w, "traceSession", `{"sessionId":"root"}`)
	if len(r.Ancestors) != 0 || !r.Complete || r.Root.SessionID != "root" {
		t.Errorf("root: %+v", r)
	}
	r = ask[contract.TraceSessionResponse](w, "traceSession", `{"sessionId":"of-orphan"}`)
	if ids(r.Ancestors) != "orphan" || r.Complete || r.Root != nil || r.UnresolvedParentID == nil || *r.UnresolvedParentID != "gone" {
		t.Errorf("orphan: %+v", r)
	}
	r = ask[contract.TraceSessionResponse](w, "traceSession", `{"sessionId":"deep-2999"}`)
	if len(r.Ancestors) != deep-1 || r.Ancestors[0].SessionID != "deep-2998" || r.Root.SessionID != "deep-0000" || len(r.Descendants) != 0 || r.Truncated {
		t.Errorf("from below: %d ancestors, truncated %v", len(r.Ancestors), r.Truncated)
	}
	r = ask[contract.TraceSessionResponse](w, "traceSession", `{"sessionId":"deep-0000"}`)
	nested := 0
	for at := r.Descendants; len(at) > 0; at = at[0].Descendants {
		nested++
	}
	if nested != 200 || len(r.Deeper) != deep-1-200 || r.Deeper[0].Session.SessionID != "deep-0201" || r.Deeper[0].Depth != 201 || r.Deeper[0].ParentSessionID != "deep-0200" {
		t.Errorf("from above: %d nested, %d deeper", nested, len(r.Deeper))
	}
}
