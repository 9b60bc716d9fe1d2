package index_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
)

func (w *world) forget(s *index.Service, id string) contract.ForgetSessionResponse {
	w.t.Helper()
	r, err := s.ForgetSession(context.Background(), contract.ForgetSessionRequest{SessionName: contract.SessionName{SessionID: id}})
	w.must(err)
	return r
}

// forgotten are the ids in the answer.
func forgotten(r contract.ForgetSessionResponse) string {
	var out []string
	for _, name := range r.Forgotten {
		out = append(out, name.Agent+":"+name.SessionID)
	}
	return strings.Join(out, " ")
}

func TestForgottenSessionStaysOut(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	file := w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	w.write("fakes/b.fake", "session-b\nthe plover left\n")
	s, other := w.enabled(fake), w.service(newFake("fakes"))
	w.reconcile(s)
	cursor := w.page(s, "plover", 1)
	before := w.status(s)
	r := w.forget(s, "session-a")
	if got := forgotten(r); got != "claude:session-a" || r.Generation <= before.Generation {
		t.Errorf("forgotten %q at generation %d, before %d", got, r.Generation, before.Generation)
	}
	for _, x := range []*index.Service{s, other} {
		if got := w.hits(x, "plover"); got != "session-b" {
			t.Errorf("at once: %q", got)
		}
		if got := w.fresh(x, "plover"); got != "session-b" {
			t.Errorf("after a pass: %q", got)
		}
		_, err := x.Resolve(context.Background(), contract.SessionName{SessionID: "session-a"})
		failed(t, err, contract.CodeSessionNotFound)
	}
	req := contract.NewSearchSessionsRequest("plover")
	req.Cursor, req.Limit = cursor, 1
	if got, err := s.SearchSessions(context.Background(), req); err != nil || got.Kind != contract.KindStaleCursor {
		t.Errorf("old cursor: %v, %v", got.Kind, err)
	}
	if st := w.status(s); st.Sessions != 1 || st.Events != 1 || st.FilesIndexed != 1 || st.FilesDue != 0 || st.Phase != contract.PhaseCurrent {
		t.Errorf("status %+v", st)
	}
	fake.taken()
	w.append("fakes/a.fake", "and a heron\n")
	if got := w.fresh(s, "heron") + fake.taken(); got != "" {
		t.Errorf("grown: %q found or read", got)
	}
	w.must(s.Reconcile(context.Background(), true, nil))
	if got := w.hits(s, "heron"); got != "" {
		t.Errorf("read anew: %q", got)
	}
	st := w.status(s)
	w.reconcile(s)
	if again := w.status(s); again.Generation != st.Generation {
		t.Errorf("generation %d became %d although nothing changed", st.Generation, again.Generation)
	}

	// A rebuilt index does not bring it back, nor does another copy.
	w.must(errors.Join(s.Close(), other.Close()))
	w.must(os.Truncate(w.paths.Index(), 0))
	w.write("fakes/copy.fake", "session-a\nthe plover nests\nand a tern, which is longer\n")
	s = w.service(fake)
	w.reconcile(s)
	if got := w.hits(s, "plover tern"); got != "session-b" {
		t.Errorf("rebuilt: %q", got)
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "session-a\nthe plover nests\nand a heron\n" {
		t.Errorf("the transcript was touched: %q, %v", raw, err)
	}
	info, err := os.Stat(w.paths.Forgotten())
	w.must(err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}

	// Clear takes it back.
	_, err = s.Clear(context.Background(), contract.ClearRequest{})
	w.must(err)
	if got := w.fresh(s, "tern"); got != "session-a" {
		t.Errorf("cleared: %q", got)
	}
	if _, err := os.Stat(w.paths.Forgotten()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("tombstones after clear: %v", err)
	}
}

func TestForgettingTakesSubAgentsAndKeptCopies(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	gone := w.write("fakes/sub.fake", "session-a#agent-1\nthe plover counts\n")
	w.write("fakes/other.fake", "session-a$\nthe plover rests\n")
	w.write("fakes/longer.fake", "session-ab\nthe plover hides\n")
	s := w.enabled(fake)
	w.reconcile(s)
	w.must(os.Remove(gone))
	w.reconcile(s)
	if got := forgotten(w.forget(s, "session-a")); got != "claude:session-a claude:session-a#agent-1" {
		t.Errorf("forgotten %q", got)
	}
	w.write("fakes/sub2.fake", "session-a#agent-2\nthe plover returns\n")
	w.write("fakes/sub.fake", "session-a#agent-1\nthe plover counts\n")
	if got := strings.Fields(w.fresh(s, "plover")); len(got) != 2 || strings.Contains(strings.Join(got, " "), "agent") {
		t.Errorf("found %q, want the two others", got)
	}
}

func TestForgettingASubAgentAlone(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	w.write("fakes/sub.fake", "session-a#agent-1\nthe plover counts\n")
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	w.forget(s, "session-a#agent-1")
	if got := w.fresh(s, "plover"); got != "session-a" {
		t.Errorf("found %q", got)
	}
}

// Whose a file is may turn out only when it is read.
func TestForgottenSessionThatOnlyReadingTells(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	fake.anonymous = true
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.enabled(fake)
	w.reconcile(s)
	w.forget(s, "session-a")
	fake.taken()
	for range 3 {
		w.reconcile(s)
	}
	if got := fake.taken(); got != "a" {
		t.Errorf("read %q, want once to see whose it is", got)
	}
	w.append("fakes/a.fake", "and a heron\n")
	if got := w.fresh(s, "plover heron"); got != "" {
		t.Errorf("found %q", got)
	}
	if st := w.status(s); st.Sessions != 0 || st.FilesDue != 0 || st.FilesFailed != 0 || st.Phase != contract.PhaseCurrent {
		t.Errorf("status %+v", st)
	}
	_, err := s.Clear(context.Background(), contract.ClearRequest{})
	w.must(err)
	if got := w.fresh(s, "heron"); got != "session-a" {
		t.Errorf("cleared: %q", got)
	}
}

func TestWhatCannotBeForgotten(t *testing.T) {
	w := newWorld(t)
	w.write("one/a.fake", "session-abcdef\nplover\n")
	w.write("two/a.fake", "session-abcxyz\nheron\n")
	one, two := newFake("one"), newFake("two")
	two.agent = "codex"
	s := w.enabled(one, two)
	w.reconcile(s)
	ask := func(name contract.SessionName) error {
		_, err := s.ForgetSession(context.Background(), contract.ForgetSessionRequest{SessionName: name})
		return err
	}
	failed(t, ask(contract.SessionName{SessionID: "session-zzz"}), contract.CodeSessionNotFound)
	failed(t, ask(contract.SessionName{SessionID: "session-abcdef", Agent: "codex"}), contract.CodeSessionNotFound)
	e := failed(t, ask(contract.SessionName{SessionID: "session-abc"}), contract.CodeSourceConflict)
	raw, err := json.Marshal(e.Data())
	if w.must(err); !strings.Contains(string(raw), `"candidates":[{"agent":"claude","sessionId":"session-abcdef"`) {
		t.Errorf("data %s", raw)
	}
	w.must(ask(contract.SessionName{SessionID: "session-abcd", Agent: "claude"}))
	failed(t, ask(contract.SessionName{SessionID: "session-abcdef"}), contract.CodeSessionNotFound)
	w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(false)})
	failed(t, ask(contract.SessionName{SessionID: "session-abcxyz"}), contract.CodeSearchDisabled)

	far, err := index.Open(context.Background(), index.Options{Paths: w.paths, Transport: contract.TransportRemote})
	w.must(err)
	defer far.Close()
	_, err = far.ForgetSession(context.Background(), contract.ForgetSessionRequest{SessionName: contract.SessionName{SessionID: "session-abcxyz"}})
	failed(t, err, contract.CodeSearchDisabled)
}

