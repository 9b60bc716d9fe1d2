package claude_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/claude"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

// The cases of other products' faults; the names are those of the case list.

func TestTornTail(t *testing.T) { // B1
	var good []string
	for i := range 5 {
		good = append(good, user(fmt.Sprint("u", i), "-", fmt.Sprint("prompt ", i)))
	}
	fragment := `{"type":"user","message":{"content":"the plover ne`
	s, cp, err := appended(t, lines(good...)+fragment, "sts late\"}}\n")
	if err != nil {
		t.Fatal(err)
	}
	if s.MessageCount != 6 || len(s.Events) != 6 || cp.Torn || cp.Bad != 0 {
		t.Errorf("%d messages, %d events, torn %v, bad %d; want 6, 6, false, 0", s.MessageCount, len(s.Events), cp.Torn, cp.Bad)
	}
	has(t, s, transcript.Prose, "the plover nests late")

	env := transcripttest.Env(transcripttest.Write(t, map[string]string{file: lines(good...) + fragment}), nil)
	rd := claude.New()
	all, cp, err := transcripttest.ReadAll(t, rd, env, transcripttest.Sources(t, rd, env)[0])
	if err != nil || all[sid].MessageCount != 5 || !cp.Torn || cp.Offset != int64(len(lines(good...))) {
		t.Errorf("torn file: %v, %d messages, torn %v, offset %d", err, all[sid].MessageCount, cp.Torn, cp.Offset)
	}
}

func TestHazards(t *testing.T) {
	for _, c := range []struct {
		name  string
		text  string
		want  []string // prose, once each
		count int
		bad   int
	}{
		{"NUL run (B2)", user("u1", "-", "good line") + "\n" + strings.Repeat("\x00", 400) + "\n" + user("u2", "-", "quill marmot") + "\n", []string{"good line", "quill marmot"}, 2, 1},
		{"spliced records (B4)", lines(`{"type":"assistant","text":"half {"type":"user","uuid":"u9","message":{"content":"find me: basalt"}}`), []string{"find me: basalt"}, 1, 1},
		{"lone surrogate (B6)", lines(`{"type":"user","message":{"content":"errored \ud83d... at tern"}}`), []string{"errored \uFFFD... at tern"}, 1, 0},
		{"invalid UTF-8", lines("{\"type\":\"user\",\"message\":{\"content\":\"caf\xe9 tern\"}}"), []string{"caf\uFFFD tern"}, 1, 0},
		{"duplicate keys", lines(`{"type":"user","type":"user","message":{"content":"old"},"message":{"content":"new tern"}}`), []string{"new tern"}, 1, 0},
		{"CRLF and BOM", "\ufeff" + strings.ReplaceAll(lines(user("u1", "", "one tern"), say("a1", "u1", "m1", "two tern")), "\n", "\r\n"), []string{"one tern", "two tern"}, 2, 0},
		{"U+2028", lines(user("u1", "", "before\u2028after")), []string{"before\u2028after"}, 1, 0},
		{"escaped NUL", lines(`{"type":"user","message":{"content":"a\u0000b tern"}}`), []string{"ab tern"}, 1, 0},
		{"broken line", lines(user("u1", "", "one tern"), `{"type":"user","mess`, user("u2", "u1", "two tern")), []string{"one tern", "two tern"}, 2, 1},
		{"not an object", lines(`7`, `"x"`, `[]`, `null`, user("u1", "", "one tern")), []string{"one tern"}, 1, 0},
		{"content as blocks", lines(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"one tern"},"two tern"]}}`), []string{"one tern", "two tern"}, 1, 0},
		{"content as object", lines(`{"type":"user","message":{"role":"user","content":{"type":"text","text":"one tern"}}}`), []string{"one tern"}, 1, 0},
		{"message as string", lines(`{"type":"user","message":"one tern"}`), []string{"one tern"}, 1, 0},
		{"null and wrong types", lines(
			`{"type":"user","message":null}`, `{"type":"user"}`, `{"type":"assistant","message":7}`, `{"type":"user","message":{"content":null},"uuid":9,"parentUuid":{},"timestamp":[],"cwd":5}`,
			`{"type":7,"message":{"content":"x"}}`, `{"type":"attachment","attachment":"x"}`, `{"type":"system","subtype":null}`, `{"type":"summary","summary":{}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result"},{"type":"tool_use","input":7},null,[]]},"toolUseResult":""}`, user("u1", "-", "one tern")),
			[]string{"one tern"}, 1, 0},
		{"no newline at the end", user("u1", "", "one tern"), []string{"one tern"}, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := transcripttest.Env(transcripttest.Write(t, map[string]string{file: c.text}), nil)
			rd := claude.New()
			all, cp, err := transcripttest.ReadAll(t, rd, env, transcripttest.Sources(t, rd, env)[0])
			if err != nil {
				t.Fatal(err)
			}
			s := all[sid]
			for _, w := range c.want {
				has(t, s, transcript.Prose, w)
			}
			if s.MessageCount != c.count || cp.Bad != c.bad {
				t.Errorf("%d messages, %d bad; want %d, %d", s.MessageCount, cp.Bad, c.count, c.bad)
			}
		})
	}
}

