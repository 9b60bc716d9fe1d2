package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
)

// Origin is the source of a session as it was when it was last read. Its Hint
// is not kept: discovery finds it again.
type Origin struct {
	Source transcript.Source
	State  State
}

// Origin finds the source that a session was read from. ErrNoOrigin when the
// index has none, as for a copy that was carried over from a damaged index.
func (s *Snapshot) Origin(ctx context.Context, of *Session) (Origin, error) {
	list, err := s.origins(ctx, `WHERE id = (SELECT source FROM session WHERE id = ?)`, of.ID)
	if err != nil {
		return Origin{}, err
	}
	if len(list) == 0 {
		return Origin{}, ErrNoOrigin
	}
	return list[0], nil
}

// Placed is a session and the source that it was read from, by their row ids.
type Placed struct{ Session, Source int64 }

// Newest lists the sessions among ids (nil: all), the last updated first, in
// the order of Page by update.
func (s *Snapshot) Newest(ctx context.Context, ids map[int64]bool) ([]Placed, error) {
	rows, err := s.tx.QueryContext(ctx, `SELECT id, source FROM session ORDER BY updated IS NULL, updated DESC, agent, sid`)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	defer rows.Close()
	var out []Placed
	for rows.Next() {
		var p Placed
		if err := rows.Scan(&p.Session, &p.Source); err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		if ids == nil || ids[p.Session] {
			out = append(out, p)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return out, nil
}

// ErrNoOrigin says that the source of a session is not known.
var ErrNoOrigin = errors.New("the session's source is not known")

// Twins lists the other sources that are known to hold the session, at most 8.
func (s *Snapshot) Twins(ctx context.Context, of *Session) ([]Origin, error) {
	return s.origins(ctx, `WHERE agent = ? AND hint_id = ? AND state = ? AND id <> (SELECT source FROM session WHERE id = ?) ORDER BY path, key LIMIT 8`,
		of.Agent, of.SID, StateTwin, of.ID)
}

func (s *Snapshot) origins(ctx context.Context, where string, args ...any) ([]Origin, error) {
	rows, err := s.tx.QueryContext(ctx, `SELECT agent, path, key, root, hint_id, class, size, mtime, signature, state FROM source `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("find a session's source: %w", err)
	}
	defer rows.Close()
	var out []Origin
	for rows.Next() {
		var o Origin
		var mtime int64
		x := &o.Source
		if err := rows.Scan(&x.Agent, &x.Path, &x.Key, &x.Root, &x.SessionID, &x.Class, &x.Size, &mtime, &x.Signature, &o.State); err != nil {
			return nil, fmt.Errorf("find a session's source: %w", err)
		}
		x.ModTime = time.UnixMilli(mtime)
		out = append(out, o)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("find a session's source: %w", err)
	}
	return out, nil
}

// Exactly finds the session with that id, nil if there is none.
func (s *Snapshot) Exactly(ctx context.Context, agent, id string) (*Session, error) {
	list, err := s.querySessions(ctx, `WHERE agent = ? AND sid = ?`, agent, id)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// Children lists the sessions whose recorded parent is one of the ids, at most
// limit of them: by creation, then by id.
func (s *Snapshot) Children(ctx context.Context, agent string, parents []string, limit int) ([]*Session, error) {
	return s.querySessions(ctx, `WHERE agent = ? AND parent IN (SELECT value FROM json_each(?)) ORDER BY coalesce(created, 9e18), sid LIMIT ?`,
		agent, jsonList(parents), limit)
}

// PageOrder is an order of sessions, newest first, those without the time last;
// ties go by agent and then by id, both bytewise.
type PageOrder string

// The orders of Page.
const (
	ByCreated PageOrder = "created"
	ByUpdated PageOrder = "updated"
)

// Page lists sessions in an order: at most limit of those among ids (nil: of
// all) that come after the session with row id after (0: from the start).
func (s *Snapshot) Page(ctx context.Context, order PageOrder, ids map[int64]bool, after int64, limit int) ([]*Session, error) {
	column := string(order)
	where, args := `WHERE 1`, []any{}
	if ids != nil {
		list := make([]int64, 0, len(ids))
		for id := range ids {
			list = append(list, id)
		}
		b, err := json.Marshal(list)
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		where += ` AND id IN (SELECT value FROM json_each(?))`
		args = append(args, string(b))
	}
	if after != 0 {
		var at sql.NullInt64
		var agent, sid string
		err := s.tx.QueryRowContext(ctx, `SELECT `+column+`, agent, sid FROM session WHERE id = ?`, after).Scan(&at, &agent, &sid)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, ErrNoOrigin
		}
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		if at.Valid {
			where += ` AND (` + column + ` < ? OR ` + column + ` IS NULL OR ` + column + ` = ? AND (agent, sid) > (?, ?))`
			args = append(args, at.Int64, at.Int64, agent, sid)
		} else {
			where += ` AND ` + column + ` IS NULL AND (agent, sid) > (?, ?)`
			args = append(args, agent, sid)
		}
	}
	return s.querySessions(ctx, where+` ORDER BY `+column+` IS NULL, `+column+` DESC, agent, sid LIMIT ?`, append(args, limit)...)
}
