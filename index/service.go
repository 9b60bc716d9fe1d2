// Package index is the service over this machine's transcripts: what the
// commands of the contract call. It owns the user's policy and configuration,
// the lifetime of the index, and the passes that bring it up to date; searching
// is in package query, reading transcripts below package transcript.
//
// # Processes
//
// Any number of processes share one index. One of them holds the seat: it
// watches, and writes the index for all, which the others ask it for (package
// requests). Writing needs the writer lock, held for the length of a pass or of a
// clear, so whoever is not answered takes that and writes himself. All read, and
// notice by the file's identity when it was replaced. The policy is looked at on
// every request.
package index

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/exact"
	"github.com/sessionls/sessionls/index/query"
	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/agents"
	"github.com/sessionls/sessionls/index/watch"
)

// patience is how long a search waits for the index to become current.
const patience = 5 * time.Second

// Options of Open. Everything but Paths has a default.
type Options struct {
	Paths Paths
	// Env is the machine as readers see it; a zero one is the process's own.
	Env transcript.Env
	// Readers default to those of all agents.
	Readers []transcript.Reader
	// Log takes causes that no answer has room for; the zero value is silent.
	Log *zerolog.Logger
	// Now is the present; it defaults to time.Now.
	Now func() time.Time
	// Watch opens the system's notifications; it defaults to watch.Native.
	Watch func() (watch.Backend, error)
	// Transport is how far the answers travel; "" is local.
	Transport contract.Transport
	// Ranking replaces the ranking of searches, for the benches; nil is
	// [query.DefaultRanking].
	Ranking *query.Ranking
}

// Service answers the commands of the contract from this machine's index. Its
// methods may be called concurrently.
type Service struct {
	paths     Paths
	env       transcript.Env
	readers   []transcript.Reader
	byAgent   map[string]transcript.Reader
	log       zerolog.Logger
	now       func() time.Time
	transport contract.Transport
	patience  time.Duration
	// How long the writer may take to take a request.
	takenWithin time.Duration

	policy     policyFile
	tombstones tombstones
	handles    handles
	engine     *query.Engine
	exact      *exact.Engine
	reads      reads
	passes     passes
	watch      observations
	wake       subscribers
	counted    counted
	follower   *follower

	ctx    context.Context // ends with the service
	cancel context.CancelCauseFunc
	gate   chan struct{} // held by whoever writes, in this process
	// locked: this process holds the lock among processes.
	locked  atomic.Bool
	work    sync.WaitGroup
	closed  atomic.Bool
	suspect suspicion // reading met damage: rebuild
	// courtesy is until when passes leave the lock to a process that asked for
	// it, in nanoseconds since 1970: it asks in intervals.
	courtesy atomic.Int64

	policyTrouble atomic.Value // string: why the policy cannot be read
}

var _ contract.Commands = (*Service)(nil)

// Open makes the service. It reads nothing and creates nothing; an index that
// cannot be opened shows in the answers. The service lives until Close or until
// ctx ends, whichever is first.
func Open(ctx context.Context, opts Options) (*Service, error) {
	if !filepath.IsAbs(opts.Paths.Data) || !filepath.IsAbs(opts.Paths.Config) {
		return nil, errors.New("open the index: the folders for data and configuration must be absolute paths")
	}
	s := &Service{
		paths: opts.Paths, env: opts.Env, readers: opts.Readers, log: zerolog.Nop(), now: opts.Now, transport: opts.Transport,
		byAgent: map[string]transcript.Reader{}, patience: patience, takenWithin: takenWithin, engine: query.New(), gate: make(chan struct{}, 1),
	}
	if opts.Ranking != nil {
		s.engine = s.engine.WithRanking(*opts.Ranking)
	}
	if opts.Log != nil {
		s.log = *opts.Log
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.transport == "" {
		s.transport = contract.TransportLocal
	}
	if s.readers == nil {
		s.readers = agents.All()
	}
	for _, r := range s.readers {
		s.byAgent[r.Agent().ID] = r
	}
	s.env = fillEnv(s.env, s.now)
	s.policy.paths, s.tombstones.paths = s.paths, s.paths
	s.handles.path = s.paths.Index()
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.exact = s.newExact()
	s.follower = newFollower(s, opts.Watch)
	return s, nil
}

func fillEnv(env transcript.Env, now func() time.Time) transcript.Env {
	if env.Home == "" {
		env.Home, _ = os.UserHomeDir() // "" finds nothing, and doctor shows it
	}
	if env.GOOS == "" {
		env.GOOS = runtime.GOOS
	}
	if env.Getenv == nil {
		env.Getenv = os.Getenv
	}
	if env.Now == nil {
		env.Now = now
	}
	return env
}

// farewell is how long Close waits for what is still running.
const farewell = 5 * time.Second

// Close ends passes and closes the index. Requests that are still running are
// waited for, later ones find it closed. A read from a disk that does not
// answer is left behind, which is the error.
func (s *Service) Close() error {
	s.closed.Store(true)
	s.cancel(errClosed)
	s.passes.close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.work.Wait()
		_ = s.reads.withdraw(context.Background()) // waits; this cannot fail
		s.handles.close()
	}()
	s.wake.all()
	timer := time.NewTimer(farewell)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return errors.New("close the index: a transcript or a search is still being read from a disk that does not answer")
	}
}

