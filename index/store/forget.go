package store

import (
	"context"
	"errors"
	"fmt"
)

// Names calls f with agent and id of every session.
func (w *Writer) Names(ctx context.Context, f func(agent, sid string)) error {
	rows, err := w.db.QueryContext(ctx, `SELECT agent, sid FROM session`)
	if err != nil {
		return fmt.Errorf("list sessions: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var agent, sid string
		if err := rows.Scan(&agent, &sid); err != nil {
			return fmt.Errorf("list sessions: %w", err)
		}
		f(agent, sid)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("list sessions: %w", err)
	}
	return nil
}

// Generation is the fence as it is now.
func (w *Writer) Generation(ctx context.Context) (n int64, err error) {
	if err := w.db.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'generation'`).Scan(&n); err != nil {
		return 0, fmt.Errorf("read the index: %w", err)
	}
	return n, nil
}

// Forget drops a session and the sub-agents kept under it, and has forks of
// them read anew. It returns the ids of what was dropped, the session first.
// Sources that nothing comes from any more are dropped, too.
func (t *Tx) Forget(agent, sid string) ([]string, error) {
	// A range instead of LIKE: ids may hold any character, and "$" follows "#".
	tx, err := t.look()
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(`SELECT id, sid, source FROM session WHERE agent = ?1 AND (sid = ?2 OR sid >= ?2 || '#' AND sid < ?2 || '$') ORDER BY sid`, agent, sid)
	if err != nil {
		return nil, fmt.Errorf("find a session to forget: %w", err)
	}
	var ids, sources []int64
	var names []string
	for rows.Next() {
		var id, source int64
		var name string
		if err := rows.Scan(&id, &name, &source); err != nil {
			rows.Close()
			return nil, fmt.Errorf("find a session to forget: %w", err)
		}
		ids, sources, names = append(ids, id), append(sources, source), append(names, name)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("find a session to forget: %w", err)
	}
	for i, id := range ids {
		if err := t.forksOfDue(agent, names[i], sources[i]); err != nil {
			return nil, err
		}
		if err := t.dropSession(id); err != nil {
			return nil, err
		}
	}
	for _, source := range sources {
		if err := t.DropBare(source); err != nil {
			return nil, err
		}
	}
	// Other copies of it name it, too.
	_, err = t.exec(`DELETE FROM source WHERE agent = ?1 AND (hint_id = ?2 OR hint_id >= ?2 || '#' AND hint_id < ?2 || '$') AND NOT EXISTS(SELECT 1 FROM session WHERE source = source.id)`, agent, sid)
	return names, err
}

// forksOfDue makes the sources be read anew whose sessions inherited events
// from a session, or such as it has taken for its own.
func (t *Tx) forksOfDue(agent, sid string, but int64) error {
	_, err := t.exec(`UPDATE source SET signature = '', carry = NULL WHERE id <> ?1 AND id IN (SELECT source FROM session WHERE agent = ?2 AND inherited > 0
		AND (parent = ?3 OR parent = (SELECT parent FROM session WHERE agent = ?2 AND sid = ?3 AND adopted_ids IS NOT NULL)))`, but, agent, sid)
	return err
}

// Presences counts sessions by presence.
func (s *Snapshot) Presences(ctx context.Context) (map[string]int, error) {
	rows, err := s.tx.QueryContext(ctx, `SELECT presence, count(*) FROM session GROUP BY presence`)
	if err != nil {
		return nil, fmt.Errorf("count sessions: %w", err)
	}
	defer rows.Close()
	out := map[string]int{}
	for rows.Next() {
		var presence string
		var n int
		if err := rows.Scan(&presence, &n); err != nil {
			return nil, fmt.Errorf("count sessions: %w", err)
		}
		out[presence] = n
	}
	return out, rows.Err()
}

// Note is Writer.Note as part of a transaction.
func (t *Tx) Note(name, text string) error {
	_, err := t.exec(`INSERT INTO meta VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value`, "note:"+name, text)
	return err
}
