package rpc

import (
	"context"
	"sync"
	"time"
)

const (
	// maxCalls is how many requests may be between arrival and answer. The next
	// one stays unread until one is answered: the client is held back, by its own
	// pipe, and no request is refused. It is far above what people and editors
	// cause and bounds only the memory of a client gone wild.
	maxCalls = 1024
	// maxCallBytes bounds the parameters of those requests together.
	maxCallBytes = 128 << 20
)

// admission counts the requests that are not answered yet, and their bytes.
type admission struct {
	maxCalls, maxBytes int

	mu           sync.Mutex
	calls, bytes int
	freed        chan struct{} // closed and replaced by leave
}

func newAdmission(maxCalls, maxBytes int) *admission {
	return &admission{maxCalls: maxCalls, maxBytes: maxBytes, freed: make(chan struct{})}
}

// enter waits for room for one request with n bytes and takes it. A single
// request always finds room when it is alone. It reports false if either channel
// closes first.
func (a *admission) enter(n int, stop1, stop2 <-chan struct{}) bool {
	for {
		a.mu.Lock()
		if a.calls == 0 || a.calls < a.maxCalls && a.bytes+n <= a.maxBytes {
			a.calls++
			a.bytes += n
			a.mu.Unlock()
			return true
		}
		freed := a.freed
		a.mu.Unlock()
		select {
		case <-freed:
		case <-stop1:
			return false
		case <-stop2:
			return false
		}
	}
}

// leave gives back the room of a request with n bytes.
func (a *admission) leave(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls--
	a.bytes -= n
	close(a.freed)
	a.freed = make(chan struct{})
}

// wait returns when no request is open, after d, or when one of stop closes.
func (a *admission) wait(d time.Duration, stop ...<-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	for _, ch := range stop {
		go func() {
			select {
			case <-ch:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	for {
		a.mu.Lock()
		calls, freed := a.calls, a.freed
		a.mu.Unlock()
		if calls == 0 {
			return
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return
		}
	}
}

// Limiter bounds how much work runs at once. The zero value is not usable; see
// NewLimiter.
type Limiter struct{ slots chan struct{} }

// NewLimiter returns a limiter for n ≥ 1 pieces of work at a time.
func NewLimiter(n int) *Limiter { return &Limiter{slots: make(chan struct{}, max(n, 1))} }

// Acquire waits for a slot and returns the function that gives it back, or the
// error of ctx if that ends first: a queued request is cancelled like a running one.
func (l *Limiter) Acquire(ctx context.Context) (release func(), err error) {
	select {
	case l.slots <- struct{}{}:
		return func() { <-l.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
