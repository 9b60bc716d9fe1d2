package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

var ownColours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// look runs a command line in the layout of a terminal, and takes its own colours away.
func look(scenario, columns string, args ...string) result {
	var out, errs bytes.Buffer
	opts := options(scenario, append(args, "--color", "always"))
	opts.Out, opts.Err = &out, &errs
	opts.Getenv = func(name string) string { return map[string]string{"COLUMNS": columns}[name] }
	code := Main(context.Background(), opts)
	return result{ownColours.ReplaceAllString(out.String(), ""), ownColours.ReplaceAllString(errs.String(), ""), code}
}

// safe fails if anything in s could do more than be seen.
func safe(t *testing.T, s string) {
	t.Helper()
	for _, r := range s {
		if hidden(r) && r != '\n' && r != '\t' {
			t.Fatalf("%U reaches the screen: %.300q", r, s)
		}
	}
}

func TestGoldenReads(t *testing.T) {
	for _, tc := range []struct {
		name, scenario, columns string // no columns: into a pipe
		args                    []string
	}{
		{"events-terminal", "ok", "80", []string{"events", "3b0f7c52"}},
		{"events-narrow", "ok", "40", []string{"events", "3b0f7c52", "--since", "2w"}},
		{"events-pipe", "ok", "", []string{"events", "3b0f7c52"}},
		{"trace-terminal", "ok", "80", []string{"trace", "3b0f7c52"}},
		{"trace-deep", "deep", "80", []string{"trace", "3b0f7c52"}},
		{"trace-alone", "alone", "80", []string{"trace", "3b0f7c52"}},
		{"trace-pipe", "ok", "", []string{"trace", "3b0f7c52"}},
		{"trace-event-terminal", "ok", "80", []string{"trace", "3b0f7c52", "--event", "4"}},
		{"trace-event-alone", "alone", "80", []string{"trace", "3b0f7c52", "--event", "4"}},
		{"trace-event-pipe", "ok", "", []string{"trace", "3b0f7c52", "--event", "id:42"}},
		{"resume-terminal", "ok", "80", []string{"resume", "3b0f7c52"}},
		{"resume-unknown", "unknown", "80", []string{"resume", "3b0f7c52"}},
		{"resume-gone", "no-directory", "80", []string{"resume", "3b0f7c52"}},
		{"resume-pipe", "ok", "", []string{"resume", "3b0f7c52"}},
		{"export-markdown", "ok", "", []string{"export", "3b0f7c52", "--tools", "full", "--thinking"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := run(tc.scenario, tc.args...)
			if tc.columns != "" {
				got = look(tc.scenario, tc.columns, tc.args...)
			}
			if got.code != ExitAnswered {
				t.Errorf("exit code %d: %s", got.code, got.err)
			}
			shown := got.out + "\n-- standard error:\n" + got.err
			safe(t, shown)
			golden(t, tc.name, shown)
		})
	}
}

// TestHostileReads: whatever a transcript holds, nothing of it acts on a terminal, no
// column of a row breaks, and a line of hundreds of kilobytes is cut.
func TestHostileReads(t *testing.T) {
	for _, args := range [][]string{
		{"events", "3b0f7c52"}, {"trace", "3b0f7c52"}, {"trace", "3b0f7c52", "--event", "4"}, {"resume", "3b0f7c52"}, {"resume", "3b0f7c52", "--exec"},
	} {
		for _, columns := range []string{"", "20", "100"} {
			got := run("hostile", args...)
			if columns != "" {
				got = look("hostile", columns, args...)
			}
			safe(t, got.out)
			safe(t, got.err)
			if got.out+got.err == "" {
				t.Errorf("%q: nothing was shown", args)
			}
			if columns == "" && args[0] == "events" {
				for line := range strings.SplitSeq(strings.TrimSuffix(got.out, "\n"), "\n") {
					if strings.Count(line, "\t") != 6 || len(line) > 16<<10 {
						t.Errorf("not a row of seven columns: %.300q", line)
					}
				}
			}
		}
	}
	// A folder that cannot be seen as it is is not offered for pasting.
	if got := run("hostile", "resume", "3b0f7c52"); got.out != "" || got.code != ExitFailed {
		t.Errorf("exit code %d, %q", got.code, got.out)
	}
}

