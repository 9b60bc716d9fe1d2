package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// ErrBroken is the root of what a server did against the protocol or beyond the
// bounds of ClientOptions. The connection ends with it, and asking the same
// server again would meet the same.
var ErrBroken = errors.New("the answer is no message of the protocol")

// ResponseError is the error that a server answered a request with.
type ResponseError struct {
	Code    int
	Message string
	Data    json.RawMessage // nil if there are none
}

// Error is the server's message.
func (e *ResponseError) Error() string { return e.Message }

// ClientOptions configure a Client. In, Out, MaxMessage and MaxBanner are
// required. The client closes neither stream.
type ClientOptions struct {
	In  io.Reader
	Out io.Writer

	// MaxMessage bounds the body of one message from the server, in bytes. A
	// larger one is not read: the connection ends with ErrBroken.
	MaxMessage int
	// MaxBanner bounds what the server may print before its first message, in
	// bytes: shells greet whoever logs in.
	MaxBanner int
	// MaxUnasked bounds the messages that answer no open request, in bytes
	// between two answers that do. 0 is MaxMessage.
	MaxUnasked int
	// Notify takes the server's notifications, in wire order with the answers,
	// while nothing else is read. It must not wait, nor keep params. It may be nil.
	Notify func(method string, params json.RawMessage)
}

// Client is the asking end of a connection. Its methods may be called
// concurrently.
type Client struct {
	opts   ClientOptions
	stream *stream
	queue  chan []byte // to the goroutine that writes

	mu      sync.Mutex
	next    int64
	waiting map[int64]chan<- answer
	err     error

	greeting []byte // the begin of what came before the first message

	done chan struct{} // closed after err is set
}

type answer struct {
	result json.RawMessage
	err    error
}

// sendQueue is how many messages may wait for the server to read. One that
// reads none while as many have been sent is as good as gone.
const sendQueue = 64

// NewClient returns a client that reads In and writes Out from now on. Its
// goroutines end once both streams fail.
func NewClient(opts ClientOptions) *Client {
	if opts.MaxUnasked == 0 {
		opts.MaxUnasked = opts.MaxMessage
	}
	c := &Client{
		opts: opts, stream: newStream(opts.In, opts.Out, opts.MaxMessage),
		queue: make(chan []byte, sendQueue), waiting: map[int64]chan<- answer{}, done: make(chan struct{}),
	}
	go c.write()
	go func() { c.fail(c.read()) }()
	return c
}

// Done is closed when the connection has ended; Err then tells why.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err is why the connection ended, nil while it has not: io.EOF if the server
// closed it between two messages, an error that wraps ErrBroken if it broke the
// protocol.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Call asks. A server's own error is a *ResponseError; any other error is that
// of ctx or of the connection. When ctx ends the server is told to stop, and
// what it still answers is dropped.
func (c *Client) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	reply := make(chan answer, 1)
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return nil, c.err
	}
	c.next++
	id := c.next
	c.waiting[id] = reply
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()

	select {
	case c.queue <- jsonrpc2.AppendCall(nil, jsonrpc2.NewNumberID(id), method, jsonrpc2.RawMessage(params)):
	case <-c.done:
		return nil, c.Err()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case got := <-reply:
		return got.result, got.err
	case <-c.done:
		select {
		case got := <-reply: // it came before the end
			return got.result, got.err
		default:
			return nil, c.Err()
		}
	case <-ctx.Done():
		c.Notify(methodCancelRequest, fmt.Appendf(nil, `{"id":%d}`, id))
		return nil, ctx.Err()
	}
}

// Notify sends a notification. It does not wait: a server that has not read
// what was sent before is taken for gone.
func (c *Client) Notify(method string, params json.RawMessage) {
	c.enqueue(jsonrpc2.AppendNotification(nil, method, jsonrpc2.RawMessage(params)))
}

func (c *Client) enqueue(message []byte) {
	select {
	case c.queue <- message:
	case <-c.done:
	default:
		c.fail(errors.New("the server does not read"))
	}
}

