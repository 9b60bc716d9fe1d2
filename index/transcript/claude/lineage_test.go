package claude_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/claude"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

// talk is a conversation of n records of one session, from number first on.
func talk(first, n int) []string {
	var out []string
	for i := first; i < first+n; i++ {
		id, parent := fmt.Sprint("rec-", i), fmt.Sprint("rec-", i-1)
		if i == 0 {
			parent = ""
		}
		line := say(id, parent, fmt.Sprint("m", i), fmt.Sprint("answer ", i))
		if i%2 == 0 {
			line = user(id, parent, fmt.Sprint("question ", i))
		}
		out = append(out, strings.Replace(line, "09:15:02", fmt.Sprintf("09:%02d:%02d", i/60, i%60), 1))
	}
	return out
}

// stamp gives records another session's id, as a copying process does.
func stamp(records []string, id, more string) []string {
	var out []string
	for _, r := range records {
		r = strings.ReplaceAll(r, sid, id)
		out = append(out, strings.TrimSuffix(r, "}")+more+"}")
	}
	return out
}

func join(parts ...[]string) string {
	var all []string
	for _, p := range parts {
		all = append(all, p...)
	}
	return lines(all...)
}

type link struct {
	relation  transcript.Relation
	parent    string
	evidence  transcript.Evidence
	inherited int
	messages  int
}

func check(t *testing.T, all map[string]*transcripttest.Session, id string, want link) {
	t.Helper()
	s := all[id]
	if s == nil {
		t.Fatalf("no session %s among %v", id, transcripttest.Sorted(all))
	}
	got := link{s.Relation, s.ParentID, s.LineageEvidence, s.InheritedCount, s.MessageCount}
	if got != want {
		t.Errorf("session %s:\n got %+v\nwant %+v", id, got, want)
	}
	for i, e := range s.Events {
		if e.Inherited != (i < want.inherited) {
			t.Errorf("session %s event %d: inherited %v of %d", id, i, e.Inherited, want.inherited)
		}
	}
}

