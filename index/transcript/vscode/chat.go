package vscode

import (
	"path"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// chat turns the tree of a session into events. There are no physical records:
// the logical ones are numbered in order. Each request is one user event, then
// one event for each run of text in its response (text, references and code
// follow each other as one run), one for each tool call with its result and
// each group of edits, and one for an error that ended it.
type chat struct {
	t    *tree
	env  transcript.Env
	out  transcript.Sink
	size int64
	hd   transcript.Header
	next int

	request request
	links   *links // nil unless they are asked for
	err     error
}

// request is the state of the request being read.
type request struct {
	event   transcript.Event // what its events share
	replyID string           // id of the response, for its first event
	counted bool
	run     strings.Builder
	calls   []*call
	shownAs map[*node]*call // what an item of the response shows
	results *node
	shown   bool // the response has text
}

func (c *chat) session(root *node, ext string) error {
	t := c.t
	c.hd.Format = "vscode" + strings.Replace(ext, ".", "-", 1)
	if v := t.str(root, "version"); v != "" && len(v) < 8 {
		c.hd.Format += "-" + v
	}
	now := c.env.Time()
	c.hd.SawTime(transcript.ParseTime(t.small(root, "creationDate")), now)
	c.hd.SetTitle(t.str(root, "customTitle"), transcript.TitleAgent)
	requests := t.get(root, "requests")
	for i, r := range t.list(requests) {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		if r.kind == '{' {
			before := t.nodes
			c.read(r)
			t.nodes = before // what this request needed is dropped below
			if c.err != nil {
				return c.err
			}
		}
		if r.end > 0 {
			c.out.Progress(min(r.end, c.size))
		}
		requests.kids[i] = nil // its nodes are done with
	}
	if c.hd.MessageCount > 0 {
		// An empty session carries the time its window was opened.
		c.hd.SawTime(transcript.ParseTime(t.small(root, "lastMessageDate")), now)
	}
	return t.ctx.Err()
}

// emit completes an event and hands it over. Nothing more is read after the
// first error.
func (c *chat) emit(e transcript.Event) {
	if c.err != nil {
		return
	}
	e.SessionID, e.Seq = c.hd.SessionID, c.next
	c.next++
	c.hd.SawTime(e.Time, c.env.Time())
	if e.Message {
		c.hd.MessageCount++
		c.hd.Conversation = true
	}
	if c.err = c.out.Event(&e); c.err == nil && c.links != nil {
		c.err = c.links.emitted(c, &e)
	}
}

func (c *chat) read(r *node) {
	t := c.t
	c.request = request{replyID: t.str(r, "responseId")}
	rq := &c.request
	rq.event = transcript.Event{Time: transcript.ParseTime(t.small(r, "timestamp")), Surface: transcript.Current}
	// A request that a restored checkpoint took back stays in the file, marked.
	if hidden := t.get(r, "shouldBeRemovedOnSend"); hidden != nil && hidden.kind == '{' || t.str(r, "isHidden") == "true" {
		rq.event.Surface = transcript.Shadowed
	}
	if m := strings.TrimPrefix(t.str(r, "modelId"), "copilot/"); m != "" {
		c.hd.SawModel(m)
	} else {
		c.hd.SawModel(t.str(r, "result", "metadata", "resolvedModel"))
	}
	c.hd.SawTime(transcript.ParseTime(t.small(r, "modelState", "completedAt")), c.env.Time())

	c.prompt(r)
	meta := t.get(r, "result", "metadata")
	rq.results = t.get(meta, "toolCallResults")
	rounds := t.list(t.get(meta, "toolCallRounds"))
	items := t.list(t.get(r, "response"))
	c.match(rounds, items)
	for _, it := range items {
		c.item(it)
	}
	c.flush()
	if !rq.shown {
		// A response that was cut off may survive in its rounds only.
		for _, round := range rounds {
			rq.run.WriteString(t.text(t.get(round, "response")))
			c.links.add(round)
			c.flush()
		}
	}
	for _, cl := range rq.calls {
		if !cl.used {
			c.call(cl, nil)
		}
	}
	if msg := t.text(t.get(r, "result", "errorDetails", "message")); msg != "" {
		e := rq.event
		c.links.from(t.get(r, "result", "errorDetails"))
		e.Type, e.RawType, e.Role, e.Surface, e.Failed = transcript.TypeTurnEnd, "errorDetails", transcript.RoleSystem, transcript.LogOnly, true
		e.AddText(transcript.Output, msg)
		c.emit(e)
	}
}

// prompt emits the user's event of a request.
func (c *chat) prompt(r *node) {
	t := c.t
	m := t.get(r, "message")
	text := t.text(m) // the first versions stored the text alone
	if text == "" {
		text = t.text(t.get(m, "text"))
	}
	if text == "" {
		var parts []string
		for _, p := range t.list(t.get(m, "parts")) {
			if s := t.text(t.get(p, "text")); s != "" {
				parts = append(parts, s)
			}
		}
		text = strings.Join(parts, "")
	}
	e := c.request.event
	e.ID, e.RawType = t.str(r, "requestId"), "request"
	e.Type, e.Role = transcript.TypeUserMessage, transcript.RoleUser
	// A finished terminal command starts a request in the user's name.
	if t.str(r, "isSystemInitiated") == "true" {
		text = ""
	}
	if text = transcript.Typed(text); text != "" {
		e.Message = e.AddText(transcript.Prose, text)
		c.hd.OfferTitle(text, transcript.TitlePrompt, c.next)
	}
	c.links.asked(r)
	c.emit(e)
}

// reply emits an event of the response; the first one carries its id and
// counts as the message.
func (c *chat) reply(e transcript.Event) {
	rq := &c.request
	if !rq.counted && len(e.Parts) > 0 {
		rq.counted, e.Message = true, true
		if e.ID == "" {
			e.ID = rq.replyID
		}
	}
	c.emit(e)
}

// flush emits the run of text that has gathered.
func (c *chat) flush() {
	rq := &c.request
	text := rq.run.String()
	rq.run.Reset()
	text = withoutFences(text)
	if strings.Trim(text, "` \t\r\n") == "" {
		c.links.from()
		return
	}
	rq.shown = true
	e := rq.event
	e.Type, e.RawType, e.Role = transcript.TypeAssistantMessage, "markdownContent", transcript.RoleAssistant
	e.AddText(transcript.Prose, strings.Trim(text, "\n"))
	c.hd.OfferTitle(text, transcript.TitleReply, c.next)
	c.reply(e)
}

// withoutFences drops the half of a code fence that was left when the edits
// between its halves became an item of their own.
func withoutFences(text string) string {
	if strings.Count(text, "```")%2 == 0 {
		return text
	}
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \r\n"), "```\n"); ok {
		return rest
	}
	if rest, ok := strings.CutSuffix(strings.TrimRight(text, " \r\n"), "\n```"); ok {
		return rest
	}
	return text
}

