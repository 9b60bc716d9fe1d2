// Package scan holds what readers of append-only transcript files share besides
// the reading itself: walking their folders, glancing at the heads of lines, and
// taking from text what nobody searches for.
package scan

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sessionls/sessionls/index/transcript"
)

// Walk calls f for every regular file below dir, at most depth folders down
// (0: only dir itself), in the order of their names. Symlinked files and folders are followed; one
// met by two paths is taken once, which also ends loops. Trouble below dir goes
// to report and does not end the walk; trouble with dir itself is returned.
func Walk(ctx context.Context, dir string, depth int, f func(path string, info fs.FileInfo) error, report func(path string, err error)) error {
	w := &walker{f: f, report: report, seen: map[string]bool{}}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("look at folder %s: %w", dir, errNoFolder)
	}
	w.first(info)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read folder: %w", err)
	}
	return w.entries(ctx, dir, entries, depth)
}

var errNoFolder = fmt.Errorf("it is no folder: %w", fs.ErrInvalid)

type walker struct {
	f      func(string, fs.FileInfo) error
	report func(string, error)
	seen   map[string]bool
}

// first reports whether the file behind info is met for the first time.
func (w *walker) first(info fs.FileInfo) bool {
	id := transcript.FileID(info)
	if id == "" {
		return true
	}
	if w.seen[id] {
		return false
	}
	w.seen[id] = true
	return true
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
			if depth == 0 || !w.first(info) {
				continue
			}
			below, err := os.ReadDir(path)
			if err != nil {
				w.report(path, fmt.Errorf("read folder: %w", err))
			}
			if err := w.entries(ctx, path, below, depth-1); err != nil {
				return err
			}
		case info.Mode().IsRegular() && w.first(info):
			if err := w.f(path, info); err != nil {
				return err
			}
		}
	}
	return nil
}
