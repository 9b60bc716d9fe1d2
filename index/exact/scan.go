package exact

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/query"
	"github.com/sessionls/sessionls/index/store"
)

// maxScanners bounds how many transcripts are read at once: each may hold a
// record of 64 MB of text.
const maxScanners = 8

// scan is one scan under way. Sessions have places in the order of the answer;
// sources are read side by side, and hits given out in that order: those of the
// first session that is not done as they are found, those of later ones when
// their turn comes.
type scan struct {
	e      *Engine
	want   *wanted
	events *matcher
	scope  contract.Scope
	limit  int
	onHits func([]contract.EventHit) error
	order  []store.Placed
	units  []*unit

	cut     atomic.Int64 // snippets that were shortened
	partial atomic.Bool  // some session was not searched to its end

	mu    sync.Mutex
	next  int    // the next unit to be read
	slots []slot // by rank
	head  int    // the first session that is not done
	out   []contract.EventHit
	sent  int
	bytes int
	count int // of hits in all slots, and those given out
	full  bool
	fault error
	skips []skipped
	end   context.CancelFunc
}

// skipped is a session that could not be read.
type skipped struct {
	rank int
	contract.SkippedSession
}

// slot is what was found in a session.
type slot struct {
	hits []contract.EventHit
	done bool
	// enough says that what was found in this and the sessions before it fills
	// the answer: no further hits of it are wanted.
	enough bool
}

// Scan answers searchEvents by reading the transcripts: those of the sessions
// that the index knows, or the copies that it keeps of them.
func (e *Engine) Scan(ctx context.Context, request contract.SearchEventsRequest) (contract.SearchEventsResponse, error) {
	begun := time.Now()
	want, err := newWanted(request.Query, request.Regex)
	if err != nil {
		return contract.SearchEventsResponse{}, err
	}
	s := &scan{
		e: e, want: want, events: newMatcher(request.Filters.Events), scope: request.Scope,
		limit: min(request.Limit, contract.MaxEventLimit), onHits: request.OnHits,
	}
	var out contract.SearchEventsResponse
	if out.Session, err = s.list(ctx, request); err != nil {
		return contract.SearchEventsResponse{}, err
	}
	if err := s.run(ctx); err != nil {
		return contract.SearchEventsResponse{}, err
	}
	if out.Session != nil && len(s.skips) > 0 {
		return contract.SearchEventsResponse{}, contract.Failed(s.skips[0].Code, nil, "the transcript of %.200q cannot be scanned", request.String())
	}
	slices.SortFunc(s.skips, func(a, b skipped) int { return a.rank - b.rank })
	for _, x := range s.skips[:min(len(s.skips), contract.MaxSkippedSessions)] {
		out.Skipped = append(out.Skipped, x.SkippedSession)
	}
	out.Hits = s.out
	out.Page.HasMore = s.full
	out.Total = contract.EventTotal{Events: s.sent, Exact: !s.full && !s.partial.Load() && len(s.skips) == 0}
	out.Truncated = contract.Truncated{Candidates: !out.Total.Exact, Snippets: int(s.cut.Load())}
	out.DurationMs = float64(time.Since(begun).Microseconds()) / 1000
	return out, nil
}

// list puts the sessions that are scanned in order, and those of one source
// together. It returns the session that the request names.
func (s *scan) list(ctx context.Context, request contract.SearchEventsRequest) (named *contract.Header, err error) {
	err = s.e.View(ctx, func(snap *store.Snapshot) error {
		now := s.e.Now()
		var ids map[int64]bool
		if request.OfSession() {
			x, err := Resolve(ctx, snap, request.SessionName)
			if err != nil {
				return err
			}
			header := Header(x, now)
			named, ids = &header, map[int64]bool{x.ID: true}
		} else {
			filters := request.Filters
			filters.Events = nil // held against what is read
			if ids, err = query.Sessions(ctx, snap, filters, now); err != nil {
				return err
			}
		}
		s.order, err = snap.Newest(ctx, ids)
		return err
	})
	bySource := map[int64]*unit{}
	for rank, p := range s.order {
		u := bySource[p.Source]
		if u == nil {
			u = &unit{}
			bySource[p.Source] = u
			s.units = append(s.units, u)
		}
		u.ranks = append(u.ranks, rank)
	}
	s.slots = make([]slot, len(s.order))
	return named, err
}

