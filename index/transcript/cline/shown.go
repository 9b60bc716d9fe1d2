package cline

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

// shown is the reading of what a person saw of a task.
type shown struct {
	*builder
	results *results
	// held is an entry that was written before it was complete, until the next one
	// shows whether that is the rest of it.
	held  jsonv.Value
	begun bool // something was said

	command int    // event of the last command, -1 without
	printed string // what the model was sent of its output and is not told yet
	call    int    // event of the last other call whose result is an entry of its own, -1 without
}

// shown reads a task.
func (b *builder) shown(f *transcript.File, path string) error {
	b.h.Format = formatTask
	b.task(path)
	s := &shown{builder: b, results: b.openResults(filepath.Join(filepath.Dir(path), sentFile)), command: -1, call: -1}
	defer s.results.close()
	if b.h.CWD == "" && s.results != nil {
		s.results.start()
		b.h.SawCWD(s.results.cwd)
	}
	err := b.array(io.LimitReader(f, f.Size), func(_ int, v jsonv.Value) error {
		if s.held != nil {
			held, again := s.held, same(s.held, v)
			s.held = nil
			if err := s.entry(held, again); err != nil {
				return err
			}
		}
		if v.Get("partial").True() {
			s.held = bytes.Clone(v)
			return nil
		}
		return s.entry(v, false)
	})
	if s.held != nil {
		if err := s.entry(s.held, false); err != nil {
			return &sinkError{err}
		}
	}
	return err
}

// same reports whether an entry is another one, written again.
func same(v, w jsonv.Value) bool {
	for _, key := range []string{"ts", "type", "say", "ask"} {
		if v.Get(key).Str() != w.Get(key).Str() {
			return false
		}
	}
	return true
}

// entry emits the event of an entry; superseded says that it is there again, with
// more in it.
func (s *shown) entry(v jsonv.Value, superseded bool) error {
	kind, word := "say", v.Get("say").Str()
	if v.Get("type").IsStr("ask") {
		kind, word = "ask", v.Get("ask").Str()
	}
	e := &transcript.Event{RawType: transcript.CleanWord(kind + "/" + word), Time: transcript.ParseTime(v.Get("ts"))}
	b := s.builder
	b.h.SawModel(transcript.CleanWord(v.Get("modelInfo", "modelId").Str()))
	from := -1 // the call that the event is a result of
	if superseded {
		e.Surface = transcript.LogOnly
		return b.emit(e, v)
	}
	text := v.Get("text").Str()
	switch word {
	case "task", "user_feedback":
		s.user(v, e, text)
	case "text":
		if s.begun || kind == "ask" {
			s.assistant(e, text)
		} else {
			s.user(v, e, text) // the task itself, in most releases
		}
	case "user_feedback_diff":
		e.Type, e.Role = transcript.TypeUserMessage, transcript.RoleUser
		s.edited(e, jsonv.Parse([]byte(text)))
	case "completion_result":
		if text = strings.TrimSuffix(strings.TrimSpace(text), "HAS_CHANGES"); text != "" {
			s.assistant(e, text)
		} else {
			e.Role, e.Surface = transcript.RoleSystem, transcript.LogOnly // only a question whether it is good
		}
	case "followup", "plan_mode_respond", "act_mode_respond":
		s.assistant(e, question(text))
	case "reasoning":
		e.Type, e.Role = transcript.TypeReasoning, transcript.RoleAssistant
	case "command":
		s.run(v, e, strings.TrimSuffix(text, "REQ_APP"))
	case "command_output":
		from = s.ran(e, text)
	case "tool":
		s.tool(v, e, jsonv.Parse([]byte(text)))
	case "use_mcp_server":
		s.server(v, e, jsonv.Parse([]byte(text)))
	case "mcp_server_response", "mcp_notification":
		e.Type, e.Role = transcript.TypeToolResult, transcript.RoleTool
		e.AddText(transcript.Output, text)
		from = s.call
	case "browser_action_launch", "browser_action":
		e.Type, e.Role = transcript.TypeToolCall, transcript.RoleAssistant
		toolargs.AddCall(e, "browser_action", b.h.CWD, object(text, "url"))
		s.call = b.seq
	case "browser_action_result":
		e.Type, e.Role = transcript.TypeToolResult, transcript.RoleTool
		r := jsonv.Parse([]byte(text))
		e.AddText(transcript.Output, strings.TrimSpace(r.Get("currentUrl").Str()+"\n"+r.Get("logs").Str()))
		from = s.call
	case "use_subagents", "new_task", "report_bug":
		e.Type, e.Role = transcript.TypeToolCall, transcript.RoleAssistant
		toolargs.AddCall(e, word, b.h.CWD, object(text, "context"))
		s.call = b.seq
	case "subagent":
		s.agents(e, jsonv.Parse([]byte(text)))
		from = s.call
	case "task_progress":
		e.Type, e.Role = transcript.TypeTodoWrite, transcript.RoleAssistant
		e.AddText(transcript.Call, text)
	case "condense", "summarize_task", "condense_context":
		e.Type, e.Role = transcript.TypeCompaction, transcript.RoleSystem
		e.AddText(transcript.Prose, first(v.Get("contextCondense", "summary").Str(), jsonv.Parse([]byte(text)).Get("context").Str(), text))
	case "error", "diff_error", "clineignore_error", "command_permission_denied", "api_req_failed", "mistake_limit_reached":
		e.Type, e.Role, e.Surface, e.Failed = transcript.TypeSystem, transcript.RoleSystem, transcript.LogOnly, true
		e.AddText(transcript.Output, text)
	case "api_req_started":
		s.request(e, jsonv.Parse([]byte(text)))
	default:
		// Notices, checkpoints, hooks, questions whether to go on.
		e.Role, e.Surface = transcript.RoleSystem, transcript.LogOnly
	}
	seq := b.seq
	if err := b.emit(e, v); err != nil {
		return err
	}
	return b.link(seq, from)
}

