package cursor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const (
	scripts = ".cursor/projects/srv-tide/agent-transcripts/"
	lineDoc = scripts + "s1/s1.jsonl"
)

func say(role, text string) string {
	return fmt.Sprintf(`{"role":%q,"message":{"content":[{"type":"text","text":%q}]}}`+"\n", role, text)
}

func TestGrows(t *testing.T) {
	home := transcripttest.Home(t, samples)
	for i, rel := range []string{
		".cursor/projects/home-dev-work-quay-cams/agent-transcripts/ca550000-1111-4222-8333-444455556666/ca550000-1111-4222-8333-444455556666.jsonl",
		".cursor/projects/home-dev-work-tidewatch/agent-transcripts/7a6b5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d/7a6b5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d.jsonl",
	} {
		if n := transcripttest.Grows(t, New(), home, rel, transcripttest.Steps(uint64(i), 60, 90)); n == 0 {
			t.Errorf("%s: never read on", rel)
		}
	}
}

func TestLines(t *testing.T) {
	files := map[string]string{lineDoc: say("user", "<user_info>OS</user_info>\n<timestamp>Monday, Jun 1, 2026, 9:05 PM (UTC-7)</timestamp>\n<user_query>\nfix it\n</user_query>") +
		"{broken\n" + `{"role":"user","message":{"content":"<system_reminder>tidy up</system_reminder>"}}` + "\n" +
		`{"role":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"c1","name":"Shell","input":{"command":"make"}},7,null]}}` + "\n" +
		`{"role":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"built"}],"is_error":true}]}}` + "\n" +
		`{"role":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"}]}}` + "\n" +
		`{"role":"hologram","message":{}}` + "\n" + `{"type":"turn_ended","status":"error","error":{"message":"lost"}}` + "\n" + `{"type":"news","x":1}` + "\n" + `{}` + "\n" +
		strings.TrimSuffix(say("assistant", "Done.\n\n[REDACTED]"), "\n")}
	home := transcripttest.Write(t, files)
	tr := transcripttest.Traces(t, New(), home)["s1"]
	s := tr.Sessions["s1"]
	var got []string
	for _, e := range s.Events {
		got = append(got, e.Type+" "+string(e.Surface))
	}
	want := "user/message current|user/message current|tool/call current|tool/result current|assistant/reasoning current|other log-only|turn/end log-only|other log-only|other log-only|assistant/message current"
	if strings.Join(got, "|") != want {
		t.Errorf("events %s", strings.Join(got, "|"))
	}
	if s.Said() != "user: fix it | assistant: Done." || s.MessageCount != 2 || s.Title != "fix it" || s.Text(transcript.Output) != "built\nlost\n" || !s.Events[3].Failed {
		t.Errorf("%s; %d messages; title %q; output %q", s.Said(), s.MessageCount, s.Title, s.Text(transcript.Output))
	}
	if at := time.Date(2026, 6, 2, 4, 5, 0, 0, time.UTC); !s.Events[0].Time.Equal(at) || !s.CreatedAt.Equal(at) {
		t.Errorf("times %s, %s", s.Events[0].Time, s.CreatedAt)
	}
	if l := tr.Links["s1"].Sources[3]; len(l) != 1 || l[0] != 2 {
		t.Errorf("the result comes from %v", l)
	}
	_, cp, err := transcripttest.ReadAll(t, New(), transcripttest.Env(home, nil), transcripttest.Sources(t, New(), transcripttest.Env(home, nil))[0])
	if err != nil || cp.Bad != 1 {
		t.Errorf("%+v, %v", cp, err)
	}
}

// Sources are told by their places; what is no transcript is left alone.
func TestPlaces(t *testing.T) {
	env := transcripttest.Env(transcripttest.Write(t, map[string]string{
		scripts + "a.jsonl": say("user", "x"), scripts + "b.txt": "user:\nx\n", scripts + "c/c.jsonl": say("user", "x"), scripts + "c/subagents/d.jsonl": say("user", "x"),
		scripts + "c/subagents/notes.md": "x", scripts + ".DS_Store": "x", scripts + "c/.jsonl": "x", scripts + "e.json": "{}",
		".cursor/projects/srv-tide/terminals/1.txt": "user:\nx\n", ".cursor/projects/x": "a file", ".cursor/projects/y/agent-transcripts": "a file",
		".cursor/chats/x": "a file", ".cursor/chats/h/i": "a file", ".cursor/acp-sessions/j/other.db": "x",
	}), nil)
	var got []string
	for _, s := range transcripttest.Sources(t, New(), env) {
		got = append(got, s.SessionID)
	}
	if strings.Join(got, " ") != "a b c c#agent-d" {
		t.Errorf("%q", got)
	}
}

