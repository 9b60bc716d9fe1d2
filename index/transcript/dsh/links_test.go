package dsh

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

// message writes a surface event: op and sources as JSON, "" for none.
func message(kind string, seq int, op, sources string) string {
	data := `"data":{"content":[{"type":"text","text":"x"}],"source":{"kind":"user"}}`
	switch kind {
	case "assistant/message":
		data = `"data":{"turn":1,"step":1,"message":{"role":"assistant","content":[{"type":"text","text":"x"}]}}`
	case "tool/result":
		data = `"data":{"turn":1,"step":1,"message":{"role":"user","source":{"kind":"tool","callId":"c1"},"content":[{"type":"tool-result","toolCallId":"c1","content":[]}]}}`
	}
	if op != "" {
		data += `,"surfaceOp":` + op
	}
	if sources != "" {
		data += `,"sourceEventSeqs":` + sources
	}
	return ev(kind, seq, data)
}

func span(start, end int) string {
	return fmt.Sprintf(`{"op":"replace","start":%d,"end":%d}`, start, end)
}

const (
	user, reply, toolRes = "user/message", "assistant/message", "tool/result"
	appended             = `"append"`
)

func traceLog(t testing.TB, text string, strict bool) (*transcripttest.Trace, error) {
	t.Helper()
	env := transcripttest.Env(transcripttest.Write(t, map[string]string{plainPath: text}), nil)
	src := transcripttest.Sources(t, New(), env)[0]
	if !strict {
		return transcripttest.TraceAll(t, New(), env, src)
	}
	tr := transcripttest.NewTrace(t, true)
	_, err := New().Read(context.Background(), env, src, nil, tr)
	return tr, err
}

func end(seq int) string { return ev("turn/end", seq, `"data":{"reason":{"kind":"completed"}}`) }

