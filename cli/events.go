package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

// eventFlags are the flags of events.
type eventFlags struct {
	text                          string
	types, roles, tools, surfaces []string
	from, to                      int64
	since, until                  string
	limit                         int
	cursor                        string
}

func (a *app) eventsCommand() *cobra.Command {
	f := &eventFlags{}
	cmd := &cobra.Command{
		Use:               "events SESSION",
		Short:             "List the events of a session, one a line",
		Long:              eventsHelp,
		Example:           eventsExamples,
		Args:              oneSession,
		ValidArgsFunction: a.completeSession,
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.text, "text", "t", "", "only events with this text, literally; case and white space do not matter")
	flags.StringSliceVar(&f.types, "type", nil, "only these kinds of events, such as tool/call")
	flags.StringSliceVar(&f.roles, "role", nil, "only these: user, assistant, tool, system, unknown")
	flags.StringSliceVar(&f.tools, "tool", nil, "only calls of these tools, and their output")
	flags.StringSliceVar(&f.surfaces, "surface", nil, "only these: current (the model still sees it), shadowed, log-only")
	flags.Int64Var(&f.from, "from", 0, "not before the event with this number")
	flags.Int64Var(&f.to, "to", 0, "not after the event with this number")
	flags.StringVar(&f.since, "since", "", "not older than: 12h, 7d, 2w, today, 2026-11-01 or 2026-11-01T09:00:00Z")
	flags.StringVar(&f.until, "until", "", "not newer than, in the same forms")
	flags.IntVarP(&f.limit, "limit", "n", contract.DefaultReadLimit, fmt.Sprintf("events on a page, 1 to %d", contract.MaxReadLimit))
	flags.StringVar(&f.cursor, "cursor", "", "go on after a page: the cursor it ended with")
	a.complete(cmd, "type", eventTypes()...)
	a.complete(cmd, "role", "user", "assistant", "tool", "system", "unknown")
	a.complete(cmd, "surface", "current", "shadowed", "log-only")
	a.complete(cmd, "since", "1h", "12h", "today", "7d")
	a.complete(cmd, "until", "1h", "12h", "today", "7d")
	for _, free := range []string{"text", "tool", "from", "to", "limit", "cursor"} {
		a.complete(cmd, free)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		more, err := a.eventsRequest(cmd, f)
		if err != nil {
			return err
		}
		return a.onSession(func(ctx context.Context, service Service, _ contract.Header, request map[string]any) error {
			for key, value := range more {
				request[key] = value
			}
			return a.events(ctx, service, request, f)
		})(cmd, args)
	}
	return a.hostFlag(a.pagerFlag(a.jsonFlag(cmd)))
}

// eventTypes are the kinds of events that all agents share.
func eventTypes() []string {
	return []string{
		"user/message", "assistant/message", "assistant/reasoning", "tool/call", "tool/result", "todo/write", "turn/start", "turn/end",
		"session/title", "session/meta", "compaction/summary", "compaction/boundary", "request/context", "system/message", "other",
	}
}

// eventsRequest makes the contract's request of the flags, but for the session.
func (a *app) eventsRequest(cmd *cobra.Command, f *eventFlags) (map[string]any, error) {
	flags := cmd.Flags()
	request, filters := map[string]any{"limit": f.limit}, map[string]any{}
	for _, list := range []struct {
		flag, field string
		values      []string
	}{{"type", "types", f.types}, {"role", "roles", f.roles}, {"tool", "tools", f.tools}, {"surface", "surfaces", f.surfaces}} {
		if flags.Changed(list.flag) {
			filters[list.field] = list.values
		}
	}
	seq, span := map[string]any{}, map[string]any{}
	for _, bound := range []struct {
		flag  string
		value int64
	}{{"from", f.from}, {"to", f.to}} {
		if flags.Changed(bound.flag) {
			seq[bound.flag] = bound.value
		}
	}
	for _, bound := range []struct {
		flag, field string
		value       *string
	}{{"since", "from", &f.since}, {"until", "to", &f.until}} {
		if !flags.Changed(bound.flag) {
			continue
		}
		m, ok := contract.ParseMoment(*bound.value)
		if !ok {
			return nil, usage("", "--%s: %q is no time; allowed: %s", bound.flag, cleanLine(*bound.value), contract.MomentForms)
		}
		at := contract.InstantOf(m.At(a.opts.Now(), bound.flag == "until"))
		*bound.value = at.String() // the next page is of the same span
		span[bound.field] = at
	}
	if len(seq) > 0 {
		filters["seq"] = seq
	}
	if len(span) > 0 {
		filters["time"] = span
	}
	if len(filters) > 0 {
		request["filters"] = filters
	}
	if flags.Changed("text") {
		request["text"] = f.text
	}
	if flags.Changed("cursor") {
		request["cursor"] = f.cursor
	}
	return request, nil
}