func TestText(t *testing.T) {
	home := transcripttest.Write(t, map[string]string{scripts + "s1.txt": "\ufeffbefore\r\nuser:\r\n<user_query>\r\nwhere is it?\r\nuser: not a mark\r\n</user_query>\r\n\r\nassistant:\r\n[Thinking] It hides.\r\nStill hides.\r\n\r\nI look.\r\n" +
		"[Tool call] Shell\r\n  command: grep -n\r\n    it: .\r\n  description: look\r\n[Tool result] Shell\r\na.go:7\r\nb.go:9\r\n\r\nIt is in a.go.\r\n[Tool call] Read\r\n  path: a.go\r\nassistant:\r\n[Tool call] Done\r\nuser:\r\n"})
	s := transcripttest.Traces(t, New(), home)["s1"].Sessions["s1"]
	if want := "user: where is it?\nuser: not a mark | assistant: I look.\n\nIt is in a.go."; s.Said() != want {
		t.Errorf("%q, want %q", s.Said(), want)
	}
	if call := s.Text(transcript.Call); call != "Shell\ngrep -n\n  it: .\nlook\nRead\na.go\nDone\n" {
		t.Errorf("calls %q", call)
	}
	if out := s.Text(transcript.Output); out != "a.go:7\nb.go:9\n" {
		t.Errorf("output %q", out)
	}
}

// blob is a node or a message of a chat's store.
func blob(b []byte) (name, insert string) {
	sum := sha256.Sum256(b)
	name = hex.EncodeToString(sum[:])
	return name, fmt.Sprintf("INSERT OR REPLACE INTO blobs VALUES ('%s',x'%x');", name, b)
}

const chatTables = "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);"

func metaRow(json string) string {
	return fmt.Sprintf("INSERT INTO meta VALUES ('0','%x');", json)
}

// chatOf is the SQL of a chat of these messages.
func chatOf(messages ...string) string {
	script := chatTables
	var root []byte
	for _, m := range messages {
		name, insert := blob([]byte(m))
		script += insert
		id, _ := hex.DecodeString(name)
		root = append(append(root, 0x0a, 0x20), id...)
	}
	name, insert := blob(root)
	return script + insert + metaRow(`{"agentId":"s1","latestRootBlobId":"`+name+`","createdAt":1785000000000}`)
}

func TestChats(t *testing.T) {
	hello := `{"role":"user","content":"<user_query>hello</user_query>"}`
	hi := `{"role":"assistant","content":[{"type":"text","text":"hi"}]}`
	gone, _ := blob([]byte("gone"))
	goneID, _ := hex.DecodeString(gone)
	name, root := blob(append([]byte{0x0a, 0x20}, goneID...))
	noise, noisy := blob([]byte("\x0a\x05hello"))
	for _, c := range []struct{ name, script, said, fails, warns string }{
		{"plain", chatOf(hello, hi, hello), "user: hello | assistant: hi | user: hello", "", ""},
		{"one message broken", chatOf(hello, `{"role":"assistant","content":`, hi), "user: hello | assistant: hi", "", ""},
		{"encrypted messages", chatOf("\x01\x02", "\x03\x04"), "", "encrypted", ""},
		{"encrypted state", chatTables + "INSERT INTO blobs VALUES ('" + gone + "', x'ffffffffffffffffffffff');" + metaRow(`{"latestRootBlobId":"`+gone+`"}`), "", "encrypted", ""},
		{"no root", chatTables + metaRow(`{"latestRootBlobId":"`+gone+`"}`), "", "not in its store", ""},
		{"no hexadecimal root", chatTables + metaRow(`{"latestRootBlobId":"~x"}`), "", "where it begins", ""},
		{"nothing said", chatTables + metaRow(`{"latestRootBlobId":""}`), "", "no conversation", ""},
		{"nothing at all", chatTables, "", "no conversation", ""},
		{"no tables", "PRAGMA user_version = 1", "", "no conversation", ""},
		{"a message gone", chatTables + root + metaRow(`{"latestRootBlobId":"`+name+`"}`), "", "no conversation", ""},
		{"a node of something else", chatTables + noisy + metaRow(`{"latestRootBlobId":"`+noise+`"}`), "", "no conversation", ""},
		{"unknown schema", "CREATE TABLE blobs (id TEXT, payload BLOB); CREATE TABLE meta (key TEXT, value TEXT)", "", "unknown schema", ""},
		{"broken meta", chatTables + "INSERT INTO meta VALUES ('0','7b22')", "", "no JSON", ""},
		{"meta under another key, as it stands", strings.Replace(chatOf(hello), "('0','", "('meta','", 1), "user: hello", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := home(t, map[string]string{".cursor/chats/abc/s1/store.db": c.script})
			src := transcripttest.Sources(t, New(), env)
			if len(src) != 1 || src[0].SessionID != "s1" {
				t.Fatalf("%+v", src)
			}
			tr, err := transcripttest.TraceAll(t, New(), env, src[0])
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("error %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if said := tr.Sessions["s1"].Said(); said != c.said {
				t.Errorf("%s, want %s", said, c.said)
			}
		})
	}
}

