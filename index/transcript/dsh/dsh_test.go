package dsh

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

func TestGolden(t *testing.T) {
	for _, name := range []string{"dsh", "dsh-raw-root"} {
		t.Run(name, func(t *testing.T) {
			transcripttest.Golden(t, New(), filepath.Join("..", "..", "..", "testdata", "home", name), filepath.Join("..", "..", "..", "testdata", "golden", name+".txt"))
		})
	}
}

const plainPath = ".dsh/sessions/--w-loom--/s1/session.jsonl"

const header = `{"type":"session","version":0,"id":"s1","createdAt":1767225600000,"cwd":"/w/loom","delegationDepth":0}`

// ev writes an event line; more is what follows its number, as JSON members.
func ev(kind string, seq int, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"type":"%s","seq":%d,"time":%d%s}`, kind, seq, 1767225600000+seq*1000, more)
}

func userLine(seq int, text string) string {
	return ev("user/message", seq, fmt.Sprintf(`"data":{"id":"u%d","role":"user","content":[{"type":"text","text":"%s"}],"source":{"kind":"user"}},"surfaceOp":"append"`, seq, text))
}

func replyLine(seq int, text string) string {
	return ev("assistant/message", seq, fmt.Sprintf(`"data":{"turn":1,"step":1,"message":{"id":"a%d","role":"assistant","content":[{"type":"text","text":"%s"}],"source":{"kind":"model","model":"m"}}},"surfaceOp":"append"`, seq, text))
}

func resultLine(seq int, text, op string) string {
	return ev("tool/result", seq, fmt.Sprintf(`"data":{"message":{"id":"r%d","role":"user","source":{"kind":"tool","callId":"c1"},"content":[{"type":"tool-result","toolCallId":"c1","content":[{"type":"text","text":"%s"}]}]}},"surfaceOp":%s`, seq, text, op))
}

func doc(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// read reads one log laid out as a plain file.
func read(t testing.TB, text string) (*transcripttest.Session, *transcript.Checkpoint, error) {
	t.Helper()
	env := transcripttest.Env(transcripttest.Write(t, map[string]string{plainPath: text}), nil)
	return only(t, env)
}

func only(t testing.TB, env transcript.Env) (*transcripttest.Session, *transcript.Checkpoint, error) {
	t.Helper()
	src := transcripttest.Sources(t, New(), env)
	if len(src) != 1 {
		t.Fatalf("%d sources", len(src))
	}
	sessions, cp, err := transcripttest.ReadAll(t, New(), env, src[0])
	for _, s := range sessions {
		return s, cp, err
	}
	return nil, cp, err
}

// lines renders events as "seq type surface text…".
func lines(s *transcripttest.Session) []string {
	var out []string
	for _, e := range s.Events {
		l := fmt.Sprintf("%d %s %s", e.Seq, e.Type, e.Surface)
		for _, p := range e.Parts {
			l += " | " + p.Text
		}
		out = append(out, l)
	}
	return out
}

func wantLines(t *testing.T, text string, want ...string) *transcripttest.Session {
	t.Helper()
	s, _, err := read(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(s); !slices.Equal(got, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return s
}

// The rules of reference A.3: what each type of event says to a search.
func TestText(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"typed", userLine(1, " visible "), "user/message current | visible"},
		{"plugin", ev("user/message", 1, `"data":{"content":[{"type":"text","text":"# Runtime"}],"source":{"kind":"plugin","plugin":"runtime-context"}},"surfaceOp":"append"`), "user/message current"},
		{"goal", ev("user/message", 1, `"data":{"content":[{"type":"text","text":"go on"}],"source":{"kind":"goal"}},"surfaceOp":"append"`), "user/message current"},
		{"steering", ev("steering/message", 1, `"data":{"content":[{"type":"text","text":"left"}],"source":{"kind":"user"}},"surfaceOp":"append"`), "user/message current | left"},
		{"blocks", ev("assistant/message", 1, `"data":{"message":{"content":[{"type":"text","text":" visible "},{"type":"reasoning","text":"hidden"},{"type":"tool-call","name":"read","arguments":"{}"},{"type":"tool-result","content":[{"type":"text","text":"nested"}]},{"type":"hologram","text":"no"}]}},"surfaceOp":"append"`), "assistant/message current | visible\nnested"},
		{"only reasoning", ev("assistant/message", 1, `"data":{"message":{"content":[{"type":"reasoning","text":"hidden"}]}},"surfaceOp":"append"`), "assistant/message current"},
		{"call", ev("tool/call", 1, `"data":{"callId":"c1","name":"bash","arguments":"{\"command\":\"go test\\n./...\"}"}`), "tool/call log-only | bash\ngo test\n./..."},
		{"call with broken arguments", ev("tool/call", 1, `"data":{"callId":"c1","name":"bash","arguments":"{\"comm"}`), "tool/call log-only | bash\n{\"comm"},
		{"failed result", ev("tool/result", 1, `"data":{"message":{"content":[{"type":"tool-result","content":[{"type":"text","text":"failed"}],"isError":true}]},"error":{"name":"Oops","code":"E_OOPS"}},"surfaceOp":"append"`), "tool/result current | failed\nOops\nE_OOPS"},
		{"empty result", ev("tool/result", 1, `"data":{"message":{"content":[{"type":"tool-result","content":[]}]}},"surfaceOp":"append"`), "tool/result current"},
		{"result as a string", ev("tool/result", 1, `"data":{"message":{"content":"plain"}},"surfaceOp":"append"`), "tool/result current | plain"},
		{"todo", ev("todo/write", 1, `"data":{"todos":[{"content":"tie","status":"in_progress"},{"content":"cut","status":"pending"}]}`), "todo/write log-only | in_progress\ntie\npending\ncut"},
		{"turn error", ev("turn/end", 1, `"data":{"reason":{"kind":"error","message":"overloaded","code":"E1"}}`), "turn/end log-only | error\noverloaded"},
		{"turn aborted", ev("turn/end", 1, `"data":{"reason":{"kind":"aborted","cause":"user"}}`), "turn/end log-only | aborted"},
		{"turn max-tokens", ev("turn/end", 1, `"data":{"reason":{"kind":"max-tokens"}}`), "turn/end log-only | max-tokens"},
		{"turn completed", ev("turn/end", 1, `"data":{"reason":{"kind":"completed"}}`), "turn/end log-only"},
		{"unknown type", ev("future/event", 1, `"data":{"text":"no"},"ignorable":true`), "future/event log-only"},
		{"no type", `{"seq":1,"data":"x"}`, "other log-only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := wantLines(t, doc(header, userLine(0, "hi"), c.line), "0 user/message current | hi", "1 "+c.want)
			if failed := strings.Contains(c.name, "failed"); s.Events[1].Failed != failed {
				t.Errorf("failed %v", !failed)
			}
		})
	}
}

// Reference A.7: replacements take the span they name off the surface, by
// place, and may be replaced themselves.
func TestSurface(t *testing.T) {
	checkpoint := func(seq, from, to int) string {
		return ev("user/message", seq, fmt.Sprintf(`"data":{"content":[{"type":"text","text":"summary %d"}],"source":{"kind":"plugin","plugin":"compact"}},"surfaceOp":{"op":"replace","start":%d,"end":%d},"sourceEventSeqs":[0]`, seq, from, to))
	}
	wantLines(t, doc(header, userLine(0, "a"), replyLine(1, "b"), userLine(2, "c"), ev("compaction/start", 3, ""), ev("compaction/summary", 4, `"data":{"text":"summary"}`), checkpoint(5, 0, 1),
		ev("compaction/end", 6, ""), replyLine(7, "d"), checkpoint(8, 5, 7), userLine(9, "e")),
		"0 user/message shadowed | a", "1 assistant/message shadowed | b", "2 user/message shadowed | c", "3 compaction/start log-only", "4 compaction/summary log-only",
		"5 user/message shadowed | summary 5", "6 compaction/end log-only", "7 assistant/message shadowed | d", "8 user/message current | summary 8", "9 user/message current | e")
	// A pruned result is a shortened copy of the one it replaces.
	s := wantLines(t, doc(header, userLine(0, "a"), ev("tool/call", 1, `"data":{"callId":"c1","name":"bash","arguments":"{}"}`), resultLine(2, "long output", `"append"`), ev("compaction/prune", 3, ""), resultLine(4, "long…", `{"op":"replace","start":2,"end":2}`)),
		"0 user/message current | a", "1 tool/call log-only | bash", "2 tool/result shadowed | long output", "3 compaction/prune log-only", "4 tool/result current")
	if !slices.Equal(s.Events[2].Tools, []string{"bash"}) {
		t.Errorf("tools of the result: %q", s.Events[2].Tools)
	}
	// Operations that fit nothing hide nothing, and are told.
	for name, line := range map[string]string{
		"start not there": checkpoint(2, 7, 7), "end before start": checkpoint(2, 1, 0), "no operation": ev("user/message", 2, `"data":{"content":"x"}`),
		"numbers missing": ev("user/message", 2, `"surfaceOp":{"op":"replace"}`), "operation on a title": ev("session/title", 2, `"surfaceOp":"append"`),
	} {
		s, _, err := read(t, doc(header, userLine(0, "a"), replyLine(1, "b"), line))
		if err != nil || s.Events[0].Surface != transcript.Current || s.Events[1].Surface != transcript.Current || len(s.Warnings) == 0 {
			t.Errorf("%s: %v, %+v", name, err, s)
		}
	}
}

// Chunks repeat the message that ends them; where it never came they are all
// there is of the answer.
func TestChunks(t *testing.T) {
	texts := func(seq int, step int, list string) string {
		return fmt.Sprintf(`{"type":"text-chunks","seq0":%d,"time0":1767225700000,"data":{"turn":1,"step":%d,"index":0,"dt":[5,6],"texts":[%s]}}`, seq, step, list)
	}
	u := userLine(0, "q")
	const row = `"The ","tern ","flies"`
	wantLines(t, doc(header, u, texts(1, 1, row), replyLine(4, "The tern flies")),
		"0 user/message current | q", "1 assistant/chunk log-only", "2 assistant/chunk log-only", "3 assistant/chunk log-only", "4 assistant/message current | The tern flies")
	s := wantLines(t, doc(header, u, texts(1, 1, row)),
		"0 user/message current | q", "1 assistant/chunk log-only", "2 assistant/chunk log-only", "3 assistant/chunk log-only | The tern flies")
	if got := s.Events[3].Time.Sub(s.Events[1].Time).Milliseconds(); got != 11 || s.MessageCount != 2 {
		t.Errorf("last chunk %d ms after the first, %d messages", got, s.MessageCount)
	}
	wantLines(t, doc(header, u, texts(1, 1, row), ev("turn/end", 4, `"data":{"reason":{"kind":"interrupted"}}`)),
		"0 user/message current | q", "1 assistant/chunk log-only", "2 assistant/chunk log-only", "3 assistant/chunk log-only | The tern flies", "4 turn/end log-only | interrupted")
	wantLines(t, doc(header, u, texts(1, 1, row), ev("llm/retry", 4, ""), texts(5, 1, `"Again"`), replyLine(6, "Again")),
		"0 user/message current | q", "1 assistant/chunk log-only", "2 assistant/chunk log-only", "3 assistant/chunk log-only", "4 llm/retry log-only", "5 assistant/chunk log-only", "6 assistant/message current | Again")
	wantLines(t, doc(header, u, texts(1, 1, `"half"`), ev("agent/inbox/spliced", 2, ""), texts(3, 1, `" done"`), replyLine(4, "half done")),
		"0 user/message current | q", "1 assistant/chunk log-only", "2 agent/inbox/spliced log-only", "3 assistant/chunk log-only", "4 assistant/message current | half done")
	// Two answers in a row that were both cut off.
	wantLines(t, doc(header, u, texts(1, 1, `"one"`), userLine(2, "again"), texts(3, 2, `"two"`)),
		"0 user/message current | q", "1 assistant/chunk log-only | one", "2 user/message current | again", "3 assistant/chunk log-only | two")
	// Plain chunks, and rows of reasoning and arguments.
	wantLines(t, doc(header, u, ev("assistant/chunk", 1, `"data":{"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"par"}}`), ev("assistant/chunk", 2, `"data":{"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"tial"}}`),
		`{"type":"reasoning-chunks","seq0":3,"time0":1,"data":{"turn":1,"step":1,"texts":["no"]}}`, `{"type":"tool-call-chunks","seq0":4,"time0":1,"data":{"turn":1,"step":1,"args":["{","}"]}}`),
		"0 user/message current | q", "1 assistant/chunk log-only", "2 assistant/chunk log-only", "3 assistant/chunk log-only", "4 assistant/chunk log-only", "5 assistant/chunk log-only | partial")
}

func TestLineage(t *testing.T) {
	head := func(more string) string { return strings.Replace(header, `"delegationDepth":0`, more, 1) }
	body := []string{userLine(0, "copied"), replyLine(1, "copied too"), ev("session/end-seed", 2, `"data":{}`), userLine(3, "own"), replyLine(4, "mine")}
	for _, c := range []struct {
		name, header      string
		relation          transcript.Relation
		parent, event     string
		depth, inherited  int
		messages, warning int
	}{
		{"root", header, transcript.RelationRoot, "", "", 0, 0, 4, 0},
		{"fork", head(`"delegationDepth":0,"parentSession":"s0","seedLength":2`), transcript.RelationFork, "s0", "1", 0, 2, 2, 0},
		{"sub-agent", head(`"delegationDepth":1,"parentSession":"s0","origin":"subagent"`), transcript.RelationSubagent, "s0", "", 1, 0, 4, 0},
		{"seeded sub-agent", head(`"delegationDepth":2,"parentSession":"s0","origin":"subagent","seedLength":2`), transcript.RelationSubagent, "s0", "1", 2, 2, 2, 0},
		{"depth alone", head(`"delegationDepth":1,"parentSession":"s0"`), transcript.RelationSubagent, "s0", "", 1, 0, 4, 0},
		{"parent alone", head(`"delegationDepth":0,"parentSession":"s0"`), transcript.RelationContinuation, "s0", "", 0, 0, 4, 1},
		{"seed beyond the log", head(`"delegationDepth":0,"parentSession":"s0","seedLength":99999999999`), transcript.RelationFork, "s0", "99999999998", 0, 5, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _, err := read(t, doc(append([]string{c.header}, body...)...))
			if err != nil {
				t.Fatal(err)
			}
			h := s.Header
			if h.Relation != c.relation || h.ParentID != c.parent || h.ParentEvent != c.event || h.DelegationDepth != c.depth || h.InheritedCount != c.inherited || h.MessageCount != c.messages || len(h.Warnings) != c.warning {
				t.Errorf("header %+v", h)
			}
			for i, e := range s.Events {
				if e.Inherited != (i < c.inherited) {
					t.Errorf("event %d inherited %v", i, e.Inherited)
				}
			}
		})
	}
}

func TestTitles(t *testing.T) {
	title := func(seq int, text, source string) string {
		return ev("session/title", seq, fmt.Sprintf(`"data":{"title":"%s","source":%s}`, text, source))
	}
	const fallback, provider, user = `{"kind":"fallback"}`, `{"kind":"provider","provider":"p"}`, `{"kind":"user"}`
	for _, c := range []struct {
		name string
		more []string
		want string
		from transcript.TitleSource
		at   int // the event that gave it
	}{
		{"prompt beats the fallback", []string{title(1, "mend the tern", fallback)}, "mend the tern net before noon", transcript.TitlePrompt, 0},
		{"model", []string{title(1, "mend the tern", fallback), title(2, "Net repair", provider)}, "Net repair", transcript.TitleAgent, 2},
		{"last wins", []string{title(1, "A", provider), title(2, "B", provider)}, "B", transcript.TitleAgent, 2},
		{"the user's stays", []string{title(1, "Mine", user), title(2, "B", provider)}, "Mine", transcript.TitleUser, 1},
		{"source as a word", []string{title(1, "Mine", `"user"`)}, "Mine", transcript.TitleUser, 1},
	} {
		s, _, err := read(t, doc(append([]string{header, userLine(0, "mend the tern net before noon")}, c.more...)...))
		if err != nil || s.Title != c.want || s.TitleSource != c.from || s.TitleAt != c.at+1 {
			t.Errorf("%s: %q (%s, %d), %v", c.name, s.Title, s.TitleSource, s.TitleAt, err)
		}
	}
}

// What is damaged is counted or told; what can be read is given.
func TestHazards(t *testing.T) {
	a, b := userLine(0, "first"), replyLine(1, "second")
	want := []string{"0 user/message current | first", "1 assistant/message current | second"}
	for _, c := range []struct {
		name, text string
		bad        int
		torn       bool
	}{
		{"torn tail", doc(header, a, b) + `{"type":"turn/en`, 0, true},
		{"no final newline", strings.TrimSuffix(doc(header, a, b), "\n"), 0, false},
		{"CRLF, BOM and blank lines", "\ufeff" + strings.ReplaceAll(doc(header, "", a, b), "\n", "\r\n"), 0, false},
		{"NUL run between", doc(header, a, strings.Repeat("\x00", 4096), b), 1, false},
		{"NULs before a record", doc(header, a, "\x00\x00"+b), 0, false},
		{"spliced records", doc(header, a+b), 1, false},
		{"a cut record, then a whole one", doc(header, a, b[:40]+b), 1, false},
		{"no JSON", doc(header, a, "hello", "[1,", b), 2, false},
		{"duplicate keys", doc(header, strings.Replace(a, "{", `{"seq":7,`, 1), b), 0, false},
		{"numbers as strings", doc(header, strings.Replace(a, `"seq":0`, `"seq":"0"`, 1), b), 0, false},
		{"wrong clocks", doc(header, strings.Replace(a, `"time":1767225600000`, `"time":0`, 1), strings.Replace(b, `"time":1767225601000`, `"time":99999999999999`, 1)), 0, false},
		{"no times", doc(header, strings.Replace(a, `"time":1767225600000,`, ``, 1), b), 0, false},
		{"header lost", doc(header[:30], a, b), 1, false},
		{"header twice", doc(header, header, a, b), 0, false},
		{"lines of other JSON", doc(header, "7", `"x"`, "null", a, b), 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, cp, err := read(t, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(s); !slices.Equal(got, want) {
				t.Errorf("events %q", got)
			}
			if cp.Bad != c.bad || cp.Torn != c.torn {
				t.Errorf("bad %d torn %v, want %d %v", cp.Bad, cp.Torn, c.bad, c.torn)
			}
			if s.SessionID != "s1" || s.UpdatedAt.Year() > 2026 || s.MessageCount != 2 {
				t.Errorf("header %+v", s.Header)
			}
		})
	}
	// A lost record leaves a gap in the numbers, which the reader's own do not show.
	s, _, err := read(t, doc(header, a, replyLine(5, "second")))
	if err != nil || !slices.Equal(lines(s), want) || len(s.Warnings) != 1 {
		t.Errorf("gap: %v, %+v", err, s)
	}
}