// item reads one item of a response.
func (c *chat) item(it *node) {
	t, rq := c.t, &c.request
	if it.kind != '{' {
		return
	}
	before := rq.run.Len()
	defer func() {
		if rq.run.Len() > before {
			c.links.add(it)
		}
	}()
	switch kind := t.str(it, "kind"); kind {
	case "":
		rq.run.WriteString(t.text(it))
	case "markdownContent", "markdownVuln":
		rq.run.WriteString(t.text(t.get(it, "content")))
	case "inlineReference":
		rq.run.WriteString(c.reference(it))
	case "confirmation", "elicitation", "elicitation2", "elicitationSerialized", "questionCarousel":
		for _, key := range []string{"title", "message"} {
			if s := t.text(t.get(it, key)); s != "" {
				rq.run.WriteString("\n" + s + "\n")
			}
		}
		for _, q := range t.list(t.get(it, "questions")) {
			for _, key := range []string{"title", "message"} {
				if s := t.text(t.get(q, key)); s != "" {
					rq.run.WriteString("\n" + s + "\n")
				}
			}
		}
		if kind == "questionCarousel" { // data holds what was answered
			t.small(it, "data").Strings(func(s jsonv.Value) bool {
				rq.run.WriteString("\n" + transcript.CleanText(s.Str()) + "\n")
				return true
			})
		}
	case "toolInvocationSerialized", "toolInvocation":
		c.flush()
		c.invocation(it, kind)
	case "textEditGroup", "notebookEditGroup":
		c.flush()
		c.edits(it, kind)
	}
}

// reference is the name under which a response mentions a file or symbol.
func (c *chat) reference(it *node) string {
	t := c.t
	if name := t.str(it, "name"); name != "" {
		return transcript.CleanText(name)
	}
	ref := t.get(it, "inlineReference")
	if name := t.str(ref, "name"); name != "" {
		return transcript.CleanText(name)
	}
	if p := uriPath(t.small(ref)); p != "" {
		return path.Base(strings.ReplaceAll(p, `\`, "/"))
	}
	if p := uriPath(t.small(ref, "uri")); p != "" {
		return path.Base(strings.ReplaceAll(p, `\`, "/"))
	}
	return ""
}
