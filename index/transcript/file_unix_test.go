//go:build unix

package transcript

import (
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a pipe would wait for its writer for ever.
func TestOpenFilePipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if f, err := OpenFile(path); err == nil {
		f.Close()
		t.Error("a pipe was opened")
	}
}
