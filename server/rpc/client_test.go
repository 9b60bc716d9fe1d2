package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/server/rpc"
)

// asking is a client and the streams of its server.
type asking struct {
	*rpc.Client
	fromClient *bufio.Reader
	toClient   *io.PipeWriter
}

func ask(t *testing.T, notify func(string, json.RawMessage)) asking {
	t.Helper()
	in, toClient := io.Pipe()
	fromClient, out := io.Pipe()
	t.Cleanup(func() { toClient.Close(); fromClient.Close() })
	c := rpc.NewClient(rpc.ClientOptions{In: in, Out: out, MaxMessage: 1000, MaxBanner: 100, Notify: notify})
	return asking{c, bufio.NewReader(fromClient), toClient}
}

// next is the next message that the client sends.
func (a asking) next(t *testing.T) string {
	t.Helper()
	length := 0
	for {
		line, err := a.fromClient.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if _, err := fmt.Sscanf(line, "Content-Length: %d", &length); err != nil {
			t.Fatal(err)
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(a.fromClient, body); err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func (a asking) send(body string) {
	_, _ = fmt.Fprintf(a.toClient, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

func TestClientAsks(t *testing.T) {
	var notes []string
	a := ask(t, func(method string, params json.RawMessage) { notes = append(notes, method+string(params)) })
	answers := make(chan string, 2)
	go func() {
		got, err := a.Call(context.Background(), "one", json.RawMessage(`{"x":1}`))
		answers <- fmt.Sprintf("%s %v", got, err)
	}()
	if got := a.next(t); got != `{"jsonrpc":"2.0","method":"one","params":{"x":1},"id":1}` {
		t.Errorf("asked %s", got)
	}
	_, _ = io.WriteString(a.toClient, "Hello: you\n\nlast login $ ")
	a.send(`{"jsonrpc":"2.0","method":"note","params":[1]}`)
	a.send(`{"jsonrpc":"2.0","id":5,"method":"workspace/configuration"}`)
	if got := a.next(t); !strings.Contains(got, `"id":5`) {
		t.Errorf("answered %s", got)
	}
	a.send(`{"jsonrpc":"2.0","id":77,"result":"nobody asked"}`)
	a.send(`{"jsonrpc":"2.0","id":"1","result":"of another kind"}`)
	a.send(`{"jsonrpc":"2.0","id":1,"result":{"y":2}}`)
	if got := <-answers; got != `{"y":2} <nil>` {
		t.Errorf("got %s", got)
	}
	if fmt.Sprint(notes) != "[note[1]]" || a.Greeting() != "Hello: you\n\nlast login $ " {
		t.Errorf("%q, greeted %q", notes, a.Greeting())
	}
	go func() {
		_, err := a.Call(context.Background(), "two", nil)
		var failure *rpc.ResponseError
		answers <- fmt.Sprint(errors.As(err, &failure) && failure.Code == -32803 && string(failure.Data) == `{"code":"C"}`, err)
	}()
	a.next(t)
	a.send(`{"jsonrpc":"2.0","id":2,"error":{"code":-32803,"message":"no","data":{"code":"C"}}}`)
	if got := <-answers; got != "true no" {
		t.Errorf("got %s", got)
	}
}

func TestClientCancels(t *testing.T) {
	a := ask(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := a.Call(ctx, "slow", nil)
		ended <- err
	}()
	a.next(t)
	cancel()
	if got := a.next(t); got != `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}` {
		t.Errorf("sent %s", got)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) || a.Err() != nil {
		t.Errorf("%v, %v", err, a.Err())
	}
}

// TestClientLeavesBrokenServers: whatever breaks the protocol ends the
// connection, and every call with it.
func TestClientLeavesBrokenServers(t *testing.T) {
	const good = "Content-Length: 40\r\n\r\n" + `{"jsonrpc":"2.0","method":"n","params":1}`
	for name, tc := range map[string]struct {
		sent   string
		broken bool
	}{
		"the end":             {"", false},
		"only a greeting":     {"This account is not available.\n", false},
		"a long greeting":     {strings.Repeat("hello ", 100), true},
		"no JSON":             {"Content-Length: 3\r\n\r\nxyz", true},
		"a batch":             {"Content-Length: 2\r\n\r\n[]", true},
		"a message too large": {"Content-Length: 1001\r\n\r\n", true},
		"no length":           {"Content-Length: x\r\n\r\n", true},
		"garbage later":       {good[:22] + good[22:] + "\nwall: reboot\n", true},
		"half a message":      {"Content-Length: 30\r\n\r\n{", false},
		"unasked chatter":     {strings.Repeat(good, 30), true},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask(t, nil)
			go func() { _, _ = io.Copy(io.Discard, a.fromClient) }()
			go func() {
				_, _ = io.WriteString(a.toClient, tc.sent)
				a.toClient.Close()
			}()
			_, err := a.Call(context.Background(), "x", nil)
			if err == nil || errors.Is(err, rpc.ErrBroken) != tc.broken {
				t.Errorf("%v", err)
			}
			<-a.Done()
			if _, again := a.Call(context.Background(), "x", nil); !errors.Is(again, a.Err()) {
				t.Errorf("afterwards %v, want %v", again, a.Err())
			}
		})
	}
}

func TestClientOfAServerThatDoesNotRead(t *testing.T) {
	a := ask(t, nil)
	for range 100 {
		a.Notify("x", nil)
	}
	<-a.Done()
	if a.Err() == nil {
		t.Error("the connection lives")
	}
}
