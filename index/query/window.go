package query

import (
	"slices"

	"github.com/sessionls/sessionls/index/store"
)

// turn is a row of conversation, or of the title, with the units it holds; of
// units beyond the first 64 nothing is kept.
type turn struct {
	row          int64
	exact, loose uint64
	head         bool
}

// windowSessions is how many of the first sessions have their windows looked
// at. It is the same on every page, and no window lifts a session past those
// before it that are not looked at.
const windowSessions = 400

// windows adds the evidence of neighbouring turns to the first sessions.
func (m *matching) windows() {
	if m.r.Window == 0 || m.need < 2 {
		return
	}
	top := m.s.ranked[:min(windowSessions, len(m.s.ranked))]
	var rows []int64
	var terms []float64
	for _, r := range top {
		rows, terms = m.s.snap.Spans.Turns(r.id, rows[:0], terms[:0])
		r.parts.window = m.r.Window * m.window(r.found.turns, rows, terms)
		r.score = m.score(&r.parts)
	}
	slices.SortFunc(top, bestFirst)
}

// window is the BM25 of the best window among all turns of a session, given with
// their lengths. A window begins with a turn that holds something; the title
// stands alone.
func (m *matching) window(held []turn, rows []int64, terms []float64) (best float64) {
	count := make([]float64, min(len(m.idf), 64))
	usual := m.r.RowTerms * float64(m.r.WindowTurns)
	weigh := func(size float64) {
		sum := 0.0
		for i, n := range count {
			if n > 0 {
				sum += m.idf[i] * (m.r.WindowK + 1) * n / (n + m.r.WindowK*size)
			}
		}
		best = max(best, sum)
	}
	at := 0
	for i := range held {
		clear(count)
		if held[i].head {
			m.count(count, &held[i], m.r.Head)
			weigh(1 - m.r.WindowB)
			continue
		}
		for at < len(rows) && rows[at] < held[i].row {
			at++
		}
		if at == len(rows) {
			return best
		}
		end := min(at+m.r.WindowTurns, len(rows))
		length := 0.0
		for _, n := range terms[at:end] {
			length += n
		}
		for k := i; k < len(held) && held[k].row <= rows[end-1]; k++ {
			if !held[k].head {
				m.count(count, &held[k], m.r.Talk)
			}
		}
		weigh(1 - m.r.WindowB + m.r.WindowB*length/usual)
	}
	return best
}

// count adds what a turn holds.
func (m *matching) count(n []float64, t *turn, weight float64) {
	for i := range n {
		switch bit := uint64(1) << i; {
		case t.exact&bit != 0:
			n[i] += weight
		case t.loose&bit != 0:
			n[i] += weight * m.r.Form
		}
	}
}

// keepTurn remembers a row for the windows.
func (f *found) keepTurn(row int64, info store.RowInfo, have []hits) {
	t := turn{row: row, head: info.Kind.Head()}
	for i := range have[:min(len(have), 64)] {
		switch h := &have[i]; {
		case !h.talk:
		case h.exact > 0:
			t.exact |= 1 << i
		case h.loose > 0:
			t.loose |= 1 << i
		}
	}
	if t.exact|t.loose != 0 {
		f.turns = append(f.turns, t)
	}
}
