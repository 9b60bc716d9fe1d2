package rpc

import (
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Stdio takes the standard streams of the process for a connection. From then on
// os.Stdout is standard error, so that nothing printed by accident can break
// the framing, and a client that stops reading causes a write error instead of
// killing the process by SIGPIPE. Call it once, from main, before anything writes.
func Stdio() (in io.Reader, out io.Writer) {
	real := os.Stdout
	os.Stdout = os.Stderr
	signal.Ignore(syscall.SIGPIPE)
	return os.Stdin, real
}
