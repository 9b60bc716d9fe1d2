// Package watch tells at which paths something changed, without looking: the
// system's notifications for as many folders as it may watch, and for the rest
// a look now and then. It knows nothing of transcripts; what to watch is set
// from outside, newest first, and a batch of paths comes out.
//
// Two goroutines work on it. One only drains the system's events, because an
// event queue that is not read blocks whoever adds a watch (fsnotify#502). The
// other adds and removes watches, waits until a burst of events is over, looks
// at what cannot be watched, and hands out the batches.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Target is a folder in which changes are of interest.
type Target struct {
	Folder string
	// Files are looked at when the folder cannot be watched.
	Files []string
	// Toward, if set, are paths below Folder that need not exist yet: only what
	// happens on the way to them is of interest.
	Toward []string
}

// Batch is what changed since the last one.
type Batch struct {
	// Paths are the files and folders that were made, changed or removed; for a
	// folder that is watched from now on everything in it may be new. Sorted.
	Paths []string
	// Overflow says that there were more changes than could be kept: anything
	// may have changed.
	Overflow bool
}

// Options of New. All have defaults.
type Options struct {
	// Budget is how many folders are watched at most.
	Budget int
	// Quiet is how long nothing must happen before a batch is handed out, and
	// MaxDelay how long its first event waits at most.
	Quiet, MaxDelay time.Duration
	// PollMin and PollMax bound the time between two looks at what is not
	// watched. It doubles while nothing changes there.
	PollMin, PollMax time.Duration
	// Ignore says of a path that nothing about it, nor below it, is of interest.
	// It is called for every event and must be quick.
	Ignore func(path string) bool
	// Open opens the system's notifications.
	Open func() (Backend, error)
}

const (
	// maxPaths bounds a batch; more of them are an overflow.
	maxPaths = 4096
	// maxPolled bounds the files and folders that are looked at in a poll.
	maxPolled = 1024
	// maxNewDepth bounds how deep inside a new folder watches are added.
	maxNewDepth = 8
	// maxFresh is how many folders newly watched are named one by one.
	maxFresh = 64
	// limitFor is how long a limit of the system is believed.
	limitFor = 10 * time.Minute
	// youth is how long a folder made while watching is watched unasked.
	youth = time.Hour
)

// Watcher watches folders while Run runs.
type Watcher struct {
	opts Options
	poke chan struct{} // room for one: something is pending

	mu      sync.Mutex
	pending map[string]Op
	lost    bool
	first   time.Time // of the pending events
	last    time.Time
	gone    map[string]bool     // watched folders that told of their end
	toward  map[string][]string // by watched folder; none for everything
	targets []Target
	newSet  bool
	notice  string
	watched int

	// Used by the working goroutine only.
	backend Backend
	on      map[string]bool      // folders with a watch
	young   map[string]time.Time // those of them that were made while watching, and when
	limit   int                  // what the system allows; 0 unknown
	limitAt time.Time
	polled  []string
	stats   map[string]stat
	pause   time.Duration
}

type stat struct {
	size  int64
	mtime time.Time
	there bool
}

// New makes a watcher that watches nothing yet.
func New(opts Options) *Watcher {
	if opts.Budget <= 0 {
		opts.Budget = DefaultBudget()
	}
	set := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	set(&opts.Quiet, 150*time.Millisecond)
	set(&opts.MaxDelay, 500*time.Millisecond)
	set(&opts.PollMin, 2*time.Second)
	set(&opts.PollMax, time.Minute)
	if opts.Ignore == nil {
		opts.Ignore = func(string) bool { return false }
	}
	if opts.Open == nil {
		opts.Open = Native
	}
	return &Watcher{
		opts: opts, poke: make(chan struct{}, 1), pending: map[string]Op{}, gone: map[string]bool{}, toward: map[string][]string{},
		on: map[string]bool{}, young: map[string]time.Time{}, stats: map[string]stat{}, pause: opts.PollMin,
	}
}

// Set says what to watch from now on, the most important first. It returns at
// once.
func (w *Watcher) Set(targets []Target) {
	w.mu.Lock()
	w.targets, w.newSet = merge(targets), true
	w.mu.Unlock()
	w.wake()
}

// merge makes one target of those with the same folder.
func merge(targets []Target) []Target {
	at := map[string]int{}
	var out []Target
	for _, t := range targets {
		i, ok := at[t.Folder]
		if !ok {
			at[t.Folder] = len(out)
			t.Files, t.Toward = slices.Clone(t.Files), slices.Clone(t.Toward)
			out = append(out, t)
			continue
		}
		out[i].Files = append(out[i].Files, t.Files...)
		if len(out[i].Toward) == 0 || len(t.Toward) == 0 {
			out[i].Toward = nil
		} else {
			out[i].Toward = append(out[i].Toward, t.Toward...)
		}
	}
	return out
}

// Notice says why less is watched than should be, "" if everything is.
func (w *Watcher) Notice() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.notice
}

