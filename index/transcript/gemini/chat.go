package gemini

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

// chat is one session being read.
type chat struct {
	env     transcript.Env
	h       transcript.Header
	prove   prover
	dirs    []string // extra folders of the workspace
	nextSeq int
	tracer  transcript.Tracer // nil unless links are asked for
	// shadowed are then the events that left the model's sight.
	shadowed []transcript.Run
}

func newChat(env transcript.Env, src transcript.Source, hi hint) *chat {
	c := &chat{env: env, prove: prover{hash: hi.Hash}}
	c.h = transcript.Header{
		SessionID: src.SessionID, CWD: hi.CWD, Relation: transcript.RelationRoot, InheritedKnown: true, Entrypoint: "cli",
		Format: "gemini-" + strings.TrimPrefix(filepath.Ext(src.Path), "."),
	}
	if hi.Parent != "" {
		c.h.Relation, c.h.ParentID, c.h.LineageEvidence, c.h.DelegationDepth = transcript.RelationSubagent, hi.Parent, transcript.EvidencePath, 1
	}
	if c.h.SessionID == "" {
		// Events go out under one id, so it must be known before the first;
		// only a file whose head is damaged comes here.
		c.h.SessionID = strings.TrimSuffix(filepath.Base(src.Path), filepath.Ext(src.Path))
	}
	return c
}

// meta takes a member of the metadata: of the document, of the first line of a
// log, or of a later $set.
func (c *chat) meta(key string, v jsonv.Value) {
	switch key {
	case "startTime", "lastUpdated":
		c.h.SawTime(transcript.ParseTime(v), c.env.Time())
	case "summary":
		c.h.SetTitle(v.Str(), transcript.TitleAgent)
	case "projectHash":
		if s := v.Str(); isHash(s) {
			c.prove.hash = s
		}
	case "directories":
		v.Elems(func(_ int, d jsonv.Value) bool {
			c.dirs = append(c.dirs, d.Str())
			return len(c.dirs) < 64
		})
	case "kind":
		if v.IsStr("subagent") {
			c.h.Relation = transcript.RelationSubagent
		}
	}
}

func (c *chat) finish(out transcript.Sink) error {
	if !c.h.Conversation {
		return transcript.ErrNoSession
	}
	for _, d := range c.dirs {
		if dir := c.prove.try(d); dir != "" && c.h.CWD == "" {
			c.h.CWD = dir
		}
	}
	if c.h.CWD != "" {
		for _, d := range c.dirs {
			if absolute(d) {
				c.h.SawCWD(d)
			}
		}
	}
	c.h.Finish(label)
	return out.Header(&c.h)
}

// emit numbers an event and hands it over.
func (c *chat) emit(e *transcript.Event, out transcript.Sink) error {
	e.SessionID, e.Seq = c.h.SessionID, c.nextSeq
	c.nextSeq++
	c.h.SawTime(e.Time, c.env.Time())
	if e.Message {
		c.h.MessageCount++
		c.h.Conversation = true
	}
	return out.Event(e)
}

// document reads the whole-file form. One message is one event.
func (c *chat) document(ctx context.Context, f *transcript.File, cp *transcript.Checkpoint, out transcript.Sink) error {
	_, err := transcript.ReadDocument(ctx, io.LimitReader(f, f.Size), []string{"messages"}, skipped,
		func(key string, v jsonv.Value) error { c.meta(key, v); return nil },
		func(_ string, _ int, v jsonv.Value) error {
			e := c.message(v)
			if err := c.emit(e, out); err != nil {
				return err
			}
			return transcript.PassShared(c.tracer, e.SessionID, e.Seq, transcript.Record{Value: v, Shared: true})
		})
	switch {
	case err == nil:
	case errors.Is(err, transcript.ErrTorn):
		cp.Torn = true
	case ctx.Err() != nil || c.nextSeq == 0:
		return fmt.Errorf("read Gemini chat: %w", err)
	default:
		cp.Bad, cp.Partial = 1, "the document is damaged"
	}
	cp.Offset = f.Size
	return nil
}

// skipped are members that hold nothing to search, dropped from long records.
var skipped = []string{"thoughts", "thoughtSignature", "inlineData", "tokens"}

// message turns a message record into an event.
func (c *chat) message(v jsonv.Value) *transcript.Event {
	kind := v.Get("type").Str()
	e := &transcript.Event{
		ID: v.Get("id").Str(), RawType: kind, Time: transcript.ParseTime(v.Get("timestamp")),
		Type: transcript.TypeOther, Role: transcript.RoleUnknown, Surface: transcript.LogOnly,
	}
	switch kind {
	case "user":
		c.user(v, e)
	case "gemini":
		c.model(v, e)
	case "info", "error", "warning":
		e.Type, e.Role = transcript.TypeSystem, transcript.RoleSystem
	}
	return e
}

