package opencode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

// tree lays out one session "ses_a" of project p with the given files, named
// below storage.
func tree(session string, files map[string]string) map[string]string {
	out := map[string]string{dataDir + "/storage/session/p/ses_a.json": session}
	for name, text := range files {
		out[dataDir+"/storage/"+name] = text
	}
	return out
}

const plainSession = `{"id":"ses_a","directory":"/w/loom","title":"Weave","time":{"created":1768900000000}}`

func user(ms int) string {
	return fmt.Sprintf(`{"role":"user","time":{"created":%d}}`, ms)
}

func assistant(ms int, more string) string {
	return fmt.Sprintf(`{"role":"assistant","modelID":"m","time":{"created":%d,"completed":%d}%s}`, ms, ms+1, more)
}

// lines renders events as "id type surface role text…", the way the tests
// below compare them.
func lines(s *transcripttest.Session) []string {
	var out []string
	for _, e := range s.Events {
		l := e.ID + " " + e.Type + " " + string(e.Surface)
		for _, p := range e.Parts {
			l += " | " + p.Text
		}
		out = append(out, l)
	}
	return out
}

func wantLines(t *testing.T, s *transcripttest.Session, want ...string) {
	t.Helper()
	if s == nil {
		t.Fatal("no such session")
	}
	if got := lines(s); !slices.Equal(got, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Whatever is wrong with one record of a tree, the others are read.
func TestTreeHazards(t *testing.T) {
	const text = `{"type":"text","text":"weave the tern net"}`
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
		bad   int
	}{
		{"messages by time, then id", map[string]string{
			"message/ses_a/msg_1.json": user(1768900009000), "part/msg_1/prt_1.json": `{"type":"text","text":"third"}`,
			"message/ses_a/msg_3.json": user(1768900001000), "part/msg_3/prt_1.json": `{"type":"text","text":"second"}`,
			"message/ses_a/msg_2.json": user(1768900001000), "part/msg_2/prt_1.json": `{"type":"text","text":"first"}`,
		}, []string{"msg_2 user/message current | first", "msg_3 user/message current | second", "msg_1 user/message current | third"}, 0},
		{"parts by id", map[string]string{
			"message/ses_a/msg_1.json": assistant(1768900001000, ""), "part/msg_1/prt_2.json": `{"type":"text","text":"two"}`, "part/msg_1/prt_1.json": `{"type":"text","text":"one"}`,
		}, []string{"msg_1 assistant/message current | one\ntwo"}, 0},
		{"half-written part", map[string]string{
			"message/ses_a/msg_1.json": user(1768900001000), "part/msg_1/prt_1.json": text, "part/msg_1/prt_2.json": `{"type":"text","text":"and th`,
		}, []string{"msg_1 user/message current | weave the tern net"}, 1},
		{"empty part file, NUL part file, part that is a list", map[string]string{
			"message/ses_a/msg_1.json": user(1768900001000), "part/msg_1/prt_1.json": text, "part/msg_1/prt_2.json": "",
			"part/msg_1/prt_3.json": "\x00\x00\x00", "part/msg_1/prt_4.json": "[1]",
		}, []string{"msg_1 user/message current | weave the tern net"}, 3},
		{"damaged message, its parts stay", map[string]string{
			"message/ses_a/msg_1.json": `{"role":"user","ti`, "part/msg_1/prt_1.json": text,
			"message/ses_a/msg_2.json": assistant(1768900001000, ""), "part/msg_2/prt_1.json": `{"type":"text","text":"done"}`,
		}, []string{"msg_1 other current | weave the tern net", "msg_2 assistant/message current | done"}, 1},
		{"BOM, CRLF, NULs around and lone surrogates inside", map[string]string{
			"message/ses_a/msg_1.json": "\ufeff{\r\n\"role\":\"user\",\r\n\"time\":{\"created\":\"1768900001000\"}}\r\n", "part/msg_1/prt_1.json": `{"type":"text","text":"a \ud800 b \u0000c"}` + "\n",
		}, []string{"msg_1 user/message current | a \ufffd b c"}, 0},
		{"unknown types and odd values", map[string]string{
			"message/ses_a/msg_1.json": `{"role":"user","time":null,"model":7,"error":[]}`, "part/msg_1/prt_1.json": `{"type":"hologram","text":"no"}`,
			"part/msg_1/prt_2.json": `{"type":"text","text":null}`, "part/msg_1/prt_3.json": `{"type":"text","text":["no"]}`, "part/msg_1/prt_4.json": text,
			"part/msg_1/prt_5.json": `{"type":"file","url":"data:image/png;base64,AAAA"}`,
		}, []string{"msg_1 user/message current | weave the tern net"}, 0},
		{"injected and ignored text is noise", map[string]string{
			"message/ses_a/msg_1.json": user(1768900001000), "part/msg_1/prt_1.json": text, "part/msg_1/prt_2.json": `{"type":"text","text":"<file>x</file>","synthetic":true}`,
			"part/msg_1/prt_3.json": `{"type":"text","text":"not for the model","ignored":true}`, "part/msg_1/prt_4.json": `{"type":"text","text":"<system-reminder>plan mode</system-reminder>"}`,
		}, []string{"msg_1 user/message current | weave the tern net"}, 0},
		{"a running call, a call with streaming arguments, a tool that does not exist", map[string]string{
			"message/ses_a/msg_1.json": assistant(1768900001000, ""),
			"part/msg_1/prt_1.json":    `{"type":"tool","tool":"bash","state":{"status":"running","input":{"command":"sleep 9"}}}`,
			"part/msg_1/prt_2.json":    `{"type":"tool","tool":"write","state":{"status":"pending","input":{},"raw":"{\"filePath\":\"a.go"}}`,
			"part/msg_1/prt_3.json":    `{"type":"tool","tool":"invalid","state":{"status":"completed","input":{"tool":"foo"},"output":"no such tool"}}`,
		}, []string{"msg_1 assistant/message current", "prt_1 tool/call current | bash\nsleep 9", "prt_2 tool/call current | write", "prt_3 tool/result current | invalid\nfoo | no such tool"}, 0},
		{"a provider's error, not an abort", map[string]string{
			"message/ses_a/msg_1.json": user(1768900000100), "part/msg_1/prt_1.json": text,
			"message/ses_a/msg_2.json": assistant(1768900001000, `,"error":{"name":"APIError","data":{"message":"overloaded"}}`),
			"message/ses_a/msg_3.json": assistant(1768900002000, `,"error":{"name":"MessageAbortedError","data":{"message":"aborted"}}`),
		}, []string{"msg_1 user/message current | weave the tern net", "msg_2 assistant/message current | APIError\noverloaded", "msg_3 assistant/message current"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := transcripttest.Env(transcripttest.Write(t, tree(plainSession, c.files)), nil)
			src := transcripttest.Sources(t, New(), env)
			if len(src) != 1 {
				t.Fatalf("%d sources", len(src))
			}
			sessions, cp, err := transcripttest.ReadAll(t, New(), env, src[0])
			if err != nil {
				t.Fatal(err)
			}
			wantLines(t, sessions["ses_a"], c.want...)
			if cp.Bad != c.bad {
				t.Errorf("%d bad records, want %d", cp.Bad, c.bad)
			}
			if h := sessions["ses_a"].Header; h.CWD != "/w/loom" || h.Title != "Weave" {
				t.Errorf("header %+v", h)
			}
		})
	}
}

func TestFailedAndFiles(t *testing.T) {
	tool := func(name, state string) string {
		return `{"type":"tool","tool":"` + name + `","state":{` + state + `}}`
	}
	s := transcripttest.One(t, New(), tree(plainSession, map[string]string{
		"message/ses_a/msg_1.json": assistant(1768900001000, ""),
		"part/msg_1/prt_1.json":    tool("bash", `"status":"completed","input":{"command":"x"},"metadata":{"exit":0}`),
		"part/msg_1/prt_2.json":    tool("bash", `"status":"completed","input":{"command":"x"},"metadata":{"exit":2}`),
		"part/msg_1/prt_3.json":    tool("bash", `"status":"completed","input":{"command":"x"},"metadata":{"timeout":true}`),
		"part/msg_1/prt_4.json":    tool("edit", `"status":"error","input":{"filePath":"src/a.go","oldString":"a"},"error":"no match"`),
		"part/msg_1/prt_5.json":    tool("grep", `"status":"completed","input":{"pattern":"x","path":"src"}`),
		"part/msg_1/prt_6.json":    tool("apply_patch", `"status":"completed","input":{"patchText":"*** Begin Patch\n*** Add File: new.go\n*** Update File: /w/old.go\n*** Move to: moved.go\n*** End Patch"}`),
		"part/msg_1/prt_7.json":    tool("write", `"status":"completed","input":{"filePath":"C:\\w\\a.go","content":"package a"}`),
	}))["ses_a"]
	want := []struct {
		failed bool
		files  string
	}{{}, {}, {true, ""}, {true, ""}, {true, "/w/loom/src/a.go"}, {}, {false, "/w/loom/new.go /w/old.go /w/loom/moved.go"}, {false, `C:\w\a.go`}}
	for i, w := range want {
		if e := s.Events[i]; e.Failed != w.failed || strings.Join(e.Files, " ") != w.files {
			t.Errorf("event %d: failed %v files %q, want %v %q", i, e.Failed, e.Files, w.failed, w.files)
		}
	}
}

// A long output lies in a file of its own; no other file is ever read.
func TestStoredOutput(t *testing.T) {
	part := func(path string) string {
		return `{"type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"x"},"output":"head","metadata":{"outputPath":"` + path + `"}}}`
	}
	files := tree(plainSession, map[string]string{
		"message/ses_a/msg_1.json": assistant(1768900001000, ""),
		"part/msg_1/prt_1.json":    part("/home/other/" + dataDir + "/tool-output/tool_1"),
		"part/msg_1/prt_2.json":    part("../../../secret"),
		"part/msg_1/prt_3.json":    part("/gone/tool_9"),
	})
	files[dataDir+"/tool-output/tool_1"] = "head and the ibis tail"
	files["secret"] = "secret"
	s := transcripttest.One(t, New(), files)["ses_a"]
	wantLines(t, s, "msg_1 assistant/message current", "prt_1 tool/result current | bash\nx | head and the ibis tail",
		"prt_2 tool/result current | bash\nx | head", "prt_3 tool/result current | bash\nx | head")
}

// What a compaction summarised and what the user took back is off the surface.
func TestSurfaces(t *testing.T) {
	files := map[string]string{
		"message/ses_a/msg_1.json": user(1768900001000), "part/msg_1/prt_1.json": `{"type":"text","text":"one"}`,
		"message/ses_a/msg_2.json": assistant(1768900002000, ""), "part/msg_2/prt_1.json": `{"type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"x"},"output":"y"}}`,
		"message/ses_a/msg_3.json": user(1768900003000), "part/msg_3/prt_1.json": `{"type":"compaction","auto":true}`,
		"message/ses_a/msg_4.json": assistant(1768900004000, `,"summary":true,"parentID":"msg_3","finish":"stop"`), "part/msg_4/prt_1.json": `{"type":"text","text":"so far"}`,
		"message/ses_a/msg_5.json": user(1768900005000), "part/msg_5/prt_1.json": `{"type":"text","text":"two"}`,
		"message/ses_a/msg_6.json": assistant(1768900006000, ""), "part/msg_6/prt_1.json": `{"type":"text","text":"answer"}`,
	}
	wantLines(t, transcripttest.One(t, New(), tree(plainSession, files))["ses_a"],
		"msg_1 user/message shadowed | one", "msg_2 assistant/message shadowed", "prt_1 tool/result shadowed | bash\nx | y",
		"msg_3 compaction/boundary log-only", "msg_4 compaction/summary current | so far", "msg_5 user/message current | two", "msg_6 assistant/message current | answer")

	reverted := strings.Replace(plainSession, "{", `{"revert":{"messageID":"msg_5"},`, 1)
	wantLines(t, transcripttest.One(t, New(), tree(reverted, files))["ses_a"],
		"msg_1 user/message shadowed | one", "msg_2 assistant/message shadowed", "prt_1 tool/result shadowed | bash\nx | y",
		"msg_3 compaction/boundary log-only", "msg_4 compaction/summary current | so far", "msg_5 user/message shadowed | two", "msg_6 assistant/message shadowed | answer")

	// A compaction that was taken back, or failed, hides nothing.
	for name, session := range map[string]string{"taken back": strings.Replace(plainSession, "{", `{"revert":{"messageID":"msg_3"},`, 1), "failed": plainSession} {
		if name == "failed" {
			files["message/ses_a/msg_4.json"] = assistant(1768900004000, `,"summary":true,"parentID":"msg_3","error":{"name":"X"}`)
		}
		s := transcripttest.One(t, New(), tree(session, files))["ses_a"]
		if s.Events[0].Surface != transcript.Current || s.Events[2].Surface != transcript.Current {
			t.Errorf("%s: %v", name, lines(s))
		}
	}

	// Part of a message taken back: its later tool calls, and what follows.
	part := strings.Replace(plainSession, "{", `{"revert":{"messageID":"msg_2","partID":"prt_1"},`, 1)
	s := transcripttest.One(t, New(), tree(part, files))["ses_a"]
	if s.Events[1].Surface != transcript.Current || s.Events[2].Surface != transcript.Shadowed || s.Events[4].Surface != transcript.Shadowed {
		t.Errorf("revert to a part: %v", lines(s))
	}
}

func TestMessageCountAndTitles(t *testing.T) {
	for _, c := range []struct{ name, title, want string }{
		{"named", "Weave", "Weave"},
		{"placeholder", "New session - 2026-01-20T09:00:00.000Z", "weave the net"},
		{"child placeholder", "Child session - 2026-01-20T09:00:00.000Z", "weave the net"},
		{"none", "", "weave the net"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := transcripttest.One(t, New(), tree(strings.Replace(plainSession, "Weave", c.title, 1), map[string]string{
				"message/ses_a/msg_1.json": user(1768900001000), "part/msg_1/prt_1.json": `{"type":"text","text":"<system-reminder>x</system-reminder>weave the net"}`,
				"message/ses_a/msg_2.json": assistant(1768900002000, ""), "part/msg_2/prt_1.json": `{"type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"x"}}}`,
				"part/msg_2/prt_2.json":    `{"type":"text","text":"done"}`,
				"message/ses_a/msg_3.json": user(1768900003000), "part/msg_3/prt_1.json": `{"type":"text","text":"only injected","synthetic":true}`,
				"message/ses_a/msg_4.json": assistant(1768900004000, ""),
			}))["ses_a"]
			if s.Title != c.want || s.MessageCount != 2 {
				t.Errorf("title %q, %d messages", s.Title, s.MessageCount)
			}
		})
	}
}

