//go:build unix

package index

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openAlive opens the pipe that shows whether the holder of the seat lives. A
// holder keeps it open for writing; it opens it for both so as not to wait for
// a reader.
func openAlive(path string, hold bool) (*os.File, error) {
	if err := syscall.Mkfifo(path, 0o600); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("make %s: %w", path, err)
	}
	flag := os.O_RDONLY
	if hold {
		flag = os.O_RDWR
	}
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		f.Close()
		return nil, fmt.Errorf("open %s: it is no pipe", path)
	}
	return f, nil
}
