package postings

import (
	"bytes"
	"context"
	"slices"
)

// Search lists the rows that match, the newest (highest) first: at most limit of those
// not below from and below before. Of segments with rows that are Gone only such are listed as
// alive keeps; it may be nil. The segments must be the newest first and must not overlap.
func Search(ctx context.Context, segments []*Segment, e Expr, from, before int64, limit int, alive func(row int64) bool) ([]int64, error) {
	var out []int64
	for _, s := range segments {
		if limit <= len(out) {
			break
		}
		if s.Len() == 0 || s.Newest() < from || s.Oldest() >= before {
			continue
		}
		n, err := s.node(ctx, e)
		if err != nil {
			return nil, err
		}
		if n == nil {
			continue
		}
		keep := alive
		if !s.Gone {
			keep = nil
		}
		if out, err = s.search(ctx, n, s.rows.before(before), s.rows.before(from), limit, keep, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// search appends the rows of the documents [from, to) that match.
func (s *Segment) search(ctx context.Context, n node, from, to uint32, limit int, alive func(row int64) bool, out []int64) ([]int64, error) {
	var w window
	for size := uint32(firstWindow); from < to; size = min(2*size, maxWindow) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next, err := n.next(ctx, from)
		if err != nil {
			return nil, err
		}
		if next >= to {
			break
		}
		from = max(from, next)
		w.reset(from, min(to, from+size))
		if err := n.fill(ctx, &w, nil); err != nil {
			return nil, err
		}
		for d := w.next(w.from); d != end; d = w.next(d + 1) {
			if row := s.rows.at(d); alive == nil || alive(row) {
				if out = append(out, row); len(out) >= limit {
					return out, nil
				}
			}
		}
		from = w.to
	}
	return out, nil
}

// node is an expression on a segment. Its methods are called with ascending
// documents only.
type node interface {
	// size is about how many documents match.
	size() int
	// next is a document not above the first that matches and is not below doc, or end.
	next(ctx context.Context, doc uint32) (uint32, error)
	// fill sets the documents of the window that match and, unless it is nil,
	// are in among.
	fill(ctx context.Context, w, among *window) error
}

// node is nil where nothing can match.
func (s *Segment) node(ctx context.Context, e Expr) (node, error) {
	switch e.op {
	case opPhrase:
		return s.phrase(ctx, e.terms, e.open)
	case opAny:
		var list []node
		for _, e := range e.list {
			n, err := s.node(ctx, e)
			if err != nil {
				return nil, err
			}
			if n != nil {
				list = append(list, n)
			}
		}
		switch len(list) {
		case 0:
			return nil, nil
		case 1:
			return list[0], nil
		}
		return &anyNode{list: list}, nil
	case opAll:
		var list []node
		for _, e := range e.list {
			n, err := s.node(ctx, e)
			if err != nil || n == nil {
				return nil, err
			}
			list = append(list, n)
		}
		slices.SortStableFunc(list, func(a, b node) int { return a.size() - b.size() })
		return &allNode{list: list}, nil
	}
	return nil, nil
}

func (s *Segment) phrase(ctx context.Context, terms []string, open bool) (node, error) {
	p := &phraseNode{}
	for i, t := range terms {
		if open && i == len(terms)-1 {
			if i == 0 && len(t) == 1 && isLetter(t[0]) {
				e, ok := s.letters[t[0]]
				if !ok {
					return nil, nil
				}
				return &termNode{s.list(e)}, nil
			}
			b, err := s.beginning(ctx, []byte(t))
			if err != nil || b == nil {
				return nil, err
			}
			if i == 0 {
				return b, nil
			}
			p.last = b
			break
		}
		e, ok, err := s.find(ctx, []byte(t))
		if err != nil || !ok {
			return nil, err
		}
		if len(terms) == 1 {
			return &termNode{s.list(e)}, nil
		}
		p.terms = append(p.terms, phraseTerm{at: uint32(i), docs: s.list(e), places: s.list(e)})
	}
	slices.SortStableFunc(p.terms, func(a, b phraseTerm) int { return int(a.docs.entry.docs) - int(b.docs.entry.docs) })
	return p, nil
}

// termNode matches a term.
type termNode struct{ *list }

func (n *termNode) size() int { return int(n.entry.docs) }

func (n *termNode) next(ctx context.Context, doc uint32) (uint32, error) { return n.seek(ctx, doc) }

// anyNode matches what one of its nodes matches.
type anyNode struct {
	list []node
	done []bool
}

func (n *anyNode) size() int {
	sum := 0
	for _, c := range n.list {
		sum += c.size()
	}
	return sum
}

func (n *anyNode) next(ctx context.Context, doc uint32) (uint32, error) {
	if n.done == nil {
		n.done = make([]bool, len(n.list))
	}
	first := end
	for i, c := range n.list {
		if n.done[i] {
			continue
		}
		d, err := c.next(ctx, doc)
		if err != nil {
			return 0, err
		}
		n.done[i] = d == end
		if first = min(first, d); first <= doc {
			break
		}
	}
	return first, nil
}

func (n *anyNode) fill(ctx context.Context, w, among *window) error {
	for i, c := range n.list {
		if n.done != nil && n.done[i] {
			continue
		}
		if err := c.fill(ctx, w, among); err != nil {
			return err
		}
	}
	return nil
}

// allNode matches what all of its nodes match, the rarest first.
type allNode struct {
	list []node
	sets [2]window
}

func (n *allNode) size() int { return n.list[0].size() }

func (n *allNode) next(ctx context.Context, doc uint32) (uint32, error) {
	for {
		before := doc
		for _, c := range n.list {
			d, err := c.next(ctx, doc)
			if err != nil || d == end {
				return end, err
			}
			doc = max(doc, d)
		}
		if doc == before {
			return doc, nil
		}
	}
}

func (n *allNode) fill(ctx context.Context, w, among *window) error {
	for i, c := range n.list {
		to := w
		if i < len(n.list)-1 {
			to = &n.sets[i%2]
			to.reset(w.from, w.to)
		}
		if err := c.fill(ctx, to, among); err != nil {
			return err
		}
		if to != w && to.empty() {
			return nil
		}
		among = to
	}
	return nil
}

// phraseNode matches terms one after the other. Two lists run over each term:
// one finds the documents of a window, the other looks where they hold it.
type phraseNode struct {
	terms []phraseTerm // the rarest first
	last  *beginning   // instead of the last one, or nil
	sets  [2]window
	want  map[uint32][]uint32
	at    []uint32
	pool  []uint32
}

type phraseTerm struct {
	at           uint32 // in the phrase
	docs, places *list
}

func (n *phraseNode) size() int { return int(n.terms[0].docs.entry.docs) }

func (n *phraseNode) next(ctx context.Context, doc uint32) (uint32, error) {
	for {
		before := doc
		for i := range n.terms {
			d, err := n.terms[i].docs.seek(ctx, doc)
			if err != nil || d == end {
				return end, err
			}
			doc = d
		}
		if doc == before {
			return doc, nil
		}
	}
}

func (n *phraseNode) fill(ctx context.Context, w, among *window) error {
	for i := range n.terms {
		to := &n.sets[i%2]
		to.reset(w.from, w.to)
		if err := n.terms[i].docs.fill(ctx, to, among); err != nil {
			return err
		}
		if to.empty() {
			return nil
		}
		among = to
	}
	if n.last != nil {
		n.want = map[uint32][]uint32{}
		n.pool = n.pool[:0]
	}
	for d := among.next(w.from); d != end; d = among.next(d + 1) {
		if err := n.align(ctx, d); err != nil {
			return err
		}
		switch {
		case len(n.at) == 0:
		case n.last == nil:
			w.set(d)
		default:
			from := len(n.pool)
			n.pool = append(n.pool, n.at...)
			n.want[d] = n.pool[from:len(n.pool):len(n.pool)]
		}
	}
	if n.last == nil || len(n.want) == 0 {
		return nil
	}
	return n.last.follow(ctx, w, n.want, uint32(len(n.terms)))
}

// align puts into at where the phrase begins in a document.
func (n *phraseNode) align(ctx context.Context, doc uint32) error {
	n.at = n.at[:0]
	for i := range n.terms {
		t := &n.terms[i]
		pos, err := t.places.positions(ctx, doc)
		if err != nil {
			return err
		}
		if i == 0 {
			for _, p := range pos {
				if p >= t.at {
					n.at = append(n.at, p-t.at)
				}
			}
		} else {
			kept := n.at[:0]
			k := 0
			for _, p := range n.at {
				for k < len(pos) && pos[k] < p+t.at {
					k++
				}
				if k < len(pos) && pos[k] == p+t.at {
					kept = append(kept, p)
				}
			}
			n.at = kept
		}
		if len(n.at) == 0 {
			return nil
		}
	}
	return nil
}

// beginning matches every term that begins so. Short lists are gathered in one
// set of the whole segment when it is first asked for; there may be tens of
// thousands of them.
type beginning struct {
	seg    *Segment
	short  []entry
	long   []*list
	places []*list // of the long ones
	set    *window
	total  int
}

// beginning is nil where no term begins so.
func (s *Segment) beginning(ctx context.Context, prefix []byte) (*beginning, error) {
	c, err := s.scan(ctx, prefix)
	if err != nil {
		return nil, err
	}
	b := &beginning{seg: s}
	for !c.done && bytes.HasPrefix(c.term, prefix) {
		if c.entry.external {
			b.long = append(b.long, s.list(c.entry))
		} else {
			b.short = append(b.short, c.entry)
		}
		b.total += int(c.entry.docs)
		if err := c.next(ctx); err != nil {
			return nil, err
		}
	}
	if b.total == 0 {
		return nil, nil
	}
	slices.SortStableFunc(b.long, func(x, y *list) int { return int(y.entry.docs) - int(x.entry.docs) })
	return b, nil
}

func (b *beginning) size() int { return b.total }

func (b *beginning) gather() error {
	if b.set != nil {
		return nil
	}
	b.set = &window{}
	n := uint32(b.seg.Len())
	b.set.reset(0, n)
	var docs [blockDocs]uint32
	for _, e := range b.short {
		first, coded, _, err := splitSmall(int(e.docs), e.small)
		if err == nil {
			err = readDocs(&docs, int(e.docs), first, coded)
		}
		if err != nil {
			return err
		}
		if docs[e.docs-1] >= n {
			return malformed("a document beyond the segment")
		}
		for _, d := range docs[:e.docs] {
			b.set.set(d)
		}
	}
	return nil
}

func (b *beginning) next(ctx context.Context, doc uint32) (uint32, error) {
	if err := b.gather(); err != nil {
		return 0, err
	}
	first := b.set.next(doc)
	for i := 0; i < len(b.long) && first > doc; {
		d, err := b.long[i].seek(ctx, doc)
		if err != nil {
			return 0, err
		}
		if d == end {
			b.long = slices.Delete(b.long, i, i+1)
			continue
		}
		first = min(first, d)
		i++
	}
	return first, nil
}

func (b *beginning) fill(ctx context.Context, w, among *window) error {
	if err := b.gather(); err != nil {
		return err
	}
	for d := b.set.next(w.from); d < w.to; d = b.set.next(d + 1) {
		if among == nil || among.has(d) {
			w.set(d)
		}
	}
	for i, l := range b.long {
		// A letter or two begin a word of nearly every row.
		if i%16 == 15 && w.full() {
			break
		}
		if err := l.fill(ctx, w, among); err != nil {
			return err
		}
	}
	return nil
}

// follow sets the documents in which a term stands n positions behind one of those
// that are wanted.
func (b *beginning) follow(ctx context.Context, w *window, want map[uint32][]uint32, n uint32) error {
	if b.places == nil {
		for _, l := range b.long {
			b.places = append(b.places, b.seg.list(l.entry))
		}
	}
	var blk block
	var docs window
	docs.reset(w.from, w.to)
	for d := range want {
		docs.set(d)
	}
	for _, e := range b.short {
		first, coded, positions, err := splitSmall(int(e.docs), e.small)
		if err != nil {
			return err
		}
		if first >= w.to {
			continue
		}
		blk.n = int(e.docs)
		if err := readDocs(&blk.docs, blk.n, first, coded); err != nil {
			return err
		}
		placed := false
		at := uint32(0)
		for i, d := range blk.docs[:blk.n] {
			if !placed {
				if !docs.has(d) {
					continue
				}
				if err := blk.readSmallPositions(positions); err != nil {
					return err
				}
				placed = true
				for _, f := range blk.freqs[:i] {
					at += f
				}
			}
			pos := blk.pos[at : at+blk.freqs[i]]
			at += blk.freqs[i]
			if docs.has(d) && behind(want[d], pos, n) {
				w.set(d)
			}
		}
	}
	for _, l := range b.places {
		for d := docs.next(w.from); d != end; d = docs.next(d + 1) {
			at, err := l.seek(ctx, d)
			if err != nil {
				return err
			}
			if at != d {
				if at == end {
					break
				}
				d = at - 1
				continue
			}
			pos, err := l.positions(ctx, d)
			if err != nil {
				return err
			}
			if behind(want[d], pos, n) {
				w.set(d)
			}
		}
	}
	return nil
}

// behind reports whether one of the positions is n behind one of the others. Both
// ascend.
func behind(at, pos []uint32, n uint32) bool {
	k := 0
	for _, p := range at {
		for k < len(pos) && pos[k] < p+n {
			k++
		}
		if k < len(pos) && pos[k] == p+n {
			return true
		}
	}
	return false
}
