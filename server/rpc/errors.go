package rpc

import (
	"context"
	"encoding/json"
	"errors"

	"go.lsp.dev/jsonrpc2"

	"github.com/sessionls/sessionls/contract"
)

// ErrMethodNotFound is what a Handler returns for a method it does not serve. A request
// is answered with -32601, a notification is dropped.
var ErrMethodNotFound = errors.New("method not found")

// wireError gives an error its JSON-RPC form, here and nowhere else:
//
//   - whatever a request returns because its ctx ended is -32800 ABORTED, also when
//     the layer below says only "interrupted";
//   - a contract.Error has its own code, field, allowed values and candidates;
//   - ErrMethodNotFound is -32601;
//   - any other error is one that nobody foresaw, a fault of the service: -32603.
func wireError(ctx context.Context, err error) *jsonrpc2.Error {
	var coded *contract.Error
	var wire *jsonrpc2.Error
	isCoded := errors.As(err, &coded)
	switch {
	case ctx.Err() != nil && (!isCoded || errors.Is(err, context.Canceled)):
		coded = contract.Aborted(err)
	case isCoded:
	case errors.Is(err, ErrMethodNotFound):
		return jsonrpc2.NewError(jsonrpc2.MethodNotFound, err.Error())
	case errors.As(err, &wire):
		return wire
	default:
		return jsonrpc2.NewError(jsonrpc2.InternalError, "internal error: "+err.Error())
	}
	out := jsonrpc2.NewError(jsonrpc2.Code(coded.RPCCode), coded.Message)
	if coded.Code != "" {
		// Candidates may hold anything; an error that cannot be shown in full is
		// still better shown without them than lost.
		data, err := json.Marshal(coded.Data())
		if err != nil {
			data, _ = json.Marshal(contract.ErrorData{Code: coded.Code, Field: coded.Field, Allowed: coded.Allowed})
		}
		out.Data = data
	}
	return out
}
