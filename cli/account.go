package cli

import (
	"fmt"
	"strings"

	"github.com/sessionls/sessionls/contract"
)

// account tells how a search was answered: what was looked for, how common it is,
// and what each hit's score is made of.
func (s *screen) account(r *contract.SearchResults) {
	p := &r.Debug.PlannerReport
	line := func(format string, args ...any) { s.line(span{"debug: " + fmt.Sprintf(format, args...), dim}) }
	timings := make([]string, 0, len(p.Timings))
	for _, t := range p.Timings {
		timings = append(timings, fmt.Sprintf("%s %.1f ms", cleanLine(t.Step), t.Ms))
	}
	line("route %s; generation %d; %s", cleanLine(string(r.Debug.Route)), r.Generation, strings.Join(timings, ", "))
	names := make([]string, len(p.Terms))
	for i, t := range p.Terms {
		names[i] = truncate(cleanLine(t.Text), 40)
		if t.Stop {
			line("  %s: in the phrase only", names[i])
			continue
		}
		more := ""
		if t.Cut {
			more = " and more"
		}
		line("  %s: %d rows, %d with other forms%s; %s; weight %.1f among rows, %.1f among sessions",
			names[i], t.Exact, t.Loose, more, count(t.Sessions, "session", "sessions"), t.RowWeight, t.SessionWeight)
	}
	if len(p.Dates) > 0 {
		line("  dates: %s", cleanLine(strings.Join(p.Dates, ", ")))
	}
	for i, h := range p.Hits {
		parts := make([]string, len(h.Parts))
		for k, x := range h.Parts {
			parts[k] = fmt.Sprintf("%s %.2f", cleanLine(x.Name), x.Value)
		}
		line("%2d. %s:%s: %s %.4f = %s", i+1, cleanLine(h.Agent), truncate(cleanLine(h.SessionID), 13), cleanLine(h.Step), h.Score, strings.Join(parts, ", "))
		held := make([]string, 0, len(h.Held))
		for k, c := range h.Held[:min(len(h.Held), len(names))] {
			if c.Exact+c.Loose > 0 {
				held = append(held, fmt.Sprintf("%s %d+%d", names[k], c.Exact, c.Loose))
			}
		}
		line("    row %d; rows with the word + other forms: %s", h.Row, strings.Join(held, ", "))
	}
}
