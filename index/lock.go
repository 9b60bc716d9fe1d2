package index

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a lock that another process holds is asked for again.
const lockPoll = 50 * time.Millisecond

// fileLock is a held OS lock. The system gives it up when the process dies.
type fileLock struct{ f *flock.Flock }

// acquire waits for the lock until ctx ends.
func acquire(ctx context.Context, path string) (*fileLock, error) {
	f := flock.New(path, flock.SetPermissions(0o600))
	ok, err := f.TryLockContext(ctx, lockPoll)
	if ok {
		return &fileLock{f}, nil
	}
	f.Close()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

func (l *fileLock) release() { _ = l.f.Close() }

// heldElsewhere reports whether somebody holds the lock alone. It is a glance:
// a shared lock that is taken and given back, which disturbs no other glance.
func heldElsewhere(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	f := flock.New(path, flock.SetPermissions(fs.FileMode(0o600)), flock.SetFlag(os.O_RDONLY))
	defer f.Close()
	ok, err := f.TryRLock()
	return err == nil && !ok
}
