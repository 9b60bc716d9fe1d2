package index

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
)

// activeFor is how long a session counts as active after its transcript grew.
const activeFor = 2 * time.Minute

// Candidate is a session that an ambiguous name may mean.
type Candidate struct {
	Agent     string `json:"agent"`
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
}

// Resolve finds the one session that a name means. None is SESSION_NOT_FOUND,
// several are SOURCE_CONFLICT with the candidates.
func (s *Service) Resolve(ctx context.Context, name contract.SessionName) (contract.Header, error) {
	var header contract.Header
	err := s.exact(ctx, func(snap *store.Snapshot) error {
		session, err := s.resolve(ctx, snap, name)
		if err == nil {
			header = s.header(session)
		}
		return err
	})
	return header, err
}

// exact is view for reads that have no other answer than an error while there
// is no index.
func (s *Service) exact(ctx context.Context, f func(*store.Snapshot) error) error {
	if s.closed.Load() || !s.allowed() {
		return disabledError()
	}
	err := s.view(ctx, f)
	switch {
	case errors.Is(err, errNotReady):
		return contract.Failed(contract.CodeIndexFailed, err, "there is no index to answer from yet; see the log for the cause")
	case err != nil:
		return s.failure(ctx, err)
	}
	return nil
}

func (s *Service) resolve(ctx context.Context, snap *store.Snapshot, name contract.SessionName) (*store.Session, error) {
	list, err := snap.Named(ctx, name.Agent, name.SessionID, name.IsPrefix())
	if err != nil {
		return nil, err
	}
	// The database compares prefixes without regard to case.
	list = slices.DeleteFunc(list, func(x *store.Session) bool {
		exact, prefix := name.Match(x.Agent, x.SID)
		return !exact && !prefix
	})
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
	e := contract.Failed(contract.CodeSourceConflict, nil, "%.200q names several sessions", name.String())
	e.Candidates = candidates
	return nil, e
}

// ShowRequest asks for a stretch of a session.
type ShowRequest struct {
	Name contract.SessionName
	// From is the first event wanted, by its position.
	From int64
	// Around asks for the events around a position instead; it must exist.
	Around *int64
	// Limit is the most events; 0 is 100, the largest 1000.
	Limit int
}

// ShowResponse is a session's header and a stretch of its events with text.
type ShowResponse struct {
	Session contract.Header                     `json:"session"`
	Events  contract.List[contract.EventRecord] `json:"events"`
	// NextSeq continues; nil at the end.
	NextSeq *int64 `json:"nextSeq"`
}

// Bounds of Show, and of the text in one answer in bytes.
const (
	defaultShow = 100
	maxShow     = 1000
	maxShowText = 4 << 20
)

// Show reads a stretch of a session from the kept copy.
func (s *Service) Show(ctx context.Context, request ShowRequest) (ShowResponse, error) {
	limit := int64(min(request.Limit, maxShow))
	if limit <= 0 {
		limit = defaultShow
	}
	var out ShowResponse
	err := s.exact(ctx, func(snap *store.Snapshot) error {
		session, err := s.resolve(ctx, snap, request.Name)
		if err != nil {
			return err
		}
		out = ShowResponse{Session: s.header(session)}
		from := max(request.From, 0)
		if at := request.Around; at != nil {
			if *at < 0 || *at >= int64(session.Events) {
				return contract.Failed(contract.CodeEventNotFound, nil, "the session has no event %d; it has %d", *at, session.Events)
			}
			from = max(0, *at-limit/2)
		}
		if from >= int64(session.Events) {
			return nil
		}
		bytes := 0
		return snap.Events(ctx, session, int(from), func(e *store.Stored) bool {
			record := eventRecord(session, e)
			bytes += len(*record.Text)
			if int64(len(out.Events)) == limit || bytes > maxShowText && len(out.Events) > 0 {
				out.NextSeq = &record.Seq
				return false
			}
			out.Events = append(out.Events, record)
			return true
		})
	})
	return out, err
}

func eventRecord(of *store.Session, e *store.Stored) contract.EventRecord {
	var text strings.Builder
	for _, p := range e.Parts {
		if p.Kind == store.Words {
			continue // what is left of text that was reduced, for searching only
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(p.Text)
	}
	whole := strings.ToValidUTF8(text.String(), "\uFFFD")
	return contract.EventRecord{
		Agent: of.Agent, SessionID: of.SID, Seq: int64(e.Seq), EventID: optional(e.ID), Type: e.Type, RawType: e.RawType,
		Role: contract.Role(e.Role), Time: instant(e.Time), Surface: contract.Surface(e.Surface), Inherited: e.Inherited, Text: &whole,
	}
}

func (s *Service) header(x *store.Session) contract.Header {
	h := contract.Header{
		Agent: x.Agent, SessionID: x.SID, CreatedAt: instant(x.CreatedAt), UpdatedAt: instant(x.UpdatedAt),
		Cwd: optional(x.CWD), Branch: optional(x.Branch), Model: optional(x.Model), Title: x.Title, MessageCount: x.MessageCount,
		Automated: x.Automated, Active: x.Presence == string(contract.PresencePresent) && s.now().Sub(x.Grown) <= activeFor,
		Relation: contract.Relation(x.Relation), ParentSessionID: optional(x.ParentID), ParentEvent: optional(x.ParentEvent),
		LineageEvidence: optional(string(x.LineageEvidence)), InheritedEventCount: x.InheritedCount, InheritedKnown: x.InheritedKnown,
		DelegationDepth: x.DelegationDepth, Presence: contract.Presence(x.Presence), SourcePath: x.Path, Format: x.Format,
		FormatStatus: contract.FormatCurrent, Epoch: x.Epoch, Warnings: x.Warnings,
	}
	switch h.Presence {
	case contract.PresenceMissing:
		h.Warnings = append(slices.Clone(h.Warnings), keptWarning("its transcript is gone"))
	case contract.PresenceUnverifiable:
		h.Warnings = append(slices.Clone(h.Warnings), keptWarning("its transcript cannot be reached now"))
	}
	return contract.RedactHeader(h, s.transport)
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
