package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mattn/go-sqlite3"

	"github.com/sessionls/sessionls/index/analysis"
)

// schemaVersion is raised when the tables or the meaning of their contents
// change; a database of another version is set aside and rebuilt.
const schemaVersion = 11

// textVersion is raised when the same events become other rows or other kept
// text: how long rows are, how output is reduced.
const textVersion = 1

// terms names the rules by which text became terms; a query by other rules
// would miss what is there.
func terms() string { return fmt.Sprintf("%d.%d", analysis.Version, textVersion) }

// firstRow is where row ids start: bulk batches below, live appends above. Batches of
// a TalkFirst build lie below firstTalkRow.
const (
	firstRow     = int64(1) << 40
	firstTalkRow = firstRow / 2
)

// batchRows is how many row ids a bulk batch reserves.
const batchRows = int64(1) << 20

// talk and tool are the pages of the segments of these streams; see package postings.
const schema = `
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE source(
  id INTEGER PRIMARY KEY, agent TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, root TEXT NOT NULL,
  hint_id TEXT NOT NULL, class INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL, signature TEXT NOT NULL,
  state TEXT NOT NULL, fails INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',
  bytes INTEGER NOT NULL DEFAULT 0, head INTEGER NOT NULL DEFAULT 0, tail INTEGER NOT NULL DEFAULT 0, sum BLOB, carry BLOB,
  version INTEGER NOT NULL DEFAULT 0, bad INTEGER NOT NULL DEFAULT 0, torn INTEGER NOT NULL DEFAULT 0, partial TEXT NOT NULL DEFAULT '',
  UNIQUE(agent, path, key)
);
CREATE INDEX source_hint ON source(agent, hint_id);
CREATE INDEX source_count ON source(agent, state, fails, bad, version);
CREATE TABLE session(
  id INTEGER PRIMARY KEY AUTOINCREMENT, agent TEXT NOT NULL, sid TEXT NOT NULL, source INTEGER NOT NULL,
  title TEXT NOT NULL, title_source TEXT NOT NULL, title_at INTEGER NOT NULL DEFAULT 0, cwd TEXT, cwd_key TEXT NOT NULL, cwd_fold TEXT NOT NULL, repo_fold TEXT NOT NULL,
  path TEXT NOT NULL, path_fold TEXT NOT NULL, branch TEXT, model TEXT, models TEXT NOT NULL, repo_url TEXT,
  created INTEGER, updated INTEGER, grown INTEGER NOT NULL, messages INTEGER NOT NULL, events INTEGER NOT NULL,
  relation TEXT NOT NULL, parent TEXT, parent_event TEXT, evidence TEXT, inherited INTEGER NOT NULL, inherited_known INTEGER NOT NULL,
  inherited_ids BLOB, adopted_ids BLOB, depth INTEGER NOT NULL, automated INTEGER NOT NULL, entrypoint TEXT NOT NULL, format TEXT NOT NULL,
  warnings TEXT NOT NULL, presence TEXT NOT NULL, epoch INTEGER NOT NULL, surfaces BLOB, head_row INTEGER NOT NULL, head_text TEXT NOT NULL,
  UNIQUE(agent, sid)
);
CREATE INDEX session_source ON session(source);
CREATE INDEX session_count ON session(agent, events);
CREATE INDEX session_absent ON session(source, presence) WHERE presence <> 'present';
CREATE INDEX session_updated ON session(updated);
CREATE INDEX session_parent ON session(agent, parent) WHERE parent IS NOT NULL;
CREATE TABLE place(session INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY(session, key)) WITHOUT ROWID;
CREATE INDEX place_key ON place(key);
CREATE TABLE file(session INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY(session, path)) WITHOUT ROWID;
CREATE TABLE block(id INTEGER PRIMARY KEY, session INTEGER NOT NULL, first_seq INTEGER NOT NULL, first_row INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX block_session ON block(session, first_seq);
CREATE INDEX block_row ON block(session, first_row);
CREATE TABLE more(id INTEGER PRIMARY KEY, block INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX more_block ON more(block);
CREATE TABLE body(id INTEGER PRIMARY KEY, block INTEGER NOT NULL, at INTEGER NOT NULL, hash INTEGER NOT NULL);
CREATE INDEX body_block ON body(block);
CREATE TABLE borrowed(session INTEGER NOT NULL, body INTEGER NOT NULL, PRIMARY KEY(session, body)) WITHOUT ROWID;
CREATE INDEX borrowed_body ON borrowed(body);
CREATE TABLE seen(hash INTEGER PRIMARY KEY, place INTEGER NOT NULL);
CREATE TABLE span(first INTEGER PRIMARY KEY, session INTEGER NOT NULL, info BLOB NOT NULL);
CREATE INDEX span_session ON span(session);
CREATE TABLE unspan(n INTEGER PRIMARY KEY, first INTEGER NOT NULL);
CREATE TABLE vocabulary(id INTEGER PRIMARY KEY AUTOINCREMENT, size INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE segment(id INTEGER PRIMARY KEY AUTOINCREMENT, stream INTEGER NOT NULL, oldest INTEGER NOT NULL, newest INTEGER NOT NULL,
  rows INTEGER NOT NULL, dead INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL, root BLOB NOT NULL);
CREATE TABLE talk(id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE tool(id INTEGER PRIMARY KEY, data BLOB NOT NULL);
`