func TestTimes(t *testing.T) {
	at := func(v string) string {
		return fmt.Sprintf(`{"type":"user","timestamp":%s,"message":{"content":"x"}}`, v)
	}
	s := read(t, lines(at(`"2026-03-11T09:15:02Z"`), at(`1773220502`), at(`1773220503000`), at(`"1773220504"`), at(`0`), at(`"2031-01-01T00:00:00Z"`), at(`"soon"`)))
	if got := s.CreatedAt.Format("15:04:05"); got != "09:15:02" {
		t.Errorf("created %s", got)
	}
	if got := s.UpdatedAt.UTC().Format("2006-01-02 15:04:05"); got != "2026-03-11 09:15:04" {
		t.Errorf("updated %s: a clock that runs ahead must not move it", got)
	}
	if s.Events[5].Time.Year() != 2031 || !s.Events[4].Time.IsZero() {
		t.Errorf("times %v and %v", s.Events[5].Time, s.Events[4].Time)
	}
}

func TestLongLine(t *testing.T) { // B7, B11
	long := strings.Repeat("all work and no play ", 1<<19) // 10 MB
	s := read(t, lines(user("u1", "", "small before"), result("r1", "u1", "t1", long), user("u2", "r1", "small after")))
	has(t, s, transcript.Prose, "small before")
	has(t, s, transcript.Prose, "small after")
	if got := len(s.Events[1].Parts[0].Text); got != len(long) {
		t.Errorf("output of %d bytes, want %d", got, len(long))
	}
}

func TestImages(t *testing.T) { // B11
	blob := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", 100)
	s := read(t, lines(
		rec("user", "u1", "", `,"message":{"content":[{"type":"text","text":"see tern"},{"type":"image","source":{"type":"base64","data":"`+blob+`"}}]}`),
		rec("user", "r1", "u1", `,"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a heron"},{"type":"image","source":{"type":"base64","data":"`+blob+`"}}]}]},"toolUseResult":{"type":"image","stdout":"a heron","file":{"base64":"`+blob+`"}}`),
		result("r2", "r1", "t2", "data:image/png;base64,"+blob),
		call("a1", "r2", "m1", "t3", "mcp__shot__save", `{"name":"gull","data":"`+blob+`"}`),
	))
	has(t, s, transcript.Prose, "see tern")
	has(t, s, transcript.Output, "a heron")
	has(t, s, transcript.Call, "gull")
	hasNot(t, s, "iVBOR")
}

