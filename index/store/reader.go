package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/sessionls/sessionls/index/vocabulary"
)

// Reader answers questions about the index. It is safe for concurrent use.
type Reader struct {
	db   *sql.DB
	path string
	file os.FileInfo

	mu    sync.Mutex
	spans *Spans
	times times

	recent recent

	wordsMu sync.Mutex
	words   map[int64]*vocabulary.Chunk // by row, as far as a search needed them
}

// times are the sessions' times at a generation.
type times struct {
	generation int64
	of         map[int64]Times
}

// OpenReader opens the index read-only; it must exist.
func OpenReader(ctx context.Context, path string) (*Reader, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open the index: %w", err)
	}
	db := openDB(path, false)
	n := min(max(runtime.NumCPU(), 4), 8)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	if err := checkVersion(ctx, db); err != nil {
		db.Close()
		return nil, err
	}
	return &Reader{db: db, path: path, file: info}, nil
}

// File is the database that was opened, as it was found then.
func (r *Reader) File() os.FileInfo { return r.file }

// Replaced reports whether the database at the path is no longer the one that
// was opened: another process cleared or rebuilt it.
func (r *Reader) Replaced() bool {
	info, err := os.Stat(r.path)
	return err != nil || !os.SameFile(info, r.file)
}

// Close closes the reader. Snapshots must be closed before.
func (r *Reader) Close() error {
	if err := r.db.Close(); err != nil {
		return fmt.Errorf("close the index: %w", err)
	}
	return nil
}

// Snapshot is one consistent view of the index. It holds a connection and pins
// the log, so it is short-lived: close it as soon as the answer is built.
type Snapshot struct {
	r          *Reader
	tx         *sql.Tx
	Generation int64
	Identity   string
	Spans      *Spans
}

// Snapshot opens a view of the index as it is now.
func (r *Reader) Snapshot(ctx context.Context) (*Snapshot, error) {
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	s := &Snapshot{r: r, tx: tx}
	var deletes int64
	err = tx.QueryRowContext(ctx, `SELECT (SELECT value FROM meta WHERE key='generation'), (SELECT value FROM meta WHERE key='identity'), (SELECT value FROM meta WHERE key='span_deletes')`).
		Scan(&s.Generation, &s.Identity, &deletes)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the index: %w", err), s.Close())
	}
	r.mu.Lock()
	cached := r.spans
	r.mu.Unlock()
	if s.Spans, err = loadSpans(ctx, tx, cached, deletes); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.Spans != cached {
		r.mu.Lock()
		// A snapshot taken meanwhile may know more; spans beyond a view do no
		// harm, missing ones do.
		if r.spans == cached {
			r.spans = s.Spans
		}
		r.mu.Unlock()
	}
	return s, nil
}

// Close ends the view.
func (s *Snapshot) Close() error {
	if err := s.tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("end reading the index: %w", err)
	}
	return nil
}

// Rows lists the rows of a stream that match, newest (highest) first: at most
// limit of those not below from and below before.
//
// The ids come as one text: a row fetched through database/sql costs half a
// microsecond, forty times what the list costs here. They are counted from firstRow, which
// makes the text a third shorter.
func (s *Snapshot) Rows(ctx context.Context, in Stream, e Expr, from, before int64, limit int) ([]int64, error) {
	if e.IsZero() || limit <= 0 {
		return nil, nil
	}
	var list sql.NullString
	table := in.table()
	err := s.tx.QueryRowContext(ctx, `SELECT group_concat(rowid - ?) FROM (SELECT rowid FROM `+table+` WHERE `+table+` MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT ?)`,
		firstRow, e.s, from, before, limit).Scan(&list)
	if err != nil {
		return nil, fmt.Errorf("search the full-text index: %w", err)
	}
	if list.String == "" {
		return nil, nil
	}
	return rowsOf(list.String), nil
}

// rowsOf reads whole numbers with commas in between, as SQLite writes them.
func rowsOf(list string) []int64 {
	out := make([]int64, 0, strings.Count(list, ",")+1)
	n, below := int64(0), false
	end := func() {
		if below {
			n = -n
		}
		out = append(out, firstRow+n)
		n, below = 0, false
	}
	for i := range len(list) {
		switch c := list[i]; c {
		case ',':
			end()
		case '-':
			below = true
		default:
			n = 10*n + int64(c-'0')
		}
	}
	end()
	return out
}

// PrefixPages is about how many pages of a stream's full-text index hold the
// words that begin with a prefix. It costs next to nothing: FTS5 notes with
// which term a page begins (https://sqlite.org/fts5.html, in the source at "The
// %_idx table": a term with the prefix '0', twice the page's number and a flag).
func (s *Snapshot) PrefixPages(ctx context.Context, in Stream, prefix string) (int64, error) {
	idx := in.table() + "_idx"
	before := `coalesce((SELECT pgno FROM ` + idx + ` WHERE segid = id AND term < ? ORDER BY term DESC LIMIT 1)/2, 1)`
	var n int64
	err := s.tx.QueryRowContext(ctx, `WITH RECURSIVE segment(id) AS (SELECT min(segid) FROM `+idx+` UNION ALL SELECT (SELECT min(segid) FROM `+idx+` WHERE segid > id) FROM segment WHERE id IS NOT NULL)
		SELECT coalesce(sum(`+before+` - `+before+`), 0) FROM segment WHERE id IS NOT NULL`, []byte("0"+prefix+"\xff"), []byte("0"+prefix)).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("look at the full-text index: %w", err)
	}
	return n, nil
}