// dsn builds a data source name. The path is escaped because the driver parses
// it as a URI ("%41", "?" and "#" are legal in file names), and mode=ro is only
// honoured with the file: prefix.
func dsn(path string, writer bool) string {
	q := url.Values{}
	q.Set("_busy_timeout", "5000")
	q.Set("_stmt_cache_size", "64")
	if writer {
		q.Set("_journal_mode", "WAL")
		q.Set("_synchronous", "NORMAL")
		q.Set("_auto_vacuum", "incremental")
		// A deferred transaction that reads before it writes fails at once with
		// BUSY_SNAPSHOT when another writer was in between.
		q.Set("_txlock", "immediate")
		q.Set("_cache_size", "-8192")
		// What was deleted must not be read from the rest of a page (Scrub); pages
		// that are free altogether are given back.
		q.Set("_secure_delete", "FAST")
	} else {
		q.Set("mode", "ro")
		q.Set("_query_only", "1")
		q.Set("_cache_size", "-8192")
	}
	escaped := (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	return "file:" + strings.ReplaceAll(escaped, "?", "%3F") + "?" + q.Encode()
}

// create makes the tables of an empty database in one transaction.
func create(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	defer tx.Rollback()
	var tables int
	if err := tx.QueryRow(`SELECT count(*) FROM sqlite_schema WHERE name = 'meta'`).Scan(&tables); err != nil {
		return fmt.Errorf("look at index: %w", err)
	}
	if tables > 0 {
		return nil
	}
	if _, err := tx.Exec(schema); err != nil {
		return fmt.Errorf("create index tables: %w", err)
	}
	id := make([]byte, 15)
	if _, err := rand.Read(id); err != nil {
		return fmt.Errorf("mint index identity: %w", err)
	}
	_, err = tx.Exec(`INSERT INTO meta VALUES('schema',?),('terms',?),('identity',?),('generation',1),('bulk_low',?),('talk_low',?),('span_deletes',0)`,
		schemaVersion, terms(), base64.RawURLEncoding.EncodeToString(id), firstRow, firstTalkRow)
	if err != nil {
		return fmt.Errorf("mint index identity: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	return nil
}

// ErrForeign is returned for a database that this version cannot use: another
// schema version, or other tables altogether.
var ErrForeign = errors.New("the index was made by another version")

// ErrUnborn is returned for a database without any table: its writer is about
// to make them. It is an fs.ErrNotExist.
var ErrUnborn = fmt.Errorf("the index is being made: %w", fs.ErrNotExist)

// ErrDamaged is returned for a database that SQLite calls corrupt, or whose
// blocks cannot be decoded.
var ErrDamaged = errors.New("the index is damaged")

func checkVersion(ctx context.Context, db *sql.DB) error {
	var version int
	var by sql.NullString
	// All tables come in one transaction: where there is one now there are all.
	var tables int
	err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables)
	if err == nil && tables == 0 {
		return ErrUnborn
	}
	if err == nil {
		err = db.QueryRowContext(ctx, `SELECT value, (SELECT value FROM meta WHERE key = 'terms') FROM meta WHERE key = 'schema'`).Scan(&version, &by)
	}
	switch {
	case IsDamage(err):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case err != nil && (errors.Is(err, sql.ErrNoRows) || strings.Contains(err.Error(), "no such table")):
		return ErrForeign
	case err != nil:
		return fmt.Errorf("read index version: %w", err)
	case version != schemaVersion || by.String != terms():
		return ErrForeign
	}
	return nil
}

// IsDamage reports whether an error says that the database file itself is
// broken, so that it must be rebuilt.
func IsDamage(err error) bool {
	if errors.Is(err, ErrDamaged) {
		return true
	}
	var e sqlite3.Error
	if errors.As(err, &e) {
		return e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB || e.Code == sqlite3.ErrFormat
	}
	// Where pages are lost SQLite may answer with values that were never written,
	// NULL above all. database/sql has no type for it.
	return err != nil && strings.Contains(err.Error(), "sql: Scan error")
}

// Files are the database and its sidecars.
func Files(path string) []string {
	return []string{path, path + "-wal", path + "-shm", path + "-journal"}
}

// Remove deletes the database and its sidecars. Missing ones are no error.
func Remove(path string) error {
	leave := door(path, true)
	defer leave()
	return remove(path)
}

func remove(path string) error {
	var errs []error
	for _, p := range Files(path) {
		if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("delete index: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Bytes is the size of the database and its sidecars on disk.
func Bytes(path string) int64 {
	var n int64
	for _, p := range Files(path) {
		if info, err := os.Stat(p); err == nil {
			n += info.Size()
		}
	}
	return n
}
