package postings

import "context"

// list reads the documents of a term, ascending, and where each holds it.
type list struct {
	entry entry
	docs  fileReader
	pos   fileReader

	left    uint32 // documents behind the block
	block   block
	i       int // of the block, the next document
	last    uint32
	begun   bool
	posAt   int64  // in the file, of the block's positions
	posLen  int    // of the block
	posNext int64  // where those of the block behind are
	small   []byte // the positions of a short list
	placed  bool   // the block's positions are read
	starts  [blockDocs]uint32
}

// end is behind every document.
const end = uint32(1<<32 - 1)

func (s *Segment) list(e entry) *list {
	l := &list{docs: fileReader{seg: s, file: Documents}, pos: fileReader{seg: s, file: Positions}}
	l.reset(e)
	return l
}

// reset begins the list of another term of the same segment.
func (l *list) reset(e entry) {
	l.entry, l.left = e, e.docs
	l.block.reset()
	l.i, l.last, l.begun, l.placed = 0, 0, false, false
	l.docs.at, l.posNext = e.at[0], e.at[1]
}

// head is the head of a block: its documents, their length and that of the
// positions.
type head struct {
	n           int
	first, last uint32
	docs        int
}

// more reads the head of the next block.
func (l *list) more(ctx context.Context) (h head, err error) {
	var v [5]uint64
	for i := range v {
		if v[i], err = l.docs.uvarint(ctx); err != nil {
			return h, err
		}
	}
	first := v[1]
	if l.begun {
		first += uint64(l.last) + 1
	}
	if v[0] == 0 || v[0] > blockDocs || v[0] > uint64(l.left) || first > maxDocs || v[2] > maxDocs || first+v[2] > maxDocs || v[3] > blockDocs*8 || v[4] > 1<<31 {
		return h, malformed("a block's head")
	}
	h = head{n: int(v[0]), first: uint32(first), last: uint32(first + v[2]), docs: int(v[3])}
	l.posAt, l.posLen = l.posNext, int(v[4])
	l.posNext += int64(v[4])
	l.begun, l.last = true, h.last
	l.left -= uint32(h.n)
	return h, nil
}

// load makes the block with the first document not below doc the current one, if
// it is not yet. It reports false at the list's end.
func (l *list) load(ctx context.Context, doc uint32) (bool, error) {
	if l.block.n > 0 && l.block.docs[l.block.n-1] >= doc {
		return true, nil
	}
	for l.left > 0 {
		l.placed = false
		if !l.entry.external {
			first, docs, positions, err := splitSmall(int(l.left), l.entry.small)
			if err != nil {
				return false, err
			}
			l.block.n, l.left, l.small, l.i = int(l.left), 0, positions, 0
			if err := readDocs(&l.block.docs, l.block.n, first, docs); err != nil {
				return false, err
			}
		} else {
			h, err := l.more(ctx)
			if err != nil {
				return false, err
			}
			b, err := l.docs.next(ctx, h.docs)
			if err != nil {
				return false, err
			}
			if h.last < doc {
				continue
			}
			if err := l.take(h, b); err != nil {
				return false, err
			}
		}
		if l.block.docs[l.block.n-1] >= doc {
			return true, nil
		}
	}
	l.block.n = 0
	return false, nil
}

// take makes a block the current one.
func (l *list) take(h head, docs []byte) error {
	l.block.n, l.i, l.placed = h.n, 0, false
	if err := readDocs(&l.block.docs, h.n, h.first, docs); err != nil {
		return err
	}
	if l.block.docs[h.n-1] != h.last {
		return malformed("a block's last document")
	}
	return nil
}

// seek goes to the first document not below doc and returns it, or end.
func (l *list) seek(ctx context.Context, doc uint32) (uint32, error) {
	ok, err := l.load(ctx, doc)
	if err != nil || !ok {
		return end, err
	}
	for l.block.docs[l.i] < doc {
		l.i++
	}
	return l.block.docs[l.i], nil
}

// fill sets the bits of the documents of a window; where among is not nil only
// those that are set there. Windows come in ascending order.
func (l *list) fill(ctx context.Context, w, among *window) error {
	at := w.from
	for {
		if among != nil {
			if at = among.next(at); at == end {
				return nil
			}
		}
		ok, err := l.load(ctx, at)
		if err != nil || !ok {
			return err
		}
		docs := l.block.docs[:l.block.n]
		i := l.i
		for i < len(docs) && docs[i] < w.from {
			i++
		}
		if among == nil {
			for i < len(docs) && docs[i] < w.to {
				w.set(docs[i])
				i++
			}
		} else {
			for i < len(docs) && docs[i] < w.to {
				if among.has(docs[i]) {
					w.set(docs[i])
				}
				i++
			}
		}
		l.i = min(i, len(docs)-1)
		last := docs[len(docs)-1]
		if last >= w.to-1 {
			return nil
		}
		at = last + 1
	}
}

// positions are those of a document, which the list must have and which seek or fill
// must not have passed by a block. They are valid until the next call.
func (l *list) positions(ctx context.Context, doc uint32) ([]uint32, error) {
	at, err := l.seek(ctx, doc)
	if err != nil || at != doc {
		return nil, err
	}
	if !l.placed {
		if err := l.place(ctx); err != nil {
			return nil, err
		}
		n := uint32(0)
		for i, f := range l.block.freqs[:l.block.n] {
			l.starts[i] = n
			n += f
		}
		l.placed = true
	}
	start := l.starts[l.i]
	return l.block.pos[start : start+l.block.freqs[l.i]], nil
}

// place reads the positions of the block.
func (l *list) place(ctx context.Context) error {
	if !l.entry.external {
		return l.block.readSmallPositions(l.small)
	}
	l.pos.at = l.posAt
	b, err := l.pos.next(ctx, l.posLen)
	if err != nil {
		return err
	}
	return l.block.readPositions(b)
}
