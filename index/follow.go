package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sessionls/sessionls/index/reconcile"
	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/watch"
)

// Every process that was started looks at everything once, and then follows:
//
//   - One of them holds the seat (seat.go). It watches the folders of recently
//     active transcripts, reads what changes there, and looks at everything now
//     and then, less often the longer nothing happens.
//   - The others wait for the seat, which costs nothing, and take over when its
//     holder ends. Once a minute they look whether it is alive; if not, because
//     it was stopped, they watch themselves until it goes on.
//   - Whoever needs the index newer than it is asks the holder of the seat for a
//     pass (ask.go, serve.go), and makes one itself if that does not answer.
//   - All of them watch their own data folder, for what other processes did to
//     the index and to the policy.

const (
	// interval is the time between two looks at a holder of the seat, and the
	// first wait after a failure; maxInterval the longest one.
	interval    = time.Minute
	maxInterval = 15 * time.Minute
	// sweepMin and sweepMax bound the time between two looks at everything. It
	// doubles while nothing happens. Where less is watched than should be it is
	// sweepBlind.
	sweepMin   = 15 * time.Minute
	sweepMax   = time.Hour
	sweepBlind = 3 * time.Minute
	// seatStale is how old the last sign of life of the seat's holder may be.
	seatStale = 150 * time.Second
)

// follower keeps the index current without being asked.
type follower struct {
	s       *Service
	watcher *watch.Watcher
	poke    chan struct{} // room for one: look at what is to be done

	desk desk
	// interval and seatStale are the constants, but for tests.
	interval, seatStale time.Duration

	mu      sync.Mutex
	runs    bool // Start was called, and the user agrees
	seated  bool
	heir    bool // seated after somebody else was
	acting  bool // not seated, but whoever is was stopped
	places  []reconcile.Place
	active  map[activeKey]*active
	stale   bool // the watched folders are to be chosen anew
	found   bool // something was new since the last sweep
	again   bool // something failed that may succeed when tried again
	changed bool // own files changed
	told    moved
}

type activeKey struct{ agent, path, key string }

// active is a transcript that may go on.
type active struct {
	src     transcript.Source
	folders []string
}

// moved is what other processes can see of the index and the policy.
type moved struct {
	generation int64
	identity   string
	allowed    bool
}

func newFollower(s *Service, open func() (watch.Backend, error)) *follower {
	f := &follower{s: s, poke: make(chan struct{}, 1), active: map[activeKey]*active{}, interval: interval, seatStale: seatStale}
	f.desk.init(s)
	f.watcher = watch.New(watch.Options{Open: open, Ignore: f.ignore})
	return f
}

// ignore reports whether a path is nobody's.
func (f *follower) ignore(path string) bool {
	if f.isRequest(path) {
		return f.desk.hears.Load() || !f.isSeated()
	}
	if f.isOwn(path) {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return !slices.ContainsFunc(f.places, func(p reconcile.Place) bool { return p.Concerns(path) })
}

// isSeated reports whether this process is the one that watches and writes.
func (f *follower) isSeated() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seated
}

// led reports whether this process follows another one that watches and writes.
func (f *follower) led() bool {
	f.mu.Lock()
	led := f.runs && !f.seated
	f.mu.Unlock()
	return led && heldElsewhere(f.s.paths.Seat())
}

// isOwn reports whether a path is one of sessionls' own files, or a folder above.
func (f *follower) isOwn(path string) bool {
	return transcript.Within(f.s.paths.Data, path) || transcript.Within(path, f.s.paths.Data)
}

// isRequest reports whether a path is one of the files of requests.
func (f *follower) isRequest(path string) bool {
	return strings.HasPrefix(path, f.s.paths.Requests()) || path == f.s.paths.Bell()
}

func (f *follower) wake() {
	select {
	case f.poke <- struct{}{}:
	default:
	}
}

// notice says why less is watched than should be.
func (f *follower) notice() string { return f.watcher.Notice() }

