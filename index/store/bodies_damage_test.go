package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/transcript"
)

// TestDamagedBodies: references that lead nowhere are damage that is told of, never a crash,
// a loop or another text. What is left is carried over.
func TestDamagedBodies(t *testing.T) {
	x, y := noise("x", 3000), noise("y", 3000)
	for name, statement := range map[string]string{
		"no body":            `DELETE FROM body`,
		"no block":           `UPDATE body SET block = 999`,
		"a giant id":         `UPDATE body SET block = 9223372036854775807`,
		"at a wrong place":   `UPDATE body SET at = at + 1`,
		"far outside":        `UPDATE body SET at = 9223372036854775807`,
		"before the block":   `UPDATE body SET at = -1`,
		"at another text":    `UPDATE body SET at = (SELECT max(at) FROM body), block = (SELECT max(block) FROM body)`,
		"of another hash":    `UPDATE body SET hash = hash + 1`,
		"at a reference":     `UPDATE body SET block = (SELECT id FROM block WHERE session = (SELECT id FROM session WHERE sid = 'b')), at = 0`,
		"a block of nothing": `UPDATE block SET data = x'' WHERE session = (SELECT id FROM session WHERE sid = 'a')`,
		"a block of garbage": `UPDATE block SET data = randomblob(3000) WHERE session = (SELECT id FROM session WHERE sid = 'a')`,
	} {
		t.Run(name, func(t *testing.T) {
			path := storetest.Path(t)
			storetest.Build(t, path, storetest.Talk("a", x, y), storetest.Talk("b", "before", x, y, "behind"))
			db, err := sql.Open("sqlite3", path)
			if err == nil {
				_, err = db.Exec(statement)
			}
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			r := storetest.Open(t, path)
			if err := r.Check(ctx); !store.IsDamage(err) {
				t.Errorf("check: %v", err)
			}
			s := snapshot(t, r)
			of := named(t, s, "b")
			if err := s.Events(ctx, of, 0, func(e *store.Stored) bool {
				if p := e.Parts[0].Text; !slices.Contains([]string{"before", x, y, "behind"}, p) {
					t.Errorf("another text: %.40q", p)
				}
				return true
			}); !store.IsDamage(err) {
				t.Errorf("events: %v", err)
			}
			bad := 0
			s.Spans.Of(of.ID, func(first, end int64) {
				for row := first; row < end; row++ {
					s.ReadAhead(ctx, []store.Place{{Of: of, Row: row}})
					if _, _, err := s.EventAt(ctx, of, row); store.IsDamage(err) {
						bad++
					}
				}
			})
			if bad == 0 {
				t.Error("all events can be read")
			}
			got, whole := carried(t, path, "b")
			if whole {
				t.Error("what could not be read counts as whole")
			}
			if len(got) < 2 || got[0] != "before" || got[len(got)-1] != "behind" {
				t.Errorf("carried over: %.40q", got)
			}
			// It can be dropped and written anew all the same.
			storetest.Build(t, path, storetest.Talk("a", "anew"))
			storetest.Build(t, path, storetest.Talk("b", x, y))
			holds(t, path, map[string][]string{"a": {"anew"}, "b": {x, y}})
		})
	}
}

// carried are the texts that carrying over has of a session, as far as they are there.
func carried(t *testing.T, path, id string) (out []string, whole bool) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	aside := storetest.Path(t)
	if err := os.WriteFile(aside, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	old, err := store.OpenOld(ctx, aside)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	whole, err = old.Sources(ctx, func(k *store.Kept) error {
		for _, s := range k.Sessions {
			_, err := s.Each(ctx, func(e *transcript.Event, _ int64) error {
				for _, p := range e.Parts {
					if s.Header.SessionID == id {
						out = append(out, p.Text)
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, whole
}

// TestBodiesAreCarriedOver: an index with references is read by its successor.
func TestBodiesAreCarriedOver(t *testing.T) {
	path, next := storetest.Path(t), storetest.Path(t)
	x, y := noise("x", 3000), noise("y", 60_000)
	want := map[string][]string{"a": {x, y}, "b": {"before", y, x, x}, "c": {x}}
	storetest.Build(t, path, storetest.Talk("d", x, y))
	for _, id := range []string{"a", "b", "c"} {
		storetest.Build(t, path, storetest.Talk(id, want[id]...))
	}
	forget(t, path, "d") // two texts in blocks of no session
	holds(t, path, want)
	old, err := store.OpenOld(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	w := openWriter(t, next)
	whole, err := old.Sources(ctx, func(k *store.Kept) error {
		return w.Update(ctx, func(tx *store.Tx) error { _, err := tx.Import(ctx, k, "Claude Code"); return err })
	})
	if err != nil || !whole {
		t.Fatalf("whole %v, %v", whole, err)
	}
	holds(t, next, want)
	if n := count(t, next, `SELECT count(*) FROM body`); n != 2 {
		t.Errorf("%d texts are kept once", n)
	}
}

// TestHostileBlocks: a block of many references to a long text takes no more memory than
// it and the text, and one event of them is damage.
func TestHostileBlocks(t *testing.T) {
	path := storetest.Path(t)
	long := noise("long", 3<<20)
	const n = 200
	w := openWriter(t, path)
	if err := w.Update(ctx, func(tx *store.Tx) error {
		if err := write(tx, "a", 0, []string{long}, nil); err != nil {
			return err
		}
		return write(tx, "b", 0, []string{long, strings.Repeat("b", 50_000)}, nil)
	}); err != nil {
		t.Fatal(err)
	}
	w.Close()
	// The event of b that refers to the text, as often as it goes.
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var id int64
	var data []byte
	if err := db.QueryRow(`SELECT id, data FROM block WHERE session = (SELECT id FROM session WHERE sid = 'b') ORDER BY first_seq LIMIT 1`).Scan(&id, &data); err != nil {
		t.Fatal(err)
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	raw, err := dec.DecodeAll(data, nil)
	if err != nil || len(raw) > 200 {
		t.Fatalf("a block of a reference has %d bytes: %v", len(raw), err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	put := func(raw []byte) {
		t.Helper()
		if _, err := db.Exec(`UPDATE block SET data = ? WHERE id = ?`, enc.EncodeAll(raw, nil), id); err != nil {
			t.Fatal(err)
		}
	}
	put(bytes.Repeat(raw, n))
	s := snapshot(t, storetest.Open(t, path))
	var got []string
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := s.Events(ctx, named(t, s, "b"), 0, func(e *store.Stored) bool {
		got = append(got, e.Parts[0].Text)
		return len(got) < n
	}); err != nil || len(got) != n || got[0] != long || got[n-1] != long {
		t.Errorf("%d texts: %v", len(got), err)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 20*uint64(len(long)) {
		t.Errorf("%d bytes were taken for a text of %d", after.TotalAlloc-before.TotalAlloc, len(long))
	}
	// Its last bytes are the number of parts, the kind and the id.
	part := raw[len(raw)-2:]
	many := append(slices.Clone(raw[:len(raw)-3]), 100)
	put(append(many, bytes.Repeat(part, 100)...))
	s = snapshot(t, storetest.Open(t, path))
	if err := s.Events(ctx, named(t, s, "b"), 0, func(*store.Stored) bool { return true }); !store.IsDamage(err) {
		t.Errorf("an event of 300 MB: %v", err)
	}
}
