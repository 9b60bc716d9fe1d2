package codex

import (
	"strconv"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

func (s *session) toolCall(ev *transcript.Event, f fields) {
	ev.Type, ev.Role = transcript.TypeToolCall, transcript.RoleAssistant
	name, kind := toolName(f), f.kind.Str()
	if name == "" {
		name = strings.TrimSuffix(kind, "_call")
	}
	if name == "update_plan" {
		ev.Type = transcript.TypeTodoWrite
	}
	callID := f.callID.Str()
	if ev.ID == "" {
		ev.ID = transcript.CleanWord(callID)
	}
	s.opened(callID, name)
	s.links.called(callID, ev.Seq)
	a := toolargs.Args{Tool: name, Dir: s.Dir}
	switch {
	case kind == "local_shell_call" || kind == "web_search_call":
		f.action.Each(func(k, v jsonv.Value) bool {
			if !k.EqualKey("type") { // it says what the name says
				a.Add(k.Str(), v)
			}
			return true
		})
	case f.input.Exists():
		a.Add("", f.input)
	default:
		a.Add("", f.arguments)
		a.Add("prompt", f.prompt) // of a generated image
	}
	a.AddTo(ev)
}

// toolName joins the name of an MCP tool with its server's.
func toolName(f fields) string {
	name := transcript.CleanWord(f.name.Str())
	if ns := transcript.CleanWord(f.namespace.Str()); strings.HasPrefix(ns, "mcp__") {
		return strings.TrimSuffix(ns, "__") + "__" + name
	}
	return name
}

func (s *session) toolResult(ev *transcript.Event, f fields) {
	ev.Type, ev.Role = transcript.TypeToolResult, transcript.RoleTool
	if name, ok := s.called(f.callID.Str()); ok {
		ev.Tools = []string{name}
	}
	s.links.answered(ev.Seq, f.callID.Str())
	text, failed := result(f.output)
	if f.output == nil && f.content.Exists() {
		text, failed = result(f.content)
	}
	ev.AddText(transcript.Output, text)
	ev.Failed = failed
}

// result reads a tool's output: text, JSON written as text with the output
// inside, a list of blocks, or an object with content and success.
func result(v jsonv.Value) (text string, failed bool) {
	switch v.Kind() {
	case jsonv.String:
		text = v.Str()
		inner := strings.TrimLeft(text, " \n")
		switch {
		case strings.HasPrefix(inner, "{"):
			o := jsonv.Value(inner)
			if jsonv.Valid([]byte(inner)) && o.Get("output").Exists() {
				return wrapped(o)
			}
		case strings.HasPrefix(inner, `[{"type":`) && jsonv.Valid([]byte(inner)):
			return joined(jsonv.Value(inner)), false
		}
		return text, failureText(text)
	case jsonv.Array:
		text = joined(v)
		return text, failureText(text)
	case jsonv.Object:
		return wrapped(v)
	}
	return "", false
}

func wrapped(o jsonv.Value) (text string, failed bool) {
	for _, key := range []string{"output", "content", "content_items"} {
		v := o.Get(key)
		if v.Kind() == jsonv.String {
			text = v.Str()
		} else {
			text = joined(v)
		}
		if text != "" {
			break
		}
	}
	code, ok := o.Get("metadata", "exit_code").Int()
	if !ok {
		code, ok = o.Get("exit_code").Int()
	}
	failed = ok && code != 0 || string(o.Get("success")) == "false" || !ok && failureText(text)
	return text, failed
}

func joined(v jsonv.Value) string {
	var b strings.Builder
	blocks(v, func(_, text string) {
		if text = transcript.CleanText(text); text == "" {
			return
		}
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	})
	return b.String()
}

// failureText reads the exit code that stands in the head of a command's output.
func failureText(text string) bool {
	head := text[:min(len(text), 600)]
	head, _, _ = strings.Cut(head, "\nOutput:")
	for _, p := range []string{"Script failed", "apply_patch verification failed", "exec_command failed", "execution error"} {
		if strings.HasPrefix(head, p) {
			return true
		}
	}
	if !strings.HasPrefix(head, "Chunk ID:") && !strings.HasPrefix(head, "Exit code:") && !strings.HasPrefix(head, "Command:") && !strings.HasPrefix(head, "Wall time") {
		return false
	}
	for _, mark := range []string{"Process exited with code ", "Exit code: "} {
		_, after, ok := strings.Cut(head, mark)
		if !ok {
			continue
		}
		end := strings.IndexAny(after, "\r\n \t")
		if end < 0 {
			end = len(after)
		}
		if code, err := strconv.Atoi(after[:end]); err == nil {
			return code != 0
		}
	}
	return false
}