// run follows until ctx ends.
func (f *follower) run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()
	all.Go(func() { f.watcher.Run(ctx, f.deliver) })
	var (
		electing bool
		swept    bool      // at least once, by this process
		next     time.Time // of the next look at everything
		pause    time.Duration
		failures = time.Duration(0)
	)
	f.choose()
	for ctx.Err() == nil {
		allowed := f.s.allowed()
		f.mu.Lock()
		changed, stale := f.changed, f.stale
		f.changed, f.stale = false, false
		if f.heir {
			// What changed while nobody watched.
			f.heir, next = false, time.Time{}
		}
		if again := time.Now().Add(f.interval); f.again {
			f.again = false
			if again.Before(next) {
				next = again
			}
		}
		f.mu.Unlock()
		if changed {
			f.own(ctx, allowed)
		}
		if !allowed {
			next, failures = time.Time{}, 0
			f.forget()
			f.wait(ctx, f.interval)
			continue
		}
		if !electing {
			electing = true
			f.mu.Lock()
			f.runs = true
			f.mu.Unlock()
			all.Go(func() { f.elect(ctx) })
		}
		if acting, turned := f.act(swept); turned {
			stale = true
			if acting {
				next = time.Time{}
			}
		}
		mine := !swept || f.watches()
		if mine && !time.Now().Before(next) {
			err := f.sweep(ctx)
			found := f.takeFound()
			switch {
			case ctx.Err() != nil:
				return
			case errors.Is(err, errInterrupted):
				continue
			case err != nil:
				failures = min(max(2*failures, f.interval), maxInterval)
				next = time.Now().Add(failures)
			case found || pause == 0:
				swept, failures, pause = true, 0, sweepMin
			default:
				swept, failures, pause = true, 0, min(2*pause, sweepMax)
			}
			if err == nil {
				next = time.Now().Add(pause)
				if f.notice() != "" {
					next = time.Now().Add(min(pause, sweepBlind))
				}
			}
			f.mu.Lock()
			stale = stale || f.stale || f.places == nil
			f.stale = false
			if f.again {
				f.again = false
				if err == nil {
					next = time.Now().Add(f.interval)
				}
			}
			f.mu.Unlock()
		}
		switch {
		case stale && swept:
			f.choose()
		case stale:
			// Before the first look at everything there is nothing to choose by.
			f.mu.Lock()
			f.stale = true
			f.mu.Unlock()
		}
		rest := f.interval
		if mine {
			rest = min(rest, max(time.Until(next), 0))
		}
		f.wait(ctx, rest)
	}
}

// wait waits for something to do.
func (f *follower) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-f.poke:
	case <-timer.C:
	}
}

// sweep looks at everything.
func (f *follower) sweep(ctx context.Context) error {
	r := f.s.request(false)
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// elect waits for the seat and holds it until ctx ends.
func (f *follower) elect(ctx context.Context) {
	// The folder that the seat lies in; without it the passes say what is wrong.
	_ = f.s.paths.makeData()
	began := time.Now()
	seat, err := takeSeat(ctx, f.s.paths.Seat())
	waited := time.Since(began) > time.Second
	if err != nil {
		if ctx.Err() == nil {
			f.s.log.Warn().Err(err).Msg("cannot tell which process watches; this one looks now and then only")
		}
		return
	}
	defer seat.release()
	f.mu.Lock()
	f.seated, f.stale, f.heir = true, true, waited
	f.mu.Unlock()
	f.wake()
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() { f.desk.serve(ctx) })
	for ctx.Err() == nil {
		seat.live()
		f.waitFor(ctx, f.interval)
	}
}

func (f *follower) waitFor(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// watches reports whether this process is to watch and to look at everything now
// and then: it holds the seat, or nobody alive does.
func (f *follower) watches() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seated || f.acting
}

