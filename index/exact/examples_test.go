package exact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

// The worked examples of lineage.md §8, and the picture of dsh-pi.md A.8.
func TestWorkedExamples(t *testing.T) {
	w := newWorld(t, contract.TransportLocal)
	const claude = "11111111-2222-4333-8444-555555555555"
	line := func(id, parent, kind, rest string) string {
		up := "null"
		if parent != "" {
			up = quoted(parent)
		}
		return fmt.Sprintf(`{"uuid":%q,"parentUuid":%s,"sessionId":%q,"type":%q,"cwd":"/w","isSidechain":false,"timestamp":"2026-05-01T10:00:00.000Z",%s}`, id, up, claude, kind, rest) + "\n"
	}
	user := func(text string) string { return `"message":{"role":"user","content":` + quoted(text) + `}` }
	reply := func(id string) string {
		return `"message":{"id":` + quoted(id) + `,"role":"assistant","content":[{"type":"text","text":"reply ` + id + `"}]}`
	}
	w.write(".claude/projects/-w/"+claude+".jsonl", line("u1", "", "user", user("first"))+line("a1", "u1", "assistant", reply("m1"))+
		line("u2", "a1", "user", user("second"))+line("a2", "u2", "assistant", reply("m2"))+
		line("u2b", "a1", "user", user("second, better"))+line("a3", "u2b", "assistant", reply("m3"))+
		line("b", "", "system", `"subtype":"compact_boundary","logicalParentUuid":"a3","content":"Conversation compacted","compactMetadata":{"trigger":"manual","preTokens":5}`)+
		line("s", "b", "user", `"isCompactSummary":true,`+user("what was said"))+line("u4", "s", "user", user("go on"))+line("a4", "u4", "assistant", reply("m4")))

	const codex = "019d0000-0000-7000-8000-000000000001"
	roll := func(kind, payload string) string {
		return `{"timestamp":"2026-05-01T10:00:00.000Z","type":"` + kind + `","payload":` + payload + "}\n"
	}
	says := func(role, kind, text string) string {
		return roll("response_item", `{"type":"message","role":"`+role+`","content":[{"type":"`+kind+`","text":"`+text+`"}]}`)
	}
	w.write(".codex/sessions/2026/05/01/rollout-2026-05-01T10-00-00-"+codex+".jsonl",
		roll("session_meta", `{"id":"`+codex+`","timestamp":"2026-05-01T10:00:00.000Z","cwd":"/w","originator":"codex_cli_rs","cli_version":"0.50.0"}`)+
			roll("turn_context", `{"turn_id":"t1","cwd":"/w"}`)+says("user", "input_text", "one")+says("assistant", "output_text", "first")+
			roll("turn_context", `{"turn_id":"t2","cwd":"/w"}`)+says("user", "input_text", "two")+
			roll("response_item", `{"type":"function_call","name":"shell","call_id":"c1","arguments":"{\"command\":[\"ls\"]}"}`)+
			roll("response_item", `{"type":"function_call_output","call_id":"c1","output":"a b"}`)+
			roll("event_msg", `{"type":"thread_rolled_back","num_turns":1}`)+says("user", "input_text", "three")+says("assistant", "output_text", "last"))
	w.reconcile()

	for _, tt := range []struct {
		id       string
		surfaces string // c, s or l for each event
		traces   map[int]string
	}{
		{claude, "ssssssl" + "ccc", map[int]string{2: "by 4 chain [4 7] replaced [] sources []", 7: "by - chain [] replaced [0 1 4 5] sources [6 0 1 4 5]", 9: "by - chain [] replaced [] sources []"}},
		{codex, "llcclssslcc", map[int]string{6: "by 8 chain [8] replaced [] sources []", 7: "by 8 chain [8] replaced [] sources [6]", 8: "by - chain [] replaced [5 6 7] sources []"}},
	} {
		name := contract.SessionName{SessionID: tt.id}
		got := ""
		for _, e := range w.events("listEvents", name, 100) {
			got += string(e.Surface)[:1]
		}
		if got != tt.surfaces {
			t.Errorf("%s: surfaces %s, want %s", tt.id, got, tt.surfaces)
		}
		for seq, want := range tt.traces {
			r := ask[contract.TraceEventResponse](w, "traceEvent", of(name, fmt.Sprintf(`"seq":%d`, seq)))
			by := "-"
			if r.ReplacedBy != nil {
				by = fmt.Sprint(*r.ReplacedBy)
			}
			got := fmt.Sprint("by ", by, " chain ", []int64(r.ReplacementChain), " replaced ", []int64(r.ReplacedEventSeqs), " sources ", []int64(r.SourceEventSeqs))
			if got != want {
				t.Errorf("%s event %d: %s, want %s", tt.id, seq, got, want)
			}
			if linked := got != "by - chain [] replaced [] sources []"; linked != r.DerivedProvenance && len(r.DerivedEventSeqs) == 0 {
				t.Errorf("%s event %d: derived provenance is %v", tt.id, seq, r.DerivedProvenance)
			}
		}
	}
}

