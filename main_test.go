package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/testdata/samplehome"
)

// asProgram makes the test binary sessionls itself.
const asProgram = "SESSIONLS_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// noWait spares each process the second that the race detector waits at its end.
const noWait = "GORACE=atexit_sleep_ms=0"

// machine is a user's home and what sessionls keeps.
type machine struct {
	home, own string
	path      string // PATH; none if ""
}

// environment makes the test binary sessionls on the machine.
func (m machine) environment() []string {
	env := []string{asProgram + "=1", "HOME=" + m.home, "SESSIONLS_HOME=" + m.own, "TMPDIR=" + os.TempDir(), noWait}
	if m.path != "" {
		env = append(env, "PATH="+m.path)
	}
	return env
}

func newMachine(t *testing.T, samples bool) machine {
	t.Helper()
	m := machine{home: filepath.Join(t.TempDir(), "home"), own: filepath.Join(t.TempDir(), "own")}
	if !samples {
		if err := os.Mkdir(m.home, 0o700); err != nil {
			t.Fatal(err)
		}
	} else if err := samplehome.Make(m.home, filepath.Join("testdata", "home")); err != nil {
		t.Fatal(err)
	}
	return m
}

type outcome struct {
	out, err string
	code     int
}

// run runs the program with nothing of the tester's environment.
func (m machine) run(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	return m.talk(t, strings.NewReader(stdin), new(transcript), args...)
}

// transcript is what a process has said so far.
type transcript struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// pause is a reader of nothing that ends when it was said.
type pause struct {
	out  *transcript
	said func(out string) bool
}

