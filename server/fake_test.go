package server

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/rpc/rpctest"
)

// fakeService is a Service whose answers a test sets.
type fakeService struct {
	search func(ctx context.Context, request contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error)
	events func(ctx context.Context, request contract.SearchEventsRequest) (contract.SearchEventsResponse, error)

	mu          sync.Mutex
	status      contract.Status
	statusErr   error
	policy      contract.Policy
	subscribers []chan struct{}
}

func newFakeService() *fakeService {
	return &fakeService{status: contract.IdleStatus(false)}
}

func (f *fakeService) SearchSessions(ctx context.Context, request contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
	if f.search != nil {
		return f.search(ctx, request)
	}
	return contract.UnavailableResponse(contract.ReasonDisabled), nil
}

func (f *fakeService) SearchStatus(context.Context, contract.SearchStatusRequest) (contract.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status, f.statusErr
}

func (f *fakeService) Clear(context.Context, contract.ClearRequest) (contract.ClearResponse, error) {
	return contract.ClearResponse{Cleared: true, Identity: "fresh"}, nil
}

func (f *fakeService) ForgetSession(_ context.Context, request contract.ForgetSessionRequest) (contract.ForgetSessionResponse, error) {
	return contract.ForgetSessionResponse{Forgotten: contract.List[contract.SessionName]{request.SessionName}}, nil
}

func (f *fakeService) GetPolicy(context.Context, contract.GetPolicyRequest) (contract.Policy, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.policy, nil
}

func (f *fakeService) SetPolicy(_ context.Context, request contract.SetPolicyRequest) (contract.Policy, error) {
	f.mu.Lock()
	f.policy = request.Apply(f.policy)
	policy := f.policy
	f.mu.Unlock()
	f.change(func(s *contract.Status) {
		s.Decided = policy.Enabled != nil
		s.Enabled = policy.Enabled != nil && *policy.Enabled
	})
	return policy, nil
}

func (f *fakeService) Subscribe(ctx context.Context) <-chan struct{} {
	ch := make(chan struct{}, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subscribers = append(f.subscribers, ch)
	return ch
}

// change changes the status and wakes the subscribers, as the index does.
func (f *fakeService) change(do func(*contract.Status)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(&f.status)
	for _, ch := range f.subscribers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// session is a running server and its client.
type session struct {
	*rpctest.Peer
	exit chan int
}

func start(t *testing.T, service Service) session {
	t.Helper()
	peer, in, out := rpctest.New(t)
	s := session{Peer: peer, exit: make(chan int, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.exit <- Run(ctx, Options{In: in, Out: out, Service: service, Version: "1.2.3", Log: zerolog.Nop()})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

// plainInitialize is the least a client can say.
const plainInitialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`

// started returns a session after initialize.
func started(t *testing.T, service Service) session {
	t.Helper()
	s := start(t, service)
	s.Send(plainInitialize)
	if m := s.Response("0"); m.Error != nil {
		t.Fatalf("initialize: %s", m.Raw)
	}
	return s
}

func (s session) exitCode(t *testing.T) int {
	t.Helper()
	select {
	case code := <-s.exit:
		return code
	case <-time.After(2 * time.Minute):
		t.Fatal("the server did not end")
		return -1
	}
}

// execute frames a command with its arguments, given as JSON.
func execute(id int, command string, arguments ...string) string {
	list := ""
	if len(arguments) > 0 {
		list = `,"arguments":[` + strings.Join(arguments, ",") + `]`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"workspace/executeCommand","params":{"command":%q%s}}`, id, command, list)
}
