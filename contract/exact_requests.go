package contract

// Bounds of the exact reads.
const (
	// DefaultReadLimit is the number of sessions or events on a page of an
	// exact read when none is asked for, MaxReadLimit the largest.
	DefaultReadLimit = 100
	MaxReadLimit     = 1000
	// MaxRenderLimit is the largest number of events that one
	// renderTranscript renders.
	MaxRenderLimit = 2000
	// MaxWindow is the largest number of neighbours on either side of
	// readEvent's target.
	MaxWindow = 50
	// MaxTitles is the largest number of names in one readTitles.
	MaxTitles = 1000
	// DefaultRecordBytes is the size up to which a record (its JSON, and its
	// text) is part of an answer, MaxRecordBytes the most that readEvent can
	// be asked for. In bytes.
	DefaultRecordBytes = 256 << 10
	MaxRecordBytes     = 16 << 20
	// MaxPageBytes is the size of the JSON at which a page ends early, and of
	// the Markdown of one renderTranscript. A single element may exceed it.
	MaxPageBytes = 4 << 20
)

// ListSessionsRequest asks for a page of session headers.
type ListSessionsRequest struct {
	// Filters are those of searchSessions; their Sort means nothing here. Of
	// Events a session must have at least one that passes.
	Filters Filters `json:"filters,omitzero"`
	// Sort is descending, sessions without that time last.
	Sort SessionSort `json:"sort,omitzero"`
	// Limit is the page size, 1 to [MaxReadLimit].
	Limit int `json:"limit,omitzero"`
	// Cursor is nil for the first page.
	Cursor *string `json:"cursor,omitzero"`
	// ExecutionHost is the host to ask; "" is [LocalHost].
	ExecutionHost Host `json:"executionHost,omitzero"`
}

// ReadSessionRequest asks for a slice of a session's raw log.
type ReadSessionRequest struct {
	SessionName
	// FromSeq is the first event wanted; beyond the end there are none.
	FromSeq int64 `json:"fromSeq,omitzero"`
	// Limit is the most events, 1 to [MaxReadLimit].
	Limit         int  `json:"limit,omitzero"`
	ExecutionHost Host `json:"executionHost,omitzero"`
}

// ListEventsRequest asks for a page of a session's event records.
type ListEventsRequest struct {
	SessionName
	// Filters is the events clause of [Filters], flat; nil lets all pass.
	Filters       *EventFilters `json:"filters,omitzero"`
	Limit         int           `json:"limit,omitzero"`
	Cursor        *string       `json:"cursor,omitzero"`
	ExecutionHost Host          `json:"executionHost,omitzero"`
}

// FilterEventsRequest asks for a page of a session's events that have text.
type FilterEventsRequest struct {
	SessionName
	// Filters is the events clause of [Filters], flat; nil lets all pass.
	Filters *EventFilters `json:"filters,omitzero"`
	// Text must occur in the event's text, literally but without regard to
	// case and to the kind and length of white space. Nil is no constraint; a
	// [Parser] refuses blank text.
	Text          *string `json:"text,omitzero"`
	Limit         int     `json:"limit,omitzero"`
	Cursor        *string `json:"cursor,omitzero"`
	ExecutionHost Host    `json:"executionHost,omitzero"`
}

// EventName names an event of a session by its position, its agent's own id,
// or both, which must then agree. At least one is set.
type EventName struct {
	Seq     *int64  `json:"seq,omitzero"`
	EventID *string `json:"eventId,omitzero"`
}

// ReadEventRequest asks for one event and its neighbours.
type ReadEventRequest struct {
	SessionName
	EventName
	// Before and After are how many neighbours, 0 to [MaxWindow].
	Before int `json:"before,omitzero"`
	After  int `json:"after,omitzero"`
	// MaxBytes is the size up to which a record is given, 1 to
	// [MaxRecordBytes].
	MaxBytes      int  `json:"maxBytes,omitzero"`
	ExecutionHost Host `json:"executionHost,omitzero"`
}

// ReadSurfaceRequest asks for a page of what the model still sees.
type ReadSurfaceRequest struct {
	SessionName
	Limit         int     `json:"limit,omitzero"`
	Cursor        *string `json:"cursor,omitzero"`
	ExecutionHost Host    `json:"executionHost,omitzero"`
}

// ReadTitlesRequest asks for the titles of several sessions.
type ReadTitlesRequest struct {
	// Sessions are at most [MaxTitles] names.
	Sessions      List[SessionName] `json:"sessions"`
	ExecutionHost Host              `json:"executionHost,omitzero"`
}

// TraceSessionRequest asks where a session came from and what came from it.
type TraceSessionRequest struct {
	SessionName
	ExecutionHost Host `json:"executionHost,omitzero"`
}

// TraceEventRequest asks what an event was made from, and what became of it.
type TraceEventRequest struct {
	SessionName
	EventName
	ExecutionHost Host `json:"executionHost,omitzero"`
}

// RenderTranscriptRequest asks for a stretch of a session as Markdown.
type RenderTranscriptRequest struct {
	SessionName
	// FromSeq is the first event wanted; beyond the end there are none.
	FromSeq int64 `json:"fromSeq,omitzero"`
	// Limit is the most events, 1 to [MaxRenderLimit].
	Limit int `json:"limit,omitzero"`
	// Thinking includes the model's reasoning where the transcript has it.
	Thinking bool `json:"thinking,omitzero"`
	// Tools is how calls of tools and their output are shown; "" is
	// [ToolsFold].
	Tools         ToolView `json:"tools,omitzero"`
	ExecutionHost Host     `json:"executionHost,omitzero"`
}

// ResumePlanRequest asks how a session is continued.
type ResumePlanRequest struct {
	SessionName
	// Shell is the one the command is quoted for; "" is [ShellPosix].
	Shell         Shell `json:"shell,omitzero"`
	ExecutionHost Host  `json:"executionHost,omitzero"`
}

// Host is the host to ask.
func (r ListSessionsRequest) Host() Host { return r.ExecutionHost }

// Host is the host to ask.
func (r ReadSessionRequest) Host() Host { return r.ExecutionHost }

// Host is the host to ask.
func (r ListEventsRequest) Host() Host { return r.ExecutionHost }

// Host is the host to ask.
func (r FilterEventsRequest) Host() Host { return r.ExecutionHost }

// Host is the host to ask.
func (r ReadEventRequest) Host() Host { return r.ExecutionHost }

// Host is the host to ask.
func (r ReadSurfaceRequest) Host() Host { return r.ExecutionHost }

// Host is the host to ask.
func (r ReadTitlesRequest) Host() Host { return r.ExecutionHost }

// Host is the host to ask.
func (r TraceSessionRequest) Host() Host { return r.ExecutionHost }

// Host is the host to ask.
func (r TraceEventRequest) Host() Host { return r.ExecutionHost }

// Host is the host to ask.
func (r RenderTranscriptRequest) Host() Host { return r.ExecutionHost }

// Host is the host to ask.
func (r ResumePlanRequest) Host() Host { return r.ExecutionHost }
