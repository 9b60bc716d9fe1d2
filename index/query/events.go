package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
)

// eventSearch is what a search for events knows beyond one for sessions. The
// events of the index are told by their first rows.
type eventSearch struct {
	req contract.SearchEventsRequest
	// of is the session that is searched; its id is 0 when all are.
	of struct {
		id, rows int64
	}
	excluded map[int64]bool
	found    []event
	have     []hits // what the last of found holds
}

// event is an event that matched.
type event struct {
	scored        // its best row, and what all its rows hold together
	first   int64 // its first row
	session int64
	best    scored // the best row by itself
	cover   float64
	exact   bool    // the query's only word is there as it was typed
	lacks   bool    // a quoted phrase is missing
	key     float64 // the place in the order, see contract.EventCursor
}

// Events answers searchEvents by the index. session is the one that is searched,
// nil for all. The error is a [contract.Error] for a cursor that cannot be
// continued, ctx.Err(), or a failure of the index.
func (e *Engine) Events(ctx context.Context, snap *store.Snapshot, session *store.Session, req contract.SearchEventsRequest, opt Options) (contract.SearchEventsResponse, error) {
	begun := time.Now()
	s := &search{
		ctx: ctx, snap: snap, opt: opt, clock: opt.Now, ranking: e.ranking, events: &eventSearch{req: req},
		req: contract.SearchSessionsRequest{Query: req.Query, Scope: req.Scope, Filters: req.Filters},
	}
	fence, name := contract.Fence{Generation: snap.Generation, Identity: snap.Identity}, contract.SessionName{}
	if session != nil {
		s.within(session)
		s.req.Filters = contract.Filters{Sort: req.Filters.Sort, Events: req.Filters.Events}
		name = contract.SessionName{Agent: session.Agent, SessionID: session.SID}
		fence = contract.Fence{Generation: session.Epoch, Identity: fmt.Sprintf("%s/%d/%d/%d", snap.Identity, session.ID, session.Events, s.rows.first)}
	}
	walk := contract.EventCursor{RequestHash: req.Hash(name), Fence: fence, Key: math.Inf(1)}
	if req.Cursor != nil {
		var err error
		if walk, err = contract.CheckEventCursor(*req.Cursor, fence, walk.RequestHash); err != nil {
			return contract.SearchEventsResponse{}, err
		}
		s.clock = walk.Clock.Time().In(opt.Now.Location())
	}
	walk.Clock = contract.InstantOf(s.clock)
	if err := s.run(e.agents); err != nil {
		return contract.SearchEventsResponse{}, err
	}
	plan := s.plan.digest()
	if req.Cursor != nil && plan != walk.Plan {
		// Another session's words decide how a misspelt one is looked for.
		return contract.SearchEventsResponse{}, contract.StaleCursorError()
	}
	walk.Plan = plan
	page, more, err := s.eventPage(&walk)
	if err != nil {
		return contract.SearchEventsResponse{}, err
	}
	out := contract.SearchEventsResponse{
		Hits: page, Total: contract.EventTotal{Events: len(s.events.found), Exact: !s.truncated},
		Truncated:   contract.Truncated{Candidates: s.truncated, Snippets: s.shortened, Query: s.query.cut},
		Diagnostics: s.query.diagnostics, DurationMs: float64(time.Since(begun).Microseconds()) / 1000,
	}
	if more && len(page) > 0 {
		cursor := contract.EncodeEventCursor(walk)
		out.Page = contract.Page{Cursor: &cursor, HasMore: true}
	}
	return out, nil
}

// within limits the search to the rows of a session.
func (s *search) within(session *store.Session) {
	s.events.of.id = session.ID
	s.rows = &rowRange{first: math.MaxInt64}
	s.snap.Spans.Of(session.ID, func(first, end int64) {
		s.events.of.rows += end - first
		s.rows.first, s.rows.end = min(s.rows.first, first), max(s.rows.end, end)
	})
}

// confine takes away the sessions that are not searched.
func (s *search) confine() {
	id := s.events.of.id
	if id == 0 {
		return
	}
	inside := s.allowed == nil || s.allowed[id]
	s.allowed = map[int64]bool{}
	if inside {
		s.allowed[id] = true
	}
}

// excludeEvents finds the events that the query rules out.
func (s *search) excludeEvents() error {
	s.events.excluded = map[int64]bool{}
	return s.eachExcluded(func(row int64, info store.RowInfo) { s.events.excluded[s.firstRow(row, info)] = true })
}

// eachExcluded calls f for each row that holds what the query rules out.
func (s *search) eachExcluded(f func(row int64, info store.RowInfo)) error {
	for i := range s.plan.not {
		for _, st := range s.plan.streams {
			list, _, err := s.pages(st, s.plan.not[i].exact(), math.MinInt64, everything)
			if err != nil {
				return err
			}
			for _, row := range list {
				if info, ok := s.snap.Spans.At(row); ok {
					f(row, info)
				}
			}
		}
	}
	return nil
}

// firstRow is the first row of the event that a row belongs to.
func (s *search) firstRow(row int64, info store.RowInfo) int64 {
	for ok := true; ok && info.Kind.More(); {
		row--
		info, ok = s.snap.Spans.At(row)
	}
	return row
}

