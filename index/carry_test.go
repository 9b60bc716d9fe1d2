package index_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/exact/exacttest"
	"github.com/sessionls/sessionls/index/store"
)

// alter runs a statement on the closed index.
func (w *world) alter(statement string) {
	w.t.Helper()
	db, err := sql.Open("sqlite3", w.paths.Index())
	w.must(err)
	_, err = db.Exec(statement)
	w.must(errors.Join(err, db.Close()))
}

// asides are the names of databases that were set aside.
func (w *world) asides() string {
	w.t.Helper()
	list, err := filepath.Glob(w.paths.Index() + ".*")
	w.must(err)
	var out []string
	for _, p := range list {
		out = append(out, filepath.Base(p))
	}
	return strings.Join(out, " ")
}

func TestIndexOfAnotherVersionIsCarriedOver(t *testing.T) {
	for name, statement := range map[string]string{
		"older schema": `UPDATE meta SET value = 1 WHERE key = 'schema'`,
		"schema 5": `ALTER TABLE session DROP COLUMN title_at; ALTER TABLE session DROP COLUMN adopted_ids; ALTER TABLE source DROP COLUMN sum;
			UPDATE meta SET value = 5 WHERE key = 'schema'`,
		"newer schema":  `UPDATE meta SET value = 1000 WHERE key = 'schema'`,
		"other terms":   `UPDATE meta SET value = '0.0' WHERE key = 'terms'`,
		"without terms": `DELETE FROM meta WHERE key = 'terms'`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			gone := w.write(claudeFile(idA), talk(idA, "tidy the plover parser", "done with basalt"))
			w.write(claudeFile(idB), talk(idB, "count the plovers", "there are nine"))
			s := w.enabled()
			w.reconcile(s)
			w.must(os.Remove(gone))
			w.reconcile(s)
			before, cursor, old := w.show(s, idA), w.page(s, "plover", 1), w.status(s)
			w.must(s.Close())
			w.alter(statement)

			s = w.service()
			w.reconcile(s)
			if got := w.hits(s, "basalt"); got != idA+":missing" {
				t.Errorf("kept copy: %q", got)
			}
			if got := w.hits(s, "nine"); got != idB {
				t.Errorf("what is there: %q", got)
			}
			after := w.show(s, idA)
			if fmt.Sprintf("%+v", texts(after)) != fmt.Sprintf("%+v", texts(before)) || len(after.Events) != 2 {
				t.Errorf("events\n%+v\nwere\n%+v", texts(after), texts(before))
			}
			b, a := before.Session, after.Session
			if a.Title != b.Title || *a.Cwd != *b.Cwd || *a.UpdatedAt != *b.UpdatedAt || *a.CreatedAt != *b.CreatedAt || *a.Model != *b.Model || a.MessageCount != 2 ||
				a.Presence != contract.PresenceMissing || a.SourcePath != gone || a.Format != b.Format {
				t.Errorf("header\n%+v\nwas\n%+v", a, b)
			}
			req := contract.NewSearchSessionsRequest("plover")
			req.Filters.ScopePaths = []string{"/w/loom"}
			if r, err := s.SearchSessions(context.Background(), req); err != nil || len(r.Results.Hits) != 2 {
				t.Errorf("below its folder: %+v, %v", r.Results, err)
			}
			st := w.status(s)
			if st.Identity == old.Identity || st.Phase != contract.PhaseCurrent || st.Sessions != 2 || st.Events != 4 {
				t.Errorf("status %+v", st)
			}
			req = contract.NewSearchSessionsRequest("plover")
			req.Cursor, req.Limit = cursor, 1
			if r, err := s.SearchSessions(context.Background(), req); err != nil || r.Kind != contract.KindStaleCursor {
				t.Errorf("old cursor: %v, %v", r.Kind, err)
			}
			if got := w.asides(); got != "" {
				t.Errorf("left behind: %s", got)
			}
			w.write(claudeFile(idA), talk(idA, "tidy the plover parser", "done with basalt"))
			if got := w.fresh(s, "basalt"); got != idA {
				t.Errorf("back again: %q", got)
			}
		})
	}
}