func (s *shown) user(v jsonv.Value, e *transcript.Event, text string) {
	s.begun = true
	e.Type, e.Role = transcript.TypeUserMessage, transcript.RoleUser
	e.Message = s.prose(e, text) || v.Get("images").Len() > 0 // as it was typed
	v.Get("files").Elems(func(_ int, f jsonv.Value) bool {
		e.Files = transcript.AppendPath(e.Files, s.h.CWD, f.Str())
		return true
	})
}

func (s *shown) assistant(e *transcript.Event, text string) {
	s.begun = true
	e.Type, e.Role = transcript.TypeAssistantMessage, transcript.RoleAssistant
	e.Message = s.prose(e, text)
}

// question is what the model asks or proposes, and what may be answered.
func question(text string) string {
	v := jsonv.Parse([]byte(text))
	if v.Kind() != jsonv.Object || !jsonv.Valid(v) {
		return text
	}
	out := first(v.Get("question").Str(), v.Get("response").Str())
	for _, key := range []string{"options", "suggest"} {
		v.Get(key).Elems(func(_ int, o jsonv.Value) bool {
			if o.Kind() == jsonv.Object {
				o = o.Get("answer")
			}
			out += "\n- " + o.Str()
			return true
		})
	}
	return out
}

// object is a text that may hold JSON; else an input with it under that name.
func object(text, key string) jsonv.Value {
	v := jsonv.Value(strings.TrimSpace(text))
	if v.Kind() == jsonv.Object && jsonv.Valid(v) {
		return v
	}
	return named(key, text)
}

// sides tells the names of tools as they are shown: by that which is called.
var sides = map[string][]string{
	"editedExistingFile": {"replace_in_file", "write_to_file", "apply_patch", "apply_diff"}, "newFileCreated": {"write_to_file", "replace_in_file", "apply_patch"},
	"fileDeleted": {"apply_patch"}, "readFile": {"read_file"}, "listFilesTopLevel": {"list_files"}, "listFilesRecursive": {"list_files"},
	"listCodeDefinitionNames": {"list_code_definition_names"}, "searchFiles": {"search_files"}, "webFetch": {"web_fetch"}, "webSearch": {"web_search"},
	"summarizeTask": {"summarize_task"}, "useSkill": {"use_skill"}, "appliedDiff": {"apply_diff"}, "insertContent": {"insert_content"},
}

// tool makes an event of a call of a tool and its result. The content of an entry is
// what was written, what came out, or the whole path again.
func (s *shown) tool(v jsonv.Value, e *transcript.Event, t jsonv.Value) {
	shownAs := t.Get("tool").Str()
	names := sides[shownAs]
	if names == nil {
		names = []string{transcript.CleanWord(shownAs)}
	}
	path, content := t.Get("path").Str(), t.Get("content").Str()
	switch shownAs {
	case "editedExistingFile", "newFileCreated", "fileDeleted", "appliedDiff", "insertContent":
		e.Type, e.Role = transcript.TypeToolCall, transcript.RoleAssistant
		s.edited(e, t)
		if res, ok := s.results.take(v.Get("conversationHistoryIndex"), names, path); ok {
			e.Tools = []string{res.tool}
			// A result that went well repeats the file.
			if e.Failed = res.failed; e.Failed {
				e.AddText(transcript.Output, res.text)
			}
		}
		return
	case "summarizeTask":
		e.Type, e.Role = transcript.TypeCompaction, transcript.RoleSystem
		e.AddText(transcript.Prose, content)
		return
	}
	e.Type, e.Role = transcript.TypeToolCall, transcript.RoleAssistant
	a := toolargs.Args{Tool: names[0], Dir: s.h.CWD}
	a.Add("input", t.Get("regex"))
	a.Add("input", t.Get("filePattern"))
	if strings.HasSuffix(path, "/") || strings.HasPrefix(shownAs, "web") || shownAs == "useSkill" {
		a.Add("input", t.Get("path")) // no file
	} else {
		a.Add("path", t.Get("path"))
	}
	a.AddTo(e)
	if len(e.Files) == 1 && absolute(content) && !strings.Contains(content, "\n") {
		e.Files[0] = content // the same, whole
	}
	if absolute(content) && !strings.Contains(content, "\n") || strings.HasPrefix(shownAs, "web") && content == path {
		content = ""
	}
	res, ok := s.results.take(v.Get("conversationHistoryIndex"), names, first(path, t.Get("regex").Str()))
	if e.Failed = ok && res.failed; content == "" || e.Failed {
		content = res.text
	}
	if shownAs == "useSkill" && !e.Failed {
		content = "" // the skill's own words, the same in every task
	}
	e.AddText(transcript.Output, content)
}

