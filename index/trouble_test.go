package index_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript/claude"
)

func TestFailingFileIsCountedThenLeftAlone(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	w.write("fakes/good.fake", "session-good\nthe plover nests\n")
	w.write("fakes/bad.fake", "session-bad\n!fail the middle is torn out\n")
	s := w.enabled(fake)
	w.reconcile(s)
	st := w.status(s)
	if st.Phase != contract.PhaseDegraded || st.FilesFailed != 1 || st.FilesIndexed != 1 || st.FilesDue != 1 || st.Agents[0].Failed != 1 {
		t.Errorf("after the first failure: %+v", st)
	}
	for range 2 {
		w.reconcile(s)
	}
	if got := fake.taken(); strings.Count(got, "bad") != 3 || strings.Count(got, "good") != 1 {
		t.Errorf("read %q, want three tries of the bad one", got)
	}
	for range 3 {
		w.reconcile(s)
	}
	if got := fake.taken(); got != "" {
		t.Errorf("read %q although nothing changed", got)
	}
	if st = w.status(s); st.FilesFailed != 1 || st.FilesDue != 0 || st.Phase != contract.PhaseDegraded {
		t.Errorf("held out: %+v", st)
	}
	report, err := s.Doctor(context.Background())
	w.must(err)
	if len(report.Failures) != 1 || report.Failures[0].Reason != "the middle is torn out" || !report.Failures[0].HeldOut {
		t.Errorf("failures %+v", report.Failures)
	}
	w.write("fakes/bad.fake", "session-bad\nmended heron\n")
	if got := w.fresh(s, "heron"); got != "session-bad" {
		t.Errorf("mended: %q", got)
	}
	if st = w.status(s); st.FilesFailed != 0 || st.Phase != contract.PhaseCurrent {
		t.Errorf("mended: %+v", st)
	}
}

func TestFailureKeepsWhatWasRead(t *testing.T) {
	for name, line := range map[string]string{"error": "!fail broken", "panic": "!panic broken", "wrong positions": "!gap"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("fakes/a.fake", "session-a\nthe plover nests\n")
			s := w.enabled(newFake("fakes"))
			w.reconcile(s)
			before := w.status(s)
			w.append("fakes/a.fake", "the heron waits\n"+line+"\n")
			if got := w.fresh(s, "plover"); got != "session-a" {
				t.Errorf("plover: %q", got)
			}
			if got := w.hits(s, "heron"); got != "" {
				t.Errorf("half of a failed reading is found: %q", got)
			}
			if st := w.status(s); st.FilesFailed != 1 || st.Events != before.Events || st.Generation != before.Generation {
				t.Errorf("status %+v", st)
			}
			w.must(os.Remove(w.path("fakes/a.fake")))
			w.reconcile(s)
			if st := w.status(s); st.FilesFailed != 0 || st.Sessions != 1 {
				t.Errorf("a file that is gone counts as failed, or its session is lost: %+v", st)
			}
		})
	}
}

// A first build reads many files in one transaction.
func TestFailuresInABuildStayAlone(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	for i := range 300 {
		name := "n" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		text := "session-" + name + "\nthe plover nests\n"
		switch i % 50 {
		case 10:
			text += "!fail broken\n"
		case 20:
			text += "!panic broken\n"
		case 30:
			text += "!gap\n"
		case 40:
			text = "session-" + name + "\n!empty\n"
		}
		w.write("fakes/"+name+".fake", text)
	}
	s := w.enabled(fake)
	var last contract.Progress
	w.must(s.Reconcile(context.Background(), false, func(p contract.Progress) { last = p }))
	st := w.status(s)
	if st.FilesFailed != 18 || st.Sessions != 300-18-6 || st.FilesIndexed != 300-18 {
		t.Errorf("%d failed, %d sessions, %d files", st.FilesFailed, st.Sessions, st.FilesIndexed)
	}
	if last.FilesTotal != 300 || last.BytesTotal == 0 {
		t.Errorf("last progress %+v", last)
	}
	if r := w.ask(s, "plover"); r.Results.Total.Sessions != st.Sessions {
		t.Errorf("%d found", r.Results.Total.Sessions)
	}
}

func TestFileThatChangesWhileItIsRead(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	fake.meanwhile = func(string) {
		fake.meanwhile = nil
		w.append("fakes/a.fake", "the heron waits\n")
	}
	s := w.enabled(fake)
	w.reconcile(s)
	if got := w.fresh(s, "heron"); got != "session-a" {
		t.Errorf("heron: %q", got)
	}
}

