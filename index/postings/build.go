package postings

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
)

// Builder gathers the rows of a segment in memory. It is not safe for concurrent
// use.
//
// It keeps the numbers of the terms in the order of the text, four bytes each, and
// sorts them when the segment is written: what is appended at one place and then dealt out
// in one go is faster than a list for each term.
type Builder struct {
	seed  maphash.Seed
	slots []uint64 // open hash table: half of the hash, and the term's number from 1
	terms []builtTerm
	names []byte // the terms' own bytes

	rows   []builtRow
	text   []uint32 // numbers of terms, 0 for a gap
	marks  []uint32
	places int // terms that stand somewhere
}

// builtTerm is a term. Most are short enough to be compared without their names.
type builtTerm struct {
	begins uint64 // its first bytes
	name   uint32 // in names
	length uint16
}

// builtRow is a row with the ends of its part of text and marks.
type builtRow struct {
	row         int64
	text, marks uint32
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	return &Builder{seed: maphash.MakeSeed(), slots: make([]uint64, 1<<10)}
}

// Reset forgets all rows and keeps the memory.
func (b *Builder) Reset() {
	clear(b.slots)
	b.terms, b.names, b.rows, b.text, b.marks, b.places = b.terms[:0], b.names[:0], b.rows[:0], b.text[:0], b.marks[:0], 0
}

// Len is the number of rows.
func (b *Builder) Len() int { return len(b.rows) }

// Bytes is about how much memory the rows take, with what Flush needs.
func (b *Builder) Bytes() int {
	return 8*len(b.slots) + 32*len(b.terms) + len(b.names) + 16*len(b.rows) + 12*(len(b.text)+len(b.marks))
}

// Newest is the highest row, 0 if there is none.
func (b *Builder) Newest() int64 {
	if len(b.rows) == 0 {
		return 0
	}
	return b.rows[len(b.rows)-1].row
}

// Oldest is the lowest row, 0 if there is none.
func (b *Builder) Oldest() int64 {
	if len(b.rows) == 0 {
		return 0
	}
	return b.rows[0].row
}

// ErrOrder is returned for a row that is not above the one before.
var ErrOrder = errors.New("rows must ascend")

// Gap stands between two pieces of text that no phrase may span.
const Gap = '|'

// Add adds a row. Each term of both texts is followed by a space; those of main stand at
// consecutive positions, in which a Gap counts but is no term; those of marks have none.
func (b *Builder) Add(row int64, main, marks []byte) error {
	if len(b.rows) > 0 && row <= b.Newest() {
		return ErrOrder
	}
	b.text = b.append(b.text, main)
	b.marks = b.append(b.marks, marks)
	b.rows = append(b.rows, builtRow{row, uint32(len(b.text)), uint32(len(b.marks))})
	return nil
}

// append appends the numbers of terms.
func (b *Builder) append(to []uint32, terms []byte) []uint32 {
	for len(terms) > 0 {
		n := bytes.IndexByte(terms, ' ')
		if n < 0 {
			n = len(terms)
		}
		switch {
		case n == 1 && terms[0] == Gap, n > maxTerm:
			to = append(to, 0)
		case n > 0:
			to = append(to, b.number(terms[:n]))
		}
		terms = terms[min(n+1, len(terms)):]
	}
	return to
}

