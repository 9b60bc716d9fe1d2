package index

import (
	"context"
	"errors"
	"sync"

	"github.com/sessionls/sessionls/index/store"
)

// handles keeps the index open for reading. When the file at the path is no
// longer the one that is open, because it was cleared or rebuilt by any
// process, the next request opens the new one.
type handles struct {
	path string

	mu     sync.Mutex
	open   *handle
	closed bool
}

// handle is one open index. Searches and status have connections of their own,
// so that a slow search never delays a status.
type handle struct {
	search *store.Reader
	status *store.Reader

	refs    int
	retired bool
	drained chan struct{} // closed once retired and unused
}

var errClosed = errors.New("the service is closed")

// acquire returns the open index and what gives it back.
func (h *handles) acquire(ctx context.Context) (*handle, func(), error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, nil, errClosed
	}
	if h.open != nil && h.open.search.Replaced() {
		h.retireLocked()
	}
	if h.open == nil {
		search, err := store.OpenReader(ctx, h.path)
		if err != nil {
			return nil, nil, err
		}
		status, err := store.OpenReader(ctx, h.path)
		if err != nil {
			return nil, nil, errors.Join(err, search.Close())
		}
		h.open = &handle{search: search, status: status, drained: make(chan struct{})}
	}
	use := h.open
	use.refs++
	return use, func() { h.release(use) }, nil
}

func (h *handles) release(use *handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if use.refs--; use.refs == 0 && use.retired {
		use.close()
	}
}

func (u *handle) close() {
	_ = u.search.Close()
	_ = u.status.Close()
	close(u.drained)
}

// retireLocked takes the open index out of use; it is closed when the last
// request that works with it is done.
func (h *handles) retireLocked() (drained <-chan struct{}) {
	u := h.open
	if u == nil {
		return nil
	}
	h.open, u.retired = nil, true
	if u.refs == 0 {
		u.close()
	}
	return u.drained
}

// drop closes the index for reading as soon as nobody reads from it.
func (h *handles) drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.retireLocked()
}

// retire closes the index for reading and waits until nobody reads from it.
func (h *handles) retire(ctx context.Context) error {
	h.mu.Lock()
	drained := h.retireLocked()
	h.mu.Unlock()
	if drained == nil {
		return nil
	}
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// exclusively runs f while the index is closed and cannot be opened.
func (h *handles) exclusively(ctx context.Context, f func() error) error {
	for {
		if err := h.retire(ctx); err != nil {
			return err
		}
		h.mu.Lock()
		if h.open == nil {
			defer h.mu.Unlock()
			return f()
		}
		h.mu.Unlock() // somebody opened it meanwhile
	}
}

// close retires the index for good.
func (h *handles) close() {
	h.mu.Lock()
	h.closed = true
	drained := h.retireLocked()
	h.mu.Unlock()
	if drained != nil {
		<-drained
	}
}
