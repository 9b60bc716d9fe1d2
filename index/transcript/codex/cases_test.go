package codex_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/codex"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const (
	idA = "019d0000-0000-7000-8000-00000000000a"
	idB = "019d0000-0000-7000-8000-00000000000b"
)

// name is the path of a rollout below a home.
func name(id string) string {
	return ".codex/sessions/2026/03/01/rollout-2026-03-01T08-00-00-" + id + ".jsonl"
}

func line(typ, payload string) string {
	return fmt.Sprintf(`{"timestamp":"2026-03-01T08:00:01.000Z","type":%q,"payload":%s}`+"\n", typ, payload)
}

func metaLine(id string) string {
	return line("session_meta", fmt.Sprintf(`{"id":%q,"timestamp":"2026-03-01T08:00:00.000Z","cwd":"/w","originator":"codex-tui","source":"cli"}`, id))
}

func userLine(text string) string {
	return line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"`+text+`"}]}`)
}

func answerLine(text string) string {
	return line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"`+text+`"}]}`)
}

func outputLine(text string) string {
	return line("response_item", `{"type":"function_call_output","call_id":"c1","output":"`+text+`"}`)
}

// read reads one rollout given as text.
func read(t testing.TB, text string) (*transcripttest.Session, *transcript.Checkpoint) {
	t.Helper()
	return readFrom(t, transcripttest.Write(t, map[string]string{name(idA): text}))
}

