package faults_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// mount puts a memory disk at a folder, or changes the one there; the test is
// skipped where that is not allowed.
func mount(t *testing.T, folder, options string) {
	t.Helper()
	flags := uintptr(0)
	var data []string
	for o := range strings.SplitSeq(options, ",") {
		switch o {
		case "remount":
			flags |= syscall.MS_REMOUNT
		case "ro":
			flags |= syscall.MS_RDONLY
		case "rw":
		default:
			data = append(data, o)
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	err := syscall.Mount("tmpfs", folder, "tmpfs", flags, strings.Join(data, ","))
	switch {
	case err != nil && flags == 0:
		t.Skipf("needs the right to mount: %v", err)
	case err != nil:
		t.Fatalf("mount %s: %v", options, err)
	case flags == 0:
		t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	}
}
