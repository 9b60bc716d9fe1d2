package opencode

import (
	"context"
	"errors"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

// FuzzRead takes arbitrary bytes as the records of a session, in the tree and
// as rows of both tables: nothing may panic, hang or break the model's rules.
func FuzzRead(f *testing.F) {
	for _, part := range []string{
		`{"type":"text","text":"hi","synthetic":false}`, `{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{"command":"x"},"output":"y","metadata":{"exit":1},"time":{"start":1,"end":2}}}`,
		`{"type":"patch","files":["/a",1,null]}`, `{"type":"file","url":"file:///a%20b","source":{"path":"x"}}`, `{"type":"compaction"}`, `{"type":"subtask","prompt":"p"}`,
		`{"type":"tool-invocation","toolInvocation":{"toolCallId":"c","args":{}}}`, "\x00", `{"type":"text","text":"\ud83d`, `[]`,
	} {
		f.Add([]byte(plainSession), []byte(`{"role":"assistant","summary":true,"parentID":"msg_1","time":{"created":1768900002000,"completed":1}}`), []byte(part), "assistant")
	}
	f.Add([]byte(`{"id":"x","revert":{"messageID":"m","partID":"p"},"parentID":"../../etc","time":{"archived":1}}`), []byte(`{"role":"user","parts":[{"type":"text","text":"x"}],"metadata":{"tool":{}}}`), []byte(`{}`), "compaction")
	f.Add([]byte(`{}`), []byte(`{"text":"x","files":[{"uri":"file:///x"}],"content":[{"type":"tool","state":{"content":[{"text":"a"}],"error":{}}}]}`), []byte(`{}`), "shell")
	f.Fuzz(func(t *testing.T, session, message, part []byte, kind string) {
		transcripttest.One(t, reader{}, tree(string(session), map[string]string{
			"message/ses_a/msg_1.json": user(1768900001000), "part/msg_1/prt_1.json": string(part),
			"message/ses_a/msg_2.json": string(message), "part/msg_2/prt_1.json": string(part),
		}))
		rec := transcripttest.NewTrace(t, false)
		b := &builder{ctx: context.Background(), env: transcripttest.Env(t.TempDir(), nil), out: rec, cp: &transcript.Checkpoint{}, links: newLinks(rec)}
		if err := b.begin(session1); err != nil {
			t.Fatal(err)
		}
		v := jsonv.Parse(message)
		if !jsonv.Valid(v) {
			v = nil
		}
		for range 2 {
			if err := b.nextMessage(&record{id: "msg", path: kind}, v); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.finish(); err != nil && !errors.Is(err, transcript.ErrNoSession) {
			t.Fatal(err)
		}
	})
}

var session1 = session{id: "ses_a", dir: "/w", revertMessage: "msg_2"}