func TestCopies(t *testing.T) { // B22, B24
	root := func(n int) link { return link{relation: transcript.RelationRoot, messages: n} }
	fork := func(parent string, inherited, own int) link {
		return link{transcript.RelationFork, parent, transcript.EvidenceOverlap, inherited, own}
	}
	note := []string{`{"type":"file-history-snapshot","messageId":"x"}`}
	mode := []string{`{"type":"mode","mode":"normal"}`}
	sid3 := "1a2b3c4d-0000-4000-8000-00000000000c"
	file3 := folder + sid3 + ".jsonl"
	bg := func(r []string) []string { return stamp(r, sid2, `,"sessionKind":"bg"`) }
	for _, c := range []struct {
		name  string
		files map[string]string
		want  map[string]link
	}{
		{"background hand-off", map[string]string{
			file: join(talk(0, 60)), file2: join(bg(talk(0, 60)), bg(talk(60, 5))),
		}, map[string]link{sid: root(60), sid2: fork(sid, 60, 5)}},
		{"background hand-off, the original went on", map[string]string{
			file: join(talk(0, 60), talk(100, 10)), file2: join(bg(talk(0, 60)), bg(talk(60, 5))),
		}, map[string]link{sid: root(70), sid2: fork(sid, 60, 5)}},
		{"background hand-off under a smaller name", map[string]string{
			file2: join(stamp(talk(0, 60), sid2, "")), file: join(stamp(talk(0, 60), sid, `,"sessionKind":"bg"`), talk(60, 5)),
		}, map[string]link{sid2: root(60), sid: fork(sid2, 60, 5)}},
		{"resumed into a new file", map[string]string{
			file: join(talk(0, 95)), file2: join(stamp(talk(0, 95), sid2, ""), stamp(talk(95, 5), sid2, "")),
		}, map[string]link{sid: root(95), sid2: fork(sid, 95, 5)}},
		{"resumed, ids kept in the copy", map[string]string{
			file: join(talk(0, 10), talk(30, 10)), file2: join(talk(0, 10), stamp(talk(20, 4), sid2, "")),
		}, map[string]link{sid: root(20), sid2: fork(sid, 10, 4)}},
		{"forked by a name that sorts before", map[string]string{
			file2: join(mode, stamp(talk(0, 10), sid2, "")[:2], note, stamp(talk(0, 10), sid2, "")[2:], stamp(talk(50, 2), sid2, "")),
			file:  join(mode, talk(0, 10), talk(20, 4)),
		}, map[string]link{sid2: root(12), sid: func() link { l := fork(sid2, 11, 4); return l }()}},
		{"resumed twice, one after the other", map[string]string{
			file: join(talk(0, 10)), file2: join(stamp(talk(0, 20), sid2, "")), file3: join(stamp(talk(0, 30), sid3, "")),
		}, map[string]link{sid: root(10), sid2: fork(sid, 10, 10), sid3: fork(sid2, 20, 10)}},
		{"two forks of one session", map[string]string{
			file: join(talk(0, 20)), file2: join(bg(talk(0, 20)), bg(talk(20, 2))),
			file3: join(stamp(talk(0, 20), sid3, `,"sessionKind":"bg"`), stamp(talk(30, 4), sid3, "")),
		}, map[string]link{sid: root(20), sid2: fork(sid, 20, 2), sid3: fork(sid, 20, 4)}},
		{"a copy that leaves out side records", map[string]string{
			file: join(talk(0, 10), []string{rec("progress", "side", "rec-9", `,"data":{}`)}, talk(10, 10)), file2: join(stamp(talk(0, 20), sid2, ""), stamp(talk(40, 3), sid2, "")),
		}, map[string]link{sid: root(20), sid2: fork(sid, 20, 3)}},
		{"the same, the original went on first", map[string]string{
			file:  join(talk(0, 10), []string{rec("progress", "side", "rec-9", `,"data":{}`)}, talk(10, 12)),
			file2: join(stamp(talk(0, 20), sid2, ""), stamp(talk(400, 3), sid2, "")),
		}, map[string]link{sid: root(22), sid2: fork(sid, 20, 3)}},
		{"a hook ran before the copy was written", map[string]string{
			file: join(talk(0, 20)), file2: join([]string{rec("attachment", "hook", "", `,"attachment":{"type":"hook_success"}`)}, bg(talk(0, 20)), bg(talk(20, 2))),
		}, map[string]link{sid: root(20), sid2: fork(sid, 21, 2)}},
		{"all copied, nothing own", map[string]string{
			file: join(talk(0, 20)), file2: join(bg(talk(0, 20))),
		}, map[string]link{sid: root(20), sid2: fork(sid, 20, 0)}},
		{"same ids, other words", map[string]string{
			file: lines(user("u1", "", "one"), say("a1", "u1", "m1", "x")), file2: lines(user("u1", "", "quite another"), say("a1", "u1", "m1", "y")),
		}, map[string]link{sid: root(2), sid2: root(2)}},
		{"same first words, other ids", map[string]string{
			file: lines(user("u1", "", "one")), file2: lines(user("u2", "", "one")),
		}, map[string]link{sid: root(1), sid2: root(1)}},
		{"a synchronised copy is no fork", map[string]string{
			file: join(talk(0, 20)), folder + sid + " 2.jsonl": join(talk(0, 10)),
		}, map[string]link{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := transcripttest.One(t, claude.New(), c.files)
			for id, want := range c.want {
				check(t, all, id, want)
			}
			if len(c.want) == 0 {
				if s := all[sid]; len(all) != 1 || s.Relation != transcript.RelationRoot || s.InheritedCount != 0 {
					t.Errorf("sessions %v, %s with %d inherited", transcripttest.Sorted(all), s.Relation, s.InheritedCount)
				}
			}
		})
	}
}

