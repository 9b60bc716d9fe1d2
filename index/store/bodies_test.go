package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/transcript"
)

// noise is text of about n bytes in which nothing is repeated. It begins with a word that can be
// searched for.
func noise(word string, n int) string {
	r := rand.New(rand.NewPCG(uint64(len(word)), uint64(n)))
	for _, c := range word {
		r = rand.New(rand.NewPCG(r.Uint64(), uint64(c)))
	}
	b := []byte(word)
	for len(b) < n {
		b = fmt.Appendf(b, " %x", r.Uint64())
	}
	return string(b)
}

// said are the texts of a session's events, "" for one without.
func said(t testing.TB, s *store.Snapshot, id string) (out []string) {
	t.Helper()
	for _, e := range events(t, s, named(t, s, id), 0) {
		text := ""
		for _, p := range e.Parts {
			text += p.Text
		}
		out = append(out, text)
	}
	return out
}

// holds checks that the index is whole and that sessions say what they should, read from
// the start and by their rows.
func holds(t testing.TB, path string, want map[string][]string) {
	t.Helper()
	r, err := store.OpenReader(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Check(ctx); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for id, texts := range want {
		if got := said(t, s, id); !slices.Equal(got, texts) {
			t.Fatalf("%s says %.80q, want %.80q", id, got, texts)
		}
		of := named(t, s, id)
		var list []store.Place
		s.Spans.Of(of.ID, func(first, end int64) {
			for row := first; row < end; row++ {
				list = append(list, store.Place{Of: of, Row: row})
			}
		})
		s.ReadAhead(ctx, list)
		var all []int64
		for _, p := range list {
			e, _, err := s.EventAt(ctx, of, p.Row)
			if errors.Is(err, store.ErrNoEvent) {
				continue // the title
			}
			if err != nil || e.Parts[0].Text != texts[e.Seq] {
				t.Fatalf("%s, row %d: %.80q, want %.80q (%v)", id, p.Row, e.Parts[0].Text, texts[e.Seq], err)
			}
			all = append(all, p.Row)
		}
		n := 0
		if err := s.RowEvents(ctx, of, all, func(_ int64, e *store.Stored) error {
			if n++; e.Parts[0].Text != texts[e.Seq] {
				return errors.New("another text")
			}
			return nil
		}); err != nil || n != len(all) {
			t.Fatalf("%s: %d of %d rows: %v", id, n, len(all), err)
		}
	}
}

// count gives the number that a query on the database has as its answer.
func count(t testing.TB, path, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func forget(t *testing.T, path string, ids ...string) {
	t.Helper()
	w := openWriter(t, path)
	defer w.Close()
	for _, id := range ids {
		if err := w.Update(ctx, func(tx *store.Tx) error { _, err := tx.Forget("claude", id); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
}

// inFile reports whether the text is in the index in any form that it would be stored in:
// as it stands, or as the literals of a compressed block.
func inFile(t testing.TB, path, text string) bool {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte(text[:32])) {
		return true
	}
	// Every frame that begins anywhere is decoded as far as it goes.
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	for at := 0; ; at++ {
		i := bytes.Index(raw[at:], magic)
		if i < 0 {
			return false
		}
		at += i
		out := make([]byte, 64<<10)
		if err := dec.Reset(bytes.NewReader(raw[at:])); err != nil {
			continue
		}
		n := 0
		for n < len(out) {
			k, err := dec.Read(out[n:])
			n += k
			if err != nil {
				break
			}
		}
		if bytes.Contains(out[:n], []byte(text[:32])) {
			return true
		}
	}
}

// TestBodyOnce: a text that hundreds of sessions have takes its room once, and each of them
// gives it back and is found by it.
func TestBodyOnce(t *testing.T) {
	const n = 500
	sizes := map[int]int64{}
	for _, sessions := range []int{1, n} {
		path := storetest.Path(t)
		prompt := noise("prompt", 8_000)
		want := map[string][]string{}
		var list []storetest.Session
		for i := range sessions {
			id := fmt.Sprintf("s%03d", i)
			want[id] = []string{prompt, fmt.Sprintf("and %d", i)}
			list = append(list, storetest.Talk(id, want[id]...))
		}
		storetest.Build(t, path, list...)
		holds(t, path, want)
		if got := count(t, path, `SELECT count(*) FROM body`); got != min(1, sessions-1) {
			t.Errorf("%d texts are kept once", got)
		}
		s := snapshot(t, storetest.Open(t, path))
		found := map[int64]bool{}
		list64, err := s.Rows(ctx, store.Talk, store.Phrase([]string{"prompt"}, false), 0, 1<<62, 2*n)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range list64 {
			info, _ := s.Spans.At(row)
			found[info.Session] = true
		}
		if len(found) != sessions {
			t.Errorf("%d sessions are found, want %d", len(found), sessions)
		}
		sizes[sessions] = int64(count(t, path, `SELECT sum(octet_length(data)) FROM block`))
	}
	if more := sizes[n] - sizes[1]; more > n*200 {
		t.Errorf("the blocks of %d sessions take %d bytes more than that of one", n, more)
	}
}

// TestBodyOfSeveral: whatever becomes of the session that a text was kept with, the others
// have it, and when the last has gone nothing of it is left.
func TestBodyOfSeveral(t *testing.T) {
	both, mine := noise("both", 5000), noise("mine", 5000)
	for name, change := range map[string]func(*testing.T, string) map[string][]string{
		"forgotten": func(t *testing.T, path string) map[string][]string {
			forget(t, path, "a")
			return map[string][]string{}
		},
		"rewritten without it": func(t *testing.T, path string) map[string][]string {
			storetest.Build(t, path, storetest.Talk("a", "other"))
			forget(t, path)
			return map[string][]string{"a": {"other"}}
		},
		"rewritten with it": func(t *testing.T, path string) map[string][]string {
			storetest.Build(t, path, storetest.Talk("a", "new", both))
			forget(t, path)
			return map[string][]string{"a": {"new", both}}
		},
		"its source dropped": func(t *testing.T, path string) map[string][]string {
			w := openWriter(t, path)
			defer w.Close()
			if err := w.Update(ctx, func(tx *store.Tx) error {
				id, err := tx.PutSource(store.SourceState{Source: transcript.Source{Agent: "claude", Path: "/transcripts/a.jsonl"}, State: store.StateRead})
				if err != nil {
					return err
				}
				return tx.DropSource(id)
			}); err != nil {
				t.Fatal(err)
			}
			if err := w.Scrub(ctx); err != nil {
				t.Fatal(err)
			}
			return map[string][]string{}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := storetest.Path(t)
			storetest.Build(t, path, storetest.Talk("a", both, mine), storetest.Talk("b", "first", both), storetest.Talk("c", both))
			holds(t, path, map[string][]string{"a": {both, mine}, "b": {"first", both}, "c": {both}})
			if !inFile(t, path, both) || !inFile(t, path, mine) {
				t.Fatal("what is there is not seen in the file")
			}
			want := change(t, path)
			want["b"], want["c"] = []string{"first", both}, []string{both}
			holds(t, path, want)
			if inFile(t, path, mine) {
				t.Error("what only the first had is still in the file")
			}
			storetest.Build(t, path, storetest.Talk("d", both)) // from where it is now
			want["d"] = []string{both}
			holds(t, path, want)
			forget(t, path, "c")
			delete(want, "c")
			holds(t, path, want)
			forget(t, path, "b", "d", "a")
			holds(t, path, nil)
			if inFile(t, path, both) {
				t.Error("what nobody has is still in the file")
			}
			for _, table := range []string{"body", "borrowed", "seen", "block"} {
				if n := count(t, path, `SELECT count(*) FROM `+table); n != 0 {
					t.Errorf("%d rows are left in %s", n, table)
				}
			}
		})
	}
}

// write is a reading of one source with one session, in which every third text is a call;
// from is where it goes on.
func write(tx *store.Tx, id string, from int, texts []string, end func(*store.Sink) error) error {
	src := transcript.Source{Agent: "claude", Path: "/transcripts/" + id + ".jsonl", Signature: "x", ModTime: storetest.Now, Size: 1}
	row, err := tx.PutSource(store.SourceState{Source: src, State: store.StateRead, Checkpoint: &transcript.Checkpoint{}})
	if err != nil {
		return err
	}
	sink := tx.NewSink(row, src, "Claude Code", nil)
	if err := sink.Begin(from > 0); err != nil {
		return err
	}
	for i, text := range texts[from:] {
		e := storetest.Say([]string{"user", "call", "assistant"}[(from+i)%3], text)
		e.SessionID, e.Seq, e.ID = id, from+i, fmt.Sprintf("%s-%d", id, from+i)
		if err := sink.Event(&e); err != nil {
			return err
		}
	}
	h := transcript.Header{SessionID: id, Conversation: true, Relation: transcript.RelationRoot}
	h.SetTitle("session "+id, transcript.TitleUser)
	if err := sink.Header(&h); err != nil {
		return err
	}
	if end != nil {
		return end(sink)
	}
	return sink.Close()
}

// TestBodyInGrowingSessions: sessions that go on refer to texts of each other and of
// their own.
func TestBodyInGrowingSessions(t *testing.T) {
	path := storetest.Path(t)
	w := openWriter(t, path)
	x, y, z := noise("x", 3000), noise("y", 60_000), noise("z", 2000)
	want := map[string][]string{}
	grow := func(id string, texts ...string) {
		t.Helper()
		from := len(want[id])
		want[id] = append(want[id], texts...)
		if err := w.Update(ctx, func(tx *store.Tx) error { return write(tx, id, from, want[id], nil) }); err != nil {
			t.Fatal(err)
		}
		holds(t, path, want)
	}
	grow("a", x, "one")
	grow("b", "two", x)
	grow("b", y, y, z, x)
	grow("a", z, y, x)
	grow("a", z)
	blocks := count(t, path, `SELECT sum(octet_length(data)) FROM block`)
	if own := len(x) + len(y) + len(z); blocks > own+1000 {
		t.Errorf("blocks have %d bytes, the texts %d", blocks, own)
	}
	if n := count(t, path, `SELECT count(*) FROM body`); n != 3 {
		t.Errorf("%d texts are kept once, want 3", n)
	}
}

// TestBodyUndone: a transaction that is undone, and a reading that is taken back
// inside one, leave nothing that others refer to.
func TestBodyUndone(t *testing.T) {
	path := storetest.Path(t)
	w := openWriter(t, path)
	x, y := noise("x", 3000), noise("y", 60_000)
	undo := errors.New("undo")
	if err := w.Update(ctx, func(tx *store.Tx) error {
		if err := write(tx, "a", 0, []string{x, y}, nil); err != nil {
			return err
		}
		if err := write(tx, "b", 0, []string{y, x}, nil); err != nil {
			return err
		}
		return undo
	}); !errors.Is(err, undo) {
		t.Fatal(err)
	}
	if n := count(t, path, `SELECT (SELECT count(*) FROM seen) + (SELECT count(*) FROM body)`); n != 0 {
		t.Errorf("%d texts are known of what was undone", n)
	}
	if err := w.Update(ctx, func(tx *store.Tx) error {
		for _, step := range []struct {
			id    string
			texts []string
			end   func(*store.Sink) error
		}{
			{"a", []string{x, y, x}, (*store.Sink).Abort},
			{"b", []string{"b", y, x}, nil},
			{"c", []string{x, y, "c", x}, nil},
			{"b", []string{y, "anew"}, (*store.Sink).Abort},
			{"d", []string{y, y, x}, nil},
		} {
			if err := write(tx, step.id, 0, step.texts, step.end); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	holds(t, path, map[string][]string{"c": {x, y, "c", x}, "d": {y, y, x}})
}

// TestBodiesReadTwice: what will be read again soon is referred to by nobody, and refers to
// nobody. What is said in a session without tools' text stays.
func TestBodiesReadTwice(t *testing.T) {
	path := storetest.Path(t)
	w := openWriter(t, path)
	x, y, z := noise("x", 3000), noise("y", 3000), noise("z", 3000)
	update := func(id string, texts ...string) {
		t.Helper()
		if err := w.Update(ctx, func(tx *store.Tx) error { return write(tx, id, 0, texts, nil) }); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string][]string{"a": {x}, "b": {x, "", y}, "c": {z}, "d": {y}, "e": {z}}
	update("a", x)
	w.SetMode(store.TalkFirst)
	update("b", x, "a call", y)
	update("c", z)
	w.SetMode(store.Live)
	update("d", y)
	update("e", z)
	holds(t, path, want)
	if n := count(t, path, `SELECT count(*) FROM borrowed`); n != 1 {
		t.Errorf("%d texts are borrowed, want that of c", n)
	}
	update("b", x, "a call", y)
	want["b"] = []string{x, "a call", y}
	holds(t, path, want)
	if n := count(t, path, `SELECT count(*) FROM borrowed`); n != 3 {
		t.Errorf("%d texts are borrowed", n)
	}
}

// TestBodiesOverTime: sessions that share texts come, grow, are written anew, fail and go, in
// any order, several in a transaction; the index is whole after each, and all of them
// say what they should.
func TestBodiesOverTime(t *testing.T) {
	path := storetest.Path(t)
	w := openWriter(t, path)
	r := rand.New(rand.NewPCG(21, 22))
	var pool []string
	for i := range 14 {
		pool = append(pool, noise(fmt.Sprintf("p%d", i), []int{900, 1100, 3000, 30_000}[i%4]))
	}
	some := func() (out []string) {
		for range 1 + r.IntN(6) {
			if r.IntN(4) == 0 {
				out = append(out, fmt.Sprintf("short %d", r.IntN(100)))
			} else {
				out = append(out, pool[r.IntN(len(pool))])
			}
		}
		return out
	}
	want := map[string][]string{}
	undo := errors.New("undo")
	mode := store.Live
	// put writes a session from one of its texts on; TalkFirst leaves calls out.
	put := func(tx *store.Tx, now map[string][]string, id string, from int, texts []string) error {
		now[id] = slices.Clone(texts)
		for i := range texts {
			if i >= from && i%3 == 1 && mode == store.TalkFirst {
				now[id][i] = ""
			}
		}
		return write(tx, id, from, texts, nil)
	}
	step := func(tx *store.Tx, now map[string][]string) error {
		id := fmt.Sprintf("s%d", r.IntN(12))
		have, known := now[id]
		switch {
		case known && r.IntN(3) == 0:
			delete(now, id)
			_, err := tx.Forget("claude", id)
			return err
		case known && r.IntN(2) == 0:
			return put(tx, now, id, len(have), slices.Concat(have, some()))
		case r.IntN(6) == 0:
			delete(now, id)
			return write(tx, id, 0, some(), (*store.Sink).Abort)
		}
		return put(tx, now, id, 0, some())
	}
	rounds := 100
	if testing.Short() {
		rounds = 60
	}
	for i := range rounds {
		mode = []store.Mode{store.Live, store.TalkFirst, store.Live, store.Bulk}[i/10%4]
		w.SetMode(mode)
		now := map[string][]string{}
		for id, texts := range want {
			now[id] = texts
		}
		fails := r.IntN(6) == 0
		err := w.Update(ctx, func(tx *store.Tx) error {
			for range 1 + r.IntN(4) {
				if err := step(tx, now); err != nil {
					return err
				}
			}
			if fails {
				return undo
			}
			return nil
		})
		if !fails {
			want = now
		} else if errors.Is(err, undo) {
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if i%40 == 39 {
			if err := w.Scrub(ctx); err != nil {
				t.Fatal(err)
			}
		}
		holds(t, path, want)
	}
	for id := range want {
		if err := w.Update(ctx, func(tx *store.Tx) error { _, err := tx.Forget("claude", id); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, path, `SELECT (SELECT count(*) FROM body) + (SELECT count(*) FROM borrowed) + (SELECT count(*) FROM block)`); n != 0 {
		t.Errorf("%d rows are left of nothing", n)
	}
}

// TestBodyAnywhere: a body that is said to lie anywhere in the block that refers to it, at
// the reference itself among others, is damage.
func TestBodyAnywhere(t *testing.T) {
	path := storetest.Path(t)
	x := noise("x", 3000)
	storetest.Build(t, path, storetest.Talk("a", x), storetest.Talk("b", "before", x, "behind"))
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := named(t, snapshot(t, storetest.Open(t, path)), "b")
	for at := range 200 {
		if _, err := db.Exec(`UPDATE body SET block = (SELECT id FROM block WHERE session = ?), at = ?`, s.ID, at); err != nil {
			t.Fatal(err)
		}
		if err := snapshot(t, storetest.Open(t, path)).Events(ctx, s, 0, func(*store.Stored) bool { return true }); !store.IsDamage(err) {
			t.Fatalf("at %d: %v", at, err)
		}
	}
}
