package sqlitero

import (
	"context"
	"fmt"
	"io"
)

// chunk is how much of a large value is fetched at once.
const chunk = 16 << 20

// Value streams one large text or blob. query selects the piece of it that
// starts at byte ?1 (counted from 1) and is ?2 bytes long, args are its further
// parameters: "SELECT substr(CAST(data AS BLOB), ?1, ?2) FROM part WHERE id = ?3".
// It reads size bytes or until a piece is empty.
func (d *DB) Value(ctx context.Context, size int64, query string, args ...any) io.Reader {
	return &value{ctx: ctx, db: d, query: query, args: args, left: size, at: 1}
}

type value struct {
	ctx   context.Context
	db    *DB
	query string
	args  []any
	at    int64 // next byte, counted from 1
	left  int64
	piece []byte
}

func (v *value) Read(p []byte) (int, error) {
	if len(v.piece) == 0 {
		if v.left <= 0 {
			return 0, io.EOF
		}
		n := min(v.left, chunk)
		row := v.db.QueryRow(v.ctx, v.query, append([]any{v.at, n}, v.args...)...)
		if err := row.Scan(&v.piece); err != nil {
			return 0, fmt.Errorf("read large value: %w", err)
		}
		if len(v.piece) == 0 {
			return 0, io.EOF
		}
		v.at += n
		v.left -= n
	}
	n := copy(p, v.piece)
	v.piece = v.piece[n:]
	return n, nil
}
