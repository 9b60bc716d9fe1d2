//go:build unix

package bench

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// maxResident is the most memory that a process that ended ever held, in bytes,
// 0 if the system does not tell.
func maxResident(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss) // getrusage(2) there: in bytes
	}
	return int64(usage.Maxrss) * 1024
}

// ownTime is the processor time of this process until now.
func ownTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
