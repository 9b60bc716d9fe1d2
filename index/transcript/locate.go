package transcript

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Locator is a Reader that can tell what a change on disk means without looking
// at everything. Of one that cannot, all roots are discovered after a change.
type Locator interface {
	Reader
	// Locate tells which sources below root read differently since path was
	// made, changed, renamed or removed. What it yields is what Discover yields
	// for the same sources. ErrUnplaced says that only Discover can tell, and so
	// does any other error.
	Locate(ctx context.Context, env Env, root Root, path string) (Located, error)
	// Concerns reports whether a change at path may be of interest to Locate,
	// by the names alone: it looks at nothing on disk and is asked for every
	// change that the system tells.
	Concerns(env Env, root Root, path string) bool
	// Folders names the folders besides the one src lies in, and those between
	// it and its root, in which changes show that Locate knows how to place. Of
	// no source (the zero one) it names those of the root. They need not exist.
	Folders(env Env, root Root, src Source) []string
}

// Located is the answer of Locate. Its zero value says that the change is of no
// interest.
type Located struct {
	// Sources are those that are there.
	Sources []Source
	// Scope is a file or folder: what is known at or below it and is not among
	// Sources is there no more. "" if nothing can be gone.
	Scope string
	// Sessions are ids of sessions whose sources read differently although
	// nothing changed in their own place (a title in a list of titles). The
	// caller knows their paths.
	Sessions []string
}

// ErrUnplaced is returned by Locate for a change whose effects only Discover
// can find.
var ErrUnplaced = errors.New("the change cannot be placed")

// LocateBelow is Locate for a reader whose Discover honours Root.Only: it
// discovers what lies at or below scope, a path below the root or the root.
func LocateBelow(ctx context.Context, r Reader, env Env, root Root, scope string) (Located, error) {
	loc := Located{Scope: scope}
	var trouble error
	root.Only = scope
	err := r.Discover(ctx, env, root, func(s Source) error {
		if Within(scope, s.Path) {
			loc.Sources = append(loc.Sources, s)
		}
		return nil
	}, func(_ string, err error) {
		if trouble == nil {
			trouble = err
		}
	})
	return loc, errors.Join(err, trouble)
}

// Within reports whether path is folder or lies below it.
func Within(folder, path string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimRight(folder, string(filepath.Separator)))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// Below returns the elements of path below folder, nil if it does not lie there.
func Below(folder, path string) []string {
	if !Within(folder, path) {
		return nil
	}
	rest := strings.Trim(path[len(strings.TrimRight(folder, string(filepath.Separator))):], string(filepath.Separator))
	if rest == "" {
		return nil
	}
	return strings.Split(rest, string(filepath.Separator))
}

// ReadDir lists a folder at or below the root. Where Root.Only is set a folder
// above it has one entry, the one on the way, and a folder beside it none.
func (r Root) ReadDir(dir string) ([]fs.DirEntry, error) {
	if r.Only == "" || Within(r.Only, dir) {
		return os.ReadDir(dir)
	}
	on := Below(dir, r.Only)
	if on == nil {
		_, err := os.Stat(dir)
		return nil, err
	}
	info, err := os.Lstat(filepath.Join(dir, on[0]))
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(dir) // what matters is whether the folder is there
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(info)}, nil
}
