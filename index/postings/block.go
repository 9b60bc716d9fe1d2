package postings

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrMalformed is returned for a segment that no Builder or Merge has written.
var ErrMalformed = errors.New("malformed postings")

func malformed(what string) error { return fmt.Errorf("%w: %s", ErrMalformed, what) }

// blockDocs is how many rows a block of a list has at most.
const blockDocs = 128

// block is a part of a list: ascending documents (rows counted from the newest
// of the segment), and where each holds the term.
type block struct {
	docs  [blockDocs]uint32
	freqs [blockDocs]uint32 // positions of each document, 0 if it has none
	n     int
	pos   []uint32 // of all documents, one after the other
}

func (b *block) reset() { b.n, b.pos = 0, b.pos[:0] }

func (b *block) add(doc uint32, pos []uint32) {
	b.docs[b.n], b.freqs[b.n] = doc, uint32(len(pos))
	b.n++
	b.pos = append(b.pos, pos...)
}

// Documents: a byte with the parameter, then the distances of those after the
// first to the one before, less one.
func (b *block) appendDocs(to []byte) []byte {
	if b.n < 2 {
		return to
	}
	k := riceParameter(uint64(b.docs[b.n-1]-b.docs[0])-uint64(b.n-1), b.n-1)
	w := bitWriter{b: append(to, byte(k))}
	last := b.docs[0]
	for _, d := range b.docs[1:b.n] {
		w.rice(d-last-1, k)
		last = d
	}
	return w.end()
}

// readDocs fills docs with n documents, the first of which is known.
func readDocs(docs *[blockDocs]uint32, n int, first uint32, from []byte) error {
	docs[0] = first
	if n < 2 {
		return nil
	}
	if len(from) == 0 || from[0] > 31 {
		return malformed("distances")
	}
	var r bitReader
	r.reset(from[1:])
	k := uint(from[0])
	d := uint64(first)
	for i := 1; i < n; i++ {
		d += uint64(r.rice(k)) + 1
		docs[i] = uint32(d)
	}
	if r.bad || d > maxDocs {
		return malformed("distances")
	}
	return nil
}

// maxDocs bounds the documents of a segment, so that sums do not wrap.
const maxDocs = 1 << 31

// freqCode maps how often a document holds a term to a value from 1 for the
// gamma code: once is by far the most frequent, never (a mark) is rare among others.
func freqCode(f uint32) uint32 {
	switch f {
	case 0:
		return 2
	case 1:
		return 1
	}
	return f + 1
}

func codeFreq(c uint32) uint32 {
	switch c {
	case 1:
		return 1
	case 2:
		return 0
	}
	return c - 1
}

// Positions: nothing where no document has one, else two bytes with the
// parameters of first positions and of the distances of further ones; for each
// document how many there are, then these.
func (b *block) appendPositions(to []byte) []byte {
	if len(b.pos) == 0 {
		return to
	}
	var firsts, gaps uint64
	var nf, ng int
	at := 0
	for _, f := range b.freqs[:b.n] {
		if f == 0 {
			continue
		}
		p := b.pos[at : at+int(f)]
		firsts += uint64(p[0])
		gaps += uint64(p[len(p)-1]-p[0]) - uint64(f-1)
		nf, ng = nf+1, ng+int(f)-1
		at += int(f)
	}
	kf, kg := riceParameter(firsts, nf), riceParameter(gaps, ng)
	w := bitWriter{b: append(to, byte(kf), byte(kg))}
	at = 0
	for _, f := range b.freqs[:b.n] {
		w.gamma(freqCode(f))
		for i := range f {
			p := b.pos[at]
			if i == 0 {
				w.rice(p, kf)
			} else {
				w.rice(p-b.pos[at-1]-1, kg)
			}
			at++
		}
	}
	return w.end()
}

// readPositions fills in the positions of a block whose documents are read.
func (b *block) readPositions(from []byte) error {
	b.pos = b.pos[:0]
	if len(from) == 0 {
		clear(b.freqs[:b.n])
		return nil
	}
	if len(from) < 2 || from[0] > 31 || from[1] > 31 {
		return malformed("positions")
	}
	kf, kg := uint(from[0]), uint(from[1])
	var r bitReader
	r.reset(from[2:])
	// Each position takes a bit at least.
	most := uint64(8 * len(from))
	for i := range b.n {
		f := codeFreq(r.gamma())
		if uint64(f)+uint64(len(b.pos)) > most {
			return malformed("more positions than bits")
		}
		b.freqs[i] = f
		var p uint32
		for j := range f {
			if j == 0 {
				p = r.rice(kf)
			} else {
				p += r.rice(kg) + 1
			}
			b.pos = append(b.pos, p)
		}
	}
	if r.bad {
		return malformed("positions")
	}
	return nil
}

// appendSmall writes a list of at most one block for a leaf: first document, length of the
// documents where others follow, documents, positions. Of one document, which most terms have, the
// positions are whole numbers: the first, and the distances of further ones.
func (b *block) appendSmall(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(b.docs[0]))
	if b.n == 1 {
		last := uint32(0)
		for _, p := range b.pos {
			to = binary.AppendUvarint(to, uint64(p-last))
			last = p
		}
		return to
	}
	at := len(to)
	to = b.appendDocs(append(to, 0))
	n := len(to) - at - 1
	if n >= 0x80 { // the length takes two bytes
		to = append(to, 0)
		copy(to[at+2:], to[at+1:])
		to[at] = byte(n) | 0x80
		to[at+1] = byte(n >> 7)
	} else {
		to[at] = byte(n)
	}
	return b.appendPositions(to)
}

// splitSmall takes apart what appendSmall has written for n documents.
func splitSmall(n int, from []byte) (first uint32, docs, positions []byte, err error) {
	f, k := binary.Uvarint(from)
	if k <= 0 || f > maxDocs {
		return 0, nil, nil, malformed("a short list")
	}
	from = from[k:]
	if n == 1 {
		return uint32(f), nil, from, nil
	}
	size, k := binary.Uvarint(from)
	if k <= 0 || size > uint64(len(from)-k) {
		return 0, nil, nil, malformed("a short list")
	}
	return uint32(f), from[k : k+int(size)], from[k+int(size):], nil
}

// readSmallPositions fills in the positions of a block of which splitSmall gave them.
func (b *block) readSmallPositions(from []byte) error {
	if b.n > 1 {
		return b.readPositions(from)
	}
	b.pos = b.pos[:0]
	last := uint64(0)
	for len(from) > 0 {
		p, k := binary.Uvarint(from)
		if last += p; k <= 0 || last > maxDocs {
			return malformed("positions")
		}
		from = from[k:]
		b.pos = append(b.pos, uint32(last))
	}
	b.freqs[0] = uint32(len(b.pos))
	return nil
}
