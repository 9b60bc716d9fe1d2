package opencode

import (
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
)

// spawnWindow is how long before a sub-agent's session its task tool's part
// may have been written.
const spawnWindow = 10 * time.Minute

// forkTitle is what the agent adds to the title of a forked session.
var forkTitle = regexp.MustCompile(`\(fork #\d+\)$`)

// lineage completes what the session's own row says about its parent: the
// depth, the call that started it, and how many messages were copied.
func (t *dbStore) lineage(b *builder, next bool) error {
	s := &b.s
	switch {
	case s.parent != "":
		depth, err := t.depth(s.parent)
		if err != nil {
			return err
		}
		b.h.DelegationDepth = depth
		b.h.ParentEvent, err = t.spawnedBy(s)
		return err
	case s.fork != "":
		n, known, err := t.copied(s.fork, next)
		if err != nil {
			return err
		}
		b.inherit, b.h.InheritedKnown = n, known
	case !next && forkTitle.MatchString(s.title):
		return t.forkByOverlap(b)
	}
	return nil
}

// depth counts the sessions above a child of parent.
func (t *dbStore) depth(parent string) (int, error) {
	if !t.sc.session["parent_id"] {
		return 1, nil
	}
	n := 0
	for parent != "" && n < maxAncestors {
		n++
		var up text
		err := t.db.QueryRow(t.ctx, `SELECT parent_id FROM session WHERE id = ?`, parent).Scan(&up)
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err != nil {
			return 0, fmt.Errorf("read parent session: %w", err)
		}
		parent = string(up)
	}
	return n, nil
}

// spawnedBy finds the part of the parent whose task tool names the session as
// its own. "" when there is none near the session's start.
func (t *dbStore) spawnedBy(s *session) (string, error) {
	if !t.sc.part["time_created"] || s.created.IsZero() {
		return "", nil
	}
	var id text
	err := t.db.QueryRow(t.ctx, `SELECT id FROM part WHERE session_id = ?1 AND time_created BETWEEN ?2 AND ?3 AND instr(data, ?4) > 0 ORDER BY id LIMIT 1`,
		s.parent, s.created.Add(-spawnWindow).UnixMilli(), s.created.Add(time.Minute).UnixMilli(), `"`+s.id+`"`).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("look for the call that started the session: %w", err)
	}
	return string(id), nil
}

// copied counts the leading messages that a fork shares with its parent:
// copies get new ids but keep their times. known is false when the parent is
// not in this database; its copies are then the only ones here.
func (t *dbStore) copied(parent string, next bool) (n int, known bool, err error) {
	own, err := t.times(t.session, next)
	if err != nil {
		return 0, false, err
	}
	theirs, err := t.times(parent, next)
	if err != nil || len(theirs) == 0 {
		return 0, false, err
	}
	for n < len(own) && n < len(theirs) && own[n] == theirs[n] {
		n++
	}
	return n, true, nil
}

// times lists when the messages of a session were created, in their order.
func (t *dbStore) times(id string, next bool) ([]int64, error) {
	table, cols, order := "message", t.sc.message, "time_created, id"
	if next {
		table, cols = "session_message", t.sc.next
		if cols["seq"] {
			order = "seq"
		}
	}
	if !cols["time_created"] {
		return nil, nil
	}
	rows, err := t.db.Query(t.ctx, `SELECT time_created FROM `+table+` WHERE session_id = ? ORDER BY `+order, id)
	if err != nil {
		return nil, fmt.Errorf("compare with the parent: %w", err)
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var at sql.NullFloat64
		if err := rows.Scan(&at); err != nil {
			return nil, fmt.Errorf("compare with the parent: %w", err)
		}
		out = append(out, int64(at.Float64))
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("compare with the parent: %w", err)
	}
	return out, nil
}

// forkByOverlap finds the parent of a fork made before forks recorded it: the
// oldest session that holds a message of the same instant as the fork's first,
// which must be older than the fork itself.
func (t *dbStore) forkByOverlap(b *builder) error {
	own, err := t.times(t.session, false)
	if err != nil || len(own) == 0 || b.s.created.IsZero() || own[0] >= b.s.created.UnixMilli() || !t.sc.session["time_created"] {
		return err
	}
	var parent text
	err = t.db.QueryRow(t.ctx, `SELECT s.id FROM message m JOIN session s ON s.id = m.session_id
		WHERE m.time_created = ? AND m.session_id <> ? AND s.time_created < ? ORDER BY s.time_created, s.id LIMIT 1`,
		own[0], t.session, b.s.created.UnixMilli()).Scan(&parent)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the forked session: %w", err)
	}
	n, known, err := t.copied(string(parent), false)
	if err != nil || n == 0 {
		return err
	}
	b.s.fork, b.inherit = string(parent), n
	b.h.Relation, b.h.ParentID, b.h.LineageEvidence, b.h.InheritedKnown = transcript.RelationFork, string(parent), transcript.EvidenceOverlap, known
	return nil
}
