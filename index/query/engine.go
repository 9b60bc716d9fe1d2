package query

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/vocabulary"
)

// Budgets are how many rows are looked at for one word in one stream. Talk is
// 8 % of the text and what people remember, tool output the rest.
const (
	talkBudget = 20000
	toolBudget = 8000
	// unbounded lists are read in pages of this size.
	listPage = 100000
	// pageBytes bounds the JSON of a page (contract.md §2).
	pageBytes = 4 << 20
)

// Engine answers searches. It holds no state of a search and is safe for
// concurrent use.
type Engine struct {
	agents  []string
	ranking Ranking
}

// New returns an Engine that knows the contract's agents and ranks as
// [DefaultRanking] says.
func New() *Engine { return &Engine{agents: contract.Agents(), ranking: DefaultRanking()} }

// WithRanking returns an engine that ranks with other constants, for the benches.
func (e *Engine) WithRanking(r Ranking) *Engine { return &Engine{agents: e.agents, ranking: r} }

// Options are what an answer depends on besides request and index.
type Options struct {
	// Now is the present; its location gives since: and until: their days.
	Now time.Time
	// Transport decides whether path: also looks at transcript paths.
	Transport contract.Transport
	// ResumeCommand quotes the command that continues a session, "" if none.
	ResumeCommand func(agent, sessionID, format string) string
	// CodexHome is the CODEX_HOME a Codex transcript lies in, "" if unknown.
	CodexHome func(path string) string
}

// Search answers one request from a snapshot. The error is ctx.Err() or a
// failure of the index.
func (e *Engine) Search(ctx context.Context, snap *store.Snapshot, req contract.SearchSessionsRequest, opt Options) (contract.SearchSessionsResponse, error) {
	begun := time.Now()
	clock := opt.Now
	offset := 0
	hash := contract.RequestHash(req)
	if req.Cursor != nil {
		cursor, refusal := contract.CheckCursor(*req.Cursor, contract.Fence{Generation: snap.Generation, Identity: snap.Identity}, hash)
		if refusal != nil {
			return *refusal, nil
		}
		clock = cursor.Clock.Time().In(opt.Now.Location())
		if cursor.Position.Offset < 0 || cursor.Position.Offset > math.MaxInt32 {
			return contract.MalformedResponse(), nil
		}
		offset = int(cursor.Position.Offset)
	}
	s := &search{ctx: ctx, snap: snap, req: req, opt: opt, clock: clock, ranking: e.ranking}
	if err := s.run(e.agents); err != nil {
		return contract.SearchSessionsResponse{}, err
	}
	started := time.Now()
	hits, next, err := s.page(offset)
	if err != nil {
		return contract.SearchSessionsResponse{}, err
	}
	results := contract.SearchResults{
		Hits: hits, Generation: snap.Generation,
		Truncated:   contract.Truncated{Candidates: s.truncated, Snippets: s.shortened, Query: s.query.cut},
		Total:       contract.Total{Sessions: len(s.ranked), Exact: !s.truncated},
		Diagnostics: s.query.diagnostics,
	}
	if next < len(s.ranked) && len(hits) > 0 {
		last := s.ranked[next-1]
		c := contract.EncodeCursor(contract.Cursor{
			RequestHash: hash, Generation: snap.Generation, Identity: snap.Identity, Clock: contract.InstantOf(clock),
			Position: contract.Position{Score: last.score, UpdatedAt: last.updatedAt(), SessionRow: last.id, Offset: int64(next)},
		})
		results.Page = contract.Page{Cursor: &c, HasMore: true}
	}
	s.step("snippets", &started)
	results.DurationMs = float64(time.Since(begun).Microseconds()) / 1000
	if req.Debug {
		results.Debug = s.explain(hits, offset)
	}
	return contract.ResultsResponse(results), nil
}

