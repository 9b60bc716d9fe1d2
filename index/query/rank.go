package query

import (
	"cmp"
	"math"
	"slices"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
)

// rank orders the sessions.
func (m *matching) rank() error {
	times, err := m.s.snap.Times(m.s.ctx)
	if err != nil {
		return err
	}
	m.rate()
	dated := m.dated(times)
	newest := newestOf(times)
	newestFirst := m.s.req.Filters.Sort == contract.SortNewest
	best := tierNone
	for _, id := range m.order {
		f := m.sessions[id]
		r, cover, ok := m.judge(f)
		if !ok || newestFirst && m.need > 2 && cover < m.r.MinCover*m.total {
			continue
		}
		r.updated = updatedOr(times, id)
		r.parts.date = m.r.Date * dated[id]
		r.parts.recent = m.recency(r.updated, newest)
		r.score = m.score(&r.parts)
		best = max(best, r.parts.step)
		m.s.ranked = append(m.s.ranked, r)
	}
	switch best {
	case tierPhrase:
		m.s.route = contract.RoutePhrase
	case tierMessage, tierSession:
		m.s.route = contract.RouteAnd
	default:
		m.s.route = contract.RouteOr
	}
	if newestFirst {
		if best >= tierSession {
			m.s.ranked = slices.DeleteFunc(m.s.ranked, func(r *ranked) bool { return r.parts.step < tierSession })
		}
		slices.SortFunc(m.s.ranked, latestFirst)
		return nil
	}
	slices.SortFunc(m.s.ranked, bestFirst)
	m.windows()
	return m.s.exactFirst()
}

// rate finds how rare each unit is among sessions.
func (m *matching) rate() {
	all := float64(len(m.lengths.Session))
	for i := range m.rarity {
		df := 0.0
		for _, f := range m.sessions {
			if f.units[i].exact+f.units[i].loose > 0 {
				df++
			}
		}
		m.rarity[i] = math.Log(1 + (max(all-df, 0)+0.5)/(df+0.5))
	}
}

func bestFirst(a, b *ranked) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
}

func latestFirst(a, b *ranked) int {
	return cmp.Or(cmp.Compare(b.updated, a.updated), cmp.Compare(a.id, b.id))
}

// tier is a step of the ladder.
type tier int

const (
	tierNone tier = iota
	tierSome
	tierSession
	tierMessage
	tierPhrase
)

// parts are what a score is made of: the step, and within it the evidence.
type parts struct {
	step                                               tier
	row, further, window, session, date, recent, exact float64
}

// score puts the parts together. Steps are whole numbers; the evidence moves the
// score inside the lower half of one, the upper half is for character-exact
// phrases.
func (m *matching) score(p *parts) float64 {
	sum := p.row + p.further + p.window + p.session + p.date + p.recent
	return m.r.Step*float64(p.step) + exactBonus*sum/(sum+m.r.Half) + p.exact
}

// judge gives a session its step and the evidence of its text; cover is the
// weight of the words that it holds. ok is false for a session that lacks a
// quoted phrase or holds nothing.
func (m *matching) judge(f *found) (r *ranked, cover float64, ok bool) {
	words, body := 0, 0.0
	exact := false
	for _, i := range m.s.plan.words {
		u := &m.s.plan.units[i]
		h := f.units[i]
		if u.quoted && h.exact == 0 {
			return nil, 0, false
		}
		if u.optional {
			continue
		}
		share := 1.0
		if h.exact+h.loose == 0 {
			if share, h.weight = m.pieceShare(u, f.units); share == 0 {
				continue
			}
		} else {
			words++
			exact = exact || h.exact > 0
		}
		cover += m.idf[i] * share
		n := float64(h.exact) + m.r.Form*float64(h.loose)
		size := 1 - m.r.SessionB + m.r.SessionB*m.lengths.Session[f.id]/m.lengths.Average
		body += m.rarity[i] * share * (m.r.SessionK + 1) * n / (n + m.r.SessionK*size)
	}
	if len(f.rows) == 0 || cover == 0 && !f.rows[0].phrase {
		return nil, 0, false
	}
	r = &ranked{id: f.id, rows: f.rows, matches: f.count, found: f}
	r.parts.step = tierSome
	switch top := &f.rows[0]; {
	case top.phrase, m.need == 1 && len(m.s.plan.words) == 1 && exact:
		r.parts.step = tierPhrase
	case top.words == m.need:
		r.parts.step = tierMessage
	case words == m.need:
		r.parts.step = tierSession
	}
	r.parts.row = m.r.Row * f.rows[0].score
	damp := m.r.Row
	for _, row := range f.rows[1:] {
		damp *= m.r.RowDamp
		r.parts.further += damp * row.score
	}
	r.parts.session = m.r.Session * body
	return r, cover, true
}

// newestOf is the latest time of all, by which recency goes: not by the clock,
// so that the same index gives the same scores tomorrow.
func newestOf(times map[int64]store.Times) int64 {
	newest := int64(math.MinInt64)
	for _, t := range times {
		newest = max(newest, t.Updated)
	}
	return newest
}

// recency is the nudge for a session updated then.
func (m *matching) recency(updated, newest int64) float64 {
	if updated == math.MinInt64 {
		return 0
	}
	const day = 24 * 60 * 60 * 1000
	return m.r.Recent * math.Exp2(-float64(newest-updated)/day/m.r.RecentDays)
}
