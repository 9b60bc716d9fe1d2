package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sessionls/sessionls/index/transcript"
)

// maxNesting bounds how deep sub-agent folders are followed
// (<session>/subagents/workflows/<run>/ is the deepest one known).
const maxNesting = 6

// Discover implements transcript.Reader.
func (r *Reader) Discover(ctx context.Context, _ transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) error {
	entries, err := root.ReadDir(root.Path)
	if err != nil {
		return fmt.Errorf("list Claude Code projects: %w", err)
	}
	w := &walk{r: r, ctx: ctx, root: root, yield: yield, report: report, seen: transcript.Seen{}}
	if info, err := os.Stat(root.Path); err == nil {
		w.seen.First(root.Path, info)
	}
	folder := w.project
	if root.Kind == nestedKind {
		folder = func(dir string) error { return w.nested(dir, 1) }
	}
	for _, e := range entries {
		if root.Kind == nestedKind && !e.IsDir() {
			continue
		}
		if err := w.entry(filepath.Join(root.Path, e.Name()), e, folder); err != nil {
			return err
		}
	}
	return nil
}

// maxNested bounds how deep folders of projects are looked for (formats.md §3).
const maxNested = 8

// nested walks down to the folders named projects. Nothing above them is a
// transcript of this agent, and no symlink is followed on the way.
func (w *walk) nested(dir string, depth int) error {
	return w.list(dir, func(path string, e fs.DirEntry) error {
		switch {
		case !e.IsDir() || depth > maxNested:
			return nil
		case e.Name() == rootKind:
			return w.entry(path, e, func(projects string) error {
				return w.list(projects, func(path string, e fs.DirEntry) error { return w.entry(path, e, w.project) })
			})
		}
		return w.entry(path, e, func(sub string) error { return w.nested(sub, depth+1) })
	})
}

// walk is one pass over a root. Files and folders met before, by another path
// or through a symlink, are passed over.
type walk struct {
	r      *Reader
	ctx    context.Context
	root   transcript.Root
	yield  func(transcript.Source) error
	report func(string, error)
	seen   transcript.Seen
	listed *listing // the folder being listed, if it is listed whole
}

// listing is what a folder holds.
type listing struct {
	dir   string
	names map[string]bool // of what may be folders
}

// holds reports whether a folder may lie at path. It spares a look at the disk
// where the folder above was just listed.
func (w *walk) holds(path string) bool {
	return w.listed == nil || w.listed.dir != filepath.Dir(path) || w.listed.names[filepath.Base(path)]
}

// entry yields a transcript, or calls folder for a directory. Symlinks are
// followed; a dangling one is no trouble worth reporting.
func (w *walk) entry(path string, e fs.DirEntry, folder func(string) error) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	isFile := strings.HasSuffix(e.Name(), ext)
	if e.Type().IsRegular() && !isFile {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.report(path, err)
		}
		return nil
	}
	switch {
	case info.IsDir():
		if w.seen.First(path, info) {
			return folder(path)
		}
	case isFile && info.Mode().IsRegular() && info.Size() > 0:
		return w.file(path, info)
	}
	return nil
}

// project walks a project folder: main files, sub-agents of the older layout,
// and the companions' folders of the sessions.
func (w *walk) project(dir string) error {
	return w.list(dir, func(path string, e fs.DirEntry) error {
		return w.entry(path, e, func(sub string) error {
			if e.Name() == subagents { // the root is itself a project folder
				return w.agents(sub, 0)
			}
			return w.agents(filepath.Join(sub, subagents), 0)
		})
	})
}

// agents walks a subagents folder. Only agent-*.jsonl are conversations there.
func (w *walk) agents(dir string, depth int) error {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || depth > maxNesting {
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			w.report(dir, err)
		}
		return nil
	}
	return w.list(dir, func(path string, e fs.DirEntry) error {
		if strings.HasSuffix(e.Name(), ext) && !strings.HasPrefix(e.Name(), agentPrefix) {
			return nil
		}
		return w.entry(path, e, func(sub string) error { return w.agents(sub, depth+1) })
	})
}

func (w *walk) list(dir string, each func(string, fs.DirEntry) error) error {
	entries, err := w.root.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.report(dir, err)
	}
	defer func(outer *listing) { w.listed = outer }(w.listed)
	w.listed = nil
	if err == nil && (w.root.Only == "" || transcript.Within(w.root.Only, dir)) {
		w.listed = &listing{dir, map[string]bool{}}
		for _, e := range entries {
			if !e.Type().IsRegular() {
				w.listed.names[e.Name()] = true
			}
		}
	}
	for _, e := range entries { // what could be listed before an error counts
		if err := each(filepath.Join(dir, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) file(path string, info fs.FileInfo) error {
	p := placeOf(path)
	if !w.seen.First(path, info) {
		return nil
	}
	id := p.session
	companions := []string{""}
	if dir := p.sessionDir(); w.holds(dir) {
		companions[0] = filepath.Join(dir, toolResults)
	}
	if p.agent != "" {
		if id == "" {
			id = w.r.families.head(path).session
		}
		if id != "" {
			id = agentSession(id, p.agent)
		}
		companions = []string{p.metaFile()}
	}
	class := p.class()
	if w.root.Kind == nestedKind {
		class-- // the command line's own file is preferred to a copy (formats.md §33)
	}
	return w.yield(transcript.Source{
		Agent: agentID, Path: path, Root: w.root.Path, SessionID: id, Class: class,
		Size: info.Size(), ModTime: info.ModTime(), Signature: transcript.Signature(info, companions...),
	})
}
