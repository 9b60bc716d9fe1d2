package query

import (
	"math"
	"slices"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// passes holds a row against the conditions that its span decides.
func (s *search) passes(info store.RowInfo) bool {
	if s.allowed != nil && !s.allowed[info.Session] {
		return false
	}
	if s.events != nil && info.Kind.Head() {
		return false // a title is no event
	}
	for _, roles := range s.cond.events.roles {
		if !slices.Contains(roles, contract.Role(info.Role)) {
			return false
		}
	}
	return true
}

// deepFilter holds rows against conditions that only the event itself decides:
// its surface, position and time, and of a title's row what in it was found.
// The zero deepFilter lets all pass.
type deepFilter struct {
	s    *search
	good map[int64]bool
	cut  *snippets // nil until a title's row asks for it
}

func newDeepFilter(s *search) deepFilter { return deepFilter{s: s, good: map[int64]bool{}} }

// prepare reads the events of the rows in question, session by session.
func (d *deepFilter) prepare(all []uint64) error {
	bySession := map[int64][]int64{}
	for _, x := range all {
		row := int64(x >> 12)
		if info, ok := d.s.snap.Spans.At(row); ok && d.s.passes(info) {
			bySession[info.Session] = append(bySession[info.Session], row)
		}
	}
	return d.read(bySession)
}

func (d *deepFilter) read(bySession map[int64][]int64) error {
	ids := make([]int64, 0, len(bySession))
	for id := range bySession {
		ids = append(ids, id)
	}
	sessions, err := d.s.snap.Sessions(d.s.ctx, ids)
	if err != nil {
		return err
	}
	for id, rows := range bySession {
		sess := sessions[id]
		if sess == nil {
			continue
		}
		for _, row := range rows {
			if info, ok := d.s.snap.Spans.At(row); ok && info.Kind.Head() && d.allowsHead(sess) {
				d.good[row] = true
			}
		}
		if !d.s.cond.events.mayAllow(sess) {
			continue
		}
		err := d.s.snap.RowEvents(d.s.ctx, sess, rows, func(row int64, e *store.Stored) error {
			if d.s.cond.events.allow(e) {
				d.good[row] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// allowsHead holds the row of a session's title against the conditions: it has
// the surface of its evidence and neither position nor time.
func (d *deepFilter) allowsHead(sess *store.Session) bool {
	ev := &d.s.cond.events
	switch {
	case ev.seq != nil || ev.time != nil:
		return false
	case len(d.s.plan.units) == 0:
		return ev.surfaces == nil // nothing was found in it, and it is no event
	case ev.surfaces != nil && !slices.Contains(ev.surfaces, contract.Surface(headSurface)):
		return false
	case !ev.someHeads():
		return true
	}
	if d.cut == nil {
		d.cut = newSnippets(d.s.plan)
	}
	_, found := d.s.head(sess, d.cut)
	return found.value > 0
}

func (d *deepFilter) passes(row int64, _ store.RowInfo) bool { return d.s == nil || d.good[row] }

// allow holds an event against surface, position and time.
func (e *events) allow(x *store.Stored) bool {
	if e.surfaces != nil && !slices.Contains(e.surfaces, contract.Surface(x.Surface)) {
		return false
	}
	if e.seq != nil && !e.seq.Contains(int64(x.Seq)) {
		return false
	}
	if e.time != nil && (x.Time.IsZero() || !e.time.Contains(contract.InstantOf(x.Time))) {
		return false
	}
	return true
}

// mayAllow reports whether a session may have an event that allow lets pass, as
// far as its row tells: its events need not be read if not.
func (e *events) mayAllow(of *store.Session) bool {
	if e.surfaces != nil && !of.HasSurface(func(s transcript.Surface) bool { return slices.Contains(e.surfaces, contract.Surface(s)) }) {
		return false
	}
	return e.seq == nil || e.seq.From == nil || *e.seq.From < int64(of.Events)
}

// sessionsWithEvents narrows sessions to those with an event that meets the
// event filter, for searches without text.
func (s *search) sessionsWithEvents(ids map[int64]bool) (map[int64]bool, error) {
	if !s.cond.events.deep() {
		return s.sessionsWithRows(ids)
	}
	rows := map[int64][]int64{}
	take := func(row int64, info store.RowInfo) {
		if ids[info.Session] && s.passes(info) {
			rows[info.Session] = append(rows[info.Session], row)
		}
	}
	if s.marks.IsZero() {
		s.snap.Spans.Each(take)
	} else if err := s.eachMarked(take); err != nil {
		return nil, err
	}
	d := newDeepFilter(s)
	if err := d.read(rows); err != nil {
		return nil, err
	}
	out := map[int64]bool{}
	for id, list := range rows {
		if slices.ContainsFunc(list, func(r int64) bool { return d.good[r] }) {
			out[id] = true
		}
	}
	return out, nil
}

// sessionsWithRows is sessionsWithEvents where what is known of a row decides.
func (s *search) sessionsWithRows(ids map[int64]bool) (map[int64]bool, error) {
	out := map[int64]bool{}
	if s.marks.IsZero() {
		s.snap.Spans.Having(func(id int64) bool { return ids[id] && !out[id] }, s.passes, func(id int64) { out[id] = true })
		return out, nil
	}
	return out, s.eachMarked(func(_ int64, info store.RowInfo) {
		if !out[info.Session] && ids[info.Session] && s.passes(info) {
			out[info.Session] = true
		}
	})
}

// eachMarked calls f for each row with the tools and types that are asked for.
func (s *search) eachMarked(f func(row int64, info store.RowInfo)) error {
	spans := s.snap.Spans.Walk()
	for _, st := range s.plan.streams {
		list, _, err := s.pages(st, s.marks, math.MinInt64, everything)
		if err != nil {
			return err
		}
		for _, row := range list {
			if info, ok := spans.At(row); ok {
				f(row, info)
			}
		}
	}
	return nil
}

// headSurface is the surface of a session's title: no event, never context.
const headSurface = transcript.LogOnly
