package index_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/agents"
	"github.com/sessionls/sessionls/index/transcript/claude"
	"github.com/sessionls/sessionls/index/transcript/opencode"
	"github.com/sessionls/sessionls/index/watch"
)

// What happens, or must not happen, while the service runs for long: work is
// counted, not timed.

// counting is a reader that counts what it is asked for.
type counting struct {
	transcript.Locator
	work *atomic.Int64 // of several readers
	own  atomic.Int64  // of this one
	// wrap, if set, stands between the reader and the index.
	wrap func(transcript.Source, transcript.Sink) transcript.Sink
}

func count(t *testing.T, rd transcript.Reader, work *atomic.Int64) *counting {
	t.Helper()
	l, ok := rd.(transcript.Locator)
	if !ok {
		t.Fatalf("the reader of %s cannot place changes", rd.Agent().ID)
	}
	return &counting{Locator: l, work: work}
}

func (c *counting) Discover(ctx context.Context, env transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) error {
	c.work.Add(1)
	c.own.Add(1)
	return c.Locator.Discover(ctx, env, root, yield, report)
}

func (c *counting) Locate(ctx context.Context, env transcript.Env, root transcript.Root, path string) (transcript.Located, error) {
	c.work.Add(1)
	c.own.Add(1)
	return c.Locator.Locate(ctx, env, root, path)
}

func (c *counting) Read(ctx context.Context, env transcript.Env, src transcript.Source, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	c.work.Add(1)
	c.own.Add(1)
	if c.wrap != nil {
		out = c.wrap(src, out)
	}
	return c.Locator.Read(ctx, env, src, prev, out)
}

// stillness is how long nothing must be done for a service to be at rest: a
// service that wakes itself does so at least every half second.
const stillness = time.Second

// rests waits until a service does nothing for a while although it is asked.
// A service that never rests never passes, however fast or slow the machine is.
func (w *world) rests(s *index.Service, work *atomic.Int64, query string) {
	w.t.Helper()
	w.until("rest", func() bool {
		before, was := work.Load(), w.status(s)
		for range 5 {
			time.Sleep(stillness / 5)
			w.ask(s, query)
			w.status(s)
		}
		now := w.status(s)
		return work.Load() == before && now.Generation == was.Generation && *now.LastReconcileAt == *was.LastReconcileAt
	})
}

