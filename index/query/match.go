package query

import (
	"math"
	"slices"

	"github.com/sessionls/sessionls/index/store"
)

// matching puts postings together to sessions.
type matching struct {
	s        *search
	r        *Ranking
	idf      []float64 // by unit, over rows
	rarity   []float64 // by unit, over sessions
	total    float64   // idf of all words that the index holds
	need     int       // words that are not optional
	counts   []rowCount
	lengths  store.Lengths
	dates    []date // that the query names
	sessions map[int64]*found
	order    []int64
	last     *found // the one that session gave last
}

// found is a session with the rows that matched.
type found struct {
	id    int64
	rows  []scored
	turns []turn // where several words are looked for
	units []hits // by unit
	count int
}

type hits struct {
	exact, loose int
	talk         bool    // not in tool text alone
	weight       float64 // of the best row: stream and length
}

// scored is a row with what it holds.
type scored struct {
	row    int64
	score  float64
	words  int // of the query's words, stop words aside
	phrase bool
	head   bool
}

func newMatching(s *search, lists []posting) *matching {
	m := &matching{s: s, r: &s.ranking, idf: make([]float64, len(s.plan.units)), rarity: make([]float64, len(s.plan.units)),
		counts: make([]rowCount, len(s.plan.units)), lengths: s.snap.Spans.Lengths(), sessions: map[int64]*found{}}
	rows := float64(s.rowCount())
	df := make([]float64, len(m.idf))
	for _, p := range lists {
		if p.unit == phraseUnit {
			continue
		}
		c := &m.counts[p.unit]
		if p.form == formExact {
			c.exact += len(p.rows)
		} else {
			c.loose += len(p.rows)
		}
		c.cut = c.cut || p.more
		n := float64(len(p.rows))
		if p.more {
			// Cut: as common before the cut as after it.
			n = max(n, rows/10)
		}
		df[p.unit] += n
	}
	for i := range m.idf {
		m.idf[i] = math.Log(1 + (rows-min(df[i], rows)+0.5)/(df[i]+0.5))
	}
	m.need = len(s.plan.content)
	for _, i := range s.plan.content {
		u := &s.plan.units[i]
		if df[i] > 0 || len(u.pieces) > 0 {
			// A word that nobody has must not make all others look slight.
			m.total += m.idf[i]
		}
	}
	return m
}

// collect walks all lists at once, newest row first.
func (m *matching) collect(lists []posting) error {
	all := merged(lists)
	var deep deepFilter
	if m.s.cond.events.deep() {
		deep = newDeepFilter(m.s)
		if err := deep.prepare(all); err != nil {
			return err
		}
	}
	have := make([]hits, len(m.idf))
	spans := m.s.snap.Spans.Walk()
	for i, looked := 0, 0; i < len(all); {
		if looked++; looked&0xfff == 0 {
			if err := m.s.ctx.Err(); err != nil {
				return err
			}
		}
		row := int64(all[i] >> 12)
		j := i
		for j < len(all) && int64(all[j]>>12) == row {
			j++
		}
		info, ok := spans.At(row)
		if ok && m.s.passes(info) && deep.passes(row, info) {
			m.add(row, info, all[i:j], lists, have)
		}
		i = j
	}
	return nil
}

// merged puts the rows of all lists in one order, oldest first, each with the
// number of its list in the lowest 12 bits: a row id has 41 bits. As every list is
// in order, they are merged pair by pair.
func merged(lists []posting) []uint64 {
	n := 0
	for _, p := range lists {
		n += len(p.rows)
	}
	from, to := make([]uint64, 0, n), make([]uint64, 0, n)
	var ends []int
	for li, p := range lists {
		for _, r := range slices.Backward(p.rows) {
			from = append(from, uint64(r)<<12|uint64(li))
		}
		ends = append(ends, len(from))
	}
	for len(ends) > 1 {
		to = to[:0]
		k, begin := 0, 0
		for i := 0; i < len(ends); i += 2 {
			middle, end := ends[i], ends[min(i+1, len(ends)-1)]
			a, b := from[begin:middle], from[middle:end]
			for len(a) > 0 && len(b) > 0 {
				if a[0] < b[0] {
					to, a = append(to, a[0]), a[1:]
				} else {
					to, b = append(to, b[0]), b[1:]
				}
			}
			to = append(append(to, a...), b...)
			ends[k] = end
			k, begin = k+1, end
		}
		ends = ends[:k]
		from, to = to, from
	}
	return from
}