func TestToolText(t *testing.T) { // B27
	s := read(t, lines(
		call("a1", "", "m1", "t1", "mcp__db__query", `{"sql":"select heron","page":4512,"deep":{"list":["egret",true]}}`),
		rec("user", "r1", "a1", `,"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"row heron"}]}]},"toolUseResult":[{"type":"text","text":"row heron"}]`),
		rec("user", "r2", "r1", `,"message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"Exit code 2"}]},"toolUseResult":"Error: Exit code 2"`),
	))
	if got, want := s.Text(transcript.Call), "mcp__db__query\nselect heron\n4512\negret\n"; got != want {
		t.Errorf("call %q, want %q", got, want)
	}
	has(t, s, transcript.Output, "row heron")
	has(t, s, transcript.Output, "Exit code 2")
	if e := s.Events[1]; e.Type != transcript.TypeToolResult || e.Role != transcript.RoleTool || e.Failed || fmt.Sprint(e.Tools) != "[mcp__db__query]" {
		t.Errorf("result %+v", e)
	}
	if !s.Events[2].Failed {
		t.Error("a failed call is not marked")
	}
	if s.MessageCount != 1 {
		t.Errorf("%d messages: results are none", s.MessageCount)
	}
}

func TestPersistedOutput(t *testing.T) { // B36
	stub := "<persisted-output>\nOutput too large (48KB). Full output saved to: /elsewhere/.claude/projects/-w-loom/" + sid + "/tool-results/toolu_1.txt\n\nPreview (first 2KB):\nfirst wren\n</persisted-output>"
	out := folder + sid + "/tool-results/"
	for _, c := range []struct {
		name, content string
		files         map[string]string
		want, not     string
	}{
		{"whole", stub, map[string]string{out + "toolu_1.txt": "first wren\nthen an ibis\x00"}, "then an ibis", "Preview"},
		{"gone", stub, nil, "first wren", "Output too large"},
		{"by the call's id", "<persisted-output>\nsaved\n</persisted-output>", map[string]string{out + "t1.txt": "an ibis"}, "an ibis", "saved"},
		{"outside the session", "<persisted-output>\nsaved to: /x/tool-results/../../secret.txt\n\nPreview (2KB):\nwren\n</persisted-output>", map[string]string{folder + "secret.txt": "the key"}, "wren", "the key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{file: lines(user("u1", "", "go"), result("r1", "u1", "t1", c.content))}
			for k, v := range c.files {
				files[k] = v
			}
			s := transcripttest.One(t, claude.New(), files)[sid]
			has(t, s, transcript.Output, c.want)
			hasNot(t, s, c.not)
		})
	}
}

