package claude_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript/claude"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

func traced(t testing.TB, files map[string]string) map[string]*transcripttest.Trace {
	t.Helper()
	return transcripttest.Traces(t, claude.New(), transcripttest.Write(t, files))
}

func micro(uuid, parent, meta string) string {
	return rec("system", uuid, parent, `,"subtype":"microcompact_boundary","microcompactMetadata":`+meta)
}

func TestReplaced(t *testing.T) {
	boundary2 := strings.NewReplacer(`"uuid":"b"`, `"uuid":"b2"`, `"a3"`, `"a4"`).Replace(boundary)
	summary2 := strings.NewReplacer(`"parentUuid":"b"`, `"parentUuid":"b2"`, `"uuid":"s"`, `"uuid":"s2"`).Replace(summary)
	keeps := func(seg string) string {
		return strings.Replace(boundary, `"trigger":"auto"`, `"preservedSegment":`+seg, 1)
	}
	for _, c := range []struct {
		name     string
		lines    []string
		surfaces string
		by       map[int]int
		model    []int
	}{
		{"worked example", worked(), "ssssss-CCC", map[int]int{0: 7, 1: 7, 2: 4, 3: 4, 4: 7, 5: 7}, []int{7, 8, 9}},
		{"a compaction of a compaction", append(worked(), boundary2, summary2, user("u5", "s2", "five")), "ssssss-sss-CC",
			map[int]int{0: 7, 1: 7, 2: 4, 3: 4, 4: 7, 5: 7, 7: 11, 8: 11, 9: 11}, []int{11, 12}},
		{"going back behind a compaction", append(worked(), user("u2c", "a1", "again")), "CCssss-sssC",
			map[int]int{2: 10, 3: 10, 4: 10, 5: 10, 7: 10, 8: 10, 9: 10}, []int{0, 1, 10}},
		{"a rewind and nothing more before the compaction", []string{
			user("u1", "", "one"), say("a1", "u1", "m1", "x"), user("u2", "a1", "no"), strings.Replace(boundary, "a3", "a1", 1), summary,
		}, "sss-C", map[int]int{0: 4, 1: 4, 2: 4}, []int{4}},
		{"boundary without summary", []string{user("u1", "", "one"), say("a1", "u1", "m1", "x"), strings.Replace(boundary, "a3", "a1", 1), user("u2", "b", "two")},
			"ss-C", map[int]int{0: 2, 1: 2}, []int{3}},
		{"parallel tools before a compaction", []string{
			user("u1", "", "one"), call("a1", "u1", "m1", "t1", "Bash", `{}`), call("a2", "a1", "m1", "t2", "Bash", `{}`),
			result("r1", "a1", "t1", "x"), result("r2", "a2", "t2", "y"), say("a3", "r2", "m2", "done"), boundary, summary,
		}, "ssssss-C", map[int]int{0: 7, 1: 7, 2: 7, 3: 7, 4: 7, 5: 7}, []int{7}},
		{"a branch from a branch", []string{
			user("u1", "", "one"), user("u2", "u1", "no"), say("a2", "u2", "m2", "x"), user("u3", "a2", "nor"), user("u4", "u1", "yes"),
		}, "CsssC", map[int]int{1: 4, 2: 4, 3: 4}, []int{0, 4}},
		{"two branches, one after the other", []string{
			user("u1", "", "one"), user("u2", "u1", "no"), user("u3", "u1", "nor"), user("u4", "u1", "yes"),
		}, "CssC", map[int]int{1: 3, 2: 3}, []int{0, 3}},
		{"back to the first branch", []string{
			user("u1", "", "one"), user("u2", "u1", "yes"), user("u3", "u1", "no"), say("a2", "u2", "m2", "x"),
		}, "CCsC", map[int]int{2: 3}, []int{0, 1, 3}},
		{"another first prompt", []string{user("u1", "", "one"), say("a1", "u1", "m1", "x"), user("u2", "", "two")}, "ssC", map[int]int{0: 2, 1: 2}, []int{2}},
		{"a preserved segment follows the summary", []string{
			user("u1", "", "one"), say("a1", "u1", "m1", "x"), user("u2", "a1", "two"), say("a2", "u2", "m2", "y"),
			keeps(`{"headUuid":"u2","anchorUuid":"s","tailUuid":"a2"}`), summary, user("u4", "s", "four"),
		}, "ssCC-CC", map[int]int{0: 5, 1: 5}, []int{5, 2, 3, 6}},
		{"a preserved segment before the summary", []string{
			user("u1", "", "one"), say("a1", "u1", "m1", "x"), user("u2", "a1", "two"), say("a2", "u2", "m2", "y"),
			keeps(`{"headUuid":"u1","anchorUuid":"b","tailUuid":"a1"}`), summary, user("u4", "s", "four"),
		}, "CCss-CC", map[int]int{2: 5, 3: 5}, []int{0, 1, 5, 6}},
		{"a preserved call keeps its results", []string{
			user("u1", "", "one"), call("a1", "u1", "m1", "t1", "Bash", `{}`), call("a2", "a1", "m1", "t2", "Bash", `{}`),
			result("r1", "a1", "t1", "x"), result("r2", "a2", "t2", "y"), keeps(`{"headUuid":"a1","anchorUuid":"s","tailUuid":"r2"}`), summary,
		}, "sCCCC-C", map[int]int{0: 6}, []int{6, 1, 2, 3, 4}},
		{"preserved once, compacted later", []string{
			user("u1", "", "one"), say("a1", "u1", "m1", "x"), keeps(`{"headUuid":"a1","anchorUuid":"s","tailUuid":"a1"}`), summary,
			user("u4", "s", "four"), say("a4", "u4", "m4", "y"), boundary2, summary2,
		}, "ss-sss-C", map[int]int{0: 3, 1: 7, 3: 7, 4: 7, 5: 7}, []int{7}},
		{"a microcompaction", []string{
			user("u1", "", "one"), call("a1", "u1", "m1", "t1", "Bash", `{}`), result("r1", "a1", "t1", "x"), call("a2", "r1", "m2", "t2", "Bash", `{}`),
			result("r2", "a2", "t2", "y"), micro("y1", "r2", `{"compactedToolIds":["t1","gone"],"clearedAttachmentUUIDs":[]}`), say("a3", "y1", "m3", "done"),
		}, "CCsCC-C", map[int]int{2: 5}, []int{0, 1, 3, 4, 6}},
		{"a microcompaction on an abandoned branch", []string{
			user("u1", "", "one"), call("a1", "u1", "m1", "t1", "Bash", `{}`), result("r1", "a1", "t1", "x"), user("u2", "r1", "no"),
			micro("y1", "u2", `{"compactedToolIds":["t1"]}`), user("u3", "r1", "yes"),
		}, "CCCs-C", map[int]int{3: 5}, []int{0, 1, 2, 5}},
		{"a microcompaction before a compaction", []string{
			user("u1", "", "one"), call("a1", "u1", "m1", "t1", "Bash", `{}`), result("r1", "a1", "t1", "x"),
			micro("y1", "r1", `{"compactedToolIds":["t1"]}`), say("a3", "y1", "m3", "done"), boundary, summary,
		}, "sss-s-C", map[int]int{0: 6, 1: 6, 2: 3, 4: 6}, []int{6}},
		{"the call is known by its line only", []string{
			user("u1", "", "one"), say("a1", "u1", "m1", "x"), strings.Replace(result("r1", "u1", "t9", "x"), `"type":"user"`, `"sourceToolAssistantUUID":"a1","type":"user"`, 1),
			say("a2", "a1", "m1", "y"),
		}, "CCCC", map[int]int{}, []int{0, 1, 2, 3}},
		{"parents in a circle", []string{user("u1", "a1", "one"), say("a1", "u1", "m1", "x"), user("u2", "zz", "y")}, "CCC", map[int]int{}, []int{0, 1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := traced(t, map[string]string{file: lines(c.lines...)})[sid]
			if got := surfaces(tr.Sessions[sid]); got != c.surfaces {
				t.Errorf("surfaces %s, want %s", got, c.surfaces)
			}
			by := map[int]int{}
			if l := tr.Links[sid]; l != nil {
				by = l.By
			}
			if !reflect.DeepEqual(by, c.by) {
				t.Errorf("replaced by %v, want %v", by, c.by)
			}
			if got := tr.Model(sid); !slices.Equal(got, c.model) {
				t.Errorf("model order %v, want %v", got, c.model)
			}
		})
	}
}

