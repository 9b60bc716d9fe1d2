package corpus

import (
	"fmt"
	"strings"
	"time"
)

// The forms are those of formats.md: records with the fields that readers look
// at, and the copies of the same text that make transcripts as large as they are.

// claude is a project folder's session file of Claude Code: each output stands
// in toolUseResult, too, and an edit has the whole file.
type claude struct {
	lines
	last string
}

func newClaude(h head) *claude { return &claude{lines: lines{head: h}} }

func (c *claude) record(at time.Time, kind, message, more string) {
	parent := "null"
	if c.last != "" {
		parent = `"` + c.last + `"`
	}
	c.last = c.uuid()
	c.line(`{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":%q,"sessionId":%q,"version":"2.1.14","gitBranch":"main","type":%q,"message":%s%s,"uuid":%q,"timestamp":%q}`,
		parent, c.cwd, c.id, kind, message, more, c.last, stamp(at))
}

func (c *claude) assistant(at time.Time, content string) {
	c.record(at, "assistant", string(record(nil, `{"model":"claude-opus-4-5","id":%q,"type":"message","role":"assistant","content":[%s],"stop_reason":null,"usage":{"input_tokens":9,"cache_read_input_tokens":%d,"output_tokens":%d}}`,
		"msg_"+c.token(), content, c.rnd.IntN(150_000), c.rnd.IntN(2000))), `,"requestId":"req_`+c.token()+`"`)
}

