package dsh

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// links is what a reading that is asked for links keeps besides. Events are held
// back while an answer streams in, so what belongs to one is passed on when it
// is emitted.
type links struct {
	out transcript.Tracer
	due map[int]*due
	// dense says up to which event the agent's numbers are the positions; moved
	// are the positions of other numbers.
	dense int
	moved map[int64]int
	open  openTurn
}

// due is what is passed on with an event.
type due struct {
	data     []byte
	cites    []int
	gone     []transcript.Run
	before   int // of the event that follows what it replaced, -1 if none does
	original int // the position in the parent of a copy, -1 for an own one
}

func (l *links) at(seq int) *due {
	d := l.due[seq]
	if d == nil {
		if l.due == nil {
			l.due = map[int]*due{}
		}
		d = &due{before: -1, original: -1}
		l.due[seq] = d
	}
	return d
}

// maxMoved bounds the numbers remembered of a damaged log.
const maxMoved = 1 << 20

// mark notes the number of an event that will be emitted.
func (l *links) mark(g *log, number int64, e *transcript.Event, member func() []byte) {
	seq := g.nextSeq()
	switch {
	case number == int64(seq) && l.dense == seq:
		l.dense++
	case len(l.moved) < maxMoved:
		if l.moved == nil {
			l.moved = map[int64]int{}
		}
		l.moved[number] = seq
	}
	if e.Inherited && g.Header.ParentID != "" {
		l.at(seq).original = int(number) // copies keep their numbers
	}
	if (member != nil || g.shared) && l.out.Wants(g.Header.SessionID, seq) {
		data := bytes.Clone(g.value)
		if member != nil {
			data = member()
		}
		l.at(seq).data = data
	}
}

// place finds the event with a number.
func (l *links) place(number int64) (seq int, ok bool) {
	if number >= 0 && number < int64(l.dense) {
		return int(number), true
	}
	seq, ok = l.moved[number]
	return seq, ok
}

// cites notes an event's sources as recorded.
func (l *links) cites(seq int, sources jsonv.Value) {
	if l == nil {
		return
	}
	sources.Elems(func(_ int, v jsonv.Value) bool {
		if n, ok := v.Int(); ok {
			if from, ok := l.place(n); ok && from < seq {
				d := l.at(seq)
				d.cites = append(d.cites, from)
			}
		}
		return true
	})
}

// replaces notes what an event takes off the surface, and what follows there.
func (l *links) replaces(seq int, gone, rest []node) {
	if l == nil {
		return
	}
	d := l.at(seq)
	for _, n := range gone {
		d.gone = transcript.AddRun(d.gone, n.seq)
	}
	if len(rest) > 0 {
		d.before = rest[0].seq
	}
}

// emitted passes on what belongs to an event.
func (l *links) emitted(h *transcript.Header, seq int) error {
	d, id := l.due[seq], h.SessionID
	if d == nil {
		return nil
	}
	delete(l.due, seq)
	if err := transcript.PassData(l.out, id, seq, d.data); err != nil {
		return err
	}
	if d.original >= 0 {
		if err := l.out.Inherited(id, seq, h.ParentID, d.original); err != nil {
			return err
		}
	}
	for _, from := range d.cites {
		if err := l.out.Source(id, seq, from, true); err != nil {
			return err
		}
	}
	if err := transcript.Replace(l.out, id, d.gone, seq, false); err != nil {
		return err
	}
	if d.before >= 0 {
		return l.out.Order(id, seq, d.before)
	}
	return nil
}

// member writes one event of a packed row as it would stand by itself.
func member(row string, number int64, at time.Time, d, text jsonv.Value) []byte {
	raw := func(v jsonv.Value) string {
		if len(v) == 0 {
			return "null"
		}
		return string(v)
	}
	delta, key, call := "text-delta", "text", ""
	switch row {
	case "reasoning-chunks":
		delta = "reasoning-delta"
	case "tool-call-chunks":
		delta, key = "tool-call-delta", "argumentsDelta"
		call = `"id":` + raw(d.Get("id")) + `,`
		if name := d.Get("name"); name != nil {
			call += `"name":` + string(name) + `,`
		}
	}
	return fmt.Appendf(nil, `{"type":"assistant/chunk","seq":%d,"time":%d,"data":{"turn":%s,"step":%s,"chunk":{"type":%q,"index":%s,%s%q:%s}}}`,
		number, at.UnixMilli(), raw(d.Get("turn")), raw(d.Get("step")), delta, raw(d.Get("index")), call, key, raw(text))
}

// openTurn follows the last turn, to balance it in memory should it have been
// interrupted (reference A.17.2).
type openTurn struct {
	turn, step string // as JSON, "" if none is open
	calls      []openCall
	last       time.Time
}

// openCall is a call of the model that has no result; seq is that of its
// tool/call event, -1 if it was not started.
type openCall struct {
	id, name string
	seq      int
}

