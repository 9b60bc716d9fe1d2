// Package cline reads the conversations of Cline (formats.md §12): the sessions of
// its command line tool and newer hosts, documents of messages below
// ~/.cline/data/sessions, and the tasks of its extension, a folder each, in the
// storage of an editor or below ~/.cline/data.
//
// A task has two lists: what the person saw, with times, and what the model was
// sent, with whole results of calls. An entry of the first is one event; what it has not of
// a result is taken from the second, so that nothing is there twice. A task that has lost the
// first is read from the second. All of these files are written anew with every
// message, so that a source is always read whole.
package cline

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
)

const (
	agentID = "cline"
	label   = "Cline"
	// version is raised when the same bytes would read differently.
	version = 1
)

// Classes of source, of the copies of one conversation: a session over a task
// that was made one, what was shown over what was sent.
const (
	classEmpty = iota
	classSent
	classShown
	classSession
)

// Forms of conversations, as Header.Format.
const (
	formatSession = "session"
	formatTask    = "task"
	formatSent    = "task-api"
)

// Files and folders below the roots.
const (
	storageFolder  = "globalStorage"
	profilesFolder = "profiles"
	tasksFolder    = "tasks"
	stateFolder    = "state"
	historyFile    = "taskHistory.json"
	shownFile      = "ui_messages.json"
	oldShownFile   = "claude_messages.json"
	sentFile       = "api_conversation_history.json"
	metadataFile   = "task_metadata.json"
	messagesEnd    = ".messages.json"
)

// reader remembers the histories of tasks as they were when all tasks were looked at:
// they are written with every message, and hardly ever say anything new.
type reader struct {
	mu    sync.Mutex
	known map[string]map[string]hint // by path of the history, by task
}

// New returns the reader.
func New() transcript.Reader { return &reader{known: map[string]map[string]hint{}} }

func (*reader) Agent() transcript.Agent { return transcript.Agent{ID: agentID, Label: label} }

func (*reader) Version() int { return version }

// ResumeArgs implements transcript.Reader; see Resumes.
func (*reader) ResumeArgs(sessionID string) []string {
	if strings.Contains(sessionID, transcript.SubagentMark) {
		return nil // a sub-agent cannot be continued by itself
	}
	return []string{"cline", "--id", sessionID}
}

// Resumes implements transcript.Selective: the tool knows sessions; a task is
// continued in the editor.
func (*reader) Resumes(format string) bool { return format == formatSession }

// ResumeFolder implements transcript.Homebound: where the session was started.
func (*reader) ResumeFolder(_ string, h *transcript.Header) string { return h.CWD }

// hint is what the history of tasks says of one.
type hint struct {
	CWD   string `json:"cwd,omitempty"`
	Model string `json:"model,omitempty"`
}

// walk is one discovery of a root.
type walk struct {
	rd     *reader
	ctx    context.Context
	root   transcript.Root
	seen   transcript.Seen
	yield  func(transcript.Source) error
	report func(string, error)
}

// Discover lists the sessions or tasks below a root.
func (rd *reader) Discover(ctx context.Context, _ transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) error {
	if _, err := root.ReadDir(root.Path); err != nil {
		return fmt.Errorf("look for Cline's conversations: %w", err)
	}
	w := &walk{rd: rd, ctx: ctx, root: root, seen: transcript.Seen{}, yield: yield, report: report}
	switch root.Kind {
	case kindSessions:
		return w.sessions(root.Path)
	case kindUser:
		return w.user(root.Path)
	}
	return w.storage(root.Path)
}