func readFrom(t testing.TB, home string) (*transcripttest.Session, *transcript.Checkpoint) {
	t.Helper()
	rd, env := codex.New(), transcripttest.Env(home, nil)
	sources := transcripttest.Sources(t, rd, env)
	if len(sources) != 1 {
		t.Fatalf("%d sources, want 1", len(sources))
	}
	sessions, cp, err := transcripttest.ReadAll(t, rd, env, sources[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(sessions) != 1 {
		t.Fatalf("%d sessions, want 1", len(sessions))
	}
	for _, s := range sessions {
		return s, cp
	}
	return nil, nil
}

// Damaged files give every record that can be read (cases B1, B2, B4, B6, and
// the hazards of the readers' rules).
func TestHazards(t *testing.T) {
	m := metaLine(idA)
	nul := strings.Repeat("\x00", 400) + "\n"
	for _, c := range []struct {
		name, text, prose string
		bad               int
		torn              bool
	}{
		{"torn last record", m + userLine("one") + answerLine("two") + userLine("three") + answerLine("four") + userLine("five") + strings.TrimSuffix(answerLine("the plover nests"), "sts\"}]}}\n"),
			"user: one | assistant: two | user: three | assistant: four | user: five", 0, true},
		{"whole last record without newline", m + userLine("one") + strings.TrimSuffix(answerLine("two"), "\n"), "user: one | assistant: two", 0, false},
		{"NUL run", m + userLine("one") + nul + answerLine("quill marmot"), "user: one | assistant: quill marmot", 1, false},
		{"spliced records", m + `{"type":"response_item","payload":{"type":"message","text":"half ` + userLine("find me: basalt"), "user: find me: basalt", 1, false},
		{"glued records", m + strings.TrimSuffix(userLine("left"), "\n") + answerLine("right"), "user: left | assistant: right", 1, false},
		{"lone surrogate", m + userLine(`errored \ud83d... at tern`), "user: errored \uFFFD... at tern", 0, false},
		{"invalid UTF-8", m + userLine("gu\xffll"), "user: gu\uFFFDll", 0, false},
		{"duplicate keys", m + line("response_item", `{"type":"x","type":"message","role":"user","content":[{"type":"input_text","text":"last wins"}]}`), "user: last wins", 0, false},
		{"line separator U+2028", m + userLine("a\u2028b"), "user: a\u2028b", 0, false},
		{"CRLF and BOM", "\ufeff" + strings.ReplaceAll(m+userLine("windows"), "\n", "\r\n"), "user: windows", 0, false},
		{"content as string, object, null", m + line("response_item", `{"type":"message","role":"user","content":"plain"}`) + line("response_item", `{"type":"message","role":"assistant","content":{"type":"output_text","text":"one block"}}`) + line("response_item", `{"type":"message","role":"user","content":null}`),
			"user: plain | assistant: one block", 0, false},
		{"payload null, number, array, missing", m + line("event_msg", "null") + line("event_msg", "7") + line("response_item", "[]") + `{"type":"response_item"}` + "\n" + userLine("after"), "user: after", 0, false},
		{"rubbish lines", m + "not json\n{\n[1,2]\n\"text\"\n42\n" + userLine("after"), "user: after", 2, false},
		{"no session_meta", userLine("headless"), "user: headless", 0, false},
		{"NUL in text", m + userLine(`be\u0000fore`), "user: before", 0, false},
		{"output without call id (B16)", m + userLine("go") + line("response_item", `{"type":"function_call_output","output":"ok"}`), "user: go", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, cp := read(t, c.text)
			if got := s.Said(); got != c.prose {
				t.Errorf("prose %q, want %q", got, c.prose)
			}
			if cp.Bad != c.bad || cp.Torn != c.torn {
				t.Errorf("bad %d torn %v, want %d %v", cp.Bad, cp.Torn, c.bad, c.torn)
			}
			if s.SessionID != idA {
				t.Errorf("session %q, want %q", s.SessionID, idA)
			}
		})
	}
}

// B1: the sixth message comes once, when its record is complete.
func TestTornTailIsReadOnce(t *testing.T) {
	text := metaLine(idA) + userLine("one") + answerLine("two") + userLine("three") + answerLine("four") + userLine("five") + answerLine("the plover nests")
	home := transcripttest.Write(t, map[string]string{name(idA): text})
	if n := transcripttest.Grows(t, codex.New(), home, name(idA), []int{len(text) - 20, 20}); n != 1 {
		t.Errorf("%d continued readings, want 1", n)
	}
	s, _ := readFrom(t, home)
	if s.MessageCount != 6 || strings.Count(s.Said(), "plover") != 1 {
		t.Errorf("%d messages: %s", s.MessageCount, s.Said())
	}
}

func TestOutputWithoutCallID(t *testing.T) { // B16
	s, _ := read(t, metaLine(idA)+userLine("go")+line("response_item", `{"type":"function_call_output","output":"ok"}`))
	if got := s.Text(transcript.Output); got != "ok\n" {
		t.Errorf("output %q", got)
	}
}

// A 70 MB line between two small ones is read, its end included (B7, B37).
func TestGiantLine(t *testing.T) {
	giant := outputLine(strings.Repeat("dots and more dots. ", 70<<20/20) + "E: widget 7731 missing")
	s, cp := read(t, metaLine(idA)+userLine("before")+giant+answerLine("after"))
	if got := s.Said(); got != "user: before | assistant: after" || cp.Bad != 0 {
		t.Errorf("prose %q, bad %d", got, cp.Bad)
	}
	out := s.Text(transcript.Output)
	if !strings.HasPrefix(out, "dots and") || !strings.HasSuffix(out, "E: widget 7731 missing\n") {
		t.Errorf("output of %d bytes lost its start or its end", len(out))
	}
}

func TestErrorAtTheEndOfOutput(t *testing.T) { // B37
	s, _ := read(t, metaLine(idA)+userLine("run")+outputLine(strings.Repeat(".", 60<<10)+"E: widget 7731 missing"))
	if !strings.Contains(s.Text(transcript.Output), "widget 7731 missing") {
		t.Error("the end of the output is lost")
	}
}

// B9: replayed history and its images are never text, whatever the length of
// the line, and cost no memory.
func TestReplayedHistory(t *testing.T) {
	image := `{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,` + strings.Repeat("iVBORw0KGgoAAAANSUhEUg", 1<<20/22) + `"},{"type":"input_text","text":"replayed bollard"}]}`
	for _, copies := range []int{1, 6} { // lines of 1 MB and of 6 MB
		compacted := line("compacted", `{"message":"","replacement_history":[`+strings.TrimSuffix(strings.Repeat(image+",", copies), ",")+`]}`)
		home := transcripttest.Write(t, map[string]string{name(idA): metaLine(idA) + userLine("start") + strings.Repeat(compacted, 30/copies) + answerLine("end")})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, _ := readFrom(t, home)
		runtime.ReadMemStats(&after)
		if got := s.Said(); got != "user: start | assistant: end" {
			t.Errorf("prose %.200q", got)
		}
		if s.Events[0].Surface != transcript.LogOnly || s.Events[1].Surface != transcript.Shadowed || s.Events[len(s.Events)-1].Surface != transcript.Current {
			t.Error("what precedes a compaction is shadowed, what follows is current")
		}
		// A copy of each line would take 30 MB in all; one buffer is reused.
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; copies == 1 && used > 24 {
			t.Errorf("%d MB allocated for 30 MB of replayed history", used)
		}
	}
}

func TestManyTinyRecords(t *testing.T) {
	var b strings.Builder
	b.WriteString(metaLine(idA) + userLine("start"))
	for range 100_000 {
		b.WriteString(`{"type":"event_msg","payload":{"type":"token_count"}}` + "\n")
	}
	s, cp := read(t, b.String())
	if len(s.Events) != 100_002 || cp.Bad != 0 {
		t.Errorf("%d events, %d bad", len(s.Events), cp.Bad)
	}
}

// An answer stored as event and as item is one, by the assistant, wherever the
// event stands (B26); an event whose item never comes keeps its text.
func TestTwins(t *testing.T) {
	said := func(text string) string { return line("event_msg", `{"type":"agent_message","message":"`+text+`"}`) }
	asked := func(text string) string { return line("event_msg", `{"type":"user_message","message":"`+text+`"}`) }
	filler := line("event_msg", `{"type":"token_count"}`)
	for _, c := range []struct{ name, text, want string }{
		{"event after", answerLine("hello kestrel") + said("hello kestrel"), "assistant: hello kestrel"},
		{"event before", said("hello kestrel") + answerLine("hello kestrel"), "assistant: hello kestrel"},
		{"records between", said("hello kestrel") + strings.Repeat(filler, 10) + answerLine("hello kestrel"), "assistant: hello kestrel"},
		{"other white space", said(`hello\n\nkestrel `) + answerLine("hello kestrel"), "assistant: hello kestrel"},
		{"no item", said("hello kestrel") + filler, "assistant: hello kestrel"},
		{"no item, many records", said("hello kestrel") + strings.Repeat(filler, 100) + answerLine("done"), "assistant: hello kestrel | assistant: done"},
		{"order kept", said("one") + answerLine("two") + said("two") + answerLine("one"), "assistant: two | assistant: one"},
		{"same words by both", userLine("ping") + asked("ping") + answerLine("ping") + said("ping"), "user: ping | assistant: ping"},
		{"envelope and prompt in one message", line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"},{"type":"input_text","text":"part one"},{"type":"input_text","text":"part two"}]}`) + asked(`part one\npart two`),
			"user: part one | user: part two"},
		{"only events", asked("ask") + said("answer"), "user: ask | assistant: answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := read(t, metaLine(idA)+c.text)
			if got := s.Said(); got != c.want {
				t.Errorf("prose %q, want %q", got, c.want)
			}
			messages := 0
			for _, e := range s.Events {
				if e.Message {
					messages++
				}
			}
			want := strings.Count(c.want, " | ") + 1
			if strings.HasPrefix(c.name, "envelope") {
				want = 1 // two blocks of one message
			}
			if messages != want || s.MessageCount != want {
				t.Errorf("%d message events, count %d, want %d", messages, s.MessageCount, want)
			}
		})
	}
}

