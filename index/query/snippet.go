package query

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/analysis"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// snippetRunes is the text of a snippet at most, in code points, marks apart
// (contract.md §4); the window aims lower, for a line or two in a picker.
const (
	snippetRunes = 512
	windowRunes  = 280
)

// snippets cuts the evidence of hits for one plan.
type snippets struct {
	matcher *analysis.Matcher
	weights []float64
	plan    *plan
}

func newSnippets(p *plan) *snippets {
	c := &snippets{plan: p}
	if p == nil {
		return c
	}
	patterns := make([]analysis.Pattern, len(p.units))
	c.weights = make([]float64, len(p.units))
	for i := range p.units {
		u := &p.units[i]
		patterns[i] = u.pattern()
		switch {
		case u.optional:
			// Marked only as part of the phrase, see mark.
			patterns[i] = analysis.Pattern{}
		case u.piece:
			c.weights[i] = 0.3
		default:
			c.weights[i] = 1
		}
	}
	if p.phrase != nil {
		patterns = append(patterns, analysis.Pattern{Terms: p.phrase, Prefix: p.open})
		c.weights = append(c.weights, 2)
	}
	c.matcher = analysis.NewMatcher(patterns)
	return c
}

// maxSpans bounds the matches of one pattern that are weighed against each
// other; a later tight place must still be found (case B86), so it is large.
const maxSpans = 20000

// view is what is shown of an event's texts: one stretch, or two when the words
// of the query stand far apart or in different parts.
type view struct {
	texts []searched
	parts []stretch // in order
	value float64
}

// searched is a text with its matches.
type searched struct {
	text  string
	spans []analysis.Span
	prose bool
}

// stretch is a range of one of the texts.
type stretch struct{ text, from, to int }

// find searches the texts and picks the stretches with most of the query in
// them; of equals prose, then the first.
func (c *snippets) find(texts []searched) view {
	v := view{texts: texts}
	if len(texts) == 0 {
		return v
	}
	for i := range texts {
		texts[i].spans = c.matcher.Find(texts[i].text, maxSpans)
	}
	first, value := c.tightest(texts, nil)
	v.parts, v.value = []stretch{first}, value
	if value == 0 {
		return v
	}
	covered := make([]bool, len(c.weights))
	for _, s := range texts[first.text].spans {
		if s.Start >= first.from && s.End <= first.to {
			covered[s.Pattern] = true
		}
	}
	if second, more := c.tightest(texts, covered); more > 0 {
		v.value += more
		v.parts = append(v.parts, second)
		slices.SortFunc(v.parts, func(a, b stretch) int { return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.from, b.from)) })
	}
	return v
}

// tightest finds the stretch whose patterns, those already covered apart,
// weigh most.
func (c *snippets) tightest(texts []searched, covered []bool) (best stretch, value float64) {
	for i := range texts {
		x, v := c.tightestIn(texts[i].spans, covered)
		if v > value || v == value && v > 0 && texts[i].prose && !texts[best.text].prose {
			best, value = stretch{i, x.from, x.to}, v
		}
	}
	return best, value
}

// tightestIn is tightest in one text; of equals the first stretch.
func (c *snippets) tightestIn(spans []analysis.Span, covered []bool) (best stretch, value float64) {
	count := make([]int, len(c.weights))
	now := 0.0
	lo := 0
	for hi, s := range spans {
		weight := func(pattern int) float64 {
			if covered != nil && covered[pattern] {
				return 0
			}
			return c.weights[pattern]
		}
		if count[s.Pattern] == 0 {
			now += weight(s.Pattern)
		}
		count[s.Pattern]++
		// Bytes stand for code points here; the cut counts properly.
		for spans[lo].Start < s.End-windowRunes && lo < hi {
			count[spans[lo].Pattern]--
			if count[spans[lo].Pattern] == 0 {
				now -= weight(spans[lo].Pattern)
			}
			lo++
		}
		if now > value+1e-9 {
			value, best = now, stretch{from: spans[lo].Start, to: s.End}
		}
	}
	return best, value
}

// evidence cuts the snippet of a hit.
func (s *search) evidence(sess *store.Session, r *ranked, c *snippets) (*contract.Evidence, error) {
	if len(r.rows) == 0 {
		return nil, nil
	}
	top := r.rows[0]
	if top.head {
		return s.headEvidence(sess, c), nil
	}
	e, chunk, err := s.snap.EventAt(s.ctx, sess, top.row)
	if errors.Is(err, store.ErrNoEvent) {
		return s.headEvidence(sess, c), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the evidence of %s: %w", sess.SID, err)
	}
	ev := &contract.Evidence{Role: contract.Role(e.Role), Type: e.Type, Surface: contract.Surface(e.Surface)}
	seq := int64(e.Seq)
	ev.Seq = &seq
	if e.ID != "" {
		ev.EventID = &e.ID
	}
	if !e.Time.IsZero() {
		t := contract.InstantOf(e.Time)
		ev.Timestamp = &t
	}
	s.cut(ev, c.find(s.texts(e, chunk)))
	return ev, nil
}

// texts are what is shown of one of an event's rows.
func (s *search) texts(e *store.Stored, chunk int) []searched {
	var texts []searched
	for _, p := range e.Parts {
		if s.req.Scope == contract.ScopeConversation && p.Kind != transcript.Prose {
			continue
		}
		if text := store.Chunk(p.Text, chunk); text != "" {
			texts = append(texts, searched{text: text, prose: p.Kind == transcript.Prose})
		}
	}
	return texts
}

// headEvidence is the evidence of a match in title, branch or project.
func (s *search) headEvidence(sess *store.Session, c *snippets) *contract.Evidence {
	kind, found := s.head(sess, c)
	ev := &contract.Evidence{Role: contract.RoleUnknown, Type: kind, Surface: contract.Surface(headSurface)}
	s.cut(ev, found)
	return ev
}

// head finds what of title, branch and project matches best, of those that
// count; where none does it is the title.
func (s *search) head(sess *store.Session, c *snippets) (kind string, best view) {
	for i, text := range [...]string{sess.Title, sess.Branch, sess.CWD} {
		if !s.cond.events.wants(headTypes[i]) {
			continue
		}
		if v := c.find([]searched{{text: text}}); kind == "" || v.value > best.value {
			kind, best = headTypes[i], v
		}
	}
	if kind == "" {
		return headTypes[0], c.find([]searched{{text: sess.Title}})
	}
	return kind, best
}
