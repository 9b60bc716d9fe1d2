package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// surfaceService has one session, "The café crash", whose transcript is rendered
// in stretches of two events.
type surfaceService struct {
	*fakeService
	disabled, unready bool

	mu     sync.Mutex
	header contract.Header
	texts  []string // of the events
	asked  []contract.Filters
}

const surfaceID = "3b0f#agent-1"

func newSurfaceService() *surfaceService {
	now := contract.InstantOf(time.Now().Add(-2 * time.Hour))
	cwd := "/home/u/tide"
	s := &surfaceService{
		fakeService: newFakeService(),
		header:      contract.Header{Agent: "claude", SessionID: surfaceID, Title: "The café\ncrash", Cwd: &cwd, UpdatedAt: &now, Epoch: 1, MessageCount: 5},
		texts:       []string{"hello", "the 😀 tide overflow", "", "well\nindeed", "bye"},
	}
	s.search = func(_ context.Context, q contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
		switch {
		case s.disabled:
			return contract.UnavailableResponse(contract.ReasonDisabled), nil
		case s.unready:
			return contract.UnavailableResponse(contract.ReasonNotReady), nil
		}
		if q.Query == "nothing" {
			return contract.ResultsResponse(contract.SearchResults{}), nil
		}
		seq := int64(1)
		hit := contract.Hit{Agent: "claude", SessionID: surfaceID, Title: s.header.Title, Cwd: &cwd, UpdatedAt: &now, Evidence: &contract.Evidence{
			Snippet: "the 😀 [[tide]] [[overflow]]", Marks: contract.List[contract.Mark]{{9, 13}, {18, 26}}, Seq: &seq,
		}}
		return contract.ResultsResponse(contract.SearchResults{Hits: contract.List[contract.Hit]{hit}}), nil
	}
	return s
}

func (s *surfaceService) ListSessions(_ context.Context, q contract.ListSessionsRequest) (contract.ListSessionsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.disabled:
		return contract.ListSessionsResponse{}, contract.Failed(contract.CodeSearchDisabled, nil, "disabled")
	case s.unready:
		return contract.ListSessionsResponse{}, contract.Failed(contract.CodeIndexFailed, contract.ErrNotReady, "not ready")
	}
	s.asked = append(s.asked, q.Filters)
	return contract.ListSessionsResponse{Sessions: contract.List[contract.Header]{s.header}}, nil
}

func (s *surfaceService) ReadTitles(_ context.Context, q contract.ReadTitlesRequest) (contract.ReadTitlesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	header := s.header
	var out contract.ReadTitlesResponse
	for _, name := range q.Sessions {
		out.Titles = append(out.Titles, contract.TitleResult{SessionName: name, Status: contract.TitleFulfilled, Session: &header})
	}
	return out, nil
}

func (s *surfaceService) RenderTranscript(_ context.Context, q contract.RenderTranscriptRequest) (contract.RenderTranscriptResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.SessionID != surfaceID {
		return contract.RenderTranscriptResponse{}, contract.Failed(contract.CodeSessionNotFound, nil, "no session %s", q.SessionID)
	}
	out := contract.RenderTranscriptResponse{Session: s.header}
	line := 0
	write := func(text string) { out.Markdown += text + "\n"; line += 1 + strings.Count(text, "\n") }
	if q.FromSeq == 0 {
		write("# " + "title")
	}
	end := min(int(q.FromSeq)+2, len(s.texts))
	for seq := int(q.FromSeq); seq < end; seq++ {
		if s.texts[seq] == "" {
			continue
		}
		from := line
		write(s.texts[seq])
		out.Lines = append(out.Lines, contract.LineRange{Line: from, EndLine: line - 1, Seq: int64(seq)})
	}
	if end < len(s.texts) {
		next := int64(end)
		out.NextSeq = &next
	}
	return out, nil
}

func request(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

// initialized with what a client can do, as JSON members of workspace.
func surfaced(t *testing.T, service Service, workspace, more string) session {
	t.Helper()
	s := start(t, service)
	s.Send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{"workspace":{` + workspace + `}}` + more + `}}`)
	if m := s.Response("0"); m.Error != nil {
		t.Fatalf("initialize: %s", m.Raw)
	}
	s.Send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	return s
}

const resolving = `"symbol":{"resolveSupport":{"properties":["location.range"]}}`

func answer(t *testing.T, s session, id int, message string) json.RawMessage {
	t.Helper()
	s.Send(message)
	m := s.Response(fmt.Sprint(id))
	if m.Error != nil {
		t.Fatalf("%s: %s", message, m.Raw)
	}
	return m.Result
}

const documentName = `sessionls://session/local/claude/3b0f%23agent-1.md`

