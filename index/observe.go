package index

import (
	"slices"
	"sync"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/reconcile"
)

// observations are what the passes of this process have seen.
type observations struct {
	mu       sync.Mutex
	ever     bool // a pass was asked for
	running  bool
	writing  bool
	at       *contract.Progress
	result   *reconcile.Result // of the last pass that was not stopped
	lastAt   time.Time         // when it ended
	err      error             // what stopped the last pass
	warnings []string          // of the configuration
}

func (o *observations) began() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ever, o.running = true, true
}

func (o *observations) writes(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing = on
}

func (o *observations) progressed(at contract.Progress) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.at = &at
}

func (o *observations) progress() *contract.Progress {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.at
}

func (o *observations) ended(now time.Time, result *reconcile.Result, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running, o.at, o.err = false, nil, err
	if err == nil {
		o.result, o.lastAt = result, now
	}
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
	o.result, o.lastAt, o.err = nil, time.Time{}, nil
	o.ever = o.running
}

// seen is a copy of the observations.
type seen struct {
	ever, running, writing bool
	progress               *contract.Progress
	result                 *reconcile.Result
	lastAt                 time.Time
	err                    error
	warnings               []string
}

func (o *observations) see() seen {
	o.mu.Lock()
	defer o.mu.Unlock()
	return seen{o.ever, o.running, o.writing, o.at, o.result, o.lastAt, o.err, o.warnings}
}