// search is one search under way.
type search struct {
	ctx   context.Context
	snap  *store.Snapshot
	req   contract.SearchSessionsRequest
	opt   Options
	clock time.Time

	ranking Ranking

	query parsed
	cond  conditions
	plan  *plan
	words vocabulary.Vocabulary // nil until a word needs it
	// allowed are the sessions that pass the filters, nil for all.
	allowed map[int64]bool
	marks   store.Expr
	// rows bounds the rows that may answer, nil for all.
	rows *rowRange
	// events is set when events are looked for, not sessions.
	events *eventSearch

	matching  *matching // nil before there is one
	ranked    []*ranked
	route     contract.Route
	truncated bool
	shortened int
	timings   []contract.Timing
}

// ranked is a session in the answer's order.
type ranked struct {
	id      int64
	score   float64
	updated int64 // epoch milliseconds, math.MinInt64 if unknown
	rows    []scored
	matches int
	parts   parts
	found   *found // nil without text
}

func (r *ranked) updatedAt() *contract.Instant {
	if r.updated == math.MinInt64 {
		return nil
	}
	i := contract.Instant(r.updated)
	return &i
}

func (s *search) step(name string, since *time.Time) {
	now := time.Now()
	s.timings = append(s.timings, contract.Timing{Step: name, Ms: float64(now.Sub(*since).Microseconds()) / 1000})
	*since = now
}

func (s *search) run(agents []string) error {
	started := time.Now()
	s.query = parse(s.req.Query, agents, s.clock)
	s.cond = newConditions(s.req.Filters, &s.query.ops, s.clock, s.opt.Transport != contract.TransportRemote)
	s.plan = newPlan(&s.query, s.req.Scope)
	s.route = contract.RouteOr
	s.step("parse", &started)
	if len(s.plan.units) == 0 && !s.cond.any {
		return nil // nothing was asked for
	}
	if err := s.restrict(); err != nil {
		return err
	}
	s.step("filter", &started)
	if len(s.plan.units) == 0 {
		s.route = contract.RouteOperators
		if s.events != nil {
			return s.listEvents()
		}
		return s.listNewest()
	}
	if s.allowed != nil && len(s.allowed) == 0 {
		return nil
	}
	if err := s.match(); err != nil {
		return err
	}
	s.step("match", &started)
	return nil
}

// restrict finds the sessions that may answer.
func (s *search) restrict() error {
	var some bool
	for i := range s.cond.sessions {
		some = some || !s.cond.sessions[i].IsZero()
	}
	if some {
		ids, err := s.snap.SessionIDs(s.ctx, s.cond.sessions)
		if err != nil {
			return err
		}
		s.allowed = ids
	}
	if s.events != nil {
		s.confine()
	}
	if err := s.restrictMarks(); err != nil {
		return err
	}
	if len(s.plan.not) == 0 {
		return nil
	}
	if s.events != nil {
		return s.excludeEvents()
	}
	excluded := map[int64]bool{}
	err := s.eachExcluded(func(_ int64, info store.RowInfo) { excluded[info.Session] = true })
	if err != nil {
		return err
	}
	if s.allowed == nil {
		ids, err := s.snap.SessionIDs(s.ctx, nil)
		if err != nil {
			return err
		}
		s.allowed = ids
	}
	for id := range excluded {
		delete(s.allowed, id)
	}
	return nil
}

// restrictMarks prepares the part of the event filter that the postings
// decide: types and tools.
func (s *search) restrictMarks() error {
	ev := &s.cond.events
	e, filtered, possible := marks(ev.marked(), ev.tools)
	if !possible {
		s.allowed = map[int64]bool{}
		return nil
	}
	var all []store.Expr
	if filtered {
		all = append(all, e)
	}
	for _, list := range ev.toolLists {
		e, _, _ := marks(nil, list)
		all = append(all, e)
	}
	s.marks = store.All(all...)
	return nil
}

// everything is the budget of lists that must be whole.
const everything = math.MaxInt - 1

// list reads the rows of an expression that the event filter lets pass; see
// pages.
func (s *search) list(in store.Stream, e store.Expr, budget int) (rows []int64, more bool, err error) {
	return s.pages(in, s.marked(e), math.MinInt64, budget)
}

// marked adds what the event filter demands of a row's marks.
func (s *search) marked(e store.Expr) store.Expr {
	if s.marks.IsZero() {
		return e
	}
	return store.All(e, s.marks)
}

// rowRange is the rows [first, end).
type rowRange struct{ first, end int64 }

