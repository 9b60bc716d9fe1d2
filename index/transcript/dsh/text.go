package dsh

import (
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

// userMessage reads a prompt. Only those whose source is a person are typed;
// plugins and goals speak in the user's role too. The checkpoint that stands
// for what a compaction replaced is kept as text: nothing else holds it.
func (l *log) userMessage(d jsonv.Value, replaces bool, e *transcript.Event) {
	e.ID = d.Get("id").Str()
	source := d.Get("source", "kind").Str()
	text := blocks(d.Get("content"), 0)
	if source != "" && source != "user" {
		if replaces {
			e.AddText(transcript.Prose, text)
		}
		return
	}
	e.Role = transcript.RoleUser
	text = transcript.Typed(text)
	e.AddText(transcript.Prose, text)
	l.Header.OfferTitle(text, transcript.TitlePrompt, l.Seq)
	e.Message = text != "" || d.Get("content").Len() > 0 && hasImage(d.Get("content"))
}

func hasImage(content jsonv.Value) (found bool) {
	content.Elems(func(_ int, b jsonv.Value) bool {
		found = b.Get("type").IsStr("image")
		return !found
	})
	return found
}

// assistantMessage reads a final answer. Its tool-call blocks are repeated by
// tool/call events, which hold their text.
func (l *log) assistantMessage(d jsonv.Value, e *transcript.Event) {
	m := d.Get("message")
	e.ID, e.Role = m.Get("id").Str(), transcript.RoleAssistant
	l.Header.SawModel(m.Get("source", "model").Str())
	text := blocks(m.Get("content"), 0)
	e.AddText(transcript.Prose, text)
	l.Header.OfferTitle(text, transcript.TitleReply, l.Seq)
	m.Get("content").Elems(func(_ int, b jsonv.Value) bool {
		if b.Get("type").IsStr("tool-call") {
			if name := b.Get("name").Str(); name != "" {
				e.Tools = append(e.Tools, name)
			}
		}
		return true
	})
	c := m.Get("content")
	e.Message = text != "" || c.Len() > 0
}

func (l *log) toolCall(d jsonv.Value, e *transcript.Event) {
	e.Role = transcript.RoleTool
	name, id := d.Get("name").Str(), d.Get("callId").Str()
	e.ID = id
	if name != "" {
		if id != "" && len(id) <= 128 && len(name) <= 128 {
			if l.Calls == nil || len(l.Calls) >= maxCalls {
				l.Calls = map[string]string{}
			}
			l.Calls[id] = name
		}
	}
	toolargs.AddCall(e, name, l.Header.CWD, d.Get("arguments"))
}

// toolResult reads what a tool returned. One that replaces an earlier one is
// its shortened copy and gives no text.
func (l *log) toolResult(d jsonv.Value, replaces bool, e *transcript.Event) {
	m := d.Get("message")
	e.ID, e.Role = m.Get("id").Str(), transcript.RoleTool
	call := m.Get("source", "callId").Str()
	m.Get("content").Elems(func(_ int, b jsonv.Value) bool {
		if b.Get("isError").True() {
			e.Failed = true
		}
		if call == "" {
			call = b.Get("toolCallId").Str()
		}
		return true
	})
	if name := l.Calls[call]; name != "" {
		e.Tools = []string{name}
		delete(l.Calls, call)
	}
	text := blocks(m.Get("content"), 0)
	if fail := d.Get("error"); fail.Exists() {
		e.Failed = true
		text = join(text, fail.Get("name").Str(), fail.Get("code").Str())
	}
	if !replaces {
		e.AddText(transcript.Output, text)
	}
}

func todo(d jsonv.Value, e *transcript.Event) {
	text := ""
	d.Get("todos").Elems(func(_ int, t jsonv.Value) bool {
		text = join(text, t.Get("status").Str(), t.Get("content").Str())
		return true
	})
	e.AddText(transcript.Call, text)
}

// turnEnd gives the word that says why a turn did not complete.
func turnEnd(reason jsonv.Value, e *transcript.Event) {
	kind := reason.Get("kind").Str()
	text := ""
	switch kind {
	case "error":
		text = join(kind, reason.Get("message").Str(), reason.Get("error", "message").Str())
	case "aborted", "max-tokens", "interrupted":
		text = kind
	}
	e.AddText(transcript.Output, text)
}

// title takes the last title. The agent's fallback is the first words of the
// prompt, of which the prompt itself gives more.
func (l *log) title(d jsonv.Value) {
	from := transcript.TitleAgent
	source := d.Get("source")
	switch kind := source.Get("kind").Str() + source.Str(); kind {
	case "user":
		from = transcript.TitleUser
	case "fallback":
		from = transcript.TitleFallback
	}
	l.Header.SetTitleAt(d.Get("title").Str(), from, l.Seq)
}

// maxBlockDepth bounds tool results inside tool results.
const maxBlockDepth = 8

// blocks joins the text of content blocks: text, and what tool results hold.
// Reasoning, calls, images and unknown kinds give none.
func blocks(content jsonv.Value, depth int) string {
	if content.Kind() == jsonv.String {
		return content.Str()
	}
	var texts []string
	content.Elems(func(_ int, b jsonv.Value) bool {
		switch b.Get("type").Str() {
		case "text":
			texts = append(texts, b.Get("text").Str())
		case "tool-result":
			if depth < maxBlockDepth {
				texts = append(texts, blocks(b.Get("content"), depth+1))
			}
		case "":
			texts = append(texts, b.Str())
		}
		return true
	})
	return join(texts...)
}

// join puts trimmed texts on lines of their own and leaves empty ones out.
func join(texts ...string) string {
	var b strings.Builder
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(t)
		}
	}
	return b.String()
}
