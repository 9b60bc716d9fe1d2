package cline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const (
	task    = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1757000000000/"
	session = ".cline/data/sessions/s1/"
)

// one reads the only source of these files.
func one(t *testing.T, files map[string]string) (*transcripttest.Session, *transcript.Checkpoint, error) {
	t.Helper()
	env := transcripttest.Env(transcripttest.Write(t, files), nil)
	srcs := transcripttest.Sources(t, New(), env)
	if len(srcs) != 1 {
		t.Fatalf("%d sources", len(srcs))
	}
	ss, cp, err := transcripttest.ReadAll(t, New(), env, srcs[0])
	return ss[srcs[0].SessionID], cp, err
}

func say(word, text string) string {
	return fmt.Sprintf(`{"ts":1757000000000,"type":"say","say":%q,"text":%q}`, word, text)
}

func list(entries ...string) string { return "[" + strings.Join(entries, ",") + "]" }

func TestTyped(t *testing.T) {
	for _, c := range [][2]string{
		{"plain words", "plain words"},
		{"<task>\nfix it\n</task>", "fix it"},
		{"<task>\nfix @/a.go\n</task>\n\n<file_content path=\"a.go\">\npackage a // \"</task>\"\n</file_content>", "fix @/a.go"},
		{"fix @/a.go and @problems\n\n<file_content path=\"a.go\">\npackage a\n</file_content>\n\n<workspace_diagnostics>\nnone\n</workspace_diagnostics>", "fix @/a.go and @problems"},
		{"what does <file_content path=\"x\"> do?", "what does <file_content path=\"x\"> do?"},
		{"<environment_details>\n# Current Time\n</environment_details>", ""},
		{"why is <environment_details> sent?</environment_details> I ask", "why is <environment_details> sent?</environment_details> I ask"},
		{"<environment_details> never closes", "<environment_details> never closes"},
		{"<user_input mode=\"act\">go on</user_input>", "go on"},
		{"<mode_notice>switched</mode_notice><user_input mode=\"plan\">and now?</user_input>", "and now?"},
		{"<user_command slash=\"team\">spawn a team</user_command>", "/team spawn a team"},
		{"<user_input mode=\"act\"><user_command slash=\"plan\">tidy</user_command></user_input>", "/plan tidy"},
		{"<explicit_instructions type=\"new_task\">The user has asked…</explicit_instructions>\nstart anew", "start anew"},
		{"[TASK RESUMPTION] This task was interrupted 5 minutes ago.\n\nNew instructions for task continuation:\n<user_message>\nuse the other one\n</user_message>", "use the other one"},
		{"[TASK RESUMPTION] This task was interrupted 5 minutes ago.", ""},
		{"[ERROR] cannot find module tide", "[ERROR] cannot find module tide"},
		{"<user_input mode=\"act\">[TASK RESUMPTION] is what it says</user_input>", "[TASK RESUMPTION] is what it says"},
		{"<task>\n<environment_details>what are these?</environment_details> tell me\n</task>", "<environment_details>what are these?</environment_details> tell me"},
		{"[ERROR] You did not use a tool in your previous response! Please retry with a tool use.", ""},
		{"The user has provided feedback on the results. Consider their input.\n<feedback>\nnot yet\n</feedback>", "not yet"},
		{"<answer>\nthe green one\n</answer>", "the green one"},
		{strings.Repeat("<task>", 9) + "x" + strings.Repeat("</task>", 9), strings.Repeat("<task>", 9) + "x" + strings.Repeat("</task>", 9)},
	} {
		got := typed(c[0])
		if strings.HasPrefix(c[0], "<task><task>") {
			if !strings.Contains(got, "x") {
				t.Errorf("nested: %q", got)
			}
			continue
		}
		if got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}

func TestResultHeader(t *testing.T) {
	for _, c := range []struct{ text, tool, about, rest string }{
		{"[read_file for 'a.go'] Result:\npackage a", "read_file", "a.go", "package a"},
		{"[read_file for 'a.go'] Result:", "read_file", "a.go", ""},
		{"[execute_command for 'echo 'it' > \"x\"'] Result:\nok", "execute_command", "echo 'it' > \"x\"", "ok"},
		{"[execute_command for 'cat <<E\nx\nE'] Result:\nok", "execute_command", "cat <<E\nx\nE", "ok"},
		{"[search_files for 'TODO' in '*.go'] Result:\nnone", "search_files", "TODO", "none"},
		{"[attempt_completion] Result:\n", "attempt_completion", "", ""},
	} {
		tool, about, rest, ok := resultHeader(c.text)
		if !ok || tool != c.tool || about != c.about || rest != c.rest {
			t.Errorf("%q: %q %q %q %v", c.text, tool, about, rest, ok)
		}
	}
	for _, text := range []string{"", "[", "[ERROR] Result:", "[x] Result", "see [read_file for 'a'] Result:", "[" + strings.Repeat("x", 1<<20)} {
		if _, _, rest, ok := resultHeader(text); ok || rest != text {
			t.Errorf("%.30q is one", text)
		}
	}
}

// Results are found by the place that an entry names; older releases name none.
func TestResults(t *testing.T) {
	sent := func(n int, result string) string {
		return fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"<read_file><path>a.go</path></read_file>"}]},{"role":"user","content":[{"type":"text","text":"[read_file for 'a.go'] Result:"},{"type":"text","text":%q}]}`, fmt.Sprint(result, " ", n))
	}
	api := list(`{"role":"user","content":"<task>x</task>"}`, sent(1, "old"), sent(2, "new"), sent(3, "newest"))
	read := func(index string) string {
		return `{"ts":1757000000000,"type":"say","say":"tool","text":"{\"tool\":\"readFile\",\"path\":\"a.go\",\"content\":\"/w/a.go\"}"` + index + `}`
	}
	for _, c := range []struct{ name, shown, want string }{
		{"in order", list(say("task", "x"), read(""), read(""), read(""), read("")), "old 1|new 2|newest 3|"},
		{"by place", list(say("task", "x"), read(`,"conversationHistoryIndex":2`), read(`,"conversationHistoryIndex":4`)), "new 2|newest 3"},
		{"of the answer itself", list(say("task", "x"), read(`,"conversationHistoryIndex":1`), read(`,"conversationHistoryIndex":3`)), "old 1|new 2"},
		{"beyond the end", list(say("task", "x"), read(`,"conversationHistoryIndex":6`)), ""},
		{"twice at one place", list(say("task", "x"), read(`,"conversationHistoryIndex":0`), read(`,"conversationHistoryIndex":0`)), "old 1|"},
	} {
		s, _, err := one(t, map[string]string{task + shownFile: c.shown, task + sentFile: api})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, e := range s.Events[1:] {
			text := ""
			for _, p := range e.Parts {
				if p.Kind == transcript.Output {
					text = p.Text
				}
			}
			got = append(got, text)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// What a person said to a call is no output, and a file with such tags is one.
func TestFeedback(t *testing.T) {
	for _, c := range [][3]string{
		{"plain", "plain", ""}, {"package a // <feedback>x</feedback>", "package a // <feedback>x</feedback>", ""}, {"<feedback>", "<feedback>", ""},
		{"ok\n\nThe user provided the following feedback:\n<feedback>\nnot so\n</feedback>", "ok", "not so"},
		{"The user has provided feedback on the results.\n<feedback>\nmore\n</feedback>\n\n<file_content path=\"a\">\nx\n</file_content>", "", "more"},
	} {
		if _, said := feedback(c[0]); output(c[0]) != c[1] || said != c[2] {
			t.Errorf("%q: %q, %q", c[0], output(c[0]), said)
		}
	}
	s, _, err := one(t, map[string]string{task + sentFile: list(`{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"attempt_completion","input":{"result":"done"}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"The user has provided feedback on the results.\n<feedback>\nnot yet\n</feedback>"}]}`)})
	if err != nil || s.Said() != "assistant: done | user: not yet" {
		t.Errorf("%v %s", err, s.Said())
	}
}

// The folder is told by the history, else by what describes the environment.
func TestFolder(t *testing.T) {
	env := `{"role":"user","content":[{"type":"text","text":"<task>x</task>"},{"type":"text","text":"<environment_details>\n# Current Working Directory (/srv/tide) Files\na\n</environment_details>"}]}`
	windows := strings.ReplaceAll(env, "/srv/tide", `C:\\Users\\dev\\tide`)
	request := say("api_req_started", `{"request":"<task>x</task>\n# Current Working Directory (/srv/req) Files\n"}`)
	const history = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/state/taskHistory.json"
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{task + shownFile: list(say("task", "x")), task + sentFile: list(env)}, "/srv/tide"},
		{map[string]string{task + shownFile: list(say("task", "x")), task + sentFile: list(windows)}, `C:\Users\dev\tide`},
		{map[string]string{task + sentFile: list(env)}, "/srv/tide"},
		{map[string]string{task + shownFile: list(say("task", "x"), request)}, "/srv/req"},
		{map[string]string{task + shownFile: list(say("task", "x")), task + sentFile: list(env), history: `[{"id":"1757000000000","cwdOnTaskInitialization":"/srv/hist"}]`}, "/srv/hist"},
		{map[string]string{task + shownFile: list(say("task", "x")), task + sentFile: list(strings.ReplaceAll(env, "/srv/tide", "relative"))}, ""},
	} {
		if s, _, err := one(t, c.files); err != nil || s.CWD != c.want {
			t.Errorf("%v, want %q: %+v", c.files, c.want, s)
		}
	}
}

// Noise is not text, and what a person writes about it is (matching.md rule 12).
func TestNoise(t *testing.T) {
	noise := "<environment_details>\nxylograph\n</environment_details>"
	s, _, err := one(t, map[string]string{
		task + shownFile: list(say("task", "why is <environment_details>quoted</environment_details> sent?"), say("api_req_started", fmt.Sprintf(`{"request":%q}`, noise)), say("reasoning", "xylograph"),
			say("browser_action_result", `{"screenshot":"data:image/png;base64,`+strings.Repeat("iVBORw0KGgo", 40)+`","logs":""}`), `{"ts":1757000000000,"type":"say","say":"user_feedback","text":"","images":["data:image/png;base64,iVBORw0KGgo="]}`,
			say("info", "xylograph"), say("checkpoint_created", "xylograph"), say("hook_status", "xylograph")),
		task + sentFile: list(fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"[read_file for 'x'] Result:\nxylograph"},{"type":"text","text":%q}]}`, noise)),
	})
	if err != nil {
		t.Fatal(err)
	}
	all := s.Text(transcript.Prose) + s.Text(transcript.Call) + s.Text(transcript.Output)
	if s.Title != "why is <environment_details>quoted</environment_details> sent?" || strings.Contains(all, "xylograph") || strings.Contains(all, "iVBOR") || !strings.Contains(all, "quoted") || s.MessageCount != 2 {
		t.Errorf("%d messages; %q", s.MessageCount, all)
	}
}

