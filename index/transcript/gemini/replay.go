package gemini

import (
	"context"
	"hash/maphash"
	"io"
	"math"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// A log is not a list of messages but a record of changes to one:
//
//	{id: a}  {id: b}  {id: b, more}  {$rewindTo: b}  {id: c}
//	   0        1          2               3            4
//
// Message b stands at its first place (1) with its last content (2); the
// rewind takes it out of what the model sees, and it stays searchable. So the
// log is read twice: the first pass keeps, for each record, where the content
// to show at its place lies (32 bytes a record); the second reads it. Every
// record is one event; a checkpoint ($set with a list of messages) is followed
// by one event for each message that only it has.

// slot says what stands at one place of the log.
type slot struct {
	off, n  int64 // where else in the file the content lies, unless own
	elem    int32 // number in the checkpoint's list of messages, -1 for a record
	message bool  // false for bookkeeping and superseded records
	own     bool  // the content is the record's (or element's) own
	live    bool  // still in the list at the end
}

type plan struct {
	seed  maphash.Seed
	slots []slot
	byID  map[uint64]int // messages in the list, by id
	list  []int          // the list, as places
	ids   []uint64       // and the hash of each one's id, 0 without
	gone  *gone          // nil unless links are asked for
}

func newPlan() *plan { return &plan{seed: maphash.MakeSeed(), byID: map[uint64]int{}} }

func (p *plan) key(id string) uint64 {
	if id == "" {
		return 0
	}
	return max(1, maphash.String(p.seed, id))
}

// add makes a place for a message and appends it to the list.
func (p *plan) add(key uint64, elem int32) {
	p.slots = append(p.slots, slot{elem: elem, message: true, own: true})
	p.push(key, len(p.slots)-1)
}

// skip makes a place for a record without content of its own.
func (p *plan) skip() { p.slots = append(p.slots, slot{elem: -1}) }

func (p *plan) push(key uint64, at int) {
	p.list, p.ids = append(p.list, at), append(p.ids, key)
	if key != 0 {
		p.byID[key] = at
	}
}

// cut drops the list from position i on.
func (p *plan) cut(i int) {
	for _, key := range p.ids[i:] {
		delete(p.byID, key)
	}
	p.gone.take(p.list[i:], len(p.slots)-1)
	p.list, p.ids = p.list[:i], p.ids[:i]
}

// rewind drops the named message and all after it; an id that is not in the
// list clears it, as the CLI does.
func (p *plan) rewind(key uint64) {
	i := len(p.ids) - 1
	if _, ok := p.byID[key]; key == 0 || !ok {
		i = 0
	}
	for i > 0 && p.ids[i] != key {
		i--
	}
	p.cut(max(i, 0))
}

// record plans one line.
func (p *plan) record(rec transcript.Record) {
	v := rec.Value
	if to := v.Get("$rewindTo"); to != nil {
		p.skip()
		p.rewind(p.key(to.Str()))
		return
	}
	if set := v.Get("$set"); set != nil {
		p.skip()
		if list := set.Get("messages"); list.Kind() == jsonv.Array {
			p.checkpoint(rec, list)
		}
		return
	}
	if !isMessage(v) {
		p.skip()
		return
	}
	key := p.key(v.Get("id").Str())
	if at, ok := p.byID[key]; ok && key != 0 {
		p.slots[at].move(rec.Offset, rec.Length)
		p.skip()
		return
	}
	p.add(key, -1)
	p.slots[len(p.slots)-1].n = rec.Length // for the comparison in checkpoint
}

// checkpoint replaces the list. A message that is known keeps its place, and
// its content unless the checkpoint has more of it.
func (p *plan) checkpoint(rec transcript.Record, list jsonv.Value) {
	// Only of a line that was kept as it stands can parts be found again.
	verbatim := rec.Length == int64(len(rec.Raw))
	old, before, by := p.byID, p.list, len(p.slots)-1
	p.byID, p.list, p.ids = map[uint64]int{}, nil, nil
	defer func() { p.gone.replace(before, p.list, by) }()
	list.Elems(func(i int, m jsonv.Value) bool {
		key := p.key(m.Get("id").Str())
		if _, twice := p.byID[key]; twice || !isMessage(m) || i > math.MaxInt32 {
			return true
		}
		at, known := old[key]
		if key == 0 || !known {
			p.add(key, int32(i))
			p.slots[len(p.slots)-1].n = int64(len(m))
			return true
		}
		if verbatim && int64(len(m)) > p.slots[at].n {
			// Slices of one array: the distance of their ends is that of
			// their starts.
			p.slots[at].move(rec.Offset+int64(cap(rec.Raw)-cap(m)), int64(len(m)))
		}
		p.push(key, at)
		return true
	})
}

// move says that the content lies elsewhere.
func (s *slot) move(off, n int64) { s.off, s.n, s.own = off, n, false }

func isMessage(v jsonv.Value) bool {
	return v.Get("type").Kind() == jsonv.String && (v.Get("id").Exists() || v.Get("content").Exists())
}

func (c *chat) replay(ctx context.Context, f *transcript.File, cp *transcript.Checkpoint, out transcript.Sink) error {
	p := newPlan()
	if c.tracer != nil {
		p.gone = &gone{}
	}
	ls := f.Lines(0, skipped...)
	err := ls.Each(ctx, cp, func(int64) {}, func(rec transcript.Record) error { p.record(rec); return nil })
	if err != nil {
		return err
	}
	if err := f.Mark(cp, ls.Offset()); err != nil {
		return err
	}
	for _, at := range p.list {
		p.slots[at].live = true
	}

	again := &transcript.Checkpoint{} // damage is counted once
	err = f.Lines(0, skipped...).Each(ctx, again, out.Progress, func(rec transcript.Record) error {
		if c.nextSeq >= len(p.slots) {
			cp.Partial = "the file changed while it was read"
			return nil
		}
		return c.line(ctx, f, p, rec, out)
	})
	if err != nil || c.tracer == nil {
		return err
	}
	return c.trace(p)
}

// line emits the event of a record, and those of the messages that a
// checkpoint alone has.
func (c *chat) line(ctx context.Context, f *transcript.File, p *plan, rec transcript.Record, out transcript.Sink) error {
	v := rec.Value
	if s := p.slots[c.nextSeq]; s.message {
		return c.place(ctx, f, s, rec, out)
	}
	e := &transcript.Event{Type: transcript.TypeOther, Role: transcript.RoleSystem, Surface: transcript.LogOnly, Offset: rec.Offset, Length: rec.Length}
	set := v.Get("$set")
	switch {
	case v.Get("$rewindTo") != nil:
		e.RawType = "$rewindTo"
	case set != nil:
		e.RawType, e.Type = "$set", transcript.TypeSessionMeta
		e.Time = transcript.ParseTime(set.Get("lastUpdated"))
		if set.Get("summary").Exists() {
			e.Type = transcript.TypeTitle
		}
		set.Each(func(k, val jsonv.Value) bool { c.meta(k.Str(), val); return true })
	case isMessage(v):
		// Its content stands at the message's first place.
		e.ID, e.RawType, e.Time = v.Get("id").Str(), v.Get("type").Str(), transcript.ParseTime(v.Get("timestamp"))
		switch e.RawType {
		case "user":
			e.Type, e.Role = transcript.TypeUserMessage, transcript.RoleUser
		case "gemini":
			e.Type, e.Role = transcript.TypeAssistantMessage, transcript.RoleAssistant
		}
	default:
		if v.Get("sessionId").Exists() {
			e.RawType, e.Type = "metadata", transcript.TypeSessionMeta
			e.Time = transcript.ParseTime(v.Get("startTime"))
			v.Each(func(k, val jsonv.Value) bool { c.meta(k.Str(), val); return true })
		}
	}
	if err := c.emit(e, out); err != nil {
		return err
	}
	err := transcript.PassShared(c.tracer, e.SessionID, e.Seq, rec)
	if err != nil {
		return err
	}
	set.Get("messages").Elems(func(i int, m jsonv.Value) bool {
		if c.nextSeq >= len(p.slots) || p.slots[c.nextSeq].elem < 0 {
			return false
		}
		if s := p.slots[c.nextSeq]; s.elem == int32(i) {
			err = c.place(ctx, f, s, transcript.Record{Value: m, Offset: rec.Offset, Length: rec.Length, Shared: true}, out)
		}
		return err == nil
	})
	return err
}

// place emits a message at its first place, with its last content.
func (c *chat) place(ctx context.Context, f *transcript.File, s slot, rec transcript.Record, out transcript.Sink) error {
	if !s.own {
		rec = elsewhere(ctx, f, s, rec)
	}
	e := c.message(rec.Value)
	e.Offset, e.Length = rec.Offset, rec.Length
	if !s.live && e.Surface == transcript.Current {
		e.Surface = transcript.Shadowed
		if c.tracer != nil {
			c.shadowed = transcript.AddRun(c.shadowed, c.nextSeq)
		}
	}
	if err := c.emit(e, out); err != nil {
		return err
	}
	return transcript.PassShared(c.tracer, e.SessionID, e.Seq, rec)
}

// elsewhere reads the record at another place that has the id of own; its own
// content if there is none (the file changed meanwhile).
func elsewhere(ctx context.Context, f *transcript.File, s slot, own transcript.Record) transcript.Record {
	id := own.Value.Get("id").Str()
	ls := transcript.NewLines(io.NewSectionReader(f, s.off, s.n), s.off, s.off+s.n, skipped...)
	found := own
	found.Offset, found.Length = s.off, s.n
	for {
		rec, err := ls.Next(ctx)
		if err != nil {
			return found
		}
		if rec.Value.Get("id").Str() == id {
			found = rec
			found.Offset, found.Length = s.off, s.n
		}
	}
}
