package remote

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/sessionls/sessionls/contract"
)

// Failure is under every error that is about another host, not about this
// machine: what mends this machine does not mend it.
type Failure struct {
	Host  contract.Host
	Cause error // may be nil
}

// Error is the cause's message.
func (f *Failure) Error() string {
	if f.Cause == nil {
		return string(f.Host)
	}
	return f.Cause.Error()
}

// Unwrap is the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// FailedHost is the host that the error is about.
func (f *Failure) FailedHost() string { return string(f.Host) }

// failed is the error of a host that gives no answer. Its message says what to
// do.
func failed(host contract.Host, cause error, format string, args ...any) *contract.Error {
	return contract.Failed(contract.CodePersistenceFailed, &Failure{host, cause}, format, args...)
}

// disabled is the error of a host that has no service or no consent.
func disabled(host contract.Host, cause error, format string, args ...any) *contract.Error {
	return contract.Failed(contract.CodeSearchDisabled, &Failure{host, cause}, format, args...)
}

// strange is the error of a host that answers what is not of the contract.
func strange(host contract.Host, cause error) *contract.Error {
	return failed(host, cause, "%s does not answer as a session service would: %s; is its sessionls whole? %s tells", host, brief(cause.Error()), host.Invocation("version"))
}

// failureOfStart says why a service did not come to answer at all. ended tells
// that the command exited by itself, with that code.
func failureOfStart(host contract.Host, cause error, ended bool, code int, stderr, greeting string) *contract.Error {
	target, overSSH := host.SSHTarget()
	said := strings.ToLower(stderr)
	has := func(any ...string) bool {
		for _, part := range any {
			if strings.Contains(said, part) {
				return true
			}
		}
		return false
	}
	words := lastWords(stderr)
	if words == "" {
		words = lastWords(greeting)
	}
	heard := ""
	if words != "" {
		heard = " (" + words + ")"
	}
	if overSSH && ended && code == 255 {
		switch {
		case has("could not resolve", "name or service not known", "no address associated"):
			return failed(host, cause, "%s: ssh does not know this host%s; check the name, or add it to ~/.ssh/config", host, heard)
		case has("host key verification failed", "host identification has changed", "host key is known for"):
			return failed(host, cause, "%s: ssh does not trust the key of this host%s; run `ssh %s` once in a terminal and check it", host, heard, target)
		case has("permission denied", "too many authentication failures", "no more authentication methods"):
			return failed(host, cause, "%s: ssh could not log in%s; nothing can be typed here, so `ssh %s` must work without a password: by a key, or an agent", host, heard, target)
		case has("timed out", "timeout"):
			return failed(host, cause, "%s did not answer in %s%s; is it up, and does `ssh %s` reach it?", host, connectTimeout, heard, target)
		}
		return failed(host, cause, "%s: ssh could not connect%s; does `ssh %s` work?", host, heard, target)
	}
	switch {
	case ended && (code == 127 || has("command not found", "not recognized as", "executable file not found")):
		return failed(host, cause, "%s has no sessionls on its PATH%s; install it there, where shells without a terminal find it: %s must work", host, heard, host.Invocation("version"))
	case ended && code == 126:
		return failed(host, cause, "%s cannot run its sessionls%s; %s must work", host, heard, host.Invocation("version"))
	case ended:
		return failed(host, cause, "%s: the service ended before it answered, with exit code %d%s; does %s work?", host, code, heard, host.Invocation("version"))
	case errors.Is(cause, errSilent):
		return failed(host, cause, "%s gave %v%s; does %s work?", host, cause, heard, host.Invocation("version"))
	}
	return failed(host, cause, "%s prints something that is not of the protocol%s: %s; what do its shell's start files print, and is `sessionls serve` what is started?", host, heard, brief(cause.Error()))
}

// lastWords are the last lines of what a command printed, as one safe line.
func lastWords(printed string) string {
	var lines []string
	for line := range strings.SplitSeq(printed, "\n") {
		if line = strings.Join(strings.FieldsFunc(line, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r) || hidden(r)
		}), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return brief(strings.Join(lines[max(0, len(lines)-2):], " / "))
}

// maxWords bounds what is quoted in a message, in code points.
const maxWords = 240

func brief(s string) string {
	runes := []rune(oneLine(s))
	if len(runes) > maxWords {
		return string(runes[:maxWords]) + "…"
	}
	return string(runes)
}

// answered turns the error that a host answered with into one of this side:
// only codes of the contract pass, and every word is bounded and cleaned.
func answered(host contract.Host, name string, e *responseError) error {
	switch {
	case e.Code == contract.RPCMethodNotFound:
		return noService(host, name, e)
	case e.Code != contract.RPCInvalidParams && e.Code != contract.RPCRequestFailed:
		return failed(host, e, "%s could not answer: %s", host, brief(e.Message))
	}
	data := readErrorData(e.Data)
	message := brief(e.Message) + " (on " + string(host) + ")"
	switch {
	case data.Code == contract.CodeSearchDisabled:
		return disabled(host, e, "search is switched off on %s: its user decides, with %s", host, host.Invocation("enable"))
	case !knownCode(e.Code, data.Code):
		return failed(host, e, "%s could not answer: %s", host, brief(e.Message))
	}
	out := &contract.Error{RPCCode: e.Code, Code: data.Code, Field: data.Field, Allowed: data.Allowed, Message: message, Cause: &Failure{host, e}}
	if data.Candidates != nil {
		out.Candidates = data.Candidates
	}
	return out
}

func noService(host contract.Host, name string, cause error) *contract.Error {
	return disabled(host, cause, "sessionls on %s is too old to answer %s; install a newer one there", host, name)
}

// knownCode reports whether a code of the contract goes with a JSON-RPC code.
func knownCode(rpcCode int, code string) bool {
	switch code {
	case contract.CodeInvalidQuery, contract.CodeInvalidLimit, contract.CodeInvalidFilter,
		contract.CodeInvalidCursor, contract.CodeInvalidWindow, contract.CodeInvalidConfig:
		return rpcCode == contract.RPCInvalidParams
	case contract.CodeSessionNotFound, contract.CodeEventNotFound, contract.CodeSourceConflict,
		contract.CodeCorruptSession, contract.CodeInvalidSurface, contract.CodeInvalidLineage,
		contract.CodeStaleCursor, contract.CodeSearchDisabled, contract.CodeIndexFailed, contract.CodePersistenceFailed:
		return rpcCode == contract.RPCRequestFailed
	}
	return false
}

var errSilent = errors.New("no answer")

func silent(after fmt.Stringer) error { return fmt.Errorf("%w in %s", errSilent, after) }