// A document is written anew with every message: one that is cut off, is no JSON or
// not what it should be gives what can be read.
func TestDamage(t *testing.T) {
	doc := `{"version":1,"messages":[{"id":"a","role":"user","content":"one","ts":1757000000000},{"id":"b","role":"assistant","content":[{"type":"text","text":"two"}]}`
	for _, c := range []struct {
		name, file, text, said string
		torn                   bool
		bad                    int
		err                    error
	}{
		{"whole", session + "s1.messages.json", doc + "]}\n", "user: one | assistant: two", false, 0, nil},
		{"cut off", session + "s1.messages.json", doc + `,{"role":"user","content":"thr`, "user: one | assistant: two", true, 0, nil},
		{"damaged behind", session + "s1.messages.json", doc + "}}}", "user: one | assistant: two", false, 1, nil},
		{"odd elements", session + "s1.messages.json", doc + `,null,7,"x",[],{},{"role":{}},{"role":"user","content":{"type":"text","text":"three"}}]}`, "user: one | assistant: two | user: three", false, 0, nil},
		{"no messages", session + "s1.messages.json", `{"messages":[]}`, "", false, 0, transcript.ErrNoSession},
		{"empty", session + "s1.messages.json", ``, "", true, 0, transcript.ErrNoSession},
		{"a list", session + "s1.messages.json", `[]`, "", false, 0, errAny},
		{"NULs", session + "s1.messages.json", "\x00\x00\x00", "", true, 0, transcript.ErrNoSession},
		{"task", task + shownFile, list(say("task", "one"), say("text", "two")), "user: one | assistant: two", false, 0, nil},
		{"task cut off", task + shownFile, `[` + say("task", "one") + "," + say("text", "two") + `,{"ts":17`, "user: one | assistant: two", true, 0, nil},
		{"task, odd entries", task + shownFile, list("null", "7", `"x"`, "[]", "{}", `{"type":"say"}`, `{"type":"ask","ask":"tool","text":"no JSON"}`, say("tool", `{"tool":7,"path":[1]}`), say("followup", "{broken"), say("command", ""), say("subagent", "[]"), say("use_mcp_server", "x"), say("text", "one")),
			"assistant: {broken | assistant: one", false, 0, nil},
		{"task, an object", task + shownFile, `{}`, "", false, 0, errAny},
		{"sent, cut off", task + sentFile, `[{"role":"user","content":"<task>one</task>"},{"role":"assistant","content":"<thinking>x</thinking>two"},`, "user: one | assistant: two", true, 0, nil},
	} {
		s, cp, err := one(t, map[string]string{c.file: c.text})
		if c.err != nil {
			if err == nil || c.err != errAny && !errors.Is(err, c.err) {
				t.Errorf("%s: %v, want %v", c.name, err, c.err)
			}
			continue
		}
		if err != nil || s.Said() != c.said || cp.Torn != c.torn || cp.Bad != c.bad {
			t.Errorf("%s: %v; %q; %+v", c.name, err, s.Said(), cp)
		}
	}
}

