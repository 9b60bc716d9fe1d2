package requests

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
	"time"

	"github.com/mattn/go-sqlite3"
)

// Kind is what is asked for.
type Kind string

// The kinds of requests. Argument and Result are JSON that only the two sides
// know.
const (
	// Reconcile asks for a pass over everything that begins after the request.
	Reconcile Kind = "reconcile"
	// Full asks for the same, reading everything anew.
	Full Kind = "full"
	// Clear asks for the index to be deleted and begun anew.
	Clear Kind = "clear"
	// Policy tells that the policy was changed: what runs by the old one ends.
	Policy Kind = "policy"
	// Forget asks for a session to be dropped; its argument names it.
	Forget Kind = "forget"
)

// State is how far a request is.
type State int

// The states of a request.
const (
	Posted    State = iota
	Taken           // the writer knows it
	Done            // and has done it, or failed to
	Withdrawn       // nobody waits for it, or nobody will do it
)

// Request is one request as its taker sees it.
type Request struct {
	ID       int64
	Kind     Kind
	Argument string
}

// Answer is a request as its asker sees it. What the taker failed with is in
// Code, a code of the contract, and Message; both are empty if it did not.
type Answer struct {
	State         State
	Result        string
	Code, Message string
}

const (
	// version is raised when the table changes.
	version = 1
	// busy is how long a lock of another process is waited for: transactions
	// here take less than a millisecond, so whoever holds one longer was stopped.
	busy = 150 * time.Millisecond
	// stale is how old a posted request may be when it is taken. Its asker has
	// long helped itself, or is dead: a clear that nobody waits for any more must
	// not come out of the blue.
	stale = 5 * time.Second
	// kept is how many requests are kept; older ones are deleted.
	kept = 256
)

const schema = `CREATE TABLE request(
  id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, argument TEXT NOT NULL, asked INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0, taker TEXT NOT NULL DEFAULT '',
  result TEXT NOT NULL DEFAULT '', code TEXT NOT NULL DEFAULT '', message TEXT NOT NULL DEFAULT '')`

// ErrNewer is returned for a database of a later version of sessionls, which
// is left alone.
var ErrNewer = errors.New("the requests are those of a later version of sessionls")

// Box is the open database. It is opened for one errand and closed again.
type Box struct {
	db *sql.DB
}

// Open opens the database and creates it if there is none. One that is damaged
// or of an earlier version is set aside, in place of one that was before, and
// begun anew: what was asked there is not answered, and the askers help
// themselves.
func Open(ctx context.Context, path string) (*Box, error) {
	was, _ := os.Stat(path)
	b, err := open(ctx, path)
	if !errors.Is(err, errUnusable) {
		return b, err
	}
	// Another process may have been faster.
	if now, err := os.Stat(path); err == nil && was != nil && os.SameFile(was, now) {
		if err := setAside(path); err != nil {
			return nil, err
		}
	}
	return open(ctx, path)
}

// Damaged is where a database that could not be used is kept.
func Damaged(path string) string { return path + ".damaged" }

// setAside keeps a database for a person to look into. The journal goes first:
// it would be taken for that of the next one.
func setAside(path string) error {
	if err := os.Remove(path + "-journal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set the requests aside: %w", err)
	}
	if err := os.Rename(path, Damaged(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set the requests aside: %w", err)
	}
	return nil
}

// errUnusable says that the file cannot become good by itself.
var errUnusable = errors.New("the requests cannot be read")

func open(ctx context.Context, path string) (*Box, error) {
	// Created with its final mode; never opened but by SQLite when it is there,
	// because closing it would give up SQLite's locks in this process.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("open the requests: %w", err)
	}
	db, err := sql.Open("sqlite3", dsn(path))
	if err != nil {
		return nil, fmt.Errorf("open the requests: %w", err)
	}
	db.SetMaxOpenConns(1)
	b := &Box{db: db}
	if err := b.prepare(ctx); err != nil {
		return nil, errors.Join(unusable(fmt.Errorf("open the requests: %w", err)), db.Close())
	}
	return b, nil
}

// dsn names the database for the driver, which reads a path as a URI.
func dsn(path string) string {
	q := url.Values{}
	q.Set("mode", "rw")
	q.Set("_busy_timeout", fmt.Sprint(busy.Milliseconds()))
	q.Set("_journal_mode", "TRUNCATE")
	q.Set("_synchronous", "OFF")
	q.Set("_txlock", "immediate")
	escaped := (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	return "file:" + strings.ReplaceAll(escaped, "?", "%3F") + "?" + q.Encode()
}

func (b *Box) prepare(ctx context.Context) error {
	known, err := b.version(ctx)
	if err != nil {
		return err
	}
	if known == version {
		// It is a few pages; damage must show before something is entrusted to it.
		// The table is looked for in the schema: to name it here would fail if
		// another process has just made it and holds the lock.
		var verdict, table string
		err := b.db.QueryRowContext(ctx, `SELECT quick_check, coalesce((SELECT sql FROM sqlite_schema WHERE name = 'request'), '') FROM pragma_quick_check LIMIT 1`).Scan(&verdict, &table)
		switch {
		case err != nil:
			return err
		case verdict != "ok" || table != schema:
			return fmt.Errorf("%w: %s", errUnusable, verdict)
		}
		return nil
	}
	return b.update(ctx, func(tx *sql.Tx) error {
		var known, tables int
		if err := tx.QueryRow(`SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version`).Scan(&known, &tables); err != nil {
			return err
		}
		switch {
		case known == version: // another process was faster
			return nil
		case tables > 0:
			return errUnusable
		}
		if _, err := tx.Exec(schema); err != nil {
			return err
		}
		_, err := tx.Exec(fmt.Sprintf(`PRAGMA user_version = %d`, version))
		return err
	})
}

func (b *Box) version(ctx context.Context) (n int, err error) {
	if err := b.db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&n); err != nil {
		return 0, err
	}
	if n > version {
		return n, ErrNewer
	}
	return n, nil
}

