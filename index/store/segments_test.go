package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/transcript"
)

// segmentCount is how many segments a stream has.
func segmentCount(t *testing.T, path string, in store.Stream) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(`SELECT count(*) FROM segment WHERE stream = ?`, int(in)).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// spansOf lists the rows that a snapshot knows of, with their sessions.
func spansOf(s *store.Snapshot) (out [][2]int64) {
	s.Spans.Each(func(row int64, info store.RowInfo) { out = append(out, [2]int64{row, info.Session}) })
	return out
}

// TestSegmentsStayFew: sessions that come, are read anew and go, one after the other or in a
// build of any kind that is undone now and then, leave an index with few segments in which each
// session that is there is found, and no other. A reader that was there all the time finds the same.
func TestSegmentsStayFew(t *testing.T) {
	path := storetest.Path(t)
	w := openWriter(t, path)
	r := rand.New(rand.NewPCG(11, 12))
	there := map[string]int{}     // how often it was written
	talkOnly := map[string]bool{} // without the tools' text
	mode := store.Live
	patient, err := store.OpenReader(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer patient.Close()
	undo := errors.New("undo")
	word := func(id string, version int) string { return fmt.Sprintf("w%sv%dx", id, version) }
	check := func() {
		t.Helper()
		reader, err := store.OpenReader(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		if err := reader.Check(ctx); err != nil {
			t.Fatal(err)
		}
		s, err := reader.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		other, err := patient.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if got, want := spansOf(other), spansOf(s); !slices.Equal(got, want) {
			t.Fatalf("one reader knows %d rows, another %d, or others", len(got), len(want))
		}
		for id, version := range there {
			for _, in := range []store.Stream{store.Talk, store.ToolText} {
				want := 1
				if in == store.ToolText && talkOnly[id] {
					want = 0
				}
				if n := len(rows(t, s, in, word(id, version))); n != want {
					t.Fatalf("%s in its version %d is found %d times in stream %d", id, version, n, in)
				}
				for old := range version {
					if got := rows(t, s, in, word(id, old)); len(got) > 0 {
						t.Fatalf("%s is found by version %d, it is at %d", id, old, version)
					}
				}
			}
		}
		// The newest are the first, in whatever segments they are.
		all, err := s.Rows(ctx, store.Talk, store.Phrase([]string{"common"}, false), 0, 1<<62, 10)
		if err != nil || !slices.IsSortedFunc(all, func(a, b int64) int { return int(b - a) }) || len(all) != min(10, len(there)) {
			t.Fatalf("the newest: %v %v", all, err)
		}
	}
	write := func(tx *store.Tx, id string, version int) error {
		return storetest.Write(tx, storetest.Session{Header: storetest.Talk(id).Header, Events: slices.Concat(
			storetest.Talk(id, "common "+word(id, version)).Events,
			[]transcript.Event{storetest.Say("tool", "output common "+word(id, version))})})
	}
	for i := range 300 {
		switch i % 100 {
		case 30:
			mode = store.TalkFirst
		case 50:
			mode = store.Bulk
		case 70:
			mode = store.Live
		}
		w.SetMode(mode)
		id := fmt.Sprintf("s%d", r.IntN(80))
		version, known := there[id]
		fails, drops := r.IntN(6) == 0, known && r.IntN(3) == 0
		err := w.Update(ctx, func(tx *store.Tx) error {
			if drops {
				if _, err := tx.Forget("claude", id); err != nil {
					return err
				}
			} else if err := write(tx, id, version+1); err != nil {
				return err
			}
			if fails {
				return undo
			}
			return nil
		})
		switch {
		case fails:
			if !errors.Is(err, undo) {
				t.Fatal(err)
			}
		case err != nil:
			t.Fatal(err)
		case drops:
			delete(there, id)
		default:
			there[id], talkOnly[id] = version+1, mode == store.TalkFirst
		}
		if i%25 == 24 || i%100 >= 48 && i%100 < 60 && i%4 == 0 {
			check()
		}
	}
	for _, in := range []store.Stream{store.Talk, store.ToolText} {
		if n := segmentCount(t, path, in); n > 20 {
			t.Errorf("%d segments of stream %d", n, in)
		}
	}
	if err := w.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	for _, in := range []store.Stream{store.Talk, store.ToolText} {
		// Those of which only what was said is read are apart.
		if n := segmentCount(t, path, in); n < 1 || n > 2 {
			t.Errorf("%d segments of stream %d after a build", n, in)
		}
	}
	check()
	for id := range there {
		if err := w.Update(ctx, func(tx *store.Tx) error { _, err := tx.Forget("claude", id); return err }); err != nil {
			t.Fatal(err)
		}
	}
	clear(there)
	if err := w.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	check()
	if n := segmentCount(t, path, store.Talk) + segmentCount(t, path, store.ToolText); n != 0 {
		t.Errorf("%d segments of nothing", n)
	}
}
