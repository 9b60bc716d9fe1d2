package codex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sessionls/sessionls/index/transcript/codex"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

func callLine(id string) string {
	return line("response_item", fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"exec_command","arguments":"{}"}`, id))
}

func backLine(n int) string {
	return line("event_msg", fmt.Sprintf(`{"type":"thread_rolled_back","num_turns":%d}`, n))
}

func compactedLine(more string) string { return line("compacted", `{"message":"sum"`+more+`}`) }

const newHistory = `,"replacement_history":[{"type":"message","role":"user","content":"x"}]`

func TestReplaced(t *testing.T) {
	setup := line("response_item", `{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}`)
	env := userLine("<environment_context>x</environment_context>")
	mail := line("response_item", `{"type":"agent_message","content":"Message Type: TASK\nPayload:\ndo it"}`)
	for _, c := range []struct {
		name, text string
		by         map[int]int
		model      []int
		sources    map[int][]int
	}{
		{"worked example", metaLine(idA) + turnLine("T1") + userLine("a") + answerLine("b") + turnLine("T2") + userLine("c") + callLine("c1") + outputLine("x") + backLine(1) + userLine("d") + answerLine("e"),
			map[int]int{5: 8, 6: 8, 7: 8}, []int{2, 3, 9, 10}, map[int][]int{7: {6}}},
		{"rollbacks add up over what survives", metaLine(idA) + userLine("a") + answerLine("b") + userLine("c") + answerLine("d") + backLine(1) + userLine("e") + backLine(1) + backLine(1) + userLine("f"),
			map[int]int{3: 5, 4: 5, 6: 7, 1: 8, 2: 8}, []int{9}, nil},
		{"nothing rolled back", metaLine(idA) + userLine("a") + backLine(0), map[int]int{}, []int{1}, nil},
		{"more than there is, but not what precedes the first turn", metaLine(idA) + setup + env + userLine("a") + answerLine("b") + backLine(9) + userLine("c"),
			map[int]int{3: 5, 4: 5}, []int{1, 2, 6}, nil},
		{"injected messages are no turns", metaLine(idA) + userLine("a") + answerLine("b") + env + answerLine("c") + backLine(1), map[int]int{1: 5, 2: 5, 3: 5, 4: 5}, []int{}, nil},
		{"another agent's message is one", metaLine(idA) + userLine("a") + mail + answerLine("c") + backLine(1), map[int]int{2: 4, 3: 4}, []int{1}, nil},
		{"compaction with a new history", metaLine(idA) + userLine("a") + answerLine("b") + compactedLine(newHistory) + userLine("c"),
			map[int]int{1: 3, 2: 3}, []int{3, 4}, map[int][]int{3: {1, 2}}},
		{"an old compaction keeps what people wrote", metaLine(idA) + userLine("a") + answerLine("b") + compactedLine("") + answerLine("c") + compactedLine(""),
			map[int]int{2: 3, 3: 5, 4: 5}, []int{1, 5}, map[int][]int{3: {2}, 5: {3, 4}}},
		{"rolled back behind a compaction", metaLine(idA) + userLine("a") + compactedLine(newHistory) + userLine("c") + answerLine("d") + backLine(3),
			map[int]int{1: 2, 3: 5, 4: 5}, []int{2}, map[int][]int{2: {1}}},
		{"an event that ends a call counts without an item", metaLine(idA) + userLine("a") + callLine("c1") + line("event_msg", `{"type":"exec_command_end","call_id":"c1"}`) + callLine("c2") + outputLine("x") + line("event_msg", `{"type":"exec_command_end","call_id":"c2"}`) +
			strings.Replace(outputLine("y"), "c1", "c2", 1), map[int]int{}, []int{1, 2, 4, 5, 7}, map[int][]int{5: {2}, 7: {4}}},
		{"an output without call", metaLine(idA) + userLine("a") + outputLine("x"), map[int]int{}, []int{1, 2}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := transcripttest.Traces(t, codex.New(), transcripttest.Write(t, map[string]string{name(idA): c.text}))[idA]
			by, sources := map[int]int{}, map[int][]int(nil)
			if l := tr.Links[idA]; l != nil {
				by = l.By
				if len(l.Sources) > 0 {
					sources = l.Sources
				}
			}
			if !reflect.DeepEqual(by, c.by) {
				t.Errorf("replaced by %v, want %v", by, c.by)
			}
			if got := tr.Model(idA); !slices.Equal(got, c.model) {
				t.Errorf("model order %v, want %v", got, c.model)
			}
			if !reflect.DeepEqual(sources, c.sources) {
				t.Errorf("sources %v, want %v", sources, c.sources)
			}
		})
	}
}

func TestWorkedExample(t *testing.T) {
	text := metaLine(idA) + turnLine("T1") + userLine("a") + answerLine("b") + turnLine("T2") + userLine("c") + callLine("c1") + outputLine("x") + backLine(1) + userLine("d") + answerLine("e")
	l := transcripttest.Traces(t, codex.New(), transcripttest.Write(t, map[string]string{name(idA): text}))[idA].Links[idA]
	if got := l.Chain(6); !slices.Equal(got, []int{8}) {
		t.Errorf("chain of 6 is %v, want 8", got)
	}
	if got := l.Derived(6); !slices.Equal(got, []int{7}) {
		t.Errorf("made from 6: %v, want 7", got)
	}
	if got := l.Replaced(8); !slices.Equal(got, []int{5, 6, 7}) {
		t.Errorf("8 replaced %v, want 5, 6, 7", got)
	}
}

// A fork's copied records are linked by what they say; its parent has no
// record of the fork's own first line.
func TestInherited(t *testing.T) {
	parent := metaLine(idA) + turnLine("T1") + userLine("a") + answerLine("same") + answerLine("same") + turnLine("T2") + userLine("later")
	fork := line("session_meta", fmt.Sprintf(`{"id":%q,"forked_from_id":%q,"cwd":"/w"}`, idB, idA)) +
		strings.ReplaceAll(metaLine(idA)+turnLine("T1")+userLine("a")+answerLine("same")+answerLine("same"), "08:00:01", "09:30:00") +
		turnLine("T3") + userLine("own")
	all := transcripttest.Traces(t, codex.New(), transcripttest.Write(t, map[string]string{name(idA): parent, name(idB): fork}))
	want := map[int]string{}
	for i := range 5 {
		want[i+1] = fmt.Sprintf("%s/%d", idA, i)
	}
	if got := all[idB].Links[idB].Originals; !reflect.DeepEqual(got, want) {
		t.Errorf("copies of %v, want %v", got, want)
	}
}

// A packed rollout has no byte ranges: the records themselves are handed over,
// also those of events that wait for a twin.
func TestPackedData(t *testing.T) {
	records := []string{metaLine(idA), userLine("a"), line("event_msg", `{"type":"user_message","message":"b"}`), answerLine("c")}
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	home := transcripttest.Write(t, map[string]string{name(idA): ""})
	path := filepath.Join(home, filepath.FromSlash(name(idA)))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".zst", w.EncodeAll([]byte(strings.Join(records, "")), nil), 0o644); err != nil {
		t.Fatal(err)
	}
	tr := transcripttest.Traces(t, codex.New(), home)[idA]
	for i, want := range records {
		if got := tr.Links[idA].Data[i]; got != strings.TrimSpace(want) {
			t.Errorf("data of %d is %s, want %s", i, got, want)
		}
		if e := tr.Sessions[idA].Events[i]; e.Length != 0 {
			t.Errorf("event %d is said to be %d bytes at %d", i, e.Length, e.Offset)
		}
	}
}
