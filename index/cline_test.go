package index_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
)

const (
	clineStorage  = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/"
	clineSessions = ".cline/data/sessions/"
)

// shown writes what a person saw of a task of Cline's, as the extension does with
// every message: anew, and then the history of all tasks.
func (w *world) shown(id string, said ...string) {
	w.t.Helper()
	var entries []string
	for i, s := range said {
		word := "text"
		if i == 0 {
			word = "task"
		}
		entries = append(entries, fmt.Sprintf(`{"ts":%d,"type":"say","say":%q,"text":%q}`, 1785000000000+int64(i)*1000, word, s))
	}
	w.write(clineStorage+"tasks/"+id+"/ui_messages.json", "["+strings.Join(entries, ",")+"]")
	w.write(clineStorage+"state/taskHistory.json", fmt.Sprintf(`[{"id":%q,"ts":%d,"task":"x","cwdOnTaskInitialization":"/w"}]`, id, 1785000000000+int64(len(said))*1000))
}

// Documents that are written anew are followed without being asked for, also of a
// task and a session that did not exist before; what is gone is kept.
func TestFollowingCline(t *testing.T) {
	w := newWorld(t)
	w.shown("1785000000000", "where does the dunlin nest")
	s := w.enabled()
	s.Start(context.Background())
	w.until("the first look", func() bool {
		return w.hits(s, "dunlin") == "1785000000000" && w.status(s).Phase == contract.PhaseCurrent
	})
	said := []string{"where does the dunlin nest"}
	for i := range 4 {
		said = append(said, fmt.Sprintf("in sedge%d", i))
		w.shown("1785000000000", said...)
		w.until(said[i+1], func() bool { return w.hits(s, fmt.Sprintf("sedge%d", i)) == "1785000000000" })
	}
	// The person went back to a checkpoint: what came after it is no more.
	w.shown("1785000000000", said[:2]...)
	w.until("going back", func() bool { return w.hits(s, "sedge3") == "" && w.hits(s, "sedge0") == "1785000000000" })
	w.shown("1785000100000", "and the godwit")
	w.until("another task", func() bool { return w.hits(s, "godwit") == "1785000100000" })
	w.write(clineSessions+"17851_a/17851_a.messages.json", `{"messages":[{"role":"user","content":"a curlew","ts":1785100000000}]}`)
	w.until("a session", func() bool { return w.hits(s, "curlew") == "17851_a" })
	w.write(clineSessions+"17851_a/17851_a.json", `{"cwd":"/w","metadata":{"title":"Whimbrels"}}`)
	w.until("its title", func() bool { return w.hits(s, "whimbrels") == "17851_a" })
	if h := w.first(s, "whimbrels"); h.ResumeCommand != "cline --id 17851_a" {
		t.Errorf("hit %+v", h)
	}
	if h := w.first(s, "godwit"); h.ResumeCommand != "" || h.Cwd == nil || *h.Cwd != "/w" {
		t.Errorf("hit %+v", h)
	}
	w.must(os.RemoveAll(w.path(clineStorage + "tasks/1785000100000")))
	w.until("its end", func() bool { return w.hits(s, "godwit") == "1785000100000:missing" })
}

// A pass over what changed leaves nothing for a look at everything.
func TestTargetedPassOfCline(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.shown(fmt.Sprintf("17850000%05d", i), fmt.Sprintf("bird%d nests", i))
	}
	s := w.enabled()
	w.reconcile(s)
	before := w.status(s).Generation
	w.shown("1785000000007", "bird7 nests", "and a heron")
	w.must(index.Ask(s, []string{w.path(clineStorage + "tasks/1785000000007/ui_messages.json"), w.path(clineStorage + "state/taskHistory.json")}))
	if got := w.hits(s, "heron"); got != "1785000000007" {
		t.Errorf("found %q", got)
	}
	after := w.status(s)
	if after.Generation == before {
		t.Error("the generation did not move")
	}
	w.reconcile(s)
	if again := w.status(s); again.Generation != after.Generation || again.Sessions != 20 {
		t.Errorf("a look at everything found more: %+v, then %+v", after, again)
	}
}
