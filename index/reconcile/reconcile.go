// Package reconcile brings the index up to what lies on disk: it looks into
// every agent's places, compares what is there with what was read before,
// chooses among copies of one session, reads what is due in transactions, and
// records what is gone.
//
// A pass is a function of the disk and of the index; nothing is remembered
// between passes outside the index. Which process may run one, and when, is
// decided by the caller, who holds the writer lock.
package reconcile

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/rs/zerolog"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// MaxFails is how often an unchanged source is tried before it is left alone
// until its signature changes.
const MaxFails = 3

// Config says what a pass looks at.
type Config struct {
	Readers []transcript.Reader
	Env     transcript.Env
	// Roots are further folders of an agent, by its id; absolute.
	Roots map[string][]string
	// Exclude keeps transcripts out of the index; nil excludes none.
	Exclude *Excluder
	// Forgotten are sessions that the user had forgotten; nil is none.
	Forgotten *Forgotten
	// HistoryDays is the retention; 0 keeps everything. Sources whose files
	// are older are not read, and dropped if they were.
	HistoryDays int
	// Full reads every source anew, also those that look unchanged.
	Full bool
	// WholeBytes is how much of the newest transcripts a first build reads whole at once;
	// TalkBytes is how much there must be beside it for the older ones to be read for what was
	// said first. Zero stands for 64 and 192 MB.
	WholeBytes, TalkBytes int64
	// Paths, if not nil, are what is known to have changed: the pass looks at
	// the sources concerned only. See targeted.go.
	Paths []string
	// Suspect are the places that the pass before called degraded. In a
	// targeted pass a change of one of them has all of its agent looked at,
	// which alone can tell that it is well again.
	Suspect []string
	Log     zerolog.Logger
	// Continue is asked before each transaction; an error ends the pass. Nil
	// lets it run.
	Continue func() error
	// Observe is told of progress, from the pass's own goroutine. Nil is told
	// nothing.
	Observe func(Progress)
}

// Progress is how far the reading of a pass is.
type Progress struct {
	FilesDone, FilesTotal int
	BytesDone, BytesTotal int64
}

// Root is a place that was looked into.
type Root struct {
	transcript.Root
	Agent string
	// Sources is how many sources were found there, those that are not read
	// (copies, old or excluded ones) included.
	Sources int
	// Err says why the place could not be listed, nil if it could.
	Err error
}

// Degraded is a place that could not be verified.
type Degraded struct {
	Root   string
	Reason string
}

// Result is what a pass observed.
type Result struct {
	Roots    []Root
	Degraded []Degraded
	// Read counts sources that were read, Failed those that could not be, in
	// this pass. Held ones failed before and were not tried again.
	Read, Failed, Held int
	// Due counts sources that are still to be read after the pass: failed ones
	// that will be tried again.
	Due int
	// Missing counts sources proven gone, Unverified those whose place could
	// not be looked into, Purged those dropped by retention or exclusion.
	Missing, Unverified, Purged int
	// Swept says that every root of every agent was discovered; Agents are the
	// ids of those whose were.
	Swept  bool
	Agents []string
	// Active are sources that were found, newest first: all that a targeted
	// pass looked at, else the first 2048.
	Active []transcript.Source
}

// Changed reports whether the pass found anything new.
func (r Result) Changed() bool {
	return r.Read+r.Failed+r.Missing+r.Unverified+r.Purged > 0 || len(r.Degraded) > 0
}

