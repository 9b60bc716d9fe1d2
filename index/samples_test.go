package index_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/testdata/samplehome"
)

// The samples of all agents in one home, as a person would have them.
func TestSamplesOfAllAgents(t *testing.T) {
	w := newWorld(t)
	w.must(samplehome.Make(w.home, "../testdata/home"))
	s := w.enabled()
	w.reconcile(s)
	st := w.status(s)
	for _, a := range st.Agents {
		t.Log(fmt.Sprint(a.Agent, " ", a.Sessions, " sessions ", a.Events, " events ", a.Failed, " failed"))
		if a.Sessions == 0 || a.Events == 0 || a.Failed != 0 {
			t.Errorf("%s: %+v", a.Agent, a)
		}
	}
	if st.FilesFailed != 0 || st.FilesDue != 0 || st.Phase != contract.PhaseCurrent {
		t.Errorf("status %+v", st)
	}
	w.reconcile(s)
	w.reconcile(s)
	if again := w.status(s); again.Generation != st.Generation {
		t.Errorf("generation %d became %d although nothing changed", st.Generation, again.Generation)
	}
	// Reading everything anew gives the same sessions and events.
	w.must(s.Reconcile(context.Background(), true, nil))
	if again := w.status(s); again.Sessions != st.Sessions || again.Events != st.Events || again.FilesFailed != 0 {
		t.Errorf("read anew: %d sessions, %d events; were %d and %d", again.Sessions, again.Events, st.Sessions, st.Events)
	}
	if r := w.ask(s, "tide table"); len(r.Results.Hits) == 0 {
		t.Error("nothing found")
	}
	report, err := s.Doctor(context.Background())
	w.must(err)
	for _, p := range report.Problems {
		t.Errorf("doctor: %+v", p)
	}
	for _, f := range report.Failures {
		t.Logf("%+v", f)
	}
}

// One session more, one less and one changed in a shared store: nothing else is
// touched, and a store that cannot be read proves nothing.
func TestSharedStore(t *testing.T) {
	w := newWorld(t)
	w.must(samplehome.Make(w.home, "../testdata/home"))
	path := w.path(".local/share/opencode/opencode.db")
	db, err := sql.Open("sqlite3", "file:"+path)
	w.must(err)
	defer db.Close()
	var id string
	w.must(db.QueryRow(`SELECT session_id FROM message WHERE session_id NOT IN (SELECT parent_id FROM session WHERE parent_id IS NOT NULL) LIMIT 1`).Scan(&id))
	s := w.enabled()
	w.reconcile(s)
	before := w.status(s)
	for _, table := range []string{"part", "message"} {
		_, err = db.Exec(`DELETE FROM `+table+` WHERE session_id = ?`, id)
		w.must(err)
	}
	_, err = db.Exec(`DELETE FROM session WHERE id = ?`, id)
	w.must(err)
	w.reconcile(s)
	if h := w.show(s, id).Session; h.Presence != contract.PresenceMissing {
		t.Errorf("deleted in the store: %s", h.Presence)
	}
	if st := w.status(s); st.Sessions != before.Sessions || st.FilesFailed != 0 || st.Phase != contract.PhaseCurrent {
		t.Errorf("status %+v", st)
	}
	w.must(db.Close())
	for _, side := range []string{"-wal", "-shm"} {
		_ = os.Remove(path + side)
	}
	w.must(os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o644))
	w.reconcile(s)
	st := w.status(s)
	if st.Sessions != before.Sessions || st.Phase != contract.PhaseDegraded || len(st.DegradedRoots) == 0 {
		t.Errorf("a store that is damaged: %+v", st)
	}
}
