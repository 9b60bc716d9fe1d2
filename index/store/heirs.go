package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/sessionls/sessionls/index/transcript"
)

// What sessions have from one that is not in the index counts as their own text.
// Several may have it, and one is to own it (contract.md §4, Copies): an event belongs
// to the first of them that has it, by the order of heir.before. A session keeps
// what it owns that way in adopted_ids, and gives up only what another really has
// there, so that in whatever order they are read nothing is lost meanwhile.

// heir is a session that has text from a session which is not in the index.
type heir struct {
	sid       string
	source    int64
	inherited int
	gone      bool   // cannot be read again, and so not give anything back
	ids       []byte // what it has from the other session and does not own
	adopted   []byte // what it owns
}

// before is the order in which heirs come: whoever has most, so that the text
// stays together, and of those the first by id.
func (h *heir) before(o *heir) bool {
	switch {
	case h.gone != o.gone:
		return h.gone
	case h.inherited != o.inherited:
		return h.inherited > o.inherited
	}
	return h.sid < o.sid
}

// estate is what a session being written may take of what it inherited.
type estate struct {
	taken map[uint64]struct{} // what others before it have
	count int                 // events at the beginning that another one of its source will have
	later []heir              // those behind it that have something
}

// heirs lists the other sessions that have text from a session, besides sid.
func (t *Tx) heirs(agent, parent, sid string) ([]heir, error) {
	st, err := t.stmt(`SELECT sid, source, inherited, presence <> 'present', inherited_ids, adopted_ids FROM session WHERE agent = ? AND parent = ? AND inherited > 0 AND sid <> ?`)
	if err != nil {
		return nil, err
	}
	rows, err := st.Query(agent, parent, sid)
	if err != nil {
		return nil, fmt.Errorf("look for other copies: %w", err)
	}
	defer rows.Close()
	var out []heir
	for rows.Next() {
		var h heir
		if err := rows.Scan(&h.sid, &h.source, &h.inherited, &h.gone, &h.ids, &h.adopted); err != nil {
			return nil, fmt.Errorf("look for other copies: %w", err)
		}
		out = append(out, h)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for other copies: %w", err)
	}
	return out, nil
}

// inherit finds out what a session takes of a parent that is not in the index.
func (s *Sink) inherit(w *sessionWriter, parent string, inherited int) error {
	others, err := s.t.heirs(s.src.Agent, parent, w.sid)
	if err != nil {
		return err
	}
	me := heir{sid: w.sid, inherited: inherited}
	w.estate = &estate{taken: map[uint64]struct{}{}}
	for i := range others {
		h := &others[i]
		switch same := h.source == s.source; {
		case h.before(&me):
			if same {
				// It is written together with this one, and takes whatever it has.
				h.adopted = append(h.adopted, h.ids...)
				w.estate.count = max(w.estate.count, h.inherited)
			}
			for _, id := range decodeHashes(h.adopted) {
				w.estate.taken[id] = struct{}{}
			}
		case !same && len(h.adopted) > 0:
			w.estate.later = append(w.estate.later, *h)
		}
	}
	return nil
}

// owns reports whether an event that was inherited counts as the session's own.
func (w *sessionWriter) owns(e *transcript.Event) bool {
	if w.estate == nil || e.ID == "" && e.Seq < w.estate.count {
		return false
	}
	_, taken := w.estate.taken[hashInherited(e.ID, e.Seq)]
	return !taken
}

// hashInherited names an inherited event; one without an id by its place, which
// is the same in all that copied the beginning of a log.
func hashInherited(id string, seq int) uint64 {
	if id == "" {
		return hashID("\x00" + strconv.Itoa(seq))
	}
	return hashID(id)
}

// settle has those behind a session give back what it owns now. Its adopted
// list must be in order.
func (s *Sink) settle(w *sessionWriter) error {
	if w.estate == nil {
		return nil
	}
	for _, h := range w.estate.later {
		if len(without(w.adopted, h.adopted)) < len(w.adopted) {
			if err := s.due(h.source); err != nil {
				return err
			}
		}
	}
	return nil
}