// run reads the units until all are read or enough is found.
func (s *scan) run(ctx context.Context) error {
	within, end := context.WithCancel(ctx)
	defer end()
	s.end = end
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxScanners, len(s.units)) {
		all.Go(func() {
			for {
				u := s.take()
				if u == nil || within.Err() != nil {
					return
				}
				if err := s.scanUnit(within, u); err != nil && within.Err() == nil {
					s.fail(err)
				}
			}
		})
	}
	all.Wait()
	if s.fault == nil {
		s.fault = ctx.Err()
	}
	return s.fault
}

// take is the next unit to be read, nil when there is none or what it could
// give cannot be wanted any more: those before it have enough.
func (s *scan) take() *unit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full || s.fault != nil || s.next == len(s.units) {
		return nil
	}
	u := s.units[s.next]
	if s.count >= s.limit {
		before := s.sent
		for rank := s.head; rank < u.ranks[0] && before < s.limit; rank++ {
			before += len(s.slots[rank].hits)
		}
		if before >= s.limit {
			return nil
		}
	}
	s.next++
	return u
}

func (s *scan) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		s.fault = err
	}
	s.end()
}

// found takes a hit of a session.
func (s *scan) found(rank int, hit contract.EventHit, cut bool) {
	if cut {
		s.cut.Add(1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := &s.slots[rank]
	if x.enough {
		return
	}
	x.hits = append(x.hits, hit)
	s.count++
	s.giveOut()
	if s.count-s.sent > maxPending*s.limit {
		s.prune()
	}
}

// maxPending is how many answers may wait for their turn: a transcript of many
// sessions gives their hits in an order of its own.
const maxPending = 4

// prune drops the hits that cannot be in the answer because those before them
// fill it.
func (s *scan) prune() {
	room := s.limit - s.sent
	for rank := s.head; rank < len(s.slots); rank++ {
		x := &s.slots[rank]
		if keep := min(room, len(x.hits)); keep < len(x.hits) || room == 0 {
			s.count -= len(x.hits) - keep
			x.hits, x.enough = slices.Clone(x.hits[:keep]), true
		}
		room -= len(x.hits)
	}
}

// finish says that no more of a session will come.
func (s *scan) finish(rank int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots[rank].done = true
	s.giveOut()
}

// skip notes sessions that could not be read.
func (s *scan) skip(list []*scanned, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range list {
		x.seen = true
		s.skips = append(s.skips, skipped{x.rank, contract.SkippedSession{Agent: x.session.Agent, SessionID: x.session.SID, Code: code}})
	}
}

// giveOut gives out the hits whose turn it is.
func (s *scan) giveOut() {
	if s.full || s.fault != nil {
		return
	}
	var now []contract.EventHit
	for s.head < len(s.slots) && !s.full {
		x := &s.slots[s.head]
		for len(x.hits) > 0 && !s.full {
			hit := x.hits[0]
			b, err := json.Marshal(hit)
			if err != nil {
				s.fault = errors.Join(errors.New("encode a hit"), err)
				s.end()
				return
			}
			if s.bytes += len(b); s.bytes > contract.MaxPageBytes && s.sent > 0 {
				s.full = true
				break
			}
			x.hits, now = x.hits[1:], append(now, hit)
			s.sent++
			s.full = s.sent == s.limit
		}
		if !x.done || len(x.hits) > 0 {
			break
		}
		s.head++
	}
	if s.full {
		s.end()
	}
	switch {
	case len(now) == 0:
	case s.onHits == nil:
		s.out = append(s.out, now...)
	default:
		if err := s.onHits(now); err != nil {
			s.fault = err
			s.end()
		}
	}
}
