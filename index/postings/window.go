package postings

import "math/bits"

// window is a set of documents in a range.
type window struct {
	from, to uint32 // [from, to)
	words    []uint64
}

// Windows begin with firstWindow documents and double up to maxWindow.
const (
	firstWindow = 1 << 12
	maxWindow   = 1 << 18
)

// reset makes it the empty set of a range.
func (w *window) reset(from, to uint32) {
	w.from, w.to = from, to
	n := int(to-from+63) / 64
	if cap(w.words) < n {
		w.words = make([]uint64, n)
		return
	}
	w.words = w.words[:n]
	clear(w.words)
}

func (w *window) set(doc uint32) { w.words[(doc-w.from)/64] |= 1 << ((doc - w.from) % 64) }

func (w *window) has(doc uint32) bool {
	return doc >= w.from && doc < w.to && w.words[(doc-w.from)/64]>>((doc-w.from)%64)&1 == 1
}

// next is the first document of the set not below doc, or end.
func (w *window) next(doc uint32) uint32 {
	if doc < w.from {
		doc = w.from
	}
	if doc >= w.to {
		return end
	}
	i := (doc - w.from) / 64
	x := w.words[i] >> ((doc - w.from) % 64) << ((doc - w.from) % 64)
	for x == 0 {
		if i++; int(i) == len(w.words) {
			return end
		}
		x = w.words[i]
	}
	return w.from + i*64 + uint32(bits.TrailingZeros64(x))
}

func (w *window) empty() bool {
	for _, x := range w.words {
		if x != 0 {
			return false
		}
	}
	return true
}

// full reports whether every document of the range is in the set.
func (w *window) full() bool {
	last := len(w.words) - 1
	for _, x := range w.words[:last] {
		if x != 1<<64-1 {
			return false
		}
	}
	return bits.OnesCount64(w.words[last]) == int(w.to-w.from)-64*last
}
