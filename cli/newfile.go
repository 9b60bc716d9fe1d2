package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// newFile is a file that has its name only when it is whole. Until then it stands
// beside it under a name of its own, readable by the user alone.
type newFile struct {
	*os.File
	path  string // where it will be
	force bool
	done  bool
}

// createFile begins a file. One that exists is in the way unless force is given; what
// is no regular file is in any case. A link is followed.
func createFile(name string, force bool) (*newFile, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, usage("", "--output: %v", err)
	}
	if strings.HasPrefix(path, "/dev/") {
		// /dev/stdout may lead to a file that others write to, too.
		return nil, notRegular(name)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return nil, usage("", "--output: %s is a folder; name a file in it", cleanLine(name))
	case err == nil && !info.Mode().IsRegular():
		return nil, notRegular(name)
	case err == nil && !force:
		return nil, exists(name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, failed(err, "looking at --output")
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".sessionls-*.part")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usage("", "--output: there is no folder %s", cleanLine(filepath.Dir(path)))
	case err != nil:
		return nil, failed(err, "writing to the folder of --output")
	}
	return &newFile{File: file, path: path, force: force}, nil
}

func notRegular(name string) *fault {
	return usage("leave --output out to write to standard output", "--output: %s is no regular file", cleanLine(name))
}

func exists(name string) *fault {
	return usage("--force replaces it", "--output: %s exists", cleanLine(name))
}

// finish gives the file its name.
func (f *newFile) finish() error {
	err := f.Sync()
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = f.settle()
	}
	if err != nil {
		var own *fault
		if errors.As(err, &own) {
			return own
		}
		return failed(err, "writing %s", cleanLine(f.path))
	}
	f.done = true
	return nil
}

// settle moves the file to its place. Without force nothing is replaced that came
// there in the meantime, as far as the file system has links.
func (f *newFile) settle() error {
	if f.force {
		return os.Rename(f.Name(), f.path)
	}
	switch err := os.Link(f.Name(), f.path); {
	case err == nil:
		if err := os.Remove(f.Name()); err != nil {
			return fmt.Errorf("removing the name it was written under: %w", err)
		}
		return nil
	case errors.Is(err, fs.ErrExist):
		return exists(f.path)
	}
	if _, err := os.Lstat(f.path); err == nil {
		return exists(f.path)
	}
	return os.Rename(f.Name(), f.path)
}

// abandon removes what was begun, unless it was finished.
func (f *newFile) abandon() {
	if f.done {
		return
	}
	// Both may have been done already; nothing is lost if they fail.
	_ = f.Close()
	_ = os.Remove(f.Name())
}
