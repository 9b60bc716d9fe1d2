package postings

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"sort"
	"sync"
)

// Segment is one segment for reading. It is safe for concurrent use.
type Segment struct {
	// ID is what the segment is called in its store.
	ID int64
	// Gone says that some of its rows are not there any more.
	Gone    bool
	store   Store
	rows    *rowTable
	letters map[byte]entry // the documents with terms that begin so
	leaves  uint32
	bounds  [][]byte // first terms of the leaves or, if deep, of the index pages
	deep    bool
	dir     *directory
}

// Open reads a root. The rest is read when it is needed.
func Open(ctx context.Context, id int64, root []byte, store Store) (*Segment, error) {
	s := &Segment{ID: id, store: store, dir: &directory{}}
	d := entryReader{b: root}
	if d.uvarint() != rootVersion {
		return nil, malformed("a segment of another version")
	}
	docs := d.uvarint()
	s.letters = map[byte]entry{}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		var c byte
		if b := d.take(1); b != nil {
			c = b[0]
		}
		k, at := d.uvarint(), d.uvarint()
		if k == 0 || k > docs || at > 1<<62 {
			d.fail()
		}
		s.letters[c] = entry{docs: uint32(k), external: true, at: [2]int64{int64(at)}}
	}
	size := d.uvarint()
	if d.bad || docs > maxDocs || docs > size || size > 10*docs {
		return nil, malformed("a root")
	}
	var ids []byte
	if size <= smallBytes {
		ids = d.take(int(size))
	} else {
		r := fileReader{seg: s, file: Rows}
		ids = make([]byte, 0, min(size, 1<<20))
		for uint64(len(ids)) < size {
			part, err := r.next(ctx, int(min(size-uint64(len(ids)), PageBytes)))
			if err != nil {
				return nil, err
			}
			ids = append(ids, part...)
		}
	}
	var err error
	if s.rows, err = decodeRows(int(docs), ids); err != nil {
		return nil, err
	}
	leaves := d.uvarint()
	s.leaves = uint32(min(leaves, maxDocs))
	n := d.uvarint()
	s.deep = n&1 == 1
	n >>= 1
	if n > uint64(len(d.b)) {
		return nil, malformed("a root")
	}
	var term []byte
	for range n {
		term = d.term(term)
		s.bounds = append(s.bounds, append([]byte(nil), term...))
	}
	if d.bad || !s.deep && leaves != n {
		return nil, malformed("a root")
	}
	return s, nil
}

// Len is the number of rows, Newest and Oldest the ends of their range.
func (s *Segment) Len() int { return s.rows.len() }

// Newest is the highest row.
func (s *Segment) Newest() int64 {
	if s.rows.len() == 0 {
		return 0
	}
	return s.rows.at(0)
}

// Oldest is the lowest row.
func (s *Segment) Oldest() int64 {
	if s.rows.len() == 0 {
		return 0
	}
	return s.rows.at(uint32(s.rows.len() - 1))
}

// EachRow calls f for every row, the newest first.
func (s *Segment) EachRow(f func(row int64)) {
	for i := range s.rows.len() {
		f(s.rows.at(uint32(i)))
	}
}

// entryReader reads the entries of a leaf, an index page or a root.
type entryReader struct {
	b   []byte
	bad bool
}

func (d *entryReader) uvarint() uint64 {
	if len(d.b) > 0 && d.b[0] < 0x80 {
		v := d.b[0]
		d.b = d.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *entryReader) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fail()
		return nil
	}
	out := d.b[:n:n]
	d.b = d.b[n:]
	return out
}

// term reads a term into the memory of the one before.
func (d *entryReader) term(before []byte) []byte {
	head := d.take(1)
	if head == nil {
		return before[:0]
	}
	shared, n := uint64(head[0]>>4), uint64(head[0]&15)
	if shared == 15 {
		shared += d.uvarint()
	}
	if n == 15 {
		n += d.uvarint()
	}
	if shared > uint64(len(before)) || n > maxTerm {
		d.fail()
		return before[:0]
	}
	return append(before[:shared], d.take(int(n))...)
}

// entry is where the list of a term is.
type entry struct {
	docs     uint32
	small    []byte // the list itself
	external bool
	at       [2]int64 // its places in the files Documents and Positions
}

func (d *entryReader) entry() entry {
	n := d.uvarint()
	if n&1 == 0 {
		return entry{docs: 1, small: d.list(n >> 1)}
	}
	e := entry{docs: uint32(n >> 2), external: n&2 != 0}
	if n>>2 > maxDocs || e.docs == 0 {
		d.fail()
		return e
	}
	if e.external {
		e.at = [2]int64{int64(d.uvarint() & (1<<62 - 1)), int64(d.uvarint() & (1<<62 - 1))}
		return e
	}
	if e.docs > blockDocs {
		d.fail()
		return e
	}
	e.small = d.list(d.uvarint())
	return e
}

// list takes a list of so many bytes.
func (d *entryReader) list(size uint64) []byte {
	if size > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	return d.take(int(size))
}

func (d *entryReader) fail() { d.bad, d.b = true, nil }

// directory has the first terms of all leaves of a segment whose root has only those of index
// pages. It is read when it is first needed, about 30 bytes a leaf.
type directory struct {
	mu    sync.Mutex
	terms [][]byte
}

