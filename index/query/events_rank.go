package query

import (
	"cmp"
	"math"
	"slices"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
)

// addEvent counts a row in as an event, or as more of the last one. Rows come in
// ascending order, so those of an event come one after the other.
func (m *matching) addEvent(s scored, info store.RowInfo, norm float64, have []hits) {
	x := m.s.events
	first := m.s.firstRow(s.row, info)
	if x.excluded[first] {
		return
	}
	n := len(x.found) - 1
	if n < 0 || x.found[n].first != first {
		alone := s
		if !m.sum(&alone, norm, have) {
			return
		}
		x.have = append(x.have[:0], have...)
		x.found = append(x.found, event{scored: alone, best: alone, first: first, session: info.Session})
		m.cover(&x.found[n+1])
		return
	}
	e := &x.found[n]
	for i := range have {
		t, h := &x.have[i], have[i]
		t.exact, t.loose, t.talk = max(t.exact, h.exact), max(t.loose, h.loose), t.talk || h.talk
		t.weight = max(t.weight, h.weight)
	}
	alone := s
	if m.sum(&alone, norm, have) && better(&alone, &e.best) {
		e.best = alone
	}
	together := scored{row: e.best.row, phrase: e.phrase || s.phrase}
	m.sum(&together, norm, x.have)
	e.scored = together
	m.cover(e)
}

// cover notes how much of the query an event holds, all its rows together.
func (m *matching) cover(e *event) {
	e.cover, e.exact, e.lacks = 0, false, false
	for _, i := range m.s.plan.words {
		u, h := &m.s.plan.units[i], m.s.events.have[i]
		if u.quoted && h.exact == 0 {
			e.lacks = true
		}
		if u.optional {
			continue
		}
		share := 1.0
		if h.exact+h.loose == 0 {
			share, _ = m.pieceShare(u, m.s.events.have)
		}
		e.cover += m.idf[i] * share
		e.exact = e.exact || h.exact > 0
	}
}

// rankEvents gives the events their step and score, as rank does for sessions
// but by what an event holds alone.
func (m *matching) rankEvents() error {
	s, x := m.s, m.s.events
	times, err := s.snap.Times(s.ctx)
	if err != nil {
		return err
	}
	newest := newestOf(times)
	newestFirst := s.req.Filters.Sort == contract.SortNewest
	best, kept := tierNone, x.found[:0]
	steps := make([]tier, 0, len(x.found))
	for _, e := range x.found {
		if e.lacks || e.cover == 0 && !e.phrase || newestFirst && m.need > 2 && e.cover < m.r.MinCover*m.total {
			continue
		}
		p := parts{step: tierSome, row: m.r.Row * e.scored.score}
		switch {
		case e.phrase, m.need == 1 && len(s.plan.words) == 1 && e.exact:
			p.step = tierPhrase
		case e.words == m.need:
			p.step = tierMessage
		}
		if x.of.id == 0 {
			// In one session all are as recent, and its order must not depend on
			// the others.
			p.recent = m.recency(updatedOr(times, e.session), newest)
		}
		e.scored.score = m.score(&p)
		best = max(best, p.step)
		kept, steps = append(kept, e), append(steps, p.step)
	}
	if newestFirst && best >= tierMessage {
		// By time there is no telling apart by rank: only the highest group.
		all := kept
		kept = kept[:0]
		for i, e := range all {
			if steps[i] >= tierMessage {
				kept = append(kept, e)
			}
		}
	}
	x.found = kept
	if newestFirst {
		return nil
	}
	slices.SortFunc(x.found, byScore)
	return m.exactEventsFirst()
}

func byScore(a, b event) int {
	return cmp.Or(cmp.Compare(b.scored.score, a.scored.score), cmp.Compare(b.first, a.first))
}

// exactEventsFirst is exactFirst for events.
func (m *matching) exactEventsFirst() error {
	s := m.s
	quoted := s.quoted()
	top := s.events.found[:min(exactLooks, len(s.events.found))]
	if len(quoted) == 0 || len(top) == 0 {
		return nil
	}
	sessions, err := s.sessionsOf(top)
	if err != nil {
		return err
	}
	for i := range top {
		exact, err := s.holdsExactly(sessions[top[i].session], &ranked{rows: []scored{top[i].best}}, quoted)
		if err != nil {
			return err
		}
		if exact {
			top[i].scored.score += exactBonus
		}
	}
	slices.SortFunc(s.events.found, byScore)
	return nil
}

// after is the next n events of the order after the walk's last one.
func (s *search) after(walk *contract.EventCursor, n int) ([]event, error) {
	if s.req.Filters.Sort == contract.SortNewest || len(s.plan.units) == 0 {
		return s.newestAfter(walk, n)
	}
	list := s.events.found
	for i := range list {
		list[i].key = list[i].scored.score
	}
	last := event{scored: scored{score: walk.Key}, first: walk.Row}
	from := 0
	if !math.IsInf(walk.Key, 1) {
		from, _ = slices.BinarySearchFunc(list, last, byScore)
		for from < len(list) && byScore(list[from], last) <= 0 {
			from++
		}
	}
	return list[from:min(from+n, len(list))], nil
}

func byTime(a, b event) int {
	return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(a.session, b.session), cmp.Compare(b.first, a.first))
}

// newestAfter is after in order of time. The index does not know the times of
// events, but that none is later than its session's last one; so sessions are
// read from the latest on, until no further one can be among the next n. (A time
// more than a day ahead counts as the session's last.)
func (s *search) newestAfter(walk *contract.EventCursor, n int) ([]event, error) {
	times, err := s.snap.Times(s.ctx)
	if err != nil {
		return nil, err
	}
	bySession := map[int64][]event{}
	var order []*ranked
	for _, e := range s.events.found {
		if bySession[e.session] == nil {
			order = append(order, &ranked{id: e.session, updated: updatedOr(times, e.session)})
		}
		bySession[e.session] = append(bySession[e.session], e)
	}
	slices.SortFunc(order, latestFirst)
	last := event{key: walk.Key, session: walk.Session, first: walk.Row}
	var list []event
	for _, r := range order {
		latest := timeKey(r.updated)
		if len(list) >= n && list[n-1].key > latest {
			break
		}
		events := bySession[r.id]
		if err := s.date(r.id, events, latest); err != nil {
			return nil, err
		}
		for _, e := range events {
			if math.IsInf(walk.Key, 1) || byTime(e, last) > 0 {
				list = append(list, e)
			}
		}
		slices.SortFunc(list, byTime)
		list = list[:min(n, len(list))]
	}
	return list, nil
}

func timeKey(millis int64) float64 {
	if millis == math.MinInt64 {
		return math.Inf(-1)
	}
	return float64(millis)
}

// date gives events of a session their keys in the order of time.
func (s *search) date(id int64, events []event, latest float64) error {
	sessions, err := s.sessionsOf(events[:1])
	if err != nil {
		return err
	}
	rows, at := make([]int64, len(events)), make(map[int64]int, len(events))
	for i := range events {
		rows[i], at[events[i].best.row] = events[i].best.row, i
		events[i].key = math.Inf(-1)
	}
	return s.snap.RowEvents(s.ctx, sessions[id], rows, func(row int64, e *store.Stored) error {
		if !e.Time.IsZero() {
			events[at[row]].key = min(float64(e.Time.UnixMilli()), latest)
		}
		return s.ctx.Err()
	})
}

// ascending sorts rows and drops those that are there twice.
func ascending(rows []int64) []int64 {
	slices.Sort(rows)
	return slices.Compact(rows)
}
