package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/rpc/rpctest"
)

// asServer makes the test binary a server on its standard streams.
const asServer = "SESSIONLS_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		service := newFakeService()
		service.search = func(ctx context.Context, q contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
			if q.Query == "print" {
				fmt.Println("a careless print") // must not reach the client
			}
			if q.Query == "slow" {
				<-ctx.Done()
				return contract.SearchSessionsResponse{}, ctx.Err()
			}
			return contract.MalformedResponse(), nil
		}
		os.Exit(Run(context.Background(), Options{Service: service, Version: "1.2.3", Log: zerolog.New(os.Stderr)}))
	}
	os.Exit(m.Run())
}

// process is a server in a process of its own.
type process struct {
	*rpctest.Peer
	cmd *exec.Cmd
	out io.Closer
}

func startProcess(t *testing.T) process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asServer+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	// Not StdoutPipe: Wait would close it before everything is read.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // an error says that it has ended, as it should
		r.Close()
	})
	return process{Peer: rpctest.Over(t, in, r), cmd: cmd, out: r}
}

// wait returns the exit code, or -1 if a signal ended the process.
func (p process) wait(t *testing.T) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(2 * time.Minute):
		t.Fatal("the process does not end")
		return -1
	}
}

func TestProcessExitCodes(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(p process)
		want int
	}{
		{"shutdown, exit", func(p process) {
			p.Send(`{"jsonrpc":"2.0","id":1,"method":"shutdown"}`)
			p.Response("1")
			p.Send(`{"jsonrpc":"2.0","method":"exit"}`)
		}, 0},
		{"exit at once", func(p process) { p.Send(`{"jsonrpc":"2.0","method":"exit"}`) }, 1},
		{"end of input", func(p process) { p.Close() }, 1},
		{"end of input while searching", func(p process) {
			p.Send(execute(1, "sessionls.searchSessions", `{"query":"slow"}`))
			p.Close()
		}, 1},
		{"broken framing", func(p process) { p.SendRaw("\x00\x01\x02\n") }, 1},
		{"client closed both ends", func(p process) {
			p.out.Close()
			p.Close()
		}, 1},
		// The write fails; the process must not be killed by SIGPIPE (-1 here).
		// A process that another test is about to start holds a copy of the closed
		// end for a moment, in which writes still succeed: so it is asked on and on.
		{"client does not read any more", func(p process) {
			p.out.Close()
			go func() {
				for i := range 500 {
					p.Send(execute(i, "sessionls.searchStatus"))
					time.Sleep(20 * time.Millisecond)
				}
			}()
		}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := startProcess(t)
			p.Send(plainInitialize)
			p.Response("0")
			tc.do(p)
			if got := p.wait(t); got != tc.want {
				t.Errorf("exit code %d, want %d", got, tc.want)
			}
		})
	}
}

func TestProcessPrintsNothingElse(t *testing.T) {
	p := startProcess(t)
	p.Send(plainInitialize)
	p.Response("0")
	p.Send(execute(1, "sessionls.searchSessions", `{"query":"print"}`))
	if m := p.Response("1"); string(m.Result) != `{"kind":"malformed-cursor"}` {
		t.Errorf("%s", m.Raw)
	}
	p.Close()
	p.wait(t)
}

func TestProcessAnswersAScript(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asServer+"=1")
	var script strings.Builder
	for _, body := range []string{
		plainInitialize,
		`{"jsonrpc":"2.0","method":"initialized","params":{}}`,
		execute(1, "sessionls.searchSessions", `{"query":"x"}`),
		execute(2, "sessionls.getPolicy"),
	} {
		fmt.Fprintf(&script, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	cmd.Stdin = strings.NewReader(script.String())
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%v; want exit code 1, there was no shutdown", err)
	}
	for _, want := range []string{`"id":1,"result":{"kind":"malformed-cursor"}`, `"id":2,"result":{"enabled":null`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}

// TestMessageOverTheLimit sends a document of more than 64 MB, as an editor may that
// offers every buffer to every server.
func TestMessageOverTheLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 65 MB")
	}
	p := startProcess(t)
	p.Send(plainInitialize)
	p.Response("0")
	p.Send(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"text":"` + strings.Repeat("x", 65<<20) + `"}}}`)
	m := p.Response("null")
	if m.Error == nil || m.Error.Code != -32600 || !strings.Contains(m.Error.Message, "over the limit of 67108864") {
		t.Errorf("%s", m.Raw)
	}
	p.Send(execute(1, "sessionls.searchStatus"))
	p.Response("1")
}
