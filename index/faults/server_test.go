//go:build unix

package faults_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// server is the language server in a process of its own, and its client. Unlike
// rpctest's peer the client expects the server to die under it.
type server struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *os.File
	said output
	done chan struct{} // closed when the process has ended

	ending atomic.Bool // it was told to end

	write   sync.Mutex
	mu      sync.Mutex
	next    int
	pending map[int]chan message
	ended   chan struct{} // closed when its output ended
	paused  chan struct{} // not nil: reading waits until it closes
}

type message struct {
	ID     *int
	Method string
	Result json.RawMessage
	Error  *rpcError
}

type rpcError struct {
	Code    int
	Message string
	Data    struct{ Code string }
}

func (e *rpcError) Error() string {
	return fmt.Sprintf("%d %s: %s", e.Code, e.Data.Code, e.Message)
}

var (
	errEnded = errors.New("the process has ended")
	errMute  = errors.New("no answer in two minutes")
)

// start starts a server over the world; it is initialized when start returns.
func (w *world) start() *server {
	w.Helper()
	s, err := w.launch()
	w.must(err)
	return s
}

// launch is start for goroutines that may not end the test.
func (w *world) launch() (*server, error) {
	cmd := w.command(w.own, "serve")
	s := &server{cmd: cmd, done: make(chan struct{}), pending: map[int]chan message{}, ended: make(chan struct{})}
	cmd.Stderr = &s.said
	var err error
	if s.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// Not StdoutPipe: Wait would close it before everything is read.
	out, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.out, cmd.Stdout = out, to
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	to.Close()
	go func() {
		_ = cmd.Wait() // how it ended is in ProcessState
		close(s.done)
	}()
	w.Cleanup(func() {
		s.signal(syscall.SIGKILL)
		<-s.done
		s.out.Close()
		if accused(s.said.String()) {
			w.Errorf("a server said: %s", s.said.String())
		}
	})
	go s.read()
	if err := s.call("initialize", map[string]any{"processId": nil, "rootUri": nil, "capabilities": object{}}, nil); err != nil {
		return nil, fmt.Errorf("initialize: %w; the server said: %s", err, s.said.String())
	}
	s.send(map[string]any{"jsonrpc": "2.0", "method": "initialized", "params": object{}})
	return s, nil
}

func (s *server) read() {
	defer close(s.ended)
	r := bufio.NewReader(s.out)
	for {
		s.mu.Lock()
		paused := s.paused
		s.mu.Unlock()
		if paused != nil {
			<-paused
		}
		header, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			return
		}
		n, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			return
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		var m message
		if json.Unmarshal(body, &m) != nil || m.ID == nil || m.Method != "" {
			continue // a notification
		}
		s.mu.Lock()
		if answer := s.pending[*m.ID]; answer != nil {
			answer <- m
			delete(s.pending, *m.ID)
		}
		s.mu.Unlock()
	}
}

// pause stops reading from the server until the returned function is called.
func (s *server) pause() (resume func()) {
	gate := make(chan struct{})
	s.mu.Lock()
	s.paused = gate
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		s.paused = nil
		s.mu.Unlock()
		close(gate)
	}
}

func (s *server) send(m any) {
	body, err := json.Marshal(m)
	if err != nil {
		panic(err) // made of strings and maps
	}
	s.write.Lock()
	defer s.write.Unlock()
	// A failure shows in the answer that does not come.
	_, _ = fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

func (s *server) call(method string, params, result any) error {
	answer := make(chan message, 1)
	s.mu.Lock()
	s.next++
	id := s.next
	s.pending[id] = answer
	s.mu.Unlock()
	s.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	var m message
	select {
	case m = <-answer:
	case <-s.ended:
		select {
		case m = <-answer:
		default:
			return errEnded
		}
	case <-time.After(2 * time.Minute):
		return errMute
	}
	if m.Error != nil {
		return m.Error
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(m.Result, result)
}

// command executes a command of the contract.
func (s *server) command(name string, argument, result any) error {
	return s.call("workspace/executeCommand", map[string]any{"command": "sessionls." + name, "arguments": []any{argument}}, result)
}

// answer is what came for a search.
type answer struct {
	Kind   contract.Kind
	Reason contract.Reason
	contract.SearchResults
}

// search asks for sessions; more are members of the request besides the query.
func (s *server) search(query string, more object) (answer, error) {
	request := object{"query": query}
	for k, v := range more {
		request[k] = v
	}
	var a answer
	err := s.command("searchSessions", request, &a)
	return a, err
}

// fresh waits until the index is current and returns where the word is, as
// "agent:id" and the presence. A server waits five seconds; where much else runs
// a build may take longer, so it is asked again.
func (w *world) fresh(s *server, word string) string {
	w.Helper()
	for end := time.Now().Add(2 * time.Minute); ; {
		a, err := s.search(`"`+word+`"`, object{"freshness": "wait-until-current"})
		switch {
		case err != nil:
			w.Fatalf("search %q: %v\n%s", word, err, s.said.String())
		case !a.Truncated.Freshness:
			return said(a)
		case time.Now().After(end):
			return "late"
		}
	}
}

// said is an answer in short.
func said(a answer) string {
	if a.Kind != contract.KindResults {
		return fmt.Sprint(a.Kind, " ", a.Reason)
	}
	out := ""
	for _, h := range a.Hits {
		if out != "" {
			out += " "
		}
		out += h.Agent + ":" + h.SessionID + " " + string(h.Source.Presence)
	}
	return out
}

func (s *server) status() (contract.Status, error) {
	var status contract.Status
	err := s.command("searchStatus", object{}, &status)
	return status, err
}

func (s *server) signal(sig syscall.Signal) { _ = s.cmd.Process.Signal(sig) }

// exit waits for the end of the process and returns its exit code, -1 for one
// that a signal ended.
func (s *server) exit(t *testing.T, within time.Duration) int {
	t.Helper()
	select {
	case <-s.done:
	case <-time.After(within):
		t.Errorf("the server does not end in %v", within)
		s.signal(syscall.SIGQUIT) // its goroutines
		time.Sleep(time.Second)
		t.Fatalf("%s", s.said.String())
	}
	return s.cmd.ProcessState.ExitCode()
}
