package index_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	_ "github.com/mattn/go-sqlite3" // OpenCode's stores

	"github.com/sessionls/sessionls/contract"
)

// What records mean, agent by agent: Claude Code and Codex.
func TestCasesOfMeaning(t *testing.T) {
	claudeRecord := func(kind, uuid, message string) string {
		return `{"type":"` + kind + `","uuid":"` + uuid + `","sessionId":"` + idA + `","cwd":"/w/loom","timestamp":"2026-11-20T10:00:00.000Z","message":` + message + "}\n"
	}
	t.Run("B21 nested forks", func(t *testing.T) {
		w := newWorld(t)
		var log string
		add := func(uuid, parent string) {
			log += strings.Replace(user(idA, uuid, "entry "+uuid), `"uuid"`, fmt.Sprintf(`"parentUuid":%q,"uuid"`, parent), 1)
		}
		// Every seventh entry has two children, of which the second goes on.
		n, parent := 0, ""
		for i := range 107 {
			id := fmt.Sprint("main", i)
			add(id, parent)
			if n++; i%6 == 5 && n < 124 {
				add(fmt.Sprint("dead", i), id)
				n++
			}
			parent = id
		}
		w.equal("entries made", n, 124)
		w.write(claudeFile(idA), log)
		s := w.enabled()
		w.finds(s, "main106", idA+"#123", "main3", idA+"#3", "dead5", idA+"#6")
		r := w.show(s, idA)
		var current, shadowed int
		for _, e := range r.Events {
			switch e.Surface {
			case contract.SurfaceCurrent:
				current++
			case contract.SurfaceShadowed:
				shadowed++
			}
		}
		w.equal("events, current, shadowed", fmt.Sprint(len(r.Events), current, shadowed), "124 107 17")
	})
	t.Run("B22 B24 copies under another id", func(t *testing.T) {
		w := newWorld(t)
		var old, fork string
		for i := range 60 {
			old += user(idA, fmt.Sprint("u", i), fmt.Sprint("dotterel ", i))
			fork += strings.Replace(user(idB, fmt.Sprint("u", i), fmt.Sprint("dotterel ", i)), `{`, `{"sessionKind":"bg",`, 1)
		}
		for i := range 5 {
			fork += strings.Replace(user(idB, fmt.Sprint("v", i), fmt.Sprint("whimbrel ", i)), `{`, `{"sessionKind":"bg",`, 1)
		}
		w.write(claudeFile(idA), old)
		w.write(claudeFile(idB), fork)
		s := w.enabled()
		w.finds(s, `"dotterel 59"`, idA+"#59", `"whimbrel 4"`, idB+"#64")
		h := w.show(s, idB).Session
		if h.ParentSessionID == nil || *h.ParentSessionID != idA || h.MessageCount != 5 || h.InheritedEventCount != 60 || w.show(s, idA).Session.Relation != contract.RelationRoot {
			t.Errorf("copy %+v", h)
		}
	})
	t.Run("B26 answer stored twice", func(t *testing.T) {
		w := newWorld(t)
		w.write(codexFile(codexA), codexMeta(codexA)+codexUser("go")+codexLine("event_msg", `{"type":"user_message","message":"go"}`)+
			codexLine("event_msg", `{"type":"agent_message","message":"hello kestrel"}`)+codexSays("hello kestrel"))
		s := w.enabled()
		h := w.first(s, "kestrel")
		w.equal("role, matches, messages", fmt.Sprint(h.Evidence.Role, " ", h.MatchCount, h.MessageCount), "assistant 1 2")
		w.equal("text", w.said(s, codexA), "user: go\nassistant: hello kestrel")
	})
	t.Run("B27 results as content blocks", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), user(idA, "u1", "go")+claudeRecord("user", "u2", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"row heron"}]}]}`))
		w.write(codexFile(codexA), codexMeta(codexA)+codexUser("go")+codexLine("response_item", `{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"row wigeon"}]}`))
		s := w.enabled()
		w.finds(s, `"row heron"`, idA+"#1", `"row wigeon"`, codexA+"#2")
	})
	t.Run("B29 plumbing", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), user(idA, "u1", "go")+user(idA, "u2", "[Request interrupted by user]")+user(idA, "u3", "<system-reminder>\na hidden shrike\n</system-reminder>")+
			user(idA, "u4", "<local-command-stdout>echoed shrike</local-command-stdout>"))
		w.write(claudeFile(idB), user(idB, "v1", "why does it print [Request interrupted by user] here, and what is a <system-reminder>?"))
		s := w.enabled()
		w.finds(s, `"request interrupted"`, idB+"#title", "shrike", "")
		w.equal("quoted", w.first(s, `"a system-reminder"`).SessionID, idB)
	})
	for _, c := range []struct{ name, first, second, title string }{
		{"B31 command first", "<command-name>/plan</command-name>", "tidy the gull parser", "tidy the gull parser"},
		{"B31 login first", "<command-name>/login</command-name>\n<command-message>login</command-message>\n<command-args></command-args>", "tidy the gull parser", "tidy the gull parser"},
		{"B31 a path is no command", "/usr/local gives an error", "yes", "/usr/local gives an error"},
		{"B32 envelope first", "<ide_opened_file>/x/y.go</ide_opened_file>\nfix the tern test", "yes", "fix the tern test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(claudeFile(idA), user(idA, "u1", c.first)+user(idA, "u2", c.second))
			s := w.enabled()
			w.equal("title", w.first(s, `"`+c.title+`"`).Title, c.title)
		})
	}
	t.Run("B34 encrypted task of a sub-agent", func(t *testing.T) {
		w := newWorld(t)
		secret := "gAAAAAB" + strings.Repeat("Zm9yIHlvdXIgZXllcyBvbmx5MQ_-", 80)
		w.write(codexFile(codexA), codexMeta(codexA)+codexUser("delegate it")+
			codexLine("response_item", `{"type":"function_call","name":"spawn_agent","call_id":"c1","arguments":`+quoted(`{"agent_type":"worker","message":"`+secret+`"}`)+`}`)+
			codexLine("event_msg", `{"type":"collab_agent_spawn_end","call_id":"c1","new_thread_id":"`+codexB+`","prompt":"`+secret+`"}`))
		w.write(codexFile(codexB), codexLine("session_meta", `{"id":"`+codexB+`","cwd":"/w/loom","source":{"subagent":{"thread_spawn":{"parent_thread_id":"`+codexA+`","depth":1}}}}`)+
			codexLine("response_item", `{"type":"agent_message","content":[{"type":"encrypted_content","encrypted_content":"`+secret+`"}]}`)+codexSays("a done redshank"))
		s := w.enabled()
		h := w.first(s, "redshank")
		w.equal("relation, parent", fmt.Sprint(h.Relation, *h.ParentSessionID), "subagent"+codexA)
		w.finds(s, "gAAAAABZm9yIHlvdXIgZXllcyBvbmx5MQ", "")
		if text := w.said(s, codexA) + w.said(s, codexB); strings.Contains(text, "gAAAAAB") {
			t.Errorf("text %.200q", text)
		}
	})
	t.Run("B36 sub-agents and results in files of their own", func(t *testing.T) {
		w := newWorld(t)
		stub := "<persisted-output>\nOutput too large (48KB). Full output saved to: " + w.path(project+idA+"/tool-results/toolu_1.txt") + "\n\nPreview (first 2KB):\nfirst wren\n</persisted-output>"
		w.write(claudeFile(idA), user(idA, "u1", "go")+claudeRecord("user", "u2", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":`+quoted(stub)+`}]}`))
		w.write(project+idA+"/tool-results/toolu_1.txt", "first wren\nthen an ibis\n")
		agent := func(id, text string) string {
			return strings.Replace(user(idA, "u-"+id, text), `{`, `{"isSidechain":true,"agentId":"`+id+`",`, 1)
		}
		w.write(project+idA+"/subagents/agent-a1.jsonl", agent("a1", "count the curlews"))
		w.write(project+idA+"/subagents/workflows/agent-a2.jsonl", agent("a2", "count the knots"))
		s := w.enabled()
		w.finds(s, "ibis", idA+"#1", "curlews", idA+"#agent-a1#title", "knots", idA+"#agent-a2#title")
		for _, q := range []string{"curlews", "knots"} {
			h := w.first(s, q)
			w.equal("relation, parent of "+q, fmt.Sprint(h.Relation, *h.ParentSessionID), "subagent"+idA)
		}
	})
	t.Run("B37 end of a long output", func(t *testing.T) {
		w := newWorld(t)
		output := strings.Repeat(".", 60<<10) + "\nE: widget 7731 missing"
		w.write(claudeFile(idA), user(idA, "u1", "go")+claudeRecord("user", "u2", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":`+quoted(output)+`}]}`))
		w.write(codexFile(codexA), codexMeta(codexA)+codexUser("go")+codexLine("response_item", `{"type":"function_call_output","call_id":"c","output":`+quoted(strings.Repeat("dull ", 12<<10)+"E: gasket 8842 missing")+`}`))
		s := w.enabled()
		w.finds(s, `"widget 7731 missing"`, idA+"#1", `"gasket 8842 missing"`, codexA+"#2")
	})
	t.Run("B41 archived and live", func(t *testing.T) {
		w := newWorld(t)
		text := codexMeta(codexA) + codexUser("archived godwit")
		archived := ".codex/archived_sessions/" + filepath.Base(codexFile(codexA))
		w.write(archived, text)
		s := w.enabled()
		w.finds(s, "godwit", codexA+"#title")
		live := w.write(codexFile(codexA), text)
		w.finds(s, "godwit", codexA+"#title")
		w.equal("read", w.first(s, "godwit").Source.FilePath, live)
		w.equal("sessions", w.status(s).Sessions, 1)
	})
	t.Run("B42 plain and longer packed", func(t *testing.T) {
		w := newWorld(t)
		text := codexMeta(codexA) + codexUser("why does the pipit sing")
		enc, err := zstd.NewWriter(nil)
		w.must(err)
		w.write(codexFile(codexA), text)
		w.write(codexFile(codexA)+".zst", string(enc.EncodeAll([]byte(text+codexSays("a packed twite")), nil)))
		w.write(codexFile(codexB)+".zst", "this is not zstd at all")
		s := w.enabled()
		w.finds(s, "twite", codexA+"#2", "pipit", codexA+"#title")
		w.equal("sessions", w.status(s).Sessions, 1)
	})
	t.Run("B44 name of a file that is gone", func(t *testing.T) {
		w := newWorld(t)
		w.write(codexFile(codexA), codexMeta(codexA)+codexUser("present turnstone"))
		w.write(".codex/session_index.jsonl", `{"id":"`+codexB+`","thread_name":"absent turnstone","updated_at":"2026-11-20T10:00:00Z"}`+"\n")
		s := w.enabled()
		w.finds(s, "turnstone", codexA+"#title")
		w.equal("sessions", w.status(s).Sessions, 1)
	})
}

// What records mean: the other agents.
func TestCasesOfMeaningElsewhere(t *testing.T) {
	t.Run("B19 VS Code's list operation", func(t *testing.T) {
		w := newWorld(t)
		const id = "11111111-0000-4000-8000-000000000001"
		chat := ".config/Code/User/workspaceStorage/0f1e/chatSessions/" + id + ".jsonl"
		log := `{"kind":0,"v":{"version":3,"sessionId":"` + id + `","creationDate":1785000000000,"requests":[{"requestId":"r1","timestamp":1785000000000,"message":{"text":"name three birds"},"response":[{"value":"A avocet"},{"value":"B bittern"},{"value":"C crake"}]}]}}` + "\n"
		w.write(chat, log+`{"kind":2,"k":["requests",0,"response"],"v":[{"value":"X xenops"}],"i":1}`+"\n")
		s := w.enabled()
		w.finds(s, "avocet", id+"#1", "xenops", id+"#1", "bittern", "", "crake", "")
		w.append(chat, `{"kind":2,"k":["requests",0,"response"],"i":1}`+"\n")
		w.finds(s, "avocet", id+"#1", "xenops", "", "bittern", "", "crake", "")
		// After many entries the whole file is written anew.
		w.write(chat, strings.Replace(log, "C crake", "C corncrake", 1))
		w.finds(s, "xenops", "", "bittern", id+"#1", "corncrake", id+"#1")
	})
	t.Run("B39 B129 Gemini's second file of a session", func(t *testing.T) {
		w := newWorld(t)
		const id = "abcd1234-0000-4000-8000-000000000001"
		head := `{"sessionId":"` + id + `","projectHash":"h","startTime":"2026-11-20T10:00:00.000Z","lastUpdated":"2026-11-20T10:00:00.000Z","kind":"main"}` + "\n"
		first := w.write(".gemini/tmp/loom/chats/session-2026-11-20T10-00-abcd1234.jsonl", head+`{"id":"m1","timestamp":"2026-11-20T10:00:01.000Z","type":"user","content":"why does the merlin stoop"}`+"\n")
		w.write(".gemini/tmp/loom/chats/session-2026-11-21T10-00-abcd1234.jsonl", strings.ReplaceAll(head, "11-20", "11-21"))
		s := w.enabled()
		h := w.first(s, "merlin")
		w.equal("session, file, resume", fmt.Sprint(h.SessionID, " ", h.Source.FilePath, " ", h.ResumeCommand), id+" "+first+" gemini --resume "+id)
		w.equal("sessions", w.status(s).Sessions, 1)
		w.must(os.Remove(first))
		w.finds(s, "merlin", id+"#title")
		w.equal("text", w.said(s, id), "user: why does the merlin stoop")
		h = w.first(s, "merlin")
		w.equal("presence, resume", fmt.Sprint(h.Source.Presence, h.ResumeCommand), "missing")
	})
	t.Run("B54 a document that is written anew", func(t *testing.T) {
		w := newWorld(t)
		const id = "abcd1234-0000-4000-8000-000000000002"
		document := func(messages string) string {
			return `{"sessionId":"` + id + `","projectHash":"h","startTime":"2026-11-20T10:00:00.000Z","lastUpdated":"2026-11-20T10:00:00.000Z","messages":[` + messages + `]}`
		}
		path := ".gemini/tmp/loom/chats/session-2026-11-20T10-00-abcd1234.json"
		one := `{"id":"m1","timestamp":"2026-11-20T10:00:01.000Z","type":"user","content":"first linnet"}`
		w.write(path, document(one))
		s := w.enabled()
		w.finds(s, "linnet", id+"#title")
		w.write(path, document(one+`,{"id":"m2","timestamp":"2026-11-20T10:00:02.000Z","type":"gemini","content":"final siskin"}`))
		w.finds(s, "siskin", id+"#1")
		w.write(path, document(one+`,{"id":"m2","timestamp":"2026-11-20T10:00:02.000Z","type":"gemini","content":"final brambling"}`))
		w.finds(s, "siskin", "", "brambling", id+"#1")
	})
	t.Run("B46 B47 OpenCode's databases of two channels, project global", func(t *testing.T) {
		w := newWorld(t)
		one := w.openCode("opencode.db")
		two := w.openCode("opencode-stable.db")
		openCodeSession(t, one, "ses_1", "/home/kim/loom", 1785000000000, "count the plovers")
		openCodeSession(t, two, "ses_2", "/home/kim/other", 1785000000000, "count the ruffs")
		s := w.enabled()
		h := w.first(s, "plovers")
		w.equal("session, cwd", h.SessionID+" "+*h.Cwd, "ses_1 /home/kim/loom")
		w.equal("union", w.first(s, "ruffs").SessionID, "ses_2")
		w.equal("by project", w.first(s, "repo:loom").SessionID, "ses_1")
		w.healthy(s)
	})
	t.Run("B51 seconds and milliseconds", func(t *testing.T) {
		w := newWorld(t)
		db := w.openCode("opencode.db")
		openCodeSession(t, db, "ses_s", "/w/loom", 1785000000, "seconds of a smew")
		openCodeSession(t, db, "ses_ms", "/w/loom", 1785000000000, "milliseconds of a smew")
		w.write(claudeFile(idA), `{"type":"user","uuid":"u1","timestamp":1785000000,"message":{"content":"seconds of a scaup"}}`+"\n")
		w.write(claudeFile(idB), `{"type":"user","uuid":"u1","timestamp":1785000000000,"message":{"content":"milliseconds of a scaup"}}`+"\n")
		s := w.enabled()
		w.reconcile(s)
		for _, id := range []string{"ses_s", "ses_ms", idA, idB} {
			if h := w.show(s, id); h.Session.CreatedAt == nil || h.Events[0].Time == nil {
				t.Errorf("%s has no time: %+v", id, h.Session)
			} else {
				w.equal("created, said "+id, quoted(h.Session.CreatedAt)+quoted(h.Events[0].Time), `"2026-07-25T17:20:00.000Z""2026-07-25T17:20:00.000Z"`)
			}
		}
	})
}

// openCode makes an empty store of OpenCode.
func (w *world) openCode(name string) *sql.DB {
	w.t.Helper()
	path := w.write(".local/share/opencode/"+name, "")
	db, err := sql.Open("sqlite3", "file:"+path)
	w.must(err)
	w.t.Cleanup(func() { db.Close() })
	_, err = db.Exec(`PRAGMA journal_mode = WAL;
		CREATE TABLE project(id text PRIMARY KEY, worktree text NOT NULL, time_created integer, time_updated integer);
		INSERT INTO project VALUES('global', '/', 1, 1);
		CREATE TABLE session(id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL, title text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
		CREATE TABLE message(id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
		CREATE TABLE part(id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
		CREATE INDEX message_session ON message(session_id);
		CREATE INDEX part_session ON part(session_id);`)
	w.must(err)
	return db
}

// openCodeSession adds a session with one prompt.
func openCodeSession(t *testing.T, db *sql.DB, id, dir string, at int64, text string) {
	t.Helper()
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO session VALUES(?, 'global', NULL, ?, 'New session - 2026-11-20T10:00:00.000Z', ?, ?)`, []any{id, dir, at, at}},
		{`INSERT INTO message VALUES(?, ?, ?, ?, ?)`, []any{"msg_" + id, id, at, at, fmt.Sprintf(`{"role":"user","time":{"created":%d}}`, at)}},
		{`INSERT INTO part VALUES(?, ?, ?, ?, ?, ?)`, []any{"prt_" + id, "msg_" + id, id, at, at, `{"type":"text","text":` + quoted(text) + `}`}},
	} {
		if _, err := db.Exec(q.sql, q.args...); err != nil {
			t.Fatal(err)
		}
	}
}

// sum tells whether a file changed.
func sum(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%x", sha256.Sum256(b))
	return out.String()
}
