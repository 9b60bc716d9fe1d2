package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/reconcile"
	"github.com/sessionls/sessionls/index/store"
)

// run is one pass, from being asked for to its end.
type run struct {
	full   bool            // reads everything anew
	paths  map[string]bool // what changed; nil looks at everything
	begun  bool            // it looks at the disk already, or was asked for elsewhere; guarded by passes.mu
	opened chan struct{}   // closed once there is an index to search
	done   chan struct{}   // closed at the end
	err    error           // what stopped it; read after done

	openOnce sync.Once
}

// widen makes a run that has not begun also do what is asked. The lock is held.
func (r *run) widen(full bool, paths []string) {
	r.full = r.full || full
	switch {
	case r.full || paths == nil:
		r.paths = nil
	case r.paths != nil:
		for _, p := range paths {
			r.paths[p] = true
		}
		if len(r.paths) > maxTargets {
			r.paths = nil
		}
	}
}

// maxTargets is how many changed paths are looked at one by one.
const maxTargets = 4096

func (r *run) open() { r.openOnce.Do(func() { close(r.opened) }) }

// errInterrupted ends a pass because the index was cleared or the policy
// changed. Whoever waits for it asks again.
var errInterrupted = errors.New("the pass was interrupted")

// passes are the pass that runs and the one that will run after it. More are
// never needed: one that has not begun serves everybody who asks.
type passes struct {
	mu      sync.Mutex
	current *run
	next    *run
	cancel  context.CancelCauseFunc // of the current one
	closed  bool
}

// request asks for a pass over everything that begins after this call.
func (s *Service) request(full bool) *run { return s.ask(full, nil) }

// ask asks for a pass that begins after this call: over everything, or, if
// paths is not nil, over what changed there.
func (s *Service) ask(full bool, paths []string) *run {
	p := &s.passes
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range []*run{p.current, p.next} {
		if r != nil && !r.begun {
			r.widen(full, paths)
			return r
		}
	}
	r := &run{opened: make(chan struct{}), done: make(chan struct{})}
	if paths != nil {
		r.paths = map[string]bool{}
	}
	r.widen(full, paths)
	switch {
	case p.closed:
		r.err = errClosed
		close(r.done)
	case p.current == nil:
		p.current = r
		s.work.Go(s.runPasses)
	default:
		p.next = r
	}
	return r
}

func (s *Service) runPasses() {
	p := &s.passes
	for {
		ctx, cancel := context.WithCancelCause(s.ctx)
		p.mu.Lock()
		r := p.current
		p.cancel = cancel
		p.mu.Unlock()

		s.watch.began()
		if !p.targeted(r) {
			s.wake.all()
		}
		result, err := s.pass(ctx, r)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		cancel(nil)
		if err != nil && !errors.Is(err, errInterrupted) && s.ctx.Err() == nil {
			s.log.Error().Err(err).Msg("the pass over the transcripts was stopped")
		}
		s.watch.ended(err)

		p.mu.Lock()
		p.current, p.next = p.next, nil
		more := p.current != nil
		p.mu.Unlock()
		r.err = err
		close(r.done)
		switch {
		case err == nil:
			s.follower.passed(result)
		case p.targeted(r) && !errors.Is(err, errClosed):
			s.follower.stopped()
		}
		if !p.targeted(r) || err != nil || result != nil && result.Changed() {
			s.wake.all()
		}
		if !more {
			return
		}
	}
}

// targeted reports whether a run is only over what changed, as far as was asked
// until now.
func (p *passes) targeted(r *run) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.paths != nil
}

// interrupt ends the pass that runs now.
func (p *passes) interrupt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil && p.cancel != nil {
		p.cancel(errInterrupted)
	}
}

// begin lets nobody else join a run.
func (p *passes) begin(r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.begun = true
}

