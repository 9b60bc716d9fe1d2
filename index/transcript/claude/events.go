package claude

import (
	"slices"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

// record turns one line into an event of the session it belongs to.
func (rd *reading) record(rec *transcript.Record) error {
	r := &rd.line
	s := rd.session(r)
	inherited := false
	if idHash(r.uuid) != 0 {
		rd.seen++
		inherited = rd.seen <= rd.copied
	} else {
		inherited = rd.seen < rd.copied
	}
	e := &rd.ev
	*e = transcript.Event{
		SessionID: s.h.SessionID, Seq: s.seq, ID: str(r.uuid), RawType: r.rawType(),
		Type: transcript.TypeOther, Role: transcript.RoleUnknown, Inherited: inherited,
		Offset: rec.Offset, Length: rec.Length,
		Parts: e.Parts[:0], Tools: e.Tools[:0], Files: e.Files[:0],
	}
	e.Time = s.saw(r, rd.env, inherited)
	n := node{id: idHash(r.uuid), parent: idHash(r.parent), seq: int32(s.seq)}
	if n.id != 0 && r.conversation() {
		n.print = sample(offsetBasis, r.message)
	}
	switch {
	case n.print != 0 && s.tree.twin(n.id, n.print):
		// Written twice: the first copy has the text.
		n = node{}
	case r.typ == "user":
		rd.user(s, e, &n)
	case r.typ == "assistant":
		rd.assistant(s, e, &n)
	case r.typ == "attachment":
		rd.attachment(s, e, &n)
	case r.typ == "system":
		rd.system(s, e, &n)
	default:
		bookkeeping(s, e, r)
	}
	rd.chain(s, r, &n)
	e.Surface = surface(n.flags&isVisible != 0)
	if inherited {
		e.Message = false
		s.h.InheritedCount = s.seq + 1
		if e.ID != "" && s.h.LineageEvidence == transcript.EvidenceOverlap {
			s.h.ParentEvent = e.ID
		}
	}
	if e.Message {
		s.h.MessageCount++
	}
	s.seq++
	if err := rd.out.Event(e); err != nil || rd.tracer == nil {
		return err
	}
	return rd.original(e, rec)
}

// chain enters a record into the session's tree.
func (rd *reading) chain(s *session, r *record, n *node) {
	if n.id == 0 && n.flags&(isTurn|isBoundary) == 0 {
		return
	}
	if n.parent == 0 {
		n.flags |= isLinear
		if r.hasParent {
			n.flags = n.flags&^isLinear | isRoot
		}
	}
	if s == rd.main && !rd.firstChain {
		rd.firstChain = true
		// A first record with a parent continues another file.
		if id := r.parent; n.parent != 0 && len(id) < 256 {
			rd.askOwner = str(id)
		}
	}
	if n.flags&isBoundary != 0 && rd.askOwner == "" && s == rd.main {
		if logical := idHash(r.logical); logical != 0 && len(r.logical) < 256 {
			if _, here := s.tree.index[logical]; !here && s.tree.total == 0 {
				rd.askOwner = str(r.logical)
			}
		}
	}
	s.tree.add(*n)
}

// session finds the session that a line belongs to: the file's own, or an
// inline sub-agent's (mid-2025 files), told by its agentId or its root line.
func (rd *reading) session(r *record) *session {
	if rd.main.subagent || !r.sidechain {
		return rd.main
	}
	id := idHash(r.uuid)
	key := str(r.agent)
	s := rd.sideOf[idHash(r.parent)]
	if key != "" || s == nil {
		if key == "" {
			key = str(r.uuid)
		}
		key = transcript.Clip(key, 128)
		if s = rd.sides[key]; s == nil {
			s = rd.inline(r, key)
		}
	}
	if id != 0 && len(rd.sideOf) < maxNodes {
		rd.sideOf[id] = s
	}
	return s
}

func (rd *reading) inline(r *record, key string) *session {
	if rd.sides == nil {
		rd.sides, rd.sideOf = map[string]*session{}, map[uint64]*session{}
	}
	s := newSession(agentSession(rd.main.h.SessionID, key))
	s.subagent, s.links = true, newLinks(rd.tracer)
	h := &s.h
	h.Relation, h.ParentID, h.LineageEvidence = transcript.RelationSubagent, rd.main.h.SessionID, transcript.EvidenceLine
	h.DelegationDepth, h.InheritedKnown = 1, true
	if p := idHash(r.parent); p != 0 {
		if _, ok := rd.main.tree.index[p]; ok {
			h.ParentEvent = str(r.parent)
		}
	}
	if h.ParentEvent == "" {
		blocks(r.message, func(b *block) {
			if b.typ == "text" && h.ParentEvent == "" {
				h.ParentEvent = rd.main.open.started(idHash(b.text))
			}
		})
	}
	rd.sides[key] = s
	rd.order = append(rd.order, s)
	return s
}

// user handles a line of the user role: a prompt, tool results, or text that
// was injected.
func (rd *reading) user(s *session, e *transcript.Event, n *node) {
	r := &rd.line
	e.Type, e.Role = transcript.TypeUserMessage, transcript.RoleUser
	n.flags |= isTurn | isVisible
	if r.compactSummary {
		n.flags |= isSummary
		e.Type, e.Role = transcript.TypeCompaction, transcript.RoleSystem
		var text []string
		blocks(r.message, func(b *block) {
			if b.typ == "text" {
				text = append(text, str(b.text))
			}
		})
		e.AddText(transcript.Prose, summaryText(strings.Join(text, "\n")))
		s.h.Conversation = true
		return
	}
	if r.shownOnly {
		r.meta = true
		n.flags &^= isVisible
	}
	var prompts []string
	stopped, results, images, command := false, false, false, false
	blocks(r.message, func(b *block) {
		switch b.typ {
		case "text":
			text := str(b.text)
			stopped = stopped || interrupted(text)
			if r.meta || r.promptSource.IsStr("system") {
				return
			}
			if t, c := typed(text); t != "" {
				prompts, command = append(prompts, t), command || c
			}
			if !s.prompted && strings.HasPrefix(strings.TrimSpace(text), "<teammate-message") {
				s.h.Automated, s.h.Conversation = true, true
			}
		case "tool_result":
			results = true
			rd.toolResult(s, e, n, b)
		case "image", "document":
			images = true
		}
	})
	switch {
	case len(prompts) > 0:
		text := strings.Join(prompts, "\n\n")
		e.AddText(transcript.Prose, text)
		rd.prompt(s, e, text, command)
	case results:
		e.Type, e.Role = transcript.TypeToolResult, transcript.RoleTool
		s.h.Conversation = true
	case images && !r.meta:
		e.Message, s.h.Conversation, s.prompted = true, true, true
	case stopped:
		e.Type = transcript.TypeTurnEnd
	}
}

// requestWords is how many arguments make a slash command a request.
const requestWords = 3

// prompt counts what a person (or the program in their place) asked for.
func (rd *reading) prompt(s *session, e *transcript.Event, text string, command bool) {
	e.Message = true
	s.h.Conversation = true
	if !s.prompted {
		s.prompted = true
		s.warmup = s.subagent && strings.EqualFold(strings.TrimSpace(text), "warmup")
		s.h.Automated = s.h.Automated || rd.line.promptSource.IsStr("sdk")
	} else if s.warmup {
		s.warmup = false // somebody went on to use it
	}
	if !e.Inherited && !s.h.WantsTitle(transcript.TitlePrompt) || e.Inherited && s.titles.Copied.Text != "" {
		return
	}
	title := transcript.PromptTitle(text)
	// A custom command with a sentence for arguments holds the real request; a
	// setting ("/model opus") names no session while there is a prompt.
	command = command && strings.Count(title, " ") < requestWords
	switch {
	case e.Inherited:
		if !command {
			s.titles.Copied = candidate{title, s.seq}
		}
	case command:
		if s.titles.Command.Text == "" {
			s.titles.Command = candidate{title, s.seq}
		}
	default:
		s.h.SetTitleAt(title, transcript.TitlePrompt, s.seq)
	}
}

func (rd *reading) toolResult(s *session, e *transcript.Event, n *node, b *block) {
	r := &rd.line
	id := idHash(b.toolID)
	if n.answer == 0 {
		n.answer = id
		s.answers(id, r)
	}
	s.links.answer(s.seq, id, r)
	if name := s.open.name(id); name != "" {
		addOnce(&e.Tools, name)
	}
	text := outputText(b.content)
	if whole, ok := persisted(rd.place, text, baseName(str(b.toolID)), r.result); ok {
		text = whole
	} else {
		text = stubPreview(text)
	}
	if text == "" && r.result.Kind() == jsonv.String {
		text = outputText(r.result)
	}
	e.AddText(transcript.Output, text)
	if b.error.True() || r.result.Kind() == jsonv.String && strings.HasPrefix(string(r.result[1:min(len(r.result), 16)]), "Error:") {
		e.Failed = true
	}
	if r.result.Kind() == jsonv.Object {
		var v [2]jsonv.Value
		r.result.Pick([]string{"filePath", "file"}, v[:])
		dir := rd.dir(s)
		e.Files = transcript.AppendPath(e.Files, dir, v[0].Str())
		if v[1].Kind() == jsonv.Object {
			e.Files = transcript.AppendPath(e.Files, dir, v[1].Get("filePath").Str())
		}
	}
}

// dir is the folder that the line at hand was written in.
func (rd *reading) dir(s *session) string {
	if c := rd.line.cwd; c != nil && !c.IsStr(s.h.CWD) {
		return str(c)
	}
	return s.h.CWD
}

// assistant handles a line of a model response; one response is stored over
// several lines with one message.id, mostly one block each.
func (rd *reading) assistant(s *session, e *transcript.Event, n *node) {
	r := &rd.line
	e.Role = transcript.RoleAssistant
	e.Type = transcript.TypeAssistantMessage
	n.flags |= isTurn | isVisible
	var m [3]jsonv.Value
	r.message.Pick([]string{"id", "model", "content"}, m[:])
	model := ""
	if m[1] != nil && !m[1].IsStr(s.h.Model) {
		if model = str(m[1]); model != "" && model != "<synthetic>" && len(model) < 256 {
			s.h.SawModel(model)
		}
	}
	if r.apiFail || model == "<synthetic>" {
		// Written by the program, never seen by the model: the turn failed.
		n.flags &^= isVisible
		e.Type, e.Role = transcript.TypeTurnEnd, transcript.RoleSystem
		e.Failed = true
		return
	}
	group := idHash(m[0])
	n.group = group
	content := m[2]
	if content == nil {
		content = r.message
	}
	text, thought, todo, called := false, false, true, false
	blocks(content, func(b *block) {
		switch b.typ {
		case "text":
			t := str(b.text)
			if strings.TrimSpace(t) == "" || group != 0 && !s.blocks.add(sample(group, b.text)) {
				return
			}
			text = true
			e.AddText(transcript.Prose, t)
		case "tool_use", "server_tool_use", "mcp_tool_use":
			id := idHash(b.id)
			s.tree.called(id, group)
			s.links.called(id, s.seq)
			if group != 0 && id != 0 && !s.blocks.add(addHash(group, b.id)) {
				return
			}
			called = true
			todo = rd.call(s, e, b, id) && todo
		case "web_search_tool_result", "mcp_tool_result", "code_execution_tool_result":
			e.AddText(transcript.Output, outputText(b.content))
		case "thinking", "redacted_thinking":
			thought = true
		}
	})
	switch {
	case text:
		if !e.Inherited {
			s.h.OfferTitle(e.Parts[0].Text, transcript.TitleReply, s.seq)
		}
	case called && todo:
		e.Type = transcript.TypeTodoWrite
	case called:
		e.Type = transcript.TypeToolCall
	case thought:
		e.Type = transcript.TypeReasoning
	default:
		if len(e.Parts) == 0 {
			return // nothing was said
		}
	}
	s.h.Conversation = true
	// Without an id every line is a message of its own.
	e.Message = group == 0 || s.messages.add(group)
}

// call adds one tool call and reports whether it only writes a plan.
func (rd *reading) call(s *session, e *transcript.Event, b *block, id uint64) (todo bool) {
	name := transcript.CleanWord(b.name.Str())
	toolargs.AddCall(e, name, rd.dir(s), b.input)
	if name == "" {
		return false
	}
	if id != 0 {
		o := openCall{ID: id, Name: name}
		if name == "Task" || name == "Agent" {
			o.UUID, o.Text = e.ID, idHash(b.input.Get("prompt"))
		}
		s.open.add(o)
	}
	return todoTools[name]
}

// unseen are attachments the model never gets: what hooks printed to the
// person, and state.
var unseen = map[string]bool{
	"hook_success": true, "hook_cancelled": true, "hook_system_message": true, "hook_non_blocking_error": true,
	"command_permissions": true, "auto_mode": true, "budget_usd": true, "goal_status": true,
}

// attachment handles context that the program added. Only a queued command is
// a prompt: typed while the model was at work.
func (rd *reading) attachment(s *session, e *transcript.Event, n *node) {
	r := &rd.line
	e.Type, e.Role = transcript.TypeContext, transcript.RoleSystem
	var v [3]jsonv.Value
	r.attachment.Pick([]string{"type", "prompt", "commandMode"}, v[:])
	kind := word(v[0])
	if unseen[kind] {
		e.Type = transcript.TypeOther
		return
	}
	n.flags |= isVisible
	if kind != "queued_command" {
		return
	}
	e.Type, e.Role = transcript.TypeUserMessage, transcript.RoleUser
	if r.meta || v[2].Exists() && !v[2].IsStr("prompt") {
		return // a notice of the program, or a shell command
	}
	var prompts []string
	isCommand := false
	blocks(v[1], func(b *block) {
		if b.typ != "text" {
			return
		}
		if t, c := typed(str(b.text)); t != "" {
			prompts, isCommand = append(prompts, t), isCommand || c
		}
	})
	if len(prompts) > 0 {
		text := strings.Join(prompts, "\n\n")
		e.AddText(transcript.Prose, text)
		rd.prompt(s, e, text, isCommand)
	}
}

// system handles notes of the program: log-only, without text but for the
// recap the model wrote of what happened while the person was away.
func (rd *reading) system(s *session, e *transcript.Event, n *node) {
	r := &rd.line
	e.Type, e.Role = transcript.TypeSystem, transcript.RoleSystem
	switch r.subtype {
	case "compact_boundary":
		e.Type = transcript.TypeCompactBoundary
		n.flags |= isBoundary
		n.parent = 0
		s.tree.kept = kept(n.id, r.compactMeta)
		s.links.compacted(s, r)
	case "microcompact_boundary":
		e.Type = transcript.TypeCompactBoundary
		s.tree.clears(n.id, r.microMeta)
	case "away_summary":
		e.AddText(transcript.Prose, r.content.Str())
	case "turn_duration":
		e.Type = transcript.TypeTurnEnd
	case "api_error":
		e.Type = transcript.TypeTurnEnd
		e.Failed = true
	}
}

// kept reads which messages a compaction preserved: a stretch of the chain, or
// a list of ids.
func kept(boundary uint64, meta jsonv.Value) preserved {
	k := preserved{boundary: boundary}
	seg := meta.Get("preservedSegment")
	k.head, k.tail, k.anchor = idHash(seg.Get("headUuid")), idHash(seg.Get("tailUuid")), idHash(seg.Get("anchorUuid"))
	for _, list := range []jsonv.Value{meta.Get("preservedMessages", "uuids"), meta.Get("preservedUuids")} {
		k.ids = appendIDs(k.ids, list, windowNodes)
	}
	return k
}

// appendIDs adds the hashes of a list of ids, up to most in all.
func appendIDs(ids []uint64, list jsonv.Value, most int) []uint64 {
	list.Elems(func(_ int, v jsonv.Value) bool {
		if id := idHash(v); id != 0 {
			ids = append(ids, id)
		}
		return len(ids) < most
	})
	return ids
}

// clears notes what a microcompaction says it cleared.
func (t *tree) clears(marker uint64, meta jsonv.Value) {
	c := cleared{marker: marker}
	c.calls = appendIDs(nil, meta.Get("compactedToolIds"), maxCleared)
	c.ids = appendIDs(nil, meta.Get("clearedAttachmentUUIDs"), maxCleared)
	if marker != 0 && len(c.calls)+len(c.ids) > 0 && len(t.cleared) < maxCleared {
		t.cleared = append(t.cleared, c)
	}
}

// answers ties a result whose call is not known to the line that asked for it.
func (s *session) answers(call uint64, r *record) {
	t := s.tree
	if call == 0 || t.overflow || r.toolParent == nil {
		return
	}
	if _, known := t.calls[call]; known {
		return
	}
	if i, ok := t.index[idHash(r.toolParent)]; ok && t.nodes[i].group != 0 {
		t.called(call, t.nodes[i].group)
	}
}

// bookkeeping handles the records that are no part of the conversation.
func bookkeeping(s *session, e *transcript.Event, r *record) {
	switch r.typ {
	case "custom-title", "ai-title", "summary", "agent-name":
		e.Type, e.Role = transcript.TypeTitle, transcript.RoleSystem
		s.title(r)
		s.links.names(s.seq, r.leaf)
	case "mode", "permission-mode", "agent-setting", "last-prompt", "bridge-session", "worktree-state", "relocated", "pr-link":
		e.Type, e.Role = transcript.TypeSessionMeta, transcript.RoleSystem
	case "progress":
		e.Role = transcript.RoleTool
	case "queue-operation", "file-history-snapshot", "file-history-delta":
		e.Role = transcript.RoleSystem
		s.links.names(s.seq, r.messageID)
	}
}

func addOnce(list *[]string, s string) {
	if slices.Contains(*list, s) {
		return
	}
	*list = append(*list, s)
}