// events prints a page of events. With a text the events that have it are asked for;
// else all, and then the texts of those that have any.
func (a *app) events(ctx context.Context, service Service, request map[string]any, f *eventFlags) error {
	command := "listEvents"
	if _, filtered := request["text"]; filtered {
		command = "filterEvents"
	}
	var page contract.EventPage
	raw, err := a.ask(ctx, service, command, request, &page)
	if err != nil {
		return err
	}
	switch {
	case a.asJSON:
		a.print(raw)
	default:
		texts, err := a.texts(ctx, service, request, page.Events)
		if err != nil {
			return err
		}
		a.paged(func() { a.screen.eventTable(page, texts, f) })
	}
	if len(page.Events) == 0 {
		return silent(ExitNoMatch)
	}
	return nil
}

// firstLines are what is shown of an event's text, each one line.
type firstLines struct{ tool, text string }

// texts finds what to show of each event's text.
func (a *app) texts(ctx context.Context, service Service, request map[string]any, events []contract.EventRecord) (map[int64]firstLines, error) {
	texts := make(map[int64]firstLines, len(events))
	wanted, _ := request["text"].(string)
	keep := func(list []contract.EventRecord) {
		for _, e := range list {
			if e.Text != nil {
				texts[e.Seq] = beginning(e, wanted)
			}
		}
	}
	if len(events) == 0 {
		return texts, nil
	}
	if events[0].Text != nil {
		keep(events)
		return texts, nil
	}
	filters := map[string]any{}
	if given, ok := request["filters"].(map[string]any); ok {
		for key, value := range given {
			filters[key] = value
		}
	}
	filters["seq"] = map[string]any{"from": events[0].Seq, "to": events[len(events)-1].Seq}
	next := a.onHost(map[string]any{"sessionId": request["sessionId"], "agent": request["agent"], "filters": filters, "limit": contract.MaxReadLimit})
	for {
		var page contract.EventPage
		if _, err := a.ask(ctx, service, "filterEvents", next, &page); err != nil {
			return nil, err
		}
		keep(page.Events)
		if page.Page.Cursor == nil {
			return texts, nil
		}
		next["cursor"] = *page.Page.Cursor
	}
}

// maxBeginning is how much of a text is looked at for its first lines, in bytes.
const maxBeginning = 4 << 10

// beginning takes an event's text apart: its first line, or the one with the text
// that is wanted. The text of a call begins with a line that is the tool's name.
func beginning(e contract.EventRecord, wanted string) firstLines {
	var out firstLines
	head := *e.Text
	if len(head) > maxBeginning {
		head = strings.ToValidUTF8(head[:maxBeginning], "")
	}
	lines := nonBlank(strings.Split(clean(head), "\n"))
	if e.Type == "tool/call" && len(lines) > 0 {
		if name := strings.TrimSpace(lines[0]); !strings.ContainsAny(name, " \u00a0") {
			out.tool, lines = name, lines[1:]
		}
	}
	if len(lines) > 0 {
		out.text = cleanLine(lines[0])
	}
	if wanted != "" {
		if line, found := lineWith(*e.Text, wanted); found {
			out.text = line
		}
	}
	return out
}

// matchAt is the column at which a match in a long line is shown.
const matchAt = 20

// lineWith finds the first line of a text that has another text, and cuts its
// beginning so that the match is in sight. That it reaches over the end of a line, or
// differs in more than the case of letters, is not seen here.
func lineWith(s, wanted string) (line string, found bool) {
	wanted = strings.ToLower(cleanLine(wanted))
	for part := range strings.SplitSeq(s, "\n") {
		line := cleanLine(part)
		lower := strings.ToLower(line)
		at := strings.Index(lower, wanted)
		if at < 0 {
			continue
		}
		if at > 2*matchAt && len(lower) == len(line) {
			line = "…" + strings.ToValidUTF8(line[at-matchAt:], "")
		}
		if len(line) > maxBeginning {
			line = strings.ToValidUTF8(line[:maxBeginning], "") + "…"
		}
		return line, true
	}
	return "", false
}

