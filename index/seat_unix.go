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
	flag := os.O_RDONLY
	if hold {
		flag = os.O_RDWR
	}
	return openPipe(path, flag)
}

// openBell opens the pipe by which the holder of the seat is woken, to listen. It
// is opened for both so that reading does not end with each who rings.
func openBell(path string) (*os.File, error) { return openPipe(path, os.O_RDWR) }

// listens reports whether there is a holder of the seat who listens to the bell:
// a dead one does not, a stopped one seems to.
func listens(path string) (bool, error) {
	f, err := openPipe(path, os.O_WRONLY)
	switch {
	case errors.Is(err, syscall.ENXIO):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, f.Close()
}

// ring wakes the holder of the seat. Whether it is heard shows in what it does.
func ring(path string) {
	f, err := openPipe(path, os.O_WRONLY)
	if err != nil {
		return
	}
	defer f.Close()
	// One attempt, without waiting: a pipe that is full wakes it, too. Not by a
	// deadline, which on a busy machine may pass before the attempt is made.
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Write(func(fd uintptr) bool {
		_, _ = syscall.Write(int(fd), []byte{1})
		return true
	})
}

// openPipe opens a named pipe without waiting for its other end. It is made if
// there is none.
func openPipe(path string, flag int) (*os.File, error) {
	if err := syscall.Mkfifo(path, 0o600); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("make %s: %w", path, err)
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
