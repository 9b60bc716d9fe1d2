package gemini_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/gemini"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const (
	home = "../../../testdata/home/gemini-cli"
	sid  = "6d1f2a3b-4c5d-4e6f-8a7b-9c0d1e2f3a4b"
	log  = ".gemini/tmp/loom/chats/session-2026-04-02T10-11-6d1f2a3b.jsonl"
	doc  = ".gemini/tmp/loom/chats/session-2026-04-02T10-11-6d1f2a3b.json"
	meta = `{"sessionId":"` + sid + `","startTime":"2026-04-02T10:11:00.000Z","lastUpdated":"2026-04-02T10:11:00.000Z","kind":"main"}` + "\n"
)

func TestGolden(t *testing.T) {
	dir, err := filepath.Abs(home)
	if err != nil {
		t.Fatal(err)
	}
	transcripttest.Golden(t, gemini.New(), dir, "../../../testdata/golden/gemini.txt")
}

func user(id, text string) string {
	return fmt.Sprintf(`{"id":%q,"timestamp":"2026-04-02T10:12:00.000Z","type":"user","content":[{"text":%q}]}`, id, text) + "\n"
}

func model(id, text string) string {
	return fmt.Sprintf(`{"id":%q,"timestamp":"2026-04-02T10:12:01.000Z","type":"gemini","content":%q}`, id, text) + "\n"
}

func read(t *testing.T, files map[string]string) (*transcripttest.Session, *transcript.Checkpoint, error) {
	t.Helper()
	env := transcripttest.Env(transcripttest.Write(t, files), nil)
	srcs := transcripttest.Sources(t, gemini.New(), env)
	if len(srcs) != 1 {
		t.Fatalf("%d sources", len(srcs))
	}
	ss, cp, err := transcripttest.ReadAll(t, gemini.New(), env, srcs[0])
	if len(ss) > 1 {
		t.Fatalf("%d sessions", len(ss))
	}
	for _, s := range ss {
		return s, cp, err
	}
	return nil, cp, err
}

// line renders the events as "surface text", superseded and bookkeeping
// records as "-".
func lines(s *transcripttest.Session) []string {
	var out []string
	for _, e := range s.Events {
		if len(e.Parts) == 0 {
			out = append(out, "-")
			continue
		}
		var text []string
		for _, p := range e.Parts {
			text = append(text, p.Text)
		}
		out = append(out, string(e.Surface[:1])+" "+strings.Join(text, "|"))
	}
	return out
}

func TestReplay(t *testing.T) {
	for _, c := range []struct {
		name, log string
		want      []string
	}{
		{"last content at the first place", user("a", "one") + model("b", "early") + user("c", "two") + model("b", "late") + model("b", "last"),
			[]string{"-", "c one", "c last", "c two", "-", "-"}},
		{"rewind", user("a", "one") + model("b", "two") + user("c", "three") + `{"$rewindTo":"b"}` + "\n" + user("d", "four"),
			[]string{"-", "c one", "s two", "s three", "-", "c four"}},
		{"rewind to an unknown id clears all", user("a", "one") + `{"$rewindTo":"x"}` + "\n" + user("b", "two"),
			[]string{"-", "s one", "-", "c two"}},
		{"an id used again after its rewind is a new message", user("a", "one") + user("b", "two") + `{"$rewindTo":"b"}` + "\n" + user("b", "three"),
			[]string{"-", "c one", "s two", "-", "c three"}},
		{"checkpoint", user("a", "one") + model("b", "two") + user("c", "three") +
			`{"$set":{"messages":[` + model("s", "sum") + `,` + user("c", "3") + `,` + user("n", "new") + `]}}` + "\n" + `{"$rewindTo":"n"}` + "\n" + user("d", "four"),
			[]string{"-", "s one", "s two", "c three", "-", "c sum", "s new", "-", "c four"}},
		{"checkpoint with more of a message", user("a", "one") + model("b", "two") + `{"$set":{"messages":[` + model("b", "two and a lot more of what was said") + `]}}` + "\n",
			[]string{"-", "s one", "c two and a lot more of what was said", "-"}},
		{"checkpoint that clears", user("a", "one") + `{"$set":{"messages":[]}}` + "\n", []string{"-", "s one", "-"}},
		{"no ids", `{"type":"user","content":"one"}` + "\n" + `{"type":"user","content":"one"}` + "\n", []string{"-", "c one", "c one"}},
		{"rewind of nothing", `{"$rewindTo":"x"}` + "\n" + user("a", "one"), []string{"-", "-", "c one"}},
	} {
		text := strings.ReplaceAll(c.log, "}\n,", "},")
		text = strings.ReplaceAll(text, "}\n]", "}]")
		s, cp, err := read(t, map[string]string{log: meta + text})
		if err != nil || cp.Bad != 0 || cp.State != nil {
			t.Errorf("%s: %v %+v", c.name, err, cp)
			continue
		}
		if got := lines(s); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
		n := 0
		for _, e := range s.Events {
			if e.Message {
				n++
			}
		}
		if n != s.MessageCount {
			t.Errorf("%s: %d message events, header says %d", c.name, n, s.MessageCount)
		}
	}
}

