//go:build unix

package faults_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/requests"
)

// Several servers on one index are killed, stopped, ended and cleared at random
// while agents write; every answer in between is checked against what the files
// said when it was asked for.
func TestCrowd(t *testing.T) {
	for _, servers := range []int{2, 5} {
		t.Run(fmt.Sprint(servers, " servers"), func(t *testing.T) {
			c := newCrowd(t, servers)
			c.run(pick(6*time.Second, 12*time.Second, 3*time.Minute))
		})
	}
}

// crowd is a world in which everything happens at once.
type crowd struct {
	*world
	facts    *facts
	sessions []*session
	slots    []*slot

	deadline                                            time.Time
	stop                                                chan struct{}
	ops, kills, stops, ends, clears, disabled, restarts atomic.Int64
	verdicts                                            [6]atomic.Int64
	pages, stale                                        atomic.Int64
	killedAtWork, stoppedAtWork                         atomic.Int64

	failed atomic.Int64
}

// slot is where one server runs after the other.
type slot struct {
	mu sync.Mutex
	s  *server
}

func (s *slot) get() *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.s
}

func newCrowd(t *testing.T, servers int) *crowd {
	c := &crowd{world: newWorld(t), facts: newFacts(), stop: make(chan struct{})}
	by := c.all()
	for i := range 40 {
		s := c.session(by[i%len(by)], 1+c.rnd.IntN(6))
		c.new(s)
	}
	for range servers {
		c.slots = append(c.slots, &slot{s: c.start()})
	}
	return c
}

// fail fails the test; after a few failures it is over.
func (c *crowd) fail(format string, args ...any) {
	c.Errorf(format, args...)
	if c.failed.Add(1) == 5 {
		close(c.stop)
	}
}

func (c *crowd) over() bool {
	select {
	case <-c.stop:
		return true
	default:
		// On a slow machine nothing may have been checked yet.
		late := time.Since(c.deadline)
		return late > 0 && c.checked() || late > 2*time.Minute
	}
}

// checked reports whether there were answers to check.
func (c *crowd) checked() bool {
	return c.verdicts[present].Load() > 0 && c.verdicts[absent].Load() > 0
}

func (c *crowd) run(d time.Duration) {
	c.deadline = time.Now().Add(d)
	var all sync.WaitGroup
	own := func() *rand.Rand { return rand.New(rand.NewPCG(c.rnd.Uint64(), 0)) }
	trouble := own()
	all.Go(func() { c.trouble(trouble) })
	for i := range c.slots {
		for range 2 {
			rnd := own()
			all.Go(func() { c.ask(c.slots[i], rnd) })
		}
	}
	all.Go(c.writer) // the world's own source is its from here on
	all.Wait()
	for _, slot := range c.slots {
		s := slot.get()
		s.signal(syscall.SIGCONT)
		s.signal(syscall.SIGTERM)
		s.exit(c.T, time.Minute)
	}
	c.settle()
	c.Logf("%d changes to transcripts; %d kills (%d amid a request), %d stops (%d), %d ends, %d clears, %d times without consent, %d restarts; answers checked: %d present, %d absent, %d kept; %d unsure, %d late, %d without an index; %d pages, %d of them stale",
		c.ops.Load(), c.kills.Load(), c.killedAtWork.Load(), c.stops.Load(), c.stoppedAtWork.Load(), c.ends.Load(), c.clears.Load(), c.disabled.Load(), c.restarts.Load(),
		c.verdicts[present].Load(), c.verdicts[absent].Load(), c.verdicts[kept].Load(), c.verdicts[unsure].Load(), c.verdicts[late].Load(), c.verdicts[clear].Load(),
		c.pages.Load(), c.stale.Load())
	if !c.checked() {
		c.Error("nothing could be checked")
	}
}

