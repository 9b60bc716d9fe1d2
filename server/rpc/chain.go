package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"

	"go.lsp.dev/jsonrpc2"
)

// Methods whose meaning belongs to the connection.
const (
	methodInitialize    = "initialize"
	methodShutdown      = "shutdown"
	methodExit          = "exit"
	methodCancelRequest = "$/cancelRequest"
)

// lifeState is where a connection is in the protocol's life cycle.
type lifeState int32

const (
	stateCreated     lifeState = iota // nothing but initialize and exit is served
	stateInitialized                  // initialize was answered
	stateShutdown                     // nothing but exit is served
)

// runningCall is a request between its arrival and its return, queued or at
// work. Compared by address, for a client may use an id twice at a time.
type runningCall struct{ cancel context.CancelFunc }

// route is the library's handler: it decides what runs in wire order and what
// overlaps. Notifications, initialize and shutdown run here, on the read loop.
// Any other request is released, so that it starts after every notification sent
// before it but overlaps other requests and can be cancelled.
//
// ctx belongs to a pooled object that the library resets as soon as an inline
// handler returns; deriving a context from it crashes the process. It is used
// for nothing but Async and, once released (a released one is never reset), for
// the news that the response is written. All work gets c.base.
func (c *Conn) route(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	method := req.Method()
	if !req.IsCall() {
		switch method {
		case methodCancelRequest:
			c.cancelCall(req.Params())
		case methodExit:
			c.exitOnce.Do(func() { close(c.exit) })
		default:
			c.notify(method, req.Params())
		}
		// An error here would end the connection.
		return nil, nil
	}

	// The gate is passed in wire order: a request sent before shutdown must not be
	// refused because its goroutine starts late.
	if err := c.gate(method); err != nil {
		return nil, err
	}
	switch method {
	case methodInitialize:
		result, err := c.safeCall(c.base, method, req.Params())
		if err == nil {
			c.state.Store(int32(stateInitialized))
		}
		return result, err
	case methodShutdown:
		result, err := c.safeCall(c.base, method, req.Params())
		if err == nil {
			c.state.Store(int32(stateShutdown))
		}
		return result, err
	}

	size := len(req.Params())
	if !c.calls.enter(size, c.base.Done(), c.stream.closed) {
		return nil, wireError(c.base, context.Canceled)
	}
	callCtx, done := c.register(req.ID())
	defer done()

	jsonrpc2.Async(ctx) // only now may the next message be read
	answered := ctx.Done()
	go func() {
		<-answered
		c.calls.leave(size)
	}()

	if err := c.stream.waitRoom(callCtx); err != nil {
		return nil, wireError(callCtx, err)
	}
	return c.safeCall(callCtx, req.Method(), req.Params())
}

// gate refuses what the life cycle does not allow now.
func (c *Conn) gate(method string) error {
	switch lifeState(c.state.Load()) {
	case stateCreated:
		if method != methodInitialize {
			return jsonrpc2.Errorf(jsonrpc2.ServerNotInitialized, "%q sent before initialize", method)
		}
	case stateInitialized:
		if method == methodInitialize {
			return jsonrpc2.NewError(jsonrpc2.InvalidRequest, "initialize sent twice")
		}
	case stateShutdown:
		return jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "%q sent after shutdown", method)
	}
	return nil
}

// safeCall calls the handler. A panic is logged with its stack and answered, and
// every error leaves with its code.
func (c *Conn) safeCall(ctx context.Context, method string, params jsonrpc2.RawMessage) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			c.logPanic(method, r)
			result, err = nil, jsonrpc2.Errorf(jsonrpc2.InternalError, "internal error in %s: %v", method, r)
		}
	}()
	raw, err := c.handler.Call(ctx, method, json.RawMessage(params))
	if err != nil {
		wire := wireError(ctx, err)
		if wire.Code == jsonrpc2.InternalError {
			c.opts.Log.Error().Err(err).Str("method", method).Msg("request failed without a code")
		}
		return nil, wire
	}
	return jsonrpc2.RawMessage(raw), nil
}

// notify hands a notification to the handler. Notifications have no answer, so
// whatever goes wrong is logged.
func (c *Conn) notify(method string, params jsonrpc2.RawMessage) {
	defer func() {
		if r := recover(); r != nil {
			c.logPanic(method, r)
		}
	}()
	if lifeState(c.state.Load()) != stateInitialized {
		c.opts.Log.Debug().Str("method", method).Msg("notification outside the session dropped")
		return
	}
	err := c.handler.Notify(c.base, method, json.RawMessage(params))
	switch {
	case err == nil:
	case errors.Is(err, ErrMethodNotFound):
		c.opts.Log.Debug().Str("method", method).Msg("unknown notification dropped")
	default:
		c.opts.Log.Warn().Err(err).Str("method", method).Msg("notification failed")
	}
}

func (c *Conn) logPanic(method string, r any) {
	c.opts.Log.Error().Str("method", method).Str("stack", string(debug.Stack())).Msg(fmt.Sprintf("panic: %v", r))
}

// register makes a call known to $/cancelRequest until done is called.
func (c *Conn) register(id jsonrpc2.ID) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(c.base)
	call := &runningCall{cancel: cancel}
	c.runningMu.Lock()
	c.running[id] = call
	c.runningMu.Unlock()
	return ctx, func() {
		c.runningMu.Lock()
		if c.running[id] == call {
			delete(c.running, id)
		}
		c.runningMu.Unlock()
		cancel()
	}
}

// cancelCall serves $/cancelRequest. An id that is unknown, answered already or
// not an id at all asks for nothing.
func (c *Conn) cancelCall(params jsonrpc2.RawMessage) {
	id, ok := cancelID(params)
	if !ok {
		return
	}
	c.runningMu.Lock()
	call := c.running[id]
	c.runningMu.Unlock()
	if call != nil {
		call.cancel()
	}
}

// cancelID reads the id of a $/cancelRequest: any string, or any integer of 64
// bits, which is what the envelope accepts.
func cancelID(params jsonrpc2.RawMessage) (jsonrpc2.ID, bool) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.ID) == 0 {
		return jsonrpc2.ID{}, false
	}
	if bytes.HasPrefix(p.ID, []byte{'"'}) {
		var s string
		if json.Unmarshal(p.ID, &s) != nil {
			return jsonrpc2.ID{}, false
		}
		return jsonrpc2.NewStringID(s), true
	}
	n, err := strconv.ParseInt(string(p.ID), 10, 64)
	return jsonrpc2.NewNumberID(n), err == nil
}