// list names the entries of a folder that may be missing.
func (w *walk) list(dir string) []string {
	entries, err := w.root.ReadDir(dir)
	if err != nil {
		if !absent(err) {
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

// user lists what a User folder, and each profile in it, has of the extension.
func (w *walk) user(dir string) error {
	for _, name := range w.list(dir) {
		path := filepath.Join(dir, name)
		switch name {
		case storageFolder:
			for _, extension := range w.list(path) {
				if !isExtension(extension) {
					continue
				}
				if err := w.storage(filepath.Join(path, extension)); err != nil {
					return err
				}
			}
		case profilesFolder:
			if filepath.Base(filepath.Dir(dir)) == profilesFolder {
				continue // a profile has none
			}
			for _, profile := range w.list(path) {
				if err := w.user(filepath.Join(path, profile)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// storage lists the tasks of an extension.
func (w *walk) storage(dir string) error {
	tasks := filepath.Join(dir, tasksFolder)
	names := w.list(tasks)
	if len(names) == 0 {
		return nil
	}
	history := filepath.Join(dir, stateFolder, historyFile)
	known, err := readHistory(w.ctx, history)
	if err != nil {
		return err
	}
	if w.root.Only == "" || transcript.Within(w.root.Only, tasks) {
		w.rd.remember(history, known)
	}
	for _, name := range names {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.task(filepath.Join(tasks, name), name, known[name]); err != nil {
			return err
		}
	}
	return nil
}

// task lists one folder. What was shown is the source, what was sent read with it.
func (w *walk) task(dir, id string, h hint) error {
	if strings.HasPrefix(id, "_") || strings.HasPrefix(id, ".") {
		return nil
	}
	sent := filepath.Join(dir, sentFile)
	companions := []string{sent, filepath.Join(dir, metadataFile)}
	path, class := filepath.Join(dir, shownFile), classShown
	info := w.file(path)
	if info == nil {
		path = filepath.Join(dir, oldShownFile)
		info = w.file(path)
	}
	if info == nil {
		path, class, companions = sent, classSent, companions[1:]
		if info = w.file(path); info == nil {
			return nil
		}
	}
	if info.Size() <= int64(len("[]")) {
		class = classEmpty
	}
	b, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("list Cline's tasks: %w", err)
	}
	return w.yieldFile(path, info, id, class, string(b), companions...)
}

func (w *walk) yieldFile(path string, info fs.FileInfo, id string, class int, hint string, companions ...string) error {
	return w.yield(transcript.Source{
		Agent: agentID, Path: path, Root: w.root.Path, SessionID: id, Class: class, Size: info.Size(), ModTime: info.ModTime(), Hint: hint,
		// The history changes with every message of any task; only what it says of
		// this one makes it read differently.
		Signature: fmt.Sprintf("%s|%x", transcript.Signature(info, companions...), transcript.Hash(hint)),
	})
}

// sessions lists the folders of sessions. One holds <id>.messages.json, <id>.json
// beside it, and <agent>.messages.json for each sub-agent.
func (w *walk) sessions(dir string) error {
	for _, name := range w.list(dir) {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if strings.HasPrefix(name, ".") {
			continue
		}
		folder := filepath.Join(dir, name)
		manifest := filepath.Join(folder, name+".json")
		for _, file := range w.list(folder) {
			stem, ok := strings.CutSuffix(file, messagesEnd)
			if !ok || stem == "" || strings.HasPrefix(stem, ".") {
				continue
			}
			path := filepath.Join(folder, file)
			info := w.file(path)
			if info == nil {
				continue
			}
			id := name
			if stem != name {
				id += transcript.SubagentMark + stem
			}
			if err := w.yieldFile(path, info, id, classSession, "", manifest); err != nil {
				return err
			}
		}
	}
	return nil
}

// Read implements transcript.Reader.
func (*reader) Read(ctx context.Context, env transcript.Env, src transcript.Source, _ *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	f, err := transcript.OpenFile(src.Path)
	if err != nil {
		return nil, fmt.Errorf("read Cline's conversation: %w", err)
	}
	defer f.Close()
	b := newBuilder(ctx, env, src, out)
	if err := out.Begin(false); err != nil {
		return nil, err
	}
	switch name := filepath.Base(src.Path); {
	case strings.HasSuffix(name, messagesEnd):
		err = b.session(f, src.Path)
	case name == sentFile:
		err = b.sent(f, src.Path)
	default:
		err = b.shown(f, src.Path)
	}
	if err = b.ended(f, err); err != nil {
		return nil, err
	}
	if err := b.finish(); err != nil {
		return b.cp, err
	}
	out.Progress(f.Size)
	return b.cp, nil
}
