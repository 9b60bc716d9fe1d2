package contract

// Bounds of a request.
const (
	// DefaultLimit is the number of sessions on a page when none is asked for.
	DefaultLimit = 20
	// MaxLimit is the largest page of searchSessions; larger limits are
	// clamped.
	MaxLimit = 100
	// MaxScopePaths is the largest number of scopePaths.
	MaxScopePaths = 64
	// MaxScopePathLength is the longest of them, in UTF-16 code units.
	MaxScopePathLength = 4096
	// MinHistoryDays and MaxHistoryDays bound the retention, in days.
	MinHistoryDays = 1
	MaxHistoryDays = 3650
)

// SearchSessionsRequest asks for one page of sessions. A request that a
// [Parser] has read has all defaults filled in; [NewSearchSessionsRequest]
// fills them in for callers within the program.
type SearchSessionsRequest struct {
	// Query is the user's text with operators, any string of any length. The
	// engine uses its first 512 code points and 48 tokens.
	Query     string    `json:"query"`
	Scope     Scope     `json:"scope,omitzero"`
	Freshness Freshness `json:"freshness,omitzero"`
	// Limit is the page size, 1 to [MaxLimit].
	Limit int `json:"limit,omitzero"`
	// Cursor is nil for the first page. An empty cursor is malformed, which is
	// why it differs from none.
	Cursor  *string `json:"cursor,omitzero"`
	Filters Filters `json:"filters,omitzero"`
	Debug   bool    `json:"debug,omitzero"`
	// ExecutionHost is the host to ask; "" is [LocalHost].
	ExecutionHost Host `json:"executionHost,omitzero"`
}

// NewSearchSessionsRequest is a first page for query with every default.
func NewSearchSessionsRequest(query string) SearchSessionsRequest {
	return SearchSessionsRequest{
		Query:         query,
		Scope:         ScopeAll,
		Freshness:     FreshnessIndexed,
		Limit:         DefaultLimit,
		Filters:       Filters{Sort: SortRelevance},
		ExecutionHost: LocalHost,
	}
}

// Filters narrows a search. All clauses must hold; inside a clause one value
// is enough. A nil clause is no constraint. A list that is empty but not nil
// matches nothing, except Agents and ScopePaths, which a [Parser] makes nil.
type Filters struct {
	Agents []string `json:"agents,omitzero"`
	// ScopePaths are folders: the session's cwd equals one or lies below it,
	// compared as [PathWithin] does.
	ScopePaths []string `json:"scopePaths,omitzero"`
	// Since and Until bound the session's updatedAt, both inclusive.
	Since *Instant `json:"since,omitzero"`
	Until *Instant `json:"until,omitzero"`
	// Sort orders the hits and constrains nothing; "" is relevance.
	Sort       Sort     `json:"sort,omitzero"`
	SessionIDs []string `json:"sessionIds,omitzero"`
	// Cwds are exact; a nil element matches sessions without one.
	Cwds []*string `json:"cwds,omitzero"`
	// Parents are parent session ids; a nil element matches sessions without.
	Parents   []*string     `json:"parents,omitzero"`
	CreatedAt *InstantRange `json:"createdAt,omitzero"`
	Presence  []Presence    `json:"presence,omitzero"`
	// Active asks whether the transcript grew in the last two minutes.
	Active    *bool      `json:"active,omitzero"`
	Relations []Relation `json:"relations,omitzero"`
	// Automated asks whether a program, not a person, started the session.
	Automated *bool    `json:"automated,omitzero"`
	Branches  []string `json:"branches,omitzero"`
	Models    []string `json:"models,omitzero"`
	// Files are paths or path suffixes the session edited, wrote or read.
	Files []string `json:"files,omitzero"`
	// Events limits what counts as evidence.
	Events *EventFilters `json:"events,omitzero"`
}

// HasClause reports whether any clause besides Sort constrains the search. A
// query without text then lists sessions instead of finding none.
func (f Filters) HasClause() bool {
	return f.Agents != nil || f.ScopePaths != nil || f.Since != nil || f.Until != nil ||
		f.SessionIDs != nil || f.Cwds != nil || f.Parents != nil || f.CreatedAt != nil ||
		f.Presence != nil || f.Active != nil || f.Relations != nil || f.Automated != nil ||
		f.Branches != nil || f.Models != nil || f.Files != nil || f.Events != nil
}

// EventFilters says which events count. A list that is empty but not nil
// matches no event.
type EventFilters struct {
	Types    []string      `json:"types,omitzero"`
	Surfaces []Surface     `json:"surfaces,omitzero"`
	Roles    []Role        `json:"roles,omitzero"`
	Tools    []string      `json:"tools,omitzero"`
	Seq      *SeqRange     `json:"seq,omitzero"`
	Time     *InstantRange `json:"time,omitzero"`
}

// InstantRange is a span of time, both ends inclusive; a nil end is open.
type InstantRange struct {
	From *Instant `json:"from,omitzero"`
	To   *Instant `json:"to,omitzero"`
}

// Contains reports whether the instant lies in the range.
func (r InstantRange) Contains(i Instant) bool {
	return (r.From == nil || i >= *r.From) && (r.To == nil || i <= *r.To)
}

// SeqRange is a span of event positions, both ends inclusive; a nil end is
// open.
type SeqRange struct {
	From *int64 `json:"from,omitzero"`
	To   *int64 `json:"to,omitzero"`
}

// Contains reports whether the position lies in the range.
func (r SeqRange) Contains(seq int64) bool {
	return (r.From == nil || seq >= *r.From) && (r.To == nil || seq <= *r.To)
}

// SearchStatusRequest asks for the status of one host's index.
type SearchStatusRequest struct {
	ExecutionHost Host `json:"executionHost,omitzero"`
}

// ClearRequest asks to delete this machine's index.
type ClearRequest struct{}

// ForgetSessionRequest asks to drop one session from this machine's index for
// good.
type ForgetSessionRequest struct {
	SessionName
}

// GetPolicyRequest asks for the policy.
type GetPolicyRequest struct{}

// SetPolicyRequest changes the policy; a field that is not Set keeps its value.
type SetPolicyRequest struct {
	// Enabled is the consent; null is undecided.
	Enabled Optional[bool] `json:"enabled,omitzero"`
	// HistoryDays is the retention, [MinHistoryDays] to [MaxHistoryDays]; null
	// is all history.
	HistoryDays Optional[int] `json:"historyDays,omitzero"`
}

// Apply is the policy after the change.
func (r SetPolicyRequest) Apply(p Policy) Policy {
	if r.Enabled.Set {
		p.Enabled = r.Enabled.Value
	}
	if r.HistoryDays.Set {
		p.HistoryDays = r.HistoryDays.Value
	}
	return p
}