// maxOpen bounds the calls of one turn, and maxID the length of what is kept of
// each.
const (
	maxOpen = 4096
	maxID   = 1024
)

func (l *links) turn(kind string, d jsonv.Value, seq int, at time.Time) {
	if l == nil {
		return
	}
	o := &l.open
	if !at.IsZero() {
		o.last = at
	}
	number := func(v jsonv.Value) string {
		if n, ok := v.Int(); ok {
			return strconv.FormatInt(n, 10)
		}
		return "null"
	}
	switch kind {
	case "turn/start":
		o.turn, o.step, o.calls = number(d.Get("turn")), "", nil
	case "turn/end":
		o.turn, o.step, o.calls = "", "", nil
	case "step/start":
		o.step = number(d.Get("step"))
	case "step/end":
		o.step = ""
	case "assistant/message":
		d.Get("message", "content").Elems(func(_ int, b jsonv.Value) bool {
			if b.Get("type").IsStr("tool-call") {
				o.add(b.Get("id").Str(), b.Get("name").Str(), -1)
			}
			return true
		})
	case "tool/call":
		o.add(d.Get("callId").Str(), d.Get("name").Str(), seq)
	case "tool/result":
		m := d.Get("message")
		id := m.Get("source", "callId").Str()
		m.Get("content").Elems(func(_ int, b jsonv.Value) bool {
			if id == "" {
				id = b.Get("toolCallId").Str()
			}
			return id == ""
		})
		o.calls = slices.DeleteFunc(o.calls, func(c openCall) bool { return c.id == id })
	}
}

func (o *openTurn) add(id, name string, seq int) {
	if o.turn == "" || id == "" || len(id) > maxID || len(name) > maxID {
		return
	}
	for i := range o.calls {
		if o.calls[i].id == id {
			if seq >= 0 {
				o.calls[i].seq = seq
			}
			return
		}
	}
	if len(o.calls) < maxOpen {
		o.calls = append(o.calls, openCall{id, name, seq})
	}
}

// balance ends an interrupted turn as the harness does when it opens the log: a
// result for each pending call, the step's end, the turn's end.
func (l *links) balance(g *log) error {
	if l == nil || l.open.turn == "" {
		return nil
	}
	o := &l.open
	seq, number := g.Seq, g.Next
	add := func(kind, more, data string, e transcript.Event, cites int) error {
		e.SessionID, e.Seq, e.Type, e.RawType, e.Time = g.Header.SessionID, seq, kind, kind, o.last
		if err := l.out.Synthetic(&e); err != nil {
			return err
		}
		at := "null"
		if !o.last.IsZero() {
			at = strconv.FormatInt(o.last.UnixMilli(), 10)
		}
		record := fmt.Appendf(nil, `{"type":%q,"seq":%d,"time":%s,"data":%s%s}`, kind, number, at, data, more)
		if err := transcript.PassData(l.out, e.SessionID, seq, record); err != nil {
			return err
		}
		if cites >= 0 {
			if err := l.out.Source(e.SessionID, seq, cites, true); err != nil {
				return err
			}
		}
		seq++
		number++
		return nil
	}
	step := o.step
	if step == "" {
		step = "null"
	}
	for _, c := range o.calls {
		code, text, cites := "TOOL_NOT_STARTED", "The turn was interrupted before this call was started.", ""
		if c.seq >= 0 {
			code, text = "TOOL_OUTCOME_UNKNOWN", "The turn was interrupted; what this call did is unknown."
			cites = fmt.Sprintf(`,"sourceEventSeqs":[%d]`, c.seq)
		}
		id, err := json.Marshal(c.id)
		if err != nil {
			return fmt.Errorf("balance an interrupted turn: %w", err)
		}
		data := fmt.Sprintf(`{"turn":%s,"step":%s,"message":{"role":"user","source":{"kind":"tool","callId":%s},"content":[{"type":"tool-result","toolCallId":%s,"content":[{"type":"text","text":%q}],"isError":true}]},"error":{"code":%q}}`,
			o.turn, step, id, id, text, code)
		e := transcript.Event{Role: transcript.RoleTool, Surface: transcript.Current, Failed: true}
		if c.name != "" {
			e.Tools = []string{c.name}
		}
		e.AddText(transcript.Output, text+"\n"+code)
		if err := add("tool/result", `,"surfaceOp":"append"`+cites, data, e, c.seq); err != nil {
			return err
		}
	}
	e := transcript.Event{Role: transcript.RoleSystem, Surface: transcript.LogOnly}
	if o.step != "" {
		if err := add("step/end", "", fmt.Sprintf(`{"turn":%s,"step":%s}`, o.turn, step), e, -1); err != nil {
			return err
		}
	}
	e.AddText(transcript.Output, "interrupted")
	return add("turn/end", "", fmt.Sprintf(`{"turn":%s,"reason":{"kind":"interrupted"}}`, o.turn), e, -1)
}
