package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

func (a *app) indexCommand() *cobra.Command {
	full := false
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Bring the index up to date with what is on disk",
		Long: `Read every transcript that is new or has changed since it was indexed. With
--full every transcript is read again. Interrupting is safe: what was
indexed so far is kept.`,
		Example: `  sessionls index
  sessionls index --full`,
		Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			return a.withService(ctx, func(service Service) error { return a.index(ctx, service, full) })
		}),
	}
	cmd.Flags().BoolVar(&full, "full", false, "read every transcript again")
	return a.jsonFlag(cmd)
}

func (a *app) index(ctx context.Context, service Service, full bool) error {
	if err := a.consent(ctx, service); err != nil {
		return err
	}
	began := time.Now()
	if err := a.reconcile(ctx, service, full, "indexing"); err != nil {
		return err
	}
	var status contract.Status
	if done, err := a.answered(ctx, service, "searchStatus", map[string]any{}, &status); done || err != nil {
		return err
	}
	if status.Sessions == 0 {
		return a.nothingAnywhere(ctx, service)
	}
	a.screen.line(
		span{count(status.Sessions, "session", "sessions"), bold},
		span{text: " with " + count(status.Events, "event", "events") + " in an index of " + size(status.IndexBytes)},
		span{fmt.Sprintf("  (%s)", time.Since(began).Round(100*time.Millisecond)), dim},
	)
	a.tellTrouble(status)
	return nil
}

// catchUp reads what is new on disk before a search. No process may have done that
// for days, and it costs little when nothing is new. It is left out when asked so (the
// search itself waits for it, or goes on with a page of what was there before) and when
// another process is at it; but never before everything was looked at once: such a search
// would find nothing, or only what a first build has read by chance.
func (a *app) catchUp(ctx context.Context, service Service, leave bool) error {
	status, err := service.SearchStatus(ctx, contract.SearchStatusRequest{ExecutionHost: contract.LocalHost})
	if err != nil {
		return err
	}
	built := status.Sessions > 0 && status.LastSweepCompletedAt != nil
	if !status.Enabled || built && (leave || status.Writer == contract.WriterOther) {
		return nil
	}
	what := "reading new messages"
	if !built {
		what = "building the first index"
	}
	return a.reconcile(ctx, service, false, what)
}

// reconcile reads what is due and shows how far it is: a bar on a terminal, a
// line now and then elsewhere, nothing with --json.
func (a *app) reconcile(ctx context.Context, service Service, full bool, what string) error {
	show, done := a.progress(what)
	err := service.Reconcile(ctx, full, show)
	done()
	if err != nil && ctx.Err() != nil {
		return &fault{code: ExitInterrupted, what: "interrupted", hint: "what was indexed so far is kept; the next run goes on from there", cause: err}
	}
	return err
}

// barAfter is how long a pass must take to be worth a bar.
const barAfter = 300 * time.Millisecond

// lineInterval is the time between two lines of progress where no bar is possible.
const lineInterval = 5 * time.Second

// progress returns where to report progress and what to call at the end.
func (a *app) progress(what string) (show func(contract.Progress), done func()) {
	if a.asJSON {
		return nil, func() {}
	}
	return a.progressIn(what, func(p contract.Progress) string {
		return fmt.Sprintf("%s of %s, %s of %d", size(p.BytesDone), size(p.BytesTotal), thousands(int64(p.FilesDone)), p.FilesTotal)
	}, progressbar.OptionShowBytes(true))
}

