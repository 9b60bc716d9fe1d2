//go:build linux || darwin

package index_test

import "syscall"

// limitFiles bounds the size of files this process may write, in bytes.
func limitFiles(n uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n})
}
