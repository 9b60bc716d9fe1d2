package query_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/transcript"
)

// library is an index with one session for every property a filter asks for.
func library(t *testing.T) *store.Reader {
	t.Helper()
	at := func(s string) time.Time {
		x, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	with := func(agent, id string, h transcript.Header, events ...transcript.Event) storetest.Session {
		h.SessionID = id
		if len(events) == 0 {
			events = []transcript.Event{storetest.Say("user", "needle "+id)}
		}
		return storetest.Session{Agent: agent, Header: h, Events: events}
	}
	tool := storetest.Say("tool", "needle from the tool")
	tool.Tools = []string{"Bash"}
	shadowed := storetest.Say("user", "needle shadowed")
	shadowed.Surface = transcript.Shadowed
	old := storetest.Say("user", "needle old")
	old.Time = at("2026-03-01T23:30:00+03:00")
	files := storetest.Say("user", "needle files")
	files.Files = []string{"/work/loom/src/gull_parser.go"}
	sub := storetest.Say("assistant", "needle sub")
	path := storetest.Path(t)
	storetest.Build(t, path,
		with("claude", "loom", transcript.Header{CWD: "/work/loom", Branch: "main", Model: "opus", Models: []string{"opus", "haiku"}}),
		with("claude", "loom2", transcript.Header{CWD: "/work/loom2/sub", Branch: "fix/100%_done"}),
		with("codex", "moved", transcript.Header{CWD: "/old/place", CWDs: []string{"/work/loom/deep"}}),
		with("pi", "windows", transcript.Header{CWD: `C:\Users\dev\Loom`}),
		with("gemini", "nowhere", transcript.Header{Automated: true}),
		with("claude", "child", transcript.Header{Relation: transcript.RelationSubagent, ParentID: "loom"}, sub),
		with("claude", "tooluser", transcript.Header{}, tool),
		with("claude", "shadow", transcript.Header{}, storetest.Say("assistant", "answer"), shadowed),
		with("claude", "oldone", transcript.Header{}, old),
		with("claude", "filer", transcript.Header{}, files),
	)
	return storetest.Open(t, path)
}

func TestFilters(t *testing.T) {
	r := library(t)
	str := func(s string) *string { return &s }
	yes, no := true, false
	inst := func(s string) *contract.Instant {
		x, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		i := contract.InstantOf(x)
		return &i
	}
	one, two := int64(1), int64(2)
	cases := []struct {
		name string
		f    contract.Filters
		want string // ids in order of name
	}{
		{"agents", contract.Filters{Agents: []string{"codex", "pi"}}, "moved windows"},
		{"scopePaths at the segment", contract.Filters{ScopePaths: []string{"/work/loom"}}, "loom moved"},
		{"scopePaths above", contract.Filters{ScopePaths: []string{"/work"}}, "loom loom2 moved"},
		{"scopePaths in another spelling", contract.Filters{ScopePaths: []string{"/mnt/c/users/dev"}}, "windows"},
		{"scopePaths with wildcards are literal", contract.Filters{ScopePaths: []string{"/work/loo%"}}, ""},
		{"since", contract.Filters{Since: inst("2026-11-29T00:00:00Z")}, "child filer loom loom2 moved nowhere shadow tooluser windows"},
		{"until", contract.Filters{Until: inst("2026-03-01T20:30:00Z")}, "oldone"},
		{"until before", contract.Filters{Until: inst("2026-03-01T20:29:59Z")}, ""},
		{"sessionIds", contract.Filters{SessionIDs: []string{"loom", "nope"}}, "loom"},
		{"sessionIds empty", contract.Filters{SessionIDs: []string{}}, ""},
		{"cwds exact", contract.Filters{Cwds: []*string{str("/work/loom")}}, "loom"},
		{"cwds null", contract.Filters{Cwds: []*string{nil}}, "child filer nowhere oldone shadow tooluser"},
		{"parents", contract.Filters{Parents: []*string{str("loom")}}, "child"},
		{"parents null and one", contract.Filters{Parents: []*string{nil, str("loom")}, Agents: []string{"pi"}}, "windows"},
		{"createdAt", contract.Filters{CreatedAt: &contract.InstantRange{To: inst("2026-04-01T00:00:00Z")}}, "oldone"},
		{"presence", contract.Filters{Presence: []contract.Presence{contract.PresenceMissing}}, ""},
		{"active", contract.Filters{Active: &yes}, ""},
		{"not active", contract.Filters{Active: &no, Agents: []string{"pi"}}, "windows"},
		{"relations", contract.Filters{Relations: []contract.Relation{contract.RelationSubagent}}, "child"},
		{"relations empty", contract.Filters{Relations: []contract.Relation{}}, ""},
		{"automated", contract.Filters{Automated: &yes}, "nowhere"},
		{"branches exact", contract.Filters{Branches: []string{"main"}}, "loom"},
		{"branches are no patterns", contract.Filters{Branches: []string{"mai"}}, ""},
		{"models, an earlier one", contract.Filters{Models: []string{"haiku"}}, "loom"},
		{"models exact", contract.Filters{Models: []string{"hai"}}, ""},
		{"files by suffix", contract.Filters{Files: []string{"src/gull_parser.go"}}, "filer"},
		{"files by name", contract.Filters{Files: []string{"gull_parser.go"}}, "filer"},
		{"files at the segment", contract.Filters{Files: []string{"parser.go"}}, ""},
		{"files, _ is literal", contract.Filters{Files: []string{"gull-parser.go"}}, ""},
		{"events roles", contract.Filters{Events: &contract.EventFilters{Roles: []contract.Role{contract.RoleTool}}}, "tooluser"},
		{"events roles empty", contract.Filters{Events: &contract.EventFilters{Roles: []contract.Role{}}}, ""},
		{"events tools", contract.Filters{Events: &contract.EventFilters{Tools: []string{"bash"}}}, "tooluser"},
		{"events types", contract.Filters{Events: &contract.EventFilters{Types: []string{"assistant/message"}}}, "child"},
		{"events types empty", contract.Filters{Events: &contract.EventFilters{Types: []string{}}}, ""},
		{"events surfaces", contract.Filters{Events: &contract.EventFilters{Surfaces: []contract.Surface{contract.SurfaceShadowed}}}, "shadow"},
		{"events seq", contract.Filters{Events: &contract.EventFilters{Seq: &contract.SeqRange{From: &one, To: &two}}}, "shadow"},
		{"events time", contract.Filters{Events: &contract.EventFilters{Time: &contract.InstantRange{To: inst("2026-03-02T00:00:00Z")}}}, "oldone"},
		{"two clauses", contract.Filters{Agents: []string{"claude"}, ScopePaths: []string{"/work"}}, "loom loom2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			req := contract.NewSearchSessionsRequest("needle ")
			c.f.Sort = contract.SortRelevance
			req.Filters = c.f
			if got := sortedIDs(ask(t, r, req).Results); got != c.want {
				t.Errorf("with text: got %q, want %q", got, c.want)
			}
		})
	}
}

