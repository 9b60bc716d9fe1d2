//go:build unix

package faults_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// An index that something else has written over is replaced by a new one, by
// processes that begin with it and by those that have it open.
func TestDamagedIndex(t *testing.T) {
	left := pick(3, 100, 100) // the short form takes any three
	for name, damage := range map[string]func(rnd *rand.Rand, index string) error{
		"emptied":   func(_ *rand.Rand, index string) error { return os.Truncate(index, 0) },
		"truncated": func(rnd *rand.Rand, index string) error { return cut(rnd, index) },
		"header":    func(rnd *rand.Rand, index string) error { return scribble(rnd, index, 0, 100) },
		"pages":     func(rnd *rand.Rand, index string) error { return scribble(rnd, index, 4096, 1<<40) },
		"all of it": func(rnd *rand.Rand, index string) error { return scribble(rnd, index, 0, 1<<40) },
		"log":       func(rnd *rand.Rand, index string) error { return scribble(rnd, index+"-wal", 0, 1<<40) },
		"map":       func(rnd *rand.Rand, index string) error { return scribble(rnd, index+"-shm", 0, 1<<40) },
		"text":      func(_ *rand.Rand, index string) error { return os.WriteFile(index, []byte("Dear diary,\n"), 0o600) },
	} {
		if left--; left < 0 {
			break
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			sessions := w.write(authors(nil), 36, 4)
			s := w.start()
			w.fresh(s, sessions[0].word)
			// Killed, so that the log is left as well.
			s.signal(syscall.SIGKILL)
			<-s.done
			w.must(damage(w.rnd, filepath.Join(w.own, "index.db")))
			running := []*server{w.start(), w.start()}
			for i, s := range running {
				x := sessions[w.rnd.IntN(len(sessions))]
				w.must(x.by.grow(x, w.add(x, 1)))
				if got := w.patient(s, x.turns[len(x.turns)-1].word); got != x.name()+" present" {
					t.Errorf("server %d: %q", i, got)
				}
			}
			// What nobody has read yet may be damaged still: it is met and mended
			// when it is needed.
			for k, x := range sessions {
				for _, turn := range x.turns {
					if got := w.patient(running[k%2], turn.word); got != x.name()+" present" {
						t.Errorf("%q of %s is found in %q", turn.word, x.name(), got)
					}
				}
			}
			after, _ := w.clean()
			look := w.look(w.own, nil)
			defer look.Close()
			w.same("rebuilt", w.read(look), after)
		})
	}
}

// patient is fresh that asks again when the search met the damage itself.
func (w *world) patient(s *server, word string) string {
	w.Helper()
	got := w.fresh(s, word)
	for n := 0; got == "unavailable not-ready" && n < 20; n++ {
		got = w.fresh(s, word)
	}
	return got
}

// cut leaves a random part of a file.
func cut(rnd *rand.Rand, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, 1+rnd.Int64N(info.Size()-1))
}

// scribble writes noise over a stretch of a file; one that is not there is left
// alone.
func scribble(rnd *rand.Rand, path string, from, to int64) error {
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	noise := make([]byte, max(0, min(to, info.Size())-from))
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	_, err = f.WriteAt(noise, from)
	return err
}