func TestTreeLineage(t *testing.T) {
	task := func(child string) string {
		return `{"type":"tool","tool":"task","state":{"status":"running","input":{"prompt":"p"},"metadata":{"sessionId":"` + child + `"}}}`
	}
	child := func(id, parent string) string {
		return `{"id":"` + id + `","parentID":"` + parent + `","title":"t","time":{"created":1768900005000}}`
	}
	files := tree(plainSession, map[string]string{
		"message/ses_a/msg_1.json": user(1768900001000), "part/msg_1/prt_1.json": `{"type":"text","text":"go"}`,
		"message/ses_a/msg_2.json": assistant(1768900002000, ""), "part/msg_2/prt_1.json": task("ses_other"), "part/msg_2/prt_2.json": task("ses_kid"),
		"message/ses_a/msg_3.json": assistant(1768900009000, ""), "part/msg_3/prt_1.json": task("ses_kid"), // later than the start
		"session/p/ses_kid.json": child("ses_kid", "ses_a"), "message/ses_kid/msg_k.json": user(1768900005100), "part/msg_k/prt_1.json": `{"type":"text","text":"find"}`,
		"session/p/ses_grandkid.json": child("ses_grandkid", "ses_kid"), "message/ses_grandkid/msg_g.json": user(1768900005200), "part/msg_g/prt_1.json": `{"type":"text","text":"find"}`,
		"session/p/ses_orphan.json": child("ses_orphan", "../../x"), "message/ses_orphan/msg_o.json": user(1768900005200), "part/msg_o/prt_1.json": `{"type":"text","text":"find"}`,
		"session/p/ses_self.json": child("ses_self", "ses_self"), "message/ses_self/msg_s.json": user(1768900005200), "part/msg_s/prt_1.json": `{"type":"text","text":"find"}`,
	})
	got := transcripttest.One(t, New(), files)
	for id, want := range map[string]struct {
		parent, event string
		depth         int
	}{"ses_kid": {"ses_a", "prt_2", 1}, "ses_grandkid": {"ses_kid", "", 2}, "ses_orphan": {"../../x", "", 1}, "ses_self": {"ses_self", "", maxAncestors}} {
		h := got[id].Header
		if h.Relation != transcript.RelationSubagent || h.ParentID != want.parent || h.ParentEvent != want.event || h.DelegationDepth != want.depth || !h.Automated {
			t.Errorf("%s: %+v", id, h)
		}
	}
}

