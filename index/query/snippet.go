package query

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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

// window is what of a text is shown: one stretch, or two when the words of the
// query stand far apart.
type window struct {
	text  string
	spans []analysis.Span
	parts []stretch // in order, apart
	value float64
	prose bool
}

type stretch struct{ from, to int }

// best finds the stretches of text with most of the query in them.
func (c *snippets) best(text string) window {
	spans := c.matcher.Find(text, maxSpans)
	w := window{text: text, spans: spans}
	if len(spans) == 0 {
		w.parts = []stretch{{0, 0}}
		return w
	}
	first, value := c.tightest(spans, nil)
	w.parts, w.value = []stretch{first}, value
	covered := make([]bool, len(c.weights))
	for _, s := range spans {
		if s.Start >= first.from && s.End <= first.to {
			covered[s.Pattern] = true
		}
	}
	if second, more := c.tightest(spans, covered); more > 0 {
		w.value += more
		w.parts = append(w.parts, second)
		slices.SortFunc(w.parts, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	}
	return w
}

// tightest finds the window whose patterns, those already covered apart, weigh
// most; of equals the first.
func (c *snippets) tightest(spans []analysis.Span, covered []bool) (best stretch, value float64) {
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
			value, best = now, stretch{spans[lo].Start, s.End}
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
	r := renderer{marks: contract.List[contract.Mark]{}, space: true}
	end := 0
	shortened := false
	for _, p := range w.parts {
		from, to := widen(w.text, max(p.from, end), max(p.to, end), windowRunes/len(w.parts), end)
		if from > end || end == 0 && from > 0 {
			r.gap()
			shortened = true
		}
		end = r.stretch(w.text, w.spans, from, to)
	}
	if end < len(w.text) {
		r.put("…")
		shortened = true
	}
	if shortened {
		s.shortened++
	}
	ev.Snippet, ev.Marks = strings.TrimRight(r.b.String(), " "), r.marks
}

// renderer writes a snippet and knows where it is in UTF-16 code units.
type renderer struct {
	b         strings.Builder
	marks     contract.List[contract.Mark]
	at, runes int
	space     bool // nothing or a space was written last: no further one
}

func (r *renderer) put(text string) {
	r.b.WriteString(text)
	r.at += utf16Len(text)
}

// gap stands for text left out.
func (r *renderer) gap() {
	if r.at > 0 && !r.space {
		r.put(" ")
	}
	r.put("…")
	if r.at > 1 {
		r.put(" ")
	}
	r.runes += 3
	r.space = r.at > 1
}

// stretch writes text[from:to] with its matches marked and returns how far it
// came before the snippet was full.
func (r *renderer) stretch(text string, spans []analysis.Span, from, to int) int {
	marked := outermost(spans, from, to)
	open, inside := 0, false
	closeMark := func() {
		r.marks = append(r.marks, contract.Mark{open, r.at})
		r.put("]]")
		inside = false
		marked = marked[1:]
	}
	i := from
	for i < to && r.runes < snippetRunes-4 {
		if inside && i >= marked[0].End {
			closeMark()
		}
		if !inside && len(marked) > 0 && i >= marked[0].Start {
			r.put("[[")
			open, inside = r.at, true
		}
		c, size := decode(text[i:])
		i += size
		switch {
		case unicode.IsSpace(c):
			if r.space {
				continue
			}
			r.space = true
			r.put(" ")
		case unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c):
			continue
		default:
			r.space = false
			r.b.WriteRune(c)
			r.at++
			if c > 0xffff {
				r.at++
			}
		}
		r.runes++
	}
	if inside {
		closeMark()
	}
	return i
}

// widen extends a stretch to size code points, two thirds of the room after it,
// to word boundaries; never below lowest.
func widen(text string, from, to, size, lowest int) (int, int) {
	room := max(0, size-runesIn(text[from:to]))
	start := stepBack(text, from, room/3, lowest)
	room -= runesIn(text[start:from])
	end := to
	for n := 0; n < room && end < len(text); n++ {
		_, width := decode(text[end:])
		end += width
	}
	if end == len(text) {
		start = stepBack(text, start, max(0, size-runesIn(text[start:end])), lowest)
	}
	if start > lowest {
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

// stepBack goes n code points back from at, not below lowest.
func stepBack(text string, at, n, lowest int) int {
	for ; n > 0 && at > lowest; n-- {
		_, width := decodeLast(text[:at])
		at -= width
	}
	return max(at, lowest)
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
