package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/rpc"
	"github.com/sessionls/sessionls/server/rpc/rpctest"
)

// handler is a Handler of functions; nil ones do nothing.
type handler struct {
	call   func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	notify func(ctx context.Context, method string, params json.RawMessage) error
}

func (h handler) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method == "initialize" || method == "shutdown" || h.call == nil {
		return nil, nil
	}
	return h.call(ctx, method, params)
}

func (h handler) Notify(ctx context.Context, method string, params json.RawMessage) error {
	if h.notify == nil {
		return nil
	}
	return h.notify(ctx, method, params)
}

// serving is a connection that runs.
type serving struct {
	*rpctest.Peer
	conn *rpc.Conn
	exit chan int
}

func (s serving) exitCode(t *testing.T) int {
	t.Helper()
	select {
	case code := <-s.exit:
		return code
	case <-time.After(2 * time.Minute):
		t.Fatal("the connection did not end")
		return -1
	}
}

func serve(t *testing.T, opts rpc.Options, h rpc.Handler) serving {
	t.Helper()
	peer, in, out := rpctest.New(t)
	opts.In, opts.Out = in, out
	opts.Log = zerolog.Nop()
	conn := rpc.New(opts)
	ctx, cancel := context.WithCancel(context.Background())
	s := serving{Peer: peer, conn: conn, exit: make(chan int, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.exit <- conn.Run(ctx, h)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

func initialized(t *testing.T, opts rpc.Options, h rpc.Handler) serving {
	t.Helper()
	s := serve(t, opts, h)
	s.Send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
	if m := s.Response("0"); m.Error != nil {
		t.Fatalf("initialize: %s", m.Raw)
	}
	return s
}

func request(id int, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"n":%d}}`, id, method, id)
}

func cancelRequest(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, id)
}

func TestLifeCycle(t *testing.T) {
	s := serve(t, rpc.Options{}, handler{})
	for _, step := range []struct {
		method string
		code   int // 0 = answered
	}{
		{"x", -32002},
		{"shutdown", -32002},
		{"initialize", 0},
		{"x", 0},
		{"initialize", -32600},
		{"shutdown", 0},
		{"x", -32600},
		{"shutdown", -32600},
		{"initialize", -32600},
	} {
		s.Send(request(1, step.method))
		m := s.Response("1")
		switch {
		case step.code == 0 && (m.Error != nil || string(m.Result) != "null"):
			t.Errorf("%s: %s", step.method, m.Raw)
		case step.code != 0 && (m.Error == nil || m.Error.Code != step.code):
			t.Errorf("%s: %s, want code %d", step.method, m.Raw, step.code)
		}
	}
	s.Send(`{"jsonrpc":"2.0","method":"exit"}`)
	if code := s.exitCode(t); code != 0 {
		t.Errorf("exit code %d after shutdown", code)
	}
}

func TestFailedInitializeMayBeRepeated(t *testing.T) {
	var tries atomic.Int32
	s := serve(t, rpc.Options{}, callFunc(func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		if tries.Add(1) == 1 {
			return nil, errors.New("not now")
		}
		return nil, nil
	}))
	s.Send(request(1, "initialize"))
	if m := s.Response("1"); m.Error == nil || m.Error.Code != -32603 {
		t.Fatalf("first: %s", m.Raw)
	}
	s.Send(request(2, "x"))
	if m := s.Response("2"); m.Error == nil || m.Error.Code != -32002 {
		t.Fatalf("between: %s", m.Raw)
	}
	s.Send(request(3, "initialize"))
	if m := s.Response("3"); m.Error != nil {
		t.Fatalf("second: %s", m.Raw)
	}
}

// callFunc is a Handler that gets every call, initialize and shutdown included.
type callFunc func(context.Context, string, json.RawMessage) (json.RawMessage, error)

func (f callFunc) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return f(ctx, method, params)
}
func (callFunc) Notify(context.Context, string, json.RawMessage) error { return nil }

// TestRequestBeforeShutdown sends shutdown right behind requests: what came before it
// is served, however late its goroutine starts.
func TestRequestBeforeShutdown(t *testing.T) {
	for range 20 {
		s := initialized(t, rpc.Options{}, handler{})
		for i := range 50 {
			s.Send(request(i+1, "x"))
		}
		s.Send(request(100, "shutdown"))
		for i := range 50 {
			if m := s.Response(fmt.Sprint(i + 1)); m.Error != nil {
				t.Fatalf("%s", m.Raw)
			}
		}
		s.Response("100")
	}
}

func TestExitCodes(t *testing.T) {
	shutdown := func(s serving) {
		s.Send(request(9, "shutdown"))
		s.Response("9")
	}
	for _, tc := range []struct {
		name string
		do   func(serving)
		want int
	}{
		{"exit without shutdown", func(s serving) { s.Send(`{"jsonrpc":"2.0","method":"exit"}`) }, 1},
		{"shutdown, exit", func(s serving) { shutdown(s); s.Send(`{"jsonrpc":"2.0","method":"exit","params":null}`) }, 0},
		{"end of input", func(s serving) { s.Close() }, 1},
		{"shutdown, end of input", func(s serving) { shutdown(s); s.Close() }, 0},
		{"end of input in a header", func(s serving) { s.SendRaw("Content-Len"); s.Close() }, 1},
		{"end of input in a body", func(s serving) { s.SendRaw("Content-Length: 10\r\n\r\n{"); s.Close() }, 1},
		{"garbage", func(s serving) { s.SendRaw("GET / HTTP/1.1\r\n") }, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := initialized(t, rpc.Options{}, handler{})
			tc.do(s)
			if got := s.exitCode(t); got != tc.want {
				t.Errorf("exit code %d, want %d", got, tc.want)
			}
		})
	}
}

func TestErrorsOnTheWire(t *testing.T) {
	type conflict struct {
		SessionID string `json:"sessionId"`
	}
	errs := map[string]error{
		"field": fmt.Errorf("searching: %w", contract.NotAllowed("filters.agents", "clade", []string{"claude", "codex"})),
		"conflict": &contract.Error{RPCCode: contract.RPCRequestFailed, Code: contract.CodeSourceConflict,
			Message: "abc names two sessions", Candidates: []conflict{{"abc1"}, {"abc2"}}},
		"unsendable": &contract.Error{RPCCode: contract.RPCRequestFailed, Code: contract.CodeIndexFailed, Message: "m", Candidates: func() {}},
		"plain":      errors.New("disk on fire"),
		"internal":   contract.Internal(errors.New("secret")),
		"unknown":    fmt.Errorf("%w: unknown", rpc.ErrMethodNotFound),
		"timeout":    context.DeadlineExceeded,
		"inner":      fmt.Errorf("a query inside gave up: %w", context.Canceled),
	}
	s := initialized(t, rpc.Options{}, handler{call: func(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
		if method == "panic" {
			var m map[string]int
			//lint:ignore SA5000 the panic is what is tested
			m["x"] = 1
		}
		return nil, errs[method]
	}})
	for _, tc := range []struct {
		method string
		code   int
		rest   string // of the error object, after the code
	}{
		{"field", -32602, `"message":"filters.agents: \"clade\" is not known; allowed: claude, codex","data":{"code":"SESSION_QUERY_INVALID_FILTER","field":"filters.agents","allowed":["claude","codex"]}}`},
		{"conflict", -32803, `"message":"abc names two sessions","data":{"code":"SESSION_QUERY_SOURCE_CONFLICT","candidates":[{"sessionId":"abc1"},{"sessionId":"abc2"}]}}`},
		{"unsendable", -32803, `"message":"m","data":{"code":"SESSION_QUERY_INDEX_FAILED"}}`},
		{"plain", -32603, `"message":"internal error: disk on fire"}`},
		{"internal", -32603, `"message":"internal error"}`},
		{"unknown", -32601, `"message":"method not found: unknown"}`},
		{"timeout", -32603, `"message":"internal error: context deadline exceeded"}`},
		{"inner", -32603, `"message":"internal error: a query inside gave up: context canceled"}`},
		{"panic", -32603, `"message":"internal error in panic: assignment to entry in nil map"}`},
	} {
		s.Send(request(1, tc.method))
		want := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,%s}`, tc.code, tc.rest)
		if got := s.Response("1").Raw; got != want {
			t.Errorf("%s:\n got %s\nwant %s", tc.method, got, want)
		}
	}
}