func TestNoConversation(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no messages":    {},
		"only bookwork":  {"message/ses_a/msg_1.json": user(1768900001000), "part/msg_1/prt_1.json": `{"type":"text","text":"x","synthetic":true}`},
		"empty messages": {"message/ses_a/msg_1.json": assistant(1768900001000, "")},
	} {
		if got := transcripttest.One(t, New(), tree(plainSession, files)); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The layout of 2025: sessions under project/, parts by session, and before
// that the parts inside the message.
func TestOldTree(t *testing.T) {
	const base = dataDir + "/project/w-loom/storage/session/"
	s := transcripttest.One(t, New(), map[string]string{
		base + "info/ses_old.json":           `{"id":"ses_old","version":"0.3.2","title":"Knots","time":{"created":1750000000000,"updated":1750000009000}}`,
		base + "message/ses_old/msg_1.json":  user(1750000001000),
		base + "part/ses_old/msg_1/prt.json": `{"type":"text","text":"tie a knot"}`,
		base + "message/ses_old/msg_2.json": `{"id":"msg_2","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"tied"},
			{"type":"tool-invocation","toolInvocation":{"state":"result","toolCallId":"c1","toolName":"read","args":{"filePath":"/w/loom/k.go"},"result":"package k"}}],
			"metadata":{"time":{"created":1750000002000,"completed":1750000003000},"sessionID":"ses_old","tool":{"c1":{"title":"k.go","time":{"start":1750000002500,"end":1750000002600}}},
			"assistant":{"modelID":"claude-sonnet-4","providerID":"anthropic","path":{"cwd":"/w/loom","root":"/w/loom"}}}}`,
	})["ses_old"]
	wantLines(t, s, "msg_1 user/message current | tie a knot", "msg_2 assistant/message current | tied", "c1 tool/result current | read\n/w/loom/k.go | package k")
	if s.CWD != "/w/loom" || s.Model != "claude-sonnet-4" || s.MessageCount != 2 || !s.UpdatedAt.Equal(time.UnixMilli(1750000003000)) {
		t.Errorf("header %+v", s.Header)
	}
	if e := s.Events[2]; !slices.Equal(e.Files, []string{"/w/loom/k.go"}) || !e.Time.Equal(time.UnixMilli(1750000002600)) {
		t.Errorf("tool event %+v", e)
	}
}

// Discovery notices a streaming message, and does not look at the parts of the
// ones before (B104: they are nine tenths of the files).
func TestTreeSignature(t *testing.T) {
	h := transcripttest.Write(t, tree(plainSession, map[string]string{
		"message/ses_a/msg_1.json": user(1768900001000), "part/msg_1/prt_1.json": "{}",
		"message/ses_a/msg_2.json": assistant(1768900002000, ""), "part/msg_2/prt_1.json": "{}",
	}))
	env := transcripttest.Env(h, nil)
	storage := filepath.Join(h, dataDir, "storage")
	sig := func() string { return transcripttest.Sources(t, New(), env)[0].Signature }
	step := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		path    string
		changes bool
	}{
		{"session/p/ses_a.json", true}, {"message/ses_a", true}, {"message/ses_a/msg_2.json", true}, {"part/msg_2", true},
		{"part/msg_1", false}, {"part/msg_1/prt_1.json", false}, {"message/ses_a/msg_1.json", false},
	} {
		before := sig()
		step = step.Add(time.Second)
		if err := os.Chtimes(filepath.Join(storage, c.path), step, step); err != nil {
			t.Fatal(err)
		}
		if changed := sig() != before; changed != c.changes {
			t.Errorf("touching %s: signature changed %v", c.path, changed)
		}
	}
}

