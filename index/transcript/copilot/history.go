package copilot

import (
	"context"
	"errors"
	"fmt"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

// readHistory reads the whole-file JSON of the first releases
// (history-session-state): {sessionId, startTime, chatMessages, timeline}. The
// chat messages have the shape of the OpenAI API; the timeline says the same
// again for display and is not read. One chat message is one event.
func readHistory(ctx context.Context, env transcript.Env, path, id string, out transcript.Sink) (*transcript.Checkpoint, error) {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := out.Begin(false); err != nil {
		return nil, err
	}
	h := transcript.Header{SessionID: id, Relation: transcript.RelationRoot, InheritedKnown: true, Format: "copilot-json", Entrypoint: "cli"}
	names := map[string]string{}
	tracer, _ := out.(transcript.Tracer)
	var calls transcript.Calls
	seq := 0
	cp := &transcript.Checkpoint{Version: version}
	_, err = transcript.ReadDocument(ctx, f, []string{"chatMessages"}, []string{"timeline"},
		func(key string, v jsonv.Value) error {
			switch key {
			case "startTime":
				h.SawTime(transcript.ParseTime(v), env.Time())
			case "model", "selectedModel":
				h.SawModel(v.Str())
			}
			return nil
		},
		func(_ string, _ int, v jsonv.Value) error {
			e := chatMessage(&h, names, v, seq)
			e.SessionID, e.Seq = id, seq
			e.Time = transcript.ParseTime(v.Get("timestamp"))
			h.SawTime(e.Time, env.Time())
			seq++
			if err := out.Event(e); err != nil || tracer == nil {
				return err
			}
			return traceMessage(tracer, &calls, e, v)
		})
	switch {
	case errors.Is(err, transcript.ErrTorn):
		cp.Torn = true
	case err != nil && (ctx.Err() != nil || seq == 0):
		return nil, fmt.Errorf("read Copilot session: %w", err)
	case err != nil:
		cp.Bad, cp.Partial = 1, "the document is damaged"
	}
	if !h.Conversation {
		return nil, transcript.ErrNoSession
	}
	h.Finish(label)
	if err := out.Header(&h); err != nil {
		return nil, err
	}
	cp.Offset = f.Size
	return cp, nil
}

// maxNames bounds the memory of call ids in one document.
const maxNames = 4096

func chatMessage(h *transcript.Header, names map[string]string, v jsonv.Value, seq int) *transcript.Event {
	role := v.Get("role").Str()
	text := textOf(v.Get("content"))
	e := &transcript.Event{ID: v.Get("id").Str(), RawType: role, Surface: transcript.Current}
	switch role {
	case "user":
		e.Type, e.Role = transcript.TypeUserMessage, transcript.RoleUser
		if text = transcript.Typed(text); text != "" {
			e.Message = e.AddText(transcript.Prose, text)
			h.OfferTitle(text, transcript.TitlePrompt, seq)
		}
	case "assistant":
		e.Type, e.Role = transcript.TypeAssistantMessage, transcript.RoleAssistant
		e.AddText(transcript.Prose, text)
		h.OfferTitle(text, transcript.TitleReply, seq)
		v.Get("tool_calls").Elems(func(_ int, c jsonv.Value) bool {
			name := c.Get("function", "name").Str()
			toolargs.AddCall(e, name, h.CWD, c.Get("function", "arguments"))
			if len(names) < maxNames {
				names[c.Get("id").Str()] = name
			}
			return true
		})
		e.Message = len(e.Parts) > 0
		if text == "" && len(e.Tools) > 0 {
			e.Type = transcript.TypeToolCall
		}
	case "tool":
		e.Type, e.Role = transcript.TypeToolResult, transcript.RoleTool
		if name := names[v.Get("tool_call_id").Str()]; name != "" {
			e.Tools = []string{name}
		}
		e.AddText(transcript.Output, text)
	case "system", "developer":
		e.Type, e.Role = transcript.TypeSystem, transcript.RoleSystem
	default:
		e.Type, e.Role, e.Surface = transcript.TypeOther, transcript.RoleUnknown, transcript.LogOnly
	}
	if e.Message {
		h.MessageCount++
		h.Conversation = true
	}
	return e
}
