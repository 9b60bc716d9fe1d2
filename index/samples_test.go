package index_test

import (
	"context"
	"fmt"
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
