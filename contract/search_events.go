package contract

import (
	"encoding/json"
	"strings"
	"unicode"
)

// SearchMode is how searchEvents looks for events.
type SearchMode string

// ModeIndex, the default, asks the index, by the rules of searchSessions and
// in its order. ModeScan reads the transcripts themselves.
const (
	ModeIndex SearchMode = "index"
	ModeScan  SearchMode = "scan"
)

// Bounds of searchEvents.
const (
	// DefaultEventLimit is the number of hits when none is asked for,
	// MaxEventLimit the largest.
	DefaultEventLimit = 20
	MaxEventLimit     = 1000
	// MaxScanQuery is the longest text that a scan looks for, MaxPattern the
	// longest regular expression, in bytes.
	MaxScanQuery = 64 << 10
	MaxPattern   = 4 << 10
	// MaxProgressToken is the longest partialResultToken, in bytes of JSON.
	MaxProgressToken = 1 << 10
)

// SearchEventsRequest asks for events, of one session or of all. One that a
// [Parser] has read has all defaults filled in; [NewSearchEventsRequest] fills
// them in for callers within the program.
type SearchEventsRequest struct {
	// SessionName is the session to search; without an id all are.
	SessionName
	Query     string
	Scope     Scope
	Freshness Freshness
	// Filters are those of searchSessions. Of a request that names a session
	// only Events and Sort count; on the wire its filters are those of
	// listEvents with sort added.
	Filters Filters
	// Limit is the most hits, to [MaxEventLimit]; with 0 or less there are none.
	Limit int
	// Cursor is nil for the first page. A scan has no further ones.
	Cursor *string
	Mode   SearchMode
	// Regex has the query of a scan taken for a regular expression.
	Regex bool
	// PartialResultToken, a JSON string or integer, has the hits sent ahead of
	// the answer, which then holds none; nil if they are not.
	PartialResultToken json.RawMessage
	// ExecutionHost is the host to ask; "" is [LocalHost].
	ExecutionHost Host

	// OnHits takes the hits as they are found, in their order, none twice; the
	// answer then holds none. It is called from one goroutine at a time, must
	// not wait, and its error ends the search. Who serves a request that has a
	// token sets it; it does not travel.
	OnHits func(hits []EventHit) error
}

// NewSearchEventsRequest is a first page for query with every default.
func NewSearchEventsRequest(query string) SearchEventsRequest {
	return SearchEventsRequest{
		Query: query, Scope: ScopeAll, Freshness: FreshnessIndexed, Limit: DefaultEventLimit,
		Filters: Filters{Sort: SortRelevance}, Mode: ModeIndex, ExecutionHost: LocalHost,
	}
}

// Host is the host to ask.
func (r SearchEventsRequest) Host() Host { return r.ExecutionHost }

// OfSession reports whether one session is searched.
func (r SearchEventsRequest) OfSession() bool { return r.SessionID != "" }

// AsksNothing reports whether the request is answered without looking anywhere:
// its text is blank, its limit leaves no room, or it wants events of no type.
func (r SearchEventsRequest) AsksNothing() bool {
	events := r.Filters.Events
	return r.Limit <= 0 || strings.TrimFunc(r.Query, unicode.IsSpace) == "" ||
		events != nil && events.Types != nil && len(events.Types) == 0
}

// flatFilters are the filters of a request that names a session.
type flatFilters struct {
	EventFilters
	Sort Sort `json:"sort,omitzero"`
}

// MarshalJSON writes the request as a [Parser] reads it.
func (r SearchEventsRequest) MarshalJSON() ([]byte, error) {
	wire := struct {
		SessionID          string          `json:"sessionId,omitzero"`
		Agent              string          `json:"agent,omitzero"`
		Query              string          `json:"query"`
		Scope              Scope           `json:"scope,omitzero"`
		Freshness          Freshness       `json:"freshness,omitzero"`
		Filters            any             `json:"filters,omitempty"`
		Limit              int             `json:"limit"`
		Cursor             *string         `json:"cursor,omitzero"`
		Mode               SearchMode      `json:"mode,omitzero"`
		Regex              bool            `json:"regex,omitzero"`
		PartialResultToken json.RawMessage `json:"partialResultToken,omitempty"`
		ExecutionHost      Host            `json:"executionHost,omitzero"`
	}{
		r.SessionID, r.Agent, r.Query, r.Scope, r.Freshness, r.Filters, r.Limit, r.Cursor, r.Mode, r.Regex, r.PartialResultToken, r.ExecutionHost,
	}
	if r.OfSession() {
		flat := flatFilters{Sort: r.Filters.Sort}
		if r.Filters.Events != nil {
			flat.EventFilters = *r.Filters.Events
		}
		wire.Filters = flat
	}
	return marshal(wire)
}

// SearchEventsResponse is a page of events.
type SearchEventsResponse struct {
	// Session is the one that was named, also when it has no hit; nil when all
	// were searched, and when the request asked for nothing.
	Session *Header `json:"session,omitzero"`
	// Hits are empty when they were sent ahead.
	Hits List[EventHit] `json:"hits"`
	// Page has no cursor after a scan; its HasMore then says that the scan
	// ended before the last session because it had found enough.
	Page  Page       `json:"page"`
	Total EventTotal `json:"total"`
	// Truncated is as in the answer of searchSessions.
	Truncated Truncated `json:"truncated"`
	// DurationMs is the time of the search itself, without any wait.
	DurationMs  float64      `json:"durationMs"`
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
	// Skipped are sessions that could not be scanned, at most
	// [MaxSkippedSessions].
	Skipped []SkippedSession `json:"skipped,omitempty"`
}

// MaxSkippedSessions bounds the list of sessions that could not be read.
const MaxSkippedSessions = 1000

// EventTotal counts the events that match, on all pages; those of a scan up to
// its end.
type EventTotal struct {
	Events int `json:"events"`
	// Exact is false when there may be more.
	Exact bool `json:"exact"`
}

// EventHit is an event with the place of the match.
type EventHit struct {
	EventRecord
	// ExecutionHostID is the host that was asked; absent for this machine.
	ExecutionHostID Host `json:"executionHostId,omitzero"`
	// Snippet and Marks are as in [Evidence].
	Snippet string     `json:"snippet"`
	Marks   List[Mark] `json:"marks"`
	// Score orders the hits of the index by relevance; a scan gives 0.
	Score float64 `json:"score"`
}

// PartialHits is the value of the $/progress notifications by which hits go
// out ahead of the answer.
type PartialHits struct {
	// Kind is [KindHits].
	Kind Kind           `json:"kind"`
	Hits List[EventHit] `json:"hits"`
}

// KindHits is the kind of [PartialHits].
const KindHits Kind = "hits"

// RedactEvents is the answer of searchEvents as it may travel. Text travels as
// it is.
func RedactEvents(r SearchEventsResponse, transport Transport) SearchEventsResponse {
	r.Session = redactOptional(r.Session, transport)
	return r
}
