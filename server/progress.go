package server

import (
	"context"
	"fmt"
	"time"

	"go.lsp.dev/protocol"

	"github.com/sessionls/sessionls/contract"
)

// buildProgress shows the first build of an index as work-done progress. It
// belongs to the notifier's goroutine.
//
// A token is asked for when a build begins and used for one build. If the build is
// over before the client has agreed, the next one uses it; if the client
// refuses, nothing is shown and it is not asked again.
type buildProgress struct {
	// create asks the client for a token, and puts it into created when the client
	// has agreed. It must not wait. Nil if the client has no progress.
	create  func(ctx context.Context, token string)
	created chan string
	// send sends one value for the token; it may wait.
	send func(ctx context.Context, token string, value any) error

	asked    int    // tokens asked for
	token    string // the last one, "" once it is used up
	agreed   string // the last token that the client agreed to
	begun    bool
	percent  uint32 // the last one shown, as is message
	message  string
	reported time.Time
}

func (s *server) newBuildProgress() *buildProgress {
	b := &buildProgress{created: make(chan string, 1)}
	if !s.client.workDoneProgress {
		return b
	}
	b.create = func(ctx context.Context, token string) {
		s.goBackground(func() {
			_, err := s.call(ctx, protocol.MethodWindowWorkDoneProgressCreate, &protocol.WorkDoneProgressCreateParams{Token: protocol.String(token)})
			if err != nil {
				s.log.Debug().Err(err).Msg("the client does not want progress")
				return
			}
			b.created <- token
		})
	}
	b.send = func(ctx context.Context, token string, value any) error {
		raw, err := marshal(value)
		if err != nil {
			return err
		}
		return s.notify(ctx, protocol.MethodProgress, &protocol.ProgressParams{Token: protocol.String(token), Value: protocol.LSPAny(raw)})
	}
	return b
}

// tell shows what is new and returns when to come again for something that has to wait
// for its interval, else 0.
func (b *buildProgress) tell(ctx context.Context, status contract.Status) (again time.Duration) {
	if b.create == nil {
		return 0
	}
	if status.Phase != contract.PhaseIndexing || status.LastSweepCompletedAt != nil || status.Progress == nil {
		b.finish(ctx, status)
		return 0
	}
	if b.token == "" {
		b.asked++
		b.token = fmt.Sprintf("sessionls/build/%d", b.asked)
		b.create(ctx, b.token)
	}
	if b.agreed != b.token {
		return 0
	}

	percent, message := describe(*status.Progress)
	if !b.begun {
		no := false
		b.put(ctx, &protocol.WorkDoneProgressBegin{
			Kind: "begin", Title: "Indexing agent sessions", Cancellable: &no, Message: &message, Percentage: &percent,
		})
		b.begun = true
	} else {
		percent = max(percent, b.percent) // a total that grows must not turn the bar back
		if percent == b.percent && message == b.message {
			return 0
		}
		if rest := statusInterval - time.Since(b.reported); rest > 0 {
			return rest
		}
		b.put(ctx, &protocol.WorkDoneProgressReport{Kind: "report", Message: &message, Percentage: &percent})
	}
	b.percent, b.message, b.reported = percent, message, time.Now()
	return 0
}

// finish ends what was begun.
func (b *buildProgress) finish(ctx context.Context, status contract.Status) {
	if !b.begun {
		return
	}
	message := "stopped"
	switch status.Phase {
	case contract.PhaseCurrent, contract.PhaseDegraded, contract.PhaseIndexing:
		message = fmt.Sprintf("%d sessions", status.Sessions)
	}
	b.put(ctx, &protocol.WorkDoneProgressEnd{Kind: "end", Message: &message})
	b.token, b.begun = "", false
}

// put sends a value. A client that cannot be written to is about to be gone.
func (b *buildProgress) put(ctx context.Context, value any) { _ = b.send(ctx, b.token, value) }

// describe puts progress into a percentage of the bytes and a line for people.
func describe(p contract.Progress) (percent uint32, message string) {
	if p.BytesTotal > 0 {
		percent = uint32(min(max(float64(p.BytesDone)/float64(p.BytesTotal), 0), 1) * 100)
	}
	return percent, fmt.Sprintf("%d of %d files, %s of %s", p.FilesDone, p.FilesTotal, size(p.BytesDone), size(p.BytesTotal))
}

// size writes a number of bytes for people.
func size(n int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if n >= unit.bytes {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.bytes), unit.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
