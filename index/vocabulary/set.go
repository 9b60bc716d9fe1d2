package vocabulary

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"

	"github.com/sessionls/sessionls/index/analysis"
)

// Set gathers the distinct words of texts while these are written to an index.
// It knows words by a hash of 64 bits; two that share one count as one, which
// happens once in a hundred thousand indexes of a million words. It is not safe for concurrent use.
type Set struct {
	seed   maphash.Seed
	keys   [2]uint64 // of the hash of short words
	recent []uint64  // direct-mapped: what was seen last, most of any text
	known  []uint64  // open hash table, its length a power of two; 0 is free
	used   int
	fresh  []byte // words not taken yet, each followed by a space
}

const (
	recentWords = 1 << 16
	firstKnown  = 1 << 10
	// maxKnown bounds the table (32 MB). Where a build has more words, the set
	// begins anew and some words come twice.
	maxKnown = 1 << 22
)

// NewSet returns an empty Set.
func NewSet() *Set {
	s := &Set{seed: maphash.MakeSeed()}
	for i := range s.keys {
		s.keys[i] = rand.Uint64() | 1
	}
	return s
}

// Add adds the terms of a text, each of which is followed by a space. Those
// that are no words (analysis.InVocabulary) are passed over.
func (s *Set) Add(terms []byte) {
	if s.recent == nil {
		s.recent = make([]uint64, recentWords)
	}
	for len(terms) > 0 {
		var n int
		var h uint64
		if n, h = s.short(terms); n < 0 {
			if n = bytes.IndexByte(terms, ' '); n < 0 {
				n = len(terms)
			}
			h = maphash.Bytes(s.seed, terms[:n])
		}
		term := terms[:n]
		terms = terms[min(n+1, len(terms)):]
		if n < 2 || n > maxLen {
			continue
		}
		h |= 1
		if slot := &s.recent[h>>1%recentWords]; *slot != h {
			*slot = h
			s.add(h, term)
		}
	}
}

// short finds the end of a first term of up to seven bytes, which most are, and
// hashes it, all in one register; n is -1 for a longer one.
func (s *Set) short(terms []byte) (n int, h uint64) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	if len(terms) < 8 {
		var end [8]byte
		for i := copy(end[:], terms); i < len(end); i++ {
			end[i] = ' '
		}
		terms = end[:]
	}
	x := binary.LittleEndian.Uint64(terms)
	y := x ^ ' '*ones
	// The lowest zero byte of y, and perhaps some above it, has its high bit set.
	spaces := (y - ones) &^ y & highs
	if spaces == 0 {
		return -1, 0
	}
	n = bits.TrailingZeros64(spaces) / 8
	hi, lo := bits.Mul64(x&(1<<(8*n)-1)^s.keys[0], s.keys[1])
	return n, hi ^ lo
}

func (s *Set) add(h uint64, term []byte) {
	if !analysis.InVocabulary(term) {
		return
	}
	if 4*s.used >= 3*len(s.known) {
		s.grow()
	}
	if s.put(h) {
		s.fresh = append(append(s.fresh, term...), ' ')
	}
}

// put adds a hash; it reports false for one that was there.
func (s *Set) put(h uint64) bool {
	mask := uint64(len(s.known) - 1)
	for i := h >> 1 & mask; ; i = (i + 1) & mask {
		switch s.known[i] {
		case h:
			return false
		case 0:
			s.known[i] = h
			s.used++
			return true
		}
	}
}

func (s *Set) grow() {
	old := s.known
	s.used = 0
	if len(old) >= maxKnown {
		clear(s.known)
		return
	}
	s.known = make([]uint64, max(firstKnown, 2*len(old)))
	for _, h := range old {
		if h != 0 {
			s.put(h)
		}
	}
}

// Take returns the words that came since the last Take, encoded in chunks of
// not much more than size bytes each.
func (s *Set) Take(size int) [][]byte {
	if len(s.fresh) == 0 {
		return nil
	}
	words := make([][]byte, 0, len(s.fresh)/8)
	for rest := s.fresh; len(rest) > 0; {
		n := bytes.IndexByte(rest, ' ')
		words = append(words, rest[:n])
		rest = rest[n+1:]
	}
	words = distinct(words)
	var out [][]byte
	for from := 0; from < len(words); {
		to, bytes := from, 0
		for to < len(words) && bytes < size {
			bytes += len(words[to]) + 1
			to++
		}
		out = append(out, Encode(words[from:to]))
		from = to
	}
	s.fresh = nil
	return out
}

// Reset forgets everything: what was added is not in the index after all.
func (s *Set) Reset() {
	clear(s.recent)
	clear(s.known)
	s.used, s.fresh = 0, nil
}
