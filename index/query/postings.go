package query

import (
	"cmp"
	"math"
	"slices"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
)

// form says how well a row holds a unit.
type form uint8

const (
	formExact form = iota
	formLoose      // completed or inflected
)

// posting is the list of rows of one unit in one stream and form, newest first.
type posting struct {
	unit   int
	form   form
	stream store.Stream
	rows   []int64
	more   bool
	expr   store.Expr // with the event filter's part
}

// phraseUnit is the unit of the list for the phrase of all words.
const phraseUnit = -1

// match finds the rows of all units, puts them together to sessions and ranks
// these.
func (s *search) match() error {
	lists, err := s.postings()
	if err != nil {
		return err
	}
	m := newMatching(s, lists)
	s.matching = m
	if err := m.collect(lists); err != nil {
		return err
	}
	if s.events != nil {
		return m.rankEvents()
	}
	if err := m.completeSessions(lists); err != nil {
		return err
	}
	if err := m.rank(); err != nil {
		return err
	}
	s.route = s.plan.lowered(s.route)
	return nil
}

// exact reports whether the answer is to be whole whatever it costs
// (contract.md §4), as is one about the events of one session.
func (s *search) exact() bool { return s.req.Filters.Sort == contract.SortNewest || s.rows != nil }

func (s *search) budget(st store.Stream, quoted bool) int {
	switch {
	case quoted, s.exact():
		return everything
	case st == store.ToolText:
		return toolBudget
	}
	return talkBudget
}

// postings asks the index for every unit.
func (s *search) postings() ([]posting, error) {
	var out []posting
	for i := range s.plan.units {
		if s.plan.units[i].optional {
			continue
		}
		lists, err := s.unitLists(i)
		if err != nil {
			return nil, err
		}
		out = append(out, lists...)
	}
	if err := s.climb(&out); err != nil {
		return nil, err
	}
	if s.plan.phrase != nil {
		for _, st := range s.plan.streams {
			// Where every word met its budget, the phrase is looked for as far
			// back as they were, not through all of their lists.
			e := s.marked(store.Phrase(s.plan.phrase, s.plan.open))
			rows, more, err := s.pages(st, e, s.depth(st, out), s.budget(st, false))
			if err != nil {
				return nil, err
			}
			s.truncated = s.truncated || more
			out = append(out, posting{unit: phraseUnit, stream: st, rows: rows, more: more})
		}
	}
	return out, s.together(&out)
}

// unitLists asks the index for one unit.
func (s *search) unitLists(i int) ([]posting, error) {
	var out []posting
	u := &s.plan.units[i]
	for _, st := range s.plan.streams {
		for f, list := range [][]store.Expr{{u.exact()}, u.looseInTurn()} {
			rows, more, err := s.union(st, list, s.budget(st, u.quoted))
			if err != nil {
				return nil, err
			}
			s.truncated = s.truncated || more
			if len(rows) > 0 {
				out = append(out, posting{i, form(f), st, rows, more, s.marked(store.Any(list...))})
			}
			if more {
				break // the word itself fills the budget; its other forms rank below it
			}
		}
	}
	return out, nil
}

// union asks for several expressions in turn; most units have one.
func (s *search) union(in store.Stream, list []store.Expr, budget int) (rows []int64, more bool, err error) {
	for _, e := range list {
		some, cut, err := s.list(in, e, budget)
		if err != nil {
			return nil, false, err
		}
		rows, more = append(rows, some...), more || cut
	}
	if len(list) > 1 {
		slices.SortFunc(rows, func(a, b int64) int { return cmp.Compare(b, a) })
		rows = slices.Compact(rows)
	}
	return rows, more, nil
}

// depth is the oldest row that all words of a stream were read down to, if all
// of them were cut; else all rows count.
func (s *search) depth(st store.Stream, lists []posting) int64 {
	oldest := int64(math.MaxInt64)
	for _, i := range s.plan.content {
		k := slices.IndexFunc(lists, func(p posting) bool { return p.unit == i && p.stream == st && p.more })
		if k < 0 {
			return math.MinInt64
		}
		oldest = min(oldest, lists[k].rows[len(lists[k].rows)-1])
	}
	return oldest
}

// together finds the rows that hold all words where single lists were cut: an
// old message with a rare and a common word is on the rare word's list but may
// be beyond the common word's budget.
func (s *search) together(out *[]posting) error {
	cut, whole := false, false
	for _, i := range s.plan.content {
		more := slices.ContainsFunc(*out, func(p posting) bool { return p.unit == i && p.more })
		cut, whole = cut || more, whole || !more
	}
	if !cut || !whole {
		return nil
	}
	for _, st := range s.plan.streams {
		var all []store.Expr
		for _, i := range s.plan.content {
			u := &s.plan.units[i]
			all = append(all, store.Any(u.exact(), u.loose()))
		}
		if len(all) < 2 {
			continue
		}
		rows, more, err := s.list(st, store.All(all...), s.budget(st, false))
		if err != nil {
			return err
		}
		s.truncated = s.truncated || more
		for _, i := range s.plan.content {
			*out = append(*out, posting{unit: i, form: formLoose, stream: st, rows: rows})
		}
	}
	return nil
}