// due has a source be read anew.
func (s *Sink) due(source int64) error {
	if slices.Contains(s.Due, source) {
		return nil
	}
	s.Due = append(s.Due, source)
	return s.t.due(source)
}

func (t *Tx) due(source int64) error {
	_, err := t.exec(`UPDATE source SET signature = '', carry = NULL WHERE id = ?`, source)
	return err
}

// Adoption is what a session owns of the text that it has from another one.
type Adoption struct {
	agent, sid, parent string
	ids                []uint64
}

// Adoptions lists what the sessions of a source own of others' text.
func (t *Tx) Adoptions(source int64) ([]Adoption, error) {
	st, err := t.stmt(`SELECT agent, sid, parent, adopted_ids FROM session WHERE source = ? AND adopted_ids IS NOT NULL AND parent IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	rows, err := st.Query(source)
	if err != nil {
		return nil, fmt.Errorf("look for copies: %w", err)
	}
	defer rows.Close()
	var out []Adoption
	for rows.Next() {
		var a Adoption
		var ids []byte
		if err := rows.Scan(&a.agent, &a.sid, &a.parent, &ids); err != nil {
			return nil, fmt.Errorf("look for copies: %w", err)
		}
		a.ids = decodeHashes(ids)
		out = append(out, a)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for copies: %w", err)
	}
	return out, nil
}

// Released has the other heirs be read anew of what sessions owned before and
// nobody owns now, unless it has gone back to where it came from. It returns their
// sources.
func (t *Tx) Released(before []Adoption) ([]int64, error) {
	var due []int64
	for _, a := range before {
		var now []byte
		st, err := t.stmt(`SELECT adopted_ids FROM session WHERE agent = ? AND sid = ?`)
		if err != nil {
			return nil, err
		}
		if err := st.QueryRow(a.agent, a.sid).Scan(&now); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("look for copies: %w", err)
		}
		left := without(a.ids, now)
		if len(left) == 0 {
			continue
		}
		if _, have, err := t.Provided(transcript.Source{Agent: a.agent}, []string{a.parent}); err != nil || have[a.parent] {
			return due, err
		}
		others, err := t.heirs(a.agent, a.parent, a.sid)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(others, func(x, y heir) int {
			if x.before(&y) {
				return -1
			}
			return 1
		})
		for _, h := range others {
			left = without(left, h.adopted)
		}
		for _, h := range others {
			if len(left) > 0 && !h.gone && !slices.Contains(due, h.source) {
				due = append(due, h.source)
			}
		}
	}
	for _, id := range due {
		if err := t.due(id); err != nil {
			return nil, err
		}
	}
	return due, nil
}

// without are those of the ids that are not in an encoded list, which is in order.
func without(ids []uint64, encoded []byte) []uint64 {
	list := decodeHashes(encoded)
	return slices.DeleteFunc(slices.Clone(ids), func(id uint64) bool { _, in := slices.BinarySearch(list, id); return in })
}

// Adopted tells which of the events that a session inherited are its own text,
// because the session it has them from is not in the index. The zero value has none.
type Adopted struct{ ids []uint64 }

// Has reports whether an inherited event is the session's own text.
func (a Adopted) Has(id string, seq int) bool {
	_, has := slices.BinarySearch(a.ids, hashInherited(id, seq))
	return has
}

// Adopted finds what a session owns of what it inherited.
func (s *Snapshot) Adopted(ctx context.Context, of *Session) (Adopted, error) {
	var ids []byte
	if of.InheritedCount == 0 {
		return Adopted{}, nil
	}
	err := s.tx.QueryRowContext(ctx, `SELECT adopted_ids FROM session WHERE id = ?`, of.ID).Scan(&ids)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Adopted{}, fmt.Errorf("look for copies: %w", err)
	}
	return Adopted{decodeHashes(ids)}, nil
}
