package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

func TestExitCodes(t *testing.T) {
	for _, tc := range []exitCase{
		{"ok", []string{"search", "tide"}, ExitAnswered, ""},
		{"ok", []string{"search", "nothing"}, ExitNoMatch, "no session matches"},
		{"ok", []string{"search", "--agent", "pi"}, ExitAnswered, ""},
		{"ok", []string{"search"}, ExitUsage, "QUERY: words to look for are required"},
		{"ok", []string{"search", " "}, ExitUsage, "QUERY"},
		{"ok", []string{"search", "x", "--scope", "some"}, ExitUsage, `--scope: "some" is not known; allowed: conversation, all`},
		{"ok", []string{"search", "x", "--sort", "oldest"}, ExitUsage, `--sort: "oldest" is not known; allowed: relevance, newest`},
		{"ok", []string{"search", "x", "--agent", "clade"}, ExitUsage, `--agent: "clade" is not known; allowed: claude, codex, pi`},
		{"ok", []string{"search", "x", "--limit", "many"}, ExitUsage, `--limit: "many" is not known; want a whole number`},
		{"ok", []string{"search", "x", "--since", "tuesday"}, ExitUsage, `--since: "tuesday" is no time; allowed: 12h, 7d`},
		{"ok", []string{"search", "x", "--since", ""}, ExitUsage, `--since: "" is no time`},
		{"ok", []string{"search", "x", "--until", "2026-13-01T00:00:00Z"}, ExitUsage, "--until: "},
		{"ok", []string{"search", "x", "--path", ""}, ExitUsage, "--path: "},
		{"ok", []string{"search", "x", "--host", "all"}, ExitUsage, "--host: "},
		{"ok", []string{"search", "x", "--host", "ssh:-oProxyCommand=x"}, ExitUsage, "--host: "},
		{"ok", []string{"search", "x", "--host", "ssh:box"}, ExitUnavailable, "no search service on ssh:box"},
		{"ok", []string{"search", "x", "--cursor", "nonsense"}, ExitUsage, "--cursor: this is no cursor of this search"},
		{"ok", []string{"search", "x", "--cursor", ""}, ExitUsage, "--cursor: "},
		{"stale", []string{"search", "x", "--cursor", "old"}, ExitFailed, "--cursor: the index has changed"},
		{"not-ready", []string{"search", "x"}, ExitUnavailable, "cannot be opened"},
		{"disabled", []string{"search", "x"}, ExitUnavailable, "sessionls enable"},
		{"disabled", []string{"index"}, ExitUnavailable, "sessionls enable"},
		{"disabled", []string{"show", "3b0f7c52"}, ExitUnavailable, "sessionls enable"},
		{"undecided", []string{"show", "3b0f7c52"}, ExitUnavailable, "sessionls enable"},
		{"broken", []string{"search", "x"}, ExitFailed, "disk I/O error"},
		{"unopenable", []string{"status"}, ExitFailed, "no space left on device"},
		{"nothing", []string{"search", "x"}, ExitNoMatch, "/home/dev/.codex/archived_sessions"},
		{"nothing", []string{"index"}, ExitNoMatch, "No transcripts were found"},
		{"ok", []string{"search", "x", "--nonsense"}, ExitUsage, "--nonsense"},
		{"ok", []string{"serach", "x"}, ExitUsage, "did you mean `sessionls search`?"},
		{"ok", []string{"tide", "it's"}, ExitUsage, `sessionls search tide 'it'\''s'`},
		{"ok", []string{"status", "extra"}, ExitUsage, ""},
		{"ok", []string{"status", "--host", "nowhere"}, ExitUsage, "--host: "},
		{"ok", []string{"status", "--color", "blue"}, ExitUsage, `--color: "blue" is not known; allowed: auto, always, never`},
		{"ok", []string{"enable", "--days", "0"}, ExitAnswered, ""},
		{"ok", []string{"enable", "--days", "4000"}, ExitUsage, "--days: want a whole number from 1 to 3650"},
		{"ok", []string{"enable", "--days", "-1"}, ExitUsage, "--days: "},
		{"ok", []string{"show"}, ExitUsage, "SESSION: exactly one session is required"},
		{"ok", []string{"show", "a", "b"}, ExitUsage, "SESSION"},
		{"ok", []string{"forget"}, ExitUsage, "SESSION: exactly one session is required"},
		{"ok", []string{"forget", "3b0f7c52"}, ExitUsage, "no terminal to ask on"},
		{"ok", []string{"forget", "3b0f7c52", "--yes"}, ExitAnswered, ""},
		{"ok", []string{"forget", "unknown-id", "-y"}, ExitNoMatch, `no session "unknown-id"`},
		{"disabled", []string{"forget", "3b0f7c52", "--yes"}, ExitUnavailable, "sessionls enable"},
		{"ok", []string{"show", "unknown-id"}, ExitNoMatch, `no session "unknown-id"`},
		{"ok", []string{"show", "ambiguous"}, ExitFailed, "  pi:ambiguous-1\n  codex:ambiguous-2  a title\n"},
		{"ok", []string{"show", "3b0f7c52", "--around", "99"}, ExitNoMatch, "the session has no event 99"},
		{"ok", []string{"show", "3b0f7c52", "--around", "-1"}, ExitUsage, "0 or more"},
		{"ok", []string{"show", "3b0f7c52", "--limit", "0"}, ExitUsage, "--limit: 0 is out of bounds; allowed: 1 to 1000"},
		{"ok", []string{"show", "3b0f7c52", "--around", "1", "--from", "1"}, ExitUsage, "do not go together"},
		{"ok", []string{"doctor"}, ExitAnswered, ""},
		{"sick", []string{"doctor"}, ExitFailed, ""},
		{"ok", []string{"clear"}, ExitAnswered, ""},
		{"ok", []string{"disable"}, ExitAnswered, ""},
		{"ok", []string{"config"}, ExitAnswered, ""},
		{"ok", []string{"version"}, ExitAnswered, ""},
		{"ok", []string{"completion", "tcsh"}, ExitUsage, "SHELL: "},
		{"ok", []string{"help", "query"}, ExitAnswered, ""},
		{"ok", []string{"help", "nonsense"}, ExitUsage, `no help on "nonsense"`},
		{"ok", []string{"bench"}, ExitAnswered, "measuring 100 MB"},
		{"ok", []string{"bench", "--rows", "Index, query"}, ExitAnswered, "rows [index query]"},
		{"ok", []string{"bench", "--rows", "speed"}, ExitUsage, `--rows: "speed" is not known; allowed: index, refresh, query`},
		{"ok", []string{"bench", "--mb", "0"}, ExitUsage, "--mb: "},
		{"ok", []string{"bench", "--queries", "-1"}, ExitUsage, "--queries: "},
		{"ok", []string{"bench", "--seed", "-1"}, ExitUsage, "--seed: "},
		{"ok", []string{"bench", "relevance"}, ExitAnswered, "20 needles"},
		{"ok", []string{"bench", "relevance", "--corpus", "."}, ExitUsage, "--corpus and --truth go together"},
		{"ok", []string{"bench", "relevance", "--together"}, ExitUsage, "--together: it needs --locomo"},
		{"ok", []string{"bench", "relevance", "--needles", "0"}, ExitUsage, "--needles: 0 leaves nothing"},
		{"ok", []string{"bench", "relevance", "--needles", "1001"}, ExitUsage, "--needles: "},
		{"ok", []string{"bench", "speed"}, ExitUsage, "speed"},
		{"ok", []string{"bench", "pass"}, ExitUsage, "--home and --own are required"},
		{"broken", []string{"bench"}, ExitFailed, "disk I/O error"},
		{"ok", []string{"serve"}, 7, ""},
		{"ok", nil, 7, ""},
	} {
		t.Run(strings.Join(append([]string{tc.scenario}, tc.args...), " "), func(t *testing.T) {
			t.Parallel()
			tc.check(t)
		})
	}
}

