package exact

import (
	"container/list"
	"context"
	"sync"
)

// cacheBytes bounds what outlines take of memory while nobody uses them. One
// outline is kept however large it is: somebody pages through that session.
const cacheBytes = 48 << 20

// cache keeps the outlines that were used last. Those who ask for one that is
// being built wait for it instead of reading the transcript, too.
type cache struct {
	mu      sync.Mutex
	byKey   map[string]*list.Element
	recent  list.List // of *cached, the last used in front
	bytes   int64
	pending map[string]chan struct{}
}

type cached struct {
	key   string
	value *outline
	bytes int64
}

// get gives the outline for a key, building it if need be. A failure is not
// kept.
func (c *cache) get(ctx context.Context, key string, build func() (*outline, error)) (*outline, error) {
	for {
		c.mu.Lock()
		if at := c.byKey[key]; at != nil {
			c.recent.MoveToFront(at)
			c.mu.Unlock()
			return at.Value.(*cached).value, nil
		}
		wait := c.pending[key]
		if wait == nil {
			break
		}
		c.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if c.pending == nil {
		c.pending, c.byKey = map[string]chan struct{}{}, map[string]*list.Element{}
	}
	done := make(chan struct{})
	c.pending[key] = done
	c.mu.Unlock()

	var o *outline
	var err error
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.pending, key)
		close(done)
		if o != nil && err == nil {
			c.keep(&cached{key, o, o.bytes()})
		}
	}()
	o, err = build()
	return o, err
}

func (c *cache) keep(x *cached) {
	c.byKey[x.key] = c.recent.PushFront(x)
	c.bytes += x.bytes
	for c.bytes > cacheBytes && c.recent.Len() > 1 {
		last := c.recent.Back()
		old := c.recent.Remove(last).(*cached)
		delete(c.byKey, old.key)
		c.bytes -= old.bytes
	}
}

// Forget drops everything.
func (c *cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent.Init()
	clear(c.byKey)
	c.bytes = 0
}
