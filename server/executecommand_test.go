package server

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/rpc/rpctest"
)

func TestExecuteCommand(t *testing.T) {
	service := newFakeService()
	service.search = func(_ context.Context, q contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
		if q.Query == "broken" {
			return contract.SearchSessionsResponse{}, fmt.Errorf("reading page 7: disk full")
		}
		return contract.MalformedResponse(), nil
	}
	s := started(t, service)
	const id = `{"jsonrpc":"2.0","id":1,`
	for _, tc := range []struct{ name, send, want string }{
		{"answer", execute(1, "sessionls.searchSessions", `{"query":"x"}`), `"result":{"kind":"malformed-cursor"}}`},
		{"no argument", execute(1, "sessionls.getPolicy"), `"result":{"enabled":null,"historyDays":null}}`},
		{"empty list", id + `"method":"workspace/executeCommand","params":{"command":"sessionls.getPolicy","arguments":[]}}`, `"result":{"enabled":null,"historyDays":null}}`},
		{"null argument", execute(1, "sessionls.getPolicy", `null`), `"result":{"enabled":null,"historyDays":null}}`},
		{"one argument", execute(1, "sessionls.setPolicy", `{"historyDays":30}`), `"result":{"enabled":null,"historyDays":30}}`},
		{"clear", execute(1, "sessionls.clear"), `"result":{"cleared":true,"identity":"fresh"}}`},
		{"work-done token", id + `"method":"workspace/executeCommand","params":{"workDoneToken":7,"command":"sessionls.clear"}}`, `"result":{"cleared":true,"identity":"fresh"}}`},
		{"two arguments", execute(1, "sessionls.getPolicy", `{}`, `{}`),
			`"error":{"code":-32602,"message":"arguments: want exactly one object, got 2 values","data":{"code":"SESSION_QUERY_INVALID_CONFIG","field":"arguments"}}}`},
		{"argument is a string", execute(1, "sessionls.getPolicy", `"x"`),
			`"error":{"code":-32602,"message":"arguments: want one object, got a string","data":{"code":"SESSION_QUERY_INVALID_CONFIG","field":"arguments"}}}`},
		{"arguments is an object", id + `"method":"workspace/executeCommand","params":{"command":"sessionls.clear","arguments":{}}}`,
			`"error":{"code":-32602,"message":"arguments: want a list of one object","data":{"code":"SESSION_QUERY_INVALID_CONFIG","field":"arguments"}}}`},
		{"bad field", execute(1, "sessionls.setPolicy", `{"enabled":1}`),
			`"error":{"code":-32602,"message":"enabled: want true or false, got a number","data":{"code":"SESSION_QUERY_INVALID_CONFIG","field":"enabled"}}}`},
		{"no command", id + `"method":"workspace/executeCommand","params":{}}`,
			`"error":{"code":-32602,"message":"command: a string is required","data":{"code":"SESSION_QUERY_INVALID_CONFIG","field":"command"}}}`},
		{"command is null", id + `"method":"workspace/executeCommand","params":{"command":null}}`,
			`"error":{"code":-32602,"message":"command: a string is required","data":{"code":"SESSION_QUERY_INVALID_CONFIG","field":"command"}}}`},
		{"uncoded failure", execute(1, "sessionls.searchSessions", `{"query":"broken"}`),
			`"error":{"code":-32803,"message":"sessionls.searchSessions failed: reading page 7: disk full","data":{"code":"SESSION_QUERY_INDEX_FAILED"}}}`},
		{"unknown command", execute(1, "other.clear"),
			`"error":{"code":-32601,"message":"unknown command \"other.clear\"; known are sessionls.searchSessions, sessionls.searchStatus, sessionls.clear, sessionls.getPolicy, sessionls.setPolicy, sessionls.searchEvents, sessionls.listSessions, sessionls.readSession, sessionls.listEvents, sessionls.filterEvents, sessionls.readEvent, sessionls.readSurface, sessionls.readTitles, sessionls.traceSession, sessionls.traceEvent, sessionls.renderTranscript, sessionls.resumePlan, sessionls.forgetSession","data":{"code":"SESSION_QUERY_INVALID_CONFIG","field":"command","allowed":["sessionls.searchSessions","sessionls.searchStatus","sessionls.clear","sessionls.getPolicy","sessionls.setPolicy","sessionls.searchEvents","sessionls.listSessions","sessionls.readSession","sessionls.listEvents","sessionls.filterEvents","sessionls.readEvent","sessionls.readSurface","sessionls.readTitles","sessionls.traceSession","sessionls.traceEvent","sessionls.renderTranscript","sessionls.resumePlan","sessionls.forgetSession"]}}}`},
	} {
		s.Send(tc.send)
		if got := s.Response("1").Raw; got != id+tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, id+tc.want)
		}
	}
}

// blocking makes searches wait until they are cancelled or released.
func blocking(service *fakeService) (entered chan string, release chan struct{}, cancelled *atomic.Int32) {
	entered, release, cancelled = make(chan string, 1000), make(chan struct{}), new(atomic.Int32)
	service.search = func(ctx context.Context, q contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
		entered <- q.Query
		select {
		case <-ctx.Done():
			cancelled.Add(1)
			return contract.SearchSessionsResponse{}, ctx.Err()
		case <-release:
			return contract.MalformedResponse(), nil
		}
	}
	return entered, release, cancelled
}