// act looks whether this process has to stand in for the holder of the seat, and
// whether that is new. It does not before it has looked at everything once.
func (f *follower) act(swept bool) (acting, turned bool) {
	acting = swept && !f.isSeated() && seatSilent(f.s.paths.Seat(), f.seatStale)
	f.mu.Lock()
	defer f.mu.Unlock()
	turned = acting != f.acting
	f.acting = acting
	return acting, turned
}

func (f *follower) takeFound() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.found
	f.found = false
	return found
}

// deliver takes what the watcher saw.
func (f *follower) deliver(b watch.Batch) {
	f.mu.Lock()
	watches := f.seated || f.acting
	own := b.Overflow || slices.ContainsFunc(b.Paths, func(path string) bool { return f.isOwn(path) && !f.isRequest(path) })
	asked := b.Overflow || slices.ContainsFunc(b.Paths, f.isRequest)
	f.changed = f.changed || own
	f.mu.Unlock()
	paths := slices.DeleteFunc(b.Paths, func(path string) bool { return transcript.Within(f.s.paths.Data, path) })
	if own {
		f.wake()
	}
	if asked {
		f.desk.ring() // where there is no bell
	}
	switch {
	case !watches:
	case b.Overflow:
		f.s.request(false)
	case len(paths) > 0:
		f.s.ask(false, paths)
	}
}

// own looks whether another process changed the index or the policy.
func (f *follower) own(ctx context.Context, allowed bool) {
	now := moved{allowed: allowed}
	if allowed {
		if use, release, err := f.s.handles.acquire(ctx); err == nil {
			now.generation, now.identity, _ = use.status.Moved(ctx)
			release()
		}
	} else {
		f.s.handles.drop()
	}
	f.mu.Lock()
	was := f.told
	f.told = now
	f.mu.Unlock()
	if was != now {
		f.s.wake.all()
	}
	if _, err := os.Stat(f.s.paths.Data); (err == nil) != f.dataWatched() {
		f.choose()
	}
}

// stopped takes that a pass came to no end: what it was to look at is not known
// any more.
func (f *follower) stopped() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again = true
	f.wake()
}

// passed takes what a pass found, in this process.
func (f *follower) passed(result *reconcile.Result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if result == nil {
		return
	}
	if result.Changed() {
		f.found = true
	}
	// Sources that failed are left alone after some tries, so this ends.
	if result.Due > 0 {
		f.again = true
		f.wake()
	}
	if result.Swept {
		was := f.active
		f.active = map[activeKey]*active{}
		for _, src := range result.Active {
			k := activeKey{src.Agent, src.Path, src.Key}
			a := &active{src: src}
			if old := was[k]; old != nil {
				a.folders = old.folders
			} else {
				f.stale = true
			}
			f.active[k] = a
		}
	} else {
		for _, src := range result.Active {
			k := activeKey{src.Agent, src.Path, src.Key}
			if f.active[k] == nil {
				f.stale = true
				f.active[k] = &active{src: src}
				continue
			}
			f.active[k].src = src
			// The folders of a source may be others when it changed.
			if len(f.active[k].folders) > 0 && (f.seated || f.acting) && !slices.Equal(f.folders(src), f.active[k].folders) {
				f.stale = true
			}
		}
		f.stale = f.stale || len(result.Agents) > 0
	}
	if f.stale {
		f.wake()
	}
}

// folders are those that a source's reader names. The lock is held.
func (f *follower) folders(src transcript.Source) []string {
	for _, p := range f.places {
		if p.Reader.Agent().ID == src.Agent && p.Root.Path == src.Root {
			return p.Folders(src)
		}
	}
	return nil
}

// forget ends all watching of transcripts.
func (f *follower) forget() {
	f.mu.Lock()
	watching := f.places != nil
	f.places, f.active = nil, map[activeKey]*active{}
	f.mu.Unlock()
	if watching {
		f.choose()
	}
}

// dataWatched reports whether the data folder itself was to be watched.
func (f *follower) dataWatched() bool {
	return f.watcher.Wants(f.s.paths.Data)
}

// maxActive is how many transcripts are followed.
const maxActive = 2048

