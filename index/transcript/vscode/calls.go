package vscode

import (
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

// A tool call is stored twice: in the response as it was shown (with a label,
// rarely with what was called), and in the rounds of the request's metadata
// as the model made it (with its arguments, and the result beside it). Both
// have ids that mostly differ, so they are matched, and each call is given
// once: at the place where it was shown, with the model's arguments.

// call is a call of the rounds.
type call struct {
	id, name string
	node     *node
	used     bool // emitted
	matched  bool // with an item of the response
}

// match pairs the calls of the rounds with the items of the response: by id;
// if as many are left on both sides, in order; else in order of equal names.
func (c *chat) match(rounds, items []*node) {
	t, rq := c.t, &c.request
	for _, r := range rounds {
		for _, n := range t.list(t.get(r, "toolCalls")) {
			rq.calls = append(rq.calls, &call{id: t.str(n, "id"), name: t.str(n, "name"), node: n})
		}
	}
	if len(rq.calls) == 0 {
		return
	}
	byID := map[string]*call{}
	for _, cl := range rq.calls {
		if cl.id != "" {
			byID[cl.id] = cl
		}
	}
	rq.shownAs = map[*node]*call{}
	pair := func(cl *call, it *node) {
		cl.matched = true
		rq.shownAs[it] = cl
	}
	var rest []*node
	for _, it := range items {
		if it.kind != '{' || !strings.HasPrefix(t.str(it, "kind"), "toolInvocation") {
			continue
		}
		// A sub-agent's calls are shown here, but are in no round of this request.
		if t.str(it, "subAgentInvocationId") != "" {
			continue
		}
		if cl := byID[t.str(it, "toolCallId")]; cl != nil && !cl.matched {
			pair(cl, it)
			continue
		}
		rest = append(rest, it)
	}
	var left []*call
	for _, cl := range rq.calls {
		if !cl.matched {
			left = append(left, cl)
		}
	}
	if len(left) == len(rest) {
		for i, cl := range left {
			pair(cl, rest[i])
		}
		return
	}
	byName := map[string][]*node{}
	for _, it := range rest {
		name := plainName(t.str(it, "toolId"))
		byName[name] = append(byName[name], it)
	}
	for _, cl := range left {
		name := plainName(cl.name)
		if its := byName[name]; len(its) > 0 {
			pair(cl, its[0])
			byName[name] = its[1:]
		}
	}
}

// plainName makes copilot_readFile and read_file equal.
func plainName(s string) string {
	s = strings.TrimPrefix(strings.ToLower(s), "copilot_")
	return strings.NewReplacer("_", "", "-", "").Replace(s)
}

func (c *chat) invocation(it *node, kind string) {
	if cl := c.request.shownAs[it]; cl != nil && !cl.used {
		c.call(cl, it)
		return
	}
	t := c.t
	c.links.from(it)
	name := t.str(it, "toolId")
	e := c.toolEvent(kind, t.str(it, "toolCallId"), name)
	text := name
	for _, s := range c.told(it) {
		text += "\n" + s
	}
	e.Files = c.labelFiles(name, it)
	c.finishCall(e, text, c.output(it), it)
}

// call emits a call of the rounds, with what its item of the response, if
// any, adds.
func (c *chat) call(cl *call, it *node) {
	t := c.t
	cl.used = true
	c.links.from(it, cl.node)
	kind, id := "toolCall", cl.id
	if it != nil {
		kind = t.str(it, "kind")
		if s := t.str(it, "toolCallId"); s != "" {
			id = s
		}
	}
	e := c.toolEvent(kind, id, cl.name)
	args := toolargs.Args{Tool: cl.name, Dir: c.hd.CWD}
	args.Add("", t.value(t.get(cl.node, "arguments"), limits()))
	e.Files = args.Files()
	if len(e.Files) == 0 && it != nil {
		e.Files = c.labelFiles(cl.name, it)
	}
	out := ""
	if r := t.get(c.request.results, cl.id); r != nil {
		out = resultText(t.value(r, outputLimits()))
	}
	if out == "" && it != nil {
		out = c.output(it)
	}
	c.finishCall(e, args.Text(), out, it)
}

func (c *chat) toolEvent(kind, id, name string) transcript.Event {
	e := c.request.event
	e.ID, e.RawType, e.Role, e.Type = id, kind, transcript.RoleAssistant, transcript.TypeToolCall
	if name != "" {
		e.Tools = []string{name}
	}
	if p := plainName(name); p == "managetodolist" || p == "updatetodo" {
		e.Type = transcript.TypeTodoWrite
	}
	return e
}

func (c *chat) finishCall(e transcript.Event, text, out string, it *node) {
	e.AddText(transcript.Call, text)
	e.AddText(transcript.Output, out)
	if it != nil {
		exit, known := c.t.small(it, "toolSpecificData", "terminalCommandState", "exitCode").Int()
		e.Failed = known && exit != 0 || c.t.str(it, "resultDetails", "isError") == "true"
	}
	c.reply(e)
}

// told is what an item of the response says about its call: the command or
// input where it has one, else its label.
func (c *chat) told(it *node) []string {
	t := c.t
	data := t.get(it, "toolSpecificData")
	for _, keys := range [][]string{{"commandLine", "userEdited"}, {"commandLine", "toolEdited"}, {"commandLine", "original"}, {"command"}} {
		if s := t.text(t.get(data, keys...)); s != "" {
			return []string{s}
		}
	}
	var out []string
	add := func(v jsonv.Value) {
		v.Strings(func(s jsonv.Value) bool {
			if x := transcript.CleanText(s.Str()); x != "" {
				out = append(out, x)
			}
			return true
		})
	}
	for _, key := range []string{"rawInput", "input", "prompt", "description"} {
		add(t.value(t.get(data, key), limits()))
	}
	for _, todo := range t.list(t.get(data, "todoList")) {
		if s := t.text(t.get(todo, "title")); s != "" {
			out = append(out, s)
		}
	}
	if input := t.get(it, "resultDetails", "input"); len(out) == 0 && input != nil {
		add(t.value(input, limits()))
	}
	if len(out) > 0 {
		return out
	}
	for _, key := range []string{"invocationMessage", "pastTenseMessage"} {
		if s := t.text(t.get(it, key)); s != "" {
			return []string{s}
		}
	}
	return nil
}

// output is what an item of the response itself has of a result.
func (c *chat) output(it *node) string {
	t := c.t
	if s := t.text(t.get(it, "toolSpecificData", "terminalCommandOutput", "text")); s != "" {
		return s
	}
	if s := t.text(t.get(it, "toolSpecificData", "result")); s != "" {
		return s
	}
	out := t.get(it, "resultDetails", "output")
	if out == nil {
		return ""
	}
	if s := t.text(out); s != "" {
		return s
	}
	var all []string
	for _, o := range t.list(out) {
		// An embedded value that is no text is base64.
		if v := t.get(o, "isText"); v != nil && t.str(v) == "false" {
			continue
		}
		if s := t.text(t.get(o, "value")); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, "\n")
}

// labelFiles are the files that the label of a call links to, unless it
// searched.
func (c *chat) labelFiles(name string, it *node) []string {
	t := c.t
	msg := t.text(t.get(it, "pastTenseMessage"))
	if msg == "" {
		msg = t.text(t.get(it, "invocationMessage"))
	}
	if strings.Contains(strings.ToLower(name), "search") || strings.Contains(strings.ToLower(name), "find") {
		return nil
	}
	var out []string
	for len(out) < 64 {
		_, rest, ok := strings.Cut(msg, "](file://")
		if !ok {
			break
		}
		uri, after, ok := strings.Cut(rest, ")")
		if !ok {
			break
		}
		if p, local := localPath("file://" + uri); local && p != "" {
			out = append(out, p)
		}
		msg = after
	}
	return out
}

// edits reads a group of edits of one file. When the calls of the request are
// known they have the same text already.
func (c *chat) edits(it *node, kind string) {
	t := c.t
	c.links.from(it)
	e := c.toolEvent(kind, "", "edit")
	file := uriPath(t.small(it, "uri"))
	if file != "" {
		e.Files = []string{file}
	}
	var b strings.Builder
	if len(c.request.calls) == 0 {
		b.WriteString("edit\n" + file)
		for _, group := range t.list(t.get(it, "edits")) {
			edits := t.list(group)
			if group.kind == '{' {
				edits = []*node{group}
			}
			for _, ed := range edits {
				if s := t.text(t.get(ed, "text")); s != "" {
					b.WriteString("\n" + s)
				}
			}
		}
	}
	c.finishCall(e, b.String(), "", nil)
}

// uriPath is the path of a URI as VS Code stores it: an object, or text.
func uriPath(v jsonv.Value) string {
	if v.Kind() == jsonv.String {
		p, local := localPath(v.Str())
		if !local {
			return ""
		}
		return p
	}
	if s := v.Get("scheme"); s != nil && !s.IsStr("file") {
		return ""
	}
	if p := v.Get("fsPath").Str(); p != "" {
		return p
	}
	p := v.Get("path").Str()
	if len(p) > 2 && p[0] == '/' && p[2] == ':' {
		return strings.ReplaceAll(p[1:], "/", `\`)
	}
	return p
}

// resultText gathers the text of a stored result: a list of parts, each with a
// string, or with a tree of pieces as the prompt was rendered from.
func resultText(v jsonv.Value) string {
	var b strings.Builder
	b.Grow(len(v)) // no text is longer than its JSON, but for newlines added
	gather(v, 64, &b)
	return strings.TrimSpace(b.String())
}

func gather(v jsonv.Value, depth int, b *strings.Builder) {
	if depth == 0 {
		return
	}
	switch v.Kind() {
	case jsonv.String:
		b.WriteString(transcript.CleanText(v.Str()))
	case jsonv.Array:
		v.Elems(func(_ int, e jsonv.Value) bool { gather(e, depth-1, b); return true })
	case jsonv.Object:
		if t := v.Get("mimeType").Str(); t != "" && !strings.HasPrefix(t, "text/") && !strings.Contains(t, "json") {
			return
		}
		if v.Get("lineBreakBefore").True() && b.Len() > 0 {
			b.WriteByte('\n')
		}
		for _, key := range []string{"text", "value", "content", "node", "children"} {
			gather(v.Get(key), depth-1, b)
		}
		if v.Get("$mid").Exists() && b.Len() > 0 {
			b.WriteByte('\n') // the parts of a result
		}
	}
}