func TestForkedFrom(t *testing.T) {
	forked := func(r []string) []string {
		var out []string
		for i, line := range stamp(r, sid2, "") {
			out = append(out, strings.TrimSuffix(line, "}")+fmt.Sprintf(`,"forkedFrom":{"sessionId":%q,"messageUuid":"rec-%d"}}`, sid, i))
		}
		return out
	}
	note := []string{`{"type":"mode","mode":"normal"}`}
	files := map[string]string{file: join(talk(0, 6), talk(6, 2)[:1], talk(30, 1)), file2: join(note, forked(talk(0, 6)), note, stamp(talk(6, 3), sid2, ""))}
	all := transcripttest.One(t, claude.New(), files)
	check(t, all, sid, link{relation: transcript.RelationRoot, messages: 8})
	check(t, all, sid2, link{transcript.RelationFork, sid, transcript.EvidenceLine, 7, 3})
	if s := all[sid2]; s.ParentEvent != "rec-5" || !s.InheritedKnown || s.Title != "question 6" {
		t.Errorf("parent event %q, known %v, title %q", s.ParentEvent, s.InheritedKnown, s.Title)
	}
	// The original is gone: its messages are found in the copy or nowhere.
	delete(files, file)
	all = transcripttest.One(t, claude.New(), files)
	check(t, all, sid2, link{transcript.RelationFork, sid, transcript.EvidenceLine, 0, 9})
	if s := all[sid2]; s.InheritedKnown || len(s.Warnings) != 1 {
		t.Errorf("known %v, warnings %q", s.InheritedKnown, s.Warnings)
	}
	// It may lie in another project's folder.
	files[".claude/projects/-w-other/"+sid+".jsonl"] = join(talk(0, 6))
	check(t, transcripttest.One(t, claude.New(), files), sid2, link{transcript.RelationFork, sid, transcript.EvidenceLine, 7, 3})
}

// TestForeignIDs: records of a session whose file is gone lead a file that
// went on under its own id.
func TestForeignIDs(t *testing.T) {
	text := join(talk(0, 10), stamp(talk(10, 4), sid2, ""))
	all := transcripttest.One(t, claude.New(), map[string]string{file2: text})
	check(t, all, sid2, link{transcript.RelationFork, sid, transcript.EvidenceLine, 0, 14})
	if all[sid2].InheritedKnown {
		t.Error("how much was copied is not known without the original")
	}
	home := transcripttest.Write(t, map[string]string{file2: text})
	transcripttest.Grows(t, claude.New(), home, file2, steps(1, len(text), len(text)/8))
}

func TestContinuation(t *testing.T) {
	bound := strings.Replace(strings.Replace(boundary, "a3", "rec-long-9", 1), sid, sid2, 1)
	old := strings.ReplaceAll(join(talk(0, 10)), "rec-", "rec-long-")
	next := lines(bound, summary, user("u4", "s", "four"))
	all := transcripttest.One(t, claude.New(), map[string]string{file: old, file2: next})
	check(t, all, sid2, link{transcript.RelationContinuation, sid, transcript.EvidenceLine, 0, 1})
	if e := all[sid2].ParentEvent; e != "rec-long-9" {
		t.Errorf("parent event %q", e)
	}
	all = transcripttest.One(t, claude.New(), map[string]string{file2: next})
	check(t, all, sid2, link{relation: transcript.RelationRoot, messages: 1})
	if w := all[sid2].Warnings; len(w) != 1 {
		t.Errorf("warnings %q", w)
	}
}

