package opencode

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

// schemaV1 is the least a v1.2 store has.
const schemaV1 = `
CREATE TABLE project (id text PRIMARY KEY, worktree text, time_updated integer);
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text, title text, revert text, time_created integer, time_updated integer, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
`

const schemaNext = `
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, fork_session_id text, fork_message_id text, directory text, title text, revert text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, time_created integer, time_updated integer, data text);
`

// insert builds a session of message/part rows: each text is a message, by the
// user and the model in turn, a second apart.
func insert(id string, at int64, texts ...string) string {
	var b strings.Builder
	for i, text := range texts {
		role := []string{"user", "assistant"}[i%2]
		t := at + int64(i)*1000
		fmt.Fprintf(&b, `INSERT INTO message VALUES ('msg_%s_%d','%s',%d,%d,'{"role":"%s","time":{"created":%d}}');`, id, i, id, t, t, role, t)
		fmt.Fprintf(&b, `INSERT INTO part VALUES ('prt_%s_%d','msg_%s_%d','%s',%d,%d,'{"type":"text","text":"%s"}');`, id, i, id, i, id, t, t, text)
	}
	return b.String()
}

// stores makes a home with databases, named below the data folder.
func stores(t testing.TB, sql map[string]string) transcript.Env {
	t.Helper()
	h := t.TempDir()
	for name, text := range sql {
		transcripttest.Database(t, filepath.Join(h, filepath.FromSlash(dataDir), name), text)
	}
	return transcripttest.Env(h, nil)
}

func readAll(t testing.TB, env transcript.Env) map[string]*transcripttest.Session {
	t.Helper()
	out := map[string]*transcripttest.Session{}
	for _, src := range transcripttest.Sources(t, New(), env) {
		sessions, _, err := transcripttest.ReadAll(t, New(), env, src)
		if err != nil && !errors.Is(err, transcript.ErrNoSession) {
			t.Errorf("%s: %v", src.Key, err)
		}
		for id, s := range sessions {
			if s.SessionID != "" {
				out[id] = s
			}
		}
	}
	return out
}

// B46: history is split over the databases of release channels. B47: the
// project "global" has the worktree "/", the session's folder counts.
func TestSeveralDatabases(t *testing.T) {
	env := stores(t, map[string]string{
		"opencode.db": schemaV1 + `INSERT INTO project VALUES ('global','/',1);
			INSERT INTO session VALUES ('ses_1','global',NULL,'/home/kim/loom','One',NULL,1785000000000,1785000000000,NULL);` + insert("ses_1", 1785000001000, "a", "b"),
		"opencode-stable.db": schemaV1 + `INSERT INTO session VALUES ('ses_2','p',NULL,'/w','Two',NULL,1785000000000,1785000000000,1785000009000);` + insert("ses_2", 1785000001000, "c", "d"),
		"other.db":           `CREATE TABLE t (x);`,
	})
	got := readAll(t, env)
	if len(got) != 2 || got["ses_1"] == nil || got["ses_2"] == nil {
		t.Fatalf("sessions %v", transcripttest.Sorted(got))
	}
	if got["ses_1"].CWD != "/home/kim/loom" || got["ses_1"].Archived || !got["ses_2"].Archived {
		t.Errorf("headers %+v, %+v", got["ses_1"].Header, got["ses_2"].Header)
	}
}

// B99: a write to one session makes work for that session only; every kind of
// change to a session is noticed.
func TestWatermarks(t *testing.T) {
	var sql strings.Builder
	sql.WriteString(schemaV1 + "INSERT INTO project VALUES ('p','/w',1);")
	for i := range 50 {
		id := fmt.Sprintf("ses_%02d", i)
		fmt.Fprintf(&sql, `INSERT INTO session VALUES ('%s','p',NULL,'/w','T',NULL,1785000000000,1785000000000,NULL);`, id)
		sql.WriteString(insert(id, 1785000001000, "a", "b"))
	}
	env := stores(t, map[string]string{"opencode.db": sql.String()})
	db := open(t, filepath.Join(env.Home, dataDir, "opencode.db"))
	defer db.Close()
	marks := func() map[string]string {
		out := map[string]string{}
		for _, s := range transcripttest.Sources(t, New(), env) {
			out[s.Key] = s.Signature
		}
		return out
	}
	for _, c := range []struct {
		change string
		want   string
	}{
		{"VACUUM", ""},
		{"UPDATE part SET data = '{}', time_updated = time_updated + 1 WHERE id = 'prt_ses_07_1'", "ses_07"},
		{"UPDATE message SET time_updated = time_updated + 1 WHERE id = 'msg_ses_08_1'", "ses_08"},
		{"DELETE FROM part WHERE id = 'prt_ses_09_0'", "ses_09"},
		{"DELETE FROM message WHERE id = 'msg_ses_10_0'", "ses_10"},
		{"UPDATE session SET title = 'U' WHERE id = 'ses_11'", "ses_11"},
		{"UPDATE session SET revert = '{\"messageID\":\"m\"}' WHERE id = 'ses_12'", "ses_12"},
		{"UPDATE session SET time_updated = time_updated + 1 WHERE id = 'ses_13'", "ses_13"},
		{insert("ses_14b", 1785000009000, "new"), ""}, // rows of no session
		{"INSERT INTO part VALUES ('prt_new','msg_ses_15_1','ses_15',1,1,'{}')", "ses_15"},
	} {
		before := marks()
		if _, err := db.Exec(c.change); err != nil {
			t.Fatal(err)
		}
		var changed []string
		for id, s := range marks() {
			if before[id] != s {
				changed = append(changed, id)
			}
		}
		if got := strings.Join(changed, " "); got != c.want {
			t.Errorf("%s: changed %q, want %q", c.change, got, c.want)
		}
	}
}

