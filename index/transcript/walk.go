package transcript

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Seen remembers the files and folders that a walk has met, so that one met by
// two paths (a symlink, a loop of them) is taken once.
type Seen map[string]bool

// First reports whether the file behind info, found at path, is met for the
// first time.
func (s Seen) First(path string, info fs.FileInfo) bool {
	id := FileID(info)
	if id == "" {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		id = "path:" + path
	}
	if s[id] {
		return false
	}
	s[id] = true
	return true
}

// Walk calls f for every regular file below dir, at most depth folders down
// (0: only dir itself), in the order of their names. Symlinked files and
// folders are followed; one met by two paths is taken once, which also ends
// loops. Trouble below dir goes to report and does not end the walk; trouble
// with dir itself is returned.
func Walk(ctx context.Context, dir string, depth int, f func(path string, info fs.FileInfo) error, report func(path string, err error)) error {
	return Root{}.Walk(ctx, dir, depth, f, report)
}

// Walk is the function Walk for a folder at or below the root. It keeps to
// r.Only.
func (r Root) Walk(ctx context.Context, dir string, depth int, f func(path string, info fs.FileInfo) error, report func(path string, err error)) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("look at folder %s: it is no folder: %w", dir, fs.ErrInvalid)
	}
	entries, err := r.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read folder: %w", err)
	}
	w := &walker{root: r, f: f, report: report, seen: Seen{}}
	w.seen.First(dir, info)
	return w.entries(ctx, dir, entries, depth)
}

type walker struct {
	root   Root
	f      func(string, fs.FileInfo) error
	report func(string, error)
	seen   Seen
}

func (w *walker) entries(ctx context.Context, dir string, entries []fs.DirEntry, depth int) error {
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, e.Name())
		if depth == 0 && e.IsDir() {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			// A link to nothing and a file that is just gone are no trouble.
			if !os.IsNotExist(err) {
				w.report(path, fmt.Errorf("look at file: %w", err))
			}
			continue
		}
		switch {
		case info.IsDir():
			if depth == 0 || !w.seen.First(path, info) {
				continue
			}
			below, err := w.root.ReadDir(path)
			if err != nil {
				w.report(path, fmt.Errorf("read folder: %w", err))
			}
			if err := w.entries(ctx, path, below, depth-1); err != nil {
				return err
			}
		case info.Mode().IsRegular() && w.seen.First(path, info):
			if err := w.f(path, info); err != nil {
				return err
			}
		}
	}
	return nil
}
