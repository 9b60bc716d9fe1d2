// Package claude reads Claude Code's transcripts: one JSONL file for each
// session below <config>/projects/<folder>/, its sub-agents beside it or in
// <session>/subagents/. Facts about the format come from formats.md §3, the
// meaning of links and surfaces from lineage.md §2.
package claude

import (
	"hash/maphash"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
)

const (
	agentID = "claude"
	label   = "Claude Code"
	// version of the reader; raised when the same bytes would read differently.
	version = 3
	// rootKind is the usual layout: a folder of project folders.
	rootKind = "projects"
	// nestedKind is a folder in which such folders lie deeper down: Cowork and
	// the desktop app's local agents keep one for each of their machines.
	nestedKind = "nested"
)

// Reader reads Claude Code's transcripts. Its caches hold what was learned of
// sibling files (which copies which, which call started which sub-agent); they
// are bounded and only save work.
type Reader struct {
	families familyCache
	launches launchCache
}

// New returns a reader with empty caches.
func New() transcript.Reader {
	r := &Reader{}
	r.families.seed = maphash.MakeSeed()
	return r
}

// Agent implements transcript.Reader.
func (*Reader) Agent() transcript.Agent { return transcript.Agent{ID: agentID, Label: label} }

// Version implements transcript.Reader.
func (*Reader) Version() int { return version }

// ResumeArgs implements transcript.Reader. A sub-agent has no command of its
// own: it is continued through the session that started it.
func (*Reader) ResumeArgs(sessionID string) []string {
	return []string{"claude", "--resume", mainSession(sessionID)}
}

// ResumeFolder implements transcript.Homebound: a session is looked for in the
// project folder that is named after the folder at hand. That is mostly the one
// it was started in; another when the project was moved, and its transcripts were.
func (*Reader) ResumeFolder(path string, h *transcript.Header) string {
	name := filepath.Base(placeOf(path).projectDir())
	dirs := append([]string{h.LastCWD, h.CWD}, h.CWDs...)
	for len(dirs) > 0 {
		var above []string
		for _, dir := range dirs {
			if namesProject(dir, name) {
				return dir
			}
			// It went on in a worktree, or in a folder inside.
			if i := strings.LastIndexAny(dir, `/\`); i > 0 {
				above = append(above, dir[:i])
			}
		}
		dirs = above
	}
	// A project folder that was named by hand, or by a version before.
	isFolder := func(dir string) bool {
		info, err := os.Stat(dir)
		return err == nil && info.IsDir()
	}
	if !isFolder(h.CWD) && isFolder(h.LastCWD) {
		return h.LastCWD
	}
	return h.CWD
}

// Roots implements transcript.Reader: CLAUDE_CONFIG_DIR as the agent itself
// honours it, else ~/.claude and the folder that releases of mid-2025 used.
func (*Reader) Roots(env transcript.Env) []transcript.Root {
	var roots []transcript.Root
	seen := map[string]bool{}
	add := func(path string, configured bool) {
		path = filepath.Clean(path)
		if !seen[path] {
			seen[path] = true
			roots = append(roots, transcript.Root{Path: path, Kind: rootKind, Configured: configured})
		}
	}
	if dir := env.Var("CLAUDE_CONFIG_DIR"); dir != "" {
		add(filepath.Join(dir, "projects"), false)
	} else if env.Home != "" {
		add(filepath.Join(env.Home, ".claude", "projects"), false)
		xdg := env.Var("XDG_CONFIG_HOME")
		if xdg == "" {
			xdg = filepath.Join(env.Home, ".config")
		}
		add(filepath.Join(xdg, "claude", "projects"), false)
	}
	if dir := desktopFolder(env); dir != "" {
		dir = filepath.Join(dir, "Claude", "local-agent-mode-sessions")
		roots = append(roots, transcript.Root{Path: dir, Kind: nestedKind})
	}
	for _, extra := range env.Extra {
		// A home folder, a configuration folder, or the projects folder itself.
		add(transcript.FirstFolder(extra, "projects", filepath.Join(".claude", "projects")), true)
	}
	return roots
}

// desktopFolder is where desktop applications keep their data, "" if unknown.
func desktopFolder(env transcript.Env) string {
	switch {
	case env.GOOS == "windows":
		return env.Var("APPDATA")
	case env.Home == "":
		return ""
	case env.GOOS == "darwin":
		return filepath.Join(env.Home, "Library", "Application Support")
	}
	if xdg := env.Var("XDG_CONFIG_HOME"); xdg != "" {
		return xdg
	}
	return filepath.Join(env.Home, ".config")
}
