package query

import (
	"cmp"
	"math"
	"slices"

	"github.com/sessionls/sessionls/contract"
)

// minCover is the share of the words' weight that a session must hold to be
// listed at all, where there are several words.
const minCover = 0.15

// rank orders the sessions.
func (m *matching) rank() error {
	updated, err := m.s.snap.Updated(m.s.ctx)
	if err != nil {
		return err
	}
	m.rate()
	best := tierNone
	tiers := map[int64]tier{}
	for _, id := range m.order {
		f := m.sessions[id]
		t, score, ok := m.judge(f)
		if !ok {
			continue
		}
		tiers[id] = t
		best = max(best, t)
		m.s.ranked = append(m.s.ranked, ranked{id: id, score: score, updated: updatedOr(updated, id), rows: f.rows, matches: f.count})
	}
	switch best {
	case tierPhrase:
		m.s.route = contract.RoutePhrase
	case tierMessage, tierSession:
		m.s.route = contract.RouteAnd
	default:
		m.s.route = contract.RouteOr
	}
	if m.s.req.Filters.Sort == contract.SortNewest {
		if best >= tierSession {
			m.s.ranked = slices.DeleteFunc(m.s.ranked, func(r ranked) bool { return tiers[r.id] < tierSession })
		}
		slices.SortFunc(m.s.ranked, newestFirst)
		return nil
	}
	slices.SortFunc(m.s.ranked, bestFirst)
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

func bestFirst(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
}

func newestFirst(a, b ranked) int {
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

// judge gives a session its step and its score, which orders by step first. ok
// is false for a session that lacks a quoted phrase or holds too little.
func (m *matching) judge(f *found) (t tier, score float64, ok bool) {
	cover, words, body := 0.0, 0, 0.0
	exact := false
	for _, i := range m.s.plan.words {
		u := &m.s.plan.units[i]
		h := f.units[i]
		if u.quoted && h.exact == 0 {
			return 0, 0, false
		}
		if u.optional {
			continue
		}
		share := 1.0
		if h.exact+h.loose == 0 {
			if share, h.weight = pieceShare(u, f.units); share == 0 {
				continue
			}
		} else {
			words++
			exact = exact || h.exact > 0
		}
		cover += m.idf[i] * share
		n := float64(h.exact) + weightForm*float64(h.loose)
		size := 1 - sessionB + sessionB*m.lengths.Session[f.id]/m.lengths.Average
		body += m.rarity[i] * share * (k1 + 1) * n / (n + k1*size)
	}
	if len(f.rows) == 0 || m.need > 2 && cover < minCover*m.total || cover == 0 && !f.rows[0].phrase {
		return 0, 0, false
	}
	t = tierSome
	switch top := &f.rows[0]; {
	case top.phrase, m.need == 1 && len(m.s.plan.words) == 1 && exact:
		t = tierPhrase
	case top.words == m.need:
		t = tierMessage
	case words == m.need:
		t = tierSession
	}
	damp := 1.0
	for _, r := range f.rows {
		score += damp * r.score
		damp *= rowDamp
	}
	score += sessionShare * body
	// Steps are whole numbers; the score moves inside the lower half of one,
	// the upper half is for character-exact phrases.
	return t, float64(t) + exactBonus*score/(score+30), true
}
