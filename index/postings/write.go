package postings

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// smallBytes is up to which size a list stands in the leaf of its term.
const smallBytes = 1 << 10

// maxTerm bounds a term, in bytes. No analysis gives longer ones.
const maxTerm = 1 << 10

// inRoot is how many terms the root has before they go into index pages.
const inRoot = 64

// segmentWriter writes a segment. Terms come in order, for each of them its
// documents in order.
type segmentWriter struct {
	put    Put
	leaf   fileWriter
	index  fileWriter
	rows   fileWriter
	docs   fileWriter
	pos    fileWriter
	term   []byte // of the list being written
	before []byte // the term before it in the leaf

	block    block
	count    uint32 // documents of the list
	last     uint32 // the last document of the block before
	at       [2]int64
	external bool

	bounds []boundary // first terms of the leaves or, above inRoot of these, of the index pages
	leaves uint32
	deep   bool
	ibound []byte // the last term of the open index page

	letters map[byte]*window // documents by the letters that their terms begin with

	scratch []byte
	entry   []byte
}

// boundary is the first term of a page.
type boundary struct {
	term []byte
	page uint32
}

func newSegmentWriter(put Put) *segmentWriter {
	return &segmentWriter{
		put:     put,
		letters: map[byte]*window{},
		leaf:    fileWriter{file: Terms, put: put},
		index:   fileWriter{file: Index, put: put},
		rows:    fileWriter{file: Rows, put: put},
		docs:    fileWriter{file: Documents, put: put},
		pos:     fileWriter{file: Positions, put: put},
	}
}

// begin starts the list of a term, which must be above the one before.
func (w *segmentWriter) begin(term []byte) {
	w.term = append(w.term[:0], term...)
	w.count, w.last, w.external = 0, 0, false
	w.at = [2]int64{w.docs.size, w.pos.size}
	w.block.reset()
}

// add adds a document, above the one before.
func (w *segmentWriter) add(doc uint32, pos []uint32) error {
	if w.block.n == blockDocs {
		if err := w.spill(); err != nil {
			return err
		}
	}
	w.block.add(doc, pos)
	w.count++
	return nil
}

// spill writes the block into the files of long lists.
func (w *segmentWriter) spill() error {
	b := &w.block
	if b.n == 0 {
		return nil
	}
	docs := b.appendDocs(w.scratch[:0])
	n := len(docs)
	w.scratch = b.appendPositions(docs)
	err := w.long(b.n, b.docs[0], b.docs[b.n-1], w.scratch[:n], w.scratch[n:])
	b.reset()
	return err
}

// copied adds a block of n documents as it was written before: of another segment, all of
// whose documents have the same distance to what they are called here.
func (w *segmentWriter) copied(n int, first, last uint32, docs, positions []byte) error {
	if err := w.spill(); err != nil {
		return err
	}
	w.count += uint32(n)
	return w.long(n, first, last, docs, positions)
}

// long writes a block into the files of long lists.
func (w *segmentWriter) long(n int, first, last uint32, docs, positions []byte) error {
	gap := first
	if w.external {
		gap -= w.last + 1
	}
	w.external, w.last = true, last
	e := binary.AppendUvarint(w.entry[:0], uint64(n))
	e = binary.AppendUvarint(e, uint64(gap))
	e = binary.AppendUvarint(e, uint64(last-first))
	e = binary.AppendUvarint(e, uint64(len(docs)))
	w.entry = binary.AppendUvarint(e, uint64(len(positions)))
	return errors.Join(w.docs.append(w.entry), w.docs.append(docs), w.pos.append(positions))
}

// end writes the list's entry. A list without documents is none.
func (w *segmentWriter) end() error {
	if w.count == 0 {
		return nil
	}
	var small []byte
	if !w.external {
		w.scratch = w.block.appendSmall(w.scratch[:0])
		if small = w.scratch; len(small) > smallBytes {
			small = nil
		}
	}
	if small == nil {
		if err := w.spill(); err != nil {
			return err
		}
	}
	w.encode(small)
	if len(w.leaf.buf)+len(w.entry) > PageBytes {
		if err := w.closeLeaf(); err != nil {
			return err
		}
	}
	if len(w.leaf.buf) == 0 {
		w.before = w.before[:0]
		w.encode(small)
		if err := w.bound(); err != nil {
			return err
		}
	}
	w.before = append(w.before[:0], w.term...)
	w.leaf.buf = append(w.leaf.buf, w.entry...)
	return nil
}

// encode makes the entry of the list, whose short form is given if it has one: the term,
// then for one row twice the length of its list, else four times the number of rows
// and 1 (with the length of the list, and that) or 3 (with where the list is).
func (w *segmentWriter) encode(small []byte) {
	e := appendTerm(w.entry[:0], w.before, w.term)
	switch {
	case small != nil && w.count == 1:
		e = binary.AppendUvarint(e, uint64(len(small))<<1)
		e = append(e, small...)
	case small != nil:
		e = binary.AppendUvarint(e, uint64(w.count)<<2|1)
		e = binary.AppendUvarint(e, uint64(len(small)))
		e = append(e, small...)
	default:
		e = binary.AppendUvarint(e, uint64(w.count)<<2|3)
		e = binary.AppendUvarint(e, uint64(w.at[0]))
		e = binary.AppendUvarint(e, uint64(w.at[1]))
	}
	w.entry = e
}