// TestWorkedExample is lineage.md §8 word for word.
func TestWorkedExample(t *testing.T) {
	l := traced(t, map[string]string{file: lines(worked()...)})[sid].Links[sid]
	if got := l.Chain(2); !slices.Equal(got, []int{4, 7}) {
		t.Errorf("chain of 2 is %v, want 4, 7", got)
	}
	if got := l.Replaced(7); !slices.Equal(got, []int{0, 1, 4, 5}) {
		t.Errorf("7 replaced %v, want 0, 1, 4, 5", got)
	}
	if got := l.Sources[7]; !slices.Equal(got, []int{6, 0, 1, 4, 5}) || l.Recorded[7] {
		t.Errorf("7 is made from %v (recorded %v), want 6, 0, 1, 4, 5, derived", got, l.Recorded[7])
	}
	if got := l.Replaced(4); !slices.Equal(got, []int{2, 3}) || l.Sources[4] != nil {
		t.Errorf("4 replaced %v made from %v, want 2, 3 from nothing", got, l.Sources[4])
	}
}

func TestLinkSources(t *testing.T) {
	two := rec("user", "r3", "r2", `,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3","content":"x"},{"type":"tool_result","tool_use_id":"t2","content":"y"}]}`)
	all := traced(t, map[string]string{file: lines(
		`{"type":"file-history-snapshot","messageId":"u1","snapshot":{}}`, // 0: written before its message
		user("u1", "", "one"),
		call("a1", "u1", "m1", "t1", "Bash", `{}`), call("a2", "a1", "m1", "t2", "Bash", `{}`), call("a3", "a2", "m1", "t3", "Bash", `{}`),
		result("r1", "a1", "t1", "x"), result("r2", "a2", "t9", "no such call"), two,
		strings.Replace(result("r4", "r3", "t8", "x"), `"type":"user"`, `"sourceToolAssistantUUID":"a2","type":"user"`, 1), // 8
		`{"type":"summary","summary":"Ringing plovers","leafUuid":"a3"}`, `{"type":"summary","summary":"Another file's","leafUuid":"gone"}`,
		`{"type":"file-history-snapshot","messageId":"elsewhere"}`,
	)})
	l := all[sid].Links[sid]
	want := map[int][]int{0: {1}, 5: {2}, 7: {4, 3}, 8: {3}, 9: {4}}
	if !reflect.DeepEqual(l.Sources, want) {
		t.Errorf("sources %v, want %v", l.Sources, want)
	}
	if got := l.Derived(3); !slices.Equal(got, []int{7, 8}) {
		t.Errorf("made from 3: %v, want 7, 8", got)
	}
	if len(l.Recorded) != 5 || l.Recorded[5] {
		t.Errorf("recorded %v, want none", l.Recorded)
	}
}

