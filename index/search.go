package index

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/query"
	"github.com/sessionls/sessionls/index/store"
)

// SearchSessions implements contract.Commands.
func (s *Service) SearchSessions(ctx context.Context, request contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
	var none contract.SearchSessionsResponse
	if !request.ExecutionHost.IsLocal() {
		return contract.UnavailableResponse(contract.ReasonNoService), nil
	}
	if s.closed.Load() {
		return contract.UnavailableResponse(contract.ReasonNotReady), nil
	}
	if !s.allowed() {
		s.handles.drop() // perhaps another process disabled it
		return contract.UnavailableResponse(contract.ReasonDisabled), nil
	}
	late := false
	if request.Freshness == contract.FreshnessWait {
		var err error
		if late, err = s.current(ctx); err != nil {
			return none, s.failure(ctx, err)
		}
		if !s.allowed() {
			return contract.UnavailableResponse(contract.ReasonDisabled), nil
		}
	}
	response, err := s.search(ctx, request)
	switch {
	case errors.Is(err, contract.ErrNotReady):
		return contract.UnavailableResponse(contract.ReasonNotReady), nil
	case err != nil:
		return none, s.unread(ctx, err)
	}
	if response.Results != nil {
		response.Results.Truncated.Freshness = late
	}
	return contract.RedactResponse(response, s.exposure(ctx)), nil
}

func (s *Service) search(ctx context.Context, request contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
	var response contract.SearchSessionsResponse
	err := s.view(ctx, func(snap *store.Snapshot) error {
		var err error
		response, err = s.engine.Search(ctx, snap, request, query.Options{
			Now: s.now(), Transport: s.exposure(ctx), ResumeCommand: s.ResumeCommand, CodexHome: codexHome,
		})
		return err
	})
	return response, err
}

// view runs f over a snapshot of the index. Damage that shows on the way has
// the index rebuilt and counts as not ready.
func (s *Service) view(ctx context.Context, f func(*store.Snapshot) error) error {
	use, release, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer release()
	snap, err := use.search.Snapshot(ctx)
	if err == nil {
		err = errors.Join(f(snap), snap.Close())
	}
	if store.IsDamage(err) {
		// Not of one that was replaced meanwhile: the new one may be good.
		s.suspect.fall(use.search.File())
		s.damaged(err)
		return contract.ErrNotReady
	}
	return err
}

func (s *Service) damaged(err error) {
	s.log.Error().Err(err).Msg("the index is damaged and will be built anew")
	s.request(false)
}

// reader is the open index. If there is none yet, it waits for the pass that
// makes it.
func (s *Service) reader(ctx context.Context) (*handle, func(), error) {
	use, release, err := s.handles.acquire(ctx)
	if err == nil || ctx.Err() != nil {
		return use, release, err
	}
	if errors.Is(err, errClosed) {
		return nil, nil, contract.ErrNotReady
	}
	if store.IsDamage(err) {
		s.damaged(err)
		return nil, nil, contract.ErrNotReady
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, store.ErrForeign) {
		s.log.Warn().Err(err).Msg("the index cannot be opened")
	}
	r := s.request(false)
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	select {
	case <-r.opened:
	case <-r.done:
	case <-timer.C:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	use, release, err = s.handles.acquire(ctx)
	if err != nil && ctx.Err() == nil {
		s.log.Warn().Err(err).Msg("there is no index to answer from")
		return nil, nil, contract.ErrNotReady
	}
	return use, release, err
}

// failure is the error of a request that writes the index or waits for it to be
// written, unread that of one that reads it.
func (s *Service) failure(ctx context.Context, err error) error {
	return s.failed(ctx, err, "the index cannot be brought up to date")
}

func (s *Service) unread(ctx context.Context, err error) error {
	return s.failed(ctx, err, "the index cannot be read")
}

func (s *Service) failed(ctx context.Context, err error, what string) error {
	var known *contract.Error
	switch {
	case ctx.Err() != nil:
		return contract.Aborted(err)
	case errors.As(err, &known):
		return known
	}
	s.log.Error().Err(err).Msg("a request failed")
	return indexFailed(err, what)
}

// codexHome is the CODEX_HOME that a rollout lies in, "" if it lies elsewhere.
func codexHome(path string) string {
	p := filepath.ToSlash(path)
	for _, dir := range []string{"/sessions/", "/archived_sessions/"} {
		if i := strings.LastIndex(p, dir); i > 0 {
			return path[:i]
		}
	}
	return ""
}
