package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// ErrNoEvent says that a row or position belongs to no stored event.
var ErrNoEvent = errors.New("no such event")

// whole completes the data of a block that is stored in pieces.
func (s *Snapshot) whole(ctx context.Context, block int64, data []byte) ([]byte, error) {
	if len(data) != moreBytes {
		return data, nil
	}
	rows, err := s.tx.QueryContext(ctx, `SELECT data FROM more WHERE block = ? ORDER BY id`, block)
	if err != nil {
		return nil, fmt.Errorf("read a long event: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var piece sql.RawBytes
		if err := rows.Scan(&piece); err != nil {
			return nil, fmt.Errorf("read a long event: %w", err)
		}
		data = append(data, piece...)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read a long event: %w", err)
	}
	return data, nil
}

// EventAt reads the event of an FTS row, and which of its rows it is (see
// Chunk).
func (s *Snapshot) EventAt(ctx context.Context, of *Session, row int64) (e *Stored, chunk int, err error) {
	b, err := s.blockOf(ctx, of, row)
	if err != nil {
		return nil, 0, err
	}
	if e, chunk, err = b.event(row); err != nil {
		return nil, 0, err
	}
	if err := s.lender().fill(ctx, e); err != nil {
		return nil, 0, err
	}
	e.Surface = of.surfaces.at(e.Seq)
	return e, chunk, nil
}

// event finds the event of a row in its block.
func (b *openBlock) event(row int64) (e *Stored, chunk int, err error) {
	at := int(row - b.first)
	err = eachEvent(b.raw, func(x *Stored) bool {
		if x.Rows > 0 && x.rowAt <= at && at < x.rowAt+x.Rows {
			e, chunk = x, at-x.rowAt
			return false
		}
		return true
	})
	if err == nil && e == nil {
		err = ErrNoEvent
	}
	return e, chunk, err
}

// blockOf reads the block that a row of a session is in.
func (s *Snapshot) blockOf(ctx context.Context, of *Session, row int64) (*openBlock, error) {
	b, data, err := s.packedBlock(ctx, of, row)
	if err != nil || data == nil {
		return b, err
	}
	if data, err = s.whole(ctx, b.id, data); err != nil {
		return nil, err
	}
	return b, s.unpack(b, data, row)
}

// packedBlock finds the block that a row is in; data is nil if it is decoded already.
func (s *Snapshot) packedBlock(ctx context.Context, of *Session, row int64) (b *openBlock, data []byte, err error) {
	if b := s.r.recent.row(s.Generation, row); b != nil {
		return b, nil, nil
	}
	b = &openBlock{}
	err = s.tx.QueryRowContext(ctx, `SELECT id, first_row, data FROM block WHERE session = ? AND first_row BETWEEN 1 AND ? ORDER BY first_row DESC LIMIT 1`, of.ID, row).Scan(&b.id, &b.first, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, ErrNoEvent
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read an event: %w", err)
	}
	if b := s.r.recent.block(s.Generation, b.id, row); b != nil {
		return b, nil, nil
	}
	return b, data, nil
}

func (s *Snapshot) unpack(b *openBlock, data []byte, row int64) (err error) {
	if b.raw, err = expand(data); err != nil {
		return err
	}
	s.r.recent.keep(s.Generation, b, row)
	return nil
}

// Place is a row of a session.
type Place struct {
	Of  *Session
	Row int64
}

// ReadAhead decodes the blocks of rows that are about to be asked for, on several cores
// while the next are read. What fails will fail again when it is asked for. Not much more
// than a dozen should be asked for at once: few blocks are kept, and large ones are left out.
func (s *Snapshot) ReadAhead(ctx context.Context, list []Place) {
	var open sync.WaitGroup
	blocks := make([]*openBlock, len(list))
	for i, p := range list {
		b, data, err := s.packedBlock(ctx, p.Of, p.Row)
		if err != nil {
			continue
		}
		if blocks[i] = b; data != nil && unpackedSize(data) <= recentBlock {
			open.Go(func() { _ = s.unpack(b, data, p.Row) })
		}
	}
	open.Wait()
	s.lendAhead(ctx, list, blocks)
}

// lendAhead decodes the blocks of the texts that the events of rows refer to.
func (s *Snapshot) lendAhead(ctx context.Context, list []Place, blocks []*openBlock) {
	var open sync.WaitGroup
	defer open.Wait()
	l := s.lender()
	for _, at := range l.holders(ctx, list, blocks) {
		b, data, err := s.packedHolder(ctx, at)
		if err == nil && data != nil && unpackedSize(data) <= recentBlock {
			open.Go(func() { _ = s.unpackHolder(b, data) })
		}
	}
}

// Events calls f for the events of a session from position from on, in order,
// until f returns false.
func (s *Snapshot) Events(ctx context.Context, of *Session, from int, f func(*Stored) bool) error {
	// The ids first: a block is decoded while its row is not held open.
	rows, err := s.tx.QueryContext(ctx, `SELECT id FROM block WHERE session = ?1 AND first_seq >= coalesce((SELECT max(first_seq) FROM block WHERE session = ?1 AND first_seq <= ?2), 0) ORDER BY first_seq`, of.ID, from)
	if err != nil {
		return fmt.Errorf("list events: %w", err)
	}
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			rows.Close()
			return fmt.Errorf("list events: %w", err)
		}
		ids = append(ids, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("list events: %w", err)
	}
	l := s.lender()
	for _, id := range ids {
		var data []byte
		if err := s.tx.QueryRowContext(ctx, `SELECT data FROM block WHERE id = ?`, id).Scan(&data); err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		data, err := s.whole(ctx, id, data)
		if err != nil {
			return err
		}
		more := true
		var lost error
		err = decodeBlock(data, func(e *Stored) bool {
			if e.Seq < from {
				return true
			}
			if lost = l.fill(ctx, e); lost != nil {
				return false
			}
			e.Surface = of.surfaces.at(e.Seq)
			more = f(e)
			return more
		})
		if err = errors.Join(err, lost); err != nil || !more {
			return err
		}
	}
	return nil
}

// RowEvents calls f for the events of the given rows of one session, reading
// each block once. Rows without an event (a session's head) are left out.
func (s *Snapshot) RowEvents(ctx context.Context, of *Session, rows []int64, f func(row int64, e *Stored) error) error {
	blocks, err := s.tx.QueryContext(ctx, `SELECT id, first_row, data FROM block WHERE session = ? AND first_row > 0 ORDER BY first_row`, of.ID)
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	defer blocks.Close()
	want := make(map[int64]bool, len(rows))
	for _, r := range rows {
		want[r] = true
	}
	l := s.lender()
	for blocks.Next() {
		var id, first int64
		var data []byte
		if err := blocks.Scan(&id, &first, &data); err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		data, err := s.whole(ctx, id, data)
		if err != nil {
			return err
		}
		var ferr error
		err = decodeBlock(data, func(e *Stored) bool {
			for k := range e.Rows {
				if row := first + int64(e.rowAt+k); want[row] {
					if ferr = l.fill(ctx, e); ferr != nil {
						return false
					}
					e.Surface = of.surfaces.at(e.Seq)
					if ferr = f(row, e); ferr != nil {
						return false
					}
				}
			}
			return true
		})
		if err := errors.Join(err, ferr); err != nil {
			return err
		}
	}
	return blocks.Err()
}
