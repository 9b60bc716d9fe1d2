// Package pi reads the sessions of the Pi coding agent: JSON lines whose
// entries form a tree, of which one path is the conversation. All versions are
// read: v1 without ids, v2 and v3, and the v4 forms of the harness, with "kind"
// lines and with write batches. The facts are those of formats.md §10,
// lineage.md §4 and part B of the reference on Pi.
package pi

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// version is raised when the same bytes would read differently.
const version = 2

const (
	agentID = "pi"
	label   = "Pi"
)

// Reader reads Pi sessions. Its zero value is ready; it holds no state.
type Reader struct{}

// New returns the reader of Pi sessions.
func New() transcript.Reader { return Reader{} }

// Agent implements transcript.Reader.
func (Reader) Agent() transcript.Agent { return transcript.Agent{ID: agentID, Label: label} }

// Version implements transcript.Reader.
func (Reader) Version() int { return version }

// ResumeArgs implements transcript.Reader.
func (Reader) ResumeArgs(sessionID string) []string { return []string{"pi", "--session", sessionID} }

// Roots implements transcript.Reader. Pi writes to the first of
// PI_CODING_AGENT_SESSION_DIR, sessionDir of settings.json, and sessions below
// its folder (PI_CODING_AGENT_DIR, else ~/.pi/agent). The last is looked at in
// any case: it keeps what was written before another place was chosen.
func (Reader) Roots(env transcript.Env) []transcript.Root {
	agentDir := env.Var("PI_CODING_AGENT_DIR")
	if agentDir == "" {
		agentDir = filepath.Join(env.Home, ".pi", "agent")
	}
	var roots []transcript.Root
	add := func(dir string, configured bool) {
		if dir == "" {
			return
		}
		dir = filepath.Clean(dir)
		for _, r := range roots {
			if r.Path == dir {
				return
			}
		}
		roots = append(roots, transcript.Root{Path: dir, Kind: "tree", Configured: configured})
	}
	if dir := env.Var("PI_CODING_AGENT_SESSION_DIR"); dir != "" {
		add(dir, false)
	} else {
		add(settingsDir(env, agentDir), false)
	}
	add(filepath.Join(agentDir, "sessions"), false)
	for _, dir := range env.Extra {
		// A home of Pi, or the folder of sessions itself.
		add(transcript.FirstFolder(dir, filepath.Join("agent", "sessions"), "sessions"), true)
	}
	return roots
}

// maxSettings bounds how much of settings.json is looked at, in bytes.
const maxSettings = 1 << 20

func settingsDir(env transcript.Env, agentDir string) string {
	settings := jsonv.Parse(transcript.ReadSmall(filepath.Join(agentDir, "settings.json"), maxSettings))
	dir := settings.Get("sessionDir").Str()
	switch {
	case dir == "":
		return ""
	case dir == "~":
		return env.Home
	case strings.HasPrefix(dir, "~/") || strings.HasPrefix(dir, `~\`):
		return filepath.Join(env.Home, dir[2:])
	case filepath.IsAbs(dir):
		return dir
	}
	// A relative one is relative to each project Pi runs in: unknowable here.
	return ""
}

// depth of the folders per project below a root.
const depth = 2

// Discover implements transcript.Reader. A custom folder may be flat.
func (Reader) Discover(ctx context.Context, env transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) error {
	err := root.Walk(ctx, root.Path, depth, func(path string, info fs.FileInfo) error {
		stem, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
		if !ok {
			return nil
		}
		return yield(transcript.Source{
			Agent: agentID, Path: path, Root: root.Path, SessionID: fileID(stem),
			Size: info.Size(), ModTime: info.ModTime(), Signature: transcript.Signature(info),
		})
	}, report)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("look for Pi sessions: %w", err)
	}
	return err
}

// fileID reads the session's id from the stem of its file's name: what follows
// the time and the first underscore.
func fileID(stem string) string {
	if _, id, ok := strings.Cut(stem, "_"); ok && id != "" {
		return id
	}
	return stem
}