func TestExitCodesOfReads(t *testing.T) {
	for _, tc := range []exitCase{
		{"ok", []string{"events", "3b0f7c52"}, ExitAnswered, ""},
		{"ok", []string{"events", "3b0f7c52", "--tool", "nothing"}, ExitNoMatch, "no event matches"},
		{"ok", []string{"events"}, ExitUsage, "SESSION: exactly one session is required"},
		{"ok", []string{"events", "unknown-id"}, ExitNoMatch, `no session "unknown-id"`},
		{"ok", []string{"events", "new-session"}, ExitAnswered, ""}, // what is not known yet is read
		{"first", []string{"show", "new-session"}, ExitAnswered, ""},
		{"ok", []string{"events", "ambiguous"}, ExitFailed, "  pi:ambiguous-1\n  codex:ambiguous-2  a title\n"},
		{"ok", []string{"events", "3b0f7c52", "--role", "boss"}, ExitUsage, `--role: "boss" is not known; allowed: user, assistant`},
		{"ok", []string{"events", "3b0f7c52", "--surface", "gone"}, ExitUsage, `--surface: "gone" is not known; allowed: current, shadowed, log-only`},
		{"ok", []string{"events", "3b0f7c52", "--limit", "0"}, ExitUsage, "--limit: "},
		{"ok", []string{"events", "3b0f7c52", "--limit", "1001"}, ExitUsage, "--limit: "},
		{"ok", []string{"events", "3b0f7c52", "--since", "tuesday"}, ExitUsage, `--since: "tuesday" is no time`},
		{"ok", []string{"events", "3b0f7c52", "--until", "2026-13-01T00:00:00Z"}, ExitUsage, `--until: "2026-13-01T00:00:00Z" is no time`},
		{"ok", []string{"events", "3b0f7c52", "--text", " "}, ExitUsage, "--text: "},
		{"ok", []string{"events", "3b0f7c52", "--from", "9", "--to", "3"}, ExitUsage, "--from: "},
		{"stale", []string{"events", "3b0f7c52", "--cursor", "x"}, ExitFailed, "ask for the first page again"},
		{"disabled", []string{"events", "3b0f7c52"}, ExitUnavailable, "sessionls enable"},
		{"ok", []string{"trace", "3b0f7c52", "--event", "99"}, ExitNoMatch, "no such event"},
		{"ok", []string{"trace", "3b0f7c52", "--event", ""}, ExitUsage, "--event: "},
		{"ok", []string{"trace", "3b0f7c52", "--event", "nothing"}, ExitNoMatch, "no such event"},
		{"cycle", []string{"trace", "3b0f7c52"}, ExitFailed, "lead back"},
		{"undecided", []string{"trace", "3b0f7c52"}, ExitUnavailable, "sessionls enable"},
		{"ok", []string{"resume", "3b0f7c52", "--shell", "tcsh"}, ExitUsage, `--shell: "tcsh" is not known; allowed: posix, fish, cmd, powershell`},
		{"ok", []string{"resume", "3b0f7c52", "--exec", "--json"}, ExitUsage, "do not go together"},
		{"no-command", []string{"resume", "3b0f7c52"}, ExitFailed, "sessionls: no-command"},
		{"no-command", []string{"resume", "3b0f7c52", "--exec"}, ExitFailed, "not continued: no-command"},
		{"no-binary", []string{"resume", "3b0f7c52", "--exec"}, ExitFailed, "not continued: claude is not on the PATH"},
		{"no-directory", []string{"resume", "3b0f7c52", "--exec"}, ExitFailed, "not continued: the folder of the session is not there any more: /home/dev/work/tide watch"},
		{"no-transcript", []string{"resume", "3b0f7c52", "--exec"}, ExitFailed, "not continued: the transcript is not there"},
		{"lost", []string{"resume", "3b0f7c52", "--exec"}, ExitFailed, "not continued: "},
		{"disabled", []string{"resume", "3b0f7c52"}, ExitUnavailable, "sessionls enable"},
		{"ok", []string{"export", "3b0f7c52", "--format", "html"}, ExitUsage, `--format: "html" is not known; allowed: markdown, json`},
		{"ok", []string{"export", "3b0f7c52", "--format", "json", "--thinking"}, ExitUsage, "about Markdown"},
		{"ok", []string{"export", "3b0f7c52", "--output", ""}, ExitUsage, "--output: "},
		{"ok", []string{"export", "3b0f7c52", "--output", "."}, ExitUsage, "is a folder"},
		{"ok", []string{"export", "3b0f7c52", "--output", "reads_test.go"}, ExitUsage, "reads_test.go exists\n  --force replaces it"},
		{"ok", []string{"export", "3b0f7c52", "--output", "/dev/null", "--force"}, ExitUsage, "is no regular file"},
		{"ok", []string{"export", "3b0f7c52", "--output", "no/such/folder"}, ExitUsage, "there is no folder"},
		{"ok", []string{"export", "unknown-id"}, ExitNoMatch, `no session "unknown-id"`},
		{"disabled", []string{"export", "3b0f7c52"}, ExitUnavailable, "sessionls enable"},
	} {
		t.Run(strings.Join(append([]string{tc.scenario}, tc.args...), " "), func(t *testing.T) {
			t.Parallel()
			tc.check(t)
		})
	}
}

