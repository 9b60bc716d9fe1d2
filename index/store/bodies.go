package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/sessionls/sessionls/index/transcript"
)

// A text that several sessions have, or one has several times, is kept once: a body. It
// lies where it was written first, as a part like any other, and the others refer to
// it. Nothing but the row in table body tells it from a text that one has alone, so a text
// costs no more for being written first than an entry in table seen (sharing.go).
//
// A body never lies in a reference, and a reference never leads into the block that
// it is in.

// bodyBytes is the size from which a text is looked for among those kept. What is shorter
// saves less than the entries of all those that nobody has twice take.
const bodyBytes = 1 << 10

// lentBit in the kind of a part says that the id of a body stands for its text.
const lentBit = 1 << 7

// loan is a part of an event whose text is a body.
type loan struct {
	part int
	body int64
}

// body is where a text that is referred to lies.
type body struct {
	block int64
	at    int // of the part in the raw block
	hash  int64
}

func hashText(text string) int64 {
	sum := sha256.Sum256(unsafe.Slice(unsafe.StringData(text), len(text)))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// in takes the body out of the block that it lies in.
func (b body) in(raw string) (string, error) {
	if b.at < 0 || b.at >= len(raw) {
		return "", fmt.Errorf("%w: a text lies outside of its block", ErrDamaged)
	}
	d := decoder{b: raw[b.at:]}
	kind := d.byte()
	text := d.string()
	if d.bad || kind&lentBit != 0 || hashText(text) != b.hash {
		return "", fmt.Errorf("%w: a text is not where it should be", ErrDamaged)
	}
	return text, nil
}

// lender gives events the texts that they share with others. It is for one
// goroutine, and for one state of the index.
type lender struct {
	find func(ctx context.Context, id int64) (body, error)
	raw  func(ctx context.Context, block int64) (string, error)

	memo  map[int64]string
	bytes int
}

// memoBytes bounds the texts that a lender remembers, so that many references to a long one
// decode it once.
const memoBytes = 2 * giantBytes

// fill completes an event. Its text shares memory with that of others.
func (l *lender) fill(ctx context.Context, e *Stored) error {
	total := 0
	for _, x := range e.lent {
		text, err := l.text(ctx, x.body)
		if err != nil {
			return err
		}
		// An event with more text than this has no references.
		if total += len(text); total > giantBytes {
			return fmt.Errorf("%w: an event refers to too much text", ErrDamaged)
		}
		e.Parts[x.part].Text = text
	}
	e.lent = nil
	return nil
}

func (l *lender) text(ctx context.Context, id int64) (string, error) {
	if text, ok := l.memo[id]; ok {
		return text, nil
	}
	b, err := l.find(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("%w: a text that is referred to is gone", ErrDamaged)
	}
	if err != nil {
		return "", fmt.Errorf("find a text: %w", err)
	}
	raw, err := l.raw(ctx, b.block)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("%w: the block of a text is gone", ErrDamaged)
	}
	if err != nil {
		return "", err
	}
	text, err := b.in(raw)
	if err != nil {
		return "", err
	}
	if l.bytes += len(text); l.memo == nil || l.bytes > memoBytes {
		l.memo, l.bytes = map[int64]string{}, len(text)
	}
	l.memo[id] = text
	return text, nil
}

// holders are the blocks of the texts that the events of rows refer to, each once. blocks
// are those of the rows, as far as they are decoded.
func (l *lender) holders(ctx context.Context, list []Place, blocks []*openBlock) (ids []int64) {
	for i, b := range blocks {
		if b == nil || b.raw == "" {
			continue
		}
		e, _, err := b.event(list[i].Row)
		if err != nil {
			continue
		}
		for _, x := range e.lent {
			if at, err := l.find(ctx, x.body); err == nil && !slices.Contains(ids, at.block) {
				ids = append(ids, at.block)
			}
		}
	}
	return ids
}

// expandHolder decompresses a block that a text is expected in: never that of a giant event.
func expandHolder(data []byte) (string, error) {
	if unpackedSize(data) > maxHolder {
		return "", fmt.Errorf("%w: a block is larger than any with a text that is referred to", ErrDamaged)
	}
	return expand(data)
}

// maxHolder is far above the size of any block without a giant event: its fields
// may be long, too.
const maxHolder = 4 * giantBytes

const (
	findBody   = `SELECT block, at, hash FROM body WHERE id = ?`
	findHolder = `SELECT first_row, data FROM block WHERE id = ?`
)

// bodiesOf finds bodies in a database, or in a view of it.
func bodiesOf(db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) func(ctx context.Context, id int64) (body, error) {
	return func(ctx context.Context, id int64) (b body, err error) {
		err = db.QueryRowContext(ctx, findBody, id).Scan(&b.block, &b.at, &b.hash)
		return b, err
	}
}

// lender reads bodies as of the snapshot, through the blocks that the reader keeps.
func (s *Snapshot) lender() *lender {
	return &lender{
		find: bodiesOf(s.tx),
		raw: func(ctx context.Context, id int64) (string, error) {
			b, data, err := s.packedHolder(ctx, id)
			if err == nil && data != nil {
				err = s.unpackHolder(b, data)
			}
			if err != nil {
				return "", err
			}
			return b.raw, nil
		},
	}
}

// packedHolder finds a block by its id; data is nil if it is decoded already.
func (s *Snapshot) packedHolder(ctx context.Context, id int64) (b *openBlock, data []byte, err error) {
	if b := s.r.recent.block(s.Generation, id, 0); b != nil {
		return b, nil, nil
	}
	b = &openBlock{id: id}
	if err := s.tx.QueryRowContext(ctx, findHolder, id).Scan(&b.first, &data); err != nil {
		return nil, nil, fmt.Errorf("read a text: %w", err)
	}
	return b, data, nil
}

func (s *Snapshot) unpackHolder(b *openBlock, data []byte) (err error) {
	if b.raw, err = expandHolder(data); err != nil {
		return err
	}
	s.r.recent.keep(s.Generation, b, 0)
	return nil
}

// lender reads bodies of a database that was set aside.
func (o *Old) lender() *lender {
	return &lender{
		find: bodiesOf(o.db),
		raw: func(ctx context.Context, id int64) (string, error) {
			var data []byte
			var first int64
			if err := o.db.QueryRowContext(ctx, findHolder, id).Scan(&first, &data); err != nil {
				return "", err
			}
			return expandHolder(data)
		},
	}
}

// fillKept completes an event of a database that was set aside: a text that cannot
// be read is left out.
func (o *Old) fillKept(ctx context.Context, l *lender, e *Stored) {
	if l.fill(ctx, e) == nil {
		return
	}
	var parts []transcript.Part
	for i, p := range e.Parts {
		for _, x := range e.lent {
			if x.part == i {
				p.Text, _ = l.text(ctx, x.body)
			}
		}
		if p.Text != "" {
			parts = append(parts, p)
		}
	}
	e.Parts, e.lent, o.torn = parts, nil, true
}
