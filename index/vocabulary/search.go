package vocabulary

import (
	"bytes"
	"context"
	"math/bits"
	"unicode/utf8"

	"github.com/sessionls/sessionls/index/analysis"
)

// Vocabulary is a list of chunks. It is safe for concurrent use.
type Vocabulary []*Chunk

// Near is a word with its distance from another one.
type Near struct {
	Word string
	// Distance is the number of edits: a character added, left out or replaced,
	// or two neighbours swapped; nothing is edited twice.
	Distance int
}

// maxNear bounds how many words Near returns for each distance.
const maxNear = 512

// Near returns the words that are 1 to limit edits away from word, in the order
// of chunks, lengths and letters, and at most 512 of each distance. No word is near
// the empty one or one of more than 64 characters. The error is ctx.Err().
func (v Vocabulary) Near(ctx context.Context, word string, limit int) ([]Near, error) {
	p, ok := newPattern(word)
	if !ok || limit < 1 {
		return nil, nil
	}
	var out []Near
	seen := map[string]bool{}
	counts := make([]int, limit+1)
	take := func(w []byte) {
		d := p.distance(w, limit)
		if d == 0 || d > limit || counts[d] >= maxNear || seen[string(w)] {
			return
		}
		counts[d]++
		seen[string(w)] = true
		out = append(out, Near{string(w), d})
	}
	for _, c := range v {
		for n := max(1, p.n-limit); n <= min(maxLen, p.n+limit); n++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			// Each edit changes the letters that occur by two at most.
			for g := c.ascii[n]; len(g) >= n; g = g[n:] {
				var letters uint64
				for _, b := range g[:n] {
					letters |= letter[b]
				}
				if bits.OnesCount64(letters^p.letters) <= 2*limit {
					take(g[:n])
				}
			}
			for g := c.other[n]; len(g) > 0; {
				i := bytes.IndexByte(g, '\n')
				take(g[:i])
				g = g[i+1:]
			}
		}
	}
	return out, nil
}

// Containing returns the words that contain part and are longer, the shortest
// first and among these in the order of chunks and letters: at most limit. more says
// that there are others. The error is ctx.Err().
func (v Vocabulary) Containing(ctx context.Context, part string, limit int) (words []string, more bool, err error) {
	if part == "" || limit < 1 {
		return nil, false, nil
	}
	sub := infix{[]byte(part), analysis.Rarest(part)}
	ascii := isASCII(sub.text)
	seen := map[string]bool{}
	take := func(w []byte) bool {
		if seen[string(w)] {
			return true
		}
		if len(words) == limit {
			more = true
			return false
		}
		seen[string(w)] = true
		words = append(words, string(w))
		return true
	}
	for n := utf8.RuneCountInString(part) + 1; n <= maxLen; n++ {
		for _, c := range v {
			if err := ctx.Err(); err != nil {
				return nil, false, err
			}
			if ascii && !inEqual(c.ascii[n], n, sub, take) || !inLines(c.other[n], sub, take) {
				return words, more, nil
			}
		}
	}
	return words, more, nil
}

// infix is a part of words, which is looked for by its rarest byte: bytes.Index
// takes the first, of which there may be very many.
type infix struct {
	text   []byte
	rarest int
}

// in is bytes.Index(b, f.text).
func (f *infix) in(b []byte) int {
	for at := f.rarest; at < len(b); at++ {
		k := bytes.IndexByte(b[at:], f.text[f.rarest])
		if k < 0 {
			return -1
		}
		at += k
		from := at - f.rarest
		to := from + len(f.text)
		if to > len(b) {
			return -1
		}
		if bytes.Equal(b[from:to], f.text) {
			return from
		}
	}
	return -1
}

// inEqual finds the words of n bytes each that contain sub; false if take has
// enough.
func inEqual(group []byte, n int, sub infix, take func([]byte) bool) bool {
	for at := 0; ; {
		i := sub.in(group[at:])
		if i < 0 {
			return true
		}
		i += at
		from := i - i%n
		if i+len(sub.text) > from+n { // from one word into the next
			at = i + 1
			continue
		}
		if !take(group[from : from+n]) {
			return false
		}
		at = from + n
	}
}

// inLines finds the words that end with a newline each and contain sub.
func inLines(group []byte, sub infix, take func([]byte) bool) bool {
	for len(group) > 0 {
		i := sub.in(group)
		if i < 0 {
			return true
		}
		from := bytes.LastIndexByte(group[:i], '\n') + 1
		to := i + bytes.IndexByte(group[i:], '\n')
		if !take(group[from:to]) {
			return false
		}
		group = group[to+1:]
	}
	return true
}

// letter has one bit for each ASCII letter and digit, and none for other bytes.
var letter = func() (t [256]uint64) {
	for i := range byte(26) {
		t['a'+i] = 1 << i
	}
	for i := range byte(10) {
		t['0'+i] = 1 << (26 + i)
	}
	return t
}()
