package index_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/exact"
)

func TestNothingIsReadWithoutConsent(t *testing.T) {
	for name, policy := range map[string]string{"undecided": "", "disabled": `{"enabled":false}`, "null": `{"enabled":null,"historyDays":7}`, "damaged": `{"enabled":tru`, "out of bounds": `{"enabled":true,"historyDays":0}`} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("fakes/a.fake", "session-a\nthe plover nests\n")
			if policy != "" {
				w.must(os.MkdirAll(w.paths.Data, 0o700))
				w.must(os.WriteFile(w.paths.Policy(), []byte(policy), 0o600))
			}
			fake := newFake("fakes")
			s := w.service(fake)
			s.Start(context.Background())
			for _, got := range []string{w.hits(s, "plover"), w.fresh(s, "plover")} {
				if got != "unavailable/disabled" {
					t.Errorf("search: %q", got)
				}
			}
			want, _ := json.Marshal(contract.IdleStatus(name == "disabled"))
			if got, _ := json.Marshal(w.status(s)); string(got) != string(want) {
				t.Errorf("status %s, want %s", got, want)
			}
			failed(t, s.Reconcile(context.Background(), false, nil), contract.CodeSearchDisabled)
			_, err := s.Resolve(context.Background(), contract.SessionName{SessionID: "session-a"})
			failed(t, err, contract.CodeSearchDisabled)
			report, err := s.Doctor(context.Background())
			w.must(err)
			if p := report.Agents[0].Places[0]; !p.Found || p.Sources != nil {
				t.Errorf("doctor looked into a folder: %+v", p)
			}
			if _, err := s.Clear(context.Background(), contract.ClearRequest{}); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(w.paths.Index()); err == nil {
				t.Error("an index was created")
			}
			if got := fake.taken(); got != "" {
				t.Errorf("read %q", got)
			}
			if policy == "" {
				if _, err := os.Stat(w.paths.Data); err == nil {
					t.Error("the data folder was created")
				}
			}
		})
	}
}

func TestPolicyIsSharedAndLasts(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s, other := w.service(newFake("fakes")), w.service(newFake("fakes"))
	get := func(s *index.Service) string {
		p, err := s.GetPolicy(context.Background(), contract.GetPolicyRequest{})
		w.must(err)
		b, _ := json.Marshal(p)
		return string(b)
	}
	if got := get(s); got != `{"enabled":null,"historyDays":null}` {
		t.Errorf("at first %s", got)
	}
	w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(true), HistoryDays: contract.Some(90)})
	w.setPolicy(other, contract.SetPolicyRequest{Enabled: contract.Some(true)}) // days stay
	for _, x := range []*index.Service{s, other, w.service()} {
		if got := get(x); got != `{"enabled":true,"historyDays":90}` {
			t.Errorf("policy %s", got)
		}
	}
	if got := w.fresh(other, "plover"); got != "session-a" {
		t.Errorf("plover: %q", got)
	}
	w.setPolicy(other, contract.SetPolicyRequest{Enabled: contract.Some(false)})
	if got := w.hits(s, "plover"); got != "unavailable/disabled" {
		t.Errorf("disabled by another process: %q", got)
	}
	if _, err := os.Stat(w.paths.Index()); err != nil {
		t.Errorf("disabling must keep the file: %v", err)
	}
	w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(true)})
	if got := w.hits(s, "plover"); got != "session-a" {
		t.Errorf("enabled again: %q", got)
	}
}

func TestFilesAreTheUsersAlone(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	w.must(filepath.WalkDir(w.paths.Data, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", d.Name(), info.Mode())
		}
		return err
	}))
}

