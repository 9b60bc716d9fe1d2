package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sessionls/sessionls/index/postings"
)

// streams are the bodies of text, each with segments of its own.
var streams = [...]Stream{Talk, ToolText}

// builderBytes is the memory that the new rows of a stream take before they are
// written as a segment; a transaction writes the rest at its end.
const builderBytes = 40 << 20

// A page's id is made of its segment's id, its file and its number there. A segment
// is written file by file, and gone with one range of ids.
const (
	segmentShift = 32
	fileShift    = 28
)

func pageID(segment int64, file postings.File, number uint32) int64 {
	return segment<<segmentShift | int64(file)<<fileShift | int64(number)
}

// text adds a row to the postings of a stream. It is written at some time before the
// transaction ends.
func (t *Tx) text(in Stream, row int64, a *analysed, marks string) error {
	if t.put == nil {
		var err error
		if t.put, err = t.segmentWriters(); err != nil {
			return err
		}
		t.compact = true
	}
	main := len(a.main)
	all := make([]byte, 0, main+len(a.side)+len(marks)+1)
	all = append(append(append(append(all, a.main...), a.side...), ' '), marks...)
	return t.behind.put(write{run: func() error {
		b := t.w.builders[in]
		if b.Bytes() > builderBytes {
			if err := t.writeSegment(in); err != nil {
				return err
			}
		}
		return b.Add(row, all[:main], all[main:])
	}, size: len(all)})
}

// segmentWriters prepares what writing segments needs: nothing can be prepared while
// the queue runs.
func (t *Tx) segmentWriters() (*segmentStatements, error) {
	var p segmentStatements
	var err error
	for st, query := range map[**sql.Stmt]string{
		&p.begin:          `INSERT INTO segment(stream, oldest, newest, rows, dead, bytes, root) VALUES(?,?,?,?,?,0,'')`,
		&p.end:            `UPDATE segment SET bytes = ?, root = ? WHERE id = ?`,
		&p.page[Talk]:     `INSERT INTO talk(id, data) VALUES(?,?)`,
		&p.page[ToolText]: `INSERT INTO tool(id, data) VALUES(?,?)`,
	} {
		if *st, err = t.prepared(query); err != nil {
			return nil, err
		}
	}
	return &p, nil
}

type segmentStatements struct {
	begin, end *sql.Stmt
	page       [len(streams)]*sql.Stmt
}