// exitCase is a command line, how it ends and what it tells.
type exitCase struct {
	scenario string
	args     []string
	code     int
	err      string // in standard error
}

func (tc exitCase) check(t *testing.T) {
	t.Helper()
	got := run(tc.scenario, tc.args...)
	if got.code != tc.code || !strings.Contains(got.err, tc.err) {
		t.Errorf("exit code %d, want %d; standard error:\n%s\nwants %q", got.code, tc.code, got.err, tc.err)
	}
	if tc.code >= ExitUsage && tc.code <= ExitFailed && tc.scenario != "sick" {
		if got.out != "" {
			t.Errorf("standard output: %q", got.out)
		}
		if !strings.HasPrefix(got.err, "sessionls: ") {
			t.Errorf("standard error: %q", got.err)
		}
	}
	if strings.ContainsAny(got.out+got.err, "\x1b\a") {
		t.Errorf("escapes in a pipe: %q", got.out+got.err)
	}
}

func TestFlagsBecomeTheRequest(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"a", "b"}, `query="a b" scope=all fresh=indexed limit=20 cursor=- agents=[] paths=[] since=- sort=relevance`},
		{[]string{"--", "-x", "--y"}, `query="-x --y"`},
		{[]string{`"a b"`, "not:c"}, `query="\"a b\" not:c"`},
		{[]string{"x", "--fresh", "--scope=conversation", "--sort", "newest"}, `query="x" scope=conversation fresh=wait-until-current limit=20 cursor=- agents=[] paths=[] since=- sort=newest`},
		{[]string{"x", "--agent", "pi,codex", "-a", "dsh"}, "agents=[pi codex dsh]"},
		{[]string{"x", "--limit", "1000"}, "limit=100"},
		{[]string{"x", "-n", "0"}, "limit=1 "},
		{[]string{"x", "--since", "7d", "--until", "2026-11-01"}, `query="since:7d until:2026-11-01 x"`},
		{[]string{"--since", "today"}, `query="since:today"`},
		{[]string{"x", "--since", "2026-03-01T10:00:00+01:00"}, "since=2026-03-01T09:00:00.000Z"},
		{[]string{"x", "--path", "."}, `paths=["` + here + `"]`},
		{[]string{"x", "-p", "/a/../b", "-p", `C:\x`}, `paths=["/b" "C:\\x"]`},
		{[]string{"x", "--cursor", "abc"}, "cursor=abc "},
	} {
		got := run("echo", append([]string{"search"}, tc.args...)...)
		if !strings.Contains(got.err, tc.want) {
			t.Errorf("%q:\n got %s\nwant %s", tc.args, got.err, tc.want)
		}
	}
}