// listEvents finds the events of a search without words: all that pass.
func (s *search) listEvents() error {
	var deep deepFilter
	rows := map[int64][]int64{}
	var order []int64
	take := func(row int64, info store.RowInfo) {
		if s.passes(info) {
			rows[info.Session] = append(rows[info.Session], row)
			order = append(order, row)
		}
	}
	if err := s.eachRow(take); err != nil {
		return err
	}
	if s.cond.events.deep() {
		deep = newDeepFilter(s)
		if err := deep.read(rows); err != nil {
			return err
		}
	}
	for _, row := range order {
		info, ok := s.snap.Spans.At(row)
		if !ok || !deep.passes(row, info) {
			continue
		}
		first := s.firstRow(row, info)
		found := s.events.found
		if n := len(found); s.events.excluded[first] || n > 0 && found[n-1].first == first {
			continue
		}
		s.events.found = append(found, event{scored: scored{row: row}, best: scored{row: row}, first: first, session: info.Session})
	}
	return nil
}

// eachRow calls f, in ascending order, for the rows that the filters of types
// and tools let pass in the streams that are searched.
func (s *search) eachRow(f func(row int64, info store.RowInfo)) error {
	if s.marks.IsZero() {
		s.snap.Spans.Each(func(row int64, info store.RowInfo) {
			if len(s.plan.streams) > 1 || info.Kind.User() || info.Kind.Assistant() {
				f(row, info)
			}
		})
		return s.ctx.Err()
	}
	var all []int64
	for _, st := range s.plan.streams {
		list, _, err := s.pages(st, s.marks, math.MinInt64, everything)
		if err != nil {
			return err
		}
		all = append(all, list...)
	}
	for _, row := range ascending(all) {
		if info, ok := s.snap.Spans.At(row); ok {
			f(row, info)
		}
	}
	return nil
}

// digest names how the words are looked for.
func (p *plan) digest() uint64 {
	h := fnv.New64a()
	for _, i := range p.words {
		fmt.Fprintf(h, "%d %q\n", p.units[i].rung, p.units[i].instead)
	}
	return h.Sum64()
}

// eventPage makes the hits that follow the walk's last one: at most the limit,
// at most pageBytes, at least one. It moves the walk on.
func (s *search) eventPage(walk *contract.EventCursor) (page []contract.EventHit, more bool, err error) {
	limit := min(s.events.req.Limit, contract.MaxEventLimit)
	list, err := s.after(walk, limit+1)
	if err != nil || len(list) == 0 {
		return nil, false, err
	}
	sessions, err := s.sessionsOf(list)
	if err != nil {
		return nil, false, err
	}
	cut := newSnippets(s.plan)
	size := 0
	for i := range list {
		if i == limit {
			return page, true, nil
		}
		hit, err := s.eventHit(sessions[list[i].session], &list[i], cut)
		if err != nil {
			return nil, false, err
		}
		b, err := json.Marshal(hit)
		if err != nil {
			return nil, false, fmt.Errorf("encode a hit: %w", err)
		}
		if size += len(b); size > pageBytes && i > 0 {
			return page, true, nil
		}
		page = append(page, hit)
		walk.Key, walk.Session, walk.Row = list[i].key, list[i].session, list[i].first
	}
	return page, false, nil
}

// sessionsOf reads the sessions of events.
func (s *search) sessionsOf(list []event) (map[int64]*store.Session, error) {
	var ids []int64
	seen := map[int64]bool{}
	for i := range list {
		if id := list[i].session; !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	sessions, err := s.snap.Sessions(s.ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if sessions[id] == nil {
			return nil, fmt.Errorf("session %d of the answer is not in the index", id)
		}
	}
	return sessions, nil
}

// eventHit is an event's entry of the page.
func (s *search) eventHit(of *store.Session, x *event, c *snippets) (contract.EventHit, error) {
	e, chunk, err := s.snap.EventAt(s.ctx, of, x.best.row)
	if errors.Is(err, store.ErrNoEvent) {
		return contract.EventHit{}, fmt.Errorf("row %d of the answer: %w", x.best.row, store.ErrDamaged)
	}
	if err != nil {
		return contract.EventHit{}, fmt.Errorf("read an event of %s: %w", of.SID, err)
	}
	hit := contract.EventHit{EventRecord: Record(of, e), Score: x.score}
	var ev contract.Evidence
	s.cut(&ev, c.find(s.texts(e, chunk)))
	hit.Snippet, hit.Marks = ev.Snippet, ev.Marks
	return hit, nil
}

// Record is a kept event without text and data.
func Record(of *store.Session, e *store.Stored) contract.EventRecord {
	r := contract.EventRecord{
		Agent: of.Agent, SessionID: of.SID, Seq: int64(e.Seq), EventID: optional(e.ID), Type: e.Type, RawType: e.RawType,
		Role: contract.Role(e.Role), Surface: contract.Surface(e.Surface), Inherited: e.Inherited,
	}
	if !e.Time.IsZero() {
		t := contract.InstantOf(e.Time)
		r.Time = &t
	}
	return r
}
