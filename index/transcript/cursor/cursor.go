// Package cursor reads the conversations of Cursor (formats.md §9): those of the
// editor, in its stores of keys and values, one for all windows and one for each
// of them; the transcripts that its agent and the command line tool leave below
// ~/.cursor/projects; and the stores that the tool keeps for each chat.
//
// A conversation may be in several of them under one id. It is then read from
// where most of it is: the store, or the transcript when the store has lost it.
//
// One message is one event. In the editor's store a call and its result are one
// record and so one event, and what the model thought is a record of its own,
// without text. Messages that a person took back by asking anew are in no list
// any more; they are shadowed.
package cursor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/sqlitero"
)

const (
	agentID = "cursor"
	label   = "Cursor"
	// version is raised when the same bytes would read differently.
	version = 1
)

// Classes of source, of the copies of one conversation (formats.md §33): a store
// wins over a transcript, which has no results of calls, unless most of what it
// lists is gone.
const (
	classEmpty = iota
	classTorn
	classText
	classLines
	classStore
	classComposer
)

// Forms of conversations, as Header.Format.
const (
	formatComposer = "composer"
	formatTab      = "chat-tab"
	formatLines    = "transcript-jsonl"
	formatText     = "transcript-txt"
	formatStore    = "chat-store"
)

// reader keeps what it learned of the stores while it runs: reading it again at
// every change would cost as much as they are large.
type reader struct {
	stores *sqlitero.Cache

	mu   sync.Mutex
	seen map[string]*learned // by path of the store
}

// New returns the reader.
func New() transcript.Reader {
	return &reader{stores: &sqlitero.Cache{}, seen: map[string]*learned{}}
}

func (*reader) Agent() transcript.Agent { return transcript.Agent{ID: agentID, Label: label} }

func (*reader) Version() int { return version }

// ResumeArgs implements transcript.Reader; see Resumes.
func (*reader) ResumeArgs(sessionID string) []string {
	if strings.Contains(sessionID, transcript.SubagentMark) {
		return nil // a sub-agent cannot be continued by itself
	}
	return []string{"cursor-agent", "--resume", sessionID}
}

// Resumes implements transcript.Selective: the tool continues what it has a store
// of. The editor's conversations are continued in the editor.
func (*reader) Resumes(format string) bool { return format == formatStore }

// ResumeFolder implements transcript.Homebound: the tool looks for a chat among
// those of the folder it is started in, which it keeps under the folder's hash.
func (*reader) ResumeFolder(path string, h *transcript.Header) string {
	hash := filepath.Base(filepath.Dir(filepath.Dir(path)))
	for _, dir := range h.CWDs {
		if hashOf(dir) == hash {
			return dir
		}
	}
	return h.CWD
}

// hint is what discovery learned from elsewhere than the source itself.
type hint struct {
	Folders  []string `json:"folders,omitempty"`
	Remote   string   `json:"remote,omitempty"`  // address of a folder on another machine
	Project  string   `json:"project,omitempty"` // name that stands for the folder, if that is not known
	Hash     string   `json:"hash,omitempty"`    // the same for chats
	Name     string   `json:"name,omitempty"`    // a title
	Archived bool     `json:"archived,omitempty"`

	// Of a conversation that another one started or that was copied from it.
	Parent   string              `json:"parent,omitempty"` // session id
	Origin   string              `json:"origin,omitempty"` // its id in the store
	Relation transcript.Relation `json:"relation,omitempty"`
	Evidence transcript.Evidence `json:"evidence,omitempty"`
	Call     string              `json:"call,omitempty"` // id of the call that started it
	Depth    int                 `json:"depth,omitempty"`
}

func (h *hint) encode() string {
	b, err := json.Marshal(h)
	if err != nil {
		return ""
	}
	return string(b)
}

func decode(s string) (h hint) {
	_ = json.Unmarshal([]byte(s), &h) // an empty one only means that less is known
	return h
}

// walk is one discovery of a root.
type walk struct {
	rd      *reader
	ctx     context.Context
	env     transcript.Env
	root    transcript.Root
	seen    transcript.Seen
	folders folders
	yield   func(transcript.Source) error
	report  func(string, error)
}

// Discover lists the conversations below a root.
func (rd *reader) Discover(ctx context.Context, env transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) error {
	entries, err := root.ReadDir(root.Path)
	if err != nil {
		return fmt.Errorf("look for Cursor's conversations: %w", err)
	}
	w := rd.walk(ctx, env, root, yield, report)
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(root.Path, e.Name())
		var err error
		switch root.Kind {
		case kindUser:
			err = w.user(path, e.Name())
		case kindProjects:
			err = w.project(path)
		case kindChats:
			err = w.chats(path)
		case kindACP:
			err = w.chat(path, "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (rd *reader) walk(ctx context.Context, env transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) *walk {
	w := &walk{rd: rd, ctx: ctx, env: env, root: root, seen: transcript.Seen{}, yield: yield, report: report}
	w.folders.env = env
	for _, r := range rd.Roots(env) {
		if r.Kind == kindProjects {
			w.folders.projects = append(w.folders.projects, r.Path)
		}
	}
	return w
}

// list names the entries of a folder that may be missing.
func (w *walk) list(dir string) []string {
	entries, err := w.root.ReadDir(dir)
	if err != nil {
		if !absent(err) && !isFile(dir) {
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

// absent reports whether an error says that something is not there, or that a
// file lies where a folder on the way to it would.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// file looks at a file; nil for one that is none, is not there or was met before.
func (w *walk) file(path string) fs.FileInfo {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		if !absent(err) {
			w.report(path, err)
		}
		return nil
	case !info.Mode().IsRegular(), !w.seen.First(path, info):
		return nil
	}
	return info
}

// user lists what a User folder, or a profile in it, has in one of its folders.
func (w *walk) user(path, name string) error {
	switch name {
	case globalFolder:
		return w.store(filepath.Join(path, stateFile), "")
	case workspaceFolder:
		for _, name := range w.list(path) {
			dir := filepath.Join(path, name)
			if err := w.store(filepath.Join(dir, stateFile), dir); err != nil {
				return err
			}
		}
	case profilesFolder:
		for _, profile := range w.list(path) {
			for _, name := range w.list(filepath.Join(path, profile)) {
				if name == profilesFolder {
					continue
				}
				if err := w.user(filepath.Join(path, profile, name), name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Read implements transcript.Reader.
func (rd *reader) Read(ctx context.Context, env transcript.Env, src transcript.Source, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	h := decode(src.Hint)
	switch filepath.Ext(src.Path) {
	case ".jsonl":
		return readLines(ctx, env, src, h, prev, out)
	case ".txt":
		return readText(ctx, env, src, h, out)
	case ".db":
		return rd.readChat(ctx, env, src, h, out)
	}
	return rd.readState(ctx, env, src, h, out)
}
