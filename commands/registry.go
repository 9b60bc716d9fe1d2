// Package commands runs the commands of the contract by name: it reads the
// request, calls the service and writes the answer as JSON. The server and the
// command line go through it, so that both refuse the same requests and print the
// same answers. It holds one file per command; a new command is one new file and
// one line in all.
package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/contract"
)

// all lists the commands in the order of the contract.
func all() []command {
	return []command{
		searchSessions(),
		searchStatus(),
		clearIndex(),
		getPolicy(),
		setPolicy(),
		searchEvents(),
		listSessions(),
		readSession(),
		listEvents(),
		filterEvents(),
		readEvent(),
		readSurface(),
		readTitles(),
		traceSession(),
		traceEvent(),
		renderTranscript(),
		resumePlan(),
		forgetSession(),
	}
}

// command is one command of the contract.
type command struct {
	name  string // without prefix
	quick bool
	run   func(ctx context.Context, of *Registry, request []byte) (any, error)
}

// define joins the parser of a command to what it does.
func define[Q, R any](
	name string,
	parse func(contract.Parser, []byte) (Q, error),
	do func(context.Context, contract.Commands, Q) (R, error),
) command {
	return command{name: name, run: func(ctx context.Context, of *Registry, raw []byte) (any, error) {
		request, err := parse(of.parser, raw)
		if err != nil {
			return nil, err
		}
		return do(ctx, of.service, request)
	}}
}

// onHost is define for a command that does nothing but ask the service. Which host
// is meant is the service's business.
func onHost[Q, R any](
	name string,
	parse func(contract.Parser, []byte) (Q, error),
	do func(contract.Commands, context.Context, Q) (R, error),
) command {
	return define(name, parse, func(ctx context.Context, service contract.Commands, request Q) (R, error) {
		return do(service, ctx, request)
	})
}

// asQuick marks a command that answers from memory or from a small file, or that a
// person waits for with nothing else to do: it is never queued behind searches.
func (c command) asQuick() command {
	c.quick = true
	return c
}

// Registry runs commands on one service. It is safe for concurrent use.
type Registry struct {
	service contract.Commands
	parser  contract.Parser
	prefix  string
	names   []string
	byName  map[string]command

	progress Progress
}

// Progress opens a stream of hits that go out under a client's token (a JSON
// string or integer) ahead of the answer. ctx is the request's.
type Progress func(ctx context.Context, token json.RawMessage) PartialResults

// PartialResults is a stream of hits under way.
type PartialResults interface {
	// Send takes hits over without waiting. An error says that no more can be
	// sent.
	Send(hits []contract.EventHit) error
	// Close waits until all hits are sent, or until the request's context ends.
	Close() error
}

// New returns the commands of service under the prefix; "" means
// contract.CommandPrefix.
func New(service contract.Commands, parser contract.Parser, prefix string) *Registry {
	if prefix == "" {
		prefix = contract.CommandPrefix
	}
	r := &Registry{service: service, parser: parser, prefix: prefix, byName: make(map[string]command)}
	for _, c := range all() {
		name := prefix + "." + c.name
		r.names = append(r.names, name)
		r.byName[name] = c
	}
	return r
}

// WithPrefix returns the same commands under another prefix.
func (r *Registry) WithPrefix(prefix string) *Registry {
	return New(r.service, r.parser, prefix).WithProgress(r.progress)
}

// WithProgress returns the same commands with a way to send partial results.
// Without one a partialResultToken changes nothing.
func (r *Registry) WithProgress(p Progress) *Registry {
	with := *r
	with.progress = p
	return &with
}

// Names lists the full names, such as "sessionls.searchSessions", in the order of
// the contract.
func (r *Registry) Names() []string { return slices.Clone(r.names) }

// Heavy reports whether the command may have to wait for its turn. It is false for
// an unknown name.
func (r *Registry) Heavy(name string) bool {
	cmd, ok := r.byName[name]
	return ok && !cmd.quick
}

// Run runs the command with that full name. arguments are those of a
// workspace/executeCommand: one object, or none for {}. The answer is JSON. Every
// error is a *contract.Error.
func (r *Registry) Run(ctx context.Context, name string, arguments []json.RawMessage) (json.RawMessage, error) {
	cmd, ok := r.byName[name]
	if !ok {
		return nil, r.unknown(name)
	}
	request, err := requestOf(arguments)
	if err != nil {
		return nil, err
	}
	response, err := cmd.run(ctx, r, request)
	if err != nil {
		return nil, coded(ctx, name, err)
	}
	answer, err := Encode(response)
	if err != nil {
		return nil, contract.Internal(fmt.Errorf("writing the answer of %s: %w", name, err))
	}
	return answer, nil
}

// Encode gives the JSON of an answer, or of a part of one.
func Encode(value any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // half of all snippets are code
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// requestOf picks the request object. A single null is what some editors
// send for no argument.
func requestOf(arguments []json.RawMessage) ([]byte, error) {
	if len(arguments) == 1 && string(bytes.TrimSpace(arguments[0])) == "null" {
		return []byte("{}"), nil
	}
	return contract.ParseArgumentList(arguments)
}

// coded gives a code to an error that the service returned without one: a valid
// request failed for a reason that lies in the index or beneath it.
func coded(ctx context.Context, name string, err error) error {
	var known *contract.Error
	switch {
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || !errors.As(err, &known)):
		return contract.Aborted(err)
	case errors.As(err, &known):
		return known
	}
	return contract.Failed(contract.CodeIndexFailed, err, "%s failed: %v", name, err)
}

func (r *Registry) unknown(name string) error {
	shown := []rune(strings.ToValidUTF8(name, "\uFFFD"))
	if len(shown) > 80 {
		shown = append(shown[:80], '…')
	}
	return &contract.Error{
		RPCCode: contract.RPCMethodNotFound,
		Code:    contract.CodeInvalidConfig,
		Field:   "command",
		Allowed: r.Names(),
		Message: fmt.Sprintf("unknown command %q; known are %s", string(shown), strings.Join(r.names, ", ")),
	}
}