func TestNoise(t *testing.T) { // B29, B31, B32
	for _, c := range []struct {
		name, line string
		prose      string
		message    bool
	}{
		{"interruption", user("u1", "", "[Request interrupted by user]"), "", false},
		{"interruption quoted", user("u1", "", "why does it print [Request interrupted by user]?"), "why does it print [Request interrupted by user]?\n", true},
		{"reminder", user("u1", "", "<system-reminder>\nkestrel\n</system-reminder>"), "", false},
		{"reminder quoted", user("u1", "", "what is a <system-reminder>?"), "what is a <system-reminder>?\n", true},
		{"IDE envelope in front", user("u1", "", "<ide_opened_file>/x/y.go</ide_opened_file>\nfix the tern test"), "fix the tern test\n", true},
		{"meta", rec("user", "u1", "", `,"isMeta":true,"message":{"content":"kestrel"}`), "", false},
		{"shown to the person only", rec("user", "u1", "", `,"isVisibleInTranscriptOnly":true,"message":{"content":"kestrel"}`), "", false},
		{"bare command", user("u1", "", "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"), "", false},
		{"command with a request", user("u1", "", "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n<command-args>tidy the gull parser</command-args>"), "/plan tidy the gull parser\n", true},
		{"command output", user("u1", "", "<local-command-stdout>kestrel</local-command-stdout>"), "", false},
		{"task notice", rec("attachment", "u1", "", `,"attachment":{"type":"queued_command","commandMode":"task-notification","prompt":"kestrel"}`), "", false},
		{"queued prompt", rec("attachment", "u1", "", `,"attachment":{"type":"queued_command","commandMode":"prompt","prompt":"also the wren"}`), "also the wren\n", true},
		{"queued prompt as blocks", rec("attachment", "u1", "", `,"attachment":{"type":"queued_command","prompt":[{"type":"text","text":"also the wren"}]}`), "also the wren\n", true},
		{"other attachment", rec("attachment", "u1", "", `,"attachment":{"type":"nested_memory","content":"kestrel"}`), "", false},
		{"queue bookkeeping", `{"type":"queue-operation","operation":"enqueue","content":"kestrel"}`, "", false},
		{"thinking", rec("assistant", "u1", "", `,"message":{"id":"m","content":[{"type":"thinking","thinking":"kestrel"},{"type":"redacted_thinking","data":"kestrel"}]}`), "", true},
		{"synthetic", rec("assistant", "u1", "", `,"message":{"id":"m","model":"<synthetic>","content":[{"type":"text","text":"kestrel"}]}`), "", false},
		{"unknown record", `{"type":"some-future-record","text":"kestrel"}`, "", false},
		{"progress", rec("progress", "u1", "", `,"data":{"type":"agent_progress","message":{"message":{"content":"kestrel"}}}`), "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, lines(c.line, say("zz", "-", "zz", "ok")))
			got := strings.TrimSuffix(s.Text(transcript.Prose), "ok\n")
			if got != c.prose || s.Events[0].Message != c.message {
				t.Errorf("prose %q, message %v; want %q, %v", got, s.Events[0].Message, c.prose, c.message)
			}
			hasNot(t, s, "kestrel")
		})
	}
}

func TestTitles(t *testing.T) { // B31, B32
	plan := user("c1", "", "<command-name>/plan</command-name>\n<command-args></command-args>")
	prompt := user("u1", "", "tidy the gull parser")
	custom := `{"type":"custom-title","customTitle":"by hand"}`
	ai := `{"type":"ai-title","aiTitle":"by the model"}`
	for _, c := range []struct {
		name  string
		lines []string
		title string
		from  transcript.TitleSource
	}{
		{"prompt after a command", []string{plan, prompt}, "tidy the gull parser", transcript.TitlePrompt},
		{"a path is no command", []string{user("u1", "", "/usr/local gives an error")}, "/usr/local gives an error", transcript.TitlePrompt},
		{"envelope in front", []string{user("u1", "", "<ide_opened_file>/x/y.go</ide_opened_file>\nfix the tern test")}, "fix the tern test", transcript.TitlePrompt},
		{"command with a request", []string{user("u1", "", "<command-name>/goal</command-name><command-args>make the tern fly</command-args>"), prompt}, "/goal make the tern fly", transcript.TitlePrompt},
		{"command with a setting", []string{user("u1", "", "<command-name>/model</command-name><command-args>opus</command-args>"), prompt}, "tidy the gull parser", transcript.TitlePrompt},
		{"by the model", []string{prompt, `{"type":"ai-title","aiTitle":"older"}`, ai}, "by the model", transcript.TitleAgent},
		{"by hand, though earlier", []string{prompt, custom, ai}, "by hand", transcript.TitleUser},
		{"summary of a message here", []string{`{"type":"summary","summary":"of this one","leafUuid":"u1"}`, prompt}, "of this one", transcript.TitleAgent},
		{"summary of another file", []string{`{"type":"summary","summary":"not mine","leafUuid":"elsewhere"}`, prompt}, "tidy the gull parser", transcript.TitlePrompt},
		{"reply", []string{say("a1", "", "m1", "The gull is tidy.")}, "The gull is tidy.", transcript.TitleReply},
		{"project and day", []string{call("a1", "", "m1", "t", "Bash", `{}`)}, "loom 2026-03-11", transcript.TitleFallback},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, lines(c.lines...))
			if s.Title != c.title || s.TitleSource != c.from {
				t.Errorf("title %q (%s), want %q (%s)", s.Title, s.TitleSource, c.title, c.from)
			}
		})
	}
}

