//go:build !windows

package rpc

import (
	"errors"
	"math"
	"os"
	"syscall"
)

// parentProbe returns a function that tells whether process pid is still there,
// or nil if it is not there now. Our direct parent is recognised by its pid
// being our parent's, which holds even when it has become a zombie or its number was
// given to another process; any other process is probed with signal 0.
func parentProbe(pid int) func() bool {
	if pid <= 1 || pid > math.MaxInt32 {
		return nil
	}
	if os.Getppid() == pid {
		return func() bool { return os.Getppid() == pid }
	}
	alive := func() bool {
		err := syscall.Kill(pid, 0)
		return err == nil || errors.Is(err, syscall.EPERM)
	}
	if !alive() {
		return nil
	}
	return alive
}