// B32: what the IDE extension puts in front of a prompt is neither text nor
// title, also where the state database has the prompt with it as a title.
func TestEditorContext(t *testing.T) {
	const around = `# Context from my IDE setup:\n\n## Active file: shrike.go\n\n## My request for Codex:\n`
	home := transcripttest.Write(t, map[string]string{name(idA): metaLine(idA) + userLine(around+`fix the tern test before anything else`)})
	database := filepath.Join(home, ".codex", "state_5.sqlite")
	for _, title := range []string{"", "# Context from my IDE setup:\n\n## Active file: shrike.go\n\n## My request for Codex:\nfix the tern te", "# Context from my IDE setup:\n\n## Act"} {
		_ = os.Remove(database)
		transcripttest.Database(t, database, `CREATE TABLE threads(id TEXT, title TEXT); INSERT INTO threads VALUES('`+idA+`', '`+title+`');`)
		s, _ := readFrom(t, home)
		if want := "fix the tern test before anything else"; s.Said() != "user: "+want || s.Title != want || s.TitleSource != transcript.TitlePrompt {
			t.Errorf("title %q in the database: says %q, named %q by %s", title, s.Said(), s.Title, s.TitleSource)
		}
	}
}

// B34: an encrypted task is no text; the child is linked to its parent.
func TestEncryptedSpawn(t *testing.T) {
	secret := "gAAAAAB" + strings.Repeat("Zm9yIHlvdXIgZXllcyBvbmx5MQ_-", 80)
	parent := metaLine(idA) + userLine("delegate") +
		line("response_item", `{"type":"function_call","name":"spawn_agent","call_id":"c1","arguments":"{\"agent_type\":\"worker\",\"message\":\"`+secret+`\"}"}`) +
		line("event_msg", `{"type":"collab_agent_spawn_end","call_id":"c1","new_thread_id":"`+idB+`","prompt":"`+secret+`"}`)
	child := line("session_meta", `{"id":"`+idB+`","cwd":"/w","source":{"subagent":{"thread_spawn":{"parent_thread_id":"`+idA+`","depth":1}}}}`) +
		line("response_item", `{"type":"agent_message","content":[{"type":"encrypted_content","encrypted_content":"`+secret+`"}]}`) + answerLine("done")
	sessions := transcripttest.One(t, codex.New(), map[string]string{name(idA): parent, name(idB): child})
	for id, s := range sessions {
		for _, kind := range []transcript.PartKind{transcript.Prose, transcript.Call, transcript.Output} {
			if strings.Contains(s.Text(kind), "gAAAAAB") {
				t.Errorf("session %s: the payload is text", id)
			}
		}
	}
	if got := sessions[idA].Text(transcript.Call); got != "spawn_agent\nworker\n" {
		t.Errorf("call %q", got)
	}
	if c := sessions[idB]; c == nil || c.Relation != transcript.RelationSubagent || c.ParentID != idA || c.DelegationDepth != 1 {
		t.Errorf("child %+v", c)
	}
}

