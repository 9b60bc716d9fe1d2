package index_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/watch"
	"github.com/sessionls/sessionls/testdata/samplehome"
)

// inTime is how long something that must happen unasked is waited for.
const inTime = 90 * time.Second

// until waits for something that must come true unasked.
func (w *world) until(what string, is func() bool) {
	w.t.Helper()
	for end := time.Now().Add(inTime); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s: not within %s", what, inTime)
		}
	}
}

// turn is a line of Claude Code's.
func turn(session, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"u-%x","sessionId":%q,"cwd":"/w","timestamp":"2026-05-01T10:00:00.000Z","message":{"role":"user","content":%q}}`+"\n", text, session, text)
}

const (
	firstSession  = "11111111-1111-4111-8111-111111111111"
	secondSession = "22222222-2222-4222-8222-222222222222"
	projects      = ".claude/projects/"
)

// Whatever changes is found without being asked for, by the process that
// watches and by another one.
func TestFollowing(t *testing.T) {
	w := newWorld(t)
	old := projects + "-w-heron/" + firstSession + ".jsonl"
	w.write(old, turn(firstSession, "the plover nests"))
	a, b := w.enabled(), w.service()
	a.Start(context.Background())
	w.until("the first look", func() bool { return w.hits(a, "plover") == firstSession && w.status(a).Phase == contract.PhaseCurrent })
	b.Start(context.Background())
	both := func(query, want string) {
		t.Helper()
		for name, s := range map[string]*index.Service{"watching": a, "other": b} {
			w.until(name+": "+query, func() bool { return w.hits(s, query) == want })
		}
	}
	for i := range 5 {
		word := fmt.Sprintf("reed%d", i)
		w.append(old, turn(firstSession, word))
		both(word, firstSession)
	}
	// A new session, in a folder that is new, too.
	w.write(projects+"-w-loom/"+secondSession+".jsonl", turn(secondSession, "a loom"))
	both("loom", secondSession)
	w.append(projects+"-w-loom/"+secondSession+".jsonl", turn(secondSession, "shuttle"))
	both("shuttle", secondSession)
	// A sub-agent, two folders down.
	w.write(projects+"-w-loom/"+secondSession+"/subagents/agent-a1.jsonl", `{"isSidechain":true,"agentId":"a1",`+turn(secondSession, "a heddle")[1:])
	both("heddle", secondSession+"#agent-a1")
	// A file that moves is the same session; one that is rewritten reads anew.
	moved := projects + "-w-loom/" + firstSession + ".jsonl"
	w.must(os.Rename(w.path(old), w.path(moved)))
	w.append(moved, turn(firstSession, "curlew"))
	both("curlew", firstSession)
	w.must(os.WriteFile(w.path(moved)+".tmp", []byte(turn(firstSession, "an avocet")), 0o600))
	w.must(os.Rename(w.path(moved)+".tmp", w.path(moved)))
	both("avocet", firstSession)
	both("plover", "")
	w.must(os.Remove(w.path(moved)))
	both("avocet", firstSession+":missing")
	// An agent that was never used before.
	w.write(".pi/agent/sessions/--w--/2026-05-01T10-00-00-000Z_33333333-3333-4333-8333-333333333333.jsonl",
		`{"type":"session","version":3,"id":"33333333-3333-4333-8333-333333333333","timestamp":"2026-05-01T10:00:00.000Z","cwd":"/w"}`+"\n"+
			`{"type":"message","id":"a1","parentId":null,"timestamp":"2026-05-01T10:00:01.000Z","message":{"role":"user","content":"a bobbin","timestamp":1777629601000}}`+"\n")
	both("bobbin", "33333333-3333-4333-8333-333333333333")
	if st := w.status(b); st.Phase != contract.PhaseCurrent || st.FilesFailed != 0 {
		t.Errorf("status %+v", st)
	}
}

// A pass over what changed leaves nothing for a look at everything, whatever
// changes and of whatever agent.
func TestTargetedPassIsWhole(t *testing.T) {
	w := newWorld(t)
	w.must(samplehome.Make(w.home, "../testdata/home"))
	s := w.enabled()
	w.reconcile(s)
	check := func(what string, moves bool, paths ...string) {
		t.Helper()
		before := w.status(s).Generation
		for i, p := range paths {
			paths[i] = w.path(p)
		}
		w.must(index.Ask(s, paths))
		after := w.status(s)
		if moved := after.Generation != before; moved != moves {
			t.Errorf("%s: the generation moved: %v", what, moved)
		}
		w.reconcile(s)
		if again := w.status(s); again.Generation != after.Generation || again.Sessions != after.Sessions || again.FilesFailed != 0 {
			t.Errorf("%s: a look at everything found more: %+v, then %+v", what, after, again)
		}
	}
	rename := func(from, to string) {
		t.Helper()
		w.must(os.MkdirAll(filepath.Dir(w.path(to)), 0o700))
		w.must(os.Rename(w.path(from), w.path(to)))
	}
	for _, c := range []struct{ path, line string }{
		{projects + "-home-dev-work-heron/6f1d2a70-5b3c-4e8d-9a01-2c4e6a8b0d11.jsonl", turn("6f1d2a70-5b3c-4e8d-9a01-2c4e6a8b0d11", "more of it")},
		{".codex/sessions/2026/05/06/rollout-2026-05-06T10-00-00-019de009-0000-7000-8000-000000005678.jsonl",
			`{"timestamp":"2026-05-06T10:30:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"more of it"}]}}` + "\n"},
	} {
		w.append(c.path, c.line)
		check("append to "+c.path, true, c.path)
		check("nothing at "+c.path, false, c.path)
		// Which sessions are active goes by the time of their files.
		w.must(os.Chtimes(w.path(c.path), time.Now(), time.Now()))
		check("touch "+c.path, true, c.path)
		other := filepath.Dir(c.path) + "-moved/" + filepath.Base(c.path)
		rename(c.path, other)
		check("move "+c.path, true, c.path, other)
		rename(other, c.path)
		check("move back "+c.path, true, other, c.path)
	}
	// Names of threads are kept elsewhere.
	names := ".codex/session_index.jsonl"
	w.append(names, `{"id":"019de009-0000-7000-8000-000000005678","thread_name":"another name","updated_at":"2026-05-06T11:00:00Z"}`+"\n")
	check("a name", true, names)
	// A copy that is better than the one that is read, and its end.
	session := "6f1d2a70-5b3c-4e8d-9a01-2c4e6a8b0d11"
	first := projects + "-home-dev-work-heron/" + session + ".jsonl"
	text, err := os.ReadFile(w.path(first))
	w.must(err)
	second := projects + "-copy/" + session + ".jsonl"
	w.write(second, string(text)+turn(session, "only in the copy"))
	check("a better copy", true, second)
	if got := w.hits(s, `"only in the copy"`); got != session {
		t.Errorf("the copy: %q", got)
	}
	w.must(os.Remove(w.path(second)))
	check("the copy is gone", true, second)
	if got := w.hits(s, `"only in the copy"`); got != "" {
		t.Errorf("the copy that is gone: %q", got)
	}
	// One session of a shared store: the others are not read again.
	store := ".local/share/opencode/opencode.db"
	db, err := sql.Open("sqlite3", "file:"+w.path(store))
	w.must(err)
	defer db.Close()
	_, err = db.Exec(`UPDATE session SET title = 'a title nobody gave', time_updated = time_updated + 1 
		WHERE id = (SELECT id FROM session s WHERE EXISTS(SELECT 1 FROM message WHERE session_id = s.id) ORDER BY time_updated DESC LIMIT 1)`)
	w.must(err)
	check("a session of a store", true, store+"-wal", store)
	// A folder that goes, and comes back.
	rename(projects+"-home-dev-work-heron", "away")
	check("a folder gone", true, projects+"-home-dev-work-heron")
	rename("away", projects+"-home-dev-work-heron")
	check("a folder back", true, projects+"-home-dev-work-heron")
}

