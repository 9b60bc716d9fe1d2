package contract

import "encoding/json"

// Header describes one session.
type Header struct {
	Agent     string `json:"agent"`
	SessionID string `json:"sessionId"`
	// ExecutionHostID is the host that was asked; absent for this machine.
	ExecutionHostID Host     `json:"executionHostId,omitzero"`
	CreatedAt       *Instant `json:"createdAt"`
	UpdatedAt       *Instant `json:"updatedAt"`
	Cwd             *string  `json:"cwd"`
	Branch          *string  `json:"branch"`
	Model           *string  `json:"model"`
	// Title is never empty.
	Title        string   `json:"title"`
	MessageCount int      `json:"messageCount"`
	Automated    bool     `json:"automated"`
	Active       bool     `json:"active"`
	Relation     Relation `json:"relation"`
	// ParentSessionID may be a path when the agent recorded one and no session
	// was found there.
	ParentSessionID *string `json:"parentSessionId"`
	// ParentEvent is the agent's own id (or position) of the branch point.
	ParentEvent *string `json:"parentEvent"`
	// LineageEvidence is how sure the parent is: header, line, overlap or path.
	LineageEvidence *string `json:"lineageEvidence"`
	// InheritedEventCount is how many events were copied from the parent; it
	// is reliable when InheritedKnown.
	InheritedEventCount int      `json:"inheritedEventCount"`
	InheritedKnown      bool     `json:"inheritedKnown"`
	DelegationDepth     int      `json:"delegationDepth"`
	Presence            Presence `json:"presence"`
	// SourcePath is the transcript; it never leaves this machine.
	SourcePath string `json:"sourcePath,omitzero"`
	// Format names the transcript's format and version.
	Format       string       `json:"format"`
	FormatStatus FormatStatus `json:"formatStatus"`
	// Epoch changes when the log is rewritten, not when it grows.
	Epoch    int64        `json:"epoch"`
	Warnings List[string] `json:"warnings"`
}

// EventRecord is one event of a session. Text and Data are there only in the
// answers that promise them.
type EventRecord struct {
	Agent     string `json:"agent"`
	SessionID string `json:"sessionId"`
	// Seq is the event's position in its log, from 0 and without gaps.
	Seq     int64   `json:"seq"`
	EventID *string `json:"eventId"`
	// Type is our word for the kind of event, RawType the agent's.
	Type      string   `json:"type"`
	RawType   string   `json:"rawType"`
	Role      Role     `json:"role"`
	Time      *Instant `json:"time"`
	Surface   Surface  `json:"surface"`
	Inherited bool     `json:"inherited"`
	// Synthetic events balance an interrupted turn; they are no record of the
	// agent.
	Synthetic bool `json:"synthetic,omitzero"`
	// Text is the event's text; nil in a record without.
	Text *string `json:"text,omitzero"`
	// TextTruncated says that the text was too long to be sent whole.
	TextTruncated bool `json:"textTruncated,omitzero"`
	// Data is the agent's own record as JSON, nil in a record without, and
	// `null` when only the kept copy is left or the record is too large.
	Data json.RawMessage `json:"data,omitzero"`
	// DataBytes is the size of a record that was too large to be sent.
	DataBytes     int64 `json:"dataBytes,omitzero"`
	DataTruncated bool  `json:"dataTruncated,omitzero"`
}