func TestSlowSearchesDelayNothingElse(t *testing.T) {
	service := newFakeService()
	entered, release, _ := blocking(service)
	s := started(t, service)
	const searches = 3 * maxHeavy
	for i := range searches {
		s.Send(execute(100+i, "sessionls.searchSessions", `{"query":"slow"}`))
	}
	for range maxHeavy {
		<-entered
	}
	for i, name := range []string{"searchStatus", "getPolicy", "clear", "setPolicy"} {
		s.Send(execute(i+1, "sessionls."+name))
		if m := s.Response(fmt.Sprint(i + 1)); m.Error != nil {
			t.Errorf("%s: %s", name, m.Raw)
		}
	}
	if n := len(entered); n != 0 {
		t.Errorf("%d searches run beyond the limit of %d", n, maxHeavy)
	}
	close(release)
	for i := range searches {
		if m := s.Response(fmt.Sprint(100 + i)); m.Error != nil {
			t.Errorf("%s", m.Raw)
		}
	}
}

func TestCancelReachesTheService(t *testing.T) {
	service := newFakeService()
	entered, release, cancelled := blocking(service)
	s := started(t, service)
	const aborted = `"error":{"code":-32800,"message":"the request was cancelled","data":{"code":"SESSION_QUERY_ABORTED"}}}`
	cancel := func(id int) {
		s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, id))
	}

	s.Send(execute(1, "sessionls.searchSessions", `{"query":"running"}`))
	<-entered
	cancel(1)
	if m := s.Response("1"); !strings.HasSuffix(m.Raw, aborted) {
		t.Errorf("running: %s", m.Raw)
	}
	if cancelled.Load() != 1 {
		t.Error("the service did not see it")
	}

	// One that waits for its turn never reaches the service.
	for i := range maxHeavy {
		s.Send(execute(100+i, "sessionls.searchSessions", `{"query":"running"}`))
	}
	for range maxHeavy {
		<-entered
	}
	s.Send(execute(2, "sessionls.searchSessions", `{"query":"queued"}`))
	cancel(2)
	if m := s.Response("2"); !strings.HasSuffix(m.Raw, aborted) {
		t.Errorf("queued: %s", m.Raw)
	}
	close(release)
	for i := range maxHeavy {
		s.Response(fmt.Sprint(100 + i))
	}
	if len(entered) != 0 {
		t.Error("the cancelled search ran")
	}
}

func TestExitCancelsSearches(t *testing.T) {
	service := newFakeService()
	entered, _, cancelled := blocking(service)
	s := started(t, service)
	s.Send(execute(1, "sessionls.searchSessions", `{"query":"x"}`))
	<-entered
	s.Send(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`)
	s.Response("2")
	s.Send(`{"jsonrpc":"2.0","method":"exit"}`)
	if code := s.exitCode(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if cancelled.Load() != 1 {
		t.Error("the search was not cancelled")
	}
}

func TestAnswersComeWhole(t *testing.T) {
	service := newFakeService()
	service.search = func(_ context.Context, q contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
		return contract.ResultsResponse(contract.SearchResults{
			Hits: contract.List[contract.Hit]{{Title: strings.Repeat(q.Query, 100_000)}},
		}), nil
	}
	s := started(t, service)
	const n = 20
	for i := range n {
		s.Send(execute(i+1, "sessionls.searchSessions", fmt.Sprintf(`{"query":"<%02d> ü &"}`, i)))
	}
	for range n {
		m := s.Await("an answer", func(m rpctest.Message) bool { return m.Method == "" })
		var id int
		if _, err := fmt.Sscan(string(m.ID), &id); err != nil {
			t.Fatal(err)
		}
		if want := strings.Repeat(fmt.Sprintf("<%02d> ü &", id-1), 100_000); !strings.Contains(string(m.Result), want) {
			t.Errorf("answer %d is not the one to its query", id)
		}
	}
}

// TestTransportOfAnotherMachine: an asker that says it is another machine is
// served as one, in requests and in what is sent unasked.
func TestTransportOfAnotherMachine(t *testing.T) {
	for options, want := range map[string]contract.Transport{
		`{"transport":"remote"}`: contract.TransportRemote,
		`{"transport":"local"}`:  contract.TransportLocal,
		`{"transport":7}`:        contract.TransportLocal,
		`null`:                   contract.TransportLocal,
	} {
		service := newFakeService()
		saw := make(chan contract.Transport, 1)
		service.search = func(ctx context.Context, _ contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
			saw <- contract.TransportOf(ctx)
			return contract.UnavailableResponse(contract.ReasonDisabled), nil
		}
		s := start(t, service)
		s.Send(strings.Replace(plainInitialize, `"capabilities":{}`, `"capabilities":{},"initializationOptions":`+options, 1))
		s.Response("0")
		s.Send(execute(1, "sessionls.searchSessions", `{"query":"x"}`))
		if got := <-saw; got != want {
			t.Errorf("%s: served as %s", options, got)
		}
	}
}

// TestOtherHostsDoNotHoldUpThisOne: requests that wait for the network take no
// turns of those that this machine answers.
func TestOtherHostsDoNotHoldUpThisOne(t *testing.T) {
	service := newFakeService()
	service.search = func(ctx context.Context, q contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
		if !q.ExecutionHost.IsLocal() {
			<-ctx.Done()
			return contract.SearchSessionsResponse{}, ctx.Err()
		}
		return contract.UnavailableResponse(contract.ReasonDisabled), nil
	}
	s := started(t, service)
	for i := range 2 * maxHeavy {
		s.Send(execute(100+i, "sessionls.searchSessions", `{"query":"x","executionHost":"ssh:box"}`))
	}
	s.Send(execute(1, "sessionls.searchSessions", `{"query":"x"}`))
	if m := s.Response("1"); m.Error != nil {
		t.Errorf("%s", m.Raw)
	}
}
