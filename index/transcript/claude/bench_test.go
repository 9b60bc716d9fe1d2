package claude_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/claude"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

// discard is a sink that only counts.
type discard struct{ events, text int }

func (*discard) Begin(bool) error { return nil }
func (d *discard) Event(e *transcript.Event) error {
	d.events++
	for _, p := range e.Parts {
		d.text += len(p.Text)
	}
	return nil
}
func (*discard) Surface(string, int, int, transcript.Surface) error { return nil }
func (*discard) Header(*transcript.Header) error                    { return nil }
func (*discard) Progress(int64)                                     {}

// session builds a session of turns in the proportions of real ones: small
// prompts, many calls whose output is stored twice, hook output, usage figures.
func generate(turns int) string {
	var b strings.Builder
	last := "null"
	n := 0
	add := func(format string, args ...any) {
		n++
		id := fmt.Sprintf(`"%08d-0000-4000-8000-000000000000"`, n)
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"userType":"external","entrypoint":"cli","cwd":"/home/dev/work/tidewatch","sessionId":"0b0f7c52-9a41-4d0e-8c1b-5f2a6d7e9011","version":"2.1.207","gitBranch":"main","timestamp":"2026-03-11T09:15:%02d.%03dZ","uuid":%s,`,
			last, n/1000%60, n%1000, id)
		fmt.Fprintf(&b, format+"}\n", args...)
		last = id
	}
	code := strings.Repeat(`\tif err := station.Load(ctx, \"LHI\"); err != nil {\n\t\treturn fmt.Errorf(\"load: %w\", err)\n\t}\n`, 30)
	usage := `"usage":{"input_tokens":4,"cache_creation_input_tokens":900,"cache_read_input_tokens":15000,"output_tokens":12,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard"}`
	for i := range turns {
		add(`"type":"user","promptSource":"typed","message":{"role":"user","content":"look at station %d and tell me why the tide is late"}`, i)
		for k := range 6 {
			msg := fmt.Sprintf(`"requestId":"req_%d_%d","message":{"model":"claude-sonnet-4-5-20250929","id":"msg_%d_%d","type":"message","role":"assistant",%s,"content":`, i, k, i, k, usage)
			add(`"type":"assistant",%s[{"type":"thinking","thinking":"","signature":"%s"}]}`, msg, strings.Repeat("Rm9v", 300))
			add(`"type":"assistant",%s[{"type":"text","text":"I will read the file of station %d first."}]}`, msg, k)
			add(`"type":"assistant",%s[{"type":"tool_use","id":"toolu_%d_%d","name":"Read","input":{"file_path":"/home/dev/work/tidewatch/internal/station/zone%d.go"}}]}`, msg, i, k, k)
			add(`"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d_%d","type":"tool_result","content":"%s"}]},"toolUseResult":{"type":"text","file":{"filePath":"/home/dev/work/tidewatch/zone.go","content":"%s","numLines":90}}`, i, k, code, code)
			add(`"type":"attachment","attachment":{"type":"hook_success","hookName":"PostToolUse:Read","toolUseID":"t","hookEvent":"PostToolUse","content":"","stdout":"%s","stderr":"","exitCode":0}`, strings.Repeat("ok ", 100))
		}
	}
	return b.String()
}

func BenchmarkRead(b *testing.B) {
	name := ".claude/projects/-w/0b0f7c52-9a41-4d0e-8c1b-5f2a6d7e9011.jsonl"
	home := transcripttest.Write(b, map[string]string{name: generate(300)})
	info, err := os.Stat(filepath.Join(home, filepath.FromSlash(name)))
	if err != nil {
		b.Fatal(err)
	}
	rd, env := claude.New(), transcripttest.Env(home, nil)
	src := transcripttest.Sources(b, rd, env)[0]
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		var d discard
		if _, err := rd.Read(context.Background(), env, src, nil, &d); err != nil {
			b.Fatal(err)
		}
		if d.events != 300*31 {
			b.Fatalf("%d events", d.events)
		}
	}
}
