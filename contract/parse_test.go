package contract_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

func ptr[T any](v T) *T { return &v }

// TestParseSearchSessions has one row per rule about requests that are good;
// want changes the request that has every default.
func TestParseSearchSessions(t *testing.T) {
	type request = contract.SearchSessionsRequest
	many := strings.TrimSuffix(strings.Repeat(`"/p",`, 64), ",")
	for _, tt := range []struct {
		name string
		raw  string
		want func(r *request)
	}{
		{"defaults", `{"query":"x"}`, func(r *request) {}},
		{"query may be empty", `{"query":""}`, func(r *request) { r.Query = "" }},
		{"query is kept as it is", `{"query":" \" OR a* \u0000"}`, func(r *request) { r.Query = " \" OR a* \x00" }},
		{"query of any length", `{"query":"` + strings.Repeat("y", 100_000) + `"}`, func(r *request) { r.Query = strings.Repeat("y", 100_000) }},
		{"lone surrogate", `{"query":"a\ud83d b"}`, func(r *request) { r.Query = "a\ufffd b" }},
		{"invalid UTF-8", "{\"query\":\"a\xffb\"}", func(r *request) { r.Query = "a\ufffdb" }},
		{"last of duplicate keys wins", `{"query":"a","limit":"no","query":"x","limit":7}`, func(r *request) { r.Limit = 7 }},
		{"keys match exactly", `{"query":"x","Limit":"no","LIMIT":5,"QUERY":7}`, func(r *request) {}},
		{"unknown fields are dropped", `{"query":"x","future":{"a":[1]},"v":2}`, func(r *request) {}},
		{"legacy fields change nothing", `{"query":"x","tier":"conversation","refresh":true}`, func(r *request) {}},
		{"legacy fields of any type", `{"query":"x","tier":7,"refresh":[{}]}`, func(r *request) {}},
		{"null is absent", `{"query":"x","scope":null,"freshness":null,"limit":null,"cursor":null,"filters":null,"debug":null,"executionHost":null}`, func(r *request) {}},

		{"scope", `{"query":"x","scope":"conversation"}`, func(r *request) { r.Scope = contract.ScopeConversation }},
		{"scope all", `{"query":"x","scope":"all"}`, func(r *request) {}},
		{"freshness", `{"query":"x","freshness":"wait-until-current"}`, func(r *request) { r.Freshness = contract.FreshnessWait }},

		{"limit", `{"query":"x","limit":100}`, func(r *request) { r.Limit = 100 }},
		{"limit 0 is clamped", `{"query":"x","limit":0}`, func(r *request) { r.Limit = 1 }},
		{"limit -5 is clamped", `{"query":"x","limit":-5}`, func(r *request) { r.Limit = 1 }},
		{"limit 101 is clamped", `{"query":"x","limit":101}`, func(r *request) { r.Limit = 100 }},
		{"limit beyond 64 bits is clamped", `{"query":"x","limit":123456789012345678901234567890}`, func(r *request) { r.Limit = 100 }},
		{"limit beyond floats is clamped", `{"query":"x","limit":1e999}`, func(r *request) { r.Limit = 100 }},
		{"limit below floats is clamped", `{"query":"x","limit":-1e999999999999999999999}`, func(r *request) { r.Limit = 1 }},
		{"limit 7.0 is an integer", `{"query":"x","limit":7.0}`, func(r *request) { r.Limit = 7 }},
		{"limit 70e-1 is an integer", `{"query":"x","limit":70e-1}`, func(r *request) { r.Limit = 7 }},
		{"limit 0.7e1 is an integer", `{"query":"x","limit":0.7e1}`, func(r *request) { r.Limit = 7 }},
		{"a fraction gives the default", `{"query":"x","limit":1.5}`, func(r *request) {}},
		{"a tiny fraction gives the default", `{"query":"x","limit":1e-999}`, func(r *request) {}},
		{"a fraction that floats round off", `{"query":"x","limit":5.00000000000000000001}`, func(r *request) {}},
		{"a negative fraction gives the default", `{"query":"x","limit":-2.5}`, func(r *request) {}},

		{"cursor is opaque", `{"query":"x","cursor":"??"}`, func(r *request) { r.Cursor = ptr("??") }},
		{"an empty cursor is a cursor", `{"query":"x","cursor":""}`, func(r *request) { r.Cursor = ptr("") }},
		{"debug", `{"query":"x","debug":true}`, func(r *request) { r.Debug = true }},
		{"debug false", `{"query":"x","debug":false}`, func(r *request) {}},

		{"host local", `{"query":"x","executionHost":"local"}`, func(r *request) {}},
		{"host ssh", `{"query":"x","executionHost":"ssh:ann@box-1.example:22"}`, func(r *request) { r.ExecutionHost = "ssh:ann@box-1.example:22" }},
		{"host ssh IPv6", `{"query":"x","executionHost":"ssh:u@[fe80::1%25]"}`, func(r *request) { r.ExecutionHost = "ssh:u@[fe80::1%25]" }},
		{"host runtime", `{"query":"x","executionHost":"runtime:dev"}`, func(r *request) { r.ExecutionHost = "runtime:dev" }},

		{"no filters", `{"query":"x","filters":{}}`, func(r *request) {}},
		{"unknown filters are dropped", `{"query":"x","filters":{"colour":1,"Agents":["x"]}}`, func(r *request) {}},
		{"null clauses are absent", `{"query":"x","filters":{"agents":null,"scopePaths":null,"since":null,"until":null,"sort":null,"sessionIds":null,"cwds":null,"parents":null,"createdAt":null,"presence":null,"active":null,"relations":null,"automated":null,"branches":null,"models":null,"files":null,"events":null}}`, func(r *request) {}},
		{"agents", `{"query":"x","filters":{"agents":["claude","vscode"]}}`, func(r *request) { r.Filters.Agents = []string{"claude", "vscode"} }},
		{"no agents is no constraint", `{"query":"x","filters":{"agents":[]}}`, func(r *request) {}},
		{"no scopePaths is no constraint", `{"query":"x","filters":{"scopePaths":[]}}`, func(r *request) {}},
		{"64 scopePaths", `{"query":"x","filters":{"scopePaths":[` + many + `]}}`, func(r *request) { r.Filters.ScopePaths = slices.Repeat([]string{"/p"}, 64) }},
		{"a scopePath of 4096", `{"query":"x","filters":{"scopePaths":["` + strings.Repeat("é", 4096) + `"]}}`, func(r *request) { r.Filters.ScopePaths = []string{strings.Repeat("é", 4096)} }},
		{"since Z", `{"query":"x","filters":{"since":"2026-11-01T10:00:00Z"}}`, func(r *request) { r.Filters.Since = ptr(contract.Instant(1793527200000)) }},
		{"since offset", `{"query":"x","filters":{"since":"2026-11-01T12:00:00.000+02:00"}}`, func(r *request) { r.Filters.Since = ptr(contract.Instant(1793527200000)) }},
		{"since without seconds", `{"query":"x","filters":{"since":"2026-11-01T10:00-00:30"}}`, func(r *request) { r.Filters.Since = ptr(contract.Instant(1793529000000)) }},
		{"since rounds up", `{"query":"x","filters":{"since":"2026-11-01T10:00:00.0001Z"}}`, func(r *request) { r.Filters.Since = ptr(contract.Instant(1793527200001)) }},
		{"until rounds down", `{"query":"x","filters":{"until":"2026-11-01T10:00:00.0019Z"}}`, func(r *request) { r.Filters.Until = ptr(contract.Instant(1793527200001)) }},
		{"since before 1970 rounds up", `{"query":"x","filters":{"since":"1969-12-31T23:59:59.9981Z"}}`, func(r *request) { r.Filters.Since = ptr(contract.Instant(-1)) }},
		{"until before 1970 rounds down", `{"query":"x","filters":{"until":"1969-12-31T23:59:59.9981Z"}}`, func(r *request) { r.Filters.Until = ptr(contract.Instant(-2)) }},
		{"since after until is no range", `{"query":"x","filters":{"since":"2026-11-02T00:00:00Z","until":"2026-11-01T00:00:00Z"}}`, func(r *request) {
			r.Filters.Since, r.Filters.Until = ptr(contract.Instant(1793577600000)), ptr(contract.Instant(1793491200000))
		}},
		{"sort", `{"query":"x","filters":{"sort":"newest"}}`, func(r *request) { r.Filters.Sort = contract.SortNewest }},
		{"sessionIds", `{"query":"x","filters":{"sessionIds":["a","a"]}}`, func(r *request) { r.Filters.SessionIDs = []string{"a", "a"} }},
		{"no sessionIds match nothing", `{"query":"x","filters":{"sessionIds":[]}}`, func(r *request) { r.Filters.SessionIDs = []string{} }},
		{"cwds hold null", `{"query":"x","filters":{"cwds":["/a",null]}}`, func(r *request) { r.Filters.Cwds = []*string{ptr("/a"), nil} }},
		{"no cwds match nothing", `{"query":"x","filters":{"cwds":[]}}`, func(r *request) { r.Filters.Cwds = []*string{} }},
		{"parents hold null", `{"query":"x","filters":{"parents":[null]}}`, func(r *request) { r.Filters.Parents = []*string{nil} }},
		{"no parents match nothing", `{"query":"x","filters":{"parents":[]}}`, func(r *request) { r.Filters.Parents = []*string{} }},
		{"createdAt", `{"query":"x","filters":{"createdAt":{"from":"1970-01-01T00:00:01Z","to":"1970-01-01T00:00:02Z"}}}`, func(r *request) {
			r.Filters.CreatedAt = &contract.InstantRange{From: ptr(contract.Instant(1000)), To: ptr(contract.Instant(2000))}
		}},
		{"createdAt of one instant", `{"query":"x","filters":{"createdAt":{"from":"1970-01-01T00:00:01Z","to":"1970-01-01T01:00:01+01:00"}}}`, func(r *request) {
			r.Filters.CreatedAt = &contract.InstantRange{From: ptr(contract.Instant(1000)), To: ptr(contract.Instant(1000))}
		}},
		{"createdAt open", `{"query":"x","filters":{"createdAt":{"to":"1970-01-01T00:00:02Z","from":null}}}`, func(r *request) {
			r.Filters.CreatedAt = &contract.InstantRange{To: ptr(contract.Instant(2000))}
		}},
		{"createdAt of nothing", `{"query":"x","filters":{"createdAt":{"since":1}}}`, func(r *request) {}},
		{"presence", `{"query":"x","filters":{"presence":"missing"}}`, func(r *request) { r.Filters.Presence = []contract.Presence{"missing"} }},
		{"presences", `{"query":"x","filters":{"presence":["present","unverifiable"]}}`, func(r *request) { r.Filters.Presence = []contract.Presence{"present", "unverifiable"} }},
		{"no presence matches nothing", `{"query":"x","filters":{"presence":[]}}`, func(r *request) { r.Filters.Presence = []contract.Presence{} }},
		{"active", `{"query":"x","filters":{"active":false}}`, func(r *request) { r.Filters.Active = ptr(false) }},
		{"relations", `{"query":"x","filters":{"relations":["root","fork","subagent","continuation"]}}`, func(r *request) {
			r.Filters.Relations = []contract.Relation{"root", "fork", "subagent", "continuation"}
		}},
		{"no relations match nothing", `{"query":"x","filters":{"relations":[]}}`, func(r *request) { r.Filters.Relations = []contract.Relation{} }},
		{"automated", `{"query":"x","filters":{"automated":true}}`, func(r *request) { r.Filters.Automated = ptr(true) }},
		{"branches, models, files", `{"query":"x","filters":{"branches":["b"],"models":["m"],"files":["f"]}}`, func(r *request) {
			r.Filters.Branches, r.Filters.Models, r.Filters.Files = []string{"b"}, []string{"m"}, []string{"f"}
		}},
		{"no branches, models, files match nothing", `{"query":"x","filters":{"branches":[],"models":[],"files":[]}}`, func(r *request) {
			r.Filters.Branches, r.Filters.Models, r.Filters.Files = []string{}, []string{}, []string{}
		}},
		{"events", `{"query":"x","filters":{"events":{"types":["any"],"surfaces":["log-only"],"roles":["user","unknown"],"tools":["Bash"],"seq":{"from":1,"to":9},"time":{"from":"1970-01-01T00:00:00Z"}}}}`, func(r *request) {
			r.Filters.Events = &contract.EventFilters{
				Types: []string{"any"}, Surfaces: []contract.Surface{"log-only"}, Roles: []contract.Role{"user", "unknown"}, Tools: []string{"Bash"},
				Seq:  &contract.SeqRange{From: ptr(int64(1)), To: ptr(int64(9))},
				Time: &contract.InstantRange{From: ptr(contract.Instant(0))},
			}
		}},
		{"events of nothing", `{"query":"x","filters":{"events":{"seq":{},"other":1}}}`, func(r *request) {}},
		{"no event types match nothing", `{"query":"x","filters":{"events":{"types":[]}}}`, func(r *request) { r.Filters.Events = &contract.EventFilters{Types: []string{}} }},
		{"seq fractions round inwards", `{"query":"x","filters":{"events":{"seq":{"from":1.5,"to":3.5}}}}`, func(r *request) {
			r.Filters.Events = &contract.EventFilters{Seq: &contract.SeqRange{From: ptr(int64(2)), To: ptr(int64(3))}}
		}},
		{"negative seq fractions round inwards", `{"query":"x","filters":{"events":{"seq":{"from":-1.5,"to":-0.5}}}}`, func(r *request) {
			r.Filters.Events = &contract.EventFilters{Seq: &contract.SeqRange{From: ptr(int64(-1)), To: ptr(int64(-1))}}
		}},
		{"seq fractions that floats round off", `{"query":"x","filters":{"events":{"seq":{"from":0.99999999999999999999999,"to":1.00000000000000000000001}}}}`, func(r *request) {
			r.Filters.Events = &contract.EventFilters{Seq: &contract.SeqRange{From: ptr(int64(1)), To: ptr(int64(1))}}
		}},
		{"seq beyond 64 bits saturates", `{"query":"x","filters":{"events":{"seq":{"from":-1e300,"to":1e300}}}}`, func(r *request) {
			r.Filters.Events = &contract.EventFilters{Seq: &contract.SeqRange{From: ptr(int64(-1 << 63)), To: ptr(int64(1<<63 - 1))}}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := contract.NewSearchSessionsRequest("x")
			tt.want(&want)
			got, err := contract.Parser{}.ParseSearchSessions([]byte(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			// What is passed on to another host is read there as the same.
			sent, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := (contract.Parser{}).ParseSearchSessions(sent); err != nil || !reflect.DeepEqual(again, got) {
				t.Errorf("sent on as %s, read as %+v, %v", sent, again, err)
			}
		})
	}
}

// TestParseSearchSessionsFaults has one row per rule about bad requests.
func TestParseSearchSessionsFaults(t *testing.T) {
	const (
		config = contract.CodeInvalidConfig
		filter = contract.CodeInvalidFilter
	)
	deep := strings.Repeat("[", 200_000)
	for _, tt := range []struct {
		raw     string
		field   string
		code    string
		message string // a part of it
	}{
		{``, "query", contract.CodeInvalidQuery, "required"},
		{`{}`, "query", contract.CodeInvalidQuery, "required"},
		{`{"query":null}`, "query", contract.CodeInvalidQuery, "required"},
		{`{"query":5}`, "query", contract.CodeInvalidQuery, "want a string, got a number"},
		{`{"query":["x"]}`, "query", contract.CodeInvalidQuery, "got a list"},
		{`[]`, "arguments", config, "want one object, got a list"},
		{`"x"`, "arguments", config, "want one object"},
		{`null`, "arguments", config, "want one object, got null"},
		{`{"query":"x"`, "arguments", config, "cannot be read"},
		{`{"query":"x"} {}`, "arguments", config, "cannot be read"},
		{`{"query":"x","limit":NaN}`, "arguments", config, "cannot be read"},
		{`{"query":"x","deep":` + deep + `}`, "arguments", config, "cannot be read"},
		{`{"query":"x","deep":` + deep + strings.Repeat("]", 200_000) + `}`, "arguments", config, "cannot be read"},

		{`{"query":"x","scope":"tools"}`, "scope", config, `"tools" is not known; allowed: conversation, all`},
		{`{"query":"x","scope":"All"}`, "scope", config, "allowed"},
		{`{"query":"x","scope":""}`, "scope", config, "allowed"},
		{`{"query":"x","scope":true}`, "scope", config, "want a string, got true"},
		{`{"query":"x","freshness":"now"}`, "freshness", config, "indexed, wait-until-current"},
		{`{"query":"x","limit":"5"}`, "limit", contract.CodeInvalidLimit, "want a number from 1 to 100, got a string"},
		{`{"query":"x","limit":true}`, "limit", contract.CodeInvalidLimit, "got true"},
		{`{"query":"x","limit":[5]}`, "limit", contract.CodeInvalidLimit, "got a list"},
		{`{"query":"x","cursor":5}`, "cursor", config, "want a string"},
		{`{"query":"x","filters":[]}`, "filters", filter, "want an object, got a list"},
		{`{"query":"x","filters":"agents"}`, "filters", filter, "want an object"},
		{`{"query":"x","debug":1}`, "debug", config, "want true or false, got a number"},
		{`{"query":"x","debug":"true"}`, "debug", config, "want true or false"},

		{`{"query":"x","executionHost":"all"}`, "executionHost", config, `"all"`},
		{`{"query":"x","executionHost":""}`, "executionHost", config, "local, ssh:<target>, runtime:<environmentId>"},
		{`{"query":"x","executionHost":"Local"}`, "executionHost", config, "allowed"},
		{`{"query":"x","executionHost":"ssh:"}`, "executionHost", config, "allowed"},
		{`{"query":"x","executionHost":"ssh:-oProxyCommand=x"}`, "executionHost", config, "allowed"},
		{`{"query":"x","executionHost":"ssh:a b"}`, "executionHost", config, "allowed"},
		{`{"query":"x","executionHost":"ssh:a;b"}`, "executionHost", config, "allowed"},
		{`{"query":"x","executionHost":"ssh:a\n"}`, "executionHost", config, "allowed"},
		{`{"query":"x","executionHost":"ssh:` + strings.Repeat("a", 256) + `"}`, "executionHost", config, "allowed"},
		{`{"query":"x","executionHost":"runtime:"}`, "executionHost", config, "allowed"},
		{`{"query":"x","executionHost":"docker:x"}`, "executionHost", config, "allowed"},
		{`{"query":"x","executionHost":7}`, "executionHost", config, "want a string"},

		{`{"query":"x","filters":{"agents":["claude","aider"]}}`, "filters.agents", filter, "claude, codex, pi, dsh, gemini, opencode, copilot, vscode, cursor, cline"},
		{`{"query":"x","filters":{"agents":["Claude"]}}`, "filters.agents", filter, "allowed"},
		{`{"query":"x","filters":{"agents":"claude"}}`, "filters.agents", filter, "want a list, got a string"},
		{`{"query":"x","filters":{"agents":["claude",null]}}`, "filters.agents", filter, "element 1: want a string, got null"},
		{`{"query":"x","filters":{"agents":{}}}`, "filters.agents", filter, "want a list"},
		{`{"query":"x","filters":{"scopePaths":[` + strings.TrimSuffix(strings.Repeat(`"/p",`, 65), ",") + `]}}`, "filters.scopePaths", filter, "65 paths; at most 64"},
		{`{"query":"x","filters":{"scopePaths":[""]}}`, "filters.scopePaths", filter, "1 to 4096"},
		{`{"query":"x","filters":{"scopePaths":["` + strings.Repeat("é", 4097) + `"]}}`, "filters.scopePaths", filter, "4097 characters"},
		{`{"query":"x","filters":{"scopePaths":["` + strings.Repeat("😀", 2049) + `"]}}`, "filters.scopePaths", filter, "4098 characters"},
		{`{"query":"x","filters":{"scopePaths":[7]}}`, "filters.scopePaths", filter, "want a string"},
		{`{"query":"x","filters":{"since":"2026-11-01"}}`, "filters.since", filter, "is not a time with an offset"},
		{`{"query":"x","filters":{"since":"2026-11-01T10:00:00"}}`, "filters.since", filter, "offset"},
		{`{"query":"x","filters":{"since":"2026-11-01 10:00:00Z"}}`, "filters.since", filter, "offset"},
		{`{"query":"x","filters":{"since":"2026-11-01T10:00:00+0200"}}`, "filters.since", filter, "offset"},
		{`{"query":"x","filters":{"since":"2026-13-01T10:00:00Z"}}`, "filters.since", filter, "offset"},
		{`{"query":"x","filters":{"since":"2026-02-30T10:00:00Z"}}`, "filters.since", filter, "offset"},
		{`{"query":"x","filters":{"since":"2026-11-01T25:00:00Z"}}`, "filters.since", filter, "offset"},
		{`{"query":"x","filters":{"since":"7d"}}`, "filters.since", filter, "offset"},
		{`{"query":"x","filters":{"since":1762000000000}}`, "filters.since", filter, "want a string"},
		{`{"query":"x","filters":{"until":""}}`, "filters.until", filter, "offset"},
		{`{"query":"x","filters":{"sort":"oldest"}}`, "filters.sort", filter, "relevance, newest"},
		{`{"query":"x","filters":{"sessionIds":[null]}}`, "filters.sessionIds", filter, "got null"},
		{`{"query":"x","filters":{"cwds":[7]}}`, "filters.cwds", filter, "want a string or null"},
		{`{"query":"x","filters":{"parents":"p"}}`, "filters.parents", filter, "want a list"},
		{`{"query":"x","filters":{"createdAt":"2026-11-01T10:00:00Z"}}`, "filters.createdAt", filter, "want an object"},
		{`{"query":"x","filters":{"createdAt":{"from":5}}}`, "filters.createdAt.from", filter, "want a string"},
		{`{"query":"x","filters":{"createdAt":{"to":"2026"}}}`, "filters.createdAt.to", filter, "offset"},
		{`{"query":"x","filters":{"createdAt":{"from":"2026-11-01T10:00:00Z","to":"2026-11-01T11:00:00+02:00"}}}`, "filters.createdAt", filter, "from is later than to"},
		{`{"query":"x","filters":{"createdAt":{"from":"2026-11-01T10:00:00.0002Z","to":"2026-11-01T10:00:00.0001Z"}}}`, "filters.createdAt", filter, "from is later than to"},
		{`{"query":"x","filters":{"presence":"persisted"}}`, "filters.presence", filter, "present, unverifiable, missing"},
		{`{"query":"x","filters":{"presence":["gone"]}}`, "filters.presence", filter, "present, unverifiable, missing"},
		{`{"query":"x","filters":{"presence":true}}`, "filters.presence", filter, "want a string"},
		{`{"query":"x","filters":{"active":"yes"}}`, "filters.active", filter, "want true or false"},
		{`{"query":"x","filters":{"relations":["child"]}}`, "filters.relations", filter, "root, fork, subagent, continuation"},
		{`{"query":"x","filters":{"automated":0}}`, "filters.automated", filter, "want true or false"},
		{`{"query":"x","filters":{"branches":"main"}}`, "filters.branches", filter, "want a list"},
		{`{"query":"x","filters":{"models":[1]}}`, "filters.models", filter, "want a string"},
		{`{"query":"x","filters":{"files":[[]]}}`, "filters.files", filter, "want a string"},
		{`{"query":"x","filters":{"events":[]}}`, "filters.events", filter, "want an object"},
		{`{"query":"x","filters":{"events":{"types":"t"}}}`, "filters.events.types", filter, "want a list"},
		{`{"query":"x","filters":{"events":{"surfaces":["hidden"]}}}`, "filters.events.surfaces", filter, "current, shadowed, log-only"},
		{`{"query":"x","filters":{"events":{"roles":["human"]}}}`, "filters.events.roles", filter, "user, assistant, tool, system, unknown"},
		{`{"query":"x","filters":{"events":{"tools":[null]}}}`, "filters.events.tools", filter, "got null"},
		{`{"query":"x","filters":{"events":{"seq":7}}}`, "filters.events.seq", filter, "want an object"},
		{`{"query":"x","filters":{"events":{"seq":{"from":"1"}}}}`, "filters.events.seq.from", filter, "want a number"},
		{`{"query":"x","filters":{"events":{"seq":{"to":1e999}}}}`, "filters.events.seq.to", filter, "too large"},
		{`{"query":"x","filters":{"events":{"seq":{"from":2,"to":1}}}}`, "filters.events.seq", filter, "from is greater than to"},
		{`{"query":"x","filters":{"events":{"seq":{"from":1.5,"to":1.25}}}}`, "filters.events.seq", filter, "from is greater than to"},
		{`{"query":"x","filters":{"events":{"seq":{"from":9007199254740993,"to":9007199254740992}}}}`, "filters.events.seq", filter, "from is greater than to"},
		{`{"query":"x","filters":{"events":{"time":{"from":"2026-11-02T10:00:00Z","to":"2026-11-01T10:00:00Z"}}}}`, "filters.events.time", filter, "from is later than to"},

		// The first fault in the contract's order of fields is the one told.
		{`{"executionHost":"all","debug":1,"filters":{"agents":["x"]},"limit":"a","scope":"a","query":1}`, "query", contract.CodeInvalidQuery, ""},
		{`{"executionHost":"all","debug":1,"filters":{"agents":["x"]},"limit":"a","scope":"a","query":""}`, "scope", config, ""},
		{`{"executionHost":"all","debug":1,"filters":{"agents":["x"]},"cursor":1,"limit":"a","query":""}`, "limit", contract.CodeInvalidLimit, ""},
		{`{"executionHost":"all","debug":1,"filters":{"agents":["x"]},"cursor":1,"query":""}`, "cursor", config, ""},
		{`{"executionHost":"all","debug":1,"filters":{"sort":"x","since":"x","agents":["x"]},"query":""}`, "filters.agents", filter, ""},
		{`{"executionHost":"all","debug":1,"filters":{"sort":"x","since":"x"},"query":""}`, "filters.since", filter, ""},
		{`{"executionHost":"all","debug":1,"query":""}`, "debug", config, ""},
	} {
		t.Run(tt.field+" "+tt.raw[:min(len(tt.raw), 60)], func(t *testing.T) {
			_, err := contract.Parser{}.ParseSearchSessions([]byte(tt.raw))
			wantFault(t, err, tt.field, tt.code, tt.message)
		})
	}
}

func wantFault(t *testing.T, err error, field, code, message string) {
	t.Helper()
	var fault *contract.Error
	if !errors.As(err, &fault) {
		t.Fatalf("got %v, want a fault in %s", err, field)
	}
	if fault.RPCCode != contract.RPCInvalidParams || fault.Field != field || fault.Code != code {
		t.Errorf("got %d %s %s, want %d %s %s", fault.RPCCode, fault.Code, fault.Field, contract.RPCInvalidParams, code, field)
	}
	if !strings.HasPrefix(fault.Message, field+": ") || !strings.Contains(fault.Message, message) {
		t.Errorf("message %q, want it to begin with the field and say %q", fault.Message, message)
	}
}

func TestFaultsListWhatIsAllowed(t *testing.T) {
	for _, tt := range []struct {
		parser contract.Parser
		raw    string
		want   []string
	}{
		{contract.Parser{}, `{"query":"x","scope":"q"}`, []string{"conversation", "all"}},
		{contract.Parser{}, `{"query":"x","filters":{"agents":["q"]}}`, contract.Agents()},
		{contract.Parser{Agents: []string{"one", "two"}}, `{"query":"x","filters":{"agents":["claude"]}}`, []string{"one", "two"}},
		{contract.Parser{}, `{"query":"x","filters":{"presence":"q"}}`, []string{"present", "unverifiable", "missing"}},
	} {
		_, err := tt.parser.ParseSearchSessions([]byte(tt.raw))
		var fault *contract.Error
		if !errors.As(err, &fault) || !slices.Equal(fault.Allowed, tt.want) {
			t.Errorf("%s: got %+v, want allowed %v", tt.raw, fault, tt.want)
		}
	}
	// A parser knows the agents it was given.
	if _, err := (contract.Parser{Agents: []string{"one"}}).ParseSearchSessions([]byte(`{"query":"x","filters":{"agents":["one"]}}`)); err != nil {
		t.Error(err)
	}
}

func TestFaultMessagesAreBounded(t *testing.T) {
	huge := strings.Repeat("\x1b[31m", 50_000)
	raw, err := json.Marshal(map[string]any{"query": "x", "scope": huge})
	if err != nil {
		t.Fatal(err)
	}
	_, err = contract.Parser{}.ParseSearchSessions(raw)
	if err == nil || len(err.Error()) > 1000 || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("message %q", err)
	}
}

func TestHasClause(t *testing.T) {
	for raw, want := range map[string]bool{
		`{}`:                               false,
		`{"sort":"newest"}`:                false,
		`{"agents":[]}`:                    false,
		`{"events":{}}`:                    false,
		`{"createdAt":{}}`:                 false,
		`{"agents":["pi"]}`:                true,
		`{"sessionIds":[]}`:                true,
		`{"active":false}`:                 true,
		`{"presence":"missing"}`:           true,
		`{"events":{"types":[]}}`:          true,
		`{"until":"2026-11-01T00:00:00Z"}`: true,
	} {
		request, err := contract.Parser{}.ParseSearchSessions([]byte(`{"query":"","filters":` + raw + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := request.Filters.HasClause(); got != want {
			t.Errorf("%s: HasClause = %v, want %v", raw, got, want)
		}
	}
}

func TestParseSetPolicy(t *testing.T) {
	before := contract.Policy{Enabled: ptr(true), HistoryDays: ptr(30)}
	for _, tt := range []struct {
		raw  string
		want contract.Policy
	}{
		{``, before},
		{`{}`, before},
		{`{"other":1}`, before},
		{`{"enabled":false}`, contract.Policy{Enabled: ptr(false), HistoryDays: ptr(30)}},
		{`{"enabled":null}`, contract.Policy{HistoryDays: ptr(30)}},
		{`{"historyDays":null}`, contract.Policy{Enabled: ptr(true)}},
		{`{"historyDays":1}`, contract.Policy{Enabled: ptr(true), HistoryDays: ptr(1)}},
		{`{"historyDays":3650}`, contract.Policy{Enabled: ptr(true), HistoryDays: ptr(3650)}},
		{`{"historyDays":7.0}`, contract.Policy{Enabled: ptr(true), HistoryDays: ptr(7)}},
		{`{"enabled":null,"historyDays":null,"executionHost":"local"}`, contract.Policy{}},
	} {
		request, err := contract.Parser{}.ParseSetPolicy([]byte(tt.raw))
		if err != nil {
			t.Errorf("%s: %v", tt.raw, err)
			continue
		}
		if got := request.Apply(before); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.raw, got, tt.want)
		}
		sent, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := (contract.Parser{}).ParseSetPolicy(sent); err != nil || !reflect.DeepEqual(again, request) {
			t.Errorf("%s sent as %s, read as %+v, %v", tt.raw, sent, again, err)
		}
	}
	for _, tt := range []struct{ raw, field, message string }{
		{`{"enabled":1}`, "enabled", "want true or false"},
		{`{"enabled":"true"}`, "enabled", "want true or false"},
		{`{"historyDays":0}`, "historyDays", "from 1 to 3650"},
		{`{"historyDays":3651}`, "historyDays", "from 1 to 3650"},
		{`{"historyDays":1.5}`, "historyDays", "whole number"},
		{`{"historyDays":1e99}`, "historyDays", "from 1 to 3650"},
		{`{"historyDays":"30"}`, "historyDays", "whole number"},
		{`{"executionHost":"ssh:box","enabled":true}`, "executionHost", "local host only"},
		{`[]`, "arguments", "want one object"},
	} {
		_, err := contract.Parser{}.ParseSetPolicy([]byte(tt.raw))
		wantFault(t, err, tt.field, contract.CodeInvalidConfig, tt.message)
	}
}

func TestParseOtherCommands(t *testing.T) {
	parser := contract.Parser{}
	if got, err := parser.ParseSearchStatus([]byte(`{"x":1}`)); err != nil || got.ExecutionHost != contract.LocalHost {
		t.Errorf("searchStatus: %+v, %v", got, err)
	}
	if got, err := parser.ParseSearchStatus([]byte(`{"executionHost":"ssh:box"}`)); err != nil || got.ExecutionHost != "ssh:box" {
		t.Errorf("searchStatus: %+v, %v", got, err)
	}
	_, err := parser.ParseSearchStatus([]byte(`{"executionHost":"all"}`))
	wantFault(t, err, "executionHost", contract.CodeInvalidConfig, `"all"`)

	if _, err := parser.ParseClear([]byte(`{"x":1,"executionHost":null}`)); err != nil {
		t.Errorf("clear: %v", err)
	}
	// Clearing this machine's index is not what was asked for.
	_, err = parser.ParseClear([]byte(`{"executionHost":"ssh:box"}`))
	wantFault(t, err, "executionHost", contract.CodeInvalidConfig, "local host only")
	if got, err := parser.ParseForgetSession([]byte(`{"sessionId":"s-1","agent":"pi","x":1,"executionHost":"local"}`)); err != nil || got.SessionID != "s-1" || got.Agent != "pi" {
		t.Errorf("forgetSession: %+v, %v", got, err)
	}
	for _, bad := range []struct{ raw, field, says string }{
		{`{}`, "sessionId", "is required"}, {`{"sessionId":""}`, "sessionId", "is required"}, {`{"sessionId":7}`, "sessionId", "want a string"},
		{`{"sessionId":"s","agent":"clade"}`, "agent", "clade"}, {`{"sessionId":"s","executionHost":"ssh:box"}`, "executionHost", "local host only"},
	} {
		_, err = parser.ParseForgetSession([]byte(bad.raw))
		wantFault(t, err, bad.field, contract.CodeInvalidConfig, bad.says)
	}
	if _, err := parser.ParseGetPolicy(nil); err != nil {
		t.Errorf("getPolicy: %v", err)
	}
	_, err = parser.ParseGetPolicy([]byte(`7`))
	wantFault(t, err, "arguments", contract.CodeInvalidConfig, "want one object")
}

func TestParseArguments(t *testing.T) {
	for raw, want := range map[string]string{
		``: `{}`, `null`: `{}`, `[]`: `{}`, ` [ ] `: `{}`, `[{"query":"x"}]`: `{"query":"x"}`,
	} {
		got, err := contract.ParseArguments([]byte(raw))
		if err != nil || string(got) != want {
			t.Errorf("%q: got %s, %v, want %s", raw, got, err, want)
		}
	}
	for _, raw := range []string{`{}`, `"x"`, `[{},{}]`, `[null]`, `["x"]`, `[[]]`, `[1]`, `[{}`, `7`, `nonsense`} {
		_, err := contract.ParseArguments([]byte(raw))
		wantFault(t, err, "arguments", contract.CodeInvalidConfig, "")
	}
	if got, err := contract.ParseArgumentList[json.RawMessage](nil); err != nil || string(got) != "{}" {
		t.Errorf("got %s, %v", got, err)
	}
}

func FuzzParseSearchSessions(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"query":"x"}`, `{"query":"\ud800","limit":1e400}`, "{\"query\":\"\xff\"}", `{"query":"x","filters":{"agents":["claude"],"scopePaths":["C:\\x"]}}`,
		`{"query":"x","filters":{"since":"2026-11-01T10:00:00Z","createdAt":{"from":"0000-01-01T00:00:00Z"},"events":{"seq":{"from":-1.5,"to":1e20}}}}`,
		`{"query":"x","filters":{"cwds":[null,""],"parents":[],"presence":["present"],"relations":["fork"]}}`,
		`{"query":"x","query":null}`, `[[[[`, `{"query":"x","executionHost":"ssh:[::1]"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		request, err := contract.Parser{}.ParseSearchSessions(raw)
		if err != nil {
			var fault *contract.Error
			if !errors.As(err, &fault) || fault.Code == "" || fault.Field == "" || fault.RPCCode != contract.RPCInvalidParams {
				t.Fatalf("%q: %#v", raw, err)
			}
			return
		}
		if request.Limit < 1 || request.Limit > contract.MaxLimit {
			t.Errorf("limit %d", request.Limit)
		}
		sent, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		again, err := contract.Parser{}.ParseSearchSessions(sent)
		if err != nil || !reflect.DeepEqual(again, request) {
			t.Errorf("%q was sent on as %q and read as %+v, %v", raw, sent, again, err)
		}
	})
}
