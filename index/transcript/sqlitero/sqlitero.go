// Package sqlitero opens the SQLite stores of other programs for reading,
// without leaving a trace beside them and without getting in their way.
//
// The hazards are those of formats.md §2.6: a driver creates a file that is
// missing; a read-only connection to a database in WAL mode still creates its
// -shm and -wal; immutable=1 avoids that, but ignores what stands in the WAL;
// a long read transaction keeps the owner from checkpointing.
package sqlitero

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
)

// MaxCopy is the size in bytes, database and log together, up to which a
// store that cannot be read in place is read from a private copy.
const MaxCopy = 256 << 20

// busyTimeout is how long, in milliseconds, a statement waits for a lock of
// the owner. The driver does not end this wait when a context is cancelled.
const busyTimeout = 3000

// How a database was opened.
type mode uint8

const (
	immutable mode = iota // nobody writes: no locks, no side files
	readOnly              // beside its owner, under SQLite's own locks
	copied                // a private copy
)

// DB is a store opened for reading. It holds one connection and must be closed.
type DB struct {
	db     *sql.DB
	path   string
	mode   mode
	before string // state of the database file when it was opened
	tmp    string // folder of the private copy
	// release gives a shared copy back instead of closing it.
	release func()
}

// Open opens the SQLite database at path, which must be a regular file (or a
// link to one); an error wraps fs.ErrNotExist when there is none. The database
// is probed, so a file that is no database, is encrypted or is damaged at its
// head is refused here. Nothing is written: with an empty or absent -wal the
// file is opened immutable (ask Unchanged after reading); with a live -wal and
// its -shm it is opened under SQLite's own read locks, which touches the -shm
// alone; a -wal without -shm (a crash, a backup) is read from a private copy,
// unless it is larger than MaxCopy.
func Open(ctx context.Context, path string) (*DB, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// SQLite looks for the side files beside the file a link points to.
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open database %s: not a regular file", path)
	}
	d := &DB{path: real, before: state(real)}
	wal, journal := size(real+"-wal"), size(real+"-journal")
	switch {
	case wal <= 0 && journal <= 0:
		d.mode = immutable
	case wal > 0 && size(real+"-shm") < 0 && info.Size()+wal <= MaxCopy:
		d.mode = copied
	default:
		d.mode = readOnly
	}
	if d.mode != copied {
		err = d.connect(ctx, dsn(real, d.mode))
		if err == nil {
			return d, nil
		}
		if d.mode == immutable || ctx.Err() != nil || info.Size()+max(wal, 0)+max(journal, 0) > MaxCopy {
			return nil, fmt.Errorf("open database %s: %w", path, err)
		}
		// A folder without write permission, a read-only mount, a lock that
		// shuts readers out.
	}
	if cerr := d.openCopy(ctx); cerr != nil {
		return nil, fmt.Errorf("open database %s: %w", path, errors.Join(err, cerr))
	}
	return d, nil
}

// connect opens the file and reads its schema once.
func (d *DB) connect(ctx context.Context, name string) error {
	db, err := sql.Open("sqlite3", name)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	var n int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&n); err != nil {
		db.Close()
		return err
	}
	d.db = db
	return nil
}

// dsn is the driver's name for a file; only the file: form with an escaped
// path honours mode=ro (libraries.md §5).
func dsn(path string, m mode) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/… is spelled file:///C:/…
	}
	access := "mode=ro"
	switch m {
	case immutable:
		access = "mode=ro&immutable=1"
	case copied:
		access = "mode=rw"
	}
	return "file://" + (&url.URL{Path: p}).EscapedPath() + "?" + access + fmt.Sprintf("&_query_only=1&_busy_timeout=%d&_cache_size=-8192&_stmt_cache_size=16", busyTimeout)
}

// Close ends the connection and removes the private copy, if there was one.
func (d *DB) Close() error {
	if d.release != nil {
		d.release()
		return nil
	}
	var err error
	if d.db != nil {
		err = d.db.Close()
	}
	if d.tmp != "" {
		err = errors.Join(err, os.RemoveAll(d.tmp))
	}
	return err
}

// Query runs a query. The rows must be closed before the next query: there is
// one connection, and an open result keeps the owner from checkpointing.
func (d *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return d.db.QueryContext(ctx, query, args...)
}

// QueryRow runs a query of one row.
func (d *DB) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	return d.db.QueryRowContext(ctx, query, args...)
}

// Columns returns the names of a table's columns; none when there is no such
// table. Stores change their schema between versions of the agent: a reader
// asks for the columns it can do without.
func (d *DB) Columns(ctx context.Context, table string) (map[string]bool, error) {
	rows, err := d.db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, fmt.Errorf("read columns of %s: %w", table, err)
	}
	defer rows.Close()
	out := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("read columns of %s: %w", table, err)
		}
		out[strings.ToLower(name)] = true
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read columns of %s: %w", table, err)
	}
	return out, nil
}

// Unchanged reports whether what was read since Open is one consistent state:
// false when the file was written to while it was read without locks, so that
// the reading must be repeated.
func (d *DB) Unchanged() bool {
	return d.mode != immutable || state(d.path) == d.before
}

// size is the length of a file, -1 when there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// state tells one content of a file from another.
func state(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "-"
		}
		return "?"
	}
	return fmt.Sprintf("%d:%d", info.Size(), info.ModTime().UnixNano())
}
