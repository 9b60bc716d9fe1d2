package analysis

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Matcher analyses only those stretches of a text in which something of its
// patterns can be. A search over the bytes finds them, which may report too
// much but never too little:
//
//   - A term of ASCII letters comes from the same letters in a row, or from
//     characters that are not ASCII. So does a joined form, with '_', '-' and '.'
//     in between. All of them stand in one segment: a run of bytes between ASCII
//     separators. Those that hold a byte above 0x7f are therefore always analysed.
//   - The analyser is in the same state at every separator, and looks no further
//     ahead or back. What it makes of a stretch of whole segments does not depend on the
//     text around it.
//   - A phrase of n terms that has one in a segment reaches at most n-1 segments to
//     either side, of those that hold an ASCII letter or digit, because every such segment
//     has a term.
const (
	// minLocate and maxLocate are the sizes of texts, in bytes, that are worth it and
	// for which a second copy is kept.
	minLocate = 256
	maxLocate = 1 << 20
	// minAnchor is how short what is looked for may be, and maxAnchors how many
	// there may be: a text where all is near something is analysed faster as a whole.
	minAnchor  = 2
	maxAnchors = 8
	// nearby is the distance in bytes at which two stretches become one.
	nearby = 16
)

// locator finds the stretches for the patterns of a Matcher.
type locator struct {
	anchors []anchor
	context int // segments on either side that a phrase may reach
	none    bool

	folded []byte
	hits   []int32
	parts  []stretch
}

// stretch is a range of a text.
type stretch struct{ from, to int }

// anchor is what is looked for: letters and digits of ASCII in lower case, or a
// special word.
type anchor struct {
	text   string
	joined bool // there may be joiners in between
	rarest int  // offset of its rarest byte
}

func newLocator(patterns []Pattern) *locator {
	l := &locator{}
	for _, p := range patterns {
		l.add(&p)
	}
	slices.SortFunc(l.anchors, func(a, b anchor) int {
		return cmp.Or(cmp.Compare(len(a.text), len(b.text)), strings.Compare(a.text, b.text))
	})
	// Where one is found all others are that contain it.
	var few []anchor
	for _, a := range l.anchors {
		i := slices.IndexFunc(few, func(b anchor) bool { return strings.Contains(a.text, b.text) })
		if i < 0 {
			few = append(few, a)
		} else {
			few[i].joined = few[i].joined || a.joined
		}
	}
	l.anchors = few
	l.none = len(few) > maxAnchors || len(few) > 0 && len(few[0].text) < minAnchor
	return l
}

func (l *locator) add(p *Pattern) {
	var forms []string // each alone is enough
	joined := len(p.Joined) > 0
	forms = append(append(forms, p.Joined...), p.Variants...)
	switch {
	case len(p.Terms) == 1:
		forms = append(forms, p.Terms[0])
	case len(p.Terms) > 1:
		l.context = max(l.context, len(p.Terms)-1)
		longest := p.Terms[0]
		for _, t := range p.Terms {
			if !ascii(t) {
				longest = "" // found by that one
				break
			}
			if len(t) > len(longest) {
				longest = t
			}
		}
		l.anchor(longest, false)
	}
	forms = slices.DeleteFunc(forms, func(t string) bool { return t == "" || !ascii(t) })
	if len(forms) == 0 {
		return
	}
	common := forms[0]
	for _, t := range forms[1:] {
		n := 0
		for n < len(common) && n < len(t) && common[n] == t[n] {
			n++
		}
		common = common[:n]
	}
	if len(common) > minAnchor {
		l.anchor(common, joined)
		return
	}
	for _, t := range forms {
		l.anchor(t, joined)
	}
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (l *locator) anchor(text string, joined bool) {
	if text == "" {
		return
	}
	a := anchor{text: text, joined: joined, rarest: Rarest(text)}
	for i := range len(text) {
		if byteClass[text[i]] > classDigit {
			a.joined = false // a special word, written as it is
		}
	}
	l.anchors = append(l.anchors, a)
}

// byFrequency are the letters of English, the most frequent first.
const byFrequency = "etaoinsrhldcumfpgwybvkxjqz"

// Rarest is the offset of the byte of a term that few English words have. A
// search that looks for it first has the least to look at. The term must not be empty.
func Rarest(term string) int {
	best := 0
	for i := range len(term) {
		if rareness(term[i]) > rareness(term[best]) {
			best = i
		}
	}
	return best
}

func rareness(c byte) int {
	if i := strings.IndexByte(byFrequency, c); i >= 0 {
		return i
	}
	return len(byFrequency) / 2 // digits and signs
}

// locate returns the stretches of text where patterns may match, in order; nil,
// false if that is not worth knowing. They are valid until the next call.
func (l *locator) locate(text string) ([]stretch, bool) {
	if l.none || len(text) < minLocate || len(text) > maxLocate {
		return nil, false
	}
	l.hits = l.hits[:0]
	l.fold(text)
	for i := range l.anchors {
		l.find(&l.anchors[i])
	}
	slices.Sort(l.hits)
	return l.stretches(), true
}

// fold keeps the text in lower case and notes where it is not ASCII.
func (l *locator) fold(text string) {
	l.folded = append(l.folded[:0], text...)
	b := l.folded
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
	)
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if x&high != 0 {
			l.foldBytes(i, i+8)
			continue
		}
		// The top bit of each byte: at least 'A', and not above 'Z'.
		upper := (x + (0x80-'A')*ones) &^ (x + (0x7f-'Z')*ones) & high
		binary.LittleEndian.PutUint64(b[i:], x|upper>>2)
	}
	l.foldBytes(i, len(b))
}

