package contract

import (
	"encoding/json"
	"fmt"
)

// SearchSessionsResponse is one of four answers; Kind tells which. The member
// of that kind is set and no other. Build it with [ResultsResponse],
// [StaleResponse], [MalformedResponse] and [UnavailableResponse].
type SearchSessionsResponse struct {
	Kind Kind
	// Results is set when Kind is results.
	Results *SearchResults
	// Stale is set when Kind is stale-cursor.
	Stale *StaleCursor
	// Reason is set when Kind is unavailable.
	Reason Reason
}

// SearchResults is one page of sessions.
type SearchResults struct {
	Hits List[Hit] `json:"hits"`
	Page Page      `json:"page"`
	// Generation is the index's generation that the page was read from.
	Generation int64     `json:"generation"`
	Truncated  Truncated `json:"truncated"`
	// DurationMs is engine time in milliseconds, without any wait.
	DurationMs  float64      `json:"durationMs"`
	Total       Total        `json:"total"`
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
	// Debug is there only when it was asked for.
	Debug *Debug `json:"debug,omitzero"`
}

// Page tells how to go on.
type Page struct {
	// Cursor is nil on the last page.
	Cursor  *string `json:"cursor"`
	HasMore bool    `json:"hasMore"`
}

// Truncated tells what the answer leaves out.
type Truncated struct {
	// Candidates: some session may be missing from every page.
	Candidates bool `json:"candidates"`
	// Snippets is how many snippets on this page were shortened.
	Snippets int `json:"snippets"`
	// Query: the query was cut.
	Query bool `json:"query"`
	// Freshness: the wait timed out.
	Freshness bool `json:"freshness"`
}

// Total counts matching sessions after folding. Exact is true exactly when
// Truncated.Candidates is false.
type Total struct {
	Sessions int  `json:"sessions"`
	Exact    bool `json:"exact"`
}

// Diagnostic is a remark about a part of the query, such as an unknown
// operator. Start and End are UTF-16 offsets into the query string.
type Diagnostic struct {
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Message string `json:"message"`
}

// Debug tells how the query was answered.
type Debug struct {
	Route Route `json:"route"`
	// RepairedTerms is the whole repaired query in order, in the index's
	// spelling, when typo repair changed a word.
	RepairedTerms []string      `json:"repairedTerms,omitempty"`
	PlannerReport PlannerReport `json:"plannerReport"`
}

// PlannerReport is the planner's own account.
type PlannerReport struct {
	Route         Route    `json:"route"`
	RepairedTerms []string `json:"repairedTerms,omitempty"`
	Scope         Scope    `json:"scope"`
	// Timings are the steps in the order they ran.
	Timings List[Timing] `json:"timings"`
	// Terms are the words of the query as they were looked for, in its order.
	Terms []TermReport `json:"terms,omitempty"`
	// Dates are the dates that the query names, as year, year-month, day, or
	// --month-day without a year, by which sessions were weighed.
	Dates []string `json:"dates,omitempty"`
	// Hits say how the score of each hit of the page came about, in its order.
	Hits []HitReport `json:"hits,omitempty"`
}

// TermReport is what the index holds of one word or quoted phrase.
type TermReport struct {
	Text string `json:"text"`
	// Stop says that the word was looked for as part of the phrase only.
	Stop bool `json:"stop,omitempty"`
	// Exact and Loose count the rows, of those that were looked at, with the
	// word itself and with another form, a completion or a repair of it.
	Exact int `json:"exact"`
	Loose int `json:"loose"`
	// Cut says that there are more rows than were looked at.
	Cut bool `json:"cut,omitempty"`
	// Sessions counts the sessions of these rows.
	Sessions int `json:"sessions"`
	// RowWeight and SessionWeight say how rare the word is among rows and among
	// sessions (inverse document frequency).
	RowWeight     float64 `json:"rowWeight"`
	SessionWeight float64 `json:"sessionWeight"`
}

