package query

import (
	"fmt"
	"unicode/utf8"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
)

func decode(s string) (rune, int)     { return utf8.DecodeRuneInString(s) }
func decodeLast(s string) (rune, int) { return utf8.DecodeLastRuneInString(s) }
func runesIn(s string) int            { return utf8.RuneCountInString(s) }

// hit is a session's entry of the page.
func (s *search) hit(sess *store.Session, r *ranked, c *snippets) (contract.Hit, error) {
	h := contract.Hit{
		Agent: sess.Agent, SessionID: sess.SID, Title: sess.Title, Cwd: optional(sess.CWD), Branch: optional(sess.Branch), Model: optional(sess.Model),
		CreatedAt: instantOf(sess), MessageCount: sess.MessageCount, Score: r.score, Relation: contract.Relation(sess.Relation),
		Automated: sess.Automated, Active: sess.ActiveAt(s.clock), ParentSessionID: optional(sess.ParentID), MatchCount: r.matches,
		Source: contract.Source{Presence: contract.Presence(sess.Presence), FilePath: sess.Path},
	}
	h.UpdatedAt = r.updatedAt()
	if len(s.plan.units) > 0 {
		ev, err := s.evidence(sess, r, c)
		if err != nil {
			return h, err
		}
		h.Evidence = ev
		if ev != nil && ev.EventID != nil && s.folds() {
			n, err := s.snap.Copies(s.ctx, sess, *ev.EventID)
			if err != nil {
				return h, fmt.Errorf("fold copies of %s: %w", sess.SID, err)
			}
			h.DuplicateCount = n
		}
	}
	if sess.Agent == "codex" && s.opt.CodexHome != nil {
		h.Source.CodexHome = s.opt.CodexHome(sess.Path)
	}
	if h.Source.Presence == contract.PresencePresent && s.opt.ResumeCommand != nil {
		h.ResumeCommand = s.opt.ResumeCommand(sess.Agent, sess.SID, sess.Format)
	}
	return h, nil
}

// folds reports whether copies are folded into their owner's hit.
func (s *search) folds() bool {
	f := &s.req.Filters
	return f.SessionIDs == nil && f.Parents == nil && f.Relations == nil
}

func optional(v string) *string {
	if v == "" {
		return nil
	}
	return &v
}

func instantOf(sess *store.Session) *contract.Instant {
	if sess.CreatedAt.IsZero() {
		return nil
	}
	i := contract.InstantOf(sess.CreatedAt)
	return &i
}
