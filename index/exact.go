package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/exact"
	"github.com/sessionls/sessionls/index/reconcile"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// The exact reads of contract.md §9. They are answered by package exact; here
// is what they need of the service: consent, the index, and where transcripts
// are.

// ListSessions implements contract.Commands.
func (s *Service) ListSessions(ctx context.Context, request contract.ListSessionsRequest) (contract.ListSessionsResponse, error) {
	r, err := readExactly(ctx, s, request, s.exact.ListSessions)
	return contract.RedactSessions(r, s.exposure(ctx)), err
}

// ReadSession implements contract.Commands.
func (s *Service) ReadSession(ctx context.Context, request contract.ReadSessionRequest) (contract.ReadSessionResponse, error) {
	r, err := readExactly(ctx, s, request, s.exact.ReadSession)
	r.Session = contract.RedactHeader(r.Session, s.exposure(ctx))
	return r, err
}

// ListEvents implements contract.Commands.
func (s *Service) ListEvents(ctx context.Context, request contract.ListEventsRequest) (contract.EventPage, error) {
	r, err := readExactly(ctx, s, request, s.exact.ListEvents)
	r.Session = contract.RedactHeader(r.Session, s.exposure(ctx))
	return r, err
}

// FilterEvents implements contract.Commands.
func (s *Service) FilterEvents(ctx context.Context, request contract.FilterEventsRequest) (contract.EventPage, error) {
	r, err := readExactly(ctx, s, request, s.exact.FilterEvents)
	r.Session = contract.RedactHeader(r.Session, s.exposure(ctx))
	return r, err
}

// ReadEvent implements contract.Commands.
func (s *Service) ReadEvent(ctx context.Context, request contract.ReadEventRequest) (contract.ReadEventResponse, error) {
	r, err := readExactly(ctx, s, request, s.exact.ReadEvent)
	r.Session = contract.RedactHeader(r.Session, s.exposure(ctx))
	return r, err
}

// ReadSurface implements contract.Commands.
func (s *Service) ReadSurface(ctx context.Context, request contract.ReadSurfaceRequest) (contract.ReadSurfaceResponse, error) {
	r, err := readExactly(ctx, s, request, s.exact.ReadSurface)
	r.Session = contract.RedactHeader(r.Session, s.exposure(ctx))
	return r, err
}

// ReadTitles implements contract.Commands.
func (s *Service) ReadTitles(ctx context.Context, request contract.ReadTitlesRequest) (contract.ReadTitlesResponse, error) {
	r, err := readExactly(ctx, s, request, s.exact.ReadTitles)
	return contract.RedactTitles(r, s.exposure(ctx)), err
}

// TraceSession implements contract.Commands.
func (s *Service) TraceSession(ctx context.Context, request contract.TraceSessionRequest) (contract.TraceSessionResponse, error) {
	r, err := readExactly(ctx, s, request, s.exact.TraceSession)
	return contract.RedactLineage(r, s.exposure(ctx)), err
}

// TraceEvent implements contract.Commands.
func (s *Service) TraceEvent(ctx context.Context, request contract.TraceEventRequest) (contract.TraceEventResponse, error) {
	r, err := readExactly(ctx, s, request, s.exact.TraceEvent)
	r.Session = contract.RedactHeader(r.Session, s.exposure(ctx))
	return r, err
}

// RenderTranscript implements contract.Commands.
func (s *Service) RenderTranscript(ctx context.Context, request contract.RenderTranscriptRequest) (contract.RenderTranscriptResponse, error) {
	r, err := readExactly(ctx, s, request, s.exact.RenderTranscript)
	r.Session = contract.RedactHeader(r.Session, s.exposure(ctx))
	return r, err
}

// ResumePlan implements contract.Commands.
func (s *Service) ResumePlan(ctx context.Context, request contract.ResumePlanRequest) (contract.ResumePlanResponse, error) {
	r, err := readExactly(ctx, s, request, s.exact.ResumePlan)
	return contract.RedactResumePlan(r, s.exposure(ctx)), err
}

// newExact makes the engine of the exact reads.
func (s *Service) newExact() *exact.Engine {
	return exact.New(exact.Options{
		Readers: s.readers, View: s.view, Now: s.now, LookPath: exec.LookPath,
		Env: s.envOf, Locate: s.locate,
	})
}

