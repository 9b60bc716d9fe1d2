package codex

import (
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

var itemKeys = []string{"type", "id", "role", "content", "name", "namespace", "arguments", "input", "call_id", "output", "action", "revised_prompt"}

// fields are the members of a response item.
type fields struct {
	kind, id, role, content, name, namespace, arguments, input, callID, output, action, prompt jsonv.Value
}

func pickFields(p jsonv.Value) fields {
	var v [12]jsonv.Value
	p.Pick(itemKeys, v[:])
	return fields{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11]}
}

// item turns a response item, which is what the model sees, into an event.
func (s *session) item(ev *transcript.Event, p jsonv.Value) error {
	f := pickFields(p)
	kind := f.kind.Str()
	ev.RawType = kind
	if f.id.Kind() == jsonv.String {
		ev.ID = transcript.CleanWord(f.id.Str())
	}
	switch kind {
	case "message":
		return s.message(ev, f)
	case "agent_message":
		return s.agentMessage(ev, p)
	case "reasoning":
		ev.Type, ev.Role = transcript.TypeReasoning, transcript.RoleAssistant
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call", "image_generation_call", "mcp_tool_call":
		s.toolCall(ev, f)
		if q := f.action.Get("query"); kind == "web_search_call" && q.Exists() {
			if err := s.told(ev.Seq, twinKey(keySearch, q.Str())); err != nil {
				return err
			}
		}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output", "mcp_tool_call_output":
		s.toolResult(ev, f)
	default:
		// ghost_snapshot, compaction and whatever comes: no text.
		return s.put(*ev, false)
	}
	ev.Surface = transcript.Current
	s.live.add(ev.Seq, false)
	return s.put(*ev, false)
}

// told passes the keys of an item's texts to the twins. When an event with the
// same words was handed over in an earlier reading, all is read anew.
func (s *session) told(seq int, keys ...uint64) error {
	for i, k := range keys {
		if i > 0 && k == keys[0] {
			continue
		}
		event, again := s.Twins.item(k, seq)
		if event < 0 {
			continue
		}
		if again {
			return transcript.ErrReread
		}
		s.settle(event, true)
	}
	return s.drain(false)
}

// Kinds of twin keys.
const (
	keyUser      = 'u'
	keyAssistant = 'a'
	keyPlan      = 'p'
	keySearch    = 's'
	keyAgent     = 'i'
)

func (s *session) message(ev *transcript.Event, f fields) error {
	ev.Surface = transcript.Current
	var keys []uint64
	turn := false
	switch f.role.Str() {
	case "user":
		ev.Type, ev.Role = transcript.TypeUserMessage, transcript.RoleUser
		var texts []string
		images := false
		blocks(f.content, func(kind, text string) {
			images = images || kind == "input_image"
			if s.Header.CWD == "" && !ev.Inherited {
				s.directory(contextDir(text))
			}
			text = transcript.Typed(text)
			if text == "" || imageTag(text) {
				return
			}
			texts = append(texts, text)
			ev.AddText(transcript.Prose, text)
			if len(keys) < 16 {
				keys = append(keys, twinKey(keyUser, text))
			}
		})
		if len(texts) > 1 {
			keys = append(keys, twinKey(keyUser, texts...))
		}
		// A picture without words is a message, one with an envelope as well.
		ev.Message = len(texts) > 0 || images
		turn = ev.Message
	case "assistant":
		ev.Type, ev.Role = transcript.TypeAssistantMessage, transcript.RoleAssistant
		var texts []string
		blocks(f.content, func(_, text string) {
			if strings.TrimSpace(text) == "" {
				return
			}
			texts = append(texts, text)
			ev.AddText(transcript.Prose, text)
			if p := plan(text); p != "" && len(keys) < 16 {
				keys = append(keys, twinKey(keyPlan, p))
			}
		})
		keys = append(keys, twinKey(keyAssistant, texts...))
		ev.Message = len(ev.Parts) > 0
	default: // developer, system: instructions
		ev.Type = transcript.TypeSystem
	}
	s.live.add(ev.Seq, turn)
	if len(keys) > 0 {
		if err := s.told(ev.Seq, keys...); err != nil {
			return err
		}
	}
	return s.put(*ev, false)
}

// imageTag reports whether a block is a tag that Codex sets before or after a
// picture, which stands in a block of its own.
func imageTag(text string) bool {
	return text == "</image>" || strings.HasPrefix(text, "<image") && strings.IndexByte(text, '>') == len(text)-1
}

// blocks calls f for every block of text or media of a message's content, a
// list, a string or a single block.
func blocks(v jsonv.Value, f func(kind, text string)) {
	v.Items(func(b jsonv.Value) {
		if b.Kind() == jsonv.String {
			f("text", b.Str())
			return
		}
		var m [3]jsonv.Value
		b.Pick([]string{"type", "text", "refusal"}, m[:])
		text := m[1]
		if text.Kind() != jsonv.String {
			text = m[2]
		}
		f(m[0].Str(), text.Str())
	})
}

// contextDir reads the working directory out of an environment envelope; files
// of 2025 tell it nowhere else.
func contextDir(text string) string {
	const tag = "<environment_context>"
	i := strings.Index(text, tag)
	if i < 0 {
		return ""
	}
	text = text[i+len(tag):]
	if _, after, ok := strings.Cut(text, "<cwd>"); ok {
		dir, _, ok := strings.Cut(after, "</cwd>")
		if ok {
			return strings.TrimSpace(dir)
		}
		return ""
	}
	if _, after, ok := strings.Cut(text, "Current working directory: "); ok {
		dir, _, _ := strings.Cut(after, "\n")
		return strings.TrimSpace(dir)
	}
	return ""
}

// agentMessage is what one agent sends another: a task, which is the prompt of
// a sub-agent, or an answer, which its receiver gets like a tool's output.
func (s *session) agentMessage(ev *transcript.Event, p jsonv.Value) error {
	ev.Surface = transcript.Current
	ev.Type, ev.Role = transcript.TypeToolResult, transcript.RoleTool
	var said strings.Builder
	content := p.Get("content")
	if !content.Exists() {
		content = p.Get("message")
	}
	blocks(content, func(_, t string) { said.WriteString(t) })
	text, kind := said.String(), ""
	if strings.HasPrefix(text, "Message Type:") {
		head, body, ok := strings.Cut(text, "\nPayload:")
		if ok {
			kind, text = head, strings.TrimLeft(body, " \n")
		}
	}
	if kind, _, _ = strings.Cut(kind, "\n"); strings.Contains(kind, "TASK") {
		ev.Type, ev.Role = transcript.TypeUserMessage, transcript.RoleUser
		ev.AddText(transcript.Prose, text)
		ev.Message = len(ev.Parts) > 0
	} else {
		ev.AddText(transcript.Output, text)
	}
	// The same message may stand as a record and as an item.
	key := twinKey(keyAgent, text)
	for _, k := range s.Twins.Keys {
		if k.Key == key && key != 0 {
			ev.Parts, ev.Message, ev.Surface = nil, false, transcript.LogOnly
			return s.put(*ev, false)
		}
	}
	s.live.add(ev.Seq, true)
	if err := s.told(ev.Seq, key); err != nil {
		return err
	}
	return s.put(*ev, false)
}