// An index that holds nothing yet is not filled with what changed only.
func TestTargetedPassOfAnEmptyIndex(t *testing.T) {
	w := newWorld(t)
	w.write(projects+"-w/"+firstSession+".jsonl", turn(firstSession, "the plover nests"))
	path := w.write(projects+"-w/"+secondSession+".jsonl", turn(secondSession, "the heron waits"))
	s := w.enabled()
	w.must(index.Ask(s, []string{path}))
	if got := w.hits(s, "plover"); got != firstSession {
		t.Errorf("plover: %q", got)
	}
}

// What passes saw outlives the process, and moves no generation.
func TestReportIsKept(t *testing.T) {
	w := newWorld(t)
	w.write(projects+"-w/"+firstSession+".jsonl", turn(firstSession, "the plover nests"))
	w.must(os.MkdirAll(w.paths.Config, 0o700))
	w.must(os.WriteFile(w.paths.ConfigFile(), []byte("[roots]\ncodex = [\"/nowhere/at/all\"]\n"), 0o600))
	a := w.enabled()
	w.reconcile(a)
	was := w.status(a)
	if was.LastSweepCompletedAt == nil || len(was.DegradedRoots) != 1 || was.Phase != contract.PhaseDegraded {
		t.Fatalf("status %+v", was)
	}
	w.must(a.Close())
	b := w.service()
	now := w.status(b)
	if now.LastSweepCompletedAt == nil || *now.LastSweepCompletedAt != *was.LastSweepCompletedAt || now.Generation != was.Generation ||
		len(now.DegradedRoots) != 1 || now.DegradedRoots[0] != was.DegradedRoots[0] || now.Phase != contract.PhaseIdle {
		t.Errorf("another process: %+v", now)
	}
	w.reconcile(b)
	if again := w.status(b); again.Generation != was.Generation || *again.LastSweepCompletedAt < *was.LastSweepCompletedAt {
		t.Errorf("another look: %+v", again)
	}
}