func TestClear(t *testing.T) {
	w := newWorld(t)
	file := w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	gone := w.write("fakes/b.fake", "session-b\nthe plover left\n")
	s := w.enabled(newFake("fakes"))
	other := w.service(newFake("fakes"))
	w.reconcile(s)
	w.must(os.Remove(gone))
	w.reconcile(s)
	cursor := w.page(other, "plover", 1)
	before := w.status(s)
	r, err := s.Clear(context.Background(), contract.ClearRequest{})
	w.must(err)
	if !r.Cleared || r.Identity == "" || r.Identity == before.Identity {
		t.Errorf("cleared %+v, before %s", r, before.Identity)
	}
	for _, x := range []*index.Service{other, s} {
		if got := w.fresh(x, "plover"); got != "session-a" {
			t.Errorf("rebuilt: %q; kept copies must be gone", got)
		}
		if st := w.status(x); st.Identity != r.Identity {
			t.Errorf("identity %s, want %s", st.Identity, r.Identity)
		}
		req := contract.NewSearchSessionsRequest("plover")
		req.Cursor, req.Limit = cursor, 1
		if got, err := x.SearchSessions(context.Background(), req); err != nil || got.Kind != contract.KindStaleCursor {
			t.Errorf("old cursor: %v, %v", got.Kind, err)
		}
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the transcript: %v", err)
	}
	w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(false)})
	if r, err = s.Clear(context.Background(), contract.ClearRequest{}); err != nil || !r.Cleared || r.Identity != "" {
		t.Errorf("clear while disabled: %+v, %v", r, err)
	}
	for _, name := range []string{"index.db", "index.db-wal", "index.db-shm"} {
		if _, err := os.Stat(filepath.Join(w.paths.Data, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}

func TestClearInterruptsABuild(t *testing.T) {
	w := newWorld(t)
	for _, n := range []string{"a", "b", "c", "d"} {
		w.write("fakes/"+n+".fake", "session-"+n+"\nthe plover nests\n")
	}
	fake := newFake("fakes")
	reading, goOn := make(chan struct{}), make(chan struct{})
	first := true
	fake.meanwhile = func(string) {
		if first {
			first = false
			close(reading)
			<-goOn
		}
	}
	s := w.enabled(fake)
	<-reading
	waiting := make(chan string)
	go func() { waiting <- w.fresh(s, "plover") }()
	cleared := make(chan error)
	go func() {
		_, err := s.Clear(context.Background(), contract.ClearRequest{})
		cleared <- err
	}()
	close(goOn)
	w.must(<-cleared)
	if got := strings.Fields(<-waiting); len(got) != 4 {
		t.Errorf("who waited got %q, want all four", got)
	}
}

func TestFreshnessAcrossServices(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	a, b := w.enabled(newFake("fakes")), w.service(newFake("fakes"))
	words := []string{"heron", "kestrel", "skua", "tern"}
	for i, word := range words {
		w.append("fakes/a.fake", "the "+word+" waits\n")
		s := []*index.Service{a, b}[i%2]
		if got := w.fresh(s, word); got != "session-a" {
			t.Errorf("%s: %q", word, got)
		}
	}
	for _, word := range words {
		if got := w.hits(a, word) + " " + w.hits(b, word); got != "session-a session-a" {
			t.Errorf("%s: %q", word, got)
		}
	}
}

func TestSlowReadingIsNotWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	fake := newFake("fakes")
	s := w.enabled(fake)
	w.reconcile(s)
	index.SetPatience(s, 50*time.Millisecond)
	goOn := make(chan struct{})
	fake.meanwhile = func(string) { <-goOn }
	w.append("fakes/a.fake", "the heron waits\n")
	req := contract.NewSearchSessionsRequest("plover heron")
	req.Freshness = contract.FreshnessWait
	r, err := s.SearchSessions(context.Background(), req)
	w.must(err)
	if r.Results == nil || !r.Results.Truncated.Freshness || len(r.Results.Hits) != 1 {
		t.Errorf("answer %+v, want what is indexed and truncated.freshness", r.Results)
	}
	// The pass may have only begun.
	w.until("status while reading", func() bool {
		st := w.status(s)
		return st.Phase == contract.PhaseIndexing && st.FilesDue == 1 && st.Progress != nil && st.Writer == contract.WriterThis
	})
	other := w.service(newFake("fakes"))
	if st := w.status(other); st.Writer != contract.WriterOther || st.Sessions != 1 {
		t.Errorf("status in another process %+v", st)
	}
	index.SetPatience(s, time.Minute)
	close(goOn)
	if got := w.fresh(s, "heron"); got != "session-a" {
		t.Errorf("the reading must go on: %q", got)
	}
}

func TestCancelledRequest(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	req := contract.NewSearchSessionsRequest("plover")
	_, err := s.SearchSessions(ctx, req)
	failed(t, err, contract.CodeAborted)
	req.Freshness = contract.FreshnessWait
	_, err = s.SearchSessions(ctx, req)
	failed(t, err, contract.CodeAborted)
	if got := w.fresh(s, "plover"); got != "session-a" {
		t.Errorf("afterwards: %q", got)
	}
}

func TestOtherHosts(t *testing.T) {
	w := newWorld(t)
	s := w.enabled(newFake("fakes"))
	req := contract.NewSearchSessionsRequest("plover")
	req.ExecutionHost = "ssh:far"
	r, err := s.SearchSessions(context.Background(), req)
	if w.must(err); r.Kind != contract.KindUnavailable || r.Reason != contract.ReasonNoService {
		t.Errorf("answer %+v", r)
	}
	st, err := s.SearchStatus(context.Background(), contract.SearchStatusRequest{ExecutionHost: "ssh:far"})
	if w.must(err); st.Phase != contract.PhaseIdle || st.Enabled {
		t.Errorf("status %+v", st)
	}
}

func TestClosedService(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	w.must(s.Close())
	w.must(s.Close())
	if got := w.hits(s, "plover"); got != "unavailable/not-ready" {
		t.Errorf("search: %q", got)
	}
	if st := w.status(s); st.Phase != contract.PhaseClosed {
		t.Errorf("status %+v", st)
	}
	s.Start(context.Background())
}

func TestSubscribersAreWoken(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.service(newFake("fakes"))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	wake := s.Subscribe(ctx)
	w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(true)})
	var phases []contract.Phase
	for deadline := time.After(inTime); ; {
		select {
		case <-wake:
		case <-deadline:
			t.Fatalf("phases %q, want current at last", phases)
		}
		phases = append(phases, w.status(s).Phase)
		if phases[len(phases)-1] == contract.PhaseCurrent {
			break
		}
	}
}

