package exact

import (
	"context"
	"fmt"
	"strings"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/transcript"
)

// Folded calls of tools and their output keep this many lines, of at most
// foldedWidth bytes.
const (
	foldedCall   = 6
	foldedOutput = 8
	foldedWidth  = 400
)

// RenderTranscript answers renderTranscript.
//
// Calls and output of tools are code blocks; folded ones are cut and say what is
// left out, which reads the same in a preview and as text. Where a speaker
// begins there is a heading.
func (e *Engine) RenderTranscript(ctx context.Context, request contract.RenderTranscriptRequest) (contract.RenderTranscriptResponse, error) {
	var out contract.RenderTranscriptResponse
	err := e.with(ctx, request.SessionName, func(l *log) error {
		out = contract.RenderTranscriptResponse{Session: l.header}
		from, to := l.slice(request.FromSeq, readLimit(request.Limit, contract.MaxRenderLimit))
		r := &renderer{request: request, log: l, out: &out, page: newPage()}
		if from == 0 {
			r.begin()
		}
		at, err := r.run(ctx, from, to)
		if err != nil {
			return err
		}
		out.NextSeq = l.next(at)
		out.Markdown = r.text.String()
		return nil
	})
	return out, err
}

type renderer struct {
	request contract.RenderTranscriptRequest
	log     *log
	out     *contract.RenderTranscriptResponse
	page    *page
	text    strings.Builder
	lines   int // of text
	speaker string
}

// shown reports whether there may be something to show of an event.
func (r *renderer) shown(seq int) bool {
	k := r.log.kind(seq)
	if r.thinks(seq) {
		return true
	}
	if r.request.Tools == contract.ToolsNone && (k.role == transcript.RoleTool || k.typ == transcript.TypeToolCall) {
		return false
	}
	return r.log.events[seq].text > 0 && k.typ != transcript.TypeTitle
}

// thinks reports whether an event may hold reasoning that is asked for. It is
// no text, so it comes from the record.
func (r *renderer) thinks(seq int) bool {
	return r.request.Thinking && r.log.kind(seq).role == transcript.RoleAssistant
}

// run renders the events [from, to) as far as they fit, and returns where it
// ended.
func (r *renderer) run(ctx context.Context, from, to int) (int, error) {
	for at := from; at < to; {
		var seqs []int
		for seq := at; seq < to; seq++ {
			if r.shown(seq) {
				seqs = append(seqs, seq)
			}
		}
		got, err := r.log.fetch(ctx, wish{seqs: seqs, data: r.request.Thinking, max: contract.DefaultRecordBytes})
		if err != nil {
			return 0, err
		}
		at = to
		for _, seq := range seqs {
			if got[seq] == nil {
				at = seq // the next fetch begins with it
				break
			}
			if !r.event(seq, got[seq]) {
				return seq, nil
			}
		}
	}
	return to, nil
}

// begin writes what is known of the session as a whole.
func (r *renderer) begin() {
	h := &r.log.header
	var l lines
	l.line("# " + label(h.Title, 200))
	l.line("")
	facts := []string{label(h.Agent, 40)}
	for _, s := range []*string{h.Cwd, h.Branch, h.Model} {
		if s != nil {
			facts = append(facts, label(*s, 200))
		}
	}
	if h.CreatedAt != nil {
		facts = append(facts, clock(*h.CreatedAt))
	}
	l.line(strings.Join(facts, " · "))
	l.line("")
	r.text.WriteString(l.b.String())
	r.lines += l.n
	r.page.fits(l.b.String())
}

func clock(t contract.Instant) string { return t.Time().Format("2006-01-02 15:04:05") + " UTC" }

