//go:build unix

package faults_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
)

// Whatever a clock says, of this machine or of the disk, what was written is
// found and what was there stays.
func TestClockJumps(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	s := w.look(w.own, func() time.Time { return now })
	by := w.all()
	sessions := w.write(by, 2*len(by), 3)
	day := 24 * time.Hour
	for _, jump := range []time.Duration{0, 400 * day, -800 * day, -time.Hour, time.Hour, -30 * 365 * day, 60 * 365 * day, -30 * 365 * day} {
		now = now.Add(jump)
		for k, x := range sessions {
			if k%2 == 0 {
				w.must(x.by.grow(x, w.add(x, 1)))
			}
			if _, isLog := x.by.(*jsonl); isLog {
				// The disk's clock jumps, too, and not together with ours.
				at := []time.Time{now, now.Add(jump), time.Unix(0, 0), time.Now().Add(3 * 365 * day)}[w.rnd.IntN(4)]
				w.must(os.Chtimes(x.path, at, at))
			}
		}
		for _, x := range sessions {
			last := x.turns[len(x.turns)-1]
			if got := w.waited(s, last.word); got != x.name()+" present" {
				t.Errorf("jump %v: %q of %s is found in %q", jump, last.word, x.name(), got)
			}
		}
		if st, err := s.SearchStatus(context.Background(), contract.SearchStatusRequest{}); err != nil || st.Sessions != len(sessions) || st.FilesFailed != 0 || st.Phase != contract.PhaseCurrent {
			t.Errorf("jump %v: status %+v, %v", jump, st, err)
		}
	}
	w.findable("after all jumps", s, sessions, 100)
}

// waited is fresh without a process.
func (w *world) waited(s *index.Service, word string) string {
	w.Helper()
	req := contract.NewSearchSessionsRequest(`"` + word + `"`)
	req.Freshness = contract.FreshnessWait
	r, err := s.SearchSessions(context.Background(), req)
	w.must(err)
	a := answer{Kind: r.Kind, Reason: r.Reason}
	if r.Results != nil {
		a.SearchResults = *r.Results
	}
	return said(a)
}

// A rewrite that keeps the size is found by its ctime, also when the mtime is set
// back, anywhere in a transcript of any size.
func TestSameSizeRewrites(t *testing.T) {
	w := newWorld(t)
	s := w.start()
	for _, by := range authors(nil) {
		log, isLog := by.(*jsonl)
		if !isLog {
			continue
		}
		for _, turns := range []int{3, 400} {
			x := w.session(by, turns)
			w.must(by.write(x))
			info, err := os.Stat(x.path)
			w.must(err)
			if got := w.fresh(s, x.turns[1].word); got != x.name()+" present" {
				t.Fatalf("%s: %q", x.name(), got)
			}
			for _, n := range []int{0, turns / 2, turns - 1} {
				for _, atomic := range []bool{false, true} {
					turn := &x.turns[n]
					old := turn.word
					turn.word = w.word()
					turn.text = strings.Replace(turn.text, old, turn.word, 1)
					time.Sleep(12 * time.Millisecond) // a tick of the disk's clock
					if atomic {
						w.must(replace(x.path, log.whole(x)))
					} else {
						w.must(by.write(x))
					}
					w.must(os.Chtimes(x.path, info.ModTime(), info.ModTime()))
					if now, err := os.Stat(x.path); err != nil || now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
						t.Fatalf("the rewrite shows: %v, %v", now, err)
					}
					if got := w.fresh(s, turn.word); got != x.name()+" present" {
						t.Errorf("%s, turn %d of %d, by rename %v: the new word is found in %q", x.name(), n, turns, atomic, got)
					}
					if got := w.fresh(s, old); got != "" {
						t.Errorf("%s, turn %d of %d, by rename %v: the old word is found in %q", x.name(), n, turns, atomic, got)
					}
				}
			}
		}
	}
	w.complete("after the rewrites")
}

// A root that is renamed away proves nothing: what was read there stays, is not
// called present, and is present again once the root is back.
func TestRootRenamedAway(t *testing.T) {
	w := newWorld(t)
	by := authors(nil)
	sessions := w.write(by, 3*len(by), 3)
	servers := []*server{w.start(), w.start()}
	for round := range pick(1, 2, 10) {
		for _, root := range []string{".claude/projects", ".codex", ".pi/agent/sessions", ".gemini/tmp", ".copilot", ".local/share/opencode"} {
			root = filepath.Join(w.home, root)
			away := root + ".away"
			inside := slices.DeleteFunc(slices.Clone(sessions), func(x *session) bool { return !strings.HasPrefix(x.path, root) })
			outside := slices.DeleteFunc(slices.Clone(sessions), func(x *session) bool { return strings.HasPrefix(x.path, root) })
			x := inside[w.rnd.IntN(len(inside))]
			if got := w.fresh(servers[0], x.word); got != x.name()+" present" {
				t.Fatalf("before: %s is %q", x.name(), got)
			}
			w.must(os.Rename(root, away))
			if round%2 == 1 {
				w.must(os.Mkdir(root, 0o700)) // an empty mount point
			}
			for i, s := range servers {
				a, err := s.search(`"`+x.word+`"`, object{"freshness": "wait-until-current"})
				w.must(err)
				if got := said(a); got != x.name()+" unverifiable" {
					t.Errorf("server %d, %s away: %s is %q", i, root, x.name(), got)
				} else if a.Hits[0].ResumeCommand != "" {
					t.Errorf("server %d, %s away: it can be resumed: %s", i, root, a.Hits[0].ResumeCommand)
				}
				o := outside[w.rnd.IntN(len(outside))]
				if got := w.fresh(s, o.word); got != o.name()+" present" {
					t.Errorf("server %d, %s away: %s is %q", i, root, o.name(), got)
				}
				st, err := s.status()
				w.must(err)
				if st.Phase != contract.PhaseDegraded || st.Sessions != len(sessions) ||
					!slices.ContainsFunc(st.DegradedRoots, func(d contract.DegradedRoot) bool { return strings.HasPrefix(d.Root, root) }) {
					t.Errorf("server %d, %s away: phase %s, %d sessions, %+v", i, root, st.Phase, st.Sessions, st.DegradedRoots)
				}
			}
			if round%2 == 1 {
				w.must(os.Remove(root))
			}
			w.must(os.Rename(away, root))
			w.must(x.by.grow(x, w.add(x, 1)))
			for i, s := range servers {
				last := x.turns[len(x.turns)-1]
				if got := w.fresh(s, last.word); got != x.name()+" present" {
					t.Errorf("server %d, %s back: %s is %q", i, root, x.name(), got)
				}
				if st, err := s.status(); err != nil || st.Phase != contract.PhaseCurrent {
					t.Errorf("server %d, %s back: %+v, %v", i, root, st, err)
				}
			}
		}
	}
	w.complete("with all roots back")
}
