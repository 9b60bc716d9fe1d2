package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
)

// GetPolicy implements contract.Commands.
func (s *Service) GetPolicy(context.Context, contract.GetPolicyRequest) (contract.Policy, error) {
	policy, err := s.policy.load()
	if err != nil {
		return contract.Policy{}, contract.Failed(contract.CodePersistenceFailed, err, "%v", err)
	}
	return policy, nil
}

// SetPolicy implements contract.Commands. When it returns after disabling,
// nothing is being read any more and the index is closed.
func (s *Service) SetPolicy(ctx context.Context, request contract.SetPolicyRequest) (contract.Policy, error) {
	if s.transport == contract.TransportRemote {
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
	if s.transport == contract.TransportRemote {
		return contract.ClearResponse{}, contract.Failed(contract.CodeSearchDisabled, nil, "the index is the user's of this machine: it is not cleared from another one")
	}
	if _, err := os.Stat(s.paths.Data); errors.Is(err, fs.ErrNotExist) && !s.allowed() {
		return contract.ClearResponse{Cleared: true}, nil // nothing there, nothing to make
	}
	identity, err := s.clear(ctx)
	if s.allowed() {
		s.request(false) // also after a failure: reading goes on
	}
	s.wake.all()
	if err != nil {
		return contract.ClearResponse{}, s.failure(ctx, err)
	}
	return contract.ClearResponse{Cleared: true, Identity: identity}, nil
}

func (s *Service) clear(ctx context.Context) (identity string, err error) {
	if err := s.seize(ctx); err != nil {
		return "", err
	}
	leave, err := s.lock(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
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
		return "", fmt.Errorf("clear the index: %w", err)
	}
	if !s.allowed() {
		return "", nil
	}
	use, release, err := s.handles.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	glance, err := use.status.Glance(ctx)
	return glance.Identity, err
}