// texts are the events as far as a kept copy has them.
func texts(r exacttest.Kept) (out []string) {
	for _, e := range r.Events {
		out = append(out, fmt.Sprintf("%d %s %s %s %v %s %s", e.Seq, *e.EventID, e.Type, e.Role, e.Time, e.Surface, *e.Text))
	}
	return out
}

func TestOnlyWhatIsAllowedIsCarriedOver(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	for _, name := range []string{"kept", "old", "path", "cwd", "forgot", "fork"} {
		text := "session-" + name + "\nthe plover nests\n"
		if name == "cwd" {
			text = "session-cwd\n!cwd /w/customers/x\nthe plover nests\n"
		}
		p := w.write("fakes/"+name+".fake", text)
		if name == "old" {
			at := time.Now().AddDate(0, 0, -40)
			w.must(os.Chtimes(p, at, at))
		}
	}
	w.write("fakes/there.fake", "session-there\nthe plover stays\n")
	s := w.enabled(fake)
	w.reconcile(s)
	for _, name := range []string{"kept", "old", "path", "cwd", "forgot", "fork"} {
		w.must(os.Remove(w.path("fakes/" + name + ".fake")))
	}
	w.reconcile(s)
	if got := strings.Fields(w.hits(s, "plover")); len(got) != 7 {
		t.Fatalf("before: %q", got)
	}
	w.must(s.Close())
	w.alter(`UPDATE meta SET value = 1 WHERE key = 'schema'`)
	w.must(os.WriteFile(w.paths.ConfigFile(), []byte("exclude = ['~/fakes/path.*', 'customers']\n"), 0o600))
	w.must(os.WriteFile(w.paths.Forgotten(), []byte(`{"version":1,"sessions":[{"sessionId":"session-forgot","agent":"claude"}]}`), 0o600))
	w.must(os.WriteFile(w.paths.Policy(), []byte(`{"enabled":true,"historyDays":30}`), 0o600))
	s = w.service(fake)
	w.reconcile(s)
	if got := w.hits(s, "nests"); got != "session-fork:missing session-kept:missing" && got != "session-kept:missing session-fork:missing" {
		t.Errorf("carried over: %q", got)
	}
	if got := w.hits(s, "stays"); got != "session-there" {
		t.Errorf("there: %q", got)
	}
}

// What cannot be read while the index is rebuilt is kept as well.
func TestUnreadableIsCarriedOver(t *testing.T) {
	w := newWorld(t)
	fake := newFake("one", "two")
	w.write("one/a.fake", "session-a\nthe plover nests\n")
	w.write("two/b.fake", "session-b\nthe heron waits\n")
	s := w.enabled(fake)
	w.reconcile(s)
	w.must(s.Close())
	w.alter(`UPDATE meta SET value = 1 WHERE key = 'schema'`)
	w.must(os.Rename(w.path("one"), w.path("away")))
	w.append("two/b.fake", "!fail torn\n")
	s = w.service(fake)
	w.reconcile(s)
	if got := w.hits(s, "plover"); got != "session-a:unverifiable" {
		t.Errorf("its root is gone: %q", got)
	}
	if got := w.hits(s, "heron"); got != "session-b" {
		t.Errorf("there, but torn: %q", got)
	}
	if st := w.status(s); st.FilesFailed != 1 || st.Sessions != 2 || st.Phase != contract.PhaseDegraded {
		t.Errorf("status %+v", st)
	}
	w.must(os.Rename(w.path("away"), w.path("one")))
	w.write("two/b.fake", "session-b\nthe heron waits\n")
	if got := w.fresh(s, "plover") + " " + w.fresh(s, "heron"); got != "session-a session-b" {
		t.Errorf("mended: %q", got)
	}
	if st := w.status(s); st.Phase != contract.PhaseCurrent || st.Sessions != 2 {
		t.Errorf("status %+v", st)
	}
}

