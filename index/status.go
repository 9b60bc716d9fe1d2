package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/reconcile"
	"github.com/sessionls/sessionls/index/store"
)

// recount is how old counts in a status may be. Counting goes through all
// sessions, and a build asks for a status at every step.
const recount = 500 * time.Millisecond

// glance is what the index says of itself, and the last report.
type glance struct {
	store.Glance
	report *report
}

// counted keeps the last glance at the index.
type counted struct {
	mu     sync.Mutex
	glance glance
	from   *handle
	text   string // of the report that was read
	at     time.Time
}

// SearchStatus implements contract.Commands. It waits for no pass and no
// search.
func (s *Service) SearchStatus(ctx context.Context, request contract.SearchStatusRequest) (contract.SearchStatusResponse, error) {
	if !request.ExecutionHost.IsLocal() {
		return contract.IdleStatus(false), nil
	}
	policy := s.consent()
	if !policy.Allows() || s.closed.Load() {
		s.handles.drop() // perhaps another process disabled it
		status := contract.IdleStatus(policy.Decided())
		if s.closed.Load() {
			status.Phase = contract.PhaseClosed
		}
		return status, nil
	}
	saw := s.watch.see()
	status := contract.Status{Enabled: true, Decided: true, Progress: saw.progress, IndexBytes: store.Bytes(s.paths.Index())}
	glance, err := s.glance(ctx, saw)
	switch {
	case ctx.Err() != nil:
		return contract.Status{}, contract.Aborted(ctx.Err())
	case store.IsDamage(err):
		s.damaged(err)
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, store.ErrForeign):
		status.DegradedRoots = append(status.DegradedRoots, contract.DegradedRoot{Root: s.paths.Index(), Reason: err.Error()})
	}
	status.Generation, status.Identity = glance.Generation, glance.Identity
	status.Sessions, status.Events = glance.Sessions, glance.Events
	status.FilesIndexed, status.FilesFailed = glance.Read, glance.Failed
	s.addObserved(&status, saw, glance.report)
	for _, rd := range s.readers {
		agent := rd.Agent()
		var roots []string
		if glance.report != nil {
			roots = glance.report.Roots[agent.ID]
		} else {
			roots = s.rootsOf(agent.ID)
		}
		counts := glance.Agents[agent.ID]
		status.Agents = append(status.Agents, contract.AgentStatus{
			Agent: agent.ID, Label: agent.Label, Roots: roots,
			Sessions: counts.Sessions, Events: counts.Events, Failed: counts.Failed,
		})
	}
	status.Phase = phaseOf(&status, saw, glance.report)
	status.Writer = s.writer(saw)
	if notice := s.follower.notice(); notice != "" {
		status.Notices = append(status.Notices, notice)
	}
	return contract.RedactStatus(status, s.exposure(ctx)), nil
}

func (s *Service) addObserved(status *contract.Status, saw seen, last *report) {
	if saw.err != nil && !errors.Is(saw.err, errInterrupted) && !errors.Is(saw.err, errClosed) {
		status.DegradedRoots = append(status.DegradedRoots, contract.DegradedRoot{Root: s.paths.Data, Reason: indexError(saw.err).Message})
	}
	last.addTo(status)
	if p := saw.progress; p != nil {
		status.FilesDue = p.FilesTotal - p.FilesDone
	}
}

func phaseOf(status *contract.Status, saw seen, last *report) contract.Phase {
	switch {
	case !saw.ever:
		return contract.PhaseIdle
	case len(status.DegradedRoots) > 0 || status.FilesFailed > 0:
		return contract.PhaseDegraded
	case status.FilesDue == 0 && last != nil:
		return contract.PhaseCurrent
	}
	return contract.PhaseIndexing
}

func (s *Service) writer(saw seen) contract.Writer {
	switch {
	case saw.writing:
		return contract.WriterThis
	case heldElsewhere(s.paths.Lock()):
		// The observations may be older than a pass of this process.
		if s.locked.Load() {
			return contract.WriterThis
		}
		return contract.WriterOther
	case s.follower.led():
		return contract.WriterOther
	case saw.ever:
		return contract.WriterThis
	}
	return contract.WriterNone
}

// glance counts what the index holds. While a pass runs here, counts are taken
// a few times a second only.
func (s *Service) glance(ctx context.Context, saw seen) (glance, error) {
	use, release, err := s.handles.acquire(ctx)
	if err != nil {
		return glance{}, err
	}
	defer release()
	s.counted.mu.Lock()
	defer s.counted.mu.Unlock()
	// Not those of before the pass: what the one before has written is counted.
	if saw.writing && s.counted.from == use && s.counted.at.After(saw.since) && time.Since(s.counted.at) < recount {
		return s.counted.glance, nil
	}
	// The report first: counts that are newer than what it says do no harm.
	text, err := use.status.Noted(ctx, reportNote)
	if err != nil {
		return glance{}, err
	}
	// Whatever writes ends with another generation or another report.
	generation, identity, err := use.status.Moved(ctx)
	if err != nil {
		return glance{}, err
	}
	if c := &s.counted; c.from == use && c.text == text && text != "" && c.glance.Generation == generation && c.glance.Identity == identity && !saw.writing {
		return c.glance, nil
	}
	counts, err := use.status.Glance(ctx)
	if err != nil {
		if store.IsDamage(err) {
			s.suspect.fall(use.status.File())
		}
		return glance{}, err
	}
	s.counted.glance, s.counted.from, s.counted.text, s.counted.at = glance{counts, readReport(text)}, use, text, time.Now()
	return s.counted.glance, nil
}

// rootsOf are the folders that will be looked into for an agent.
func (s *Service) rootsOf(agent string) []string {
	roots := []string{}
	// A reader's panic shows in the pass.
	all, _ := reconcile.Roots(s.byAgent[agent], s.env)
	for _, root := range all {
		if _, err := os.Stat(root.Path); (root.Configured || err == nil) && !slices.Contains(roots, root.Path) {
			roots = append(roots, root.Path)
		}
	}
	return roots
}