func TestResumeCommand(t *testing.T) {
	w := newWorld(t)
	s := w.service()
	for _, c := range []struct{ agent, id, format, want string }{
		{"claude", idA, "", "claude --resume " + idA},
		{"codex", "it's; $(rm) `x`", "", `codex resume 'it'\''s; $(rm) ` + "`x`'"},
		{"claude", "-rf", "", ""}, {"claude", "a\nb", "", ""}, {"claude", "a\x7f", "", ""}, {"claude", "a\u0085", "", ""}, {"claude", "", "", ""}, {"nobody", "x", "", ""},
		// Of Cursor's and Cline's, those only that their command line tools have.
		{"cursor", idA, "chat-store", "cursor-agent --resume " + idA}, {"cursor", idA, "composer", ""}, {"cursor", idA, "transcript-jsonl", ""},
		{"cline", idA, "session", "cline --id " + idA}, {"cline", idA, "task", ""}, {"cline", idA + "#agent-x", "session", ""},
	} {
		if got := s.ResumeCommand(c.agent, c.id, c.format); got != c.want {
			t.Errorf("%s %q %q: %q, want %q", c.agent, c.id, c.format, got, c.want)
		}
	}
}

func TestResolve(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-abcdef\none\n")
	w.write("fakes/b.fake", "session-abcxyz\none\n")
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	name := func(id string) contract.SessionName { return contract.SessionName{SessionID: id} }
	h, err := s.Resolve(context.Background(), name("session-abcd"))
	if w.must(err); h.SessionID != "session-abcdef" || *h.Cwd != "/w/fake" {
		t.Errorf("header %+v", h)
	}
	_, err = s.Resolve(context.Background(), name("session-abc"))
	e := failed(t, err, contract.CodeSourceConflict)
	if c, ok := e.Candidates.([]exact.Candidate); !ok || len(c) != 2 || c[0].SessionID != "session-abcdef" {
		t.Errorf("candidates %+v", e.Candidates)
	}
	for _, n := range []contract.SessionName{name("session-nope"), name("SESSION-ABCD"), name("session"), {SessionID: "session-abcdef", Agent: "codex"}} {
		_, err = s.Resolve(context.Background(), n)
		failed(t, err, contract.CodeSessionNotFound)
	}
}

