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

// counted keeps the last glance at the index.
type counted struct {
	mu     sync.Mutex
	glance store.Glance
	from   *handle
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
	s.addObserved(&status, saw)
	for _, rd := range s.readers {
		agent := rd.Agent()
		counts := glance.Agents[agent.ID]
		status.Agents = append(status.Agents, contract.AgentStatus{
			Agent: agent.ID, Label: agent.Label, Roots: s.rootsOf(agent.ID, saw),
			Sessions: counts.Sessions, Events: counts.Events, Failed: counts.Failed,
		})
	}
	status.Phase = phaseOf(&status, saw)
	status.Writer = s.writer(saw)
	return contract.RedactStatus(status, s.transport), nil
}

func (s *Service) addObserved(status *contract.Status, saw seen) {
	if saw.err != nil && !errors.Is(saw.err, errInterrupted) && !errors.Is(saw.err, errClosed) {
		status.DegradedRoots = append(status.DegradedRoots, contract.DegradedRoot{Root: s.paths.Data, Reason: indexError(saw.err).Message})
	}
	if r := saw.result; r != nil {
		for _, d := range r.Degraded {
			status.DegradedRoots = append(status.DegradedRoots, contract.DegradedRoot{Root: d.Root, Reason: d.Reason})
		}
		status.FilesDue = r.Due
		// A pass of this version looks at everything, so each is a sweep.
		at, swept := saw.lastAt.UnixMilli(), saw.lastAt.UnixMilli()
		status.LastReconcileAt, status.LastSweepCompletedAt = &at, &swept
	}
	if p := saw.progress; p != nil {
		status.FilesDue = p.FilesTotal - p.FilesDone
	}
}

func phaseOf(status *contract.Status, saw seen) contract.Phase {
	switch {
	case !saw.ever:
		return contract.PhaseIdle
	case len(status.DegradedRoots) > 0 || status.FilesFailed > 0:
		return contract.PhaseDegraded
	case status.FilesDue == 0 && saw.result != nil:
		return contract.PhaseCurrent
	}
	return contract.PhaseIndexing
}

func (s *Service) writer(saw seen) contract.Writer {
	switch {
	case saw.writing:
		return contract.WriterThis
	case heldElsewhere(s.paths.Lock()):
		return contract.WriterOther
	case saw.ever:
		return contract.WriterThis
	}
	return contract.WriterNone
}

// glance counts what the index holds. While a pass runs here, counts are taken
// a few times a second only.
func (s *Service) glance(ctx context.Context, saw seen) (store.Glance, error) {
	use, release, err := s.handles.acquire(ctx)
	if err != nil {
		return store.Glance{}, err
	}
	defer release()
	s.counted.mu.Lock()
	defer s.counted.mu.Unlock()
	if saw.writing && s.counted.from == use && time.Since(s.counted.at) < recount {
		return s.counted.glance, nil
	}
	glance, err := use.status.Glance(ctx)
	if err != nil {
		return store.Glance{}, err
	}
	s.counted.glance, s.counted.from, s.counted.at = glance, use, time.Now()
	return glance, nil
}

// rootsOf are the folders that were looked into for an agent; before the first
// pass those of them that are there.
func (s *Service) rootsOf(agent string, saw seen) []string {
	roots := []string{}
	add := func(path string) {
		if !slices.Contains(roots, path) {
			roots = append(roots, path)
		}
	}
	if saw.result == nil {
		// A reader's panic shows in the pass.
		all, _ := reconcile.Roots(s.byAgent[agent], s.env)
		for _, root := range all {
			if _, err := os.Stat(root.Path); err == nil || root.Configured {
				add(root.Path)
			}
		}
		return roots
	}
	for _, root := range saw.result.Roots {
		if root.Agent == agent && (root.Err == nil || root.Configured || !errors.Is(root.Err, fs.ErrNotExist)) {
			add(root.Path)
		}
	}
	return roots
}
