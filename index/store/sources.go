package store

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/sessionls/sessionls/index/transcript"
)

// State says what is known of a source.
type State string

// The states of a source.
const (
	// StateRead has been read as far as its signature says.
	StateRead State = "read"
	// StateEmpty was read and holds no conversation.
	StateEmpty State = "empty"
	// StateTwin is another copy of a session that is read from a better one.
	StateTwin State = "twin"
	// StateFailed could not be read; Error says why.
	StateFailed State = "failed"
)

// TalkOnly stands in a checkpoint for the version of its reader where the tools' text was left
// out. It is no reader's, so that the source is read again, from its start.
const TalkOnly = -1

// SourceState is what the index remembers of a source.
type SourceState struct {
	ID         int64 // 0 if it is not known, or not stored yet
	Source     transcript.Source
	State      State
	Fails      int
	Error      string
	Checkpoint *transcript.Checkpoint // nil unless something was read
}

// PutSource stores a source's state and returns its id.
//
// It is looked up and then inserted or updated by id, which costs less than an upsert
// with RETURNING: that needs a savepoint.
func (t *Tx) PutSource(s SourceState) (int64, error) {
	c := transcript.Checkpoint{}
	if s.Checkpoint != nil {
		c = *s.Checkpoint
	}
	src := s.Source
	state, err := packState(c.State)
	if err != nil {
		return 0, err
	}
	id := s.ID
	if id == 0 {
		find, err := t.stmt(`SELECT id FROM source WHERE agent = ? AND path = ? AND key = ?`)
		if err != nil {
			return 0, err
		}
		err = find.QueryRow(src.Agent, src.Path, src.Key).Scan(&id)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, fmt.Errorf("store source state: %w", err)
		}
	}
	values := []any{src.Root, src.SessionID, src.Class, src.Size, src.ModTime.UnixMilli(), src.Signature,
		s.State, s.Fails, clip(s.Error, 2000), c.Offset, int64(c.Head), int64(c.Tail), c.Sum, state, c.Version, c.Bad, c.Torn, clip(c.Partial, 500)}
	if id != 0 {
		err = t.later(`UPDATE source SET root=?, hint_id=?, class=?, size=?, mtime=?, signature=?, state=?, fails=?, error=?, bytes=?, head=?, tail=?,
			sum=?, carry=?, version=?, bad=?, torn=?, partial=? WHERE id = ?`, append(values, id)...)
		return id, err
	}
	res, err := t.exec(`INSERT INTO source(root, hint_id, class, size, mtime, signature, state, fails, error, bytes, head, tail, sum, carry, version, bad, torn, partial,
		agent, path, key) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`, append(values, src.Agent, src.Path, src.Key)...)
	if err != nil {
		return 0, err
	}
	if id, err = res.LastInsertId(); err != nil {
		return 0, fmt.Errorf("store source state: %w", err)
	}
	return id, nil
}

// packState compresses a reader's carry-over: JSON of some kilobytes for every
// source, a twentieth of an index when it is kept as it stands.
func packState(state []byte) ([]byte, error) {
	if len(state) < 256 {
		return state, nil
	}
	return compress(state)
}

// unpackState reverses packState; JSON never begins like a compressed frame.
// Nil for one that cannot be read: the source is then read from its start.
func unpackState(b []byte) []byte {
	if len(b) < 4 || string(b[:4]) != "\x28\xb5\x2f\xfd" {
		return b
	}
	c, err := codecs()
	if err != nil {
		return nil
	}
	state, err := c.dec.DecodeAll(b, nil)
	if err != nil {
		return nil
	}
	return state
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n]
}

// DropSource forgets a source and everything read from it.
func (t *Tx) DropSource(id int64) error {
	ids, err := t.sessionsOf(id)
	if err != nil {
		return err
	}
	for _, s := range ids {
		if err := t.dropSession(s); err != nil {
			return err
		}
	}
	t.purged = true
	_, err = t.exec(`DELETE FROM source WHERE id = ?`, id)
	return err
}

