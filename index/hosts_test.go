package index_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

// remoteContext is that of a request from another machine.
func remoteContext() context.Context {
	return contract.WithTransport(context.Background(), contract.TransportRemote)
}

// TestAnswersToAnotherMachine hold no path, and the machine's own decisions are
// neither told nor changed.
func TestAnswersToAnotherMachine(t *testing.T) {
	w := newWorld(t)
	w.write(claudeFile(idA), talk(idA, "the plover nests", "yes"))
	s := w.enabled()
	w.reconcile(s)
	ctx, name := remoteContext(), contract.SessionName{SessionID: idA}

	found, err := s.SearchSessions(ctx, contract.NewSearchSessionsRequest("plover"))
	w.must(err)
	if hit := found.Results.Hits[0]; hit.Source != (contract.Source{Presence: contract.PresencePresent}) || hit.ResumeCommand != "" || hit.Cwd == nil {
		t.Errorf("hit %+v", hit)
	}
	// path: looks at folders only: the transcript's place is in its own path alone.
	for query, want := range map[string]int{"path:.claude": 0, "path:/w/loom": 1} {
		got, err := s.SearchSessions(ctx, contract.NewSearchSessionsRequest(query))
		w.must(err)
		if len(got.Results.Hits) != want {
			t.Errorf("%s: %d hits, want %d", query, len(got.Results.Hits), want)
		}
	}
	events := contract.NewSearchEventsRequest("plover")
	events.SessionName = name
	var answers []any
	keep := func(answer any, err error) {
		t.Helper()
		w.must(err)
		answers = append(answers, answer)
	}
	keep(s.SearchStatus(ctx, contract.SearchStatusRequest{}))
	keep(s.SearchEvents(ctx, events))
	keep(s.ListSessions(ctx, contract.ListSessionsRequest{Limit: 10}))
	keep(s.ReadSession(ctx, contract.ReadSessionRequest{SessionName: name, Limit: 1}))
	keep(s.ReadTitles(ctx, contract.ReadTitlesRequest{Sessions: contract.List[contract.SessionName]{name}}))
	keep(s.TraceSession(ctx, contract.TraceSessionRequest{SessionName: name}))
	keep(s.RenderTranscript(ctx, contract.RenderTranscriptRequest{SessionName: name, Limit: 10}))
	for _, answer := range answers {
		raw, err := json.Marshal(answer)
		w.must(err)
		if strings.Contains(string(raw), w.home) || strings.Contains(string(raw), ".jsonl") {
			t.Errorf("a path in %s", raw)
		}
	}
	plan, err := s.ResumePlan(ctx, contract.ResumePlanRequest{SessionName: name})
	w.must(err)
	if plan.Argv != nil || plan.Command != nil || plan.Checks != (contract.ResumeChecks{}) || plan.Cwd == nil {
		t.Errorf("plan %+v", plan)
	}

	_, err = s.GetPolicy(ctx, contract.GetPolicyRequest{})
	failed(t, err, contract.CodeSearchDisabled)
	_, err = s.SetPolicy(ctx, contract.SetPolicyRequest{Enabled: contract.Some(false)})
	failed(t, err, contract.CodeSearchDisabled)
	_, err = s.Clear(ctx, contract.ClearRequest{})
	failed(t, err, contract.CodeSearchDisabled)
	_, err = s.ForgetSession(ctx, contract.ForgetSessionRequest{SessionName: name})
	failed(t, err, contract.CodeSearchDisabled)
	if got := w.hits(s, "plover"); got != idA {
		t.Errorf("afterwards %q", got)
	}
}

func TestConfiguredHosts(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.paths.Config, 0o700))
	w.must(os.WriteFile(w.paths.ConfigFile(), []byte(`
exclude = ["~/private"]
[hosts.box]
label = "Dev box"
command = ["docker", "exec", "-i", "box", "sessionls", "serve"]
terminal = ["docker", "exec", "-it", "box"]
[hosts."a.b"]
command = ["x"]
[hosts]
flat = "y"
[hosts.empty]
command = []
[hosts.words]
command = "sessionls serve"
[hosts.numbers]
command = ["a", 1]
[hosts."a b"]
command = ["x"]
[hosts.odd]
command = ["x"]
label = 7
colour = "red"
`), 0o600))
	s := w.service()
	cfg, warnings, err := s.Config()
	w.must(err)
	raw, err := json.Marshal(cfg.Hosts)
	w.must(err)
	const want = `{"a.b":{"Label":"a.b","Command":["x"],"Terminal":null},"box":{"Label":"Dev box","Command":["docker","exec","-i","box","sessionls","serve"],"Terminal":["docker","exec","-it","box"]}}`
	if string(raw) != want {
		t.Errorf("hosts %s\nwant %s", raw, want)
	}
	told := strings.Join(warnings, "\n")
	for _, part := range []string{"hosts.flat must be a table", "hosts.empty: command", "hosts.words: command", "hosts.numbers: command", `hosts."a b"`, "hosts.odd: label", "hosts.odd.colour is not known"} {
		if !strings.Contains(told, part) {
			t.Errorf("no warning of %s in\n%s", part, told)
		}
	}
	if len(cfg.Exclude) != 1 {
		t.Error("a host that cannot be used keeps the rest from being followed")
	}
}