// fullSystem allows few watches.
type fullSystem struct {
	watch.Backend
	left int
}

func (f *fullSystem) Add(folder string) error {
	if f.left--; f.left < 0 {
		return syscall.ENOSPC
	}
	return f.Backend.Add(folder)
}

// When watches run out a notice tells, no root is degraded, and changes are
// found all the same.
func TestWatchesRunOut(t *testing.T) {
	w := newWorld(t)
	path := projects + "-w/" + firstSession + ".jsonl"
	w.write(path, turn(firstSession, "the plover nests"))
	s, err := index.Open(context.Background(), index.Options{
		Paths: w.paths, Env: transcript.Env{Home: w.home, GOOS: "linux", Getenv: func(string) string { return "" }},
		Watch: func() (watch.Backend, error) {
			b, err := watch.Native()
			return &fullSystem{b, 1}, err
		},
	})
	w.must(err)
	defer s.Close()
	w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(true)})
	s.Start(context.Background())
	w.until("a notice", func() bool { return len(w.status(s).Notices) == 1 })
	if st := w.status(s); !strings.Contains(st.Notices[0], "watches") || len(st.DegradedRoots) != 0 || strings.Contains(st.Notices[0], "/") {
		t.Errorf("status %+v", st)
	}
	w.append(path, turn(firstSession, "the heron waits"))
	w.until("the change", func() bool { return w.hits(s, "heron") == firstSession })
}

// Another process takes over when the one that watches is killed.
func TestWatchingProcessIsKilled(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.enabled(newFake("fakes"))
	cmd := w.command("follow")
	out, err := cmd.StdoutPipe()
	w.must(err)
	w.must(cmd.Start())
	line := make([]byte, 16)
	if _, err := out.Read(line); err != nil {
		t.Fatal(err)
	}
	s.Start(context.Background())
	for i := range 3 {
		w.append("fakes/a.fake", fmt.Sprintf("reed%d\n", i))
		w.until("a change while another process watches", func() bool { return w.hits(s, fmt.Sprintf("reed%d", i)) == "session-a" })
	}
	if index.Seated(s) {
		t.Error("two processes watch")
	}
	w.must(cmd.Process.Kill())
	_ = cmd.Wait()
	w.append("fakes/a.fake", "curlew\n")
	w.until("a change after the other was killed", func() bool { return w.hits(s, "curlew") == "session-a" })
	w.until("taking over", func() bool { return index.Seated(s) })
	w.append("fakes/a.fake", "avocet\n")
	w.until("a change while this one watches", func() bool { return w.hits(s, "avocet") == "session-a" })
}

// A process learns what others did to the policy and to the index, and tells.
func TestOthersAreNoticed(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	a, b := w.service(newFake("fakes")), w.service(newFake("fakes"))
	woken := b.Subscribe(t.Context())
	b.Start(context.Background())
	wakes := func(what string, is func() bool) {
		t.Helper()
		deadline := time.After(inTime)
		for !is() {
			select {
			case <-woken:
			case <-deadline:
				t.Fatalf("%s: nobody is told", what)
			}
		}
	}
	w.setPolicy(a, contract.SetPolicyRequest{Enabled: contract.Some(true)})
	wakes("enabled", func() bool { return w.status(b).Enabled })
	wakes("indexed", func() bool { return w.status(b).Phase == contract.PhaseCurrent })
	w.write("fakes/b.fake", "session-b\nthe heron waits\n")
	w.reconcile(a)
	wakes("one more", func() bool { return w.status(b).Sessions == 2 })
	w.setPolicy(a, contract.SetPolicyRequest{Enabled: contract.Some(false)})
	wakes("disabled", func() bool { return !w.status(b).Enabled })
}

// A service that was closed leaves nothing running, whether it watched or
// waited to.
func TestCloseEndsFollowing(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	a, b := w.enabled(newFake("fakes")), w.service(newFake("fakes"))
	for _, s := range []*index.Service{a, b} {
		s.Start(context.Background())
	}
	w.until("one watches", func() bool { return index.Seated(a) != index.Seated(b) })
	w.until("both looked", func() bool {
		return w.status(a).Phase == contract.PhaseCurrent && w.status(b).Phase == contract.PhaseCurrent
	})
	w.must(a.Close())
	w.must(b.Close())
	var stacks string
	w.until("the end of all goroutines", func() bool {
		var buf bytes.Buffer
		_ = pprof.Lookup("goroutine").WriteTo(&buf, 1)
		stacks = buf.String()
		runtime.Gosched()
		return !strings.Contains(stacks, "index.(*follower)") && !strings.Contains(stacks, "fsnotify") && !strings.Contains(stacks, "index.takeSeat")
	})
}
