package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

// The formats of export.
const (
	formatMarkdown = "markdown"
	formatJSON     = "json"
)

type exportFlags struct {
	format, tools string
	output        string
	thinking      bool
	force         bool
}

func (a *app) exportCommand() *cobra.Command {
	f := &exportFlags{format: formatMarkdown, tools: string(contract.ToolsFold)}
	views := []string{string(contract.ToolsFold), string(contract.ToolsFull), string(contract.ToolsNone)}
	cmd := &cobra.Command{
		Use:               "export SESSION",
		Short:             "Write a whole session as Markdown or JSON",
		Long:              exportHelp,
		Example:           exportExamples,
		Args:              oneSession,
		ValidArgsFunction: a.completeSession,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flags := cmd.Flags()
		if !flags.Changed("format") && strings.EqualFold(filepath.Ext(f.output), ".json") {
			f.format = formatJSON
		}
		switch {
		case f.format == formatJSON && (flags.Changed("thinking") || flags.Changed("tools")):
			return usage("", "--thinking and --tools are about Markdown; JSON has all of it")
		case flags.Changed("output") && f.output == "":
			return usage("", "--output: the name of a file is required")
		}
		return a.onSession(func(ctx context.Context, service Service, _ contract.Header, request map[string]any) error {
			return a.export(ctx, service, request, f)
		})(cmd, args)
	}
	flags := cmd.Flags()
	flags.Var(newChoice(&f.format, formatMarkdown, formatJSON), "format", "markdown, or json: the session and each event with the agent's own record")
	flags.StringVarP(&f.output, "output", "o", "", "write to this file, for your eyes only; it appears when it is whole")
	flags.BoolVar(&f.force, "force", false, "replace the file if it exists")
	flags.BoolVar(&f.thinking, "thinking", false, "Markdown: with the model's reasoning")
	flags.Var(newChoice(&f.tools, views...), "tools", "Markdown: calls of tools and their output fold (cut), full or none")
	a.complete(cmd, "format", formatMarkdown, formatJSON)
	a.complete(cmd, "tools", views...)
	return a.hostFlag(cmd)
}

// exported is what came of an export.
type exported struct {
	// events were written. Of JSON, cut is how many of them were too large to be
	// written whole; of Markdown, how many pages have such a text.
	events, cut int64
}

// export writes a session, a page at a time: to a file, or to standard output.
func (a *app) export(ctx context.Context, service Service, request map[string]any, f *exportFlags) error {
	out, safe := io.Writer(a.out), func(s string) string { return s }
	var file *newFile
	switch toTerminal := isTerminal(a.opts.Out); {
	case f.output != "" && f.output != "-":
		var err error
		if file, err = createFile(f.output, f.force); err != nil {
			return err
		}
		defer file.abandon()
		out = file
	case toTerminal && f.format == formatJSON:
		safe = visibleJSON
	case toTerminal:
		safe = clean
	}
	tell, told := a.eventProgress(file == nil && isTerminal(a.opts.Out))
	w := exporting{app: a, service: service, name: request, out: out, safe: safe, tell: tell}
	var got exported
	var err error
	if f.format == formatJSON {
		got, err = w.json(ctx)
	} else {
		got, err = w.markdown(ctx, f)
	}
	told()
	switch {
	case err == nil:
	case ctx.Err() != nil && file != nil:
		return &fault{code: ExitInterrupted, what: "interrupted", hint: "no file was written", cause: err}
	case ctx.Err() != nil:
		return &fault{code: ExitInterrupted, what: "interrupted", hint: "what was written is not the whole session", cause: err}
	default:
		return err
	}
	if file != nil {
		if err := file.finish(); err != nil {
			return err
		}
		a.screen.note("%s written to %s", count(got.events, "event", "events"), cleanLine(f.output))
	}
	switch {
	case got.cut > 0 && f.format == formatJSON:
		a.screen.note("%s too large to be written whole, and says so", count(got.cut, "event is", "events are"))
	case got.cut > 0:
		a.screen.note("some text was too long to be written whole; it says so where it is cut")
	}
	return nil
}

// exporting is a session on its way out.
type exporting struct {
	*app
	service Service
	name    map[string]any
	out     io.Writer
	safe    func(string) string // makes what is written fit for where it goes
	// tell reports how many events there are so far, and of how many as far as is
	// known.
	tell func(done, total int64)

	epoch *int64 // of the first page; nil before it
	total int64  // events of the log when the export began; 0 if not known
}

// request is the session's name and more.
func (w *exporting) request(more map[string]any) map[string]any {
	for key, value := range w.name {
		more[key] = value
	}
	return more
}

// page looks at a page: its log must still be the one that the pages before were of.
func (w *exporting) page(ctx context.Context, session contract.Header, next *int64) error {
	if w.epoch == nil {
		w.epoch = &session.Epoch
		if next != nil {
			// Of a long one it is worth knowing how long.
			var surface contract.ReadSurfaceResponse
			if _, err := w.ask(ctx, w.service, "readSurface", w.request(map[string]any{"limit": 1}), &surface); err == nil && surface.CapturedThroughSeq != nil {
				w.total = *surface.CapturedThroughSeq + 1
			}
		}
	}
	if *w.epoch != session.Epoch {
		return &fault{code: ExitFailed, what: "the transcript was rewritten while it was being exported", hint: "run the same command again"}
	}
	if next != nil {
		w.tell(*next, max(w.total, *next))
	}
	return nil
}

