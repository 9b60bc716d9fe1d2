package cline

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

// said are tools whose argument is what the model says to the person.
var said = map[string]string{
	"attempt_completion": "result", "ask_followup_question": "question", "plan_mode_respond": "response", "act_mode_respond": "response",
	"new_task": "", "ask_question": "question",
}

// message emits the event of a message as the model was sent it: in a session, or of
// a task that has lost what was shown.
func (b *builder) message(v jsonv.Value) error {
	role := v.Get("role").Str()
	e := &transcript.Event{ID: transcript.CleanWord(v.Get("id").Str()), RawType: transcript.CleanWord(role), Time: transcript.ParseTime(v.Get("ts"))}
	if v.Kind() != jsonv.Object {
		e.Surface = transcript.LogOnly
		return b.emit(e, v)
	}
	if _, copied := b.inherit.take(e.ID); !copied {
		b.h.SawModel(transcript.CleanWord(first(v.Get("modelInfo", "id").Str(), v.Get("modelInfo", "modelId").Str())))
	}
	m := &message{b: b, e: e, role: role}
	if v.Get("metadata", "kind").IsStr("compaction_summary") || v.Get("compactionSummary").True() {
		e.Type, e.Role = transcript.TypeCompaction, transcript.RoleSystem
		e.AddText(transcript.Prose, first(v.Get("metadata", "summary").Str(), texts(v.Get("content"))))
		return b.emit(e, v)
	}
	v.Get("content").Items(m.part)
	v.Get("metadata", "modelToolActivities").Items(m.activity)
	m.finish()
	seq := b.seq
	if err := b.emit(e, v); err != nil {
		return err
	}
	for _, id := range m.answered {
		if call, ok := b.calls.Seq(id); ok {
			if err := b.link(seq, call); err != nil {
				return err
			}
		}
	}
	for _, id := range m.made {
		b.calls.Add(id, seq)
	}
	return nil
}

// message gathers the parts of one.
type message struct {
	b                        *builder
	e                        *transcript.Event
	role                     string
	prose                    []string
	calls, results           transcript.Event
	picture, thought, result bool // of what it has some; result: texts go on with one
	made, answered           []string
}

func (m *message) part(p jsonv.Value) {
	if p.Kind() == jsonv.String {
		m.text(p.Str())
		return
	}
	switch p.Get("type").Str() {
	case "text":
		m.text(p.Get("text").Str())
	case "image", "document", "file", "media":
		m.picture = true
	case "thinking", "redacted_thinking":
		m.thought = true
	case "tool_use":
		name, input := transcript.CleanWord(p.Get("name").Str()), toolargs.Open(p.Get("input"))
		if key, ok := said[name]; ok && key != "" {
			m.prose = append(m.prose, input.Get(key).Str())
		} else {
			m.call(name, input)
		}
		m.made = append(m.made, p.Get("id").Str())
	case "tool_result":
		text := texts(p.Get("content"))
		tool, _, rest, ok := resultHeader(text)
		if ok {
			text = rest
		}
		m.answer(first(transcript.CleanWord(p.Get("name").Str()), tool), text, p.Get("is_error").True() || failed(text))
		if _, said := feedback(text); said != "" {
			m.prose = append(m.prose, said)
		}
		m.answered = append(m.answered, p.Get("tool_use_id").Str())
	}
}

func (m *message) call(name string, input jsonv.Value) {
	toolargs.AddCall(&m.calls, name, m.b.h.CWD, input)
}

func (m *message) answer(name, text string, failed bool) {
	if name != "" && !slices.Contains(m.results.Tools, name) {
		m.results.Tools = append(m.results.Tools, name)
	}
	m.results.AddText(transcript.Output, output(text))
	m.results.Failed = m.results.Failed || failed
}

// activity adds a call that the model's host has made.
func (m *message) activity(a jsonv.Value) {
	name := transcript.CleanWord(a.Get("toolName").Str())
	if name == "" {
		return
	}
	m.call(name, toolargs.Open(a.Get("input")))
	var b strings.Builder
	a.Get("output").Strings(func(s jsonv.Value) bool { b.WriteString(s.Str() + "\n"); return true })
	m.results.AddText(transcript.Output, strings.TrimSpace(b.String()))
	m.results.Failed = m.results.Failed || a.Get("isError").True()
}

