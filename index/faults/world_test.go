//go:build unix

package faults_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/transcript"
)

// world is a user's home with transcripts, and sessionls' own folder. A test
// with one of its own runs beside others: much of it is waiting.
type world struct {
	*testing.T
	corpus
	own   string
	owns  sync.Map // the own folder of each *index.Service that looks
	store *openCodeStore
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	rnd := seeded(t)
	dir := t.TempDir()
	w := &world{T: t, corpus: corpus{home: filepath.Join(dir, "home"), rnd: rnd}, own: filepath.Join(dir, "own")}
	w.must(os.MkdirAll(w.home, 0o700))
	w.consent(w.own)
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// consent makes an own folder in which the user has agreed to reading.
func (w *world) consent(own string) {
	w.Helper()
	w.must(os.MkdirAll(own, 0o700))
	w.must(os.WriteFile(filepath.Join(own, "policy.json"), []byte(`{"enabled":true,"historyDays":null}`+"\n"), 0o600))
}

// all is every author, OpenCode's store included.
func (w *world) all() []author {
	if w.store == nil {
		w.store = newOpenCodeStore(w.T, w.home)
	}
	return authors(w.store)
}

// write makes and writes n sessions by the authors in turn.
func (w *world) write(by []author, n, turns int) []*session {
	w.Helper()
	var out []*session
	for i := range n {
		s := w.session(by[i%len(by)], 1+w.rnd.IntN(2*turns))
		w.must(s.by.write(s))
		out = append(out, s)
	}
	return out
}

// command is the program over the world, with nothing of the tester's
// environment.
func (w *world) command(own string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"HOME=" + w.home, "SESSIONLS_HOME=" + own, "GORACE=atexit_sleep_ms=0"}
	cmd.Dir = w.home
	return cmd
}

// run runs the program to its end, which must be a good one.
func (w *world) run(own string, args ...string) time.Duration {
	w.Helper()
	start := time.Now()
	if out, err := w.command(own, args...).CombinedOutput(); err != nil {
		w.Fatalf("sessionls %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return time.Since(start)
}

// look opens the service in this process, for looking only: it makes no pass
// unless asked.
func (w *world) look(own string, now func() time.Time) *index.Service {
	w.Helper()
	s, err := index.Open(context.Background(), index.Options{
		Paths: index.PathsUnder(own), Now: now,
		Env: transcript.Env{Home: w.home, GOOS: runtime.GOOS, Getenv: func(string) string { return "" }},
	})
	w.must(err)
	w.owns.Store(s, own)
	w.Cleanup(func() { s.Close() })
	return s
}

// clean builds an index from nothing with a process that nothing happens to,
// and says how long that took.
func (w *world) clean() (content, time.Duration) {
	w.Helper()
	own := w.TempDir()
	w.consent(own)
	took := w.run(own, "index")
	s := w.look(own, nil)
	defer s.Close()
	return w.read(s), took
}

// output keeps what a process says, up to a bound.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.b.Len() < 64<<10 {
		o.b.Write(p)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// accused finds in what a process said that it fell over its own feet.
func accused(said string) bool {
	for _, sign := range []string{"panic:", "panicked", "DATA RACE", "fatal error:", "SIGSEGV", "ended unexpectedly"} {
		if strings.Contains(said, sign) {
			return true
		}
	}
	return false
}
