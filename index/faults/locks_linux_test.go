package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
		holders, err := lockHolders(filepath.Join(w.own, "index.db"))
		if err != nil {
			t.Skip(err)
		}
		if !slices.Contains(holders, s.cmd.Process.Pid) {
			t.Errorf("round %d: the server holds no lock on the index that it has open", round)
		}
		w.run(w.own, "index")
		if got := w.indexed(s, x.turns[len(x.turns)-1].word); got != x.name()+" present" {
			t.Errorf("%q", got)
		}
	}
	w.complete("in the end")
}

// lockHolders are the processes that have a lock on a file.
func lockHolders(path string) (pids []int, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil, err
	}
	inode := fmt.Sprintf(":%d", info.Sys().(*syscall.Stat_t).Ino)
	for line := range strings.Lines(string(locks)) {
		// "1: FLOCK  ADVISORY  WRITE 4711 fe:01:1234 0 EOF"; who waits has "->".
		f := strings.Fields(line)
		if len(f) < 6 || f[1] == "->" || !strings.HasSuffix(f[5], inode) {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