func TestDamagedIndexIsSetAsideAndRebuilt(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"no database": func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("no database at all ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"pages overwritten": func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := 4096; i < len(data); i++ {
				data[i] = 0xA5
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"empty file": func(t *testing.T, path string) {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("fakes/a.fake", "session-a\nthe plover nests\n")
			s := w.enabled(newFake("fakes"))
			w.reconcile(s)
			old := w.status(s).Identity
			w.must(s.Close())
			spoil(t, w.paths.Index())
			s = w.service(newFake("fakes"))
			if got := w.fresh(s, "plover"); got != "session-a" && got != "unavailable/not-ready" {
				t.Errorf("plover: %q", got)
			}
			w.reconcile(s)
			if got := w.fresh(s, "plover"); got != "session-a" {
				t.Errorf("plover, built anew: %q", got)
			}
			if st := w.status(s); st.Identity == old || st.Phase != contract.PhaseCurrent {
				t.Errorf("status %+v", st)
			}
			if name == "empty file" {
				return
			}
			report, err := s.Doctor(context.Background())
			w.must(err)
			if report.Index.Aside == "" {
				t.Error("what was there before was not set aside")
			}
			_, err = s.Clear(context.Background(), contract.ClearRequest{})
			w.must(err)
			if _, err := os.Stat(report.Index.Aside); err == nil {
				t.Error("clear left the index that was set aside")
			}
		})
	}
}

// What fails while the index is read is not told as a pass that failed.
func TestErrorsOfReadingTheIndex(t *testing.T) {
	w := newWorld(t)
	s := w.enabled(newFake("fakes"))
	e := failed(t, index.Unread(s, errors.New("disk I/O error\nat byte 7")), contract.CodeIndexFailed)
	if want := "the index cannot be read: disk I/O error; at byte 7"; e.Message != want {
		t.Errorf("%q, want %q", e.Message, want)
	}
	failed(t, index.Unread(s, contract.StaleCursorError()), contract.CodeStaleCursor)
}

func TestDataFolderThatCannotBeWritten(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.enabled(newFake("fakes"))
	w.must(s.Close())
	// A folder in the file's place fails for root, too.
	for _, p := range store.Files(w.paths.Index()) {
		_ = os.Remove(p)
	}
	w.must(os.Mkdir(w.paths.Index(), 0o700))
	w.must(os.WriteFile(filepath.Join(w.paths.Index(), "x"), nil, 0o600))
	s = w.service(newFake("fakes"))
	req := contract.NewSearchSessionsRequest("plover")
	req.Freshness = contract.FreshnessWait
	_, err := s.SearchSessions(context.Background(), req)
	if e := failed(t, err, contract.CodeIndexFailed); e.RPCCode != contract.RPCRequestFailed {
		t.Errorf("error %+v", e)
	}
	if got := w.hits(s, "plover"); got != "unavailable/not-ready" {
		t.Errorf("without waiting: %q", got)
	}
	if _, err := s.ListSessions(context.Background(), contract.ListSessionsRequest{}); !errors.Is(err, contract.ErrNotReady) {
		t.Errorf("listing: %v", err)
	} else {
		failed(t, err, contract.CodeIndexFailed)
	}
	if st := w.status(s); st.Phase != contract.PhaseDegraded || len(st.DegradedRoots) == 0 {
		t.Errorf("status %+v, want the cause", st)
	}
	failed(t, s.Reconcile(context.Background(), false, nil), contract.CodeIndexFailed)
	w.must(os.RemoveAll(w.paths.Index()))
	if got := w.fresh(s, "plover"); got != "session-a" {
		t.Errorf("mended: %q", got)
	}
}

// A limit on the size of files is a full disk as far as SQLite can tell. It
// holds for a process, so another one meets it.
func TestDiskFull(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("no limit on the size of files here")
	}
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	w.write("fakes/b.fake", "session-b\n"+strings.Repeat("words words and the heron "+randomish(400)+"\n", 300))
	if got, want := w.helper("full"), contract.CodeIndexFailed+" degraded failed:0 hits:session-a\n"; got != want {
		t.Errorf("on a full disk %q, want %q: the disk is to blame, not the file", got, want)
	}
	if got := w.hits(s, "plover"); got != "session-a" {
		t.Errorf("what is indexed: %q", got)
	}
	if got := w.fresh(s, "heron"); got != "session-b" {
		t.Errorf("with room again: %q", got)
	}
}

