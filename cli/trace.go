package cli

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

func (a *app) traceCommand() *cobra.Command {
	event := ""
	cmd := &cobra.Command{
		Use:               "trace SESSION",
		Short:             "Tell where a session came from and what came from it; the same of an event",
		Long:              traceHelp,
		Example:           traceExamples,
		Args:              oneSession,
		ValidArgsFunction: a.completeSession,
	}
	cmd.RunE = a.onSession(func(ctx context.Context, service Service, _ contract.Header, request map[string]any) error {
		if cmd.Flags().Changed("event") {
			return a.traceEvent(ctx, service, request, event)
		}
		return a.traceSession(ctx, service, request)
	})
	cmd.Flags().StringVarP(&event, "event", "e", "", "trace this event: its number, or the agent's own id of it")
	a.complete(cmd, "event")
	return a.hostFlag(a.pagerFlag(a.jsonFlag(cmd)))
}

func (a *app) traceSession(ctx context.Context, service Service, request map[string]any) error {
	var family contract.TraceSessionResponse
	if done, err := a.answered(ctx, service, "traceSession", request, &family); done || err != nil {
		return err
	}
	a.paged(func() {
		if a.screen.pretty {
			a.screen.family(family)
		} else {
			a.screen.familyRows(family)
		}
	})
	return nil
}

// familyRows prints a line for each session, the eldest first: depth (0 is the one
// asked for, its parent -1), relation, agent:id, when it was begun, title.
func (s *screen) familyRows(f contract.TraceSessionResponse) {
	row := func(depth int, h contract.Header) {
		s.row(fmt.Sprint(depth), string(h.Relation), h.Agent+":"+h.SessionID, stamp(h.CreatedAt), h.Title)
	}
	for i, h := range slices.Backward(f.Ancestors) {
		row(-i-1, h)
	}
	row(0, f.Target)
	var below func(nodes []contract.LineageNode)
	below = func(nodes []contract.LineageNode) {
		for _, n := range nodes {
			row(n.Depth, n.Session)
			below(n.Descendants)
		}
	}
	below(f.Descendants)
	for _, d := range f.Deeper {
		row(d.Depth, d.Session)
	}
	tail := *s
	tail.out, tail.colour = s.err, s.errColour
	tail.familyNotes(f)
}

// What a tree shows at most. What is cut is counted.
const (
	eldestShown   = 2  // ancestors from the root on
	siblingsShown = 20 // children of one session
)

// levels is how many levels a tree shows on either side of the session: each takes
// three columns, and more than half of the line is for the sessions themselves.
func (s *screen) levels() int { return max(s.width/14, 2) }

// family prints the tree: ancestors above the session, descendants below.
func (s *screen) family(f contract.TraceSessionResponse) {
	t := tree{screen: s, id: f.Target.SessionID}
	nearest := max(s.levels()-eldestShown-1, 1)
	depth, parent := 0, ""
	up := func(h contract.Header) {
		t.node(stem(depth), h, parent)
		depth, parent = depth+1, h.SessionID
	}
	ancestors := slices.Clone(f.Ancestors)
	slices.Reverse(ancestors)
	if f.UnresolvedParentID != nil {
		s.line(span{"? " + cleanLine(*f.UnresolvedParentID), warn}, span{"  not among the sessions known here", dim})
		depth++
	}
	if cut := len(ancestors) - eldestShown - nearest; cut > 1 {
		for _, h := range ancestors[:eldestShown] {
			up(h)
		}
		s.line(span{stem(depth) + "… " + count(cut, "session", "sessions") + " between", dim})
		depth++
		ancestors = ancestors[eldestShown+cut:]
	}
	for _, h := range ancestors {
		up(h)
	}
	t.node(stem(depth), f.Target, parent)
	margin := ""
	if depth > 0 {
		margin = strings.Repeat("   ", depth)
	}
	t.below(margin, f.Target.SessionID, f.Descendants, 1)
	if n := len(f.Deeper); n > 0 {
		s.line(span{margin + "   … " + count(n, "session", "sessions") + " below level " + fmt.Sprint(contract.MaxNesting), dim})
	}
	s.familyNotes(f)
}