// TestMalformed: what the harness's own service refuses, and with which error
// (reference A.2, A.7, A.17.2, A.18 34 and 35). The same logs are read without
// an error when nobody wants damage told.
func TestMalformed(t *testing.T) {
	corrupt, invalid := transcript.ErrCorrupt, transcript.ErrInvalidSurface
	u := message(user, 0, appended, "")
	two := []string{header, u, message(reply, 1, appended, "[]")}
	call := ev("tool/call", 1, `"data":{"callId":"c1","name":"bash","arguments":"{}"}`)
	res := message(toolRes, 2, appended, "[1]")
	for _, c := range []struct {
		name  string
		lines []string
		want  error
	}{
		{"sound", append(two, end(2)), nil},
		// The nine malformed logs.
		{"sources on a log-only event", append(two, ev("turn/start", 2, `"data":{"turn":1},"sourceEventSeqs":[0]`)), invalid},
		{"sources are no list", append(two, message(reply, 2, appended, `{"0":1}`)), invalid},
		{"sources are empty", append(two, message(user, 2, appended, `[]`)), invalid},
		{"sources with a hole", append(two, message(reply, 2, appended, `[0,null,1]`)), invalid},
		{"sources twice", append(two, message(reply, 2, appended, `[0,0]`)), invalid},
		{"a negative source", append(two, message(reply, 2, appended, `[-1]`)), invalid},
		{"a source to come", append(two, message(reply, 2, appended, `[3]`)), invalid},
		{"a replacement without sources", append(two, message(reply, 2, span(1, 1), "")), invalid},
		{"a replacement that does not cite what it takes", append(two, message(reply, 2, span(0, 1), "[0]")), invalid},
		{"an operation on a log-only event", append(two, ev("turn/start", 2, `"data":{"turn":1},"surfaceOp":"append"`)), invalid},
		// More of A.7.
		{"its own source", append(two, message(reply, 2, appended, `[2]`)), invalid},
		{"a fractional source", append(two, message(reply, 2, appended, `[0.5]`)), invalid},
		{"a source as text", append(two, message(reply, 2, appended, `["0"]`)), invalid},
		{"an answer may cite nothing", append(two, message(reply, 2, appended, `[]`)), nil},
		{"a message without operation", append(two, message(user, 2, "", "")), invalid},
		{"an unknown operation", append(two, message(user, 2, `"prepend"`, "")), invalid},
		{"an operation with a fourth member", append(two, message(reply, 2, `{"op":"replace","start":1,"end":1,"x":0}`, "[1]")), invalid},
		{"an operation without end", append(two, message(reply, 2, `{"op":"replace","start":1}`, "[1]")), invalid},
		{"a span the wrong way round", append(two, message(reply, 2, span(1, 0), "[0,1]")), invalid},
		{"a span of what is not there", append(two, message(reply, 2, span(1, 5), "[1]")), invalid},
		{"a span of what was replaced", append(two, message(reply, 2, span(1, 1), "[1]"), message(reply, 3, span(1, 1), "[1]")), invalid},
		{"a span of a log-only event", append(two, end(2), message(reply, 3, span(2, 2), "[2]")), invalid},
		{"it may cite more, also what the model never saw", append(two, end(2), message(reply, 3, span(1, 1), "[2,0,1]")), nil},
		{"a replaced replacement", append(two, message(reply, 2, span(1, 1), "[1]"), message(reply, 3, span(0, 2), "[0,2]")), nil},
		{"a gap in the numbers", append(two, end(3)), invalid},
		{"a number twice", append(two, end(1)), invalid},
		{"a shortened result", []string{header, u, call, res, message(toolRes, 3, span(2, 2), "[2]")}, nil},
		{"a result for a message", []string{header, u, call, res, message(toolRes, 3, span(0, 0), "[0]")}, invalid},
		{"a result for two", []string{header, u, call, res, message(toolRes, 3, appended, "[1]"), message(toolRes, 4, span(2, 3), "[2,3]")}, invalid},
		{"a result for another call's", []string{header, u, call, res, strings.ReplaceAll(message(toolRes, 3, span(2, 2), "[2]"), "c1", "c2")}, invalid},
		{"the legacy name of a message", append(two, strings.Replace(message(user, 2, appended, ""), user, "steering/message", 1)), nil},
		// Records.
		{"an unknown type", append(two, ev("future/event", 2, `"data":{}`)), corrupt},
		{"an unknown type that may be ignored", append(two, ev("future/event", 2, `"data":{},"ignorable":true`)), nil},
		{"no header", []string{u, message(reply, 1, appended, "[]")}, corrupt},
		{"a header without depth", []string{strings.Replace(header, `,"delegationDepth":0`, "", 1), u}, corrupt},
		{"a header without id", []string{strings.Replace(header, `"id":"s1",`, "", 1), u}, corrupt},
		{"a header with a time as text", []string{strings.Replace(header, `1767225600000`, `"now"`, 1), u}, corrupt},
		{"damage before the end of a turn", append(two, "{broken", end(2)), corrupt},
		{"damage after the last end of a turn", append(two, end(2), "{broken"), nil},
		{"what follows such damage is cut off", append(two, end(2), "{broken", message(reply, 9, span(7, 7), "")), nil},
		{"a record without type before the end of a turn", append(two, `{"seq":2,"time":1}`, end(3)), corrupt},
		{"a record that is no object", append(two, `[1]`, end(2)), corrupt},
		{"a second header", append(two, header, end(2)), corrupt},
		{"an event without time", append(two, `{"type":"step/start","seq":2,"data":{}}`, end(3)), corrupt},
		{"a row whose gaps do not fit", append(two, `{"type":"text-chunks","seq0":2,"time0":1,"data":{"turn":1,"step":1,"dt":[1,1],"texts":["a","b"]}}`, end(4)), corrupt},
		{"both kinds: the corruption is told", append(two, message(user, 2, "", ""), "{broken", end(3)), corrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := doc(c.lines...)
			strict, err := traceLog(t, text, true)
			if c.want == nil && err != nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			lenient, err := traceLog(t, text, false)
			if err != nil {
				t.Fatalf("not strict: %v", err)
			}
			if c.want == corrupt {
				return
			}
			// Surfaces are told all the same, and the events are there.
			if a, b := transcripttest.Render(strict.Sessions["s1"]), transcripttest.Render(lenient.Sessions["s1"]); a != b {
				t.Errorf("strict\n%s\nlenient\n%s", a, b)
			}
		})
	}
	// A torn last line is no defect.
	if _, err := traceLog(t, doc(two...)+`{"type":"turn/e`, true); err != nil {
		t.Errorf("torn last line: %v", err)
	}
}

