package query

import (
	"errors"
	"slices"

	"github.com/sessionls/sessionls/index/store"
)

// exactLooks is how many of the first sessions are held against the characters
// of a quoted phrase. The number is the same on every page, so the order is.
const exactLooks = 100

// exactBonus lifts a session within its step of the ladder.
const exactBonus = 0.5

// exactFirst ranks sessions first whose text holds a quoted phrase character
// for character; the index knows terms alone, for which "Foo.Bar" and foo bar
// are the same.
func (s *search) exactFirst() error {
	quoted := s.quoted()
	if len(quoted) == 0 {
		return nil
	}
	top := s.ranked[:min(exactLooks, len(s.ranked))]
	ids := make([]int64, len(top))
	for i := range top {
		ids[i] = top[i].id
	}
	sessions, err := s.snap.Sessions(s.ctx, ids)
	if err != nil {
		return err
	}
	for i := range top {
		sess := sessions[top[i].id]
		if sess == nil {
			continue
		}
		exact, err := s.holdsExactly(sess, top[i], quoted)
		if err != nil {
			return err
		}
		if exact {
			top[i].parts.exact = exactBonus
			top[i].score += exactBonus
		}
	}
	slices.SortFunc(s.ranked, bestFirst)
	return nil
}

// quoted are the phrases of the query that were quoted.
func (s *search) quoted() []*unit {
	var quoted []*unit
	for i := range s.plan.units {
		if u := &s.plan.units[i]; u.quoted && u.literal != nil {
			quoted = append(quoted, u)
		}
	}
	return quoted
}

// exactRows is how many of a session's best rows are looked at.
const exactRows = 3

// holdsExactly reports whether the session's best rows hold every quoted
// phrase as it was typed. The first row that does becomes its evidence.
func (s *search) holdsExactly(sess *store.Session, r *ranked, quoted []*unit) (bool, error) {
	missing := len(quoted)
	seen := make([]bool, len(quoted))
	for k := range min(exactRows, len(r.rows)) {
		var texts []string
		if r.rows[k].head {
			texts = []string{sess.Title, sess.Branch, sess.CWD}
		} else {
			e, chunk, err := s.snap.EventAt(s.ctx, sess, r.rows[k].row)
			if errors.Is(err, store.ErrNoEvent) {
				continue
			}
			if err != nil {
				return false, err
			}
			for _, p := range e.Parts {
				texts = append(texts, store.Chunk(p.Text, chunk))
			}
		}
		here := false
		for i, u := range quoted {
			if slices.ContainsFunc(texts, u.literal.In) {
				here = true
				if !seen[i] {
					seen[i] = true
					missing--
				}
			}
		}
		if here && k > 0 && missing == 0 {
			r.rows[0], r.rows[k] = r.rows[k], r.rows[0]
		}
		if missing == 0 {
			return true, nil
		}
	}
	return false, nil
}
