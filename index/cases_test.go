package index_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
)

// The tests named B… in the files cases_*_test.go show, end to end, that this
// product has none of the faults that were reported of its kind elsewhere. The
// number names the fault; the input is the smallest that shows it.
//
// Left out, as they are about what this version does not have:
//
//	B49, B52, B67         agents (Zed, Grok, Cursor) and a system that are not read or not run on here
//	B81 (letters inside a word)
//	                      substrings, which are not searched yet
//	B66                   a project selector that groups by name
//	B89                   provider ids: a session has one id, that of its file
//	B94                   figures of long runs, measured by the bench command
//	B124                  a Windows build
//	B134                  redaction of secrets
//
// B9, B12 and B14 stand in giants_test.go. Of B102 and B119 the hours are
// measured by the bench command; cases_watch_test.go has what must hold at any
// time of them.

// places are where a query is found: "session#seq" of each hit's evidence, or
// "session#title" and the like for evidence without a position.
func (w *world) places(s *index.Service, query string) string {
	w.t.Helper()
	req := contract.NewSearchSessionsRequest(query)
	req.Freshness = contract.FreshnessWait
	return places(w.t, w.search(s, req))
}

func places(t *testing.T, r contract.SearchResults) string {
	t.Helper()
	var out []string
	for _, h := range r.Hits {
		switch {
		case h.Evidence == nil:
			out = append(out, h.SessionID)
		case h.Evidence.Seq == nil:
			out = append(out, h.SessionID+"#"+strings.TrimPrefix(h.Evidence.Type, "session/"))
		default:
			out = append(out, fmt.Sprintf("%s#%d", h.SessionID, *h.Evidence.Seq))
		}
	}
	return strings.Join(out, " ")
}

// search must give results.
func (w *world) search(s *index.Service, req contract.SearchSessionsRequest) contract.SearchResults {
	w.t.Helper()
	r, err := s.SearchSessions(w.t.Context(), req)
	w.must(err)
	if r.Results == nil {
		w.t.Fatalf("%q: %s/%s", req.Query, r.Kind, r.Reason)
	}
	return *r.Results
}

// first is the best hit, which must exist.
func (w *world) first(s *index.Service, query string) contract.Hit {
	w.t.Helper()
	req := contract.NewSearchSessionsRequest(query)
	req.Freshness = contract.FreshnessWait
	r := w.search(s, req)
	if len(r.Hits) == 0 {
		w.t.Fatalf("%q is not found", query)
	}
	return r.Hits[0]
}

// finds compares where queries are found with where they should be; pairs of
// query and places.
func (w *world) finds(s *index.Service, pairs ...string) {
	w.t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if got := w.places(s, pairs[i]); got != pairs[i+1] {
			w.t.Errorf("%q is found at %q, want %q", pairs[i], got, pairs[i+1])
		}
	}
}

// said are the texts of a session's events, empty ones left out.
func (w *world) said(s *index.Service, id string) string {
	w.t.Helper()
	var out []string
	for _, e := range w.show(s, id).Events {
		if *e.Text != "" {
			out = append(out, string(e.Role)+": "+*e.Text)
		}
	}
	return strings.Join(out, "\n")
}

func (w *world) equal(what string, got, want any) {
	w.t.Helper()
	if g, v := fmt.Sprint(got), fmt.Sprint(want); g != v {
		w.t.Errorf("%s: %.300q, want %.300q", what, g, v)
	}
}

// healthy is the status of an index in which nothing failed.
func (w *world) healthy(s *index.Service) {
	w.t.Helper()
	if st := w.status(s); st.Phase != contract.PhaseCurrent || st.FilesFailed != 0 || st.FilesDue != 0 {
		w.t.Errorf("status %+v", st)
	}
}

// quoted is a text as JSON.
func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Codex rollouts.

const (
	codexA = "019cdc11-6a20-7b31-9f42-3d5e6f708192"
	codexB = "019cdc12-0001-7000-8000-00000000beef"
)

func codexFile(id string) string {
	return ".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-" + id + ".jsonl"
}

func codexLine(kind, payload string) string {
	return `{"timestamp":"2026-11-20T10:00:00.000Z","type":"` + kind + `","payload":` + payload + "}\n"
}

func codexMeta(id string) string {
	return codexLine("session_meta", `{"id":"`+id+`","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/w/loom","originator":"codex-tui","source":"cli"}`)
}

func codexUser(text string) string {
	return codexLine("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":`+quoted(text)+`}]}`)
}

func codexSays(text string) string {
	return codexLine("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":`+quoted(text)+`}]}`)
}

// filtered asks for one session by its id.
func (w *world) filtered(s *index.Service, id string) string {
	w.t.Helper()
	req := contract.NewSearchSessionsRequest("")
	req.Filters.SessionIDs = []string{id}
	return places(w.t, w.search(s, req))
}