func TestWorkspaceSymbol(t *testing.T) {
	for _, tc := range []struct{ name, workspace, query, want string }{
		{"found, without range", resolving, "tide overflow",
			`[{"name":"The café crash — tide overflow","kind":1,"containerName":"claude · tide · 2 h ago","location":{"uri":"` + documentName + `"},"data":{"seq":1,"mark":"tide"}}]`},
		{"the title has the query", resolving, "CAFÉ",
			`[{"name":"The café crash","kind":1,"containerName":"claude · tide · 2 h ago","location":{"uri":"` + documentName + `"},"data":{"seq":1,"mark":"tide"}}]`},
		{"found, with range", ``, "tide overflow",
			`[{"name":"The café crash — tide overflow","kind":1,"containerName":"claude · tide · 2 h ago","location":{"uri":"` + documentName + `","range":{"start":{"line":2,"character":7},"end":{"line":2,"character":11}}}}]`},
		{"newest", resolving, " ", `[{"name":"The café crash","kind":1,"containerName":"claude · tide · 2 h ago","location":{"uri":"` + documentName + `"}}]`},
		{"newest, with range", ``, "", `[{"name":"The café crash","kind":1,"containerName":"claude · tide · 2 h ago","location":{"uri":"` + documentName + `","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}}}]`},
		{"nothing", resolving, "nothing", `[]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := surfaced(t, newSurfaceService(), tc.workspace, "")
			query, _ := json.Marshal(tc.query)
			if got := answer(t, s, 1, request(1, "workspace/symbol", `{"query":`+string(query)+`}`)); string(got) != tc.want {
				t.Fatalf("\n got %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestNoWorkspaceSymbols(t *testing.T) {
	off := newSurfaceService()
	s := surfaced(t, off, resolving, `,"initializationOptions":{"workspaceSymbols":false}`)
	for id, query := range []string{"tide", ""} {
		if got := answer(t, s, id+1, request(id+1, "workspace/symbol", `{"query":"`+query+`"}`)); string(got) != "[]" {
			t.Fatalf("switched off, got %s", got)
		}
	}
	disabled, unready := newSurfaceService(), newSurfaceService()
	disabled.disabled, unready.unready = true, true
	for name, service := range map[string]*surfaceService{"disabled": disabled, "not ready": unready} {
		s = surfaced(t, service, resolving, "")
		for id, query := range []string{"tide", ""} {
			if got := answer(t, s, id+1, request(id+1, "workspace/symbol", `{"query":"`+query+`"}`)); string(got) != "[]" {
				t.Fatalf("%s, got %s", name, got)
			}
		}
	}
}

func TestResolveSymbol(t *testing.T) {
	s := surfaced(t, newSurfaceService(), resolving, "")
	for id, tc := range []struct{ data, want string }{
		{`,"data":{"seq":1,"mark":"tide"}`, `{"start":{"line":2,"character":7},"end":{"line":2,"character":11}}`},
		{`,"data":{"seq":1,"mark":"not there"}`, `{"start":{"line":2,"character":0},"end":{"line":2,"character":0}}`},
		{`,"data":{"seq":2}`, `{"start":{"line":3,"character":0},"end":{"line":3,"character":0}}`}, // shows nothing: the next one
		{`,"data":{"seq":3,"mark":"indeed"}`, `{"start":{"line":4,"character":0},"end":{"line":4,"character":6}}`},
		{`,"data":{"seq":4}`, `{"start":{"line":5,"character":0},"end":{"line":5,"character":0}}`},
		{`,"data":{"seq":99}`, `{"start":{"line":5,"character":0},"end":{"line":5,"character":0}}`},
		{``, `{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}`},
	} {
		got := answer(t, s, id+1, request(id+1, "workspaceSymbol/resolve", `{"name":"n","kind":1,"location":{"uri":"`+documentName+`"}`+tc.data+`}`))
		if !strings.Contains(string(got), `"location":{"uri":"`+documentName+`","range":`+tc.want+`}`) {
			t.Errorf("%s: got %s, want range %s", tc.data, got, tc.want)
		}
	}
	for id, bad := range []string{`{"name":"n","kind":1,"location":{"uri":"file:///x"}}`, `7`, `{"name":7}`, `{"name":"n","kind":1,"location":{"uri":"sessionls://session/local/claude/other.md"},"data":{"seq":1}}`} {
		s.Send(request(20+id, "workspaceSymbol/resolve", bad))
		if m := s.Response(fmt.Sprint(20 + id)); m.Error == nil {
			t.Errorf("%s: got %s", bad, m.Raw)
		}
	}
}

func TestPositionsInUTF8(t *testing.T) {
	s := start(t, newSurfaceService())
	s.Send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{"general":{"positionEncodings":["utf-8"]}}}}`)
	s.Response("0")
	got := answer(t, s, 1, request(1, "workspace/symbol", `{"query":"tide overflow"}`))
	if want := `"range":{"start":{"line":2,"character":9},"end":{"line":2,"character":13}}`; !strings.Contains(string(got), want) {
		t.Fatalf("got %s, want %s", got, want)
	}
}

func TestFoldersOfSymbols(t *testing.T) {
	service := newSurfaceService()
	s := surfaced(t, service, resolving, `,"rootUri":"file:///other","workspaceFolders":[{"uri":"file:///home/u/a%20b","name":"x"},{"uri":"untitled:x"},7,{"uri":"file:///c%3A/work"}]`)
	answer(t, s, 1, request(1, "workspace/symbol", `{"query":""}`))
	s.Send(`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":{"event":{"added":[{"uri":"file://server/share","name":"s"},{"uri":"file:///home/u/new"}],"removed":[{"uri":"file:///home/u/a%20b"}]}}}`)
	answer(t, s, 2, request(2, "workspace/symbol", `{"query":""}`))
	s.Send(`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":{"event":7}}`)
	answer(t, s, 3, request(3, "workspace/symbol", `{}`))
	want := []string{"[/home/u/a b c:/work]", "[c:/work //server/share /home/u/new]", "[c:/work //server/share /home/u/new]"}
	for i, f := range service.asked {
		if got := fmt.Sprint(f.ScopePaths); got != want[i] {
			t.Errorf("list %d: folders %s, want %s", i+1, got, want[i])
		}
	}

	service = newSurfaceService()
	s = surfaced(t, service, resolving, `,"rootUri":"file:///home/u/p","workspaceFolders":null`)
	answer(t, s, 1, request(1, "workspace/symbol", `{"query":""}`))
	if got := fmt.Sprint(service.asked[0].ScopePaths); got != "[/home/u/p]" {
		t.Errorf("folders %s", got)
	}
	service = newSurfaceService()
	s = surfaced(t, service, resolving, ``)
	answer(t, s, 1, request(1, "workspace/symbol", `{"query":""}`))
	if service.asked[0].ScopePaths != nil {
		t.Errorf("without folders %v, want no clause", service.asked[0].ScopePaths)
	}
}

func TestTextDocumentContent(t *testing.T) {
	service := newSurfaceService()
	s := surfaced(t, service, `"textDocumentContent":{}`, "")
	const whole = `{"text":"# title\nhello\nthe 😀 tide overflow\nwell\nindeed\nbye\n"}`
	for id, name := range []string{documentName, documentName + "#3", "sessionls://session/local/claude/3b0f%23agent%2D1.md"} {
		if got := answer(t, s, id+1, request(id+1, "workspace/textDocumentContent", `{"uri":"`+name+`"}`)); string(got) != whole {
			t.Errorf("%s:\n got %s\nwant %s", name, got, whole)
		}
	}
	s.Send(request(10, "workspace/textDocumentContent", `{"uri":"sessionls://session/local/claude/other.md"}`))
	if m := s.Response("10"); m.Error == nil || m.Error.Code != -32803 || m.Error.Data.Code != contract.CodeSessionNotFound {
		t.Errorf("unknown session: %s", m.Raw)
	}
	s.Send(request(11, "workspace/textDocumentContent", `{"uri":"file:///etc/passwd"}`))
	if m := s.Response("11"); m.Error == nil || m.Error.Code != -32602 || m.Error.Data.Field != "uri" {
		t.Errorf("a file: %s", m.Raw)
	}

	// The session grows: the client is told once for each name it knows.
	service.mu.Lock()
	later := contract.InstantOf(time.Now())
	service.header.UpdatedAt, service.texts = &later, append(service.texts, "more")
	service.mu.Unlock()
	service.change(func(st *contract.Status) { st.Generation++ })
	m := s.Notification("workspace/textDocumentContent/refresh")
	var asked struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(m.Params, &asked); err != nil || !strings.HasPrefix(asked.URI, "sessionls://session/local/claude/3b0f%23agent") {
		t.Fatalf("refresh: %s", m.Raw)
	}
	s.Send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":null}`)
}
