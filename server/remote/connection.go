package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/rpc"
)

// The bounds of what a host may send, in bytes.
const (
	// maxAnswer bounds one message. The contract's largest answer is readEvent's
	// with maxBytes, somewhat over contract.MaxRecordBytes.
	maxAnswer = contract.MaxRecordBytes + contract.MaxPageBytes
	// maxBanner bounds what is printed before the first message.
	maxBanner = 64 << 10
)

// The patience with a host.
const (
	// startTimeout bounds the start of a service: to log in, to start a
	// container, and the handshake.
	startTimeout = 30 * time.Second
	// quiet is how long a request may take before the host is asked whether it
	// still lives; probeTimeout is how long that answer may take.
	quiet        = 15 * time.Second
	probeTimeout = 15 * time.Second
	// answerTimeout bounds a request of whoever set no deadline.
	answerTimeout = 10 * time.Minute
)

type responseError = rpc.ResponseError

// connection is a service on another host that has been greeted.
type connection struct {
	host    contract.Host
	child   *child
	client  *rpc.Client
	offers  map[string]bool // full names of commands
	version string

	mu      sync.Mutex
	next    int
	streams map[string]func(value json.RawMessage) // by progress token
}

// connect starts the service of a host and greets it.
func (h *Hosts) connect(ctx context.Context, host contract.Host) (*connection, error) {
	argv, err := h.argv(host)
	if err != nil {
		return nil, err
	}
	running, err := start(argv)
	if err != nil {
		return nil, failed(host, err, "%s: %q cannot be started: %v; is it installed on this machine?", host, argv[0], err)
	}
	c := &connection{host: host, child: running, streams: map[string]func(json.RawMessage){}}
	c.client = rpc.NewClient(rpc.ClientOptions{
		In: running.out, Out: running.in, MaxMessage: maxAnswer, MaxBanner: maxBanner, Notify: c.notified,
	})
	within, end := context.WithTimeoutCause(ctx, h.opts.startTimeout, silent(h.opts.startTimeout))
	defer end()
	err = c.greet(within, h.opts.Version)
	if err == nil {
		return c, nil
	}
	defer c.close()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var unwanted *contract.Error
	if errors.As(err, &unwanted) {
		return nil, err
	}
	if within.Err() != nil {
		err = context.Cause(within)
	}
	// The command's own words come with its end, a moment after its output ends.
	ended, code := false, 0
	if !errors.Is(err, errSilent) && !errors.Is(err, rpc.ErrBroken) {
		ended, code = running.exit(farewell)
	}
	return nil, failureOfStart(host, err, ended, code, running.stderr.String(), c.client.Greeting())
}

// greet does the handshake.
func (c *connection) greet(ctx context.Context, version string) error {
	params, err := json.Marshal(map[string]any{
		// No processId: it would be of another machine.
		"processId":    nil,
		"rootUri":      nil,
		"clientInfo":   map[string]string{"name": serverName, "version": version},
		"capabilities": map[string]any{},
		"initializationOptions": map[string]any{
			"transport": contract.TransportRemote, "statusNotifications": false, "workspaceSymbols": false,
		},
	})
	if err != nil {
		return err
	}
	result, err := c.client.Call(ctx, "initialize", params)
	if err != nil {
		return err
	}
	var hello struct {
		ServerInfo struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"serverInfo"`
		Capabilities struct {
			ExecuteCommandProvider struct {
				Commands []string `json:"commands"`
			} `json:"executeCommandProvider"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(result, &hello); err != nil {
		return fmt.Errorf("%w: its greeting cannot be read: %w", rpc.ErrBroken, err)
	}
	if hello.ServerInfo.Name != serverName {
		return failed(c.host, nil, "%s answers as %q, which is not sessionls; is `sessionls serve` what is started?", c.host, brief(hello.ServerInfo.Name))
	}
	c.version = brief(hello.ServerInfo.Version)
	c.offers = make(map[string]bool, len(hello.Capabilities.ExecuteCommandProvider.Commands))
	for _, name := range hello.Capabilities.ExecuteCommandProvider.Commands {
		c.offers[name] = true
	}
	c.client.Notify("initialized", json.RawMessage(`{}`))
	return nil
}

// serverName is what the service calls itself.
const serverName = "sessionls"

// notified takes a notification of the host: all that matters is progress.
func (c *connection) notified(method string, params json.RawMessage) {
	if method != "$/progress" {
		return
	}
	var progress struct {
		Token any             `json:"token"`
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(params, &progress) != nil {
		return
	}
	token, _ := progress.Token.(string)
	// Held while the value is taken: once a stream is closed nothing comes any more.
	c.mu.Lock()
	defer c.mu.Unlock()
	if take := c.streams[token]; take != nil {
		take(progress.Value)
	}
}

// stream opens a progress token; what comes under it goes to take, ahead of the
// answer, until end is called.
func (c *connection) stream(take func(value json.RawMessage)) (token string, end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	token = fmt.Sprintf("sessionls-%d", c.next)
	c.streams[token] = take
	return token, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.streams, token)
	}
}

// execute runs a command. While the answer is out the host is asked from time to
// time whether it still answers at all, which a slow search does not prevent.
func (c *connection) execute(ctx context.Context, name string, request json.RawMessage, quiet, probing time.Duration) (json.RawMessage, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	answered := make(chan struct{})
	defer close(answered)
	go func() {
		for tick := time.NewTicker(quiet); ; {
			select {
			case <-answered:
				tick.Stop()
				return
			case <-tick.C:
			}
			probe, stop := context.WithTimeout(ctx, probing)
			_, err := c.run(probe, "searchStatus", json.RawMessage(`{}`))
			stop()
			if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
				end(errSilent)
			}
		}
	}()
	result, err := c.run(ctx, name, request)
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		err = errSilent
	}
	return result, err
}

func (c *connection) run(ctx context.Context, name string, request json.RawMessage) (json.RawMessage, error) {
	params, err := json.Marshal(struct {
		Command   string            `json:"command"`
		Arguments []json.RawMessage `json:"arguments"`
	}{contract.CommandPrefix + "." + name, []json.RawMessage{request}})
	if err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	return c.client.Call(ctx, "workspace/executeCommand", params)
}

// close says goodbye and ends the command. It may take as long as that does.
func (c *connection) close() {
	if c.client.Err() == nil && c.offers != nil {
		ctx, end := context.WithTimeout(context.Background(), farewell)
		if _, err := c.client.Call(ctx, "shutdown", nil); err == nil {
			c.client.Notify("exit", nil)
		}
		end()
	}
	_ = c.child.stop() // nothing can be done about one that cannot be killed
}

// isLost reports whether an error says that the connection is gone, so that
// another one may do better.
func isLost(err error) bool {
	var own *contract.Error
	var theirs *responseError
	return err != nil && !errors.As(err, &own) && !errors.As(err, &theirs) && !errors.Is(err, rpc.ErrBroken) && !errors.Is(err, errSilent) && !errors.Is(err, errStream)
}

// wordsOfLoss says how a connection ended.
func wordsOfLoss(err error, stderr string) string {
	if words := lastWords(stderr); words != "" {
		return words
	}
	if errors.Is(err, io.EOF) {
		return "its service ended"
	}
	return brief(err.Error())
}
