package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sessionls/sessionls/contract"
)

// showResults prints a page of sessions.
func (a *app) showResults(r *contract.SearchResults, status contract.Status, f *searchFlags) {
	s := a.screen
	for i, hit := range r.Hits {
		if s.pretty {
			s.prettyHit(i+1, hit)
		} else {
			s.hitRow(hit)
		}
	}
	// Into a pipe go the hits alone.
	tail := *s
	if !s.pretty {
		tail.out, tail.colour = s.err, s.errColour
	}
	tail.summary(r, f)
	if status.Writer == contract.WriterOther && !f.fresh && (s.pretty || s.errTerminal) {
		s.note("another sessionls is reading transcripts right now; --fresh waits for it")
	}
}

// hitRow is a hit as one line of columns with tabs between them: agent:id, time,
// project, title, role#seq, snippet, and the host if it is another one. The form is
// stable; a column is never empty.
func (s *screen) hitRow(hit contract.Hit) {
	where, snippet := "-", "-"
	if e := hit.Evidence; e != nil {
		where = evidencePlace(e)
		snippet = cleanLine(unmarked(e))
	}
	columns := []string{hit.Agent + ":" + hit.SessionID, stamp(hit.UpdatedAt), project(hit.Cwd), cleanLine(hit.Title), where, snippet}
	if !hit.ExecutionHostID.IsLocal() {
		columns = append(columns, string(hit.ExecutionHostID))
	}
	s.row(columns...)
}

// evidencePlace says where in the session the evidence is.
func evidencePlace(e *contract.Evidence) string {
	switch e.Type {
	case contract.TypeSessionTitle:
		return "title"
	case contract.TypeSessionBranch:
		return "branch"
	case contract.TypeSessionCwd:
		return "project"
	}
	place := cleanLine(string(e.Role))
	if e.Seq != nil {
		place += fmt.Sprintf("#%d", *e.Seq)
	}
	return place
}

const indent = "    "

// prettyHit is a hit for people: title, facts, snippet, what to do next.
func (s *screen) prettyHit(n int, hit contract.Hit) {
	body := s.width - len(indent)

	title := []span{{cleanLine(hit.Title), bold}}
	e := hit.Evidence
	inTitle := e != nil && e.Type == contract.TypeSessionTitle
	if inTitle {
		title = snippetSpans(e, bold)
	}
	for i, line := range wrap(title, body, 2) {
		lead := span{text: indent}
		if i == 0 {
			lead = span{fmt.Sprintf("%2d  ", n), accent}
			if n > 99 {
				lead.text = fmt.Sprintf("%d ", n)
			}
		}
		s.line(append([]span{lead}, line...)...)
	}
	for _, line := range wrap(s.facts(hit), body, 2) {
		s.line(append([]span{{text: indent}}, line...)...)
	}
	if e != nil {
		if !inTitle {
			for _, line := range wrap(snippetSpans(e, plainStyle), body, 4) {
				s.line(append([]span{{text: indent}}, line...)...)
			}
		}
		s.line(span{text: indent}, span{truncate(s.evidenceNote(hit), body), dim})
	}
	switch {
	case hit.ResumeCommand != "":
		// Not cut: it is there to be copied.
		s.line(span{text: indent}, span{"↳ " + resumeLine(hit), dim})
	default:
		next := "↳ sessionls show " + cleanLine(hit.Agent) + ":" + cleanLine(hit.SessionID)
		if !hit.ExecutionHostID.IsLocal() {
			next += " --host " + shellWord(cleanLine(string(hit.ExecutionHostID)))
		}
		s.line(span{text: indent}, span{next, dim})
	}
	s.say("")
}

// resumeLine is the command that continues a session, in its folder: most agents
// look for a session where they are started.
func resumeLine(hit contract.Hit) string {
	command := cleanLine(hit.ResumeCommand)
	dir := text(hit.Cwd)
	if !strings.HasPrefix(dir, "/") || cleanLine(dir) != dir || !hit.ExecutionHostID.IsLocal() {
		return command // a folder of another system, or one that is not safe to paste
	}
	return "cd " + shellWord(dir) + " && " + command
}