func (p *passes) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// enter waits for the right to write the index in this process and then for
// the lock among processes.
func (s *Service) enter(ctx context.Context) (leave func(), err error) {
	select {
	case s.gate <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return s.lock(ctx)
}

// lock takes the lock among processes for the holder of the gate; leave gives
// both back, and so does an error.
func (s *Service) lock(ctx context.Context) (leave func(), err error) {
	if err := s.paths.makeData(); err != nil {
		<-s.gate
		return nil, err
	}
	lock, err := acquire(ctx, s.paths.Lock())
	if err != nil {
		<-s.gate
		return nil, err
	}
	s.locked.Store(true)
	return func() { s.locked.Store(false); lock.release(); <-s.gate }, nil
}

// seize takes the gate from passes: the one that runs is interrupted, and so is
// the next, should it be faster.
func (s *Service) seize(ctx context.Context) error {
	for {
		s.passes.interrupt()
		timer := time.NewTimer(seizeAgain)
		select {
		case s.gate <- struct{}{}:
			timer.Stop()
			return nil
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// seizeAgain is when a pass that went on regardless is interrupted again.
const seizeAgain = 20 * time.Millisecond

// pass brings the index up to date.
func (s *Service) pass(ctx context.Context, r *run) (*reconcile.Result, error) {
	if !s.allowed() {
		return nil, errInterrupted
	}
	if served, err := s.forward(ctx, r); served || err != nil {
		return nil, err
	}
	if wait := time.Until(time.Unix(0, s.courtesy.Load())); wait > 0 {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if policy, err := s.policy.load(); err != nil || !policy.Allows() {
		return nil, errInterrupted
	}
	for again := false; ; again = true {
		result, err := s.passOnce(ctx, r)
		if again || !store.IsDamage(err) {
			return result, err
		}
		// Seen while writing: the damage is real.
		s.suspect.fallOn(s.paths.Index())
	}
}

func (s *Service) passOnce(ctx context.Context, r *run) (*reconcile.Result, error) {
	w, err := s.openWriter(ctx)
	if err != nil {
		return nil, err
	}
	r.open()
	// Before the configuration is read: who asks from now on may have changed it.
	s.passes.begin(r)
	cfg, err := s.passConfig()
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	text, err := w.Noted(ctx, reportNote)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	last := readReport(text)
	// No lock: a run that has begun is not widened.
	cfg.Full = r.full
	// An index that was never swept holds only what was looked at.
	if r.paths != nil && last != nil {
		cfg.Paths = slices.Sorted(maps.Keys(r.paths))
		for _, d := range last.Degraded {
			cfg.Suspect = append(cfg.Suspect, d.Root)
		}
	}
	s.watch.begins(cfg.Paths == nil)
	defer s.watch.writes(false)
	result, err := reconcile.Run(ctx, w, cfg)
	if err == nil && cfg.Paths == nil {
		var carried bool
		if carried, err = s.carryOver(ctx, w, cfg); carried {
			// What was brought is to be judged like everything.
			cfg.Full = false
			result, err = reconcile.Run(ctx, w, cfg)
		}
	}
	if err == nil {
		err = s.keepReport(ctx, w, last, &result)
	}
	return &result, errors.Join(err, w.Close())
}

// openWriter opens the index for writing. One that cannot be used is set aside
// and a new one begun.
func (s *Service) openWriter(ctx context.Context) (*store.Writer, error) {
	var w *store.Writer
	err := store.ErrDamaged
	if !s.suspect.on(s.paths.Index()) {
		w, err = store.OpenWriter(ctx, s.paths.Index())
	}
	if store.IsReadOnly(err) {
		// Perhaps only because it is open for reading from a time when it was.
		if err := s.handles.retire(ctx); err != nil {
			return nil, err
		}
		w, err = store.OpenWriter(ctx, s.paths.Index())
	}
	if !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrForeign) {
		return w, err
	}
	aside, moveErr := store.SetAside(s.paths.Index())
	if moveErr != nil {
		return nil, moveErr
	}
	s.suspect.clear()
	s.log.Warn().Err(err).Str("aside", aside).Msg("the index cannot be used; it was set aside and is built anew")
	return store.OpenWriter(ctx, s.paths.Index())
}

// carryOver brings what databases that were set aside keep into the index, after
// a pass over everything that is on disk. Interrupted, it begins anew in the
// next one.
func (s *Service) carryOver(ctx context.Context, w *store.Writer, cfg reconcile.Config) (carried bool, err error) {
	for _, aside := range store.Pending(s.paths.Index()) {
		n, whole, err := reconcile.CarryOver(ctx, w, cfg, aside)
		if carried = carried || n > 0; err != nil {
			return carried, err
		}
		s.log.Info().Int("sessions", n).Bool("whole", whole).Str("from", aside).Msg("sessions whose transcripts are gone were brought over from the index before")
		// A damaged one is kept for a person to look into, unless it may hold
		// what was forgotten.
		if err := store.Settle(s.paths.Index(), aside, whole || cfg.Forgotten.Len() > 0); err != nil {
			return carried, err
		}
	}
	return carried, nil
}

// passConfig is what a pass goes by, as policy and configuration are now.
func (s *Service) passConfig() (reconcile.Config, error) {
	policy, err := s.policy.load()
	if err != nil || !policy.Allows() {
		return reconcile.Config{}, errInterrupted
	}
	user, exclude, warnings, err := loadConfig(s.paths.ConfigFile(), s.env.Home, s.agentIDs())
	if err != nil {
		return reconcile.Config{}, err
	}
	forgotten, err := s.tombstones.load()
	if err != nil {
		return reconcile.Config{}, err
	}
	s.watch.warned(warnings, func(text string) { s.log.Warn().Msg(text) })
	cfg := reconcile.Config{
		Readers: s.readers, Env: s.env, Roots: user.Roots, Exclude: exclude, Forgotten: forgotten, Log: s.log,
		Continue: func() error {
			// Another process may have withdrawn the consent.
			if now, err := s.policy.load(); err != nil || !now.Allows() {
				return errInterrupted
			}
			// Or have a session forgotten: it waits for the lock to drop it.
			if now, err := s.tombstones.load(); err != nil || now != forgotten {
				s.courtesy.Store(time.Now().Add(3 * lockPoll).UnixNano())
				s.request(false)
				return errInterrupted
			}
			return nil
		},
		Observe: func(at reconcile.Progress) {
			if s.watch.progressed(contract.Progress{BytesDone: at.BytesDone, BytesTotal: at.BytesTotal, FilesDone: at.FilesDone, FilesTotal: at.FilesTotal}) {
				s.wake.all()
			}
		},
	}
	if policy.HistoryDays != nil {
		cfg.HistoryDays = *policy.HistoryDays
	}
	return cfg, nil
}

func (s *Service) agentIDs() []string {
	ids := make([]string, len(s.readers))
	for i, r := range s.readers {
		ids[i] = r.Agent().ID
	}
	return ids
}

// current brings the index up to date for a request, within the service's
// patience. late says that time ran out, in which case the pass goes on.
func (s *Service) current(ctx context.Context) (late bool, err error) {
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	for {
		r := s.request(false)
		select {
		case <-r.done:
			if errors.Is(r.err, errInterrupted) && s.allowed() {
				continue
			}
			if r.err != nil && !errors.Is(r.err, errInterrupted) {
				return false, fmt.Errorf("bring the index up to date: %w", r.err)
			}
			return false, nil
		case <-timer.C:
			return true, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
