package index

import (
	"slices"
	"sync"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// observations are what the passes of this process have seen.
type observations struct {
	mu       sync.Mutex
	ever     bool // a pass was asked for
	running  bool
	loud     bool      // progress of the pass is worth telling at once
	since    time.Time // when it began
	writing  bool
	at       *contract.Progress
	err      error    // what stopped the last pass
	warnings []string // of the configuration
}

func (o *observations) began() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ever, o.running = true, true
}

// begins says that the pass works on the index from now on. The progress of a
// loud one is told unasked.
func (o *observations) begins(loud bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing, o.loud, o.since = true, loud, time.Now()
}

// soon is how long a pass over what changed may take before its progress is
// told unasked: most are over before anybody could have read of it.
const soon = 250 * time.Millisecond

func (o *observations) writes(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing = on
}

// progressed keeps the progress and reports whether it is to be told unasked.
func (o *observations) progressed(at contract.Progress) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.at = &at
	return o.loud || time.Since(o.since) > soon
}

func (o *observations) progress() *contract.Progress {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.at
}

func (o *observations) ended(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running, o.at, o.err = false, nil, err
}

// warned keeps the configuration's warnings and tells those that are new.
func (o *observations) warned(warnings []string, tell func(string)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range warnings {
		if !slices.Contains(o.warnings, w) {
			tell(w)
		}
	}
	o.warnings = warnings
}

// forget drops what is true no more after the index was cleared or closed.
func (o *observations) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = nil
	o.ever = o.running
}

// seen is a copy of the observations.
type seen struct {
	ever, running, writing bool
	since                  time.Time
	progress               *contract.Progress
	err                    error
	warnings               []string
}

func (o *observations) see() seen {
	o.mu.Lock()
	defer o.mu.Unlock()
	return seen{o.ever, o.running, o.writing, o.since, o.at, o.err, o.warnings}
}
