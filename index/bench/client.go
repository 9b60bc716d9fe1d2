package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"strconv"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// client is an editor that asks one thing at a time of a language server in a
// process of its own.
type client struct {
	*process
	ctx context.Context
	in  io.WriteCloser
	out *os.File
	r   *bufio.Reader
	id  int
}

// serve starts a server; it is initialized when serve returns.
func (p *program) serve(ctx context.Context) (*client, error) {
	cmd := p.command(ctx, "serve")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	// Not StdoutPipe: waiting for the process would close it before all is read.
	out, to, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	cmd.Stdout = to
	run, err := start(cmd)
	to.Close()
	if err != nil {
		out.Close()
		return nil, err
	}
	c := &client{process: run, ctx: ctx, in: in, out: out, r: bufio.NewReaderSize(out, 1<<20)}
	quiet := map[string]any{"statusNotifications": false}
	_, _, err = c.call("initialize", map[string]any{"processId": nil, "rootUri": nil, "capabilities": map[string]any{}, "initializationOptions": quiet})
	if err == nil {
		err = c.send(map[string]any{"jsonrpc": "2.0", "method": "initialized", "params": map[string]any{}})
	}
	if err != nil {
		_, ended := c.close()
		return nil, fmt.Errorf("start a server: %w", errors.Join(err, ended))
	}
	return c, nil
}

// close ends the server and returns what it took.
func (c *client) close() (Cost, error) {
	_, _, err := c.call("shutdown", nil)
	if err == nil {
		err = c.send(map[string]any{"jsonrpc": "2.0", "method": "exit"})
	}
	err = errors.Join(err, c.in.Close())
	cost, ended := c.end(c.ctx)
	c.out.Close()
	return cost, errors.Join(err, ended)
}

func (c *client) send(message any) error {
	body, err := json.Marshal(message)
	if err == nil {
		_, err = fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	if err != nil {
		return fmt.Errorf("write to the server: %w", err)
	}
	return nil
}

// maxMessage bounds what a server may send at once.
const maxMessage = 64 << 20

func (c *client) receive() ([]byte, error) {
	header, err := textproto.NewReader(c.r).ReadMIMEHeader()
	if err != nil {
		return nil, fmt.Errorf("read from the server: %w", err)
	}
	n, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil || n < 0 || n > maxMessage {
		return nil, fmt.Errorf("read from the server: a message of %q bytes", header.Get("Content-Length"))
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(c.r, body); err != nil {
		return nil, fmt.Errorf("read from the server: %w", err)
	}
	return body, nil
}

// call makes a request and returns the result and how long it took, from the
// first byte written until the last one read.
func (c *client) call(method string, params any) (json.RawMessage, time.Duration, error) {
	c.id++
	began := time.Now()
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params}); err != nil {
		return nil, 0, err
	}
	for {
		body, err := c.receive()
		took := time.Since(began)
		if err != nil {
			return nil, 0, err
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(body, &m); err != nil {
			return nil, 0, fmt.Errorf("read from the server: %w", err)
		}
		switch {
		case m.Method != "" && m.ID != nil: // a request of the server's
			if err := c.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": nil}); err != nil {
				return nil, 0, err
			}
		case m.Method != "" || string(m.ID) != strconv.Itoa(c.id):
		case m.Error != nil:
			return nil, 0, fmt.Errorf("%s: the server answered: %s", method, m.Error.Message)
		default:
			return m.Result, took, nil
		}
	}
}

func (c *client) command(name string, argument, result any) (time.Duration, error) {
	raw, took, err := c.call("workspace/executeCommand", map[string]any{"command": contract.CommandPrefix + "." + name, "arguments": []any{argument}})
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return 0, fmt.Errorf("read the answer of %s: %w", name, err)
	}
	return took, nil
}

// search asks for a page. results is nil while there is no index to answer from.
func (c *client) search(request contract.SearchSessionsRequest) (results *contract.SearchResults, took time.Duration, err error) {
	var response contract.SearchSessionsResponse
	took, err = c.command("searchSessions", request, &response)
	if err != nil {
		return nil, 0, err
	}
	return response.Results, took, nil
}

func (c *client) status() (contract.Status, error) {
	var status contract.Status
	_, err := c.command("searchStatus", map[string]any{}, &status)
	return status, err
}