func (p pause) Read([]byte) (int, error) {
	for range 6000 {
		if p.said(p.out.String()) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0, io.EOF
}

func (m machine) talk(t *testing.T, stdin io.Reader, out *transcript, args ...string) outcome {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = m.environment()
	cmd.Dir = m.home
	cmd.Stdin = stdin
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

func (m machine) must(t *testing.T, code int, args ...string) outcome {
	t.Helper()
	got := m.run(t, "", args...)
	if got.code != code {
		t.Fatalf("%q: exit code %d, want %d\n%s%s", args, got.code, code, got.out, got.err)
	}
	return got
}

func (m machine) results(t *testing.T, args ...string) contract.SearchResults {
	t.Helper()
	got := m.must(t, 0, append([]string{"search", "--json"}, args...)...)
	var response contract.SearchSessionsResponse
	if err := json.Unmarshal([]byte(got.out), &response); err != nil || response.Results == nil {
		t.Fatalf("%v: %s", err, got.out)
	}
	return *response.Results
}

func (m machine) status(t *testing.T) contract.Status {
	t.Helper()
	var status contract.Status
	if err := json.Unmarshal([]byte(m.must(t, 0, "status", "--json").out), &status); err != nil {
		t.Fatal(err)
	}
	return status
}

// TestAFirstSearchFindsEverything is what someone does who has just installed the
// program: search, read, look around, clear, leave.
func TestAFirstSearchFindsEverything(t *testing.T) {
	m := newMachine(t, true)

	// Before the consent nothing is read and nothing is written.
	if status := m.status(t); status.Decided || status.Enabled || status.Sessions != 0 {
		t.Errorf("before: %+v", status)
	}
	if got := m.must(t, 3, "show", "3b0f7c52"); !strings.Contains(got.err, "sessionls enable") {
		t.Errorf("show before: %q", got.err)
	}
	m.must(t, 0, "doctor")
	m.must(t, 0, "config")
	if _, err := os.Stat(m.own); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written before the consent: %v", err)
	}

	first := m.must(t, 0, "search", "tide", "table")
	if !strings.HasPrefix(first.err, "Search is now on") || !strings.Contains(first.out, "claude:3b0f7c52-9a41-4d0e-8c1b-5f2a6d7e9011\t") {
		t.Errorf("first search:\n%s%s", first.out, first.err)
	}
	again := m.must(t, 0, "search", "tide", "table")
	if again.out != first.out || strings.Contains(again.err, "now on") {
		t.Errorf("second search:\n%s%s", again.out, again.err)
	}

	status := m.status(t)
	if status.FilesFailed != 0 || status.Sessions == 0 {
		t.Errorf("status: %+v", status)
	}
	found := 0
	for _, agent := range status.Agents {
		if agent.Sessions == 0 {
			t.Errorf("no session of %s", agent.Agent)
			continue
		}
		listed := m.results(t, "--agent", agent.Agent, "--limit", "100")
		if len(listed.Hits) != agent.Sessions || !listed.Total.Exact {
			t.Errorf("%s: %d sessions listed, %d in the status", agent.Agent, len(listed.Hits), agent.Sessions)
		}
		found += len(listed.Hits)
		for _, hit := range listed.Hits[:min(1, len(listed.Hits))] { // a process each
			shown := m.must(t, 0, "show", hit.Agent+":"+hit.SessionID, "--json")
			var transcript struct {
				Session contract.Header
				Events  []contract.EventRecord
				NextSeq *int64
			}
			if err := json.Unmarshal([]byte(shown.out), &transcript); err != nil || transcript.Session.SessionID != hit.SessionID || len(transcript.Events) == 0 {
				t.Errorf("show %s:%s: %v, %d events", hit.Agent, hit.SessionID, err, len(transcript.Events))
			}
		}
	}
	if found != status.Sessions {
		t.Errorf("%d sessions listed, %d in the status", found, status.Sessions)
	}

	if got := m.must(t, 0, "show", "3b0f7c52", "--around", "5", "--limit", "3"); !strings.Contains(got.out, "▶ user #5") {
		t.Errorf("show around:\n%s", got.out)
	}
	if got := m.must(t, 0, "doctor"); !strings.Contains(got.out, "index") {
		t.Errorf("doctor:\n%s", got.out)
	}
	m.must(t, 1, "search", "xyzzyplugh")
	m.must(t, 0, "index", "--full")
	if now := m.status(t); now.Sessions != status.Sessions || now.Events != status.Events {
		t.Errorf("after reading all again: %d sessions, %d events; before %d, %d", now.Sessions, now.Events, status.Sessions, status.Events)
	}
	m.must(t, 0, "clear")
	if got := m.results(t, "tide table"); len(got.Hits) == 0 {
		t.Error("nothing found after a clear")
	}
	m.must(t, 0, "disable")
	if got := m.must(t, 3, "search", "tide", "--json"); got.out != `{"kind":"unavailable","reason":"disabled"}`+"\n" {
		t.Errorf("disabled: %q", got.out)
	}
	m.must(t, 0, "enable", "--days", "3650")
	m.must(t, 0, "search", "tide")
}

func TestPages(t *testing.T) {
	m := newMachine(t, true)
	all := m.results(t, "tide", "--limit", "100")
	if len(all.Hits) < 3 {
		t.Fatalf("%d hits", len(all.Hits))
	}
	var walked []string
	args := []string{"tide", "--limit", "2"}
	for {
		page := m.results(t, args...)
		for _, hit := range page.Hits {
			walked = append(walked, hit.Agent+":"+hit.SessionID)
		}
		if !page.Page.HasMore {
			break
		}
		args = []string{"tide", "--limit", "2", "--cursor", *page.Page.Cursor}
	}
	var want []string
	for _, hit := range all.Hits {
		want = append(want, hit.Agent+":"+hit.SessionID)
	}
	if strings.Join(walked, "\n") != strings.Join(want, "\n") {
		t.Errorf("walked %q\nwant %q", walked, want)
	}

	// Over a span of time, too, whose beginning moves with the clock.
	page := m.results(t, "tide", "--since", "9y", "--limit", "1")
	if page.Page.Cursor == nil {
		t.Fatal("no second page")
	}
	m.must(t, 0, "search", "tide", "--since", "9y", "--cursor", *page.Page.Cursor)
	m.must(t, 2, "search", "other", "--cursor", *page.Page.Cursor)
	m.must(t, 2, "search", "tide", "--cursor", "nonsense")
	m.must(t, 0, "clear")
	m.must(t, 0, "index")
	m.must(t, 4, "search", "tide", "--since", "9y", "--cursor", *page.Page.Cursor)
}

func TestNoTranscripts(t *testing.T) {
	m := newMachine(t, false)
	got := m.must(t, 1, "search", "anything")
	for _, want := range []string{"No transcripts were found", filepath.Join(m.home, ".claude", "projects"), "Codex", "sessionls config"} {
		if !strings.Contains(got.err, want) {
			t.Errorf("no %q in %s", want, got.err)
		}
	}
	if got.out != "" {
		t.Errorf("standard output: %q", got.out)
	}
}

// TestServer holds the server to the command line's answer, byte for byte.
func TestServer(t *testing.T) {
	m := newMachine(t, true)
	want := strings.TrimSpace(m.must(t, 0, "status", "--json").out)
	var script strings.Builder
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":null,"capabilities":{}}}`,
		`{"jsonrpc":"2.0","method":"initialized","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"workspace/executeCommand","params":{"command":"sessionls.searchStatus"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`,
		`{"jsonrpc":"2.0","method":"exit"}`,
	} {
		fmt.Fprintf(&script, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	for _, args := range [][]string{nil, {"serve"}} {
		got := m.run(t, script.String(), args...)
		if got.code != 0 || !strings.HasPrefix(got.out, "Content-Length: ") || !strings.Contains(got.out, `"name":"sessionls"`) || !strings.Contains(got.out, want) {
			t.Errorf("%q: exit code %d\n%s\n%s\nwants %s", args, got.code, got.out, got.err, want)
		}
	}
}

// TestServerReads holds what the server reads of a session to the command line's
// answer, byte for byte.
func TestServerReads(t *testing.T) {
	m := newMachine(t, true)
	var found struct {
		Hits []struct{ Agent, SessionID string }
	}
	if err := json.Unmarshal([]byte(m.must(t, 0, "search", "tide", "--json").out), &found); err != nil || len(found.Hits) == 0 {
		t.Fatalf("%v: %d hits", err, len(found.Hits))
	}
	name := found.Hits[0].Agent + ":" + found.Hits[0].SessionID
	session := fmt.Sprintf(`"agent":%q,"sessionId":%q`, found.Hits[0].Agent, found.Hits[0].SessionID)
	want := []string{
		`"result":` + strings.TrimSpace(m.must(t, 0, "show", name, "--json").out),
		`"result":` + strings.TrimSpace(m.must(t, 0, "show", name, "--around", "1", "--limit", "3", "--json").out),
		`"error":{"code":-32803,"message":"the session has no event -1;`,
		`"error":{"code":-32602,"message":"limit: want a whole number from 1 to 1000, got \"0\"","data":{"code":"SESSION_QUERY_INVALID_LIMIT","field":"limit"}}`,
	}
	bodies := []string{`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"processId":null,"capabilities":{}}}`}
	for id, call := range []string{
		`"sessionls.readSession","arguments":[{` + session + `}]`,
		`"sessionls.readEvent","arguments":[{` + session + `,"seq":1,"before":1,"after":1}]`,
		`"sessionls.traceEvent","arguments":[{` + session + `,"seq":-1}]`,
		`"sessionls.listEvents","arguments":[{` + session + `,"limit":0}]`,
	} {
		bodies = append(bodies, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"workspace/executeCommand","params":{"command":%s}}`, id, call))
	}
	framed := func(bodies ...string) io.Reader {
		var script strings.Builder
		for _, body := range bodies {
			fmt.Fprintf(&script, "Content-Length: %d\r\n\r\n%s", len(body), body)
		}
		return strings.NewReader(script.String())
	}
	// A shutdown would cancel what is not answered yet.
	out := new(transcript)
	answered := pause{out, func(out string) bool { return strings.Count(out, `"jsonrpc":"2.0","id":`) > len(want) }}
	got := m.talk(t, io.MultiReader(framed(bodies...), answered, framed(`{"jsonrpc":"2.0","id":"s","method":"shutdown"}`, `{"jsonrpc":"2.0","method":"exit"}`)), out, "serve")
	for id, want := range want {
		if !strings.Contains(got.out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s`, id, want)) {
			t.Errorf("answer %d is not\n%s\nbut\n%s", id, want, got.out)
		}
	}
}