// appendTerm writes a term as what it has behind its common beginning with the
// one before.
func appendTerm(to, before, term []byte) []byte {
	shared := 0
	for shared < len(before) && shared < len(term) && before[shared] == term[shared] {
		shared++
	}
	suffix := term[shared:]
	to = append(to, byte(min(shared, 15)<<4|min(len(suffix), 15)))
	if shared >= 15 {
		to = binary.AppendUvarint(to, uint64(shared-15))
	}
	if len(suffix) >= 15 {
		to = binary.AppendUvarint(to, uint64(len(suffix)-15))
	}
	return append(to, suffix...)
}

func (w *segmentWriter) closeLeaf() error {
	if len(w.leaf.buf) == 0 {
		return nil
	}
	w.leaves++
	return w.leaf.page()
}

// bound notes the first term of the leaf that is begun.
func (w *segmentWriter) bound() error {
	if w.deep {
		return w.toIndex(w.term, w.leaves)
	}
	w.bounds = append(w.bounds, boundary{append([]byte(nil), w.term...), w.leaves})
	if len(w.bounds) <= inRoot {
		return nil
	}
	all := w.bounds
	w.bounds, w.deep = nil, true
	for _, b := range all {
		if err := w.toIndex(b.term, b.page); err != nil {
			return err
		}
	}
	return nil
}

func (w *segmentWriter) toIndex(term []byte, leaf uint32) error {
	if len(w.index.buf)+len(term)+8 > PageBytes {
		if err := w.index.page(); err != nil {
			return err
		}
	}
	if len(w.index.buf) == 0 {
		w.bounds = append(w.bounds, boundary{append([]byte(nil), term...), w.index.next})
		w.ibound = w.ibound[:0]
		w.index.buf = binary.AppendUvarint(w.index.buf, uint64(leaf))
	}
	w.index.buf = appendTerm(w.index.buf, w.ibound, term)
	w.ibound = append(w.ibound[:0], term...)
	return nil
}

// letter notes that a term of a document begins with a letter. What is being typed begins with
// one that nearly every row has a word of: going through all of these words would take long.
func (w *segmentWriter) letter(c byte, doc uint32) {
	set := w.letters[c]
	if set == nil {
		set = &window{}
		w.letters[c] = set
	}
	if n := int(doc/64) + 1; n > len(set.words) {
		set.words = append(set.words, make([]uint64, max(n, 2*len(set.words))-len(set.words))...)
		set.to = uint32(64 * len(set.words))
	}
	set.set(doc)
}

// isLetter reports whether a byte is one of those of which a segment knows the documents.
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// writeLetters writes the lists of the letters and appends where they are.
func (w *segmentWriter) writeLetters(root []byte) ([]byte, error) {
	root = binary.AppendUvarint(root, uint64(len(w.letters)))
	for _, c := range slices.Sorted(maps.Keys(w.letters)) {
		w.begin([]byte{c})
		set := w.letters[c]
		for d := set.next(0); d != end; d = set.next(d + 1) {
			if err := w.add(d, nil); err != nil {
				return nil, err
			}
		}
		if err := w.spill(); err != nil {
			return nil, err
		}
		root = append(root, c)
		root = binary.AppendUvarint(root, uint64(w.count))
		root = binary.AppendUvarint(root, uint64(w.at[0]))
	}
	return root, nil
}

// rootVersion is the first number of a root.
const rootVersion = 1

// finish writes what is open and gives the root. rows are the row ids by document.
func (w *segmentWriter) finish(rows *rowTable) ([]byte, error) {
	letters, err := w.writeLetters(nil)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(w.closeLeaf(), w.index.page(), w.docs.page(), w.pos.page()); err != nil {
		return nil, err
	}
	root := binary.AppendUvarint(nil, rootVersion)
	root = append(binary.AppendUvarint(root, uint64(rows.len())), letters...)
	ids := rows.encode()
	root = binary.AppendUvarint(root, uint64(len(ids)))
	if len(ids) <= smallBytes {
		root = append(root, ids...)
	} else if err := errors.Join(w.rows.append(ids), w.rows.page()); err != nil {
		return nil, err
	}
	root = binary.AppendUvarint(root, uint64(w.leaves))
	deep := uint64(0)
	if w.deep {
		deep = 1
	}
	root = binary.AppendUvarint(root, uint64(len(w.bounds))<<1|deep)
	var before []byte
	for _, b := range w.bounds {
		root = appendTerm(root, before, b.term)
		before = b.term
	}
	return root, nil
}