// unusable marks an error that says that the file itself is broken.
func unusable(err error) error {
	var e sqlite3.Error
	if errors.As(err, &e) && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB || e.Code == sqlite3.ErrFormat) {
		return fmt.Errorf("%w: %w", errUnusable, err)
	}
	return err
}

// Close ends the errand.
func (b *Box) Close() error {
	if err := b.db.Close(); err != nil {
		return fmt.Errorf("close the requests: %w", err)
	}
	return nil
}

// update runs f in a transaction. It is not tied to a context: one that is
// cancelled would be rolled back in the midst, and it is short.
func (b *Box) update(ctx context.Context, f func(*sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := b.db.Begin()
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Post asks for something and returns the number of the request.
func (b *Box) Post(ctx context.Context, kind Kind, argument string) (id int64, err error) {
	err = b.update(ctx, func(tx *sql.Tx) error {
		res, err := tx.Exec(`INSERT INTO request(kind, argument, asked) VALUES(?, ?, ?)`, kind, argument, time.Now().UnixMilli())
		if err != nil {
			return err
		}
		if id, err = res.LastInsertId(); err != nil {
			return err
		}
		_, err = tx.Exec(`DELETE FROM request WHERE id <= ?`, id-kept)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("post a request: %w", err)
	}
	return id, nil
}

// Look is how far a request is. One that is not there any more counts as
// withdrawn.
func (b *Box) Look(ctx context.Context, id int64) (Answer, error) {
	var a Answer
	err := b.db.QueryRowContext(ctx, `SELECT state, result, code, message FROM request WHERE id = ?`, id).Scan(&a.State, &a.Result, &a.Code, &a.Message)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Answer{State: Withdrawn}, nil
	case err != nil:
		return a, fmt.Errorf("look for an answer: %w", err)
	}
	return a, nil
}

// Withdraw ends a request that is not done: its taker will not begin with it.
func (b *Box) Withdraw(ctx context.Context, id int64) error {
	return b.set(ctx, `UPDATE request SET state = ?1 WHERE id = ?2 AND state < ?3`, Withdrawn, id, Done)
}

// Take takes all that is asked for, also what an earlier writer has taken and
// not done, in the order in which it was asked for. What is stale is withdrawn.
func (b *Box) Take(ctx context.Context, taker string) (out []Request, err error) {
	// Most looks find nothing, and must write nothing.
	var open bool
	if err := b.db.QueryRowContext(ctx, `SELECT EXISTS(SELECT 1 FROM request WHERE state = ?1 OR state = ?2 AND taker <> ?3)`, Posted, Taken, taker).Scan(&open); err != nil || !open {
		return nil, wrap(err, "look for requests")
	}
	err = b.update(ctx, func(tx *sql.Tx) error {
		now, age := time.Now().UnixMilli(), stale.Milliseconds()
		if _, err := tx.Exec(`UPDATE request SET state = ? WHERE (state = ? OR state = ? AND taker <> ?) AND asked NOT BETWEEN ? AND ?`,
			Withdrawn, Posted, Taken, taker, now-age, now+age); err != nil {
			return err
		}
		rows, err := tx.Query(`SELECT id, kind, argument FROM request WHERE state = ? OR state = ? AND taker <> ? ORDER BY id`, Posted, Taken, taker)
		if err != nil {
			return err
		}
		for rows.Next() {
			var r Request
			if err := rows.Scan(&r.ID, &r.Kind, &r.Argument); err != nil {
				return errors.Join(err, rows.Close())
			}
			out = append(out, r)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE request SET state = ?1, taker = ?2 WHERE state = ?3 OR state = ?1 AND taker <> ?2`, Taken, taker, Posted)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take requests: %w", err)
	}
	return out, nil
}

// Waits reports whether a request that was taken is still waited for: to be
// asked under the writer's lock, right before what cannot be undone.
func (b *Box) Waits(ctx context.Context, taker string, id int64) (is bool, err error) {
	err = b.db.QueryRowContext(ctx, `SELECT EXISTS(SELECT 1 FROM request WHERE id = ? AND state = ? AND taker = ?)`, id, Taken, taker).Scan(&is)
	return is, wrap(err, "look for a request")
}

// Finish answers requests. Those that were withdrawn or that another has taken
// meanwhile are left alone. The state of a is Done, or Posted to give them back.
func (b *Box) Finish(ctx context.Context, taker string, ids []int64, a Answer) error {
	return wrap(b.update(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			if _, err := tx.Exec(`UPDATE request SET state = ?, result = ?, code = ?, message = ? WHERE id = ? AND state = ? AND taker = ?`,
				a.State, a.Result, a.Code, a.Message, id, Taken, taker); err != nil {
				return err
			}
		}
		return nil
	}), "answer requests")
}

func (b *Box) set(ctx context.Context, query string, args ...any) error {
	return wrap(b.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}), "change a request")
}

func wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
