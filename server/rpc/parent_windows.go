package rpc

import (
	"math"

	"golang.org/x/sys/windows"
)

// parentProbe returns a function that tells whether process pid is still there,
// or nil if it is not there now. The open handle keeps the number from being
// given to another process.
func parentProbe(pid int) func() bool {
	if pid <= 0 || pid > math.MaxUint32 {
		return nil
	}
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return nil
	}
	return func() bool {
		event, err := windows.WaitForSingleObject(h, 0)
		return err == nil && event == uint32(windows.WAIT_TIMEOUT)
	}
}