func TestPanicInNotificationIsSurvived(t *testing.T) {
	s := initialized(t, rpc.Options{}, handler{notify: func(context.Context, string, json.RawMessage) error { panic("boom") }})
	s.Send(`{"jsonrpc":"2.0","method":"n"}`)
	s.Send(request(1, "x"))
	s.Response("1")
}

func TestNotificationsKeepTheirOrder(t *testing.T) {
	const n = 5000
	var mu sync.Mutex
	var got []int
	h := handler{
		notify: func(_ context.Context, _ string, params json.RawMessage) error {
			var p struct{ N int }
			err := json.Unmarshal(params, &p)
			mu.Lock()
			got = append(got, p.N)
			mu.Unlock()
			return err
		},
		// A request starts after every notification sent before it.
		call: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			mu.Lock()
			defer mu.Unlock()
			return json.Marshal(len(got))
		},
	}
	s := initialized(t, rpc.Options{}, h)
	for i := range n {
		s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":{"N":%d}}`, i))
	}
	s.Send(request(1, "count"))
	if m := s.Response("1"); string(m.Result) != fmt.Sprint(n) {
		t.Errorf("the request after %d notifications saw %s of them", n, m.Result)
	}
	for i, v := range got {
		if i != v {
			t.Fatalf("notification %d came as number %d", v, i)
		}
	}
}

