package dsh

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// state is what a resumed reading continues with.
type state struct {
	Header transcript.Header `json:"header"`
	Begun  bool              `json:"begun"` // the header line was read
	Seq    int               `json:"seq"`   // of the next event
	Next   int64             `json:"next"`  // number the next event should carry
	Seed   int64             `json:"seed"`  // events below it are copies
	// Calls are the tools whose results are awaited, by call id.
	Calls map[string]string `json:"calls,omitempty"`
	// Streaming says that the last event showed the text of an answer that was
	// still coming in. What follows decides whether that was the only trace of
	// it.
	Streaming bool `json:"streaming,omitempty"`
}

// maxCalls bounds the calls remembered for their results, maxKind the length of
// an event type.
const (
	maxCalls = 256
	maxKind  = 80
)

// log turns the records of one log into events.
type log struct {
	state
	env     transcript.Env
	out     transcript.Sink
	id      string // from the folder's name
	resumed bool

	offset, length int64 // of the record at hand
	value          jsonv.Value
	shared         bool // its bytes are not a line of the file
	surface        []node
	links          *links  // nil unless they are asked for
	strict         *strict // nil unless damage is to be told
	stream         stream
}

// node is an event on the surface.
type node struct {
	number int64 // the agent's
	seq    int
	result bool   // a tool/result
	print  uint64 // of a result without its content; in strict readings only
}

func (l *log) restore(b []byte) bool {
	var st state
	if json.Unmarshal(b, &st) != nil {
		return false
	}
	l.state = st
	return true
}

// line takes in one line. shared says that its bytes are no line of the file.
func (l *log) line(v jsonv.Value, shared bool) error {
	if l.links == nil {
		return l.record(v)
	}
	l.value, l.shared = v, shared
	err := l.record(v)
	l.value = nil
	return err
}

// record takes in one line.
func (l *log) record(v jsonv.Value) error {
	kind := v.Get("type").Str()
	if err := l.strict.record(l, kind, v); err != nil {
		return err
	}
	if len(kind) > maxKind {
		kind = transcript.TypeOther
	}
	if !l.Begun {
		return l.begin(kind, v)
	}
	if l.resumed && l.Streaming {
		return transcript.ErrReread
	}
	switch kind {
	case "session":
		if v.Get("version").Exists() {
			l.Header.Warn("a second header inside the log")
			return nil
		}
	case "text-chunks", "reasoning-chunks", "tool-call-chunks":
		return l.packed(kind, v)
	case "steering/message":
		return l.event("user/message", kind, v)
	case "":
		if v.Kind() != jsonv.Object {
			l.Header.Warn("a line that is no event")
			return nil
		}
		return l.event(transcript.TypeOther, "", v)
	}
	return l.event(kind, kind, v)
}

// begin reads the header line. A log whose header is lost is read all the
// same; one of another version is refused, since nothing says that its records
// mean what they meant.
func (l *log) begin(kind string, v jsonv.Value) error {
	l.Begun = true
	h := &l.Header
	*h = transcript.Header{SessionID: l.id, Relation: transcript.RelationRoot, Format: "0", InheritedKnown: true}
	if kind != "session" {
		h.Warn("the log has no header")
		h.InheritedKnown = false
		return l.record(v)
	}
	if string(v.Get("version")) != "0" {
		return fmt.Errorf("read dsh session: format version %.20s is not supported, only version 0", versionText(v.Get("version")))
	}
	if id := v.Get("id").Str(); id != "" {
		h.SessionID = id
	}
	h.SawCWD(v.Get("cwd").Str())
	h.SawTime(transcript.ParseTime(v.Get("createdAt")), l.env.Time())
	if n, ok := v.Get("seedLength").Int(); ok && n > 0 {
		l.Seed = n
	}
	if n, ok := v.Get("delegationDepth").Int(); ok && n > 0 && n < 1000 {
		h.DelegationDepth = int(n)
	}
	h.ParentID = v.Get("parentSession").Str()
	origin := v.Get("origin").Str()
	switch {
	case origin == "subagent":
		h.Relation = transcript.RelationSubagent
	case h.ParentID == "":
	case l.Seed > 0:
		h.Relation = transcript.RelationFork
	case h.DelegationDepth > 0:
		h.Relation = transcript.RelationSubagent
	default:
		h.Relation = transcript.RelationContinuation
		h.Warn("a parent without a copied beginning: taken for a continuation")
	}
	if h.ParentID != "" {
		h.LineageEvidence = transcript.EvidenceHeader
		if l.Seed > 0 {
			h.ParentEvent = strconv.FormatInt(l.Seed-1, 10)
		}
	}
	return nil
}

