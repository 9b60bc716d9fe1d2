package analysis

import (
	"bytes"
	"cmp"
	"slices"
)

// Pattern is what one word of a query looks for in a text.
type Pattern struct {
	// Terms match in a row in the main stream. May be empty when there are Joined.
	Terms []string
	// Prefix lets the last of Terms, and Joined, match terms that only begin with it.
	Prefix bool
	// Joined match the joined form of an identifier, a special word, or a single term.
	Joined []string
	// Variants match in place of Terms, one term each.
	Variants []string
}

// Pattern returns what w looks for; complete says that an open last term may be completed.
func (w Word) Pattern(complete bool) Pattern {
	p := Pattern{Terms: w.Terms, Prefix: w.Single || complete && w.Open, Joined: w.Side}
	if w.SideOnly {
		p.Terms = nil
	}
	return p
}

// Form says how a span matched.
type Form uint8

// The forms of a match, best first.
const (
	FormExact   Form = iota // the terms themselves
	FormJoined              // the joined form of an identifier
	FormPrefix              // the beginning of a term or a joined form
	FormVariant             // another form of the word
)

// Span is a match: text[Start:End] in bytes, for the pattern with that index.
type Span struct {
	Start, End int
	Pattern    int
	Form       Form
}

// Matcher finds patterns in texts, by the same rules as the index. It is not safe for concurrent use.
type Matcher struct {
	a        *Analyzer
	patterns []compiled
	ids      map[string]int32 // numbers of all terms below
	enders   [][]ender        // by number: patterns that may end with this term
	prefixes []ender          // patterns whose last term or joined form is a prefix
	joins    map[string][]int32
	joinHead []ender
	first    [256]bool // first bytes of everything in ids and prefixes
	locator  *locator

	base   int     // where the stretch begins that is analysed
	recent []place // ring of the last tokens
	count  int     // tokens so far
	done   []int   // by pattern: end of its last span
	yield  func(Span) bool
}

// compiled is a phrase as numbers.
type compiled struct{ terms []int32 }

// ender is a pattern with a way to end it.
type ender struct {
	pattern int32
	term    string // for prefixes
	form    Form
	phrase  bool // the terms before the last must stand before it
}

// place is where a recent token stands; id is -1 for a term of no pattern.
type place struct {
	id    int32
	start int32
}

// NewMatcher returns a Matcher for the patterns. Patterns without anything to match are allowed and
// find nothing.
func NewMatcher(patterns []Pattern) *Matcher {
	m := &Matcher{a: New(), ids: map[string]int32{}, joins: map[string][]int32{},
		patterns: make([]compiled, len(patterns)), done: make([]int, len(patterns))}
	longest := 1
	for i, p := range patterns {
		n := int32(i)
		for _, t := range p.Terms {
			m.patterns[i].terms = append(m.patterns[i].terms, m.number(t))
		}
		longest = max(longest, len(p.Terms))
		if len(p.Terms) > 0 {
			last := p.Terms[len(p.Terms)-1]
			m.endsWith(last, ender{pattern: n, form: FormExact, phrase: true})
			if p.Prefix && last != "" {
				m.prefixes = append(m.prefixes, ender{pattern: n, term: last, form: FormPrefix, phrase: true})
			}
		}
		for _, t := range p.Joined {
			m.endsWith(t, ender{pattern: n, form: FormJoined})
			m.joins[t] = append(m.joins[t], n)
			if p.Prefix && t != "" {
				head := ender{pattern: n, term: t, form: FormPrefix}
				m.joinHead = append(m.joinHead, head)
				m.prefixes = append(m.prefixes, head)
			}
		}
		for _, t := range p.Variants {
			m.endsWith(t, ender{pattern: n, form: FormVariant})
		}
	}
	for _, e := range m.prefixes {
		m.first[e.term[0]] = true
	}
	for i := range m.enders { // where one term ends a pattern in several ways, the best form is reported
		slices.SortStableFunc(m.enders[i], func(x, y ender) int { return cmp.Compare(x.form, y.form) })
	}
	m.recent = make([]place, longest)
	m.locator = newLocator(patterns)
	return m
}