// text adds a text. Among those in the person's name are results and what
// describes the environment; among the model's, in tasks, calls as tags.
func (m *message) text(s string) {
	if m.role != "user" {
		if notes := strings.TrimSpace(s); strings.HasPrefix(notes, "[NOTE] Some previous conversation history") {
			return
		}
		m.spoken(s)
		return
	}
	t := strings.TrimSpace(s)
	if strings.HasPrefix(t, "<environment_details>") && m.b.h.CWD == "" {
		m.b.h.SawCWD(workingFolder(t))
	}
	tool, _, rest, ok := resultHeader(t)
	switch words := typed(t); {
	case ok:
		if key, known := said[tool]; !known || key == "" {
			m.answer(tool, rest, failed(rest))
		} else if words = typed(rest); words != rest { // what was answered to the model
			m.prose = append(m.prose, words)
		}
		m.result = rest == ""
	case m.result && words == t:
		m.answer("", t, failed(t))
	default:
		m.prose = append(m.prose, words)
	}
}

// tag matches what may begin a call.
var tag = regexp.MustCompile(`<([a-z][a-z_]{2,40})>`)

// tools are those of tasks that were called by tags.
var tools = []string{
	"execute_command", "read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_files", "list_files", "list_code_definition_names",
	"browser_action", "use_mcp_tool", "access_mcp_resource", "ask_followup_question", "attempt_completion", "plan_mode_respond", "act_mode_respond",
	"new_task", "condense", "load_mcp_documentation", "web_fetch", "web_search", "use_skill", "generate_explanation", "report_bug", "summarize_task",
	"use_subagents", "switch_mode", "fetch_instructions", "update_todo_list",
}

// spoken adds what the model said, without what it thought, and its calls.
func (m *message) spoken(s string) {
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			m.prose = append(m.prose, text)
		}
	}
	for at := 0; ; {
		loc := tag.FindStringSubmatchIndex(s[at:])
		if loc == nil {
			add(s)
			return
		}
		name := s[at+loc[2] : at+loc[3]]
		start, inside := at+loc[0], at+loc[1]
		if name != "thinking" && !slices.Contains(tools, name) {
			at = inside
			continue
		}
		// A tag that is not closed is one that somebody writes about.
		end := strings.Index(s[inside:], "</"+name+">")
		if end < 0 {
			add(s)
			return
		}
		add(s[:start])
		body := s[inside : inside+end]
		s, at = s[inside+end+len(name)+3:], 0
		if name == "thinking" {
			m.thought = true
			continue
		}
		input := parameters(body)
		if key := said[name]; key != "" {
			add(input.Get(key).Str())
			continue
		}
		m.call(name, input)
	}
}

// maxParameters bounds the tags that are looked at of a call.
const maxParameters = 64

// parameters makes an input of the tags inside a call.
func parameters(body string) jsonv.Value {
	out := []byte{'{'}
	for range maxParameters {
		loc := tag.FindStringSubmatchIndex(body)
		if loc == nil {
			break
		}
		name := body[loc[2]:loc[3]]
		end := strings.Index(body[loc[1]:], "</"+name+">")
		if end < 0 {
			body = body[loc[1]:]
			continue
		}
		value, err := json.Marshal(strings.Trim(body[loc[1]:loc[1]+end], "\n"))
		if err != nil {
			break
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), name...), '"', ':')
		out = append(out, value...)
		body = body[loc[1]+end+len(name)+3:]
	}
	return append(out, '}')
}

// finish makes the event of what was gathered.
func (m *message) finish() {
	e := m.e
	words := strings.TrimSpace(strings.Join(slices.DeleteFunc(m.prose, func(s string) bool { return strings.TrimSpace(s) == "" }), "\n\n"))
	answered := len(m.answered) > 0 || len(m.results.Parts) > 0
	switch m.role {
	case "user":
		e.Type, e.Role = transcript.TypeUserMessage, transcript.RoleUser
		e.Message = m.b.prose(e, words) || m.picture && !answered
		if answered && !e.Message {
			e.Type, e.Role = transcript.TypeToolResult, transcript.RoleTool
		}
	case "assistant":
		e.Type, e.Role = transcript.TypeAssistantMessage, transcript.RoleAssistant
		e.Message = m.b.prose(e, words)
		switch {
		case e.Message:
		case len(m.calls.Parts) > 0:
			e.Type = transcript.TypeToolCall
		case m.thought:
			e.Type = transcript.TypeReasoning
		}
	case "error":
		e.Type, e.Role, e.Surface, e.Failed = transcript.TypeSystem, transcript.RoleSystem, transcript.LogOnly, true
		e.AddText(transcript.Output, words)
	case "system":
		e.Type, e.Role = transcript.TypeSystem, transcript.RoleSystem
	default:
		e.Surface = transcript.LogOnly
	}
	e.Parts = append(append(e.Parts, m.calls.Parts...), m.results.Parts...)
	e.Tools, e.Files = append(m.calls.Tools, m.results.Tools...), m.calls.Files
	e.Failed = e.Failed || m.results.Failed
}

// named is an input with one argument.
func named(key, value string) jsonv.Value {
	v, err := json.Marshal(map[string]string{key: value})
	if err != nil {
		return nil
	}
	return v
}