// rowCount is how many rows there are among which a word is rare or common.
func (s *search) rowCount() int64 {
	if s.events != nil && s.rows != nil {
		return s.events.of.rows
	}
	return s.snap.Spans.Rows()
}

// add counts a row in: into its session, or as an event.
func (m *matching) add(row int64, info store.RowInfo, entries []uint64, lists []posting, have []hits) {
	s, norm := m.hold(row, info, entries, lists, have)
	if m.s.events != nil {
		m.addEvent(s, info, norm, have)
		return
	}
	f := m.session(info.Session)
	for i := range have {
		h := have[i]
		if h.exact+h.loose == 0 {
			continue
		}
		t := &f.units[i]
		t.exact += h.exact
		t.loose += h.loose
		t.weight = max(t.weight, h.weight)
	}
	if !m.sum(&s, norm, have) {
		return
	}
	f.count++
	f.keep(s)
	if m.need > 1 {
		f.keepTurn(row, info, have)
	}
}

// hold finds what a row holds of each unit. norm is BM25's factor for its
// length.
func (m *matching) hold(row int64, info store.RowInfo, entries []uint64, lists []posting, have []hits) (s scored, norm float64) {
	clear(have)
	s = scored{row: row, head: info.Kind.Head()}
	norm = (m.r.RowK + 1) / (1 + m.r.RowK*(1-m.r.RowB+m.r.RowB*info.Terms/m.r.RowTerms))
	for _, x := range entries {
		p := &lists[x&0xfff]
		if p.unit == phraseUnit {
			s.phrase = true
			continue
		}
		h := &have[p.unit]
		w := m.r.Talk
		switch {
		case info.Kind.Head():
			w = m.r.Head
		case p.stream == store.ToolText:
			w = m.r.Tool
		}
		h.talk = h.talk || p.stream == store.Talk
		if p.form == formExact {
			h.exact = 1
		} else {
			h.loose = 1
			w *= m.r.Form
		}
		h.weight = max(h.weight, w*norm)
	}
	return s, norm
}

// sum gives a row its score for what it holds; false if that is nothing.
func (m *matching) sum(s *scored, norm float64, have []hits) bool {
	any := false
	for _, i := range m.s.plan.words {
		u := &m.s.plan.units[i]
		h := have[i]
		part := 1.0
		if h.exact+h.loose == 0 {
			if part, h.weight = m.pieceShare(u, have); part == 0 {
				continue
			}
		} else if !u.optional {
			s.words++
		}
		any = true
		s.score += m.idf[i] * h.weight * part
	}
	if s.phrase {
		s.score += m.r.Phrase * m.total * norm
	}
	return any || s.phrase
}

// session is where the rows of a session are put together.
func (m *matching) session(id int64) *found {
	if m.last != nil && m.last.id == id {
		return m.last
	}
	f := m.sessions[id]
	if f == nil {
		f = &found{id: id, units: make([]hits, len(m.idf))}
		m.sessions[id] = f
		m.order = append(m.order, id)
	}
	m.last = f
	return f
}

// pieceShare is how much of a long unspaced word its pieces in have make up: 0
// below a half.
func (m *matching) pieceShare(u *unit, have []hits) (share, weight float64) {
	if len(u.pieces) == 0 {
		return 0, 0
	}
	n := 0
	for _, p := range u.pieces {
		if have[p].exact+have[p].loose > 0 {
			n++
			weight = max(weight, have[p].weight)
		}
	}
	if 2*n < len(u.pieces) {
		return 0, 0
	}
	return m.r.Piece * float64(n) / float64(len(u.pieces)), weight
}

// keepRows is how many of a session's rows count for its score.
const keepRows = 8

