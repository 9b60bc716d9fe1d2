package watch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/watch"
)

// patience is how long something that must happen is waited for.
const patience = time.Minute

// seen collects batches.
type seen struct {
	t       *testing.T
	w       *watch.Watcher
	mu      sync.Mutex
	paths   map[string]bool
	batches int
	lost    bool
}

// start runs a watcher until the test ends, and checks that Run returns.
func start(t *testing.T, opts watch.Options) *seen {
	opts.Quiet, opts.MaxDelay = 10*time.Millisecond, 50*time.Millisecond
	s := &seen{t: t, w: watch.New(opts), paths: map[string]bool{}}
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.w.Run(ctx, func(b watch.Batch) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.batches++
			s.lost = s.lost || b.Overflow
			if !slices.IsSorted(b.Paths) {
				t.Errorf("not sorted: %q", b.Paths)
			}
			for _, p := range b.Paths {
				s.paths[p] = true
			}
		})
	}()
	t.Cleanup(func() {
		end()
		select {
		case <-done:
		case <-time.After(patience):
			t.Error("Run does not return")
		}
	})
	return s
}

// until waits for something that must come true.
func (s *seen) until(what string, is func() bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		ok := is()
		s.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(end) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.t.Fatalf("%s does not happen; seen %v, overflow %v, notice %q", what, s.paths, s.lost, s.w.Notice())
		}
	}
}

// path waits until a change at a path was told, and forgets it.
func (s *seen) path(p string) {
	s.t.Helper()
	s.until(p, func() bool { return s.paths[p] })
	s.mu.Lock()
	delete(s.paths, p)
	s.mu.Unlock()
}

func (s *seen) watching(n int) {
	s.t.Helper()
	s.until(fmt.Sprintf("watching %d folders", n), func() bool { return s.w.Watched() == n })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, errors.Join(err, f.Close()))
}

func TestWatching(t *testing.T) {
	dir := t.TempDir()
	s := start(t, watch.Options{})
	s.w.Set([]watch.Target{{Folder: dir}})
	s.path(dir) // what happened there before is of interest, too
	s.watching(1)

	file := filepath.Join(dir, "a.jsonl")
	for range 2 {
		write(t, file, "line\n")
		s.path(file)
	}
	other := filepath.Join(dir, "b.jsonl")
	must(t, os.Rename(file, other))
	s.path(file)
	s.path(other)
	must(t, os.Remove(other))
	s.path(other)

	// A tree that appears at once: each folder is watched, and what was written
	// before that lies below a path that is told.
	deep := filepath.Join(dir, "2026", "05", "01")
	must(t, os.MkdirAll(deep, 0o700))
	s.path(filepath.Join(dir, "2026"))
	s.watching(4)
	file = filepath.Join(deep, "c.jsonl")
	write(t, file, "line\n")
	s.path(file)

	// A watched folder that goes is told, and watched again when it is set again.
	must(t, os.Rename(dir+"/2026", dir+"/2027"))
	s.path(filepath.Join(dir, "2026"))
	s.path(filepath.Join(dir, "2027"))
	s.watching(4)
	file = filepath.Join(dir, "2027", "05", "01", "c.jsonl")
	write(t, file, "line\n")
	s.path(file)
	// Nothing is watched that is not set, but for what was just made.
	s.w.Set([]watch.Target{{Folder: filepath.Dir(file)}})
	s.watching(3)
	write(t, file, "line\n")
	s.path(file)
}

// Only the way to a folder that is not there yet is of interest.
func TestWaitingForFolders(t *testing.T) {
	dir := t.TempDir()
	s := start(t, watch.Options{})
	to := filepath.Join(dir, ".agent", "sessions")
	s.w.Set([]watch.Target{{Folder: dir, Toward: []string{to, filepath.Join(dir, ".other")}}})
	s.watching(1)
	write(t, filepath.Join(dir, ".history"), "x")
	must(t, os.Mkdir(filepath.Join(dir, "clone"), 0o700))
	must(t, os.MkdirAll(to, 0o700))
	s.path(filepath.Join(dir, ".agent"))
	file := filepath.Join(to, "a.jsonl")
	s.until("all on the way", func() bool { return s.w.Watched() == 3 })
	write(t, file, "line\n")
	s.path(file)
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.paths {
		if strings.Contains(p, ".history") || strings.Contains(p, "clone") {
			t.Errorf("told of %s", p)
		}
	}
}

// A burst of events becomes few batches, and what does not fit is an overflow.
func TestBursts(t *testing.T) {
	b := newBackend()
	s := start(t, watch.Options{Open: b.open})
	s.w.Set([]watch.Target{{Folder: "/f"}})
	s.watching(1)
	s.path("/f")
	s.mu.Lock()
	before := s.batches
	s.mu.Unlock()
	for range 2000 {
		b.events <- watch.Event{Path: "/f/a"}
	}
	s.path("/f/a")
	s.mu.Lock()
	if n := s.batches - before; n > 200 {
		t.Errorf("%d batches of 2000 events", n)
	}
	s.mu.Unlock()
	for i := range 10000 {
		b.events <- watch.Event{Path: fmt.Sprintf("/f/%d", i)}
	}
	s.until("overflow", func() bool { return s.lost })
	s.mu.Lock()
	s.lost = false
	s.mu.Unlock()
	b.errors <- watch.ErrOverflow
	s.until("overflow of the system", func() bool { return s.lost })
}

