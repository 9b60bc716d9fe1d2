// Package rpc carries JSON-RPC 2.0 messages in the Language Server Protocol's
// framing over a pair of byte streams. It is the only importer of
// go.lsp.dev/jsonrpc2, and it knows nothing of sessions: it moves bytes, keeps
// the order, the life cycle and the bounds, and turns Go errors into JSON-RPC
// errors. Everything a peer can do wrong ends in an answer, a log line or the end of
// the connection, never in a crash or in unbounded memory.
//
// A message passes these layers (chain.go), from the outside in:
//
//	stream    framing with bounded headers and bodies (stream.go)
//	route     notifications, initialize and shutdown run in wire order; every other
//	          request is admitted, registered for $/cancelRequest and released
//	gate      -32002 before initialize, -32600 after shutdown
//	safe      a panic becomes -32603 and the connection lives; errors get their
//	          code here and nowhere else (errors.go)
//	dispatch  the Handler
package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"go.lsp.dev/jsonrpc2"
)

// Handler serves the messages of one connection. The life cycle is the
// connection's business: a Handler sees no request before initialize and none
// after shutdown, and "exit" and "$/cancelRequest" never reach it.
type Handler interface {
	// Call answers one request. The result must be valid JSON and is sent
	// verbatim; nil is null. Calls overlap each other, except that initialize and
	// shutdown run alone, in wire order, and must be quick. ctx ends when the client
	// cancels the request and when the connection ends.
	Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)

	// Notify takes one notification. Notifications are delivered in wire order
	// while nothing else is read, $/cancelRequest included: return within
	// microseconds, do not use Conn.Call (it would wait for an answer nobody can
	// read), and do not keep params. An error is logged.
	Notify(ctx context.Context, method string, params json.RawMessage) error
}

// The bounds of a connection, where Options leaves them zero.
const (
	// DefaultMaxMessage bounds the body of one incoming message, in bytes. Requests of
	// the contract are small; what comes near is a document that an editor
	// offers unasked, and that is skipped, not held.
	DefaultMaxMessage = 64 << 20
	// DefaultGrace is how long running requests may still be answered after the client's
	// end of the stream closed, and how long cancelled ones may take to return.
	DefaultGrace = 2 * time.Second
	// DefaultParentPoll is the interval of the look at the parent process. The end
	// of the input stream is the usual sign; this is for a client whose pipe
	// was inherited by another process, so it may be slow.
	DefaultParentPoll = 10 * time.Second
)

// Options configure a Conn. In and Out are required; Run closes neither.
type Options struct {
	In  io.Reader
	Out io.Writer
	Log zerolog.Logger

	MaxMessage int           // bytes; DefaultMaxMessage if 0
	Grace      time.Duration // DefaultGrace if 0
	ParentPoll time.Duration // DefaultParentPoll if 0
}

// Conn is one connection to a client.
type Conn struct {
	opts   Options
	stream *stream
	conn   jsonrpc2.Conn

	handler Handler
	base    context.Context // of every request; ends with the connection
	state   atomic.Int32    // a lifeState; written on the read loop only
	calls   *admission

	runningMu sync.Mutex
	running   map[jsonrpc2.ID]*runningCall

	exit       chan struct{} // closed by the exit notification
	exitOnce   sync.Once
	orphaned   chan struct{} // closed when the parent process is gone
	parentOnce sync.Once
}

// New returns a connection that does nothing until Run. Making the connection
// before its handler lets the handler hold it without a race.
func New(opts Options) *Conn {
	if opts.MaxMessage == 0 {
		opts.MaxMessage = DefaultMaxMessage
	}
	if opts.Grace == 0 {
		opts.Grace = DefaultGrace
	}
	if opts.ParentPoll == 0 {
		opts.ParentPoll = DefaultParentPoll
	}
	s := newStream(opts.In, opts.Out, opts.MaxMessage)
	return &Conn{
		opts:     opts,
		stream:   s,
		conn:     jsonrpc2.NewConn(s),
		calls:    newAdmission(maxCalls, maxCallBytes),
		running:  make(map[jsonrpc2.ID]*runningCall),
		exit:     make(chan struct{}),
		orphaned: make(chan struct{}),
	}
}

// Run serves h until the client says exit, closes its end, breaks the
// protocol or dies, or until ctx ends. It then cancels what still runs, waits
// for it no longer than Options.Grace, and returns the exit code of the process:
// 0 if the client had asked for shutdown before, else 1. It must be called
// once. The goroutine that reads Options.In may outlive Run, parked in a read
// that nothing can interrupt.
func (c *Conn) Run(ctx context.Context, h Handler) (exitCode int) {
	base, cancel := context.WithCancel(ctx)
	defer cancel()
	c.handler, c.base = h, base

	// The library's own contexts hang off Background and not off base, so that the
	// end of one of them says exactly one thing: its response has been written.
	c.conn.Go(context.Background(), c.route)

	select {
	case <-c.exit:
	case <-c.orphaned:
		c.opts.Log.Warn().Msg("the parent process is gone")
	case <-ctx.Done():
		c.opts.Log.Info().Msg("stopped")
	case <-c.stream.broken:
		c.opts.Log.Warn().Err(c.stream.writeError()).Msg("the client does not read any more")
	case <-c.stream.closed:
		c.opts.Log.Error().Err(c.conn.Err()).Msg("connection failed")
	case <-c.stream.ended:
		if err := c.stream.readError(); errors.Is(err, io.EOF) {
			// A script that writes its requests and closes the pipe still reads the
			// answers; an editor that died does not, and then a write fails.
			c.calls.wait(c.opts.Grace, c.exit, c.stream.broken, ctx.Done())
		} else {
			c.opts.Log.Error().Err(err).Msg("unreadable input")
		}
	}
	cancel()
	c.calls.wait(c.opts.Grace, c.stream.broken)
	_ = c.stream.Close()

	if lifeState(c.state.Load()) == stateShutdown {
		return 0
	}
	return 1
}

// Notify sends a notification; params must be valid JSON. It waits while the
// client does not read, and the wait cannot be cancelled: a sender of notifications
// must be a goroutine of its own that has the newest news to tell when it
// gets through, never a request handler.
func (c *Conn) Notify(ctx context.Context, method string, params json.RawMessage) error {
	return c.conn.Notify(ctx, method, jsonrpc2.RawMessage(params))
}

// Call sends a request to the client and returns its result. An error answer
// is returned as an error. It must not be used inside Handler.Notify, nor
// while serving initialize or shutdown.
func (c *Conn) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	var result jsonrpc2.RawMessage
	_, err := c.conn.Call(ctx, method, jsonrpc2.RawMessage(params), &result)
	return json.RawMessage(result), err
}

// WatchParent ends the connection when the process pid is gone. A pid that is
// not alive now is not watched: it may belong to another PID namespace, as
// an editor's does that starts the server in a container. Only the first call counts.
func (c *Conn) WatchParent(pid int) {
	c.parentOnce.Do(func() {
		alive := parentProbe(pid)
		if alive == nil {
			c.opts.Log.Debug().Int("pid", pid).Msg("parent process not visible, not watched")
			return
		}
		go func() {
			tick := time.NewTicker(c.opts.ParentPoll)
			defer tick.Stop()
			for {
				select {
				case <-c.stream.closed:
					return
				case <-tick.C:
					if !alive() {
						close(c.orphaned)
						return
					}
				}
			}
		}()
	})
}
