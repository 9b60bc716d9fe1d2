package server

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/sessionls/sessionls/contract"
)

// executeCommand serves workspace/executeCommand. The answer of a command is sent as the
// bytes it was encoded to.
func (s *server) executeCommand(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(params, &fields); err != nil && isObject(params) {
		return nil, contract.InvalidParams("params", "the object cannot be read: %v", err)
	}
	if fields == nil {
		return nil, contract.InvalidParams("params", "want an object with command and arguments")
	}
	var name *string
	if json.Unmarshal(fields["command"], &name) != nil || name == nil {
		return nil, contract.InvalidParams("command", "a string is required")
	}
	var arguments []json.RawMessage
	if raw := fields["arguments"]; len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &arguments); err != nil {
			return nil, contract.InvalidParams("arguments", "want a list of one object")
		}
	}
	if s.commands.Heavy(*name) {
		turns := s.heavy
		if isElsewhere(arguments) {
			turns = s.elsewhere
		}
		done, err := turns.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
	}
	return s.commands.Run(ctx, *name, arguments)
}

// isElsewhere reports whether a request names another host. One that waits for
// the network must not keep others from this machine's index.
func isElsewhere(arguments []json.RawMessage) bool {
	if len(arguments) != 1 {
		return false
	}
	host, ok := contract.ParseHost(text(dig(arguments[0], "executionHost")))
	return ok && !host.IsLocal()
}
