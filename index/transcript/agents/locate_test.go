package agents_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"database/sql"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/agents"
	"github.com/sessionls/sessionls/testdata/samplehome"
)

type sourceKey struct{ agent, path, key string }

// disk is the home of all samples, seen through all readers.
type disk struct {
	t       *testing.T
	env     transcript.Env
	readers []transcript.Reader
	ever    map[sourceKey]transcript.Source // all that were ever found
}

func newDisk(t *testing.T, src string) *disk {
	home := filepath.Join(t.TempDir(), "home")
	if err := samplehome.Make(home, src); err != nil {
		t.Fatal(err)
	}
	return &disk{t, transcript.Env{Home: home, GOOS: "linux"}, agents.All(), map[sourceKey]transcript.Source{}}
}

// of are the readers whose roots a path lies below, or beside.
func (d *disk) of(path string) *disk {
	out := *d
	out.readers = slices.DeleteFunc(slices.Clone(d.readers), func(rd transcript.Reader) bool {
		return !slices.ContainsFunc(rd.Roots(d.env), func(root transcript.Root) bool { return transcript.Within(filepath.Dir(root.Path), path) })
	})
	return &out
}

// all discovers everything.
func (d *disk) all() map[sourceKey]transcript.Source {
	d.t.Helper()
	out := map[sourceKey]transcript.Source{}
	for _, rd := range d.readers {
		for _, root := range rd.Roots(d.env) {
			err := rd.Discover(context.Background(), d.env, root, func(s transcript.Source) error {
				out[sourceKey{s.Agent, s.Path, s.Key}] = s
				d.ever[sourceKey{s.Agent, s.Path, s.Key}] = s
				return nil
			}, func(path string, err error) { d.t.Errorf("%s: %v", path, err) })
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				d.t.Fatal(err)
			}
		}
	}
	return out
}

// placed is what all readers say of changes.
type placed struct {
	sources  map[sourceKey]transcript.Source
	scopes   []string
	sessions []string
	unplaced bool
}

func (d *disk) locate(paths ...string) placed {
	d.t.Helper()
	p := placed{sources: map[sourceKey]transcript.Source{}}
	for _, path := range paths {
		for _, rd := range d.readers {
			l, ok := rd.(transcript.Locator)
			if !ok {
				d.t.Fatalf("%s cannot locate", rd.Agent().ID)
			}
			for _, root := range rd.Roots(d.env) {
				near := slices.Contains(l.Folders(d.env, root, transcript.Source{}), filepath.Dir(path))
				if !transcript.Within(root.Path, path) && !near || !l.Concerns(d.env, root, path) {
					continue
				}
				loc, err := l.Locate(context.Background(), d.env, root, path)
				if err != nil {
					p.unplaced = true
					continue
				}
				for _, s := range loc.Sources {
					p.sources[sourceKey{s.Agent, s.Path, s.Key}] = s
				}
				if loc.Scope != "" {
					p.scopes = append(p.scopes, loc.Scope)
				}
				p.sessions = append(p.sessions, loc.Sessions...)
			}
		}
	}
	return p
}

// watched reports whether a change in a folder is seen when all sources that
// were ever found are watched. Folders that should be watched and are not there
// are waited for.
func (d *disk) watched(folder string) bool {
	for _, rd := range d.readers {
		l := rd.(transcript.Locator)
		for _, root := range rd.Roots(d.env) {
			if folder == root.Path || slices.Contains(l.Folders(d.env, root, transcript.Source{}), folder) {
				return true
			}
			for _, s := range d.ever {
				if s.Agent == rd.Agent().ID && s.Root == root.Path && (transcript.Within(folder, s.Path) && transcript.Within(root.Path, folder) || slices.Contains(l.Folders(d.env, root, s), folder)) {
					return true
				}
			}
		}
	}
	return false
}

