package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sessionls/sessionls/contract"
)

// Exit codes.
const (
	ExitAnswered    = 0
	ExitNoMatch     = 1
	ExitUsage       = 2 // also: malformed cursor
	ExitUnavailable = 3
	ExitFailed      = 4 // also: stale cursor
	// ExitInterrupted follows the shells: 128 and the number of SIGINT.
	ExitInterrupted = 130
)

// fault is an error with the exit code it ends in and a line that says what to do.
type fault struct {
	code  int
	what  string
	hint  string
	cause error
}

func (f *fault) Error() string { return f.what }
func (f *fault) Unwrap() error { return f.cause }

// usage is a fault of the command line itself.
func usage(hint, format string, args ...any) *fault {
	return &fault{code: ExitUsage, what: fmt.Sprintf(format, args...), hint: hint}
}

// unavailable says why there is no search.
func unavailable(hint, format string, args ...any) *fault {
	return &fault{code: ExitUnavailable, what: fmt.Sprintf(format, args...), hint: hint}
}

// failed wraps an error that is nobody's mistake.
func failed(cause error, format string, args ...any) *fault {
	return &fault{code: ExitFailed, what: fmt.Sprintf(format, args...) + ": " + cause.Error(), cause: cause}
}

// silent ends with a code and prints nothing: the answer said it already.
func silent(code int) *fault { return &fault{code: code} }

// flagOf names the flag that a field of a request comes from.
func flagOf(field string) string {
	switch field {
	case "filters.types", "filters.roles", "filters.tools", "filters.surfaces":
		return "--" + strings.TrimSuffix(strings.TrimPrefix(field, "filters."), "s")
	case "filters.seq", "filters.seq.from", "fromSeq":
		return "--from"
	case "filters.seq.to":
		return "--to"
	case "filters.time", "filters.time.from":
		return "--since"
	case "filters.time.to":
		return "--until"
	case "seq", "eventId":
		return "--event"
	case "filters.agents", "agent":
		return "--agent"
	case "filters.scopePaths":
		return "--path"
	case "filters.since":
		return "--since"
	case "filters.until":
		return "--until"
	case "filters.sort":
		return "--sort"
	case "executionHost":
		return "--host"
	case "historyDays":
		return "--days"
	case "scope", "limit", "cursor", "debug", "text", "shell", "tools":
		return "--" + field
	case "freshness":
		return "--fresh"
	case "sessionId":
		return "SESSION"
	case "query":
		return "QUERY"
	}
	return field
}

// explain makes a fault of any error.
func explain(ctx context.Context, err error) *fault {
	if ctx.Err() != nil && !errors.As(err, new(*fault)) {
		return &fault{code: ExitInterrupted, what: "interrupted", cause: err}
	}
	var own *fault
	if errors.As(err, &own) {
		return own
	}
	var refused *contract.Error
	if !errors.As(err, &refused) {
		return &fault{code: ExitFailed, what: err.Error(), hint: "see `sessionls doctor`", cause: err}
	}
	what := refused.Message
	if refused.Field != "" {
		// The message begins with the field's name; here it is a flag's.
		what = flagOf(refused.Field) + ": " + strings.TrimPrefix(what, refused.Field+": ")
	}
	f := &fault{code: ExitFailed, what: what, cause: err}
	elsewhere := failedElsewhere(err)
	switch {
	case refused.RPCCode == contract.RPCInvalidParams:
		f.code = ExitUsage
	case refused.Code == contract.CodeSearchDisabled && elsewhere:
		f.code = ExitUnavailable
	case elsewhere && (refused.Code == contract.CodeIndexFailed || refused.Code == contract.CodePersistenceFailed):
		// The message says what to do.
	case refused.Code == contract.CodeSearchDisabled:
		f.code = ExitUnavailable
		f.hint = enableHint
	case refused.Code == contract.CodeSessionNotFound:
		f.code = ExitNoMatch
		f.hint = "find its id with `sessionls search`; 8 or more characters of its beginning are enough"
	case refused.Code == contract.CodeEventNotFound:
		f.code = ExitNoMatch
	case refused.Code == contract.CodeSourceConflict:
		f.hint = "name one of these"
		if names := candidateLines(candidates(refused)); names != "" {
			f.what += "\n" + names
		}
	case refused.Code == contract.CodeIndexFailed, refused.Code == contract.CodePersistenceFailed, refused.RPCCode == contract.RPCInternalError:
		if refused.Cause != nil && !strings.Contains(what, refused.Cause.Error()) {
			f.what += ": " + refused.Cause.Error()
		}
		f.hint = "see `sessionls doctor`"
	}
	return f
}

const enableHint = "`sessionls enable` lets it read your agents' transcripts; nothing leaves this machine"

// candidate is a session that a name may mean.
type candidate struct {
	Agent     string `json:"agent"`
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
}

// candidates reads what an ambiguous name may mean from its wire form, as a remote
// answer would have it.
func candidates(refused *contract.Error) []candidate {
	raw, err := json.Marshal(refused.Candidates)
	if err != nil {
		return nil
	}
	var known []candidate
	if json.Unmarshal(raw, &known) != nil {
		return nil
	}
	return known
}

// candidateLines lists candidates, one a line.
func candidateLines(known []candidate) string {
	const most = 20
	var lines []string
	for i, k := range known {
		if i == most {
			lines = append(lines, fmt.Sprintf("  … and %d more", len(known)-most))
			break
		}
		lines = append(lines, strings.TrimRight("  "+cleanLine(k.Agent+":"+k.SessionID)+"  "+truncate(cleanLine(k.Title), 60), " "))
	}
	return strings.Join(lines, "\n")
}
