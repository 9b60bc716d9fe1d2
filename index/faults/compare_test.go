//go:build unix

package faults_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/exact/exacttest"
	"github.com/sessionls/sessionls/index/store"
)

// content is what an index says of each session: its header and all its events
// with text, as JSON by "agent:id".
type content map[string]string

// read gives everything an index holds.
func (w *world) read(s *index.Service) content {
	w.Helper()
	out := content{}
	for _, hit := range w.list(s) {
		out[hit.Agent+":"+hit.SessionID] = w.show(s, hit.Agent, hit.SessionID)
	}
	return out
}

// list lists all sessions of an index; none of an index that is not there.
func (w *world) list(s *index.Service) []contract.Hit {
	w.Helper()
	req := contract.NewSearchSessionsRequest("")
	req.Limit = contract.MaxLimit
	req.Filters.Sort = contract.SortNewest
	req.Filters.Presence = []contract.Presence{contract.PresencePresent, contract.PresenceMissing, contract.PresenceUnverifiable}
	var hits []contract.Hit
	for {
		r, err := s.SearchSessions(context.Background(), req)
		w.must(err)
		if r.Kind != contract.KindResults {
			w.Fatalf("listing all sessions: %+v", r)
		}
		hits = append(hits, r.Results.Hits...)
		if !r.Results.Page.HasMore {
			if !r.Results.Total.Exact || r.Results.Total.Sessions != len(hits) {
				w.Errorf("%d sessions listed, total %+v", len(hits), r.Results.Total)
			}
			return hits
		}
		req.Cursor = r.Results.Page.Cursor
	}
}

// show is one session in full. What differs between two indexes of the same
// transcripts is left out: the epoch counts readings, and whether a session is
// active depends on the moment.
func (w *world) show(s *index.Service, agent, id string) string {
	w.Helper()
	own, _ := w.owns.Load(s)
	all, err := exacttest.Read(context.Background(), index.PathsUnder(own.(string)).Index(), contract.SessionName{Agent: agent, SessionID: id}, time.Now())
	if err != nil {
		w.Fatalf("show %s:%s: %v", agent, id, err)
	}
	all.Session.Epoch, all.Session.Active = 0, false
	for i, e := range all.Events {
		if e.Seq != int64(i) {
			w.Errorf("%s:%s: event %d where %d belongs", agent, id, e.Seq, i)
		}
	}
	b, err := json.Marshal(all)
	w.must(err)
	return string(b)
}

// same fails the test where got is not what want is.
func (w *world) same(what string, got, want content) {
	w.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch g, ok := got[name]; {
		case !ok:
			w.Errorf("%s: %s is lost", what, name)
		case g != want[name]:
			w.Errorf("%s: %s differs:\n got %s\nwant %s", what, name, differs(g, want[name]), differs(want[name], g))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			w.Errorf("%s: %s should not be there: %.300s", what, name, got[name])
		}
	}
}

// differs is the part of a around its first difference from b.
func differs(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("(%d bytes, at %d) …%s", len(a), i, a[max(0, i-60):min(len(a), i+200)])
}

// between fails where a session is in none of the states it may have: a
// transcript is in the index as it was before or as it is after, never half.
func (w *world) between(what string, got content, states ...content) {
	w.Helper()
	for name, g := range got {
		if !slices.ContainsFunc(states, func(c content) bool { return c[name] == g }) {
			want := ""
			for _, c := range states {
				want += "\n  or " + differs(c[name], g)
			}
			w.Errorf("%s: %s is neither as it was nor as it is:\n got %s%s", what, name, differs(g, states[0][name]), want)
		}
	}
}