// choose says anew what is to be watched.
func (f *follower) choose() {
	var places []reconcile.Place
	watches := f.watches()
	if f.s.allowed() {
		// Those that cannot be told now show in the passes.
		if cfg, err := f.s.passConfig(); err == nil {
			places = reconcile.Places(cfg)
		}
		if places == nil {
			places = []reconcile.Place{}
		}
	}
	l := list{home: f.s.env.Home}
	l.folder(f.s.paths.Data, "", nil)
	f.mu.Lock()
	f.places = places
	if watches {
		for _, p := range places {
			l.folder(p.Root.Path, p.Root.Path, nil)
			for _, folder := range p.Folders(transcript.Source{}) {
				l.folder(folder, folder, nil)
			}
		}
		for _, a := range f.recent() {
			a.folders = f.folders(a.src)
			l.folder(filepath.Dir(a.src.Path), a.src.Root, []string{a.src.Path})
			for _, folder := range a.folders {
				l.folder(folder, a.src.Root, nil)
			}
			// New ones appear beside it, or beside its folders.
			for dir := filepath.Dir(filepath.Dir(a.src.Path)); len(dir) > len(a.src.Root) && transcript.Within(a.src.Root, dir); dir = filepath.Dir(dir) {
				l.folder(dir, a.src.Root, nil)
			}
		}
	}
	f.mu.Unlock()
	if watches {
		// Folders that are there and empty may be used again.
		for _, p := range places {
			l.folders(p)
		}
	}
	f.watcher.Set(l.targets)
}

// recent lists the transcripts that are followed, newest first, and drops those
// that are too many. The lock is held.
func (f *follower) recent() []*active {
	out := make([]*active, 0, len(f.active))
	for _, a := range f.active {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *active) int {
		if c := b.src.ModTime.Compare(a.src.ModTime); c != 0 {
			return c
		}
		return strings.Compare(a.src.Path, b.src.Path)
	})
	for i := maxActive; i < len(out); i++ {
		delete(f.active, activeKey{out[i].src.Agent, out[i].src.Path, out[i].src.Key})
	}
	return out[:min(len(out), maxActive)]
}

// list is what is to be watched, in order.
type list struct {
	home    string
	targets []watch.Target
	there   map[string]bool
}

// folder adds a folder. For one that is not there the nearest one above is
// watched for its coming, as long as that is not above a root that is there,
// nor outside the home folder: what lies there is nobody's to look at.
func (l *list) folder(path, root string, files []string) {
	if l.exists(path) {
		l.targets = append(l.targets, watch.Target{Folder: path, Files: files})
		return
	}
	for up := filepath.Dir(path); up != filepath.Dir(up); up = filepath.Dir(up) {
		if root != "" && !transcript.Within(root, up) && !transcript.Within(l.home, up) || l.home == "" {
			return
		}
		if l.exists(up) {
			l.targets = append(l.targets, watch.Target{Folder: up, Toward: []string{path}})
			return
		}
	}
}

// maxFolders bounds the folders that are looked at in a root.
const maxFolders = 1000

// folders adds the folders in a root, newest first.
func (l *list) folders(p reconcile.Place) {
	entries, err := os.ReadDir(p.Root.Path)
	if err != nil {
		return
	}
	var found []fs.FileInfo
	for _, e := range entries[:min(len(entries), maxFolders)] {
		if info, err := e.Info(); err == nil && info.IsDir() && p.Concerns(filepath.Join(p.Root.Path, e.Name())) {
			found = append(found, info)
		}
	}
	slices.SortFunc(found, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, info := range found {
		l.targets = append(l.targets, watch.Target{Folder: filepath.Join(p.Root.Path, info.Name())})
	}
}

func (l *list) exists(folder string) bool {
	is, known := l.there[folder]
	if !known {
		info, err := os.Stat(folder)
		is = err == nil && info.IsDir()
		if l.there == nil {
			l.there = map[string]bool{}
		}
		l.there[folder] = is
	}
	return is
}
