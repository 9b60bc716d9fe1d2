package index_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/transcript"
)

// helperEnv makes the test binary another process of the world in that folder.
const helperEnv = "SESSIONLS_TEST_WORLD"

// bog is a line that such a process never gets beyond.
const bog = "a bog"

// helpers are what such a process may do.
var helpers = map[string]func(*index.Service){
	"build": func(s *index.Service) {
		said := false
		err := s.Reconcile(context.Background(), false, func(p contract.Progress) {
			if p.FilesDone > 0 && p.FilesDone < p.FilesTotal && !said {
				said = true
				fmt.Println("half-way")
			}
		})
		fmt.Println("done", err)
	},
	"follow": func(s *index.Service) {
		s.Start(context.Background())
		for !index.Seated(s) {
			time.Sleep(5 * time.Millisecond)
		}
		fmt.Println("seated")
		time.Sleep(time.Hour)
	},
	// As above, with quick signs of life; it says when its part changes.
	"watch": func(s *index.Service) {
		index.SetSeatTimes(s, 50*time.Millisecond, time.Second)
		s.Start(context.Background())
		for last := ""; ; time.Sleep(5 * time.Millisecond) {
			part := "waiting"
			switch st, _ := s.SearchStatus(context.Background(), contract.SearchStatusRequest{}); {
			case index.Seated(s):
				part = "seated"
			case index.Acting(s):
				part = "acting"
			case st.Phase != contract.PhaseCurrent:
				continue
			}
			if part != last {
				fmt.Println(part)
			}
			last = part
		}
	},
	"full": func(s *index.Service) {
		if err := limitFiles(200 << 10); err != nil {
			fmt.Println(err)
			return
		}
		req := contract.NewSearchSessionsRequest("heron")
		req.Freshness = contract.FreshnessWait
		_, err := s.SearchSessions(context.Background(), req)
		var e *contract.Error
		if !errors.As(err, &e) {
			fmt.Println("error:", err)
			return
		}
		status, _ := s.SearchStatus(context.Background(), contract.SearchStatusRequest{})
		r, _ := s.SearchSessions(context.Background(), contract.NewSearchSessionsRequest("plover"))
		fmt.Printf("%s %s failed:%d hits:%s\n", e.Code, status.Phase, status.FilesFailed, r.Results.Hits[0].SessionID)
	},
}

func TestMain(m *testing.M) {
	dir := os.Getenv(helperEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	fake := newFake("fakes")
	fake.meanwhile = func(line string) {
		if line == bog {
			fmt.Println("stuck")
			time.Sleep(time.Hour)
		}
	}
	s, err := index.Open(context.Background(), index.Options{
		Paths: index.PathsUnder(filepath.Join(dir, "own")), Env: transcript.Env{Home: filepath.Join(dir, "home")}, Readers: []transcript.Reader{fake},
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	helpers[os.Args[1]](s)
}

// command is another process of the world.
func (w *world) command(name string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], name)
	cmd.Env = append(os.Environ(), helperEnv+"="+filepath.Dir(w.home))
	return cmd
}

// helper runs another process to its end and returns what it said.
func (w *world) helper(name string) string {
	w.t.Helper()
	out, err := w.command(name).CombinedOutput()
	if err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// A process that dies at any instant leaves an index that is consistent, and
// another one completes it.
func TestKilledWhileBuilding(t *testing.T) {
	w := newWorld(t)
	const files = 600
	for i := range files {
		w.write(fmt.Sprintf("fakes/f%d.fake", i), fmt.Sprintf("session-%d\n%s", i, strings.Repeat("the plover nests where the heron waits\n", 40)))
	}
	s := w.service(newFake("fakes"))
	w.must(os.MkdirAll(w.paths.Data, 0o700))
	w.must(os.WriteFile(w.paths.Policy(), []byte(`{"enabled":true,"historyDays":null}`), 0o600))
	for _, wait := range []time.Duration{0, 30 * time.Millisecond, 100 * time.Millisecond} {
		cmd := w.command("build")
		out, err := cmd.StdoutPipe()
		w.must(err)
		w.must(cmd.Start())
		first := make([]byte, 64)
		if _, err := out.Read(first); err != nil {
			t.Fatal(err)
		}
		time.Sleep(wait)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()

		if r := w.ask(s, "plover"); r.Kind == contract.KindResults && r.Results.Total.Sessions > files {
			t.Errorf("%d sessions found of %d", r.Results.Total.Sessions, files)
		}
		report, err := s.Doctor(context.Background())
		w.must(err)
		if report.Index.Error != "" || report.Index.Aside != "" {
			t.Fatalf("after the kill: %+v", report.Index)
		}
	}
	w.reconcile(s)
	st := w.status(s)
	if st.Sessions != files || st.Events != 40*files || st.FilesIndexed != files || st.Phase != contract.PhaseCurrent {
		t.Errorf("completed: %+v", st)
	}
	if r := w.ask(s, "plover"); r.Results.Total.Exact && r.Results.Total.Sessions != files {
		t.Errorf("%d found", r.Results.Total.Sessions)
	}
}

// Two services write and read at once; none fails, none loses anything.
func TestTwoServicesAtOnce(t *testing.T) {
	w := newWorld(t)
	for i := range 30 {
		w.write(fmt.Sprintf("fakes/f%d.fake", i), fmt.Sprintf("session-%d\nthe plover nests\n", i))
	}
	a, b := w.enabled(newFake("fakes")), w.service(newFake("fakes"))
	var group sync.WaitGroup
	for k, s := range []*index.Service{a, b, a, b} {
		group.Go(func() {
			for i := range 8 {
				name := fmt.Sprintf("extra%d-%d", k, i)
				w.write("fakes/"+name+".fake", "session-"+name+"\nword"+name+" here\n")
				req := contract.NewSearchSessionsRequest(`"word` + name + `"`)
				req.Freshness = contract.FreshnessWait
				r, err := s.SearchSessions(context.Background(), req)
				if err != nil {
					t.Error(err)
					return
				}
				if r.Results == nil || !r.Results.Truncated.Freshness && len(r.Results.Hits) != 1 {
					t.Errorf("%s: %+v", name, r.Results)
				}
				if _, err := s.SearchStatus(context.Background(), contract.SearchStatusRequest{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	w.reconcile(a)
	if st := w.status(b); st.Sessions != 30+32 || st.FilesFailed != 0 {
		t.Errorf("status %+v", st)
	}
}

// Searching while the index is cleared again and again gives answers, never
// failures.
func TestSearchingWhileClearing(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	a, b := w.enabled(newFake("fakes")), w.service(newFake("fakes"))
	w.reconcile(a)
	stop := make(chan struct{})
	var group sync.WaitGroup
	for _, s := range []*index.Service{a, b} {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r, err := s.SearchSessions(context.Background(), contract.NewSearchSessionsRequest("plover"))
				if err != nil || r.Kind != contract.KindResults && r.Reason != contract.ReasonNotReady {
					t.Errorf("%+v, %v", r, err)
					return
				}
			}
		})
	}
	for range 10 {
		if _, err := a.Clear(context.Background(), contract.ClearRequest{}); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	group.Wait()
	if got := w.fresh(b, "plover"); got != "session-a" {
		t.Errorf("plover: %q", got)
	}
}
