package vocabulary

import "unicode/utf8"

// pattern is a word prepared to be compared with many: for each character the
// set of its positions.
type pattern struct {
	n       int // characters
	ascii   [utf8.RuneSelf]uint64
	other   map[rune]uint64
	letters uint64 // see letter
}

// newPattern prepares a word of 1 to 64 characters.
func newPattern(word string) (*pattern, bool) {
	p := &pattern{}
	for _, r := range word {
		if p.n == maxLen {
			return nil, false
		}
		bit := uint64(1) << p.n
		if r < utf8.RuneSelf {
			p.ascii[r] |= bit
			p.letters |= letter[byte(r)]
		} else {
			if p.other == nil {
				p.other = map[rune]uint64{}
			}
			p.other[r] |= bit
		}
		p.n++
	}
	return p, p.n > 0
}

// distance is the optimal string alignment distance between the pattern and a
// word, in characters, or some number above limit. It computes a column of the
// matrix at a time, in the bits of a word (Hyyrö, A Bit-Vector Algorithm for
// Computing Levenshtein and Damerau Edit Distances, 2003).
func (p *pattern) distance(word []byte, limit int) int {
	var (
		plus   = ^uint64(0) // rows where the column grows by one
		minus  uint64       // and where it falls by one
		same   uint64       // rows where the diagonal stays as it is
		before uint64       // positions of the character before
		last   = uint64(1) << (p.n - 1)
		d      = p.n
		left   = len(word)
	)
	for left > 0 {
		var at uint64
		if c := word[len(word)-left]; c < utf8.RuneSelf {
			at = p.ascii[c]
			left--
		} else {
			r, size := utf8.DecodeRune(word[len(word)-left:])
			at = p.other[r]
			left -= size
		}
		swapped := (^same & at) << 1 & before
		same = (((at & plus) + plus) ^ plus) | at | minus | swapped
		up := minus | ^(same | plus)
		down := same & plus
		if up&last != 0 {
			d++
		}
		if down&last != 0 {
			d--
		}
		if d-left > limit { // each character left takes away one at most
			return d
		}
		up = up<<1 | 1
		down <<= 1
		plus = down | ^(same | up)
		minus = same & up
		before = at
	}
	return d
}
