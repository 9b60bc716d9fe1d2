// Package gemini reads the chats of Gemini CLI: whole-file JSON of the first
// releases and the JSONL logs that replaced it, below ~/.gemini/tmp/<project>.
// Facts: formats.md §5.
package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

const (
	agentID = "gemini"
	label   = "Gemini CLI"
	// version is raised when the same bytes would read differently.
	version = 2
)

// Kinds of root.
const (
	kindTmp   = "tmp"
	kindExtra = "configured"
)

// Parts of a source's class. A file with messages wins over one that a resume
// left with its metadata only, the readable folder over the hashed one it was
// migrated from, the newer form over the older (formats.md §33).
const (
	classJSONL   = 1
	classNamed   = 2
	classContent = 4
)

type reader struct{}

// New returns the reader of Gemini CLI's chats.
func New() transcript.Reader { return reader{} }

func (reader) Agent() transcript.Agent { return transcript.Agent{ID: agentID, Label: label} }

func (reader) Version() int { return version }

func (reader) ResumeArgs(sessionID string) []string {
	if strings.Contains(sessionID, transcript.SubagentMark) {
		return nil
	}
	return []string{"gemini", "--resume", sessionID}
}

// ResumeFolder implements transcript.Homebound: a session is continued in its
// project's folder.
func (reader) ResumeFolder(_ string, h *transcript.Header) string { return h.CWD }

// Roots honours GEMINI_CLI_HOME, the folder that contains .gemini.
func (reader) Roots(env transcript.Env) []transcript.Root {
	home := env.Var("GEMINI_CLI_HOME")
	if home == "" {
		home = env.Home
	}
	roots := []transcript.Root{{Path: filepath.Join(home, ".gemini", "tmp"), Kind: kindTmp}}
	for _, dir := range env.Extra {
		roots = append(roots, transcript.Root{Path: dir, Kind: kindExtra, Configured: true})
	}
	return roots
}

// hint is what discovery learned from other files than the chat itself.
type hint struct {
	CWD    string `json:"cwd,omitempty"`
	Hash   string `json:"hash,omitempty"`   // sha256 of the project's path, if the folder is named by it
	Parent string `json:"parent,omitempty"` // session id, for a sub-agent
}

// Discover lists the chats of every project folder below a root. A configured
// root may be a home folder, a .gemini folder or its tmp folder.
func (reader) Discover(ctx context.Context, env transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) error {
	tmp := chatsFolder(root)
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return fmt.Errorf("list Gemini projects: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 {
			names = append(names, e.Name())
		}
	}
	w := walk{root: root, seen: transcript.Seen{}, yield: yield, report: report}
	// A project may be told by the hash of a path that another's file names, so
	// the maps are read whole even when one of them changed.
	known := knownProjects(filepath.Dir(tmp), tmp, names)
	for _, name := range names {
		if dir := filepath.Join(tmp, name); root.Only != "" && !transcript.Within(dir, root.Only) && !transcript.Within(root.Only, dir) {
			continue
		}
		h := hint{CWD: known.resolve(name)}
		if isHash(name) {
			h.Hash = name
		}
		if err := w.chats(ctx, filepath.Join(tmp, name, "chats"), h, true); err != nil {
			return err
		}
	}
	return nil
}

// chatsFolder is the folder of projects below a root.
func chatsFolder(root transcript.Root) string {
	if root.Kind == kindExtra {
		return transcript.FirstFolder(root.Path, filepath.Join(".gemini", "tmp"), "tmp")
	}
	return root.Path
}

type walk struct {
	root   transcript.Root
	seen   transcript.Seen
	yield  func(transcript.Source) error
	report func(string, error)
}

