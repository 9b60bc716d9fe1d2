package vscode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
	"github.com/sessionls/sessionls/index/transcript/vscode"
)

const (
	home = "../../../testdata/home/vscode-copilot-chat"
	sid  = "6e5d4c3b-2a19-4f08-9e7d-6c5b4a392817"
	dir  = ".config/Code/User/workspaceStorage/w1/"
	doc  = dir + "chatSessions/" + sid + ".json"
	log  = dir + "chatSessions/" + sid + ".jsonl"
)

func TestGolden(t *testing.T) {
	home := transcripttest.Home(t, home)
	written := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC) // the class tells it
	err := filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, written, written))
	})
	if err != nil {
		t.Fatal(err)
	}
	transcripttest.Golden(t, vscode.New(), home, "../../../testdata/golden/vscode.txt")
}

func read(t *testing.T, files map[string]string) (*transcripttest.Session, *transcript.Checkpoint, error) {
	t.Helper()
	env := transcripttest.Env(transcripttest.Write(t, files), nil)
	srcs := transcripttest.Sources(t, vscode.New(), env)
	if len(srcs) != 1 {
		t.Fatalf("%d sources", len(srcs))
	}
	ss, cp, err := transcripttest.ReadAll(t, vscode.New(), env, srcs[0])
	for _, s := range ss {
		return s, cp, err
	}
	return nil, cp, err
}

// request is an invented request with texts as its response.
func request(id, prompt string, texts ...string) string {
	items := make([]string, len(texts))
	for i, s := range texts {
		items[i] = fmt.Sprintf(`{"value":%q}`, s)
		if i > 0 {
			items[i] = `{"kind":"toolInvocationSerialized","toolId":"t"},` + items[i]
		}
	}
	return fmt.Sprintf(`{"requestId":%q,"message":{"text":%q},"response":[%s],"timestamp":1785000001000}`, id, prompt, strings.Join(items, ","))
}

func document(requests ...string) string {
	return `{"version":3,"sessionId":"` + sid + `","creationDate":1785000000000,"requests":[` + strings.Join(requests, ",") + `]}`
}

func initial(requests ...string) string { return `{"kind":0,"v":` + document(requests...) + "}\n" }

func prose(s *transcripttest.Session) string {
	return strings.ReplaceAll(strings.TrimSpace(s.Text(transcript.Prose)), "\n", "|")
}