// randomish is text that neither repeats nor compresses well.
func randomish(words int) string {
	var b strings.Builder
	x := uint64(42)
	for range words {
		x = x*6364136223846793005 + 1442695040888963407
		for y := x; y > 1<<32; y /= 26 {
			b.WriteByte(byte('a' + y%26))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func TestConfigurationThatCannotBeFollowed(t *testing.T) {
	for name, text := range map[string]string{
		"no toml": "exclude = [", "wrong type": "exclude = 'x'", "bad glob": "exclude = ['/a/[']", "everything": "exclude = ['**']", "roots no table": "roots = 3",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("fakes/a.fake", "session-a\nthe plover nests\n")
			w.must(os.MkdirAll(w.paths.Config, 0o700))
			w.must(os.WriteFile(w.paths.ConfigFile(), []byte(text), 0o600))
			fake := newFake("fakes")
			s := w.enabled(fake)
			err := s.Reconcile(context.Background(), false, nil)
			if e := failed(t, err, contract.CodeIndexFailed); !strings.Contains(e.Message, "config.toml") {
				t.Errorf("message %q does not name the file", e.Message)
			}
			if got := fake.taken(); got != "" {
				t.Errorf("read %q although it may be excluded", got)
			}
			report, err := s.Doctor(context.Background())
			w.must(err)
			if report.Config.Error == "" || len(report.Problems) == 0 {
				t.Errorf("doctor sees nothing: %+v", report)
			}
		})
	}
}

func TestUnknownKeysAreWarnings(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	w.must(os.MkdirAll(w.paths.Config, 0o700))
	w.must(os.WriteFile(w.paths.ConfigFile(), []byte("colour = 'red'\n[roots]\nnobody = ['/x']\nclaude = ['relative']\n[hosts.far]\nssh = 'x'\n"), 0o600))
	s := w.enabled(newFake("fakes"))
	if got := w.fresh(s, "plover"); got != "session-a" {
		t.Errorf("plover: %q", got)
	}
	report, err := s.Doctor(context.Background())
	w.must(err)
	if all := strings.Join(report.Config.Warnings, "\n"); len(report.Config.Warnings) != 5 || !strings.Contains(all, "colour") || !strings.Contains(all, "hosts.far.ssh") || !strings.Contains(all, "hosts.far has no command") || !strings.Contains(all, "nobody") || !strings.Contains(all, "relative") {
		t.Errorf("warnings %q", report.Config.Warnings)
	}
}

func TestDefaultConfigurationChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.write(claudeFile(idA), talk(idA, "the plover nests", "yes"))
	w.must(os.MkdirAll(w.paths.Config, 0o700))
	// As it is, and with its examples switched on: they must be well-formed.
	var on strings.Builder
	for line := range strings.Lines(index.ConfigText) {
		if rest, ok := strings.CutPrefix(line, "# "); ok && (strings.Contains(rest, " = [") || strings.HasPrefix(rest, "[")) {
			line = rest
		}
		on.WriteString(line)
	}
	for _, text := range []string{index.ConfigText, on.String()} {
		w.must(os.WriteFile(w.paths.ConfigFile(), []byte(text), 0o600))
		s := w.enabled()
		if got := w.fresh(s, "plover"); got != idA {
			t.Errorf("plover: %q", got)
		}
		report, err := s.Doctor(context.Background())
		w.must(err)
		if report.Config.Error != "" || len(report.Config.Warnings) > 0 {
			t.Errorf("%q, %q", report.Config.Error, report.Config.Warnings)
		}
	}
}

// Without a home folder nothing is looked for where the process happens to run.
func TestNoHomeFolder(t *testing.T) {
	w := newWorld(t)
	w.write(claudeFile(idA), talk(idA, "tidy the plover parser", "done"))
	t.Chdir(w.home)
	t.Setenv("HOME", "")
	w.home = ""
	s := w.enabled()
	w.reconcile(s)
	if st := w.status(s); st.Sessions != 0 {
		t.Errorf("status %+v", st)
	}
	report, err := s.Doctor(context.Background())
	w.must(err)
	if len(report.Problems) != 1 || !strings.Contains(report.Problems[0].What, "home") {
		t.Errorf("problems %+v", report.Problems)
	}
}