// SetPresence records whether the transcripts of a source are there.
func (t *Tx) SetPresence(source int64, presence string) error {
	res, err := t.exec(`UPDATE session SET presence = ? WHERE source = ? AND presence <> ?`, presence, source, presence)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err == nil && n > 0 {
		t.changed = true
	}
	return nil
}

func (t *Tx) sessionsOf(source int64) ([]int64, error) {
	tx, err := t.look()
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(`SELECT id FROM session WHERE source = ?`, source)
	if err != nil {
		return nil, fmt.Errorf("list sessions of a source: %w", err)
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("list sessions of a source: %w", err)
		}
		out = append(out, id)
	}
	return out, rows.Err()
}

// dropSession removes a session with its text.
func (t *Tx) dropSession(id int64) error {
	if err := t.dropText(id); err != nil {
		return err
	}
	_, err := t.exec(`DELETE FROM session WHERE id = ?`, id)
	return err
}

// dropText removes what was read of a session but keeps its row, so that its
// id, and with it the order of ties, survives a rewrite.
func (t *Tx) dropText(id int64) error {
	tx, err := t.look()
	if err != nil {
		return err
	}
	rows, err := tx.Query(`SELECT first, info FROM span WHERE session = ?`, id)
	if err != nil {
		return fmt.Errorf("find a session's rows: %w", err)
	}
	type span struct {
		first int64
		info  []byte
	}
	var spans []span
	for rows.Next() {
		var s span
		if err := rows.Scan(&s.first, &s.info); err != nil {
			rows.Close()
			return fmt.Errorf("find a session's rows: %w", err)
		}
		spans = append(spans, s)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("find a session's rows: %w", err)
	}
	for _, s := range spans {
		if err := t.dropRows(s.first, s.info); err != nil {
			return err
		}
	}
	if err := t.dropBodies(id); err != nil {
		return err
	}
	for _, q := range []string{`DELETE FROM more WHERE block IN (SELECT id FROM block WHERE session = ?)`, `DELETE FROM block WHERE session = ?`, `DELETE FROM place WHERE session = ?`, `DELETE FROM file WHERE session = ?`} {
		if _, err := t.exec(q, id); err != nil {
			return err
		}
	}
	t.changed = true
	return nil
}

// dropRows removes a span: its rows belong to no session any more, so no search
// finds them, and the next merge of their segments leaves them out.
func (t *Tx) dropRows(first int64, info []byte) error {
	var gone [len(streams)]int64
	for k := 0; k+1 < len(info); k += 2 {
		for _, in := range streams {
			if RowKind(info[k]).in(in) {
				gone[in]++
			}
		}
	}
	for _, in := range streams {
		if err := t.bury(in, first, first+int64(len(info)/2), gone[in]); err != nil {
			return err
		}
	}
	if _, err := t.exec(`DELETE FROM span WHERE first = ?`, first); err != nil {
		return err
	}
	return t.recordDrop(first)
}

// recordDrop tells readers which span they must not remember any more, for as long as
// they may be expected to ask.
func (t *Tx) recordDrop(first int64) error {
	st, err := t.stmt(`UPDATE meta SET value = value + 1 WHERE key = 'span_deletes' RETURNING value`)
	if err != nil {
		return err
	}
	var n int64
	if err := st.QueryRow().Scan(&n); err != nil {
		return fmt.Errorf("record what is gone: %w", err)
	}
	if _, err := t.exec(`INSERT INTO unspan(n, first) VALUES(?,?)`, n, first); err != nil {
		return err
	}
	_, err = t.exec(`DELETE FROM unspan WHERE n <= ?`, n-maxUnspans)
	return err
}

// maxUnspans is how many spans may go until a reader that slept meanwhile reads all anew.
const maxUnspans = 1 << 14
