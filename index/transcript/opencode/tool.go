package opencode

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

// maxStored bounds what is read of a tool output that was stored as a file of
// its own.
const maxStored = 16 << 20

// toolCall is a call with its result, from whichever generation.
type toolCall struct {
	id, name, status string
	input            jsonv.Value
	output           string
	start, end       time.Time
	meta             jsonv.Value
	failed           bool
}

// tool emits the event of a tool part.
func (b *builder) tool(v jsonv.Value, message, part string, m *message) error {
	state := v.Get("state")
	c := toolCall{
		id: first(part, v.Get("id").Str(), v.Get("callID").Str()), name: v.Get("tool").Str(), status: state.Get("status").Str(),
		input: state.Get("input"), output: state.Get("output").Str(), meta: state.Get("metadata"),
		start: transcript.ParseTime(state.Get("time", "start")), end: transcript.ParseTime(state.Get("time", "end")),
	}
	if !c.input.Exists() {
		c.input = state.Get("raw") // a call whose arguments still stream in
	}
	if c.status == "error" {
		c.output = first(state.Get("error").Str(), state.Get("error", "message").Str(), c.output)
	}
	if stored := b.stored(c.meta.Get("outputPath").Str()); stored != "" {
		c.output = stored
	}
	return b.toolEvent(&c, "part:tool", message, part, m.time)
}

func (b *builder) toolEvent(c *toolCall, raw, message, part string, at time.Time) error {
	e := &transcript.Event{ID: c.id, Type: transcript.TypeToolResult, RawType: raw, Role: transcript.RoleTool, Time: at}
	switch {
	case c.name == "todowrite":
		e.Type = transcript.TypeTodoWrite
	case c.status != "completed" && c.status != "error" && c.output == "":
		e.Type = transcript.TypeToolCall
	}
	for _, t := range []time.Time{c.end, c.start} {
		if !t.IsZero() {
			e.Time = t
			break
		}
	}
	toolargs.AddCall(e, c.name, b.h.CWD, c.input)
	e.AddText(transcript.Output, c.output)
	exit, hasExit := c.meta.Get("exit").Float()
	e.Failed = c.failed || c.status == "error" || c.name == "invalid" || hasExit && exit != 0 ||
		!hasExit && (c.meta.Get("timeout").True() || c.meta.Get("timedOut").True())
	if b.reverted(message, part) {
		e.Surface = transcript.Shadowed
	}
	return b.emit(e)
}

// stored reads a long output that the agent keeps in its tool-output folder;
// "" when there is none. No other folder is read, whatever a record says.
func (b *builder) stored(path string) string {
	if path == "" || b.dataDir == "" {
		return ""
	}
	path = filepath.Join(b.dataDir, "tool-output", filepath.Base(filepath.FromSlash(strings.ReplaceAll(path, `\`, "/"))))
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := transcript.OpenFile(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxStored))
	if err != nil {
		return ""
	}
	b.bytes += int64(len(text))
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// inlineTool brings a part of the oldest layout into the shape of later tool
// parts; others are returned as they are.
func (m *message) inlineTool(v jsonv.Value) jsonv.Value {
	inv := v.Get("toolInvocation")
	if inv.Kind() != jsonv.Object {
		return v
	}
	id := inv.Get("toolCallId")
	more := m.meta.Get("tool", id.Str())
	status := `"running"`
	if inv.Get("state").Str() == "result" {
		status = `"completed"`
	}
	if more.Get("error").True() {
		status = `"error"`
	}
	raw := func(v jsonv.Value) string {
		if len(v) == 0 {
			return "null"
		}
		return string(v)
	}
	return jsonv.Value(`{"type":"tool","callID":` + raw(id) + `,"tool":` + raw(inv.Get("toolName")) + `,"state":{"status":` + status +
		`,"input":` + raw(inv.Get("args")) + `,"output":` + raw(inv.Get("result")) + `,"error":` + raw(inv.Get("result")) +
		`,"metadata":` + raw(more) + `,"time":` + raw(more.Get("time")) + `}}`)
}
