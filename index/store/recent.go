package store

import (
	"container/list"
	"sync"
)

// recentBytes bounds the decoded blocks that a reader keeps, and recentBlock each of
// them. A person who types asks for the same hits with every letter, and the first
// of them are read to rank quoted phrases before they are shown.
const (
	recentBytes = 4 << 20
	recentBlock = 1 << 20
)

// recent are the blocks that were decoded last, all of one generation: what a
// block holds changes only with it. The zero value is ready.
type recent struct {
	mu         sync.Mutex
	generation int64
	rows       map[int64]*list.Element
	blocks     map[int64]*list.Element
	order      list.List // the latest first
	bytes      int
}

// openBlock is a decoded block.
type openBlock struct {
	id, first int64 // its first row
	raw       string
	asked     []int64 // rows by which it is found
}

// row finds the block of a row that was asked for before, nil if it is not
// known any more.
func (r *recent) row(generation, row int64) *openBlock {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.generation != generation {
		return nil
	}
	return r.use(r.rows[row])
}

// block finds a block for another of its rows, or for 0, which is none.
func (r *recent) block(generation, id, row int64) *openBlock {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.generation != generation {
		return nil
	}
	e := r.blocks[id]
	r.name(e, row)
	return r.use(e)
}

func (r *recent) use(e *list.Element) *openBlock {
	if e == nil {
		return nil
	}
	r.order.MoveToFront(e)
	return e.Value.(*openBlock)
}

func (r *recent) name(e *list.Element, row int64) {
	if e == nil || row == 0 || r.rows[row] != nil {
		return
	}
	b := e.Value.(*openBlock)
	b.asked = append(b.asked, row)
	r.rows[row] = e
}

// keep remembers a block that was decoded for a row, or for 0. Views of older generations
// keep nothing.
func (r *recent) keep(generation int64, b *openBlock, row int64) {
	if len(b.raw) > recentBlock {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil || r.generation < generation {
		r.generation, r.bytes = generation, 0
		r.rows, r.blocks = map[int64]*list.Element{}, map[int64]*list.Element{}
		r.order.Init()
	}
	if r.generation != generation || r.blocks[b.id] != nil {
		return
	}
	e := r.order.PushFront(b)
	r.blocks[b.id] = e
	r.name(e, row)
	for r.bytes += len(b.raw); r.bytes > recentBytes; {
		last := r.order.Back()
		old := r.order.Remove(last).(*openBlock)
		delete(r.blocks, old.id)
		for _, row := range old.asked {
			delete(r.rows, row)
		}
		r.bytes -= len(old.raw)
	}
}