// A whole frame with a wrong checksum is corruption, a torn last one is not.
func TestMalformedFrames(t *testing.T) {
	one, two := frame(t, doc(header, userLine(0, "hi"))), frame(t, doc(replyLine(1, "yes")))
	bad := []byte(one + two)
	bad[len(bad)-1] ^= 0xff
	for name, c := range map[string]struct {
		data string
		want error
	}{
		"sound": {one + two, nil}, "checksum": {string(bad), transcript.ErrCorrupt}, "torn": {one + two[:len(two)-6], nil},
		"checksum in the middle": {string(bad) + frame(t, doc(end(2))), transcript.ErrCorrupt},
	} {
		env := transcripttest.Env(transcripttest.Write(t, map[string]string{zstdPath: c.data}), nil)
		src := transcripttest.Sources(t, New(), env)[0]
		_, err := New().Read(context.Background(), env, src, nil, transcripttest.NewTrace(t, true))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
}

// TestTrace is the picture of reference A.8, and what follows a replaced event
// in the model's order.
func TestTrace(t *testing.T) {
	tr, err := traceLog(t, doc(header, ev("turn/start", 0, `"data":{"turn":1}`), ev("step/start", 1, `"data":{"turn":1,"step":1}`),
		ev("assistant/chunk", 2, `"data":{"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"x"}}`),
		message(user, 3, appended, "[2]"), message(reply, 4, span(3, 3), "[3,2]"), message(user, 5, appended, ""), end(6), message(user, 7, appended, ""),
		message(reply, 8, span(4, 4), "[2,4]"), message(reply, 9, span(5, 7), "[5,7]")), true)
	if err != nil {
		t.Fatal(err)
	}
	l := tr.Links["s1"]
	for _, c := range []struct {
		seq                               int
		chain, replaced, sources, derived []int
	}{
		{2, nil, nil, nil, []int{3, 4, 8}},
		{3, []int{4, 8}, nil, []int{2}, []int{4}},
		{4, []int{8}, []int{3}, []int{3, 2}, []int{8}},
		{8, nil, []int{4}, []int{2, 4}, nil},
		{9, nil, []int{5, 7}, []int{5, 7}, nil},
	} {
		got := [][]int{l.Chain(c.seq), l.Replaced(c.seq), l.Sources[c.seq], l.Derived(c.seq)}
		if want := [][]int{c.chain, c.replaced, c.sources, c.derived}; !reflect.DeepEqual(got, want) {
			t.Errorf("trace of %d: %v, want %v", c.seq, got, want)
		}
	}
	if !l.Recorded[8] {
		t.Error("the sources are recorded")
	}
	if got := tr.Model("s1"); !slices.Equal(got, []int{8, 9}) {
		t.Errorf("model order %v, want 8, 9", got)
	}
	// A replacement takes the place of what it replaced, wherever that was moved.
	tr, err = traceLog(t, doc(header, message(user, 0, appended, ""), message(reply, 1, appended, ""), message(user, 2, appended, ""),
		message(user, 3, span(1, 1), "[1]"), message(user, 4, span(0, 0), "[0]"), message(reply, 5, appended, ""), message(reply, 6, span(3, 3), "[3]")), true)
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.Model("s1"); !slices.Equal(got, []int{4, 6, 2, 5}) {
		t.Errorf("model order %v, want 4, 6, 2, 5", got)
	}
}

// A fork's copies keep their numbers (lineage.md §8).
func TestInherited(t *testing.T) {
	lines := []string{strings.Replace(header, `"delegationDepth"`, `"parentSession":"s0","seedLength":11,"delegationDepth"`, 1)}
	for i := range 11 {
		lines = append(lines, userLine(i, "copied"))
	}
	tr, err := traceLog(t, doc(append(lines, ev("session/end-seed", 11, `"data":{}`), userLine(12, "own"))...), true)
	if err != nil {
		t.Fatal(err)
	}
	s, l := tr.Sessions["s1"], tr.Links["s1"]
	if s.InheritedCount != 11 || !s.InheritedKnown || s.ParentID != "s0" || s.Events[11].Inherited {
		t.Errorf("%d inherited (known %v) of %q", s.InheritedCount, s.InheritedKnown, s.ParentID)
	}
	if len(l.Originals) != 11 || l.Originals[6] != "s0/6" {
		t.Errorf("copies of %v", l.Originals)
	}
}

// An interrupted turn is balanced in memory (reference A.17.2).
func TestBalance(t *testing.T) {
	start, step := ev("turn/start", 0, `"data":{"turn":7}`), ev("step/start", 1, `"data":{"turn":7,"step":2}`)
	asks := ev(reply, 3, `"data":{"turn":7,"step":2,"message":{"id":"a","role":"assistant","content":[{"type":"tool-call","id":"c1","name":"bash","arguments":"{}"},{"type":"tool-call","id":"c2","name":"read","arguments":"{}"},{"type":"tool-call","id":"c3","name":"read","arguments":"{}"}]}},"surfaceOp":"append"`)
	called := func(seq int, id string) string {
		return ev("tool/call", seq, `"data":{"turn":7,"step":2,"callId":"`+id+`","name":"bash","arguments":"{}"}`)
	}
	tr, err := traceLog(t, doc(header, start, step, userLine(2, "go"), asks, called(4, "c1"), called(5, "c2"), resultLine(6, "done", `"append"`)), true)
	if err != nil {
		t.Fatal(err)
	}
	l := tr.Links["s1"]
	var got []string
	for _, e := range l.Synthetic {
		line := fmt.Sprintf("%d %s %s %v %v %v", e.Seq, e.Type, e.Surface, e.Tools, l.Sources[e.Seq], e.Time.UnixMilli() == 1767225600000+6000)
		for _, p := range e.Parts {
			line += " " + p.Text[strings.LastIndexByte(p.Text, '\n')+1:]
		}
		got = append(got, line)
	}
	want := []string{
		"7 tool/result current [read] [5] true TOOL_OUTCOME_UNKNOWN", "8 tool/result current [read] [] true TOOL_NOT_STARTED",
		"9 step/end log-only [] [] true", "10 turn/end log-only [] [] true interrupted",
	}
	if !slices.Equal(got, want) {
		t.Errorf("synthetic events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := `"seq":7,"time":1767225606000,"data":{"turn":7,"step":2,`; !strings.Contains(l.Data[7], want) || !strings.Contains(l.Data[7], `"sourceEventSeqs":[5]`) {
		t.Errorf("record of 7: %s", l.Data[7])
	}
	// Nothing is open.
	tr, err = traceLog(t, doc(header, start, step, userLine(2, "go"), ev("step/end", 3, ""), end(4)), false)
	if err != nil {
		t.Fatal(err)
	}
	if l := tr.Links["s1"]; l != nil && len(l.Synthetic) > 0 {
		t.Errorf("synthetic events after a whole turn: %v", l.Synthetic)
	}
	// Between two steps only the turn is.
	tr, err = traceLog(t, doc(header, start, step, userLine(2, "go"), ev("step/end", 3, "")), false)
	if err != nil {
		t.Fatal(err)
	}
	if l := tr.Links["s1"]; len(l.Synthetic) != 1 || l.Synthetic[0].Type != "turn/end" {
		t.Errorf("synthetic events %v, want the end of the turn", l.Synthetic)
	}
}

// Events of packed rows and of compressed logs have records of their own, also
// while they are held back.
func TestData(t *testing.T) {
	lines := []string{header, userLine(0, "q"), `{"type":"tool-call-chunks","seq0":1,"time0":1767225601000,"data":{"turn":1,"step":1,"index":2,"dt":[5],"id":"c1","name":"bash","args":["{","}"]}}`,
		`{"type":"reasoning-chunks","seq0":3,"time0":1767225602000,"data":{"turn":1,"step":1,"index":0,"dt":[],"texts":["hm\n"]}}`, replyLine(4, "yes")}
	chunks := map[int]string{
		1: `{"type":"assistant/chunk","seq":1,"time":1767225601000,"data":{"turn":1,"step":1,"chunk":{"type":"tool-call-delta","index":2,"id":"c1","name":"bash","argumentsDelta":"{"}}}`,
		2: `{"type":"assistant/chunk","seq":2,"time":1767225601005,"data":{"turn":1,"step":1,"chunk":{"type":"tool-call-delta","index":2,"id":"c1","name":"bash","argumentsDelta":"}"}}}`,
		3: `{"type":"assistant/chunk","seq":3,"time":1767225602000,"data":{"turn":1,"step":1,"chunk":{"type":"reasoning-delta","index":0,"text":"hm\n"}}}`,
	}
	tr, err := traceLog(t, doc(lines...), false)
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.Links["s1"].Data; !reflect.DeepEqual(got, chunks) {
		t.Errorf("data of a plain log %v", got)
	}
	env := transcripttest.Env(transcripttest.Write(t, map[string]string{zstdPath: frame(t, doc(lines...))}), nil)
	tr, err = transcripttest.TraceAll(t, New(), env, transcripttest.Sources(t, New(), env)[0])
	if err != nil {
		t.Fatal(err)
	}
	chunks[0], chunks[4] = lines[1], lines[4]
	if got := tr.Links["s1"].Data; !reflect.DeepEqual(got, chunks) {
		t.Errorf("data of a compressed log %v", got)
	}
}