// keep holds the best rows in order of score; of equals the newest.
func (f *found) keep(s scored) {
	i := len(f.rows)
	for i > 0 && better(&s, &f.rows[i-1]) {
		i--
	}
	if i >= keepRows {
		return
	}
	if len(f.rows) < keepRows {
		f.rows = append(f.rows, scored{})
	}
	copy(f.rows[i+1:], f.rows[i:])
	f.rows[i] = s
}

func better(a, b *scored) bool {
	if a.phrase != b.phrase {
		return a.phrase
	}
	if a.words != b.words {
		return a.words > b.words
	}
	if a.score != b.score {
		return a.score > b.score
	}
	return a.row > b.row
}

// extraRows is how far beyond its budget a word's list is read to learn whether
// sessions that hold the other words hold this one, too.
const extraRows = 100_000

// completeSessions reads on in lists that were cut, as far as a session lacks
// nothing but such words. Rows found there only tell that the word is there.
func (m *matching) completeSessions(lists []posting) error {
	if m.need < 2 {
		return nil
	}
	cut := map[int][]posting{}
	for _, p := range lists {
		if p.more && p.unit != phraseUnit {
			cut[p.unit] = append(cut[p.unit], p)
		}
	}
	if len(cut) == 0 {
		return nil
	}
	lacking := map[int]map[int64]*found{}
	for _, id := range m.order {
		f := m.sessions[id]
		var lacks []int
		only := true
		for _, i := range m.s.plan.words {
			if u := &m.s.plan.units[i]; !u.optional && f.units[i].exact+f.units[i].loose == 0 {
				lacks = append(lacks, i)
				only = only && cut[i] != nil
			}
		}
		if !only || len(lacks) == m.need {
			continue
		}
		for _, i := range lacks {
			if lacking[i] == nil {
				lacking[i] = map[int64]*found{}
			}
			lacking[i][id] = f
		}
	}
	for _, i := range m.s.plan.words {
		for _, p := range cut[i] {
			if err := m.readOn(p, lacking[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// fewSessions is how many sessions are looked for one by one in the rest of a
// list, rather than all at once by reading it: one costs as much as some 500 rows.
const fewSessions = 32

// readOn looks for sessions in the rest of a list.
func (m *matching) readOn(p posting, want map[int64]*found) error {
	before := p.rows[len(p.rows)-1]
	if len(want) <= fewSessions {
		return m.readEach(p, before, want)
	}
	spans := m.s.snap.Spans.Walk()
	for read, chunk := 0, extraRows/16; read < extraRows && len(want) > 0; chunk = min(2*chunk, extraRows-read) {
		rows, err := m.s.snap.Rows(m.s.ctx, p.stream, p.expr, math.MinInt64, before, chunk)
		if err != nil {
			return err
		}
		for _, r := range rows {
			info, ok := spans.At(r)
			if f := want[info.Session]; ok && f != nil && m.completed(p, f, info) {
				delete(want, info.Session)
			}
		}
		if len(rows) < chunk {
			return nil
		}
		read += len(rows)
		before = rows[len(rows)-1]
	}
	return nil
}

// readEach looks for each session in its own part of the rest of a list.
func (m *matching) readEach(p posting, before int64, want map[int64]*found) error {
	spans := m.s.snap.Spans
	for id, f := range want {
		var err error
		spans.Of(id, func(first, end int64) {
			if err != nil || want[id] == nil || first >= before {
				return
			}
			var rows []int64
			rows, err = m.s.snap.Rows(m.s.ctx, p.stream, p.expr, first, min(end, before), everything)
			for _, r := range rows {
				if info, ok := spans.At(r); ok && m.completed(p, f, info) {
					delete(want, id)
					return
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// completed notes that a session holds what a list is of, if the row of it counts.
func (m *matching) completed(p posting, f *found, info store.RowInfo) bool {
	if !m.s.passes(info) {
		return false
	}
	w := m.r.Talk
	if p.stream == store.ToolText {
		w = m.r.Tool
	}
	f.units[p.unit] = hits{loose: 1, talk: p.stream == store.Talk, weight: w * m.r.Form}
	return true
}
