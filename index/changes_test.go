package index_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/exact/exacttest"
)

func TestAppendedEventsAreRead(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	s := w.enabled(fake)
	w.reconcile(s)
	before := w.status(s)
	w.append("fakes/a.fake", "the heron waits\n")
	if got := w.fresh(s, "heron"); got != "session-a" {
		t.Errorf("heron: %q", got)
	}
	if got := fake.taken(); got != "a a+" {
		t.Errorf("read %q; the second time only what was appended was to be read", got)
	}
	if after := w.status(s); after.Generation <= before.Generation || after.Events != 2 {
		t.Errorf("generation %d to %d, %d events", before.Generation, after.Generation, after.Events)
	}
	if got := w.hits(s, "plover"); got != "session-a" {
		t.Errorf("plover: %q", got)
	}
}

func TestRewrittenFileReplacesItsSession(t *testing.T) {
	for name, text := range map[string]string{
		"longer":     "session-a\nnothing of the old text, and more of the new: kestrel, kestrel\n",
		"shorter":    "session-a\nkestrel\n",
		"same size":  "session-a\nthe kestrels \n",
		"other tail": "session-a\nthe plover kestrel\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("fakes/a.fake", "session-a\nthe ploverns \n")
			s := w.enabled(newFake("fakes"))
			w.reconcile(s)
			first := w.show(s, "session-a")
			w.write("fakes/a.fake", text)
			if got := w.fresh(s, "kestrel kestrels"); got != "session-a" {
				t.Errorf("new text: %q", got)
			}
			if got := w.hits(s, `"ploverns"`); got != "" {
				t.Errorf("old text is still found: %q", got)
			}
			if again := w.show(s, "session-a"); again.Session.Epoch <= first.Session.Epoch || len(again.Events) != 1 {
				t.Errorf("epoch %d to %d, %d events", first.Session.Epoch, again.Session.Epoch, len(again.Events))
			}
		})
	}
}

func TestTruncatedThenGrownPastTheOldLength(t *testing.T) {
	w := newWorld(t)
	text := func(word string, n int) (b strings.Builder) {
		for range n {
			b.WriteString(word + " line\n")
		}
		return b
	}
	old, head, tail := text("oldgull", 40), text("headtern", 60), text("newskua", 80)
	w.write("fakes/a.fake", "session-a\n"+head.String()+old.String())
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	w.write("fakes/a.fake", "session-a\n"+head.String()+tail.String())
	if got := w.fresh(s, "newskua"); got != "session-a" {
		t.Errorf("new lines: %q", got)
	}
	if got := w.hits(s, "oldgull"); got != "" {
		t.Errorf("lines that were cut off are still found: %q", got)
	}
	if st := w.status(s); st.Events != 140 {
		t.Errorf("%d events, want 140", st.Events)
	}
}

func TestCodexArchiveMoveIsOneSession(t *testing.T) {
	w := newWorld(t)
	const id = "019d6d29-8cf7-7fe3-adc9-8c3e4d9d5603"
	const name = "rollout-2026-04-08T12-55-32-" + id + ".jsonl"
	live, archived := ".codex/sessions/2026/04/08/"+name, ".codex/archived_sessions/"+name
	text := `{"timestamp":"2026-04-08T12:55:32.000Z","type":"session_meta","payload":{"id":"` + id + `","cwd":"/w/loom","cli_version":"0.1"}}
{"timestamp":"2026-04-08T12:55:40.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"why does the skua dive"}]}}
{"timestamp":"2026-04-08T12:55:50.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"to defend its nest"}]}}
`
	w.write(live, text)
	w.write(".codex/archived_sessions/.keep", "")
	s := w.enabled()
	w.reconcile(s)
	w.must(os.Rename(w.path(live), w.path(archived)))
	if got := w.fresh(s, "skua"); got != id {
		t.Errorf("after the move: %q, want the one session, present", got)
	}
	if h := w.show(s, id).Session; h.SourcePath != w.path(archived) {
		t.Errorf("source %s", h.SourcePath)
	}
	st := w.status(s)
	if st.Sessions != 1 || st.FilesIndexed != 1 {
		t.Errorf("%d sessions from %d files", st.Sessions, st.FilesIndexed)
	}
	w.must(os.Rename(w.path(archived), w.path(live)))
	if got := w.fresh(s, "skua"); got != id {
		t.Errorf("after moving back: %q", got)
	}
	st = w.status(s)
	w.reconcile(s)
	if again := w.status(s); again.Generation != st.Generation {
		t.Errorf("generation %d became %d although nothing changed", st.Generation, again.Generation)
	}
}

