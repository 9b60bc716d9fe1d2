//go:build unix && !linux

package faults_test

import "testing"

// mount skips the test: it knows only Linux's memory disks.
func mount(t *testing.T, _, _ string) {
	t.Helper()
	t.Skip("makes disks of memory on Linux only")
}
