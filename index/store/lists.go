package store

import (
	"container/list"
	"context"
	"fmt"
	"sync"

	"github.com/sessionls/sessionls/index/postings"
)

// openLists are the segments and pages that a reader has read, which never
// change. The zero value is ready.
type openLists struct {
	mu       sync.Mutex
	segments [len(streams)]map[int64]*postings.Segment
	pages    map[int64]*list.Element
	order    list.List // the latest first
	bytes    int
}

// keptPages bounds the pages that are held, in bytes.
const keptPages = 8 << 20

// keptPage is a page; the ids of both streams are different, as those of their segments are.
type keptPage struct {
	id   int64
	data []byte
}

func (o *openLists) page(id int64) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.pages[id]
	if e == nil {
		return nil
	}
	o.order.MoveToFront(e)
	return e.Value.(keptPage).data
}

func (o *openLists) keep(id int64, data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pages == nil {
		o.pages = map[int64]*list.Element{}
	}
	if o.pages[id] != nil {
		return
	}
	o.pages[id] = o.order.PushFront(keptPage{id, data})
	for o.bytes += len(data); o.bytes > keptPages; {
		old := o.order.Remove(o.order.Back()).(keptPage)
		delete(o.pages, old.id)
		o.bytes -= len(old.data)
	}
}

// lists are the segments of a stream as a view sees them.
func (s *Snapshot) lists(ctx context.Context, in Stream) ([]*postings.Segment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if out := s.open[in]; out != nil {
		return out, nil
	}
	metas, err := segments(ctx, s.tx, in)
	if err != nil {
		return nil, err
	}
	from := &viewPages{s: s, in: in}
	o := &s.r.lists
	out := make([]*postings.Segment, 0, len(metas))
	o.mu.Lock()
	before := o.segments[in]
	o.mu.Unlock()
	known := make(map[int64]*postings.Segment, len(metas))
	for _, m := range metas {
		seg := before[m.id]
		if seg == nil {
			if seg, err = openSegment(ctx, s.tx, m.id, from); err != nil {
				return nil, err
			}
			seg = seg.From(nil, false)
		}
		known[m.id] = seg
		out = append(out, seg.From(from, m.dead > 0))
	}
	o.mu.Lock()
	o.segments[in] = known
	o.mu.Unlock()
	s.open[in] = out
	return out, nil
}

// viewPages reads pages as a view sees them.
type viewPages struct {
	s  *Snapshot
	in Stream
}

// Page implements postings.Store.
func (v *viewPages) Page(ctx context.Context, segment int64, file postings.File, number uint32) ([]byte, error) {
	id := pageID(segment, file, number)
	if p := v.s.r.lists.page(id); p != nil {
		return p, nil
	}
	page, err := scanPage(v.s.tx.QueryRowContext(ctx, fmt.Sprintf(selectPage, v.in.table()), id))
	if err != nil || page == nil {
		return nil, err
	}
	v.s.r.lists.keep(id, page)
	return page, nil
}

// Rows lists the rows of a stream that match, newest (highest) first: at most
// limit of those not below from and below before.
func (s *Snapshot) Rows(ctx context.Context, in Stream, e Expr, from, before int64, limit int) ([]int64, error) {
	if e.IsZero() || limit <= 0 {
		return nil, nil
	}
	segs, err := s.lists(ctx, in)
	if err != nil {
		return nil, err
	}
	walk := s.Spans.Walk()
	rows, err := postings.Search(ctx, segs, e, from, before, limit, func(row int64) bool { _, ok := walk.At(row); return ok })
	if err != nil {
		return nil, damaged(fmt.Errorf("search the text: %w", err))
	}
	return rows, nil
}
