package index_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/requests"
)

// writing starts a service and waits until it is the writer and idle.
func (w *world) writing(s *index.Service) {
	w.t.Helper()
	s.Start(context.Background())
	w.until("the first look of the writer", func() bool { return index.Seated(s) && w.status(s).Phase == contract.PhaseCurrent })
}

// asker is a service that relies on the writer, however busy the machine is.
func (w *world) asker(reads *fakeReader) *index.Service {
	w.t.Helper()
	s := w.service(reads)
	index.SetPatience(s, inTime)
	index.SetTakenWithin(s, inTime)
	return s
}

// pending counts the requests in a state.
func (w *world) pending(state requests.State) (n int) {
	w.t.Helper()
	if _, err := os.Stat(w.paths.Requests()); err != nil {
		return 0
	}
	db, err := sql.Open("sqlite3", "file:"+w.paths.Requests()+"?mode=ro&_busy_timeout=5000")
	w.must(err)
	defer db.Close()
	w.must(db.QueryRow(`SELECT count(*) FROM request WHERE state = ?`, state).Scan(&n))
	return n
}

// What another process needs written the writer writes.
func TestWriterServesOthers(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	w.write("fakes/b.fake", "session-b\nthe plover left\n")
	reads, others := newFake("fakes"), newFake("fakes")
	a := w.enabled(reads)
	w.writing(a)
	b := w.asker(others)
	reads.taken()
	for i := range 5 {
		w.append("fakes/a.fake", fmt.Sprintf("reed%d\n", i))
		if got := w.fresh(b, fmt.Sprintf("reed%d", i)); got != "session-a" {
			t.Errorf("reed%d: %q", i, got)
		}
	}
	w.must(b.Reconcile(context.Background(), true, nil))
	if got := reads.taken(); !strings.HasSuffix(got, "a b") && !strings.HasSuffix(got, "b a") {
		t.Errorf("the writer read %q", got)
	}
	if got := forgotten(w.forget(b, "session-b")); got != "claude:session-b" {
		t.Errorf("forgotten: %q", got)
	}
	if got := w.hits(b, "plover") + w.hits(a, "plover"); got != "session-asession-a" {
		t.Errorf("after forgetting: %q", got)
	}
	was := w.status(b).Identity
	cleared, err := b.Clear(context.Background(), contract.ClearRequest{})
	w.must(err)
	if cleared.Identity == "" || cleared.Identity == was {
		t.Errorf("cleared: %+v, it was %s", cleared, was)
	}
	for _, s := range []*index.Service{a, b} {
		if got := w.fresh(s, "plover"); len(strings.Fields(got)) != 2 || w.status(s).Identity != cleared.Identity {
			t.Errorf("after clear: %q in %s", got, w.status(s).Identity)
		}
	}
	w.setPolicy(b, contract.SetPolicyRequest{Enabled: contract.Some(false)})
	if st := w.status(a); st.Enabled {
		t.Errorf("disabled: %+v", st)
	}
	if got := others.taken(); got != "" || others.looked() > 0 {
		t.Errorf("the other process read %q", got)
	}
	if n := w.pending(requests.Posted) + w.pending(requests.Taken) + w.pending(requests.Withdrawn); n != 0 {
		t.Errorf("%d requests were not done", n)
	}
	if n := w.pending(requests.Done); n < 10 {
		t.Errorf("%d requests were done", n)
	}
}

// What stops the writer's pass is the error of whoever asked for it.
func TestWriterFailsOthers(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	others := newFake("fakes")
	w.writing(w.enabled(newFake("fakes")))
	b := w.asker(others)
	w.must(os.WriteFile(w.paths.Forgotten(), []byte("{"), 0o600))
	request := contract.NewSearchSessionsRequest("plover")
	request.Freshness = contract.FreshnessWait
	_, err := b.SearchSessions(context.Background(), request)
	if e := failed(t, err, contract.CodeIndexFailed); !strings.Contains(e.Message, "forgotten.json") || strings.Count(e.Message, "cannot be brought") != 1 {
		t.Errorf("message %q", e.Message)
	}
	if w.pending(requests.Done) == 0 {
		t.Error("the writer was not asked")
	}
	w.must(os.Remove(w.paths.Forgotten()))
	if got := w.fresh(b, "plover"); got != "session-a" {
		t.Errorf("in the end: %q", got)
	}
}

