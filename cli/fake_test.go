package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// asProgram makes the test binary sessionls over a fake service, whose behaviour
// the variable names.
const asProgram = "SESSIONLS_TEST_CLI"

func TestMain(m *testing.M) {
	if scenario := os.Getenv(asProgram); scenario != "" {
		opts := options(scenario, os.Args[1:])
		opts.In, opts.Out, opts.Err, opts.Getenv = os.Stdin, os.Stdout, os.Stderr, os.Getenv
		os.Exit(Main(context.Background(), opts))
	}
	os.Exit(m.Run())
}

// options are those of a run over a fake service, with no input and without an
// environment.
func options(scenario string, args []string) Options {
	return Options{
		Args: args, In: strings.NewReader(""),
		Version: Version{Version: "1.2.3", Commit: "abc", Go: "go1", OS: "linux", Arch: "amd64", SQLite: "3.0", FTS5: true},
		Open: func(context.Context) (Service, error) {
			if scenario == "unopenable" {
				return nil, errors.New("no space left on device")
			}
			return newFake(scenario), nil
		},
		Serve:  func(context.Context) int { return 7 },
		Bench:  fakeBench{scenario},
		Quote:  fakeQuote,
		Now:    func() time.Time { return fixedNow },
		Getenv: func(string) string { return "" },
	}
}

var fixedNow = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func at(s string) *contract.Instant {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	i := contract.InstantOf(t)
	return &i
}

func ptr[T any](v T) *T { return &v }

func fixedConfig() Config {
	return Config{
		Path: "/home/dev/.config/sessionls/config.toml", Exists: true,
		Exclude: contract.List[string]{"~/private", "**/\x1b[2Jsecret"}, Roots: map[string][]string{"pi": {"/b"}, "codex": {"/a"}},
		Hosts:     map[string]ConfiguredHost{"dev-box": {Label: "Dev \x1b[2J", Command: []string{"docker", "exec"}, Terminal: []string{"docker"}}},
		Warnings:  contract.List[string]{"the key x is not known"},
		Explained: "# Everything is optional.\n#\n# exclude = []\n",
		Files:     contract.List[OwnFile]{{What: "index", Path: "/home/dev/.local/share/sessionls/index.db"}},
	}
}

// fake is a service that behaves as its scenario says.
type fake struct {
	contract.Commands
	scenario string
	policy   contract.Policy
	status   contract.Status
}

func newFake(scenario string) *fake {
	f := &fake{scenario: scenario, policy: contract.Policy{Enabled: ptr(true)}}
	f.status = contract.Status{
		Enabled: true, Decided: true, Phase: contract.PhaseCurrent, FilesIndexed: 3, Sessions: 2, Events: 1234, IndexBytes: 56789, Generation: 9, Identity: "id",
		LastReconcileAt: ptr(fixedNow.Add(-time.Hour).UnixMilli()), LastSweepCompletedAt: ptr(fixedNow.Add(-time.Hour).UnixMilli()), Writer: contract.WriterNone,
		Agents: contract.List[contract.AgentStatus]{
			{Agent: "claude", Label: "Claude Code", Roots: []string{"/home/dev/.claude/projects"}, Sessions: 2, Events: 1234},
			{Agent: "codex", Label: "Codex", Roots: []string{"/home/dev/.codex/sessions", "/home/dev/.codex/archived_sessions"}, Failed: 1},
		},
	}
	switch scenario {
	case "undecided":
		f.policy = contract.Policy{}
	case "disabled":
		f.policy = contract.Policy{Enabled: ptr(false)}
	case "first", "nothing", "interrupt":
		f.status.Sessions = 0
	}
	if !f.policy.Allows() {
		f.status = contract.IdleStatus(f.policy.Decided())
	}
	return f
}