func versionText(v jsonv.Value) string {
	if !v.Exists() {
		return "(none)"
	}
	return string(v)
}

// number reads the event's number and checks that it is the next one.
func (l *log) number(v jsonv.Value) int64 {
	n, ok := v.Int()
	if !ok || n != l.Next {
		l.strict.invalid("event %.20s where %d belongs", v, l.Next)
		l.Header.Warn("event numbers are not contiguous: records are missing or damaged")
	}
	if !ok || n < 0 {
		n = l.Next
	}
	l.Next = n + 1
	return n
}

// event emits an event of its own record.
func (l *log) event(kind, raw string, v jsonv.Value) error {
	number := l.number(v.Get("seq"))
	e := &transcript.Event{Type: kind, RawType: raw, Time: transcript.ParseTime(v.Get("time")), Role: transcript.RoleSystem, Surface: transcript.LogOnly}
	d := v.Get("data")
	replaces, err := l.fold(kind, number, v, e)
	if err != nil {
		return err
	}
	switch kind {
	case "user/message":
		l.userMessage(d, replaces, e)
	case "assistant/message":
		l.assistantMessage(d, e)
	case "tool/call":
		l.toolCall(d, e)
	case "tool/result":
		l.toolResult(d, replaces, e)
	case "todo/write":
		todo(d, e)
	case "turn/end":
		turnEnd(d.Get("reason"), e)
	case "session/title":
		l.title(d)
	case "request/context":
		l.Header.SawModel(d.Get("model").Str())
	case "request/header":
		l.Header.SawModel(d.Get("header", "config", "model").Str())
	case "assistant/chunk":
		e.Role = transcript.RoleAssistant
		l.mark(number, e, nil)
		return l.chunk(d, e)
	}
	l.mark(number, e, nil)
	l.links.turn(kind, d, l.nextSeq(), e.Time)
	return l.pass(e)
}

// packed emits the events that a row of chunks stands for.
func (l *log) packed(raw string, v jsonv.Value) error {
	d := v.Get("data")
	list := d.Get("texts")
	if raw == "tool-call-chunks" {
		list = d.Get("args")
	}
	number := l.number(v.Get("seq0"))
	at := transcript.ParseTime(v.Get("time0"))
	// Members and their gaps go along side by side.
	var gaps []time.Duration
	d.Get("dt").Elems(func(_ int, gap jsonv.Value) bool {
		ms, _ := gap.Int()
		gaps = append(gaps, time.Duration(max(0, min(ms, 1<<40)))*time.Millisecond)
		return len(gaps) < maxPacked
	})
	var err error
	n := 0
	list.Elems(func(i int, text jsonv.Value) bool {
		if i > 0 && i <= len(gaps) && !at.IsZero() {
			at = at.Add(gaps[i-1])
		}
		e := &transcript.Event{Type: "assistant/chunk", RawType: raw, Time: at, Role: transcript.RoleAssistant, Surface: transcript.LogOnly}
		l.mark(number+int64(i), e, func() []byte { return member(raw, number+int64(i), at, d, text) })
		n++
		l.stream.at(d)
		if raw == "text-chunks" {
			l.stream.add(text.Str())
		}
		err = l.hold(e)
		return err == nil
	})
	if n == 0 && err == nil {
		l.Header.Warn("a row of chunks without members")
		n = 1
		e := &transcript.Event{Type: "assistant/chunk", RawType: raw, Time: at, Role: transcript.RoleAssistant, Surface: transcript.LogOnly}
		l.mark(number, e, nil)
		err = l.hold(e)
	}
	l.Next = number + int64(n)
	return err
}