// check makes a change and compares what Locate says of it with what Discover
// finds.
func (d *disk) check(what string, change func() (paths []string)) {
	d.t.Helper()
	before := d.all()
	paths := change()
	got := d.locate(paths...)
	after := d.all()
	if got.unplaced {
		for _, path := range paths {
			for k := range after {
				if k.path == path {
					d.t.Errorf("%s: the transcript %s itself cannot be placed", what, d.rel(path))
				}
			}
		}
		return
	}
	seen := false
	for k, s := range after {
		if was, ok := before[k]; ok && was == s {
			continue
		}
		seen = true
		if at, ok := got.sources[k]; ok && at == s {
			continue
		}
		if slices.Contains(got.sessions, s.SessionID) {
			continue
		}
		d.t.Errorf("%s: %s %s differs, Locate says\n%+v\nand not\n%+v", what, d.rel(k.path), k.key, got.sources[k], s)
	}
	for k, s := range got.sources {
		if after[k] != s {
			d.t.Errorf("%s: Locate says\n%+v\nDiscover\n%+v", what, s, after[k])
		}
	}
	for k := range before {
		if _, still := after[k]; still {
			continue
		}
		seen = true
		if !slices.ContainsFunc(got.scopes, func(scope string) bool { return transcript.Within(scope, k.path) }) {
			d.t.Errorf("%s: %s is gone, the scopes are %q", what, d.rel(k.path), got.scopes)
		}
	}
	if seen && !slices.ContainsFunc(paths, func(p string) bool { return d.watched(filepath.Dir(p)) || d.watched(p) || outputs(p) }) {
		d.t.Errorf("%s: nobody watches the folders of %q", what, paths)
	}
}

// outputs tells the folder whose files come before the records that name them.
func outputs(path string) bool { return filepath.Base(filepath.Dir(path)) == "tool-results" }

func (d *disk) rel(path string) string { return strings.TrimPrefix(path, d.env.Home) }

func (d *disk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// files lists the files of the home.
func (d *disk) files() []string {
	var out []string
	d.must(filepath.WalkDir(d.env.Home, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			out = append(out, path)
		}
		return err
	}))
	return out
}

// Whatever happens to any file of any agent, placing it finds the same sources
// as looking at everything.
func TestLocateIsDiscover(t *testing.T) {
	home := newDisk(t, "../../../testdata/home")
	moment := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	for _, path := range home.files() {
		if isStore(path) {
			continue
		}
		d := home.of(path)
		content, err := os.ReadFile(path)
		d.must(err)
		name := d.rel(path)
		d.check("append to "+name, func() []string {
			d.must(os.WriteFile(path, append(slices.Clip(content), " \n"...), 0o600))
			moment = moment.Add(time.Minute)
			d.must(os.Chtimes(path, moment, moment))
			return []string{path}
		})
		d.check("replace "+name, func() []string {
			d.must(os.WriteFile(path+".tmp", content, 0o600))
			d.must(os.Rename(path+".tmp", path))
			return []string{path + ".tmp", path}
		})
		d.check("remove "+name, func() []string {
			d.must(os.Remove(path))
			return []string{path}
		})
		d.check("make "+name, func() []string {
			d.must(os.WriteFile(path, content, 0o600))
			return []string{path}
		})
		ext := filepath.Ext(path)
		other := strings.TrimSuffix(path, ext) + "-x" + ext
		d.check("rename "+name, func() []string {
			d.must(os.Rename(path, other))
			return []string{path, other}
		})
		d.check("rename back "+name, func() []string {
			d.must(os.Rename(other, path))
			return []string{other, path}
		})
	}
	// Folders that come and go whole.
	done := map[string]bool{}
	for _, path := range home.files() {
		d := home.of(path)
		for dir := filepath.Dir(path); dir != d.env.Home; dir = filepath.Dir(dir) {
			if done[dir] || !d.below(dir) {
				continue
			}
			done[dir] = true
			away := dir + "-away"
			d.check("folder away "+d.rel(dir), func() []string {
				d.must(os.Rename(dir, away))
				return []string{dir, away}
			})
			d.check("folder back "+d.rel(dir), func() []string {
				d.must(os.Rename(away, dir))
				return []string{away, dir}
			})
		}
	}
}

// below reports whether a folder lies below a root.
func (d *disk) below(dir string) bool {
	for _, rd := range d.readers {
		for _, root := range rd.Roots(d.env) {
			if dir != root.Path && transcript.Within(root.Path, dir) {
				return true
			}
		}
	}
	return false
}

func isStore(path string) bool {
	for _, ext := range []string{".db", ".sqlite", ".vscdb"} {
		if strings.Contains(filepath.Base(path), ext) {
			return true
		}
	}
	return false
}