// familyNotes tells what a family is not.
func (s *screen) familyNotes(f contract.TraceSessionResponse) {
	var notes []string
	if !s.pretty && f.UnresolvedParentID != nil {
		notes = append(notes, "the parent is not known here: "+*f.UnresolvedParentID)
	}
	if f.Truncated {
		notes = append(notes, "there are more sessions than an answer holds")
	}
	notes = append(notes, f.Target.Warnings...)
	alone := s.pretty && len(f.Ancestors)+len(f.Descendants) == 0 && f.UnresolvedParentID == nil
	if s.pretty && (alone || len(notes) > 0) {
		s.say("")
	}
	if alone {
		s.line(span{"nothing came before it, and nothing came from it", dim})
	}
	s.warnings(notes)
}

// stem is what leads to an only child at a depth.
func stem(depth int) string {
	if depth == 0 {
		return ""
	}
	return strings.Repeat("   ", depth-1) + "└─ "
}

// tree prints sessions with branches before them.
type tree struct {
	*screen
	id string // of the session asked for
}

// node prints a session on one line. parent is the id it stands below.
func (t *tree) node(branch string, h contract.Header, parent string) {
	id := truncate(cleanLine(shortID(h.SessionID)), 48)
	if rest, ok := strings.CutPrefix(h.SessionID, parent+"#"); ok && parent != "" {
		id = "…#" + truncate(cleanLine(rest), 46)
	}
	facts := []string{}
	if h.Relation != contract.RelationRoot {
		facts = append(facts, cleanLine(string(h.Relation)))
	}
	if h.CreatedAt != nil {
		facts = append(facts, contract.Age(h.CreatedAt.Time(), t.now))
	}
	if h.Presence == contract.PresenceMissing {
		facts = append(facts, "transcript gone")
	}
	about := joinKnown(append(facts, id), " · ")
	look, mark := plainStyle, span{"○ ", dim}
	if h.SessionID == t.id {
		look, mark = bold, span{"● ", marked}
	}
	room := max(t.width-textWidth(branch)-textWidth(mark.text)-textWidth(about)-2, 10)
	t.line(span{branch, dim}, mark, span{truncate(cleanLine(h.Title), room), look}, span{"  " + about, dim})
}

// uuid is the form of most agents' ids.
var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// shortID is enough of an id to name the session: of those that begin with the time
// it is known to the millisecond.
func shortID(id string) string {
	if uuid.MatchString(id) {
		return id[:13]
	}
	return id
}

// below prints the children of a session, and theirs.
func (t *tree) below(margin, parent string, nodes []contract.LineageNode, level int) {
	if len(nodes) == 0 {
		return
	}
	if level > t.levels() {
		t.line(span{margin + "└─ … " + count(sizeOf(nodes), "more session", "more sessions") + " below", dim})
		return
	}
	shown, left := nodes, 0
	if len(nodes) > siblingsShown+1 {
		shown = nodes[:siblingsShown]
		left = sizeOf(nodes[siblingsShown:])
	}
	for i, n := range shown {
		branch, next := "├─ ", "│  "
		if i == len(shown)-1 && left == 0 {
			branch, next = "└─ ", "   "
		}
		t.node(margin+branch, n.Session, parent)
		t.below(margin+next, n.Session.SessionID, n.Descendants, level+1)
	}
	if left > 0 {
		t.line(span{margin + "└─ … " + count(left, "more session", "more sessions"), dim})
	}
}

// sizeOf counts nodes and what is below them.
func sizeOf(nodes []contract.LineageNode) int {
	n := len(nodes)
	for _, x := range nodes {
		n += sizeOf(x.Descendants)
	}
	return n
}

func (a *app) traceEvent(ctx context.Context, service Service, request map[string]any, event string) error {
	id, byID := strings.CutPrefix(event, "id:")
	if seq, err := strconv.ParseInt(event, 10, 64); err == nil && !byID {
		request["seq"] = seq
	} else if id == "" {
		return usage("", "--event: the number of an event, or the agent's own id of it, is required")
	} else {
		request["eventId"] = id
	}
	var trace contract.TraceEventResponse
	if done, err := a.answered(ctx, service, "traceEvent", request, &trace); done || err != nil {
		return err
	}
	if !a.screen.pretty {
		a.screen.traceRows(trace)
		return nil
	}
	// The text is worth showing, and not worth failing for.
	var target contract.ReadEventResponse
	delete(request, "eventId")
	request["seq"] = trace.Target.Seq
	if _, err := a.ask(ctx, service, "readEvent", request, &target); err == nil {
		trace.Target.Text = target.Target.Text
	}
	a.paged(func() { a.screen.trace(trace) })
	return nil
}