// foldBytes is fold for a part of the text, in a copy of it.
func (l *locator) foldBytes(from, to int) {
	b := l.folded
	for i := from; i < to; i++ {
		if b[i] >= utf8.RuneSelf && (i == 0 || b[i-1] < utf8.RuneSelf) {
			l.hits = append(l.hits, int32(i))
		}
		b[i] = folds[b[i]]
	}
}

// find notes where the anchor is.
func (l *locator) find(a *anchor) {
	b := l.folded
	if !a.joined {
		want := []byte(a.text)
		for i := 0; ; {
			k := bytes.Index(b[i:], want)
			if k < 0 {
				return
			}
			l.hits = append(l.hits, int32(i+k))
			i += k + len(want)
		}
	}
	for i := 0; ; i++ {
		k := bytes.IndexByte(b[i:], a.text[a.rarest])
		if k < 0 {
			return
		}
		i += k
		if a.at(b, i) {
			l.hits = append(l.hits, int32(i))
		}
	}
}

// at reports whether the anchor stands around b[i], which is its rarest byte.
func (a *anchor) at(b []byte, i int) bool {
	at := i
	for k := a.rarest - 1; k >= 0; k-- {
		for at--; at >= 0 && byteClass[b[at]] == classJoin; at-- {
		}
		if at < 0 || b[at] != a.text[k] {
			return false
		}
	}
	at = i
	for k := a.rarest + 1; k < len(a.text); k++ {
		for at++; at < len(b) && byteClass[b[at]] == classJoin; at++ {
		}
		if at >= len(b) || b[at] != a.text[k] {
			return false
		}
	}
	return true
}

// stretches puts the segments of the hits and their context together. Every
// byte is looked at twice at most.
func (l *locator) stretches() []stretch {
	l.parts = l.parts[:0]
	end := 0 // behind the last hit's segment
	for _, h := range l.hits {
		at := int(h)
		n := len(l.parts)
		if n > 0 && at < end {
			continue
		}
		from := l.back(at, end)
		if n > 0 && from > end {
			l.parts[n-1].to = l.ahead(end, from)
			if from-l.parts[n-1].to > nearby {
				n = -1 // a new one
			}
		}
		for end = at; end < len(l.folded) && !borders[l.folded[end]]; end++ {
		}
		if n > 0 {
			l.parts[n-1].to = end
		} else {
			l.parts = append(l.parts, stretch{from, end})
		}
	}
	if n := len(l.parts); n > 0 {
		l.parts[n-1].to = l.ahead(end, len(l.folded))
	}
	return l.parts
}

// back is where the segment of a place begins, or the one so far before it that
// a phrase may begin there; not before lowest.
func (l *locator) back(at, lowest int) int {
	b := l.folded
	for at > lowest && !borders[b[at-1]] {
		at--
	}
	for n := l.context; n > 0 && at > lowest; {
		for at > lowest && borders[b[at-1]] {
			at--
		}
		word := false
		for at > lowest && !borders[b[at-1]] {
			at--
			word = word || byteClass[b[at]] <= classDigit
		}
		if word {
			n--
		}
	}
	return at
}

// ahead is where, from the end of a segment on, the last one ends that a phrase
// may reach; not behind highest.
func (l *locator) ahead(at, highest int) int {
	b := l.folded
	for n := l.context; n > 0 && at < highest; {
		for at < highest && borders[b[at]] {
			at++
		}
		word := false
		for ; at < highest && !borders[b[at]]; at++ {
			word = word || byteClass[b[at]] <= classDigit
		}
		if word {
			n--
		}
	}
	return at
}

// folds makes ASCII letters lower case; borders are the bytes between
// segments: all ASCII separators but those that make words like c++ and c#.
var folds, borders = func() (fold [256]byte, border [256]bool) {
	for i := range fold {
		c := byte(i)
		fold[i] = c
		if byteClass[c] == classUpper {
			fold[i] = c | 0x20
		}
		border[i] = byteClass[c] == classSep && c != '+' && c != '#'
	}
	return fold, border
}()