func TestVersion(t *testing.T) {
	got := newMachine(t, false).must(t, 0, "version", "--json")
	var v struct {
		Version, Go, SQLite string
		FTS5                bool
	}
	if err := json.Unmarshal([]byte(got.out), &v); err != nil || v.Version == "" || !strings.HasPrefix(v.SQLite, "3.") || !v.FTS5 {
		t.Errorf("%v: %s", err, got.out)
	}
}

// TestNoHome: what lies below the current folder is not the user's.
func TestNoHome(t *testing.T) {
	for _, home := range []string{"", "relative"} {
		m := newMachine(t, true)
		cmd := exec.Command(os.Args[0], "search", "tide")
		cmd.Env = []string{asProgram + "=1", "HOME=" + home, "SESSIONLS_HOME=" + m.own, "TMPDIR=" + os.TempDir(), noWait}
		cmd.Dir = m.home
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 4 || !strings.Contains(string(out), "set HOME") {
			t.Errorf("HOME=%s: %v, %s", home, err, out)
		}
		if _, err := os.Stat(m.own); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("HOME=%s: something was written: %v", home, err)
		}
	}
}

// TestDamagedConfiguration: it may exclude what must not be read, so nothing is.
func TestDamagedConfiguration(t *testing.T) {
	m := newMachine(t, true)
	if err := os.Mkdir(m.own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.own, "config.toml"), []byte("exclude = [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := m.must(t, 4, "search", "tide")
	if !strings.Contains(got.err, "config.toml") || got.out != "" {
		t.Errorf("%q, %q", got.out, got.err)
	}
	if got := m.must(t, 0, "config"); !strings.Contains(got.out, "cannot be followed") {
		t.Errorf("config: %s", got.out)
	}
	if got := m.must(t, 4, "doctor"); !strings.Contains(got.out, "✗ config") {
		t.Errorf("doctor: %s", got.out)
	}
}

// TestReadme: every command has its row.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range contract.CommandNames("") {
		if !strings.Contains(string(readme), "| `"+name+"` |") {
			t.Errorf("no row for %s", name)
		}
	}
	got := newMachine(t, false).must(t, 0, "help")
	_, commands, _ := strings.Cut(got.out, "Find and read:")
	commands, _, _ = strings.Cut(commands, "Flags:")
	rows := 0
	for line := range strings.SplitSeq(commands, "\n") {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(line, "  ") {
			rows++
			if !strings.Contains(string(readme), "`"+name) {
				t.Errorf("no row for the command %s", name)
			}
		}
	}
	if rows < 10 {
		t.Errorf("%d commands in the help", rows)
	}
}
