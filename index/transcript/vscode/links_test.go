package vscode_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript/transcripttest"
	"github.com/sessionls/sessionls/index/transcript/vscode"
)

// TestLinks: what a restored checkpoint took back gives way to what was asked
// next; nothing did it while nothing was asked.
func TestLinks(t *testing.T) {
	hidden := func(id string) string {
		return strings.Replace(request(id, "no", "x"), "{", `{"shouldBeRemovedOnSend":{"requestId":"a"},`, 1)
	}
	for _, c := range []struct {
		name string
		text string
		by   map[int]int
	}{
		{"asked again", document(request("a", "one", "A"), hidden("b"), hidden("c"), request("d", "yes", "B")), map[int]int{2: 6, 3: 6, 4: 6, 5: 6}},
		{"not yet", document(request("a", "one", "A"), hidden("b")), map[int]int{}},
		{"nothing hidden", document(request("a", "one", "A"), request("b", "two")), map[int]int{}},
	} {
		tr := transcripttest.Traces(t, vscode.New(), transcripttest.Write(t, map[string]string{doc: c.text}))[sid]
		if l := tr.Links[sid]; !reflect.DeepEqual(l.By, c.by) {
			t.Errorf("%s: replaced by %v, want %v", c.name, l.By, c.by)
		}
	}
}

// TestData: an event's record is the values it was made of, as they stand after
// all changes of a log.
func TestData(t *testing.T) {
	const call, shown = `{"id":"c1","name":"read_file","arguments":"{}"}`, `{"kind":"toolInvocationSerialized","toolCallId":"c1","toolId":"copilot_readFile"}`
	req := `{"requestId":"r","message":{"text":"q"},"timestamp":1785000001000,"response":[{"value":"A"},{"kind":"inlineReference","name":"f.go"},{"kind":"undoStop"},` + shown + `,{"value":"B"}],` +
		`"result":{"metadata":{"toolCallRounds":[{"response":"","toolCalls":[` + call + `]}]},"errorDetails":{"message":"stopped"}}}`
	text := initial(req) + `{"kind":1,"k":["requests",0,"response",0,"value"],"v":"Z"}` + "\n"
	l := transcripttest.Traces(t, vscode.New(), transcripttest.Write(t, map[string]string{log: text}))[sid].Links[sid]
	want := map[int]string{
		0: `{"requestId":"r","message":{"text":"q"},"timestamp":1785000001000}`,
		1: `[{"value":"Z"},{"kind":"inlineReference","name":"f.go"}]`,
		2: `[` + shown + `,` + call + `]`,
		3: `{"value":"B"}`,
		4: `{"message":"stopped"}`,
	}
	if !reflect.DeepEqual(l.Data, want) {
		t.Errorf("data %v, want %v", l.Data, want)
	}
}