func (c *Client) write() {
	for {
		select {
		case message := <-c.queue:
			if err := c.stream.send(message); err != nil {
				// What it wrote before it went may still say why.
				return
			}
		case <-c.done:
			return
		}
	}
}

// fail ends the connection.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.done)
	}
}

// read takes messages until there are no more, and returns why.
func (c *Client) read() error {
	if err := c.skipBanner(); err != nil {
		return err
	}
	unasked := 0
	for c.Err() == nil {
		n, err := readHeader(c.stream.in)
		switch {
		case errors.Is(err, errHeader):
			return fmt.Errorf("%w: %w", ErrBroken, err)
		case err != nil:
			return err
		case n > c.opts.MaxMessage:
			return fmt.Errorf("%w: it has %d bytes, over the limit of %d", ErrBroken, n, c.opts.MaxMessage)
		}
		body, err := c.stream.readBody(n)
		if err != nil {
			return err
		}
		asked, err := c.take(body)
		if err != nil {
			return err
		}
		if unasked += n; asked {
			unasked = 0
		}
		if unasked > c.opts.MaxUnasked {
			return fmt.Errorf("%w: %d bytes that nobody asked for", ErrBroken, unasked)
		}
	}
	return c.Err()
}

// keepGreeting is how much of a banner is kept for messages, in bytes.
const keepGreeting = 256

// Greeting is the begin of what the server printed before its first message,
// often the reason why there was none.
func (c *Client) Greeting() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.greeting)
}

// headerName begins every message.
const headerName = "Content-Length:"

// skipBanner reads up to the first message. Its header need not stand at the
// begin of a line, as greetings do not always end one.
func (c *Client) skipBanner() error {
	for skipped := 0; ; skipped++ {
		next, err := c.stream.in.Peek(len(headerName))
		switch {
		case len(next) == len(headerName) && bytes.EqualFold(next, []byte(headerName)):
			return nil
		case err != nil && len(next) == 0:
			return err
		case skipped == c.opts.MaxBanner:
			return fmt.Errorf("%w: it begins with more than %d bytes of something else", ErrBroken, skipped)
		}
		if skipped < keepGreeting {
			c.mu.Lock()
			c.greeting = append(c.greeting, next[0])
			c.mu.Unlock()
		}
		_, _ = c.stream.in.Discard(1) // cannot fail: it was peeked at
	}
}

// take hands on one message. asked tells whether it answers an open request.
func (c *Client) take(body []byte) (asked bool, err error) {
	message, err := jsonrpc2.DecodeMessage(body)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	switch m := message.(type) {
	case *jsonrpc2.Response:
		return c.deliver(m), nil
	case *jsonrpc2.Notification:
		if c.opts.Notify != nil {
			c.opts.Notify(m.Method(), json.RawMessage(m.Params()))
		}
	case *jsonrpc2.Call:
		// Nothing was offered to the server that it could ask for.
		refusal := jsonrpc2.NewError(jsonrpc2.MethodNotFound, "nothing is served here")
		c.enqueue(jsonrpc2.AppendResponse(nil, m.ID(), nil, refusal))
	}
	return false, nil
}

func (c *Client) deliver(m *jsonrpc2.Response) bool {
	id, ok := m.ID().Number()
	if !ok {
		return false
	}
	c.mu.Lock()
	reply := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	if reply == nil {
		return false // cancelled, or never asked
	}
	got := answer{result: json.RawMessage(m.Result())} // its own copy, not the stream's
	if failure := m.Err(); failure != nil {
		wire := &jsonrpc2.Error{}
		if !errors.As(failure, &wire) {
			wire = jsonrpc2.NewError(jsonrpc2.InternalError, failure.Error())
		}
		got = answer{err: &ResponseError{Code: int(wire.Code), Message: wire.Message, Data: json.RawMessage(wire.Data)}}
	}
	reply <- got
	return true
}
