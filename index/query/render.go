package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/analysis"
)

// How a view becomes a snippet: white space runs become one space, control and
// bidi characters go, matches are marked, and the text around them is given as
// far as it fits. Nothing begins, ends or is marked within a grapheme cluster,
// and no match is cut in two, unless it alone is longer than a snippet.

// cut renders a view.
func (s *search) cut(ev *contract.Evidence, v view) {
	r := renderer{marks: contract.List[contract.Mark]{}, space: true}
	text, end := 0, 0
	shortened := false
	for i, p := range v.parts {
		t := &v.texts[p.text]
		if i > 0 && p.text != text {
			shortened = true // the rest of the part before
			r.gap()
			end = 0
		}
		text = p.text
		from, to := clusterStart(t.text, max(p.from, end), end), clusterEnd(t.text, max(p.to, end), end)
		marks := wholeMarks(t.text, t.spans, from-windowBytes, to+windowBytes)
		from, to = widen(t.text, marks, from, to, windowRunes/len(v.parts), end)
		if from > end {
			r.gap()
			shortened = true
		}
		end = r.stretch(t.text, marks, from, to)
	}
	if len(v.parts) > 0 && end < len(v.texts[text].text) {
		r.put("…")
		shortened = true
	}
	if shortened {
		s.shortened++
	}
	ev.Snippet, ev.Marks = strings.TrimRight(r.b.String(), " "), r.marks
}

// windowBytes is how far a window reaches at most.
const windowBytes = windowRunes * utf8.UTFMax

// renderer writes a snippet and knows where it is in UTF-16 code units.
type renderer struct {
	b         strings.Builder
	marks     contract.List[contract.Mark]
	at, runes int
	space     bool // nothing or a space was written last: no further one
	open      int  // where the mark begins that is being written, -1 for none
}

func (r *renderer) put(text string) {
	r.b.WriteString(text)
	r.at += utf16Len(text)
}

// gap stands for text left out.
func (r *renderer) gap() {
	if r.at > 0 && strings.HasSuffix(r.b.String(), "… ") {
		return
	}
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

// textRunes is the room for text; a last gap takes the rest.
const textRunes = snippetRunes - 4

// stretch writes text[from:to], which begins and ends with a cluster, with its
// matches marked, and returns how far it came before the snippet was full.
func (r *renderer) stretch(text string, marks []analysis.Span, from, to int) int {
	marks = inside(marks, from, to)
	state := -1
	for i := from; i < to; {
		if len(marks) > 0 && i == marks[0].Start {
			if runesIn(text[i:marks[0].End]) > textRunes-r.runes && len(r.marks) > 0 {
				return i // it does not fit, and there are others
			}
			r.put("[[")
			r.open = r.at
		}
		var cluster string
		cluster, _, _, state = uniseg.FirstGraphemeClusterInString(text[i:to], state)
		full := !r.cluster(cluster)
		if !full {
			i += len(cluster)
		}
		if len(marks) > 0 && r.open > 0 && (full || i >= marks[0].End) {
			r.marks = append(r.marks, contract.Mark{r.open, r.at})
			r.put("]]")
			r.open, marks = 0, marks[1:]
		}
		if full {
			return i
		}
	}
	return to
}

// maxCluster is how much of a cluster is shown. More than thirty combining
// characters on one is no text of any language (Unicode's stream-safe format
// stops there).
const maxCluster = 32

// cluster writes a cluster; it reports whether there was room.
func (r *renderer) cluster(cluster string) bool {
	if strings.TrimFunc(cluster, unicode.IsSpace) == "" {
		if !r.space {
			if r.runes >= textRunes {
				return false
			}
			r.put(" ")
			r.runes++
			r.space = true
		}
		return true
	}
	n := min(runesIn(cluster), maxCluster)
	if n > textRunes-r.runes {
		return false
	}
	for _, c := range cluster {
		if n == 0 {
			break
		}
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) {
			continue
		}
		r.put(string(c))
		r.runes++
		r.space = false
		n--
	}
	return true
}

