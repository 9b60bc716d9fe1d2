package cursor

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/sqlitero"
)

// Values of the editor's stores: up to plainValue they are taken as they stand,
// longer ones are shrunk on their way, and beyond maxValue, which SQLite holds in
// memory as a whole, they are left out.
const (
	plainValue = 1 << 20
	maxValue   = 128 << 20
)

// What may be wrong with one value.
var (
	errNoValue  = errors.New("no such value")
	errDamaged  = errors.New("the value is no JSON")
	errTooLarge = fmt.Errorf("a value of more than %d MB was left out", maxValue>>20)
)

// Tables of a store.
const (
	diskTable = "cursorDiskKV"
	itemTable = "ItemTable"
)

// kv is a store of keys and values, opened for reading.
type kv struct {
	*sqlitero.DB
	ctx        context.Context
	disk, item bool // which tables it has
	buf        []byte
}

// openKV opens a store. One without tables is new and empty; one with others only
// is not of the editor.
func openKV(ctx context.Context, stores *sqlitero.Cache, path string) (*kv, error) {
	db, err := stores.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	s := &kv{DB: db, ctx: ctx}
	if err := s.tables(); err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

func (s *kv) tables() error {
	for name, has := range map[string]*bool{diskTable: &s.disk, itemTable: &s.item} {
		cols, err := s.Columns(s.ctx, name)
		if err != nil {
			return err
		}
		if *has = cols["key"] && cols["value"]; len(cols) > 0 && !*has {
			return fmt.Errorf("unknown schema of a Cursor store: table %s lacks key or value", name)
		}
	}
	if s.disk || s.item {
		return nil
	}
	var n int
	if err := s.QueryRow(s.ctx, "SELECT count(*) FROM sqlite_master").Scan(&n); err != nil {
		return fmt.Errorf("look at tables: %w", err)
	}
	if n > 0 {
		return errors.New("no Cursor store: it has neither cursorDiskKV nor ItemTable")
	}
	return nil
}

// stamp tells one state of a row from another: a store replaces rows, which gives
// them new numbers.
type stamp struct{ row, size int64 }

func (s *kv) stamp(table, key string) (stamp, error) {
	var st stamp
	var size sql.NullInt64
	err := s.QueryRow(s.ctx, "SELECT rowid, octet_length(value) FROM "+table+" WHERE key = ?", key).Scan(&st.row, &size)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !size.Valid {
		return st, errNoValue
	}
	if err != nil {
		return st, fmt.Errorf("look at %s: %w", short(key), err)
	}
	st.size = size.Int64
	return st, nil
}

// value reads the JSON at a key, without the members named in skip where it is
// large. It is valid until the next call.
func (s *kv) value(table, key string, skip ...string) (jsonv.Value, error) {
	st, err := s.stamp(table, key)
	if err != nil {
		return nil, err
	}
	return s.sized(table, key, st.size, skip...)
}

// sized is value for one whose size is known.
func (s *kv) sized(table, key string, size int64, skip ...string) (jsonv.Value, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	if size > maxValue {
		return nil, errTooLarge
	}
	var raw []byte
	if size > plainValue {
		return s.shrunk(s.Value(s.ctx, size, "SELECT substr(CAST(value AS BLOB), ?1, ?2) FROM "+table+" WHERE key = ?3", key), skip)
	}
	err := s.QueryRow(s.ctx, "SELECT value FROM "+table+" WHERE key = ?", key).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) || err == nil && raw == nil {
		return nil, errNoValue
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", short(key), err)
	}
	return whole(raw)
}

// whole takes a JSON value out of what may stand around it.
func whole(raw []byte) (jsonv.Value, error) {
	v := jsonv.Parse(bytes.TrimLeft(raw, "\x00 \t\r\n\ufeff"))
	if k := v.Kind(); k != jsonv.Object && k != jsonv.Array || !jsonv.Valid(v) {
		return nil, errDamaged
	}
	return v, nil
}

func (s *kv) shrunk(r io.Reader, skip []string) (jsonv.Value, error) {
	if cap(s.buf) > 4*plainValue {
		s.buf = nil
	}
	sh := jsonv.NewShrinker(jsonv.DefaultLimits(skip...), false, s.buf[:0])
	piece := make([]byte, 256<<10)
	for done := false; !done; {
		n, err := r.Read(piece)
		for at := 0; at < n && !done; {
			var k int
			if k, done = sh.Feed(piece[at:n]); k == 0 && !done {
				return nil, errDamaged
			}
			at += k
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	s.buf = sh.Bytes()
	return whole(s.buf)
}

// keys lists the rows whose keys begin with a prefix, which ends in a colon: a
// range of the index, however large the store is.
func (s *kv) keys(prefix string, f func(rest string, row int64, size sql.NullInt64)) error {
	rows, err := s.Query(s.ctx, "SELECT key, rowid, octet_length(value) FROM "+diskTable+" WHERE key >= ? AND key < ? ORDER BY key", prefix, after(prefix))
	if err != nil {
		return fmt.Errorf("list %s: %w", short(prefix), err)
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var row int64
		var size sql.NullInt64
		if err := rows.Scan(&key, &row, &size); err != nil {
			return fmt.Errorf("list %s: %w", short(prefix), err)
		}
		f(strings.TrimPrefix(key, prefix), row, size)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("list %s: %w", short(prefix), err)
	}
	return nil
}

// after is the first key behind all that begin with a prefix that ends in a colon.
func after(prefix string) string { return prefix[:len(prefix)-1] + ";" }

// short is a key for a message.
func short(key string) string { return fmt.Sprintf("%.100q", key) }
