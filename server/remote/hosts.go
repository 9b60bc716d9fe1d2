// Package remote asks the services of other machines and environments: the same
// contract over the same protocol, spoken over the standard streams of a command
// that starts the service there (contract §8).
//
// A host is trusted with its own sessions and with nothing else. It is asked only
// what the user asked of it by name; its answers are bounded, read by the types of
// the contract, stamped with the name of the host that was asked, and redacted
// once more. Nothing in them is opened, run or followed on this side.
package remote

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/rpc"
)

// Options of New. Local is required.
type Options struct {
	// Local answers for this machine.
	Local contract.Commands
	// Environments reads the `runtime:` hosts of the user's configuration by
	// their ids. Nil is none.
	Environments func() (map[string]Environment, error)
	// ResumePlan makes the plan of a session on another host from what that host
	// says of it. Nil leaves it without a command.
	ResumePlan func(host contract.Host, of contract.ResumePlanResponse, shell contract.Shell) contract.ResumePlanResponse
	// Version of this program, told to hosts.
	Version string
	// Log takes what became of connections. The zero value logs nothing.
	Log zerolog.Logger

	// Idle is how long a connection is kept unused, 5 minutes if 0.
	Idle time.Duration

	linger       time.Duration // linger if 0
	startTimeout time.Duration // startTimeout if 0
	quiet        time.Duration // quiet if 0
	probeTimeout time.Duration // probeTimeout if 0
}

// Bounds of the pool.
const (
	defaultIdle = 5 * time.Minute
	// linger is how long a connection that nobody waits for any more goes on being
	// made: whoever types gives up one search for the next.
	linger = 3 * time.Second
	// maxHosts is how many hosts may be connected at a time.
	maxHosts = 32
	// maxRequests is how many requests one host is asked at a time.
	maxRequests = 16
)

// Hosts answers the commands of the contract: those for this machine by the local
// service, those that name another host by that host and no other. It keeps one
// connection for each host, made when it is first needed. Its methods may be
// called concurrently.
type Hosts struct {
	opts Options

	base context.Context // of every connection that is being made; ends with Close
	stop context.CancelFunc

	mu     sync.Mutex
	lines  map[contract.Host]*line
	closed bool
	ending sync.WaitGroup
}

var _ contract.Commands = (*Hosts)(nil)

// line is the way to one host.
type line struct {
	room *rpc.Limiter

	// Guarded by Hosts.mu.
	conn  *connection // nil while there is none
	next  *attempt    // nil while none is being made
	users int
	idle  *time.Timer // nil while in use
	left  time.Time   // when it was used last; zero while it never was
}

// attempt is a connection that is being made, for all who need it by then.
type attempt struct {
	abandon context.CancelCauseFunc

	// Guarded by Hosts.mu.
	waiting int
	late    *time.Timer // abandons it when nobody waits; nil before

	// Set when done is closed.
	done chan struct{}
	conn *connection
	err  error
}

// errAbandoned ends an attempt that nobody waits for.
var errAbandoned = errors.New("nobody waits for the connection any more")

// New returns hosts without connections.
func New(opts Options) *Hosts {
	if opts.Environments == nil {
		opts.Environments = func() (map[string]Environment, error) { return nil, nil }
	}
	if opts.Idle == 0 {
		opts.Idle = defaultIdle
	}
	if opts.linger == 0 {
		opts.linger = linger
	}
	if opts.startTimeout == 0 {
		opts.startTimeout = startTimeout
	}
	if opts.quiet == 0 {
		opts.quiet = quiet
	}
	if opts.probeTimeout == 0 {
		opts.probeTimeout = probeTimeout
	}
	base, stop := context.WithCancel(context.Background())
	return &Hosts{opts: opts, base: base, stop: stop, lines: map[contract.Host]*line{}}
}

// Close ends all connections, those too that are being made, and waits until
// their commands are gone. Requests that are under way fail.
func (h *Hosts) Close() {
	h.mu.Lock()
	h.closed = true
	h.stop()
	for _, l := range h.lines {
		h.drop(l, l.conn)
	}
	h.mu.Unlock()
	h.ending.Wait()
}

// acquire gives the connection to a host, made now if there is none. release
// must be called, with the error that the request ended with.
func (h *Hosts) acquire(ctx context.Context, host contract.Host) (conn *connection, release func(error), err error) {
	l, err := h.line(host)
	if err != nil {
		return nil, nil, err
	}
	leave := func() { h.leave(host, l) }
	done, err := l.room.Acquire(ctx)
	if err != nil {
		leave()
		return nil, nil, err
	}
	conn, err = h.connected(ctx, host, l)
	if err != nil {
		done()
		leave()
		return nil, nil, err
	}
	return conn, func(err error) {
		if isLost(err) && ctx.Err() == nil || errors.Is(err, rpc.ErrBroken) || errors.Is(err, errSilent) {
			h.mu.Lock()
			h.drop(l, conn)
			h.mu.Unlock()
		}
		done()
		leave()
	}, nil
}