// pages reads the rows of an expression, newest first: those of allowed sessions
// that are not below from, up to a budget. more reports that the budget was met before the end.
func (s *search) pages(in store.Stream, e store.Expr, from int64, budget int) (rows []int64, more bool, err error) {
	if e.IsZero() {
		return nil, false, nil
	}
	before := int64(math.MaxInt64)
	if s.rows != nil {
		from, before = max(from, s.rows.first), s.rows.end
	}
	spans := s.snap.Spans.Walk()
	for {
		n := listPage
		if budget < listPage {
			n = budget + 1
		}
		page, err := s.snap.Rows(s.ctx, in, e, from, before, n)
		if err != nil {
			return nil, false, err
		}
		if s.allowed == nil {
			rows = append(rows, page...)
		} else {
			for _, r := range page {
				if info, ok := spans.At(r); ok && s.allowed[info.Session] {
					rows = append(rows, r)
				}
			}
		}
		if len(rows) > budget {
			return rows[:budget], true, nil
		}
		if len(page) < n {
			return rows, false, nil
		}
		before = page[len(page)-1]
	}
}

// listNewest answers a search without text: the sessions that pass, newest
// first.
func (s *search) listNewest() error {
	ids := s.allowed
	if ids == nil {
		all, err := s.snap.SessionIDs(s.ctx, nil)
		if err != nil {
			return err
		}
		ids = all
	}
	if s.cond.events.restricts() {
		with, err := s.sessionsWithEvents(ids)
		if err != nil {
			return err
		}
		ids = with
	}
	times, err := s.snap.Times(s.ctx)
	if err != nil {
		return err
	}
	for id := range ids {
		s.ranked = append(s.ranked, &ranked{id: id, updated: updatedOr(times, id)})
	}
	slices.SortFunc(s.ranked, latestFirst)
	return nil
}

func updatedOr(m map[int64]store.Times, id int64) int64 {
	if t, ok := m[id]; ok {
		return t.Updated
	}
	return math.MinInt64
}

// aheadHits is how many hits have their texts decoded at once.
const aheadHits = 16

// ahead has the texts read that the hits of these sessions will show.
func (s *search) ahead(list []*ranked, sessions map[int64]*store.Session) {
	places := make([]store.Place, 0, len(list))
	for _, r := range list {
		if sess := sessions[r.id]; sess != nil && len(r.rows) > 0 && !r.rows[0].head {
			places = append(places, store.Place{Of: sess, Row: r.rows[0].row})
		}
	}
	s.snap.ReadAhead(s.ctx, places)
}

// page makes the hits from offset on: at most the limit, at most pageBytes,
// at least one. next is the offset of the page after.
func (s *search) page(offset int) (hits []contract.Hit, next int, err error) {
	limit := s.req.Limit
	if limit <= 0 {
		limit = contract.DefaultLimit
	}
	offset = min(offset, len(s.ranked))
	end := min(offset+min(limit, contract.MaxLimit), len(s.ranked))
	if offset == end {
		return nil, end, nil
	}
	ids := make([]int64, 0, end-offset)
	for _, r := range s.ranked[offset:end] {
		ids = append(ids, r.id)
	}
	sessions, err := s.snap.Sessions(s.ctx, ids)
	if err != nil {
		return nil, 0, err
	}
	cut := newSnippets(s.plan)
	size := 0
	for next = offset; next < end; next++ {
		if (next-offset)%aheadHits == 0 && len(s.plan.units) > 0 {
			s.ahead(s.ranked[next:min(next+aheadHits, end)], sessions)
		}
		r := s.ranked[next]
		sess := sessions[r.id]
		if sess == nil {
			return nil, 0, fmt.Errorf("session %d of the answer is not in the index", r.id)
		}
		hit, err := s.hit(sess, r, cut)
		if err != nil {
			return nil, 0, err
		}
		b, err := json.Marshal(hit)
		if err != nil {
			return nil, 0, fmt.Errorf("encode a hit: %w", err)
		}
		if size += len(b); size > pageBytes && len(hits) > 0 {
			break
		}
		hits = append(hits, hit)
	}
	return hits, next, nil
}
