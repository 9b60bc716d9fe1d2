package pi

import (
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

// entry turns an entry of the tree into an event.
func (s *session) entry(ev *transcript.Event, v jsonv.Value, f fields, rec transcript.Record) error {
	typ := f.typ.Str()
	if typ == "" && f.message == nil {
		return s.deliver(ev) // no entry at all
	}
	if typ == "leaf" {
		return s.leafMark(ev, v, f)
	}
	ev.Inherited = s.copiedEntry(f.id.Str(), rec.Raw)
	if err := s.chain(ev.Seq, f); err != nil {
		return err
	}
	context := false
	switch typ {
	case "message", "":
		context = s.message(ev, f.message)
	case "compaction":
		return s.compaction(ev, v)
	case "branch_summary":
		s.links.summarized(s, ev.Seq)
		ev.Type = transcript.TypeCompaction
		ev.AddText(transcript.Prose, v.Get("summary").Str())
		context = true
	case "custom_message":
		s.injected(ev, v)
		context = true
	case "model_change":
		ev.Type = transcript.TypeContext
		if !ev.Inherited {
			s.Header.SawModel(transcript.CleanWord(v.Get("modelId").Str()))
		}
	case "thinking_level_change", "active_tools_change":
		ev.Type = transcript.TypeContext
	case "session_info":
		if ev.Inherited {
			ev.Type = transcript.TypeTitle
			break
		}
		s.named(ev, v.Get("name"))
	case "label":
		ev.AddText(transcript.Prose, v.Get("label").Str())
		s.links.labels(ev.Seq, v.Get("targetId").Str())
	}
	s.surface(ev, f, context)
	return s.deliver(ev)
}

// surface gives an entry its surface as far as it is known: the tree decides
// at the end which entries have been left behind.
func (s *session) surface(ev *transcript.Event, f fields, context bool) {
	if !context {
		return
	}
	ev.Surface = transcript.Current
	if s.resumed {
		if lane := f.lane.Str(); s.Harness && lane != mainLane {
			ev.Surface = transcript.Shadowed
		}
		return
	}
	s.tree.nodes[ev.Seq].seen |= isContext
}

// leafMark is a record that moves the active leaf. It names its target in one
// of several ways, else it stands for its parent.
func (s *session) leafMark(ev *transcript.Event, v jsonv.Value, f fields) error {
	target := f.parentID
	for _, key := range []string{"targetId", "entryId", "leafId"} {
		if t := v.Get(key); t != nil {
			target = t
			break
		}
	}
	if s.resumed {
		if transcript.Hash(target.Str()) != s.Leaf {
			return transcript.ErrReread
		}
		// Later entries may name the mark itself as what they continue.
		if id := f.id.Str(); id != "" {
			return transcript.ErrReread
		}
		return s.deliver(ev)
	}
	t := &s.tree
	if p, ok := t.ids[transcript.Hash(target.Str())]; ok {
		s.Leaf = transcript.Hash(target.Str())
		t.last = p
		s.links.moved(ev.Seq)
		if id := f.id.Str(); id != "" {
			t.ids[transcript.Hash(id)] = p
		}
	}
	return s.deliver(ev)
}

func (s *session) compaction(ev *transcript.Event, v jsonv.Value) error {
	if s.resumed {
		return transcript.ErrReread
	}
	var f [4]jsonv.Value
	v.Pick([]string{"summary", "firstKeptEntryId", "retainedTail", "firstKeptEntryIndex"}, f[:])
	ev.Type, ev.Surface = transcript.TypeCompaction, transcript.Current
	ev.AddText(transcript.Prose, f[0].Str())
	n := &s.tree.nodes[ev.Seq]
	n.seen |= isContext | isCompaction
	n.first = noNode
	switch {
	case f[2].Kind() == jsonv.Array:
		// The kept texts are inside the record; the entries are not kept.
	case f[1].Kind() == jsonv.String:
		if seq, ok := s.tree.ids[transcript.Hash(f[1].Str())]; ok {
			n.first = seq
		}
	case f[3].Exists(): // v1: counted in lines, the header included
		if i, ok := f[3].Int(); ok && i >= 0 && i < int64(ev.Seq) {
			n.first = int32(max(i, 1))
		}
	}
	return s.deliver(ev)
}

// injected is text an extension put into the conversation; it is searched when
// the person saw it.
func (s *session) injected(ev *transcript.Event, v jsonv.Value) {
	ev.Type = transcript.TypeUserMessage
	if v.Get("display").True() {
		blocks(v.Get("content"), func(_, text string, _ jsonv.Value) { ev.AddText(transcript.Prose, text) })
	}
}

// message reads a message and reports whether the model sees it.
func (s *session) message(ev *transcript.Event, m jsonv.Value) (context bool) {
	if ev.Time.IsZero() {
		ev.Time = transcript.ParseTime(m.Get("timestamp"))
	}
	role := m.Get("role").Str()
	if role != "" {
		ev.RawType = "message/" + transcript.CleanWord(role)
	}
	switch role {
	case "user":
		ev.Type, ev.Role = transcript.TypeUserMessage, transcript.RoleUser
		images := false
		blocks(m.Get("content"), func(kind, text string, _ jsonv.Value) {
			images = images || kind == "image"
			ev.AddText(transcript.Prose, transcript.Typed(text))
		})
		ev.Message = images || len(ev.Parts) > 0
	case "assistant":
		s.assistant(ev, m)
	case "toolResult":
		s.toolResult(ev, m)
	case "bashExecution":
		return s.bash(ev, m)
	case "branchSummary", "compactionSummary":
		ev.Type = transcript.TypeCompaction
		ev.AddText(transcript.Prose, m.Get("summary").Str())
	case "custom", "hookMessage":
		s.injected(ev, m)
	default:
		return false
	}
	return true
}

func (s *session) assistant(ev *transcript.Event, m jsonv.Value) {
	var f [4]jsonv.Value
	m.Pick([]string{"content", "model", "stopReason", "errorMessage"}, f[:])
	ev.Type, ev.Role = transcript.TypeAssistantMessage, transcript.RoleAssistant
	if !ev.Inherited {
		s.Header.SawModel(transcript.CleanWord(f[1].Str()))
	}
	said, called, thought := false, false, false
	blocks(f[0], func(kind, text string, b jsonv.Value) {
		switch kind {
		case "thinking":
			thought = true
		case "toolCall":
			called = true
			toolargs.AddCall(ev, transcript.CleanWord(b.Get("name").Str()), s.Header.CWD, b.Get("arguments"))
			s.links.called(ev.Seq, b)
		default:
			said = ev.AddText(transcript.Prose, text) || said
		}
	})
	ev.Message = said || called
	switch {
	case said:
	case called:
		ev.Type = transcript.TypeToolCall
	case thought:
		ev.Type = transcript.TypeReasoning
	}
	if stop := f[2].Str(); stop == "error" || stop == "aborted" || stop == "length" {
		why := f[3].Str()
		if said || called {
			ev.AddText(transcript.Output, why)
			return
		}
		if why == "" {
			why = stop
		}
		ev.Type, ev.Role = transcript.TypeTurnEnd, transcript.RoleSystem
		ev.AddText(transcript.Prose, why)
	}
}

func (s *session) toolResult(ev *transcript.Event, m jsonv.Value) {
	var f [5]jsonv.Value
	m.Pick([]string{"content", "toolName", "isError", "details", "toolCallId"}, f[:])
	s.links.answered(ev.Seq, f[4].Str())
	ev.Type, ev.Role = transcript.TypeToolResult, transcript.RoleTool
	if name := transcript.CleanWord(f[1].Str()); name != "" {
		ev.Tools = []string{name}
	}
	var texts []string
	blocks(f[0], func(_, text string, _ jsonv.Value) {
		if text != "" {
			texts = append(texts, text)
		}
	})
	ev.AddText(transcript.Output, strings.Join(texts, "\n"))
	code, ok := f[3].Get("exitCode").Int()
	ev.Failed = f[2].True() || ok && code != 0
}

// bash is a command the person ran beside the conversation, with its output.
func (s *session) bash(ev *transcript.Event, m jsonv.Value) (context bool) {
	var f [5]jsonv.Value
	m.Pick([]string{"command", "output", "exitCode", "cancelled", "excludeFromContext"}, f[:])
	ev.Type, ev.Role = transcript.TypeToolCall, transcript.RoleTool
	a := toolargs.Args{Tool: "bash", Dir: s.Header.CWD}
	a.Add("command", f[0])
	a.AddTo(ev)
	ev.AddText(transcript.Output, f[1].Str())
	code, ok := f[2].Int()
	ev.Failed = ok && code != 0 || f[3].True()
	return !f[4].True()
}

// blocks calls f for every block of a content: a list, a string or one block.
func blocks(v jsonv.Value, f func(kind, text string, b jsonv.Value)) {
	v.Items(func(b jsonv.Value) {
		if b.Kind() == jsonv.String {
			f("text", b.Str(), b)
			return
		}
		var m [2]jsonv.Value
		b.Pick([]string{"type", "text"}, m[:])
		f(m[0].Str(), m[1].Str(), b)
	})
}