// progressIn is progress for a thing that line words, and whose bar has options of its
// own.
func (a *app) progressIn(what string, line func(contract.Progress) string, more ...progressbar.Option) (show func(contract.Progress), done func()) {
	var mu sync.Mutex
	if !a.screen.errTerminal {
		last, told := time.Now(), false
		return func(p contract.Progress) {
				mu.Lock()
				defer mu.Unlock()
				if time.Since(last) < lineInterval || p.BytesTotal == 0 {
					return
				}
				last, told = time.Now(), true
				fmt.Fprintf(a.screen.err, "%s: %s\n", what, line(p))
			}, func() {
				mu.Lock()
				defer mu.Unlock()
				if told {
					fmt.Fprintf(a.screen.err, "%s: done\n", what)
				}
			}
	}
	var bar *progressbar.ProgressBar
	late := &lateWriter{out: a.screen.err, after: time.Now().Add(barAfter)}
	return func(p contract.Progress) {
			mu.Lock()
			defer mu.Unlock()
			if p.BytesTotal <= 0 {
				return
			}
			if bar == nil {
				bar = newBar(late, what, p.BytesTotal, a.screen.width, more)
			}
			if bar.GetMax64() != p.BytesTotal {
				bar.ChangeMax64(p.BytesTotal)
			}
			// The bar itself ends, and starts a new line, when it is full; the last
			// byte is left to done. An error is one of the terminal: nothing is lost.
			_ = bar.Set64(min(p.BytesDone, p.BytesTotal-1))
		}, func() {
			mu.Lock()
			defer mu.Unlock()
			if bar != nil {
				_ = bar.Clear()
				bar = nil
			}
		}
}

// patientFor is how long people wait without asking themselves what goes on.
const patientFor = time.Second

// after says what takes so long, if it does, for work that cannot tell how far it is.
// To be called at its end: the returned function.
func (a *app) after(wait time.Duration, what string) (done func()) {
	said := make(chan struct{})
	timer := time.AfterFunc(wait, func() {
		defer close(said)
		a.screen.note("%s", what)
	})
	return func() {
		if !timer.Stop() {
			<-said
		}
	}
}

// lateWriter drops what comes too early: a bar that flashes up and is gone is no help.
type lateWriter struct {
	out   io.Writer
	after time.Time
}

func (w *lateWriter) Write(p []byte) (int, error) {
	if time.Now().Before(w.after) {
		return len(p), nil
	}
	return w.out.Write(p)
}

func newBar(out io.Writer, what string, total int64, width int, more []progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total, append([]progressbar.Option{
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionSetWidth(min(30, max(4, width-len(what)-50))),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "━", SaucerHead: "╸", SaucerPadding: " ", BarStart: " ", BarEnd: " "}),
	}, more...)...)
}

// nothingAnywhere tells where transcripts were looked for, and ends as a search that
// found nothing.
func (a *app) nothingAnywhere(ctx context.Context, service Service) error {
	places, err := service.Places(ctx)
	if err != nil {
		return err
	}
	a.screen.places(places)
	return silent(ExitNoMatch)
}

// placesShown is how many places of one agent are listed.
const placesShown = 3

func (s *screen) places(places []Place) {
	out := *s
	out.out, out.colour = s.err, s.errColour
	out.line(span{"No transcripts were found on this machine.", bold})
	out.line(span{text: "sessionls looked for sessions of these agents, here:"})
	for _, place := range places {
		for i, path := range place.Paths {
			if i == placesShown {
				out.line(span{text: strings.Repeat(" ", 24)}, span{fmt.Sprintf("and %d more (`sessionls doctor --json`)", len(place.Paths)-i), dim})
				break
			}
			label := ""
			if i == 0 {
				label = cleanLine(place.Label)
			}
			out.line(span{text: "  " + pad(label, 20) + "  "}, span{cleanLine(path), dim})
		}
	}
	out.line(span{text: "Have a conversation with one of them, or name other folders in the configuration (`sessionls config`)."})
}

// tellTrouble names what could not be read.
func (a *app) tellTrouble(status contract.Status) {
	if status.FilesFailed > 0 {
		a.screen.line(span{"! ", warn}, span{text: count(status.FilesFailed, "file", "files") + " could not be read; `sessionls doctor` names them"})
	}
	for _, root := range status.DegradedRoots {
		a.screen.line(span{"! ", warn}, span{text: cleanLine(root.Root + ": " + root.Reason)})
	}
}