// A list of tombstones that cannot be read may name what must not be.
func TestTombstonesThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{"no JSON": "{", "another version": `{"version":7,"sessions":[]}`, "another shape": `[]`} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			fake := newFake("fakes")
			w.write("fakes/a.fake", "session-a\nthe plover nests\n")
			s := w.service(fake)
			w.must(os.MkdirAll(w.paths.Data, 0o700))
			w.must(os.WriteFile(w.paths.Forgotten(), []byte(text), 0o600))
			w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(true)})
			if e := failed(t, s.Reconcile(context.Background(), false, nil), contract.CodeIndexFailed); !strings.Contains(e.Message, "forgotten.json") {
				t.Errorf("message %q", e.Message)
			}
			if got := fake.taken(); got != "" {
				t.Errorf("read %q", got)
			}
			_, err := s.Clear(context.Background(), contract.ClearRequest{})
			w.must(err)
			if got := w.fresh(s, "plover"); got != "session-a" {
				t.Errorf("cleared: %q", got)
			}
		})
	}
}

// However other processes read meanwhile, what was forgotten is out.
func TestForgettingWhileOthersRead(t *testing.T) {
	w := newWorld(t)
	const n = 12
	name := func(i int) string { return "session-" + string(rune('a'+i)) }
	for i := range n {
		w.write("fakes/"+name(i)+".fake", name(i)+"\nthe plover nests\n")
	}
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
				if err := s.Reconcile(context.Background(), true, nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range n - 1 {
		s := []*index.Service{a, b}[i%2]
		_, err := s.ForgetSession(context.Background(), contract.ForgetSessionRequest{SessionName: contract.SessionName{SessionID: name(i)}})
		w.must(err)
		for _, x := range []*index.Service{a, b} {
			if got := w.hits(x, "plover"); strings.Contains(got, name(i)) {
				t.Errorf("%s is found: %q", name(i), got)
			}
		}
	}
	close(stop)
	group.Wait()
	if got := w.fresh(b, "plover"); got != name(n-1) {
		t.Errorf("at last %q", got)
	}
}