func TestCancel(t *testing.T) {
	started := make(chan string, 10)
	ended := make(chan error, 10)
	s := initialized(t, rpc.Options{}, handler{call: func(ctx context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
		started <- method
		<-ctx.Done()
		ended <- ctx.Err()
		if method == "driver" {
			return nil, errors.New("interrupted") // what a database says
		}
		if method == "finishes" {
			return json.RawMessage(`"done anyway"`), nil
		}
		return nil, ctx.Err()
	}})
	for i, method := range []string{"plain", "driver", "finishes"} {
		id := i + 1
		s.Send(request(id, method))
		<-started
		s.Send(cancelRequest(id))
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: the handler saw %v", method, err)
		}
		want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32800,"message":"the request was cancelled","data":{"code":"SESSION_QUERY_ABORTED"}}}`, id)
		if method == "finishes" {
			want = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"done anyway"}`, id)
		}
		if got := s.Response(fmt.Sprint(id)).Raw; got != want {
			t.Errorf("%s:\n got %s\nwant %s", method, got, want)
		}
	}
	// Ids as strings and beyond 32 bits; a cancel for an id that is over.
	for _, id := range []string{`"abc"`, `"1"`, `9007199254740993`, `-5`} {
		s.Send(`{"jsonrpc":"2.0","id":` + id + `,"method":"plain"}`)
		<-started
		s.Send(cancelRequest(1))
		s.Send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + `}}`)
		if m := s.Response(id); m.Error == nil || m.Error.Code != -32800 {
			t.Errorf("id %s: %s", id, m.Raw)
		}
	}
}

func TestQueuedWorkIsCancelled(t *testing.T) {
	limit := rpc.NewLimiter(1)
	started := make(chan int, 10)
	release := make(chan struct{})
	s := initialized(t, rpc.Options{}, handler{call: func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		if method == "light" {
			return json.RawMessage(`1`), nil
		}
		done, err := limit.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		var p struct{ N int }
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		started <- p.N
		<-release
		return nil, nil
	}})
	s.Send(request(1, "heavy"))
	<-started
	s.Send(request(2, "heavy"))
	s.Send(request(3, "light"))
	s.Response("3") // overtakes both
	s.Send(cancelRequest(2))
	if m := s.Response("2"); m.Error == nil || m.Error.Code != -32800 {
		t.Errorf("queued: %s", m.Raw)
	}
	close(release)
	s.Response("1")
	if len(started) != 0 {
		t.Error("the cancelled request started")
	}
}