// write writes to where the export goes; an error of standard output is told by Main.
func (w *exporting) write(s string) error {
	if _, err := io.WriteString(w.out, w.safe(s)); err != nil {
		return failed(err, "writing the session")
	}
	return nil
}

// markdown joins the pages of renderTranscript.
func (w *exporting) markdown(ctx context.Context, f *exportFlags) (done exported, err error) {
	for from := int64(0); ; {
		var page contract.RenderTranscriptResponse
		request := map[string]any{"fromSeq": from, "limit": contract.MaxRenderLimit, "thinking": f.thinking, "tools": f.tools}
		if _, err := w.ask(ctx, w.service, "renderTranscript", w.request(request), &page); err != nil {
			return done, err
		}
		if err := w.page(ctx, page.Session, page.NextSeq); err != nil {
			return done, err
		}
		done.events += int64(len(page.Lines))
		if page.Truncated {
			done.cut++
		}
		if err := w.write(page.Markdown); err != nil {
			return done, err
		}
		if page.NextSeq == nil {
			return done, nil
		}
		from = *page.NextSeq
	}
}

// rawPage is a page of readSession whose parts stay as they were answered.
type rawPage struct {
	Session json.RawMessage   `json:"session"`
	Events  []json.RawMessage `json:"events"`
	NextSeq *int64            `json:"nextSeq"`
}

// json writes {"session": …, "events": […]}, an event a line.
func (w *exporting) json(ctx context.Context) (done exported, err error) {
	for from, first := int64(0), true; ; {
		var page rawPage
		if _, err := w.ask(ctx, w.service, "readSession", w.request(map[string]any{"fromSeq": from, "limit": contract.MaxReadLimit}), &page); err != nil {
			return done, err
		}
		var session contract.Header
		if err := json.Unmarshal(page.Session, &session); err != nil {
			return done, failed(err, "reading the answer of readSession")
		}
		if err := w.page(ctx, session, page.NextSeq); err != nil {
			return done, err
		}
		if first {
			if err := w.write("{\"session\":" + string(page.Session) + ",\n\"events\":["); err != nil {
				return done, err
			}
		}
		for _, raw := range page.Events {
			event, cut, err := w.whole(ctx, raw)
			if err != nil {
				return done, err
			}
			if cut {
				done.cut++
			}
			before := ",\n"
			if done.events == 0 {
				before = "\n"
			}
			if err := w.write(before + string(event)); err != nil {
				return done, err
			}
			done.events++
		}
		first = false
		if page.NextSeq == nil {
			return done, w.write("\n]}\n")
		}
		from = *page.NextSeq
	}
}

// whole asks again for an event that was too large for a page, by itself.
func (w *exporting) whole(ctx context.Context, raw json.RawMessage) (event json.RawMessage, cut bool, err error) {
	var size struct {
		Seq           int64 `json:"seq"`
		TextTruncated bool  `json:"textTruncated"`
		DataTruncated bool  `json:"dataTruncated"`
	}
	if err := json.Unmarshal(raw, &size); err != nil {
		return nil, false, failed(err, "reading the answer of readSession")
	}
	if !size.TextTruncated && !size.DataTruncated {
		return raw, false, nil
	}
	var answer struct {
		Target json.RawMessage `json:"target"`
	}
	request := w.request(map[string]any{"seq": size.Seq, "maxBytes": contract.MaxRecordBytes})
	if _, err := w.ask(ctx, w.service, "readEvent", request, &answer); err != nil {
		return nil, false, err
	}
	size.TextTruncated, size.DataTruncated = false, false
	if err := json.Unmarshal(answer.Target, &size); err != nil {
		return nil, false, failed(err, "reading the answer of readEvent")
	}
	return answer.Target, size.TextTruncated || size.DataTruncated, nil
}

// eventProgress is where to report how far an export is, and what to call at the end.
// Nothing is told when the export itself goes to the terminal.
func (a *app) eventProgress(toTerminal bool) (tell func(done, total int64), told func()) {
	if toTerminal {
		return func(int64, int64) {}, func() {}
	}
	show, done := a.progressIn("exporting", func(p contract.Progress) string {
		return thousands(p.BytesDone) + " of " + count(p.BytesTotal, "event", "events")
	})
	return func(n, total int64) { show(contract.Progress{BytesDone: n, BytesTotal: max(total, n+1)}) }, done
}

// visibleJSON writes the characters that [clean] would take away as escapes. Within
// JSON they stand in strings only, so the document stays the same.
func visibleJSON(s string) string {
	if plain(s) {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || !hidden(r) && r != '\u2028' && r != '\u2029':
			out.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}
