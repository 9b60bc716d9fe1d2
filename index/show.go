package index

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/exact"
	"github.com/sessionls/sessionls/index/store"
)

// kept is view for reads that have no other answer than an error while there
// is no index.
func (s *Service) kept(ctx context.Context, f func(*store.Snapshot) error) error {
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
	err := s.kept(ctx, func(snap *store.Snapshot) error {
		session, err := exact.Resolve(ctx, snap, request.Name)
		if err != nil {
			return err
		}
		out = ShowResponse{Session: contract.RedactHeader(exact.Header(session, s.now()), s.transport)}
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