// google-gemini/gemini-cli#28767: a resume leaves a second file with metadata
// only; the file with the messages is read, and once that is gone the other is
// no session.
func TestResumeLeavesMetadata(t *testing.T) {
	first, second := ".gemini/tmp/loom/chats/session-2026-04-02T10-11-6d1f2a3b.jsonl", ".gemini/tmp/loom/chats/session-2026-04-05T10-11-6d1f2a3b.jsonl"
	dir := transcripttest.Write(t, map[string]string{first: meta + strings.Repeat(user("", strings.Repeat("knot ", 100)), 250), second: meta})
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, second), later, later); err != nil {
		t.Fatal(err)
	}
	env := transcripttest.Env(dir, nil)
	srcs := transcripttest.Sources(t, gemini.New(), env)
	if len(srcs) != 2 || srcs[0].SessionID != sid || srcs[1].SessionID != sid || !srcs[0].Better(srcs[1]) {
		t.Fatalf("%+v", srcs)
	}
	ss, _, err := transcripttest.ReadAll(t, gemini.New(), env, srcs[0])
	if err != nil || len(ss[sid].Events) != 251 {
		t.Errorf("%v", err)
	}
	if _, _, err := transcripttest.ReadAll(t, gemini.New(), env, srcs[1]); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("metadata only: %v", err)
	}
}

func TestPreferredCopy(t *testing.T) {
	hashed := strings.Repeat("ab", 32)
	small := meta + user("a", "hello")
	long := strings.TrimSuffix(meta, "}\n") + `,"messages":[` + strings.TrimSpace(user("a", strings.Repeat("hello ", 500))) + `]}`
	for _, c := range []struct{ name, better, worse string }{
		{"the log that continued a document", "loom/chats/session-x.jsonl", "loom/chats/session-x.json"},
		{"the named folder over the hashed", "loom/chats/session-x.json", hashed + "/chats/session-x.json"},
	} {
		text := func(p string) string {
			if strings.HasSuffix(p, "l") {
				return small
			}
			return long
		}
		dir := transcripttest.Write(t, map[string]string{".gemini/tmp/" + c.better: text(c.better), ".gemini/tmp/" + c.worse: text(c.worse)})
		for _, s := range transcripttest.Sources(t, gemini.New(), transcripttest.Env(dir, nil)) {
			for _, o := range transcripttest.Sources(t, gemini.New(), transcripttest.Env(dir, nil)) {
				if s.SessionID != sid {
					t.Errorf("%s: id %q", c.name, s.SessionID)
				}
				if s.Path != o.Path && s.Better(o) != strings.HasSuffix(s.Path, filepath.FromSlash(c.better)) {
					t.Errorf("%s: %s better than %s: %v", c.name, s.Path, o.Path, s.Better(o))
				}
			}
		}
	}
}

// The folder of a chat is proven by its hash, never guessed from a name.
func TestProject(t *testing.T) {
	const path, sum = "/home/dev/work/tidewatch", "bd24d6b98b2834f5e60711ff6619732b5c3e5ec941bc167099717e64b1b9deb7"
	chat := strings.Replace(meta, `"kind"`, `"projectHash":"`+sum+`","kind"`, 1) + user("a", "hello")
	at := func(folder string) string { return ".gemini/tmp/" + folder + "/chats/session-1.jsonl" }
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"project root", map[string]string{at("loom"): chat, ".gemini/tmp/loom/.project_root": "/w/loom\n"}, "/w/loom"},
		{"map of slugs", map[string]string{at("loom"): chat, ".gemini/projects.json": `{"projects":{"/w/a":"other","/w/loom":"loom"}}`}, "/w/loom"},
		{"hash of a known path", map[string]string{at(sum): chat, ".gemini/projects.json": `{"projects":{"` + path + `":"tidewatch"}}`}, path},
		{"hash of a trusted folder", map[string]string{at(sum): chat, ".gemini/trustedFolders.json": `{"` + path + `":"TRUST_FOLDER"}`}, path},
		{"a file in a tool call", map[string]string{at(sum): chat + `{"id":"b","type":"gemini","toolCalls":[{"name":"read_file","args":{"file_path":"` + path + `/a/b.go"}}]}` + "\n"}, path},
		{"the session context", map[string]string{at("loom"): chat + user("c", "<session_context>\nI'm currently working in the directory: "+path+"\n</session_context>")}, path},
		{"a list of folders in the context", map[string]string{at("loom"): chat + user("c", "<session_context>\n - /x y/z\n - "+path+".\n</session_context>")}, path},
		{"directories", map[string]string{at("loom"): chat + `{"$set":{"directories":["/other","` + path + `"]}}` + "\n"}, path},
		{"nothing proves it", map[string]string{at("loom"): chat + user("c", "I work in "+path+"x")}, ""},
		{"relative root file", map[string]string{at("loom"): chat, ".gemini/tmp/loom/.project_root": "w/loom"}, ""},
	} {
		s, _, err := read(t, c.files)
		if err != nil || s.CWD != c.want {
			t.Errorf("%s: cwd %q, %v", c.name, s.CWD, err)
		}
	}
}