// maxPacked bounds the gaps kept of one row of chunks.
const maxPacked = 1 << 20

// mark says where an event comes from: its place, and whether it is a copy. A
// record that holds several events gives each one's own by member.
func (l *log) mark(number int64, e *transcript.Event, member func() []byte) {
	e.Offset, e.Length = l.offset, l.length
	e.Inherited = number < l.Seed
	if l.links != nil {
		l.links.mark(l, number, e, member)
	}
}

// emit numbers an event and hands it over.
func (l *log) emit(e *transcript.Event) error {
	h := &l.Header
	e.SessionID, e.Seq = h.SessionID, l.Seq
	if e.Message {
		h.Conversation = true
		if e.Message = !e.Inherited; e.Message {
			h.MessageCount++
		}
	}
	if e.Inherited {
		h.InheritedCount++
	}
	h.SawTime(e.Time, l.env.Time())
	l.Seq++
	if err := l.out.Event(e); err != nil || l.links == nil {
		return err
	}
	return l.links.emitted(h, e.Seq)
}

// finish hands over the header.
func (l *log) finish() error {
	if err := l.end(); err != nil {
		return err
	}
	if !l.Header.Conversation {
		return transcript.ErrNoSession
	}
	if err := l.links.balance(l); err != nil {
		return err
	}
	h := l.Header // the state keeps what Finish must not fix
	h.Finish(label)
	if err := l.out.Header(&h); err != nil {
		return err
	}
	return l.strict.surface()
}

// fold applies a surface operation (reference A.7) and gives the event its
// surface. It returns whether the event replaces others.
func (l *log) fold(kind string, number int64, v jsonv.Value, e *transcript.Event) (replaces bool, err error) {
	op, sources := v.Get("surfaceOp"), v.Get("sourceEventSeqs")
	l.strict.sources(kind, number, op, sources)
	if kind != "user/message" && kind != "assistant/message" && kind != "tool/result" {
		if op.Exists() {
			l.Header.Warn("invalid surface: an operation on " + kind)
		}
		return false, nil
	}
	e.Surface = transcript.Current
	seq := l.nextSeq()
	self := node{number: number, seq: seq, result: kind == "tool/result"}
	if l.strict != nil && self.result {
		self.print = print(v.Get("data"))
	}
	l.links.cites(seq, sources)
	if op.Get("op").IsStr("replace") {
		if l.resumed {
			return false, transcript.ErrReread
		}
		from, to, ok := l.span(op)
		if ok {
			if err := l.settle(kind); err != nil {
				return false, err
			}
			for _, n := range l.surface[from:to] {
				if err := l.out.Surface(l.Header.SessionID, n.seq, n.seq+1, transcript.Shadowed); err != nil {
					return false, err
				}
			}
			l.strict.replaces(self, l.surface[from:to], sources)
			l.links.replaces(seq, l.surface[from:to], l.surface[to:])
			l.surface[from] = self
			l.surface = append(l.surface[:from+1], l.surface[to:]...)
			return true, nil
		}
		l.strict.invalid("%s %d replaces what is not on the surface", kind, number)
		l.Header.Warn("invalid surface: an event replaces what is not there")
	} else if !op.IsStr("append") {
		l.Header.Warn("invalid surface: a message without its operation")
	}
	if !l.resumed {
		l.surface = append(l.surface, self)
	}
	return false, nil
}

// span finds the replaced events, by their place on the surface.
func (l *log) span(op jsonv.Value) (from, to int, ok bool) {
	start, ok1 := op.Get("start").Int()
	end, ok2 := op.Get("end").Int()
	if !ok1 || !ok2 {
		return 0, 0, false
	}
	from, to = -1, -1
	for i, n := range l.surface {
		if n.number == start && from < 0 {
			from = i
		}
		if n.number == end {
			to = i + 1
		}
	}
	return from, to, from >= 0 && to > from
}
