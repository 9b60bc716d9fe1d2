package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/rpc"
)

// hosted is a request that names the host to ask.
type hosted interface{ Host() contract.Host }

// command is what is particular to one command that takes a host.
type command[Q hosted, R any] struct {
	name  string
	local func(contract.Commands, context.Context, Q) (R, error)
	// redact is the contract's own redaction of the answer.
	redact func(R, contract.Transport) R
	// check refuses an answer that is not one to this request. It may be nil.
	check func(Q, *R) error
	// noCursor answers a cursor that is not of this host, noService a host that
	// does not know the command. Nil is the error of an exact read.
	noCursor, noService func() R
	// stream takes what the host sends ahead of the answer. It must not wait; its
	// error ends the request. It may be nil.
	stream func(value json.RawMessage) error
}

// ask answers a request here or on the host that it names, and nowhere else.
func ask[Q hosted, R any](ctx context.Context, h *Hosts, c command[Q, R], request Q) (R, error) {
	var none R
	host := request.Host()
	if host.IsLocal() {
		return c.local(h.opts.Local, ctx, request)
	}
	if contract.TransportOf(ctx) != contract.TransportLocal {
		// One request goes to one host: another machine does not get further by way
		// of this one.
		return none, disabled(host, nil, "%s is not asked for another machine; ask it directly", host)
	}
	wire, err := outgoing(host, request)
	switch {
	case errors.Is(err, contract.ErrMalformedCursor) && c.noCursor != nil:
		return c.noCursor(), nil
	case errors.Is(err, contract.ErrMalformedCursor):
		return none, contract.InvalidParams("cursor", "this is no cursor of %s; leave it out for the first page", host)
	case err != nil:
		return none, contract.Internal(err)
	}
	raw, err := h.answer(ctx, host, c.name, wire, c.stream)
	var theirs *responseError
	switch {
	case errors.As(err, &theirs) && theirs.Code == contract.RPCMethodNotFound && c.noService != nil:
		return c.noService(), nil
	case errors.As(err, &theirs):
		return none, answered(host, c.name, theirs)
	case err != nil:
		return none, err
	}
	response, err := read[R](host, raw)
	if err == nil && c.check != nil {
		err = c.check(request, &response)
	}
	if err != nil {
		return none, strange(host, err)
	}
	if c.redact != nil {
		response = c.redact(response, contract.TransportRemote)
	}
	return response, nil
}

// outgoing is a request as it goes out: without the host, which is the other
// side's own, and with the cursor that the other side made.
func outgoing(host contract.Host, request any) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	var wire map[string]json.RawMessage
	if err := json.Unmarshal(raw, &wire); err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	delete(wire, "executionHost")
	if outer, ok := wire["cursor"]; ok {
		var cursor string
		if json.Unmarshal(outer, &cursor) != nil {
			return nil, contract.ErrMalformedCursor
		}
		inner, err := contract.UnwrapCursor(host, cursor)
		if err != nil {
			return nil, err
		}
		if wire["cursor"], err = json.Marshal(inner); err != nil {
			return nil, fmt.Errorf("writing the request: %w", err)
		}
	}
	return wire, nil
}

// errStream says that what came ahead of an answer was refused; by whom and why is
// known to who refused it.
var errStream = errors.New("what came ahead of the answer was refused")

// answer gets the answer of a host. A connection that was lost is made once more,
// unless a part of the answer has been handed on by then. The error is a
// *responseError if it is the host's own.
func (h *Hosts) answer(ctx context.Context, host contract.Host, name string, wire map[string]json.RawMessage, stream func(json.RawMessage) error) (json.RawMessage, error) {
	delivered := false
	if take := stream; take != nil {
		stream = func(value json.RawMessage) error {
			delivered = true
			return take(value)
		}
	}
	ctx, end := context.WithTimeoutCause(ctx, answerTimeout, silent(answerTimeout))
	defer end()
	for again := true; ; again = false {
		raw, said, err := h.once(ctx, host, name, wire, stream)
		var told *contract.Error
		switch {
		case err == nil:
			return raw, nil
		case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errSilent):
			return nil, contract.Aborted(ctx.Err())
		case errors.As(err, &told):
			return nil, err
		case errors.Is(err, errSilent), ctx.Err() != nil:
			return nil, failed(host, err, "%s does not answer any more; the connection was closed, ask again for a new one", host)
		case errors.Is(err, rpc.ErrBroken):
			return nil, strange(host, err)
		case !isLost(err):
			return nil, err
		case delivered:
			return nil, failed(host, err, "the connection to %s was lost while it answered (%s); ask again", host, wordsOfLoss(err, said))
		case !again:
			return nil, failed(host, err, "the connection to %s was lost twice while it answered (%s); does %s work?", host, wordsOfLoss(err, said), host.Invocation("status"))
		}
	}
}

// once asks over the present connection, or over a new one.
func (h *Hosts) once(ctx context.Context, host contract.Host, name string, wire map[string]json.RawMessage, stream func(json.RawMessage) error) (raw json.RawMessage, stderr string, err error) {
	conn, release, err := h.acquire(ctx, host)
	if err != nil {
		return nil, "", err
	}
	defer func() { release(err) }()
	if !conn.offers[contract.CommandPrefix+"."+name] {
		return nil, "", &responseError{Code: contract.RPCMethodNotFound, Message: "not offered"}
	}
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if stream != nil {
		token, end := conn.stream(func(value json.RawMessage) {
			if stream(value) != nil {
				stop(errStream)
			}
		})
		defer end()
		wire["partialResultToken"] = json.RawMessage(fmt.Sprintf("%q", token))
	}
	request, err := json.Marshal(wire)
	if err != nil {
		return nil, "", contract.Internal(fmt.Errorf("writing the request: %w", err))
	}
	raw, err = conn.execute(within, name, request, h.opts.quiet, h.opts.probeTimeout)
	if err != nil && errors.Is(context.Cause(within), errStream) {
		err = errStream
	}
	return raw, conn.child.stderr.String(), err
}