var errAny = errors.New("any")

// A task that has lost what was shown is read from what was sent, and one whose folder is
// gone is gone.
func TestLoss(t *testing.T) {
	home := transcripttest.Home(t, samples)
	env := transcripttest.Env(home, nil)
	format := func() string {
		for _, s := range transcripttest.Sources(t, New(), env) {
			if s.SessionID != "1757000000000" {
				continue
			}
			ss, _, err := transcripttest.ReadAll(t, New(), env, s)
			if err != nil {
				t.Fatal(err)
			}
			return ss[s.SessionID].Format
		}
		return ""
	}
	for _, c := range []struct{ gone, want string }{{"nothing", formatTask}, {shownFile, formatSent}, {"", ""}} {
		if c.gone != "nothing" {
			if err := os.RemoveAll(filepath.Join(home, filepath.FromSlash(task+c.gone))); err != nil {
				t.Fatal(err)
			}
		}
		if got := format(); got != c.want {
			t.Errorf("without %q: %q, want %q", c.gone, got, c.want)
		}
	}
	src := transcript.Source{Agent: agentID, Path: filepath.Join(home, filepath.FromSlash(task+shownFile)), SessionID: "1757000000000"}
	if _, _, err := transcripttest.ReadAll(t, New(), env, src); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read although it is gone: %v", err)
	}
}

