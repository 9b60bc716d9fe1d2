// Package transcript is the one model into which every agent's files are read:
// sessions with headers, events with a surface, text in parts (model.go); what
// a reader is and how far it came (reader.go, checkpoint.go, locate.go); and
// what all readers share: JSON lines and documents of any size (lines.go,
// heads.go, document.go), walks (walk.go), what is text and what a person typed
// (text.go, noise.go), titles, times and paths.
//
// The agents' own packages lie below it, one each; package agents lists them.
// They walk JSON with package jsonv, read calls of tools with package toolargs
// and other programs' databases with package sqlitero. Facts about files come
// from formats.md, what they mean from lineage.md, what is text from
// matching.md.
package transcript

import (
	"slices"
	"time"
)

// Role says who speaks in an event, in the contract's words.
type Role string

// The roles of contract.md §4.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
	RoleSystem    Role = "system"
	RoleUnknown   Role = "unknown"
)

// Surface says whether the model still sees an event.
type Surface string

// The surfaces of contract.md §1.
const (
	Current  Surface = "current"
	Shadowed Surface = "shadowed" // compacted, rewound or rolled back
	LogOnly  Surface = "log-only" // never model context
)

// Relation says how a session came from its parent.
type Relation string

// The relations of contract.md §1.
const (
	RelationRoot         Relation = "root"
	RelationFork         Relation = "fork"
	RelationSubagent     Relation = "subagent"
	RelationContinuation Relation = "continuation"
)

// Evidence says how sure a parent is (lineage.md §1).
type Evidence string

// The kinds of lineage evidence.
const (
	EvidenceHeader  Evidence = "header"
	EvidenceLine    Evidence = "line"
	EvidenceOverlap Evidence = "overlap"
	EvidencePath    Evidence = "path"
)

// Normalized event types (lineage.md §1.1). Readers keep the agent's own word
// in Event.RawType; a type that fits none of these is passed on as it is.
//
// A summary that stands for what was compacted is the same with every agent:
// TypeCompaction, role system, its own words as Prose, no Message, never a
// title. (DeepSeek Harness, whose vocabulary this is, has it as a user/message
// of its own; the rest holds there too.)
const (
	TypeUserMessage      = "user/message"
	TypeAssistantMessage = "assistant/message"
	TypeReasoning        = "assistant/reasoning"
	TypeToolCall         = "tool/call"
	TypeToolResult       = "tool/result"
	TypeTodoWrite        = "todo/write"
	TypeTurnStart        = "turn/start"
	TypeTurnEnd          = "turn/end"
	TypeTitle            = "session/title"
	TypeSessionMeta      = "session/meta"
	TypeCompaction       = "compaction/summary"
	TypeCompactBoundary  = "compaction/boundary"
	TypeContext          = "request/context"
	TypeSystem           = "system/message"
	TypeOther            = "other"
)

// SubagentMark stands between the id of a session and that of its sub-agent,
// where the agent keeps sub-agents in side files or inline.
const SubagentMark = "#agent-"

// PartKind tells the three streams of text apart that people search differently.
type PartKind uint8

const (
	// Prose is what a person typed or the model said.
	Prose PartKind = iota
	// Call is a tool call: name, command, arguments. Kept whole.
	Call
	// Output is what a tool printed. Reduced by the index (matching.md rule 11).
	Output
)

// Part is one piece of an event's searchable text. Noise (matching.md rule 12)
// is left out by the reader, so Text is what a search may find.
type Part struct {
	Kind PartKind
	Text string
}

// Event is one record of a session. It belongs to the reader: a Sink copies
// what it keeps.
type Event struct {
	SessionID string
	// Seq is the dense position from 0 in the session's log, one for each
	// physical record that belongs to it (bookkeeping records too).
	Seq int
	ID  string // the agent's own id of the record, "" if it has none
	// Type is the normalized type, RawType the agent's own.
	Type, RawType string
	Role          Role
	Time          time.Time // zero if unknown
	Surface       Surface
	// Inherited marks a record copied from a parent session; it is recorded
	// but never indexed, so that a search shows the owner's copy only.
	Inherited bool
	// Message marks an own user or assistant message for the header's count:
	// true once per message, however many records it is stored in; never for
	// meta records and tool results.
	Message bool
	Parts   []Part
	Tools   []string // names of the tools called or answering
	Files   []string // paths an edit, write or read touched, absolute where the cwd is known
	Failed  bool     // a tool result that reports failure
	// Offset and Length locate the record in its file, in bytes; Length 0 when
	// it is not a byte range (a row of a database, part of a document).
	Offset, Length int64
}

