package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// The seat is the right to watch for all processes: an OS lock that its holder
// keeps for life, and the system gives up when it dies.
//
// Waiting for such a lock can neither be interrupted nor does asking for it
// again and again cost nothing, so whoever waits reads from a pipe that the
// holder keeps open for writing and never writes to. The read ends with the
// holder. Where there are no such pipes the lock is asked for now and then.

// seatPoll is how often the seat is asked for where waiting is not possible.
const seatPoll = 5 * time.Second

type seat struct {
	lock  *flock.Flock
	alive *os.File // nil where there are no named pipes
	path  string
}

// takeSeat waits for the seat until ctx ends.
func takeSeat(ctx context.Context, path string) (*seat, error) {
	pause := 20 * time.Millisecond
	for ctx.Err() == nil {
		lock := flock.New(path, flock.SetPermissions(0o600))
		ok, err := lock.TryLock()
		switch {
		case ok:
			s := &seat{lock: lock, path: path}
			// Without the pipe the others ask for the lock.
			s.alive, _ = openAlive(path+aliveSuffix, true)
			return s, nil
		case err != nil && !errors.Is(err, os.ErrNotExist):
			lock.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		lock.Close()
		began := time.Now()
		if waited := waitAlive(ctx, path+aliveSuffix); !waited {
			pause = seatPoll
		}
		// A holder that has not opened the pipe yet looks like one that ended.
		if time.Since(began) > time.Second {
			pause = 20 * time.Millisecond
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		pause = min(2*pause, seatPoll)
	}
	return nil, context.Cause(ctx)
}

const aliveSuffix = ".alive"

// waitAlive waits until the holder of the seat ends or ctx does. It reports
// false if that is not possible.
func waitAlive(ctx context.Context, path string) bool {
	f, err := openAlive(path, false)
	if err != nil || f == nil {
		return false
	}
	defer f.Close()
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var b [1]byte
	_, err = f.Read(b[:])
	return !errors.Is(err, os.ErrNoDeadline)
}

// live is a sign of life: a holder that is stopped gives none.
func (s *seat) live() {
	now := time.Now()
	_ = os.Chtimes(s.path, now, now)
}

func (s *seat) release() {
	if s.alive != nil {
		_ = s.alive.Close()
	}
	_ = s.lock.Close()
}

// seatSilent reports whether the holder of the seat has given no sign of life
// for so long that it must be stopped.
func seatSilent(path string, stale time.Duration) bool {
	info, err := os.Stat(path)
	return err != nil || time.Since(info.ModTime()).Abs() > stale
}
