package cursor

import (
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
	"github.com/sessionls/sessionls/index/transcript/vscode"
)

// bubbleTime is when a message was made.
func bubbleTime(v jsonv.Value) time.Time {
	for _, at := range []jsonv.Value{v.Get("createdAt"), v.Get("timingInfo", "clientStartTime"), v.Get("timingInfo", "clientRpcSendTime")} {
		if t := transcript.ParseTime(at); !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// bubble emits a message of the editor.
func (b *builder) bubble(id string, v jsonv.Value, surface transcript.Surface) error {
	e := &transcript.Event{ID: id, Type: transcript.TypeOther, RawType: "bubble", Surface: surface, Time: bubbleTime(v)}
	b.model(first2(v.Get("modelInfo", "modelName"), v.Get("modelType")))
	v.Get("workspaceUris").Elems(func(_ int, u jsonv.Value) bool {
		if path, local := vscode.LocalPath(u.Str()); local && b.h.CWD == "" {
			b.h.SawCWD(transcript.CleanPath(path))
		}
		return true
	})
	text := first(v.Get("text").Str(), v.Get("rawText").Str())
	tool := v.Get("toolFormerData")
	kind := v.Get("type")
	switch n, _ := kind.Int(); {
	case n == 1, kind.IsStr("user"):
		e.Type, e.Role = transcript.TypeUserMessage, transcript.RoleUser
		text, _ = typed(text)
		if text == "" {
			text = richText(v.Get("richText"))
		}
		e.Message = e.AddText(transcript.Prose, text) || v.Get("images").Len() > 0
		b.attached(e, v)
		if !b.inherit && surface == transcript.Current {
			b.h.OfferTitle(text, transcript.TitlePrompt, b.seq)
		}
	case tool.Kind() == jsonv.Object && (tool.Get("name").Exists() || tool.Get("rawArgs").Exists() || tool.Get("params").Exists()):
		e.AddText(transcript.Prose, said(text))
		b.tool(e, tool)
	case strings.TrimSpace(said(text)) != "":
		e.Type, e.Role = transcript.TypeAssistantMessage, transcript.RoleAssistant
		e.Message = e.AddText(transcript.Prose, said(text))
		if !b.inherit && surface == transcript.Current {
			b.h.OfferTitle(said(text), transcript.TitleReply, b.seq)
		}
	case v.Get("thinking", "text").Exists() || v.Get("allThinkingBlocks").Len() > 0:
		e.Type, e.Role, e.RawType = transcript.TypeReasoning, transcript.RoleAssistant, "thinking"
	default:
		e.Role = transcript.RoleAssistant
	}
	if fail := v.Get("errorDetails"); fail.Exists() {
		if e.AddText(transcript.Output, first(fail.Get("message").Str(), fail.Str())) {
			e.Failed = true
		}
	}
	b.files(e)
	if id != "" {
		if b.at == nil {
			b.at = map[string]int{}
		}
		b.at[id] = b.seq
	}
	if err := b.emit(e, v); err != nil {
		return err
	}
	if b.inherit && b.same {
		if err := b.tracer.Inherited(b.h.SessionID, e.Seq, b.h.ParentID, e.Seq); err != nil {
			return err
		}
	}
	sum := v.Get("conversationSummary")
	if sum.Kind() == jsonv.String {
		sum = toolargs.Open(sum)
	}
	return b.summary(sum, "conversationSummary")
}

// attached notes the files that came with a prompt.
func (b *builder) attached(e *transcript.Event, v jsonv.Value) {
	add := func(_ int, f jsonv.Value) bool {
		uri := first2(f.Get("uri"), f)
		p := place{}
		if uri.Kind() == jsonv.String || uri.Kind() == jsonv.Object {
			p = placeOf(jsonv.Value(`{"uri":` + string(uri) + `}`))
		}
		for _, path := range p.folders {
			e.Files = transcript.AppendPath(e.Files, b.h.CWD, path)
		}
		return len(e.Files) < transcript.MaxFiles
	}
	v.Get("context", "fileSelections").Elems(add)
	v.Get("attachedFiles").Elems(add)
}

// richText is the text of the input field, for a message whose plain text was not
// stored.
func richText(v jsonv.Value) string {
	v = toolargs.Open(v)
	if v.Kind() != jsonv.Object {
		return ""
	}
	var lines []string
	var look func(v jsonv.Value, depth int)
	look = func(v jsonv.Value, depth int) {
		if depth > 32 {
			return
		}
		if s := v.Get("text"); s.Kind() == jsonv.String {
			lines = append(lines, s.Str())
		}
		v.Get("children").Elems(func(_ int, c jsonv.Value) bool { look(c, depth+1); return true })
	}
	v.Get("root").Get("children").Elems(func(_ int, paragraph jsonv.Value) bool {
		n := len(lines)
		look(paragraph, 0)
		if len(lines) > n {
			lines = append(lines[:n], strings.Join(lines[n:], ""))
		}
		return true
	})
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// tool makes an event of a call and its result.
func (b *builder) tool(e *transcript.Event, t jsonv.Value) {
	e.Type, e.Role, e.RawType = transcript.TypeToolResult, transcript.RoleTool, "tool"
	name := first(t.Get("name").Str(), t.Get("tool").Str())
	status, result := t.Get("status").Str(), toolargs.Open(t.Get("result"))
	failure := toolargs.Open(t.Get("error"))
	input := toolargs.Open(t.Get("rawArgs"))
	if input.Kind() != jsonv.Object || empty(input) {
		if p := toolargs.Open(t.Get("params")); p.Kind() == jsonv.Object {
			input = p
		}
	}
	switch {
	case strings.Contains(strings.ToLower(name), "todo"):
		e.Type = transcript.TypeTodoWrite
	case !result.Exists() && !failure.Exists() && status != "completed" && status != "error" && status != "cancelled":
		e.Type = transcript.TypeToolCall
	}
	b.call(e, transcript.CleanWord(name), input)
	b.window(result)
	e.AddText(transcript.Output, output(result, input))
	if failure.Exists() {
		e.AddText(transcript.Output, first(failure.Get("modelVisibleErrorMessage").Str(), failure.Get("clientVisibleErrorMessage").Str(),
			failure.Get("message").Str(), failure.Str()))
	}
	exit, hasExit := first2(result.Get("exitCodeV2"), result.Get("exitCode")).Int()
	e.Failed = status == "error" || failure.Exists() || hasExit && exit != 0 || result.Get("error").Exists() && result.Get("success").Kind() != jsonv.Object
}

func empty(object jsonv.Value) bool {
	none := true
	object.Each(func(_, _ jsonv.Value) bool { none = false; return false })
	return none
}

// call adds a call to an event.
func (b *builder) call(e *transcript.Event, name string, input jsonv.Value) {
	if dir := b.prove.tryInput(input); dir != "" {
		b.h.SawCWD(dir)
		b.prove = prover{}
	}
	toolargs.AddCall(e, name, b.h.CWD, input)
}

// window finds the folder of the window in the result of a search, which goes by
// folders: some conversations have it nowhere else.
func (b *builder) window(result jsonv.Value) {
	if b.h.CWD != "" {
		return
	}
	result.Get("success", "workspaceResults").Each(func(key, _ jsonv.Value) bool {
		if dir := transcript.CleanPath(key.Str()); strings.HasPrefix(dir, "/") || windows(dir) {
			b.h.SawCWD(dir)
		}
		return b.h.CWD == ""
	})
}

// what of a result is no text to search: ids, kinds, and what the call said.
var dull = map[string]bool{
	"severity": true, "mode": true, "outputMode": true, "type": true, "status": true, "id": true, "uuid": true, "toolCallId": true, "encoding": true,
	"languageId": true, "symbol": true, "repoName": true, "repoOwner": true, "resultId": true, "modelCallId": true, "agentId": true, "terminationReason": true,
}

// maxResult bounds how deep a result is looked into.
const maxResult = 24

// output is the text of a result: its strings on lines of their own, without what
// the call said already.
func output(v, input jsonv.Value) string {
	if v.Kind() == jsonv.String {
		return v.Str()
	}
	said := map[string]bool{}
	input.Strings(func(s jsonv.Value) bool {
		if len(s) < 4096 {
			said[s.Str()] = true
		}
		return len(said) < 1000
	})
	var out strings.Builder
	var look func(key string, v jsonv.Value, depth int)
	look = func(key string, v jsonv.Value, depth int) {
		if depth > maxResult {
			return
		}
		switch v.Kind() {
		case jsonv.String:
			s := v.Str()
			if dull[key] || strings.TrimSpace(s) == "" || said[s] {
				return
			}
			if out.Len() > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(transcript.CleanText(s))
		case jsonv.Object:
			v.Each(func(k, x jsonv.Value) bool { look(k.Str(), x, depth+1); return true })
		case jsonv.Array:
			v.Elems(func(_ int, x jsonv.Value) bool { look(key, x, depth+1); return true })
		}
	}
	look("", v, 0)
	return out.String()
}
