// Package rpctest is the other end of a connection for tests: a client that
// speaks bytes, so that tests can say what no library would send.
package rpctest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what must come; only a failing test
// waits that long.
const patience = 2 * time.Minute

// Message is a message from the server.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
	Raw    string          `json:"-"`
}

// Error is an error answer.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    *struct {
		Code       string          `json:"code"`
		Field      string          `json:"field"`
		Allowed    []string        `json:"allowed"`
		Candidates json.RawMessage `json:"candidates"`
	} `json:"data"`
}

// Peer is a client in bytes.
type Peer struct {
	t testing.TB
	w io.WriteCloser

	mu     sync.Mutex
	unread []Message
	news   chan struct{} // closed and replaced on each message
	ended  chan struct{} // closed when the server's output ended
	gate   chan struct{} // nil, or reading waits until it closes
}

// New returns a peer and the server's ends of its pipes. The pipes have no
// buffer: what a side does not read, the other cannot write.
func New(t testing.TB) (p *Peer, serverIn io.Reader, serverOut io.Writer) {
	sr, cw := io.Pipe()
	cr, sw := io.Pipe()
	t.Cleanup(func() { cw.Close(); cr.Close(); sw.Close() })
	return Over(t, cw, cr), sr, sw
}

// Over returns a peer that writes to w and reads from r.
func Over(t testing.TB, w io.WriteCloser, r io.Reader) *Peer {
	p := &Peer{t: t, w: w, news: make(chan struct{}), ended: make(chan struct{})}
	go p.read(bufio.NewReader(r))
	return p
}

func (p *Peer) read(r *bufio.Reader) {
	defer close(p.ended)
	for {
		p.mu.Lock()
		gate := p.gate
		p.mu.Unlock()
		if gate != nil {
			<-gate
		}
		header, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			return
		}
		n, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			p.t.Errorf("the server sent a header without a length: %v", header)
			return
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		m := Message{Raw: string(body)}
		if body[0] == '{' {
			if err := json.Unmarshal(body, &m); err != nil {
				p.t.Errorf("the server sent %q: %v", body, err)
			}
		}
		p.mu.Lock()
		p.unread = append(p.unread, m)
		close(p.news)
		p.news = make(chan struct{})
		p.mu.Unlock()
	}
}

// Pause stops reading before the next message, until the returned function is called.
func (p *Peer) Pause() (resume func()) {
	gate := make(chan struct{})
	p.mu.Lock()
	p.gate = gate
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		p.gate = nil
		p.mu.Unlock()
		close(gate)
	}
}

// Send frames and sends a message. An error is not the test's business: a server
// that gave up stops reading.
func (p *Peer) Send(body string) {
	_, _ = fmt.Fprintf(p.w, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

// SendRaw sends bytes.
func (p *Peer) SendRaw(s string) { _, _ = io.WriteString(p.w, s) }

// Close ends the server's input.
func (p *Peer) Close() { _ = p.w.Close() }

// Await returns the first unread message that satisfies match and forgets it;
// what does not match stays unread. It fails the test if none comes.
func (p *Peer) Await(what string, match func(Message) bool) Message {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		p.mu.Lock()
		for i, m := range p.unread {
			if match(m) {
				p.unread = append(p.unread[:i:i], p.unread[i+1:]...)
				p.mu.Unlock()
				return m
			}
		}
		news := p.news
		p.mu.Unlock()
		select {
		case <-news:
		case <-p.ended:
			p.mu.Lock()
			more := false
			for _, m := range p.unread {
				more = more || match(m)
			}
			p.mu.Unlock()
			if more {
				continue
			}
			p.t.Fatalf("the server's output ended; wanted %s", what)
		case <-deadline:
			p.t.Fatalf("no %s in %v", what, patience)
		}
	}
}

// Response returns the answer to the request with that id, given as JSON.
func (p *Peer) Response(id string) Message {
	p.t.Helper()
	return p.Await("response to "+id, func(m Message) bool { return m.Method == "" && string(m.ID) == id })
}

// Notification returns the next notification or request with that method.
func (p *Peer) Notification(method string) Message {
	p.t.Helper()
	return p.Await(method, func(m Message) bool { return m.Method == method })
}

// Unread returns the messages that have come and were not awaited.
func (p *Peer) Unread() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Message(nil), p.unread...)
}