// kenn-io/agentsview#1076: an index in a push cuts the list, it does not
// insert; a push may cut only.
func TestMutations(t *testing.T) {
	start := initial(request("r", "q", "A", "B", "C"))
	const response = `"k":["requests",0,"response"]`
	cut := `{"kind":2,` + response + `,"v":[{"value":"X"}],"i":1}` + "\n"
	for _, c := range []struct{ name, log, want string }{
		{"nothing", start, "q|A|B|C"},
		{"push", start + `{"kind":2,` + response + `,"v":[{"kind":"undoStop"},{"value":"X"},{"value":"Y"}]}` + "\n", "q|A|B|CXY"},
		{"push with an index cuts first", start + cut, "q|AX"},
		{"push without a value only cuts", start + cut + `{"kind":2,` + response + `,"i":1}` + "\n", "q|A"},
		{"push of nothing", start + `{"kind":2,` + response + `,"v":[]}` + "\n", "q|A|B|C"},
		{"push makes a missing list", start + `{"kind":1,"k":["requests",0],"v":{"requestId":"n","message":{"text":"new"}}}` + "\n" + `{"kind":2,` + response + `,"v":[{"value":"X"}]}` + "\n", "new|X"},
		{"push onto null", start + `{"kind":1,` + response + `,"v":null}` + "\n" + `{"kind":2,` + response + `,"v":[{"value":"X"}]}` + "\n", "q|X"},
		{"set inside a string of the first line", start + `{"kind":1,"k":["requests",0,"response",0,"value"],"v":"Z"}` + "\n", "q|Z|B|C"},
		{"set inside what was pushed", start + cut + `{"kind":1,"k":["requests",0,"response",1,"value"],"v":"Z"}` + "\n", "q|AZ"},
		{"set makes a member", start + `{"kind":1,"k":["requests",0,"isHidden"],"v":true}` + "\n", "q|A|B|C"},
		{"set at the end of a list", start + `{"kind":1,"k":["requests",1],"v":` + request("s", "p") + "}\n", "q|A|B|C|p"},
		{"set beyond the end leaves holes", start + `{"kind":1,"k":["requests",4],"v":` + request("s", "p") + "}\n", "q|A|B|C|p"},
		{"set of the whole", start + `{"kind":1,"k":[],"v":` + document(request("s", "p")) + "}\n", "p"},
		{"delete", start + `{"kind":3,"k":["requests",0,"message"]}` + "\n", "A|B|C"},
		{"delete and set again", start + `{"kind":3,"k":["requests",0,"message"]}` + "\n" + `{"kind":1,"k":["requests",0,"message"],"v":{"text":"again"}}` + "\n", "again|A|B|C"},
		{"delete of what is not there", start + `{"kind":3,"k":["nope"]}` + "\n", "q|A|B|C"},
		{"delete in a list leaves a hole", start + `{"kind":3,"k":["requests",0,"response",0]}` + "\n", "q|B|C"},
		{"a new start", start + initial(request("s", "p", "D")), "p|D"},
		{"members in any order", start + `{"v":[{"value":"X"}],"i":1,` + response + `,"kind":2}` + "\n", "q|AX"},
		{"numbers as text", start + `{"kind":"2","k":["requests","0","response"],"v":[{"value":"X"}],"i":"1"}` + "\n", "q|AX"},
		{"escaped member names", start + `{"kind":2,"k":["requ\u0065sts",0,"response"],"v":[{"value":"X"}],"i":1}` + "\n", "q|AX"},
		{"white space", start + "  \r\n" + ` { "kind" : 2 , ` + response + ` , "v" : [ { "value" : "X" } ] , "i" : 1 } ` + "\r\n", "q|AX"},
	} {
		s, cp, err := read(t, map[string]string{log: c.log})
		if err != nil || cp.Bad != 0 || cp.Torn || cp.Partial != "" || cp.State != nil {
			t.Errorf("%s: %v %+v", c.name, err, cp)
			continue
		}
		if got := prose(s); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMutationsThatCannotBeApplied(t *testing.T) {
	start := initial(request("r", "q", "A"))
	after := `{"kind":2,"k":["requests",0,"response"],"v":[{"value":"X"}]}` + "\n"
	for _, c := range []struct {
		name, line, want string
		bad              int
		torn, partial    bool
	}{
		{"unknown kind", `{"kind":4,"k":["requests"]}` + "\n", "q|A", 0, false, true},
		{"no kind", `{"k":["requests"]}` + "\n", "q|AX", 1, false, false},
		{"missing parent", `{"kind":1,"k":["requests",7,"x","y"],"v":1}` + "\n", "q|AX", 1, false, false},
		{"far beyond the end", `{"kind":1,"k":["requests",5000000],"v":1}` + "\n", "q|AX", 1, false, false},
		{"cut to a giant length", `{"kind":2,"k":["requests"],"i":1e9}` + "\n", "q|AX", 1, false, false},
		{"negative length", `{"kind":2,"k":["requests"],"i":-1}` + "\n", "q|AX", 1, false, false},
		{"path through a text", `{"kind":1,"k":["sessionId","x"],"v":1}` + "\n", "q|AX", 1, false, false},
		{"path is no list", `{"kind":1,"k":"requests","v":1}` + "\n", "q|AX", 1, false, false},
		{"push onto an object", `{"kind":2,"k":["requests",0,"message"],"v":[1]}` + "\n", "q|AX", 1, false, false},
		{"not json", "hello\n", "q|AX", 1, false, false},
		{"nul run", strings.Repeat("\x00", 100) + "\n", "q|AX", 1, false, false},
		{"cut off in the middle", `{"kind":2,"k":["requests",0,"resp` + "\n", "q|AX", 1, false, false},
		{"two on one line", strings.TrimSuffix(after, "\n") + strings.TrimSuffix(after, "\n") + "\n", "q|AXXX", 1, false, false},
		{"cut off and spliced", `{"kind":2,"k":["requests",0,"resp` + after, "q|AXX", 1, false, false},
		{"cut off and spliced, with parts that have kinds", `{"kind":2,"k":["requests",0,"resp` + `{"kind":2,"k":["requests",0,"response"],"v":[{"value":"Y"},{"kind":"markdownContent","content":{"value":"Z"}}]}` + "\n", "q|AYZX", 1, false, false},
		{"initial without document", `{"kind":0}` + "\n", "q|AX", 1, false, false},
	} {
		s, cp, err := read(t, map[string]string{log: start + c.line + after})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := prose(s); got != c.want || cp.Bad != c.bad || cp.Torn != c.torn || (cp.Partial != "") != c.partial {
			t.Errorf("%s: %q, want %q; %+v", c.name, got, c.want, cp)
		}
	}
	s, cp, err := read(t, map[string]string{log: start + after[:len(after)/2]})
	if err != nil || !cp.Torn || cp.Bad != 0 || prose(s) != "q|A" || cp.Offset != int64(len(start)) {
		t.Errorf("torn tail: %v %+v", err, cp)
	}
	if _, _, err := read(t, map[string]string{log: after}); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("no initial document: %v", err)
	}
}

// microsoft/vscode#309792: a session larger than a program can hold in one
// string. The prompts before and after the giant output are found.
func TestLargeDocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), filepath.FromSlash(doc))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, `{"version":3,"requests":[`+request("a", "the first prompt", "yes")+`,{"requestId":"b","message":{"text":"the second prompt"},"response":[{"value":"done"}],"result":{"metadata":{"toolCallRounds":[{"toolCalls":[{"id":"c","name":"cat","arguments":"{}"}]}],"toolCallResults":{"c":{"content":[{"value":"start of it `)
	for range 40 {
		if _, err := f.WriteString(strings.Repeat("a line of a very long output\\n", 1<<20/30)); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprint(f, ` end of it"}]}}}}},`+request("c", "the third prompt", "really")+`],"customTitle":"Large"}`)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	env := transcripttest.Env(strings.TrimSuffix(path, filepath.FromSlash("/"+doc)), nil)
	ss, cp, err := transcripttest.ReadAll(t, vscode.New(), env, transcripttest.Sources(t, vscode.New(), env)[0])
	if err != nil || cp.Bad != 0 || cp.Partial != "" {
		t.Fatalf("%v %+v", err, cp)
	}
	s := ss[sid]
	if got := prose(s); got != "the first prompt|yes|the second prompt|done|the third prompt|really" || s.Title != "Large" {
		t.Errorf("%q", got)
	}
	if out := s.Text(transcript.Output); !strings.HasPrefix(out, "start of it") || !strings.HasSuffix(out, "end of it\n") {
		t.Errorf("output of %d bytes", len(out))
	}
}

