package contract_test

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

// TestRegistryNamesEveryMethod holds the table of commands against the
// interface and its comments, which are the specification.
func TestRegistryNamesEveryMethod(t *testing.T) {
	titles := methodTitles(t)
	interfaceType := reflect.TypeFor[contract.Commands]()
	commands := contract.Registry()
	if len(commands) != interfaceType.NumMethod() {
		t.Errorf("%d commands for %d methods", len(commands), interfaceType.NumMethod())
	}
	for _, c := range commands {
		method, ok := interfaceType.MethodByName(c.Method)
		if !ok {
			t.Errorf("%s: there is no method %s", c.Name, c.Method)
			continue
		}
		if want := strings.ToLower(c.Method[:1]) + c.Method[1:]; c.Name != want {
			t.Errorf("method %s has the name %s, want %s", c.Method, c.Name, want)
		}
		if c.Title != titles[c.Method] {
			t.Errorf("%s: title %q, its comment begins %q", c.Name, c.Title, titles[c.Method])
		}
		if request := method.Type.In(1).Name(); request != c.Method+"Request" {
			t.Errorf("%s takes %s", c.Name, request)
		}
		if _, takes := method.Type.In(1).FieldByName("ExecutionHost"); takes != c.TakesHost() {
			t.Errorf("%s: its request has executionHost: %v, the table says %v", c.Name, takes, c.TakesHost())
		}
	}
}

// methodTitles reads the first line of each method's comment.
func methodTitles(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "commands.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.TypeSpec)
		if !ok || spec.Name.Name != "Commands" {
			return true
		}
		for _, method := range spec.Type.(*ast.InterfaceType).Methods.List {
			title, body, _ := strings.Cut(method.Doc.Text(), "\n")
			if strings.TrimSpace(body) == "" {
				t.Errorf("%s has no specification below its title", method.Names[0].Name)
			}
			titles[method.Names[0].Name] = strings.TrimSuffix(title, ".")
		}
		return false
	})
	return titles
}

// service answers every command with its own name.
type service struct{ err error }

func (s service) SearchSessions(_ context.Context, r contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
	return contract.UnavailableResponse(contract.Reason("asked for " + r.Query)), s.err
}
func (s service) SearchStatus(context.Context, contract.SearchStatusRequest) (contract.Status, error) {
	return contract.IdleStatus(true), s.err
}
func (s service) Clear(context.Context, contract.ClearRequest) (contract.ClearResponse, error) {
	return contract.ClearResponse{Cleared: true}, s.err
}
func (s service) GetPolicy(context.Context, contract.GetPolicyRequest) (contract.Policy, error) {
	return contract.Policy{HistoryDays: ptr(1)}, s.err
}
func (s service) SetPolicy(_ context.Context, r contract.SetPolicyRequest) (contract.Policy, error) {
	return r.Apply(contract.Policy{}), s.err
}
func (s service) ForgetSession(_ context.Context, r contract.ForgetSessionRequest) (contract.ForgetSessionResponse, error) {
	return contract.ForgetSessionResponse{Forgotten: contract.List[contract.SessionName]{r.SessionName}, Generation: 7}, s.err
}

