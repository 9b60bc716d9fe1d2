//go:build unix

package faults_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A process that dies at any instant of a first build or of a refresh leaves an
// index in which every session is as it was or as it is, and the next process
// completes it to what a clean build gives.
func TestKilledAtRandom(t *testing.T) {
	w := newWorld(t)
	kills, looks, amidst, asked := 0, 0, 0, 0
	// Enough sessions for a bulk build.
	sessions := w.write(w.all(), pick(220, 260, 1400), 5)
	after, full := w.clean()
	if len(after) != len(sessions) {
		t.Fatalf("%d sessions in a clean build of %d", len(after), len(sessions))
	}
	before := content{}
	for round := 0; kills < pick(15, 100, 400); round++ {
		if round > 0 {
			before = after
			sessions = w.change(sessions)
			var took time.Duration
			after, took = w.clean()
			full = min(full, took) // without what else the machine does
			if round%4 == 0 {
				// A first build once more.
				w.must(os.RemoveAll(w.own))
				w.consent(w.own)
				before = content{}
			}
		}
		for range pick(5, 12, 12) {
			within := full // most of a refresh is over in half the time of a build
			if len(before) > 0 {
				within /= 2
			}
			if !w.kill(within) {
				break // it was done before
			}
			kills++
			if w.rnd.IntN(5) < 3 {
				continue // the next process finds the log as it was left
			}
			if _, err := os.Stat(filepath.Join(w.own, "index.db")); err != nil {
				continue
			}
			s := w.look(w.own, nil)
			got := w.read(s)
			s.Close()
			looks++
			w.between("after a kill", got, before, after)
			if !maps.Equal(got, after) {
				amidst++
			}
		}
		w.run(w.own, "index")
		s := w.look(w.own, nil)
		w.same("completed", w.read(s), after)
		asked += w.findable("completed", s, sessions, 60)
		s.Close()
		w.sound("completed", w.own)
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d kills, after %d of them the index was looked at, %d times in the midst of the work; %d searches checked; a first build takes %v", kills, looks, amidst, asked, full.Round(time.Millisecond))
}

// kill starts a process that indexes, kills it after a random time or a random
// number of writes, and reports whether it was still running.
func (w *world) kill(within time.Duration) bool {
	w.Helper()
	var cmd *exec.Cmd
	switch w.rnd.IntN(6) {
	case 0:
		cmd = w.command(w.own, "serve")
		in, err := cmd.StdinPipe()
		w.must(err)
		defer in.Close()
	case 1, 2:
		cmd = w.command(w.own, "index", "--full")
	default:
		cmd = w.command(w.own, "index")
	}
	var said output
	cmd.Stderr = &said
	w.must(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	deadline := time.After(time.Duration(w.rnd.Int64N(int64(within))))
	writes := 1 << 30
	if w.rnd.IntN(2) == 0 {
		writes = 1 + w.rnd.IntN(12)
		deadline = time.After(within)
	}
	wal := filepath.Join(w.own, "index.db-wal")
	size := int64(-1)
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	byItself := func(err error) bool {
		if err != nil {
			w.Errorf("the process ended by itself: %v\n%s", err, said.String())
		}
		return false
	}
	for done := false; !done; {
		select {
		case <-deadline:
			done = true
		case err := <-ended:
			return byItself(err)
		case <-tick.C:
			if info, err := os.Stat(wal); err == nil && info.Size() != size {
				size = info.Size()
				writes--
				done = writes <= 0
			}
		}
	}
	err := cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		return byItself(<-ended)
	}
	w.must(err)
	<-ended
	if accused(said.String()) {
		w.Errorf("the process said: %s", said.String())
	}
	return true
}

// change lets agents work: some sessions grow, some are rewritten, few are new.
// None is deleted: what is kept of those is no part of a clean build.
func (w *world) change(sessions []*session) []*session {
	w.Helper()
	for range 60 {
		s := sessions[w.rnd.IntN(len(sessions))]
		switch w.rnd.IntN(6) {
		case 0:
			s.turns = s.turns[:0]
			w.add(s, 1+w.rnd.IntN(8))
			w.must(s.by.write(s))
		case 1:
			keep := 1 + w.rnd.IntN(len(s.turns))
			s.turns = s.turns[:keep]
			w.must(s.by.write(s))
		default:
			w.must(s.by.grow(s, w.add(s, 1+w.rnd.IntN(5))))
		}
	}
	by := w.all()
	return append(sessions, w.write(by, len(by), 4)...)
}
