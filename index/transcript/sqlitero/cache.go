package sqlitero

import (
	"context"
	"path/filepath"
	"sync"
	"time"
)

// idle is how long a private copy is kept after its last use.
const idle = 5 * time.Second

// Cache opens databases like Open, and keeps a private copy for a while: a
// store with thousands of sessions is opened once for each of them, and must
// not be copied as often. The zero Cache is ready; a nil one keeps nothing.
// It is safe for concurrent use.
type Cache struct {
	mu   sync.Mutex
	kept map[string]*shared
}

// shared is a copy with its users.
type shared struct {
	db    *DB
	state string // of the files it was made from
	users int
	timer *time.Timer
}

// Open opens the database at path; see the function Open.
func (c *Cache) Open(ctx context.Context, path string) (*DB, error) {
	if c == nil {
		return Open(ctx, path)
	}
	key := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		key = real
	}
	now := (&DB{path: key}).states()
	c.mu.Lock()
	if s := c.kept[key]; s != nil && s.state == now {
		d := c.use(key, s)
		c.mu.Unlock()
		return d, ctx.Err()
	}
	c.mu.Unlock()
	d, err := Open(ctx, path)
	if err != nil || d.mode != copied || (&DB{path: key}).states() != now {
		return d, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &shared{db: d, state: now}
	if old := c.kept[key]; old != nil && old.users == 0 {
		old.timer.Stop()
		_ = old.db.Close()
	}
	if c.kept == nil {
		c.kept = map[string]*shared{}
	}
	c.kept[key] = s
	return c.use(key, s), nil
}

// use hands out the copy to one more user. The lock is held.
func (c *Cache) use(key string, s *shared) *DB {
	s.users++
	if s.timer != nil {
		s.timer.Stop()
	}
	var once sync.Once
	return &DB{db: s.db.db, path: s.db.path, mode: copied, release: func() {
		once.Do(func() { c.release(key, s) })
	}}
}

// release takes a user off, and closes a copy that nobody uses any more: at
// once when a newer one has taken its place, else after a while.
func (c *Cache) release(key string, s *shared) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	if c.kept[key] != s {
		_ = s.db.Close()
		return
	}
	s.timer = time.AfterFunc(idle, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if s.users == 0 && c.kept[key] == s {
			delete(c.kept, key)
			_ = s.db.Close()
		}
	})
}
