// Package vscode reads the chats of GitHub Copilot in VS Code and in editors
// built from it: documents (.json) and mutation logs (.jsonl) per session, and
// the second transcripts that the Copilot extension writes in the form of
// Copilot CLI. Facts: formats.md §8.
package vscode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/copilot"
	"github.com/sessionls/sessionls/index/transcript/sqlitero"
)

const (
	agentID = "vscode"
	label   = "VS Code Copilot Chat"
	// version is raised when the same bytes would read differently.
	version = 2
)

// Kinds of file: the log wins over the document it was made from, both over the
// extension's own transcript, anything over an empty session (formats.md §33).
const (
	kindEmpty = iota
	kindTranscript
	kindDocument
	kindLog
	kinds
)

// class ranks the copies of a session by kind, and those of a kind by time: a
// window that gets another folder takes copies along and goes on with them, and
// the ones that it left may be the larger. It is compared before their size.
func class(kind int, written time.Time) int {
	const each = math.MaxInt / kinds
	return kind*each + int(min(max(written.UnixMilli(), 0), each-1))
}

type reader struct {
	stores *sqlitero.Cache // the databases with the titles
}

// New returns the reader of VS Code's Copilot chats.
func New() transcript.Reader { return reader{stores: &sqlitero.Cache{}} }

func (reader) Agent() transcript.Agent { return transcript.Agent{ID: agentID, Label: label} }

func (reader) Version() int { return version }

// ResumeArgs is nil: a chat is continued in the editor.
func (reader) ResumeArgs(string) []string { return nil }

