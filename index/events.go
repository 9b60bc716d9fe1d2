package index

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/exact"
	"github.com/sessionls/sessionls/index/query"
	"github.com/sessionls/sessionls/index/store"
)

// SearchEvents implements contract.Commands.
func (s *Service) SearchEvents(ctx context.Context, request contract.SearchEventsRequest) (contract.SearchEventsResponse, error) {
	if request.AsksNothing() {
		return contract.SearchEventsResponse{Total: contract.EventTotal{Exact: true}}, nil
	}
	find := s.searchEvents
	if request.Mode == contract.ModeScan {
		find = s.exact.Scan
	}
	// What is still at a stretch of work that cannot be interrupted (a record of
	// many megabytes) must not hold up the answer to a client that cancelled.
	type outcome struct {
		response contract.SearchEventsResponse
		err      error
	}
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		defer func() {
			if r := recover(); r != nil {
				s.log.Error().Interface("panic", r).Bytes("stack", debug.Stack()).Msg("a search for events panicked")
				out.err = contract.Internal(fmt.Errorf("searching events ended unexpectedly: %v", r))
			}
			done <- out
		}()
		out.response, out.err = readExactly(ctx, s, request, func(ctx context.Context, request contract.SearchEventsRequest) (contract.SearchEventsResponse, error) {
			late := false
			if request.Freshness == contract.FreshnessWait {
				var err error
				if late, err = s.current(ctx); err != nil {
					return contract.SearchEventsResponse{}, err
				}
			}
			response, err := find(ctx, request)
			response.Truncated.Freshness = late
			return response, err
		})
	}()
	select {
	case out := <-done:
		return contract.RedactEvents(out.response, s.exposure(ctx)), out.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(lastMoment)
	defer timer.Stop()
	select {
	case out := <-done:
		return contract.RedactEvents(out.response, s.exposure(ctx)), out.err
	case <-timer.C:
		return contract.SearchEventsResponse{}, contract.Aborted(ctx.Err())
	}
}

// lastMoment is how long a search that was cancelled is waited for.
const lastMoment = 10 * time.Millisecond

// searchEvents answers by the index.
func (s *Service) searchEvents(ctx context.Context, request contract.SearchEventsRequest) (contract.SearchEventsResponse, error) {
	var out contract.SearchEventsResponse
	err := s.view(ctx, func(snap *store.Snapshot) error {
		var session *store.Session
		var header *contract.Header
		if request.OfSession() {
			var err error
			if session, err = exact.Resolve(ctx, snap, request.SessionName); err != nil {
				return err
			}
			h := exact.Header(session, s.now())
			header = &h
		}
		var err error
		out, err = s.engine.Events(ctx, snap, session, request, query.Options{Now: s.now(), Transport: s.exposure(ctx)})
		out.Session = header
		return err
	})
	if err == nil && request.OnHits != nil && len(out.Hits) > 0 {
		err = request.OnHits(out.Hits)
		out.Hits = nil
	}
	return out, err
}