func TestOneMessageOverSeveralLines(t *testing.T) {
	s := read(t, lines(
		user("u1", "", "go"),
		rec("assistant", "a1", "u1", `,"message":{"id":"m1","content":[{"type":"thinking","thinking":"hm"}]}`),
		say("a2", "a1", "m1", "I look."), call("a3", "a2", "m1", "t1", "Read", `{"file_path":"src/x.go"}`),
		rec("attachment", "q1", "a3", `,"attachment":{"type":"queued_command","prompt":"and the wren"}`),
		rec("assistant", "a4", "q1", `,"message":{"id":"m1","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"src/x.go"}},{"type":"text","text":"New."}]}`),
	))
	if s.MessageCount != 3 {
		t.Errorf("%d messages, want 3", s.MessageCount)
	}
	has(t, s, transcript.Prose, "I look.") // cumulative copies are dropped
	has(t, s, transcript.Prose, "New.")
	has(t, s, transcript.Call, "src/x.go")
	if got := fmt.Sprint(s.Events[3].Files); got != "[/w/loom/src/x.go]" {
		t.Errorf("files %s", got)
	}
}

func TestFolders(t *testing.T) { // B56, B59, B61
	at := func(uuid, cwd string) string {
		return fmt.Sprintf(`{"type":"user","uuid":%q,"cwd":%q,"gitBranch":"main","message":{"content":"x %s"}}`, uuid, cwd, uuid)
	}
	id := func(n int) string { return fmt.Sprintf("1a2b3c4d-0000-4000-8000-%012d", n) }
	files := map[string]string{}
	for i, cwd := range []string{"/w/a_b", "/w/a-b", "/w/a.b"} {
		files[".claude/projects/-w-a-b/"+id(i)+".jsonl"] = lines(at(fmt.Sprint("u", i), cwd))
	}
	files[".claude/projects/-w---/"+id(3)+".jsonl"] = lines(at("u3", "/w/资料"))
	files[".claude/projects/-new/"+id(4)+".jsonl"] = lines(at("u4", "/old"), at("u5", "/old"), at("u6", "/new"))
	files[".claude/projects/-r-app/"+id(5)+".jsonl"] = lines(at("u7", "/r/app/.claude/worktrees/fix-9"))
	files[".claude/projects/-r-nothing/"+id(6)+".jsonl"] = lines(`{"type":"user","gitBranch":"HEAD","message":{"content":"no folder"}}`)
	all := transcripttest.One(t, claude.New(), files)
	for i, want := range []string{"/w/a_b []", "/w/a-b []", "/w/a.b []", "/w/资料 []", "/old [/new]", "/r/app/.claude/worktrees/fix-9 []", " []"} {
		s := all[id(i)]
		if s == nil {
			t.Errorf("session %d is missing", i)
			continue
		}
		if got := fmt.Sprint(s.CWD, " ", s.CWDs); got != want {
			t.Errorf("session %d: cwd %s, want %s", i, got, want)
		}
	}
	if b := all[id(6)].Branch; b != "" {
		t.Errorf("branch %q of a detached head", b)
	}
}