// TestRemotePlans: the command goes to the session's folder by itself, whatever
// that is called; a shell that runs it gives the agent the words it should get.
func TestRemotePlans(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.paths.Config, 0o700))
	w.must(os.WriteFile(w.paths.ConfigFile(), []byte("[hosts.box]\ncommand = ['x']\nterminal = ['docker', 'exec', '-it', 'box']\n[hosts.bare]\ncommand = ['x']\n"), 0o600))
	s := w.service()
	text := func(s string) *string { return &s }
	for _, tc := range []struct {
		host        contract.Host
		agent, id   string
		cwd         *string
		shell       contract.Shell
		command     string
		firstArgv   string
		warningCode contract.ResumeWarningCode
	}{
		{"ssh:me@box", "claude", idA, text("/work/tide watch"), contract.ShellPosix, `ssh -t me@box 'cd '\''/work/tide watch'\'' && claude --resume ` + idA + `'`, "ssh", ""},
		{"ssh:box", "claude", idA, text("/work"), contract.ShellFish, `ssh -t box 'cd /work && claude --resume ` + idA + `'`, "ssh", ""},
		{"ssh:box", "claude", idA, nil, contract.ShellPosix, "ssh -t box 'claude --resume " + idA + "'", "ssh", contract.WarnNoDirectory},
		{"ssh:box", "claude", idA, text(`C:\work`), contract.ShellPosix, "ssh -t box 'claude --resume " + idA + "'", "ssh", contract.WarnNoDirectory},
		{"ssh:box", "claude", "-rf", text("/w"), contract.ShellPosix, "", "", contract.WarnNoCommand},
		{"ssh:box", "nobody", idA, text("/w"), contract.ShellPosix, "", "", contract.WarnNoCommand},
		{"ssh:box", "claude", idA, text("/100%"), contract.ShellCmd, "", "ssh", contract.WarnUnsafeShell},
		{"runtime:box", "claude", idA, text("/w"), contract.ShellPosix, `docker exec -it box sh -c 'cd /w && claude --resume ` + idA + `'`, "docker", ""},
		{"runtime:bare", "claude", idA, text("/w"), contract.ShellPosix, "", "", contract.WarnNoCommand},
		{"runtime:gone", "claude", idA, text("/w"), contract.ShellPosix, "", "", contract.WarnNoCommand},
	} {
		got := s.RemotePlan(tc.host, contract.ResumePlanResponse{Agent: tc.agent, SessionID: tc.id, Cwd: tc.cwd}, tc.shell)
		command, first, code := "", "", contract.ResumeWarningCode("")
		if got.Command != nil {
			command = *got.Command
		}
		if got.Argv != nil {
			first = got.Argv[0]
		}
		if len(got.Warnings) > 0 {
			code = got.Warnings[0].Code
		}
		if command != tc.command || first != tc.firstArgv || code != tc.warningCode || got.Cwd != nil || got.Checks != (contract.ResumeChecks{}) {
			t.Errorf("%s %s:%s\n got %s, %q, %q\nwant %s, %q, %q", tc.host, tc.agent, tc.id, command, first, code, tc.command, tc.firstArgv, tc.warningCode)
		}
	}

	// Both shells on the way take the line apart as it was meant.
	dir := t.TempDir() + "/it's $HOME `x` \"y\" \\z"
	w.must(os.Mkdir(dir, 0o700))
	plan := s.RemotePlan("ssh:box", contract.ResumePlanResponse{Agent: "claude", SessionID: "a'b $c", Cwd: &dir}, contract.ShellPosix)
	script := `ssh() { shift 2; sh -c "claude() { printf '%s\n' \"\$PWD\" \"\$@\"; }; $1"; }; ` + *plan.Command
	out, err := exec.Command("sh", "-c", script).CombinedOutput()
	if want := dir + "\n--resume\na'b $c\n"; err != nil || string(out) != want {
		t.Errorf("%v\n got %q\nwant %q", err, out, want)
	}
}