func TestRefused(t *testing.T) {
	for name, h := range map[string]string{
		"version 4": strings.Replace(header, `"version":0`, `"version":4`, 1), "version text": strings.Replace(header, `"version":0`, `"version":"0"`, 1),
		"no version": strings.Replace(header, `"version":0,`, ``, 1), "half a version": strings.Replace(header, `"version":0`, `"version":0.5`, 1),
	} {
		if _, _, err := read(t, doc(h, userLine(0, "hi"))); err == nil || errors.Is(err, transcript.ErrNoSession) || !strings.Contains(err.Error(), "not supported") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{"empty": "", "header alone": doc(header), "torn header": header[:20], "only bookkeeping": doc(header, ev("turn/start", 0, "")), "text": "hello\nworld\n"} {
		if _, _, err := read(t, text); !errors.Is(err, transcript.ErrNoSession) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDiscover(t *testing.T) {
	log := doc(header, userLine(0, "hi"))
	h := transcripttest.Write(t, map[string]string{
		".dsh/sessions/--w--/a/session.jsonl":                   log,
		".dsh/sessions/_no-cwd/b~002Eä~D83D~DE00/session.jsonl": log,
		".dsh/sessions/--w--/c/session.jsonl":                   log,
		".dsh/sessions/--w--/c/session.v3.jsonl":                log, // the newest generation alone counts
		".dsh/sessions/--w--/c/session.v12.jsonl":               log,
		".dsh/sessions/--w--/d/notes.jsonl":                     log,
		".dsh/sessions/--w--/session.jsonl":                     log,
		".dsh/sessions/other/e/session.jsonl":                   log,
		"dsh2/sessions/--w--/f/session.jsonl":                   log,
		"sdk/--w--/g/session.jsonl":                             log,
		"kim/.dsh/sessions/--w--/h/session.jsonl":               log,
	})
	if err := os.Symlink(filepath.Join(h, ".dsh/sessions/--w--"), filepath.Join(h, ".dsh/sessions/--x--")); err != nil {
		t.Skip(err)
	}
	names := func(env transcript.Env) string {
		var out []string
		for _, s := range transcripttest.Sources(t, New(), env) {
			out = append(out, s.SessionID+":"+filepath.Base(s.Path))
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	const own = "a:session.jsonl b.ä😀:session.jsonl c:session.v12.jsonl"
	env := transcripttest.Env(h, nil)
	if got := names(env); got != own {
		t.Errorf("default: %s", got)
	}
	env.Extra = []string{filepath.Join(h, "dsh2"), filepath.Join(h, "sdk"), filepath.Join(h, "kim")}
	if got := names(env); got != own+" f:session.jsonl g:session.jsonl h:session.jsonl" {
		t.Errorf("configured: %s", got)
	}
	if got := names(transcripttest.Env(h, map[string]string{"DSH_HOME": filepath.Join(h, "dsh2"), "DSH_SESSION_ROOT": filepath.Join(h, "sdk")})); got != "f:session.jsonl g:session.jsonl" {
		t.Errorf("by environment: %s", got)
	}
	for _, s := range transcripttest.Sources(t, New(), transcripttest.Env(h, nil)) {
		if _, _, err := transcripttest.ReadAll(t, New(), env, s); (err != nil) != (s.SessionID == "c") {
			t.Errorf("%s: %v", s.SessionID, err)
		}
	}
}
