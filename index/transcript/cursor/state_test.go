package cursor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const (
	user   = ".config/Cursor/User/"
	shared = user + "globalStorage/state.vscdb"
	tables = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB); CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);"
)

// quoted is a text in SQL.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func row(key, value string) string {
	return "INSERT INTO cursorDiskKV VALUES (" + quoted(key) + "," + quoted(value) + ");"
}

// conversation is the SQL of a conversation of bubbles b0, b1…, by the user and the
// model in turn, a minute apart.
func conversation(id string, more string, texts ...string) string {
	var out strings.Builder
	var heads []string
	for i, text := range texts {
		heads = append(heads, fmt.Sprintf(`{"bubbleId":"b%d","type":%d}`, i, 1+i%2))
		out.WriteString(row(fmt.Sprintf("bubbleId:%s:b%d", id, i), bubbleOf(i, text)))
	}
	return row("composerData:"+id, fmt.Sprintf(`{"composerId":%q,"createdAt":1785000000000,"lastUpdatedAt":1785000060000,"fullConversationHeadersOnly":[%s]%s}`, id, strings.Join(heads, ","), more)) + out.String()
}

func bubbleOf(i int, text string) string {
	return fmt.Sprintf(`{"type":%d,"bubbleId":"b%d","createdAt":"2026-07-25T17:%02d:00.000Z","text":%q}`, 1+i%2, i, 20+i, text)
}

// home makes a home with databases, named below it.
func home(t testing.TB, sql map[string]string) transcript.Env {
	t.Helper()
	h := t.TempDir()
	for name, text := range sql {
		transcripttest.Database(t, filepath.Join(h, filepath.FromSlash(name)), text)
	}
	return transcripttest.Env(h, nil)
}

