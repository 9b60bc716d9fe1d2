package index_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// clocked is a world whose clock the test sets.
func clocked(t *testing.T) (*world, *time.Time) {
	w := newWorld(t)
	at := time.Now()
	w.now = func() time.Time { return at }
	return w, &at
}

// degraded are the roots that could not be verified.
func (w *world) degraded(st contract.Status) string {
	var out []string
	for _, d := range st.DegradedRoots {
		out = append(out, strings.TrimPrefix(d.Root, w.home)+": "+strings.ReplaceAll(d.Reason, w.home, ""))
	}
	return strings.Join(out, "\n")
}

// A root that loses all its transcripts at once proves nothing until it was
// found empty twice, some minutes apart, and only if it is the same folder.
func TestRootThatIsSuddenlyEmpty(t *testing.T) {
	w, at := clocked(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	w.write("fakes/b.fake", "session-b\nthe plover left\n")
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	w.must(os.Remove(w.path("fakes/a.fake")))
	w.must(os.Remove(w.path("fakes/b.fake")))
	doubtful := func(when string) {
		t.Helper()
		if got := w.fresh(s, "left"); got != "session-b:unverifiable" {
			t.Errorf("%s: %q", when, got)
		}
		st := w.status(s)
		if want := "/fakes: /fakes is suddenly empty; what was read from 2 transcripts below it before is kept"; w.degraded(st) != want || st.Phase != contract.PhaseDegraded {
			t.Errorf("%s: %s, degraded %q, want %q", when, st.Phase, w.degraded(st), want)
		}
	}
	doubtful("at once")
	*at = at.Add(4 * time.Minute)
	doubtful("after four minutes")
	*at = at.Add(-time.Hour)
	doubtful("the clock was set back")
	*at = at.Add(4 * time.Minute)
	doubtful("four minutes after that")
	*at = at.Add(2 * time.Minute)
	if got := w.fresh(s, "left"); got != "session-b:missing" {
		t.Errorf("after six minutes: %q", got)
	}
	if st := w.status(s); st.Phase != contract.PhaseCurrent || st.Sessions != 2 {
		t.Errorf("status %+v", st)
	}
	// What was proven stays so, whatever becomes of the folder.
	st := w.status(s)
	w.must(os.Remove(w.path("fakes")))
	if got := w.fresh(s, "left"); got != "session-b:missing" {
		t.Errorf("without the folder: %q", got)
	}
	if again := w.status(s); again.Generation != st.Generation {
		t.Errorf("generation %d became %d although no answer changed", st.Generation, again.Generation)
	}
	w.write("fakes/b.fake", "session-b\nthe plover left\n")
	if got := w.fresh(s, "left"); got != "session-b" {
		t.Errorf("back: %q", got)
	}
}

func TestRootThatIsAnotherFolder(t *testing.T) {
	w, at := clocked(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	w.write("fakes/b.fake", "session-b\nthe plover left\n")
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	w.must(os.Rename(w.path("fakes"), w.path("away")))
	w.must(os.Mkdir(w.path("fakes"), 0o755)) // a mount point without its disk
	for range 3 {
		if got := w.fresh(s, "left"); got != "session-b:unverifiable" {
			t.Errorf("an empty folder in its place: %q", got)
		}
		*at = at.Add(time.Hour)
	}
	w.must(os.Remove(w.path("fakes")))
	w.must(os.Rename(w.path("away"), w.path("fakes")))
	if got := w.fresh(s, "left"); got != "session-b" {
		t.Errorf("back: %q", got)
	}
	if st := w.status(s); st.Phase != contract.PhaseCurrent || st.Events != 2 {
		t.Errorf("status %+v", st)
	}
}

func TestTranscriptThatBecomesALinkToNothing(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	w.write("fakes/b.fake", "session-b\nthe heron waits\n")
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	w.must(os.Rename(w.path("fakes/a.fake"), w.path("moved.fake")))
	w.must(os.Symlink("/nowhere/at/all", w.path("fakes/a.fake")))
	if got := w.fresh(s, "plover"); got != "session-a:unverifiable" {
		t.Errorf("plover: %q", got)
	}
}

// What was deleted just after it grew is not active any more, in a hit as in a
// header and for every way to ask.
func TestDeletedTranscriptIsNotActive(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	w.write("fakes/b.fake", "session-b\nthe plover left\n")
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	w.must(os.Remove(w.path("fakes/a.fake")))
	if got := w.fresh(s, "plover"); got != "session-a:missing session-b" && got != "session-b session-a:missing" {
		t.Fatalf("plover: %q", got)
	}
	for query, want := range map[string]string{"plover is:active": "session-b", "is:active": "session-b", "is:missing": "session-a:missing"} {
		if got := w.fresh(s, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for id, want := range map[string]bool{"session-a": false, "session-b": true} {
		req := contract.NewSearchSessionsRequest("plover")
		req.Filters.SessionIDs, req.Filters.Active = []string{id}, &want
		hits := w.search(s, req).Hits
		if len(hits) != 1 || hits[0].Active != want {
			t.Errorf("%s, active %v: %+v", id, want, hits)
		}
	}
}

// Below a root that is not looked into any more nothing is touched.
func TestRootThatIsNotConfiguredAnyMore(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	w.write("extra/b.fake", "session-b\nthe heron waits\n")
	w.must(os.MkdirAll(w.paths.Config, 0o700))
	w.must(os.WriteFile(w.paths.ConfigFile(), []byte("[roots]\nclaude = ['~/extra']\n"), 0o600))
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	w.must(os.WriteFile(w.paths.ConfigFile(), nil, 0o600))
	if got := w.fresh(s, "heron"); got != "session-b" {
		t.Errorf("not looked for: %q", got)
	}
	w.must(os.Rename(w.path("extra"), w.path("away")))
	if got := w.fresh(s, "heron"); got != "session-b:unverifiable" {
		t.Errorf("its folder is gone: %q", got)
	}
}

// A file may vanish, or change, between being found and being read.
func TestTranscriptsThatChangeUnderThePass(t *testing.T) {
	t.Run("one never read vanishes", func(t *testing.T) {
		w := newWorld(t)
		fake := newFake("fakes")
		w.write("fakes/first.fake", "session-first\nthe plover nests\n")
		victim := w.write("fakes/victim.fake", "session-victim\nthe heron waits\n")
		w.must(os.Chtimes(victim, time.Now(), time.Now().Add(-time.Hour))) // read after the other
		fake.meanwhile = func(string) { _ = os.Remove(victim) }
		s := w.enabled(fake)
		w.reconcile(s)
		if st := w.status(s); st.FilesFailed != 0 || st.FilesDue != 0 || st.Phase != contract.PhaseCurrent || st.Sessions != 1 || st.FilesIndexed != 1 {
			t.Errorf("status %+v", st)
		}
	})
	t.Run("many never read, one vanishes", func(t *testing.T) {
		w := newWorld(t)
		fake := newFake("fakes")
		for i := range 250 {
			w.write(fmt.Sprintf("fakes/f%d.fake", i), fmt.Sprintf("session-%d\nthe plover nests\n", i))
		}
		victim := w.write("fakes/victim.fake", "session-victim\nthe heron waits\n")
		w.must(os.Chtimes(victim, time.Now(), time.Now().Add(-time.Hour)))
		fake.meanwhile = func(string) { _ = os.Remove(victim) }
		s := w.enabled(fake)
		w.reconcile(s)
		if st := w.status(s); st.FilesFailed != 0 || st.Phase != contract.PhaseCurrent || st.Sessions != 250 || st.FilesIndexed != 250 {
			t.Errorf("status %+v", st)
		}
	})
	t.Run("one that was read vanishes", func(t *testing.T) {
		w := newWorld(t)
		fake := newFake("fakes")
		w.write("fakes/first.fake", "session-first\nthe plover nests\n")
		victim := w.write("fakes/victim.fake", "session-victim\nthe heron waits\n")
		s := w.enabled(fake)
		w.reconcile(s)
		w.append("fakes/victim.fake", "and waits\n")
		w.must(os.Chtimes(victim, time.Now(), time.Now().Add(-time.Hour)))
		w.append("fakes/first.fake", "and broods\n")
		fake.meanwhile = func(string) { _ = os.Remove(victim) }
		w.reconcile(s)
		if st := w.status(s); st.FilesFailed != 0 || st.Sessions != 2 {
			t.Errorf("status %+v", st)
		}
		if got := w.fresh(s, "heron"); got != "session-victim:missing" {
			t.Errorf("heron: %q", got)
		}
		if st := w.status(s); st.Phase != contract.PhaseCurrent || st.FilesDue != 0 {
			t.Errorf("status %+v", st)
		}
	})
	t.Run("one is rewritten while it is read", func(t *testing.T) {
		w := newWorld(t)
		fake := newFake("fakes")
		w.write("fakes/a.fake", "session-a\nthe plover nests\n")
		fake.meanwhile = func(string) {
			fake.meanwhile = nil
			w.write("fakes/a.fake", "session-a\nthe heron\n")
		}
		s := w.enabled(fake)
		w.reconcile(s)
		if got := w.fresh(s, "heron") + "|" + w.hits(s, "plover"); got != "session-a|" {
			t.Errorf("found %q", got)
		}
	})
}

func TestRowDeletedInASharedStore(t *testing.T) {
	w := newWorld(t)
	db := w.openCode("opencode.db")
	openCodeSession(t, db, "ses_a", "/w/loom", 1785000000000, "the bird numbera nests")
	openCodeSession(t, db, "ses_b", "/w/loom", 1785000000000, "the bird numberb nests")
	s := w.enabled()
	w.reconcile(s)
	if got := strings.Fields(w.hits(s, "nests")); len(got) != 2 {
		t.Fatalf("before: %q", got)
	}
	_, err := db.Exec(`DELETE FROM part WHERE session_id = 'ses_a'; DELETE FROM message WHERE session_id = 'ses_a'; DELETE FROM session WHERE id = 'ses_a'`)
	w.must(err)
	if got := w.fresh(s, "numbera"); got != "ses_a:missing" {
		t.Errorf("its row is gone: %q", got)
	}
	if got := w.hits(s, "numberb"); got != "ses_b" {
		t.Errorf("the other row: %q", got)
	}
	w.must(db.Close())
	path := w.path(".local/share/opencode")
	w.must(os.Rename(path, path+".away"))
	if got := w.fresh(s, "numberb") + " " + w.hits(s, "numbera"); got != "ses_b:unverifiable ses_a:missing" {
		t.Errorf("the store is gone: %q", got)
	}
	w.must(os.Rename(path+".away", path))
	if got := w.fresh(s, "numberb") + " " + w.hits(s, "numbera"); got != "ses_b ses_a:missing" {
		t.Errorf("back: %q", got)
	}
}

// A clock far ahead may make everything look too old: what is on disk comes
// back with the right time, and kept copies must not be lost.
func TestClockThatLeaps(t *testing.T) {
	w, at := clocked(t)
	gone := w.write("fakes/gone.fake", "session-gone\nthe plover left\n")
	w.write("fakes/there.fake", "session-there\nthe heron waits\n")
	s := w.enabled(newFake("fakes"))
	w.setPolicy(s, contract.SetPolicyRequest{HistoryDays: contract.Some(30)})
	w.reconcile(s)
	w.must(os.Remove(gone))
	w.reconcile(s)
	right := *at
	*at = at.AddDate(10, 0, 0)
	w.reconcile(s)
	if got := w.hits(s, "heron"); got != "" {
		t.Errorf("ten years on: %q", got)
	}
	*at = right
	if got := w.fresh(s, "heron"); got != "session-there" {
		t.Errorf("the clock is right again: %q", got)
	}
	if got := w.hits(s, "plover"); got != "session-gone:missing" {
		t.Errorf("kept copy: %q", got)
	}
	// Time that passes in fact drops it, after another look.
	*at = at.AddDate(0, 0, 40)
	w.reconcile(s)
	*at = at.Add(6 * time.Minute)
	w.reconcile(s)
	if got := w.hits(s, "plover"); got != "" {
		t.Errorf("forty days later: %q", got)
	}
}

// Text that a fork copied from its parent is found in the parent; once that is
// dropped, in the fork.
func TestCopiedTextAlwaysHasAnOwner(t *testing.T) {
	for name, drop := range map[string]struct{ do, undo func(w *world) }{
		"retention": {
			func(w *world) {
				w.must(os.WriteFile(w.paths.Policy(), []byte(`{"enabled":true,"historyDays":30}`), 0o600))
			},
			func(w *world) {
				w.must(os.WriteFile(w.paths.Policy(), []byte(`{"enabled":true,"historyDays":null}`), 0o600))
			},
		},
		"exclusion by path": {
			func(w *world) {
				w.must(os.WriteFile(w.paths.ConfigFile(), []byte("exclude = ['parent.fake']\n"), 0o600))
			},
			func(w *world) { w.must(os.Remove(w.paths.ConfigFile())) },
		},
		"exclusion by folder": {
			func(w *world) { w.must(os.WriteFile(w.paths.ConfigFile(), []byte("exclude = ['/w/own']\n"), 0o600)) },
			func(w *world) { w.must(os.Remove(w.paths.ConfigFile())) },
		},
		"forgetting": {
			func(w *world) {
				w.must(os.WriteFile(w.paths.Forgotten(), []byte(`{"version":1,"sessions":[{"sessionId":"session-p","agent":"claude"}]}`), 0o600))
			},
			func(w *world) { w.must(os.Remove(w.paths.Forgotten())) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			parent := w.write("fakes/parent.fake", "session-p\n!cwd /w/own\nthe plover nests\n")
			old := time.Now().AddDate(0, 0, -40)
			w.must(os.Chtimes(parent, old, old))
			w.write("fakes/fork.fake", "session-f\n!parent session-p\n!copied the plover nests\nthe heron waits\n")
			s := w.enabled(newFake("fakes"))
			w.reconcile(s)
			w.reconcile(s)
			if got := w.hits(s, "plover"); got != "session-p" {
				t.Fatalf("before: %q", got)
			}
			drop.do(w)
			w.reconcile(s)
			if got := w.hits(s, "plover"); got != "session-f" {
				t.Errorf("with the parent dropped: %q", got)
			}
			if got := w.hits(s, "heron"); got != "session-f" {
				t.Errorf("the fork's own: %q", got)
			}
			w.append("fakes/fork.fake", "and a tern\n")
			if got := w.fresh(s, "plover") + w.hits(s, "tern"); got != "session-fsession-f" {
				t.Errorf("the fork grew: %q", got)
			}
			drop.undo(w)
			w.reconcile(s)
			w.reconcile(s)
			if got := w.hits(s, "plover"); got != "session-p" {
				t.Errorf("with the parent back: %q", got)
			}
			st := w.status(s)
			w.reconcile(s)
			if again := w.status(s); again.Generation != st.Generation || again.FilesDue != 0 {
				t.Errorf("generation %d became %d although nothing changed", st.Generation, again.Generation)
			}
		})
	}
}

// The same with Claude Code, whose reader finds what was copied by looking at
// the parent's file, which retention leaves where it is.
func TestCopiedTextOfARealForkHasAnOwner(t *testing.T) {
	w := newWorld(t)
	parent := talk(idA, "tidy the plover parser", "done with basalt")
	w.write(claudeFile(idA), parent)
	var fork strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(strings.ReplaceAll(parent, `"sessionId":"`+idA, `"sessionId":"`+idB), "\n"), "\n") {
		fmt.Fprintf(&fork, `%s,"forkedFrom":{"sessionId":%q,"messageUuid":"%s-%d"}}`+"\n", strings.TrimSuffix(line, "}"), idA, idA, i+1)
	}
	w.write(claudeFile(idB), fork.String()+user(idB, idB+"-3", "and now the heron"))
	old := time.Now().AddDate(0, 0, -40)
	w.must(os.Chtimes(w.path(claudeFile(idA)), old, old))
	s := w.enabled()
	w.reconcile(s)
	if got := w.hits(s, "basalt") + " " + w.hits(s, "heron"); got != idA+" "+idB {
		t.Fatalf("before: %q", got)
	}
	w.setPolicy(s, contract.SetPolicyRequest{HistoryDays: contract.Some(30)})
	if got := w.fresh(s, "basalt"); got != idB {
		t.Errorf("with the parent dropped: %q", got)
	}
	w.setPolicy(s, contract.SetPolicyRequest{HistoryDays: contract.Null[int]()})
	w.reconcile(s)
	w.reconcile(s)
	if got := w.hits(s, "basalt"); got != idA {
		t.Errorf("with the parent back: %q", got)
	}
}

// Where the owner of a text is dropped, one of several forks that copied it owns it:
// whoever has most of it, and of those the first by id. What that one has not got, the
// next one owns.
func TestCopiedTextOfSeveralForksHasOneOwner(t *testing.T) {
	for name, newest := range map[string]string{"the owner is read first": "b", "the owner is read last": "a"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			parent := w.write("fakes/p.fake", "session-p\n!cwd /w/own\nthe plover nests\nthe stork stands\nthe bittern booms\n")
			forks := map[string]string{
				"a": "session-a\n!parent session-p\n!copied the plover nests\n!copied the bittern booms\nthe heron of a\n",
				"b": "session-b\n!parent session-p\n!copied the plover nests\n!copied the stork stands\n!copied the crane dances\nthe heron of b\n",
				"c": "session-c\n!parent session-p\n!copied the plover nests\n!copied the stork stands\n!copied the crane dances\nthe heron of c\n",
			}
			at := time.Now().Add(-time.Hour)
			for fork, text := range forks {
				path := w.write("fakes/"+fork+".fake", text)
				if fork != newest {
					w.must(os.Chtimes(path, at, at))
				}
			}
			fake := newFake("fakes")
			s := w.enabled(fake)
			w.reconcile(s)
			expect := func(when string, want map[string]string) {
				t.Helper()
				for word, owner := range want {
					if got := w.hits(s, word); got != owner {
						t.Errorf("%s: %s is found in %q, want %q", when, word, got, owner)
					}
					if got := strings.Fields(eventPlaces(w.events(s, scanning(word)).Hits)); len(got) != 1 || !strings.HasPrefix(got[0], owner+":") {
						t.Errorf("%s: a scan finds %s in %q, want %q", when, word, got, owner)
					}
				}
				for _, own := range []string{"a", "b", "c"} {
					_, err := s.Resolve(context.Background(), contract.SessionName{SessionID: "session-" + own})
					if got := w.hits(s, `"heron of `+own+`"`); err == nil && got != "session-"+own {
						t.Errorf("%s: %s's own is found in %q", when, own, got)
					}
				}
				st := w.status(s)
				fake.taken()
				w.reconcile(s)
				if again := w.status(s); again.Generation != st.Generation || again.FilesDue != 0 || fake.taken() != "" {
					t.Errorf("%s: generation %d became %d although nothing changed", when, st.Generation, again.Generation)
				}
			}
			expect("before", map[string]string{"plover": "session-p", "stork": "session-p", "bittern": "session-p"})
			exclude := func(names ...string) {
				w.must(os.WriteFile(w.paths.ConfigFile(), []byte("exclude = ['"+strings.Join(names, ".fake', '")+".fake']\n"), 0o600))
				w.reconcile(s)
			}
			exclude("p")
			expect("without the parent", map[string]string{"plover": "session-b", "stork": "session-b", "crane": "session-b", "bittern": "session-a"})
			hits := w.search(s, contract.NewSearchSessionsRequest("plover")).Hits
			if len(hits) != 1 || hits[0].DuplicateCount != 2 {
				t.Errorf("without the parent: %+v, want one hit with two copies", hits)
			}
			for fork := range forks {
				w.append("fakes/"+fork+".fake", "and more\n")
			}
			w.reconcile(s)
			expect("all grew", map[string]string{"plover": "session-b", "stork": "session-b", "bittern": "session-a"})
			exclude("p", "b")
			expect("without the owner", map[string]string{"plover": "session-c", "stork": "session-c", "bittern": "session-a"})
			exclude("p", "b", "c")
			expect("with one of them left", map[string]string{"plover": "session-a", "bittern": "session-a"})
			exclude("p")
			expect("with the forks back", map[string]string{"plover": "session-b", "stork": "session-b", "bittern": "session-a"})
			// Rewritten, it has it no longer.
			w.write("fakes/b.fake", "session-b\nthe heron of b\n")
			w.reconcile(s)
			expect("rewritten", map[string]string{"plover": "session-c", "stork": "session-c", "bittern": "session-a"})
			w.write("fakes/b.fake", forks["b"])
			exclude("nothing")
			expect("with the parent back", map[string]string{"plover": "session-p", "stork": "session-p", "bittern": "session-p"})
			if _, err := os.Stat(parent); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestExclusionTakesSubAgentsAndKeptCopies(t *testing.T) {
	for name, glob := range map[string]string{"by folder": "/w/customers", "by path": "~/fakes/main.fake"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			fake := newFake("fakes")
			w.write("fakes/main.fake", "session-m\n!cwd /w/customers/x\nthe plover nests\n")
			kept := w.write("fakes/sub1.fake", "session-m#agent-1\n!cwd /w/elsewhere\nthe plover counts\n")
			w.write("fakes/sub2.fake", "session-m#agent-2\n!cwd /w/elsewhere\nthe plover sleeps\n")
			w.write("fakes/other.fake", "session-mm\nthe plover stays\n")
			s := w.enabled(fake)
			w.reconcile(s)
			w.must(os.Remove(kept))
			w.reconcile(s)
			if got := strings.Fields(w.hits(s, "plover")); len(got) != 4 {
				t.Fatalf("before: %q", got)
			}
			w.must(os.WriteFile(w.paths.ConfigFile(), []byte("exclude = ['"+glob+"']\n"), 0o600))
			if got := w.fresh(s, "plover"); got != "session-mm" {
				t.Errorf("excluded: %q", got)
			}
			fake.taken()
			w.append("fakes/sub2.fake", "the heron waits\n")
			w.write("fakes/sub3.fake", "session-m#agent-3\n!cwd /w/elsewhere\nthe heron too\n")
			if got := w.fresh(s, "plover heron"); got != "session-mm" {
				t.Errorf("later sub-agents: %q", got)
			}
			fake.taken()
			w.reconcile(s)
			if got := fake.taken(); got != "" {
				t.Errorf("read %q although nothing changed", got)
			}
			if st := w.status(s); st.Sessions != 1 || st.FilesDue != 0 || st.FilesFailed != 0 || st.Phase != contract.PhaseCurrent {
				t.Errorf("status %+v", st)
			}
			w.must(os.Remove(w.paths.ConfigFile()))
			if got := strings.Fields(w.fresh(s, "plover heron")); len(got) != 4 {
				t.Errorf("nothing excluded any more: %q", got)
			}
		})
	}
}

// In the order in which files are read, a sub-agent may come before the session
// whose folder excludes both.
func TestExclusionWhileReading(t *testing.T) {
	w := newWorld(t)
	main := w.write("fakes/main.fake", "session-m\n!cwd /w/customers/x\nthe plover nests\n")
	w.write("fakes/sub.fake", "session-m#agent-1\n!cwd /w/elsewhere\nthe plover counts\n")
	for _, offset := range []time.Duration{-time.Hour, time.Hour} {
		w.must(os.Chtimes(main, time.Now(), time.Now().Add(offset)))
		w.must(os.MkdirAll(w.paths.Config, 0o700))
		w.must(os.WriteFile(w.paths.ConfigFile(), []byte("exclude = ['/w/customers']\n"), 0o600))
		s := w.enabled(newFake("fakes"))
		_, err := s.Clear(context.Background(), contract.ClearRequest{})
		w.must(err)
		w.reconcile(s)
		if got := w.hits(s, "plover"); got != "" {
			t.Errorf("the session read %v the sub-agent: %q", offset, got)
		}
	}
}

func TestKeptCopiesSayWhatTheyAre(t *testing.T) {
	w := newWorld(t)
	w.write("one/a.fake", "session-a\nthe plover nests\n")
	w.write("one/b.fake", "session-b\nthe heron waits\n")
	w.write("one/c.fake", "session-c\nthe tern turns\n")
	w.write("two/d.fake", "session-d\nthe skua dives\n")
	s := w.enabled(newFake("one", "two"))
	w.reconcile(s)
	w.must(os.Remove(w.path("one/a.fake")))
	w.must(os.Rename(w.path("two"), w.path("away")))
	w.reconcile(s)
	w.forget(s, "session-c")
	report, err := s.Doctor(context.Background())
	w.must(err)
	if k := report.Kept; k.Missing != 1 || k.Unverifiable != 1 || k.Forgotten != 1 {
		t.Errorf("doctor counts %+v", k)
	}
	for id, want := range map[string]string{"session-a": "its transcript is gone: ", "session-d": "its transcript cannot be reached now: ", "session-b": ""} {
		got := strings.Join(w.show(s, id).Session.Warnings, "\n")
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: warnings %q, want %q", id, got, want)
		}
	}
	req := contract.NewSearchSessionsRequest("is:missing")
	if r, err := s.SearchSessions(context.Background(), req); err != nil || len(r.Results.Hits) != 1 || r.Results.Hits[0].SessionID != "session-a" || r.Results.Hits[0].ResumeCommand != "" {
		t.Errorf("is:missing: %+v, %v", r.Results, err)
	}
}
