package codex

import (
	"context"
	"slices"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
)

// session is one rollout while it is read.
type session struct {
	state
	ctx     context.Context
	env     transcript.Env
	src     transcript.Source
	out     transcript.Sink
	now     time.Time
	resumed bool

	queue []held // events held back, see twins.go
	live  live
	links *links // nil unless they are asked for
	// packed says that the file is compressed: records are no byte ranges of it.
	packed bool
}

// held is an event that waits for its turn.
type held struct {
	ev   transcript.Event
	open bool   // its twin may still come
	data []byte // the record, where it is asked for and is no line of the file
	from int    // position in the parent of a copied record, -1 if unknown
}

func newSession(ctx context.Context, env transcript.Env, src transcript.Source, out transcript.Sink) *session {
	s := &session{ctx: ctx, env: env, src: src, out: out, now: env.Time()}
	s.Header.SessionID = fallbackID(src)
	s.Header.Relation = transcript.RelationRoot
	s.Header.InheritedKnown = true
	s.Header.Format = "rollout"
	return s
}

// call is a tool call whose answer may still come.
type call struct {
	ID   string `json:"i"`
	Name string `json:"n"`
}

// maxCalls bounds the calls remembered; answers follow within a few records.
const maxCalls = 128

func (s *session) opened(id, name string) {
	if id == "" || len(id) > 200 || len(name) > 200 {
		return
	}
	if len(s.Calls) >= maxCalls {
		s.Calls = s.Calls[len(s.Calls)-maxCalls+1:]
	}
	s.Calls = append(s.Calls, call{id, name})
}

// called returns the name of the tool that was called under an id.
func (s *session) called(id string) (name string, ok bool) {
	for i := len(s.Calls) - 1; i >= 0; i-- {
		if s.Calls[i].ID == id {
			return s.Calls[i].Name, true
		}
	}
	return "", false
}

// put hands an event over, behind those that are held back.
func (s *session) put(ev transcript.Event, open bool) error {
	h := held{ev: ev, open: open, from: -1}
	if s.links != nil {
		h.data, h.from = s.links.data, s.links.from
	}
	if len(s.queue) == 0 && !open {
		return s.deliver(&h)
	}
	s.queue = append(s.queue, h)
	return nil
}

// settle decides a held event: a twin loses its text.
func (s *session) settle(seq int, twin bool) {
	for i := range s.queue {
		if h := &s.queue[i]; h.ev.Seq == seq {
			h.open = false
			if twin {
				h.ev.Parts, h.ev.Message = nil, false
			}
		}
	}
}

// drain hands over the events before the first undecided one, or all.
func (s *session) drain(all bool) error {
	n := 0
	for n < len(s.queue) && (all || !s.queue[n].open) {
		if err := s.deliver(&s.queue[n]); err != nil {
			return err
		}
		n++
	}
	if n > 0 {
		s.queue = slices.Delete(s.queue, 0, n)
	}
	return nil
}

// deliver passes an event to the sink and counts it in the header. What
// depends on an event's text is done here, once it is decided.
func (s *session) deliver(held *held) error {
	ev, h := &held.ev, &s.Header
	if s.packed {
		ev.Offset, ev.Length = 0, 0
	}
	if ev.Inherited {
		ev.Message = false
		h.InheritedCount++
	} else {
		h.SawTime(ev.Time, s.now)
	}
	if ev.Message {
		h.MessageCount++
	}
	talk := ev.Type == transcript.TypeUserMessage || ev.Type == transcript.TypeAssistantMessage
	if talk && (ev.Message || len(ev.Parts) > 0) {
		h.Conversation = true
		for _, p := range ev.Parts {
			if p.Kind == transcript.Prose {
				s.offerTitle(ev, p.Text)
			}
		}
	}
	if err := s.out.Event(ev); err != nil || s.links == nil {
		return err
	}
	return s.links.delivered(s, held)
}

// promptBytes is what is kept of the first prompt, to tell titles that repeat it.
const promptBytes = 1000

func (s *session) offerTitle(ev *transcript.Event, text string) {
	h := &s.Header
	switch {
	case ev.Role == transcript.RoleAssistant:
		if !ev.Inherited {
			h.OfferTitle(text, transcript.TitleReply, ev.Seq)
		}
	case ev.Role != transcript.RoleUser:
	case ev.Inherited:
		if s.Foreign == "" {
			s.Foreign, s.ForeignSeq = transcript.PromptTitle(text), ev.Seq
		}
	default:
		if s.Prompt == "" {
			s.Prompt = transcript.Clip(text, promptBytes)
		}
		h.OfferTitle(text, transcript.TitlePrompt, ev.Seq)
	}
}

