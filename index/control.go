package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/requests"
	"github.com/sessionls/sessionls/index/store"
)

// GetPolicy implements contract.Commands.
func (s *Service) GetPolicy(ctx context.Context, _ contract.GetPolicyRequest) (contract.Policy, error) {
	if s.exposure(ctx) == contract.TransportRemote {
		return contract.Policy{}, contract.Failed(contract.CodeSearchDisabled, nil, "the policy is the user's of this machine: it is not told to another one")
	}
	policy, err := s.policy.load()
	if err != nil {
		return contract.Policy{}, contract.Failed(contract.CodePersistenceFailed, err, "%v", err)
	}
	return policy, nil
}

// SetPolicy implements contract.Commands. When it returns after disabling,
// nothing is being read any more and the index is closed.
func (s *Service) SetPolicy(ctx context.Context, request contract.SetPolicyRequest) (contract.Policy, error) {
	if s.exposure(ctx) == contract.TransportRemote {
		return contract.Policy{}, contract.Failed(contract.CodeSearchDisabled, nil, "the policy is the user's of this machine: it is not changed from another one")
	}
	before, after, err := s.policy.change(ctx, request)
	if err != nil {
		if ctx.Err() != nil {
			return contract.Policy{}, contract.Aborted(err)
		}
		return contract.Policy{}, contract.Failed(contract.CodePersistenceFailed, err, "%v", err)
	}
	defer s.wake.all()
	switch {
	case !after.Allows():
		// Should the writer not answer, it ends between two transactions.
		if _, _, err := s.askWriter(ctx, requests.Policy, "", nil); err != nil {
			return contract.Policy{}, s.failure(ctx, err)
		}
		if err := s.stop(ctx); err != nil {
			return contract.Policy{}, s.failure(ctx, err)
		}
	case !before.Allows():
		s.request(false)
	case !sameDays(before.HistoryDays, after.HistoryDays):
		// A pass that runs goes by the old retention.
		s.passes.interrupt()
		s.request(false)
	}
	return after, nil
}

func sameDays(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

// stop ends reading and closes the index; its file stays.
func (s *Service) stop(ctx context.Context) error {
	if err := s.seize(ctx); err != nil {
		return err
	}
	defer func() { <-s.gate }()
	s.watch.forget()
	if err := s.reads.withdraw(ctx); err != nil {
		return err
	}
	s.exact.Forget()
	return s.handles.retire(ctx)
}

// Clear implements contract.Commands.
func (s *Service) Clear(ctx context.Context, _ contract.ClearRequest) (contract.ClearResponse, error) {
	if s.exposure(ctx) == contract.TransportRemote {
		return contract.ClearResponse{}, contract.Failed(contract.CodeSearchDisabled, nil, "the index is the user's of this machine: it is not cleared from another one")
	}
	if _, err := os.Stat(s.paths.Data); errors.Is(err, fs.ErrNotExist) && !s.allowed() {
		return contract.ClearResponse{Cleared: true}, nil // nothing there, nothing to make
	}
	response, served, err := askFor[struct{}, contract.ClearResponse](ctx, s, requests.Clear, struct{}{})
	switch {
	case !served && err == nil:
		response, err = s.clear(ctx, always)
	case err == nil:
		s.suspect.clear()
		s.watch.forget()
	}
	if s.allowed() {
		s.request(false) // also after a failure: reading goes on
	}
	s.wake.all()
	if err != nil {
		return contract.ClearResponse{}, s.failure(ctx, err)
	}
	return response, nil
}

// always is the wanted of what this process was asked for itself.
func always(context.Context) error { return nil }

// clear deletes the index and begins it anew. wanted is asked when nothing is in
// its way any more, and stops it by an error.
func (s *Service) clear(ctx context.Context, wanted func(context.Context) error) (out contract.ClearResponse, err error) {
	if err := s.seize(ctx); err != nil {
		return out, err
	}
	leave, err := s.lock(ctx)
	if err != nil {
		return out, err
	}
	defer leave()
	if err := wanted(ctx); err != nil {
		return out, err
	}
	err = s.handles.exclusively(ctx, func() error {
		if err := errors.Join(store.Remove(s.paths.Index()), store.RemoveAside(s.paths.Index())); err != nil {
			return err
		}
		// Last: while there is a kept copy, what was forgotten stays so.
		if err := s.tombstones.remove(ctx); err != nil {
			return err
		}
		s.suspect.clear()
		s.watch.forget()
		if !s.allowed() {
			return nil
		}
		w, err := store.OpenWriter(ctx, s.paths.Index())
		if err != nil {
			return err
		}
		return w.Close()
	})
	if err != nil {
		return out, fmt.Errorf("clear the index: %w", err)
	}
	out.Cleared = true
	if !s.allowed() {
		return out, nil
	}
	use, release, err := s.handles.acquire(ctx)
	if err != nil {
		return out, err
	}
	defer release()
	glance, err := use.status.Glance(ctx)
	out.Identity = glance.Identity
	return out, err
}