// A process that died after it set the index aside left the carrying over to
// the next one; one set aside after another does not take its place.
func TestCarryingOverIsTakenUp(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	w.write("fakes/there.fake", "session-there\nthe plover stays\n")
	gone := w.write("fakes/gone.fake", "session-gone\nthe plover left\n")
	s := w.enabled(fake)
	w.reconcile(s)
	w.must(os.Remove(gone))
	w.reconcile(s)
	w.must(s.Close())
	aside, err := store.SetAside(w.paths.Index())
	w.must(err)
	s = w.service(fake)
	w.must(s.Close()) // before its first pass
	w.must(os.WriteFile(w.paths.Index(), []byte(strings.Repeat("no database ", 1000)), 0o600))
	s = w.service(fake)
	w.reconcile(s)
	if got := w.hits(s, "left"); got != "session-gone:missing" {
		t.Errorf("kept copy: %q", got)
	}
	if _, err := os.Stat(aside); err == nil {
		t.Errorf("%s is still there", aside)
	}
	if got := w.asides(); got != "index.db.damaged" {
		t.Errorf("set aside: %s", got)
	}
	_, err = s.Clear(context.Background(), contract.ClearRequest{})
	w.must(err)
	if got := w.asides(); got != "" {
		t.Errorf("after clear: %s", got)
	}
	if got := w.fresh(s, "plover"); got != "session-there" {
		t.Errorf("cleared: %q", got)
	}
}

// However an index was damaged: what is on disk is indexed again, and of what
// is kept as much as can be read, each text under its session.
func TestDamagedIndexIsCarriedOver(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	const kept = 40
	word := func(i int) string { return fmt.Sprintf("kestrel%c%c", 'a'+i/26, 'a'+i%26) }
	for i := range kept {
		w.write(fmt.Sprintf("fakes/k%d.fake", i), fmt.Sprintf("session-k%d\n%s first\n%s\n%s last\n", i, word(i), randomish(3000), word(i)))
	}
	w.write("fakes/there.fake", "session-there\nthe plover stays\n")
	s := w.enabled(fake)
	w.reconcile(s)
	for i := range kept {
		w.must(os.Remove(w.path(fmt.Sprintf("fakes/k%d.fake", i))))
	}
	w.reconcile(s)
	w.must(s.Close())
	whole, err := os.ReadFile(w.paths.Index())
	w.must(err)
	for name, spoil := range map[string]func([]byte) []byte{
		"truncated":     func(b []byte) []byte { return b[:len(b)/2/4096*4096] },
		"cut in a page": func(b []byte) []byte { return b[:len(b)*3/4+100] },
		"a hole": func(b []byte) []byte {
			copy(b[len(b)/3:], make([]byte, 3*4096))
			return b
		},
		"noise": func(b []byte) []byte {
			for i := len(b) / 4; i < len(b); i += 50_000 {
				for k := range min(64, len(b)-i) {
					b[i+k] ^= 0xA5
				}
			}
			return b
		},
		"without a header": func(b []byte) []byte {
			copy(b, "something else, something else, something else")
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := &world{t: t, home: w.home, paths: w.paths, vars: w.vars}
			for _, p := range append(store.Files(v.paths.Index()), v.paths.Index()+".damaged") {
				_ = os.Remove(p)
			}
			v.must(os.WriteFile(v.paths.Index(), spoil([]byte(string(whole))), 0o600))
			v.alterSchema()
			s := v.service(fake)
			v.reconcile(s)
			v.reconcile(s)
			if got := v.hits(s, "plover"); got != "session-there" {
				t.Errorf("what is there: %q", got)
			}
			carried := 0
			for i := range kept {
				got := v.hits(s, `"`+word(i)+`"`)
				if got == "" {
					continue
				}
				carried++
				if want := fmt.Sprintf("session-k%d:missing", i); got != want {
					t.Errorf("%s: %q, want %q", word(i), got, want)
				}
			}
			t.Logf("%d of %d kept copies carried over", carried, kept)
			if report, err := s.Doctor(context.Background()); err != nil || report.Index.Error != "" {
				t.Errorf("the new index: %+v, %v", report.Index, err)
			}
			if name == "noise" && carried == 0 || name == "a hole" && carried < kept/2 {
				t.Errorf("only %d kept copies were carried over", carried)
			}
		})
	}
}

// alterSchema makes the index one of another version, so that it is set aside
// however little of it is damaged; one that cannot be opened is, anyway.
func (w *world) alterSchema() {
	db, err := sql.Open("sqlite3", w.paths.Index())
	w.must(err)
	_, _ = db.Exec(`UPDATE meta SET value = 1 WHERE key = 'schema'`)
	w.must(db.Close())
}
