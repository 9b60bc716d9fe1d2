// Package codex reads the rollouts of Codex (CLI, desktop app, IDE extension,
// exec, SDKs): JSON lines below CODEX_HOME, plain or zstd, live or archived.
//
// A rollout tells most things twice: as response items, which the model sees,
// and as events, which the interface showed. The items are the main line; an
// event keeps its text only when no item says the same (twins.go). Files of
// forks and sub-agents begin with a copy of their parent (lineage.go). The facts
// of the format are those of formats.md §4 and lineage.md §3.
package codex

import (
	"os"
	"path/filepath"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/sqlitero"
)

// version is raised when the same bytes would read differently.
const version = 2

const (
	agentID = "codex"
	label   = "Codex"
)

// Reader reads Codex rollouts. What it keeps only saves work.
type Reader struct {
	open   *sqlitero.Cache // of the state database
	titles *titleCache
}

// New returns the reader of Codex rollouts.
func New() transcript.Reader { return Reader{open: &sqlitero.Cache{}, titles: &titleCache{}} }

// Agent implements transcript.Reader.
func (Reader) Agent() transcript.Agent { return transcript.Agent{ID: agentID, Label: label} }

// Version implements transcript.Reader.
func (Reader) Version() int { return version }

// Roots implements transcript.Reader: CODEX_HOME, else ~/.codex, and the
// configured folders, which may be such a home or a folder of rollouts.
func (Reader) Roots(env transcript.Env) []transcript.Root {
	home := env.Var("CODEX_HOME")
	if home == "" {
		home = filepath.Join(env.Home, ".codex")
	}
	roots := []transcript.Root{{Path: filepath.Clean(home), Kind: "home"}}
	for _, dir := range env.Extra {
		if dir = filepath.Clean(dir); dir != roots[0].Path {
			roots = append(roots, transcript.Root{Path: dir, Kind: "home", Configured: true})
		}
	}
	return roots
}

// ResumeArgs implements transcript.Reader.
func (Reader) ResumeArgs(sessionID string) []string {
	return []string{"codex", "resume", sessionID}
}

const (
	liveDir    = "sessions"
	archiveDir = "archived_sessions"
)

// places returns the folders of a root that hold rollouts, and the folder
// that holds the lists of titles. A configured root without the usual folders
// is taken for a folder of rollouts itself.
func places(root transcript.Root) (dirs []string, home string) {
	for _, name := range []string{liveDir, archiveDir} {
		dir := filepath.Join(root.Path, name)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 && root.Configured {
		return []string{root.Path}, filepath.Dir(root.Path)
	}
	return dirs, root.Path
}