// Links as a log records them: 2 is a chunk, 3 cites it, 4 replaces 3, 8 replaces
// 4; and in model order 8 stands where 3 stood.
func TestRecordedLinks(t *testing.T) {
	w := fake(t)
	link := func(seq, source int) fakeLine { return fakeLine{Session: "s", Recorded: []int{seq, source}} }
	var lines []fakeLine
	for i := range 10 {
		lines = append(lines, fakeLine{Session: "s", ID: fmt.Sprint("e", i), Text: fmt.Sprint("event ", i), LogOnly: i == 2, Inherited: -1})
	}
	lines[1].Inherited, lines[0].Parent = 41, "elsewhere"
	lines = append(lines, link(3, 2), link(4, 3), link(4, 2), link(8, 2), link(8, 4),
		fakeLine{Session: "s", Replaced: []int{3, 4, 4}}, fakeLine{Session: "s", Replaced: []int{3, 5, 8}}, fakeLine{Session: "s", Order: []int{8, 5}},
		// What points nowhere does no harm.
		link(99, 1), link(1, -1), fakeLine{Session: "s", Replaced: []int{-5, 400, 3}}, fakeLine{Session: "s", Order: []int{3, 99}}, fakeLine{Session: "s", Sources: []int{5, 7, 2}})
	w.put("one", "s", lines...)
	w.reconcile()
	for seq, want := range map[int]string{
		2: `"replacementChain":[],"replacedEventSeqs":[],"sourceEventSeqs":[],"derivedEventSeqs":[3,4,8],"derivedProvenance":false}`,
		3: `"replacedBy":4,"replacementChain":[4,8],"replacedEventSeqs":[],"sourceEventSeqs":[2],"derivedEventSeqs":[4],"derivedProvenance":false}`,
		4: `"replacedBy":8,"replacementChain":[8],"replacedEventSeqs":[3],"sourceEventSeqs":[3,2],"derivedEventSeqs":[8],"derivedProvenance":false}`,
		8: `"replacementChain":[],"replacedEventSeqs":[4],"sourceEventSeqs":[2,4],"derivedEventSeqs":[],"derivedProvenance":false}`,
		1: `"replacementChain":[],"replacedEventSeqs":[],"sourceEventSeqs":[],"derivedEventSeqs":[],"derivedProvenance":false,"inheritedFrom":{"sessionId":"elsewhere","seq":41}}`,
	} {
		raw := string(w.raw("traceEvent", fmt.Sprintf(`{"sessionId":"s","seq":%d}`, seq)))
		if !strings.HasSuffix(raw, want) {
			t.Errorf("event %d: %s\nwant %s", seq, raw, want)
		}
	}
	if got := fmt.Sprint(seqs(ask[contract.ReadSurfaceResponse](w, "readSurface", `{"sessionId":"s"}`).Events)); got != "[0 1 3 4 8 5 6 7 9]" {
		t.Errorf("model order %s", got)
	}
	// And in pages.
	var got []int64
	for next := ""; ; {
		r := ask[contract.ReadSurfaceResponse](w, "readSurface", `{"sessionId":"s","limit":2`+next+`}`)
		got = append(got, seqs(r.Events)...)
		if r.Page.Cursor == nil {
			break
		}
		next = `,"cursor":` + quoted(*r.Page.Cursor)
	}
	if fmt.Sprint(got) != "[0 1 3 4 8 5 6 7 9]" {
		t.Errorf("in pages %v", got)
	}
}