// Columns that a version or a relative lacks are done without.
func TestOlderSchemas(t *testing.T) {
	env := stores(t, map[string]string{
		"opencode.db": `CREATE TABLE session (id text, title text, directory text, time_created integer, time_updated integer);
			CREATE TABLE message (id text, session_id text, data text);
			CREATE TABLE part (id text, message_id text, session_id text, data text);
			INSERT INTO session VALUES ('ses_1','Kilo','/w',1785000000000,1785000000000);
			INSERT INTO message VALUES ('msg_2','ses_1','{"role":"assistant","time":{"created":1785000002000}}'),('msg_1','ses_1','{"role":"user","time":{"created":1785000001000}}');
			INSERT INTO part VALUES ('prt_1','msg_1','ses_1','{"type":"text","text":"q"}'),('prt_2','msg_2','ses_1',CAST('{"type":"text","text":"a"}' AS BLOB)),('prt_3','msg_2','ses_1',NULL);`,
	})
	s := readAll(t, env)["ses_1"]
	wantLines(t, s, "msg_1 user/message current | q", "msg_2 assistant/message current | a")
	if s.Title != "Kilo" || s.MessageCount != 2 {
		t.Errorf("header %+v", s.Header)
	}
}

// A store with a schema nobody knows is reported, not guessed at, and does not
// keep others from being read.
func TestForeignSchemas(t *testing.T) {
	env := stores(t, map[string]string{
		"opencode.db":     schemaV1 + `INSERT INTO session VALUES ('ses_1','p',NULL,'/w','One',NULL,1,1,NULL);`,
		"opencode-a.db":   `CREATE TABLE t (x);`,
		"opencode-b.db":   `CREATE TABLE session (id text); CREATE TABLE message (id text, payload text);`,
		"opencode-dir.db": `CREATE TABLE t (x);`,
	})
	root := New().Roots(env)[0]
	var reported, found []string
	err := New().Discover(context.Background(), env, root, func(s transcript.Source) error { found = append(found, s.Key); return nil },
		func(path string, _ error) { reported = append(reported, filepath.Base(path)) })
	if err != nil || strings.Join(found, " ") != "ses_1" || strings.Join(reported, " ") != "opencode-a.db opencode-b.db opencode-dir.db" {
		t.Errorf("found %v, reported %v, error %v", found, reported, err)
	}
}

func TestStopsWhenAsked(t *testing.T) {
	env := transcripttest.Env(home(t, "opencode"), nil)
	stop := errors.New("enough")
	n := 0
	err := New().Discover(context.Background(), env, New().Roots(env)[0], func(transcript.Source) error { n++; return stop }, func(p string, err error) { t.Errorf("%s: %v", p, err) })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("%d sources, then %v", n, err)
	}
	src := transcripttest.Sources(t, New(), env)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, s := range src {
		if _, err := New().Read(ctx, env, s, nil, transcripttest.NewRecorder(t)); !errors.Is(err, context.Canceled) {
			t.Errorf("read of %s with a cancelled context: %v", s.Key, err)
		}
	}
}