// A session says of itself that some of its log could not be read; the rest is
// there.
func TestUnreadRecordsAreAWarning(t *testing.T) {
	w := newWorld(t)
	w.write(claudeFile(idA), user(idA, "u1", "the plover nests")+"{\"type\":\"user\",\"uu\x00\n"+user(idA, "u2", "the heron waits"))
	w.write(claudeFile(idB), user(idB, "u1", "the crake calls"))
	s := w.enabled(claude.New())
	w.reconcile(s)
	if got := w.hits(s, "plover") + " " + w.hits(s, "heron"); got != idA+" "+idA {
		t.Errorf("found %q", got)
	}
	const want = "a record of its transcript could not be read; `sessionls doctor` names the file"
	if got := w.show(s, idA).Session.Warnings; len(got) != 1 || got[0] != want {
		t.Errorf("warnings %q", got)
	}
	if got := w.show(s, idB).Session.Warnings; len(got) != 0 {
		t.Errorf("warnings of a whole one: %q", got)
	}
}

// A transcript that gives no session is told of, with its path and by agent: one
// that cannot be read at all, and one without a conversation.
func TestTranscriptsWithoutASession(t *testing.T) {
	w := newWorld(t)
	codexFile := func(id string) string {
		return ".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-" + id + ".jsonl"
	}
	w.write(claudeFile(idA), user(idA, "u1", "the plover nests"))
	w.write(".claude/projects/-w-x/"+idB+".jsonl", `{"type":"file-history-snapshot","messageId":"m","snapshot":{"messageId":"m","trackedFileBackups":{}}}`+"\n")
	for i := range 12 {
		w.write(fmt.Sprintf(".claude/projects/-w-x/0000000%x-0000-4000-8000-000000000000.jsonl", i), "no JSON at all\n{neither: this\n")
	}
	w.write(".claude/projects/-w-x/half.jsonl", "no JSON\n"+user("half", "u1", "the heron waits"))
	zeros := w.write(codexFile(idA), strings.Repeat("\x00", 5000))
	w.write(codexFile(idB), "")
	pi := w.write(".pi/agent/sessions/--w-x--/2026-03-01T10-00-00-000Z_"+idA+".jsonl", "{\"type\":\"session\",\"id")
	s := w.enabled()
	w.reconcile(s)
	report, err := s.Doctor(context.Background())
	w.must(err)
	got := map[string]index.AgentReport{}
	for _, a := range report.Agents {
		got[a.Agent] = a
	}
	claudes := got["claude"]
	if u := claudes.Unreadable; u.Count != 12 || len(u.Paths) != 10 || u.Paths[0] != w.path(".claude/projects/-w-x/00000000-0000-4000-8000-000000000000.jsonl") {
		t.Errorf("unreadable: %+v", u)
	}
	if q := claudes.Silent; q.Count != 1 || q.Paths[0] != w.path(".claude/projects/-w-x/"+idB+".jsonl") {
		t.Errorf("without a conversation: %+v", q)
	}
	if u := got["codex"].Unreadable; u.Count != 1 || u.Paths[0] != zeros || got["codex"].Silent.Count != 0 {
		t.Errorf("codex: %+v", got["codex"])
	}
	if u := got["pi"].Unreadable; u.Count != 1 || u.Paths[0] != pi {
		t.Errorf("pi: %+v", got["pi"])
	}
	if len(report.Failures) != 1 || !strings.HasSuffix(report.Failures[0].Path, "half.jsonl") || report.Failures[0].Skipped != 1 {
		t.Errorf("failures %+v", report.Failures)
	}
	// Mended, it is a transcript like any other.
	w.must(os.Remove(zeros))
	w.write(".pi/agent/sessions/--w-x--/2026-03-01T10-00-00-000Z_"+idA+".jsonl", `{"type":"session","version":3,"id":"`+idA+`","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/w/x"}
{"type":"message","id":"a1","parentId":null,"timestamp":"2026-03-01T10:00:01.000Z","message":{"role":"user","content":"the stork stands"}}
`)
	w.reconcile(s)
	report, err = s.Doctor(context.Background())
	w.must(err)
	for _, a := range report.Agents {
		if a.Agent != "claude" && a.Unreadable.Count+a.Silent.Count != 0 {
			t.Errorf("mended: %+v", a)
		}
	}
}