// event renders an event; false when it does not fit any more.
func (r *renderer) event(seq int, c *content) bool {
	b := &block{r: r, seq: seq, kind: r.log.kind(seq)}
	before := r.speaker
	if r.thinks(seq) && len(c.data) > 0 {
		b.thinking(c.data)
	}
	for _, p := range c.parts {
		b.part(p)
	}
	if b.l.n == 0 {
		return true
	}
	if c.partCut {
		b.l.line("*… the rest of this is too long to be shown*")
		b.l.line("")
	}
	text := b.l.b.String()
	shown := contract.LineRange{Line: r.lines, EndLine: r.lines + b.l.n - 2, Seq: int64(seq)} // without the empty line
	// Lists of lines are a part of the answer, too.
	if !r.page.fits([]any{text, shown}) {
		r.speaker = before
		return false
	}
	r.out.Truncated = r.out.Truncated || c.partCut
	r.text.WriteString(text)
	r.lines += b.l.n
	r.out.Lines = append(r.out.Lines, shown)
	return true
}

// block is the Markdown of one event.
type block struct {
	r    *renderer
	seq  int
	kind *kind
	l    lines
}

func (b *block) part(p transcript.Part) {
	kind := p.Kind
	if kind == transcript.Prose && b.kind.role == transcript.RoleTool {
		kind = transcript.Output
	}
	if kind != transcript.Prose && b.r.request.Tools == contract.ToolsNone {
		return
	}
	if strings.TrimSpace(visible(p.Text)) == "" {
		return
	}
	switch kind {
	case transcript.Call:
		b.heading()
		name, text := "Tool call", p.Text
		if len(b.kind.tools) == 1 {
			tool := b.kind.tools[0]
			name += ": " + label(tool, 80)
			if first, rest, more := strings.Cut(text, "\n"); more && first == tool {
				text = rest // it is in the line above
			}
		}
		b.tool(name, text, foldedCall)
	case transcript.Output:
		b.heading()
		name := "Output"
		if b.r.log.events[b.seq].flags&failed != 0 {
			name = "Failed output"
		}
		b.tool(name, p.Text, foldedOutput)
	default:
		b.heading()
		b.l.prose(p.Text)
	}
}

// heading says who speaks, where that changes. What tools say is under the
// assistant's heading.
func (b *block) heading() {
	e := &b.r.log.events[b.seq]
	name := map[transcript.Role]string{transcript.RoleUser: "User", transcript.RoleAssistant: "Assistant", transcript.RoleTool: "Assistant"}[b.kind.role]
	switch {
	case b.kind.typ == transcript.TypeCompaction:
		name = "Summary of what was compacted"
	case name == "":
		name = "System: " + label(b.kind.typ, 80)
	}
	if b.r.log.surface(b.seq) == transcript.Shadowed {
		name += " (no longer in context)"
	}
	if e.flags&inherited != 0 {
		name += " (inherited)"
	}
	if name == b.r.speaker {
		return
	}
	b.r.speaker = name
	if e.time != noTime {
		if at := contract.Instant(e.time); at.String() != "" {
			name += " · " + clock(at)
		}
	}
	b.l.line(fmt.Sprintf("## %s · #%d", name, b.seq))
	b.l.line("")
}

// tool writes a call or an output as a code block, folded if asked for.
func (b *block) tool(name, text string, fold int) {
	b.l.line(fmt.Sprintf("**%s** · #%d", name, b.seq))
	b.l.line("")
	body := strings.Split(strings.Trim(visible(text), "\n"), "\n")
	left := 0
	if b.r.request.Tools != contract.ToolsFull {
		if len(body) > fold+1 { // one line more is not worth a remark
			left = len(body) - fold
			body = body[:fold]
		}
		for i, line := range body {
			if short, cut := clipText(line, foldedWidth); cut {
				body[i] = short + " …"
			}
		}
	}
	b.l.code(body, 0, "text")
	if left > 0 {
		b.l.line(fmt.Sprintf("*… %d more lines*", left))
		b.l.line("")
	}
}

func (b *block) thinking(record []byte) {
	text := strings.TrimSpace(visible(reasoning(record)))
	if text == "" {
		return
	}
	b.heading()
	b.l.line(fmt.Sprintf("**Thinking** · #%d", b.seq))
	b.l.line("")
	b.l.code(strings.Split(text, "\n"), 0, "text")
}
