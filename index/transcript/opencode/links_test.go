package opencode

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

// TestCompactionLinks: a summary stands for what was before the message that
// asked for it. The records are handed over: messages with their parts of text,
// calls by themselves.
func TestCompactionLinks(t *testing.T) {
	tool := `{"type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"x"},"output":"y"}}`
	files := map[string]string{
		"message/ses_a/msg_1.json": user(1768900001000), "part/msg_1/prt_1.json": `{"type":"text","text":"one"}`, "part/msg_1/prt_2.json": `{"type":"file"}`,
		"message/ses_a/msg_2.json": assistant(1768900002000, ""), "part/msg_2/prt_1.json": tool, "part/msg_2/prt_2.json": `{"type":"step-start"}`,
		"message/ses_a/msg_3.json": user(1768900003000), "part/msg_3/prt_1.json": `{"type":"compaction","auto":true}`,
		"message/ses_a/msg_4.json": assistant(1768900004000, `,"summary":true,"parentID":"msg_3","finish":"stop"`), "part/msg_4/prt_1.json": `{"type":"text","text":"so far"}`,
		"message/ses_a/msg_5.json": user(1768900005000), "part/msg_5/prt_1.json": `{"type":"text","text":"two"}`,
	}
	tr := transcripttest.Traces(t, New(), transcripttest.Write(t, tree(plainSession, files)))["ses_a"]
	l := tr.Links["ses_a"]
	if want := map[int]int{0: 4, 1: 4, 2: 4}; !reflect.DeepEqual(l.By, want) {
		t.Errorf("replaced by %v, want %v", l.By, want)
	}
	if want := []int{3, 0, 1, 2}; !slices.Equal(l.Sources[4], want) {
		t.Errorf("sources %v, want %v", l.Sources[4], want)
	}
	if got := tr.Model("ses_a"); !slices.Equal(got, []int{4, 5}) {
		t.Errorf("model order %v, want 4, 5", got)
	}
	for seq, want := range map[int]string{
		0: `{"info":` + user(1768900001000) + `,"parts":[{"type":"text","text":"one"},{"type":"file"}]}`,
		1: `{"info":` + assistant(1768900002000, "") + `,"parts":[{"type":"step-start"}]}`, 2: tool,
	} {
		if l.Data[seq] != want {
			t.Errorf("data of %d: %s, want %s", seq, l.Data[seq], want)
		}
	}
}

// TestInherited: the copies of a fork stand where they stand in the parent, as
// long as messages have as many parts.
func TestInherited(t *testing.T) {
	const at = 1785000000000
	row := func(id, title string, at int64) string {
		return fmt.Sprintf("INSERT INTO session VALUES ('%s','p',NULL,'/w','%s',NULL,%d,%d,NULL);", id, title, at, at)
	}
	part := func(id, message, session string) string {
		return fmt.Sprintf("INSERT INTO part VALUES ('%s','%s','%s',1,1,'%s');", id, message, session, `{"type":"tool","tool":"bash","state":{"status":"completed","input":{},"output":"y"}}`)
	}
	env := stores(t, map[string]string{"opencode.db": schemaV1 +
		row("ses_root", "Root", at) + insert("ses_root", at+1000, "weave", "woven", "again", "more") + part("prt_t", "msg_ses_root_1", "ses_root") + part("prt_later", "msg_ses_root_2", "ses_root") +
		row("ses_fork", "Root (fork #1)", at+60000) + insert("ses_fork", at+1000, "weave", "woven", "again") + part("prt_u", "msg_ses_fork_1", "ses_fork"),
	})
	l := transcripttest.Traces(t, New(), env.Home)["ses_fork"].Links["ses_fork"]
	if want := map[int]string{0: "ses_root/0", 1: "ses_root/1", 2: "ses_root/2"}; !reflect.DeepEqual(l.Originals, want) {
		t.Errorf("copies of %v, want %v", l.Originals, want)
	}
}