// chats lists one folder of chats; folders inside it hold the sub-agents of
// the session they are named after.
func (w *walk) chats(ctx context.Context, dir string, h hint, deeper bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err == nil && (!info.IsDir() || !w.seen.First(dir, info)) {
		return nil
	}
	var entries []fs.DirEntry
	if err == nil {
		entries, err = w.root.ReadDir(dir)
	}
	if err != nil {
		// Most folders below tmp belong to other features and have no chats.
		if !errors.Is(err, fs.ErrNotExist) {
			w.report(dir, err)
		}
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil:
			if !errors.Is(err, fs.ErrNotExist) {
				w.report(path, err)
			}
		case info.IsDir() && deeper:
			sub := h
			sub.Parent = e.Name()
			if err := w.chats(ctx, path, sub, false); err != nil {
				return err
			}
		case info.Mode().IsRegular() && isChat(e.Name()) && w.seen.First(path, info):
			if err := w.file(path, info, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// isChat leaves out files the CLI set aside (name.unreadable-<time>) or is
// just writing (.tmp).
func isChat(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".json" || ext == ".jsonl") && !strings.Contains(name, ".unreadable-") && !strings.Contains(name, ".tmp")
}

func (w *walk) file(path string, info fs.FileInfo, h hint) error {
	id, content := peek(path, info.Size())
	if h.Parent != "" {
		if id == "" {
			id = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		}
		id = h.Parent + transcript.SubagentMark + id
	}
	class := 0
	if content {
		class |= classContent
	}
	if h.Hash == "" {
		class |= classNamed
	}
	if filepath.Ext(path) == ".jsonl" {
		class |= classJSONL
	}
	b, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("list Gemini chats: %w", err)
	}
	return w.yield(transcript.Source{
		Agent: agentID, Path: path, Root: w.root.Path, SessionID: id, Class: class, Size: info.Size(), ModTime: info.ModTime(),
		// The maps of projects change with every new project; only what they
		// say about this one makes the chat read differently.
		Signature: transcript.Signature(info) + "|" + h.CWD,
		Hint:      string(b),
	})
}

// peekSize is how much of a file discovery looks at.
const peekSize = 8 << 10

// peek returns the session id at the head of a file and whether it may hold
// messages: false only for a small file that certainly has none.
func peek(path string, size int64) (id string, content bool) {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return "", true
	}
	defer f.Close()
	b := make([]byte, peekSize)
	n, _ := io.ReadFull(f, b)
	b = bytes.TrimLeft(b[:n], "\x00 \t\r\n\ufeff")
	content = size > peekSize
	if filepath.Ext(path) == ".json" {
		v := jsonv.Value(b)
		v.Get("messages").Elems(func(_ int, m jsonv.Value) bool {
			content = content || spoken(m.Get("type").Str())
			return !content
		})
		return v.Get("sessionId").Str(), content
	}
	for line := range bytes.Lines(b) {
		v := jsonv.Parse(line)
		if id == "" {
			id = v.Get("sessionId").Str()
		}
		content = content || spoken(v.Get("type").Str()) || v.Get("$set", "messages").Exists()
		if content && id != "" {
			break
		}
	}
	return id, content
}

// spoken tells messages of the conversation from notices.
func spoken(kind string) bool { return kind == "user" || kind == "gemini" }

func (reader) Read(ctx context.Context, env transcript.Env, src transcript.Source, _ *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	f, err := transcript.OpenFile(src.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var h hint
	_ = json.Unmarshal([]byte(src.Hint), &h) // an empty hint only means less is known
	c := newChat(env, src, h)
	c.tracer, _ = out.(transcript.Tracer)
	if err := out.Begin(false); err != nil {
		return nil, err
	}
	cp := &transcript.Checkpoint{Version: version}
	if filepath.Ext(src.Path) == ".json" {
		err = c.document(ctx, f, cp, out)
	} else {
		err = c.replay(ctx, f, cp, out)
	}
	if err != nil {
		return nil, err
	}
	if err := c.finish(out); err != nil {
		return cp, err
	}
	out.Progress(f.Size)
	return cp, nil
}