// Of the chats of one folder one may know where that is; the name of the folder
// proves it for a path that a chat itself mentions.
func TestChatFolders(t *testing.T) {
	h := t.TempDir()
	user := `{"role":"user","content":"<user_query>q</user_query>"}`
	reads := `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"1","toolName":"Read","args":{"path":"/srv/proven/a/b.go"}}]}`
	for dir, script := range map[string]string{
		hashOf("/srv/noted") + "/s1": chatOf(user), hashOf("/srv/noted") + "/s2": chatOf(user), hashOf("/srv/proven") + "/s3": chatOf(user, reads), "deadbeef/s4": chatOf(user, reads),
		hashOf("/srv/trusted") + "/s5": chatOf(user),
	} {
		transcripttest.Database(t, filepath.Join(h, ".cursor", "chats", filepath.FromSlash(dir), "store.db"), script)
	}
	for name, text := range map[string]string{
		".cursor/chats/" + hashOf("/srv/noted") + "/s1/meta.json": `{"cwd":"/srv/noted"}`,
		".cursor/projects/srv-trusted/.workspace-trusted":         `{"workspacePath":"/srv/trusted"}`,
		".cursor/projects/srv-liar/.workspace-trusted":            `{"workspacePath":"/etc"}`,
	} {
		write(t, filepath.Join(h, filepath.FromSlash(name)), text)
	}
	got := read(t, transcripttest.Env(h, nil))
	for id, want := range map[string]string{"s1": "/srv/noted", "s2": "/srv/noted", "s3": "/srv/proven", "s4": "", "s5": "/srv/trusted"} {
		if s := got[id]; s == nil || s.CWD != want {
			t.Errorf("%s: %+v, want %q", id, s, want)
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		name, folder string
		want         int
	}{
		{"home-dev-my-app", "/home/dev/my.app", 2}, {"home-dev-my-app", "/home/dev/my-app", 2}, {"home-dev-my-app", "/home/dev/my_app", 1},
		{"home-dev-my-app", "/home/dev/my/app/", 1}, {"home-dev-my-app", "/home/dev/my", 0}, {"home-dev-my-app", "/home/dev/my/app/src", 0},
		{"C-Users-dev-tide", `C:\Users\dev\tide`, 2}, {"c-users-dev-tide", `C:\Users\dev\tide`, 1}, {"", "/home", 0}, {"x", "", 0}, {"-", "/", 0},
		{strings.Repeat("a", 80) + "-12ab34f", "/" + strings.Repeat("a", 120), 1}, {strings.Repeat("a", 80) + "-12ab34f", "/" + strings.Repeat("b", 120), 0},
	} {
		if got := fits(c.name, c.folder); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.name, c.folder, got, c.want)
		}
	}
}

// A name that several known folders have stands for none of them.
func TestAmbiguousProject(t *testing.T) {
	files := map[string]string{lineDoc: say("user", "x"),
		user + "workspaceStorage/w1/workspace.json": `{"folder":"file:///srv/tide"}`, user + "workspaceStorage/w2/workspace.json": `{"folder":"file:///srv/other"}`}
	if s := transcripttest.One(t, New(), files)["s1"]; s.CWD != "/srv/tide" {
		t.Errorf("%q", s.CWD)
	}
	files[user+"workspaceStorage/w2/workspace.json"] = `{"folder":"file:///srv.tide"}`
	if s := transcripttest.One(t, New(), files)["s1"]; s.CWD != "" {
		t.Errorf("of two: %q", s.CWD)
	}
	files[".cursor/projects/srv-tide/.workspace-trusted"] = `{"workspacePath":"/srv.tide"}`
	if s := transcripttest.One(t, New(), files)["s1"]; s.CWD != "/srv.tide" {
		t.Errorf("with a note: %q", s.CWD)
	}
}