func TestConsentIsToldInOneLine(t *testing.T) {
	for _, args := range [][]string{{"search", "tide"}, {"index"}, {"search", "tide", "--json"}} {
		got := run("undecided", args...)
		if got.code != ExitAnswered {
			t.Fatalf("%q: exit code %d: %s", args, got.code, got.err)
		}
		first, _, _ := strings.Cut(got.err, "\n")
		if !strings.HasPrefix(first, "Search is now on") || strings.Count(got.err, "Search is now on") != 1 {
			t.Errorf("%q: %q", args, got.err)
		}
	}
	if got := run("ok", "search", "tide", "--json"); got.err != "" {
		t.Errorf("decided, yet told: %q", got.err)
	}
	// Looking at the status decides nothing.
	if got := run("undecided", "status"); !strings.Contains(got.out, "not decided yet") || got.err != "" {
		t.Errorf("%q, %q", got.out, got.err)
	}
}

// TestJSONIsTheContractsAnswer compares --json with what the contract's own types
// make of the answer.
func TestJSONIsTheContractsAnswer(t *testing.T) {
	results := fixedResults()
	results.Debug = nil
	status := newFake("ok").status
	for _, tc := range []struct {
		scenario string
		args     []string
		want     any
		code     int
	}{
		{"ok", []string{"search", "tide"}, contract.ResultsResponse(results), 0},
		{"ok", []string{"search", "tide", "--debug"}, contract.ResultsResponse(fixedResults()), 0},
		{"ok", []string{"search", "nothing"}, contract.ResultsResponse(contract.SearchResults{Total: contract.Total{Exact: true}}), 1},
		{"ok", []string{"search", "x", "--cursor", "bad"}, contract.MalformedResponse(), 2},
		{"stale", []string{"search", "x"}, contract.StaleResponse(5, 4), 4},
		{"disabled", []string{"search", "x"}, contract.UnavailableResponse(contract.ReasonDisabled), 3},
		{"not-ready", []string{"search", "x"}, contract.UnavailableResponse(contract.ReasonNotReady), 3},
		{"ok", []string{"search", "x", "--host", "ssh:box"}, contract.UnavailableResponse(contract.ReasonNoService), 3},
		{"ok", []string{"status"}, status, 0},
		{"ok", []string{"index"}, func() contract.Status {
			s := status
			s.LastReconcileAt = ptr(fixedNow.UnixMilli())
			return s
		}(), 0},
		{"ok", []string{"clear"}, contract.ClearResponse{Cleared: true, Identity: "new"}, 0},
		{"ok", []string{"forget", "pi:s-1", "--yes"}, contract.ForgetSessionResponse{
			Forgotten: contract.List[contract.SessionName]{
				{Agent: fixedTranscript().Session.Agent, SessionID: fixedTranscript().Session.SessionID},
				{Agent: fixedTranscript().Session.Agent, SessionID: fixedTranscript().Session.SessionID + "#agent-1"},
			},
			Generation: 10,
		}, 0},
		{"ok", []string{"enable", "--days", "30"}, contract.Policy{Enabled: ptr(true), HistoryDays: ptr(30)}, 0},
		{"ok", []string{"disable"}, contract.Policy{Enabled: ptr(false)}, 0},
		{"ok", []string{"doctor"}, fixedReport(), 0},
		{"ok", []string{"config"}, fixedConfig(), 0},
		{"ok", []string{"show", "3b0f7c52"}, fixedTranscript(), 0},
		{"ok", []string{"version"}, Version{Version: "1.2.3", Commit: "abc", Go: "go1", OS: "linux", Arch: "amd64", SQLite: "3.0", FTS5: true}, 0},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			t.Parallel()
			got := run(tc.scenario, append(tc.args, "--json")...)
			if got.code != tc.code {
				t.Errorf("exit code %d, want %d: %s", got.code, tc.code, got.err)
			}
			oneLine(t, got.out)
			raw, err := json.Marshal(tc.want)
			if err != nil {
				t.Fatal(err)
			}
			if !sameJSON(t, got.out, string(raw)) {
				t.Errorf("got  %s\nwant %s", got.out, raw)
			}
		})
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	canonical := func(s string) string {
		var v any
		if err := json.Unmarshal([]byte(s), &v); err != nil {
			t.Fatalf("%v: %s", err, s)
		}
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	return canonical(a) == canonical(b)
}

