package contract

// ListSessionsResponse is a page of headers.
type ListSessionsResponse struct {
	Sessions List[Header] `json:"sessions"`
	Page     Page         `json:"page"`
	// Skipped are sessions that should be on the page and could not be read.
	Skipped []SkippedSession `json:"skipped,omitempty"`
}

// SkippedSession is a session that a request about several had to leave out.
type SkippedSession struct {
	Agent     string `json:"agent"`
	SessionID string `json:"sessionId"`
	// Code is an error code, such as [CodeCorruptSession].
	Code string `json:"code"`
}

// ReadSessionResponse is a slice of a log, with text and data.
type ReadSessionResponse struct {
	Session Header            `json:"session"`
	Events  List[EventRecord] `json:"events"`
	// NextSeq is where the next slice begins; nil at the end of the log.
	NextSeq *int64 `json:"nextSeq"`
}

// EventPage is a page of events of one session, by position: of listEvents
// without text, of filterEvents with it.
type EventPage struct {
	Session Header            `json:"session"`
	Events  List[EventRecord] `json:"events"`
	Page    Page              `json:"page"`
}

// ReadEventResponse is an event and its neighbours, with text and data.
type ReadEventResponse struct {
	Session Header `json:"session"`
	// Target is also among Events.
	Target EventRecord       `json:"target"`
	Events List[EventRecord] `json:"events"`
	// StartSeq and EndSeq are the positions of the first and the last of
	// Events: the window, clamped to the log.
	StartSeq int64 `json:"startSeq"`
	EndSeq   int64 `json:"endSeq"`
}

// ReadSurfaceResponse is a page of the current events, with text, in the order
// in which the model sees them.
type ReadSurfaceResponse struct {
	Session Header `json:"session"`
	// CapturedThroughSeq is the position of the last event of the log; nil
	// for an empty one.
	CapturedThroughSeq *int64            `json:"capturedThroughSeq"`
	Events             List[EventRecord] `json:"events"`
	Page               Page              `json:"page"`
}

// ReadTitlesResponse has one result for each name that was asked for, in the
// order in which they first occurred.
type ReadTitlesResponse struct {
	Titles List[TitleResult] `json:"titles"`
}

// TitleResult is the title of one session, or why there is none.
type TitleResult struct {
	// SessionName is the name as it was asked for.
	SessionName
	Status TitleStatus `json:"status"`
	// Session is set when fulfilled.
	Session *Header `json:"session,omitzero"`
	// Title is the one the session has by itself; nil when all that can be
	// said is its project and date (then the header's title says that).
	Title *Title `json:"title,omitzero"`
	// Code is the error code when rejected.
	Code string `json:"code,omitzero"`
}

// Title is a session's title and where it comes from.
type Title struct {
	Text string `json:"text"`
	// Source is user or agent (somebody named the session), prompt or reply
	// (its first one).
	Source string `json:"source"`
	// Seq is the event that gave it: the record that names the session, or the
	// prompt or reply. Nil where the name stands outside the session's log.
	Seq *int64 `json:"seq"`
}

// TraceSessionResponse is the family of a session.
type TraceSessionResponse struct {
	Target Header `json:"target"`
	// Ancestors are the parent, its parent and so on.
	Ancestors List[Header] `json:"ancestors"`
	// Descendants are the children, each with its own.
	Descendants []LineageNode `json:"descendants"`
	// Complete says that the ancestors reach a session without a parent.
	Complete bool `json:"complete"`
	// Root is that session, the target itself perhaps; nil unless Complete.
	Root *Header `json:"root,omitzero"`
	// UnresolvedParentID is the parent that is not known here; nil if
	// Complete.
	UnresolvedParentID *string `json:"unresolvedParentId,omitzero"`
	// Deeper are the descendants below depth [MaxNesting], parents first.
	Deeper []DeeperSession `json:"deeper,omitempty"`
	// Truncated says that there are more descendants than an answer holds.
	Truncated bool `json:"truncated,omitzero"`
}

// MaxNesting is the depth to which descendants are nested in each other.
const MaxNesting = 200

