package query_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/transcript"
)

// TestLowerRungs holds rules 8 and 9 against real indexes: what is found where
// no session has the word as it was typed, by which route, and what the query
// became.
func TestLowerRungs(t *testing.T) {
	titled := func(id, title string, texts ...string) storetest.Session {
		s := storetest.Talk(id, texts...)
		s.Header.Title = title
		return s
	}
	tool := func(id, text string) storetest.Session {
		return storetest.Session{Header: transcript.Header{SessionID: id, Title: "zz"}, Events: []transcript.Event{storetest.Say("tool", text)}}
	}
	one := func(text string) []storetest.Session { return []storetest.Session{titled("s", "zz", text)} }
	cases := []struct {
		name     string
		sessions []storetest.Session
		query    string
		want     string // sessions in order
		route    string
		repaired string
	}{
		// Rule 8: one edit up to seven letters, two above.
		{"a letter missing", one("the terminal"), "terminl ", "s", "typo+phrase", "terminal"},
		{"while it is typed", one("the terminal"), "terminl", "s", "typo+phrase", "terminal"},
		{"a letter too many", one("a parser"), "parsser ", "s", "typo+phrase", "parser"},
		{"a wrong letter", one("a parser"), "parzer ", "s", "typo+phrase", "parser"},
		{"a wrong first letter", one("a parser"), "oarser ", "s", "typo+phrase", "parser"},
		{"the first letter missing", one("a parser"), "arser ", "s", "typo+phrase", "parser"},
		{"neighbours swapped count one", one("a parser"), "aprser ", "s", "typo+phrase", "parser"},
		{"seven letters: two edits are too many", one("a parsers"), "parzirs ", "", "or", ""},
		{"eight letters: two edits", one("the terminal"), "tarminel ", "s", "typo+phrase", "terminal"},
		{"eight letters: three edits are too many", one("the terminal"), "tarmunol ", "", "or", ""},
		{"a stop word stays", one("see teh"), "the ", "", "or", ""},
		{"Cyrillic, by characters", one("сломана база данных"), "даных ", "s", "typo+phrase", "данных"},
		{"Greek, without its accent", one("η βάση δεδομένων"), "δεδομενον ", "s", "typo+phrase", "δεδομενων"},
		{"German", one("die größte Zahl"), "größre ", "s", "typo+phrase", "grosste"},
		{"in tool output", []storetest.Session{tool("s", "segfault in libcairo")}, "segfualt ", "s", "typo+phrase", "segfault"},
		{"in a title", []storetest.Session{titled("s", "Mend the terminal")}, "terminl ", "s", "typo+phrase", "terminal"},
		{"another number is another word", one("error E0308 in line60"), "E0307 line61 ", "", "or", ""},
		{"letters beside a number", one("as utf8mb4 text"), "utf8bm4 ", "s", "typo+phrase", "utf8mb4"},
		{"a number is never repaired", one("port 80801"), "80802 ", "", "or", ""},
		{"an address is never repaired", one("host 10.0.0.5"), "10.0.0.6 ", "", "or", ""},
		{"a quoted word is never repaired", one("the terminal"), `"terminl"`, "", "or", ""},
		{"a word the index holds is never changed", []storetest.Session{titled("a", "zz", "a term"), titled("b", "zz", "a tern")}, "tern ", "b", "phrase", ""},
		{"nor one it holds elsewhere", []storetest.Session{tool("a", "a tern"), titled("b", "zz", "a term")}, "tern agent:codex", "", "or", ""},
		{
			"the nearer before the commoner",
			[]storetest.Session{titled("far", "zz", "container", "container"), titled("near", "zz", "the contained")}, "contaimed ", "near", "typo+phrase", "contained",
		},
		{
			"of equally near ones the commoner counts",
			append([]storetest.Session{titled("rare", "zz", "a qooll")}, many(12, "a quill")...), "qoill ",
			"s00 s01 s02 s03 s04 s05 s06 s07 s08 s09 s10 s11", "typo+phrase", "quill",
		},
		{
			"unless the filters leave only the rarer",
			append([]storetest.Session{{Agent: "codex", Header: transcript.Header{SessionID: "rare", Title: "zz"}, Events: []transcript.Event{storetest.Say("user", "a qooll")}}},
				many(12, "a quill")...), "qoill agent:codex", "rare", "typo+phrase", "qooll",
		},
		// Inside identifiers.
		{"a part of an identifier", one("see resolveTerminalPath()"), "resolveTerminlPath ", "s", "typo+phrase", "resolve terminal path"},
		{"in snake case", one("see resolveTerminalPath()"), "resolve_termnal_path ", "s", "typo+phrase", "resolve terminal path"},
		{"all joined", one("see resolve_terminal_path"), "resolvterminalpath ", "s", "typo+phrase", "resolveterminalpath"},
		{"a path", one("in src/terminal/main.go"), "src/terminl/main.go ", "s", "typo+phrase", "src terminal main go"},
		{"a path being typed", one("in src/terminal/main.go"), "src/terminl/ma", "s", "typo+phrase", "src terminal ma"},
		{"two parts of a path", one("in source/terminal/main.go"), "sorce/terminl/main.go ", "s", "typo+phrase", "source terminal main go"},
		{"a compound of a number stays", one("app.9000"), "app.9001 ", "", "or", ""},
		// Several words.
		{"one of several words", one("the quick terminal path"), "quick terminl path ", "s", "typo+phrase", "quick terminal path"},
		{"several words apart", one("a path, quick, to the terminal"), "quick terminl ", "s", "typo+and", "quick terminal"},
		{"not all of them", one("a terminal"), "zzqx terminl ", "s", "typo+or", "zzqx terminal"},
		{"a word nobody has", one("a terminal"), "terminal zzqx ", "s", "or", ""},
		{"an unknown word beside a quoted one", one("the quick terminal"), `"quick" terminl `, "s", "typo+phrase", "quick terminal"},
		// Rule 9.
		{"inside a word", one("I use opencode"), "code ", "s", "substring", ""},
		{"the beginning of a word", one("the terminal"), "termi ", "s", "substring", ""},
		{"the end of a word", one("the terminal"), "minal ", "s", "substring", ""},
		{"the beginning of a word that is not the last", one("the terminal path"), "termi path", "s", "substring", ""},
		{"inside a joined identifier", one("see resolveTerminalPath"), "minalpat ", "s", "substring", ""},
		{"in any spelling", one("see resolveTerminalPath"), "minal_pat ", "s", "substring", ""},
		{"Cyrillic inside a word", one("новая кодировка"), "одиров ", "s", "substring", ""},
		{"two characters are not looked for inside", one("the terminal"), "mi ", "", "or", ""},
		{"numbers are not looked for inside", one("took 17000 ms"), "700 ", "", "or", ""},
		{"a quoted word is not looked for inside", one("I use opencode"), `"code"`, "", "or", ""},
		{"inside and beside", one("a quill in opencode"), "quill code ", "s", "substring", ""},
		// The order of rungs; a lower one is not mixed in.
		{
			"prefix before everything", []storetest.Session{titled("prefix", "zz", "marmots1"), titled("near", "zz", "marmit"), titled("inside", "zz", "amarmotb")},
			"marmot ", "prefix", "substring", "",
		},
		{
			"one edit before inside", []storetest.Session{titled("near", "zz", "marmit"), titled("inside", "zz", "amarmotb")}, "marmot ", "near", "typo+phrase", "marmit",
		},
		{
			"inside before two edits", []storetest.Session{titled("far", "zz", "terminab"), titled("inside", "zz", "xterminolx")}, "terminol ", "inside", "substring", "",
		},
		{
			"a rung without a session under the filters is passed",
			[]storetest.Session{titled("near", "zz", "marmit"), {Agent: "codex", Header: transcript.Header{SessionID: "inside", Title: "zz"}, Events: []transcript.Event{storetest.Say("user", "amarmotb")}}},
			"marmot agent:codex ", "inside", "substring", "",
		},
		{
			"or under the role", []storetest.Session{tool("near", "marmit"), titled("inside", "zz", "amarmotb")}, "marmot role:user ", "inside", "substring", "",
		},
		{"an unknown word finds nothing", one("a terminal"), "zzqx ", "", "or", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := storetest.Path(t)
			storetest.Build(t, path, c.sessions...)
			req := contract.NewSearchSessionsRequest(c.query)
			req.Debug = true
			res := ask(t, storetest.Open(t, path), req).Results
			got := strings.Fields(ids(res))
			if strings.HasPrefix(c.want, "s00") {
				slices.Sort(got)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("found %q, want %q", s, c.want)
			}
			if r := string(res.Debug.Route); r != c.route && !(c.want == "" && r == "or") {
				t.Errorf("route %s, want %s", r, c.route)
			}
			if s := strings.Join(res.Debug.RepairedTerms, " "); s != c.repaired {
				t.Errorf("repaired %q, want %q", s, c.repaired)
			}
			if !slices.Equal(res.Debug.RepairedTerms, res.Debug.PlannerReport.RepairedTerms) {
				t.Errorf("two accounts: %v and %v", res.Debug.RepairedTerms, res.Debug.PlannerReport.RepairedTerms)
			}
			if !res.Total.Exact || res.Total.Sessions != len(res.Hits) {
				t.Errorf("total %+v of %d hits", res.Total, len(res.Hits))
			}
			if len(res.Hits) > 0 {
				checkMarks(t, res.Hits[0].Evidence)
			}
		})
	}
}