// A fork whose parent is not there owns what it copied, and says so; one that names a
// path as its parent makes nobody look there.
func TestForks(t *testing.T) {
	doc := `{"messages":[{"id":"a","role":"user","content":"one","ts":1757000000000},{"id":"b","role":"user","content":"two"}]}`
	manifest := func(parent string) string {
		return fmt.Sprintf(`{"metadata":{"fork":{"forkedFromSessionId":%q}}}`, parent)
	}
	for _, parent := range []string{"s0", "../s0", `..\s0`, "/etc", ".."} {
		s, _, err := one(t, map[string]string{session + "s1.messages.json": doc, session + "s1.json": manifest(parent)})
		if err != nil || s.ParentID != parent || s.InheritedKnown || s.InheritedCount != 0 || s.MessageCount != 2 || len(s.Warnings) != 1 {
			t.Errorf("%s: %v %+v", parent, err, s)
		}
	}
	got := transcripttest.One(t, New(), map[string]string{session + "s1.messages.json": doc, session + "s1.json": manifest("s0"), ".cline/data/sessions/s0/s0.messages.json": `{"messages":[{"id":"a","role":"user","content":"one"}]}`})
	if s := got["s1"]; s == nil || s.InheritedCount != 1 || s.MessageCount != 1 || !s.InheritedKnown || s.Relation != transcript.RelationFork {
		t.Errorf("%+v", s)
	}
	if s, _, err := one(t, map[string]string{session + "s1.messages.json": doc, session + "s1.json": manifest("s1")}); err != nil || s.Relation != transcript.RelationRoot {
		t.Errorf("its own parent: %v %+v", err, s)
	}
}

// A session is as new as its last message, else as its document says.
func TestTimes(t *testing.T) {
	for _, c := range []struct{ ts, want string }{{`,"ts":1785000000000`, "2026-07-25 17:20"}, {"", "2026-07-26 10:00"}, {`,"ts":"soon"`, "2026-07-26 10:00"}} {
		s, _, err := one(t, map[string]string{session + "s1.messages.json": `{"updated_at":"2026-07-26T10:00:00.000Z","messages":[{"role":"user","content":"x"` + c.ts + `}]}`, session + "s1.json": `{"started_at":"2026-07-25T17:00:00.000Z"}`})
		if err != nil || s.UpdatedAt.Format("2006-01-02 15:04") != c.want || s.CreatedAt.Format("15:04") != "17:00" {
			t.Errorf("%s: %v %s, %s", c.ts, err, s.CreatedAt, s.UpdatedAt)
		}
	}
}

