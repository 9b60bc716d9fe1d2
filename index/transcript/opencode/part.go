package opencode

import (
	"net/url"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

// message is what counts of a message record.
type message struct {
	role     transcript.Role
	session  string
	parent   string
	model    string
	cwd      string
	time     time.Time
	done     time.Time
	finished bool
	summary  bool
	failure  string
	parts    jsonv.Value // inline parts of the oldest layout
	meta     jsonv.Value
}

func parseMessage(v jsonv.Value) message {
	m := message{
		role: role(v.Get("role")), session: v.Get("sessionID").Str(), parent: v.Get("parentID").Str(),
		model: v.Get("modelID").Str(), cwd: v.Get("path", "cwd").Str(),
		time: transcript.ParseTime(v.Get("time", "created")), done: transcript.ParseTime(v.Get("time", "completed")),
		summary: v.Get("summary").True(), parts: v.Get("parts"), meta: v.Get("metadata"),
	}
	fail := v.Get("error")
	if m.meta.Kind() == jsonv.Object {
		as := m.meta.Get("assistant")
		m.model = first(m.model, as.Get("modelID").Str())
		m.cwd = first(m.cwd, as.Get("path", "cwd").Str())
		m.summary = m.summary || as.Get("summary").True()
		m.session = first(m.session, m.meta.Get("sessionID").Str())
		if m.time.IsZero() {
			m.time = transcript.ParseTime(m.meta.Get("time", "created"))
		}
		if m.done.IsZero() {
			m.done = transcript.ParseTime(m.meta.Get("time", "completed"))
		}
		if !fail.Exists() {
			fail = m.meta.Get("error")
		}
	}
	m.model = first(m.model, v.Get("model", "modelID").Str(), v.Get("model", "id").Str())
	m.failure = failure(fail)
	m.finished = (v.Get("finish").Exists() || !m.done.IsZero()) && !fail.Exists()
	return m
}

func role(v jsonv.Value) transcript.Role {
	switch v.Str() {
	case "user":
		return transcript.RoleUser
	case "assistant":
		return transcript.RoleAssistant
	case "system":
		return transcript.RoleSystem
	}
	return transcript.RoleUnknown
}

// failure is the text of a provider's error; an answer that the user stopped
// is none.
func failure(v jsonv.Value) string {
	if !v.Exists() {
		return ""
	}
	name := v.Get("name").Str()
	if name == "MessageAbortedError" {
		return ""
	}
	text := first(v.Get("data", "message").Str(), v.Get("message").Str(), v.Str())
	return strings.TrimSpace(name + "\n" + text)
}

// partView gathers what the parts of one message say about the message itself.
type partView struct {
	b *builder
	e *transcript.Event
	m *message

	prose          []string
	attached       bool // a file came with the prompt
	answered       bool // the assistant did something
	asksCompaction bool
}

// look takes in one part and reports whether it is a tool part, which becomes
// an event of its own.
func (p *partView) look(v jsonv.Value) (tool bool) {
	switch v.Get("type").Str() {
	case "text":
		if v.Get("synthetic").True() || v.Get("ignored").True() {
			return false
		}
		if text := v.Get("text").Str(); text != "" {
			p.prose = append(p.prose, text)
		}
	case "tool", "tool-invocation":
		p.answered = true
		return true
	case "reasoning", "step-start":
		p.answered = true
	case "patch":
		v.Get("files").Elems(func(_ int, f jsonv.Value) bool {
			p.e.Files = transcript.AppendPath(p.e.Files, p.b.h.CWD, f.Str())
			return true
		})
	case "file":
		p.attached = true
		p.e.Files = transcript.AppendPath(p.e.Files, p.b.h.CWD, filePath(v))
	case "subtask":
		// A prompt the command's template wrote, for a sub-agent.
		a := toolargs.Args{Tool: "subtask"}
		for _, key := range []string{"command", "description", "prompt"} {
			a.Add(key, v.Get(key))
		}
		a.AddTo(p.e)
	case "compaction":
		p.asksCompaction = true
	}
	return false
}

// finish gives the message's event its type and text.
func (p *partView) finish() {
	e, m := p.e, p.m
	text := transcript.CleanText(strings.Join(p.prose, "\n"))
	if m.role == transcript.RoleUnknown && p.answered {
		m.role = transcript.RoleAssistant
	}
	e.Role = m.role
	switch m.role {
	case transcript.RoleUser:
		e.Type = transcript.TypeUserMessage
		var typed []string
		for _, s := range p.prose {
			if s = transcript.Typed(s); s != "" {
				typed = append(typed, s)
			}
		}
		text = transcript.CleanText(strings.Join(typed, "\n"))
		e.Message = text != "" || p.attached || len(e.Parts) > 0
		if !e.Message && p.asksCompaction {
			e.Type, e.Surface = transcript.TypeCompactBoundary, transcript.LogOnly
		}
		p.b.h.OfferTitle(text, transcript.TitlePrompt, p.b.seq)
	case transcript.RoleAssistant:
		e.Type = transcript.TypeAssistantMessage
		e.Message = text != "" || p.answered
		if m.summary {
			e.Type, e.Role, e.Message = transcript.TypeCompaction, transcript.RoleSystem, false
		} else {
			p.b.h.OfferTitle(text, transcript.TitleReply, p.b.seq)
		}
	default:
		e.Type = transcript.TypeOther
	}
	others := e.Parts
	e.Parts = nil
	e.AddText(transcript.Prose, text)
	e.Parts = append(e.Parts, others...)
	e.AddText(transcript.Output, m.failure)
}

// filePath is the path of an attached file, "" for one that is carried inside
// the record or comes from the web.
func filePath(v jsonv.Value) string {
	raw := first(v.Get("url").Str(), v.Get("uri").Str())
	if u, err := url.Parse(raw); err == nil && u.Scheme == "file" && u.Path != "" {
		p := u.Path
		if len(p) > 3 && p[0] == '/' && p[2] == ':' {
			p = p[1:] // file:///C:/…
		}
		return p
	}
	return v.Get("source", "path").Str()
}

func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