func TestInvoke(t *testing.T) {
	answers := map[string]struct{ raw, want string }{
		"sessionls.searchSessions":   {`{"query":"x"}`, `{"kind":"unavailable","reason":"asked for x"}`},
		"sessionls.searchStatus":     {`{}`, wire(t, contract.IdleStatus(true))},
		"sessionls.clear":            {`{}`, `{"cleared":true,"identity":""}`},
		"sessionls.getPolicy":        {`{}`, `{"enabled":null,"historyDays":1}`},
		"sessionls.setPolicy":        {`{"enabled":true}`, `{"enabled":true,"historyDays":null}`},
		"sessionls.searchEvents":     {`{"query":"x"}`, wire(t, contract.SearchEventsResponse{Total: contract.EventTotal{Events: 7}})},
		"sessionls.listSessions":     {`{}`, wire(t, contract.ListSessionsResponse{Sessions: contract.List[contract.Header]{contract.Header{Title: "exact"}}})},
		"sessionls.readSession":      {`{"sessionId":"s"}`, wire(t, contract.ReadSessionResponse{Session: contract.Header{Title: "exact"}})},
		"sessionls.listEvents":       {`{"sessionId":"s"}`, wire(t, contract.EventPage{Session: contract.Header{Title: "exact"}})},
		"sessionls.filterEvents":     {`{"sessionId":"s"}`, wire(t, contract.EventPage{Session: contract.Header{Title: "exact"}})},
		"sessionls.readEvent":        {`{"sessionId":"s","seq":0}`, wire(t, contract.ReadEventResponse{Session: contract.Header{Title: "exact"}})},
		"sessionls.readSurface":      {`{"sessionId":"s"}`, wire(t, contract.ReadSurfaceResponse{Session: contract.Header{Title: "exact"}})},
		"sessionls.readTitles":       {`{"sessions":[{"sessionId":"s"}]}`, wire(t, contract.ReadTitlesResponse{Titles: contract.List[contract.TitleResult]{{SessionName: contract.SessionName{SessionID: "s"}, Status: contract.TitleRejected, Code: contract.CodeSessionNotFound}}})},
		"sessionls.traceSession":     {`{"sessionId":"s"}`, wire(t, contract.TraceSessionResponse{Target: contract.Header{Title: "exact"}, Descendants: []contract.LineageNode{}, Complete: true})},
		"sessionls.traceEvent":       {`{"sessionId":"s","seq":0}`, wire(t, contract.TraceEventResponse{Session: contract.Header{Title: "exact"}})},
		"sessionls.renderTranscript": {`{"sessionId":"s"}`, wire(t, contract.RenderTranscriptResponse{Session: contract.Header{Title: "exact"}})},
		"sessionls.resumePlan":       {`{"sessionId":"s"}`, wire(t, contract.ResumePlanResponse{Agent: "pi", SessionID: "s", Argv: []string{"pi"}})},
		"sessionls.forgetSession":    {`{"sessionId":"s-1","agent":"pi"}`, `{"forgotten":[{"sessionId":"s-1","agent":"pi"}],"generation":7}`},
	}
	names := contract.CommandNames("")
	if len(names) != len(answers) {
		t.Errorf("names %v", names)
	}
	for _, name := range names {
		command, err := contract.LookupCommand("", name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := command.Invoke(t.Context(), service{}, contract.Parser{}, []byte(answers[name].raw))
		if err != nil || wire(t, got) != answers[name].want {
			t.Errorf("%s: got %s, %v", name, wire(t, got), err)
		}
		// The service's failure is passed on as it is, with no answer.
		failure := contract.Failed(contract.CodeIndexFailed, nil, "disk full")
		if got, err := command.Invoke(t.Context(), service{failure}, contract.Parser{}, []byte(answers[name].raw)); got != nil || !errors.Is(err, failure) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
		// A bad request never reaches the service.
		_, err = command.Invoke(t.Context(), nil, contract.Parser{}, []byte(`7`))
		wantFault(t, err, "arguments", contract.CodeInvalidConfig, "")
	}
}

func TestLookupCommand(t *testing.T) {
	if c, err := contract.LookupCommand("mine", "mine.clear"); err != nil || c.Name != "clear" {
		t.Errorf("got %+v, %v", c.Name, err)
	}
	for _, name := range []string{"", "clear", "sessionls.Clear", "sessionls.", "other.clear"} {
		_, err := contract.LookupCommand("", name)
		var fault *contract.Error
		if !errors.As(err, &fault) || fault.RPCCode != contract.RPCMethodNotFound || !slices.Equal(fault.Allowed, contract.CommandNames("")) {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

func TestErrorData(t *testing.T) {
	cause := errors.New("disk full")
	for _, tt := range []struct {
		err  *contract.Error
		rpc  int
		want string
	}{
		{contract.NotAllowed("filters.agents", "x", []string{"a", "b"}), -32602, `{"code":"SESSION_QUERY_INVALID_FILTER","field":"filters.agents","allowed":["a","b"]}`},
		{contract.InvalidParams("limit", "no"), -32602, `{"code":"SESSION_QUERY_INVALID_LIMIT","field":"limit"}`},
		{contract.Failed(contract.CodeIndexFailed, cause, "the index cannot be written"), -32803, `{"code":"SESSION_QUERY_INDEX_FAILED"}`},
		{&contract.Error{Code: contract.CodeSourceConflict, Candidates: []contract.SessionName{{SessionID: "s", Agent: "pi"}}}, 0,
			`{"code":"SESSION_QUERY_SOURCE_CONFLICT","candidates":[{"sessionId":"s","agent":"pi"}]}`},
		{contract.Aborted(context.Canceled), -32800, `{"code":"SESSION_QUERY_ABORTED"}`},
	} {
		raw, err := json.Marshal(tt.err.Data())
		if err != nil || string(raw) != tt.want || tt.err.RPCCode != tt.rpc {
			t.Errorf("%d %s, %v; want %d %s", tt.err.RPCCode, raw, err, tt.rpc, tt.want)
		}
	}
	if !errors.Is(contract.Failed(contract.CodeIndexFailed, cause, "x"), cause) || !errors.Is(contract.Aborted(context.Canceled), context.Canceled) {
		t.Error("the cause is lost")
	}
}

func TestCodeForField(t *testing.T) {
	for field, want := range map[string]string{
		"query": "SESSION_QUERY_INVALID_QUERY", "limit": "SESSION_QUERY_INVALID_LIMIT",
		"filters": "SESSION_QUERY_INVALID_FILTER", "filters.events.seq.from": "SESSION_QUERY_INVALID_FILTER", "text": "SESSION_QUERY_INVALID_FILTER",
		"cursor": "SESSION_QUERY_INVALID_CURSOR",
		"before": "SESSION_QUERY_INVALID_WINDOW", "after": "SESSION_QUERY_INVALID_WINDOW", "fromSeq": "SESSION_QUERY_INVALID_WINDOW",
		"scope": "SESSION_QUERY_INVALID_CONFIG", "executionHost": "SESSION_QUERY_INVALID_CONFIG", "arguments": "SESSION_QUERY_INVALID_CONFIG", "": "SESSION_QUERY_INVALID_CONFIG",
	} {
		if got := contract.CodeForField(field); got != want {
			t.Errorf("%q: got %s, want %s", field, got, want)
		}
	}
}

func TestHosts(t *testing.T) {
	for s, want := range map[string]struct {
		local           bool
		target, runtime string
	}{
		"local":          {local: true},
		"ssh:ann@box":    {target: "ann@box"},
		"runtime:wsl/U1": {runtime: "wsl/U1"},
	} {
		host, ok := contract.ParseHost(s)
		target, _ := host.SSHTarget()
		id, _ := host.RuntimeID()
		if !ok || host.IsLocal() != want.local || (want.target != "" && target != want.target) || (want.runtime != "" && id != want.runtime) {
			t.Errorf("%s: got %q, %v", s, host, ok)
		}
	}
	for _, s := range []string{"", "all", "LOCAL", "ssh", "ssh:", "ssh:-x", "ssh:a b", "ssh:é", "runtime:", "runtime:a\tb", "runtime:a\x00"} {
		if host, ok := contract.ParseHost(s); ok || host != "" {
			t.Errorf("%q was taken for %q", s, host)
		}
	}
	if !contract.Host("").IsLocal() {
		t.Error("no host is this machine")
	}
}