// shellSafe are the characters that no POSIX shell takes for itself.
var shellSafe = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// shellWord quotes a word for a POSIX shell.
func shellWord(s string) string {
	if shellSafe.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// facts are agent, project, branch, age, number of messages, and badges.
func (s *screen) facts(hit contract.Hit) []span {
	spans := []span{{cleanLine(hit.Agent), accent}}
	add := func(text string, look style) {
		if text != "" {
			spans = append(spans, span{" · ", dim}, span{text, look})
		}
	}
	if !hit.ExecutionHostID.IsLocal() {
		add(cleanLine(string(hit.ExecutionHostID)), plainStyle)
	}
	add(truncate(project(hit.Cwd), 40), plainStyle)
	add(truncate(cleanLine(text(hit.Branch)), 40), plainStyle)
	if hit.UpdatedAt != nil {
		add(contract.Age(hit.UpdatedAt.Time(), s.now), plainStyle)
	}
	add(count(hit.MessageCount, "message", "messages"), plainStyle)
	for _, b := range badges(hit) {
		spans = append(spans, span{text: " "}, b)
	}
	return spans
}

// badges tell what is unusual about a session.
func badges(hit contract.Hit) []span {
	var out []span
	add := func(word string, look style) { out = append(out, span{"[" + word + "]", look}) }
	if hit.Active {
		add("active", good)
	}
	switch hit.Relation {
	case contract.RelationRoot, "":
	default:
		add(cleanLine(string(hit.Relation)), toolStyle)
	}
	if hit.Automated {
		add("automated", toolStyle)
	}
	switch hit.Source.Presence {
	case contract.PresenceMissing:
		add("transcript gone, kept copy", warn)
	case contract.PresenceUnverifiable:
		add("unverifiable", warn)
	}
	if hit.DuplicateCount > 0 {
		add("+"+count(hit.DuplicateCount, "copy", "copies"), dim)
	}
	return out
}

// evidenceNote says where the snippet stands, and how much more there is.
func (s *screen) evidenceNote(hit contract.Hit) string {
	e := hit.Evidence
	parts := []string{strings.Replace(evidencePlace(e), "#", " #", 1)}
	if e.Role == contract.RoleUnknown && e.Seq == nil {
		parts[0] = "match in " + parts[0]
	}
	if e.Surface == contract.SurfaceShadowed {
		parts[0] += " (compacted or rewound)"
	}
	if when := localTime(e.Timestamp, s.now); when != "" {
		parts = append(parts, when)
	}
	if hit.MatchCount > 1 {
		parts = append(parts, count(hit.MatchCount, "match", "matches"))
	}
	return strings.Join(parts, " · ")
}

// summary is what comes after the hits: the total and what to know about it.
func (s *screen) summary(r *contract.SearchResults, f *searchFlags) {
	total := count(r.Total.Sessions, "session", "sessions")
	switch {
	case r.Total.Sessions == 0 && len(r.Hits) == 0:
		total = "no session matches"
	case !r.Total.Exact:
		total = "at least " + total
	}
	spans := []span{{total, bold}}
	if r.DurationMs > 0 && s.pretty {
		spans = append(spans, span{fmt.Sprintf("  (%.0f ms)", max(r.DurationMs, 1)), dim})
	}
	s.line(spans...)
	if note := routeNote(r.Debug); note != "" && len(r.Hits) > 0 {
		s.line(span{note, dim})
	}
	for _, d := range r.Diagnostics {
		s.line(span{"! ", warn}, span{text: cleanLine(d.Message)})
		s.pointAt(f.query, d)
	}
	if r.Truncated.Query && len(r.Diagnostics) == 0 { // else a remark says where
		s.line(span{"! ", warn}, span{text: "the query is too long; its end was not used"})
	}
	if r.Truncated.Freshness {
		s.line(span{"! ", warn}, span{text: "not everything new was read in time; `sessionls index` reads the rest"})
	}
	if r.Page.HasMore && r.Page.Cursor != nil {
		s.line(span{"more: the same command with --cursor " + cleanLine(*r.Page.Cursor), dim})
	}
	if f.debug && r.Debug != nil {
		s.account(r)
	}
}

// routeNote tells when the words were not taken as they were typed.
func routeNote(d *contract.Debug) string {
	if d == nil {
		return ""
	}
	route := string(d.Route)
	var note string
	if rest, repaired := strings.CutPrefix(route, "typo+"); repaired {
		route = rest
		note = "searched for “" + cleanLine(strings.Join(d.RepairedTerms, " ")) + "” instead; "
	}
	switch contract.Route(route) {
	case contract.RouteOr:
		note += "no session has all the words; these have some of them"
	case contract.RouteSubstring:
		note += "found inside longer words"
	}
	return strings.TrimSuffix(note, "; ")
}

// snippetSpans cuts a snippet at its marks. Only marks count: brackets that the text
// itself holds stay text.
func snippetSpans(e *contract.Evidence, base style) []span {
	var out []span
	for _, piece := range e.Pieces() {
		look := base
		if piece.Marked {
			look = marked
		}
		// White space between two pieces must not be lost, so it is flattened
		// piece by piece.
		if text := flatten(clean(piece.Text)); text != "" {
			out = append(out, span{text, look})
		}
	}
	if len(out) > 0 {
		out[0].text = strings.TrimLeft(out[0].text, " ")
		out[len(out)-1].text = strings.TrimRight(out[len(out)-1].text, " ")
	}
	return out
}

// flatten makes every run of white space one space.
func flatten(s string) string {
	joined := strings.Join(strings.Fields(s), " ")
	if s == "" {
		return ""
	}
	if joined == "" {
		return " "
	}
	if strings.TrimLeft(s, " \n") != s {
		joined = " " + joined
	}
	if strings.TrimRight(s, " \n") != s {
		joined += " "
	}
	return joined
}

// unmarked is a snippet without the brackets around its marks.
func unmarked(e *contract.Evidence) string {
	var out strings.Builder
	for _, piece := range e.Pieces() {
		out.WriteString(piece.Text)
	}
	return out.String()
}
