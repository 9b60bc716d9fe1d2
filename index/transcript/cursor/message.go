package cursor

import (
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

// message makes an event of a message of a transcript or a chat's store. Both
// have a role and content, a text or parts of one. made are the ids of calls in
// it, answered those of results.
func (b *builder) message(role string, content jsonv.Value, e *transcript.Event) (made, answered []string) {
	e.Type, e.RawType = transcript.TypeOther, role
	var prose []string
	image, thought := false, false
	text := func(s string) {
		if role != "user" {
			prose = append(prose, said(s))
			return
		}
		s, at := typed(s)
		if e.Time.IsZero() && at != "" {
			e.Time = promptTime(at)
		}
		prose = append(prose, s)
	}
	results := transcript.Event{}
	content.Items(func(p jsonv.Value) {
		if p.Kind() == jsonv.String {
			text(p.Str())
			return
		}
		switch kind := p.Get("type").Str(); kind {
		case "text", "input_text", "output_text":
			text(p.Get("text").Str())
		case "image", "file", "image_url":
			image = true
		case "reasoning", "redacted-reasoning", "thinking", "redacted_thinking":
			thought = true
		case "tool_use", "tool-call":
			name := transcript.CleanWord(first(p.Get("name").Str(), p.Get("toolName").Str()))
			b.call(e, name, toolargs.Open(first2(p.Get("input"), p.Get("args"))))
			made = append(made, first(id128(p.Get("toolCallId")), id128(p.Get("id"))))
		case "tool_result", "tool-result":
			if name := transcript.CleanWord(first(p.Get("toolName").Str(), p.Get("name").Str())); name != "" {
				results.Tools = append(results.Tools, name)
			}
			results.AddText(transcript.Output, result(first2(p.Get("result"), p.Get("output"), p.Get("content"))))
			results.Failed = results.Failed || p.Get("isError").True() || p.Get("is_error").True()
			answered = append(answered, first(id128(p.Get("toolCallId")), id128(p.Get("tool_use_id"))))
		}
	})
	words := strings.TrimSpace(strings.Join(prose, "\n"))
	calls := e.Parts
	e.Parts = nil
	switch role {
	case "user":
		e.Type, e.Role = transcript.TypeUserMessage, transcript.RoleUser
		e.Message = e.AddText(transcript.Prose, words) || image && len(answered) == 0
		b.h.OfferTitle(words, transcript.TitlePrompt, b.seq)
	case "assistant":
		e.Type, e.Role = transcript.TypeAssistantMessage, transcript.RoleAssistant
		e.Message = e.AddText(transcript.Prose, words)
		b.h.OfferTitle(words, transcript.TitleReply, b.seq)
		switch {
		case e.Message:
		case len(calls) > 0:
			e.Type = transcript.TypeToolCall
		case thought:
			e.Type = transcript.TypeReasoning
		}
	case "tool":
		e.Type, e.Role = transcript.TypeToolResult, transcript.RoleTool
		e.AddText(transcript.Output, words)
	case "system":
		// The product's own instructions, the same in every chat.
		e.Type, e.Role = transcript.TypeSystem, transcript.RoleSystem
	default:
		e.Surface = transcript.LogOnly
	}
	e.Parts = append(e.Parts, calls...)
	if len(answered) > 0 && !e.Message {
		e.Type, e.Role = transcript.TypeToolResult, transcript.RoleTool
	}
	e.Parts = append(e.Parts, results.Parts...)
	e.Tools = append(e.Tools, results.Tools...)
	e.Failed = results.Failed
	return made, answered
}

// result is the text of a call's result: a text, or its strings.
func result(v jsonv.Value) string {
	if v = toolargs.Open(v); v.Kind() == jsonv.String {
		return v.Str()
	}
	return output(v, nil)
}

// link ties results to the calls they answer.
func (b *builder) link(seq int, made, answered []string) error {
	if b.tracer == nil {
		return nil
	}
	for _, id := range answered {
		if call, ok := b.calls.Seq(id); ok && call != seq {
			if err := b.tracer.Source(b.h.SessionID, seq, call, false); err != nil {
				return err
			}
		}
	}
	for _, id := range made {
		b.calls.Add(id, seq)
	}
	return nil
}