func (c *claude) add(e Event) {
	switch e.Role {
	case User:
		c.record(e.At, "user", string(record(nil, `{"role":"user","content":%q}`, e.Text)), "")
	case Assistant:
		if chance(c.rnd, 0.35) {
			c.assistant(e.At, string(record(nil, `{"type":"thinking","thinking":"","signature":%q}`, c.opaque(200, 2000))))
		}
		c.assistant(e.At, string(record(nil, `{"type":"text","text":%q}`, e.Text)))
	default:
		id, path := "toolu_"+c.token(), c.cwd+"/"+e.Input
		input := record(nil, `{"command":%q,"description":"Run it"}`, e.Input)
		content, result := quoted(nil, e.Text), record(nil, `{"stdout":%q,"stderr":"","interrupted":false}`, e.Text)
		switch {
		case e.Blob != "":
			input = record(nil, `{"file_path":%q}`, path)
			content = record(nil, `[{"type":"image","source":{"type":"base64","data":%q,"media_type":"image/png"}}]`, e.Blob)
			result = record(nil, `{"type":"image","file":{"base64":%q,"type":"image/png"}}`, e.Blob)
		case e.Tool == "Read":
			input = record(nil, `{"file_path":%q}`, path)
			result = record(nil, `{"type":"text","file":{"filePath":%q,"content":%q,"startLine":1}}`, path, e.Text)
		case e.Tool == "Edit":
			input = record(nil, `{"file_path":%q,"old_string":"a","new_string":"b"}`, path)
			result = record(nil, `{"filePath":%q,"oldString":"a","newString":"b","originalFile":%q,"userModified":false}`, path, e.Before)
		}
		c.assistant(e.At, string(record(nil, `{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, e.Tool, string(input))))
		c.record(e.At.Add(time.Second), "user", string(record(nil, `{"role":"user","content":[{"tool_use_id":%q,"type":"tool_result","content":%s}]}`, id, string(content))), `,"toolUseResult":`+string(result))
	}
}

func (c *claude) finish(at time.Time) []file {
	if c.title != "" {
		c.line(`{"type":"ai-title","aiTitle":%q,"sessionId":%q}`, c.title, c.id)
	}
	return []file{{c.path(), c.b, at}}
}

func (c *claude) path() string { return ".claude/projects/" + slug(c.cwd) + "/" + c.id + ".jsonl" }

// codex is a rollout of Codex: each message stands in it twice.
type codex struct{ lines }

func newCodex(h head) *codex {
	c := &codex{lines{head: h}}
	c.line(`{"timestamp":%q,"type":"session_meta","payload":{"id":%q,"timestamp":%q,"cwd":%q,"originator":"codex_cli_rs","cli_version":"0.98.0","source":"cli","model_provider":"openai","base_instructions":{"text":%q},"git":{"branch":"main"}}}`,
		stamp(h.start), h.id, stamp(h.start), h.cwd, strings.Repeat("You are a coding agent. ", 400))
	c.line(`{"timestamp":%q,"type":"turn_context","payload":{"cwd":%q,"approval_policy":"on-request","model":"gpt-5.2-codex","summary":"auto"}}`, stamp(h.start), h.cwd)
	return c
}

func (c *codex) add(e Event) {
	at := stamp(e.At)
	switch e.Role {
	case User:
		c.line(`{"timestamp":%q,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}}`, at, e.Text)
		c.line(`{"timestamp":%q,"type":"event_msg","payload":{"type":"user_message","message":%q,"images":[]}}`, at, e.Text)
	case Assistant:
		c.line(`{"timestamp":%q,"type":"response_item","payload":{"type":"reasoning","id":%q,"summary":[],"encrypted_content":%q}}`, at, "rs_"+c.token(), c.opaque(300, 3000))
		c.line(`{"timestamp":%q,"type":"event_msg","payload":{"type":"agent_message","message":%q}}`, at, e.Text)
		c.line(`{"timestamp":%q,"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}}`, at, e.Text)
	default:
		id, after := "call_"+c.token(), stamp(e.At.Add(time.Second))
		c.line(`{"timestamp":%q,"type":"response_item","payload":{"type":"function_call","name":"shell_command","arguments":%q,"call_id":%q}}`, at, string(record(nil, `{"command":%q}`, e.Input)), id)
		output := quoted(nil, "Exit code: 0\nOutput:\n"+e.Text)
		if e.Blob != "" {
			output = record(nil, `[{"type":"input_image","image_url":%q}]`, "data:image/png;base64,"+e.Blob)
		}
		c.line(`{"timestamp":%q,"type":"response_item","payload":{"type":"function_call_output","call_id":%q,"output":%s}}`, after, id, string(output))
	}
}

func (c *codex) finish(at time.Time) []file {
	if c.title != "" {
		c.line(`{"timestamp":%q,"type":"event_msg","payload":{"type":"thread_name_updated","thread_id":%q,"thread_name":%q}}`, stamp(at), c.id, c.title)
	}
	return []file{{".codex/sessions/" + c.start.Format("2006/01/02") + "/rollout-" + c.start.Format("2006-01-02T15-04-05") + "-" + c.id + ".jsonl", c.b, at}}
}

// pi is a session of Pi: a tree of entries.
type pi struct {
	lines
	last string
}

func newPi(h head) *pi {
	p := &pi{lines: lines{head: h}, last: "null"}
	p.line(`{"type":"session","version":3,"id":%q,"timestamp":%q,"cwd":%q}`, h.id, stamp(h.start), h.cwd)
	return p
}

func (p *pi) entry(at time.Time, kind, rest string) {
	id := p.token()[:8]
	p.line(`{"type":%q,"id":%q,"parentId":%s,"timestamp":%q,%s}`, kind, id, p.last, stamp(at), rest)
	p.last = `"` + id + `"`
}

func (p *pi) message(at time.Time, role, content, more string) {
	p.entry(at, "message", string(record(nil, `"message":{"role":%q,"content":[%s]%s,"timestamp":%d}`, role, content, more, at.UnixMilli())))
}

func (p *pi) add(e Event) {
	const usage = `,"api":"anthropic-messages","provider":"anthropic","model":"claude-opus-4-5","usage":{"input":9,"output":90,"totalTokens":99},"stopReason":"stop"`
	text := string(record(nil, `{"type":"text","text":%q}`, e.Text))
	switch e.Role {
	case User:
		p.message(e.At, "user", text, "")
	case Assistant:
		p.message(e.At, "assistant", text, usage)
	default:
		id := "toolu_" + p.token()
		if e.Blob != "" {
			text = string(record(nil, `{"type":"image","data":%q,"mimeType":"image/png"}`, e.Blob))
		}
		p.message(e.At, "assistant", string(record(nil, `{"type":"toolCall","id":%q,"name":"bash","arguments":{"command":%q}}`, id, e.Input)), usage)
		p.message(e.At.Add(time.Second), "toolResult", text, string(record(nil, `,"toolCallId":%q,"toolName":"bash","isError":false`, id)))
	}
}

func (p *pi) finish(at time.Time) []file {
	if p.title != "" {
		p.entry(at, "session_info", string(record(nil, `"name":%q`, p.title)))
	}
	name := p.start.Format("2006-01-02T15-04-05-") + fmt.Sprintf("%03dZ_", p.start.Nanosecond()/1_000_000) + p.id + ".jsonl"
	return []file{{".pi/agent/sessions/-" + slug(p.cwd) + "--/" + name, p.b, at}}
}

// gemini is a chat of Gemini CLI: one document, with each output in it twice.
type gemini struct {
	lines
	some bool
}

func newGemini(h head) *gemini {
	g := &gemini{lines: lines{head: h}}
	g.b = record(g.b, "{\n  \"sessionId\": %q,\n  \"projectHash\": %q,\n  \"startTime\": %q,\n  \"lastUpdated\": %q,\n  \"messages\": [", h.id, projectHash(h.cwd), stamp(h.start), stamp(h.start))
	return g
}

// projectHash names the folder of a project; 64 hexadecimal digits.
func projectHash(cwd string) string {
	h := hashOf(cwd)
	return fmt.Sprintf("%016x%016x%016x%016x", h, h*3, h*5, h*7)
}

func (g *gemini) add(e Event) {
	if g.some {
		g.b = append(g.b, ',')
	}
	g.some = true
	begin := func(kind, content string) {
		g.b = record(g.b, "\n    {\n      \"id\": %q,\n      \"timestamp\": %q,\n      \"type\": %q,\n      \"content\": %q", g.uuid(), stamp(e.At), kind, content)
	}
	switch e.Role {
	case User:
		begin("user", e.Text)
	case Assistant:
		begin("gemini", e.Text)
		g.b = append(g.b, ",\n      \"thoughts\": [],\n      \"model\": \"gemini-2.5-pro\""...)
	default:
		begin("gemini", "")
		id := "run_shell_command-" + g.token()
		response, shown, image := e.Text, e.Text, ""
		if e.Blob != "" {
			response, shown = "Binary content provided.", ""
			image = string(record(nil, `, {"inlineData": {"mimeType": "image/png", "data": %q}}`, e.Blob))
		}
		g.b = record(g.b, ",\n      \"toolCalls\": [{\"id\": %q, \"name\": \"run_shell_command\", \"args\": {\"command\": %q}, \"result\": [{\"functionResponse\": {\"id\": %q, \"name\": \"run_shell_command\", \"response\": {\"output\": %q}}}%s], \"status\": \"success\", \"resultDisplay\": %q}],\n      \"model\": \"gemini-2.5-pro\"",
			id, e.Input, id, response, image, shown)
	}
	g.b = append(g.b, "\n    }"...)
}

func (g *gemini) finish(at time.Time) []file {
	g.b = append(g.b, "\n  ]\n}\n"...)
	return []file{{".gemini/tmp/" + projectHash(g.cwd) + "/chats/session-" + g.start.Format("2006-01-02T15-04-") + g.id[:8] + ".json", g.b, at}}
}

// openCode is a session in OpenCode's tree of small files.
type openCode struct {
	head
	files   []file
	n       int
	written int64
	message string // the assistant's, while parts are added to it
	asked   string
}

func newOpenCode(h head) *openCode { return &openCode{head: h} }

func (o *openCode) size() int64 { return o.written }

func (o *openCode) put(path string, at time.Time, data []byte) {
	o.files = append(o.files, file{".local/share/opencode/storage/" + path, data, at})
	o.written += int64(len(data))
}

// next is an id; they ascend.
func (o *openCode) next(prefix string) string {
	o.n++
	return fmt.Sprintf("%s_%06x%s", prefix, o.n, o.token()[:12])
}

func (o *openCode) begin(at time.Time, role, rest string) string {
	id := o.next("msg")
	o.put("message/"+o.id+"/"+id+".json", at, record(nil, `{"id":%q,"sessionID":%q,"role":%q,"time":{"created":%d}%s}`, id, o.id, role, at.UnixMilli(), rest))
	return id
}

func (o *openCode) part(at time.Time, message, rest string) {
	id := o.next("prt")
	o.put("part/"+message+"/"+id+".json", at, record(nil, `{"id":%q,"sessionID":%q,"messageID":%q,%s}`, id, o.id, message, rest))
}

func (o *openCode) add(e Event) {
	text := string(record(nil, `"type":"text","text":%q,"time":{"start":%d}`, e.Text, e.At.UnixMilli()))
	if e.Role == User {
		o.asked, o.message = o.begin(e.At, "user", ""), ""
		o.part(e.At, o.asked, text)
		return
	}
	if o.message == "" {
		o.message = o.begin(e.At, "assistant", string(record(nil, `,"parentID":%q,"modelID":"claude-opus-4-5","providerID":"anthropic","mode":"build","path":{"cwd":%q,"root":%q}`, o.asked, o.cwd, o.cwd)))
	}
	if e.Role == Assistant {
		o.part(e.At, o.message, text)
		return
	}
	more := ""
	if e.Blob != "" {
		more = string(record(nil, `,"attachments":[{"type":"file","mime":"image/png","url":%q}]`, "data:image/png;base64,"+e.Blob))
	}
	o.part(e.At, o.message, string(record(nil, `"type":"tool","callID":%q,"tool":"bash","state":{"status":"completed","input":{"command":%q},"output":%q%s,"title":%q,"metadata":{"exit":0},"time":{"start":%d,"end":%d}}`,
		"toolu_"+o.token(), e.Input, e.Text, more, e.Input, e.At.UnixMilli(), e.At.UnixMilli()+900)))
}

func (o *openCode) finish(at time.Time) []file {
	project := projectHash(o.cwd)[:40]
	o.put("project/"+project+".json", end, record(nil, `{"id":%q,"worktree":%q,"vcs":"git","time":{"created":%d}}`, project, o.cwd, end.UnixMilli()))
	o.put("session/"+project+"/"+o.id+".json", at, record(nil, `{"id":%q,"version":"1.1.30","projectID":%q,"directory":%q,"title":%q,"time":{"created":%d,"updated":%d}}`,
		o.id, project, o.cwd, o.title, o.start.UnixMilli(), at.UnixMilli()))
	last := len(o.files) - 1
	o.files[0], o.files[last] = o.files[last], o.files[0]
	return o.files
}