func TestIgnoring(t *testing.T) {
	b := newBackend()
	s := start(t, watch.Options{Open: b.open, Ignore: func(p string) bool { return strings.HasSuffix(p, ".tmp") }})
	s.w.Set([]watch.Target{{Folder: "/f"}})
	s.watching(1)
	b.events <- watch.Event{Path: "/f/a.tmp"}
	b.events <- watch.Event{Path: "/f/a"}
	s.path("/f/a")
	if s.mu.Lock(); s.paths["/f/a.tmp"] {
		t.Error("told of what is ignored")
	}
	s.mu.Unlock()
}

// The budget goes to the first ones; the rest is looked at now and then.
func TestBudget(t *testing.T) {
	dir := t.TempDir()
	s := start(t, watch.Options{Budget: 2, PollMin: 10 * time.Millisecond, PollMax: 50 * time.Millisecond})
	var targets []watch.Target
	for i := range 4 {
		folder := filepath.Join(dir, fmt.Sprint(i))
		must(t, os.Mkdir(folder, 0o700))
		file := filepath.Join(folder, "a.jsonl")
		write(t, file, "line\n")
		targets = append(targets, watch.Target{Folder: folder, Files: []string{file}})
	}
	s.w.Set(targets)
	s.watching(2)
	for i := range 4 {
		write(t, filepath.Join(dir, fmt.Sprint(i), "a.jsonl"), "more\n")
		s.path(filepath.Join(dir, fmt.Sprint(i), "a.jsonl"))
	}
	file := filepath.Join(dir, "3", "b.jsonl")
	write(t, file, "line\n")
	s.path(filepath.Dir(file)) // a new file shows in its folder
	must(t, os.Remove(filepath.Join(dir, "3", "a.jsonl")))
	s.path(filepath.Join(dir, "3", "a.jsonl"))
	if n := s.w.Notice(); n != "" {
		t.Errorf("notice %q", n)
	}
	// Another order: what was watched first is not any more.
	slices.Reverse(targets)
	s.w.Set(targets)
	s.until("the other folders", func() bool { return s.paths[filepath.Join(dir, "2")] })
	s.watching(2)
	for i := range 4 {
		write(t, filepath.Join(dir, fmt.Sprint(i), "a.jsonl"), "more\n")
		s.path(filepath.Join(dir, fmt.Sprint(i), "a.jsonl"))
	}
}

// When the system's watches run out what is not watched is looked at, a notice
// tells, and the first ones keep their places.
func TestNoMoreWatches(t *testing.T) {
	dir := t.TempDir()
	b := newBackend()
	b.room = 3
	s := start(t, watch.Options{Open: b.open, PollMin: 10 * time.Millisecond, PollMax: 50 * time.Millisecond})
	var targets []watch.Target
	for i := range 6 {
		folder := filepath.Join(dir, fmt.Sprint(i))
		must(t, os.Mkdir(folder, 0o700))
		targets = append(targets, watch.Target{Folder: folder, Files: []string{filepath.Join(folder, "a")}})
	}
	s.w.Set(targets)
	s.watching(3)
	s.until("a notice", func() bool {
		return strings.Contains(s.w.Notice(), "max_user_watches") && strings.Contains(s.w.Notice(), "3 folders")
	})
	write(t, filepath.Join(dir, "5", "a"), "line\n")
	s.path(filepath.Join(dir, "5", "a"))

	targets = append([]watch.Target{targets[5]}, targets[:5]...)
	s.w.Set(targets)
	s.until("the new first one", func() bool { return b.has(filepath.Join(dir, "5")) && !b.has(filepath.Join(dir, "2")) })
	s.watching(3)
}

// Without any watching everything is looked at.
func TestNoWatching(t *testing.T) {
	dir := t.TempDir()
	s := start(t, watch.Options{Open: func() (watch.Backend, error) { return nil, syscall.EMFILE }, PollMin: 10 * time.Millisecond, PollMax: 20 * time.Millisecond})
	file := filepath.Join(dir, "a")
	write(t, file, "line\n")
	s.w.Set([]watch.Target{{Folder: dir, Files: []string{file}}})
	s.until("a notice", func() bool { return strings.Contains(s.w.Notice(), "cannot be watched") })
	// The first look only learns how things are.
	s.until("a change", func() bool {
		write(t, file, "line\n")
		return s.paths[file]
	})
}

// Fifty folders at once, while watches are added: whoever reads events must
// never wait for whoever adds (case B106).
func TestManyFoldersAtOnce(t *testing.T) {
	dir := t.TempDir()
	s := start(t, watch.Options{})
	s.w.Set([]watch.Target{{Folder: dir}})
	s.path(dir)
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			folder := filepath.Join(dir, fmt.Sprintf("p%02d", i))
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Error(err)
			}
			for k := range 20 {
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(k)), nil, 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	s.watching(51)
	for i := range 50 {
		file := filepath.Join(dir, fmt.Sprintf("p%02d", i), "last")
		write(t, file, "x")
		s.path(file)
	}
}

// backend is a system without files. Its queue has no room, as the worst one
// would: Add waits until somebody reads.
type backend struct {
	room   int // watches; 0 for any number
	events chan watch.Event
	errors chan error

	mu sync.Mutex
	on map[string]bool
}

func newBackend() *backend {
	return &backend{events: make(chan watch.Event), errors: make(chan error), on: map[string]bool{}}
}

func (b *backend) open() (watch.Backend, error) { return b, nil }

func (b *backend) Add(folder string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.room > 0 && len(b.on) >= b.room {
		return fmt.Errorf("add: %w", syscall.ENOSPC)
	}
	b.on[folder] = true
	return nil
}

func (b *backend) Remove(folder string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.on, folder)
	return nil
}

func (b *backend) has(folder string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.on[folder]
}

func (b *backend) Events() <-chan watch.Event { return b.events }
func (b *backend) Errors() <-chan error       { return b.errors }

func (b *backend) Close() error {
	close(b.events)
	close(b.errors)
	return nil
}