// A large document passes piece by piece: values of 100 MB, and results beside what
// was shown.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 300 MB")
	}
	home := transcripttest.Write(t, map[string]string{task + "x": ""})
	write := func(name, before, unit string, n int, after string) {
		t.Helper()
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		block := strings.Repeat(unit, 1<<20/len(unit)+1)
		_, _ = f.WriteString(before)
		for written := 0; written < n; written += len(block) {
			if _, err := f.WriteString(block); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = f.WriteString(after)
	}
	picture := `{"ts":1757000000000,"type":"say","say":"user_feedback","text":"look","images":["data:image/png;base64,` + strings.Repeat("iVBORw0KGgo4", 2000) + `"]},`
	write(task+shownFile, "[", picture, 100<<20, say("completion_result", "seen")+"]")
	write(task+sentFile, `[{"role":"user","content":[{"type":"text","text":"<environment_details>`, "gull ", 100<<20, `</environment_details>"}]}]`)
	write(".config/Code/User/globalStorage/saoudrizwan.claude-dev/state/taskHistory.json", `[{"id":"1757000000000","cwdOnTaskInitialization":"/w","task":"`, "tern ", 100<<20, `"}]`)
	env := transcripttest.Env(home, nil)
	src := transcripttest.Sources(t, New(), env)[0]
	sink := &counter{}
	start := heap()
	if _, err := New().Read(context.Background(), env, src, nil, sink); err != nil {
		t.Fatal(err)
	}
	if sink.header.CWD != "/w" || sink.header.MessageCount < 4000 {
		t.Errorf("%+v", sink.header)
	}
	if sink.most > start+200<<20 {
		t.Errorf("%d MB held", (sink.most-start)>>20)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// counter is a sink that keeps only the header.
type counter struct {
	header transcript.Header
	events int
	most   uint64
}

func (c *counter) Begin(bool) error { return nil }
func (c *counter) Event(*transcript.Event) error {
	if c.events++; c.events%1000 == 1 {
		c.most = max(c.most, heap())
	}
	return nil
}
func (c *counter) Surface(string, int, int, transcript.Surface) error { return nil }
func (c *counter) Header(h *transcript.Header) error                  { c.header = h.Clone(); return nil }
func (c *counter) Progress(int64)                                     {}

// What looks like calls without end takes no time without end.
func TestHostileText(t *testing.T) {
	const n = 1 << 20
	for name, text := range map[string]string{
		"unclosed tags": strings.Repeat("<read_file>", n/11), "closed tags": strings.Repeat("<path></path>", n/13), "parameters": "<write_to_file>" + strings.Repeat("<path>", n/6) + "</write_to_file>",
		"envelopes": strings.Repeat("<task>", n/6) + strings.Repeat("</task>", n/7), "feedback": strings.Repeat("<feedback>x</feedback>", n/22), "unclosed feedback": strings.Repeat("<feedback>", n/10),
		"additions": strings.Repeat("\n<file_content path=\"\">x</file_content>", n/40), "headers": "[read_file for '" + strings.Repeat("' in '", n/6) + "'] Result:",
	} {
		for _, role := range []string{"user", "assistant"} {
			start := time.Now()
			_, _, err := one(t, map[string]string{task + sentFile: list(`{"role":"user","content":"x"}`, fmt.Sprintf(`{"role":%q,"content":[{"type":"text","text":%q},{"type":"tool_result","content":%q}]}`, role, text, text))})
			if took := time.Since(start); err != nil || took > 20*time.Second {
				t.Errorf("%s, %s: %v after %s", name, role, err, took)
			}
		}
	}
}

func FuzzDamaged(f *testing.F) {
	for _, rel := range []string{task + shownFile, task + sentFile, session + "s1.messages.json"} {
		for _, name := range []string{"1757000000000/" + shownFile, "1757000000000/" + sentFile, "1765000000000/" + shownFile, "1765000000000/" + sentFile} {
			data, err := os.ReadFile(filepath.Join(samples, ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks", name))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(rel, data)
		}
	}
	data, err := os.ReadFile(filepath.Join(samples, ".cline/data/sessions/1767600000000_k3x9q/1767600000000_k3x9q.messages.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(session+"s1.messages.json", data)
	f.Add(session+"s1.messages.json", data[:len(data)/2])
	f.Fuzz(func(t *testing.T, rel string, data []byte) {
		switch rel {
		case task + shownFile, task + sentFile, session + "s1.messages.json":
			transcripttest.Damaged(t, New(), rel, data)
			// What was sent is read beside what was shown.
			transcripttest.One(t, New(), map[string]string{task + shownFile: list(say("task", "x"), say("tool", `{"tool":"readFile","path":"README.md"}`)), task + sentFile: string(data)})
		}
	})
}
