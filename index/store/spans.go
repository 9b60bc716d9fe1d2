package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"sort"
	"sync"

	"github.com/sessionls/sessionls/index/transcript"
)

// Spans tell the session, the kind and the length of every FTS row without a
// query. They are immutable; readers share them.
type Spans struct {
	first   []int64
	session []int64
	info    [][]byte
	rows    int64
	deletes int64

	lengths func() Lengths
}

// Lengths are the sizes of sessions in terms of searchable text.
type Lengths struct {
	Session map[int64]float64
	Average float64

	spans map[int64][]int32 // the spans of a session, ascending
}

// Lengths gives the size of every session; it is counted once for a state of
// the index.
func (s *Spans) Lengths() Lengths { return s.lengths() }

func (s *Spans) count() Lengths {
	l := Lengths{Session: make(map[int64]float64, len(s.first)), spans: make(map[int64][]int32, len(s.first))}
	var total float64
	for i, id := range s.session {
		var n float64
		for k := 1; k < len(s.info[i]); k += 2 {
			n += lengths[s.info[i][k]]
		}
		l.Session[id] += n
		l.spans[id] = append(l.spans[id], int32(i))
		total += n
	}
	l.Average = max(1, total/float64(max(1, len(l.Session))))
	return l
}

// RowInfo is what is known of a row without reading its text.
type RowInfo struct {
	Session int64
	Kind    RowKind
	Role    transcript.Role
	// Terms is about how many terms the row has, within a tenth.
	Terms float64
}

// RowKind says which streams a row holds text of.
type RowKind uint8

// User, Assistant, Tool and Head report the streams of a row.
func (k RowKind) User() bool      { return k&kindUser != 0 }
func (k RowKind) Assistant() bool { return k&kindAssistant != 0 }
func (k RowKind) Tool() bool      { return k&kindTool != 0 }
func (k RowKind) Head() bool      { return k&kindHead != 0 }

// in reports whether the row has text in a stream.
func (k RowKind) in(s Stream) bool {
	if s == ToolText {
		return k&kindTool != 0
	}
	return k&(kindUser|kindAssistant|kindHead) != 0
}

// More reports that the row goes on with the event of the row before: it is not
// the first of its event's rows.
func (k RowKind) More() bool { return k&kindMore != 0 }

var lengths = func() (t [256]float64) {
	for i := range t {
		t[i] = math.Exp2(float64(i)/8) - 1
	}
	return t
}()

// Rows is the number of rows of the index.
func (s *Spans) Rows() int64 { return s.rows }

// At finds a row. ok is false for a row of no session.
func (s *Spans) At(row int64) (RowInfo, bool) {
	w := s.Walk()
	return w.At(row)
}

// Walk finds rows one after the other, those near the last one without a search. It
// is for one goroutine.
type Walk struct {
	s    *Spans
	span int
}

// Walk begins at the oldest row.
func (s *Spans) Walk() Walk { return Walk{s: s} }

// At is [Spans.At].
func (w *Walk) At(row int64) (RowInfo, bool) {
	s := w.s
	i := s.spanOf(row, w.span)
	if i < 0 {
		return RowInfo{}, false
	}
	w.span = i
	k := 2 * (row - s.first[i])
	if k >= int64(len(s.info[i])) {
		return RowInfo{}, false
	}
	return s.row(i, int(k/2)), true
}

