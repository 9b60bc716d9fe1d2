package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sessionls/sessionls/index/analysis"
	"github.com/sessionls/sessionls/index/postings"
	"github.com/sessionls/sessionls/index/vocabulary"
)

// Writer changes the index. Only the process that holds the index lock may
// have one; its methods are for one goroutine.
type Writer struct {
	db       *sql.DB
	path     string
	analyzer *analysis.Analyzer
	words    *vocabulary.Set
	builders [len(streams)]*postings.Builder
	mode     Mode
	nextTrim int64 // size of the log below which trimLog is not tried again
}

// OpenWriter opens the index for writing and creates it if there is none.
// ErrForeign and ErrDamaged say that it must be set aside first.
func OpenWriter(ctx context.Context, path string) (*Writer, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the index folder: %w", err)
	}
	// The file holds private conversations: created with its final mode, never
	// for an instant readable by others. One that is there must not be opened
	// here: closing it would give up all locks that SQLite holds on it for this
	// process, and the next process that ends would delete the log under it.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("open the index: %w", err)
	}
	db := openDB(path, true)
	db.SetMaxOpenConns(1)
	w := &Writer{db: db, path: path, analyzer: analysis.New(), words: vocabulary.NewSet()}
	if err := create(ctx, db); err != nil {
		db.Close()
		if IsDamage(err) {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil, err
	}
	if err := checkVersion(ctx, db); err != nil {
		db.Close()
		return nil, err
	}
	if _, err := db.Exec(`PRAGMA journal_size_limit = 16777216`); err != nil {
		db.Close()
		return nil, fmt.Errorf("open the index: %w", err)
	}
	w.renewBuilders()
	return w, nil
}

// Close ends writing.
func (w *Writer) Close() error {
	if err := w.db.Close(); err != nil {
		return fmt.Errorf("close the index: %w", err)
	}
	return nil
}

// Mode is what writing is for.
type Mode uint8

const (
	// Live appends: row ids go upwards, each transaction is small and waited for.
	Live Mode = iota
	// Bulk is a first build, newest sessions first: row ids go downwards in batches.
	Bulk
	// TalkFirst is a part of a first build that leaves out the tools' text, to be
	// replaced soon by what Bulk writes. Its row ids go downwards below all those of Bulk.
	TalkFirst
)

// SetMode changes what is written from now on. A writer begins as Live.
func (w *Writer) SetMode(m Mode) {
	w.mode = m
	w.renewBuilders()
}

func (w *Writer) building() bool { return w.mode != Live }

// renewBuilders gives back the memory of large transactions.
func (w *Writer) renewBuilders() {
	for _, in := range streams {
		w.builders[in] = postings.NewBuilder()
	}
}

// Finish ends a bulk build: the segments are merged into one of each stream, the space
// of the old ones is given back and the log is folded into the database.
func (w *Writer) Finish(ctx context.Context) error {
	w.SetMode(Live)
	if err := w.mergeAll(ctx); err != nil {
		return err
	}
	if err := w.sweepSeen(ctx); err != nil {
		return err
	}
	if err := w.shrink(ctx); err != nil {
		return err
	}
	return w.checkpoint()
}

// Scrub removes the last traces of what was dropped: its words from the
// segments and the vocabulary, its bytes from free pages and from the
// log. It takes about as long as reading the index.
func (w *Writer) Scrub(ctx context.Context) error {
	if err := w.expunge(ctx); err != nil {
		return err
	}
	if err := w.renewWords(ctx); err != nil {
		return err
	}
	if err := w.sweepSeen(ctx); err != nil {
		return err
	}
	if err := w.shrink(ctx); err != nil {
		return err
	}
	return w.checkpoint()
}

// shrink gives free pages back to the file system. The pragma frees a page at
// each step, so it is read to its end.
func (w *Writer) shrink(ctx context.Context) error {
	rows, err := w.db.QueryContext(ctx, `PRAGMA incremental_vacuum`)
	if err != nil {
		return fmt.Errorf("shrink the index: %w", err)
	}
	for rows.Next() {
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("shrink the index: %w", err)
	}
	return nil
}

func (w *Writer) checkpoint() error {
	if _, err := w.db.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return fmt.Errorf("fold the log into the index: %w", err)
	}
	return nil
}