// LineageNode is a descendant with its own.
type LineageNode struct {
	Session Header `json:"session"`
	// Depth is 1 for a child of the target.
	Depth       int           `json:"depth"`
	Descendants []LineageNode `json:"descendants"`
}

// DeeperSession is a descendant that lies too deep to be nested.
type DeeperSession struct {
	Session         Header `json:"session"`
	ParentSessionID string `json:"parentSessionId"`
	Depth           int    `json:"depth"`
}

// TraceEventResponse is how an event stands to the others of its log.
type TraceEventResponse struct {
	Session Header      `json:"session"`
	Target  EventRecord `json:"target"`
	// ReplacedBy is the event that took the target off the surface; nil if
	// none did.
	ReplacedBy *int64 `json:"replacedBy,omitzero"`
	// ReplacementChain is ReplacedBy, what replaced that, and so on.
	ReplacementChain List[int64] `json:"replacementChain"`
	// ReplacedEventSeqs are the events that the target took off the surface.
	ReplacedEventSeqs List[int64] `json:"replacedEventSeqs"`
	// SourceEventSeqs are what the target was made from, DerivedEventSeqs what
	// was made from it, directly.
	SourceEventSeqs  List[int64] `json:"sourceEventSeqs"`
	DerivedEventSeqs List[int64] `json:"derivedEventSeqs"`
	// DerivedProvenance says that some of the links follow from the format
	// and are not recorded as such.
	DerivedProvenance bool `json:"derivedProvenance"`
	// InheritedFrom is the original of a copied event, where that is known.
	InheritedFrom *InheritedFrom `json:"inheritedFrom,omitzero"`
	// Truncated says that one of the lists is longer than an answer holds.
	Truncated bool `json:"truncated,omitzero"`
}

// InheritedFrom is an event of another session of the same agent.
type InheritedFrom struct {
	SessionID string `json:"sessionId"`
	Seq       int64  `json:"seq"`
}

// RenderTranscriptResponse is a stretch of a session as Markdown.
type RenderTranscriptResponse struct {
	Session Header `json:"session"`
	// Markdown holds no control characters but line feeds, no HTML and no
	// links of the transcript's: nothing in it can be executed.
	Markdown string `json:"markdown"`
	// Lines tell which lines show which event, ascending, without overlaps.
	// Lines that belong to no event (a heading) are in none.
	Lines List[LineRange] `json:"lines"`
	// NextSeq is where the next stretch begins; nil at the end of the log.
	NextSeq *int64 `json:"nextSeq"`
	// Truncated says that a text was too long to be rendered whole.
	Truncated bool `json:"truncated"`
}

// LineRange is the lines that show an event, 0-based, both ends inclusive.
type LineRange struct {
	Line    int   `json:"line"`
	EndLine int   `json:"endLine"`
	Seq     int64 `json:"seq"`
}

// ResumePlanResponse is how a session is continued in a terminal.
type ResumePlanResponse struct {
	Agent     string `json:"agent"`
	SessionID string `json:"sessionId"`
	// Argv is nil when the agent cannot continue a session from a command
	// line, or the id could be taken for something else than an id.
	Argv []string `json:"argv"`
	// Command is Argv quoted for the shell, without cd; nil when Argv is, or
	// when that shell cannot be given it safely.
	Command *string `json:"command"`
	// Cwd is the folder to run it in: the last one the session worked in.
	Cwd      *string             `json:"cwd"`
	Checks   ResumeChecks        `json:"checks"`
	Warnings List[ResumeWarning] `json:"warnings"`
}

// ResumeChecks are what was looked at on the machine; nil is unknown.
type ResumeChecks struct {
	// Binary: the program is on the PATH.
	Binary *bool `json:"binary"`
	// Directory: Cwd exists and is a folder.
	Directory *bool `json:"directory"`
	// Transcript: the session's transcript is there.
	Transcript *bool `json:"transcript"`
}

// ResumeWarning is what stands against continuing a session.
type ResumeWarning struct {
	Code    ResumeWarningCode `json:"code"`
	Message string            `json:"message"`
}