// A summary mostly stands at the head of another file than the one it is of
// (formats.md §3, lineage.md §2).
func TestSummaryElsewhere(t *testing.T) {
	id := func(n int) string { return fmt.Sprintf("1a2b3c4d-0000-4000-8000-%012d", n) }
	of := func(leaf, text string) string {
		return fmt.Sprintf(`{"type":"summary","summary":%q,"leafUuid":%q}`, text, leaf)
	}
	at := func(n int, records ...string) string { return strings.ReplaceAll(lines(records...), sid, id(n)) }
	all := transcripttest.One(t, claude.New(), map[string]string{
		folder + id(1) + ".jsonl": at(1, user("u1", "", "ring the plover"), say("a1", "u1", "m1", "rung"), user("u2", "a1", "and the knot")),
		folder + id(2) + ".jsonl": at(2, of("u2", "Ringing waders"), of("u1", "Ringing a plover"), of("gone", "Nobody's"), user("v1", "", "count the terns")),
		folder + id(3) + ".jsonl": lines(of("w2", "Only bookkeeping tells it")),
		folder + id(4) + ".jsonl": at(4, user("w1", "", "feed the gull"), say("w2", "w1", "m2", "fed")),
		// Its own title, or a summary of its own, is better.
		folder + id(5) + ".jsonl": at(5, of("y1", "By another"), of("z1", "By another"), user("x1", "", "weigh the stint"), of("x1", "By itself")),
		folder + id(6) + ".jsonl": at(6, user("y1", "", "weigh the ruff"), `{"type":"custom-title","customTitle":"By hand"}`),
		folder + id(7) + ".jsonl": at(7, user("z1", "", "weigh the snipe"), `{"type":"ai-title","aiTitle":"By the model"}`),
		// What was copied is the other session's.
		folder + id(8) + ".jsonl": at(8, strings.Replace(user("u1", "", "ring the plover"), "{", `{"forkedFrom":{"sessionId":"`+id(1)+`","messageUuid":"u1"},`, 1), user("t1", "u1", "ring it twice")),
		// And another project's files are not asked.
		".claude/projects/-w-other/" + id(9) + ".jsonl": at(9, of("v1", "From elsewhere"), user("s1", "", "see the dunlin")),
	})
	for n, want := range map[int]string{1: "Ringing waders", 2: "count the terns", 4: "Only bookkeeping tells it", 5: "By itself", 6: "By hand", 7: "By the model", 8: "ring it twice", 9: "see the dunlin"} {
		if s := all[id(n)]; s == nil || s.Title != want {
			t.Errorf("session %d: %+v, want the title %q", n, s, want)
		}
	}
	if all[id(3)] != nil {
		t.Error("a file of bookkeeping is a session")
	}
}

