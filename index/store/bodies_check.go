package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// verifyBodies reads all blocks: each reference must lead to a text, what a session has of
// others must be noted, and nothing else be; a block of no session holds what some
// session refers to.
func (s *Snapshot) verifyBodies(ctx context.Context) error {
	rows, err := s.tx.QueryContext(ctx, `SELECT id, session, data FROM block ORDER BY session, first_seq`)
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	defer rows.Close()
	v := bodyVerifier{s: s, l: s.lender()}
	for rows.Next() {
		var id, session int64
		var data []byte
		if err := rows.Scan(&id, &session, &data); err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		if data, err = s.whole(ctx, id, data); err != nil {
			return err
		}
		if err := v.block(ctx, id, session, data); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	return v.end(ctx)
}

// bodyVerifier looks through the blocks, those of a session one after the other.
type bodyVerifier struct {
	s        *Snapshot
	l        *lender
	session  int64
	borrowed map[int64]bool // what the session has of others
	count    int64          // of all sessions before
	kept     int64          // blocks of no session
}

func (v *bodyVerifier) block(ctx context.Context, id, session int64, data []byte) error {
	if session != v.session || v.borrowed == nil {
		v.count += int64(len(v.borrowed))
		v.session, v.borrowed = session, map[int64]bool{}
	}
	if session == 0 {
		v.kept++
	}
	var lost error
	err := decodeBlock(data, func(e *Stored) bool {
		for _, x := range e.lent {
			if lost = v.loan(ctx, id, x.body); lost != nil {
				return false
			}
		}
		lost = v.l.fill(ctx, e)
		return lost == nil
	})
	return errors.Join(err, lost)
}

// loan checks a reference in a block of the session.
func (v *bodyVerifier) loan(ctx context.Context, block, id int64) error {
	if v.borrowed[id] {
		return nil
	}
	var at, holder sql.NullInt64
	var noted bool
	err := v.s.tx.QueryRowContext(ctx, `SELECT block, (SELECT session FROM block WHERE id = body.block), EXISTS(SELECT 1 FROM borrowed WHERE session = ? AND body = body.id)
		FROM body WHERE id = ?`, v.session, id).Scan(&at, &holder, &noted)
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && !holder.Valid:
		return fmt.Errorf("%w: block %d refers to a text that is gone", ErrDamaged, block)
	case err != nil:
		return fmt.Errorf("find a text: %w", err)
	case at.Int64 == block:
		return fmt.Errorf("%w: block %d refers to itself", ErrDamaged, block)
	case noted != (holder.Int64 != v.session):
		return fmt.Errorf("%w: what session %d refers to is not noted as it is", ErrDamaged, v.session)
	}
	if noted {
		v.borrowed[id] = true
	}
	return nil
}

// end checks that nothing is kept or noted beyond what was found.
func (v *bodyVerifier) end(ctx context.Context) error {
	v.count += int64(len(v.borrowed))
	var noted, needed, lost, stray int64
	err := v.s.tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM borrowed),
		(SELECT count(*) FROM body WHERE block IN (SELECT id FROM block WHERE session = 0) AND EXISTS(SELECT 1 FROM borrowed WHERE body = id)),
		(SELECT count(*) FROM body WHERE NOT EXISTS(SELECT 1 FROM block WHERE id = body.block)),
		(SELECT count(*) FROM seen WHERE place < 0 AND NOT EXISTS(SELECT 1 FROM body WHERE id = -place))`).Scan(&noted, &needed, &lost, &stray)
	switch {
	case err != nil:
		return fmt.Errorf("count texts: %w", err)
	case noted != v.count:
		return fmt.Errorf("%w: %d texts are noted as referred to, %d are", ErrDamaged, noted, v.count)
	case needed != v.kept:
		return fmt.Errorf("%w: %d texts of no session are needed, %d are kept", ErrDamaged, needed, v.kept)
	case lost > 0 || stray > 0:
		return fmt.Errorf("%w: %d texts lie in no block, %d are not known", ErrDamaged, lost, stray)
	}
	return nil
}
