package postings

import (
	"bytes"
	"container/heap"
	"context"
	"fmt"
)

// Merge writes segments, the newest first, as one. Of segments with rows that are Gone it leaves
// out those rows that alive does not keep, and the terms that only these had. A nil root says
// that no row is left.
func Merge(ctx context.Context, segments []*Segment, alive func(row int64) bool, put Put) (root []byte, err error) {
	m := merger{rows: &rowTable{}}
	w := newSegmentWriter(put)
	for _, s := range segments {
		if err := m.take(ctx, w, s, alive); err != nil {
			return nil, err
		}
	}
	if m.rows.len() == 0 {
		return nil, nil
	}
	heap.Init(&m)
	for n := 0; m.Len() > 0; n++ {
		if n%256 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		if n > 0 && bytes.Compare(m.list[0].scan.term, w.term) <= 0 {
			return nil, malformed("terms that do not ascend")
		}
		w.begin(m.list[0].scan.term)
		for m.Len() > 0 && bytes.Equal(m.list[0].scan.term, w.term) {
			s := m.list[0]
			if err := s.copy(ctx, w); err != nil {
				return nil, err
			}
			if err := s.scan.next(ctx); err != nil {
				return nil, err
			}
			if s.scan.done {
				heap.Pop(&m)
			} else {
				heap.Fix(&m, 0)
			}
		}
		if err := w.end(); err != nil {
			return nil, err
		}
	}
	return w.finish(m.rows)
}

// merger is a heap of segments: the one with the least term is the first and, of
// several that have it, the newest.
type merger struct {
	list []*merged
	rows *rowTable
}

// merged is a segment that is merged.
type merged struct {
	scan  *scan
	first uint32   // number of its first document in the new segment
	rank  []uint32 // where some rows are gone: of each document, end if it is gone
	list  *list    // reused from term to term
}

func (m *merger) take(ctx context.Context, w *segmentWriter, s *Segment, alive func(row int64) bool) error {
	in := &merged{first: uint32(m.rows.len())}
	gone := 0
	for i := range s.rows.len() {
		row := s.rows.at(uint32(i))
		if n := m.rows.len(); n > 0 && m.rows.at(uint32(n-1)) <= row {
			return fmt.Errorf("%w: segments that overlap", ErrMalformed)
		}
		keep := alive == nil || !s.Gone || alive(row)
		if !keep && in.rank == nil {
			in.rank = make([]uint32, i, s.rows.len())
			for k := range in.rank {
				in.rank[k] = in.first + uint32(k)
			}
		}
		switch {
		case !keep:
			in.rank = append(in.rank, end)
			gone++
			continue
		case in.rank != nil:
			in.rank = append(in.rank, uint32(m.rows.len()))
		}
		m.rows.add(row)
	}
	if gone == s.rows.len() {
		return nil
	}
	var err error
	if in.scan, err = s.scan(ctx, nil); err != nil || in.scan.done {
		return err
	}
	m.list = append(m.list, in)
	for c, e := range s.letters {
		l := s.list(e)
		for l.left > 0 {
			if ok, err := l.load(ctx, l.block.after()); err != nil || !ok {
				return err
			}
			for _, d := range l.block.docs[:l.block.n] {
				to, err := in.number(d)
				if err != nil {
					return err
				}
				if to != end {
					w.letter(c, to)
				}
			}
		}
	}
	return nil
}

// number is what a document is called in the new segment, end if it is gone.
func (m *merged) number(doc uint32) (uint32, error) {
	if doc >= uint32(m.scan.seg.rows.len()) {
		return 0, malformed("a document beyond the segment")
	}
	if m.rank != nil {
		return m.rank[doc], nil
	}
	return m.first + doc, nil
}

// Len implements heap.Interface.
func (m *merger) Len() int { return len(m.list) }

// Less implements heap.Interface.
func (m *merger) Less(i, j int) bool {
	a, b := m.list[i], m.list[j]
	if c := bytes.Compare(a.scan.term, b.scan.term); c != 0 {
		return c < 0
	}
	return a.first < b.first
}

// Swap implements heap.Interface.
func (m *merger) Swap(i, j int) { m.list[i], m.list[j] = m.list[j], m.list[i] }

// Push implements heap.Interface.
func (m *merger) Push(s any) { m.list = append(m.list, s.(*merged)) }

// Pop implements heap.Interface.
func (m *merger) Pop() any {
	last := len(m.list) - 1
	s := m.list[last]
	m.list = m.list[:last]
	return s
}

// copy adds the documents of the term at which the segment is.
func (m *merged) copy(ctx context.Context, w *segmentWriter) error {
	if m.list == nil {
		m.list = m.scan.seg.list(m.scan.entry)
	}
	l := m.list
	l.reset(m.scan.entry)
	for l.left > 0 {
		if l.entry.external && m.rank == nil {
			done, err := m.copyBlock(ctx, l, w)
			if err != nil {
				return err
			}
			if done {
				continue
			}
		} else if ok, err := l.load(ctx, l.block.after()); err != nil || !ok {
			return err
		}
		if _, err := l.positions(ctx, l.block.docs[0]); err != nil {
			return err
		}
		for i, d := range l.block.docs[:l.block.n] {
			to, err := m.number(d)
			if err != nil {
				return err
			}
			if to == end {
				continue
			}
			if err := w.add(to, l.block.pos[l.starts[i]:l.starts[i]+l.block.freqs[i]]); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyBlock copies the next block of a long list as it is. A small one, for which done
// is false, is loaded, to be put together with others.
func (m *merged) copyBlock(ctx context.Context, l *list, w *segmentWriter) (done bool, err error) {
	h, err := l.more(ctx)
	if err != nil {
		return false, err
	}
	if h.last >= uint32(m.scan.seg.rows.len()) {
		return false, malformed("a document beyond the segment")
	}
	docs, err := l.docs.next(ctx, h.docs)
	if err != nil {
		return false, err
	}
	if h.n < blockDocs/2 {
		return false, l.take(h, docs)
	}
	l.pos.at = l.posAt
	positions, err := l.pos.next(ctx, l.posLen)
	if err != nil {
		return false, err
	}
	return true, w.copied(h.n, m.first+h.first, m.first+h.last, docs, positions)
}

// after is the document behind the block, 0 if there is none yet.
func (b *block) after() uint32 {
	if b.n == 0 {
		return 0
	}
	return b.docs[b.n-1] + 1
}