// number is the number of a term, from 1.
func (b *Builder) number(name []byte) uint32 {
	h := maphash.Bytes(b.seed, name)
	begins := beginning8(name)
	mask := uint64(len(b.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		slot := b.slots[i]
		if slot == 0 {
			if 4*len(b.terms) >= 3*len(b.slots) {
				b.grow()
				return b.number(name)
			}
			b.terms = append(b.terms, builtTerm{begins: begins, name: uint32(len(b.names)), length: uint16(len(name))})
			b.names = append(b.names, name...)
			b.slots[i] = h>>32<<32 | uint64(len(b.terms))
			return uint32(len(b.terms))
		}
		if slot>>32 == h>>32 {
			n := uint32(slot)
			if t := &b.terms[n-1]; t.begins == begins && int(t.length) == len(name) && (len(name) <= 8 || string(b.name(t)) == string(name)) {
				return n
			}
		}
	}
}

// beginning8 are the first eight bytes of a term as a number that is ordered as they are.
func beginning8(name []byte) uint64 {
	if len(name) >= 8 {
		return binary.BigEndian.Uint64(name)
	}
	var v uint64
	for i, c := range name {
		v |= uint64(c) << (56 - 8*i)
	}
	return v
}

func (b *Builder) name(t *builtTerm) []byte { return b.names[t.name : t.name+uint32(t.length)] }

func (b *Builder) grow() {
	b.slots = make([]uint64, 2*len(b.slots))
	mask := uint64(len(b.slots) - 1)
	for k := range b.terms {
		h := maphash.Bytes(b.seed, b.name(&b.terms[k]))
		i := h & mask
		for b.slots[i] != 0 {
			i = (i + 1) & mask
		}
		b.slots[i] = h>>32<<32 | uint64(k+1)
	}
}

// nowhere is the position of a mark.
const nowhere = uint32(1<<32 - 1)

// dealt are the occurrences of all terms, those of each together: the newest row first, in
// it by position.
type dealt struct {
	at    []uint32 // where those of each term end
	docs  []uint32
	place []uint32
}

// deal sorts the occurrences by term.
func (b *Builder) deal() dealt {
	d := dealt{at: make([]uint32, len(b.terms)+1)}
	for _, list := range [][]uint32{b.text, b.marks} {
		for _, n := range list {
			d.at[n]++
		}
	}
	total := uint32(0)
	d.at[0] = 0 // gaps
	for n, count := range d.at {
		d.at[n] = total
		total += count
	}
	d.docs, d.place = make([]uint32, total), make([]uint32, total)
	for i := len(b.rows) - 1; i >= 0; i-- {
		doc := uint32(len(b.rows) - 1 - i)
		var from builtRow
		if i > 0 {
			from = b.rows[i-1]
		}
		for pos, n := range b.text[from.text:b.rows[i].text] {
			if n != 0 {
				k := d.at[n]
				d.at[n]++
				d.docs[k], d.place[k] = doc, uint32(pos)
			}
		}
		for _, n := range b.marks[from.marks:b.rows[i].marks] {
			if n != 0 {
				k := d.at[n]
				d.at[n]++
				d.docs[k], d.place[k] = doc, nowhere
			}
		}
	}
	return d
}

// Flush writes the rows as a segment and gives its root; each is called with every term, in
// order. The Builder is as it was.
func (b *Builder) Flush(put Put, each func(term []byte)) (root []byte, err error) {
	rows := &rowTable{}
	for _, r := range slices.Backward(b.rows) {
		rows.add(r.row)
	}
	var d dealt
	var dealing sync.WaitGroup
	dealing.Go(func() { d = b.deal() })
	order := make([]uint32, len(b.terms))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int {
		s, t := &b.terms[x], &b.terms[y]
		if c := cmp.Compare(s.begins, t.begins); c != 0 {
			return c
		}
		return bytes.Compare(b.name(s), b.name(t))
	})
	dealing.Wait()
	w := newSegmentWriter(put)
	for _, i := range order {
		name := b.name(&b.terms[i])
		if each != nil {
			each(name)
		}
		w.begin(name)
		// Term i has number i+1, and its occurrences begin where those of number i end.
		docs, place := d.docs[d.at[i]:d.at[i+1]], d.place[d.at[i]:d.at[i+1]]
		for k := 0; k < len(docs); {
			from := k
			for k++; k < len(docs) && docs[k] == docs[from]; k++ {
			}
			to := k
			for to > from && place[to-1] == nowhere {
				to--
			}
			if isLetter(name[0]) {
				w.letter(name[0], docs[from])
			}
			if err := w.add(docs[from], place[from:to]); err != nil {
				return nil, err
			}
		}
		if err := w.end(); err != nil {
			return nil, err
		}
	}
	return w.finish(rows)
}