func TestSignatureFollowsProject(t *testing.T) {
	dir := transcripttest.Write(t, map[string]string{log: meta + user("a", "x")})
	sig := func() string {
		return transcripttest.Sources(t, gemini.New(), transcripttest.Env(dir, nil))[0].Signature
	}
	before := sig()
	if err := os.WriteFile(filepath.Join(dir, ".gemini/projects.json"), []byte(`{"projects":{"/w/other":"other"}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if sig() != before {
		t.Error("another project changes nothing here")
	}
	if err := os.WriteFile(filepath.Join(dir, ".gemini/projects.json"), []byte(`{"projects":{"/w/loom":"loom"}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if sig() == before {
		t.Error("the folder became known")
	}
}

func TestNoise(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{`"/help"`, ""},
		{`"?"`, ""},
		{`"System: Please continue."`, ""},
		{`"/plan tidy the gull parser"`, "/plan tidy the gull parser"},
		{`"/usr/local gives an error"`, "/usr/local gives an error"},
		{`"why ?"`, "why ?"},
		{`[{"text":"<session_context>x</session_context>"}]`, ""},
		{`[{"text":"<hook_context>x</hook_context> fix it"}]`, "fix it"},
		{`[{"text":"see "},{"inlineData":{"data":"iVBORw0KGgo="}},{"text":"this"}]`, "see\nthis"},
		{`[{"text":"look"},{"text":"--- Content from referenced files ---"},{"text":"package x"},{"text":"--- End of content ---"},{"text":"twice"}]`, "look\ntwice"},
		{`{"text":"a part alone"}`, "a part alone"},
		{`null`, ""}, {`7`, ""}, {`[]`, ""}, {`[null,3,"plain"]`, "plain"},
	} {
		s, _, err := read(t, map[string]string{log: meta + model("m", "reply") + `{"id":"u","type":"user","content":` + c.content + "}\n"})
		if err != nil {
			t.Errorf("%s: %v", c.content, err)
			continue
		}
		got := ""
		for _, p := range s.Events[2].Parts {
			got += p.Text
		}
		if got != c.want || s.Events[2].Message != (c.want != "") {
			t.Errorf("%s: %q, want %q", c.content, got, c.want)
		}
	}
}

// A picture without words is a message; an envelope with one is none.
func TestPicture(t *testing.T) {
	for content, want := range map[string]bool{
		`[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]`:                                           true,
		`{"fileData":{"fileUri":"file:///x.png"}}`:                                                                  true,
		`[{"text":"<hook_context>x</hook_context>"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]`: false,
		`[{"inlineData":{"mimeType":"image/png","data":"` + strings.Repeat("iVBORw0KGgo", 1<<19) + `"}}]`:           true,
		`[{"functionResponse":{"name":"x","response":{"output":"y"}}}]`:                                             false,
	} {
		s, _, err := read(t, map[string]string{log: meta + model("m", "reply") + `{"id":"u","type":"user","content":` + content + "}\n"})
		if err != nil || s.Events[2].Message != want || len(s.Events[2].Parts) != 0 {
			t.Errorf("%.60s: message %v, parts %v, %v", content, s.Events[2].Message, s.Events[2].Parts, err)
		}
	}
}

// Damage in one record never loses another one, in either form.
func TestHazards(t *testing.T) {
	good := model("z", "after it")
	for _, c := range []struct {
		name, line, text string
		bad              int
	}{
		{"nul run", strings.Repeat("\x00", 400) + "\n", "", 1},
		{"not json", "hello\n", "", 1},
		{"spliced", `{"id":"h","type":"gemini","content":"half ` + user("q", "basalt"), "basalt", 1},
		{"lone surrogate", `{"id":"h","type":"user","content":"errored \ud83d... at tern"}` + "\n", "at tern", 0},
		{"invalid utf-8", "{\"id\":\"h\",\"type\":\"user\",\"content\":\"caf\xff tern\"}\n", "tern", 0},
		{"duplicate keys", `{"id":"h","type":"user","content":"first","content":"second tern"}` + "\n", "second tern", 0},
		{"unknown type", `{"id":"h","type":"brand-new","content":"tern"}` + "\n", "", 0},
		{"no object", "[1,2]\n", "", 0},
		{"crlf", strings.TrimSuffix(user("h", "tern"), "\n") + "\r\n", "tern", 0},
		{"bom", "\ufeff" + user("h", "tern"), "tern", 0},
		{"line separator", user("h", "a\u2028tern"), "tern", 0},
		{"time far ahead", `{"id":"h","timestamp":"2099-01-01T00:00:00Z","type":"user","content":"tern"}` + "\n", "tern", 0},
		{"epoch 0", `{"id":"h","timestamp":0,"type":"user","content":"tern"}` + "\n", "tern", 0},
		{"numbers as text", `{"id":7,"timestamp":"1785000000","type":"user","content":"tern"}` + "\n", "tern", 0},
		{"result as text", `{"id":"h","type":"gemini","toolCalls":[{"name":"n","result":"tern"}]}` + "\n", "tern", 0},
		{"result as object", `{"id":"h","type":"gemini","toolCalls":[{"result":{"functionResponse":{"response":{"content":[{"text":"tern"}]}}}}]}` + "\n", "tern", 0},
		{"display only", `{"id":"h","type":"gemini","toolCalls":[{"name":"n","resultDisplay":"tern"},null,4]}` + "\n", "tern", 0},
		{"calls no list", `{"id":"h","type":"gemini","content":"tern","toolCalls":{"a":1}}` + "\n", "tern", 0},
		{"set null", `{"$set":null}` + "\n", "", 0},
		{"set messages text", `{"$set":{"messages":"tern"}}` + "\n", "", 0},
		{"rewind null", `{"$rewindTo":null}` + "\n", "", 0},
	} {
		s, cp, err := read(t, map[string]string{log: meta + c.line + good})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		all := s.Text(transcript.Prose) + s.Text(transcript.Call) + s.Text(transcript.Output)
		if !strings.Contains(all, c.text) || !strings.Contains(all, "after it") || cp.Bad != c.bad || cp.Torn || s.UpdatedAt.Year() != 2026 {
			t.Errorf("%s: text %q, %+v, updated %v", c.name, all, cp, s.UpdatedAt)
		}
	}
}

func TestDocumentDamage(t *testing.T) {
	whole := strings.TrimSuffix(meta, "}\n") + `,"messages":[` + strings.TrimSpace(user("a", "one")) + `,` + strings.TrimSpace(user("b", "two")) + `],"summary":"Named"}`
	s, cp, err := read(t, map[string]string{doc: "\ufeff" + whole})
	if err != nil || cp.Torn || s.Title != "Named" || len(s.Events) != 2 {
		t.Errorf("whole: %v %+v", err, cp)
	}
	s, cp, err = read(t, map[string]string{doc: whole[:strings.Index(whole, "two")]})
	if err != nil || !cp.Torn || len(s.Events) != 1 || s.Title != "one" {
		t.Errorf("torn: %v %+v", err, cp)
	}
	s, cp, err = read(t, map[string]string{doc: strings.Replace(whole, `],"summary"`, `}],"summary"`, 1)})
	if err != nil || cp.Bad != 1 || cp.Partial == "" || len(s.Events) != 2 {
		t.Errorf("damaged: %v %+v", err, cp)
	}
	for _, text := range []string{"", "[]", "{", `{"sessionId":"x"}`, "hello"} {
		if _, _, err := read(t, map[string]string{doc: text}); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestGrowth(t *testing.T) {
	dir, err := filepath.Abs(home)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewSource(3))
	for _, src := range transcripttest.Sources(t, gemini.New(), transcripttest.Env(dir, nil)) {
		if filepath.Ext(src.Path) != ".jsonl" || src.Class&4 == 0 {
			continue
		}
		rel, _ := filepath.Rel(dir, src.Path)
		text, err := os.ReadFile(src.Path)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			var steps []int
			for range 12 {
				steps = append(steps, 1+rnd.Intn(700))
			}
			transcripttest.Grows(t, gemini.New(), transcripttest.Write(t, map[string]string{rel: string(text)}), rel, steps)
		}
	}
}

// A log that rewrites one message a hundred thousand times is read in time
// and memory linear in its size.
func TestManyRewrites(t *testing.T) {
	var b strings.Builder
	b.WriteString(meta)
	for i := range 100_000 {
		fmt.Fprintf(&b, `{"id":"a%d","type":"user","content":"n%d"}`+"\n", i%3, i)
	}
	s, _, err := read(t, map[string]string{log: b.String()})
	if err != nil || len(s.Events) != 100_001 || s.MessageCount != 3 || s.Text(transcript.Prose) != "n99999\nn99997\nn99998\n" {
		t.Errorf("%v, %d messages", err, s.MessageCount)
	}
}

func TestDiscovery(t *testing.T) {
	dir := transcripttest.Write(t, map[string]string{
		"h/.gemini/tmp/loom/chats/session-1.jsonl":                 meta + user("a", "x"),
		"h/.gemini/tmp/loom/chats/session-2.jsonl.unreadable-17":   meta,
		"h/.gemini/tmp/loom/chats/session-3.unreadable-17.json":    "{}",
		"h/.gemini/tmp/loom/chats/session-4.tmp.json":              "{}",
		"h/.gemini/tmp/loom/chats/" + sid + "/sub.jsonl":           `{"sessionId":"sub-1"}` + "\n",
		"h/.gemini/tmp/loom/chats/" + sid + "/deeper/no/sub.jsonl": "{}",
		"h/.gemini/tmp/loom/logs.json":                             "[]",
		"h/.gemini/tmp/loom/checkpoint-x.json":                     "[]",
		"h/.gemini/tmp/images/a.png":                               "x",
		"h/.gemini/tmp/loom/chats/" + sid + "/unnamed.json":        "{}",
		"h/.gemini/tmp/loom/chats/" + sid + "/not-a-chat.md":       "x",
	})
	if err := os.Symlink(filepath.Join(dir, "h/.gemini/tmp/loom"), filepath.Join(dir, "h/.gemini/tmp/other")); err != nil {
		t.Skip(err)
	}
	want := []string{"session-1.jsonl " + sid, "sub.jsonl " + sid + "#agent-sub-1", "unnamed.json " + sid + "#agent-unnamed"}
	found := func(env transcript.Env) []string {
		var got []string
		for _, s := range transcripttest.Sources(t, gemini.New(), env) {
			got = append(got, filepath.Base(s.Path)+" "+s.SessionID)
		}
		slices.Sort(got)
		return got
	}
	extra := func(p string) transcript.Env {
		env := transcripttest.Env(filepath.Join(dir, "nowhere"), nil)
		env.Extra = []string{filepath.Join(dir, p)}
		return env
	}
	for name, env := range map[string]transcript.Env{
		"home":            transcripttest.Env(filepath.Join(dir, "h"), nil),
		"GEMINI_CLI_HOME": transcripttest.Env("/nowhere", map[string]string{"GEMINI_CLI_HOME": filepath.Join(dir, "h")}),
		"extra home":      extra("h"), "extra .gemini": extra("h/.gemini"), "extra tmp": extra("h/.gemini/tmp"),
	} {
		if got := found(env); !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestCancel(t *testing.T) {
	env := transcripttest.Env(transcripttest.Write(t, map[string]string{log: meta + user("a", "x")}), nil)
	src := transcripttest.Sources(t, gemini.New(), env)[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gemini.New().Read(ctx, env, src, nil, transcripttest.NewRecorder(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(meta + user("a", "x") + model("a", "y") + `{"$rewindTo":"a"}` + "\n"))
	f.Add([]byte(meta + user("a", "x") + `{"$set":{"summary":"s","messages":[{"id":"b","type":"gemini","content":"z"},{"id":"a","type":"user","content":"longer than before, much longer than before"}]}}` + "\n"))
	f.Add([]byte(`{"id":"b","type":"gemini","toolCalls":[{"name":"n","args":{"file_path":"/a"},"result":[{"functionResponse":{"response":{"output":"o"}}}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) { transcripttest.Damaged(t, gemini.New(), log, data) })
}

func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"sessionId":"x","projectHash":"ab","startTime":1785000000,"messages":[{"id":"a","type":"user","content":"x"},{"id":"b","type":"gemini","content":[{"text":"y"}]}],"summary":"s"}`))
	f.Fuzz(func(t *testing.T, data []byte) { transcripttest.Damaged(t, gemini.New(), doc, data) })
}