func TestRenamedFileWithUnknownSessionIsOneSession(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	fake.anonymous = true
	w.write("fakes/b.fake", "session-a\nthe plover nests\n")
	s := w.enabled(fake)
	w.reconcile(s)
	for _, to := range []string{"c", "a"} {
		from := map[string]string{"c": "b", "a": "c"}[to]
		w.must(os.Rename(w.path("fakes/"+from+".fake"), w.path("fakes/"+to+".fake")))
		if got := w.fresh(s, "plover"); got != "session-a" {
			t.Errorf("renamed to %s: %q", to, got)
		}
	}
	if st := w.status(s); st.Sessions != 1 || st.FilesIndexed != 1 {
		t.Errorf("%d sessions from %d files", st.Sessions, st.FilesIndexed)
	}
}

func TestDeletedTranscriptStaysSearchable(t *testing.T) {
	w := newWorld(t)
	gone := w.write(claudeFile(idA), talk(idA, "tidy the plover parser", "done with basalt"))
	w.write(claudeFile(idB), talk(idB, "count the herons", "there are nine"))
	s := w.enabled()
	w.reconcile(s)
	w.must(os.Remove(gone))
	if got := w.fresh(s, "basalt"); got != idA+":missing" {
		t.Fatalf("after deletion: %q", got)
	}
	if hit := w.ask(s, "basalt").Results.Hits[0]; hit.ResumeCommand != "" || hit.Evidence == nil || !strings.Contains(hit.Evidence.Snippet, "[[basalt]]") {
		t.Errorf("hit %+v", hit)
	}
	shown := w.show(s, idA)
	if shown.Session.Presence != contract.PresenceMissing || len(shown.Events) != 2 || *shown.Events[1].Text != "done with basalt" {
		t.Errorf("kept copy %+v", shown)
	}
	if st := w.status(s); st.Phase != contract.PhaseCurrent || len(st.DegradedRoots) != 0 {
		t.Errorf("a deleted file is no trouble: %+v", st)
	}
	st := w.status(s)
	w.reconcile(s)
	if again := w.status(s); again.Generation != st.Generation {
		t.Errorf("generation %d became %d although nothing changed", st.Generation, again.Generation)
	}
	w.write(claudeFile(idA), talk(idA, "tidy the plover parser", "done with basalt"))
	if got := w.fresh(s, "basalt"); got != idA {
		t.Errorf("back again: %q", got)
	}
}

func TestRootThatIsGoneProvesNothing(t *testing.T) {
	for _, how := range []string{"renamed", "emptied"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			w.write(claudeFile(idA), talk(idA, "tidy the plover parser", "done with basalt"))
			s := w.enabled()
			w.reconcile(s)
			before := w.status(s)
			root, away := w.path(".claude/projects"), w.path("away")
			w.must(os.Rename(root, away))
			if how == "emptied" { // a mount point without its disk
				w.must(os.Mkdir(root, 0o755))
			}
			if got := w.fresh(s, "basalt"); got != idA+":unverifiable" {
				t.Errorf("gone: %q", got)
			}
			st := w.status(s)
			if st.Phase != contract.PhaseDegraded || len(st.DegradedRoots) != 1 || st.DegradedRoots[0].Root != root || st.DegradedRoots[0].Reason == "" {
				t.Errorf("status %+v", st)
			}
			if how == "emptied" {
				w.must(os.Remove(root))
			}
			w.must(os.Rename(away, root))
			if got := w.fresh(s, "basalt"); got != idA {
				t.Errorf("back: %q", got)
			}
			if st := w.status(s); st.Phase != contract.PhaseCurrent || st.Events != before.Events {
				t.Errorf("status %+v", st)
			}
		})
	}
}