// A write to a shared store is placed by its log, and only sessions whose
// watermarks moved differ.
func TestLocateInStores(t *testing.T) {
	d := newDisk(t, "../../../testdata/home")
	for _, c := range []struct{ store, change string }{
		{".local/share/opencode/opencode.db", `UPDATE session SET title = title || ' again', time_updated = (SELECT max(time_updated) FROM session) + 1 WHERE id = (SELECT id FROM session ORDER BY time_updated DESC LIMIT 1)`},
		{".config/Cursor/User/globalStorage/state.vscdb", `INSERT INTO cursorDiskKV SELECT key, replace(value, 'Done.', 'Done?') FROM cursorDiskKV WHERE key = 'bubbleId:d0c1b2a3-9485-4768-8a59-b4c3d2e1f0a9:b0000000-0000-4000-8000-000000000006'`},
		{".config/Cursor/User/workspaceStorage/0f1e2d3c4b5a69788796a5b4c3d2e1f0/state.vscdb", `INSERT INTO ItemTable SELECT key, replace(value, 'Old ask tab', 'Old ask tab again') FROM ItemTable WHERE key = 'workbench.panel.aichat.view.aichat.chatdata'`},
		{".cursor/chats/629517fcab1d492cc99960f248f7573c/9a9e0000-1111-4222-8333-444455556602/store.db", `UPDATE meta SET value = replace(value, 'New Chat', 'Count')`},
		{".codex/state_5.sqlite", `UPDATE threads SET title = 'another title' WHERE id = (SELECT min(id) FROM threads)`},
	} {
		path := filepath.Join(d.env.Home, filepath.FromSlash(c.store))
		db, err := sql.Open("sqlite3", "file:"+path)
		d.must(err)
		db.SetMaxOpenConns(1)
		_, err = db.Exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0`)
		d.must(err)
		d.all()
		for _, name := range []string{path + "-wal", path} {
			d.check(c.store, func() []string {
				r, err := db.Exec(c.change)
				d.must(err)
				if n, err := r.RowsAffected(); n != 1 || err != nil {
					t.Fatalf("%d rows, %v", n, err)
				}
				return []string{name}
			})
		}
		d.must(db.Close())
	}
}

// Things that are nobody's are of no interest, by their names alone.
func TestConcernsNobody(t *testing.T) {
	d := newDisk(t, "../../../testdata/home")
	for _, rel := range []string{
		".config/Code/User/workspaceStorage/0f1e2d3c4b5a69788796a5b4c3d2e1f0/state.vscdb",
		".config/Code/User/workspaceStorage/0f1e2d3c4b5a69788796a5b4c3d2e1f0/state.vscdb-journal",
		".codex/worktrees/a1/src", ".codex/log/codex-tui.log", ".codex/logs_1.sqlite-wal",
		".local/share/opencode/snapshot/p/objects/ab", ".local/share/opencode/log/x.log",
		".gemini/settings.json", ".gemini/oauth_creds.json", ".claude.json",
		".config/Cursor/User/globalStorage/state.vscdb.backup", ".config/Cursor/User/globalStorage/state.vscdb-shm", ".config/Cursor/User/globalStorage/conversation-search.db-wal",
		".config/Cursor/User/History/x/y.txt", ".cursor/mcp.json", ".cursor/extensions/x", ".cursor/projects/home-dev-work-tidewatch/terminals/1.txt", ".cursor/chats/a/b/store.db-shm",
		".cline/data/settings/providers.json", ".cline/data/tasks/1762000000000/context_history.json", ".cline/data/state/x.json", ".cline/data/sessions/a/b.log", ".cline/data/logs/cline.log",
	} {
		path := filepath.Join(d.env.Home, filepath.FromSlash(rel))
		for _, rd := range d.readers {
			l := rd.(transcript.Locator)
			for _, root := range rd.Roots(d.env) {
				near := slices.Contains(l.Folders(d.env, root, transcript.Source{}), filepath.Dir(path))
				if (transcript.Within(root.Path, path) || near) && l.Concerns(d.env, root, path) {
					t.Errorf("%s concerns %s", rel, rd.Agent().ID)
				}
			}
		}
	}
}
