package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// knownColumns leaves out the readers' carry-over: nobody who compares sources
// needs it, and a hundred thousand of them would fill the memory.
const knownColumns = `id, agent, path, key, root, hint_id, class, size, mtime, signature, state, fails, error, version`

// Known is what the index remembers of a source, without its checkpoint.
type Known struct {
	SourceState
	// Version is the format version of the reader that read it, 0 if none did and
	// TalkOnly if it was read without the tools' text.
	Version int
}

func (w *Writer) known(ctx context.Context, f func(Known) error, where string, args ...any) error {
	rows, err := w.db.QueryContext(ctx, `SELECT `+knownColumns+` FROM source `+where, args...)
	if err != nil {
		return fmt.Errorf("list sources: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var k Known
		var mtime int64
		s := &k.Source
		err := rows.Scan(&k.ID, &s.Agent, &s.Path, &s.Key, &s.Root, &s.SessionID, &s.Class, &s.Size, &mtime, &s.Signature, &k.State, &k.Fails, &k.Error, &k.Version)
		if err != nil {
			return fmt.Errorf("list sources: %w", err)
		}
		s.ModTime = time.UnixMilli(mtime)
		if k.State != StateRead && k.State != StateEmpty {
			k.Version = 0
		}
		if err := f(k); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("list sources: %w", err)
	}
	return nil
}

// Known calls f for every source, without the checkpoints.
func (w *Writer) Known(ctx context.Context, f func(Known) error) error { return w.known(ctx, f, "") }

// KnownOf calls f for every source of an agent.
func (w *Writer) KnownOf(ctx context.Context, agent string, f func(Known) error) error {
	return w.known(ctx, f, `WHERE agent = ?`, agent)
}

// KnownAt calls f for every source of an agent at a path or below it.
func (w *Writer) KnownAt(ctx context.Context, agent, path string, f func(Known) error) error {
	folder := strings.TrimRight(path, string(filepath.Separator))
	from, to := folder+string(filepath.Separator), folder+string(rune(filepath.Separator)+1)
	return errors.Join(
		w.known(ctx, f, `WHERE agent = ? AND path = ?`, agent, path),
		w.known(ctx, f, `WHERE agent = ? AND path > ? AND path < ?`, agent, from, to),
	)
}

// KnownSource calls f for one source, if it is known.
func (w *Writer) KnownSource(ctx context.Context, agent, path, key string, f func(Known) error) error {
	return w.known(ctx, f, `WHERE agent = ? AND path = ? AND key = ?`, agent, path, key)
}

// KnownByID calls f for one source, if it is known.
func (w *Writer) KnownByID(ctx context.Context, id int64, f func(Known) error) error {
	return w.known(ctx, f, `WHERE id = ?`, id)
}

// KnownSession calls f for every source that is known to hold a session.
func (w *Writer) KnownSession(ctx context.Context, agent, id string, f func(Known) error) error {
	return w.known(ctx, f, `WHERE agent = ? AND hint_id = ?`, agent, id)
}

// AbsentAmong is Absent for some sources only.
func (w *Writer) AbsentAmong(ctx context.Context, sources []int64) (map[int64]string, error) {
	out := map[int64]string{}
	for _, id := range sources {
		var presence string
		err := w.db.QueryRowContext(ctx, `SELECT presence FROM session WHERE source = ? AND presence <> 'present' LIMIT 1`, id).Scan(&presence)
		switch {
		case err == nil:
			out[id] = presence
		case !errors.Is(err, sql.ErrNoRows):
			return nil, fmt.Errorf("look for absent sources: %w", err)
		}
	}
	return out, nil
}

// Note keeps a text with the index that no answer of a search shows: it does
// not move the generation.
func (w *Writer) Note(ctx context.Context, name, text string) error {
	_, err := w.db.ExecContext(ctx, `INSERT INTO meta VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value`, "note:"+name, text)
	if err != nil {
		return fmt.Errorf("write to the index: %w", err)
	}
	return nil
}

// Noted is a text kept with Writer.Note, "" if there is none.
func (r *Reader) Noted(ctx context.Context, name string) (string, error) {
	return noted(ctx, r.db, name)
}

func noted(ctx context.Context, db *sql.DB, name string) (string, error) {
	var text string
	err := db.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, "note:"+name).Scan(&text)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read the index: %w", err)
	}
	return text, nil
}

// Moved tells the generation and the identity of this moment, at the cost of
// two rows.
func (r *Reader) Moved(ctx context.Context) (generation int64, identity string, err error) {
	err = r.db.QueryRowContext(ctx, `SELECT (SELECT value FROM meta WHERE key='generation'), (SELECT value FROM meta WHERE key='identity')`).Scan(&generation, &identity)
	if err != nil {
		return 0, "", fmt.Errorf("read the index: %w", err)
	}
	return generation, identity, nil
}

// Noted is Reader.Noted for the writer.
func (w *Writer) Noted(ctx context.Context, name string) (string, error) {
	return noted(ctx, w.db, name)
}

// Retrying counts the sources that failed fewer than limit times as they are.
func (w *Writer) Retrying(ctx context.Context, limit int) (int, error) {
	var n int
	if err := w.db.QueryRowContext(ctx, `SELECT count(*) FROM source WHERE state = ? AND fails < ?`, StateFailed, limit).Scan(&n); err != nil {
		return 0, fmt.Errorf("count failures: %w", err)
	}
	return n, nil
}