// leave is what a user of a line does at the end.
func (h *Hosts) leave(host contract.Host, l *line) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.users--; l.users > 0 {
		return
	}
	if l.conn == nil {
		delete(h.lines, host)
		return
	}
	kept := l.conn
	l.left = time.Now()
	l.idle = time.AfterFunc(h.opts.Idle, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if l.users == 0 && l.conn == kept {
			h.drop(l, kept)
			delete(h.lines, host)
		}
	})
}

// line is the way to a host, with one more user.
func (h *Hosts) line(host contract.Host) (*line, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, closing(host)
	}
	l := h.lines[host]
	if l == nil {
		if len(h.lines) >= maxHosts {
			h.makeRoom()
		}
		if len(h.lines) >= maxHosts {
			return nil, failed(host, nil, "%s is not asked: %d hosts are asked already; try again when one of them has answered", host, maxHosts)
		}
		l = &line{room: rpc.NewLimiter(maxRequests)}
		h.lines[host] = l
	}
	l.users++
	if l.idle != nil {
		l.idle.Stop()
		l.idle = nil
	}
	return l, nil
}

// makeRoom leaves the host whose connection has been unused the longest, if there
// is one. The caller holds mu.
func (h *Hosts) makeRoom() {
	var oldest contract.Host
	var found *line
	for host, l := range h.lines {
		if l.users == 0 && (found == nil || l.left.Before(found.left)) {
			oldest, found = host, l
		}
	}
	if found != nil {
		h.drop(found, found.conn)
		delete(h.lines, oldest)
	}
}

// connected is the connection of a line. All who need it while there is none wait
// for the same attempt to make it.
func (h *Hosts) connected(ctx context.Context, host contract.Host, l *line) (*connection, error) {
	for {
		conn, a, err := h.join(host, l)
		if conn != nil || err != nil {
			return conn, err
		}
		select {
		case <-a.done:
		case <-ctx.Done():
		}
		h.part(a)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !errors.Is(a.err, errAbandoned) {
			return a.conn, a.err
		}
		// By those who waited before.
	}
}

// join gives the connection of a line, or else the attempt to make it, with one more
// who waits.
func (h *Hosts) join(host contract.Host, l *line) (*connection, *attempt, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.conn != nil && l.conn.client.Err() != nil {
		h.drop(l, l.conn)
	}
	switch {
	case l.conn != nil:
		return l.conn, nil, nil
	case h.closed:
		return nil, nil, closing(host)
	}
	a := l.next
	if a == nil {
		ctx, abandon := context.WithCancelCause(h.base)
		a = &attempt{abandon: abandon, done: make(chan struct{})}
		l.next = a
		l.users++
		// Whoever asked may be gone before the command is, and the program must not
		// end then: Close waits for this.
		h.ending.Go(func() { h.try(ctx, host, l, a) })
	}
	if a.waiting++; a.late != nil {
		a.late.Stop()
	}
	return nil, a, nil
}

// part is the end of waiting for an attempt.
func (h *Hosts) part(a *attempt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.waiting--; a.waiting > 0 {
		return
	}
	a.late = time.AfterFunc(h.opts.linger, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if a.waiting == 0 {
			a.abandon(errAbandoned)
		}
	})
}

// try makes the connection of a line.
func (h *Hosts) try(ctx context.Context, host contract.Host, l *line, a *attempt) {
	defer h.leave(host, l)
	defer a.abandon(nil)
	began := time.Now()
	conn, err := h.connect(ctx, host)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	defer close(a.done)
	l.next = nil
	if h.closed {
		if conn != nil {
			h.ending.Go(conn.close)
		}
		a.err = closing(host)
		return
	}
	a.conn, a.err, l.conn = conn, err, conn
	if err != nil {
		h.opts.Log.Info().Str("host", string(host)).Err(err).Msg("not connected")
		return
	}
	h.opts.Log.Info().Str("host", string(host)).Str("version", conn.version).Dur("ms", time.Since(began)).Msg("connected")
}

func closing(host contract.Host) *contract.Error {
	return failed(host, nil, "%s is not asked any more: the service is closing", host)
}

// drop ends a connection in the background. The caller holds mu.
func (h *Hosts) drop(l *line, conn *connection) {
	if conn == nil || l.conn != conn {
		return
	}
	l.conn = nil
	if l.idle != nil {
		l.idle.Stop()
		l.idle = nil
	}
	h.ending.Go(conn.close)
}
