//go:build unix

package faults_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

// refused checks that a search that waits for the index fails as the contract says
// of an index that cannot be written, and that the message tells why.
func (w *world) refused(s *server, query string, reasons ...string) {
	w.Helper()
	a, err := s.search(query, object{"freshness": "wait-until-current"})
	var e *rpcError
	if !errors.As(err, &e) {
		w.Errorf("a search that waits for an index that cannot be written: %v, %s", err, said(a))
		return
	}
	if e.Code != -32803 || e.Data.Code != string(contract.CodeIndexFailed) {
		w.Errorf("error %v", e)
	}
	for _, r := range reasons {
		if strings.Contains(e.Message, r) {
			return
		}
	}
	w.Errorf("the message says none of %q: %s", reasons, e.Message)
}

// indexed is where a word is found without waiting.
func (w *world) indexed(s *server, word string) string {
	w.Helper()
	a, err := s.search(`"`+word+`"`, nil)
	if err != nil {
		w.Errorf("search %q: %v", word, err)
	}
	return said(a)
}

// A full disk is the error of a request that waits; what is indexed is searched
// all the same, and with space again the index is completed.
func TestFullDisk(t *testing.T) {
	w := newWorld(t)
	mount(t, w.own, "size=8m")
	w.consent(w.own)
	old := w.write(authors(nil), 30, 4)
	s := w.start()
	if got, want := w.fresh(s, old[3].word), old[3].name()+" present"; got != want {
		t.Fatalf("before: %q, want %q", got, want)
	}
	for round := range pick(1, 2, 6) {
		filler := filepath.Join(w.own, "filler")
		fill(t, filler)
		// More than fits into what the database and its log may have left.
		more := w.write(authors(nil), 60, 30)
		w.refused(s, more[0].word, "full")
		if got, want := w.indexed(s, old[3].word), old[3].name()+" present"; got != want {
			t.Errorf("while the disk is full: %q, want %q", got, want)
		}
		if st, err := s.status(); err != nil || st.Phase != contract.PhaseDegraded || len(st.DegradedRoots) == 0 || !strings.Contains(st.DegradedRoots[0].Reason, "full") {
			t.Errorf("status %+v, %v", st, err)
		}
		if round%2 == 1 {
			// A process that begins on a full disk.
			s.in.Close()
			s.exit(t, exitWithin)
			s = w.start()
			w.refused(s, more[0].word, "full")
			if got, want := w.indexed(s, old[3].word), old[3].name()+" present"; got != want {
				t.Errorf("begun while the disk is full: %q, want %q", got, want)
			}
		}
		w.must(os.Remove(filler))
		if got, want := w.fresh(s, more[0].word), more[0].name()+" present"; got != want {
			t.Errorf("with space again: %q, want %q", got, want)
		}
		if st, err := s.status(); err != nil || st.Phase != contract.PhaseCurrent || len(st.DegradedRoots) != 0 {
			t.Errorf("status with space again %+v, %v", st, err)
		}
		w.complete("after the disk was full")
		for _, x := range more {
			w.must(x.by.remove(x)) // or the disk is full for good
		}
		w.must(s.command("clear", object{}, nil))
		w.fresh(s, "")
	}
}

// complete compares the index as it is with a clean one.
func (w *world) complete(what string) {
	w.Helper()
	after, _ := w.clean()
	look := w.look(w.own, nil)
	defer look.Close()
	w.same(what, w.read(look), after)
	w.sound(what, w.own)
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for n := 64 << 10; n > 0; {
		if _, err := f.Write(make([]byte, n)); err != nil {
			n /= 2
		}
	}
}

// A first build on a disk that is too small fails, and is found when there is
// room.
func TestFullDiskFromTheStart(t *testing.T) {
	w := newWorld(t)
	mount(t, w.own, "size=256k")
	w.consent(w.own)
	sessions := w.write(authors(nil), 60, 30)
	s := w.start()
	w.refused(s, sessions[0].word, "full")
	mount(t, w.own, "remount,size=64m")
	if got, want := w.fresh(s, sessions[0].word), sessions[0].name()+" present"; got != want {
		t.Errorf("with space: %q, want %q", got, want)
	}
	w.complete("after a disk that was too small")
}

// A data folder that cannot be written is a clear error, while there is an index
// in it and while there is none, and is no matter of the past afterwards.
func TestReadOnlyDataFolder(t *testing.T) {
	for _, begun := range []bool{false, true} {
		name := "without an index"
		if begun {
			name = "with an index"
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			mount(t, w.own, "size=32m")
			w.consent(w.own)
			old := w.write(authors(nil), 12, 3)
			if begun {
				w.run(w.own, "index")
			}
			mount(t, w.own, "remount,ro")
			more := w.write(authors(nil), 6, 3)
			running := []*server{w.start(), w.start()}
			for i, s := range running {
				w.refused(s, more[0].word, "read-only", "readonly", "permission")
				// What was indexed is searched if SQLite can open it there.
				got := w.indexed(s, old[3].word)
				if got != "unavailable not-ready" && (!begun || got != old[3].name()+" present") {
					t.Errorf("server %d, read-only: %q", i, got)
				}
				t.Logf("read-only: %s", got)
				if st, err := s.status(); err != nil || st.Phase != contract.PhaseDegraded {
					t.Errorf("server %d, read-only: status %+v, %v", i, st, err)
				}
			}
			mount(t, w.own, "remount,rw")
			for i, s := range running {
				if got, want := w.fresh(s, more[0].word), more[0].name()+" present"; got != want {
					t.Errorf("server %d, writable again: %q, want %q", i, got, want)
				}
			}
			w.complete("after the folder was read-only")
		})
	}
}
