package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/sessionls/sessionls/index/transcript"
)

// IsFault reports whether an error came from the database or from the disk
// below it, and not from what was to be written: there is no use in going on
// with the next source.
func IsFault(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) || errors.Is(err, driver.ErrBadConn) || IsDamage(err)
}

// IsReadOnly reports whether an error says that the database was to be written
// but cannot be. As long as a process has it open from a time when its folder
// could not be written to, this is so also when the folder can be.
func IsReadOnly(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrReadonly
}

// Absent maps the sources whose sessions are not all present to their presence.
func (w *Writer) Absent(ctx context.Context) (map[int64]string, error) {
	rows, err := w.db.QueryContext(ctx, `SELECT DISTINCT source, presence FROM session WHERE presence <> 'present'`)
	if err != nil {
		return nil, fmt.Errorf("list absent sources: %w", err)
	}
	defer rows.Close()
	out := map[int64]string{}
	for rows.Next() {
		var id int64
		var presence string
		if err := rows.Scan(&id, &presence); err != nil {
			return nil, fmt.Errorf("list absent sources: %w", err)
		}
		out[id] = presence
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list absent sources: %w", err)
	}
	return out, nil
}

// Folders calls f with the working directory of every session that has one, and
// with the comparison keys of the folders it worked in.
func (w *Writer) Folders(ctx context.Context, f func(source int64, sid, folder string)) error {
	rows, err := w.db.QueryContext(ctx, `SELECT source, sid, cwd FROM session WHERE cwd IS NOT NULL
		UNION ALL SELECT session.source, session.sid, place.key FROM place JOIN session ON session.id = place.session`)
	if err != nil {
		return fmt.Errorf("list working directories: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var sid, folder string
		if err := rows.Scan(&id, &sid, &folder); err != nil {
			return fmt.Errorf("list working directories: %w", err)
		}
		f(id, sid, folder)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("list working directories: %w", err)
	}
	return nil
}

// Checkpoint is how far a source has been read; nil if it has to be read from
// its start.
func (t *Tx) Checkpoint(source int64) (*transcript.Checkpoint, error) {
	st, err := t.stmt(`SELECT bytes, head, tail, sum, carry, version, bad, torn, partial FROM source WHERE id = ? AND state = ?`)
	if err != nil {
		return nil, err
	}
	var c transcript.Checkpoint
	var head, tail int64
	err = st.QueryRow(source, StateRead).Scan(&c.Offset, &head, &tail, &c.Sum, &c.State, &c.Version, &c.Bad, &c.Torn, &c.Partial)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read source state: %w", err)
	}
	if c.State = unpackState(c.State); c.State == nil {
		return nil, nil
	}
	c.Head, c.Tail = uint64(head), uint64(tail)
	return &c, nil
}

// SetRank changes what copies of a session are compared by, and nothing else:
// a source that is gone must not win against a copy that is there.
func (t *Tx) SetRank(source int64, class int, size int64, mod time.Time) error {
	_, err := t.exec(`UPDATE source SET class = ?, size = ?, mtime = ? WHERE id = ?`, class, size, mod.UnixMilli(), source)
	return err
}

// DropBare forgets a source that no session comes from any more.
func (t *Tx) DropBare(source int64) error {
	_, err := t.exec(`DELETE FROM source WHERE id = ?1 AND NOT EXISTS(SELECT 1 FROM session WHERE source = ?1)`, source)
	return err
}

// ForksDue makes the sources be read anew whose sessions inherited events from
// a session of the given source, or such as it has taken for its own: with the
// owner gone, the copies count.
func (t *Tx) ForksDue(source int64) error {
	_, err := t.exec(`UPDATE source SET signature = '', carry = NULL WHERE id <> ?1 AND id IN (
		SELECT f.source FROM session p JOIN session f ON f.agent = p.agent AND (f.parent = p.sid OR f.parent = p.parent AND p.adopted_ids IS NOT NULL)
		WHERE p.source = ?1 AND f.inherited > 0)`, source)
	return err
}

// Glance is what a status shows: the fence and the counts of one moment.
type Glance struct {
	Generation int64
	Identity   string
	Counts
}

// Glance counts without preparing for a search, so that it costs little however
// large the index is.
func (r *Reader) Glance(ctx context.Context) (Glance, error) {
	var g Glance
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return g, fmt.Errorf("read the index: %w", err)
	}
	s := &Snapshot{tx: tx}
	err = tx.QueryRowContext(ctx, `SELECT (SELECT value FROM meta WHERE key='generation'), (SELECT value FROM meta WHERE key='identity')`).Scan(&g.Generation, &g.Identity)
	if err != nil {
		return g, errors.Join(fmt.Errorf("read the index: %w", err), s.Close())
	}
	g.Counts, err = s.Counts(ctx)
	return g, errors.Join(err, s.Close())
}

// EngineVersion is the version of SQLite.
func EngineVersion() string {
	version, _, _ := sqlite3.Version()
	return version
}

// Check asks SQLite whether the database is whole, and looks whether the postings are and
// have every row of every session, and the events all their text. It reads everything once.
func (r *Reader) Check(ctx context.Context) error {
	var verdict string
	if err := r.db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
		return fmt.Errorf("check the index: %w", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrDamaged, verdict)
	}
	s, err := r.Snapshot(ctx)
	if err != nil {
		return err
	}
	for _, in := range streams {
		if err := s.verify(ctx, in); err != nil {
			return errors.Join(fmt.Errorf("check the index: %w", damaged(err)), s.Close())
		}
	}
	if err := s.verifyBodies(ctx); err != nil {
		return errors.Join(fmt.Errorf("check the index: %w", err), s.Close())
	}
	return s.Close()
}

// verify reads all postings of a stream. Each row that belongs to a session must be in one
// segment; others may be in segments that are known to have such.
func (s *Snapshot) verify(ctx context.Context, in Stream) error {
	list, err := s.lists(ctx, in)
	if err != nil {
		return err
	}
	there := map[int64]bool{}
	last := int64(math.MaxInt64)
	for _, seg := range list {
		if err := seg.Verify(ctx); err != nil {
			return err
		}
		ordered, gone := true, 0
		seg.EachRow(func(row int64) {
			ordered = ordered && row < last
			last = row
			there[row] = true
			if _, ok := s.Spans.At(row); !ok {
				gone++
			}
		})
		if !ordered {
			return fmt.Errorf("%w: segments overlap", ErrDamaged)
		}
		if gone > 0 && !seg.Gone {
			return fmt.Errorf("%w: %d rows of %s belong to no session", ErrDamaged, gone, in.table())
		}
	}
	missing := 0
	s.Spans.Each(func(row int64, info RowInfo) {
		if info.Kind.in(in) && !there[row] {
			missing++
		}
	})
	if missing > 0 {
		return fmt.Errorf("%w: %d rows are missing in the postings of %s", ErrDamaged, missing, in.table())
	}
	return nil
}
