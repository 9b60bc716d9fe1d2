package index_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
)

// What changes on disk.
func TestCasesOfRefreshing(t *testing.T) {
	t.Run("B96 equal size and mtime", func(t *testing.T) {
		w := newWorld(t)
		path := w.write(claudeFile(idA), user(idA, "u1", "the plover nests"))
		s := w.enabled()
		w.finds(s, "plover", idA+"#title")
		info, err := os.Stat(path)
		w.must(err)
		w.write(claudeFile(idA), user(idA, "u1", "the dotter nests"))
		w.must(os.Chtimes(path, info.ModTime(), info.ModTime()))
		w.finds(s, "plover", "", "dotter", idA+"#title")
	})
	t.Run("touched, copied, written anew", func(t *testing.T) {
		w := newWorld(t)
		path := w.write(claudeFile(idA), user(idA, "u1", "the plover nests"))
		s := w.enabled()
		w.finds(s, "plover", idA+"#title")
		at, err := os.Stat(path)
		w.must(err)
		dated := func() { w.must(os.Chtimes(path, at.ModTime(), at.ModTime())) }
		for _, c := range []struct {
			name   string
			moves  bool // which sessions are active goes by the time
			change func()
		}{
			{"mode", false, func() { w.must(os.Chmod(path, 0o640)) }},
			{"bytes", false, func() { w.write(claudeFile(idA), user(idA, "u1", "the plover nests")); dated() }},
			{"inode", false, func() {
				w.write("copy", user(idA, "u1", "the plover nests"))
				w.must(os.Rename(w.path("copy"), path))
				dated()
			}},
			{"times", true, func() { w.must(os.Chtimes(path, time.Now(), time.Now().Add(-time.Hour))) }},
		} {
			was := w.status(s).Generation
			c.change()
			w.finds(s, "plover", idA+"#title")
			if got, epoch := w.status(s).Generation, w.show(s, idA).Session.Epoch; (got != was) != c.moves || epoch != 1 {
				t.Errorf("%s: generation %d was %d, epoch %d", c.name, got, was, epoch)
			}
		}
		w.append(claudeFile(idA), user(idA, "u2", "the heron waits"))
		w.finds(s, "heron", idA+"#1")
	})
	t.Run("a large one touched, grown, rewritten in its middle", func(t *testing.T) {
		w := newWorld(t)
		pad := strings.Repeat("padding of a long answer ", 1<<10)
		var log strings.Builder
		for i := range 180 {
			log.WriteString(user(idA, fmt.Sprint("u", i), fmt.Sprint("the plover", i, " nests ", pad)))
		}
		path := w.write(claudeFile(idA), log.String())
		s := w.enabled()
		// On a busy machine a pass over so much takes longer than a search waits for it,
		// and what changes while it is read is read again.
		finds := func(pairs ...string) {
			t.Helper()
			w.reconcile(s)
			w.finds(s, pairs...)
		}
		finds("plover125", idA+"#125")
		hour := time.Hour
		touch := func() {
			hour += time.Hour
			w.must(os.Chtimes(path, time.Now(), time.Now().Add(-hour)))
		}
		expect := func(when string, epoch int64) {
			t.Helper()
			if got := w.show(s, idA).Session.Epoch; got != epoch {
				t.Errorf("%s: epoch %d, want %d", when, got, epoch)
			}
		}
		touch()
		finds("plover125", idA+"#125")
		expect("touched", 1)
		w.append(claudeFile(idA), user(idA, "more", "the heron waits"))
		finds("heron", idA+"#180")
		touch()
		finds("heron", idA+"#180")
		expect("grown and touched", 1)
		text, err := os.ReadFile(path)
		w.must(err)
		w.write(claudeFile(idA), strings.Replace(string(text), "the plover125 nests", "the dotter125 nests", 1))
		touch()
		finds("plover125", "", "dotter125", idA+"#125", "heron", idA+"#180")
		expect("rewritten", 2)
		touch()
		finds("dotter125", idA+"#125")
		expect("touched again", 2)
		// What is rewritten while it grows is not noticed then, but when it is touched.
		text, err = os.ReadFile(path)
		w.must(err)
		w.write(claudeFile(idA), strings.Replace(string(text), "the dotter125 nests", "the curlew125 nests", 1)+user(idA, "last", "the crane dances"))
		finds("crane", idA+"#181")
		touch()
		finds("curlew125", idA+"#125", "dotter125", "", "crane", idA+"#181")
	})
	t.Run("B97 rewind below the old length", func(t *testing.T) {
		w := newWorld(t)
		var log strings.Builder
		for i := range 100 {
			log.WriteString(user(idA, fmt.Sprint("u", i), fmt.Sprint("old line", i)))
			if i == 59 {
				w.write("keep", log.String())
			}
		}
		path := w.write(claudeFile(idA), log.String())
		s := w.enabled()
		w.finds(s, "line99", idA+"#99")
		kept, err := os.Stat(w.path("keep"))
		w.must(err)
		w.must(os.Truncate(path, kept.Size()))
		for i := range 80 {
			w.append(claudeFile(idA), user(idA, fmt.Sprint("v", i), fmt.Sprint("new verse", i)))
		}
		w.finds(s, "line59", idA+"#59", "verse0", idA+"#60", "verse79", idA+"#139", "line60", "", "line99", "")
		w.equal("messages", w.show(s, idA).Session.MessageCount, 140)
	})
	t.Run("B99 B104 B117 one session of a shared store", func(t *testing.T) {
		w := newWorld(t)
		db := w.openCode("opencode.db")
		tx, err := db.Begin()
		w.must(err)
		for i := range 500 {
			at := int64(1785000000000 + i)
			id := fmt.Sprintf("ses_%03d", i)
			_, err := tx.Exec(`INSERT INTO session VALUES(?, 'global', NULL, '/w/loom', 'New session - 2026-11-20T10:00:00.000Z', ?, ?)`, id, at, at)
			w.must(err)
			_, err = tx.Exec(`INSERT INTO message VALUES(?, ?, ?, ?, '{"role":"user"}')`, "msg_"+id, id, at, at)
			w.must(err)
			_, err = tx.Exec(`INSERT INTO part VALUES(?, ?, ?, ?, ?, ?)`, "prt_"+id, "msg_"+id, id, at, at, fmt.Sprintf(`{"type":"text","text":"shared gull%d"}`, i))
			w.must(err)
		}
		w.must(tx.Commit())
		s := w.enabled()
		w.finds(s, "gull499", "ses_499#title")
		// A part is edited in place: that session is read, and it alone.
		_, err = db.Exec(`UPDATE part SET time_updated = time_updated + 1, data = '{"type":"text","text":"shared tern250"}' WHERE session_id = 'ses_250'`)
		w.must(err)
		read := 0
		w.must(s.Reconcile(t.Context(), false, func(p contract.Progress) { read = max(read, int(p.FilesTotal)) }))
		if read > 1 {
			t.Errorf("%d sessions are read for one that changed", read)
		}
		w.finds(s, "tern250", "ses_250#title", "gull250", "", "gull249", "ses_249#title")
		// Its writer holds the lock; what is committed is read all the same.
		held, err := db.Conn(context.Background())
		w.must(err)
		defer held.Close()
		_, err = held.ExecContext(t.Context(), `BEGIN IMMEDIATE; UPDATE part SET data = '{"type":"text","text":"not committed"}'`)
		w.must(err)
		before := sum(t, w.path(".local/share/opencode/opencode.db"))
		w.must(s.Reconcile(t.Context(), true, nil))
		w.finds(s, "tern250", "ses_250#title", `"not committed"`, "")
		w.healthy(s)
		w.equal("the agent's file", sum(t, w.path(".local/share/opencode/opencode.db")), before)
		_, err = held.ExecContext(t.Context(), `ROLLBACK`)
		w.must(err)
	})
	t.Run("B101 a store that lacks a column", func(t *testing.T) {
		w := newWorld(t)
		path := w.write(".local/share/opencode/opencode.db", "")
		db, err := sql.Open("sqlite3", "file:"+path)
		w.must(err)
		defer db.Close()
		_, err = db.Exec(`CREATE TABLE session(id text PRIMARY KEY, title text); CREATE TABLE message(id text PRIMARY KEY); CREATE TABLE part(id text); INSERT INTO session VALUES('ses_1', 'x')`)
		w.must(err)
		w.write(claudeFile(idA), user(idA, "u", "healthy hobby"))
		s := w.enabled()
		w.finds(s, "hobby", idA+"#title")
		st := w.status(s)
		if st.Phase != contract.PhaseDegraded || len(st.DegradedRoots)+int(st.FilesFailed) == 0 {
			t.Errorf("status %+v", st)
		}
		// It is not tried again and again.
		for range 4 {
			w.reconcile(s)
		}
		again := w.status(s)
		w.equal("generation, due", fmt.Sprint(again.Generation, again.FilesDue), fmt.Sprint(st.Generation, 0))
	})
	t.Run("B107 growing while it is read, and words of failure in the text", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), talk(idA, "why is it out of memory", "error: quarantined, database disk image is malformed"))
		s := w.enabled()
		for i := range 20 {
			w.append(claudeFile(idA), user(idA, fmt.Sprint("w", i), fmt.Sprint("growing grebe", i))+`{"type":"user","uuid":"x`)
			w.finds(s, fmt.Sprint("grebe", i), idA+fmt.Sprint("#", 2+2*i))
			w.append(claudeFile(idA), fmt.Sprint(i)+`","message":{"content":"completed"}}`+"\n")
		}
		w.finds(s, `"out of memory"`, idA+"#title", "quarantined", idA+"#1")
		w.healthy(s)
	})
	t.Run("B111 root that went away", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), user(idA, "u", "mounted skua"))
		s := w.enabled()
		w.finds(s, "skua", idA+"#title")
		w.must(os.Rename(w.path(".claude/projects"), w.path("away")))
		w.equal("without root", w.fresh(s, "skua"), idA+":unverifiable")
		w.must(os.Rename(w.path("away"), w.path(".claude/projects")))
		w.equal("with it again", w.fresh(s, "skua"), idA)
	})
	t.Run("B112 one file that its agent deleted", func(t *testing.T) {
		w := newWorld(t)
		gone := w.write(claudeFile(idA), talk(idA, "old smew", "kept answer"))
		w.write(claudeFile(idB), user(idB, "u", "new smew"))
		s := w.enabled()
		w.reconcile(s)
		w.must(os.Remove(gone))
		h := w.first(s, `"old smew"`)
		w.equal("presence, command", string(h.Source.Presence)+h.ResumeCommand, "missing")
		w.equal("text", w.said(s, idA), "user: old smew\nassistant: kept answer")
		w.equal("the other", w.fresh(s, `"new smew"`), idB)
	})
	t.Run("B114 same name in two folders", func(t *testing.T) {
		w := newWorld(t)
		const a, b = ".claude/projects/-w-a/x.jsonl", ".claude/projects/-w-b/x.jsonl"
		w.write(a, user(idA, "u1", "first eider")+user(idA, "u2", "more"))
		w.write(b, user(idB, "v1", "second eider"))
		w.write(claudeFile("y"), user("y", "y1", "third eider"))
		s := w.enabled()
		before := w.fresh(s, "eider")
		w.append(b, user(idB, "v2", "grown merganser"))
		if got := w.fresh(s, "eider"); len(strings.Fields(got)) != len(strings.Fields(before)) {
			t.Errorf("touching one file: %q was %q", got, before)
		}
		if got := w.fresh(s, `"third eider"`); got != "y" {
			t.Errorf("an untouched session: %q", got)
		}
		// Whichever copy is read, it is one that is there, and nothing failed.
		w.healthy(s)
	})
	t.Run("B121 an answer while a first build runs", func(t *testing.T) {
		w := newWorld(t)
		fake := newFake("fakes")
		w.write("fakes/a.fake", "session-a\nquick wren\n")
		s := w.enabled(fake)
		w.reconcile(s)
		block := make(chan struct{})
		fake.meanwhile = func(line string) {
			if strings.Contains(line, "slow") {
				<-block
			}
		}
		w.write("fakes/b.fake", "session-b\nslow wren\n")
		index.SetPatience(s, 50*time.Millisecond)
		req := contract.NewSearchSessionsRequest("wren")
		req.Freshness = contract.FreshnessWait
		r := w.search(s, req)
		w.equal("from the old index", places(t, r), "session-a#0")
		if !r.Truncated.Freshness {
			t.Error("the answer does not say that it is not current")
		}
		if st := w.status(s); st.Phase != contract.PhaseIndexing || st.FilesDue != 1 {
			t.Errorf("status %+v", st)
		}
		close(block)
		index.SetPatience(s, time.Minute)
		w.equal("afterwards", len(strings.Fields(w.fresh(s, "wren"))), 2)
	})
}

// A transcript that moves to another folder stays one session
// (B57).
func TestCaseOfMovedTranscript(t *testing.T) {
	w := newWorld(t)
	old := w.write(claudeFile(idA), talk(idA, "migrating knot", "on its way"))
	s := w.enabled()
	w.finds(s, "knot", idA+"#title")
	to := w.path(".claude/projects/-w-loom-2/" + idA + ".jsonl")
	w.must(os.MkdirAll(filepath.Dir(to), 0o755))
	w.must(os.Rename(old, to))
	h := w.first(s, "knot")
	w.equal("path, presence", fmt.Sprint(h.Source.FilePath, " ", h.Source.Presence), to+" present")
	w.equal("sessions", w.status(s).Sessions, 1)
}