func TestCallsToTheClient(t *testing.T) {
	var s serving
	s = initialized(t, rpc.Options{}, handler{call: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		return s.conn.Call(ctx, "window/showDocument", json.RawMessage(`{"uri":"a:b"}`))
	}})
	for i, tc := range []struct{ answer, want string }{
		{`"result":{"success":true}`, `"result":{"success":true}}`},
		{`"error":{"code":-32601,"message":"no such method"}`, `"error":{"code":-32601,"message":"no such method"}}`},
	} {
		s.Send(request(i+10, "x"))
		asked := s.Notification("window/showDocument")
		if string(asked.Params) != `{"uri":"a:b"}` {
			t.Fatalf("asked %s", asked.Raw)
		}
		s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, asked.ID, tc.answer))
		if m := s.Response(fmt.Sprint(i + 10)); !strings.HasSuffix(m.Raw, tc.want) {
			t.Errorf("got %s, want …%s", m.Raw, tc.want)
		}
	}
}

func TestEndOfInputLetsRunningRequestsFinish(t *testing.T) {
	release := make(chan struct{})
	s := initialized(t, rpc.Options{Grace: time.Minute}, handler{call: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		select {
		case <-release:
			return json.RawMessage(`"late"`), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}})
	s.Send(request(1, "x"))
	s.Send(request(2, "x"))
	s.Close()
	time.Sleep(50 * time.Millisecond) // time enough to cancel them by mistake
	close(release)
	for _, id := range []string{"1", "2"} {
		if m := s.Response(id); string(m.Result) != `"late"` {
			t.Errorf("%s: %s", id, m.Raw)
		}
	}
	if code := s.exitCode(t); code != 1 {
		t.Errorf("exit code %d", code)
	}
}

func TestEndCancelsWhatRuns(t *testing.T) {
	for name, end := range map[string]func(serving){
		"end of input": func(s serving) { s.Close() },
		"exit":         func(s serving) { s.Send(`{"jsonrpc":"2.0","method":"exit"}`) },
		"bad message":  func(s serving) { s.Send(`{`) },
	} {
		t.Run(name, func(t *testing.T) {
			started := make(chan struct{}, 1)
			s := initialized(t, rpc.Options{Grace: 50 * time.Millisecond}, handler{call: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
				started <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			}})
			s.Send(request(1, "x"))
			<-started
			end(s)
			if m := s.Response("1"); m.Error == nil || m.Error.Code != -32800 {
				t.Errorf("running request: %s", m.Raw)
			}
			s.exitCode(t)
		})
	}
}

func TestStuckHandlerDoesNotKeepTheProcess(t *testing.T) {
	block := make(chan struct{})
	defer close(block)
	started := make(chan struct{}, 1)
	s := initialized(t, rpc.Options{Grace: 10 * time.Millisecond}, handler{call: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		started <- struct{}{}
		<-block
		return nil, nil
	}})
	s.Send(request(1, "x"))
	<-started
	s.Send(`{"jsonrpc":"2.0","method":"exit"}`)
	s.exitCode(t)
}

// TestClientThatDoesNotRead fills the pipe: work stops, memory stays, and
// the connection still ends when the client goes.
func TestClientThatDoesNotRead(t *testing.T) {
	var served atomic.Int64
	big := json.RawMessage(`"` + strings.Repeat("x", 256<<10) + `"`)
	s := initialized(t, rpc.Options{Grace: 10 * time.Millisecond}, handler{call: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		served.Add(1)
		return big, nil
	}})
	resume := s.Pause()
	const n = 200
	for i := range n {
		s.Send(request(i+1, "x"))
	}
	// Every request has been read (the pipe has no buffer), few have run. How many
	// is settled when the count has stopped; more than the backlog allows plus
	// those that ran at the same moment would be a leak.
	for last := int64(-1); last != served.Load(); time.Sleep(100 * time.Millisecond) {
		last = served.Load()
	}
	if got := served.Load(); got == n {
		t.Errorf("all %d answers of 256 KB were made though nobody reads", got)
	}
	resume()
	for i := range n {
		s.Response(fmt.Sprint(i + 1))
	}
}