func (c *chat) user(v jsonv.Value, e *transcript.Event) {
	e.Type, e.Role, e.Surface = transcript.TypeUserMessage, transcript.RoleUser, transcript.Current
	// What was shown is what was typed; content also has the files that an
	// @path pulled in.
	shown := v.Get("displayContent")
	if !shown.Exists() {
		shown = v.Get("content")
	}
	var text []string
	included := false
	blocks(v.Get("content"), func(s string) {
		if c.h.CWD == "" && strings.HasPrefix(s, "<session_context>") {
			c.h.CWD = c.prove.tryText(s)
		}
	})
	blocks(shown, func(s string) {
		switch {
		case strings.HasPrefix(strings.TrimSpace(s), "--- Content from referenced files ---"):
			included = true
		case strings.HasPrefix(strings.TrimSpace(s), "--- End of content ---"):
			included = false
		case !included:
			if s = transcript.Typed(s); s != "" && !notTyped(s) {
				text = append(text, s)
			}
		}
	})
	if len(text) == 0 {
		// A picture without words is a message.
		e.Message = hasMedia(v.Get("content"))
		return
	}
	all := strings.Join(text, "\n")
	e.Message = e.AddText(transcript.Prose, all)
	c.h.OfferTitle(all, transcript.TitlePrompt, c.nextSeq)
}

// hasMedia reports whether a content is pictures or other files and nothing else.
func hasMedia(content jsonv.Value) bool {
	media, other := false, false
	content.Items(func(p jsonv.Value) {
		if p.Get("inlineData") != nil || p.Get("fileData") != nil {
			media = true
		} else {
			other = true
		}
	})
	return media && !other
}

// bareCommand matches a slash command without arguments and the help key.
var bareCommand = regexp.MustCompile(`^(?:/[A-Za-z][\w:.-]{0,40}|\?)$`)

// notTyped reports what the CLI sends in the user's name or takes as a command
// to itself. A command with arguments stays: its words are the person's.
func notTyped(s string) bool {
	return bareCommand.MatchString(s) || s == "System: Please continue." || s == "Please continue."
}

func (c *chat) model(v jsonv.Value, e *transcript.Event) {
	e.Type, e.Role, e.Surface = transcript.TypeAssistantMessage, transcript.RoleAssistant, transcript.Current
	c.h.SawModel(v.Get("model").Str())
	var text []string
	blocks(v.Get("content"), func(s string) { text = append(text, s) })
	if len(text) > 0 {
		all := strings.Join(text, "\n")
		e.AddText(transcript.Prose, all)
		c.h.OfferTitle(all, transcript.TitleReply, c.nextSeq)
	}
	v.Get("toolCalls").Elems(func(_ int, t jsonv.Value) bool { c.tool(t, e); return true })
	if len(text) == 0 && len(e.Tools) > 0 {
		e.Type = transcript.TypeToolCall
		if len(e.Tools) == 1 && e.Tools[0] == "write_todos" {
			e.Type = transcript.TypeTodoWrite
		}
	}
	e.Message = len(e.Parts) > 0
}

// tool adds a call and its result; both stand in the message's record.
func (c *chat) tool(t jsonv.Value, e *transcript.Event) {
	name, args := t.Get("name").Str(), t.Get("args")
	if c.h.CWD == "" {
		toolargs.Open(args).Each(func(_, v jsonv.Value) bool {
			if v.Kind() == jsonv.String && len(v) < 4096 {
				c.h.CWD = c.prove.try(v.Str())
			}
			return c.h.CWD == ""
		})
	}
	toolargs.AddCall(e, name, c.h.CWD, args)
	switch t.Get("status").Str() {
	case "error", "cancelled":
		e.Failed = true
	}
	out := results(t.Get("result"))
	if out == "" {
		// What the screen showed repeats the result; it counts alone only.
		blocks(t.Get("resultDisplay"), func(s string) { out = s })
	}
	e.AddText(transcript.Output, out)
}

// results joins the texts of a call's result: a list of parts, of which a
// functionResponse holds {output} or {error} or what a server returned.
func results(v jsonv.Value) string {
	if v.Kind() == jsonv.String {
		return transcript.CleanText(v.Str())
	}
	var b strings.Builder
	add := func(s string) {
		if s = transcript.CleanText(s); strings.TrimSpace(s) == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	v.Items(func(p jsonv.Value) {
		if r := p.Get("functionResponse", "response"); r.Exists() {
			r.Strings(func(s jsonv.Value) bool { add(s.Str()); return true })
			return
		}
		blocks(p, add)
	})
	return b.String()
}

// blocks calls f for each text of a content field: a string, a part {text}, or
// a list of those. Parts of other kinds (images, calls) hold none.
func blocks(v jsonv.Value, f func(string)) {
	v.Items(func(p jsonv.Value) {
		s := p
		if p.Kind() == jsonv.Object {
			s = p.Get("text")
		}
		if s.Kind() != jsonv.String {
			return
		}
		if t := transcript.CleanText(s.Str()); strings.TrimSpace(t) != "" {
			f(t)
		}
	})
}
