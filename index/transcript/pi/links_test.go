package pi_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript/pi"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

func call(id, parent, tool string) string {
	return entry(id, parent, "message", `"message":{"role":"assistant","content":[{"type":"toolCall","id":"`+tool+`","name":"bash","arguments":{"command":"ls"}}]}`)
}

func toolResult(id, parent, tool string) string {
	return entry(id, parent, "message", `"message":{"role":"toolResult","toolCallId":"`+tool+`","toolName":"bash","content":[{"type":"text","text":"x"}]}`)
}

func branch(id, parent string) string {
	return entry(id, parent, "branch_summary", `"fromId":"`+parent+`","summary":"Tried it."`)
}

func compaction(id, parent, rest string) string {
	return entry(id, parent, "compaction", `"summary":"sum",`+rest)
}

// TestLinks: who took what off the surface, from what things were made, and in
// which order the model sees them (lineage.md §4 and §8).
func TestLinks(t *testing.T) {
	h := header("s1", "")
	v4 := `{"kind":"header","version":4,"id":"s1","createdAt":1767261600000,"cwd":"/w"}` + "\n" + `{"kind":"lane","seq":1,"lane":"main","leafId":null}` + "\n"
	e4 := func(lane, id, parent, text string) string {
		if parent != "null" {
			parent = `"` + parent + `"`
		}
		return `{"kind":"entry","lane":"` + lane + `","type":"message","id":"` + id + `","parentId":` + parent + `,"message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	for _, c := range []struct {
		name, text, surfaces string
		by                   map[int]int
		sources              map[int][]int
		model                []int
	}{
		{"worked example", h + user("a1", "", "fix") + call("a2", "a1", "t1") + toolResult("a3", "a2", "t1") + branch("a4", "a1") +
			entry("a5", "a4", "label", `"targetId":"a1","label":"start"`) + entry("a6", "a5", "session_info", `"name":"Fix"`),
			"lcssc" + "ll", map[int]int{2: 4, 3: 4}, map[int][]int{3: {2}, 4: {2, 3}, 5: {1}}, []int{1, 4}},
		{"a branch without summary", h + user("a", "", "1") + answer("b", "a", "2") + user("c", "b", "no") + answer("d", "c", "x") +
			entry("m", "b", "model_change", `"modelId":"m"`) + user("e", "m", "yes"), "lccsslc", map[int]int{3: 6, 4: 6}, nil, []int{1, 2, 6}},
		{"a summary of a branch in a branch", h + user("a", "", "1") + user("b", "a", "2") + answer("c", "b", "3") + branch("d", "b") + answer("e", "d", "4") + branch("f", "a"),
			"lcssssc", map[int]int{2: 6, 3: 4, 4: 6, 5: 6}, map[int][]int{4: {3}, 6: {2, 4, 5}}, []int{1, 6}},
		{"a summary that left nothing", h + user("a", "", "1") + branch("b", "a"), "lcc", map[int]int{}, nil, []int{1, 2}},
		{"back to a branch that was left", h + user("a", "", "1") + user("b", "a", "2") + branch("c", "a") + user("d", "b", "3"),
			"lccsc", map[int]int{3: 4}, map[int][]int{3: {2}}, []int{1, 2, 4}},
		{"another root", h + user("a", "", "1") + answer("b", "a", "2") + user("c", "", "3"), "lssc", map[int]int{1: 3, 2: 3}, nil, []int{3}},
		{"compaction, some kept", h + user("a", "", "1") + answer("b", "a", "2") + user("c", "b", "3") + answer("d", "c", "4") + compaction("e", "d", `"firstKeptEntryId":"c"`) + user("f", "e", "5"),
			"lssccc" + "c", map[int]int{1: 5, 2: 5}, map[int][]int{5: {1, 2}}, []int{5, 3, 4, 6}},
		{"compaction, none kept", h + user("a", "", "1") + answer("b", "a", "2") + compaction("e", "b", `"retainedTail":[{}]`) + user("f", "e", "5"),
			"lsscc", map[int]int{1: 3, 2: 3}, map[int][]int{3: {1, 2}}, []int{3, 4}},
		{"two compactions: the second takes the first and what that kept", h + user("a", "", "1") + answer("b", "a", "2") + compaction("c", "b", `"firstKeptEntryId":"b"`) + user("d", "c", "3") + answer("e", "d", "4") + compaction("f", "e", `"firstKeptEntryId":"e"`),
			"lssss" + "cc", map[int]int{1: 3, 2: 6, 3: 6, 4: 6}, map[int][]int{3: {1}, 6: {3, 2, 4}}, []int{6, 5}},
		{"both keep the same", h + user("a", "", "1") + answer("b", "a", "2") + compaction("c", "b", `"firstKeptEntryId":"b"`) + compaction("d", "c", `"firstKeptEntryId":"b"`),
			"lscsc", map[int]int{1: 3, 3: 4}, map[int][]int{3: {1}, 4: {3}}, []int{4, 2}},
		{"the first kept entry is not on the path", h + user("a", "", "1") + user("x", "a", "no") + user("b", "a", "2") + compaction("c", "b", `"firstKeptEntryId":"x"`),
			"lsssc", map[int]int{1: 4, 2: 3, 3: 4}, map[int][]int{4: {1, 3}}, []int{4}},
		{"a command that is not for the model", h + user("a", "", "1") + entry("b", "a", "message", `"message":{"role":"bashExecution","command":"ls","output":"x","excludeFromContext":true}`) +
			entry("c", "b", "message", `"message":{"role":"bashExecution","command":"ls","output":"x"}`) + compaction("d", "c", `"firstKeptEntryId":"gone"`),
			"lslsc", map[int]int{1: 4, 3: 4}, map[int][]int{4: {1, 3}}, []int{4}},
		{"lanes: another lane's entries were not taken from this one", v4 + e4("main", "a", "null", "1") + e4("side", "b", "a", "2") + e4("main", "c", "a", "3"),
			"llcsc", map[int]int{}, nil, []int{2, 4}},
		{"lanes: a stored leaf moved back", v4 + e4("main", "a", "null", "1") + e4("main", "b", "a", "2") + `{"kind":"lane","seq":4,"lane":"main","leafId":"a"}` + "\n",
			"llcsl", map[int]int{3: 4}, nil, []int{2}},
		{"writes committed at once", v4 + `[` + strings.TrimSpace(e4("main", "a", "null", "1")) + `,` + strings.TrimSpace(e4("main", "b", "a", "2")) + `,{"kind":"register","op":"set","namespace":"fact.label","key":"a","value":"start"}]` + "\n",
			"llccl", map[int]int{}, map[int][]int{4: {2}}, []int{2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := transcripttest.Traces(t, pi.New(), transcripttest.Write(t, map[string]string{name("s1"): c.text}))["s1"]
			if got := surfaces(tr.Sessions["s1"]); got != c.surfaces {
				t.Errorf("surfaces %s, want %s", got, c.surfaces)
			}
			by, sources := map[int]int{}, map[int][]int(nil)
			if l := tr.Links["s1"]; l != nil {
				by = l.By
				if len(l.Sources) > 0 {
					sources = l.Sources
				}
			}
			if !reflect.DeepEqual(by, c.by) {
				t.Errorf("replaced by %v, want %v", by, c.by)
			}
			if !reflect.DeepEqual(sources, c.sources) {
				t.Errorf("sources %v, want %v", sources, c.sources)
			}
			if got := tr.Model("s1"); !slices.Equal(got, c.model) {
				t.Errorf("model order %v, want %v", got, c.model)
			}
		})
	}
}

// A write that shares its line is handed over by itself.
func TestSharedLine(t *testing.T) {
	const a, b = `{"kind":"entry","lane":"main","type":"message","id":"a","parentId":null,"message":{"role":"user","content":"1"}}`, `{"kind":"usage","seq":3}`
	text := `{"v":4,"kind":"header","id":"s1","createdAt":1767261600000}` + "\n[" + a + "," + b + "]\n"
	l := transcripttest.Traces(t, pi.New(), transcripttest.Write(t, map[string]string{name("s1"): text}))["s1"].Links["s1"]
	if want := map[int]string{1: a, 2: b}; !reflect.DeepEqual(l.Data, want) {
		t.Errorf("data %v, want %v", l.Data, want)
	}
}

// A fork's copied entries are linked by id: the parent may have others between.
func TestCopies(t *testing.T) {
	parent := header("s1", "") + user("a", "", "1") + entry("l", "a", "label", `"targetId":"a","label":"x"`) + answer("b", "l", "2") + user("c", "b", "3")
	child := header("s2", `,"parentSession":"/gone/2026-03-01T08-00-00-000Z_s1.jsonl"`) + user("a", "", "1") + answer("b", "a", "2") + user("d", "b", "own")
	all := transcripttest.Traces(t, pi.New(), transcripttest.Write(t, map[string]string{name("s1"): parent, name("s2"): child}))
	if got, want := all["s2"].Links["s2"].Originals, (map[int]string{1: "s1/1", 2: "s1/3"}); !reflect.DeepEqual(got, want) {
		t.Errorf("copies of %v, want %v", got, want)
	}
}
