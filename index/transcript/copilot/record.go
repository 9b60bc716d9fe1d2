package copilot

import (
	"hash/maphash"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

// record turns one line into one event.
func (fd *fold) record(rec transcript.Record) error {
	fields := [5]jsonv.Value{}
	rec.Value.Pick([]string{"type", "data", "id", "timestamp"}, fields[:])
	kind, data := fields[0].Str(), fields[1]
	e := &transcript.Event{
		ID: fields[2].Str(), RawType: kind, Time: transcript.ParseTime(fields[3]),
		Type: transcript.TypeOther, Role: transcript.RoleSystem, Surface: transcript.LogOnly,
		Offset: rec.Offset, Length: rec.Length,
	}
	i := fd.route(kind, rec.Value, data)
	fd.links.record(rec)
	h := &fd.Sessions[i].H
	switch kind {
	case "session.start", "session.resume", "session.context_changed":
		e.Type = transcript.TypeSessionMeta
		fd.place(i, data)
		h.SawTime(transcript.ParseTime(data.Get("startTime")), fd.env.Time())
		h.SawModel(data.Get("selectedModel").Str())
		fd.spawned(h, data)
	case "session.model_change":
		e.Type = transcript.TypeContext
		h.SawModel(data.Get("newModel").Str())
	case "session.title_changed":
		e.Type = transcript.TypeTitle
		h.SetTitleAt(data.Get("title").Str(), transcript.TitleAgent, fd.Sessions[i].Next)
	case "user.message":
		fd.user(i, data, e)
	case "assistant.message":
		fd.assistant(i, data, e)
	case "assistant.reasoning", "assistant.reasoning_delta":
		e.Type, e.Role = transcript.TypeReasoning, transcript.RoleAssistant
	case "tool.execution_start":
		fd.toolStart(i, data, e)
	case "tool.execution_complete":
		fd.toolEnd(i, data, e)
	case "assistant.turn_start":
		e.Type, e.Role = transcript.TypeTurnStart, transcript.RoleAssistant
	case "assistant.turn_end", "abort":
		e.Type, e.Role = transcript.TypeTurnEnd, transcript.RoleAssistant
	case "session.error":
		e.Type = transcript.TypeTurnEnd
		e.Failed = true
		e.AddText(transcript.Output, textOf(data.Get("message")))
	case "system.message", "system.notification":
		// The model reads both; nobody searches them.
		e.Type, e.Surface = transcript.TypeSystem, transcript.Current
	case "subagent.started":
		if c := fd.call(data.Get("toolCallId").Str()); c != nil && c.Title == "" {
			c.Title = transcript.CleanTitle(data.Get("agentDisplayName").Str())
		}
	case "session.shutdown":
		data.Get("codeChanges", "filesModified").Elems(func(_ int, p jsonv.Value) bool {
			e.Files = transcript.AppendPath(e.Files, fd.CWD, p.Str())
			return true
		})
	case "session.workspace_file_changed":
		// The path is relative to the session's own folder of notes and is
		// no file of the project.
	case "session.compaction_start":
		e.Type = transcript.TypeCompactBoundary
		if i == 0 {
			fd.compacts = fd.Sessions[0].Next
		}
	case "session.compaction_complete":
		return fd.compaction(i, data, e)
	case "session.context_cleared":
		if fd.resumed {
			return transcript.ErrReread
		}
		if err := fd.shadow(i, 0, fd.Sessions[i].Next); err != nil {
			return err
		}
	case "session.snapshot_rewind":
		if err := fd.rewind(i, data); err != nil {
			return err
		}
	}
	return fd.emit(i, e)
}

// place records where a session runs: in data.context at its start, in data
// itself when that changes.
func (fd *fold) place(i int, data jsonv.Value) {
	h := &fd.Sessions[i].H
	c := data
	if ctx := data.Get("context"); ctx.Kind() == jsonv.Object {
		c = ctx
	}
	if cwd := c.Get("cwd").Str(); cwd != "" {
		h.SawCWD(cwd)
		fd.CWD = cwd
	}
	if b := c.Get("branch").Str(); b != "" {
		h.Branch = b
	}
	if r := c.Get("repository").Str(); r != "" {
		if host := c.Get("repositoryHost").Str(); host != "" || !strings.HasSuffix(h.RepoURL, "/"+r) {
			h.RepoURL = repoURL(r, host)
		}
	}
}

// spawned links a session that the CLI itself started to go on with another
// one's context, without a person (a headless run at the end of a session).
func (fd *fold) spawned(h *transcript.Header, data jsonv.Value) {
	parent := data.Get("detachedFromSpawningParentSessionId").Str()
	if parent == "" || parent == h.SessionID || h.ParentID != "" {
		return
	}
	h.Relation, h.ParentID, h.LineageEvidence, h.Automated = transcript.RelationContinuation, parent, transcript.EvidenceHeader, true
}

// injected reports a user-role message that a program wrote (a skill's text, a
// scheduler, the autopilot). An unknown source counts as a person.
func injected(source string) bool {
	for _, p := range []string{"skill", "system", "autopilot", "hook", "schedule", "jit-instruction"} {
		if strings.HasPrefix(source, p) {
			return true
		}
	}
	return false
}

// skillContext begins the text of a skill, which stands in the person's name and
// is not always closed.
const skillContext = "<skill-context"

func (fd *fold) user(i int, data jsonv.Value, e *transcript.Event) {
	e.Type, e.Role, e.Surface = transcript.TypeUserMessage, transcript.RoleUser, transcript.Current
	content := textOf(data.Get("content"))
	if injected(data.Get("source").Str()) || strings.HasPrefix(strings.TrimSpace(content), skillContext) {
		return
	}
	text := transcript.Typed(content)
	// What is attached without words is a message, an envelope is none.
	if e.Message = e.AddText(transcript.Prose, text) || content == "" && data.Get("attachments").Len() > 0; !e.Message {
		return
	}
	s := fd.Sessions[i]
	s.H.OfferTitle(text, transcript.TitlePrompt, s.Next)
	data.Get("attachments").Elems(func(_ int, a jsonv.Value) bool {
		if a.Get("type").IsStr("file") {
			e.Files = transcript.AppendPath(e.Files, fd.CWD, a.Get("path").Str())
		}
		return true
	})
}

// assistant reads a message of the model. It may be written twice under one
// id, empty first: each text and call is given once, the message counted once.
func (fd *fold) assistant(i int, data jsonv.Value, e *transcript.Event) {
	h := &fd.Sessions[i].H
	e.Type, e.Role, e.Surface = transcript.TypeAssistantMessage, transcript.RoleAssistant, transcript.Current
	h.SawModel(data.Get("model").Str())
	var m *message
	if id := data.Get("messageId").Str(); id != "" && len(id) <= 256 {
		m = fd.message(i, id)
	} else {
		m = &message{}
	}
	text := textOf(data.Get("content"))
	if text != "" && m.Text != transcript.Hash(text) {
		m.Text = transcript.Hash(text)
		e.AddText(transcript.Prose, text)
		h.OfferTitle(text, transcript.TitleReply, fd.Sessions[i].Next)
	}
	data.Get("toolRequests").Elems(func(_ int, c jsonv.Value) bool {
		fd.toolCall(i, c.Get("toolCallId").Str(), c.Get("name").Str(), c.Get("arguments"), e)
		return true
	})
	if text == "" && len(e.Tools) > 0 {
		e.Type = callType(e.Tools)
	}
	if len(e.Parts) > 0 && !m.Counted {
		m.Counted, e.Message = true, true
	}
}

// callType tells a plan from other calls.
func callType(tools []string) string {
	if len(tools) == 1 && (tools[0] == "update_todo" || tools[0] == "manage_todo_list") {
		return transcript.TypeTodoWrite
	}
	return transcript.TypeToolCall
}

// toolCall adds a call to an event unless an earlier event has it.
func (fd *fold) toolCall(i int, id, name string, args jsonv.Value, e *transcript.Event) {
	if fd.call(id) != nil {
		return
	}
	args = toolargs.Open(args)
	fd.addCall(call{
		ID: id, Name: transcript.Clip(name, maxID), Session: i, Event: transcript.Clip(e.ID, maxID),
		Title: transcript.CleanTitle(args.Get("description").Str()),
	})
	fd.links.called(i, id, fd.Sessions[i].Next)
	toolargs.AddCall(e, name, fd.CWD, args)
}

// toolStart reads the start of a run. Mostly the model's message has announced
// it; then this is its twin and carries no text.
func (fd *fold) toolStart(i int, data jsonv.Value, e *transcript.Event) {
	name := data.Get("toolName").Str()
	e.Type, e.Role = callType([]string{name}), transcript.RoleAssistant
	fd.toolCall(i, data.Get("toolCallId").Str(), name, data.Get("arguments"), e)
	if len(e.Tools) > 0 {
		e.Surface = transcript.Current
	}
}

func (fd *fold) toolEnd(i int, data jsonv.Value, e *transcript.Event) {
	fd.links.answers(i, data.Get("toolCallId").Str())
	e.Type, e.Role, e.Surface = transcript.TypeToolResult, transcript.RoleTool, transcript.Current
	if c := fd.call(data.Get("toolCallId").Str()); c != nil && c.Name != "" {
		e.Tools = []string{c.Name}
	}
	e.Failed = string(data.Get("success")) == "false"
	result := data.Get("result")
	text := textOf(result)
	if result.Kind() == jsonv.Object {
		// detailedContent is what the screen shows of the same output.
		for _, key := range []string{"content", "detailedContent", "contents"} {
			if text = textOf(result.Get(key)); text != "" {
				break
			}
		}
	}
	e.AddText(transcript.Output, text)
	failure := data.Get("error")
	if failure.Kind() == jsonv.Object {
		failure = failure.Get("message")
	}
	if t := textOf(failure); t != text {
		e.AddText(transcript.Output, t)
	}
}

// compaction replaces what the model saw before the compaction started by its
// summary. Messages between start and end are kept: compaction runs beside the
// conversation.
func (fd *fold) compaction(i int, data jsonv.Value, e *transcript.Event) error {
	e.Type = transcript.TypeCompaction
	if string(data.Get("success")) == "false" {
		return fd.emit(i, e)
	}
	if fd.resumed {
		return transcript.ErrReread
	}
	to := fd.Sessions[i].Next
	if i == 0 && fd.compacts >= 0 {
		to = fd.compacts
	}
	fd.compacts = -1
	if err := fd.shadow(i, 0, to); err != nil {
		return err
	}
	fd.links.summed(fd.current[i])
	e.Surface = transcript.Current
	e.AddText(transcript.Prose, textOf(data.Get("summaryContent")))
	return fd.emit(i, e)
}

// rewind takes the named event and all after it out of the model's view. One
// that names no known event drops nothing (lineage.md §6).
func (fd *fold) rewind(i int, data jsonv.Value) error {
	if fd.resumed {
		return transcript.ErrReread
	}
	s := fd.Sessions[i]
	p, ok := fd.ids[maphash.String(fd.seed, data.Get("upToEventId").Str())]
	if !ok || int(p.session) != i {
		s.H.Warn("a rewind names an event that is not in this log")
		return nil
	}
	return fd.shadow(i, int(p.seq), s.Next)
}