// Update runs f in one transaction. What f changed is visible to readers all
// at once, or not at all when f or the commit fails. The generation moves when
// f called Changed or wrote sessions.
func (w *Writer) Update(ctx context.Context, f func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// Not BeginTx(ctx): a cancelled write inside a transaction rolls it back
	// and lets later statements run on their own (libraries.md §5).
	tx, err := w.db.Begin()
	if err != nil {
		return fmt.Errorf("start writing to the index: %w", err)
	}
	t := &Tx{tx: tx, w: w, stmts: map[string]*sql.Stmt{}, now: time.Now()}
	defer t.behind.end()
	if err := t.begin(); err != nil {
		return errors.Join(err, t.rollback())
	}
	if err := f(t); err != nil {
		return errors.Join(err, t.rollback())
	}
	if err := t.writeSegments(); err != nil {
		return errors.Join(err, t.rollback())
	}
	if err := t.keepWords(); err != nil {
		return errors.Join(err, t.rollback())
	}
	if err := t.behind.settle(); err != nil {
		return errors.Join(err, t.rollback())
	}
	if t.changed {
		if _, err := t.exec(`UPDATE meta SET value = value + 1 WHERE key = 'generation'`); err != nil {
			return errors.Join(err, t.rollback())
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("write to the index: %w", errors.Join(err, t.rollback()))
	}
	w.trimLog()
	if t.compact {
		if err := w.compact(ctx); err != nil {
			return err
		}
	}
	if t.purged {
		// Give the space back; what is rewritten all the time keeps its own.
		return w.shrink(ctx)
	}
	return nil
}

// Tx is one write transaction.
type Tx struct {
	tx      *sql.Tx
	w       *Writer
	stmts   map[string]*sql.Stmt
	now     time.Time
	changed bool
	purged  bool // sources were dropped
	behind  behind
	put     *segmentStatements
	blocks  blockStatements
	buried  [len(streams)]int64 // rows of the builders that are gone
	compact bool                // segments may have to be merged
	adopted *bool               // some fork has its parent's text as its own; nil if not known yet

	nextRow  int64
	rowLimit int64 // end of the reserved batch; 0 for live appends
}

func (t *Tx) rollback() error {
	t.behind.open.Wait()
	t.w.words.Reset()
	for _, b := range t.w.builders {
		b.Reset()
	}
	if err := t.tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("undo a write to the index: %w", err)
	}
	return nil
}

// begin reserves the transaction's row ids.
func (t *Tx) begin() error {
	if t.w.building() {
		counter := "bulk_low"
		if t.w.mode == TalkFirst {
			counter = "talk_low"
		}
		var low int64
		if err := t.tx.QueryRow(`UPDATE meta SET value = value - ? WHERE key = ? RETURNING value`, batchRows, counter).Scan(&low); err != nil {
			return fmt.Errorf("reserve row ids: %w", err)
		}
		t.nextRow, t.rowLimit = low, low+batchRows
		return nil
	}
	return t.live()
}

// live continues above the highest row id in use.
func (t *Tx) live() error {
	var next sql.NullInt64
	tx, err := t.look()
	if err != nil {
		return err
	}
	// Not only above those in use: segments have rows that are gone, and must not overlap.
	err = tx.QueryRow(`SELECT max(coalesce((SELECT first + length(info)/2 FROM span ORDER BY first DESC LIMIT 1), 0), coalesce((SELECT max(newest) + 1 FROM segment), 0))`).Scan(&next)
	if err != nil {
		return fmt.Errorf("reserve row ids: %w", err)
	}
	t.nextRow, t.rowLimit = max(next.Int64, firstRow), 0
	return nil
}

func (t *Tx) row() (int64, error) {
	if t.rowLimit != 0 && t.nextRow >= t.rowLimit {
		// A batch beyond a million rows goes on above, in segments of its own.
		if err := t.writeSegments(); err != nil {
			return 0, err
		}
		if err := t.live(); err != nil {
			return 0, err
		}
	}
	r := t.nextRow
	t.nextRow++
	return r, nil
}

// Changed makes the commit move the generation.
func (t *Tx) Changed() { t.changed = true }

func (t *Tx) exec(query string, args ...any) (sql.Result, error) {
	st, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	res, err := st.Exec(args...)
	if err != nil {
		return nil, fmt.Errorf("write to the index: %w", err)
	}
	return res, nil
}

// stmt is a prepared statement for looking at what was written so far.
func (t *Tx) stmt(query string) (*sql.Stmt, error) {
	if err := t.behind.settle(); err != nil {
		return nil, err
	}
	return t.prepared(query)
}

func (t *Tx) prepared(query string) (*sql.Stmt, error) {
	if st := t.stmts[query]; st != nil {
		return st, nil
	}
	// Not while a write is running: the connection is one.
	tx, err := t.look()
	if err != nil {
		return nil, err
	}
	st, err := tx.Prepare(query)
	if err != nil {
		return nil, fmt.Errorf("prepare a write to the index: %w", err)
	}
	t.stmts[query] = st
	return st, nil
}