func TestSubagents(t *testing.T) { // B36
	side := func(agent string, records ...string) string {
		var out []string
		for _, r := range records {
			out = append(out, strings.TrimSuffix(r, "}")+`,"isSidechain":true,"agentId":"`+agent+`"}`)
		}
		return lines(out...)
	}
	started := func(uuid, parent, tool, agent string) string {
		return strings.TrimSuffix(result(uuid, parent, tool, "done"), "}") + `,"toolUseResult":{"status":"completed","agentId":"` + agent + `"}}`
	}
	dir := folder + sid + "/subagents/"
	files := map[string]string{
		file:                                  lines(user("u1", "", "go"), call("a1", "u1", "m1", "t1", "Task", `{"prompt":"count wrens"}`), started("r1", "a1", "t1", "aa1")),
		dir + "agent-aa1.jsonl":               side("aa1", user("s1", "", "count wrens"), call("s2", "s1", "m2", "t2", "Agent", `{"prompt":"count again"}`), started("s3", "s2", "t2", "bb2")),
		dir + "agent-aa1.meta.json":           `{"agentType":"Explore","description":"Wren census","spawnDepth":1}`,
		dir + "agent-bb2.jsonl":               side("bb2", user("d1", "", "count again")),
		dir + "agent-bb2.meta.json":           `{"description":"Second census","spawnDepth":2}`,
		dir + "workflows/w1/agent-c.jsonl":    side("c", user("w1", "", "in a workflow")),
		dir + "journal.jsonl":                 lines(`{"type":"started","agentId":"aa1"}`),
		dir + "agent-w.jsonl":                 side("w", user("x1", "", "Warmup"), say("x2", "x1", "m9", "Ready.")),
		folder + sid + "/workflows/wf_1.json": `{}`,
		folder + "agent-old.jsonl":            side("old", user("o1", "", "beside the main file")),
	}
	all := transcripttest.One(t, claude.New(), files)
	if got, want := fmt.Sprint(transcripttest.Sorted(all)), fmt.Sprintf("[%[1]s %[1]s#agent-aa1 %[1]s#agent-bb2 %[1]s#agent-c %[1]s#agent-old]", sid); got != want {
		t.Fatalf("sessions %s\nwant %s", got, want)
	}
	for id, want := range map[string]struct {
		parent, event, title string
		depth                int
	}{
		"aa1": {sid, "a1", "Wren census", 1},
		"bb2": {sid + "#agent-aa1", "s2", "Second census", 2},
		"c":   {sid, "", "in a workflow", 1},
		"old": {sid, "", "beside the main file", 1},
	} {
		s := all[sid+"#agent-"+id]
		if s.Relation != transcript.RelationSubagent || s.ParentID != want.parent || s.ParentEvent != want.event || s.Title != want.title || s.DelegationDepth != want.depth {
			t.Errorf("%s: %s of %s at %q, depth %d, title %q; want %+v", id, s.Relation, s.ParentID, s.ParentEvent, s.DelegationDepth, s.Title, want)
		}
	}
	if got := claude.New().ResumeArgs(sid + "#agent-aa1"); fmt.Sprint(got) != "[claude --resume "+sid+"]" {
		t.Errorf("resume %v", got)
	}
}

func TestInlineSidechains(t *testing.T) {
	s := transcripttest.One(t, claude.New(), map[string]string{file: lines(
		user("u1", "", "go"), call("a1", "u1", "m1", "t1", "Task", `{"prompt":"count wrens"}`),
		rec("user", "x1", "", `,"isSidechain":true,"message":{"content":"count wrens"}`),
		rec("assistant", "x2", "x1", `,"isSidechain":true,"message":{"id":"m7","content":[{"type":"text","text":"four"}]}`),
		result("r1", "a1", "t1", "four wrens"), say("a2", "r1", "m2", "there are four"),
	)})
	main, side := s[sid], s[sid+"#agent-x1"]
	if main == nil || side == nil || len(s) != 2 {
		t.Fatalf("sessions %v", transcripttest.Sorted(s))
	}
	if len(main.Events) != 4 || surfaces(main) != "CCCC" || main.MessageCount != 3 {
		t.Errorf("main: %d events %s, %d messages", len(main.Events), surfaces(main), main.MessageCount)
	}
	if side.Relation != transcript.RelationSubagent || side.ParentID != sid || side.ParentEvent != "a1" || surfaces(side) != "CC" || side.MessageCount != 2 {
		t.Errorf("side: %s of %s at %q, %s", side.Relation, side.ParentID, side.ParentEvent, surfaces(side))
	}
}
