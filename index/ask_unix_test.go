//go:build unix

package index_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/requests"
)

// A writer that was killed after it had taken a request has it done by the asker.
func TestWriterIsKilledAtWork(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.enabled(newFake("fakes"))
	index.SetPatience(s, inTime)
	index.SetTakenWithin(s, inTime)
	writer := w.another("follow")
	w.says(writer, "seated")
	w.fresh(s, "plover")
	w.write("fakes/bog.fake", "session-bog\n"+bog+"\nthe heron waits\n")
	var asking sync.WaitGroup
	asking.Go(func() {
		if got := w.fresh(s, "heron"); got != "session-bog" {
			t.Errorf("heron: %q", got)
		}
	})
	w.says(writer, "stuck")
	w.until("the request is taken", func() bool { return w.pending(requests.Taken) == 1 })
	w.must(writer.cmd.Process.Kill())
	asking.Wait()
}

// halt stops a process while it does not write. Amid a pass it would keep the lock,
// and nobody could write until it goes on.
func (w *world) halt(p *another) {
	w.t.Helper()
	lock := flock.New(w.paths.Lock())
	defer lock.Close()
	if err := lock.Lock(); err != nil {
		w.t.Fatal(err)
	}
	w.must(p.cmd.Process.Signal(syscall.SIGSTOP))
	// The signal is on its way.
	w.until("the stop", func() bool {
		stat, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(p.cmd.Process.Pid)).Output()
		return err == nil && strings.HasPrefix(string(stat), "T")
	})
}

// A writer that was stopped holds up nobody, and does no harm when it goes on.
func TestWriterIsStopped(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.enabled(newFake("fakes"))
	index.SetPatience(s, inTime)
	writer := w.another("follow")
	w.says(writer, "seated")
	w.fresh(s, "plover")
	w.halt(writer)
	w.append("fakes/a.fake", "the heron waits\n")
	if got := w.fresh(s, "heron"); got != "session-a" {
		t.Errorf("heron: %q", got)
	}
	cleared, err := s.Clear(context.Background(), contract.ClearRequest{})
	w.must(err)
	if got := w.fresh(s, "heron"); got != "session-a" {
		t.Errorf("heron after clear: %q", got)
	}
	w.must(writer.cmd.Process.Signal(syscall.SIGCONT))
	before := w.pending(requests.Done)
	w.until("the writer answers again", func() bool {
		if got := w.fresh(s, "heron"); got != "session-a" {
			t.Errorf("heron: %q", got)
		}
		return w.pending(requests.Done) > before
	})
	if st := w.status(s); st.Identity != cleared.Identity {
		t.Errorf("it was cleared once more: %s, then %s", cleared.Identity, st.Identity)
	}
}

// sleeper holds the seat, takes requests and does nothing, as a process does that
// was stopped at that instant.
type sleeper struct {
	seat *flock.Flock
	bell *os.File
}

func (w *world) sleeper() *sleeper {
	w.t.Helper()
	w.must(os.MkdirAll(w.paths.Data, 0o700))
	x := &sleeper{seat: flock.New(w.paths.Seat())}
	if ok, err := x.seat.TryLock(); !ok {
		w.t.Fatal(err)
	}
	if err := syscall.Mkfifo(w.paths.Bell(), 0o600); err != nil && !os.IsExist(err) {
		w.t.Fatal(err)
	}
	var err error
	x.bell, err = os.OpenFile(w.paths.Bell(), os.O_RDWR|syscall.O_NONBLOCK, 0)
	w.must(err)
	w.t.Cleanup(func() { x.bell.Close(); x.seat.Close() })
	return x
}

// What was taken by a writer that does not work on it the asker does himself, and
// the writer may not begin with it any more.
func TestTakenAndAbandoned(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.enabled(newFake("fakes"))
	index.SetPatience(s, inTime)
	w.reconcile(s)
	x := w.sleeper()
	var taken []requests.Request
	take := func() {
		box, err := requests.Open(context.Background(), w.paths.Requests())
		w.must(err)
		defer box.Close()
		var b [16]byte
		_, _ = x.bell.Read(b[:])
		list, err := box.Take(context.Background(), "sleeper")
		w.must(err)
		taken = append(taken, list...)
	}
	var taking sync.WaitGroup
	taking.Go(take)
	w.append("fakes/a.fake", "the heron waits\n")
	if got := w.fresh(s, "heron"); got != "session-a" {
		t.Errorf("heron: %q", got)
	}
	taking.Wait()
	taking.Go(take)
	if _, err := s.Clear(context.Background(), contract.ClearRequest{}); err != nil {
		t.Error(err)
	}
	taking.Wait()
	if len(taken) < 2 || taken[0].Kind != requests.Reconcile || taken[1].Kind != requests.Clear {
		t.Fatalf("taken: %+v", taken)
	}
	box, err := requests.Open(context.Background(), w.paths.Requests())
	w.must(err)
	defer box.Close()
	for _, r := range taken[:2] {
		if waits, err := box.Waits(context.Background(), "sleeper", r.ID); err != nil || waits {
			t.Errorf("%s is still waited for: %v, %v", r.Kind, waits, err)
		}
	}
}

// A writer of another version leaves an index that this one cannot read; what it
// says is no answer then.
func TestWriterOfAnotherVersion(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.enabled(newFake("fakes"))
	index.SetPatience(s, inTime)
	w.reconcile(s)
	w.must(s.Close())
	w.alter(`UPDATE meta SET value = 'of another' WHERE key = 'terms'`)
	x := w.sleeper()
	var serving sync.WaitGroup
	ended := make(chan struct{})
	serving.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(5 * time.Millisecond):
			}
			box, err := requests.Open(context.Background(), w.paths.Requests())
			if err != nil {
				continue
			}
			if list, err := box.Take(context.Background(), "another"); err == nil && len(list) > 0 {
				if err := box.Finish(context.Background(), "another", []int64{list[0].ID}, requests.Answer{State: requests.Done}); err != nil {
					t.Log(err)
				}
			}
			_ = box.Close()
		}
	})
	s = w.service(newFake("fakes"))
	index.SetPatience(s, inTime)
	if got := w.fresh(s, "plover"); got != "session-a" {
		t.Errorf("plover: %q", got)
	}
	close(ended)
	serving.Wait()
	w.must(x.seat.Close())
	if n := w.pending(requests.Done); n == 0 {
		t.Error("the writer was not asked")
	}
}

// While the process that watches is stopped, another one watches; when it goes on
// there is one again.
func TestWatchingProcessIsStopped(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.enabled(newFake("fakes"))
	first := w.another("watch")
	w.says(first, "seated")
	second := w.another("watch")
	w.says(second, "waiting")
	found := func(word, when string) {
		t.Helper()
		w.append("fakes/a.fake", word+"\n")
		w.until(when, func() bool { return w.hits(s, word) == "session-a" })
	}
	found("reed", "a change while both are well")
	for _, round := range []string{"first", "second"} {
		w.halt(first)
		w.says(second, "acting")
		found("heron"+round, "a change while one is stopped")
		found("avocet"+round, "another one")
		w.must(first.cmd.Process.Signal(syscall.SIGCONT))
		w.says(second, "waiting")
		found("curlew"+round, "a change when it goes on")
	}
	// The seat was kept, and is handed on.
	w.must(first.cmd.Process.Kill())
	w.says(second, "seated")
	found("tern", "a change when it is dead")
	if matches, _ := filepath.Glob(w.paths.Index() + ".old*"); len(matches) > 0 {
		t.Errorf("an index was set aside: %v", matches)
	}
}