// Run makes one pass. What fails for one source or root is recorded and
// counted; the error is of what stopped the whole pass: the index could not be
// written, ctx ended, or Continue refused.
func Run(ctx context.Context, w *store.Writer, cfg Config) (Result, error) {
	p := newPass(w, cfg)
	if err := p.find(ctx); err != nil {
		return p.result, err
	}
	purged, err := p.purge(ctx)
	if err != nil {
		return p.result, err
	}
	if purged {
		// Forks of what was dropped are due now.
		if err := p.load(ctx); err != nil {
			return p.result, err
		}
	}
	if p.was, err = p.absent(ctx); err != nil {
		return p.result, err
	}
	if err := p.recall(ctx); err != nil {
		return p.result, err
	}
	p.plan()
	p.result.Active = p.active()
	if err := p.note(ctx); err != nil {
		return p.result, err
	}
	if err := p.read(ctx); err != nil {
		return p.result, err
	}
	return p.result, p.tidy(ctx)
}

func newPass(w *store.Writer, cfg Config) *pass {
	p := &pass{w: w, cfg: cfg, now: cfg.Env.Time(), same: map[string]string{}, strange: map[string]bool{}}
	if cfg.HistoryDays > 0 {
		p.cutoff = p.now.AddDate(0, 0, -cfg.HistoryDays)
	}
	return p
}

// find lists what is there, and what the index knows of it.
func (p *pass) find(ctx context.Context) error {
	if p.targeted() {
		return p.locate(ctx)
	}
	if err := p.discover(ctx); err != nil {
		return err
	}
	p.result.Swept = true
	return p.load(ctx)
}

// pass is the state of one pass.
type pass struct {
	w      *store.Writer
	cfg    Config
	now    time.Time
	cutoff time.Time // sources older than this are not kept; zero keeps all
	result Result

	places  []*place
	sources []*found
	known   map[sourceKey]*known
	same    map[string]string // one copy of texts that many have
	wide    map[string]bool   // agents that a targeted pass discovers
	gone    []*known
	want    map[int64]string // presence of gone sources, by id
	was     map[int64]string // what the index says of those not present
	memos   map[string]memo
	coming  map[[2]string]struct{} // sessions that were found, by agent and id
	shut    *Forgotten             // sessions that are excluded by the configuration
	strange map[string]bool        // roots that were not looked into: whether they are there
	notes   []note                 // what the index is told before reading
	due     []*due
	steads  []*due  // copies to be read because the better ones gave nothing
	again   []int64 // sources that are due because of what others have

	talking  bool // only what was said is read
	progress Progress
	told     time.Time
}

// sourceKey identifies a source.
type sourceKey struct{ agent, path, key string }

func keyOf(s *transcript.Source) sourceKey { return sourceKey{s.Agent, s.Path, s.Key} }

// mayGoOn is asked before each transaction.
func (p *pass) mayGoOn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.cfg.Continue != nil {
		return p.cfg.Continue()
	}
	return nil
}

func (p *pass) update(ctx context.Context, f func(*store.Tx) error) error {
	if err := p.mayGoOn(ctx); err != nil {
		return err
	}
	return p.w.Update(ctx, func(t *store.Tx) (err error) {
		// A surprise must not end the process, nor leave the transaction open.
		defer func() {
			if r := recover(); r != nil {
				p.cfg.Log.Error().Bytes("stack", debug.Stack()).Any("panic", r).Msg("writing to the index panicked")
				err = fmt.Errorf("writing to the index ended unexpectedly: %v", r)
			}
		}()
		return f(t)
	})
}

// tell passes progress on: always when a source is done, and ten times a
// second within one.
func (p *pass) tell(within int64) {
	if p.cfg.Observe == nil {
		return
	}
	if within > 0 {
		if time.Since(p.told) < 100*time.Millisecond {
			return
		}
		p.told = time.Now()
	}
	at := p.progress
	at.BytesDone = min(at.BytesDone+within, at.BytesTotal)
	p.cfg.Observe(at)
}

func (p *pass) degrade(root, reason string) {
	for _, d := range p.result.Degraded {
		if d.Root == root {
			return
		}
	}
	if len(p.result.Degraded) < maxDegraded {
		p.result.Degraded = append(p.result.Degraded, Degraded{root, reason})
	}
}

// maxDegraded bounds how many places are reported one by one.
const maxDegraded = 100

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
