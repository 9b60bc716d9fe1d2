package index_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

// Broken and hostile files.
func TestCasesOfBrokenFiles(t *testing.T) {
	t.Run("B1 torn last record", func(t *testing.T) {
		w := newWorld(t)
		var five string
		for i := range 5 {
			five += user(idA, fmt.Sprint("u", i), fmt.Sprint("the avocet wades ", i))
		}
		w.write(claudeFile(idA), five+`{"type":"user","message":{"content":"the plover ne`)
		s := w.enabled()
		w.finds(s, "avocet", idA+"#title", `"the avocet wades 4"`, idA+"#4", `"the plover"`, "")
		w.equal("messages", w.show(s, idA).Session.MessageCount, 5)
		w.healthy(s)
		w.append(claudeFile(idA), "sts\"}}\n")
		w.finds(s, `"the plover nests"`, idA+"#5")
		got := w.show(s, idA)
		w.equal("messages, events", fmt.Sprint(got.Session.MessageCount, len(got.Events)), "6 6")
		w.healthy(s)
	})
	t.Run("B2 NUL bytes", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), user(idA, "u1", "good line")+strings.Repeat("\x00", 400)+"\n"+user(idA, "u2", "quill marmot"))
		s := w.enabled()
		w.finds(s, `"quill marmot"`, idA+"#1")
		w.equal("text", w.said(s, idA), "user: good line\nuser: quill marmot")
		w.healthy(s)
	})
	t.Run("B4 spliced records", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), user(idA, "u1", "before")+`{"type":"assistant","text":"half {"type":"user","uuid":"u9","message":{"content":"find me: basalt"}}`+"\n"+user(idA, "u2", "after"))
		s := w.enabled()
		w.finds(s, "basalt", idA+"#1", "half", "")
		w.equal("text", w.said(s, idA), "user: before\nuser: find me: basalt\nuser: after")
		w.healthy(s)
	})
	t.Run("B6 lone surrogate, invalid UTF-8, duplicate keys", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), user(idA, "u0", "first")+`{"type":"user","uuid":"u1","message":{"content":"errored \ud83d... at tern"}}`+"\n"+
			`{"type":"user","uuid":"u2","message":{"content":"a gull `+"\xff\xfe"+` flew"}}`+"\n"+
			`{"type":"user","uuid":"u3","type":"user","message":{"content":"a stork stood"}}`+"\n")
		s := w.enabled()
		w.finds(s, `"at tern"`, idA+"#1", "gull", idA+"#2", "stork", idA+"#3")
		w.equal("text", w.said(s, idA), "user: first\nuser: errored \uFFFD... at tern\nuser: a gull \uFFFD\uFFFD flew\nuser: a stork stood")
		w.healthy(s)
	})
	t.Run("B7 oversized line", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), user(idA, "u1", "small before")+
			`{"type":"user","uuid":"u2","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"`+strings.Repeat("grey noise ", 700_000)+`E: widget 7731"}]}}`+"\n"+user(idA, "u3", "small after"))
		s := w.enabled()
		w.finds(s, `"small before"`, idA+"#title", `"widget 7731"`, idA+"#1", `"small after"`, idA+"#2")
		w.healthy(s)
	})
	t.Run("B11 screenshot and text stored twice on one line", func(t *testing.T) {
		w := newWorld(t)
		image := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAB3dE5gH", 2000)
		w.write(claudeFile(idA), user(idA, "u1", "look")+`{"type":"user","uuid":"u2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"saw a dunlin"},{"type":"image","source":{"type":"base64","data":"`+image+`"}}]}]},`+
			`"toolUseResult":{"content":"saw a dunlin","file":{"base64":"`+image+`"}}}`+"\n")
		s := w.enabled()
		w.finds(s, "dunlin", idA+"#1", "iVBORw0KGgoAAAANSUhEUgAAB3dE5gH", "")
		w.equal("text", w.said(s, idA), "user: look\ntool: saw a dunlin")
		w.equal("matches", w.first(s, "dunlin").MatchCount, 1)
	})
	t.Run("B16 result without call id", func(t *testing.T) {
		w := newWorld(t)
		w.write(codexFile(codexA), codexMeta(codexA)+codexUser("go")+codexLine("response_item", `{"type":"function_call_output","output":"ok sanderling"}`))
		s := w.enabled()
		w.finds(s, "sanderling", codexA+"#2")
		w.healthy(s)
	})
	t.Run("B17 flipped bits in the own index", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), talk(idA, "tidy the plover parser", "done with basalt"))
		s := w.enabled()
		w.finds(s, "basalt", idA+"#1")
		w.must(s.Close())
		whole, err := os.ReadFile(w.paths.Index())
		w.must(err)
		at := bytes.Index(whole, []byte{0x28, 0xb5, 0x2f, 0xfd}) // the block's zstd frame
		if at < 0 {
			t.Fatal("no block in the index")
		}
		for bit := range 8 * 24 {
			broken := bytes.Clone(whole)
			broken[at+bit/8] ^= 1 << (bit % 8)
			for _, side := range []string{"-wal", "-shm"} {
				_ = os.Remove(w.paths.Index() + side)
			}
			w.must(os.WriteFile(w.paths.Index(), broken, 0o600))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s := w.service()
			// The damage shows in an answer, which then is none; afterwards the index is built anew.
			_, _ = s.ReadSession(t.Context(), contract.ReadSessionRequest{SessionName: contract.SessionName{SessionID: idA}})
			w.reconcile(s)
			runtime.ReadMemStats(&after)
			if got := w.said(s, idA); got != "user: tidy the plover parser\nassistant: done with basalt" {
				t.Fatalf("bit %d: %q", bit, got)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
				t.Fatalf("bit %d: %d bytes allocated", bit, grown)
			}
			w.must(s.Close())
		}
	})
}