func TestEventFlagsBecomeTheRequest(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, `{"cursor":null,"filters":null,"limit":100,"text":null}`},
		{[]string{"--text", "a b", "-n", "7"}, `{"cursor":null,"filters":null,"limit":7,"text":"a b"}`},
		{[]string{"--type", "tool/call,user/message", "--role", "user", "--role", "tool", "--tool", "Bash", "--surface", "current"},
			`"filters":{"types":["tool/call","user/message"],"surfaces":["current"],"roles":["user","tool"],"tools":["Bash"]}`},
		{[]string{"--from", "0", "--to", "9"}, `"filters":{"seq":{"from":0,"to":9}}`},
		{[]string{"--from", "3", "--cursor", "abc"}, `{"cursor":"abc","filters":{"seq":{"from":3}},"limit":100,"text":null}`},
		{[]string{"--since", "12h"}, `"filters":{"time":{"from":"2026-03-14T00:00:00.000Z"}}`},
		{[]string{"--since", "2w", "--until", "yesterday"}, `"filters":{"time":{"from":"2026-02-28T12:00:00.000Z","to":"2026-03-13T23:59:59.999Z"}}`},
		{[]string{"--since", "3m"}, `"from":"2025-12-14T12:00:00.000Z"`},
		{[]string{"--since", "1y"}, `"from":"2025-03-14T12:00:00.000Z"`},
		{[]string{"--since", "2026-03-01", "--until", "today"}, `{"from":"2026-03-01T00:00:00.000Z","to":"2026-03-14T23:59:59.999Z"}`},
		{[]string{"--until", "2026-03-01T10:00:00+01:00"}, `{"to":"2026-03-01T09:00:00.000Z"}`},
	} {
		got := run("echo", append([]string{"events", "3b0f7c52"}, tc.args...)...)
		if !strings.Contains(got.err, tc.want) {
			t.Errorf("%q:\n got %s\nwant %s", tc.args, got.err, tc.want)
		}
	}
}

func TestJSONOfReadsIsTheContractsAnswer(t *testing.T) {
	texts := fixedEvents(true)
	texts.Events = texts.Events[:2]
	for _, tc := range []struct {
		args []string
		want any
	}{
		{[]string{"show", "3b0f7c52", "--around", "4", "--limit", "3"}, func() contract.ReadEventResponse {
			t := fixedTranscript()
			return contract.ReadEventResponse{Session: t.Session, Target: t.Events[4], Events: t.Events[3:6], StartSeq: 3, EndSeq: 5}
		}()},
		{[]string{"events", "3b0f7c52"}, fixedEvents(false)},
		{[]string{"events", "3b0f7c52", "--text", "tide"}, texts},
		{[]string{"trace", "3b0f7c52"}, fixedFamily("ok")},
		{[]string{"trace", "3b0f7c52", "--event", "4"}, fixedEventTrace("ok")},
		{[]string{"resume", "3b0f7c52", "--shell", "fish"}, fixedPlan(contract.ShellFish)},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			got := run("ok", append(tc.args, "--json")...)
			oneLine(t, got.out)
			raw, err := json.Marshal(tc.want)
			if err != nil {
				t.Fatal(err)
			}
			if got.code != ExitAnswered || !sameJSON(t, got.out, string(raw)) {
				t.Errorf("exit code %d\ngot  %s\nwant %s", got.code, got.out, raw)
			}
		})
	}
}

func TestCommandLineOfEachShell(t *testing.T) {
	for shell, want := range map[string]string{
		"posix":      "cd '/home/dev/work/tide watch' && claude --resume 3b0f7c52 # posix\n",
		"fish":       "cd '/home/dev/work/tide watch' && claude --resume 3b0f7c52 # fish\n",
		"cmd":        "cd /d '/home/dev/work/tide watch' && claude --resume 3b0f7c52 # cmd\n", // quoted by the fake
		"powershell": "Set-Location -LiteralPath '/home/dev/work/tide watch'; if ($?) { claude --resume 3b0f7c52 # powershell }\n",
	} {
		if got := run("ok", "resume", "3b0f7c52", "--shell", shell); got.out != want {
			t.Errorf("%s: %q, want %q", shell, got.out, want)
		}
	}
}