// HitReport takes the score of a hit apart.
type HitReport struct {
	Agent     string `json:"agent"`
	SessionID string `json:"sessionId"`
	// Step is how much of the query the session holds: "phrase", "message" (all
	// words in one), "session" (all words) or "some"; it counts before anything
	// else.
	Step string `json:"step"`
	// Row is the number of the index's row that is the evidence.
	Row   int64   `json:"row"`
	Score float64 `json:"score"`
	// Parts are the kinds of evidence that the score is made of.
	Parts []ScorePart `json:"parts"`
	// Held counts, for each of Terms, the session's rows with it.
	Held []TermCount `json:"held"`
}

// ScorePart is one kind of evidence: "row", "further rows", "window", "session",
// "date", "recent", or "exact" (the quoted text, character for character).
type ScorePart struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// TermCount counts rows with a word itself and with what stands for it.
type TermCount struct {
	Exact int `json:"exact"`
	Loose int `json:"loose"`
}

// Timing is how long one step took, in milliseconds.
type Timing struct {
	Step string  `json:"step"`
	Ms   float64 `json:"ms"`
}

// Hit is one session with its best evidence.
type Hit struct {
	Agent string `json:"agent"`
	// ExecutionHostID is the host that was asked; absent for this machine.
	ExecutionHostID Host   `json:"executionHostId,omitzero"`
	SessionID       string `json:"sessionId"`
	// Title is never empty.
	Title     string   `json:"title"`
	Cwd       *string  `json:"cwd"`
	Branch    *string  `json:"branch"`
	Model     *string  `json:"model"`
	CreatedAt *Instant `json:"createdAt"`
	// UpdatedAt is the latest event time that is not more than a day ahead,
	// else the file's.
	UpdatedAt *Instant `json:"updatedAt"`
	// MessageCount counts own user and assistant messages, without meta and
	// tool results.
	MessageCount    int      `json:"messageCount"`
	Score           float64  `json:"score"`
	Relation        Relation `json:"relation"`
	Automated       bool     `json:"automated"`
	Active          bool     `json:"active"`
	ParentSessionID *string  `json:"parentSessionId"`
	// DuplicateCount is how many sessions were folded into this hit.
	DuplicateCount int    `json:"duplicateCount,omitzero"`
	MatchCount     int    `json:"matchCount"`
	Source         Source `json:"source"`
	// Evidence is nil for a search without text.
	Evidence *Evidence `json:"evidence"`
	// ResumeCommand is there only when the transcript is present.
	ResumeCommand string `json:"resumeCommand,omitzero"`
}

// Source is where a session's transcript lies. The paths never leave this
// machine, see [Redact].
type Source struct {
	Presence  Presence `json:"presence"`
	FilePath  string   `json:"filePath,omitzero"`
	CodexHome string   `json:"codexHome,omitzero"`
}

// Evidence is the text that matched.
type Evidence struct {
	// Snippet is at most 512 code points of text, with matches between [[ and
	// ]].
	Snippet string `json:"snippet"`
	// Marks are the matched spans of Snippet, [start, end) in UTF-16 code
	// units; a "[[" in the text itself is not among them.
	Marks     List[Mark] `json:"marks"`
	Role      Role       `json:"role"`
	Timestamp *Instant   `json:"timestamp"`
	Seq       *int64     `json:"seq"`
	EventID   *string    `json:"eventId"`
	Type      string     `json:"type"`
	Surface   Surface    `json:"surface"`
}

// Mark is a span [start, end).
type Mark [2]int

// StaleCursor says that the index has moved since the cursor was made.
type StaleCursor struct {
	// Generation is the one observed now.
	Generation int64 `json:"generation"`
	// ExpectedGeneration is the cursor's, or the first page's at its start.
	ExpectedGeneration *int64 `json:"expectedGeneration,omitzero"`
}

// ResultsResponse answers with a page.
func ResultsResponse(results SearchResults) SearchSessionsResponse {
	return SearchSessionsResponse{Kind: KindResults, Results: &results}
}