func TestInterrupt(t *testing.T) {
	for _, args := range [][]string{{"search", "x"}, {"index"}, {"index", "--json"}, {"hosts", "--check"}, {"hosts", "--check", "--json"}} {
		cmd := program("interrupt", args...)
		errs, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		reader := bufio.NewReader(errs)
		for {
			line, err := reader.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if line == "reconciling\n" {
				break
			}
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the exit code is looked at
		if code := cmd.ProcessState.ExitCode(); code != ExitInterrupted || !strings.Contains(string(rest), "interrupted") {
			t.Errorf("%q: exit code %d, %q", args, code, rest)
		}
	}
}

func TestColours(t *testing.T) {
	for _, tc := range []struct {
		env    []string
		args   []string
		colour bool
	}{
		{nil, nil, false},
		{nil, []string{"--color", "always"}, true},
		{[]string{"NO_COLOR=1"}, []string{"--color=always"}, true},
		{[]string{"TERM=dumb"}, nil, false},
		{nil, []string{"--color", "never"}, false},
	} {
		cmd := program("ok", append([]string{"search", "tide"}, tc.args...)...)
		cmd.Env = append(cmd.Env, tc.env...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(out), "\x1b["); got != tc.colour {
			t.Errorf("%q %q: colour is %v", tc.env, tc.args, got)
		}
	}
}

func TestCompletion(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"search", "x", "--agent", ""}, contract.Agents()},
		{[]string{"search", "x", "--scope", ""}, []string{"conversation", "all"}},
		{[]string{"search", "x", "--sort", ""}, []string{"relevance", "newest"}},
		{[]string{"search", "agent:c"}, []string{"agent:claude", "agent:codex", "agent:copilot", "agent:cursor", "agent:cline"}},
		{[]string{"search", "is:f"}, []string{"is:fork"}},
		{[]string{"search", "ro"}, []string{"role:"}},
		{[]string{"completion", ""}, []string{"bash", "zsh", "fish", "powershell"}},
		{[]string{"--color", ""}, []string{"auto", "always", "never"}},
		{[]string{"sea"}, []string{"search"}},
	} {
		got := run("ok", append([]string{"__complete"}, tc.args...)...)
		var words []string
		for line := range strings.SplitSeq(strings.TrimSpace(got.out), "\n") {
			if word, _, _ := strings.Cut(line, "\t"); word != "" && !strings.HasPrefix(word, ":") {
				words = append(words, word)
			}
		}
		if strings.Join(words, " ") != strings.Join(tc.want, " ") {
			t.Errorf("%q: %q, want %q", tc.args, words, tc.want)
		}
	}
	for _, shell := range shells() {
		if got := run("ok", "completion", shell); got.code != 0 || !strings.Contains(got.out, "__complete") {
			t.Errorf("%s: exit code %d, %d bytes", shell, got.code, len(got.out))
		}
	}
}

