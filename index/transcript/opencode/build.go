package opencode

import (
	"context"
	"errors"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// cacheBytes is how much of one message's tool parts is kept between the two
// passes over them; what exceeds it is read again.
const cacheBytes = 4 << 20

// errDamaged marks a record that is no complete JSON object.
var errDamaged = errors.New("damaged record")

// record is a message or a part that has not been read yet.
type record struct {
	id   string
	path string      // in a tree
	at   time.Time   // when the store says it was created
	size int64       // of its data in a database
	data jsonv.Value // kept when small
}

// store hands out the records of one session. load returns errDamaged for a
// record that cannot be read; the value is valid until the next load.
type store interface {
	parts(message string) ([]record, error)
	load(r *record, part bool) (jsonv.Value, error)
}

// session is what a store's session record says.
type session struct {
	id, title, dir, format    string
	parent, fork, forkMessage string
	revertMessage, revertPart string
	created                   time.Time
	archived                  bool
	depth                     int
}

// builder turns the records of one session into events and its header.
type builder struct {
	ctx     context.Context
	env     transcript.Env
	out     transcript.Sink
	cp      *transcript.Checkpoint
	dataDir string

	s       session
	h       transcript.Header
	seq     int
	bytes   int64
	inherit int    // leading messages copied from the parent
	current []span // runs of events on the surface
	links   *links // nil unless they are asked for
	compact struct {
		message string // the last message that asked for a compaction
		seq     int
	}
}

// span is a run of event numbers, to excluded.
type span struct{ from, to int }

// begin starts the session with what its own record says.
func (b *builder) begin(s session) error {
	b.s = s
	b.h = transcript.Header{SessionID: s.id, Relation: transcript.RelationRoot, Format: s.format, Archived: s.archived, DelegationDepth: s.depth}
	switch {
	case s.parent != "":
		b.h.Relation, b.h.ParentID, b.h.LineageEvidence = transcript.RelationSubagent, s.parent, transcript.EvidenceHeader
		b.h.InheritedKnown = true
	case s.fork != "":
		b.h.Relation, b.h.ParentID, b.h.LineageEvidence = transcript.RelationFork, s.fork, transcript.EvidenceHeader
		b.h.ParentEvent = s.forkMessage
	default:
		b.h.InheritedKnown = true
	}
	b.h.SawCWD(s.dir)
	b.h.SawTime(s.created, b.env.Time())
	b.h.SetTitle(s.title, transcript.TitleAgent)
	return b.out.Begin(false)
}

// finish hands over the header.
func (b *builder) finish() error {
	if !b.h.Conversation {
		return transcript.ErrNoSession
	}
	b.h.Finish(label)
	return b.out.Header(&b.h)
}

// emit numbers an event and hands it over.
func (b *builder) emit(e *transcript.Event) error {
	e.SessionID, e.Seq = b.s.id, b.seq
	if e.Surface == "" {
		e.Surface = transcript.Current
	}
	if e.Role == "" {
		e.Role = transcript.RoleUnknown
	}
	e.Inherited = b.inherit > 0
	b.h.Conversation = b.h.Conversation || e.Message
	if e.Inherited {
		e.Message = false
		b.h.InheritedCount++
	}
	if e.Surface == transcript.Current {
		if n := len(b.current); n > 0 && b.current[n-1].to == b.seq {
			b.current[n-1].to++
		} else {
			b.current = append(b.current, span{b.seq, b.seq + 1})
		}
	}
	if e.Message {
		b.h.MessageCount++
	}
	b.h.SawTime(e.Time, b.env.Time())
	b.seq++
	if err := b.out.Event(e); err != nil || b.links == nil {
		return err
	}
	return b.links.emitted(b, e)
}

// shadow takes everything before seq from the surface: a compaction stands for
// it now.
func (b *builder) shadow(before, by int) error {
	var keep, gone []span
	for _, r := range b.current {
		if r.from >= before {
			keep = append(keep, r)
			continue
		}
		to := min(r.to, before)
		gone = append(gone, span{r.from, to})
		if err := b.out.Surface(b.s.id, r.from, to, transcript.Shadowed); err != nil {
			return err
		}
		if to < r.to {
			keep = append(keep, span{to, r.to})
		}
	}
	b.current = keep
	return b.links.compacted(b, gone, before, by)
}

// reverted tells whether a message, or a part of it, was taken back. Ids
// ascend in time; the agent compares them as text as well.
func (b *builder) reverted(message, part string) bool {
	r := b.s.revertMessage
	switch {
	case r == "" || message < r:
		return false
	case message > r || b.s.revertPart == "":
		return true
	}
	return part != "" && part >= b.s.revertPart
}

// read loads a record and counts a damaged one; ok is false for that.
func (b *builder) read(st store, r *record, part bool) (v jsonv.Value, ok bool, err error) {
	if err := b.ctx.Err(); err != nil {
		return nil, false, err
	}
	if r.data != nil {
		return r.data, true, nil
	}
	v, err = st.load(r, part)
	if errors.Is(err, errDamaged) {
		b.cp.Bad++
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	b.bytes += int64(len(v))
	return v, true, nil
}

// message emits a message of the message/part model and its tool parts.
func (b *builder) message(st store, r *record) error {
	data, ok, err := b.read(st, r, false)
	if err != nil {
		return err
	}
	m := parseMessage(data)
	b.links.message(b, data)
	if !ok {
		m.role = transcript.RoleUnknown
	}
	if m.time.IsZero() {
		m.time = r.at
	}
	if m.session != "" && m.session != b.s.id {
		b.h.Warn("a message names another session: " + transcript.Clip(m.session, shownID))
	}
	b.h.SawModel(m.model)
	b.h.SawCWD(m.cwd)
	e := &transcript.Event{ID: r.id, RawType: "message", Role: m.role, Time: m.time}
	var tools []record
	var inline []jsonv.Value
	p := partView{b: b, e: e, m: &m}
	if m.parts.Kind() == jsonv.Array { // before the parts had files of their own
		m.parts.Elems(func(_ int, v jsonv.Value) bool {
			if p.look(v) {
				inline = append(inline, v)
			}
			return true
		})
	} else if tools, err = b.lookAtParts(st, r.id, &p); err != nil {
		return err
	}
	b.h.SawTime(m.done, b.env.Time())
	p.finish()
	if b.reverted(r.id, "") {
		e.Surface = transcript.Shadowed
	}
	at := b.seq
	if err := b.emit(e); err != nil {
		return err
	}
	if p.asksCompaction && m.role == transcript.RoleUser {
		b.compact.message, b.compact.seq = r.id, at
	}
	if e.Type == transcript.TypeCompaction && e.Surface == transcript.Current && m.finished {
		by := at
		if m.parent != "" && m.parent == b.compact.message {
			at = b.compact.seq
		}
		if err := b.shadow(at, by); err != nil {
			return err
		}
	}
	for i, v := range inline {
		b.links.record(v)
		if err := b.tool(m.inlineTool(v), r.id, "", &m); err != nil {
			return err
		}
		inline[i] = nil
	}
	for i := range tools {
		v, ok, err := b.read(st, &tools[i], true)
		if err != nil {
			return err
		}
		if ok {
			b.links.record(v)
			if err := b.tool(v, r.id, tools[i].id, &m); err != nil {
				return err
			}
		}
		tools[i].data = nil
	}
	b.out.Progress(b.bytes)
	return nil
}

// lookAtParts shows every part to p and returns the tool parts.
func (b *builder) lookAtParts(st store, message string, p *partView) ([]record, error) {
	parts, err := st.parts(message)
	if err != nil {
		return nil, err
	}
	tools := parts[:0]
	kept := 0
	for i := range parts {
		v, ok, err := b.read(st, &parts[i], true)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if !p.look(v) {
			b.links.part(v)
			continue
		}
		if kept+len(v) <= cacheBytes {
			parts[i].data = append(jsonv.Value(nil), v...)
			kept += len(v)
		}
		tools = append(tools, parts[i])
	}
	return tools, nil
}

// shownID bounds an id in a message, in bytes.
const shownID = 80