func TestLineage(t *testing.T) {
	task := func(child string) string {
		return `{"type":"tool","tool":"task","state":{"status":"completed","input":{"prompt":"p"},"output":"o","metadata":{"sessionId":"` + child + `"}}}`
	}
	row := func(id, parent, title string, at int64) string {
		return fmt.Sprintf("INSERT INTO session VALUES ('%s','p',%s,'/w','%s',NULL,%d,%d,NULL);", id, parent, title, at, at)
	}
	const at = 1785000000000
	env := stores(t, map[string]string{"opencode.db": schemaV1 +
		row("ses_root", "NULL", "Root", at) + insert("ses_root", at+1000, "weave", "woven", "again", "more") +
		fmt.Sprintf("INSERT INTO part VALUES ('prt_task','msg_ses_root_1','ses_root',%d,%d,'%s');", at+5000, at+5000, task("ses_kid")) +
		row("ses_kid", "'ses_root'", "look (@explore subagent)", at+5100) + insert("ses_kid", at+5200, "find", "found") +
		row("ses_grandkid", "'ses_kid'", "deeper", at+5300) + insert("ses_grandkid", at+5400, "find", "found") +
		row("ses_twin", "NULL", "Root (fork #2)", at+70000) + insert("ses_twin", at+1000, "weave", "woven") +
		row("ses_orphan", "'ses_gone'", "orphan", at+5300) + insert("ses_orphan", at+5400, "find", "found") +
		// A fork of before forks were recorded: copies of the first two messages with new ids, then its own.
		row("ses_fork", "NULL", "Root (fork #1)", at+60000) + insert("ses_fork", at+1000, "weave", "woven") +
		fmt.Sprintf(`INSERT INTO message VALUES ('msg_own','ses_fork',%d,%d,'{"role":"user","time":{"created":%d}}');`, at+61000, at+61000, at+61000) +
		`INSERT INTO part VALUES ('prt_own','msg_own','ses_fork',1,1,'{"type":"text","text":"own way"}');`,
	})
	got := readAll(t, env)
	for _, c := range []struct {
		id, relation, parent, event, evidence string
		depth, inherited, messages            int
	}{
		{"ses_root", "root", "", "", "", 0, 0, 4},
		{"ses_kid", "subagent", "ses_root", "prt_task", "header", 1, 0, 2},
		{"ses_grandkid", "subagent", "ses_kid", "", "header", 2, 0, 2},
		{"ses_orphan", "subagent", "ses_gone", "", "header", 1, 0, 2},
		{"ses_twin", "fork", "ses_root", "", "overlap", 0, 2, 0},
		{"ses_fork", "fork", "ses_root", "", "overlap", 0, 2, 1},
	} {
		h := got[c.id].Header
		if string(h.Relation) != c.relation || h.ParentID != c.parent || h.ParentEvent != c.event || string(h.LineageEvidence) != c.evidence ||
			h.DelegationDepth != c.depth || h.InheritedCount != c.inherited || h.MessageCount != c.messages || !h.InheritedKnown {
			t.Errorf("%s: %+v, want %+v", c.id, h, c)
		}
	}
	for i, e := range got["ses_fork"].Events {
		if e.Inherited != (i < 2) {
			t.Errorf("event %d of the fork: inherited %v", i, e.Inherited)
		}
	}
}