// firstTerms are those of the leaves.
func (s *Segment) firstTerms(ctx context.Context) ([][]byte, error) {
	if !s.deep {
		return s.bounds, nil
	}
	s.dir.mu.Lock()
	defer s.dir.mu.Unlock()
	if s.dir.terms != nil {
		return s.dir.terms, nil
	}
	var terms [][]byte
	for i := range s.bounds {
		page, err := s.page(ctx, Index, uint32(i))
		if err != nil {
			return nil, err
		}
		d := entryReader{b: page}
		if d.uvarint() != uint64(len(terms)) {
			return nil, malformed("an index page")
		}
		var t []byte
		for len(d.b) > 0 {
			if t = d.term(t); d.bad {
				return nil, malformed("an index page")
			}
			terms = append(terms, bytes.Clone(t))
		}
	}
	if len(terms) != int(s.leaves) {
		return nil, malformed("an index page")
	}
	s.dir.terms = terms
	return terms, nil
}

// leafOf is the leaf that has a term if any has; ok is false if none can.
func (s *Segment) leafOf(ctx context.Context, term []byte) (leaf uint32, ok bool, err error) {
	terms, err := s.firstTerms(ctx)
	if err != nil {
		return 0, false, err
	}
	i := sort.Search(len(terms), func(i int) bool { return bytes.Compare(terms[i], term) > 0 }) - 1
	return uint32(max(i, 0)), i >= 0, nil
}

// find looks a term up.
func (s *Segment) find(ctx context.Context, term []byte) (e entry, ok bool, err error) {
	leaf, ok, err := s.leafOf(ctx, term)
	if err != nil || !ok {
		return e, false, err
	}
	page, err := s.page(ctx, Terms, leaf)
	if err != nil {
		return e, false, err
	}
	d := entryReader{b: page}
	var t []byte
	for len(d.b) > 0 {
		t = d.term(t)
		e = d.entry()
		if d.bad {
			return e, false, malformed("a leaf of terms")
		}
		switch bytes.Compare(t, term) {
		case 0:
			return e, true, nil
		case 1:
			return e, false, nil
		}
	}
	return e, false, nil
}

// scan walks through the terms from a first one on.
type scan struct {
	seg   *Segment
	leaf  uint32
	d     entryReader
	term  []byte
	entry entry
	done  bool
}

// scan begins at the first term that is not below from.
func (s *Segment) scan(ctx context.Context, from []byte) (*scan, error) {
	c := &scan{seg: s}
	if len(s.bounds) == 0 {
		c.done = true
		return c, nil
	}
	leaf, ok, err := s.leafOf(ctx, from)
	if err != nil {
		return nil, err
	}
	if ok {
		c.leaf = leaf
	}
	page, err := s.page(ctx, Terms, c.leaf)
	if err != nil {
		return nil, err
	}
	c.d = entryReader{b: page}
	for {
		if err := c.next(ctx); err != nil || c.done || bytes.Compare(c.term, from) >= 0 {
			return c, err
		}
	}
}

// next goes to the next term.
func (c *scan) next(ctx context.Context) error {
	if len(c.d.b) == 0 {
		if c.leaf+1 >= c.seg.leaves {
			c.done = true
			return nil
		}
		page, err := c.seg.page(ctx, Terms, c.leaf+1)
		if err != nil {
			return err
		}
		c.leaf++
		c.d = entryReader{b: page}
		c.term = c.term[:0]
	}
	c.term = c.d.term(c.term)
	c.entry = c.d.entry()
	if c.d.bad {
		return malformed("a leaf of terms")
	}
	return nil
}

// EachTerm calls f for every term, in order. It is valid during the call.
func (s *Segment) EachTerm(ctx context.Context, f func(term []byte)) error {
	c, err := s.scan(ctx, nil)
	for err == nil && !c.done {
		f(c.term)
		err = c.next(ctx)
	}
	return err
}

// From is the segment with its pages from another store, and with or without rows that
// are not there any more.
func (s *Segment) From(store Store, gone bool) *Segment {
	out := *s
	out.store, out.Gone = store, gone
	return &out
}

// Verify reads all of the segment and returns ErrMalformed for what is not as a
// Builder or Merge writes it.
func (s *Segment) Verify(ctx context.Context) error {
	c, err := s.scan(ctx, nil)
	if err != nil {
		return err
	}
	l := s.list(entry{})
	letters := newSegmentWriter(nil)
	var before []byte
	for n := 0; !c.done; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if n > 0 && bytes.Compare(before, c.term) >= 0 {
			return malformed("terms that do not ascend")
		}
		before = append(before[:0], c.term...)
		count := uint32(0)
		for l.reset(c.entry); l.left > 0; {
			if ok, err := l.load(ctx, l.block.after()); err != nil || !ok {
				return err
			}
			if l.block.docs[l.block.n-1] >= uint32(s.rows.len()) {
				return malformed("a document beyond the segment")
			}
			if err := l.place(ctx); err != nil {
				return err
			}
			count += uint32(l.block.n)
			if len(c.term) > 0 && isLetter(c.term[0]) {
				for _, d := range l.block.docs[:l.block.n] {
					letters.letter(c.term[0], d)
				}
			}
		}
		if count != c.entry.docs {
			return malformed("a list without its end")
		}
		if err := c.next(ctx); err != nil {
			return err
		}
	}
	if len(letters.letters) != len(s.letters) {
		return malformed("letters that no term begins with")
	}
	for letter, set := range letters.letters {
		l.reset(s.letters[letter])
		for d := set.next(0); d != end; d = set.next(d + 1) {
			if at, err := l.seek(ctx, d); err != nil || at != d {
				return errors.Join(err, malformed("a row is missing in the list of a letter"))
			}
		}
	}
	return nil
}