// settle completes the index in peace and compares it with a clean one.
func (c *crowd) settle() {
	c.world.run(c.own, "index")
	after, _ := c.clean()
	s := c.look(c.own, nil)
	got := c.read(s)
	for _, hit := range c.list(s) {
		name := hit.Agent + ":" + hit.SessionID
		if _, there := after[name]; !there && hit.Source.Presence != contract.PresencePresent {
			delete(got, name) // kept of a deleted transcript
		}
	}
	c.same("in the end", got, after)
	s.Close()
	c.sound("in the end", c.own)
}

// new writes a session and keeps it.
func (c *crowd) new(s *session) {
	done := c.facts.plan(s, s.turns, nil, false)
	c.must(s.by.write(s))
	done()
	c.sessions = append(c.sessions, s)
}

// writer is the agents: one change after the other.
func (c *crowd) writer() {
	by := c.all()
	for !c.over() {
		if err := c.change(by); err != nil {
			c.fail("writing: %v", err)
			return
		}
		c.ops.Add(1)
		// Two changes of a file within one tick of the disk's clock could leave
		// no trace.
		time.Sleep(time.Duration(10+c.rnd.IntN(40)) * time.Millisecond)
	}
}

func (c *crowd) change(by []author) error {
	k := c.rnd.IntN(len(c.sessions))
	s := c.sessions[k]
	log, isLog := s.by.(*jsonl)
	compressed := strings.HasSuffix(s.path, ".zst")
	switch op := c.rnd.IntN(20); {
	case op == 0:
		c.new(c.session(by[c.rnd.IntN(len(by))], 1+c.rnd.IntN(6)))
		return nil
	case op == 1 && len(c.sessions) > 20:
		c.sessions = slices.Delete(c.sessions, k, k+1)
		done := c.facts.delete(s)
		defer done()
		return s.by.remove(s)
	case compressed:
		return nil // agents do not go on with those
	case op < 4: // rewritten, some turns stay
		keep := c.rnd.IntN(len(s.turns) + 1)
		out := slices.Clone(s.turns[keep:])
		s.turns = s.turns[:keep]
		add := c.add(s, 1+c.rnd.IntN(4))
		defer c.facts.plan(s, add, out, false)()
		if !isLog || c.rnd.IntN(2) == 0 {
			return s.by.write(s) // truncated, then grown again
		}
		return replace(s.path, log.whole(s))
	case op == 4 && isLog: // the same size
		t := &s.turns[c.rnd.IntN(len(s.turns))]
		old := *t
		t.word = c.word()
		t.text = strings.Replace(t.text, old.word, t.word, 1)
		defer c.facts.plan(s, []turn{*t}, []turn{old}, false)()
		if c.rnd.IntN(2) == 0 {
			return s.by.write(s)
		}
		return replace(s.path, log.whole(s))
	case op == 5 && isLog && s.by.agent() == "codex":
		defer c.facts.plan(s, nil, nil, false)()
		if c.rnd.IntN(2) == 0 { // archived
			to := filepath.Join(c.home, ".codex/archived_sessions", filepath.Base(s.path))
			from := s.path
			s.path = to
			return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Rename(from, to))
		}
		return compress(s, log)
	case op == 6 && isLog && (s.by.agent() == "claude" || s.by.agent() == "pi"): // moved to another folder
		defer c.facts.plan(s, nil, nil, false)()
		to := filepath.Join(filepath.Dir(filepath.Dir(s.path)), fmt.Sprintf("-w-moved%d", c.rnd.IntN(3)), filepath.Base(s.path))
		from := s.path
		s.path = to
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Rename(from, to))
	case op == 7 && isLog: // touched: from the future or from long ago
		at := time.Now().Add(time.Duration(c.rnd.IntN(2000)-1000) * time.Hour)
		defer c.facts.plan(s, nil, nil, false)()
		return os.Chtimes(s.path, at, at)
	}
	more := c.add(s, 1+c.rnd.IntN(3))
	defer c.facts.plan(s, more, nil, true)()
	if isLog && c.rnd.IntN(3) == 0 { // in two writes
		var b []byte
		for _, t := range more {
			b = append(b, encode(log.lines(s, t))...)
		}
		cut := c.rnd.IntN(len(b))
		err := appendTo(s.path, b[:cut])
		time.Sleep(time.Duration(c.rnd.IntN(60)) * time.Millisecond)
		return errors.Join(err, appendTo(s.path, b[cut:]))
	}
	return s.by.grow(s, more)
}

