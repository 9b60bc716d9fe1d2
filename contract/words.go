package contract

// Ids of the agents whose transcripts are read: lower case and stable. A
// reader registers itself under one of them.
const (
	AgentClaude   = "claude"   // Claude Code
	AgentCodex    = "codex"    // Codex
	AgentPi       = "pi"       // Pi
	AgentDsh      = "dsh"      // DeepSeek Harness
	AgentGemini   = "gemini"   // Gemini CLI
	AgentOpenCode = "opencode" // OpenCode
	AgentCopilot  = "copilot"  // GitHub Copilot CLI
	AgentVSCode   = "vscode"   // VS Code Copilot Chat
	AgentCursor   = "cursor"   // Cursor, the editor and its command line tool
	AgentCline    = "cline"    // Cline, the extension and its command line tool
)

// Agents lists the ids above in their fixed order. The slice is the caller's
// own.
func Agents() []string {
	return []string{
		AgentClaude, AgentCodex, AgentPi, AgentDsh,
		AgentGemini, AgentOpenCode, AgentCopilot, AgentVSCode, AgentCursor, AgentCline,
	}
}

// Scope says which texts a search looks at.
type Scope string

// ScopeConversation is user and assistant text, titles, branch and project,
// never tool output; ScopeAll, the default, is everything.
const (
	ScopeConversation Scope = "conversation"
	ScopeAll          Scope = "all"
)

// Freshness says what must be in the index before a search runs.
type Freshness string

// FreshnessIndexed, the default, searches what is there. FreshnessWait first
// reconciles with the disk, for at most five seconds.
const (
	FreshnessIndexed Freshness = "indexed"
	FreshnessWait    Freshness = "wait-until-current"
)

// Sort is the order of hits.
type Sort string

// SortRelevance, the default, is score descending; SortNewest is updatedAt
// descending with null last. Ties go by session row id ascending in both.
const (
	SortRelevance Sort = "relevance"
	SortNewest    Sort = "newest"
)

// Presence is what is known about a session's transcript.
type Presence string

// PresencePresent: it is there. PresenceUnverifiable: nothing is proven, its
// root is gone or unreadable. PresenceMissing: proven gone, the kept copy
// answers.
const (
	PresencePresent      Presence = "present"
	PresenceUnverifiable Presence = "unverifiable"
	PresenceMissing      Presence = "missing"
)

// Relation is how a session came from another one.
type Relation string

// RelationRoot has no recorded parent; RelationContinuation also stands for a
// parent of unknown kind.
const (
	RelationRoot         Relation = "root"
	RelationFork         Relation = "fork"
	RelationSubagent     Relation = "subagent"
	RelationContinuation Relation = "continuation"
)

// Surface is whether the model still sees an event.
type Surface string

// SurfaceCurrent is still seen; SurfaceShadowed was compacted, rewound or
// rolled back; SurfaceLogOnly never was model context.
const (
	SurfaceCurrent  Surface = "current"
	SurfaceShadowed Surface = "shadowed"
	SurfaceLogOnly  Surface = "log-only"
)

// Role is who an event speaks for.
type Role string

// The roles. RoleUnknown is also the role of a match in a title, branch or
// project.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
	RoleSystem    Role = "system"
	RoleUnknown   Role = "unknown"
)

// Types of evidence that is not an event but a label of the session.
const (
	TypeSessionTitle  = "session/title"
	TypeSessionBranch = "session/branch"
	TypeSessionCwd    = "session/cwd"
)

// Kind tells the answers of searchSessions apart.
type Kind string

// The kinds of a [SearchSessionsResponse].
const (
	KindResults         Kind = "results"
	KindStaleCursor     Kind = "stale-cursor"
	KindMalformedCursor Kind = "malformed-cursor"
	KindUnavailable     Kind = "unavailable"
)

// Reason is why a search is unavailable.
type Reason string

// ReasonDisabled: undecided or switched off. ReasonNotReady: enabled, but the
// index cannot be opened (yet). ReasonNoService: that host has no such service.
const (
	ReasonDisabled  Reason = "disabled"
	ReasonNotReady  Reason = "not-ready"
	ReasonNoService Reason = "no-service"
)

// Phase is what the indexer is doing.
type Phase string

// PhaseIdle is before start or disabled; PhaseIndexing has work due;
// PhaseCurrent has none and has completed a sweep; PhaseDegraded has a degraded
// root or a failed file; PhaseClosed is over.
const (
	PhaseIdle     Phase = "idle"
	PhaseIndexing Phase = "indexing"
	PhaseCurrent  Phase = "current"
	PhaseDegraded Phase = "degraded"
	PhaseClosed   Phase = "closed"
)

// Writer tells which process writes the index.
type Writer string

// The values of [Status] Writer, seen from the answering process.
const (
	WriterThis  Writer = "this"
	WriterOther Writer = "other"
	WriterNone  Writer = "none"
)

// Route is the rung of the query ladder that answered.
type Route string

// The routes that [Debug] reports.
const (
	RoutePhrase     Route = "phrase"
	RouteAnd        Route = "and"
	RouteOr         Route = "or"
	RouteTypoPhrase Route = "typo+phrase"
	RouteTypoAnd    Route = "typo+and"
	RouteTypoOr     Route = "typo+or"
	RouteSubstring  Route = "substring"
	RouteOperators  Route = "operators"
)

// FormatStatus tells whether a transcript is in its agent's present format.
type FormatStatus string

// The values of [Header] FormatStatus.
const (
	FormatCurrent           FormatStatus = "current"
	FormatMigrationRequired FormatStatus = "migration-required"
)