func (f *fake) KnownHosts(context.Context) ([]KnownHost, error) {
	if f.scenario == "misconfigured" {
		return nil, errors.New("read the configuration /c: hosts must be a table")
	}
	return []KnownHost{
		{Host: contract.LocalHost, Label: "this machine", Source: "local"},
		{Host: "runtime:dev", Label: "Dev \x1b[2Jcontainer", Source: "config"},
		{Host: "ssh:box", Label: "box", Source: "ssh_config"},
	}, nil
}

func (f *fake) SearchSessions(_ context.Context, q contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
	if q.ExecutionHost == "ssh:box" {
		return contract.UnavailableResponse(contract.ReasonNoService), nil
	}
	switch f.scenario {
	case "stale":
		return contract.StaleResponse(5, 4), nil
	case "not-ready":
		return contract.UnavailableResponse(contract.ReasonNotReady), nil
	case "broken":
		return contract.SearchSessionsResponse{}, errors.New("disk I/O error")
	case "nothing":
		return contract.ResultsResponse(contract.SearchResults{Total: contract.Total{Exact: true}}), nil
	case "echo":
		return contract.SearchSessionsResponse{}, contract.Failed(contract.CodeIndexFailed, nil, "%s", echo(q))
	}
	if q.Cursor != nil && *q.Cursor != "good" {
		return contract.MalformedResponse(), nil
	}
	if q.Query == "nothing" {
		return contract.ResultsResponse(contract.SearchResults{Total: contract.Total{Exact: true}}), nil
	}
	r := fixedResults()
	if !q.Debug {
		r.Debug = nil
	}
	return contract.ResultsResponse(r), nil
}

// echo shows the parts of a request that flags fill.
func echo(q contract.SearchSessionsRequest) string {
	cursor := "-"
	if q.Cursor != nil {
		cursor = *q.Cursor
	}
	since := "-"
	if q.Filters.Since != nil {
		since = q.Filters.Since.String()
	}
	return fmt.Sprintf("query=%q scope=%s fresh=%s limit=%d cursor=%s agents=%v paths=%q since=%s sort=%s",
		q.Query, q.Scope, q.Freshness, q.Limit, cursor, q.Filters.Agents, q.Filters.ScopePaths, since, q.Filters.Sort)
}

func (f *fake) SearchStatus(ctx context.Context, q contract.SearchStatusRequest) (contract.Status, error) {
	switch q.ExecutionHost {
	case "runtime:dev":
		if f.scenario == "interrupt" {
			fmt.Fprintln(os.Stderr, "reconciling")
			<-ctx.Done()
			return contract.Status{}, contract.Aborted(ctx.Err())
		}
		return contract.IdleStatus(false), nil
	case "ssh:box":
		return contract.Status{}, contract.Failed(contract.CodePersistenceFailed, elsewhere{}, "ssh:box: ssh could not log in")
	}
	return f.status, nil
}

// elsewhere is the cause of a failure of another host.
type elsewhere struct{}

func (elsewhere) Error() string      { return "denied" }
func (elsewhere) FailedHost() string { return "ssh:box" }

func (f *fake) Clear(context.Context, contract.ClearRequest) (contract.ClearResponse, error) {
	return contract.ClearResponse{Cleared: true, Identity: "new"}, nil
}

func (f *fake) ForgetSession(_ context.Context, q contract.ForgetSessionRequest) (contract.ForgetSessionResponse, error) {
	return contract.ForgetSessionResponse{Forgotten: contract.List[contract.SessionName]{q.SessionName, {Agent: q.Agent, SessionID: q.SessionID + "#agent-1"}}, Generation: 10}, nil
}

func (f *fake) GetPolicy(context.Context, contract.GetPolicyRequest) (contract.Policy, error) {
	return f.policy, nil
}

func (f *fake) SetPolicy(_ context.Context, q contract.SetPolicyRequest) (contract.Policy, error) {
	f.policy = q.Apply(f.policy)
	f.status = newFake("").status
	f.status.Sessions = 0
	return f.policy, nil
}