// replace puts another file in the place of one.
func replace(path string, b []byte) error {
	if err := os.WriteFile(path+".tmp", b, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// compress is what Codex does with old rollouts.
func compress(s *session, log *jsonl) error {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		return err
	}
	defer enc.Close()
	plain := s.path
	s.path += ".zst"
	if err := replace(s.path, enc.EncodeAll(log.whole(s), nil)); err != nil {
		return err
	}
	return os.Remove(plain)
}

// trouble is what befalls the servers.
func (c *crowd) trouble(rnd *rand.Rand) {
	for !c.over() {
		time.Sleep(time.Duration(30+rnd.IntN(300)) * time.Millisecond)
		slot := c.slots[rnd.IntN(len(c.slots))]
		s := slot.get()
		switch rnd.IntN(15) {
		case 12, 13, 14:
			c.atWork(rnd)
		case 10: // killed while it clears
			done := c.facts.clearing()
			go func() { _ = s.command("clear", object{}, nil) }()
			time.Sleep(time.Duration(rnd.IntN(20000)) * time.Microsecond)
			s.signal(syscall.SIGKILL)
			c.clears.Add(1)
			c.kills.Add(1)
			c.restart(slot)
			done()
		case 11: // the consent is withdrawn for a moment
			done := c.facts.disabling()
			for _, enabled := range []bool{false, true} {
				var policy contract.Policy
				if err := s.command("setPolicy", object{"enabled": enabled}, &policy); err != nil {
					c.fail("setPolicy: %v", err)
				} else if policy.Allows() != enabled {
					c.fail("setPolicy %v: %+v", enabled, policy)
				}
				time.Sleep(time.Duration(rnd.IntN(50)) * time.Millisecond)
			}
			done()
			c.disabled.Add(1)
		case 0, 1, 2:
			s.signal(syscall.SIGKILL)
			c.kills.Add(1)
			c.restart(slot)
		case 3:
			s.ending.Store(true)
			s.signal(syscall.SIGTERM)
			c.ends.Add(1)
			c.restart(slot)
		case 4:
			s.ending.Store(true)
			s.in.Close()
			c.ends.Add(1)
			c.restart(slot)
		case 5:
			done := c.facts.clearing()
			var cleared contract.ClearResponse
			err := s.command("clear", object{}, &cleared)
			done()
			if err != nil {
				c.fail("clear: %v", err)
			} else if !cleared.Cleared || cleared.Identity == "" {
				c.fail("clear: %+v", cleared)
			}
			c.clears.Add(1)
		default:
			s.signal(syscall.SIGSTOP)
			long := time.Duration(20+rnd.IntN(400)) * time.Millisecond
			if *longForm && rnd.IntN(20) == 0 {
				long = 7 * time.Second
			}
			time.Sleep(long)
			s.signal(syscall.SIGCONT)
			c.stops.Add(1)
		}
	}
}

// atWork kills or stops the server that writes, while it works on what another
// has asked it for.
func (c *crowd) atWork(rnd *rand.Rand) {
	if !c.working(300 * time.Millisecond) {
		return
	}
	holders, err := lockHolders(filepath.Join(c.own, "watch.lock"))
	if err != nil {
		return // not known here, or there is nobody
	}
	for _, slot := range c.slots {
		s := slot.get()
		if !slices.Contains(holders, s.cmd.Process.Pid) {
			continue
		}
		if rnd.IntN(2) == 0 {
			s.signal(syscall.SIGKILL)
			c.kills.Add(1)
			c.killedAtWork.Add(1)
			c.restart(slot)
			continue
		}
		s.signal(syscall.SIGSTOP)
		time.Sleep(time.Duration(20+rnd.IntN(1200)) * time.Millisecond)
		s.signal(syscall.SIGCONT)
		c.stops.Add(1)
		c.stoppedAtWork.Add(1)
	}
}

// working waits until a request is taken and not done.
func (c *crowd) working(within time.Duration) bool {
	path := filepath.Join(c.own, "control.db")
	if _, err := os.Stat(path); err != nil {
		return false
	}
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro&_busy_timeout=50")
	if err != nil {
		return false
	}
	defer db.Close()
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(200 * time.Microsecond) {
		var taken bool
		if err := db.QueryRow(`SELECT EXISTS(SELECT 1 FROM request WHERE state = ?)`, requests.Taken).Scan(&taken); err == nil && taken {
			return true
		}
	}
	return false
}

// restart puts a new server in the place of one that has been told to end.
func (c *crowd) restart(slot *slot) {
	old := slot.get()
	select {
	case <-old.done:
	case <-time.After(time.Minute):
		c.fail("a server that was told to end is still there after a minute: %s", old.said.String())
		old.signal(syscall.SIGKILL)
		<-old.done
	}
	s, err := c.launch()
	if err != nil {
		c.fail("starting a server: %v", err)
		return
	}
	c.restarts.Add(1)
	slot.mu.Lock()
	slot.s = s
	slot.mu.Unlock()
}

// ask puts questions to the servers of a slot and has the answers judged.
func (c *crowd) ask(slot *slot, rnd *rand.Rand) {
	for !c.over() {
		s := slot.get()
		var err error
		if rnd.IntN(8) == 0 {
			err = c.turnPage(s, rnd)
		} else {
			text, asked := c.facts.question(rnd, func(rnd *rand.Rand) string { return wordOf(rnd.IntN(56 * 56 * 56 * 56)) })
			var a answer
			if a, err = s.search(`"`+text+`"`, object{"freshness": "wait-until-current"}); err == nil {
				v, wrong := c.facts.judge(text, a, asked)
				c.verdicts[v].Add(1)
				if v == clear {
					time.Sleep(5 * time.Millisecond) // it says so at once
				}
				if wrong != nil {
					c.fail("%v (generation %d, late %v)", wrong, a.Generation, a.Truncated.Freshness)
				}
			}
		}
		var refused *rpcError
		switch {
		case errors.Is(err, errEnded), errors.As(err, &refused) && refused.Code == -32800 && s.ending.Load():
			time.Sleep(20 * time.Millisecond) // until there is another
		case err != nil:
			select {
			case <-s.done:
			default:
				c.fail("asking: %v; the server said: %s", err, s.said.String())
			}
		}
	}
}

// turnPage asks for a page and the next one.
func (c *crowd) turnPage(s *server, rnd *rand.Rand) error {
	first, err := s.search("heron", object{"limit": 1 + rnd.IntN(8)})
	if err != nil || first.Kind != contract.KindResults || first.Page.Cursor == nil {
		return err
	}
	if rnd.IntN(4) == 0 {
		broken, err := s.search("heron", object{"cursor": (*first.Page.Cursor)[1:]})
		// Consent, or the index, may have gone between the two requests.
		if err == nil && broken.Kind != contract.KindMalformedCursor && broken.Kind != contract.KindUnavailable {
			c.fail("a broken cursor: %s", said(broken))
		}
		return err
	}
	second, err := s.search("heron", object{"cursor": *first.Page.Cursor})
	if err != nil {
		return err
	}
	c.pages.Add(1)
	switch second.Kind {
	case contract.KindStaleCursor:
		c.stale.Add(1)
	case contract.KindUnavailable:
	case contract.KindResults:
		if second.Generation != first.Generation {
			c.fail("a page of generation %d continues one of %d", second.Generation, first.Generation)
		}
		for _, h := range second.Hits {
			if slices.ContainsFunc(first.Hits, func(o contract.Hit) bool { return o.Agent == h.Agent && o.SessionID == h.SessionID }) {
				c.fail("%s:%s is on two pages of generation %d", h.Agent, h.SessionID, first.Generation)
			}
		}
	default:
		c.fail("the second page: %s", said(second))
	}
	return nil
}
