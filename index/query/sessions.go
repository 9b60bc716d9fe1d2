package query

import (
	"context"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
)

// Sessions is the set of sessions that pass the filters, nil for all of them. Of
// the events clause a session must have at least one that passes. clock is the
// present for the filter on active sessions.
func Sessions(ctx context.Context, snap *store.Snapshot, filters contract.Filters, clock time.Time) (map[int64]bool, error) {
	s := &search{ctx: ctx, snap: snap, clock: clock}
	s.query = parse("", nil, clock)
	s.cond = newConditions(filters, &s.query.ops, clock, false)
	s.plan = newPlan(&s.query, contract.ScopeAll)
	if err := s.restrict(); err != nil {
		return nil, err
	}
	if !s.cond.events.restricts() {
		return s.allowed, nil
	}
	ids := s.allowed
	if ids == nil {
		var err error
		if ids, err = snap.SessionIDs(ctx, nil); err != nil {
			return nil, err
		}
	}
	return s.sessionsWithEvents(ids)
}