func (f *fake) Reconcile(ctx context.Context, _ bool, progress func(contract.Progress)) error {
	if f.scenario == "interrupt" {
		fmt.Fprintln(os.Stderr, "reconciling")
		<-ctx.Done()
		return fmt.Errorf("reading: %w", ctx.Err())
	}
	for i := range int64(5) {
		if progress != nil {
			progress(contract.Progress{BytesDone: i * 25, BytesTotal: 100, FilesDone: int(i), FilesTotal: 4})
		}
	}
	f.status.LastReconcileAt = ptr(fixedNow.UnixMilli())
	if f.scenario != "nothing" {
		f.status.Sessions = 2
	}
	return nil
}

func (f *fake) Resolve(_ context.Context, name contract.SessionName) (contract.Header, error) {
	switch name.SessionID {
	case "new-session":
		if f.status.LastReconcileAt != nil && *f.status.LastReconcileAt == fixedNow.UnixMilli() {
			return fixedTranscript().Session, nil
		}
		fallthrough
	case "unknown-id":
		return contract.Header{}, contract.Failed(contract.CodeSessionNotFound, nil, "no session %q", name.SessionID)
	case "ambiguous":
		return contract.Header{}, &contract.Error{
			RPCCode: contract.RPCRequestFailed, Code: contract.CodeSourceConflict, Message: "2 sessions begin with \"ambiguous\"",
			Candidates: []map[string]string{
				{"agent": "pi", "sessionId": "ambiguous-1"}, {"agent": "codex", "sessionId": "ambiguous-2\x1b[31m", "title": "a\ntitle"},
			},
		}
	}
	return fixedTranscript().Session, nil
}

func (f *fake) Doctor(context.Context) (Report, error) {
	r := fixedReport()
	if f.scenario == "sick" {
		r.OK = false
		r.Checks[1].State = StateProblem
	}
	return r, nil
}

func (f *fake) Places(context.Context) ([]Place, error) { return fixedPlaces(), nil }

func (f *fake) Config(context.Context) (Config, error) {
	c := fixedConfig()
	if f.scenario == "ignored-host" {
		c.Warnings = append(c.Warnings, "/c: hosts.box has no \x1b[31mcommand; ignored")
	}
	return c, nil
}

func (f *fake) Close() error { return nil }

func fixedPlaces() []Place {
	return []Place{
		{"Claude Code", []string{"/home/dev/.claude/projects"}},
		{"VS Code Copilot Chat", []string{"/home/dev/.config/Code/User", "/home/dev/.codex/archived_sessions", "/c", "/d", "/e"}},
	}
}

func fixedReport() Report {
	return Report{OK: true, Checks: contract.List[Check]{
		{Name: "consent", State: StateOK, Detail: "search is on, all history"},
		{Name: "codex", State: StateWarning, Detail: "1 file could not be read: /home/dev/\x1b[2J.codex/x.jsonl", Mend: "look at the file"},
	}}
}

// result is what a run of the program gave.
type result struct {
	out, err string
	code     int
}

// program is a run of the program as a process of its own, not started.
func program(scenario string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"="+scenario, "NO_COLOR=", "COLUMNS=",
		"GORACE=atexit_sleep_ms=0") // else the race detector waits a second at the end of each
	return cmd
}

// run runs a command line within the test.
func run(scenario string, args ...string) result {
	var out, errs bytes.Buffer
	opts := options(scenario, args)
	opts.Out, opts.Err = &out, &errs
	code := Main(context.Background(), opts)
	return result{out.String(), errs.String(), code}
}

// oneLine fails unless s is exactly one line without control characters.
func oneLine(t *testing.T, s string) {
	t.Helper()
	if strings.Count(s, "\n") != 1 || !strings.HasSuffix(s, "\n") {
		t.Errorf("want one line, got %q", s)
	}
}

// fakeQuote quotes well enough for the folders and commands of these tests.
func fakeQuote(shell contract.Shell, args []string) (string, bool) {
	words := make([]string, len(args))
	for i, arg := range args {
		if shell == contract.ShellCmd && strings.Contains(arg, "%") {
			return "", false
		}
		words[i] = shellWord(arg)
	}
	return strings.Join(words, " "), true
}
