package query

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

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

// window is a stretch of a text with the matches in it.
type window struct {
	text     string
	spans    []analysis.Span
	from, to int
	value    float64
	prose    bool
}

// best finds the stretch of text with most of the query in it.
func (c *snippets) best(text string) window {
	spans := c.matcher.Find(text, maxSpans)
	w := window{text: text, to: min(len(text), windowRunes)}
	if len(spans) == 0 {
		return w
	}
	count := make([]int, len(c.weights))
	value := 0.0
	lo, bestLo, bestHi := 0, 0, 0
	for hi, s := range spans {
		if count[s.Pattern] == 0 {
			value += c.weights[s.Pattern]
		}
		count[s.Pattern]++
		// Bytes stand for code points here; the cut below counts properly.
		for spans[lo].Start < s.End-windowRunes && lo < hi {
			count[spans[lo].Pattern]--
			if count[spans[lo].Pattern] == 0 {
				value -= c.weights[spans[lo].Pattern]
			}
			lo++
		}
		if value > w.value+1e-9 {
			w.value, bestLo, bestHi = value, lo, hi
		}
	}
	w.spans = spans
	w.from, w.to = spans[bestLo].Start, spans[bestHi].End
	return w
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
	var w window
	found := false
	for _, p := range e.Parts {
		if s.req.Scope == contract.ScopeConversation && p.Kind != transcript.Prose {
			continue
		}
		text := store.Chunk(p.Text, chunk)
		if text == "" {
			continue
		}
		x := c.best(text)
		x.prose = p.Kind == transcript.Prose
		if !found || x.value > w.value || x.value == w.value && x.prose && !w.prose {
			w, found = x, true
		}
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
	s.cut(ev, w)
	return ev, nil
}

// headEvidence is the evidence of a match in title, branch or project.
func (s *search) headEvidence(sess *store.Session, c *snippets) *contract.Evidence {
	var w window
	kind := ""
	for _, f := range []struct{ kind, text string }{
		{"session/title", sess.Title}, {"session/branch", sess.Branch}, {"session/cwd", sess.CWD},
	} {
		if x := c.best(f.text); kind == "" || x.value > w.value {
			w, kind = x, f.kind
		}
	}
	ev := &contract.Evidence{Role: contract.RoleUnknown, Type: kind, Surface: contract.Surface(headSurface)}
	s.cut(ev, w)
	return ev
}

// cut renders a window: white space runs become one space, control characters
// go, matches are marked, and the text around them is given as far as it fits.
func (s *search) cut(ev *contract.Evidence, w window) {
	from, to := widen(w.text, w.from, w.to)
	var b strings.Builder
	marks := contract.List[contract.Mark]{}
	at, runes := 0, 0 // UTF-16 length and code points so far
	put := func(text string) {
		b.WriteString(text)
		at += utf16Len(text)
	}
	space := true // at the start none is written
	i := from
	if from > 0 {
		put("…")
		runes++
		space = false
	}
	spans := outermost(w.spans, from, to)
	var open int
	inside := false
	for i < to && runes < snippetRunes-1 {
		if inside && i >= spans[0].End {
			marks = append(marks, contract.Mark{open, at})
			put("]]")
			inside = false
			spans = spans[1:]
		}
		if !inside && len(spans) > 0 && i >= spans[0].Start {
			put("[[")
			open, inside = at, true
		}
		r, size := rune(w.text[i]), 1
		if r >= 0x80 {
			r, size = decode(w.text[i:])
		}
		i += size
		switch {
		case unicode.IsSpace(r):
			if space {
				continue
			}
			space = true
			b.WriteByte(' ')
			at++
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			continue
		default:
			space = false
			b.WriteRune(r)
			at++
			if r > 0xffff {
				at++
			}
		}
		runes++
	}
	if inside {
		marks = append(marks, contract.Mark{open, at})
		put("]]")
	}
	if i < len(w.text) {
		put("…")
	}
	if from > 0 || i < len(w.text) {
		s.shortened++
	}
	ev.Snippet, ev.Marks = strings.TrimRight(b.String(), " "), marks
}

// widen extends a stretch to the window's size, two thirds of the room after
// it, to word boundaries.
func widen(text string, from, to int) (int, int) {
	room := max(0, windowRunes-runesIn(text[from:to]))
	before := room / 3
	start := from
	for n := 0; n < before && start > 0; n++ {
		_, size := decodeLast(text[:start])
		start -= size
	}
	room -= runesIn(text[start:from])
	end := to
	for n := 0; n < room && end < len(text); n++ {
		_, size := decode(text[end:])
		end += size
	}
	if end == len(text) {
		for n := runesIn(text[start:end]); n < windowRunes && start > 0; n++ {
			_, size := decodeLast(text[:start])
			start -= size
		}
	}
	if start > 0 {
		if i := strings.IndexAny(text[start:from], " \t\n"); i >= 0 && i < 24 {
			start += i + 1
		}
	}
	if end < len(text) {
		if i := strings.LastIndexAny(text[to:end], " \t\n"); i >= 0 && end-to-i < 24 {
			end = to + i
		}
	}
	return start, end
}

// outermost gives the spans inside [from, to) without those that another one
// covers or overlaps, in order.
func outermost(spans []analysis.Span, from, to int) []analysis.Span {
	var out []analysis.Span
	for _, s := range spans {
		if s.Start < from || s.End > to {
			continue
		}
		if n := len(out); n > 0 && s.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}