// finish hands over what is held back, the surfaces that changed and the header.
func (s *session) finish() error {
	if err := s.drain(true); err != nil {
		return err
	}
	if !s.Header.Conversation {
		return transcript.ErrNoSession
	}
	for _, r := range s.live.gone {
		if err := s.out.Surface(s.Header.SessionID, r.from, r.to, transcript.Shadowed); err != nil {
			return err
		}
	}
	if err := s.links.finish(s); err != nil {
		return err
	}
	h := s.Header.Clone()
	h.Archived = isArchived(s.src.Path)
	s.title(&h)
	h.Finish(label)
	return s.out.Header(&h)
}

// title chooses among the names a thread was given: the rollout's own event,
// the index, the state database, which is the newest of the three stores.
func (s *session) title(h *transcript.Header) {
	h.SetTitleAt(s.Foreign, transcript.TitlePrompt, s.ForeignSeq)
	n := parseNames(s.src.Hint)
	given := []names{n, s.Named}
	if n.At.After(s.Named.At) {
		slices.Reverse(given)
	}
	for _, g := range given {
		if g.Seq != nil {
			h.SetTitleAt(g.Name, transcript.TitleAgent, *g.Seq)
		} else {
			h.SetTitle(g.Name, transcript.TitleAgent)
		}
	}
	if n.Title == "" {
		return
	}
	from, title := transcript.TitleAgent, transcript.Typed(n.Title)
	if samePrompt(title, s.Prompt) || s.Prompt == "" && s.Foreign != "" {
		from = transcript.TitlePrompt
	}
	h.SetTitle(transcript.PromptTitle(title), from)
}

// live is the surface: the records the model sees, in order. Records that
// leave it become ranges of shadowed events.
type live struct {
	nodes []node
	kept  int // leading nodes that an old-style compaction left standing
	turns int // nodes that begin a turn
	gone  []span
	tolls []toll // kept when links are asked for
	trace bool
}

type node struct {
	seq  int
	turn bool // a person's or another agent's message, which begins a turn
}

// span is a range [from, to) of seqs.
type span struct{ from, to int }

func (l *live) add(seq int, turn bool) {
	l.nodes = append(l.nodes, node{seq, turn})
	if turn {
		l.turns++
	}
}

// toll is what one event took off the surface.
type toll struct {
	by      int
	summary bool
	runs    []transcript.Run
}

// takes names the event for which the next nodes are dropped.
func (l *live) takes(by int, summary bool) {
	if l.trace {
		l.tolls = append(l.tolls, toll{by: by, summary: summary})
	}
}

func (l *live) drop(seq int) {
	if l.trace {
		t := &l.tolls[len(l.tolls)-1]
		t.runs = transcript.AddRun(t.runs, seq)
	}
	if n := len(l.gone); n > 0 && l.gone[n-1].to == seq {
		l.gone[n-1].to++
		return
	}
	l.gone = append(l.gone, span{seq, seq + 1})
}

// compact removes everything; an old-style compaction keeps what people wrote.
func (l *live) compact(by int, keepTurns bool) {
	l.takes(by, true)
	if !keepTurns {
		for _, n := range l.nodes {
			l.drop(n.seq)
		}
		l.nodes, l.kept, l.turns = l.nodes[:0], 0, 0
		return
	}
	kept := l.nodes[:l.kept]
	for _, n := range l.nodes[l.kept:] {
		if n.turn {
			kept = append(kept, n)
		} else {
			l.drop(n.seq)
		}
	}
	l.nodes, l.kept = kept, len(kept)
}

// rollback removes the newest n turns. Of what precedes the first turn nothing
// is removed.
func (l *live) rollback(by int, n int64) {
	l.takes(by, false)
	cut := len(l.nodes)
	for i := len(l.nodes) - 1; i >= 0 && n > 0 && l.turns > 0; i-- {
		if l.nodes[i].turn {
			cut = i
			n--
			l.turns--
		}
	}
	for _, x := range l.nodes[cut:] {
		l.drop(x.seq)
	}
	l.nodes = l.nodes[:cut]
	l.kept = min(l.kept, cut)
}
