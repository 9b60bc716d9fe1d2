// Package copilot reads the transcripts of GitHub Copilot CLI: a log of events
// per session below ~/.copilot/session-state, and the whole-file JSON of its
// first releases. Facts: formats.md §7; the event names and their fields are
// those of the vendor's published event schema. VS Code writes the same events
// (package vscode reads them through ReadEvents).
package copilot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

const (
	agentID = "copilot"
	label   = "Copilot CLI"
	// version is raised when the same bytes would read differently.
	version = 2
)

// Kinds of root.
const (
	kindState   = "session-state"
	kindHistory = "history-session-state"
	kindExtra   = "configured"
)

// Classes of source: the directory wins over the flat file of the same
// session, both over the JSON of the first releases (formats.md §33).
const (
	classHistory = iota
	classFlat
	classDir
)

// eventsFile is the log inside a session's directory.
const eventsFile = "events.jsonl"

type reader struct{}

// New returns the reader of Copilot CLI's transcripts.
func New() transcript.Reader { return reader{} }

func (reader) Agent() transcript.Agent { return transcript.Agent{ID: agentID, Label: label} }

func (reader) Version() int { return version }

func (reader) ResumeArgs(sessionID string) []string {
	if strings.Contains(sessionID, transcript.SubagentMark) {
		return nil // a sub-agent cannot be resumed by itself
	}
	return []string{"copilot", "--resume=" + sessionID}
}

// Roots honours COPILOT_HOME, which replaces ~/.copilot.
func (reader) Roots(env transcript.Env) []transcript.Root {
	home := env.Var("COPILOT_HOME")
	if home == "" {
		home = filepath.Join(env.Home, ".copilot")
	}
	roots := []transcript.Root{
		{Path: filepath.Join(home, kindState), Kind: kindState},
		{Path: filepath.Join(home, kindHistory), Kind: kindHistory},
	}
	for _, dir := range env.Extra {
		roots = append(roots, transcript.Root{Path: dir, Kind: kindExtra, Configured: true})
	}
	return roots
}

// Discover lists the sessions of one root. A configured root may be a home
// folder, a .copilot folder or a session-state folder.
func (reader) Discover(ctx context.Context, env transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) error {
	w := walk{root: root, seen: transcript.Seen{}, yield: yield, report: report}
	if root.Kind != kindExtra {
		return w.dir(ctx, root.Path, root.Kind == kindHistory)
	}
	found := false
	for _, base := range []string{root.Path, filepath.Join(root.Path, ".copilot")} {
		for _, kind := range []string{kindState, kindHistory} {
			err := w.dir(ctx, filepath.Join(base, kind), kind == kindHistory)
			switch {
			case err == nil:
				found = true
			case !errors.Is(err, fs.ErrNotExist):
				return err
			}
		}
	}
	if found {
		return nil
	}
	return w.dir(ctx, root.Path, filepath.Base(root.Path) == kindHistory)
}

type walk struct {
	root   transcript.Root
	seen   transcript.Seen
	yield  func(transcript.Source) error
	report func(string, error)
}

func (w *walk) dir(ctx context.Context, dir string, history bool) error {
	entries, err := w.root.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list Copilot sessions: %w", err)
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		name, path := e.Name(), filepath.Join(dir, e.Name())
		var src transcript.Source
		ext := filepath.Ext(name)
		switch {
		case ext == ".jsonl", ext == ".json" && history:
			src = transcript.Source{Path: path, Class: classFlat, SessionID: idFromName(strings.TrimSuffix(name, ext))}
			if history {
				src.Class = classHistory
			}
		case e.IsDir() || e.Type()&fs.ModeSymlink != 0:
			src = transcript.Source{Path: filepath.Join(path, eventsFile), Class: classDir, SessionID: idFromName(name)}
		default:
			continue
		}
		if err := w.source(src); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) source(src transcript.Source) error {
	info, err := os.Stat(src.Path)
	if err != nil {
		// A directory without a log (a session that was never used) is none.
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			w.report(src.Path, err)
		}
		return nil
	}
	if !info.Mode().IsRegular() || !w.seen.First(src.Path, info) {
		return nil
	}
	src.Agent, src.Root, src.Size, src.ModTime = agentID, w.root.Path, info.Size(), info.ModTime()
	src.Signature = transcript.Signature(info)
	if src.Class == classDir {
		src.Signature = transcript.Signature(info, workspaceFile(src.Path))
	}
	if src.SessionID == "" {
		src.SessionID = PeekID(src.Path)
	}
	return w.yield(src)
}

// idFromName returns the session id that a file or folder name holds: the name
// itself when it is a UUID, the UUID in session_<uuid>_<time>. Other names say
// nothing reliable ("<uuid> copy").
func idFromName(name string) string {
	if isUUID(name) {
		return name
	}
	if rest, ok := strings.CutPrefix(name, "session_"); ok && len(rest) >= 36 && isUUID(rest[:36]) {
		return rest[:36]
	}
	return ""
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return true
}

// PeekID returns the session id recorded in the first bytes of a log, "" if
// there is none.
func PeekID(path string) string {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 8<<10)
	n, _ := io.ReadFull(f, head)
	head = bytes.TrimLeft(head[:n], "\x00 \t\r\n\ufeff")
	if i := bytes.IndexByte(head, '\n'); i > 0 {
		// A JSON document has line breaks inside; its id stands at the top.
		if line := jsonv.Value(head[:i]); jsonv.Valid(line) {
			head = head[:i]
		}
	}
	v := jsonv.Value(head)
	if id := v.Get("data", "sessionId").Str(); id != "" {
		return id
	}
	return v.Get("sessionId").Str()
}

func (reader) Read(ctx context.Context, env transcript.Env, src transcript.Source, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	id := src.SessionID
	if id == "" {
		// A name that tells nothing and no id inside (a crash before
		// session.start): the name is still the only handle.
		name := filepath.Base(src.Path)
		if name == eventsFile {
			name = filepath.Base(filepath.Dir(src.Path))
		}
		id = strings.TrimSuffix(name, filepath.Ext(name))
	}
	if filepath.Ext(src.Path) == ".json" {
		return readHistory(ctx, env, src.Path, id, out)
	}
	opt := Options{SessionID: id, Label: label, Version: version, Format: "copilot-events", Entrypoint: "cli"}
	if src.Class == classDir {
		ws := readWorkspace(workspaceFile(src.Path))
		opt.Finish = ws.apply
	}
	return ReadEvents(ctx, env, src.Path, opt, prev, out)
}
