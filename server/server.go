// Package server speaks the Language Server Protocol for sessionls: life cycle,
// commands, configuration, status notifications and progress. It holds one file per
// area of the protocol, and no knowledge of sessions: what a command means is in
// the packages commands and contract, what moves the bytes is in rpc.
package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"go.lsp.dev/protocol"

	"github.com/sessionls/sessionls/commands"
	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/rpc"
)

// Service is what the server serves. The caller of Run owns it: it is ready before
// Run and closed after it. Its methods are called concurrently; SearchStatus
// must not wait for searches or for indexing, as it is also asked on every
// wake-up.
type Service interface {
	contract.Commands

	// Subscribe returns a channel that receives a value when SearchStatus may have a
	// new answer: another phase, policy, generation or progress. It carries no
	// facts, so the service should give it room for one value and never wait for it
	// to be taken; wake-ups that come too fast then become one. The
	// subscription ends with ctx; the channel need not be closed.
	Subscribe(ctx context.Context) <-chan struct{}
}

// Options of Run. Service is required.
type Options struct {
	// In and Out are the two directions of the connection. If both are nil Run takes
	// the standard streams, as rpc.Stdio describes.
	In  io.Reader
	Out io.Writer

	Service Service
	Version string // of the program, for serverInfo
	Log     zerolog.Logger
}

// maxHeavy is how many heavy commands (searches) run at once; more wait their
// turn, in which they can be cancelled. Each may hold an answer of 4 MB and a
// reader of the index. The index has fewer readers than this, so that a
// search that only waits for the index to become current keeps none from work.
const maxHeavy = 16

// maxElsewhere is how many requests to other hosts are open at once.
const maxElsewhere = 64

// farewell bounds the wait for the server's own goroutines at the end. One that is
// stuck in a write to a client that does not read is left behind.
const farewell = time.Second

// Run serves one client until it says exit, goes away, or ctx ends, and returns the
// exit code for the process: 0 if the client asked for shutdown first, else 1.
// When it returns, no command is running, unless one ignored its cancellation for
// longer than rpc.DefaultGrace.
func Run(ctx context.Context, opts Options) (exitCode int) {
	if opts.In == nil && opts.Out == nil {
		opts.In, opts.Out = rpc.Stdio()
	}
	conn := rpc.New(rpc.Options{In: opts.In, Out: opts.Out, Log: opts.Log})
	s := newServer(conn, opts)
	code := conn.Run(ctx, s)

	select {
	case <-s.endBackground():
	case <-time.After(farewell):
	}
	return code
}

// server is the state of one connection.
type server struct {
	conn    *rpc.Conn
	service Service
	version string
	log     zerolog.Logger
	heavy   *rpc.Limiter

	// elsewhere is for requests that another host answers.
	elsewhere *rpc.Limiter

	requests      map[string]requestFunc
	notifications map[string]notificationFunc

	// Set by initialize, before anything else is served, and never again.
	client    client
	transport contract.Transport
	commands  *commands.Registry

	folders   folders
	documents documents

	settings        atomic.Pointer[settings]
	settingsChanged chan struct{} // room for one; wakes the status notifier
	pullAgain       chan struct{} // room for one; the client's configuration changed

	started      atomic.Bool // by initialized
	backgroundMu sync.Mutex  // guards the start of goroutines against the end
	background   sync.WaitGroup
	ending       bool
}

type (
	requestFunc      func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)
	notificationFunc func(ctx context.Context, params json.RawMessage) error
)

func newServer(conn *rpc.Conn, opts Options) *server {
	s := &server{
		conn:            conn,
		service:         opts.Service,
		transport:       contract.TransportLocal,
		version:         opts.Version,
		log:             opts.Log,
		heavy:           rpc.NewLimiter(maxHeavy),
		elsewhere:       rpc.NewLimiter(maxElsewhere),
		commands:        commands.New(opts.Service, contract.Parser{}, ""),
		settingsChanged: make(chan struct{}, 1),
		pullAgain:       make(chan struct{}, 1),
	}
	s.commands = s.commands.WithProgress(s.openPartial)
	s.settings.Store(defaultSettings())
	s.requests = map[string]requestFunc{
		protocol.MethodInitialize:              s.initialize,
		protocol.MethodShutdown:                s.shutdown,
		protocol.MethodWorkspaceExecuteCommand: s.executeCommand,

		protocol.MethodWorkspaceSymbol:              s.workspaceSymbol,
		protocol.MethodWorkspaceSymbolResolve:       s.resolveSymbol,
		protocol.MethodWorkspaceTextDocumentContent: s.textDocumentContent,
	}
	s.notifications = map[string]notificationFunc{
		protocol.MethodInitialized:                     s.initialized,
		protocol.MethodWorkspaceDidChangeConfiguration: s.didChangeConfiguration,

		protocol.MethodWorkspaceDidChangeWorkspaceFolders: s.didChangeWorkspaceFolders,
	}
	return s
}

// Call implements rpc.Handler.
func (s *server) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	serve, ok := s.requests[method]
	if !ok {
		return nil, fmt.Errorf("%w: %.80q", rpc.ErrMethodNotFound, method)
	}
	return serve(contract.WithTransport(ctx, s.transport), params)
}

// Notify implements rpc.Handler.
func (s *server) Notify(ctx context.Context, method string, params json.RawMessage) error {
	take, ok := s.notifications[method]
	if !ok {
		return rpc.ErrMethodNotFound
	}
	return take(contract.WithTransport(ctx, s.transport), params)
}

// goBackground runs f in a goroutine that Run waits for, unless Run is over
// already: the read loop may still hand out a notification then.
func (s *server) goBackground(f func()) {
	s.backgroundMu.Lock()
	defer s.backgroundMu.Unlock()
	if !s.ending {
		s.background.Go(f)
	}
}

// endBackground lets no further goroutine start and returns a channel that
// closes when those that run have returned.
func (s *server) endBackground() <-chan struct{} {
	s.backgroundMu.Lock()
	s.ending = true
	s.backgroundMu.Unlock()
	done := make(chan struct{})
	go func() {
		s.background.Wait()
		close(done)
	}()
	return done
}

// notify sends a notification with a value of the protocol or of the contract.
func (s *server) notify(ctx context.Context, method string, params any) error {
	raw, err := marshal(params)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", method, err)
	}
	return s.conn.Notify(ctx, method, raw)
}

// call asks the client. Not to be used while serving a notification, initialize or shutdown.
func (s *server) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	raw, err := marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", method, err)
	}
	return s.conn.Call(ctx, method, raw)
}

// marshal encodes types of the protocol package, whose unions only its own codec
// knows.
func marshal(v any) (json.RawMessage, error) {
	b, err := protocol.Marshal(v)
	return json.RawMessage(b), err
}
