package codex

import (
	"context"
	"maps"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sessionls/sessionls/index/transcript"
)

// fewThreads is up to how many threads the state database is asked for by id.
const fewThreads = 16

// titleCache keeps the titles as they were last read, to tell whose changed. Its
// users get copies.
type titleCache struct {
	mu    sync.Mutex
	state map[string]string           // of an index file, by its path: its signature
	lists map[string]map[string]names // what that index file said
	all   map[string]map[string]names // by home: everything, as of the last look at all
}

// index adds the names in an index file to out. The file is read again only if
// it changed.
func (c *titleCache) index(ctx context.Context, path string, out map[string]names) error {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	state := transcript.Signature(f.Info)
	if c != nil {
		c.mu.Lock()
		list, ok := c.lists[path], c.state[path] == state
		c.mu.Unlock()
		if ok {
			maps.Copy(out, list)
			return nil
		}
	}
	list := map[string]names{}
	if err := readIndex(ctx, f, list); err != nil {
		return err
	}
	maps.Copy(out, list)
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.state == nil {
			c.state, c.lists = map[string]string{}, map[string]map[string]names{}
		}
		c.state[path], c.lists[path] = state, list
	}
	return nil
}

func (c *titleCache) keep(home string, all map[string]names) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]map[string]names{}
	}
	c.all[home] = all
}

func (c *titleCache) last(home string) (all map[string]names, ok bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all, ok = c.all[home]
	return all, ok
}

// isTitles reports whether a file is one of those that hold titles.
func isTitles(name string) bool {
	if name == indexFile || name == "config.toml" {
		return true
	}
	state, _ := filepath.Match("state_*.sqlite", strings.TrimSuffix(name, "-wal"))
	return state
}

// Concerns implements transcript.Locator: rollouts, folders, and what holds
// titles.
func (Reader) Concerns(_ transcript.Env, root transcript.Root, path string) bool {
	name, on := filepath.Base(path), transcript.Below(root.Path, path)
	if len(on) == 0 || isTitles(name) {
		return true
	}
	if !root.Configured && on[0] != liveDir && on[0] != archiveDir {
		return false // the home has working trees, logs and caches, too
	}
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".jsonl.zst") || !strings.Contains(name, ".")
}

// Locate implements transcript.Locator.
func (rd Reader) Locate(ctx context.Context, env transcript.Env, root transcript.Root, path string) (transcript.Located, error) {
	if !isTitles(filepath.Base(path)) {
		return transcript.LocateBelow(ctx, rd, env, root, path)
	}
	_, home := places(root)
	before, ok := rd.titles.last(home)
	if !ok {
		return transcript.Located{}, transcript.ErrUnplaced
	}
	var failed error
	now := rd.names(ctx, env, home, nil, func(_ string, err error) { failed = err })
	if failed != nil {
		return transcript.Located{}, failed
	}
	var loc transcript.Located
	for id, n := range now {
		if before[id] != n {
			loc.Sessions = append(loc.Sessions, id)
		}
	}
	for id := range before {
		if _, still := now[id]; !still {
			loc.Sessions = append(loc.Sessions, id)
		}
	}
	return loc, nil
}

// Folders implements transcript.Locator: the state database may lie elsewhere.
func (Reader) Folders(env transcript.Env, root transcript.Root, src transcript.Source) []string {
	if src.Path != "" {
		return nil
	}
	_, home := places(root)
	folders := []string{home}
	if db := stateDB(env, home); db != "" {
		folders = append(folders, filepath.Dir(db))
	}
	return folders
}
