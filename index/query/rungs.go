package query

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/analysis"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/vocabulary"
)

// rung is how far from what was typed a word is looked for. A word that nothing
// in the index holds is looked for one rung further down at a time, and the
// first on which a session is found counts (matching.md rules 8 and 9).
type rung uint8

const (
	rungTyped  rung = iota
	rungPrefix      // words that begin with it
	rungNear        // words one edit away
	rungInside      // words that contain it
	rungFar         // words two edits away
)

const (
	// maxUnknown is how many words of a query are looked for on lower rungs; the
	// text of a stranger's mail, pasted, must not cost fifty walks through the
	// vocabulary.
	maxUnknown = 8
	// minUnknown is the length in characters from which a word is looked for on
	// lower rungs: below, everything is near and everything contains it.
	minUnknown = 3
	// maxInside is how many words that contain a word stand for it, and how many
	// the index is asked for at once.
	maxInside = 128
)

// completed reports whether terms that begin with the unit's last term count.
func (u *unit) completed() bool { return u.complete || u.rung == rungPrefix }

// looseInTurn is loose in expressions of a bounded size: sorted by time, where
// an answer is exact whatever it costs, any number of words may contain one.
func (u *unit) looseInTurn() []store.Expr {
	if u.rung != rungInside || len(u.instead) <= maxInside {
		return []store.Expr{u.loose()}
	}
	var list []store.Expr
	for some := range slices.Chunk(u.instead, maxInside) {
		part := *u
		part.instead = some
		list = append(list, part.replaced())
	}
	return list
}

// terms are what the unit is in a phrase.
func (u *unit) terms() []string {
	if u.rung == rungNear || u.rung == rungFar {
		return u.instead[0]
	}
	return u.word.Terms
}

// replaced is the unit by the terms it is looked for instead.
func (u *unit) replaced() store.Expr {
	any := make([]store.Expr, len(u.instead))
	for i, terms := range u.instead {
		any[i] = u.phrase(terms)
	}
	return store.Any(any...)
}

// phrase is a replacement of the unit; one of several parts that is being typed
// may still be completed.
func (u *unit) phrase(terms []string) store.Expr {
	return store.Phrase(terms, u.complete && len(terms) > 1)
}

// replacedPattern is replaced for the matcher that cuts snippets. Of the
// replacements at most one has several terms (see nearParts).
func (u *unit) replacedPattern() analysis.Pattern {
	var p analysis.Pattern
	for _, terms := range u.instead {
		if len(terms) == 1 {
			p.Joined = append(p.Joined, terms[0])
		} else if p.Terms == nil {
			p.Terms, p.Prefix = terms, u.complete
		}
	}
	return p
}

// whole is the word written as one term: itself, or the joined form of an
// identifier; "" for what has none.
func (u *unit) whole() string {
	switch {
	case len(u.word.Terms) == 1:
		return u.word.Terms[0]
	case len(u.word.Side) > 0:
		return u.word.Side[0]
	}
	return ""
}

// lowers reports whether the unit may be looked for on lower rungs: words of
// scripts with words only, never stop words, numbers and what was quoted.
func (u *unit) lowers() bool {
	if u.quoted || u.optional || u.piece || u.word.SideOnly || u.word.Stop || !slices.ContainsFunc(u.word.Terms, notNumber) {
		return false
	}
	n := 0
	for _, t := range u.word.Terms {
		if !analysis.Spelt(t) {
			return false
		}
		n += utf8.RuneCountInString(t)
	}
	return n >= minUnknown
}

// climb looks for the words that nothing was found for on lower rungs and adds
// what it finds.
func (s *search) climb(lists *[]posting) error {
	left, moved := maxUnknown, false
	if s.exact() {
		left = maxWords
	}
	for _, i := range s.plan.content {
		u := &s.plan.units[i]
		if !u.lowers() {
			continue
		}
		var own []posting
		for _, p := range *lists {
			if p.unit == i {
				own = append(own, p)
			}
		}
		found, err := s.finds(own)
		if err != nil {
			return err
		}
		if found {
			continue
		}
		held, err := s.holds(u.exact())
		if err != nil {
			return err
		}
		if held {
			continue // elsewhere: a word that the index holds is never changed
		}
		if left--; left < 0 {
			s.truncated = true
			break
		}
		own, err = s.lower(i)
		if err != nil {
			return err
		}
		*lists = append(*lists, own...)
		moved = moved || u.rung != rungTyped
	}
	if moved {
		s.plan.planPhrase()
	}
	return nil
}

