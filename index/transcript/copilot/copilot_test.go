package copilot_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/copilot"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const (
	home = "../../../testdata/home/copilot-cli"
	sid  = "5a6b7c8d-1111-4222-8333-444455556666"
	log  = ".copilot/session-state/" + sid + "/events.jsonl"
)

func absHome(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(home)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestGolden(t *testing.T) {
	transcripttest.Golden(t, copilot.New(), absHome(t), "../../../testdata/golden/copilot.txt")
}

// event is one log line of an invented session.
func event(kind, data string, n int) string {
	return fmt.Sprintf(`{"type":%q,"data":%s,"id":"e%d","timestamp":"2026-07-01T09:00:%02d.000Z"}`, kind, data, n, n%60) + "\n"
}

func one(t *testing.T, lines ...string) *transcripttest.Session {
	t.Helper()
	s := transcripttest.One(t, copilot.New(), map[string]string{log: strings.Join(lines, "")})[sid]
	if s == nil {
		t.Fatal("no session")
	}
	return s
}

func surfaces(s *transcripttest.Session) string {
	var b strings.Builder
	for _, e := range s.Events {
		b.WriteByte(e.Surface[0])
	}
	return b.String()
}

func TestGrowth(t *testing.T) {
	for _, rel := range []string{log, ".copilot/session-state/9c1d7e30-5b2a-4f68-8e4d-0a1b2c3d4e5f/events.jsonl", ".copilot/session-state/1f2e3d4c-0000-4aaa-8bbb-cccccccccccc.jsonl"} {
		text, err := os.ReadFile(filepath.Join(home, rel))
		if err != nil {
			t.Fatal(err)
		}
		yaml, _ := os.ReadFile(filepath.Join(home, filepath.Dir(rel), "workspace.yaml"))
		rnd := rand.New(rand.NewSource(1))
		continued := 0
		for range 12 {
			dir := transcripttest.Write(t, map[string]string{rel: string(text) + event("user.message", `{"content":"naïve café – 潮汐"}`, 7), filepath.Dir(rel) + "/workspace.yaml": string(yaml)})
			var steps []int
			for range 40 {
				steps = append(steps, 1+rnd.Intn(900))
			}
			continued += transcripttest.Grows(t, copilot.New(), dir, rel, steps)
		}
		if continued == 0 {
			t.Errorf("%s: never read on", rel)
		}
	}
}

// A rewind takes the named event and what follows out of view, nothing else.
func TestRewind(t *testing.T) {
	prompt := func(n int) string { return event("user.message", fmt.Sprintf(`{"content":"prompt %d"}`, n), n) }
	for _, c := range []struct {
		name, rewind, want string
		warns              bool
	}{
		{"known", `{"upToEventId":"e1","eventsRemoved":2}`, "cssslc", false},
		{"all", `{"upToEventId":"e0","eventsRemoved":4}`, "sssslc", false},
		{"unknown", `{"upToEventId":"gone","eventsRemoved":2}`, "cccclc", true},
		{"no id", `{"eventsRemoved":2}`, "cccclc", true},
	} {
		s := one(t, prompt(0), prompt(1), prompt(2), prompt(3), event("session.snapshot_rewind", c.rewind, 4), prompt(5))
		if got := surfaces(s); got != c.want {
			t.Errorf("%s: surfaces %s, want %s", c.name, got, c.want)
		}
		if got := len(s.Warnings) > 0; got != c.warns {
			t.Errorf("%s: warnings %q", c.name, s.Warnings)
		}
		if !strings.Contains(s.Text(transcript.Prose), "prompt 2") {
			t.Errorf("%s: rewound text must stay", c.name)
		}
	}
}

// Compaction keeps what came after it had started; a later rewind still finds
// its place.
func TestCompactionAndRewind(t *testing.T) {
	prompt := func(n int) string { return event("user.message", fmt.Sprintf(`{"content":"prompt %d"}`, n), n) }
	s := one(t, prompt(0), event("session.info", `{}`, 1), prompt(2), event("session.compaction_start", `{}`, 3), prompt(4), event("session.compaction_complete", `{}`, 5),
		prompt(6), event("session.info", `{}`, 7), prompt(8), event("session.snapshot_rewind", `{"upToEventId":"e6"}`, 9), prompt(10))
	if got := surfaces(s); got != "slslccslslc" {
		t.Errorf("surfaces %s", got)
	}
}

func TestSpawnedSession(t *testing.T) {
	s := one(t, event("session.start", `{"sessionId":"`+sid+`","detachedFromSpawningParentSessionId":"p-1"}`, 0), event("user.message", `{"content":"tidy the notes"}`, 1))
	if s.Relation != transcript.RelationContinuation || s.ParentID != "p-1" || s.LineageEvidence != transcript.EvidenceHeader || !s.Automated || s.InheritedCount != 0 {
		t.Errorf("%+v", s.Header)
	}
	s = one(t, event("session.start", `{"detachedFromSpawningParentSessionId":"`+sid+`"}`, 0), event("user.message", `{"content":"x"}`, 1))
	if s.Relation != transcript.RelationRoot || s.ParentID != "" {
		t.Errorf("its own parent: %+v", s.Header)
	}
}

func TestCompactionThatFailedReplacesNothing(t *testing.T) {
	s := one(t, event("user.message", `{"content":"a"}`, 0), event("session.compaction_start", `{}`, 1), event("session.compaction_complete", `{"success":false,"error":"no"}`, 2))
	if got := surfaces(s); got != "cll" {
		t.Errorf("surfaces %s", got)
	}
}

// github/copilot-cli#2446: newer sessions record nothing but the folder.
func TestWorkspaceWithFolderOnly(t *testing.T) {
	s := transcripttest.One(t, copilot.New(), map[string]string{
		log: event("user.message", `{"content":"hello"}`, 0),
		".copilot/session-state/" + sid + "/workspace.yaml": "cwd: /home/dev/work/tidewatch\n",
	})[sid]
	if s.CWD != "/home/dev/work/tidewatch" || s.Title != "hello" || len(s.Warnings) != 0 {
		t.Errorf("cwd %q title %q warnings %q", s.CWD, s.Title, s.Warnings)
	}
}

func TestWorkspaceTitles(t *testing.T) {
	changed := event("session.title_changed", `{"title":"from the log"}`, 1)
	for _, c := range []struct {
		yaml, log, want string
		from            transcript.TitleSource
		warns           bool
	}{
		{"name: Named\nsummary: S\n", changed, "Named", transcript.TitleAgent, false},
		{"name: Named\nuser_named: true\n", changed, "Named", transcript.TitleUser, false},
		{"summary: S\n", changed, "from the log", transcript.TitleAgent, false},
		{"summary: S\n", "", "S", transcript.TitleAgent, false},
		{"", "", "the prompt", transcript.TitlePrompt, false},
		{"name: [1, 2", "", "the prompt", transcript.TitlePrompt, true},
		{"name: &a [*a, *a]\n", "", "the prompt", transcript.TitlePrompt, true},
		{"\x00\xff\xfe", "", "the prompt", transcript.TitlePrompt, true},
		{"name: " + strings.Repeat("x", 20<<10), "", "the prompt", transcript.TitlePrompt, true},
	} {
		s := transcripttest.One(t, copilot.New(), map[string]string{
			log: event("user.message", `{"content":"the prompt"}`, 0) + c.log,
			".copilot/session-state/" + sid + "/workspace.yaml": c.yaml,
		})[sid]
		if s == nil || s.Title != c.want || s.TitleSource != c.from || (len(s.Warnings) > 0) != c.warns {
			t.Errorf("%.40q: %+v", c.yaml, s)
		}
	}
}

func TestDiscovery(t *testing.T) {
	rd := copilot.New()
	line := event("user.message", `{"content":"hello"}`, 0)
	const other = "11111111-2222-4333-8444-555555555555"
	dir := transcripttest.Write(t, map[string]string{
		"cfg/session-state/" + sid + "/events.jsonl":              line,
		"cfg/session-state/" + sid + ".jsonl":                     line,
		"cfg/session-state/" + other + "/workspace.yaml":          "cwd: /x\n", // never used
		"cfg/session-state/copy of it/events.jsonl":               event("session.start", `{"sessionId":"`+other+`"}`, 0) + line,
		"cfg/session-state/notes.txt":                             "no",
		"cfg/history-session-state/session_" + other + "_17.json": `{"chatMessages":[{"role":"user","content":"old"}]}`,
		"cfg/logs/x.jsonl":                                        line,
	})
	if err := os.Symlink(filepath.Join(dir, "cfg/session-state", sid), filepath.Join(dir, "cfg/session-state/link")); err != nil {
		t.Skip(err)
	}
	found := func(env transcript.Env) []string {
		var got []string
		for _, s := range transcripttest.Sources(t, rd, env) {
			rel, _ := filepath.Rel(dir, s.Path)
			got = append(got, fmt.Sprintf("%s %s %d", filepath.ToSlash(rel), s.SessionID[:4], s.Class))
		}
		return got
	}
	want := []string{
		"cfg/history-session-state/session_" + other + "_17.json 1111 0",
		"cfg/session-state/" + sid + ".jsonl 5a6b 1",
		"cfg/session-state/" + sid + "/events.jsonl 5a6b 2",
		"cfg/session-state/copy of it/events.jsonl 1111 2",
	}
	if got := found(transcripttest.Env(dir, map[string]string{"COPILOT_HOME": filepath.Join(dir, "cfg")})); !slices.Equal(got, want) {
		t.Errorf("COPILOT_HOME:\n%s", strings.Join(got, "\n"))
	}
	if got := found(transcripttest.Env(dir, map[string]string{"COPILOT_HOME": "cfg"})); got != nil {
		t.Errorf("a relative COPILOT_HOME counts as unset, got %q", got)
	}
	env := transcripttest.Env(filepath.Join(dir, "nowhere"), nil)
	env.Extra = []string{filepath.Join(dir, "cfg")}
	if got := found(env); !slices.Equal(got, want) {
		t.Errorf("configured folder:\n%s", strings.Join(got, "\n"))
	}
	env.Extra = []string{filepath.Join(dir, "cfg", "session-state")}
	if got := found(env); !slices.Equal(got, want[1:]) {
		t.Errorf("configured session folder:\n%s", strings.Join(got, "\n"))
	}
	err := rd.Discover(t.Context(), env, transcript.Root{Path: filepath.Join(dir, "none"), Kind: "session-state"}, nil, nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing root: %v", err)
	}
}

func TestNoConversation(t *testing.T) {
	for _, text := range []string{"", "\n", event("session.start", `{"sessionId":"x"}`, 0), event("user.message", `{"content":"<skill-context>a</skill-context>"}`, 0)} {
		dir := transcripttest.Write(t, map[string]string{log: text})
		env := transcripttest.Env(dir, nil)
		_, _, err := transcripttest.ReadAll(t, copilot.New(), env, transcripttest.Sources(t, copilot.New(), env)[0])
		if !errors.Is(err, transcript.ErrNoSession) {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}

// Who wrote a message in the person's role: a skill, whether its envelope closes
// or not, is nobody; what is attached without words is a message.
func TestPrompts(t *testing.T) {
	for _, c := range []struct {
		data, text string
		message    bool
	}{
		{`{"content":"find the kiwi"}`, "find the kiwi", true},
		{`{"content":"find the kiwi","source":"skill-birds"}`, "", false},
		{`{"content":"<skill-context name=\"birds\">\nkiwi facts\n</skill-context>\nmore of them"}`, "", false},
		{`{"content":" <skill-context name=\"birds\">\nkiwi facts"}`, "", false},
		{`{"content":"what is a <skill-context>?"}`, "what is a <skill-context>?", true},
		{`{"content":"","attachments":[{"type":"file","path":"/w/kiwi.png"}]}`, "", true},
		{`{"content":"<system-reminder>x</system-reminder>","attachments":[{"type":"file","path":"/w/kiwi.png"}]}`, "", false},
		{`{"content":"","attachments":[]}`, "", false},
	} {
		s := one(t, event("assistant.message", `{"messageId":"z","content":"a reply"}`, 0), event("user.message", c.data, 1))
		got := ""
		for _, p := range s.Events[1].Parts {
			got += p.Text
		}
		if got != c.text || s.Events[1].Message != c.message {
			t.Errorf("%s: %q, message %v", c.data, got, s.Events[1].Message)
		}
	}
}

// Damage in one record never loses another one.
func TestHazards(t *testing.T) {
	good := event("assistant.message", `{"messageId":"z","content":"after it"}`, 9)
	for _, c := range []struct {
		name, line string
		text       string // expected in prose, call or output
		bad        int
		torn       bool
	}{
		{"nul run", strings.Repeat("\x00", 400) + "\n", "", 1, false},
		{"not json", "hello\n", "", 1, false},
		{"spliced", `{"type":"assistant.message","data":{"content":"half ` + event("user.message", `{"content":"find me: basalt"}`, 1), "basalt", 1, false},
		{"lone surrogate", event("user.message", `{"content":"errored \ud83d... at tern"}`, 1), "at tern", 0, false},
		{"invalid utf-8", event("user.message", "{\"content\":\"caf\xff tern\"}", 1), "tern", 0, false},
		{"duplicate keys", event("user.message", `{"content":"first","content":"second tern"}`, 1), "second tern", 0, false},
		{"line separator", event("user.message", "{\"content\":\"a\u2028tern\"}", 1), "tern", 0, false},
		{"unknown type", event("brand.new", `{"content":"tern"}`, 1), "", 0, false},
		{"type is a number", `{"type":7,"data":[],"id":8}` + "\n", "", 0, false},
		{"no object", "[1,2]\n", "", 0, false},
		{"data null", event("user.message", `null`, 1), "", 0, false},
		{"future", `{"type":"user.message","data":{"content":"tern"},"timestamp":"2099-01-01T00:00:00Z"}` + "\n", "tern", 0, false},
		{"epoch 0", `{"type":"user.message","data":{"content":"tern"},"timestamp":0}` + "\n", "tern", 0, false},
		{"seconds as text", `{"type":"user.message","data":{"content":"tern"},"timestamp":"1785000000"}` + "\n", "tern", 0, false},
		{"crlf", strings.TrimSuffix(event("user.message", `{"content":"tern"}`, 1), "\n") + "\r\n", "tern", 0, false},
		{"bom", "\ufeff" + event("user.message", `{"content":"tern"}`, 1), "tern", 0, false},
		{"content list", event("user.message", `{"content":[{"type":"text","text":"tern"},{"image":"data:image/png;base64,AAAA"},null]}`, 1), "tern", 0, false},
		{"content object", event("user.message", `{"content":{"text":"tern"}}`, 1), "tern", 0, false},
		{"content null", event("user.message", `{"content":null}`, 1), "", 0, false},
		{"result without call id", event("tool.execution_complete", `{"result":{"content":"tern"}}`, 1), "tern", 0, false},
		{"result as text", event("tool.execution_complete", `{"toolCallId":"x","result":"tern"}`, 1), "tern", 0, false},
		{"error as text", event("tool.execution_complete", `{"toolCallId":"x","success":false,"error":"tern"}`, 1), "tern", 0, false},
		{"start without arguments", event("tool.execution_start", `{"toolName":"tern"}`, 1), "tern", 0, false},
		{"requests no list", event("assistant.message", `{"content":"tern","toolRequests":{"a":1}}`, 1), "tern", 0, false},
	} {
		dir := transcripttest.Write(t, map[string]string{log: c.line + good})
		env := transcripttest.Env(dir, nil)
		ss, cp, err := transcripttest.ReadAll(t, copilot.New(), env, transcripttest.Sources(t, copilot.New(), env)[0])
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		s := ss[sid]
		all := s.Text(transcript.Prose) + s.Text(transcript.Call) + s.Text(transcript.Output)
		if !strings.Contains(all, c.text) || !strings.Contains(all, "after it") || strings.Contains(all, "AAAA") {
			t.Errorf("%s: text %q", c.name, all)
		}
		if cp.Bad != c.bad || cp.Torn != c.torn {
			t.Errorf("%s: bad %d torn %v", c.name, cp.Bad, cp.Torn)
		}
		if y := s.UpdatedAt.Year(); y != 2026 {
			t.Errorf("%s: updated %v", c.name, s.UpdatedAt)
		}
	}
}

func TestTornTail(t *testing.T) {
	dir := transcripttest.Write(t, map[string]string{log: event("user.message", `{"content":"whole"}`, 0) + `{"type":"user.message","data":{"content":"ha`})
	env := transcripttest.Env(dir, nil)
	ss, cp, err := transcripttest.ReadAll(t, copilot.New(), env, transcripttest.Sources(t, copilot.New(), env)[0])
	if err != nil || !cp.Torn || cp.Bad != 0 || len(ss[sid].Events) != 1 || cp.Offset != int64(len(event("user.message", `{"content":"whole"}`, 0))) {
		t.Errorf("%v %+v", err, cp)
	}
}

// Many sub-agents make a carry-over too large to store: the log is read anew.
func TestManySubagents(t *testing.T) {
	var b strings.Builder
	b.WriteString(event("user.message", `{"content":"go"}`, 0))
	for i := range 6000 {
		b.WriteString(event("assistant.message", fmt.Sprintf(`{"content":"says %d","parentToolCallId":"tc%d"}`, i, i), i))
	}
	dir := transcripttest.Write(t, map[string]string{log: b.String()})
	env := transcripttest.Env(dir, nil)
	ss, cp, err := transcripttest.ReadAll(t, copilot.New(), env, transcripttest.Sources(t, copilot.New(), env)[0])
	if err != nil || cp.State != nil {
		t.Fatalf("%v, state %d bytes", err, len(cp.State))
	}
	total := 0
	for _, s := range ss {
		total += len(s.Events)
	}
	if total != 6001 || len(ss) != 4097 || len(ss[sid].Warnings) != 1 {
		t.Errorf("%d events in %d sessions, warnings %q", total, len(ss), ss[sid].Warnings)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(event("user.message", `{"content":"hello"}`, 0) + event("session.snapshot_rewind", `{"upToEventId":"e0"}`, 1)))
	f.Add([]byte(event("assistant.message", `{"messageId":"m","content":"a","toolRequests":[{"toolCallId":"t","name":"task","arguments":"{\"description\":\"d\"}"}]}`, 0) +
		event("subagent.started", `{"toolCallId":"t","agentDisplayName":"x"}`, 1) + event("assistant.message", `{"content":"b","parentToolCallId":"t"}`, 2)))
	f.Add([]byte(event("session.compaction_start", `{}`, 0) + event("session.compaction_complete", `{"summaryContent":"s"}`, 1) + event("tool.execution_complete", `{"result":{"content":"x"}}`, 2)))
	f.Add([]byte(`{"type":"session.start","data":{"sessionId":"x","context":{"cwd":"/w"},"startTime":1785000000}}`))
	f.Fuzz(func(t *testing.T, data []byte) { transcripttest.Damaged(t, copilot.New(), log, data) })
}

func FuzzHistory(f *testing.F) {
	f.Add([]byte(`{"sessionId":"x","startTime":1,"chatMessages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":["x"]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		transcripttest.Damaged(t, copilot.New(), ".copilot/history-session-state/session_"+sid+"_1.json", data)
	})
}