// widen extends a stretch to size code points, two thirds of the room after it,
// to word boundaries, or else to those of clusters and matches; never below
// lowest.
func widen(text string, marks []analysis.Span, from, to, size, lowest int) (int, int) {
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
		start = clusterStart(text, start, lowest)
		if i := strings.IndexAny(text[start:from], " \t\n"); i >= 0 && i < 24 {
			start = clusterEnd(text, start+i+1, start)
		}
	}
	if end < len(text) {
		end = max(to, clusterStart(text, end, to))
		if i := strings.LastIndexAny(text[to:end], " \t\n"); i >= 0 && end-to-i < 24 {
			end = max(to, clusterStart(text, to+i, to))
		}
	}
	for _, m := range marks {
		if m.Start < start && start < m.End {
			start = min(m.End, from)
		}
		if m.Start < end && end < m.End {
			end = max(m.Start, to)
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

// clusterStart and clusterEnd are the nearest borders of grapheme clusters at or
// before, and at or after, a place in text. lowest is a border at or before it.
func clusterStart(text string, at, lowest int) int {
	start, _ := clusterAt(text, at, lowest)
	return start
}

func clusterEnd(text string, at, lowest int) int {
	_, end := clusterAt(text, at, lowest)
	return end
}

// clusterReach is how far back a sure border is looked for, in bytes; a row of
// flags is followed further.
const (
	clusterReach = 256
	flagsReach   = 4096
)

// clusterAt gives the borders around a place; both are the place itself if it is
// one.
func clusterAt(text string, at, lowest int) (start, end int) {
	start = at
	for start > lowest && start < len(text) && !sureBorder(text, start) {
		c, size := decodeLast(text[:start])
		if back := at - start; back > flagsReach || back > clusterReach && !unicode.Is(unicode.Regional_Indicator, c) {
			break
		}
		start = max(start-size, lowest)
	}
	if start == at {
		return at, at
	}
	state := -1
	for rest := text[start:]; ; start = end {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if end = start + len(cluster); end > at {
			break
		}
	}
	if start == at {
		return at, at
	}
	return start, end
}

// sureBorder reports whether clusters meet at a place in the text whatever else
// stands there.
func sureBorder(text string, at int) bool {
	a, _ := decodeLast(text[:at])
	b, _ := decode(text[at:])
	return plain(a) && plain(b) && (a != '\r' || b != '\n')
}

// plain reports whether a character neither joins the one before nor the one
// after, if these are plain, too.
func plain(r rune) bool {
	switch {
	case r < utf8.RuneSelf, r >= 0xac00 && r <= 0xd7a3: // ASCII, whole syllables of Hangul
		return true
	case r == utf8.RuneError, unicode.IsMark(r), r == 0x0e33, r == 0x0eb3: // the vowel am of Thai and Lao joins
		return false
	}
	return unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao)
}

// wholeMarks are the matches that touch text[from:to], in order, of whole clusters
// each, those that overlap or are part of another put together.
func wholeMarks(text string, spans []analysis.Span, from, to int) []analysis.Span {
	var out []analysis.Span
	for _, s := range spans {
		if s.End <= from || s.Start >= to {
			continue
		}
		last := 0
		if n := len(out); n > 0 {
			last = out[n-1].End
			if s.End <= last {
				continue
			}
		}
		s.Start = clusterStart(text, s.Start, min(last, s.Start))
		s.End = clusterEnd(text, s.End, s.Start)
		if n := len(out); n > 0 && s.Start < last {
			out[n-1].End = s.End
			continue
		}
		out = append(out, s)
	}
	return out
}

// inside are the marks that lie in [from, to).
func inside(marks []analysis.Span, from, to int) []analysis.Span {
	first, _ := slices.BinarySearchFunc(marks, from, func(m analysis.Span, at int) int { return m.Start - at })
	last := first
	for last < len(marks) && marks[last].End <= to {
		last++
	}
	return marks[first:last]
}
