package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

// maxShow is the largest --limit of show.
const maxShow = 1000

type showFlags struct {
	around int64
	from   int64
	limit  int
	full   bool
}

func (a *app) showCommand() *cobra.Command {
	f := &showFlags{}
	cmd := &cobra.Command{
		Use:     "show SESSION",
		Short:   "Read a session",
		Long:    showHelp,
		Example: showExamples,
		Args:    oneSession,
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		flags := cmd.Flags()
		around := flags.Changed("around")
		switch {
		case around && flags.Changed("from"):
			return usage("", "--around and --from do not go together")
		case f.limit < 1 || f.limit > maxShow:
			return usage("", "--limit: %d is out of bounds; allowed: 1 to %d", f.limit, maxShow)
		case f.around < 0, f.from < 0:
			return usage("", "--around, --from: an event's number is 0 or more")
		}
		return a.withService(ctx, func(service Service) error { return a.show(ctx, service, args[0], around, f) })
	})
	flags := cmd.Flags()
	flags.Int64Var(&f.around, "around", 0, "show what is around the event with this number")
	flags.Int64Var(&f.from, "from", 0, "begin at the event with this number")
	flags.IntVarP(&f.limit, "limit", "n", 100, fmt.Sprintf("events to show, 1 to %d", maxShow))
	flags.BoolVar(&f.full, "full", false, "unfold tool output and show bookkeeping events, too")
	cmd.ValidArgsFunction = a.completeSession
	return a.hostFlag(a.pagerFlag(a.jsonFlag(cmd)))
}

func (a *app) show(ctx context.Context, service Service, argument string, around bool, f *showFlags) error {
	name, _, err := a.named(ctx, service, argument)
	if err != nil {
		return err
	}
	request := a.onHost(map[string]any{"sessionId": name.SessionID, "agent": name.Agent})
	if around {
		return a.showAround(ctx, service, request, f)
	}
	var shown contract.ReadSessionResponse
	for next := &f.from; next != nil && len(shown.Events) < f.limit; {
		request["fromSeq"], request["limit"] = *next, f.limit-len(shown.Events)
		var page contract.ReadSessionResponse
		if done, err := a.answered(ctx, service, "readSession", request, &page); done || err != nil {
			return err
		}
		// An answer ends early when it is large: the next one goes on.
		page.Events = append(shown.Events, page.Events...)
		shown, next = page, page.NextSeq
	}
	a.paged(func() { a.screen.transcript(shown, -1, f.full) })
	return nil
}

// showAround shows an event and its neighbours.
func (a *app) showAround(ctx context.Context, service Service, request map[string]any, f *showFlags) error {
	before := min(f.limit/2, contract.MaxWindow)
	request["seq"], request["before"], request["after"] = f.around, before, max(0, min(f.limit-1-before, contract.MaxWindow))
	var window contract.ReadEventResponse
	if done, err := a.answered(ctx, service, "readEvent", request, &window); done || err != nil {
		return err
	}
	a.paged(func() {
		a.screen.transcript(contract.ReadSessionResponse{Session: window.Session, Events: window.Events}, f.around, f.full)
	})
	return nil
}

// transcript prints a session for reading. target is the event to point at, -1
// for none.
func (s *screen) transcript(t contract.ReadSessionResponse, target int64, full bool) {
	s.header(t.Session)
	hidden := 0
	for _, e := range t.Events {
		body := ""
		if e.Text != nil {
			body = strings.TrimSpace(clean(*e.Text))
		}
		if e.TextTruncated {
			body += "\n… the rest is too long to be shown"
		}
		if !full && e.Seq != target && (body == "" || bookkeeping(e)) {
			hidden++
			continue
		}
		s.event(e, body, e.Seq == target, full)
	}
	var notes []string
	if hidden > 0 && !full {
		notes = append(notes, count(hidden, "event", "events")+" without conversation not shown (--full)")
	}
	if t.NextSeq != nil {
		notes = append(notes, fmt.Sprintf("the session goes on: --from %d", *t.NextSeq))
	}
	if len(t.Events) == 0 {
		notes = append(notes, "no events here")
	}
	for _, note := range notes {
		s.line(span{note, dim})
	}
}

// bookkeeping tells events that are no part of the conversation.
func bookkeeping(e contract.EventRecord) bool {
	switch e.Role {
	case contract.RoleUser, contract.RoleAssistant, contract.RoleTool:
		return false
	}
	return e.Surface == contract.SurfaceLogOnly
}