func TestCasesOfWatching(t *testing.T) {
	t.Run("B101 at rest beside a store that lacks a column", func(t *testing.T) {
		w := newWorld(t)
		db := w.openCode("opencode.db")
		openCodeSession(t, db, "ses_1", "/w/loom", 1785000000000, "a mended merlin")
		_, err := db.Exec(`ALTER TABLE message DROP COLUMN data`)
		w.must(err)
		for i := range 400 {
			id := fmt.Sprintf("cccccccc-0000-4000-8000-%012d", i)
			w.write(fmt.Sprintf(".claude/projects/-w-%02d/%s.jsonl", i%20, id), user(id, "u", "quiet quail"))
		}
		var work atomic.Int64
		bad := newFake("fakes")
		bad.agent = "pi"
		bad.meanwhile = func(string) { work.Add(1) }
		w.write("fakes/a.fake", "session-a\n!fail no such column: data\n")
		store := count(t, opencode.New(), &work)
		s := w.enabled(count(t, claude.New(), &work), store, bad)
		s.Start(context.Background())
		w.until("the first look", func() bool { return w.status(s).LastSweepCompletedAt != nil && index.Seated(s) })
		w.rests(s, &work, "quail")
		st := w.status(s)
		w.equal("phase, sessions, failed, degraded", fmt.Sprint(string(st.Phase)+" ", st.Sessions, st.FilesFailed, len(st.DegradedRoots)), "degraded 400 1 1")
		if len(st.DegradedRoots) == 1 && !strings.Contains(st.DegradedRoots[0].Reason, "message lacks") {
			t.Errorf("the reason is %q", st.DegradedRoots[0].Reason)
		}
		// That somebody opened the store, which for some touches its log, is no
		// reason to look into it; what is written after that is found.
		before := store.own.Load()
		w.must(os.Chmod(w.path(".local/share/opencode/opencode.db-wal"), 0o600))
		id := "cccccccc-0000-4000-8000-000000000007"
		w.append(".claude/projects/-w-07/"+id+".jsonl", user(id, "v", "a shrike"))
		w.until("the other change", func() bool { return w.hits(s, "shrike") == id })
		w.equal("looks into the store", store.own.Load(), before)
		// Whoever asks for a look has no more than three tries made, and moves
		// nothing by it.
		for range 5 {
			w.reconcile(s)
		}
		w.equal("tries", bad.taken(), "a a a")
		held := w.status(s)
		for range 3 {
			w.reconcile(s)
		}
		again := w.status(s)
		w.equal("generation, due", fmt.Sprint(again.Generation, again.FilesDue), fmt.Sprint(held.Generation, 0))
		w.rests(s, &work, "quail")
		w.equal("further tries", bad.taken(), "")
		// What is mended is read, unasked.
		_, err = db.Exec(`ALTER TABLE message ADD COLUMN data text NOT NULL DEFAULT '{"role":"user"}'`)
		w.must(err)
		w.write("fakes/a.fake", "session-a\na mended merlin, too\n")
		w.until("both mended", func() bool { return len(strings.Fields(w.hits(s, "merlin"))) == 2 })
		// And status says so, unasked as well.
		w.until("nothing degraded", func() bool { return len(w.status(s).DegradedRoots) == 0 })
		w.healthy(s)
		w.equal("sessions", w.status(s).Sessions, 402)
	})
	t.Run("B102 memory at rest", func(t *testing.T) {
		heap := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC() // what the first one only finalised
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		w := newWorld(t)
		text, archive := strings.Repeat("the linnet sings in the gorse all morning; ", 800), int64(0)
		for i := range 300 {
			id := fmt.Sprintf("cccccccc-0000-4000-8000-%012d", i)
			line := user(id, "u", fmt.Sprint("linnet", i, " ", text))
			archive += int64(len(line))
			w.write(fmt.Sprintf(".claude/projects/-w-%02d/%s.jsonl", i%20, id), line)
		}
		before := heap()
		var work atomic.Int64
		s := w.enabled(count(t, claude.New(), &work))
		s.Start(context.Background())
		w.until("the first look", func() bool { return w.status(s).Phase == contract.PhaseCurrent && index.Seated(s) })
		w.rests(s, &work, "linnet7")
		first := heap()
		if kept := first - before; kept > archive/4 {
			t.Errorf("%d bytes of heap are kept for %d of transcripts", kept, archive)
		}
		for i := range 300 {
			w.status(s)
			w.hits(s, fmt.Sprint("linnet", i))
			if i%30 == 0 {
				w.hits(s, "gorse")
			}
		}
		if grown := heap() - first; grown > 2<<20 {
			t.Errorf("the heap grew by %d bytes while nothing changed", grown)
		}
	})
	t.Run("B104 thousands of folders in a store of files", func(t *testing.T) {
		w := newWorld(t)
		const store = ".local/share/opencode/storage/"
		message := func(session, id, text string) {
			w.write(store+"message/"+session+"/"+id+".json", `{"role":"user","time":{"created":1785000000000}}`)
			w.write(store+"part/"+id+"/prt_1.json", `{"sessionID":"`+session+`","type":"text","text":"`+text+`"}`)
		}
		for i := range 3000 {
			session := fmt.Sprintf("ses_%02d", i%10)
			if i >= 2700 {
				message(session, fmt.Sprintf("msg_%05d", i), "a dunnock")
			} else {
				w.must(os.MkdirAll(w.path(fmt.Sprintf(store+"part/msg_%05d", i)), 0o755)) // of what was compacted away
			}
			if i < 10 {
				w.write(store+"session/global/"+session+".json", `{"id":"`+session+`","directory":"/w/loom","title":"A nest","time":{"created":1785000000000}}`)
			}
		}
		system := &countedSystem{on: map[string]bool{}}
		s, err := index.Open(context.Background(), index.Options{
			Paths: w.paths, Env: transcript.Env{Home: w.home, GOOS: "linux", Getenv: func(string) string { return "" }}, Watch: system.open,
		})
		w.must(err)
		t.Cleanup(func() { s.Close() })
		w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(true)})
		s.Start(context.Background())
		w.until("the first look", func() bool { return w.status(s).Phase == contract.PhaseCurrent && index.Seated(s) })
		w.until("watching the newest message", func() bool { return system.has(w.path(store + "part/msg_02993")) })
		// A part in the newest message, one more message, one more session.
		w.write(store+"part/msg_02993/prt_2.json", `{"sessionID":"ses_03","type":"text","text":"a wheatear"}`)
		w.until("a part", func() bool { return w.hits(s, "wheatear") == "ses_03" })
		message("ses_04", "msg_90000", "a whinchat")
		w.until("a message", func() bool { return w.hits(s, "whinchat") == "ses_04" })
		message("ses_99", "msg_90001", "a stonechat")
		w.write(store+"session/global/ses_99.json", `{"id":"ses_99","directory":"/w/loom","title":"Another nest","time":{"created":1785000000000}}`)
		w.until("a session", func() bool { return w.hits(s, "stonechat") == "ses_99" })
		// Some per session, not one per message.
		if n := system.most(); n > 100 || n > watch.DefaultBudget() {
			t.Errorf("%d watches for 11 sessions", n)
		}
		if st := w.status(s); len(st.Notices)+len(st.DegradedRoots)+st.FilesFailed != 0 || st.Sessions != 11 {
			t.Errorf("status %+v", st)
		}
	})
	t.Run("B106 fifty folders at once", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), user(idA, "u", "the first godwit"))
		s := w.enabled(agents.All()...)
		s.Start(context.Background())
		w.until("the first look", func() bool { return w.status(s).Phase == contract.PhaseCurrent && index.Seated(s) })
		var group sync.WaitGroup
		want := map[string]bool{}
		for i := range 50 {
			id := fmt.Sprintf("dddddddd-0000-4000-8000-%012d", i)
			want[id] = true
			group.Go(func() {
				folder := w.path(fmt.Sprintf(".claude/projects/-w-new-%02d", i))
				if err := os.Mkdir(folder, 0o755); err != nil {
					t.Error(err)
				}
				if err := os.WriteFile(folder+"/"+id+".jsonl", []byte(user(id, "u", "a flock of dunlin")), 0o644); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		found := func() map[string]bool {
			req := contract.NewSearchSessionsRequest("dunlin")
			req.Limit = 100
			got := map[string]bool{}
			for _, h := range w.search(s, req).Hits {
				got[h.SessionID] = true
			}
			return got
		}
		w.until("all of them", func() bool { return maps.Equal(found(), want) })
		// Every one of the folders is followed, too.
		for i := range 50 {
			w.append(fmt.Sprintf(".claude/projects/-w-new-%02d/dddddddd-0000-4000-8000-%012d.jsonl", i, i), user(fmt.Sprintf("dddddddd-0000-4000-8000-%012d", i), "v", "and a sanderling"))
		}
		w.until("what was appended", func() bool { return w.ask(s, "sanderling").Results.Total.Sessions == 50 })
		w.until("health", func() bool { st := w.status(s); return st.Phase == contract.PhaseCurrent && st.Sessions == 51 })
	})
	t.Run("B107 appending while indexing, about running out of memory", func(t *testing.T) {
		w := newWorld(t)
		const files, rounds = 250, 12 // enough for a build in bulk
		id := func(i int) string { return fmt.Sprintf("eeeeeeee-0000-4000-8000-%012d", i) }
		for i := range files {
			w.write(claudeFile(id(i)), talk(id(i), "why is it out of memory", "fatal error: runtime: out of memory; database is locked"))
		}
		s := w.enabled(agents.All()...)
		s.Start(context.Background())
		// While they are read, some grow, by halves of lines.
		for round := range rounds {
			for i := range 10 {
				line := user(id(i), fmt.Sprint("w", round), fmt.Sprint("out of memory again, bittern", round))
				w.append(claudeFile(id(i)), line[:len(line)/2])
				if st := w.status(s); st.FilesFailed != 0 {
					t.Fatalf("status %+v", st)
				}
				w.append(claudeFile(id(i)), line[len(line)/2:])
			}
		}
		for round := range rounds {
			w.until(fmt.Sprint("round ", round), func() bool {
				r := w.ask(s, fmt.Sprint("bittern", round))
				return r.Results != nil && r.Results.Total.Sessions == 10
			})
		}
		w.until("all", func() bool { return w.ask(s, `"out of memory"`).Results.Total.Sessions == files })
		w.until("rest", func() bool { return w.status(s).Phase == contract.PhaseCurrent })
		w.healthy(s)
		w.equal("events", w.status(s).Events, 2*files+10*rounds)
		report, err := s.Doctor(t.Context())
		w.must(err)
		w.equal("failures", len(report.Failures), 0)
	})
	t.Run("B109 one large file", func(t *testing.T) {
		w := newWorld(t)
		var text strings.Builder
		for i := range 400 {
			text.WriteString(user(idA, fmt.Sprint("u", i), strings.Repeat("the crake calls ", 1000)))
		}
		path := w.write(claudeFile(idA), text.String())
		size := int64(text.Len())
		var work atomic.Int64
		rd, slow := count(t, claude.New(), &work), &telling{w: w, path: path, size: size}
		rd.wrap = slow.wrap
		bad := newFake("fakes")
		bad.agent = "pi"
		w.write("fakes/a.fake", "session-a\n!fail the disk does not answer\n")
		s := w.enabled(rd, bad)
		slow.s = s
		var told []contract.Progress
		w.must(s.Reconcile(t.Context(), false, func(p contract.Progress) { told = append(told, p) }))
		if len(slow.seen) < 3 {
			t.Errorf("only %d steps within one file: %+v", len(slow.seen), slow.seen)
		}
		for name, list := range map[string][]contract.Progress{"status": slow.seen, "told": told} {
			var last contract.Progress
			for _, p := range list {
				if p.BytesDone < last.BytesDone || p.FilesDone < last.FilesDone || p.BytesDone > p.BytesTotal || p.FilesTotal != 2 || p.BytesTotal < size {
					t.Errorf("%s: %+v after %+v", name, p, last)
				}
				last = p
			}
		}
		if len(told) == 0 {
			t.Error("nobody is told of the progress")
		}
		// What failed is not only in the log.
		st := w.status(s)
		w.equal("phase, failed, failed of each", fmt.Sprint(string(st.Phase)+" ", st.FilesFailed, st.Agents[0].Failed, st.Agents[1].Failed), "degraded 1 0 1")
		report, err := s.Doctor(t.Context())
		w.must(err)
		if len(report.Failures) != 1 || report.Failures[0].Reason != "the disk does not answer" || report.Failures[0].Path != w.path("fakes/a.fake") {
			t.Errorf("failures %+v", report.Failures)
		}
	})
	t.Run("B116 asking while the index is replaced", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), user(idA, "u", "the plover nests"))
		a, b := w.enabled(agents.All()...), w.service(agents.All()...)
		w.reconcile(a)
		stop := make(chan struct{})
		var group sync.WaitGroup
		var answers, results atomic.Int64
		for _, s := range []*index.Service{a, b} {
			group.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					r, err := s.SearchSessions(context.Background(), contract.NewSearchSessionsRequest("plover"))
					answers.Add(1)
					switch {
					case err != nil || r.Kind != contract.KindResults && (r.Kind != contract.KindUnavailable || r.Reason != contract.ReasonNotReady):
						t.Errorf("%+v, %v", r, err)
						return
					case r.Results != nil:
						results.Add(1)
						if n := len(r.Results.Hits); n > 1 || n == 1 && r.Results.Hits[0].SessionID != idA {
							t.Errorf("hits %+v", r.Results.Hits)
							return
						}
					}
					if st, err := s.SearchStatus(context.Background(), contract.SearchStatusRequest{}); err != nil || len(st.DegradedRoots) != 0 {
						t.Errorf("status %+v, %v", st, err)
						return
					}
				}
			})
		}
		// more waits for answers that were not asked for before.
		more := func() {
			from := answers.Load() + 4
			w.until("answers", func() bool { return answers.Load() >= from || t.Failed() })
		}
		for range 6 {
			_, err := a.Clear(context.Background(), contract.ClearRequest{})
			w.must(err)
			more()
			w.reconcile(b) // made anew by the other one
			more()
			w.alterSchema() // to be set aside, and another one put in its place
			w.must(a.Reconcile(context.Background(), false, nil))
			more()
		}
		close(stop)
		group.Wait()
		if results.Load() == 0 {
			t.Error("nothing was found in between")
		}
		w.equal("afterwards", w.fresh(b, "plover"), idA)
	})
	t.Run("B119 the agent's log can be cut", func(t *testing.T) {
		w := newWorld(t)
		db := w.openCode("opencode.db")
		db.SetMaxOpenConns(1)
		_, err := db.Exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA busy_timeout = 20000`)
		w.must(err)
		for i := range 50 {
			openCodeSession(t, db, fmt.Sprint("ses_", i), "/w/loom", 1785000000000+int64(i), "the pipit sings")
		}
		var work atomic.Int64
		s := w.enabled(count(t, opencode.New(), &work))
		s.Start(context.Background())
		w.until("the first look", func() bool { return w.status(s).Sessions == 50 && index.Seated(s) })
		// Reading beside a log is no change that is to be read.
		w.rests(s, &work, "pipit")
		wal := w.path(".local/share/opencode/opencode.db-wal")
		for i := range 5 {
			openCodeSession(t, db, fmt.Sprint("ses_more_", i), "/w/loom", 1785000001000+int64(i), fmt.Sprint("redpoll", i))
			if info, err := os.Stat(wal); err != nil || info.Size() == 0 {
				t.Fatalf("nothing to be cut: %v", err)
			}
			if i%2 == 0 {
				w.equal("asked for", w.fresh(s, fmt.Sprint("redpoll", i)), fmt.Sprint("ses_more_", i))
			} else {
				w.until("unasked", func() bool { return w.hits(s, fmt.Sprint("redpoll", i)) == fmt.Sprint("ses_more_", i) })
			}
			w.equal("busy, log, checkpointed", checkpoint(t, db), "0 0 0")
			info, err := os.Stat(wal)
			w.must(err)
			w.equal("size of the log", info.Size(), 0)
		}
		var whole string
		w.must(db.QueryRow(`PRAGMA integrity_check`).Scan(&whole))
		w.equal("the agent's database", whole, "ok")
	})
}

// checkpoint has all of a database's log written into it and the log cut.
func checkpoint(t *testing.T, db *sql.DB) string {
	t.Helper()
	var busy, log, done int
	if err := db.QueryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &done); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(busy, " ", log, " ", done)
}

// countedSystem knows which folders are watched, and how many were at most.
type countedSystem struct {
	watch.Backend
	mu  sync.Mutex
	on  map[string]bool
	max int
}

func (c *countedSystem) open() (watch.Backend, error) {
	b, err := watch.Native()
	c.Backend = b
	return c, err
}

func (c *countedSystem) Add(folder string) error {
	err := c.Backend.Add(folder)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.on[folder] = true
		c.max = max(c.max, len(c.on))
	}
	return err
}

func (c *countedSystem) Remove(folder string) error {
	c.mu.Lock()
	delete(c.on, folder)
	c.mu.Unlock()
	return c.Backend.Remove(folder)
}

func (c *countedSystem) has(folder string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.on[folder]
}

func (c *countedSystem) most() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.max
}

// telling holds the reading of a file, at a few places in it, until the status
// says that it got so far.
type telling struct {
	w    *world
	s    *index.Service
	path string
	size int64
	next int64
	seen []contract.Progress
}

func (c *telling) wrap(src transcript.Source, out transcript.Sink) transcript.Sink {
	if src.Path != c.path {
		return out
	}
	return &tellingSink{out, c}
}

type tellingSink struct {
	transcript.Sink
	c *telling
}

// Progress implements transcript.Sink.
func (o *tellingSink) Progress(bytes int64) {
	c := o.c
	o.Sink.Progress(bytes)
	if bytes < c.next || bytes >= c.size {
		return
	}
	c.next = bytes + c.size/8
	for end := time.Now().Add(inTime); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		st, err := c.s.SearchStatus(context.Background(), contract.SearchStatusRequest{})
		if err != nil || st.Progress == nil || st.FilesDue == 0 {
			c.w.t.Errorf("status %+v, %v", st, err)
			return
		}
		if st.Progress.BytesDone >= bytes {
			c.seen = append(c.seen, *st.Progress)
			return
		}
		o.Sink.Progress(bytes)
	}
	c.w.t.Errorf("the status does not come to %d bytes", bytes)
}
