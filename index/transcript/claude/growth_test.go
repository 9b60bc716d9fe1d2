package claude_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/claude"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

// busy is a session with parallel calls, hooks, rewinds, records out of order
// and a compaction, long enough to leave a checkpoint's window behind.
func busy(seed uint64, turns int) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var out []string
	n := 0
	id := func() string { n++; return fmt.Sprint("id-", n) }
	last := ""
	add := func(line string) { out = append(out, line) }
	var spine []string
	for i := range turns {
		if i > 0 && r.IntN(12) == 0 {
			last = spine[r.IntN(len(spine))] // rewind
		}
		u := id()
		add(user(u, last, fmt.Sprint("Frage ", i, " über 資料 🐦")))
		spine, last = append(spine, u), u
		for range 1 + r.IntN(3) {
			m := id()
			var callers, tools []string
			for range 1 + r.IntN(3) {
				a, tool := id(), id()
				add(call(a, last, m, tool, "Bash", `{"command":"ls `+a+`"}`))
				callers, tools, last = append(callers, a), append(tools, tool), a
			}
			for k := range callers {
				res := id()
				line := result(res, callers[k], tools[k], "out of "+tools[k])
				if r.IntN(8) == 0 { // written before the record it answers to is
					h := id()
					add(strings.Replace(line, `"parentUuid":"`+callers[k]+`"`, `"parentUuid":"`+h+`"`, 1))
					add(rec("progress", h, callers[k], `,"data":{}`))
				} else {
					add(line)
				}
				last = res
				if r.IntN(3) == 0 {
					add(rec("attachment", id(), res, `,"attachment":{"type":"edited_text_file"}`))
				}
			}
			add(`{"type":"last-prompt","lastPrompt":"x"}`)
		}
		a := id()
		add(say(a, last, a, fmt.Sprint("Antwort ", i)))
		last = a
		if r.IntN(25) == 0 {
			b, s := id(), id()
			add(strings.NewReplacer(`"b"`, `"`+b+`"`).Replace(boundary))
			add(strings.NewReplacer(`"uuid":"s"`, `"uuid":"`+s+`"`, `"parentUuid":"b"`, `"parentUuid":"`+b+`"`).Replace(summary))
			last, spine = s, []string{s}
		}
	}
	return lines(out...)
}

func steps(seed uint64, size, most int) []int {
	r := rand.New(rand.NewPCG(seed, 1))
	var out []int
	for size > 0 {
		n := 1 + r.IntN(most)
		out = append(out, n)
		size -= n
	}
	return out
}

// TestGrowth: read in steps of any size, also inside a character, equals read
// at once; and a session that just goes on is mostly continued.
func TestGrowth(t *testing.T) {
	for seed := range uint64(6) {
		text := busy(seed, 12+int(seed)*12)
		home := transcripttest.Write(t, map[string]string{file: text})
		plan := steps(seed, len(text), 1+len(text)/15)
		n := transcripttest.Grows(t, claude.New(), home, file, plan)
		t.Logf("seed %d: %d of %d steps continued", seed, n, len(plan))
	}
	linear := generate(4)
	home := transcripttest.Write(t, map[string]string{file: linear})
	plan := steps(3, len(linear), len(linear)/20)
	if n := transcripttest.Grows(t, claude.New(), home, file, plan); n < len(plan)*3/4 {
		t.Errorf("continued %d of %d steps", n, len(plan))
	}
}

// TestLongRun: while a call runs, its progress is read on, however long it
// takes; so are the turns after it.
func TestLongRun(t *testing.T) {
	for _, chained := range []bool{false, true} {
		out := []string{user("u1", "", "go"), call("a1", "u1", "m1", "t1", "Task", `{"prompt":"x"}`)}
		last := "a1"
		for i := range 400 {
			id := fmt.Sprint("p", i)
			out = append(out, rec("progress", id, last, `,"data":{"n":1}`))
			if chained {
				last = id
			}
		}
		out = append(out, result("r1", last, "t1", "done"), say("a2", "r1", "m2", "there"), user("u2", "a2", "more"), say("a3", "u2", "m3", "end"))
		text := lines(out...)
		home := transcripttest.Write(t, map[string]string{file: text})
		plan := steps(5, len(text), len(text)/20)
		n := transcripttest.Grows(t, claude.New(), home, file, plan)
		if n < len(plan)-3 {
			t.Errorf("chained %v: continued %d of %d steps", chained, n, len(plan))
		}
		if s := read(t, text); strings.Contains(surfaces(s), "s") {
			t.Errorf("chained %v: %s", chained, surfaces(s))
		}
	}
}

// TestSamplesGrow: the sample sessions byte range by byte range.
func TestSamplesGrow(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(samples, ".claude", "projects", "*", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatal(err, paths)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		name := ".claude/projects/-w/" + filepath.Base(p)
		if isNoSession(readErr(t, string(b))) || strings.HasPrefix(filepath.Base(p), "agent-") {
			continue
		}
		for seed := range uint64(4) {
			transcripttest.Grows(t, claude.New(), transcripttest.Write(t, map[string]string{name: string(b)}), name, steps(seed, len(b), 1+len(b)/6))
		}
	}
}

// TestForkGrows: a copy that is still being written is read anew until it has
// records of its own.
func TestForkGrows(t *testing.T) {
	copied := join(stamp(talk(0, 20), sid2, `,"sessionKind":"bg"`), stamp(talk(20, 10), sid2, ""))
	home := transcripttest.Write(t, map[string]string{file: join(talk(0, 20)), file2: copied})
	for seed := range uint64(3) {
		transcripttest.Grows(t, claude.New(), home, file2, steps(seed, len(copied), len(copied)/8))
	}
}