// preferred picks the copy that is read, as the index does.
func preferred(sources []transcript.Source) transcript.Source {
	best := sources[0]
	for _, s := range sources[1:] {
		if s.Class != best.Class {
			if s.Class > best.Class {
				best = s
			}
		} else if s.Size > best.Size {
			best = s
		}
	}
	return best
}

func pack(t *testing.T, text string, withSize bool) string {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if withSize {
		return string(w.EncodeAll([]byte(text), nil))
	}
	for _, part := range []string{text[:len(text)/2], text[len(text)/2:]} {
		if _, err := w.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// One thread in several files is one session: the longer text, else plain
// before packed and live before archived (B41, B42).
func TestCopies(t *testing.T) {
	short := metaLine(idA) + userLine("one") + answerLine("two")
	long := short + userLine("three")
	live, archived := name(idA), ".codex/archived_sessions/rollout-2026-03-01T08-00-00-"+idA+".jsonl"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"live and archived", map[string]string{live: short, archived: short}, live},
		{"plain and packed", map[string]string{live: short, live + ".zst": pack(t, short, true)}, live},
		{"plain and longer packed", map[string]string{live: short, live + ".zst": pack(t, long, true)}, live + ".zst"},
		{"plain and longer packed of unknown size", map[string]string{live: short, live + ".zst": pack(t, long, false)}, live + ".zst"},
		{"plain and packed of unknown size", map[string]string{live: short, live + ".zst": pack(t, short, false)}, live},
		{"longer plain and packed of unknown size", map[string]string{live: long, live + ".zst": pack(t, short, false)}, live},
		{"packed live and archived", map[string]string{live + ".zst": pack(t, short, true), archived: short}, live + ".zst"},
		{"longer archived", map[string]string{live: short, archived: long}, archived},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := transcripttest.Write(t, c.files)
			rd, env := codex.New(), transcripttest.Env(home, nil)
			sources := transcripttest.Sources(t, rd, env)
			if len(sources) != 2 || sources[0].SessionID != idA || sources[1].SessionID != idA {
				t.Fatalf("sources %+v", sources)
			}
			best := preferred(sources)
			if rel, _ := filepath.Rel(home, best.Path); filepath.ToSlash(rel) != c.want {
				t.Errorf("read %s, want %s", rel, c.want)
			}
			sessions, cp, err := transcripttest.ReadAll(t, rd, env, best)
			if err != nil || sessions[idA] == nil {
				t.Fatalf("%v, %v", sessions, err)
			}
			if strings.HasSuffix(c.want, ".zst") && cp.State != nil {
				t.Error("a packed file cannot be continued")
			}
			if sessions[idA].Archived != strings.Contains(c.want, "archived") {
				t.Errorf("archived %v", sessions[idA].Archived)
			}
		})
	}
}

func TestTornZstd(t *testing.T) {
	long := metaLine(idA) + userLine("one") + answerLine(strings.Repeat("tide ", 50_000)) + userLine("lost")
	packed := pack(t, long, false)
	home := transcripttest.Write(t, map[string]string{name(idA) + ".zst": packed[:len(packed)-10]})
	s, cp := readFrom(t, home)
	if !cp.Torn || cp.Partial == "" || !strings.HasPrefix(s.Said(), "user: one") {
		t.Errorf("torn %v partial %q prose %.80q", cp.Torn, cp.Partial, s.Said())
	}
}