// readExactly answers one exact read. Without consent there is none; withdrawing
// it ends those that run.
func readExactly[Q interface{ Host() contract.Host }, R any](ctx context.Context, s *Service, request Q, read func(context.Context, Q) (R, error)) (R, error) {
	var none R
	if host := request.Host(); !host.IsLocal() {
		return none, contract.Failed(contract.CodeSearchDisabled, nil, "there is no service to ask on %s", string(host))
	}
	if s.closed.Load() || !s.allowed() {
		s.exact.Forget()
		return none, disabledError()
	}
	within, withdraw, end := s.reads.begin(ctx, s.ctx)
	defer end()
	go mind(within, s.allowed, withdraw)
	response, err := read(within, request)
	switch {
	case err == nil:
		return response, nil
	case ctx.Err() == nil && errors.Is(context.Cause(within), errWithdrawn):
		return none, disabledError()
	case errors.Is(err, contract.ErrNotReady):
		return none, contract.Failed(contract.CodeIndexFailed, err, "there is no index to answer from yet; see the log for the cause")
	}
	return none, s.unread(ctx, err)
}

// errWithdrawn ends reads when the user withdraws the consent.
var errWithdrawn = errors.New("the consent was withdrawn")

// reads are the exact reads under way.
type reads struct {
	mu      sync.Mutex
	running map[*running]struct{}
}

type running struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// begin counts a read in. Its context ends with that of the request, with the
// service's, and when consent is withdrawn.
func (r *reads) begin(ctx, service context.Context) (within context.Context, withdraw, end func()) {
	within, cancel := context.WithCancelCause(ctx)
	one := &running{cancel, make(chan struct{})}
	r.mu.Lock()
	if r.running == nil {
		r.running = map[*running]struct{}{}
	}
	r.running[one] = struct{}{}
	r.mu.Unlock()
	withdraw = func() { cancel(errWithdrawn) }
	stop := context.AfterFunc(service, withdraw)
	return within, withdraw, func() {
		stop()
		cancel(nil)
		r.mu.Lock()
		delete(r.running, one)
		r.mu.Unlock()
		close(one.done)
	}
}

// withdraw ends all reads and waits for their end.
func (r *reads) withdraw(ctx context.Context) error {
	r.mu.Lock()
	list := slices.Collect(maps.Keys(r.running))
	r.mu.Unlock()
	for _, one := range list {
		one.cancel(errWithdrawn)
	}
	for _, one := range list {
		select {
		case <-one.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// mindEvery is how soon a long read notices that another process withdrew the
// consent.
const mindEvery = 500 * time.Millisecond

// mind ends a read that goes on after the consent was withdrawn elsewhere.
func mind(ctx context.Context, allowed func() bool, withdraw func()) {
	ticker := time.NewTicker(mindEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if !allowed() {
				withdraw()
				return
			}
		}
	}
}

// Resolve finds the one session that a name means. None is SESSION_NOT_FOUND,
// several are SOURCE_CONFLICT with the candidates.
func (s *Service) Resolve(ctx context.Context, name contract.SessionName) (contract.Header, error) {
	var header contract.Header
	if s.closed.Load() || !s.allowed() {
		return header, disabledError()
	}
	err := s.view(ctx, func(snap *store.Snapshot) error {
		session, err := exact.Resolve(ctx, snap, name)
		if err == nil {
			header = contract.RedactHeader(exact.Header(session, s.now()), s.exposure(ctx))
		}
		return err
	})
	switch {
	case errors.Is(err, contract.ErrNotReady):
		return header, contract.Failed(contract.CodeIndexFailed, err, "there is no index to answer from yet; see the log for the cause")
	case err != nil:
		return header, s.unread(ctx, err)
	}
	return header, nil
}

// envOf is the machine as an agent's reader sees it, with the folders that the
// user has configured.
func (s *Service) envOf(agent string) (transcript.Env, error) {
	user, _, _, err := loadConfig(s.paths.ConfigFile(), s.env.Home, s.agentIDs())
	if err != nil {
		return transcript.Env{}, err
	}
	env := s.env
	env.Extra = user.Roots[agent]
	return env, nil
}

// locate looks for a source on disk, as a pass would find it.
func (s *Service) locate(ctx context.Context, known transcript.Source) (transcript.Source, error) {
	var none transcript.Source
	if _, err := os.Stat(known.Path); err != nil {
		return none, fmt.Errorf("look for the transcript: %w", err)
	}
	env, err := s.envOf(known.Agent)
	if err != nil {
		return none, err
	}
	return reconcile.Find(ctx, s.byAgent[known.Agent], env, known)
}