// many are n sessions that say the same.
func many(n int, text string) []storetest.Session {
	out := make([]storetest.Session, n)
	for i := range out {
		out[i] = storetest.Talk(fmt.Sprintf("s%02d", i), text)
	}
	return out
}

// TestLowerRungsInScope: in the conversation a word of tool output is held, so
// it is not changed; one that is only near to it is not looked for there.
func TestLowerRungsInScope(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path,
		storetest.Session{Header: transcript.Header{SessionID: "tool", Title: "zz"}, Events: []transcript.Event{storetest.Say("tool", "a marmot and opencodes")}},
		storetest.Session{Header: transcript.Header{SessionID: "talk", Title: "zz"}, Events: []transcript.Event{storetest.Say("user", "a marmit and barcodes")}})
	r := storetest.Open(t, path)
	for _, c := range []struct{ query, want string }{{"marmot ", ""}, {"marmt ", "talk"}, {"codes ", "talk"}, {"pencode ", ""}} {
		req := contract.NewSearchSessionsRequest(c.query)
		req.Scope = contract.ScopeConversation
		if got := ids(ask(t, r, req).Results); got != c.want {
			t.Errorf("%q: %q, want %q", c.query, got, c.want)
		}
	}
}

// TestLowerRungsUnderDeepFilters: a rung must find an event that the filter
// lets pass.
func TestLowerRungsUnderDeepFilters(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("near", "first", "marmit"), storetest.Talk("inside", "amarmotb", "second"))
	from := int64(0)
	req := contract.NewSearchSessionsRequest("marmot ")
	req.Debug = true
	req.Filters.Events = &contract.EventFilters{Seq: &contract.SeqRange{From: &from, To: &from}}
	res := ask(t, storetest.Open(t, path), req).Results
	if ids(res) != "inside" || res.Debug.Route != contract.RouteSubstring {
		t.Errorf("%q by %s", ids(res), res.Debug.Route)
	}
}

