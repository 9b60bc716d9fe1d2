package index_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/transcript"
)

// world is a home folder with transcripts and the folders of sessionls, which
// any number of services may share.
type world struct {
	t     *testing.T
	home  string
	paths index.Paths
	vars  map[string]string
	now   func() time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	return &world{t: t, home: filepath.Join(dir, "home"), paths: index.PathsUnder(filepath.Join(dir, "own")), vars: map[string]string{}}
}

// service opens a service on the world; it is closed with the test.
func (w *world) service(readers ...transcript.Reader) *index.Service {
	w.t.Helper()
	log := zerolog.New(zerolog.NewTestWriter(w.t))
	s, err := index.Open(context.Background(), index.Options{
		Paths: w.paths, Readers: readers, Log: &log, Now: w.now,
		Env: transcript.Env{Home: w.home, GOOS: "linux", Getenv: func(k string) string { return w.vars[k] }},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close() })
	return s
}

// enabled is a service whose user has agreed.
func (w *world) enabled(readers ...transcript.Reader) *index.Service {
	w.t.Helper()
	s := w.service(readers...)
	w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(true)})
	return s
}

func (w *world) setPolicy(s *index.Service, r contract.SetPolicyRequest) contract.Policy {
	w.t.Helper()
	p, err := s.SetPolicy(context.Background(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) path(rel string) string { return filepath.Join(w.home, filepath.FromSlash(rel)) }

func (w *world) write(rel, text string) string {
	w.t.Helper()
	p := w.path(rel)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) append(rel, text string) {
	w.t.Helper()
	f, err := os.OpenFile(w.path(rel), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// reconcile makes a pass.
func (w *world) reconcile(s *index.Service) {
	w.t.Helper()
	w.must(s.Reconcile(context.Background(), false, nil))
}

func (w *world) status(s *index.Service) contract.Status {
	w.t.Helper()
	st, err := s.SearchStatus(context.Background(), contract.SearchStatusRequest{})
	w.must(err)
	return st
}

// ask searches what is indexed.
func (w *world) ask(s *index.Service, query string) contract.SearchSessionsResponse {
	w.t.Helper()
	r, err := s.SearchSessions(context.Background(), contract.NewSearchSessionsRequest(query))
	w.must(err)
	return r
}

// hits are the ids of the sessions found, with their presence unless present.
func (w *world) hits(s *index.Service, query string) string {
	w.t.Helper()
	return ids(w.t, w.ask(s, query))
}

// fresh is hits after waiting until the index is current.
func (w *world) fresh(s *index.Service, query string) string {
	w.t.Helper()
	req := contract.NewSearchSessionsRequest(query)
	req.Freshness = contract.FreshnessWait
	r, err := s.SearchSessions(context.Background(), req)
	w.must(err)
	return ids(w.t, r)
}

func ids(t *testing.T, r contract.SearchSessionsResponse) string {
	t.Helper()
	if r.Kind != contract.KindResults {
		return fmt.Sprintf("%s/%s", r.Kind, r.Reason)
	}
	var out []string
	for _, h := range r.Results.Hits {
		id := h.SessionID
		if h.Source.Presence != contract.PresencePresent {
			id += ":" + string(h.Source.Presence)
		}
		out = append(out, id)
	}
	return strings.Join(out, " ")
}

// Claude Code transcripts, the format most tests use.

const project = ".claude/projects/-w-loom/"

func claudeFile(id string) string { return project + id + ".jsonl" }

func user(session, uuid, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":%q,"sessionId":%q,"cwd":"/w/loom","timestamp":"2026-11-20T10:00:00.000Z","message":{"role":"user","content":%q}}`+"\n", uuid, session, text)
}

func assistant(session, uuid, parent, text string) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":%q,"parentUuid":%q,"sessionId":%q,"cwd":"/w/loom","timestamp":"2026-11-20T10:01:00.000Z","message":{"id":"m-%s","role":"assistant","model":"m1","content":[{"type":"text","text":%q}]}}`+"\n", uuid, parent, session, uuid, text)
}

const (
	idA = "aaaaaaaa-0000-4000-8000-000000000001"
	idB = "bbbbbbbb-0000-4000-8000-000000000002"
)

func talk(id, question, answer string) string {
	return user(id, id+"-1", question) + assistant(id, id+"-2", id+"-1", answer)
}

func failed(t *testing.T, err error, code string) *contract.Error {
	t.Helper()
	var e *contract.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("error %v, want code %s", err, code)
	}
	return e
}

func TestFirstBuildThenNothingNew(t *testing.T) {
	w := newWorld(t)
	w.write(claudeFile(idA), talk(idA, "tidy the plover parser", "done with basalt"))
	w.write(claudeFile(idB), talk(idB, "count the herons", "there are nine"))
	s := w.enabled()
	w.reconcile(s)
	if got := w.hits(s, "basalt"); got != idA {
		t.Errorf("basalt: %q", got)
	}
	st := w.status(s)
	if st.Phase != contract.PhaseCurrent || st.Sessions != 2 || st.Events != 4 || st.FilesIndexed != 2 || st.FilesDue != 0 || st.FilesFailed != 0 {
		t.Errorf("status %+v", st)
	}
	if st.LastReconcileAt == nil || st.LastSweepCompletedAt == nil || st.IndexBytes == 0 || st.Identity == "" || st.Writer != contract.WriterThis || st.Progress != nil {
		t.Errorf("status %+v", st)
	}
	w.reconcile(s)
	w.reconcile(s)
	if again := w.status(s); again.Generation != st.Generation || again.Identity != st.Identity {
		t.Errorf("generation %d became %d although nothing changed", st.Generation, again.Generation)
	}
}
