package server

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/sessionls/sessionls/contract"
)

// methodStatus is the status notification.
const methodStatus = "sessionls/status"

// statusInterval is the shortest time between two status notifications that
// tell of a new generation or of progress, and between two progress reports: four a
// second.
const statusInterval = 250 * time.Millisecond

// notifier tells the client about the status, in notifications and as work-done
// progress.
//
// It is one goroutine that keeps nothing to send. Woken up, it looks at the status as it
// is now, compares it with the last one that it sent, and sends. So a client
// that reads slowly or not at all makes it wait inside one write, wake-ups
// meanwhile become one, no request waits for it, and no queue can grow.
type notifier struct {
	status  func(context.Context) (contract.Status, error)
	send    func(context.Context, contract.Status) error
	enabled func() bool // whether the user wants notifications
	build   *buildProgress
	log     zerolog.Logger

	last   *contract.Status // the last one sent
	sentAt time.Time
}

func (s *server) newNotifier() *notifier {
	return &notifier{
		status: func(ctx context.Context) (contract.Status, error) {
			return s.service.SearchStatus(ctx, contract.SearchStatusRequest{ExecutionHost: contract.LocalHost})
		},
		send: func(ctx context.Context, status contract.Status) error {
			raw, err := json.Marshal(status)
			if err != nil {
				return err
			}
			return s.conn.Notify(ctx, methodStatus, raw)
		},
		enabled: func() bool { return s.settings.Load().statusNotifications },
		build:   s.newBuildProgress(),
		log:     s.log,
	}
}

// run works until ctx ends. It looks once at the start and then on every wake-up.
func (n *notifier) run(ctx context.Context, wake, settingsChanged <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-wake:
			if !open {
				wake = nil
			}
		case <-settingsChanged:
		case n.build.agreed = <-n.build.created:
		case <-timer.C:
		}
		if again := n.look(ctx); again > 0 {
			timer.Reset(again)
		}
	}
}

// look tells what is new and returns when to look again if something new has to
// wait for its interval, else 0.
func (n *notifier) look(ctx context.Context) (again time.Duration) {
	status, err := n.status(ctx)
	if err != nil {
		if ctx.Err() == nil {
			n.log.Warn().Err(err).Msg("no status to tell")
		}
		return 0
	}
	again = n.build.tell(ctx, status)
	if !n.enabled() {
		return again
	}
	urgent, changed := n.compare(status)
	if !urgent && !changed {
		return again
	}
	if rest := statusInterval - time.Since(n.sentAt); !urgent && rest > 0 {
		if again == 0 || rest < again {
			again = rest
		}
		return again
	}
	if err := n.send(ctx, status); err != nil {
		n.log.Debug().Err(err).Msg("status not sent")
		return again
	}
	n.last, n.sentAt = &status, time.Now()
	return again
}

// compare tells whether the status is worth a notification: at once for
// another phase or policy, and in its time for what an answer or a display may
// depend on. Times of passes that changed nothing are not.
func (n *notifier) compare(now contract.Status) (urgent, changed bool) {
	was := n.last
	if was == nil || was.Phase != now.Phase || was.Enabled != now.Enabled || was.Decided != now.Decided {
		return true, true
	}
	return false, was.Generation != now.Generation ||
		was.Identity != now.Identity ||
		was.Writer != now.Writer ||
		was.FilesFailed != now.FilesFailed ||
		!slices.Equal(was.DegradedRoots, now.DegradedRoots) ||
		!slices.Equal(was.Notices, now.Notices) ||
		!sameProgress(was.Progress, now.Progress)
}

func sameProgress(a, b *contract.Progress) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