// Discover lists the chats of one User folder. A configured root may be a home
// folder, a user data folder, its User folder, or a folder of chats.
func (reader) Discover(ctx context.Context, env transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) error {
	w := &walk{ctx: ctx, root: root, seen: transcript.Seen{}, yield: yield, report: report}
	if root.Kind != kindExtra {
		return w.user(root.Path)
	}
	if _, err := os.ReadDir(root.Path); err != nil {
		return fmt.Errorf("list VS Code chats: %w", err)
	}
	dirs := []string{root.Path, filepath.Join(root.Path, "User")}
	dirs = append(dirs, userDirs(root.Path, settings(root.Path, env.GOOS))...)
	for _, dir := range dirs {
		if err := w.user(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if w.found {
		return nil
	}
	return w.chats(root.Path, hint{})
}

type walk struct {
	ctx    context.Context
	root   transcript.Root
	seen   transcript.Seen
	found  bool // one of the known folders exists
	yield  func(transcript.Source) error
	report func(string, error)
}

// user lists a User folder and its profiles. Its error is fs.ErrNotExist only
// when the folder itself is missing.
func (w *walk) user(dir string) error {
	entries, err := w.root.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list VS Code chats: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		var err error
		switch e.Name() {
		case "workspaceStorage":
			err = w.workspaces(path)
		case "globalStorage":
			err = w.global(path)
		case "profiles":
			for _, p := range w.list(path) {
				if err = w.workspaces(filepath.Join(path, p, "workspaceStorage")); err != nil {
					return err
				}
				if err = w.global(filepath.Join(path, p, "globalStorage")); err != nil {
					return err
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// list names the entries of a folder that may be missing.
func (w *walk) list(dir string) []string {
	entries, err := w.root.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.report(dir, err)
		}
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

func (w *walk) workspaces(dir string) error {
	for _, name := range w.list(dir) {
		w.found = true
		if err := w.ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() || !w.seen.First(path, info) {
			continue
		}
		var h *hint
		for _, sub := range w.list(path) {
			var f func(string, hint) error
			switch {
			case sub == "chatSessions":
				f = w.chats
			case strings.EqualFold(sub, chatExtension):
				sub, f = filepath.Join(sub, "transcripts"), w.transcripts
			default:
				continue
			}
			if h == nil {
				got := workspaceHint(path)
				h = &got
			}
			if err := f(filepath.Join(path, sub), *h); err != nil {
				return err
			}
		}
	}
	return nil
}

// global lists the chats of windows without a folder, and of those on their
// way to another window.
func (w *walk) global(dir string) error {
	h := hint{Store: filepath.Join(dir, "state.vscdb")}
	for _, sub := range w.list(dir) {
		w.found = true
		var err error
		switch {
		case sub == "emptyWindowChatSessions", sub == "transferredChatSessions":
			err = w.chats(filepath.Join(dir, sub), h)
		case strings.EqualFold(sub, chatExtension):
			err = w.transcripts(filepath.Join(dir, sub, "transcripts"), h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) chats(dir string, h hint) error {
	return w.files(dir, h, func(ext string) int {
		switch ext {
		case ".json":
			return kindDocument
		case ".jsonl":
			return kindLog
		}
		return kindEmpty
	})
}

func (w *walk) transcripts(dir string, h hint) error {
	return w.files(dir, h, func(ext string) int {
		if ext == ".jsonl" {
			return kindTranscript
		}
		return kindEmpty
	})
}

// files lists one folder; kindOf says what a file is by its extension,
// kindEmpty for one that is no transcript.
func (w *walk) files(dir string, h hint, kindOf func(ext string) int) error {
	b, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("list VS Code chats: %w", err)
	}
	for _, name := range w.list(dir) {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		ext := filepath.Ext(name)
		kind := kindOf(ext)
		if kind == kindEmpty {
			continue
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				w.report(path, err)
			}
			continue
		}
		if !info.Mode().IsRegular() || !w.seen.First(path, info) {
			continue
		}
		if empty(path, info.Size()) {
			kind = kindEmpty
		}
		if err := w.yield(transcript.Source{
			Agent: agentID, Path: path, Root: w.root.Path, SessionID: strings.TrimSuffix(name, ext), Class: class(kind, info.ModTime()),
			Size: info.Size(), ModTime: info.ModTime(),
			Signature: transcript.Signature(info) + "|" + strings.Join(h.Folders, "|") + "|" + h.Remote,
			Hint:      string(b),
		}); err != nil {
			return err
		}
	}
	return nil
}

// emptySize is the size up to which discovery looks into a file: VS Code
// writes a session of some hundred bytes for every window that shows the chat.
const emptySize = 8 << 10

// empty reports whether a file certainly has no prompt.
func empty(path string, size int64) bool {
	if size > emptySize {
		return false
	}
	text := string(transcript.ReadSmall(path, maxConfig))
	return !strings.Contains(text, `"requestId"`) && !strings.Contains(text, `"message"`) && !strings.Contains(text, `user.message`)
}

func (rd reader) Read(ctx context.Context, env transcript.Env, src transcript.Source, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	var h hint
	_ = json.Unmarshal([]byte(src.Hint), &h) // an empty hint only means less is known
	id := src.SessionID
	if id == "" {
		id = strings.TrimSuffix(filepath.Base(src.Path), filepath.Ext(src.Path))
	}
	if isTranscript(src.Path) {
		return copilot.ReadEvents(ctx, env, src.Path, copilot.Options{
			SessionID: id, Label: label, Version: version, Format: "vscode-transcript", Entrypoint: "ide",
			Finish: func(hd *transcript.Header) {
				h.apply(hd)
				if hd.TitleSource != transcript.TitleAgent {
					hd.SetTitle(storedTitle(ctx, rd.stores, h.Store, id), transcript.TitleAgent)
				}
			},
		}, prev, out)
	}
	f, err := transcript.OpenFile(src.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := out.Begin(false); err != nil {
		return nil, err
	}
	cp := &transcript.Checkpoint{Version: version}
	t := newTree(ctx, f)
	var root *node
	if filepath.Ext(src.Path) == ".jsonl" {
		root, err = readLog(ctx, t, f, cp)
	} else {
		root, err = readDocument(ctx, t, f, cp)
	}
	if err != nil {
		return nil, err
	}
	if root == nil || root.kind != '{' {
		return cp, transcript.ErrNoSession
	}
	// Reading out what is known needs some values more.
	t.nodes = max(t.nodes, maxNodes/4)
	c := &chat{t: t, env: env, out: out, size: f.Size, hd: transcript.Header{
		SessionID: id, Relation: transcript.RelationRoot, InheritedKnown: true, Entrypoint: "ide",
	}}
	c.links = newLinks(out)
	h.apply(&c.hd)
	if err := c.session(root, filepath.Ext(src.Path)); err != nil {
		return nil, err
	}
	if !c.hd.Conversation {
		return cp, transcript.ErrNoSession
	}
	if t.large && cp.Partial == "" {
		cp.Partial = errLarge.Error()
	}
	if c.hd.TitleSource != transcript.TitleAgent {
		c.hd.SetTitle(storedTitle(ctx, rd.stores, h.Store, id), transcript.TitleAgent)
	}
	c.hd.Finish(label)
	if err := out.Header(&c.hd); err != nil {
		return nil, err
	}
	out.Progress(f.Size)
	return cp, nil
}

// isTranscript tells the extension's transcripts from VS Code's own logs, by
// the folder both always lie in.
func isTranscript(path string) bool { return filepath.Base(filepath.Dir(path)) == "transcripts" }

// readDocument finds the parts of a whole-file session.
func readDocument(ctx context.Context, t *tree, f *transcript.File, cp *transcript.Checkpoint) (*node, error) {
	root, rest, err := t.scan(0, f.Size, sessionDepth, "requests")
	cp.Offset = f.Size
	switch {
	case err == nil && !rest:
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errTorn):
		cp.Torn = true
	case errors.Is(err, errLarge):
		cp.Partial = err.Error()
	default:
		cp.Bad, cp.Partial = 1, "the document is damaged"
	}
	return root, nil
}