func TestSubtreeThatCannotBeListedProvesNothing(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	w.write("fakes/b.fake", "session-b\nthe heron waits\n")
	s := w.enabled(fake)
	w.reconcile(s)
	w.write("fakes/panic-on-discovery", "")
	w.must(os.Remove(w.path("fakes/a.fake")))
	if got := w.fresh(s, "plover"); got != "session-a:unverifiable" {
		t.Errorf("plover: %q", got)
	}
	if st := w.status(s); st.Phase != contract.PhaseDegraded || !strings.Contains(st.DegradedRoots[0].Reason, "a surprise in a folder") || strings.Contains(st.DegradedRoots[0].Reason, "goroutine") {
		t.Errorf("status %+v", st)
	}
	w.must(os.Remove(w.path("fakes/panic-on-discovery")))
	if got := w.fresh(s, "plover heron"); got != "session-b session-a:missing" && got != "session-a:missing session-b" {
		t.Errorf("plover heron: %q", got)
	}
}

func TestReaderThatCannotNameItsRoots(t *testing.T) {
	w := newWorld(t)
	w.write("one/a.fake", "session-a\nthe plover nests\n")
	w.write("two/b.fake", "session-b\nthe heron waits\n")
	one, two := newFake("one"), newFake("two")
	two.agent = "codex"
	s := w.enabled(one, two)
	w.reconcile(s)
	one.lost = true
	w.append("two/b.fake", "and a kestrel\n")
	if got := w.fresh(s, "kestrel"); got != "session-b" {
		t.Errorf("the other agent: %q", got)
	}
	if got := w.hits(s, "plover"); got != "session-a" {
		t.Errorf("what was read before: %q", got)
	}
	if st := w.status(s); st.Phase != contract.PhaseDegraded || len(st.DegradedRoots) != 1 || !strings.Contains(st.DegradedRoots[0].Reason, "where am I") {
		t.Errorf("status %+v", st)
	}
	if _, err := s.Doctor(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestCopiesOfOneSession(t *testing.T) {
	w := newWorld(t)
	fake := newFake("one", "two")
	w.write("one/a.fake", "session-a\nshared plover\n")
	long := w.write("two/long.fake", "session-a\nshared plover\nonly in the longer heron\n")
	s := w.enabled(fake)
	w.reconcile(s)
	if got := fake.taken(); got != "long" {
		t.Errorf("read %q, want only the longer copy", got)
	}
	if got := w.hits(s, "heron"); got != "session-a" {
		t.Errorf("heron: %q", got)
	}
	if st := w.status(s); st.Sessions != 1 || st.FilesDue != 0 || st.Phase != contract.PhaseCurrent {
		t.Errorf("status %+v", st)
	}
	w.reconcile(s)
	if got := fake.taken(); got != "" {
		t.Errorf("read %q although nothing changed", got)
	}
	w.must(os.Remove(long))
	if got := w.fresh(s, "plover"); got != "session-a" {
		t.Errorf("plover, from the copy that is left: %q", got)
	}
	if got := fake.taken(); got != "a" {
		t.Errorf("read %q, want the copy that is left", got)
	}
	if h := w.show(s, "session-a").Session; h.SourcePath != w.path("one/a.fake") {
		t.Errorf("source %s", h.SourcePath)
	}
}

func TestCopyIsReadWhenTheBetterOneGivesNothing(t *testing.T) {
	for _, line := range []string{"!fail it is all broken", "!panic it is all broken", "!empty"} {
		t.Run(line, func(t *testing.T) {
			w := newWorld(t)
			fake := newFake("one", "two", "three")
			w.write("one/a.fake", "session-a\nshared plover\n")
			w.write("two/best.fake", "session-a\nshared plover\nand much more of it\n"+line+"\n")
			w.write("three/second.fake", "session-a\nshared plover\n"+line+"\n")
			s := w.enabled(fake)
			if got := w.fresh(s, "plover"); got != "session-a" {
				t.Errorf("plover, in the first pass: %q", got)
			}
			if got := fake.taken(); got != "best second a" {
				t.Errorf("read %q, want each copy until one gives the session", got)
			}
			for range 4 {
				w.reconcile(s)
			}
			fake.taken()
			w.reconcile(s)
			if got := fake.taken(); got != "" {
				t.Errorf("read %q although nothing changed", got)
			}
			w.append("one/a.fake", "and a heron\n")
			if got := w.fresh(s, "heron"); got != "session-a" {
				t.Errorf("heron, appended to the copy that is read: %q", got)
			}
			w.write("two/best.fake", "session-a\nshared plover\nmended, with much more kestrel in it than before\n")
			if got := w.fresh(s, "kestrel"); got != "session-a" {
				t.Errorf("kestrel, in the mended best copy: %q", got)
			}
			if st := w.status(s); st.Sessions != 1 || st.Events != 2 {
				t.Errorf("%d sessions, %d events", st.Sessions, st.Events)
			}
		})
	}
}

func TestCopiesWhoseSessionIsKnownOnlyByReading(t *testing.T) {
	w := newWorld(t)
	fake := newFake("one", "two")
	fake.anonymous = true
	w.write("one/a.fake", "session-a\nshared plover\n")
	long := w.write("two/long.fake", "session-a\nshared plover\nonly in the longer heron\n")
	s := w.enabled(fake)
	for range 3 {
		w.reconcile(s)
	}
	if got := w.hits(s, "heron"); got != "session-a" {
		t.Errorf("heron: %q", got)
	}
	fake.taken()
	w.reconcile(s)
	if got := fake.taken(); got != "" {
		t.Errorf("read %q although nothing changed", got)
	}
	w.append("two/long.fake", "and a kestrel\n")
	if got := w.fresh(s, "kestrel"); got != "session-a" {
		t.Errorf("kestrel: %q", got)
	}
	w.must(os.Remove(long))
	w.reconcile(s)
	if got := w.fresh(s, "plover"); got != "session-a" {
		t.Errorf("plover: %q", got)
	}
}

func TestOneFileUnderTwoRoots(t *testing.T) {
	w := newWorld(t)
	fake := newFake("one", "two")
	w.write("one/a.fake", "session-a\nthe plover nests\n")
	w.must(os.Symlink(w.path("one"), w.path("two")))
	s := w.enabled(fake)
	w.reconcile(s)
	if got := fake.taken(); got != "a" {
		t.Errorf("read %q, want the file once", got)
	}
	if st := w.status(s); st.Sessions != 1 || st.FilesIndexed != 1 {
		t.Errorf("%d sessions from %d files", st.Sessions, st.FilesIndexed)
	}
}

func TestNewestTranscriptsAreReadFirst(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i, name := range []string{"old", "new", "middle"} {
		p := w.write("fakes/"+name+".fake", "session-"+name+"\nwords\n")
		at := day.AddDate(0, 0, []int{0, 20, 10}[i])
		w.must(os.Chtimes(p, at, at))
	}
	w.reconcile(w.enabled(fake))
	if got := fake.taken(); got != "new middle old" {
		t.Errorf("read %q", got)
	}
}

func TestNewerReaderReadsAnew(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	w.write("fakes/empty.fake", "session-e\n!empty\n")
	s := w.enabled(fake)
	w.reconcile(s)
	fake.taken()
	w.must(s.Close())
	fake.version = 2
	s = w.service(fake)
	w.reconcile(s)
	if got := fake.taken(); !strings.Contains(got, "a") || !strings.Contains(got, "empty") || strings.Contains(got, "+") {
		t.Errorf("read %q, want both from their starts", got)
	}
	w.reconcile(s)
	if got := fake.taken(); got != "" {
		t.Errorf("read %q although nothing changed", got)
	}
}

func TestFullReadsEverythingAnew(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	w.write("fakes/b.fake", "session-b\n!fail broken\n")
	s := w.enabled(fake)
	for range 5 {
		w.reconcile(s)
	}
	fake.taken()
	w.must(s.Reconcile(context.Background(), true, nil))
	if got := fake.taken(); got != "a b" && got != "b a" {
		t.Errorf("read %q, want both from their starts, the failed one, too", got)
	}
	if got := w.hits(s, "plover"); got != "session-a" {
		t.Errorf("plover: %q", got)
	}
}

func TestRetention(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	old := w.write("fakes/old.fake", "session-old\nthe plover nests\n")
	w.write("fakes/new.fake", "session-new\nthe heron waits\n")
	fork := w.write("fakes/fork.fake", "session-fork\n!parent session-old\nthe tern turns\n")
	at := time.Now().AddDate(0, 0, -40)
	w.must(os.Chtimes(old, at, at))
	later := time.Now().AddDate(0, 0, -20)
	w.must(os.Chtimes(fork, later, later))
	s := w.enabled(fake)
	w.reconcile(s)
	cursor := w.page(s, "the", 1)
	fake.taken()
	w.setPolicy(s, contract.SetPolicyRequest{HistoryDays: contract.Some(30)})
	if got := w.fresh(s, "plover"); got != "" {
		t.Errorf("too old, but found: %q", got)
	}
	if got := fake.taken(); got != "fork" {
		t.Errorf("read %q, want the fork of what was dropped", got)
	}
	if st := w.status(s); st.Sessions != 2 || st.FilesDue != 0 || st.Phase != contract.PhaseCurrent {
		t.Errorf("status %+v", st)
	}
	req := contract.NewSearchSessionsRequest("the")
	req.Cursor, req.Limit = cursor, 1
	if r, err := s.SearchSessions(context.Background(), req); err != nil || r.Kind != contract.KindStaleCursor {
		t.Errorf("cursor from before the purge: %v, %v", r.Kind, err)
	}
	w.reconcile(s)
	if got := fake.taken(); got != "" {
		t.Errorf("read %q although nothing changed", got)
	}
	w.setPolicy(s, contract.SetPolicyRequest{HistoryDays: contract.Null[int]()})
	if got := w.fresh(s, "plover"); got != "session-old" {
		t.Errorf("all history again: %q", got)
	}
}

func TestRetentionDropsKeptCopies(t *testing.T) {
	w := newWorld(t)
	old := w.write("fakes/old.fake", "session-old\nthe plover nests\n")
	w.write("fakes/new.fake", "session-new\nthe heron waits\n")
	at := time.Now().AddDate(0, 0, -40)
	w.must(os.Chtimes(old, at, at))
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	w.must(os.Remove(old))
	if got := w.fresh(s, "plover"); got != "session-old:missing" {
		t.Errorf("kept copy: %q", got)
	}
	w.setPolicy(s, contract.SetPolicyRequest{HistoryDays: contract.Some(30)})
	if got := w.fresh(s, "plover"); got != "" {
		t.Errorf("kept beyond its time: %q", got)
	}
}

func TestExclusion(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	w.write("fakes/open.fake", "session-open\nthe plover nests\n")
	w.write("fakes/path.fake", "session-path\nthe plover nests\n")
	w.write("fakes/cwd.fake", "session-cwd\n!cwd /w/customers/x\nthe plover nests\n")
	config := func(text string) {
		w.must(os.MkdirAll(w.paths.Config, 0o700))
		w.must(os.WriteFile(w.paths.ConfigFile(), []byte(text), 0o600))
	}
	both := "exclude = ['~/fakes/path.*', 'customers']\n"
	config(both)
	s := w.enabled(fake)
	if got := w.fresh(s, "plover"); got != "session-open" {
		t.Errorf("excluded from the start: %q", got)
	}
	fake.taken()
	w.reconcile(s)
	if got := fake.taken(); got != "" {
		t.Errorf("read %q although nothing changed", got)
	}
	config("")
	w.reconcile(s)
	if got := strings.Fields(w.hits(s, "plover")); len(got) != 3 {
		t.Errorf("nothing excluded any more: %q", got)
	}
	config(both)
	if got := w.fresh(s, "plover"); got != "session-open" {
		t.Errorf("excluded later: %q", got)
	}
	w.append("fakes/cwd.fake", "the heron waits\n")
	if got := w.fresh(s, "heron"); got != "" {
		t.Errorf("excluded, then grown: %q", got)
	}
	if st := w.status(s); st.Sessions != 1 || st.FilesDue != 0 || st.Phase != contract.PhaseCurrent {
		t.Errorf("status %+v", st)
	}
}

func TestConfiguredRoots(t *testing.T) {
	w := newWorld(t)
	extra := w.write("elsewhere/a.fake", "session-a\nthe plover nests\n")
	gone := w.path("not-there")
	w.must(os.MkdirAll(w.paths.Config, 0o700))
	w.must(os.WriteFile(w.paths.ConfigFile(), []byte("[roots]\nclaude = ['~/elsewhere', '"+gone+"']\n"), 0o600))
	s := w.enabled(newFake("fakes"))
	if got := w.fresh(s, "plover"); got != "session-a" {
		t.Errorf("plover: %q", got)
	}
	st := w.status(s)
	if len(st.DegradedRoots) != 1 || st.DegradedRoots[0].Root != gone {
		t.Errorf("degraded %+v, want the folder that is not there and no other", st.DegradedRoots)
	}
	if got := st.Agents[0].Roots; len(got) != 2 || got[0] != filepath.Dir(extra) {
		t.Errorf("roots %q", got)
	}
}

// show is a session's header and events as the index has them.
func (w *world) show(_ *index.Service, id string) exacttest.Kept {
	w.t.Helper()
	return w.kept(contract.SessionName{SessionID: id})
}

func (w *world) kept(name contract.SessionName) exacttest.Kept {
	w.t.Helper()
	now := time.Now()
	if w.now != nil {
		now = w.now()
	}
	r, err := exacttest.Read(context.Background(), w.paths.Index(), name, now)
	w.must(err)
	return r
}

// page is the cursor after the first page.
func (w *world) page(s *index.Service, query string, limit int) *string {
	w.t.Helper()
	req := contract.NewSearchSessionsRequest(query)
	req.Limit = limit
	r, err := s.SearchSessions(context.Background(), req)
	w.must(err)
	if r.Results == nil || r.Results.Page.Cursor == nil {
		w.t.Fatalf("%q has no second page: %+v", query, r)
	}
	return r.Results.Page.Cursor
}

func TestPartsOfARootThatAreGone(t *testing.T) {
	const name = "rollout-2026-04-08T12-55-32-019d6d29-8cf7-7fe3-adc9-8c3e4d9d5603.jsonl"
	rollout := `{"timestamp":"2026-04-08T12:55:32.000Z","type":"session_meta","payload":{"id":"019d6d29-8cf7-7fe3-adc9-8c3e4d9d5603","cwd":"/w/loom"}}
{"timestamp":"2026-04-08T12:55:40.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"why does the skua dive"}]}}
`
	archived := strings.ReplaceAll(rollout, "019d6d29", "019d6d30")
	for _, c := range []struct {
		name string
		do   func(w *world)
		want contract.Presence
	}{
		{"the file", func(w *world) { w.must(os.Remove(w.path(".codex/sessions/2026/04/08/" + name))) }, contract.PresenceMissing},
		{"its folder, beside another", func(w *world) {
			w.must(os.MkdirAll(w.path(".codex/sessions/2026/04/09"), 0o755))
			w.must(os.RemoveAll(w.path(".codex/sessions/2026/04/08")))
		}, contract.PresenceMissing},
		{"everything below a mount point", func(w *world) { w.must(os.RemoveAll(w.path(".codex/sessions/2026"))) }, contract.PresenceUnverifiable},
		{"what a link pointed to", func(w *world) {
			w.must(os.RemoveAll(w.path(".codex/sessions")))
			w.must(os.Symlink("/nowhere/at/all", w.path(".codex/sessions")))
		}, contract.PresenceUnverifiable},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(".codex/sessions/2026/04/08/"+name, rollout)
			w.write(".codex/archived_sessions/"+strings.ReplaceAll(name, "019d6d29", "019d6d30"), archived)
			s := w.enabled()
			w.reconcile(s)
			c.do(w)
			w.reconcile(s)
			if h := w.show(s, "019d6d29-8cf7-7fe3-adc9-8c3e4d9d5603").Session; h.Presence != c.want {
				t.Errorf("presence %s, want %s", h.Presence, c.want)
			}
			if st := w.status(s); (st.Phase == contract.PhaseDegraded) != (c.want == contract.PresenceUnverifiable) {
				t.Errorf("phase %s, degraded %+v", st.Phase, st.DegradedRoots)
			}
		})
	}
}