// Requests that come during a pass are served by one pass after it, which sees
// what was there when they came.
func TestRequestsShareAPass(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	reads := newFake("fakes")
	reached, gate := make(chan struct{}, 1), make(chan struct{})
	reads.meanwhile = func(line string) {
		if line == bog {
			reached <- struct{}{}
			<-gate
		}
	}
	a := w.enabled(reads)
	w.writing(a)
	var askers []*index.Service
	for range 6 {
		askers = append(askers, w.asker(newFake("fakes")))
	}
	w.write("fakes/bog.fake", "session-bog\n"+bog+"\n")
	var all sync.WaitGroup
	ask := func(s *index.Service, word, want string) {
		all.Go(func() {
			if got := w.fresh(s, word); got != want {
				t.Errorf("%s: %q", word, got)
			}
		})
	}
	ask(askers[0], "bog", "session-bog")
	<-reached
	w.until("the first request", func() bool { return w.pending(requests.Taken) == 1 })
	// Too late for the pass that is stuck.
	w.write("fakes/late.fake", "session-late\nthe heron waits\n")
	reads.looked()
	for _, s := range askers[1:] {
		ask(s, "heron", "session-late")
	}
	w.until("all requests", func() bool { return w.pending(requests.Taken) == len(askers) })
	if n := reads.looked(); n != 0 {
		t.Errorf("%d looks while the pass was stuck", n)
	}
	close(gate)
	all.Wait()
	// The writer watches, too: it may have seen the change, and its pass may be
	// one over everything.
	if n := reads.looked(); n < 1 || n > 3 {
		t.Errorf("%d looks for %d requests", n, len(askers)-1)
	}
}

// A damaged desk holds up nobody.
func TestRequestsCannotBeRead(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"no database": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("no database ", 500)), 0o600) },
		"a folder":    func(path string) error { return os.Mkdir(path, 0o700) },
		"cut off":     func(path string) error { return os.Truncate(path, 100) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("fakes/a.fake", "session-a\nthe plover nests\n")
			a := w.enabled(newFake("fakes"))
			w.writing(a)
			b := w.service(newFake("fakes"))
			w.fresh(b, "plover")
			if name == "a folder" {
				w.must(os.Remove(w.paths.Requests()))
			}
			w.must(spoil(w.paths.Requests()))
			for i := range 3 {
				w.append("fakes/a.fake", fmt.Sprintf("reed%d\n", i))
				if got := w.fresh(b, fmt.Sprintf("reed%d", i)); got != "session-a" {
					t.Errorf("reed%d: %q", i, got)
				}
			}
			if name != "a folder" && w.pending(requests.Done) != 3 {
				t.Errorf("%d requests were done on the new desk", w.pending(requests.Done))
			}
		})
	}
}

// another is a process that can be signalled, and what it says line by line.
type another struct {
	cmd  *exec.Cmd
	said *bufio.Scanner
}

func (w *world) another(name string) *another {
	w.t.Helper()
	cmd := w.command(name)
	out, err := cmd.StdoutPipe()
	w.must(err)
	w.must(cmd.Start())
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	return &another{cmd, bufio.NewScanner(out)}
}

// says waits until the process says something.
func (w *world) says(p *another, want string) {
	w.t.Helper()
	got := make(chan string, 1)
	go func() {
		var last string
		for p.said.Scan() && last != want {
			if last = p.said.Text(); last == want {
				break
			}
		}
		got <- last
	}()
	select {
	case last := <-got:
		if last != want {
			w.t.Fatalf("it said %q at last, not %q", last, want)
		}
	case <-time.After(inTime):
		w.t.Fatalf("it did not say %q within %s", want, inTime)
	}
}