// header prints what is known of the session as a whole.
func (s *screen) header(h contract.Header) {
	for _, line := range wrap([]span{{cleanLine(h.Title), bold}}, s.width, 3) {
		s.line(line...)
	}
	row := func(name, value string) {
		if value = cleanLine(value); value != "" {
			s.line(span{pad(name, 10), dim}, span{text: value})
		}
	}
	row("session", h.Agent+":"+h.SessionID)
	if !h.ExecutionHostID.IsLocal() {
		row("host", string(h.ExecutionHostID))
	}
	row("folder", text(h.Cwd))
	row("branch", text(h.Branch))
	row("model", text(h.Model))
	if h.CreatedAt != nil || h.UpdatedAt != nil {
		row("time", strings.Trim(localTime(h.CreatedAt, s.now)+" to "+localTime(h.UpdatedAt, s.now), " to"))
	}
	row("messages", thousands(int64(h.MessageCount)))
	if h.Relation != contract.RelationRoot && h.Relation != "" {
		row("relation", strings.TrimSpace(string(h.Relation)+" of "+text(h.ParentSessionID)))
	}
	if h.Presence != contract.PresencePresent {
		row("presence", string(h.Presence))
	}
	row("file", h.SourcePath)
	s.warnings(h.Warnings)
	s.say("")
}

// warnings prints what should be known of a session or an answer.
func (s *screen) warnings(list []string) {
	for _, warning := range list {
		s.line(span{"! ", warn}, span{text: cleanLine(warning)})
	}
}

// Folded tool calls and output keep this many lines.
const (
	foldedCall   = 2
	foldedOutput = 2
)

// event prints one event. body is clean.
func (s *screen) event(e contract.EventRecord, body string, pointed, full bool) {
	name, look := string(e.Role), dim
	folded := 0
	switch {
	case e.Type == "tool/call":
		name, look, folded = "tool call", toolStyle, foldedCall
	case e.Role == contract.RoleTool:
		name, look, folded = "tool", dim, foldedOutput
	case e.Role == contract.RoleUser:
		look = userStyle
	case e.Role == contract.RoleAssistant:
		look = agentStyle
	}
	if e.Role == contract.RoleUnknown || (e.Role == contract.RoleSystem && e.Type != "") {
		name = cleanLine(e.Type)
	}
	lead := "  "
	if pointed {
		lead = "▶ "
	}
	head := []span{{lead, marked}, {name, look}, {fmt.Sprintf(" #%d", e.Seq), dim}}
	if when := localTime(e.Time, s.now); when != "" {
		head = append(head, span{" · " + when, dim})
	}
	if e.Surface == contract.SurfaceShadowed {
		head = append(head, span{" · compacted or rewound", dim})
	}
	if e.Inherited {
		head = append(head, span{" · inherited", dim})
	}
	s.line(head...)

	textStyle := plainStyle
	if folded > 0 {
		textStyle = dim
	}
	if full {
		folded = 0
	}
	s.body(body, textStyle, folded)
	s.say("")
}

// maxLine bounds one line of a transcript on a terminal, in bytes; what is cut is told.
const maxLine = 16 << 10

// body prints the text of an event, indented; with folded > 0 only that many lines.
func (s *screen) body(body string, look style, folded int) {
	if body == "" {
		return
	}
	lines := strings.Split(body, "\n")
	left := 0
	if folded > 0 {
		lines = nonBlank(lines)
		if len(lines) > folded {
			left = len(lines) - folded
			lines = lines[:folded]
		}
	}
	for _, line := range lines {
		line = strings.TrimRight(line, " ")
		switch {
		case line == "":
			s.say("")
		case !s.pretty:
			s.line(span{text: indent}, span{line, look})
		case folded > 0:
			s.line(span{text: indent}, span{truncate(cap16k(line), s.width-len(indent)), look})
		default:
			// Code keeps its own indentation on the lines it is wrapped to.
			margin := line[:len(line)-len(strings.TrimLeft(line, " "))]
			margin = margin[:min(len(margin), 24)]
			for _, part := range wrap([]span{{cap16k(strings.TrimLeft(line, " ")), look}}, s.width-len(indent)-len(margin), 0) {
				s.line(append([]span{{text: indent + margin}}, part...)...)
			}
		}
	}
	if left > 0 {
		s.line(span{text: indent}, span{"… " + count(left, "more line", "more lines"), dim})
	}
}

func nonBlank(lines []string) []string {
	var out []string
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			out = append(out, line)
		}
	}
	return out
}

// cap16k cuts a line that no one reads and says so.
func cap16k(line string) string {
	if len(line) <= maxLine {
		return line
	}
	return strings.ToValidUTF8(line[:maxLine], "") + fmt.Sprintf(" … (%s more)", size(int64(len(line)-maxLine)))
}