func TestOneIDWithTwoAgents(t *testing.T) {
	w := newWorld(t)
	w.write("one/a.fake", "session-a\nthe plover nests\n")
	w.write("two/a.fake", "session-a\nthe heron waits\n")
	one, two := newFake("one"), newFake("two")
	two.agent = "codex"
	s := w.enabled(one, two)
	w.reconcile(s)
	_, err := s.Resolve(context.Background(), contract.SessionName{SessionID: "session-a"})
	failed(t, err, contract.CodeSourceConflict)
	h, err := s.Resolve(context.Background(), contract.SessionName{SessionID: "session-a", Agent: "codex"})
	if w.must(err); h.Agent != "codex" || h.SourcePath != w.path("two/a.fake") {
		t.Errorf("header %+v", h)
	}
	w.append("one/a.fake", "more\n") // must not take the other's events
	w.reconcile(s)
	if got := w.hits(s, "heron plover"); got != "session-a session-a" {
		t.Errorf("found %q", got)
	}
}

func TestDoctorOfAHealthyHome(t *testing.T) {
	w := newWorld(t)
	w.write(claudeFile(idA), talk(idA, "tidy the plover parser", "done"))
	s := w.enabled()
	w.reconcile(s)
	r, err := s.Doctor(context.Background())
	w.must(err)
	if len(r.Problems) != 0 || r.Index.Sessions != 1 || r.Index.Error != "" || r.Versions.SQLite == "" || len(r.Agents) != len(contract.Agents()) {
		t.Errorf("report %+v", r)
	}
	if p := r.Agents[0].Places[0]; !p.Found || p.Sources == nil || *p.Sources != 1 {
		t.Errorf("Claude Code's place %+v", p)
	}
}

// However many passes are asked for, disabling ends reading.
func TestDisablingWhilePassesAreAskedFor(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	fake := newFake("fakes")
	s := w.enabled(fake)
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					err := s.Reconcile(context.Background(), true, nil)
					var e *contract.Error
					if err != nil && (!errors.As(err, &e) || e.Code != contract.CodeSearchDisabled) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for range 5 {
		w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(false)})
		fake.taken()
		if got := w.hits(s, "plover"); got != "unavailable/disabled" {
			t.Errorf("disabled: %q", got)
		}
		if got := fake.taken(); got != "" {
			t.Errorf("read %q after disabling", got)
		}
		w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(true)})
		if _, err := s.Clear(context.Background(), contract.ClearRequest{}); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	group.Wait()
	if got := w.fresh(s, "plover"); got != "session-a" {
		t.Errorf("at last: %q", got)
	}
}

// A clear that fails says so, and nothing forgotten comes back by it.
func TestClearThatFails(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	w.write("fakes/b.fake", "session-b\nthe plover left\n")
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	w.forget(s, "session-a")
	// A folder in the place of a file fails for root, too.
	blocked := w.paths.Index() + ".damaged"
	w.must(os.MkdirAll(filepath.Join(blocked, "x"), 0o700))
	_, err := s.Clear(context.Background(), contract.ClearRequest{})
	failed(t, err, contract.CodeIndexFailed)
	if got := w.fresh(s, "plover"); got != "session-b" {
		t.Errorf("after the failure: %q", got)
	}
	w.must(os.RemoveAll(blocked))
	if _, err := s.Clear(context.Background(), contract.ClearRequest{}); err != nil {
		t.Error(err)
	}
	if got := strings.Fields(w.fresh(s, "plover")); len(got) != 2 {
		t.Errorf("cleared: %q", got)
	}
}