// read reads everything, and the best of several copies as the index would.
func read(t testing.TB, env transcript.Env) map[string]*transcripttest.Session {
	t.Helper()
	rd := New()
	best := map[string]transcript.Source{}
	for _, src := range transcripttest.Sources(t, rd, env) {
		if old, ok := best[src.SessionID]; !ok || src.Better(old) {
			best[src.SessionID] = src
		}
	}
	out := map[string]*transcripttest.Session{}
	for id, src := range best {
		tr, err := transcripttest.TraceAll(t, rd, env, src)
		if errors.Is(err, transcript.ErrNoSession) {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		for id, s := range tr.Sessions {
			out[id] = s
		}
	}
	return out
}

func open(t testing.TB, env transcript.Env, rel string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(env.Home, filepath.FromSlash(rel))+"?_synchronous=OFF&_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func must(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

// A write to one conversation makes work for that one only, and every kind of
// change to one is noticed, by Locate as by Discover.
func TestWatermarks(t *testing.T) {
	var script strings.Builder
	script.WriteString(tables)
	for i := range 30 {
		script.WriteString(conversation(fmt.Sprintf("c%02d", i), "", "a", "b"))
	}
	env := home(t, map[string]string{shared: script.String()})
	rd := New().(*reader)
	db := open(t, env, shared)
	must(t, db, "PRAGMA journal_mode = WAL")
	marks := func() map[string]transcript.Source {
		out := map[string]transcript.Source{}
		for _, s := range transcripttest.Sources(t, rd, env) {
			out[s.Key] = s
		}
		return out
	}
	path := filepath.Join(env.Home, filepath.FromSlash(shared))
	for _, c := range []struct{ change, want string }{
		{"VACUUM", ""},
		{row("checkpointId:c01:x", "{}") + row("agentKv:blob:x", "y"), ""},
		{row("bubbleId:c02:b1", bubbleOf(1, "B")), "c02"}, // of the same length
		{row("bubbleId:c03:b2", bubbleOf(2, "c")), "c03"},
		{"UPDATE cursorDiskKV SET value = '{\"type\":2,\"text\":\"longer\"}' WHERE key = 'bubbleId:c04:b1'", "c04"},
		{"UPDATE cursorDiskKV SET value = NULL WHERE key = 'bubbleId:c05:b1'", "c05"},
		{"DELETE FROM cursorDiskKV WHERE key = 'bubbleId:c06:b1'", "c06"},
		{row("composerData:c07", `{"composerId":"c07","name":"N","fullConversationHeadersOnly":[{"bubbleId":"b0","type":1}]}`), "c07"},
		{conversation("c99", "", "new"), "c99"},
		{"DELETE FROM cursorDiskKV WHERE key = 'composerData:c08'", "c08"},
		{"UPDATE cursorDiskKV SET value = NULL WHERE key = 'composerData:c09'", "c09"},
	} {
		before := marks()
		must(t, db, c.change)
		after := marks()
		var changed []string
		for id, s := range after {
			if before[id] != s {
				changed = append(changed, id)
			}
		}
		for id := range before {
			if _, still := after[id]; !still {
				changed = append(changed, id)
			}
		}
		if got := strings.Join(changed, " "); got != c.want {
			t.Errorf("%.80s: changed %q, want %q", c.change, got, c.want)
		}
		loc, err := rd.Locate(context.Background(), env, rd.Roots(env)[0], path+"-wal")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range loc.Sources {
			if after[s.Key] != s {
				t.Errorf("%.80s: Locate says\n%+v\nDiscover\n%+v", c.change, s, after[s.Key])
			}
		}
		if _, there := after[c.want]; there && !slices.ContainsFunc(loc.Sources, func(s transcript.Source) bool { return s.Key == c.want }) {
			t.Errorf("%.80s: not located", c.change)
		}
	}
	// A reader that learned nothing before says the same.
	if a, b := transcripttest.Sources(t, rd, env), transcripttest.Sources(t, New(), env); !slices.Equal(a, b) {
		t.Error("what was learned before makes a difference")
	}
}

// Messages are found by ranges of the index, whatever else the store holds.
func TestRangesNotScans(t *testing.T) {
	env := home(t, map[string]string{shared: tables + conversation("c", "", "a")})
	db := open(t, env, shared)
	for _, query := range []string{
		"SELECT key, rowid, octet_length(value) FROM cursorDiskKV WHERE key >= 'bubbleId:c:' AND key < 'bubbleId:c;' ORDER BY key",
		"SELECT count(*), max(rowid), 0 FROM cursorDiskKV WHERE key >= 'bubbleId:c:' AND key < 'bubbleId:c;'",
		"SELECT key FROM cursorDiskKV WHERE rowid > (SELECT max(rowid) FROM cursorDiskKV) - 10000",
	} {
		rows, err := db.Query("EXPLAIN QUERY PLAN " + query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var a, b, c int
			var plan string
			if err := rows.Scan(&a, &b, &c, &plan); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(plan, "SCAN") {
				t.Errorf("%s: %s", query, plan)
			}
		}
		rows.Close()
	}
}

// Ids that are each other's beginnings, and characters that a pattern would take
// for others, are no trouble.
func TestOddIDs(t *testing.T) {
	ids := []string{"c", "c1", "c_", "c%", "C", "c:d", "c;", "é"}
	script := tables
	for _, id := range ids {
		script += conversation(id, "", "from "+id)
	}
	got := read(t, home(t, map[string]string{shared: script}))
	for _, id := range ids {
		if s := got[id]; s == nil || s.Said() != "user: from "+id {
			t.Errorf("%s: %v", id, s)
		}
	}
	if len(got) != len(ids) {
		t.Errorf("%d conversations of %d", len(got), len(ids))
	}
}

// Values are text or blobs, broken or missing; what can be read is.
func TestDamagedValues(t *testing.T) {
	env := home(t, map[string]string{shared: tables +
		conversation("c", "", "one", "two", "three", "four", "five", "six") +
		"UPDATE cursorDiskKV SET value = CAST(value AS BLOB) WHERE key IN ('composerData:c','bubbleId:c:b0');" +
		"UPDATE cursorDiskKV SET value = NULL WHERE key = 'bubbleId:c:b1';" +
		row("bubbleId:c:b2", `{"type":1,"text":"cut o`) +
		row("bubbleId:c:b3", "[]") +
		"DELETE FROM cursorDiskKV WHERE key = 'bubbleId:c:b4';" +
		// The record is broken, the messages are there.
		conversation("d", "", "still", "here") + row("composerData:d", `{"composerId":"d","fullConv`) +
		conversation("e", "", "blob") + "UPDATE cursorDiskKV SET value = x'ff00fe' WHERE key = 'composerData:e';" +
		row("composerData:f", `{"composerId":"f","fullConversationHeadersOnly":{"bubbleId":7},"conversation":"x","createdAt":"never","name":[1]}`) +
		row("composerData:", "{}") + row("bubbleId::", "{}") + row("bubbleId:", "{}") +
		"INSERT INTO cursorDiskKV VALUES (NULL, 'x'), (7, '{}');",
	})
	got := read(t, env)
	for id, want := range map[string]string{"c": "user: one | assistant: six", "d": "user: still | assistant: here", "e": "user: blob"} {
		if s := got[id]; s == nil || s.Said() != want {
			t.Errorf("%s: %+v, want %s", id, s, want)
		}
	}
	if len(got) != 3 {
		t.Errorf("conversations %q", transcripttest.Sorted(got))
	}
	if w := strings.Join(got["c"].Warnings, "\n"); !strings.Contains(w, "2 of the 6 messages") {
		t.Errorf("warnings %q", w)
	}
	for _, src := range transcripttest.Sources(t, New(), env) {
		_, cp, err := transcripttest.ReadAll(t, New(), env, src)
		if want := map[string]int{"c": 2, "d": 1, "e": 1}[src.Key]; err != nil || cp.Bad != want {
			t.Errorf("%s: %+v, %v; want %d bad", src.Key, cp, err, want)
		}
	}
}

// A value beyond what is kept whole is streamed.
func TestHugeBubble(t *testing.T) {
	env := home(t, map[string]string{shared: tables + conversation("c", "", "a", "b")})
	big := strings.Repeat("潮 tern ", 400_000)
	db := open(t, env, shared)
	must(t, db, "INSERT INTO cursorDiskKV VALUES ('bubbleId:c:b1', ?)", `{"type":2,"richText":"`+strings.Repeat("noise ", 200_000)+`","text":"`+big+`the end"}`)
	must(t, db, "INSERT INTO cursorDiskKV VALUES ('composerData:c', ?)", `{"name":"Big","originalFileStates":{"f":{"content":"`+strings.Repeat("x ", 1<<20)+`"}},"fullConversationHeadersOnly":[{"bubbleId":"b0","type":1},{"bubbleId":"b1","type":2}]}`)
	s := read(t, env)["c"]
	if out := s.Events[1].Parts[0].Text; len(out) != len(big)+7 || s.Title != "Big" {
		t.Errorf("%d bytes, want %d; title %q", len(out), len(big)+7, s.Title)
	}
}

// Schemas nobody knows are reported and keep no other store from being read; a
// store that was just made is empty.
func TestForeignSchemas(t *testing.T) {
	env := home(t, map[string]string{
		shared:                                            tables + conversation("c", "", "a"),
		user + "workspaceStorage/w1/state.vscdb":          "CREATE TABLE other (x)",
		user + "workspaceStorage/w2/state.vscdb":          "CREATE TABLE cursorDiskKV (id, payload)",
		user + "workspaceStorage/w3/state.vscdb":          "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
		user + "profiles/p/globalStorage/state.vscdb":     "PRAGMA user_version = 1",
		user + "globalStorage/state.vscdb.backup":         tables + conversation("old", "", "a copy"),
		user + "workspaceStorage/w4/state.vscdb/x.sqlite": "CREATE TABLE t (x)",
	})
	if err := os.WriteFile(filepath.Join(env.Home, filepath.FromSlash(user+"workspaceStorage/w5")), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(env.Home, filepath.FromSlash(user+"workspaceStorage/w6/state.vscdb"))
	if err := errors.Join(os.MkdirAll(filepath.Dir(broken), 0o700), os.WriteFile(broken, []byte(strings.Repeat("no database ", 1000)), 0o600)); err != nil {
		t.Fatal(err)
	}
	rd := New()
	var found, reported []string
	err := rd.Discover(context.Background(), env, rd.Roots(env)[0], func(s transcript.Source) error { found = append(found, s.Key); return nil },
		func(path string, _ error) { reported = append(reported, filepath.Base(filepath.Dir(path))) })
	if err != nil || strings.Join(found, " ") != "c" || strings.Join(reported, " ") != "w1 w2 w6" {
		t.Errorf("found %v, reported %v, error %v", found, reported, err)
	}
}

// A store that its owner has open is read in full while he writes, and nothing of
// his is touched.
func TestLiveStore(t *testing.T) {
	env := home(t, map[string]string{shared: tables})
	db := open(t, env, shared)
	must(t, db, "PRAGMA journal_mode = WAL")
	must(t, db, "PRAGMA wal_autocheckpoint = 0")
	must(t, db, conversation("c", "", "a", "b"))
	rd := New()
	if s := read(t, env)["c"]; s == nil || s.Said() != "user: a | assistant: b" {
		t.Fatalf("%+v", s)
	}
	must(t, db, row("bubbleId:c:b1", bubbleOf(1, "streams on"))) // edited in place
	must(t, db, row("bubbleId:c:b2", bubbleOf(2, "c")))          // not in the list yet
	if s := read(t, env)["c"]; s.Said() != "user: a | assistant: streams on | user: c" || s.Events[2].Surface != transcript.Current {
		t.Errorf("%s, %s", s.Said(), s.Events[2].Surface)
	}
	src := transcripttest.Sources(t, rd, env)[0]
	must(t, db, "DELETE FROM cursorDiskKV")
	if _, _, err := transcripttest.ReadAll(t, rd, env, src); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a conversation deleted after discovery: %v", err)
	}
	if left := transcripttest.Sources(t, rd, env); len(left) > 0 {
		t.Errorf("sources of an emptied store: %v", left)
	}
}

// Where a conversation belongs is told by its record, by the list of all of them,
// by the window that names it, by its messages, by what its searches went through,
// or by its files, in this order.
func TestFolders(t *testing.T) {
	grep := `{"type":2,"toolFormerData":{"name":"grep","status":"completed","rawArgs":"{}","result":"{\"success\":{\"workspaceResults\":{\"/srv/searched\":{}}}}"}}`
	edit := func(path string) string {
		return fmt.Sprintf(`{"type":2,"toolFormerData":{"name":"read_file","status":"completed","rawArgs":"{\"target_file\":\"%s\"}","result":"{}"}}`, path)
	}
	h := t.TempDir()
	for name, script := range map[string]string{
		shared: tables +
			conversation("own", `,"workspaceIdentifier":{"id":"w2","uri":{"scheme":"file","fsPath":"/srv/own"}}`, "a") +
			conversation("byid", `,"workspaceIdentifier":{"id":"w2"}`, "a") +
			conversation("escape", `,"workspaceIdentifier":{"id":"../../../w2"}`, "a") +
			conversation("listed", "", "a") + conversation("named", "", "a") + conversation("selected", "", "a") + conversation("tabled", "", "a") +
			conversation("uri", "", "a", "b") + row("bubbleId:uri:b1", `{"type":2,"text":"b","workspaceUris":["vscode-remote://x/y","file:///srv/uri%20x"]}`) +
			conversation("searched", "", "a", "b") + row("bubbleId:searched:b1", grep) +
			conversation("files", "", "a", "b", "c") + row("bubbleId:files:b1", edit("/srv/x/y/files/a/one.go")) + row("bubbleId:files:b2", edit("/srv/x/y/files/two.go")) +
			conversation("onefile", "", "a", "b") + row("bubbleId:onefile:b1", edit("/srv/x/y/files/a/one.go")) +
			conversation("win", `,"workspaceIdentifier":{"id":"w","uri":{"fsPath":"c:\\Users\\dev\\tide","scheme":"file"}}`, "a") +
			"INSERT INTO ItemTable VALUES ('composer.composerHeaders','{\"allComposers\":[{\"composerId\":\"listed\",\"workspaceIdentifier\":{\"uri\":{\"fsPath\":\"/srv/listed\"}}}]}');" +
			"CREATE TABLE composerHeaders (composerId TEXT, workspaceId TEXT, value TEXT); INSERT INTO composerHeaders VALUES ('tabled','w2','{}'),(NULL,NULL,NULL),('x','..','[]');",
		user + "workspaceStorage/w1/state.vscdb": tables + `INSERT INTO ItemTable VALUES ('composer.composerData','{"allComposers":[{"composerId":"named"},{"composerId":"own"},7,null],"selectedComposerIds":["selected"]}');`,
	} {
		transcripttest.Database(t, filepath.Join(h, filepath.FromSlash(name)), script)
	}
	for name, folder := range map[string]string{"w1": "file:///srv/window", "w2": "file:///srv/second"} {
		path := filepath.Join(h, filepath.FromSlash(user+"workspaceStorage/"+name+"/workspace.json"))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(`{"folder":"`+folder+`"}`), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	got := read(t, transcripttest.Env(h, nil))
	for id, want := range map[string]string{
		"own": "/srv/own", "byid": "/srv/second", "escape": "", "listed": "/srv/listed", "tabled": "/srv/second", "named": "/srv/window", "selected": "/srv/window",
		"uri": "/srv/uri x", "searched": "/srv/searched", "files": "/srv/x/y/files", "onefile": "", "win": `c:\Users\dev\tide`,
	} {
		if s := got[id]; s == nil || s.CWD != want {
			t.Errorf("%s: %+v, want %q", id, s, want)
		}
	}
	if len(got["files"].Warnings) != 1 || len(got["own"].Warnings) != 0 {
		t.Errorf("warnings %q, %q", got["files"].Warnings, got["own"].Warnings)
	}
}

// Calls, what came of them, and how each is told.
func TestTools(t *testing.T) {
	for _, c := range []struct {
		name, tool             string
		typ                    string
		failed                 bool
		call, output, wantFile string
	}{
		{"failed", `{"name":"run_terminal_cmd","status":"error","rawArgs":"{\"command\":\"false\"}","error":"{\"modelVisibleErrorMessage\":\"no such tool\"}"}`, transcript.TypeToolResult, true, "run_terminal_cmd\nfalse\n", "no such tool\n", ""},
		{"exit", `{"name":"run_terminal_cmd","status":"completed","rawArgs":"{\"command\":\"x\"}","result":"{\"output\":\"o\",\"exitCodeV2\":2}"}`, transcript.TypeToolResult, true, "run_terminal_cmd\nx\n", "o\n", ""},
		{"waits", `{"name":"Shell","status":"loading","rawArgs":"{\"command\":\"x\"}"}`, transcript.TypeToolCall, false, "Shell\nx\n", "", ""},
		{"stopped", `{"name":"Shell","status":"cancelled","rawArgs":"{\"command\":\"x\"}"}`, transcript.TypeToolResult, false, "Shell\nx\n", "", ""},
		{"params", `{"name":"edit_file","status":"completed","rawArgs":"{}","params":"{\"path\":\"/w/a.go\"}","result":"plain"}`, transcript.TypeToolResult, false, "edit_file\n/w/a.go\n", "plain\n", "/w/a.go"},
		{"cut arguments", `{"name":"Write","status":"completed","rawArgs":"{\"path\":\"/w"}`, transcript.TypeToolResult, false, "Write\n{\"path\":\"/w\n", "", ""},
		{"objects", `{"name":"Read","status":"completed","rawArgs":{"path":"/w/b.go"},"result":{"contents":"package b","id":"uuid"}}`, transcript.TypeToolResult, false, "Read\n/w/b.go\n", "package b\n", "/w/b.go"},
		{"a number for a name", `{"tool":15,"name":null,"status":"completed","rawArgs":"{\"command\":\"ls\"}","result":"{\"output\":\"a\"}"}`, transcript.TypeToolResult, false, "15\nls\n", "a\n", ""},
		{"list of todos", `{"name":"todo_write","status":"completed","rawArgs":"{\"todos\":[{\"content\":\"sweep\"}]}","result":"{}"}`, transcript.TypeTodoWrite, false, "todo_write\nsweep\n", "", ""},
		{"patch", `{"name":"apply_patch","status":"completed","rawArgs":"{\"patch\":\"*** Begin Patch\\n*** Update File: /w/c.go\\n*** End Patch\"}","result":"{\"rejected\":false}"}`, transcript.TypeToolResult, false, "apply_patch\n*** Begin Patch\n*** Update File: /w/c.go\n*** End Patch\n", "", "/w/c.go"},
		{"deep", `{"name":"t","status":"completed","rawArgs":"{}","result":` + strings.Repeat(`{"a":`, 500) + `"x"` + strings.Repeat("}", 500) + `}`, transcript.TypeToolResult, false, "t\n", "", ""},
	} {
		env := home(t, map[string]string{shared: tables + conversation("c", "", "q", "a") + row("bubbleId:c:b1", `{"type":2,"text":"","toolFormerData":`+c.tool+`}`)})
		s := read(t, env)["c"]
		e := s.Events[1]
		if e.Type != c.typ || e.Failed != c.failed || s.Text(transcript.Call) != c.call || s.Text(transcript.Output) != c.output || strings.Join(e.Files, " ") != c.wantFile {
			t.Errorf("%s: %s failed %v, files %q, call %q, output %q", c.name, e.Type, e.Failed, e.Files, s.Text(transcript.Call), s.Text(transcript.Output))
		}
	}
}

// Of answers to one prompt by several models each is a session, copied from the
// one that a person looks at; a chain of parents that bites its tail ends.
func TestFamilies(t *testing.T) {
	env := home(t, map[string]string{shared: tables +
		conversation("root", `,"subComposerIds":["best","sub"]`, "q", "a", "more") +
		conversation("best", `,"isBestOfNSubcomposer":true`, "q", "a") + row("bubbleId:best:b1", bubbleOf(1, "another answer")) +
		conversation("sub", "", "s") + row("composerData:sub", `{"createdAt":1785000000000,"fullConversationHeadersOnly":[{"bubbleId":"s0"}]}`) + row("bubbleId:sub:s0", bubbleOf(0, "s")) +
		row("composerData:x", `{"fullConversationHeadersOnly":[{"bubbleId":"x0"}],"subagentInfo":{"parentComposerId":"y"}}`) + row("bubbleId:x:x0", bubbleOf(0, "x")) +
		row("composerData:y", `{"fullConversationHeadersOnly":[{"bubbleId":"y0"}],"subagentInfo":{"parentComposerId":"x"}}`) + row("bubbleId:y:y0", bubbleOf(0, "y")) +
		row("composerData:z", `{"fullConversationHeadersOnly":[{"bubbleId":"z0"}],"subagentInfo":{"parentComposerId":"z"}}`) + row("bubbleId:z:z0", bubbleOf(0, "z")) +
		row("composerData:o", `{"fullConversationHeadersOnly":[{"bubbleId":"o0"}],"subagentInfo":{"parentComposerId":"gone"}}`) + row("bubbleId:o:o0", bubbleOf(0, "o")),
	})
	got := read(t, env)
	for _, c := range []struct {
		id, relation, parent string
		inherited, depth     int
	}{
		{"root", "root", "", 0, 0}, {"best", "fork", "root", 2, 0}, {"root#agent-sub", "subagent", "root", 0, 1},
		{"y#agent-x", "subagent", "x#agent-y", 0, maxAncestors}, {"z", "root", "", 0, 0}, {"gone#agent-o", "subagent", "gone", 0, 1},
	} {
		s := got[c.id]
		if s == nil {
			t.Errorf("%s: not there; %q", c.id, transcripttest.Sorted(got))
		} else if string(s.Relation) != c.relation || s.ParentID != c.parent || s.InheritedCount != c.inherited || s.DelegationDepth != c.depth {
			t.Errorf("%s: %+v", c.id, s.Header)
		}
	}
}

// The chats of 2023 and the first conversations of the composer stand whole in a
// row of their window's store.
func TestRows(t *testing.T) {
	env := home(t, map[string]string{user + "workspaceStorage/w1/state.vscdb": tables +
		`INSERT INTO ItemTable VALUES ('workbench.panel.aichat.view.aichat.chatdata','{"selectedTabId":"t1","tabs":[{"tabId":"t1","chatTitle":"Gauges","bubbles":[{"type":"user","text":"q"},{"type":"ai","rawText":"a"}]},{"tabId":"t2","bubbles":[]},{"bubbles":[{}]},null,{"tabId":"t3","bubbles":[{"type":"user","text":"torn"');
		INSERT INTO ItemTable VALUES ('composer.composerData','{"allComposers":[{"composerId":"i1","name":"Inline","createdAt":1725000000000,"conversation":[{"type":1,"bubbleId":"x","text":"early"},{"type":2,"bubbleId":"y","text":"answer"}]},{"composerId":"i2"}]}');`,
		shared: tables + conversation("i1", "", "early", "answer", "moved to the shared store"),
	})
	got := read(t, env)
	if s := got["t1"]; s == nil || s.Said() != "user: q | assistant: a" || s.Title != "Gauges" {
		t.Errorf("t1: %+v", s)
	}
	if s := got["i1"]; s == nil || !strings.Contains(s.Said(), "moved") {
		t.Errorf("i1: %+v", s)
	}
	if len(got) != 2 {
		t.Errorf("%q", transcripttest.Sorted(got))
	}
	must(t, open(t, env, shared), "DELETE FROM cursorDiskKV")
	if s := read(t, env)["i1"]; s == nil || s.Said() != "user: early | assistant: answer" {
		t.Errorf("i1 in its window: %+v", s)
	}
}

func TestStopsWhenAsked(t *testing.T) {
	env := transcripttest.Env(transcripttest.Home(t, samples), nil)
	rd := New()
	stop := errors.New("enough")
	for _, root := range rd.Roots(env) {
		n := 0
		err := rd.Discover(context.Background(), env, root, func(transcript.Source) error { n++; return stop }, func(p string, err error) { t.Errorf("%s: %v", p, err) })
		if n > 0 && !errors.Is(err, stop) || n > 1 {
			t.Errorf("%s: %d sources, then %v", root.Path, n, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, s := range transcripttest.Sources(t, rd, env) {
		if _, err := rd.Read(ctx, env, s, nil, transcripttest.NewRecorder(t)); !errors.Is(err, context.Canceled) {
			t.Errorf("read of %s %s with a cancelled context: %v", s.Path, s.Key, err)
		}
	}
}

// Nothing of Cursor's is written to, whatever state it is in.
func TestLeavesNoTrace(t *testing.T) {
	h := transcripttest.Home(t, samples)
	before := files(t, h)
	env := transcripttest.Env(h, nil)
	read(t, env)
	if after := files(t, h); !slices.Equal(before, after) {
		t.Errorf("before\n%s\nafter\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out = append(out, fmt.Sprintf("%s %x %s", path, transcript.Hash(string(b)), info.ModTime()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}
