package index_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3" // Cursor's stores are SQLite files

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
)

const (
	cursorStore   = ".config/Cursor/User/globalStorage/state.vscdb"
	cursorScripts = ".cursor/projects/w/agent-transcripts/"
)

// cursor makes the store of Cursor's editor, as it is while the editor runs.
func (w *world) cursor() *sql.DB {
	w.t.Helper()
	path := w.path(cursorStore)
	w.must(os.MkdirAll(filepath.Dir(path), 0o700))
	db, err := sql.Open("sqlite3", "file:"+path)
	w.must(err)
	db.SetMaxOpenConns(1)
	w.t.Cleanup(func() { db.Close() })
	_, err = db.Exec(`PRAGMA journal_mode = WAL; CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
		CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)`)
	w.must(err)
	return db
}

// asks writes a conversation of prompts into Cursor's store.
func asks(t *testing.T, db *sql.DB, id string, prompts ...string) {
	t.Helper()
	put := func(key, value string) {
		t.Helper()
		if _, err := db.Exec("INSERT INTO cursorDiskKV VALUES (?, ?)", key, value); err != nil {
			t.Fatal(err)
		}
	}
	var heads []string
	for i, p := range prompts {
		put(fmt.Sprintf("bubbleId:%s:b%d", id, i), fmt.Sprintf(`{"type":1,"bubbleId":"b%d","createdAt":"2026-07-25T17:%02d:00.000Z","text":%q}`, i, 20+i, p))
		heads = append(heads, fmt.Sprintf(`{"bubbleId":"b%d","type":1}`, i))
	}
	put("composerData:"+id, fmt.Sprintf(`{"composerId":%q,"createdAt":1785000000000,"lastUpdatedAt":%d,"workspaceIdentifier":{"uri":{"fsPath":"/w","scheme":"file"}},"fullConversationHeadersOnly":[%s]}`,
		id, 1785000000000+int64(len(prompts))*60000, strings.Join(heads, ",")))
}

func script(prompt string) string {
	return fmt.Sprintf(`{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\n%s\n</user_query>"}]}}`+"\n", prompt)
}

// A conversation that is in Cursor's store and in a transcript is one; when the
// store loses it, the transcript is read.
func TestCursorCopies(t *testing.T) {
	w := newWorld(t)
	db := w.cursor()
	asks(t, db, "conversation-a", "where does the dunlin nest")
	asks(t, db, "conversation-b", "where does the godwit nest")
	w.write(cursorScripts+"conversation-a/conversation-a.jsonl", script("where does the dunlin nest")+script("and the turnstone, transcribed"))
	s := w.enabled()
	w.reconcile(s)
	if st := w.status(s); st.Sessions != 2 || st.FilesFailed != 0 {
		t.Errorf("status %+v", st)
	}
	if got := w.hits(s, "dunlin") + "|" + w.hits(s, "turnstone"); got != "conversation-a|" {
		t.Errorf("in both: %q", got)
	}
	hit := func() contract.Hit { t.Helper(); return w.first(s, "nest agent:cursor") }
	if h := hit(); h.ResumeCommand != "" || h.Cwd == nil || *h.Cwd != "/w" {
		t.Errorf("hit %+v", h)
	}
	_, err := db.Exec(`DELETE FROM cursorDiskKV WHERE key LIKE 'composerData:%'`)
	w.must(err)
	if got := w.fresh(s, "turnstone") + "|" + w.hits(s, "dunlin") + "|" + w.hits(s, "godwit"); got != "conversation-a|conversation-a|conversation-b:missing" {
		t.Errorf("the store has lost them: %q", got)
	}
	asks(t, db, "conversation-a", "where does the dunlin nest", "asked in the editor")
	if got := w.fresh(s, "editor") + "|" + w.hits(s, "turnstone"); got != "conversation-a|" {
		t.Errorf("in the store again: %q", got)
	}
	if st := w.status(s); st.Sessions != 2 || st.FilesFailed != 0 || st.Phase != contract.PhaseCurrent {
		t.Errorf("status %+v", st)
	}
}

// What is written to the store while the editor runs is found without being asked
// for, also a conversation in a store that did not exist before.
func TestFollowingCursor(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.path(".config/Cursor/User"), 0o700))
	w.write(cursorScripts+"first/first.jsonl", script("the plover nests"))
	s := w.enabled()
	s.Start(context.Background())
	w.until("the first look", func() bool { return w.hits(s, "plover") == "first" && w.status(s).Phase == contract.PhaseCurrent })
	db := w.cursor()
	for i := range 4 {
		prompts := []string{"a reed"}
		for n := range i + 1 {
			prompts = append(prompts, fmt.Sprintf("sedge%d", n))
		}
		asks(t, db, "conversation-a", prompts...)
		w.until("prompt "+prompts[i], func() bool { return w.hits(s, fmt.Sprintf("sedge%d", i)) == "conversation-a" })
	}
	_, err := db.Exec(`INSERT INTO cursorDiskKV SELECT key, replace(value, 'sedge3', 'willow') FROM cursorDiskKV WHERE key = 'bubbleId:conversation-a:b4'`)
	w.must(err)
	w.until("an edited message", func() bool { return w.hits(s, "willow") == "conversation-a" && w.hits(s, "sedge3") == "" })
	w.append(cursorScripts+"first/first.jsonl", script("a curlew"))
	w.until("a transcript", func() bool { return w.hits(s, "curlew") == "first" })
	w.write(cursorScripts+"first/subagents/second.jsonl", script("a lapwing"))
	w.until("a sub-agent", func() bool { return w.hits(s, "lapwing") == "first#agent-second" })
}

// A pass over what changed leaves nothing for a look at everything.
func TestTargetedPassOfCursor(t *testing.T) {
	w := newWorld(t)
	db := w.cursor()
	for i := range 20 {
		asks(t, db, fmt.Sprintf("conversation-%02d", i), fmt.Sprintf("bird%d nests", i))
	}
	s := w.enabled()
	w.reconcile(s)
	before := w.status(s).Generation
	asks(t, db, "conversation-07", "bird7 nests", "and a heron")
	asks(t, db, "conversation-99", "an egret")
	w.must(index.Ask(s, []string{w.path(cursorStore + "-wal")}))
	if got := w.hits(s, "heron") + "|" + w.hits(s, "egret"); got != "conversation-07|conversation-99" {
		t.Errorf("found %q", got)
	}
	after := w.status(s)
	if after.Generation == before {
		t.Error("the generation did not move")
	}
	w.reconcile(s)
	if again := w.status(s); again.Generation != after.Generation || again.Sessions != 21 {
		t.Errorf("a look at everything found more: %+v, then %+v", after, again)
	}
}
