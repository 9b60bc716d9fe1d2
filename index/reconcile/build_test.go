package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/reconcile"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/claude"
)

// builders is how many transcripts a library has: enough for a build, of which the newest are
// read whole at once.
const (
	builders = 240
	newest   = 20
)

// library is a home with transcripts of a person who says "said7", a tool that
// prints "printed7", and of some sessions without tools.
type library struct {
	t    *testing.T
	home string
	path string // of the index
	size int64
}

func newLibrary(t *testing.T) *library {
	l := &library{t: t, home: t.TempDir(), path: filepath.Join(t.TempDir(), "index.db")}
	for i := range builders {
		l.write(i, "")
	}
	return l
}

func sid(i int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000001", i) }

// toolless sessions have nothing that a second reading could find.
func toolless(i int) bool { return i%40 == 39 }

func (l *library) file(i int) string {
	return filepath.Join(l.home, ".claude/projects/-w-loom", sid(i)+".jsonl")
}

// write writes a transcript; the first is the newest.
func (l *library) write(i int, more string) {
	l.t.Helper()
	const record = `{"type":%q,"uuid":"%d-%d","parentUuid":"%d-%d","sessionId":%q,"cwd":"/w/loom","timestamp":"2026-11-20T10:00:00.000Z","message":{"role":%q,"content":[%s]}}` + "\n"
	text := fmt.Sprintf(record, "user", i, 1, i, 0, sid(i), "user", fmt.Sprintf(`{"type":"text","text":"said%d everywhere"}`, i))
	if !toolless(i) {
		text += fmt.Sprintf(record, "assistant", i, 2, i, 1, sid(i), "assistant", `{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}`)
		text += fmt.Sprintf(record, "user", i, 3, i, 2, sid(i), "user", fmt.Sprintf(`{"type":"tool_result","tool_use_id":"t1","content":"printed%d everywhere"}`, i))
	}
	text += more
	l.must(os.MkdirAll(filepath.Dir(l.file(i)), 0o755))
	l.must(os.WriteFile(l.file(i), []byte(text), 0o644))
	at := time.Now().Add(-time.Hour - time.Duration(i)*time.Minute)
	l.must(os.Chtimes(l.file(i), at, at))
	l.size += int64(len(text))
}

func (l *library) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// pass makes a pass, asking whether to go on before each transaction.
func (l *library) pass(goOn func() error) (reconcile.Result, []reconcile.Progress, error) {
	l.t.Helper()
	ctx := context.Background()
	w, err := store.OpenWriter(ctx, l.path)
	l.must(err)
	defer w.Close()
	var seen []reconcile.Progress
	r, err := reconcile.Run(ctx, w, reconcile.Config{
		Readers: []transcript.Reader{claude.New()}, Env: transcript.Env{Home: l.home, GOOS: "linux"},
		WholeBytes: l.size * newest / builders, TalkBytes: 1,
		Continue: goOn, Observe: func(p reconcile.Progress) { seen = append(seen, p) },
	})
	return r, seen, err
}

// view is what a search finds.
type view struct {
	read          int     // sources
	said, printed []int64 // rows, the newest first
	sessions      []store.Session
}

func (l *library) look() (v view) {
	l.t.Helper()
	ctx := context.Background()
	r, err := store.OpenReader(ctx, l.path)
	l.must(err)
	defer r.Close()
	l.must(r.Check(ctx))
	s, err := r.Snapshot(ctx)
	l.must(err)
	defer s.Close()
	for in, rows := range map[store.Stream]*[]int64{store.Talk: &v.said, store.ToolText: &v.printed} {
		*rows, err = s.Rows(ctx, in, store.Phrase([]string{"everywhere"}, false), 0, 1<<62, 10*builders)
		l.must(err)
	}
	counts, err := s.Counts(ctx)
	l.must(err)
	v.read = counts.Read
	// Titles have the same words.
	v.said = slices.DeleteFunc(v.said, func(row int64) bool { info, _ := s.Spans.At(row); return info.Kind.Head() })
	var ids []int64
	for _, row := range v.said {
		info, _ := s.Spans.At(row)
		ids = append(ids, info.Session)
	}
	byID, err := s.Sessions(ctx, ids)
	l.must(err)
	for _, id := range ids {
		v.sessions = append(v.sessions, *byID[id])
	}
	return v
}

// whole fails unless all is found, but for what was printed in some.
func (l *library) whole(but ...int) {
	l.t.Helper()
	v := l.look()
	if len(v.said) != builders || len(v.printed) != builders-builders/40-len(but) {
		l.t.Errorf("%d sessions are found by what was said, %d by what was printed", len(v.said), len(v.printed))
	}
	for _, s := range v.sessions {
		if s.TalkOnly != slices.ContainsFunc(but, func(k int) bool { return sid(k) == s.SID }) {
			l.t.Errorf("%s without the tools' text: %v", s.SID, s.TalkOnly)
		}
	}
}

// TestTalkFirst: in a large first build there is a moment at which what was said is found of
// all sessions, what was printed only of the newest; who is read for the second time stays
// before the others; in the end all is as if it had been read once.
func TestTalkFirst(t *testing.T) {
	l := newLibrary(t)
	var talked bool
	r, seen, err := l.pass(func() error {
		if _, err := os.Stat(l.path); err != nil {
			return nil
		}
		v := l.look()
		if len(v.said) < builders || len(v.printed) == builders-builders/40 {
			return nil
		}
		talked = true
		if whole := len(v.printed) + builders/40; v.read > whole {
			t.Errorf("%d transcripts count as read, %d are", v.read, whole)
		}
		if len(v.printed) < newest-1 {
			t.Errorf("only %d of the newest were read whole", len(v.printed))
		}
		for i, s := range v.sessions {
			k := slices.Index(sids(), s.SID)
			if s.TalkOnly != (i >= len(v.printed) && !toolless(k)) {
				t.Fatalf("%d, at place %d of which %d are whole, says that text is missing: %v", k, i, len(v.printed), s.TalkOnly)
			}
		}
		return nil
	})
	if err != nil || r.Read != builders || r.Failed != 0 || r.Due != 0 {
		t.Fatalf("%+v %v", r, err)
	}
	if !talked {
		t.Error("there was no moment at which only what was said was found")
	}
	l.whole()
	for i, p := range seen {
		if i > 0 && (p.BytesDone < seen[i-1].BytesDone || p.FilesDone < seen[i-1].FilesDone) {
			t.Fatalf("progress went from %+v back to %+v", seen[i-1], p)
		}
		if p.BytesTotal != l.size || p.FilesTotal != builders {
			t.Fatalf("progress %+v of %d bytes", p, l.size)
		}
	}
	if last := seen[len(seen)-1]; last.BytesDone != l.size || last.FilesDone != builders {
		t.Errorf("ended at %+v of %d bytes", last, l.size)
	}
}

func sids() []string {
	out := make([]string, builders)
	for i := range out {
		out[i] = sid(i)
	}
	return out
}

// atTalk runs a pass up to the moment at which only what was said is read of most.
func (l *library) atTalk() {
	l.t.Helper()
	stop := errors.New("stop")
	_, _, err := l.pass(func() error {
		if _, err := os.Stat(l.path); err == nil && len(l.look().said) == builders {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		l.t.Fatal(err)
	}
	if v := l.look(); len(v.printed) > 2*newest {
		l.t.Fatalf("stopped too late: %d", len(v.printed))
	}
}

// TestTalkFirstIsTakenUp: a build that ended between the two readings is finished by the
// next pass, and what was read already does not count as new.
func TestTalkFirstIsTakenUp(t *testing.T) {
	l := newLibrary(t)
	l.atTalk()
	r, seen, err := l.pass(nil)
	if err != nil || r.Failed != 0 || r.Due != 0 {
		t.Fatalf("%+v %v", r, err)
	}
	if first := seen[len(seen)/2]; first.BytesDone == 0 {
		t.Errorf("progress %+v does not count what was read before", first)
	}
	l.whole()
	if r, _, err = l.pass(nil); err != nil || r.Read != 0 {
		t.Errorf("a third pass: %+v %v", r, err)
	}
}

// TestTalkFirstStoppedAnywhere: a build that ends before any of its transactions is finished by
// the next pass.
func TestTalkFirstStoppedAnywhere(t *testing.T) {
	stop := errors.New("stop")
	for n := 1; ; n++ {
		l, left := newLibrary(t), n
		_, _, err := l.pass(func() error {
			if left--; left < 0 {
				return stop
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			t.Fatal(err)
		}
		if err == nil {
			if n < 4 {
				t.Errorf("the build was %d transactions", n)
			}
			return
		}
		if r, _, err := l.pass(nil); err != nil || r.Failed != 0 || r.Due != 0 {
			t.Fatalf("after %d transactions: %+v %v", n, r, err)
		}
		l.whole()
	}
}

// TestTalkFirstThenGone: what was said stays when the transcript is gone, or cannot be read
// any more, before it is read whole; one that grew is read as it is then.
func TestTalkFirstThenGone(t *testing.T) {
	for name, between := range map[string]bool{"between two passes": true, "within one": false} {
		t.Run(name, func(t *testing.T) {
			l := newLibrary(t)
			lost, broken, grown := builders-4, builders-3, builders-2
			change := func() {
				l.must(os.Remove(l.file(lost)))
				l.must(os.Remove(l.file(broken)))
				l.must(os.Mkdir(l.file(broken), 0o755)) // no file, but there
				l.write(grown, fmt.Sprintf(`{"type":"user","uuid":"later","sessionId":%q,"cwd":"/w/loom","timestamp":"2026-11-20T10:00:00.000Z","message":{"role":"user","content":"afterthought"}}`+"\n", sid(grown)))
			}
			var goOn func() error
			if between {
				l.atTalk()
				change()
			} else {
				done := false
				goOn = func() error {
					if _, err := os.Stat(l.path); err == nil && !done && len(l.look().said) == builders {
						done = true
						change()
					}
					return nil
				}
			}
			if _, _, err := l.pass(goOn); err != nil {
				t.Fatal(err)
			}
			if _, _, err := l.pass(nil); err != nil {
				t.Fatal(err)
			}
			l.whole(lost, broken)
			v := l.look()
			i := slices.IndexFunc(v.sessions, func(s store.Session) bool { return s.SID == sid(grown) })
			if i < 0 || v.sessions[i].Events != 4 {
				t.Errorf("the one that grew: %+v", v.sessions[max(i, 0)])
			}
		})
	}
}