// Wants reports whether a folder itself is among what was last set.
func (w *Watcher) Wants(folder string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.targets, func(t Target) bool { return t.Folder == folder && len(t.Toward) == 0 })
}

// Watched is the number of folders that are watched now.
func (w *Watcher) Watched() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watched
}

func (w *Watcher) wake() {
	select {
	case w.poke <- struct{}{}:
	default:
	}
}

// Run watches until ctx ends and calls deliver for each batch, from one
// goroutine. deliver must not wait for work to be done. A watcher runs once.
func (w *Watcher) Run(ctx context.Context, deliver func(Batch)) {
	backend, err := w.opts.Open()
	var drained sync.WaitGroup
	if err != nil {
		w.tell(fmt.Sprintf("folders cannot be watched: %v; changes are looked for now and then instead", err))
	} else {
		w.backend = backend
		drained.Go(func() { w.drain(backend) })
	}
	defer func() {
		if w.backend != nil {
			_ = w.backend.Close()
		}
		drained.Wait()
	}()
	batch := time.NewTimer(time.Hour)
	batch.Stop()
	poll := time.NewTimer(time.Hour)
	poll.Stop()
	defer batch.Stop()
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.poke:
			if w.apply() {
				w.pause = w.opts.PollMin
				poll.Stop()
				if len(w.polled) > 0 {
					poll.Reset(w.pause)
				}
			}
		case <-poll.C:
			if w.look() {
				w.pause = w.opts.PollMin
			} else {
				w.pause = min(2*w.pause, w.opts.PollMax)
			}
			if len(w.polled) > 0 {
				poll.Reset(w.pause)
			}
		case <-batch.C:
		}
		if wait, any := w.rest(); any && wait > 0 {
			batch.Reset(wait)
		} else if any {
			if b := w.take(); len(b.Paths) > 0 || b.Overflow {
				deliver(b)
			}
		}
	}
}

// drain takes events off the system's queue. It must never wait for the
// goroutine that adds watches.
func (w *Watcher) drain(b Backend) {
	events, errs := b.Events(), b.Errors()
	for events != nil || errs != nil {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			w.receive(e)
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			if errors.Is(err, ErrOverflow) {
				w.add("", Changed)
			}
		}
	}
}

func (w *Watcher) receive(e Event) {
	if w.opts.Ignore(e.Path) {
		return
	}
	w.mu.Lock()
	_, itself := w.toward[e.Path]
	if itself && e.Op == Gone {
		w.gone[e.Path] = true
	}
	toward := w.toward[filepath.Dir(e.Path)]
	w.mu.Unlock()
	if !itself && !onTheWay(e.Path, toward) {
		return
	}
	w.add(e.Path, e.Op)
}

// onTheWay reports whether a path is of interest where only the way to some
// paths, if any, is.
func onTheWay(path string, toward []string) bool {
	return len(toward) == 0 || slices.ContainsFunc(toward, func(to string) bool { return within(path, to) || within(to, path) })
}

// within reports whether path is folder or lies below it.
func within(folder, path string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimRight(folder, string(filepath.Separator)))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// add puts a path into the next batch; "" is an overflow.
func (w *Watcher) add(path string, op Op) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if len(w.pending) == 0 && !w.lost {
		w.first = now
	}
	w.last = now
	switch was, ok := w.pending[path]; {
	case path == "" || !ok && len(w.pending) >= maxPaths:
		w.lost = true
	case !ok || was != Created:
		w.pending[path] = op
	}
	w.wake()
}

// rest is how long the pending events are left to become more.
func (w *Watcher) rest() (wait time.Duration, any bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending) == 0 && !w.lost {
		return 0, false
	}
	now := time.Now()
	return min(w.last.Add(w.opts.Quiet).Sub(now), w.first.Add(w.opts.MaxDelay).Sub(now)), true
}

// take makes a batch of what is pending, after adding watches for new folders:
// what happens in them from now on is seen, and what happened before lies at or
// below a path of the batch.
func (w *Watcher) take() Batch {
	w.mu.Lock()
	pending, lost, gone := w.pending, w.lost, w.gone
	w.pending, w.lost, w.gone = map[string]Op{}, false, map[string]bool{}
	w.mu.Unlock()
	for folder := range w.on {
		// With a folder those in it went, too, and are not told.
		if len(gone) > 0 && goneWith(folder, gone) {
			_ = w.backend.Remove(folder) // the system has mostly done so
			w.forget(folder)
		}
	}
	b := Batch{Overflow: lost}
	for path, op := range pending {
		b.Paths = append(b.Paths, path)
		if op == Created {
			w.enter(path, maxNewDepth)
		}
	}
	if lost {
		b.Paths = nil
	}
	slices.Sort(b.Paths)
	return b
}

func goneWith(folder string, gone map[string]bool) bool {
	for {
		if gone[folder] {
			return true
		}
		up := filepath.Dir(folder)
		if up == folder {
			return false
		}
		folder = up
	}
}