// lower finds the first rung on which the unit finds a session, and returns its
// lists; none leaves the unit as it was.
func (s *search) lower(i int) ([]posting, error) {
	u := &s.plan.units[i]
	typed := *u
	near := proposals{s: s, u: &typed}
	for _, r := range []rung{rungPrefix, rungNear, rungInside, rungFar} {
		for group := 0; ; group++ {
			instead, ok, err := near.group(r, group)
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			u.rung, u.instead = r, instead
			lists, err := s.unitLists(i)
			if err != nil {
				return nil, err
			}
			found, err := s.finds(lists)
			if err != nil {
				return nil, err
			}
			if found {
				return lists, nil
			}
		}
	}
	*u = typed
	return nil, nil
}

// finds reports whether the lists have a row that meets all filters.
func (s *search) finds(lists []posting) (bool, error) {
	deep := s.cond.events.deep()
	var rows []uint64
	for _, p := range lists {
		for _, row := range p.rows {
			if info, ok := s.snap.Spans.At(row); ok && s.passes(info) {
				if !deep {
					return true, nil
				}
				rows = append(rows, uint64(row)<<12)
			}
		}
	}
	if len(rows) == 0 {
		return false, nil
	}
	d := newDeepFilter(s)
	if err := d.prepare(rows); err != nil {
		return false, err
	}
	return len(d.good) > 0, nil
}

// holds reports whether the index has a row for an expression, whatever the
// filters.
func (s *search) holds(e store.Expr) (bool, error) {
	for _, st := range []store.Stream{store.Talk, store.ToolText} {
		rows, err := s.snap.Rows(s.ctx, st, e, math.MinInt64, math.MaxInt64, 1)
		if err != nil || len(rows) > 0 {
			return len(rows) > 0, err
		}
	}
	return false, nil
}

// proposals are the words a unit may stand for, rung by rung.
type proposals struct {
	s *search
	u *unit

	asked bool
	near  [3][][][]string // groups by distance, the likeliest first
}

// group returns the n-th group of words for a rung; ok is false when there is
// none. The words of a group count alike.
func (p *proposals) group(r rung, n int) (instead [][]string, ok bool, err error) {
	switch r {
	case rungPrefix:
		// A word being typed was completed from the start.
		return nil, n == 0 && !p.u.complete, nil
	case rungInside:
		if n > 0 {
			return nil, false, nil
		}
		instead, err = p.inside()
		return instead, len(instead) > 0, err
	}
	if !p.asked {
		p.asked = true
		if err := p.spell(); err != nil {
			return nil, false, err
		}
	}
	of := p.near[1]
	if r == rungFar {
		of = p.near[2]
	}
	if n >= len(of) {
		return nil, false, nil
	}
	return of[n], true, nil
}

// inside finds the words that contain the unit.
func (p *proposals) inside() ([][]string, error) {
	whole := p.u.whole()
	if utf8.RuneCountInString(whole) < minUnknown {
		return nil, nil
	}
	all, err := p.s.vocabulary()
	if err != nil {
		return nil, err
	}
	limit := maxInside
	if p.s.exact() {
		limit = math.MaxInt
	}
	words, more, err := all.Containing(p.s.ctx, whole, limit)
	if err != nil {
		return nil, err
	}
	p.s.truncated = p.s.truncated || more
	out := make([][]string, len(words))
	for i, w := range words {
		out[i] = []string{w}
	}
	return out, nil
}

// vocabulary is that of the snapshot, read when a search first needs it.
func (s *search) vocabulary() (vocabulary.Vocabulary, error) {
	if s.words == nil {
		words, err := s.snap.Vocabulary(s.ctx)
		if err != nil {
			return nil, err
		}
		s.words = words
	}
	return s.words, nil
}

// lowered is the route of an answer, given how its words were looked for.
func (p *plan) lowered(route contract.Route) contract.Route {
	inside := false
	for _, i := range p.content {
		switch p.units[i].rung {
		case rungNear, rungFar:
			switch route {
			case contract.RoutePhrase:
				return contract.RouteTypoPhrase
			case contract.RouteAnd:
				return contract.RouteTypoAnd
			}
			return contract.RouteTypoOr
		case rungPrefix, rungInside:
			inside = true
		}
	}
	if inside {
		return contract.RouteSubstring
	}
	return route
}

// repaired is the whole query in the index's spelling, nil if no word was
// repaired.
func (p *plan) repaired() []string {
	var out []string
	any := false
	for _, i := range p.words {
		u := &p.units[i]
		switch {
		case u.rung == rungNear || u.rung == rungFar:
			any = true
			out = append(out, u.instead[0]...)
		case len(u.word.Terms) == 1 && !u.word.SideOnly:
			out = append(out, u.word.Terms[0])
		default:
			out = append(out, u.word.Text)
		}
	}
	if !any {
		return nil
	}
	return slices.Clip(out)
}