// eventTable prints a page of events: aligned for people, a line of columns with tabs
// between them for a program.
func (s *screen) eventTable(page contract.EventPage, texts map[int64]firstLines, f *eventFlags) {
	if s.pretty {
		s.prettyEvents(page, texts)
	} else {
		for _, e := range page.Events {
			t := texts[e.Seq]
			s.row(fmt.Sprint(e.Seq), stamp(e.Time), string(e.Surface), string(e.Role), e.Type, t.tool, t.text)
		}
	}
	tail := *s
	if !s.pretty {
		tail.out, tail.colour = s.err, s.errColour
	}
	if len(page.Events) == 0 {
		tail.line(span{"no event matches", bold})
	}
	if page.Page.HasMore && page.Page.Cursor != nil {
		again := "more: the same command with "
		for _, bound := range []struct{ flag, value string }{{"--since ", f.since}, {"--until ", f.until}} {
			if bound.value != "" {
				again += bound.flag + bound.value + " "
			}
		}
		tail.line(span{again + "--cursor " + cleanLine(*page.Page.Cursor), dim})
	}
}

// Widest columns of the table; what is wider is cut.
const (
	widestType = 20
	widestTool = 24
)

// prettyEvents is the table for people. A date stands where it changes, so that there
// is room for the text.
func (s *screen) prettyEvents(page contract.EventPage, texts map[int64]firstLines) {
	if len(page.Events) == 0 {
		return
	}
	number := len(thousands(page.Events[len(page.Events)-1].Seq))
	kind, surface, clock := 0, 0, 0
	for _, e := range page.Events {
		kind = min(max(kind, textWidth(cleanLine(eventKind(e)))), widestType)
		if e.Surface != contract.SurfaceCurrent {
			surface = max(surface, textWidth(cleanLine(string(e.Surface)))+2)
		}
		if e.Time != nil {
			clock = len("15:04:05") + 2
		}
	}
	for _, line := range wrap([]span{{cleanLine(page.Session.Title), bold}}, s.width, 1) {
		s.line(line...)
	}
	day := ""
	for _, e := range page.Events {
		at := ""
		if e.Time != nil && e.Time.String() != "" {
			when := e.Time.Time().In(s.now.Location())
			if today := when.Format("2006-01-02"); today != day {
				day = today
				s.line(span{day, accent})
			}
			at = when.Format("15:04:05")
		}
		look, mark := kindStyle(e), ""
		if e.Surface != contract.SurfaceCurrent {
			mark, look = cleanLine(string(e.Surface)), dim
		}
		seq := thousands(e.Seq)
		spans := []span{
			{strings.Repeat(" ", number-len(seq)) + seq + "  ", dim}, {pad(at, clock), dim},
			{pad(truncate(cleanLine(eventKind(e)), kind), kind) + "  ", look}, {pad(mark, surface), dim},
		}
		room := s.width - number - 2 - clock - kind - 2 - surface
		t := texts[e.Seq]
		if t.tool != "" {
			name := truncate(t.tool, min(widestTool, max(room, 8)))
			spans = append(spans, span{name + "  ", toolStyle})
			room -= textWidth(name) + 2
		}
		textLook := plainStyle
		if look == dim || e.Role == contract.RoleTool {
			textLook = dim
		}
		if t.text == "" && t.tool == "" && e.RawType != e.Type {
			// The agent's own word is all there is to see.
			t.text, textLook = cleanLine(e.RawType), dim
		}
		spans = append(spans, span{truncate(t.text, max(room, 0)), textLook})
		s.line(trimRight(spans)...)
	}
	s.say("")
}

// eventKind is the type of an event, with its role where that does not follow.
func eventKind(e contract.EventRecord) string {
	switch before, _, _ := strings.Cut(e.Type, "/"); {
	case e.Type == "tool/call" && e.Role == contract.RoleAssistant, before == string(e.Role), e.Role == contract.RoleUnknown,
		e.Role == contract.RoleSystem:
		return e.Type
	}
	return strings.TrimPrefix(e.Type+" "+string(e.Role), " ")
}

func kindStyle(e contract.EventRecord) style {
	switch {
	case e.Type == "tool/call":
		return toolStyle
	case e.Role == contract.RoleUser:
		return userStyle
	case e.Role == contract.RoleAssistant:
		return agentStyle
	}
	return dim
}

// trimRight takes white space away from the end of a line.
func trimRight(spans []span) []span {
	for len(spans) > 0 {
		last := &spans[len(spans)-1]
		if last.text = strings.TrimRight(last.text, " "); last.text != "" {
			break
		}
		spans = spans[:len(spans)-1]
	}
	return spans
}
