package opencode

import (
	"fmt"
	"slices"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// links is what a reading that is asked for links keeps besides. All methods
// but emitted do nothing on nil.
type links struct {
	out transcript.Tracer
	// data is the record of the next event. A message is given with the parts
	// that are no events, in the form in which the agent exports sessions.
	data   []byte
	parts  bool // data is such a form, to be closed
	some   bool // parts were added
	wanted bool
	same   bool // the next events stand where they stand in the parent
}

func newLinks(out transcript.Sink) *links {
	t, ok := out.(transcript.Tracer)
	if !ok {
		return nil
	}
	return &links{out: t}
}

// record notes an event's own record; it is valid until the event is emitted.
func (l *links) record(v jsonv.Value) {
	if l != nil {
		l.data, l.parts = v, false
	}
}

// message notes a message; what is read of its parts may take its place in memory.
func (l *links) message(b *builder, v jsonv.Value) {
	if l == nil {
		return
	}
	if l.wanted = l.out.Wants(b.s.id, b.seq); !l.wanted {
		return
	}
	if v == nil {
		v = jsonv.Value("null")
	}
	l.data, l.parts, l.some = slices.Concat([]byte(`{"info":`), v, []byte(`,"parts":[`)), true, false
}

// part adds a part that is no event of its own.
func (l *links) part(v jsonv.Value) {
	if l == nil || !l.wanted || !l.parts {
		return
	}
	if l.some {
		l.data = append(l.data, ',')
	}
	l.data, l.some = append(l.data, v...), true
}

// copied says how many more messages stand as they do in the parent.
func (l *links) copied(left int) {
	if l != nil {
		l.same = left > 0
	}
}

func (l *links) emitted(b *builder, e *transcript.Event) error {
	data := l.data
	if l.parts {
		data = append(data, `]}`...)
	}
	l.data, l.parts = nil, false
	if err := transcript.PassData(l.out, e.SessionID, e.Seq, data); err != nil {
		return err
	}
	if !e.Inherited || !l.same {
		return nil
	}
	return l.out.Inherited(e.SessionID, e.Seq, b.h.ParentID, e.Seq)
}

// compacted passes on what a summary stands for: what was before it, or before
// the message that asked for it.
func (l *links) compacted(b *builder, gone []span, before, by int) error {
	if l == nil {
		return nil
	}
	if before < by {
		if err := l.out.Source(b.s.id, by, before, false); err != nil {
			return err
		}
	}
	runs := make([]transcript.Run, len(gone))
	for i, s := range gone {
		runs[i] = transcript.Run{From: s.from, To: s.to}
	}
	return transcript.Replace(l.out, b.s.id, runs, by, true)
}

// sameParts counts the leading messages that have as many parts as those of the
// parent: their events stand at the same positions.
func (t *dbStore) sameParts(parent string, messages []record) (n int, err error) {
	if !t.sc.part["message_id"] {
		return len(messages), nil
	}
	rows, err := t.db.Query(t.ctx, `SELECT (SELECT count(*) FROM part p WHERE p.message_id = m.id) FROM message m WHERE m.session_id = ? ORDER BY `+
		t.sc.message.one("m.", "time_created")+`, m.id`, parent)
	if err != nil {
		return 0, fmt.Errorf("compare with the parent: %w", err)
	}
	defer rows.Close()
	for rows.Next() && n < len(messages) {
		var parts int
		if err := rows.Scan(&parts); err != nil {
			return 0, fmt.Errorf("compare with the parent: %w", err)
		}
		if parts != len(t.byID[messages[n].id]) {
			break
		}
		n++
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("compare with the parent: %w", err)
	}
	return n, nil
}