// A session keeps the title that another file gave it when it goes on.
func TestSummaryStays(t *testing.T) {
	home := transcripttest.Write(t, map[string]string{
		file:  lines(user("u1", "", "ring the plover"), say("a1", "u1", "m1", "rung")),
		file2: lines(`{"type":"summary","summary":"Ringing waders","leafUuid":"a1"}`),
	})
	env, rd := transcripttest.Env(home, nil), claude.New()
	recorder := transcripttest.NewRecorder(t)
	var cp *transcript.Checkpoint
	for _, more := range []string{"", lines(user("u2", "a1", "and the knot"))} {
		f, err := os.OpenFile(filepath.Join(home, filepath.FromSlash(file)), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString(more)
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		src := transcripttest.Sources(t, rd, env)[0]
		if cp, err = rd.Read(context.Background(), env, src, cp, recorder); err != nil {
			t.Fatal(err)
		}
		if s := recorder.Sessions[sid]; s.Title != "Ringing waders" {
			t.Errorf("after %d messages the title is %q", s.MessageCount, s.Title)
		}
	}
}

// TestRewritten: a file that is no longer what was read is not continued.
func TestRewritten(t *testing.T) {
	home := transcripttest.Write(t, map[string]string{file: join(talk(0, 6))})
	env, rd := transcripttest.Env(home, nil), claude.New()
	_, cp, err := transcripttest.ReadAll(t, rd, env, transcripttest.Sources(t, rd, env)[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"other text": join(talk(30, 12)), "shorter": join(talk(0, 3))} {
		if err := os.WriteFile(filepath.Join(home, filepath.FromSlash(file)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		recorder := transcripttest.NewRecorder(t)
		if _, err := rd.Read(context.Background(), env, transcripttest.Sources(t, rd, env)[0], cp, recorder); err != nil {
			t.Fatal(err)
		}
		if got, want := len(recorder.Sessions[sid].Events), strings.Count(text, "\n"); got != want {
			t.Errorf("%s: %d events, want %d", name, got, want)
		}
	}
	for _, state := range []string{"", "{", `{"Header":{"SessionID":"x"},"Nodes":"!"}`, `{"Header":{"SessionID":"x"},"Nodes":"AAAA"}`, `null`} {
		bad := *cp
		bad.State = []byte(state)
		if err := os.WriteFile(filepath.Join(home, filepath.FromSlash(file)), []byte(join(talk(0, 6))), 0o644); err != nil {
			t.Fatal(err)
		}
		recorder := transcripttest.NewRecorder(t)
		if _, err := rd.Read(context.Background(), env, transcripttest.Sources(t, rd, env)[0], &bad, recorder); err != nil || len(recorder.Sessions[sid].Events) != 6 {
			t.Errorf("state %q: %v", state, err)
		}
	}
}

// TestConcurrent: one Reader serves many at once with the same answers.
func TestConcurrent(t *testing.T) {
	home := transcripttest.Write(t, map[string]string{
		file: join(talk(0, 60)), file2: join(stamp(talk(0, 60), sid2, `,"sessionKind":"bg"`), stamp(talk(60, 5), sid2, "")),
	})
	env, rd := transcripttest.Env(home, nil), claude.New()
	src := transcripttest.Sources(t, rd, env)
	render := func() string {
		var b bytes.Buffer
		for _, s := range src {
			all, _, err := transcripttest.ReadAll(t, rd, env, s)
			if err != nil {
				t.Error(err)
			}
			for _, id := range transcripttest.Sorted(all) {
				b.WriteString(transcripttest.Render(all[id]))
			}
		}
		return b.String()
	}
	want := render()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := render(); got != want {
				t.Error("answers differ")
			}
		})
	}
	wg.Wait()
}

func TestCancelled(t *testing.T) {
	home := transcripttest.Write(t, map[string]string{file: join(talk(0, 6))})
	env, rd := transcripttest.Env(home, nil), claude.New()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := rd.Read(ctx, env, transcripttest.Sources(t, rd, env)[0], nil, transcripttest.NewRecorder(t))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	_, err = rd.Read(context.Background(), env, transcript.Source{Agent: "claude", Path: filepath.Join(home, "gone.jsonl")}, nil, transcripttest.NewRecorder(t))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join(samples, ".claude", "projects", "*", "*.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(lines(worked()...)))
	f.Add([]byte(busy(1, 3)))
	f.Add([]byte(lines(rec("user", "x1", "", `,"isSidechain":true,"message":{"content":"go"}`), result("r1", "x1", "t", "<persisted-output> tool-results/../x"))))
	f.Add([]byte(`{"type":"user","message":{"content":"the plover ne`))
	rd := claude.New()
	f.Fuzz(func(t *testing.T, data []byte) {
		transcripttest.Damaged(t, rd, file, data)
		transcripttest.Damaged(t, rd, folder+sid+"/subagents/agent-a1.jsonl", data)
	})
}

// FuzzGrow: whatever the bytes, reading in steps equals reading at once.
func FuzzGrow(f *testing.F) {
	f.Add([]byte(lines(worked()...)), uint64(3))
	f.Add([]byte(busy(1, 3)), uint64(4))
	f.Add([]byte(busy(2, 8)), uint64(5))
	rd := claude.New()
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		home := transcripttest.Write(t, map[string]string{file: string(data)})
		env := transcripttest.Env(home, nil)
		src := transcripttest.Sources(t, rd, env)
		if len(src) != 1 {
			return
		}
		if _, _, err := transcripttest.ReadAll(t, rd, env, src[0]); err != nil {
			return
		}
		transcripttest.Grows(t, rd, home, file, steps(seed, len(data), 1+len(data)/4))
	})
}
