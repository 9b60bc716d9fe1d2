//go:build unix

package faults_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// maxWAL is far above the size at which the log is started anew (16 MB), and far
// below what grows where readers keep it from that.
const maxWAL = 64 << 20

// With readers that search all the time the log of an index that is written to
// all the time stays small, as no view of it is held for long.
func TestLogStaysSmall(t *testing.T) {
	w := newWorld(t)
	by := authors(nil)
	sessions := w.write(by, 60, 6)
	writer := w.start()
	w.fresh(writer, sessions[0].word)

	wal := filepath.Join(w.own, "index.db-wal")
	var stop atomic.Bool
	var searches, appends atomic.Int64
	var largest int64
	var all sync.WaitGroup
	for range 2 {
		reader := w.start()
		for k := range 3 {
			seed := w.rnd.Uint64()
			all.Go(func() {
				rnd := rand.New(rand.NewPCG(seed, uint64(k)))
				for !stop.Load() {
					if _, err := reader.search([]string{"heron", "heron tide", `"marsh reed"`, "estu"}[rnd.IntN(4)], object{"limit": 100}); err != nil {
						t.Errorf("search: %v", err)
						return
					}
					searches.Add(1)
				}
			})
		}
	}
	all.Go(func() {
		for !stop.Load() {
			if info, err := os.Stat(wal); err == nil {
				largest = max(largest, info.Size())
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	deadline := time.Now().Add(pick(4*time.Second, 8*time.Second, 3*time.Minute))
	var written int64
	for time.Now().Before(deadline) {
		// A busy agent: many turns at once.
		x := sessions[w.rnd.IntN(len(sessions))]
		more := w.add(x, 300)
		for _, turn := range more {
			written += int64(len(turn.text))
		}
		if err := x.by.grow(x, more); err != nil {
			t.Error(err)
			break
		}
		appends.Add(1)
		if w.rnd.IntN(3) == 0 {
			if got := w.fresh(writer, more[99].word); got != x.name()+" present" && got != "late" {
				t.Errorf("%s: %q", x.name(), got)
			}
		}
	}
	// The readers go on while the log is started anew: whoever held a view would
	// keep it from that.
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(w.own, "index.db")+"?_busy_timeout=5000")
	w.must(err)
	defer db.Close()
	var busy, frames, moved int
	if err := db.QueryRow(`PRAGMA wal_checkpoint(RESTART)`).Scan(&busy, &frames, &moved); err != nil || busy != 0 {
		t.Errorf("the log cannot be started anew under the readers: busy %d, %d of %d frames, %v", busy, moved, frames, err)
	}
	stop.Store(true)
	all.Wait()
	t.Logf("%d searches and %d appends (%s of text); the log was at most %s",
		searches.Load(), appends.Load(), megabytes(written), megabytes(largest))
	if largest > maxWAL {
		t.Errorf("the log grew to %s", megabytes(largest))
	}
	if searches.Load() == 0 || appends.Load() == 0 {
		t.Error("nothing was measured")
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