// StaleResponse answers that the index has moved from the expected generation
// to now.
func StaleResponse(now, expected int64) SearchSessionsResponse {
	return SearchSessionsResponse{
		Kind:  KindStaleCursor,
		Stale: &StaleCursor{Generation: now, ExpectedGeneration: &expected},
	}
}

// MalformedResponse answers that the cursor is not one of this search.
func MalformedResponse() SearchSessionsResponse {
	return SearchSessionsResponse{Kind: KindMalformedCursor}
}

// UnavailableResponse answers that there is no search, and why.
func UnavailableResponse(reason Reason) SearchSessionsResponse {
	return SearchSessionsResponse{Kind: KindUnavailable, Reason: reason}
}

// MarshalJSON writes the kind and the fields of its member in one object.
func (r SearchSessionsResponse) MarshalJSON() ([]byte, error) {
	switch {
	case r.Kind == KindResults && r.Results != nil:
		return marshal(struct {
			Kind Kind `json:"kind"`
			SearchResults
		}{r.Kind, *r.Results})
	case r.Kind == KindStaleCursor && r.Stale != nil:
		return marshal(struct {
			Kind Kind `json:"kind"`
			StaleCursor
		}{r.Kind, *r.Stale})
	case r.Kind == KindMalformedCursor:
		return marshal(struct {
			Kind Kind `json:"kind"`
		}{r.Kind})
	case r.Kind == KindUnavailable && r.Reason != "":
		return marshal(struct {
			Kind   Kind   `json:"kind"`
			Reason Reason `json:"reason"`
		}{r.Kind, r.Reason})
	}
	return nil, fmt.Errorf("writing a search response: kind %s has no content", quote(string(r.Kind)))
}

// UnmarshalJSON reads an answer, from another host for example. Unknown fields
// are ignored, an unknown kind is an error.
func (r *SearchSessionsResponse) UnmarshalJSON(raw []byte) error {
	var head struct {
		Kind   Kind   `json:"kind"`
		Reason Reason `json:"reason"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return fmt.Errorf("reading a search response: %w", err)
	}
	out := SearchSessionsResponse{Kind: head.Kind}
	var err error
	switch head.Kind {
	case KindResults:
		out.Results = new(SearchResults)
		err = json.Unmarshal(raw, out.Results)
	case KindStaleCursor:
		out.Stale = new(StaleCursor)
		err = json.Unmarshal(raw, out.Stale)
	case KindMalformedCursor:
	case KindUnavailable:
		if head.Reason == "" {
			return fmt.Errorf("reading a search response: unavailable without a reason")
		}
		out.Reason = head.Reason
	default:
		return fmt.Errorf("reading a search response: unknown kind %s", quote(string(head.Kind)))
	}
	if err != nil {
		return fmt.Errorf("reading a search response: %w", err)
	}
	*r = out
	return nil
}

// ClearResponse tells the outcome of clear.
type ClearResponse struct {
	Cleared bool `json:"cleared"`
	// Identity is the new index's, or "" when none was created because search
	// is not enabled.
	Identity string `json:"identity"`
}

// ForgetSessionResponse tells what was dropped.
type ForgetSessionResponse struct {
	// Forgotten is the session that was named and then its sub-agents, by id.
	Forgotten List[SessionName] `json:"forgotten"`
	// Generation is the index's after the change.
	Generation int64 `json:"generation"`
}

// Policy is the user's consent and retention, shared by all editors.
type Policy struct {
	// Enabled is nil until the user has decided.
	Enabled *bool `json:"enabled"`
	// HistoryDays is nil for all history.
	HistoryDays *int `json:"historyDays"`
}

// Allows reports whether the user has agreed to reading and indexing.
func (p Policy) Allows() bool { return p.Enabled != nil && *p.Enabled }

// Decided reports whether the user has said yes or no.
func (p Policy) Decided() bool { return p.Enabled != nil }