// enter adds watches for a folder that is new and for those in it.
func (w *Watcher) enter(path string, depth int) {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || depth == 0 || w.on[path] || len(w.on) >= w.room() {
		return
	}
	if w.opts.Ignore(path) {
		return
	}
	// Beyond the end of a way everything is of interest.
	toward := slices.DeleteFunc(slices.Clone(w.way(filepath.Dir(path))), func(to string) bool { return !within(path, to) || to == path })
	if !w.watch(path, toward) {
		return
	}
	w.young[path] = time.Now()
	entries, err := os.ReadDir(path)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			w.enter(filepath.Join(path, e.Name()), depth-1)
		}
	}
}

func (w *Watcher) way(folder string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.toward[folder]
}

// room is how many folders may be watched.
func (w *Watcher) room() int {
	if w.backend == nil {
		return 0
	}
	if w.limit > 0 || !w.limitAt.IsZero() {
		if time.Since(w.limitAt) < limitFor {
			return min(w.limit, w.opts.Budget)
		}
		w.limit, w.limitAt = 0, time.Time{}
	}
	return w.opts.Budget
}

// watch adds one watch. A failure that comes from a limit of the system is
// remembered.
func (w *Watcher) watch(folder string, toward []string) (added bool) {
	w.mu.Lock()
	w.toward[folder] = toward
	w.mu.Unlock()
	if w.on[folder] {
		return false
	}
	err := w.backend.Add(folder)
	if err == nil {
		w.on[folder] = true
		w.count()
		return true
	}
	w.mu.Lock()
	delete(w.toward, folder)
	w.mu.Unlock()
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) {
		w.limit, w.limitAt = len(w.on), time.Now()
	}
	return false
}

func (w *Watcher) count() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watched = len(w.on)
}

func (w *Watcher) forget(folder string) {
	delete(w.on, folder)
	delete(w.young, folder)
	w.mu.Lock()
	delete(w.toward, folder)
	w.mu.Unlock()
	w.count()
}

// apply follows the last Set, if there is a new one.
func (w *Watcher) apply() bool {
	w.mu.Lock()
	targets, is := w.targets, w.newSet
	w.newSet = false
	w.mu.Unlock()
	if !is {
		return false
	}
	wanted := map[string]bool{}
	for _, t := range targets[:min(len(targets), w.room())] {
		wanted[t.Folder] = true
	}
	for folder := range w.on {
		// A folder that was just made is mostly about to be filled.
		if made, ok := w.young[folder]; !wanted[folder] && (!ok || time.Since(made) > youth) {
			_ = w.backend.Remove(folder)
			w.forget(folder)
		}
	}
	var fresh []string
	var left []Target
	for _, t := range targets {
		if !w.on[t.Folder] && len(w.on) >= w.room() {
			left = append(left, t)
			continue
		}
		if w.watch(t.Folder, t.Toward) {
			if len(t.Toward) == 0 {
				fresh = append(fresh, t.Folder)
			}
		} else if !w.on[t.Folder] {
			left = append(left, t)
		}
	}
	// What changed there before it was watched would else go unnoticed.
	if len(fresh) > maxFresh {
		w.add("", Changed)
	} else {
		for _, folder := range fresh {
			w.add(folder, Changed)
		}
	}
	w.pollFor(left)
	return true
}

// pollFor takes over what is looked at now and then.
func (w *Watcher) pollFor(left []Target) {
	w.polled = nil
	old := w.stats
	w.stats = map[string]stat{}
	take := func(path string) {
		if _, ok := w.stats[path]; ok || len(w.polled) >= maxPolled {
			return
		}
		s, ok := old[path]
		if !ok {
			s = look(path)
		}
		w.stats[path] = s
		w.polled = append(w.polled, path)
	}
	there := 0
	for _, t := range left {
		if len(t.Toward) == 0 {
			take(t.Folder)
			if w.stats[t.Folder].there {
				there++
			}
		}
		for _, f := range t.Files {
			take(f)
		}
	}
	switch {
	case w.backend == nil:
		// Said when it could not be opened.
	case there > 0 && !w.limitAt.IsZero():
		w.tell(fmt.Sprintf("the system allows no further watches (on Linux: fs.inotify.max_user_watches): %d folders with sessions are looked at now and then instead", there))
	default:
		w.tell("")
	}
}

func (w *Watcher) tell(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notice = text
}

func look(path string) stat {
	info, err := os.Stat(path)
	if err != nil {
		return stat{there: !errors.Is(err, fs.ErrNotExist)}
	}
	return stat{info.Size(), info.ModTime(), true}
}

// look compares what is not watched with what it was.
func (w *Watcher) look() (changed bool) {
	for _, path := range w.polled {
		now := look(path)
		if was := w.stats[path]; was.there != now.there || was.size != now.size || !was.mtime.Equal(now.mtime) {
			w.stats[path] = now
			w.add(path, Changed)
			changed = true
		}
	}
	return changed
}
