package codex

import (
	"strconv"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/scan"
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
	ev.Tools = []string{name}
	callID := f.callID.Str()
	if ev.ID == "" {
		ev.ID = scan.Word(callID)
	}
	s.opened(callID, name)
	c := scan.Arguments{Dir: s.Dir, Skip: s.Dir}
	switch {
	case kind == "local_shell_call" || kind == "web_search_call":
		c.Value("", f.action)
	case f.input.Exists():
		c.Free(f.input)
	default:
		c.Free(f.arguments)
		c.Value("", f.prompt) // of a generated image
	}
	ev.Parts = []transcript.Part{{Kind: transcript.Call, Text: c.Text(name)}}
	ev.Files = c.Files
}

// toolName joins the name of an MCP tool with its server's.
func toolName(f fields) string {
	name := scan.Word(f.name.Str())
	if ns := scan.Word(f.namespace.Str()); strings.HasPrefix(ns, "mcp__") {
		return strings.TrimSuffix(ns, "__") + "__" + name
	}
	return name
}

func (s *session) toolResult(ev *transcript.Event, f fields) {
	ev.Type, ev.Role = transcript.TypeToolResult, transcript.RoleTool
	if name, ok := s.called(f.callID.Str()); ok {
		ev.Tools = []string{name}
	}
	text, failed := result(f.output)
	if f.output == nil && f.content.Exists() {
		text, failed = result(f.content)
	}
	ev.Parts, ev.Failed = output(nil, text), failed
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
		if text = scan.Text(text); text == "" {
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