func TestClientThatClosedItsEnd(t *testing.T) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	conn := rpc.New(rpc.Options{In: in, Out: out, Log: zerolog.Nop(), Grace: time.Minute})
	exit := make(chan int, 1)
	cancelled := make(chan struct{})
	started := make(chan struct{}, 1)
	go func() {
		exit <- conn.Run(context.Background(), handler{call: func(ctx context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
			if method == "slow" {
				started <- struct{}{}
				<-ctx.Done()
				close(cancelled)
			}
			return nil, nil
		}})
	}()
	peer := rpctest.Over(t, toServer, fromServer)
	peer.Send(request(1, "initialize"))
	peer.Response("1")
	peer.Send(request(2, "slow"))
	<-started
	fromServer.Close()
	peer.Send(request(3, "x")) // its answer cannot be written
	<-cancelled
	if code := <-exit; code != 1 {
		t.Errorf("exit code %d", code)
	}
	toServer.Close()
}

func TestFloodIsHeldBackNotRefused(t *testing.T) {
	const n = 3000 // beyond the bound of open requests
	release := make(chan struct{})
	s := initialized(t, rpc.Options{}, handler{call: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		<-release
		return nil, nil
	}})
	var sent atomic.Int64
	go func() {
		for i := range n {
			s.Send(request(i+1, "x"))
			sent.Add(1)
		}
	}()
	for last := int64(-1); last != sent.Load(); time.Sleep(100 * time.Millisecond) {
		last = sent.Load()
	}
	if got := sent.Load(); got == n {
		t.Error("every request was taken at once")
	}
	close(release)
	for i := range n {
		if m := s.Response(fmt.Sprint(i + 1)); m.Error != nil {
			t.Fatalf("%s", m.Raw)
		}
	}
}

// TestLoad sends requests, cancels, notifications and bad ids at full speed
// from several sides while the server notifies. Run with -race and with the tag
// jsonrpc2poison; a context derived from a pooled one crashes here in well under
// a second.
func TestLoad(t *testing.T) {
	n := 8000
	if testing.Short() {
		n = 2000
	}
	s := initialized(t, rpc.Options{}, handler{
		call: func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			inner, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			if method == "slow" {
				<-inner.Done()
				return nil, inner.Err()
			}
			return params, nil
		},
		notify: func(ctx context.Context, _ string, _ json.RawMessage) error {
			inner, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			return errors.Join(inner.Err(), errors.New("refused"))
		},
	})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 100 {
				if err := s.conn.Notify(context.Background(), "sessionls/x", json.RawMessage(fmt.Sprint(i))); err != nil {
					t.Errorf("notify: %v", err)
				}
			}
		})
	}
	go func() {
		for i := range n {
			switch i % 4 {
			case 0:
				s.Send(request(i+1, "slow"))
				s.Send(cancelRequest(i + 1))
			case 1:
				s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":{"n":%d}}`, i))
			default:
				s.Send(request(i+1, "fast"))
			}
		}
	}()
	for i := range n {
		if i%4 == 1 {
			continue
		}
		m := s.Await("answers", func(m rpctest.Message) bool { return m.Method == "" })
		switch {
		case m.Error != nil && m.Error.Code != -32800:
			t.Fatalf("%s", m.Raw)
		case m.Error == nil && string(m.Result) != fmt.Sprintf(`{"n":%s}`, m.ID):
			t.Fatalf("%s: parameters of another request", m.Raw)
		}
	}
	wg.Wait()
	for range 400 {
		s.Notification("sessionls/x")
	}
}