// spanOf is the last span that begins at or before a row, -1 if there is none. The search
// goes away from a span in steps that double, so what is near is found at once.
func (s *Spans) spanOf(row int64, from int) int {
	low, high := from, from // low begins at or before the row, high above it
	if from < len(s.first) && s.first[from] <= row {
		for step := 1; ; step *= 2 {
			if high = low + step; high >= len(s.first) {
				high = len(s.first)
				break
			}
			if s.first[high] > row {
				break
			}
			low = high
		}
	} else {
		for step := 1; ; step *= 2 {
			if low = high - step; low < 0 {
				low = -1
				break
			}
			if s.first[low] <= row {
				break
			}
			high = low
		}
	}
	for high-low > 1 {
		if mid := int(uint(low+high) / 2); s.first[mid] <= row {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

func (s *Spans) row(span, k int) RowInfo {
	kind := s.info[span][2*k]
	role := transcript.RoleUnknown
	if c := int(kind &^ kindMore >> kindRoleShift); c < len(roles) {
		role = roles[c]
	}
	return RowInfo{Session: s.session[span], Kind: RowKind(kind & (0x0f | kindMore)), Role: role, Terms: lengths[s.info[span][2*k+1]]}
}

// Of calls f with the row ranges [first, end) of a session.
func (s *Spans) Of(session int64, f func(first, end int64)) {
	for _, i := range s.lengths().spans[session] {
		f(s.first[i], s.first[i]+int64(len(s.info[i])/2))
	}
}

// Turns appends the rows of a session that hold conversation, ascending, and
// about how many terms each has.
func (s *Spans) Turns(session int64, rows []int64, terms []float64) ([]int64, []float64) {
	for _, i := range s.lengths().spans[session] {
		info := s.info[i]
		for k := 0; k < len(info); k += 2 {
			if info[k]&(kindUser|kindAssistant) != 0 {
				rows, terms = append(rows, s.first[i]+int64(k/2)), append(terms, lengths[info[k+1]])
			}
		}
	}
	return rows, terms
}

// Having calls found for every session that has a row which passes, as often as it has such
// spans; sessions that are not wanted then are passed over.
func (s *Spans) Having(wanted func(session int64) bool, passes func(RowInfo) bool, found func(session int64)) {
	for i, session := range s.session {
		if !wanted(session) {
			continue
		}
		for k := range len(s.info[i]) / 2 {
			if passes(s.row(i, k)) {
				found(session)
				break
			}
		}
	}
}

// Each calls f for every row, in ascending order.
func (s *Spans) Each(f func(row int64, info RowInfo)) {
	for i, first := range s.first {
		for k := range len(s.info[i]) / 2 {
			f(first+int64(k), s.row(i, k))
		}
	}
}

// loadSpans brings the cached spans up to the snapshot. A span never changes; new
// ones come above all there are (live), or below all on their side of firstTalkRow, so only those
// are read, and which ones are gone since.
func loadSpans(ctx context.Context, tx *sql.Tx, cached *Spans, deletes int64) (*Spans, error) {
	all := func() (*Spans, error) {
		s := newSpans(deletes)
		return s, s.read(ctx, tx, math.MinInt64, math.MaxInt64)
	}
	if cached == nil || deletes < cached.deletes {
		return all()
	}
	old := cached
	if deletes != cached.deletes {
		gone, err := dropped(ctx, tx, cached.deletes, deletes)
		if err != nil {
			return nil, err
		}
		if gone == nil {
			return all()
		}
		old = cached.without(gone, deletes)
	}
	if len(old.first) == 0 {
		return all()
	}
	s := newSpans(deletes)
	high := max(old.first[len(old.first)-1], firstTalkRow-1)
	talk := sort.Search(len(old.first), func(i int) bool { return old.first[i] >= firstTalkRow })
	for _, side := range []struct {
		from, to  int   // of the old ones
		low, high int64 // the ids of this side, as far as some were known
	}{{0, talk, math.MinInt64, firstTalkRow - 1}, {talk, len(old.first), firstTalkRow, high}} {
		below := side.high
		if side.from < side.to {
			below = old.first[side.from] - 1
		}
		if err := s.read(ctx, tx, side.low, below); err != nil {
			return nil, err
		}
		s.append(old, side.from, side.to)
	}
	if err := s.read(ctx, tx, high+1, math.MaxInt64); err != nil {
		return nil, err
	}
	if old == cached && len(s.first) == len(cached.first) {
		return cached, nil
	}
	return s, nil
}

// dropped are the spans that went while a counter moved; nil if not all of them are
// known any more.
func dropped(ctx context.Context, tx *sql.Tx, from, to int64) (map[int64]bool, error) {
	if to-from > maxUnspans {
		return nil, nil
	}
	rows, err := tx.QueryContext(ctx, `SELECT first FROM unspan WHERE n > ? AND n <= ?`, from, to)
	if err != nil {
		return nil, fmt.Errorf("read what is gone: %w", err)
	}
	defer rows.Close()
	gone, n := map[int64]bool{}, int64(0)
	for rows.Next() {
		var first int64
		if err := rows.Scan(&first); err != nil {
			return nil, fmt.Errorf("read what is gone: %w", err)
		}
		gone[first] = true
		n++
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what is gone: %w", err)
	}
	if n != to-from {
		return nil, nil
	}
	return gone, nil
}

// without are the spans but those that are gone.
func (s *Spans) without(gone map[int64]bool, deletes int64) *Spans {
	out := newSpans(deletes)
	out.reserve(len(s.first))
	for i, first := range s.first {
		if !gone[first] {
			out.append(s, i, i+1)
		}
	}
	return out
}

func (s *Spans) reserve(n int) {
	s.first, s.session, s.info = make([]int64, 0, n), make([]int64, 0, n), make([][]byte, 0, n)
}

// append adds some of the spans of another.
func (s *Spans) append(of *Spans, from, to int) {
	s.first = append(s.first, of.first[from:to]...)
	s.session = append(s.session, of.session[from:to]...)
	s.info = append(s.info, of.info[from:to]...)
	for _, info := range of.info[from:to] {
		s.rows += int64(len(info) / 2)
	}
}

func newSpans(deletes int64) *Spans {
	s := &Spans{deletes: deletes}
	s.lengths = sync.OnceValue(s.count)
	return s
}

func (s *Spans) read(ctx context.Context, tx *sql.Tx, from, to int64) error {
	rows, err := tx.QueryContext(ctx, `SELECT first, session, info FROM span WHERE first BETWEEN ? AND ? ORDER BY first`, from, to)
	if err != nil {
		return fmt.Errorf("read row spans: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var first, session int64
		var info []byte
		if err := rows.Scan(&first, &session, &info); err != nil {
			return fmt.Errorf("read row spans: %w", err)
		}
		s.first, s.session, s.info = append(s.first, first), append(s.session, session), append(s.info, info)
		s.rows += int64(len(info) / 2)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read row spans: %w", err)
	}
	return nil
}