// TitleSource says which rule of formats.md §2.8 gave a title.
type TitleSource string

// The sources of a title, strongest first.
const (
	TitleUser     TitleSource = "user"
	TitleAgent    TitleSource = "agent"
	TitlePrompt   TitleSource = "prompt"
	TitleReply    TitleSource = "reply"
	TitleFallback TitleSource = "fallback"
)

// Header is what is known of a session as a whole after its source was read.
type Header struct {
	SessionID            string
	Title                string // never empty once finished by FinishTitle
	TitleSource          TitleSource
	TitleAt              int      // position of the event that gave the title, plus one; 0 if none did
	CWD                  string   // the first recorded one, "" if unknown; never decoded from a folder name
	CWDs                 []string // the others, in order of appearance
	LastCWD              string   // the last recorded one; not kept in the index
	Branch               string   // the last recorded one
	Model                string   // the last recorded one
	Models               []string // all, in order of appearance
	RepoURL              string
	CreatedAt, UpdatedAt time.Time // zero if unknown
	MessageCount         int       // own user and assistant messages (Event.Message)
	Relation             Relation
	ParentID             string // "" for a root; kept even when the parent is unknown here
	ParentEvent          string
	LineageEvidence      Evidence
	InheritedCount       int // leading copied events
	InheritedKnown       bool
	DelegationDepth      int
	Automated            bool   // started by a program (SDK, exec, an orchestrator, a model), not typed by a person
	Entrypoint           string // cli, ide, sdk, exec… in the agent's own word
	Format               string // version or name of the file's format
	Archived             bool
	Warnings             []string // at most MaxWarnings
	// Conversation is false for a file of bookkeeping records only: it is no
	// session and is not listed.
	Conversation bool
}

// Clone copies a header with its lists: a reader that goes on later completes
// and hands over a copy.
func (h *Header) Clone() Header {
	c := *h
	c.CWDs, c.Models, c.Warnings = slices.Clone(h.CWDs), slices.Clone(h.Models), slices.Clone(h.Warnings)
	return c
}

const (
	// MaxWarnings bounds Header.Warnings.
	MaxWarnings = 20
	maxListed   = 64 // models and folders of a header
)

// Warn adds a warning once, within MaxWarnings.
func (h *Header) Warn(msg string) {
	if len(h.Warnings) >= MaxWarnings {
		return
	}
	if !slices.Contains(h.Warnings, msg) {
		h.Warnings = append(h.Warnings, msg)
	}
}

// SawModel records a model name.
func (h *Header) SawModel(name string) {
	if name == "" {
		return
	}
	h.Model = name
	if len(h.Models) < maxListed && !slices.Contains(h.Models, name) {
		h.Models = append(h.Models, name)
	}
}

// SawCWD records a working directory: the first becomes CWD, later different
// ones are added to CWDs.
func (h *Header) SawCWD(dir string) {
	if dir == "" {
		return
	}
	h.LastCWD = dir
	if dir == h.CWD {
		return
	}
	if h.CWD == "" {
		h.CWD = dir
		return
	}
	if len(h.CWDs) < maxListed && !slices.Contains(h.CWDs, dir) {
		h.CWDs = append(h.CWDs, dir)
	}
}

// SawTime widens CreatedAt and UpdatedAt. Times more than a day ahead of now
// are kept on the event but never move UpdatedAt (contract.md §4).
func (h *Header) SawTime(t, now time.Time) {
	if t.IsZero() || t.After(now.Add(24*time.Hour)) {
		return
	}
	if h.CreatedAt.IsZero() || t.Before(h.CreatedAt) {
		h.CreatedAt = t
	}
	if t.After(h.UpdatedAt) {
		h.UpdatedAt = t
	}
}