// TestResumeBecomesTheAgent runs the program: it must end as the agent does, with its
// arguments, folder and streams, and with no shell between them.
func TestResumeBecomesTheAgent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the agent of this test is a shell script")
	}
	bin, dir := t.TempDir(), t.TempDir()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\npwd\nprintf '%s\\n' \"$PWD\" \"$#\" \"$1\" \"$2\"\ncat\necho told >&2\nexit 42\n"
	if err := os.WriteFile(filepath.Join(bin, "agent-of-the-test"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := program("exec:"+dir, "resume", "3b0f7c52", "--exec")
	cmd.Env = append(cmd.Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Stdin = strings.NewReader("typed")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the exit code is looked at
	want := dir + "\n" + dir + "\n2\n--resume\nit's $(a) b\ntyped"
	if code := cmd.ProcessState.ExitCode(); code != 42 || out.String() != want {
		t.Errorf("exit code %d, %q, want %q", code, out.String(), want)
	}
	if !strings.Contains(errs.String(), "the session may be open elsewhere\n") || !strings.Contains(errs.String(), "told\n") {
		t.Errorf("standard error: %q", errs.String())
	}
}

const exportFolder = "SESSIONLS_TEST_EXPORT"

// exportProgram is an export as a process whose folder is the test's own.
func exportProgram(t *testing.T, scenario string, args ...string) (cmd *exec.Cmd, dir string) {
	t.Helper()
	dir = t.TempDir()
	cmd = program(scenario, append([]string{"export", "3b0f7c52"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, exportFolder+"="+dir)
	return cmd, dir
}

func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func TestExportToAFile(t *testing.T) {
	cmd, dir := exportProgram(t, "ok", "--output", "session.json")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "6 events written to session.json\n" {
		t.Fatalf("%v: %s", err, out)
	}
	file := filepath.Join(dir, "session.json")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Session contract.Header
		Events  []contract.EventRecord
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Session.Title != fixedTranscript().Session.Title || len(got.Events) != 6 {
		t.Fatalf("%d events of %q", len(got.Events), got.Session.Title)
	}
	for i, e := range got.Events {
		if e.Seq != int64(i) || len(e.Data) < 7 || e.DataTruncated || e.TextTruncated {
			t.Errorf("event %d: %+v", i, e)
		}
	}
	if large := got.Events[3]; len(large.Data) < 300_000 || len(*large.Text) < 20 {
		t.Error("the event that was too large for a page was not asked for by itself")
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if all := names(t, dir); all != "session.json" {
		t.Errorf("in the folder: %s", all)
	}

	// Once more it is in the way; with --force it is replaced, through a link, too.
	again := func(code int, args ...string) {
		t.Helper()
		cmd := program("ok", append([]string{"export", "3b0f7c52"}, args...)...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput() // the exit code is looked at
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("%q: exit code %d: %s", args, got, out)
		}
	}
	again(ExitUsage, "-o", "session.json")
	if err := os.Symlink("session.json", filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here")
	}
	again(ExitUsage, "-o", "link")
	again(ExitAnswered, "-o", "link", "--force", "--format", "markdown")
	if raw, err = os.ReadFile(file); err != nil || !strings.HasPrefix(string(raw), "## Event 0, thinking false, tools fold\n\n## Event 1") {
		t.Errorf("%v: %.80q", err, raw)
	}
	if all := names(t, dir); all != "link session.json" {
		t.Errorf("in the folder: %s", all)
	}
}

// TestExportLeavesNothingHalf: an export that does not end well leaves no file, and
// replaces none.
func TestExportLeavesNothingHalf(t *testing.T) {
	cmd, dir := exportProgram(t, "rewritten", "--output", "session.json")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "rewritten while it was being exported") || names(t, dir) != "" {
		t.Errorf("%v: %s; in the folder: %s", err, out, names(t, dir))
	}

	cmd, dir = exportProgram(t, "occupied", "--output", "session.json")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "session.json exists") || names(t, dir) != "session.json" {
		t.Errorf("%v: %s; in the folder: %s", err, out, names(t, dir))
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "session.json")); err != nil || string(raw) != "theirs" {
		t.Errorf("%v, %.80q", err, raw)
	}

	cmd, dir = exportProgram(t, "slow", "--output", "session.json")
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(errs)
	for line := ""; line != "reading\n"; {
		if line, err = reader.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if all := names(t, dir); !strings.HasSuffix(all, ".part") {
		t.Errorf("before the end, in the folder: %q", all)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != ExitInterrupted || !strings.Contains(string(rest), "no file was written") || names(t, dir) != "" {
		t.Errorf("exit code %d, %q; in the folder: %s", code, rest, names(t, dir))
	}
}

func TestSessionsAreCompleted(t *testing.T) {
	for _, tc := range []struct {
		scenario, typed, want string
	}{
		{"ok", "", "3b0f7c52-full 3b0f7c52-full#agent-1 019cdc11"}, // the id for no shell is left out
		{"ok", "3b", "3b0f7c52-full 3b0f7c52-full#agent-1"},
		{"ok", "codex:", "codex:019cdc11"},
		{"ok", "codex:019", "codex:019cdc11"},
		{"ok", "nothing", ""},
		{"broken", "", ""}, {"disabled", "", ""}, {"undecided", "", ""}, {"unopenable", "", ""},
	} {
		for _, command := range []string{"show", "events", "trace", "resume", "export", "forget"} {
			got := run(tc.scenario, "__complete", command, tc.typed)
			safe(t, got.out)
			var words []string
			for line := range strings.SplitSeq(strings.TrimSpace(got.out), "\n") {
				if word, _, _ := strings.Cut(line, "\t"); word != "" && !strings.HasPrefix(word, ":") {
					words = append(words, word)
				}
			}
			if all := strings.Join(words, " "); all != tc.want {
				t.Errorf("%s: %s %q: %q, want %q", tc.scenario, command, tc.typed, all, tc.want)
			}
		}
	}
	if got := run("ok", "__complete", "show", "3b"); !strings.Contains(got.out, "3b0f7c52-full\tFix the tide table · claude · tidewatch · 2 h ago\n") {
		t.Errorf("%q", got.out)
	}
}

// FuzzVisibleJSON: what is shown of a document on a terminal is the same document.
func FuzzVisibleJSON(f *testing.F) {
	for _, s := range []string{"", "plain", hostile, "\u200d👩‍💻\U000e0041\U0010ffff", "\xff\"\\u009b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		document, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		shown := visibleJSON(string(document))
		safe(t, shown)
		if !sameJSON(t, shown, string(document)) {
			t.Errorf("%q became %q", document, shown)
		}
	})
}

// TestTreesFitTheTerminal: however deep a family is, its lines are not broken.
func TestTreesFitTheTerminal(t *testing.T) {
	for _, scenario := range []string{"ok", "deep", "alone"} {
		for columns, width := range map[string]int{"72": 72, "80": 80, "112": 112} {
			for line := range strings.SplitSeq(look(scenario, columns, "trace", "3b0f7c52").out, "\n") {
				if w := textWidth(line); w > width {
					t.Errorf("%s: %d columns of %d: %q", scenario, w, width, line)
				}
			}
		}
	}
}

func TestLineWithTheText(t *testing.T) {
	for _, tc := range []struct{ text, wanted, want string }{
		{"one\ntwo Words here\nthree words", "WORDS", "two Words here"},
		{"one", "two", ""},
		{"a  \t tide\ttable", "tide  table", "a tide table"},
		{strings.Repeat("x ", 30) + "the tide\x1b[2J table", "tide table", "…" + strings.Repeat("x ", 8) + "the tide table"},
		{strings.Repeat("潮", 30) + "tide", "tide", "…潮潮潮潮潮潮tide"},
		{"\xff\xfe tide", "tide", "\ufffd\ufffd tide"},
	} {
		if got, found := lineWith(tc.text, tc.wanted); got != tc.want || found != (tc.want != "") {
			t.Errorf("%.40q in %.40q: %q, %v, want %q", tc.wanted, tc.text, got, found, tc.want)
		}
	}
	if got, found := lineWith("tide"+strings.Repeat("潮", 1<<20), "tide"); !found || len(got) > maxBeginning+3 {
		t.Errorf("%v, %d bytes", found, len(got))
	}
}

func TestRanges(t *testing.T) {
	for _, tc := range []struct {
		seqs []int64
		want string
	}{
		{nil, ""}, {[]int64{7}, "#7"}, {[]int64{7, 8}, "#7, #8"}, {[]int64{1, 2, 3, 5}, "#1 to #3, #5 (4 events)"}, {[]int64{3, 2}, "#3, #2"},
	} {
		if got := ranges(tc.seqs); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.seqs, got, tc.want)
		}
	}
}