// TestHelpTeaches holds every command to an explanation, and those with arguments
// or flags of their own to examples.
func TestHelpTeaches(t *testing.T) {
	root := (&app{opts: Options{}}).root()
	for _, c := range root.Commands() {
		got := run("ok", c.Name(), "--help")
		if got.code != 0 || !strings.Contains(got.out, "Usage:") || c.Short == "" {
			t.Errorf("%s: exit code %d\n%s", c.Name(), got.code, got.out)
		}
		if strings.Contains(c.Use, " ") && !strings.Contains(got.out, "Examples:") {
			t.Errorf("%s has no example", c.Name())
		}
		for line := range strings.SplitSeq(got.out, "\n") {
			if textWidth(line) > 120 {
				t.Errorf("%s: a line of %d columns: %s", c.Name(), textWidth(line), line)
			}
		}
	}
	search := run("ok", "search", "--help").out
	for _, op := range operators() {
		if !strings.Contains(search, op.name) {
			t.Errorf("search --help does not explain %s", op.name)
		}
	}
	golden(t, "help", run("ok", "--help").out)
	golden(t, "help-query", run("ok", "help", "query").out)
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	for _, args := range [][]string{{"search", "tide"}, {"search", "tide", "--json"}, {"show", "3b0f7c52"}, {"status"}, {"--help"}} {
		cmd := program("ok", args...)
		var errs strings.Builder
		cmd.Stdout, cmd.Stderr = full, &errs
		_ = cmd.Run() // the exit code is looked at
		if code := cmd.ProcessState.ExitCode(); code != ExitFailed || !strings.Contains(errs.String(), "writing the answer") {
			t.Errorf("%q: exit code %d, %q", args, code, errs.String())
		}
	}
}
