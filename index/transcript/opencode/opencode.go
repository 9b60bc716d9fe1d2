// Package opencode reads OpenCode's sessions: the tree of JSON files (until
// early 2026, and an older layout of it) and the SQLite database that followed,
// with its message/part tables and the session_message table of the
// development branch (formats.md §6).
//
// One message is one event with its prose; each tool part of it follows as an
// event of its own that holds call and output, because the store keeps both in
// one record. Parts that say nothing to a search (steps, snapshots, reasoning)
// are no events.
package opencode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/sqlitero"
)

const (
	agentID = "opencode"
	label   = "OpenCode"
	// version is raised when the same bytes would read differently.
	version = 2
)

// The generations, as Source.Class: the database is preferred to the tree that
// stays behind after the migration (formats.md §33).
const (
	classOldTree = 1
	classTree    = 2
	classDB      = 3
)

type reader struct {
	// patience is how long a half-written record is left alone before it is
	// read a second time.
	patience time.Duration
	open     *sqlitero.Cache
}

// New returns the reader.
func New() transcript.Reader { return reader{patience: 25 * time.Millisecond, open: &sqlitero.Cache{}} }

func (reader) Agent() transcript.Agent { return transcript.Agent{ID: agentID, Label: label} }

func (reader) Version() int { return version }

// Roots is the data folder: under XDG_DATA_HOME, else ~/.local/share on every
// system. A configured folder may be the data folder or a home folder.
func (reader) Roots(env transcript.Env) []transcript.Root {
	data := env.Var("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(env.Home, ".local", "share")
	}
	roots := []transcript.Root{{Path: filepath.Join(data, "opencode"), Kind: "data"}}
	for _, dir := range env.Extra {
		dir = transcript.FirstFolder(dir, filepath.Join(".local", "share", "opencode"), "opencode")
		roots = append(roots, transcript.Root{Path: dir, Kind: "data", Configured: true})
	}
	return roots
}

// Discover yields a source for each session: of every opencode*.db (release
// channels have their own), then of the trees. It looks at no part file: they
// are nine tenths of a store's files.
func (rd reader) Discover(ctx context.Context, env transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) error {
	entries, err := root.ReadDir(root.Path)
	if err != nil {
		return fmt.Errorf("look for OpenCode's sessions: %w", err)
	}
	seen := transcript.Seen{}
	for _, e := range entries {
		path := filepath.Join(root.Path, e.Name())
		if !isDatabase(e.Name()) {
			continue
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || !seen.First(path, info) {
			continue
		}
		if err := discoverDB(ctx, rd.open, root.Path, path, false, yield); err != nil {
			var stop *stopped
			if errors.As(err, &stop) {
				return stop.err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			report(path, err)
		}
	}
	w := &walk{ctx: ctx, root: root, yield: yield, report: report, seen: seen}
	if err := w.tree(); err != nil {
		return err
	}
	return w.oldTrees()
}

func isDatabase(name string) bool {
	ok, _ := filepath.Match("opencode*.db", name)
	return ok
}

// stopped wraps an error of yield, to tell it from trouble with a store.
type stopped struct{ err error }

func (s *stopped) Error() string { return s.err.Error() }

// Read reads one session. A session is small and edited in place, so it is
// always read whole: the checkpoint has no State.
func (rd reader) Read(ctx context.Context, env transcript.Env, src transcript.Source, _ *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	cp := &transcript.Checkpoint{Version: version}
	b := &builder{ctx: ctx, env: env, out: out, cp: cp, dataDir: src.Root, links: newLinks(out)}
	var err error
	if src.Key != "" {
		err = readDB(ctx, rd.open, src, b)
	} else {
		err = readTree(ctx, src, b, rd.patience)
	}
	if err != nil {
		return nil, err
	}
	if err := b.finish(); err != nil {
		return nil, err
	}
	cp.Offset = b.bytes
	return cp, nil
}

// ResumeArgs implements transcript.Reader.
func (reader) ResumeArgs(sessionID string) []string {
	return []string{"opencode", "--session", sessionID}
}

// missing reports whether an error only says that something is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
