package postings

import (
	"encoding/binary"
	"math"
	"sort"
)

// rowTable are the row ids of a segment's documents, descending. It takes
// four bytes a row, or eight where rows are very far apart.
type rowTable struct {
	bases []int64  // of each group of rows
	below []uint32 // how far a row is below its group's base
	wide  []int64  // instead, where that does not fit
}

const rowGroup = 256

func (t *rowTable) len() int { return max(len(t.below), len(t.wide)) }

func (t *rowTable) add(row int64) {
	if t.wide != nil {
		t.wide = append(t.wide, row)
		return
	}
	if len(t.below)%rowGroup == 0 {
		t.bases = append(t.bases, row)
	}
	d := t.bases[len(t.bases)-1] - row
	if d > math.MaxUint32 {
		t.wide = make([]int64, 0, len(t.below)+1)
		for i := range t.below {
			t.wide = append(t.wide, t.at(uint32(i)))
		}
		t.bases, t.below, t.wide = nil, nil, append(t.wide, row)
		return
	}
	t.below = append(t.below, uint32(d))
}

func (t *rowTable) at(doc uint32) int64 {
	if len(t.below) > 0 {
		return t.bases[doc/rowGroup] - int64(t.below[doc])
	}
	return t.wide[doc]
}

// before is the first document whose row is below a bound.
func (t *rowTable) before(row int64) uint32 {
	return uint32(sort.Search(t.len(), func(i int) bool { return t.at(uint32(i)) < row }))
}

func (t *rowTable) encode() []byte {
	var out []byte
	var last int64
	for i := range t.len() {
		row := t.at(uint32(i))
		if i == 0 {
			out = binary.AppendVarint(out, row)
		} else {
			out = binary.AppendUvarint(out, uint64(last-row-1))
		}
		last = row
	}
	return out
}

func decodeRows(n int, b []byte) (*rowTable, error) {
	t := &rowTable{below: make([]uint32, 0, min(n, len(b)))}
	var row int64
	for i := range n {
		var k int
		if i == 0 {
			row, k = binary.Varint(b)
		} else {
			var d uint64
			if d, k = binary.Uvarint(b); d >= 1<<62 {
				return nil, malformed("row ids")
			}
			row -= int64(d) + 1
		}
		if k <= 0 {
			return nil, malformed("row ids")
		}
		b = b[k:]
		t.add(row)
	}
	return t, nil
}