// B59, B126, B127: the folder to go on in is the one that the project folder is
// named after, since nowhere else the agent finds the session.
func TestResumeFolder(t *testing.T) {
	here := t.TempDir()
	long := "/w/" + strings.Repeat("deep-", 50)
	encoded := strings.ReplaceAll(long, "/", "-")
	home, ok := claude.New().(transcript.Homebound)
	if !ok {
		t.Fatal("Claude Code continues sessions only where it keeps them")
	}
	for _, c := range []struct {
		name, path, want string
		dirs             []string // as recorded, the last one is where it worked last
	}{
		{"as started", "-w-loom/s.jsonl", "/w/loom", []string{"/w/loom"}},
		{"moved", "-w-new/s.jsonl", "/w/new", []string{"/w/old", "/w/new"}},
		{"moved, its transcripts were not", "-w-old/s.jsonl", "/w/old", []string{"/w/old", "/w/new"}},
		{"moved twice", "-w-b/s.jsonl", "/w/b", []string{"/w/a", "/w/b", "/w/c"}},
		{"went into a folder", "-w-loom/s.jsonl", "/w/loom", []string{"/w/loom", "/w/loom/deep"}},
		{"began in a folder inside", "-w-loom/s.jsonl", "/w/loom", []string{"/w/loom/deep/er"}},
		{"worktree", "-r-app/s.jsonl", "/r/app", []string{"/r/app/.claude/worktrees/fix-9"}},
		{"in its worktree", "-r-app--claude-worktrees-fix-9/s.jsonl", "/r/app/.claude/worktrees/fix-9", []string{"/r/app/.claude/worktrees/fix-9"}},
		{"sub-agent", "-w-loom/" + sid + "/subagents/agent-a1.jsonl", "/w/loom", []string{"/w/loom/deep"}},
		{"sub-agent beside", "-w-loom/agent-a1.jsonl", "/w/loom", []string{"/w/loom"}},
		{"other letters", "-w---/s.jsonl", "/w/资料", []string{"/w/资料"}},
		{"Windows", "C--Users-dev-loom/s.jsonl", `c:\Users\dev\loom`, []string{`c:\Users\dev\loom\src`}},
		{"a long name", encoded[:200] + "-1x2y3z/s.jsonl", long, []string{"/w", long}},
		{"no name of any", "by-hand/s.jsonl", "/w/old", []string{"/w/old", "/w/new"}},
		{"no name of any, the first is gone", "by-hand/s.jsonl", here, []string{"/w/old", here}},
		{"nothing recorded", "-w-loom/s.jsonl", "", nil},
	} {
		var h transcript.Header
		for _, dir := range c.dirs {
			h.SawCWD(dir)
		}
		if got := home.ResumeFolder("/home/dev/.claude/projects/"+c.path, &h); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestIdentity(t *testing.T) { // B89, B132
	other := "99999999-0000-4000-8000-000000000000"
	foreign := strings.ReplaceAll(lines(user("u1", "", "one"), say("a1", "u1", "m1", "two")), sid, other)
	all := transcripttest.One(t, claude.New(), map[string]string{file: foreign})
	if s := all[sid]; s == nil || s.MessageCount != 2 || s.Relation != transcript.RelationRoot {
		t.Errorf("a file is known by its name: %v", transcripttest.Sorted(all))
	}
	all = transcripttest.One(t, claude.New(), map[string]string{folder + "exported.jsonl": foreign})
	if all[other] == nil {
		t.Errorf("without an id in its name the records say it: %v", transcripttest.Sorted(all))
	}
	s := read(t, lines(rec("user", "u1", "", `,"entrypoint":"sdk-ts","message":{"content":"by a program"}`)))
	if !s.Automated || s.Entrypoint != "sdk-ts" || !s.Conversation {
		t.Errorf("automated %v, entrypoint %q", s.Automated, s.Entrypoint)
	}
	s = read(t, lines(rec("user", "u1", "", `,"entrypoint":"cli","sessionKind":"bg","message":{"content":"by hand"}`)))
	if s.Automated {
		t.Error("a background session is not automated for that")
	}
}

func TestNoConversation(t *testing.T) {
	for name, text := range map[string]string{
		"bookkeeping": lines(`{"type":"summary","summary":"x","leafUuid":"y"}`, `{"type":"mode","mode":"plan"}`, `{"type":"file-history-snapshot"}`),
		"plumbing":    lines(user("u1", "", "<command-name>/clear</command-name>"), user("u2", "u1", "<local-command-stdout></local-command-stdout>")),
		"garbage":     "not json\n\x00\x01\x02\n",
	} {
		if err := readErr(t, text); !isNoSession(err) {
			t.Errorf("%s: error %v, want ErrNoSession", name, err)
		}
	}
}

// TestManySmallRecords: memory and time stay in proportion (B12).
func TestManySmallRecords(t *testing.T) {
	var b strings.Builder
	const n = 100_000
	for i := range n {
		if i%1000 == 0 {
			b.WriteString(user(fmt.Sprint("u", i), "-", fmt.Sprint("prompt ", i)) + "\n")
			continue
		}
		fmt.Fprintf(&b, `{"type":"progress","uuid":"p%d","data":{"tick":%d}}`+"\n", i, i)
	}
	if s := read(t, b.String()); s.MessageCount != n/1000 || len(s.Events) != n {
		t.Errorf("%d messages of %d events", s.MessageCount, len(s.Events))
	}
}