func TestDiscover(t *testing.T) {
	h := transcripttest.Write(t, map[string]string{
		dataDir + "/storage/session/p/ses_a.json":          plainSession,
		dataDir + "/storage/session/p/notes.txt":           "x",
		dataDir + "/storage/session/p/info.json":           "{}",
		dataDir + "/storage/session/stray.json":            "{}",
		"xdg/opencode/storage/session/p/ses_b.json":        plainSession,
		"extra/storage/session/p/ses_c.json":               plainSession,
		"kim/" + dataDir + "/storage/session/p/ses_d.json": plainSession,
	})
	session := filepath.Join(h, dataDir, "storage", "session")
	for _, link := range [][2]string{{filepath.Join(session, "p"), "again"}, {session, "loop"}, {filepath.Join(h, "none"), "dangling"}} {
		if err := os.Symlink(link[0], filepath.Join(session, link[1])); err != nil {
			t.Skip(err)
		}
	}
	ids := func(env transcript.Env) string {
		var out []string
		for _, s := range transcripttest.Sources(t, New(), env) {
			out = append(out, s.SessionID)
		}
		return strings.Join(out, " ")
	}
	env := transcripttest.Env(h, nil)
	if got := ids(env); got != "ses_a" {
		t.Errorf("default place: %q", got)
	}
	env.Extra = []string{filepath.Join(h, "extra"), filepath.Join(h, "kim")}
	if got := ids(env); got != "ses_a ses_c ses_d" {
		t.Errorf("with configured folders: %q", got)
	}
	if got := ids(transcripttest.Env(h, map[string]string{"XDG_DATA_HOME": filepath.Join(h, "xdg")})); got != "ses_b" {
		t.Errorf("XDG_DATA_HOME: %q", got)
	}
	if got := ids(transcripttest.Env(h, map[string]string{"XDG_DATA_HOME": "xdg"})); got != "ses_a" {
		t.Errorf("a relative XDG_DATA_HOME counts as unset: %q", got)
	}
}

// A huge part passes; what is kept of it is bounded.
func TestHugePart(t *testing.T) {
	big := strings.Repeat("tern and gull ", 1<<20)
	s := transcripttest.One(t, New(), tree(plainSession, map[string]string{
		"message/ses_a/msg_1.json": assistant(1768900001000, ""),
		"part/msg_1/prt_1.json":    `{"type":"text","text":"` + big + `"}`,
		"part/msg_1/prt_2.json":    `{"type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"cat"},"output":"` + big + ` last words"}}`,
	}))["ses_a"]
	if got := s.Events[0].Parts[0].Text; got != strings.TrimSpace(big) && got != big {
		t.Errorf("prose of %d bytes, want %d", len(got), len(big))
	}
	if out := s.Events[1].Parts[1].Text; !strings.HasSuffix(out, "last words") {
		t.Errorf("output ends with %q", out[len(out)-20:])
	}
}
