// Package exact answers the exact reads of contract.md §9: the headers, events,
// surfaces and links of single sessions. Lists, titles and families of sessions
// come from the index alone; what is in a session is read from its transcript
// when that is there, and else from the copy that the index keeps.
//
// A transcript is read whole once, into an outline (outline.go) that says where
// every record lies and how the events stand to each other; it is kept while
// the transcript does not change. Text and records of the few events of a page
// are then fetched (content.go): text from the index where that has all of it,
// records by their place in the file.
//
// A scan (scan.go), searchEvents without the index, reads the transcripts of all
// sessions side by side and keeps nothing of them.
package exact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// View runs f over a snapshot of the index, which f does not keep.
type View func(ctx context.Context, f func(*store.Snapshot) error) error

// Options of New. All fields are required.
type Options struct {
	// Readers are those of all agents.
	Readers []transcript.Reader
	// View gives the index as it is now.
	View View
	// Env is the machine as an agent's reader sees it.
	Env func(agent string) (transcript.Env, error)
	// Locate looks for a source on disk. An error that wraps fs.ErrNotExist
	// says that it is not there.
	Locate func(ctx context.Context, known transcript.Source) (transcript.Source, error)
	// Now is the present.
	Now func() time.Time
	// LookPath finds a program by name, as os/exec does.
	LookPath func(name string) (string, error)
}

// Engine answers the exact reads. It is safe for concurrent use. Its answers
// hold everything: how they may travel is the caller's matter.
type Engine struct {
	Options
	byAgent map[string]transcript.Reader
	cache   cache
}

// New returns an Engine.
func New(opts Options) *Engine {
	e := &Engine{Options: opts, byAgent: map[string]transcript.Reader{}}
	for _, r := range opts.Readers {
		e.byAgent[r.Agent().ID] = r
	}
	return e
}

// Forget drops all outlines from memory.
func (e *Engine) Forget() { e.cache.forget() }

// Candidate is a session that an ambiguous name may mean.
type Candidate struct {
	Agent     string `json:"agent"`
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
}

// Resolve finds the one session that a name means. None is SESSION_NOT_FOUND,
// several are SOURCE_CONFLICT with the candidates. A beginning that a session
// shares with its own sub-agents means the session.
func Resolve(ctx context.Context, snap *store.Snapshot, name contract.SessionName) (*store.Session, error) {
	list, err := snap.Named(ctx, name.Agent, name.SessionID, name.IsPrefix())
	if err != nil {
		return nil, err
	}
	switch len(list) {
	case 1:
		return list[0], nil
	case 0:
		return nil, contract.Failed(contract.CodeSessionNotFound, nil, "no session is named %.200q", name.String())
	}
	candidates := make([]Candidate, len(list))
	for i, x := range list {
		candidates[i] = Candidate{x.Agent, x.SID, x.Title}
	}
	fault := contract.Failed(contract.CodeSourceConflict, nil, "%.200q names several sessions", name.String())
	fault.Candidates = candidates
	return nil, fault
}

// Header is a session's header, as the index has it.
func Header(x *store.Session, now time.Time) contract.Header {
	h := contract.Header{
		Agent: x.Agent, SessionID: x.SID, CreatedAt: instant(x.CreatedAt), UpdatedAt: instant(x.UpdatedAt),
		Cwd: optional(x.CWD), Branch: optional(x.Branch), Model: optional(x.Model), Title: x.Title, MessageCount: x.MessageCount,
		Automated: x.Automated, Active: x.ActiveAt(now),
		Relation: contract.Relation(x.Relation), ParentSessionID: optional(x.ParentID), ParentEvent: optional(x.ParentEvent),
		LineageEvidence: optional(string(x.LineageEvidence)), InheritedEventCount: x.InheritedCount, InheritedKnown: x.InheritedKnown,
		DelegationDepth: x.DelegationDepth, Presence: contract.Presence(x.Presence), SourcePath: x.Path, Format: x.Format,
		FormatStatus: contract.FormatCurrent, Epoch: x.Epoch, Warnings: slices.Clone(x.Warnings),
	}
	switch {
	case x.Bad == 1:
		h.Warnings = append(h.Warnings, "a record of its transcript could not be read; `sessionls doctor` names the file")
	case x.Bad > 1:
		h.Warnings = append(h.Warnings, fmt.Sprintf("%d records of its transcript could not be read; `sessionls doctor` names the file", x.Bad))
	}
	if x.TalkOnly {
		h.Warnings = append(h.Warnings, "the first index is being built, what was said first: the calls and output of its tools are not in it yet")
	}
	switch h.Presence {
	case contract.PresenceMissing:
		h.Warnings = append(h.Warnings, keptWarning("its transcript is gone"))
	case contract.PresenceUnverifiable:
		h.Warnings = append(h.Warnings, keptWarning("its transcript cannot be reached now"))
	}
	return h
}

// keptWarning says what a kept copy is.
func keptWarning(why string) string {
	return why + ": this is the copy kept in the index, without the agent's own records and with long tool output shortened"
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func instant(t time.Time) *contract.Instant {
	if t.IsZero() {
		return nil
	}
	i := contract.InstantOf(t)
	return &i
}

// code is the error code that one session's failure has in an answer about
// several.
func code(err error) string {
	var known *contract.Error
	if errors.As(err, &known) && known.Code != "" {
		return known.Code
	}
	return contract.CodePersistenceFailed
}

// joined is an event's text: its parts, but not what is left of text that was
// reduced, for searching only.
func joined(parts []transcript.Part) string {
	if len(parts) == 1 && parts[0].Kind != store.Words {
		return parts[0].Text
	}
	var text strings.Builder
	for _, p := range parts {
		if p.Kind == store.Words {
			continue
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(p.Text)
	}
	return text.String()
}