// TestMoreWordsThanAreTried: where more words contain a word than stand for it,
// and where more words are unknown than are looked for, the total is a lower bound.
func TestMoreWordsThanAreTried(t *testing.T) {
	var sessions []storetest.Session
	for i := range 150 {
		sessions = append(sessions, storetest.Talk(fmt.Sprintf("s%d", i), fmt.Sprintf("a%cx%cmarmot", 'a'+i/26, 'a'+i%26)))
	}
	path := storetest.Path(t)
	storetest.Build(t, path, sessions...)
	r := storetest.Open(t, path)
	res := search(t, r, "marmot ")
	if res.Total.Exact || !res.Truncated.Candidates || res.Total.Sessions < 100 {
		t.Errorf("total %+v, truncated %+v", res.Total, res.Truncated)
	}
	req := contract.NewSearchSessionsRequest("marmot ")
	req.Filters.Sort = contract.SortNewest // is always exact
	if res = ask(t, r, req).Results; !res.Total.Exact || res.Total.Sessions != 150 {
		t.Errorf("sorted by time: total %+v", res.Total)
	}
	res = search(t, r, strings.Repeat("zzqx zzqy zzqv zzqw ", 5))
	if res.Total.Sessions != 0 || res.Total.Exact {
		t.Errorf("total %+v", res.Total)
	}
}

// TestLowerRungsCanBeCancelled: a search that was given up does not walk through
// the vocabulary.
func TestLowerRungsCanBeCancelled(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("s", "the terminal"))
	r := storetest.Open(t, path)
	snap, err := r.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	words, err := snap.Vocabulary(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := words.Near(ctx, "terminl", 2); err == nil {
		t.Error("no error")
	}
}
