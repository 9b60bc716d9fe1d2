package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/sessionls/sessionls/index/postings"
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
	lists  openLists

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

	mu   sync.Mutex
	open [len(streams)][]*postings.Segment
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
