package remote

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// child is a running command whose standard streams are a connection.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stderr tail
	exited chan struct{} // closed when it has ended and was waited for
}

// farewell is how long a service may take to answer the goodbye, and its command
// to end once its input is closed. Whoever waits for the end of the program waits
// for that.
const farewell = time.Second

// start runs a command. It works in the user's home: what lies in the folder of
// a project must not decide how a host is reached.
func start(argv []string) (*child, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	if home, err := os.UserHomeDir(); err == nil {
		cmd.Dir = home
	}
	c := &child{cmd: cmd, exited: make(chan struct{})}
	cmd.Stderr = &c.stderr
	// A grandchild may keep standard error open for longer than its parent lives.
	cmd.WaitDelay = farewell
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// Not StdoutPipe: waiting for the end would close it on what is still unread.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, c.out = write, read
	err = cmd.Start()
	_ = write.Close()
	if err != nil {
		_, _ = c.in.Close(), read.Close()
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // the code is in ProcessState
		close(c.exited)
	}()
	return c, nil
}

// exit waits for the command to end by itself and tells its exit code; -1 if a
// signal ended it.
func (c *child) exit(patience time.Duration) (ended bool, code int) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c.exited:
		return true, c.cmd.ProcessState.ExitCode()
	case <-timer.C:
		return false, 0
	}
}

// stop ends the command: its input is closed, and soon it is killed. It returns
// when it is gone.
func (c *child) stop() error {
	_ = c.in.Close()
	var failure error
	if ended, _ := c.exit(farewell); !ended {
		if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			failure = err
		}
		_, _ = c.exit(farewell) // one that hangs in the kernel is left behind
	}
	_ = c.out.Close()
	return failure
}

// maxStderr is how much of a command's standard error is kept: its end, which
// says why it ended.
const maxStderr = 4 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-maxStderr):]...)
	if over := len(t.kept) - maxStderr; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// String is what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