// links are what an event has to do with others, in the order in which they are told.
func links(t contract.TraceEventResponse) []struct {
	name, label string
	seqs        []int64
} {
	return []struct {
		name, label string
		seqs        []int64
	}{
		{"replaced-by", "replaced by", t.ReplacementChain},
		{"replaces", "replaces", t.ReplacedEventSeqs},
		{"made-from", "made from", t.SourceEventSeqs},
		{"led-to", "led to", t.DerivedEventSeqs},
	}
}

// traceRows prints a line for each link: what it is and the other event's number, or
// session and number for an event of another session.
func (s *screen) traceRows(t contract.TraceEventResponse) {
	for _, l := range links(t) {
		for _, seq := range l.seqs {
			s.row(l.name, fmt.Sprint(seq))
		}
	}
	if from := t.InheritedFrom; from != nil {
		s.row("inherited-from", fmt.Sprintf("%s:%s", t.Session.Agent, from.SessionID), fmt.Sprint(from.Seq))
	}
	tail := *s
	tail.out, tail.colour = s.err, s.errColour
	tail.traceNotes(t)
}

// trace prints an event and how it stands to others.
func (s *screen) trace(t contract.TraceEventResponse) {
	for _, line := range wrap([]span{{cleanLine(t.Session.Title), bold}}, s.width, 1) {
		s.line(line...)
	}
	s.say("")
	body := ""
	if t.Target.Text != nil {
		body = strings.TrimSpace(clean(*t.Target.Text))
	}
	const lines = 6
	if all := nonBlank(strings.Split(body, "\n")); len(all) > lines {
		body = strings.Join(append(all[:lines:lines], "… "+count(len(all)-lines, "more line", "more lines")), "\n")
	}
	s.event(t.Target, body, true, false)
	none := true
	for _, l := range links(t) {
		if len(l.seqs) == 0 {
			continue
		}
		none = false
		body := ranges(l.seqs)
		if l.name == "replaced-by" {
			parts := make([]string, 0, len(l.seqs))
			for _, seq := range l.seqs[:min(len(l.seqs), rangesShown)] {
				parts = append(parts, fmt.Sprintf("#%d", seq))
			}
			body = strings.Join(parts, ", which was replaced by ")
			if left := len(l.seqs) - rangesShown; left > 0 {
				body += fmt.Sprintf(", and so on %s", count(left, "more time", "more times"))
			}
		}
		s.paragraph([]span{{pad(l.label, 16), accent}}, strings.Repeat(" ", 16), span{text: body})
	}
	if from := t.InheritedFrom; from != nil {
		none = false
		s.paragraph([]span{{pad("inherited from", 16), accent}}, strings.Repeat(" ", 16),
			span{text: fmt.Sprintf("#%d of %s", from.Seq, cleanLine(t.Session.Agent+":"+from.SessionID))})
	}
	if none {
		s.line(span{"nothing replaced it, and no other event is recorded as made from it or as what it was made from", dim})
	}
	s.traceNotes(t)
}

func (s *screen) traceNotes(t contract.TraceEventResponse) {
	if t.DerivedProvenance {
		s.line(span{"some of this follows from the format and is not recorded as such", dim})
	}
	if t.Truncated {
		s.warnings([]string{"there are more links than an answer holds"})
	}
	s.warnings(t.Session.Warnings)
}

// rangesShown is how many stretches of events are listed.
const rangesShown = 12

// ranges writes positions, runs of them as one, such as "#1 to #40, #42 (41 events)".
func ranges(seqs []int64) string {
	var parts []string
	for i := 0; i < len(seqs); {
		j := i
		for j+1 < len(seqs) && seqs[j+1] == seqs[j]+1 {
			j++
		}
		if len(parts) == rangesShown {
			parts = append(parts, "… "+count(len(seqs)-i, "more event", "more events"))
			break
		}
		switch j - i {
		case 0:
			parts = append(parts, fmt.Sprintf("#%d", seqs[i]))
		case 1:
			parts = append(parts, fmt.Sprintf("#%d", seqs[i]), fmt.Sprintf("#%d", seqs[j]))
		default:
			parts = append(parts, fmt.Sprintf("#%d to #%d", seqs[i], seqs[j]))
		}
		i = j + 1
	}
	out := strings.Join(parts, ", ")
	if len(seqs) > 2 {
		out += " (" + count(len(seqs), "event", "events") + ")"
	}
	return out
}
