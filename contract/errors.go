package contract

import (
	"errors"
	"fmt"
	"strings"
)

// JSON-RPC error codes the service answers with.
const (
	RPCInvalidRequest       = -32600 // after shutdown
	RPCMethodNotFound       = -32601 // unknown command
	RPCInvalidParams        = -32602 // bad request
	RPCInternalError        = -32603
	RPCServerNotInitialized = -32002 // before initialize
	RPCRequestCancelled     = -32800
	RPCRequestFailed        = -32803 // a valid request that cannot be answered
)

// Codes of error.data.code.
const (
	// With RPCInvalidParams.
	CodeInvalidQuery  = "SESSION_QUERY_INVALID_QUERY"
	CodeInvalidLimit  = "SESSION_QUERY_INVALID_LIMIT"
	CodeInvalidFilter = "SESSION_QUERY_INVALID_FILTER"
	CodeInvalidCursor = "SESSION_QUERY_INVALID_CURSOR"
	CodeInvalidWindow = "SESSION_QUERY_INVALID_WINDOW"
	CodeInvalidConfig = "SESSION_QUERY_INVALID_CONFIG"

	// With RPCRequestFailed.
	CodeSessionNotFound   = "SESSION_QUERY_SESSION_NOT_FOUND"
	CodeEventNotFound     = "SESSION_QUERY_EVENT_NOT_FOUND"
	CodeSourceConflict    = "SESSION_QUERY_SOURCE_CONFLICT"
	CodeCorruptSession    = "SESSION_QUERY_CORRUPT_SESSION"
	CodeInvalidSurface    = "SESSION_QUERY_INVALID_SURFACE"
	CodeInvalidLineage    = "SESSION_QUERY_INVALID_LINEAGE"
	CodeStaleCursor       = "SESSION_QUERY_STALE_CURSOR"
	CodeSearchDisabled    = "SESSION_QUERY_SEARCH_DISABLED"
	CodeIndexFailed       = "SESSION_QUERY_INDEX_FAILED"
	CodePersistenceFailed = "SESSION_QUERY_PERSISTENCE_FAILED"

	// With RPCRequestCancelled.
	CodeAborted = "SESSION_QUERY_ABORTED"
)

// ErrNotReady is the cause of the INDEX_FAILED of a request for which there is no
// index to answer from, where searchSessions answers [ReasonNotReady]. It stays in
// this process.
var ErrNotReady = errors.New("the index is not ready")

// Error is the failure of a request, as the JSON-RPC error it becomes.
type Error struct {
	// RPCCode is error.code.
	RPCCode int
	// Code is error.data.code; "" when the error has no data ([Internal]).
	Code string
	// Field is the dotted path of the offending field, such as
	// "filters.agents"; "" when no field is to blame.
	Field string
	// Allowed are the values the field takes, when they can be listed.
	Allowed []string
	// Candidates are the sessions an ambiguous name may mean.
	Candidates any
	// Message says what was wrong and what was allowed.
	Message string
	// Cause is the error underneath, for the log; it is not sent.
	Cause error
}

// ErrorData is error.data of a JSON-RPC error.
type ErrorData struct {
	Code       string   `json:"code"`
	Field      string   `json:"field,omitempty"`
	Allowed    []string `json:"allowed,omitempty"`
	Candidates any      `json:"candidates,omitempty"`
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Data is what goes into error.data.
func (e *Error) Data() ErrorData {
	return ErrorData{Code: e.Code, Field: e.Field, Allowed: e.Allowed, Candidates: e.Candidates}
}

// Failed is a RequestFailed error: the request is valid and cannot be answered.
func Failed(code string, cause error, format string, args ...any) *Error {
	return &Error{RPCCode: RPCRequestFailed, Code: code, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// Aborted is the error of a request that was cancelled.
func Aborted(cause error) *Error {
	return &Error{RPCCode: RPCRequestCancelled, Code: CodeAborted, Message: "the request was cancelled", Cause: cause}
}

// Internal is the error of a fault in the service itself. The contract has no
// code for one, so it has no data.
func Internal(cause error) *Error {
	return &Error{RPCCode: RPCInternalError, Message: "internal error", Cause: cause}
}

// InvalidParams is the error of a request with a bad field; the message begins
// with the field's name. The code follows from the field.
func InvalidParams(field, format string, args ...any) *Error {
	return &Error{
		RPCCode: RPCInvalidParams,
		Code:    CodeForField(field),
		Field:   field,
		Message: field + ": " + fmt.Sprintf(format, args...),
	}
}

// NotAllowed is the error of a field whose value is none of the allowed ones.
func NotAllowed(field, value string, allowed []string) *Error {
	e := InvalidParams(field, "%s is not known; allowed: %s", quote(value), strings.Join(allowed, ", "))
	e.Allowed = allowed
	return e
}

// CodeForField is the error code of a bad field, named by its dotted path. A
// cursor of searchSessions is the exception: there a bad one is an answer, and
// one that is no string is a bad configuration like any other field.
func CodeForField(field string) string {
	first, _, _ := strings.Cut(field, ".")
	switch first {
	case "query":
		return CodeInvalidQuery
	case "limit":
		return CodeInvalidLimit
	case "filters", "text":
		return CodeInvalidFilter
	case "cursor":
		return CodeInvalidCursor
	case "before", "after", "fromSeq":
		return CodeInvalidWindow
	}
	return CodeInvalidConfig
}