// Title, branch and project give evidence of their own types, in no position and
// at no time, with the surface that the evidence tells.
func TestFiltersOnTitles(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path,
		storetest.Session{Header: transcript.Header{SessionID: "title", Title: "The needle", CWD: "/work/loom"}, Events: []transcript.Event{storetest.Say("user", "nothing")}},
		storetest.Session{Header: transcript.Header{SessionID: "branch", Title: "Another", Branch: "fix/needle"}, Events: []transcript.Event{storetest.Say("user", "nothing")}},
		storetest.Session{Header: transcript.Header{SessionID: "project", Title: "A third", CWD: "/work/needle"}, Events: []transcript.Event{storetest.Say("user", "nothing")}},
		storetest.Session{Header: transcript.Header{SessionID: "event", Title: "A fourth"}, Events: []transcript.Event{storetest.Say("user", "the needle")}},
		storetest.Session{Header: transcript.Header{SessionID: "all", Title: "Needle and pin", Branch: "needle", CWD: "/needle"}, Events: []transcript.Event{storetest.Say("user", "a needle")}},
	)
	r := storetest.Open(t, path)
	zero := int64(0)
	for _, c := range []struct {
		name string
		f    contract.EventFilters
		want string // ids in order of name, each with the type of its evidence
	}{
		{"titles", contract.EventFilters{Types: []string{"session/title"}}, "all:session/title title:session/title"},
		{"branches", contract.EventFilters{Types: []string{"session/branch"}}, "all:session/branch branch:session/branch"},
		{"projects", contract.EventFilters{Types: []string{"session/cwd"}}, "all:session/cwd project:session/cwd"},
		{"messages", contract.EventFilters{Types: []string{"user/message"}}, "all:user/message event:user/message"},
		{"two of them", contract.EventFilters{Types: []string{"session/branch", "session/title"}}, "all:session/title branch:session/branch title:session/title"},
		{"all three", contract.EventFilters{Types: []string{"session/cwd", "session/branch", "session/title"}}, "all:session/title branch:session/branch project:session/cwd title:session/title"},
		{"a branch or a message", contract.EventFilters{Types: []string{"session/branch", "user/message"}, Surfaces: []contract.Surface{contract.SurfaceLogOnly}}, "all:session/branch branch:session/branch"},
		{"of another surface", contract.EventFilters{Surfaces: []contract.Surface{contract.SurfaceCurrent}}, "all:user/message event:user/message"},
		{"log-only", contract.EventFilters{Surfaces: []contract.Surface{contract.SurfaceLogOnly}}, "all:session/title branch:session/branch project:session/cwd title:session/title"},
		{"roles", contract.EventFilters{Roles: []contract.Role{contract.RoleUnknown}}, "all:session/title branch:session/branch project:session/cwd title:session/title"},
		{"a position", contract.EventFilters{Seq: &contract.SeqRange{From: &zero}}, "all:user/message event:user/message"},
		{"titles in a position", contract.EventFilters{Types: []string{"session/title"}, Seq: &contract.SeqRange{From: &zero}}, ""},
	} {
		req := contract.NewSearchSessionsRequest("needle ")
		req.Filters.Events = &c.f
		res := ask(t, r, req).Results
		var got []string
		for _, h := range res.Hits {
			got = append(got, h.SessionID+":"+h.Evidence.Type)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want || res.Total.Sessions != len(got) {
			t.Errorf("%s: %q of %d, want %q", c.name, got, res.Total.Sessions, c.want)
		}
	}
}