// The next generation: rows of session_message win and are never mixed with
// the older tables; a recorded fork shares its leading rows.
func TestNextGeneration(t *testing.T) {
	row := func(session string, seq int, kind, data string) string {
		return fmt.Sprintf("INSERT INTO session_message VALUES ('evt_%s_%d','%s','%s',%d,%d,%d,'%s');", session, seq, session, kind, seq, 1785000000000+seq*1000, 1785000000000, data)
	}
	env := stores(t, map[string]string{"opencode.db": schemaNext +
		"INSERT INTO session VALUES ('ses_1','p',NULL,NULL,NULL,'/w','T',NULL,1785000000000,1785000000000);" +
		"INSERT INTO session VALUES ('ses_2','p',NULL,'ses_1','evt_ses_1_3','/w','T2',NULL,1785000050000,1785000050000);" +
		"INSERT INTO session VALUES ('ses_3','p',NULL,'ses_gone','m','/w','T3',NULL,1785000050000,1785000050000);" +
		insert("ses_1", 1785000001000, "old row") +
		row("ses_1", 9, "user", `{"text":"last"}`) +
		row("ses_1", 1, "user", `{"text":"first","files":[{"uri":"file:///w/a.go","mime":"text/plain"}]}`) +
		row("ses_1", 2, "assistant", `{"model":{"id":"m1"},"content":[{"type":"text","text":"yes"},{"type":"tool","id":"c1","name":"bash","state":{"status":"error","input":{"command":"x"},"error":{"message":"boom"}}},{"type":"tool","id":"c2","name":"read","state":{"status":"running","input":{"filePath":"b.go"}}}]}`) +
		row("ses_1", 3, "shell", `{"command":"ls","output":"a.go"}`) +
		row("ses_1", 4, "hologram", `{"text":"?"}`) +
		row("ses_1", 5, "user", `{"text":"tor`) +
		row("ses_1", 6, "synthetic", `{"text":"noise"}`) +
		row("ses_2", 1, "user", `{"text":"first"}`) + row("ses_2", 2, "assistant", `{"content":[{"type":"text","text":"yes"}]}`) + row("ses_2", 70, "user", `{"text":"other way"}`) +
		row("ses_3", 1, "user", `{"text":"first"}`),
	})
	got := readAll(t, env)
	wantLines(t, got["ses_1"], "evt_ses_1_1 user/message current | first", "evt_ses_1_2 assistant/message current | yes", "c1 tool/result current | bash\nx | boom",
		"c2 tool/call current | read\nb.go", "evt_ses_1_3 tool/result current | shell\nls | a.go", "evt_ses_1_4 other log-only", "evt_ses_1_5 user/message current",
		"evt_ses_1_6 request/context current", "evt_ses_1_9 user/message current | last")
	if s := got["ses_1"]; s.MessageCount != 3 || s.Format != "db-next" || !s.Events[2].Failed || s.Events[0].Files[0] != "/w/a.go" || s.Events[3].Files[0] != "/w/b.go" {
		t.Errorf("session %+v", s)
	}
	h := got["ses_2"].Header
	if h.Relation != transcript.RelationFork || h.ParentID != "ses_1" || h.ParentEvent != "evt_ses_1_3" || h.InheritedCount != 2 || !h.InheritedKnown || h.MessageCount != 1 {
		t.Errorf("fork %+v", h)
	}
	if h := got["ses_3"].Header; h.ParentID != "ses_gone" || h.InheritedKnown || h.InheritedCount != 0 || h.MessageCount != 1 {
		t.Errorf("fork of a lost session %+v", h)
	}
}

// A writer changes parts in place while sessions are read.
func TestLiveWriter(t *testing.T) {
	env := stores(t, map[string]string{"opencode.db": "PRAGMA journal_mode=WAL;" + schemaV1 +
		"INSERT INTO session VALUES ('ses_1','p',NULL,'/w','T',NULL,1785000000000,1785000000000,NULL);" + insert("ses_1", 1785000001000, "a", "b", "c", "d")})
	db := open(t, filepath.Join(env.Home, dataDir, "opencode.db"))
	defer db.Close()
	if _, err := db.Exec("UPDATE part SET data = '{\"type\":\"text\",\"text\":\"grown\"}' WHERE id = 'prt_ses_1_3'"); err != nil {
		t.Fatal(err)
	}
	wantLines(t, readAll(t, env)["ses_1"], "msg_ses_1_0 user/message current | a", "msg_ses_1_1 assistant/message current | b", "msg_ses_1_2 user/message current | c", "msg_ses_1_3 assistant/message current | grown")
	if _, err := db.Exec("DELETE FROM message WHERE id = 'msg_ses_1_2'"); err != nil {
		t.Fatal(err)
	}
	wantLines(t, readAll(t, env)["ses_1"], "msg_ses_1_0 user/message current | a", "msg_ses_1_1 assistant/message current | b", "msg_ses_1_3 assistant/message current | grown")
	src := transcripttest.Sources(t, New(), env)[0]
	if _, err := db.Exec("DELETE FROM session"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := transcripttest.ReadAll(t, New(), env, src); !missing(err) {
		t.Errorf("a session deleted after discovery: %v", err)
	}
}

// A row beyond what is kept whole is streamed.
func TestHugeRow(t *testing.T) {
	env := stores(t, map[string]string{"opencode.db": schemaV1 + "INSERT INTO session VALUES ('ses_1','p',NULL,'/w','T',NULL,1785000000000,1785000000000,NULL);" + insert("ses_1", 1785000001000, "a", "b")})
	db := open(t, filepath.Join(env.Home, dataDir, "opencode.db"))
	big := strings.Repeat("潮 tern ", 3<<20)
	if _, err := db.Exec("INSERT INTO part VALUES ('prt_z','msg_ses_1_1','ses_1',1,1,?)", `{"type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"cat"},"output":"`+big+`the end"}}`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	s := readAll(t, env)["ses_1"]
	if out := s.Events[2].Parts[1].Text; len(out) != len(big)+7 || !strings.HasSuffix(out, "tern the end") {
		t.Errorf("output of %d bytes, want %d", len(out), len(big)+7)
	}
}
