package watch

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// Op says what happened at a path.
type Op int

// The kinds of event. Gone is also what a watched folder tells of itself.
const (
	Changed Op = iota
	Created
	Gone
)

// Event is one change.
type Event struct {
	Path string
	Op   Op
}

// ErrOverflow is sent by a Backend that lost events.
var ErrOverflow = errors.New("events were lost")

// Backend watches folders, not what lies deeper. Its channels are closed by
// Close. Add and Remove are never called by whoever reads the channels.
type Backend interface {
	Add(folder string) error
	Remove(folder string) error
	Events() <-chan Event
	Errors() <-chan error
	Close() error
}

// DefaultBudget is how many folders are watched at most. Where the system
// watches by keeping every file of a folder open it must be small.
func DefaultBudget() int {
	switch runtime.GOOS {
	case "linux", "windows":
		return 512
	}
	return 48
}

// native is fsnotify as a Backend.
type native struct {
	w      *fsnotify.Watcher
	events chan Event
	errors chan error
}

// Native opens the system's own way of watching.
func Native() (Backend, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch folders: %w", err)
	}
	n := &native{w: w, events: make(chan Event, 64), errors: make(chan error, 4)}
	go n.forward()
	return n, nil
}

// forward ends when fsnotify has closed its channels.
func (n *native) forward() {
	defer close(n.events)
	defer close(n.errors)
	events, errs := n.w.Events, n.w.Errors
	for events != nil || errs != nil {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			if e.Op == fsnotify.Chmod && isLog(e.Name) {
				continue
			}
			op := Changed
			switch {
			case e.Has(fsnotify.Remove), e.Has(fsnotify.Rename):
				op = Gone
			case e.Has(fsnotify.Create):
				op = Created
			}
			n.events <- Event{e.Name, op}
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				err = ErrOverflow
			}
			n.errors <- err
		}
	}
}

// isLog reports whether a file is the log of an SQLite database. Run by root,
// SQLite sets the owner of a log whenever it opens it, even for reading: who
// reads a database when the attributes of its log change would do so forever.
func isLog(path string) bool {
	return strings.HasSuffix(path, "-wal") || strings.HasSuffix(path, "-journal")
}

func (n *native) Add(folder string) error    { return n.w.Add(folder) }
func (n *native) Remove(folder string) error { return n.w.Remove(folder) }
func (n *native) Events() <-chan Event       { return n.events }
func (n *native) Errors() <-chan error       { return n.errors }
func (n *native) Close() error               { return n.w.Close() }