// Many small values: the tree is bounded, and what fits is read.
func TestTooManyValues(t *testing.T) {
	s, cp, err := read(t, map[string]string{doc: strings.TrimSuffix(document(request("a", "found")), "]}") + "," + strings.Repeat("[],", 600_000) + `[]]}`})
	if err != nil || cp.Partial == "" || prose(s) != "found" {
		t.Errorf("%v %+v", err, cp)
	}
	s, cp, err = read(t, map[string]string{doc: document(
		`{"requestId":"x","message":{"text":"one"},"response":[`+strings.Repeat("{},", 600_000)+`{}]}`, request("a", "two"))})
	if err != nil || cp.Partial == "" || prose(s) != "one|two" {
		t.Errorf("%v %+v", err, cp)
	}
}

func TestDocumentDamage(t *testing.T) {
	whole := document(request("a", "one", "A"), request("b", "two", "B"))
	for _, c := range []struct {
		name, text, want string
		bad              int
		torn, partial    bool
	}{
		{"whole", "\ufeff\x00 " + whole, "one|A|two|B", 0, false, false},
		{"cut off", whole[:strings.Index(whole, "two")], "one|A", 0, true, false},
		{"cut off in a response", whole[:strings.Index(whole, `"B"`)], "one|A|two", 0, true, false},
		{"wrong bracket", strings.Replace(whole, `}]}`, `}}}`, 1), "one|A|two|B", 1, false, true},
		{"something behind it", whole + "}", "one|A|two|B", 1, false, true},
		{"invalid escape", strings.Replace(whole, "one", `on\qe`, 1), "onqe|A|two|B", 0, false, false},
		{"lone surrogate and bytes", strings.Replace(whole, "one", "o\\ud83d\xffe", 1), "o\ufffd\ufffde|A|two|B", 0, false, false},
		{"duplicate keys", strings.Replace(whole, `"message":`, `"message":{"text":"first"},"message":`, 1), "one|A|two|B", 0, false, false},
		{"odd requests", strings.Replace(whole, `"requests":[`, `"requests":[null,7,"x",[],{},`, 1), "one|A|two|B", 0, false, false},
		{"odd items", strings.Replace(whole, `"response":[`, `"response":[null,7,"x",[],{},{"kind":7},{"kind":"toolInvocationSerialized"},`, 1), "one|A|two|B", 0, false, false},
		{"texts of every form", strings.Replace(whole, `{"value":"A"}`, `{"value":{"value":"A"}},{"value":null},{"value":7},{"value":[1]}`, 1), "one|A|two|B", 0, false, false},
	} {
		s, cp, err := read(t, map[string]string{doc: c.text})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := prose(s); got != c.want || cp.Bad != c.bad || cp.Torn != c.torn || (cp.Partial != "") != c.partial {
			t.Errorf("%s: %q, want %q; %+v", c.name, got, c.want, cp)
		}
	}
	for _, text := range []string{"", "[]", "{", "hello", document(), `{"requests":{}}`, `{"requests":[{"message":{"text":"<environment_context>x</environment_context>"}}]}`} {
		if _, _, err := read(t, map[string]string{doc: text}); !errors.Is(err, transcript.ErrNoSession) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Seconds, milliseconds and microseconds all mean 2026.
func TestTimes(t *testing.T) {
	for _, v := range []string{"1785000000", "1785000000000", "1785000000000000", `"1785000000"`, `"2026-07-25T17:20:00Z"`, "1785000000.5"} {
		s, _, err := read(t, map[string]string{doc: `{"creationDate":` + v + `,"requests":[{"message":{"text":"x"},"timestamp":` + v + `}]}`})
		if err != nil || s.CreatedAt.Year() != 2026 || s.UpdatedAt.Year() != 2026 {
			t.Errorf("%s: %v … %v, %v", v, s.CreatedAt, s.UpdatedAt, err)
		}
	}
	s, _, err := read(t, map[string]string{doc: `{"creationDate":0,"requests":[{"message":{"text":"x"},"timestamp":4102444800000}]}`})
	if err != nil || !s.CreatedAt.IsZero() || !s.UpdatedAt.IsZero() {
		t.Errorf("epoch 0 and far ahead: %v … %v", s.CreatedAt, s.UpdatedAt)
	}
}

func TestWorkspaces(t *testing.T) {
	chat := document(request("a", "hello"))
	base := t.TempDir()
	file := filepath.Join(base, "all.code-workspace")
	if err := os.WriteFile(file, []byte("{ // mine\n \"folders\": [{\"path\": \"api\"}, /* and */ {\"path\": \"/srv/web\"}, {\"uri\": \"file:///srv/a%20b\"}], \"x\": \"// no comment\" }"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		json  string
		want  []string
		warns bool
	}{
		{`{"folder":"file:///home/dev/tide%20watch"}`, []string{"/home/dev/tide watch"}, false},
		{`{"folder":"file:///c%3A/Users/dev/x"}`, []string{`c:\Users\dev\x`}, false},
		{`{"folder":"file://server/share/x"}`, []string{`\\server\share\x`}, false},
		{`{"folder":"vscode-remote://ssh-remote%2Bhost/home/dev/x"}`, nil, true},
		{`{"folder":"vscode-remote://wsl%2Bubuntu/home/dev/x"}`, nil, true},
		{`{"folder":"vscode-vfs://github/acme/tidewatch"}`, nil, true},
		{`{"workspace":"file://` + filepath.ToSlash(file) + `"}`, []string{filepath.ToSlash(filepath.Join(base, "api")), "/srv/web", "/srv/a b"}, false},
		{`{"workspace":"file:///nowhere/x.code-workspace"}`, nil, false},
		{`{"folder":7}`, nil, false}, {`{`, nil, false}, {``, nil, false}, {`[]`, nil, false},
	} {
		s, _, err := read(t, map[string]string{doc: chat, dir + "workspace.json": c.json})
		if err != nil {
			t.Errorf("%s: %v", c.json, err)
			continue
		}
		var got []string
		if s.CWD != "" {
			got = append([]string{s.CWD}, s.CWDs...)
		}
		if !slices.Equal(got, c.want) || (len(s.Warnings) > 0) != c.warns {
			t.Errorf("%s: %q, warnings %q", c.json, got, s.Warnings)
		}
	}
}

// The list of sessions in state.vscdb names those whose file has no title.
func TestStoredTitle(t *testing.T) {
	const script = `CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB); INSERT INTO ItemTable VALUES ('chat.ChatSessionStore.index', '{"entries":{"` + sid + `":{"title":"From the list"}}}');`
	for _, c := range []struct{ name, script, custom, want string }{
		{"list", script, "", "From the list"},
		{"the file's own title wins", script, "Own", "Own"},
		{"another list", strings.Replace(script, sid, "other", 1), "", "hello"},
		{"no table", "CREATE TABLE x (y)", "", "hello"},
		{"null", "CREATE TABLE ItemTable (key TEXT, value BLOB); INSERT INTO ItemTable VALUES ('chat.ChatSessionStore.index', NULL);", "", "hello"},
		{"no store", "", "", "hello"},
	} {
		home := transcripttest.Write(t, map[string]string{doc: strings.TrimSuffix(document(request("a", "hello")), "}") + `,"customTitle":"` + c.custom + `"}`})
		if c.script != "" {
			transcripttest.Database(t, filepath.Join(home, filepath.FromSlash(dir), "state.vscdb"), c.script)
		}
		env := transcripttest.Env(home, nil)
		ss, _, err := transcripttest.ReadAll(t, vscode.New(), env, transcripttest.Sources(t, vscode.New(), env)[0])
		if err != nil || ss[sid].Title != c.want {
			t.Errorf("%s: %q, %v", c.name, ss[sid].Title, err)
		}
	}
	s, _, err := read(t, map[string]string{doc: document(request("a", "hello")), dir + "state.vscdb": "no database"})
	if err != nil || s.Title != "hello" {
		t.Errorf("damaged store: %q, %v", s.Title, err)
	}
}

// One session in several forms: the log is read, then the document, then the
// extension's transcript; an empty file never wins.
func TestPreferredCopy(t *testing.T) {
	small, large := document(request("a", "x")), document(request("a", strings.Repeat("x", 9000)))
	event := `{"type":"user.message","data":{"content":"` + strings.Repeat("x", 20000) + `"}}` + "\n"
	transcripts := dir + "GitHub.copilot-chat/transcripts/" + sid + ".jsonl"
	doc2, log2 := strings.Replace(doc, "w1", "w2", 1), strings.Replace(log, "w1", "w2", 1)
	smallLog, largeLog := `{"kind":0,"v":`+small+"}\n", `{"kind":0,"v":`+large+"}\n"
	for _, c := range []struct {
		name          string
		better, worse string
		files         map[string]string
		old           string
	}{
		{"log over document", log, doc, map[string]string{log: smallLog, doc: large}, log},
		{"document over transcript", doc, transcripts, map[string]string{doc: small, transcripts: event}, doc},
		{"document over an empty log", doc, log, map[string]string{doc: small, log: `{"kind":0,"v":` + document() + "}\n"}, doc},
		{"newer of two windows' documents", doc, doc2, map[string]string{doc: small, doc2: large}, doc2},
		{"newer of two windows' logs", log, log2, map[string]string{log: smallLog, log2: largeLog}, log2},
	} {
		home := transcripttest.Write(t, c.files)
		if past := time.Now().Add(-time.Hour); os.Chtimes(filepath.Join(home, c.old), past, past) != nil {
			t.Fatal("cannot set a time")
		}
		srcs := transcripttest.Sources(t, vscode.New(), transcripttest.Env(home, nil))
		if len(srcs) != 2 || srcs[0].SessionID != sid || srcs[1].SessionID != sid {
			t.Errorf("%s: %+v", c.name, srcs)
			continue
		}
		best := srcs[0]
		if srcs[1].Better(best) {
			best = srcs[1]
		}
		if !strings.HasSuffix(best.Path, filepath.FromSlash(c.better)) {
			t.Errorf("%s: %s wins", c.name, best.Path)
		}
	}
}

// vshulcz/deja-vu#1239 and its kind: the User folder of each system, editor
// and override.
func TestRoots(t *testing.T) {
	chat := document(request("a", "hello"))
	const tail = "/workspaceStorage/w1/chatSessions/" + sid + ".json"
	for _, c := range []struct {
		goos, user string
		vars       map[string]string
	}{
		{"linux", ".config/Code/User", nil},
		{"linux", ".config/Code - Insiders/User", nil},
		{"linux", ".config/VSCodium/User", nil},
		{"linux", ".config/Cursor/User", nil},
		{"linux", ".config/Windsurf/User", nil},
		{"linux", "xdg/Code/User", map[string]string{"XDG_CONFIG_HOME": "xdg"}},
		{"linux", ".vscode-server/data/User", nil},
		{"linux", ".vscode-server-insiders/data/User", nil},
		{"linux", ".cursor-server/data/User", nil},
		{"linux", ".var/app/com.visualstudio.code/config/Code/User", nil},
		{"linux", "portable/user-data/User", map[string]string{"VSCODE_PORTABLE": "portable"}},
		{"darwin", "Library/Application Support/Code/User", nil},
		{"darwin", "Library/Application Support/Positron/User", map[string]string{"XDG_CONFIG_HOME": "xdg"}},
		{"windows", "AppData/Roaming/Code/User", nil},
		{"windows", "Roam/VSCodium/User", map[string]string{"APPDATA": "Roam"}},
		{"windows", ".vscode-server/data/User", nil},
	} {
		home := transcripttest.Write(t, map[string]string{c.user + tail: chat})
		vars := map[string]string{}
		for k, v := range c.vars {
			vars[k] = filepath.Join(home, v)
		}
		env := transcripttest.Env(home, vars)
		env.GOOS = c.goos
		if got := transcripttest.Sources(t, vscode.New(), env); len(got) != 1 {
			t.Errorf("%s %s: %d sources", c.goos, c.user, len(got))
		}
		for k := range vars {
			vars[k] = "relative"
		}
		if got := transcripttest.Sources(t, vscode.New(), env); len(vars) > 0 && c.goos != "darwin" && len(got) != 0 {
			t.Errorf("%s %s: a relative %v counts as unset", c.goos, c.user, c.vars)
		}
	}
}

func TestDiscovery(t *testing.T) {
	chat := document(request("a", "hello"))
	const user = "data/User/"
	home := transcripttest.Write(t, map[string]string{
		user + "workspaceStorage/w1/chatSessions/s1.json":                      chat,
		user + "workspaceStorage/w1/chatSessions/notes.md":                     "x",
		user + "workspaceStorage/w1/chatEditingSessions/s1/state.json":         "{}",
		user + "workspaceStorage/no-workspace/chatSessions/s2.json":            chat,
		user + "workspaceStorage/w2/github.copilot-chat/transcripts/s3.jsonl":  `{"type":"user.message"}`,
		user + "globalStorage/emptyWindowChatSessions/s4.jsonl":                "{}",
		user + "globalStorage/transferredChatSessions/s5.json":                 chat,
		user + "globalStorage/github.copilot-chat/transcripts/s6.jsonl":        "{}",
		user + "profiles/p/globalStorage/emptyWindowChatSessions/s7.json":      chat,
		user + "profiles/p/workspaceStorage/w/chatSessions/s8.json":            chat,
		user + "globalStorage/saoudrizwan.claude-dev/tasks/1/ui_messages.json": "[]",
	})
	if err := os.Symlink(filepath.Join(home, user, "workspaceStorage/w1"), filepath.Join(home, user, "workspaceStorage/w1-again")); err != nil {
		t.Skip(err)
	}
	find := func(extra string) []string {
		env := transcripttest.Env(filepath.Join(home, "nowhere"), nil)
		env.Extra = []string{filepath.Join(home, extra)}
		var got []string
		for _, s := range transcripttest.Sources(t, vscode.New(), env) {
			got = append(got, s.SessionID)
		}
		slices.Sort(got)
		return got
	}
	want := []string{"s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"}
	if got := find("data"); !slices.Equal(got, want) {
		t.Errorf("user data folder: %q", got)
	}
	if got := find("data/User"); !slices.Equal(got, want) {
		t.Errorf("User folder: %q", got)
	}
	if got := find("data/User/workspaceStorage/w1/chatSessions"); !slices.Equal(got, want[:1]) {
		t.Errorf("folder of chats: %q", got)
	}
	err := vscode.New().Discover(t.Context(), transcripttest.Env(home, nil), transcript.Root{Path: filepath.Join(home, "none"), Kind: "user"}, nil, nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing root: %v", err)
	}
}

// Calls are matched with what was shown of them by id, by order, by name.
func TestCallsAreGivenOnce(t *testing.T) {
	inv := func(id, tool string) string {
		return fmt.Sprintf(`{"kind":"toolInvocationSerialized","toolCallId":%q,"toolId":%q,"invocationMessage":"label %s"}`, id, tool, id)
	}
	call := func(id, name string) string {
		return fmt.Sprintf(`{"id":%q,"name":%q,"arguments":"{\"query\":\"args of %s\"}"}`, id, name, id)
	}
	for _, c := range []struct{ name, items, calls, want string }{
		{"by id", inv("b", "x") + "," + inv("a", "y"), call("a", "one") + "," + call("b", "two"), "two args of b; one args of a"},
		{"in order", inv("1", "x") + "," + inv("2", "y"), call("a", "one") + "," + call("b", "two"), "one args of a; two args of b"},
		{"by name", inv("1", "copilot_readFile") + "," + inv("2", "zzz"), call("a", "other") + "," + call("b", "more") + "," + call("c", "read_file"), "read_file args of c; zzz label 2; other args of a; more args of b"},
		{"shown only", inv("1", "x"), "", "x label 1"},
		{"called only", "", call("a", "one"), "one args of a"},
		{"a sub-agent's", strings.Replace(inv("1", "s"), "{", `{"subAgentInvocationId":"x",`, 1) + "," + inv("2", "x"), call("a", "one"), "s label 1; one args of a"},
		{"one id twice", inv("a", "x") + "," + inv("a", "x"), call("a", "one"), "one args of a; x label a"},
	} {
		s, _, err := read(t, map[string]string{doc: document(`{"message":{"text":"q"},"response":[` + c.items + `],"result":{"metadata":{"toolCallRounds":[{"toolCalls":[` + c.calls + `]}]}}}`)})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := strings.ReplaceAll(strings.TrimSpace(s.Text(transcript.Call)), "\n", " ")
		for _, e := range s.Events[1:] {
			if len(e.Tools) != 1 || e.Type != transcript.TypeToolCall {
				t.Errorf("%s: %+v", c.name, e)
			}
		}
		if got != strings.ReplaceAll(c.want, ";", "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCancel(t *testing.T) {
	for _, files := range []map[string]string{{doc: document(request("a", "x"))}, {log: initial(request("a", "x"))}} {
		env := transcripttest.Env(transcripttest.Write(t, files), nil)
		src := transcripttest.Sources(t, vscode.New(), env)[0]
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := vscode.New().Read(ctx, env, src, nil, transcripttest.NewRecorder(t)); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

// The extension's transcript is read on as it grows; a log is read anew, since
// each line may change what was said before.
func TestGrowth(t *testing.T) {
	event := func(kind, data string) string { return `{"type":"` + kind + `","data":` + data + `}` + "\n" }
	transcripts := dir + "GitHub.copilot-chat/transcripts/" + sid + ".jsonl"
	for rel, text := range map[string]string{
		transcripts: event("session.start", `{"sessionId":"`+sid+`"}`) + event("user.message", `{"content":"größer"}`) + event("assistant.message", `{"content":"ja"}`) + event("user.message", `{"content":"mehr"}`),
		log:         initial(request("a", "größer", "A")) + `{"kind":2,"k":["requests",0,"response"],"v":[{"value":"B"}]}` + "\n" + `{"kind":2,"k":["requests"],"v":[` + request("b", "mehr", "C") + `]}` + "\n",
	} {
		for _, n := range []int{11, 40, 83, 150} {
			steps := make([]int, 0, 60)
			for i := 0; i < len(text) && len(steps) < 60; i += n {
				steps = append(steps, n)
			}
			home := transcripttest.Write(t, map[string]string{rel: text, dir + "workspace.json": `{"folder":"file:///w"}`})
			if continued := transcripttest.Grows(t, vscode.New(), home, rel, steps); rel == transcripts && continued == 0 {
				t.Errorf("%s in steps of %d: never read on", rel, n)
			}
		}
	}
}

func TestPromptsNobodyTyped(t *testing.T) {
	s, _, err := read(t, map[string]string{doc: document(request("a", "typed", "A"), strings.Replace(request("b", "the command has ended", "B"), "{", `{"isSystemInitiated":true,`, 1))})
	if err != nil || prose(s) != "typed|A|B" || s.MessageCount != 3 || len(s.Events) != 4 {
		t.Errorf("%v %q, %d messages", err, prose(s), s.MessageCount)
	}
}

func TestQuestions(t *testing.T) {
	s, _, err := read(t, map[string]string{doc: document(`{"message":{"text":"q"},"response":[{"kind":"questionCarousel","questions":[{"title":"Which port?","options":["a"]}],"data":{"q:0":{"selectedValue":"8080"}}}]}`)})
	if err != nil || !strings.Contains(prose(s), "Which port?") || !strings.Contains(prose(s), "8080") {
		t.Errorf("%v %q", err, prose(s))
	}
}

// The tree reads what encoding/json reads, whatever the buffers cut.
func TestLongStrings(t *testing.T) {
	for _, text := range []string{strings.Repeat(`\`, 131071), strings.Repeat(`\"`, 70000), strings.Repeat("x", 131070) + `\`, strings.Repeat("x", 131071) + `"` + "y"} {
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		s, _, err := read(t, map[string]string{doc: `{"requests":[{"message":{"text":"q"},"response":[{"value":` + string(b) + `},{"value":"|end"}]}]}`})
		if err != nil || strings.TrimSuffix(s.Text(transcript.Prose), "\n") != "q\n"+text+"|end" {
			t.Errorf("%.10q…: %v", text, err)
		}
	}
}

func FuzzDocument(f *testing.F) {
	f.Add([]byte(document(request("a", "x", "A", "B"))))
	f.Add([]byte(`{"requests":[{"message":{"parts":[{"text":"x"}]},"response":[{"kind":"textEditGroup","uri":{"path":"/a"},"edits":[[{"text":"t"}]]},{"kind":"inlineReference","inlineReference":{"path":"/x"}}],"result":{"errorDetails":{"message":"m"},"metadata":{"toolCallRounds":[{"toolCalls":[{"id":"c","name":"n","arguments":"{}"}]}],"toolCallResults":{"c":{"content":[{"value":{"node":{"children":[{"text":"t"}]}}}]}}}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) { transcripttest.Damaged(t, vscode.New(), doc, data) })
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(initial(request("a", "x", "A")) + `{"kind":1,"k":["requests",0,"response",0,"value"],"v":"y"}` + "\n" + `{"kind":2,"k":["requests"],"v":[{}],"i":0}` + "\n" + `{"kind":3,"k":["requests",0]}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) { transcripttest.Damaged(t, vscode.New(), log, data) })
}