func TestInherited(t *testing.T) {
	note := `{"type":"file-history-snapshot","messageId":"x"}`
	parent := talk(0, 6)
	want := map[int]string{}
	for i := range 6 {
		want[i+1] = fmt.Sprintf("%s/%d", sid, i+min(1, i/3)) // the parent has a note that was not copied
	}
	head := []string{`{"type":"mode","mode":"plan"}`}
	forked := stamp(parent, sid2, "")
	for i := range forked {
		forked[i] = strings.TrimSuffix(forked[i], "}") + fmt.Sprintf(`,"forkedFrom":{"sessionId":%q,"messageUuid":"rec-%d"}}`, sid, i)
	}
	for name, copied := range map[string][]string{
		"by overlap": stamp(parent, sid2, `,"sessionKind":"bg"`), "by record": forked,
	} {
		t.Run(name, func(t *testing.T) {
			all := traced(t, map[string]string{
				file:  join(parent[:3], []string{note}, parent[3:], talk(40, 2)),
				file2: join(head, copied, stamp(talk(50, 2), sid2, "")),
			})
			if got := all[sid2].Links[sid2].Originals; !reflect.DeepEqual(got, want) {
				t.Errorf("copies of %v, want %v", got, want)
			}
			if l := all[sid].Links[sid]; l != nil {
				t.Errorf("the original has links %+v", l)
			}
		})
	}
}

// Inline sub-agents have links of their own.
func TestInlineLinks(t *testing.T) {
	side := func(r string) string {
		return strings.Replace(r, `"type":"`, `"isSidechain":true,"agentId":"q1","type":"`, 1)
	}
	all := traced(t, map[string]string{file: lines(
		user("u1", "", "one"), call("a1", "u1", "m1", "t1", "Task", `{"prompt":"look"}`),
		side(user("x1", "", "look")), side(call("x2", "x1", "n1", "t2", "Bash", `{}`)), side(result("x3", "x2", "t2", "x")),
		result("r1", "a1", "t1", "done"), user("u2", "a1", "other"),
	)})
	sub := sid + "#agent-q1"
	if got := all[sub].Links[sub].Sources; !reflect.DeepEqual(got, map[int][]int{2: {1}}) {
		t.Errorf("sources in the sub-agent %v", got)
	}
	l := all[sid].Links[sid]
	if !reflect.DeepEqual(l.Sources, map[int][]int{2: {1}}) || len(l.By) != 0 {
		t.Errorf("sources %v, replaced %v", l.Sources, l.By)
	}
}

// Records glued together on one line are handed over one by one.
func TestGluedRecords(t *testing.T) {
	a, b := user("u1", "", "one"), say("a1", "u1", "m1", "two")
	l := traced(t, map[string]string{file: a[:20] + a + b + "\n" + user("u2", "a1", "three") + "\n"})[sid].Links[sid]
	if !reflect.DeepEqual(l.Data, map[int]string{0: a, 1: b}) {
		t.Errorf("data %v", l.Data)
	}
}
