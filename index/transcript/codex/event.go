package codex

import (
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

// event turns what the interface was told into an event. Most of it repeats
// response items and is without text; it is never model context.
func (s *session) event(ev *transcript.Event, p jsonv.Value) error {
	kind := p.Get("type").Str()
	ev.RawType = kind
	if s.links != nil && (strings.HasSuffix(kind, "_end") || kind == "dynamic_tool_call_response") {
		s.links.ends(ev.Seq, p.Get("call_id").Str())
	}
	switch kind {
	case "user_message":
		ev.Type, ev.Role = transcript.TypeUserMessage, transcript.RoleUser
		text := transcript.Typed(p.Get("message").Str())
		ev.AddText(transcript.Prose, text)
		return s.unlessTwin(ev, twinKey(keyUser, text))
	case "agent_message":
		ev.Type, ev.Role = transcript.TypeAssistantMessage, transcript.RoleAssistant
		text := p.Get("message").Str()
		ev.AddText(transcript.Prose, text)
		return s.unlessTwin(ev, twinKey(keyAssistant, text))
	case "item_completed":
		if item := p.Get("item"); item.Get("type").IsStr("Plan") {
			ev.Type, ev.Role = transcript.TypeAssistantMessage, transcript.RoleAssistant
			text := item.Get("text").Str()
			ev.AddText(transcript.Prose, text)
			return s.unlessTwin(ev, twinKey(keyPlan, text))
		}
	case "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break":
		ev.Type, ev.Role = transcript.TypeReasoning, transcript.RoleAssistant
	case "task_started", "turn_started":
		ev.Type = transcript.TypeTurnStart
	case "task_complete", "turn_complete":
		ev.Type = transcript.TypeTurnEnd
	case "turn_aborted":
		ev.Type = transcript.TypeTurnEnd
		ev.AddText(transcript.Prose, "aborted")
	case "error", "stream_error", "warning":
		ev.Type = transcript.TypeTurnEnd
		ev.AddText(transcript.Prose, p.Get("message").Str())
	case "context_compacted":
		ev.Type = transcript.TypeCompactBoundary
	case "thread_name_updated":
		s.named(ev, p)
	case "thread_rolled_back":
		if n, ok := p.Get("num_turns").Int(); ok && n > 0 {
			if s.resumed {
				return transcript.ErrReread
			}
			s.live.rollback(ev.Seq, n)
		}
	case "exec_command_end":
		s.commandEnd(ev, p)
	case "mcp_tool_call_end":
		s.mcpEnd(ev, p)
	case "patch_apply_end":
		s.patchEnd(ev, p)
	case "dynamic_tool_call_response":
		s.dynamicEnd(ev, p)
	case "web_search_end":
		ev.Type, ev.Role = transcript.TypeToolCall, transcript.RoleAssistant
		query := p.Get("query")
		toolargs.AddCall(ev, "web_search", s.Dir, query)
		return s.unlessTwin(ev, twinKey(keySearch, query.Str()))
	case "view_image_tool_call":
		a := toolargs.Args{Dir: s.Dir}
		a.File(p.Get("path").Str())
		ev.Files = a.Files()
	}
	return s.put(*ev, false)
}

// unlessTwin hands over an event that keeps its text only when no item has it.
func (s *session) unlessTwin(ev *transcript.Event, key uint64) error {
	if len(ev.Parts) == 0 || s.Twins.event(key, ev.Seq, ev.Offset) {
		ev.Parts = nil
		return s.put(*ev, false)
	}
	ev.Message = ev.RawType == "user_message" || ev.RawType == "agent_message"
	// The record after one longer than the window is beyond it: no use in
	// holding so much text back.
	return s.put(*ev, key != 0 && ev.Length <= windowBytes)
}

func (s *session) named(ev *transcript.Event, p jsonv.Value) {
	ev.Type = transcript.TypeTitle
	id := strings.ToLower(p.Get("thread_id").Str())
	if ev.Inherited || id != "" && id != s.Header.SessionID {
		return
	}
	seq := ev.Seq // the event is used again
	s.Named = names{Name: transcript.Clip(p.Get("thread_name").Str(), titleBytes), At: ev.Time, Seq: &seq}
}

// commandEnd: files of earlier releases tell the end of a command twice. The
// output of a call that stands in the file comes as its own item.
func (s *session) commandEnd(ev *transcript.Event, p jsonv.Value) {
	var f [6]jsonv.Value
	p.Pick([]string{"call_id", "command", "cwd", "aggregated_output", "exit_code", "stdout"}, f[:])
	ev.Type, ev.Role = transcript.TypeToolResult, transcript.RoleTool
	if name, ok := s.called(f[0].Str()); ok {
		ev.Tools = []string{name}
		return
	}
	a := toolargs.Args{Tool: "exec_command", Dir: s.Dir}
	a.Add("command", f[1])
	a.AddTo(ev)
	out := f[3]
	if out.Str() == "" {
		out = f[5]
	}
	ev.AddText(transcript.Output, out.Str())
	code, ok := f[4].Int()
	ev.Failed = ok && code != 0
}

func (s *session) mcpEnd(ev *transcript.Event, p jsonv.Value) {
	var f [3]jsonv.Value
	p.Pick([]string{"call_id", "invocation", "result"}, f[:])
	ev.Type, ev.Role = transcript.TypeToolResult, transcript.RoleTool
	if name, ok := s.called(f[0].Str()); ok {
		ev.Tools = []string{name}
		return
	}
	name := transcript.CleanWord(f[1].Get("server").Str() + "__" + f[1].Get("tool").Str())
	toolargs.AddCall(ev, name, s.Dir, f[1].Get("arguments"))
	if bad := f[2].Get("Err"); bad.Exists() {
		ev.Failed = true
		ev.AddText(transcript.Output, bad.Str())
		return
	}
	good := f[2].Get("Ok")
	ev.Failed = good.Get("isError").True() || good.Get("is_error").True()
	ev.AddText(transcript.Output, joined(good.Get("content")))
}

func (s *session) patchEnd(ev *transcript.Event, p jsonv.Value) {
	ev.Type, ev.Role, ev.Tools = transcript.TypeToolResult, transcript.RoleTool, []string{"apply_patch"}
	ev.Failed = string(p.Get("success")) == "false"
	a := toolargs.Args{Dir: s.Dir}
	p.Get("changes").Each(func(path, change jsonv.Value) bool {
		a.File(path.Str())
		a.File(change.Get("move_path").Str())
		return len(a.Files()) < transcript.MaxFiles
	})
	ev.Files = a.Files()
	if _, ok := s.called(p.Get("call_id").Str()); !ok {
		// The patch was applied from inside a script, whose text holds it.
		ev.AddText(transcript.Output, p.Get("stderr").Str())
	}
}

func (s *session) dynamicEnd(ev *transcript.Event, p jsonv.Value) {
	ev.Type, ev.Role = transcript.TypeToolResult, transcript.RoleTool
	ev.Tools = []string{transcript.CleanWord(p.Get("tool").Str())}
	ev.Failed = string(p.Get("success")) == "false"
	if _, ok := s.called(p.Get("call_id").Str()); !ok {
		ev.AddText(transcript.Output, joined(p.Get("content_items")))
	}
}