func sortedIDs(res *contract.SearchResults) string {
	list := strings.Fields(ids(res))
	for i := range list {
		for j := range i {
			if list[i] < list[j] {
				list[i], list[j] = list[j], list[i]
			}
		}
	}
	return strings.Join(list, " ")
}

func TestOperators(t *testing.T) {
	r := library(t)
	cases := []struct {
		query, want string
		remarks     int
	}{
		{`agent:codex`, "moved", 0},
		{`AGENT:Codex`, "moved", 0},
		{`agent:codex,pi needle`, "moved windows", 0},
		{`agent:codex agent:pi`, "", 0},
		{`agent:cladue needle sub `, "child", 1},
		{`agnet:claude needle sub `, "child", 1},
		{`repo:loom`, "loom loom2 windows", 0},
		{`repo:LOOM2`, "loom2", 0},
		{`repo:dev/loom`, "windows", 0}, // B66: whichever separator its system writes
		{`repo:Dev\Loom`, "windows", 0},
		{`path:/work/`, "loom loom2", 0},
		{`path:"/old/place"`, "moved", 0},
		{`path:tooluser.jsonl`, "tooluser", 0},
		{`branch:main`, "loom", 0},
		{`branch:100%_`, "loom2", 0},
		{`file:gull_parser.go`, "filer", 0},
		{`role:tool needle`, "tooluser", 0},
		{`role:robot needle sub `, "child", 1},
		{`tool:Bash`, "tooluser", 0},
		{`tool:bash needle`, "tooluser", 0},
		{`model:haiku`, "loom", 0},
		{`is:subagent`, "child", 0},
		{`is:automated`, "nowhere", 0},
		{`is:missing`, "", 0},
		{`is:odd needle sub `, "child", 1},
		{`since:2026-11-29 is:subagent`, "child", 0},
		{`since:7d is:subagent`, "child", 0},
		{`until:2026-03-01`, "oldone", 0},
		{`until:2026-02-28`, "", 0},
		{`since:soon needle sub `, "child", 1},
		{`repo: needle sub `, "child", 0},
		{`not:needle`, "", 0},
		{`not:shadowed not:"the tool" agent:claude`, "child filer loom loom2 oldone", 0},
	}
	for _, c := range cases {
		t.Run(c.query, func(t *testing.T) {
			req := contract.NewSearchSessionsRequest(c.query)
			res := ask(t, r, req).Results
			got := sortedIDs(res)
			if strings.Contains(c.query, "needle sub") && len(res.Hits) > 0 {
				got = res.Hits[0].SessionID
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if len(res.Diagnostics) != c.remarks {
				t.Errorf("remarks %+v, want %d", res.Diagnostics, c.remarks)
			}
			for _, d := range res.Diagnostics {
				if d.Start != 0 || c.query[d.End] != ' ' {
					t.Errorf("remark at [%d,%d) of %q", d.Start, d.End, c.query)
				}
			}
		})
	}
}

// TestWithoutText: operators or clauses alone list sessions newest first without
// evidence; nothing at all finds nothing.
func TestWithoutText(t *testing.T) {
	r := library(t)
	req := contract.NewSearchSessionsRequest("  ")
	if res := ask(t, r, req).Results; len(res.Hits) != 0 || res.Total.Sessions != 0 || !res.Total.Exact {
		t.Errorf("nothing asked: %+v", res)
	}
	req.Filters.Sort = contract.SortNewest
	if res := ask(t, r, req).Results; len(res.Hits) != 0 {
		t.Errorf("a sort alone is no clause: %s", ids(res))
	}
	req.Filters.Agents = []string{"claude"}
	req.Debug = true
	res := ask(t, r, req).Results
	if got := ids(res); !strings.HasSuffix(got, "oldone") || len(res.Hits) != 7 {
		t.Errorf("got %s", got)
	}
	if res.Debug.Route != contract.RouteOperators {
		t.Errorf("route %s", res.Debug.Route)
	}
	for i, h := range res.Hits {
		if h.Evidence != nil {
			t.Errorf("%s has evidence", h.SessionID)
		}
		if i > 0 && *h.UpdatedAt > *res.Hits[i-1].UpdatedAt {
			t.Errorf("%s is newer than the one before", h.SessionID)
		}
	}
}

// TestDaysAreLocal is case B122: since: and until: days are the user's.
func TestDaysAreLocal(t *testing.T) {
	path := storetest.Path(t)
	e := storetest.Say("user", "needle")
	e.Time = time.Date(2026, 11, 1, 20, 30, 0, 0, time.UTC) // 23:30 in UTC+3
	storetest.Build(t, path, storetest.Session{Header: transcript.Header{SessionID: "s"}, Events: []transcript.Event{e}})
	r := storetest.Open(t, path)
	for zone, found := range map[int]map[string]bool{
		3 * 3600: {"until:2026-11-01": true, "since:2026-11-02": false},
		4 * 3600: {"until:2026-11-01": false, "since:2026-11-02": true},
	} {
		for q, want := range found {
			res := askIn(t, r, q, time.FixedZone("x", zone))
			if got := len(res.Hits) == 1; got != want {
				t.Errorf("%s at UTC%+d: %v, want %v", q, zone/3600, got, want)
			}
		}
	}
}

// TestQueryBounds: only the first 512 code points and 48 words count, and the
// answer says so.
func TestQueryBounds(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("s", "needle tail"))
	r := storetest.Open(t, path)
	long := "needle " + strings.Repeat("é", 505) + " tail"
	res := search(t, r, long)
	if !res.Truncated.Query || len(res.Hits) > 0 && res.Hits[0].Score >= 2 {
		t.Errorf("512 code points: %+v", res.Truncated)
	}
	if res := search(t, r, strings.Repeat("needle ", 48)); res.Truncated.Query || len(res.Hits) != 1 {
		t.Errorf("48 words: %+v", res.Truncated)
	}
	if res := search(t, r, strings.Repeat("needle ", 49)); !res.Truncated.Query {
		t.Errorf("49 words: %+v", res.Truncated)
	}
}

// TestDuration: the engine's time is the wall's, and the steps are parts of it.
func TestDuration(t *testing.T) {
	r := library(t)
	req := contract.NewSearchSessionsRequest("needle")
	req.Debug = true
	begun := time.Now()
	res := ask(t, r, req).Results
	wall := float64(time.Since(begun).Microseconds()) / 1000
	steps := 0.0
	for _, step := range res.Debug.PlannerReport.Timings {
		steps += step.Ms
	}
	if res.DurationMs <= 0 || res.DurationMs > wall || steps > res.DurationMs+0.01 {
		t.Errorf("%v ms of %v, in steps %+v", res.DurationMs, wall, res.Debug.PlannerReport.Timings)
	}
}