// B42: a file that was packed between discovery and reading is still read.
func TestPackedMeanwhile(t *testing.T) {
	text := metaLine(idA) + userLine("one")
	home := transcripttest.Write(t, map[string]string{name(idA): text})
	rd, env := codex.New(), transcripttest.Env(home, nil)
	src := transcripttest.Sources(t, rd, env)[0]
	if err := os.WriteFile(src.Path+".zst", []byte(pack(t, text, true)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(src.Path); err != nil {
		t.Fatal(err)
	}
	sessions, _, err := transcripttest.ReadAll(t, rd, env, src)
	if err != nil || sessions[idA].Said() != "user: one" {
		t.Errorf("%v, %v", sessions, err)
	}
}

// B44: a name in the index without a file is no session.
func TestIndexOfMissingFile(t *testing.T) {
	home := transcripttest.Write(t, map[string]string{
		name(idA):                     metaLine(idA) + userLine("one"),
		".codex/session_index.jsonl":  `{"id":"` + idB + `","thread_name":"gone","updated_at":"2026-03-01T08:00:00Z"}` + "\n",
		".codex/history.jsonl":        `{"session_id":"` + idB + `","ts":1772352000,"text":"only in the history"}` + "\n",
		".codex/sessions/history.txt": "no transcript",
	})
	if s, _ := readFrom(t, home); s.SessionID != idA {
		t.Errorf("session %q", s.SessionID)
	}
}

// B51: seconds, milliseconds and microseconds, as numbers and as text.
func TestTimes(t *testing.T) {
	for _, stamp := range []string{"1785000000", "1785000000000", "1785000000000000", `"1785000000"`, `"2026-07-25T17:20:00Z"`, `"2026-07-25T17:20:00"`} {
		s, _ := read(t, strings.ReplaceAll(metaLine(idA)+userLine("when"), `"2026-03-01T08:00:01.000Z"`, stamp))
		if want := time.Date(2026, 7, 25, 17, 20, 0, 0, time.UTC); !s.UpdatedAt.Equal(want) || !s.Events[1].Time.Equal(want) {
			t.Errorf("%s: updated %v, event %v, want %v", stamp, s.UpdatedAt, s.Events[1].Time, want)
		}
	}
	for _, stamp := range []string{"0", `"1970-01-01T00:00:00Z"`, `"soon"`, "null", `"2031-01-01T00:00:00Z"`} {
		s, _ := read(t, metaLine(idA)+strings.ReplaceAll(userLine("when"), `"2026-03-01T08:00:01.000Z"`, stamp))
		if want := time.Date(2026, 3, 1, 8, 0, 1, 0, time.UTC); !s.UpdatedAt.Equal(want) {
			t.Errorf("%s: updated %v, want %v", stamp, s.UpdatedAt, want)
		}
	}
}

// B71: CODEX_HOME replaces the default home; a relative one counts as unset.
func TestHomes(t *testing.T) {
	home := transcripttest.Write(t, map[string]string{name(idA): metaLine(idA) + userLine("default")})
	other := transcripttest.Write(t, map[string]string{strings.TrimPrefix(name(idB), ".codex/"): metaLine(idB) + userLine("other")})
	flat := transcripttest.Write(t, map[string]string{"rollout-2026-03-01T08-00-00-" + idB + ".jsonl": metaLine(idB) + userLine("flat")})
	for _, c := range []struct {
		name  string
		vars  map[string]string
		extra []string
		want  string
	}{
		{"default", nil, nil, idA},
		{"set", map[string]string{"CODEX_HOME": other}, nil, idB},
		{"relative", map[string]string{"CODEX_HOME": "other"}, nil, idA},
		{"extra home", nil, []string{other}, idA + " " + idB},
		{"extra folder of rollouts", nil, []string{flat}, idA + " " + idB},
		{"extra equal to the default", nil, []string{filepath.Join(home, ".codex")}, idA},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := transcripttest.Env(home, c.vars)
			env.Extra = c.extra
			ids := map[string]bool{}
			for _, s := range transcripttest.Sources(t, codex.New(), env) {
				ids[s.SessionID] = true
			}
			var got []string
			for _, id := range []string{idA, idB} {
				if ids[id] {
					got = append(got, id)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("found %v, want %s", got, c.want)
			}
		})
	}
	env := transcripttest.Env(filepath.Join(home, "nobody"), nil)
	err := codex.New().Discover(t.Context(), env, codex.New().Roots(env)[0], func(transcript.Source) error { return nil }, func(string, error) {})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing home gives %v", err)
	}
}