func TestTyped(t *testing.T) {
	for _, c := range []struct{ text, want, at string }{
		{"plain", "plain", ""}, {"  <user_query>\n a \n</user_query> ", "a", ""}, {"<user_info>x</user_info><rules>y</rules>\n<user_query>a</user_query>", "a", ""},
		{"<timestamp>now</timestamp>\nb", "b", "now"}, {"<rules>never closed", "<rules>never closed", ""}, {"<b>bold</b> words", "<b>bold</b> words", ""},
		{"why does <user_info> appear?", "why does <user_info> appear?", ""}, {"<attached_files name=\"x\">y</attached_files> see", "see", ""},
		{"<user_query>a</user_query>\n<system_reminder>b</system_reminder>", "a", ""}, {"<system-reminder>x</system-reminder>", "", ""}, {"<", "<", ""}, {"<>", "<>", ""},
	} {
		if got, at := typed(c.text); got != c.want || at != c.at {
			t.Errorf("%q: %q at %q, want %q at %q", c.text, got, at, c.want, c.at)
		}
	}
}

func TestPromptTime(t *testing.T) {
	for s, want := range map[string]string{
		"Wednesday, Mar 11, 2026, 10:00 AM (UTC)": "2026-03-11T10:00:00Z", "Wednesday, Mar 11, 2026, 10:00 PM (UTC+5:30)": "2026-03-11T16:30:00Z",
		"Wednesday, March 11, 2026, 1:05 AM (UTC-8)": "2026-03-11T09:05:00Z", "Wednesday, Mar 11, 2026, 10:00 AM (PST)": "", "2026-03-11T10:00:00Z": "2026-03-11T10:00:00Z",
		"": "", "now": "", "Wednesday, Mar 11, 1926, 10:00 AM (UTC)": "", strings.Repeat("x", 500): "",
	} {
		got := ""
		if at := promptTime(s); !at.IsZero() {
			got = at.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// odd are the beginnings of what fuzzing tries.
func odd() []string {
	return []string{
		`{"type":1,"text":"hi","richText":"{\"root\":{\"children\":[{\"text\":\"x\"}]}}","images":[{}],"context":{"fileSelections":[{"uri":{"fsPath":"/a"}},7]}}`,
		`{"type":2,"toolFormerData":{"name":"x","rawArgs":"{\"path\":\"a\"}","result":"{\"error\":{}}","status":"error"}}`, `{"type":2,"thinking":{"text":"t"}}`,
		`{"fullConversationHeadersOnly":[{"bubbleId":"b0"},{"bubbleId":"b0"}],"latestConversationSummary":{"summary":{"summary":"s","truncationLastBubbleIdInclusive":"b0"},"lastBubbleId":"b0"}}`,
		`{"conversation":[{"type":1,"text":"x","conversationSummary":"{\"summary\":\"s\"}"}]}`, `{"conversationMap":{"b0":{"type":1,"text":"x"}},"subagentInfo":{"parentComposerId":"c"}}`,
		`{"tabs":[{"tabId":"t","bubbles":[{"type":"ai","rawText":"x"}]}],"allComposers":[{"composerId":"i","conversation":[{}]}]}`,
		say("user", "<user_query>x"), `{"role":"assistant","content":[{"type":"tool-call","args":{"a":1}},{"type":"tool-result","result":[]}]}`,
		"user:\nx\nassistant:\n[Tool call] A\n  b: c\n[Tool result] A\nd\n\ne", "\x0a\x20" + strings.Repeat("a", 32), "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", `"\ud83d`, "\x00",
	}
}

// FuzzRecords takes arbitrary bytes as every kind of record: nothing may panic,
// hang or break the model's rules.
func FuzzRecords(f *testing.F) {
	for _, s := range odd() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rec := transcripttest.NewTrace(t, false)
		env := transcripttest.Env(t.TempDir(), nil)
		b := newBuilder(context.Background(), env, transcript.Source{SessionID: "s"}, hint{Project: "srv-tide"}, rec)
		if err := rec.Begin(false); err != nil {
			t.Fatal(err)
		}
		v := jsonv.Parse(data)
		if !jsonv.Valid(v) {
			v = nil
		}
		newFamily(map[string]*composer{"c": parseComposer("c", v), "d": parseComposer("d", v)}).describe(parseComposer("c", v), &hint{})
		b.composer(v)
		b.chat(v)
		b.times(v)
		for _, m := range messages(v) {
			if err := b.listed(m.id, m.inline); err != nil {
				t.Fatal(err)
			}
		}
		for _, err := range []error{b.row(v), b.listed("b", v), b.summary(v, "x"), b.stored("m", v), b.block("user", string(data)), b.block("assistant", string(data)), b.block("", string(data))} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range bytes.Split(data, []byte("\n")) {
			if v := jsonv.Parse(line); v.Kind() == jsonv.Object && jsonv.Valid(v) {
				if err := b.line(transcript.Record{Value: v, Shared: true}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n, ok := parseNode(data); ok && len(n.refs)*hashSize > len(data) {
			t.Errorf("%d names in %d bytes", len(n.refs), len(data))
		}
		promptTime(string(data))
		if _, err := b.finish(); err != nil && !errors.Is(err, transcript.ErrNoSession) {
			t.Fatal(err)
		}
	})
}

// FuzzRead takes arbitrary bytes as files and as values of stores.
func FuzzRead(f *testing.F) {
	for _, s := range odd() {
		f.Add([]byte(s), []byte(s))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		h := t.TempDir()
		write(t, filepath.Join(h, filepath.FromSlash(lineDoc)), string(a)+"\n"+string(b))
		write(t, filepath.Join(h, filepath.FromSlash(scripts+"s2.txt")), string(a)+"\nuser:\n"+string(b))
		path := filepath.Join(h, filepath.FromSlash(shared))
		transcripttest.Database(t, path, tables+conversation("c", "", "a", "b"))
		store := filepath.Join(h, ".cursor", "chats", "x", "s3", "store.db")
		name, _ := blob(a)
		transcripttest.Database(t, store, chatTables+metaRow(`{"latestRootBlobId":"`+name+`"}`))
		env := transcripttest.Env(h, nil)
		db := open(t, env, shared)
		for key, value := range map[string][]byte{"composerData:d": a, "bubbleId:d:b0": b, "bubbleId:d:b1": a, "bubbleId:c:b1": a} {
			must(t, db, "INSERT INTO cursorDiskKV VALUES (?, ?)", key, value)
		}
		must(t, db, "INSERT INTO ItemTable VALUES (?, ?)", tabsKey, b)
		must(t, db, "INSERT INTO ItemTable VALUES (?, ?)", listKey, a)
		db.Close()
		chats := open(t, env, ".cursor/chats/x/s3/store.db")
		other, _ := blob(b)
		must(t, chats, "INSERT OR REPLACE INTO blobs VALUES (?, ?)", other, b)
		must(t, chats, "INSERT OR REPLACE INTO blobs VALUES (?, ?)", name, a)
		chats.Close()
		rd := New()
		for _, src := range transcripttest.Sources(t, rd, env) {
			_, _ = transcripttest.TraceAll(t, rd, env, src)
			rec := transcripttest.NewRecorder(t)
			if _, err := rd.Read(context.Background(), env, src, nil, rec); errors.Is(err, transcript.ErrReread) {
				t.Errorf("%s is to be read again although nobody wrote", src.Path)
			}
		}
	})
}

// Nodes are read within their bytes.
func TestNodes(t *testing.T) {
	id := bytes.Repeat([]byte{7}, hashSize)
	field := func(n byte, b []byte) []byte { return append([]byte{n<<3 | 2, byte(len(b))}, b...) }
	for _, c := range []struct {
		name           string
		in             []byte
		ok             bool
		refs, messages int
	}{
		{"empty", nil, true, 0, 0}, {"one", field(1, id), true, 1, 0}, {"two and a number", append(append(field(1, id), field(1, id)...), 0x18, 0x05), true, 2, 0},
		{"another field", field(3, id), true, 0, 0}, {"embedded", field(4, []byte(`{"role":"user"}`)), true, 0, 1}, {"no message", field(4, []byte(`{"a":1}`)), true, 0, 0},
		{"fixed sizes", []byte{0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4}, true, 0, 0},
		{"cut", field(1, id)[:20], false, 0, 0}, {"cut number", []byte{0x08, 0xff}, false, 0, 0}, {"field 0", []byte{0x02, 0x00}, false, 0, 0}, {"group", []byte{0x0b}, false, 0, 0},
		{"endless number", bytes.Repeat([]byte{0xff}, 30), false, 0, 0}, {"huge length", []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, false, 0, 0},
	} {
		n, ok := parseNode(c.in)
		if ok != c.ok || ok && (len(n.refs) != c.refs || len(n.messages) != c.messages) {
			t.Errorf("%s: %+v, %v", c.name, n, ok)
		}
	}
}
