package query

import (
	"slices"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// conditions are the filters of a request and the operators of its query,
// apart by what they are held against.
type conditions struct {
	sessions []store.Filter // each must pass
	events   events
	any      bool // there is a clause or operator: no text then lists sessions
}

// events are the conditions on the event that gives the evidence.
type events struct {
	types, tools []string
	roles        [][]contract.Role // each list must hold the role
	toolLists    [][]string        // of operators: each must match
	surfaces     []contract.Surface
	seq          *contract.SeqRange
	time         *contract.InstantRange
}

// restricts reports whether any event is ruled out.
func (e *events) restricts() bool {
	return e.types != nil || e.tools != nil || len(e.roles) > 0 || len(e.toolLists) > 0 || e.deep()
}

// deep reports whether the event itself must be read to tell, or what a title's
// row holds.
func (e *events) deep() bool {
	return e.surfaces != nil || e.seq != nil || e.time != nil || e.someHeads()
}

// headTypes are the types of evidence that the row of a session's title gives:
// it holds all three, under the first.
var headTypes = [...]string{transcript.TypeTitle, "session/branch", "session/cwd"}

// wants reports whether evidence of a type counts.
func (e *events) wants(kind string) bool { return e.types == nil || slices.Contains(e.types, kind) }

// someHeads reports whether one of title, branch and project counts, but not
// each.
func (e *events) someHeads() bool {
	n := 0
	for _, t := range headTypes {
		if e.wants(t) {
			n++
		}
	}
	return n > 0 && n < len(headTypes)
}

// marked are the types by which the wanted rows are marked, nil for any.
func (e *events) marked() []string {
	if !e.wants(headTypes[0]) && e.someHeads() {
		return append(slices.Clone(e.types), headTypes[0])
	}
	return e.types
}

func newConditions(f contract.Filters, o *operators, clock time.Time, pathOfFile bool) conditions {
	c := conditions{any: f.HasClause() || o.any}
	base := store.Filter{
		Agents: f.Agents, IDs: f.SessionIDs, CWDs: f.Cwds, Parents: f.Parents, Active: f.Active, Automated: f.Automated,
		Branches: f.Branches, Models: f.Models, Files: f.Files, ActiveSince: clock.Add(-store.ActiveFor),
		Since: timeOf(f.Since), Until: timeOf(f.Until), Presence: words(f.Presence), Relations: words(f.Relations), PathOfFile: pathOfFile,
	}
	for _, p := range f.ScopePaths {
		base.Under = append(base.Under, contract.PathKey(p))
	}
	if f.CreatedAt != nil {
		base.CreatedFrom, base.CreatedTo = timeOf(f.CreatedAt.From), timeOf(f.CreatedAt.To)
	}
	flatten := func(to *[]string, lists [][]string) {
		for _, v := range lists {
			*to = append(*to, v...)
		}
	}
	flatten(&base.Repo, o.repos)
	flatten(&base.Path, o.paths)
	flatten(&base.BranchLike, o.branches)
	flatten(&base.ModelLike, o.models)
	c.sessions = append(c.sessions, base)
	// Operators AND with each other, values inside a list OR: a filter each.
	for _, v := range o.agents {
		c.sessions = append(c.sessions, store.Filter{Agents: v})
	}
	for _, v := range o.relations {
		c.sessions = append(c.sessions, store.Filter{Relations: v})
	}
	for _, v := range o.files {
		c.sessions = append(c.sessions, store.Filter{Files: v})
	}
	for i := range o.since {
		c.sessions = append(c.sessions, store.Filter{Since: &o.since[i]})
	}
	for i := range o.until {
		c.sessions = append(c.sessions, store.Filter{Until: &o.until[i]})
	}
	yes := true
	if o.active {
		c.sessions = append(c.sessions, store.Filter{Active: &yes, ActiveSince: clock.Add(-store.ActiveFor)})
	}
	if o.automated {
		c.sessions = append(c.sessions, store.Filter{Automated: &yes})
	}
	if o.missing {
		c.sessions = append(c.sessions, store.Filter{Presence: []string{string(contract.PresenceMissing)}})
	}
	if e := f.Events; e != nil {
		c.events.types, c.events.tools, c.events.surfaces, c.events.seq, c.events.time = e.Types, e.Tools, e.Surfaces, e.Seq, e.Time
		if e.Roles != nil {
			c.events.roles = append(c.events.roles, e.Roles)
		}
	}
	for _, v := range o.roles {
		c.events.roles = append(c.events.roles, typed[contract.Role](v))
	}
	c.events.toolLists = o.tools
	return c
}

func timeOf(i *contract.Instant) *time.Time {
	if i == nil {
		return nil
	}
	t := i.Time()
	return &t
}

func words[T ~string](list []T) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

func typed[T ~string](list []string) []T {
	out := make([]T, len(list))
	for i, s := range list {
		out[i] = T(s)
	}
	return out
}
