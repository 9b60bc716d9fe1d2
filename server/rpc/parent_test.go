package rpc_test

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/sessionls/sessionls/server/rpc"
)

// asParent makes the test binary a process that lives until its input ends.
const asParent = "SESSIONLS_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(asParent) != "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestParentDeath(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asParent+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := initialized(t, rpc.Options{ParentPoll: time.Millisecond}, handler{})
	s.conn.WatchParent(cmd.Process.Pid)
	for range 20 { // some polls find it alive
		s.Send(request(1, "x"))
		s.Response("1")
		time.Sleep(time.Millisecond)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if code := s.exitCode(t); code != 1 {
		t.Errorf("exit code %d", code)
	}
}

func TestParentsThatAreNotWatched(t *testing.T) {
	for _, pid := range []int{0, -1, 1, 1<<31 - 2, 1<<32 + os.Getpid()} {
		s := initialized(t, rpc.Options{ParentPoll: time.Millisecond}, handler{})
		s.conn.WatchParent(pid)
		time.Sleep(20 * time.Millisecond)
		s.Send(request(1, "x"))
		s.Response("1")
	}
}
