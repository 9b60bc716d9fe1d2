package copilot_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript/copilot"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

func traced(t *testing.T, lines ...string) *transcripttest.Trace {
	t.Helper()
	return transcripttest.Traces(t, copilot.New(), transcripttest.Write(t, map[string]string{log: strings.Join(lines, "")}))[sid]
}

// TestLinks: compactions, rewinds and cleared contexts, and results of calls.
func TestLinks(t *testing.T) {
	prompt := func(n int) string { return event("user.message", `{"content":"q"}`, n) }
	started, completed := func(n int) string { return event("session.compaction_start", `{}`, n) }, func(n int) string {
		return event("session.compaction_complete", `{"success":true,"summaryContent":"sum"}`, n)
	}
	for _, c := range []struct {
		name    string
		lines   []string
		by      map[int]int
		sources map[int][]int
		model   []int
	}{
		{"a rewind", []string{prompt(0), prompt(1), prompt(2), event("session.snapshot_rewind", `{"upToEventId":"e1"}`, 3), prompt(4)}, map[int]int{1: 3, 2: 3}, nil, []int{0, 4}},
		{"a rewind to what is not here", []string{prompt(0), event("session.snapshot_rewind", `{"upToEventId":"e9"}`, 1)}, map[int]int{}, nil, []int{0}},
		{"a compaction", []string{prompt(0), prompt(1), started(2), prompt(3), completed(4), prompt(5)}, map[int]int{0: 4, 1: 4}, map[int][]int{4: {0, 1}}, []int{4, 3, 5}},
		{"a failed compaction", []string{prompt(0), started(1), event("session.compaction_complete", `{"success":false}`, 2)}, map[int]int{}, nil, []int{0}},
		{"a compaction of a compaction", []string{prompt(0), started(1), completed(2), prompt(3), started(4), completed(5)}, map[int]int{0: 2, 2: 5, 3: 5}, map[int][]int{2: {0}, 5: {2, 3}}, []int{5}},
		{"a cleared context", []string{prompt(0), event("session.context_cleared", `{}`, 1), prompt(2)}, map[int]int{0: 1}, nil, []int{2}},
		{"the instructions stay", []string{event("system.message", `{"content":"rules"}`, 0), prompt(1), started(2), completed(3)}, map[int]int{1: 3}, map[int][]int{3: {1}}, []int{0, 3}},
		{"results", []string{prompt(0), event("assistant.message", `{"messageId":"m","content":"","toolRequests":[{"toolCallId":"t1","name":"bash","arguments":{}},{"toolCallId":"t2","name":"bash","arguments":{}}]}`, 1),
			event("tool.execution_start", `{"toolCallId":"t1","toolName":"bash","arguments":{}}`, 2), event("tool.execution_complete", `{"toolCallId":"t2","success":true,"result":{"content":"x"}}`, 3),
			event("tool.execution_complete", `{"toolCallId":"t1","success":true,"result":{"content":"y"}}`, 4), event("tool.execution_complete", `{"toolCallId":"t9","success":true}`, 5),
			event("tool.execution_start", `{"toolCallId":"t3","toolName":"bash","arguments":{}}`, 6), event("tool.execution_complete", `{"toolCallId":"t3","success":true}`, 7)},
			map[int]int{}, map[int][]int{3: {1}, 4: {1}, 7: {6}}, []int{0, 1, 3, 4, 5, 6, 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := traced(t, c.lines...)
			by, sources := map[int]int{}, map[int][]int(nil)
			if l := tr.Links[sid]; l != nil {
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
			if got := tr.Model(sid); !slices.Equal(got, c.model) {
				t.Errorf("model order %v, want %v", got, c.model)
			}
		})
	}
}