// add writes a segment whose pages and root write gives.
func (p *segmentStatements) add(in Stream, oldest, newest int64, rows int, dead int64, write func(postings.Put) ([]byte, error)) error {
	res, err := p.begin.Exec(int(in), oldest, newest, rows, dead)
	if err != nil {
		return fmt.Errorf("add a segment: %w", err)
	}
	id, err := res.LastInsertId()
	if err != nil {
		return fmt.Errorf("add a segment: %w", err)
	}
	bytes := 0
	root, err := write(func(file postings.File, number uint32, page []byte) error {
		bytes += len(page)
		if _, err := p.page[in].Exec(pageID(id, file, number), page); err != nil {
			return fmt.Errorf("write a segment: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := p.end.Exec(bytes+len(root), root, id); err != nil {
		return fmt.Errorf("write a segment: %w", err)
	}
	return nil
}

// writeSegment writes the new rows of a stream as a segment. It runs where the
// queue does, or when that is empty.
func (t *Tx) writeSegment(in Stream) error {
	b := t.w.builders[in]
	if b.Len() == 0 {
		return nil
	}
	dead := t.buried[in]
	t.buried[in] = 0
	if t.w.building() {
		defer b.Reset()
	} else {
		// What one large session took is not kept for the small ones to come.
		t.w.builders[in] = postings.NewBuilder()
	}
	return t.put.add(in, b.Oldest(), b.Newest(), b.Len(), dead, func(put postings.Put) ([]byte, error) {
		return b.Flush(put, t.w.words.Add)
	})
}

// writeSegments writes the new rows of all streams.
func (t *Tx) writeSegments() error {
	if err := t.behind.settle(); err != nil {
		return err
	}
	for _, in := range streams {
		if err := t.writeSegment(in); err != nil {
			return err
		}
	}
	return nil
}

// segmentMeta is what is known of a segment without opening it.
type segmentMeta struct {
	id, oldest, newest int64
	rows, dead         int64
	bytes              int64
}

// segments lists the segments of a stream, the newest first.
func segments(ctx context.Context, tx *sql.Tx, in Stream) ([]segmentMeta, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, oldest, newest, rows, dead, bytes FROM segment WHERE stream = ? ORDER BY newest DESC`, int(in))
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	defer rows.Close()
	var out []segmentMeta
	for rows.Next() {
		var m segmentMeta
		if err := rows.Scan(&m.id, &m.oldest, &m.newest, &m.rows, &m.dead, &m.bytes); err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		out = append(out, m)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	return out, nil
}

// Neighbours of like size are merged when there are this many, so that a search
// looks into few and each row is written a few times only. While appending, what has become
// large is left as it is: who waits for a new line must not wait for a merge of seconds. A build
// merges all segments in the end.
const (
	liveSegments = 8
	bulkSegments = 12
	liveLevel    = 3 // segments below 16 MB
)

// level is the size of a segment in steps of a factor 8, from 32 KB.
func (m segmentMeta) level() int {
	n := 0
	for size := m.bytes >> 15; size > 0; size >>= 3 {
		n++
	}
	return n
}

// wasteful reports whether most rows of a segment are gone.
func (m segmentMeta) wasteful() bool { return m.rows > 64 && 2*m.dead > m.rows }

// crowd is the first group of neighbours, from the smallest on and up to a level, that are
// to be merged; none if there is none.
func crowd(list []segmentMeta, most, top int) []segmentMeta {
	for i, m := range list {
		if m.wasteful() {
			return list[i : i+1]
		}
	}
	for level := 0; level <= top; level++ {
		larger := false
		for from := 0; from < len(list); {
			if list[from].level() > level {
				larger = true
				from++
				continue
			}
			to := from
			for to < len(list) && list[to].level() <= level {
				to++
			}
			if to-from >= most {
				return list[from:to]
			}
			from = to
		}
		if !larger {
			break
		}
	}
	return nil
}

// compact merges small segments. What fails here, for want of space perhaps, fails
// the next transaction that needs it; this one is written.
func (w *Writer) compact(ctx context.Context) error {
	most, top := liveSegments, liveLevel
	if w.building() {
		most, top = bulkSegments, math.MaxInt8
	}
	for _, in := range streams {
		for {
			merged, err := w.merge(ctx, in, func(list []segmentMeta) []segmentMeta { return crowd(list, most, top) })
			if IsDamage(err) {
				return err
			}
			if err != nil || !merged {
				break
			}
		}
	}
	return nil
}

// mergeAll merges the segments of each stream into one, without the rows that are gone.
// What a TalkFirst build wrote and that was not replaced stays in one of its own.
func (w *Writer) mergeAll(ctx context.Context) error {
	return w.mergeWhile(ctx, func(list []segmentMeta) []segmentMeta {
		if len(list) == 1 && list[0].dead == 0 {
			return nil
		}
		return list
	})
}

// expunge writes every segment anew that has rows which are gone.
func (w *Writer) expunge(ctx context.Context) error {
	return w.mergeWhile(ctx, func(list []segmentMeta) []segmentMeta {
		i := slices.IndexFunc(list, func(m segmentMeta) bool { return m.dead > 0 })
		if i < 0 {
			return nil
		}
		return list[i : i+1]
	})
}

// mergeWhile merges as long as some are chosen.
func (w *Writer) mergeWhile(ctx context.Context, choose func([]segmentMeta) []segmentMeta) error {
	for _, in := range streams {
		for merged := true; merged; {
			var err error
			if merged, err = w.merge(ctx, in, choose); err != nil {
				return err
			}
		}
	}
	return nil
}

// merge merges the neighbours that are chosen from the segments of a stream, in a
// transaction of its own. Searches find the same before and after.
func (w *Writer) merge(ctx context.Context, in Stream, choose func([]segmentMeta) []segmentMeta) (merged bool, err error) {
	tx, err := w.db.Begin()
	if err != nil {
		return false, fmt.Errorf("merge segments: %w", err)
	}
	t := &Tx{tx: tx, w: w, stmts: map[string]*sql.Stmt{}}
	defer func() {
		if err != nil || !merged {
			if e := tx.Rollback(); e != nil && !errors.Is(e, sql.ErrTxDone) {
				err = errors.Join(err, fmt.Errorf("undo a merge: %w", e))
			}
		}
	}()
	all, err := segments(ctx, tx, in)
	if err != nil {
		return false, err
	}
	// What comes to lie between the rows of the two kinds of build is not known yet.
	talk := slices.IndexFunc(all, func(m segmentMeta) bool { return m.newest < firstTalkRow })
	if talk < 0 {
		talk = len(all)
	}
	list := choose(all[:talk])
	if len(list) == 0 {
		list = choose(all[talk:])
	}
	if len(list) == 0 {
		return false, nil
	}
	if err := t.mergeSegments(ctx, in, list); err != nil {
		return false, err
	}
	if err := tx.Commit(); err != nil {
		return false, fmt.Errorf("merge segments: %w", err)
	}
	w.trimLog()
	return true, nil
}

func (t *Tx) mergeSegments(ctx context.Context, in Stream, list []segmentMeta) error {
	from, to := list[len(list)-1].oldest, list[0].newest
	var alive func(row int64) bool
	if slices.ContainsFunc(list, func(m segmentMeta) bool { return m.dead > 0 }) {
		var err error
		if alive, err = aliveBetween(ctx, t.tx, from, to); err != nil {
			return err
		}
	}
	var err error
	if t.put, err = t.segmentWriters(); err != nil {
		return err
	}
	src, err := newPageSource(ctx, t.tx, in)
	if err != nil {
		return err
	}
	defer src.close()
	var open []*postings.Segment
	rows := 0
	for _, m := range list {
		s, err := openSegment(ctx, t.tx, m.id, src)
		if err != nil {
			return err
		}
		s.Gone = m.dead > 0
		open = append(open, s)
		s.EachRow(func(row int64) {
			if !s.Gone || alive(row) {
				rows++
			}
		})
	}
	if rows > 0 {
		err = t.put.add(in, from, to, rows, 0, func(put postings.Put) ([]byte, error) {
			return postings.Merge(ctx, open, alive, put)
		})
		if err != nil {
			return damaged(err)
		}
	}
	for _, m := range list {
		if err := t.dropSegment(in, m.id); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) dropSegment(in Stream, id int64) error {
	for _, q := range []string{`DELETE FROM ` + in.table() + ` WHERE id >= ?1 << 32 AND id < (?1 + 1) << 32`, `DELETE FROM segment WHERE id = ?1`} {
		if _, err := t.exec(q, id); err != nil {
			return err
		}
	}
	return nil
}

// aliveBetween tells which rows of a range belong to a session.
func aliveBetween(ctx context.Context, tx *sql.Tx, from, to int64) (func(row int64) bool, error) {
	var first sql.NullInt64
	if err := tx.QueryRowContext(ctx, `SELECT max(first) FROM span WHERE first <= ?`, from).Scan(&first); err != nil {
		return nil, fmt.Errorf("read row spans: %w", err)
	}
	if first.Valid {
		from = first.Int64
	}
	spans := newSpans(0)
	if err := spans.read(ctx, tx, from, to); err != nil {
		return nil, err
	}
	w := spans.Walk()
	return func(row int64) bool { _, ok := w.At(row); return ok }, nil
}

// bury counts rows of a stream that are gone with their segment, or with the one that
// will be written. Only segments of which that is known are searched with an eye to it.
func (t *Tx) bury(in Stream, from, to, rows int64) error {
	if rows == 0 {
		return nil
	}
	t.compact = true
	if _, err := t.exec(`UPDATE segment SET dead = dead + ? WHERE stream = ? AND oldest < ? AND newest >= ?`, rows, int(in), to, from); err != nil {
		return err
	}
	// The queue is empty now.
	if b := t.w.builders[in]; b.Len() > 0 && from <= b.Newest() && to > b.Oldest() {
		t.buried[in] += rows
	}
	return nil
}

// damaged says of malformed postings that the database is damaged.
func damaged(err error) error {
	if errors.Is(err, postings.ErrMalformed) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// openSegment reads the root of a segment.
func openSegment(ctx context.Context, tx *sql.Tx, id int64, from postings.Store) (*postings.Segment, error) {
	var root []byte
	if err := tx.QueryRowContext(ctx, `SELECT root FROM segment WHERE id = ?`, id).Scan(&root); err != nil {
		return nil, fmt.Errorf("open a segment: %w", err)
	}
	s, err := postings.Open(ctx, id, root, from)
	return s, damaged(err)
}

// pageSource reads pages of one stream in a transaction.
type pageSource struct{ st *sql.Stmt }

func newPageSource(ctx context.Context, tx *sql.Tx, in Stream) (*pageSource, error) {
	st, err := tx.PrepareContext(ctx, fmt.Sprintf(selectPage, in.table()))
	if err != nil {
		return nil, fmt.Errorf("read postings: %w", err)
	}
	return &pageSource{st}, nil
}

func (s *pageSource) close() { _ = s.st.Close() }

// Page implements postings.Store.
func (s *pageSource) Page(ctx context.Context, segment int64, file postings.File, number uint32) ([]byte, error) {
	return scanPage(s.st.QueryRowContext(ctx, pageID(segment, file, number)))
}

const selectPage = `SELECT data FROM %s WHERE id = ?`

// scanPage is the page that selectPage finds, nil if there is none.
func scanPage(row *sql.Row) (page []byte, err error) {
	if err := row.Scan(&page); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	return page, nil
}