// exposure is how far the answer of a request travels.
func (s *Service) exposure(ctx context.Context) contract.Transport {
	if s.transport != contract.TransportLocal {
		return s.transport
	}
	return contract.TransportOf(ctx)
}

// Start keeps the index current in the background until ctx ends or the service
// is closed: see follow.go. It returns at once, and is called once.
func (s *Service) Start(ctx context.Context) {
	ctx, end := context.WithCancel(ctx)
	context.AfterFunc(s.ctx, end)
	s.work.Go(func() {
		defer end()
		s.follower.run(ctx)
	})
}

// Reconcile makes a pass, or waits for one that has not begun yet, and returns
// what stopped it; what failed for single transcripts is in the status. full
// reads everything anew. progress, which may be nil, is called from this
// goroutine.
func (s *Service) Reconcile(ctx context.Context, full bool, progress func(contract.Progress)) error {
	if !s.allowed() {
		return disabledError()
	}
	sub, end := context.WithCancel(ctx)
	defer end()
	wake := s.Subscribe(sub)
	for {
		r := s.request(full)
	waiting:
		for {
			select {
			case <-wake:
				if at := s.watch.progress(); at != nil && progress != nil {
					progress(*at)
				}
			case <-r.done:
				break waiting
			case <-ctx.Done():
				return contract.Aborted(ctx.Err())
			}
		}
		switch {
		case errors.Is(r.err, errInterrupted):
			if !s.allowed() {
				return disabledError()
			}
		case r.err != nil:
			return indexError(r.err)
		default:
			return nil
		}
	}
}

// consent is the policy as it is now; one that cannot be read allows nothing.
func (s *Service) consent() contract.Policy {
	policy, err := s.policy.load()
	text := ""
	if err != nil {
		text = err.Error()
	}
	// Once for each cause: it is asked for on every request.
	if last, _ := s.policyTrouble.Swap(text).(string); err != nil && last != text {
		s.log.Warn().Err(err).Msg("the policy cannot be read; nothing is read without it")
	}
	return policy
}

// allowed reports whether the user has agreed to reading.
func (s *Service) allowed() bool { return !s.closed.Load() && s.consent().Allows() }

func disabledError() *contract.Error {
	return contract.Failed(contract.CodeSearchDisabled, nil, "searching is not enabled: nothing is read or indexed without the user's consent")
}

func indexError(err error) *contract.Error {
	var known *contract.Error
	if errors.As(err, &known) {
		return known
	}
	return indexFailed(err, "the index cannot be brought up to date")
}

func indexFailed(err error, what string) *contract.Error {
	return contract.Failed(contract.CodeIndexFailed, err, "%s: %s", what, strings.ReplaceAll(err.Error(), "\n", "; "))
}

// subscribers are woken when the status may have a new answer.
type subscribers struct {
	mu   sync.Mutex
	list map[chan struct{}]struct{}
}

// Subscribe returns a channel that receives a value when SearchStatus may have
// a new answer. Wake-ups that are not taken become one. It ends with ctx.
func (s *Service) Subscribe(ctx context.Context) <-chan struct{} {
	ch := make(chan struct{}, 1)
	s.wake.mu.Lock()
	if s.wake.list == nil {
		s.wake.list = map[chan struct{}]struct{}{}
	}
	s.wake.list[ch] = struct{}{}
	s.wake.mu.Unlock()
	context.AfterFunc(ctx, func() {
		s.wake.mu.Lock()
		delete(s.wake.list, ch)
		s.wake.mu.Unlock()
	})
	return ch
}

func (w *subscribers) all() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ch := range w.list {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
