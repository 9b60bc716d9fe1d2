package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A process keeps its lock on the index while it has it open. Without one another
// process that ends takes itself for the last and deletes the log under it; a
// lock is lost when the file is opened and closed behind SQLite's back.
func TestLocksAreKept(t *testing.T) {
	w := newWorld(t)
	sessions := w.write(authors(nil), 12, 3)
	s := w.start()
	for round := range 4 {
		x := sessions[w.rnd.IntN(len(sessions))]
		w.must(x.by.grow(x, w.add(x, 1)))
		if got := w.fresh(s, x.turns[len(x.turns)-1].word); got != x.name()+" present" {
			t.Fatalf("%q", got)
		}
		info, err := os.Stat(filepath.Join(w.own, "index.db"))
		w.must(err)
		locks, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Skip(err)
		}
		held := false
		for line := range strings.Lines(string(locks)) {
			held = held || strings.Contains(line, fmt.Sprintf(" %d ", s.cmd.Process.Pid)) && strings.Contains(line, fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino))
		}
		if !held {
			t.Errorf("round %d: the server holds no lock on the index that it has open", round)
		}
		w.run(w.own, "index")
		if got := w.indexed(s, x.turns[len(x.turns)-1].word); got != x.name()+" present" {
			t.Errorf("%q", got)
		}
	}
	w.complete("in the end")
}