// found searches one word and says where it is: "agent:id#seq", with * behind
// when the total disagrees.
func (w *world) found(s *index.Service, word string) string {
	w.Helper()
	r, err := s.SearchSessions(context.Background(), contract.NewSearchSessionsRequest(`"`+word+`"`))
	w.must(err)
	if r.Kind != contract.KindResults {
		return fmt.Sprint(r.Kind, r.Reason)
	}
	var at []string
	for _, h := range r.Results.Hits {
		seq := int64(-1)
		if h.Evidence != nil && h.Evidence.Seq != nil {
			seq = *h.Evidence.Seq
		}
		at = append(at, fmt.Sprintf("%s:%s#%d", h.Agent, h.SessionID, seq))
	}
	if r.Results.Total.Sessions != len(at) || !r.Results.Total.Exact {
		at = append(at, "*")
	}
	return strings.Join(at, " ")
}

// findable checks that the words of sessions lead to exactly the turns they are
// in, n of them chosen at random, and returns how many were asked for.
func (w *world) findable(what string, s *index.Service, sessions []*session, n int) int {
	w.Helper()
	asked := 0
	for range n {
		x := sessions[w.rnd.IntN(len(sessions))]
		t := x.turns[w.rnd.IntN(len(x.turns))]
		asked++
		if got := w.found(s, t.word); !strings.HasPrefix(got, x.name()+"#") || strings.ContainsAny(got, " *") {
			w.Errorf("%s: %q of turn %d of %s is found in %q", what, t.word, t.n, x.name(), got)
		}
	}
	return asked
}

// sound looks below the surface, where rows that belong to nothing would hide:
// every row of a span is in the postings, every page in a segment, every part of a session
// belongs to one, every session to a source, and SQLite finds nothing wrong.
func (w *world) sound(what, own string) {
	w.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(own, "index.db")+"?_busy_timeout=10000")
	w.must(err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	var verdict string
	w.must(db.QueryRow(`PRAGMA integrity_check`).Scan(&verdict))
	if verdict != "ok" {
		w.Errorf("%s: integrity_check: %s", what, verdict)
	}
	r, err := store.OpenReader(context.Background(), filepath.Join(own, "index.db"))
	w.must(err)
	if err := r.Check(context.Background()); err != nil {
		w.Errorf("%s: %v", what, err)
	}
	w.must(r.Close())
	for query, bad := range map[string]string{
		`SELECT count(*) FROM talk WHERE id >> 32 NOT IN (SELECT id FROM segment WHERE stream = 0)`:                                         "pages of talk of no segment",
		`SELECT count(*) FROM tool WHERE id >> 32 NOT IN (SELECT id FROM segment WHERE stream = 1)`:                                         "pages of tool of no segment",
		`SELECT count(*) FROM span WHERE session NOT IN (SELECT id FROM session)`:                                                           "spans of no session",
		`SELECT count(*) FROM borrowed WHERE session NOT IN (SELECT id FROM session) OR body NOT IN (SELECT id FROM body)`:                  "texts borrowed by no session, or of none",
		`SELECT count(*) FROM body WHERE block NOT IN (SELECT id FROM block)`:                                                               "texts in no block",
		`SELECT count(*) FROM block WHERE session = 0 AND id NOT IN (SELECT block FROM body JOIN borrowed ON body = id)`:                    "texts that nobody has",
		`SELECT count(*) FROM block WHERE session <> 0 AND session NOT IN (SELECT id FROM session)`:                                         "blocks of no session",
		`SELECT count(*) FROM place WHERE session NOT IN (SELECT id FROM session)`:                                                          "places of no session",
		`SELECT count(*) FROM file WHERE session NOT IN (SELECT id FROM session)`:                                                           "files of no session",
		`SELECT count(*) FROM session WHERE source NOT IN (SELECT id FROM source)`:                                                          "sessions of no source",
		`SELECT count(*) FROM source WHERE state = 'read' AND hint_id <> '' AND id NOT IN (SELECT source FROM session) AND signature <> ''`: "sources read without a session",
	} {
		var n int
		if err := db.QueryRow(query).Scan(&n); err != nil {
			w.Errorf("%s: %s: %v", what, query, err)
		} else if n != 0 {
			w.Errorf("%s: %d %s", what, n, bad)
		}
	}
}
