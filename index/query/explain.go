package query

import (
	"fmt"

	"github.com/sessionls/sessionls/contract"
)

// explain is the account of a search, with the hits of the page that begins at
// offset.
func (s *search) explain(hits []contract.Hit, offset int) *contract.Debug {
	scope := s.req.Scope
	if scope == "" {
		scope = contract.ScopeAll
	}
	repaired := s.plan.repaired()
	out := &contract.Debug{Route: s.route, RepairedTerms: repaired,
		PlannerReport: contract.PlannerReport{Route: s.route, RepairedTerms: repaired, Scope: scope, Timings: s.timings}}
	if s.matching == nil {
		return out
	}
	report := &out.PlannerReport
	report.Terms = s.matching.terms()
	for _, d := range s.matching.dates {
		report.Dates = append(report.Dates, d.String())
	}
	for i := range hits {
		report.Hits = append(report.Hits, s.matching.explain(&hits[i], s.ranked[offset+i]))
	}
	return out
}

// terms are the words with what was found of them.
func (m *matching) terms() []contract.TermReport {
	out := make([]contract.TermReport, 0, len(m.s.plan.words))
	for _, i := range m.s.plan.words {
		u := &m.s.plan.units[i]
		t := contract.TermReport{Text: u.word.Text, Stop: u.optional}
		if !u.optional {
			c := m.counts[i]
			t.Exact, t.Loose, t.Cut, t.RowWeight, t.SessionWeight = c.exact, c.loose, c.cut, m.idf[i], m.rarity[i]
			for _, f := range m.sessions {
				if f.units[i].exact+f.units[i].loose > 0 {
					t.Sessions++
				}
			}
		}
		out = append(out, t)
	}
	return out
}

// rowCount is how many rows were looked at for a unit.
type rowCount struct {
	exact, loose int
	cut          bool
}

func (m *matching) explain(h *contract.Hit, r *ranked) contract.HitReport {
	out := contract.HitReport{Agent: h.Agent, SessionID: h.SessionID, Step: r.parts.step.String(), Score: r.score}
	if len(r.rows) > 0 {
		out.Row = r.rows[0].row
	}
	for _, p := range []contract.ScorePart{
		{Name: "row", Value: r.parts.row}, {Name: "further rows", Value: r.parts.further}, {Name: "window", Value: r.parts.window},
		{Name: "session", Value: r.parts.session}, {Name: "date", Value: r.parts.date}, {Name: "recent", Value: r.parts.recent}, {Name: "exact", Value: r.parts.exact},
	} {
		if p.Value != 0 {
			out.Parts = append(out.Parts, p)
		}
	}
	for _, i := range m.s.plan.words {
		c := r.found.units[i]
		out.Held = append(out.Held, contract.TermCount{Exact: c.exact, Loose: c.loose})
	}
	return out
}

// String names the step.
func (t tier) String() string {
	switch t {
	case tierPhrase:
		return "phrase"
	case tierMessage:
		return "message"
	case tierSession:
		return "session"
	}
	return "some"
}

// String is the date in the manner of ISO 8601.
func (d date) String() string {
	switch {
	case d.month == 0:
		return fmt.Sprintf("%04d", d.year)
	case d.year == 0 && d.day == 0:
		return fmt.Sprintf("--%02d", d.month)
	case d.year == 0:
		return fmt.Sprintf("--%02d-%02d", d.month, d.day)
	case d.day == 0:
		return fmt.Sprintf("%04d-%02d", d.year, d.month)
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.year, d.month, d.day)
}