// edited adds what was changed in a file.
func (s *shown) edited(e *transcript.Event, t jsonv.Value) {
	name := "write_to_file"
	if names := sides[t.Get("tool").Str()]; names != nil {
		name = names[0]
	}
	a := toolargs.Args{Tool: name, Dir: s.h.CWD}
	if e.Role == transcript.RoleUser {
		a.Tool = ""
	}
	a.Add("path", t.Get("path"))
	diff, content := t.Get("diff"), t.Get("content")
	a.Add("diff", diff)
	if content.Str() != diff.Str() {
		a.Add("content", content)
	}
	a.AddTo(e)
}

// run makes an event of a command. Its output is what the model was sent of it.
func (s *shown) run(v jsonv.Value, e *transcript.Event, command string) {
	e.Type, e.Role = transcript.TypeToolCall, transcript.RoleAssistant
	toolargs.AddCall(e, "execute_command", s.h.CWD, named("command", command))
	s.command, s.printed = s.seq, ""
	if res, ok := s.results.take(v.Get("conversationHistoryIndex"), []string{"execute_command"}, command); ok {
		e.Failed, s.printed = res.failed, res.text
		e.AddText(transcript.Output, res.text)
	}
}

// ran makes an event of what a command printed, as far as the model was not sent it
// as well.
func (s *shown) ran(e *transcript.Event, text string) (from int) {
	e.Type, e.Role = transcript.TypeToolResult, transcript.RoleTool
	trimmed := strings.TrimSpace(text)
	if i := strings.Index(s.printed, trimmed); i >= 0 {
		s.printed = s.printed[i+len(trimmed):]
		e.Surface = transcript.LogOnly
		return s.command
	}
	e.AddText(transcript.Output, text)
	return s.command
}

// server makes an event of a call of a tool of an MCP server.
func (s *shown) server(v jsonv.Value, e *transcript.Event, t jsonv.Value) {
	e.Type, e.Role = transcript.TypeToolCall, transcript.RoleAssistant
	name := "use_mcp_tool"
	if t.Get("type").IsStr("access_mcp_resource") {
		name = "access_mcp_resource"
	}
	a := toolargs.Args{Tool: name, Dir: s.h.CWD}
	for _, key := range []string{"serverName", "toolName", "uri"} {
		a.Add("input", t.Get(key))
	}
	a.Add("arguments", toolargs.Open(t.Get("arguments")))
	a.AddTo(e)
	if res, ok := s.results.take(v.Get("conversationHistoryIndex"), []string{name}, t.Get("serverName").Str()); ok && res.failed {
		e.Failed = true
		e.AddText(transcript.Output, res.text)
	}
	s.call = s.seq
}

// agents makes an event of how sub-agents stand: they have no transcripts of their
// own.
func (s *shown) agents(e *transcript.Event, t jsonv.Value) {
	e.Type, e.Role = transcript.TypeToolResult, transcript.RoleTool
	if t.Get("status").IsStr("running") {
		e.Surface = transcript.LogOnly
		return
	}
	e.Failed = t.Get("status").IsStr("failed")
	t.Get("items").Elems(func(_ int, item jsonv.Value) bool {
		e.AddText(transcript.Output, first(item.Get("result").Str(), item.Get("error").Str()))
		return true
	})
}

// request makes an event of a request to the model. It repeats what was said, so that
// only its failure is text; where nothing else does it tells the folder.
func (s *shown) request(e *transcript.Event, t jsonv.Value) {
	e.Type, e.Role, e.Surface = transcript.TypeContext, transcript.RoleSystem, transcript.LogOnly
	if s.h.CWD == "" {
		s.h.SawCWD(workingFolder(t.Get("request").Str()))
	}
	if why := t.Get("streamingFailedMessage").Str(); why != "" {
		e.Failed = true
		e.AddText(transcript.Output, why)
	}
}