func (m *Matcher) number(term string) int32 {
	id, ok := m.ids[term]
	if !ok {
		id = int32(len(m.enders))
		m.ids[term] = id
		m.enders = append(m.enders, nil)
		if term != "" {
			m.first[term[0]] = true
		}
	}
	return id
}

func (m *Matcher) endsWith(term string, e ender) {
	id := m.number(term)
	m.enders[id] = append(m.enders[id], e)
}

// Each calls yield for every match in text until it returns false, ordered by where the matches end
// (by the end of the identifier for joined forms). Matches of one pattern do not overlap: of those that would,
// the first is reported. A match covers whole tokens: all parts of a
// word of several, the whole word where a prefix matched, the whole identifier for a joined form; in unspaced
// scripts the characters that were asked for and no more. Each must not be called
// again, on the same Matcher, before it has returned.
func (m *Matcher) Each(text string, yield func(Span) bool) {
	m.count, m.yield = 0, yield
	clear(m.done)
	if parts, ok := m.locator.locate(text); ok {
		for _, p := range parts {
			m.recent[m.count%len(m.recent)] = place{id: -1} // no phrase reaches over what is left out
			m.count++
			m.base = p.from
			m.a.scan(text[p.from:p.to], m)
			if m.a.stopped {
				break
			}
		}
	} else {
		m.base = 0
		m.a.scan(text, m)
	}
	m.yield = nil
}

// Find returns the first matches of every pattern, at most max each, ordered by start, then pattern.
func (m *Matcher) Find(text string, max int) []Span {
	var spans []Span
	counts := make([]int, len(m.patterns))
	full := 0
	if max <= 0 || len(counts) == 0 {
		return nil
	}
	m.Each(text, func(s Span) bool {
		if counts[s.Pattern] == max {
			return true
		}
		counts[s.Pattern]++
		if counts[s.Pattern] == max {
			full++
		}
		spans = append(spans, s)
		return full < len(counts)
	})
	slices.SortFunc(spans, func(x, y Span) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.Pattern, y.Pattern))
	})
	return spans
}

func (m *Matcher) token(t Token) bool {
	id := int32(-1)
	interesting := m.first[t.Term[0]]
	if interesting {
		if n, ok := m.ids[string(t.Term)]; ok {
			id = n
		}
	}
	m.recent[m.count%len(m.recent)] = place{id, t.Start}
	m.count++
	if !interesting {
		return true
	}
	if id >= 0 {
		for _, e := range m.enders[id] {
			if !m.end(e, e.form, t.Start, int(t.End)) {
				return false
			}
		}
	}
	for _, e := range m.prefixes {
		if len(t.Term) <= len(e.term) || string(t.Term[:len(e.term)]) != e.term {
			continue
		}
		form, end := e.form, int(t.End)
		if t.Kind == KindCJK { // one character of the pair was asked for, and is there
			form, end = FormExact, int(t.mid)
		}
		if !m.end(e, form, t.Start, end) {
			return false
		}
	}
	return true
}

// end reports a match of e that ends with the latest token, if its other terms stand before.
func (m *Matcher) end(e ender, form Form, start int32, end int) bool {
	if e.phrase {
		terms := m.patterns[e.pattern].terms
		if m.count < len(terms) {
			return true
		}
		for i := 2; i <= len(terms); i++ {
			p := m.recent[(m.count-i)%len(m.recent)]
			if p.id != terms[len(terms)-i] {
				return true
			}
			start = p.start
		}
	}
	return m.report(Span{Start: int(start), End: end, Pattern: int(e.pattern), Form: form})
}

func (m *Matcher) report(s Span) bool {
	s.Start += m.base
	s.End += m.base
	if s.Start < m.done[s.Pattern] {
		return true
	}
	m.done[s.Pattern] = s.End
	return m.yield(s)
}

func (m *Matcher) joined(term []byte, start, end, _ int) bool {
	for _, n := range m.joins[string(term)] {
		if !m.report(Span{Start: start, End: end, Pattern: int(n), Form: FormJoined}) {
			return false
		}
	}
	for _, e := range m.joinHead {
		if len(term) > len(e.term) && bytes.HasPrefix(term, []byte(e.term)) &&
			!m.report(Span{Start: start, End: end, Pattern: int(e.pattern), Form: FormPrefix}) {
			return false
		}
	}
	return true
}
