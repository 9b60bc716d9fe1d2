package index_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/testdata/samplehome"
)

func (w *world) events(s *index.Service, req contract.SearchEventsRequest) contract.SearchEventsResponse {
	w.t.Helper()
	r, err := s.SearchEvents(context.Background(), req)
	w.must(err)
	return r
}

// scanning is a request for a scan of all sessions.
func scanning(query string) contract.SearchEventsRequest {
	req := contract.NewSearchEventsRequest(query)
	req.Mode, req.Limit = contract.ModeScan, contract.MaxEventLimit
	return req
}

// eventPlaces are hits as session:seq.
func eventPlaces(hits []contract.EventHit) string {
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s:%d", h.SessionID, h.Seq))
	}
	return strings.Join(out, " ")
}

// A request that asks for nothing is answered without consent and without a
// look at anything; one that asks for something is not.
func TestEventsNeedConsent(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	fake := newFake("fakes")
	s := w.service(fake)
	for _, mode := range []contract.SearchMode{contract.ModeIndex, contract.ModeScan} {
		for _, change := range []func(*contract.SearchEventsRequest){
			func(q *contract.SearchEventsRequest) { q.Query = " \t" },
			func(q *contract.SearchEventsRequest) { q.Limit = 0 },
			func(q *contract.SearchEventsRequest) { q.Limit = -3 },
			func(q *contract.SearchEventsRequest) { q.Filters.Events = &contract.EventFilters{Types: []string{}} },
		} {
			req := scanning("plover")
			req.Mode = mode
			change(&req)
			if r, err := s.SearchEvents(context.Background(), req); err != nil || len(r.Hits) != 0 || r.Total != (contract.EventTotal{Exact: true}) || r.Session != nil {
				t.Errorf("%s %+v: %+v, %v", mode, req, r, err)
			}
		}
		req := scanning("plover")
		req.Mode = mode
		_, err := s.SearchEvents(context.Background(), req)
		failed(t, err, contract.CodeSearchDisabled)
		req.ExecutionHost = "ssh:box"
		_, err = s.SearchEvents(context.Background(), req)
		failed(t, err, contract.CodeSearchDisabled)
	}
	if fake.looked() != 0 || fake.taken() != "" {
		t.Error("something was looked at")
	}
	if _, err := os.Stat(w.paths.Index()); err == nil {
		t.Error("an index was made")
	}
	w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(true)})
	w.reconcile(s)
	if got := eventPlaces(w.events(s, scanning("plover")).Hits); got != "session-a:0" {
		t.Errorf("with consent: %q", got)
	}
	w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(false)})
	_, err := s.SearchEvents(context.Background(), scanning("plover"))
	failed(t, err, contract.CodeSearchDisabled)
}

// A scan finds in the samples of all agents what filterEvents finds session by
// session, copies apart; the newest session first, in a session the oldest event.
func TestScanOfAllAgents(t *testing.T) {
	w := newWorld(t)
	w.must(samplehome.Make(w.home, "../testdata/home"))
	s := w.enabled()
	w.reconcile(s)
	ctx := context.Background()
	list, err := s.ListSessions(ctx, contract.ListSessionsRequest{Sort: contract.SessionSortUpdated, Limit: 1000})
	w.must(err)
	agents, conflict := map[string]bool{}, map[string]bool{}
	for _, text := range []string{"tide", "table", "the", "go test", "ERROR", "é", "("} {
		var want []string
		for _, h := range list.Sessions {
			req := contract.FilterEventsRequest{SessionName: contract.SessionName{Agent: h.Agent, SessionID: h.SessionID}, Text: &text, Limit: 1000}
			page, err := s.FilterEvents(ctx, req)
			if err != nil {
				failed(t, err, contract.CodeSourceConflict)
				conflict[h.SessionID] = true // a scan goes by one of the copies
				continue
			}
			for _, e := range page.Events {
				if e.Synthetic || e.Inherited && h.ParentSessionID != nil && slices.ContainsFunc(list.Sessions, func(p contract.Header) bool { return p.Agent == h.Agent && p.SessionID == *h.ParentSessionID }) {
					continue
				}
				want = append(want, fmt.Sprintf("%s %s:%d %s", h.Agent, h.SessionID, e.Seq, e.Surface))
				agents[h.Agent] = true
			}
		}
		r := w.events(s, scanning(text))
		var got []string
		r.Hits = slices.DeleteFunc(r.Hits, func(h contract.EventHit) bool { return conflict[h.SessionID] })
		for _, h := range r.Hits {
			got = append(got, fmt.Sprintf("%s %s:%d %s", h.Agent, h.SessionID, h.Seq, h.Surface))
			if len(h.Marks) == 0 || h.Score != 0 || h.Text != nil || h.Data != nil {
				t.Errorf("%q: %+v", text, h)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q:\n got %s\nwant %s", text, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
		if r.Total.Events < len(want) || !r.Total.Exact || r.Page != (contract.Page{}) || len(r.Skipped) != 0 {
			t.Errorf("%q: %+v %+v %+v", text, r.Total, r.Page, r.Skipped)
		}
		regex := scanning(strings.ReplaceAll(text, "(", `\(`))
		if regex.Regex = true; text != "go test" && eventPlaces(w.events(s, regex).Hits) != eventPlaces(w.events(s, scanning(text)).Hits) {
			t.Errorf("%q as a regular expression is not the same", text)
		}
		if r := w.events(s, scanning(text)); len(r.Hits) > 3 {
			few := scanning(text)
			few.Limit = 3
			first := w.events(s, few)
			if eventPlaces(first.Hits) != eventPlaces(r.Hits[:3]) || first.Total.Exact || !first.Page.HasMore || first.Page.Cursor != nil {
				t.Errorf("%q, three of them: %q %+v %+v", text, eventPlaces(first.Hits), first.Total, first.Page)
			}
		}
	}
	if len(agents) < 8 {
		t.Errorf("only of %v", agents)
	}
}

func TestScanOfOneSession(t *testing.T) {
	w := newWorld(t)
	w.must(samplehome.Make(w.home, "../testdata/home"))
	s := w.enabled()
	w.reconcile(s)
	list, err := s.ListSessions(context.Background(), contract.ListSessionsRequest{})
	w.must(err)
	for _, mode := range []contract.SearchMode{contract.ModeIndex, contract.ModeScan} {
		seen := 0
		for _, h := range list.Sessions {
			req := scanning("tide")
			req.Mode, req.SessionName = mode, contract.SessionName{SessionID: h.SessionID, Agent: h.Agent}
			r := w.events(s, req)
			if r.Session == nil || r.Session.SessionID != h.SessionID || r.Session.SourcePath == "" {
				t.Errorf("%s %s: session %+v", mode, h.SessionID, r.Session)
			}
			for _, hit := range r.Hits {
				if hit.SessionID != h.SessionID || hit.Agent != h.Agent {
					t.Errorf("%s %s: a hit of %s", mode, h.SessionID, hit.SessionID)
				}
			}
			seen += len(r.Hits)
			req.Filters.Events = &contract.EventFilters{Roles: []contract.Role{contract.RoleUser}, Surfaces: []contract.Surface{contract.SurfaceCurrent}}
			for _, hit := range w.events(s, req).Hits {
				if hit.Role != contract.RoleUser || hit.Surface != contract.SurfaceCurrent {
					t.Errorf("%s %s: filtered %+v", mode, h.SessionID, hit.EventRecord)
				}
			}
		}
		if seen == 0 {
			t.Errorf("%s: nothing found", mode)
		}
		for name, code := range map[contract.SessionName]string{
			{SessionID: "nobody-has-this-id"}: contract.CodeSessionNotFound,
			{SessionID: "short"}:              contract.CodeSessionNotFound,
		} {
			req := scanning("tide")
			req.Mode, req.SessionName = mode, name
			_, err := s.SearchEvents(context.Background(), req)
			failed(t, err, code)
		}
	}
}

// What is scanned is the transcript as it is now; what is gone is scanned as it
// was kept; what was forgotten or excluded is not scanned.
func TestScanGoesByWhatIsThere(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	w.write("fakes/gone.fake", "session-gone\nthe plover left\n")
	w.write("fakes/grows.fake", "session-grows\nthe plover nests\n")
	w.write("fakes/forgotten.fake", "session-forgotten\nthe plover is forgotten\n")
	w.write("fakes/excluded.fake", "session-excluded\n!cwd /w/secret\nthe plover is a secret\n")
	w.write("fakes/parent.fake", "session-parent\nthe heron of the parent\n")
	w.write("fakes/fork.fake", "session-fork\n!parent session-parent\n!copied the heron of the parent\nthe heron of the fork\n")
	w.write("fakes/orphan.fake", "session-orphan\n!parent session-nowhere\n!copied the stork of the parent\n")
	s := w.enabled(fake)
	w.reconcile(s)
	w.must(os.MkdirAll(filepath.Dir(w.paths.ConfigFile()), 0o755))
	w.must(os.WriteFile(w.paths.ConfigFile(), []byte(`exclude = ["secret"]`+"\n"), 0o644))
	w.reconcile(s)
	w.forget(s, "session-forgotten")
	sorted := func(text string) string {
		hits := strings.Fields(eventPlaces(w.events(s, scanning(text)).Hits))
		slices.Sort(hits)
		return strings.Join(hits, " ")
	}
	if got, want := sorted("THE Plover"), "session-gone:0 session-grows:0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := sorted("heron"), "session-fork:1 session-parent:0"; got != want {
		t.Errorf("copies: %q, want %q", got, want)
	}
	if got, want := sorted("stork"), "session-orphan:0"; got != want {
		t.Errorf("a copy whose owner is not here: %q, want %q", got, want)
	}
	w.append("fakes/grows.fake", "another plover\n")
	w.must(os.Remove(w.path("fakes/gone.fake")))
	for _, when := range []string{"before a pass", "after it"} {
		if got, want := sorted("plover"), "session-gone:0 session-grows:0 session-grows:1"; got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
		w.reconcile(s)
	}
	// The index learns of it when asked to wait.
	w.append("fakes/grows.fake", "a third plover\n")
	req := contract.NewSearchEventsRequest("third ")
	if got := eventPlaces(w.events(s, req).Hits); got != "" {
		t.Errorf("as indexed: %q", got)
	}
	req.Freshness = contract.FreshnessWait
	if r := w.events(s, req); eventPlaces(r.Hits) != "session-grows:2" || r.Truncated.Freshness {
		t.Errorf("current: %q", eventPlaces(r.Hits))
	}
}

// A session that cannot be read is told of and fails no other; alone it is the
// error.
func TestScanOfABrokenSession(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/good.fake", "session-good\nthe plover nests\n")
	w.write("fakes/fails.fake", "session-fails\nthe plover left\n")
	w.write("fakes/panics.fake", "session-panics\nthe plover left\n")
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	w.append("fakes/fails.fake", "!fail on purpose\n")
	w.append("fakes/panics.fake", "!panic on purpose\n")
	r := w.events(s, scanning("nests"))
	if eventPlaces(r.Hits) != "session-good:0" || r.Total.Exact {
		t.Errorf("%q %+v", eventPlaces(r.Hits), r.Total)
	}
	var skipped []string
	for _, x := range r.Skipped {
		skipped = append(skipped, x.Agent+":"+x.SessionID+" "+x.Code)
	}
	slices.Sort(skipped)
	if want := "claude:session-fails " + contract.CodePersistenceFailed + ", claude:session-panics " + contract.CodePersistenceFailed; strings.Join(skipped, ", ") != want {
		t.Errorf("skipped %q", skipped)
	}
	alone := scanning("nests")
	alone.SessionID = "session-fails"
	_, err := s.SearchEvents(context.Background(), alone)
	failed(t, err, contract.CodePersistenceFailed)
}

// Hits are handed over as they are found, in the order of the answer, which then
// has none.
func TestHitsAheadOfTheAnswer(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.write(fmt.Sprintf("fakes/%02d.fake", i), fmt.Sprintf("session-%02d\n", i)+strings.Repeat("the plover nests\n", 5))
	}
	s := w.enabled(newFake("fakes"))
	w.reconcile(s)
	for _, mode := range []contract.SearchMode{contract.ModeIndex, contract.ModeScan} {
		for _, limit := range []int{1, 7, 1000} {
			req := scanning("plover")
			req.Mode, req.Limit = mode, limit
			whole := w.events(s, req)
			var mu sync.Mutex
			var got []contract.EventHit
			req.OnHits = func(hits []contract.EventHit) error {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, hits...)
				return nil
			}
			r := w.events(s, req)
			if len(r.Hits) != 0 || r.Total != whole.Total || eventPlaces(got) != eventPlaces(whole.Hits) || len(got) != min(limit, 100) {
				t.Errorf("%s, %d: %d in the answer, ahead %q, want %q", mode, limit, len(r.Hits), eventPlaces(got), eventPlaces(whole.Hits))
			}
			gone := errors.New("nobody reads")
			req.OnHits = func([]contract.EventHit) error { return gone }
			if _, err := s.SearchEvents(context.Background(), req); !errors.Is(err, gone) {
				t.Errorf("%s: %v", mode, err)
			}
		}
	}
}

// endless reads a file that has no end as far as anybody waits for it.
type endless struct {
	*fakeReader
	on   atomic.Bool
	read atomic.Int64 // events that were handed over
	many int
}

func (r *endless) Read(ctx context.Context, env transcript.Env, src transcript.Source, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	if !r.on.Load() {
		return r.fakeReader.Read(ctx, env, src, prev, out)
	}
	for i := range r.many {
		e := &transcript.Event{SessionID: "session-a", Seq: i, Type: transcript.TypeUserMessage, Role: transcript.RoleUser, Parts: []transcript.Part{{Text: "the plover nests"}}}
		if err := out.Event(e); err != nil {
			return nil, err
		}
		r.read.Add(1)
	}
	return &transcript.Checkpoint{}, nil
}

// A scan that is cancelled stops reading; the answer says that it was cancelled.
func TestScanIsCancelled(t *testing.T) {
	w := newWorld(t)
	w.write("fakes/a.fake", "session-a\nthe plover nests\n")
	r := &endless{fakeReader: newFake("fakes"), many: 1 << 40}
	s := w.enabled(r)
	w.reconcile(s)
	r.on.Store(true)
	for _, regex := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		req := scanning("heron")
		req.Regex = regex
		go func() {
			for begun := r.read.Load(); r.read.Load() < begun+10; {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		_, err := s.SearchEvents(ctx, req)
		if e := failed(t, err, contract.CodeAborted); e.RPCCode != contract.RPCRequestCancelled {
			t.Errorf("%+v", e)
		}
		w.stands(&r.read)
	}
	// Enough is enough, too.
	req := scanning("plover")
	req.Limit = 5
	if got := w.events(s, req); len(got.Hits) != 5 || !got.Page.HasMore {
		t.Errorf("%d hits", len(got.Hits))
	}
	w.stands(&r.read)
	// And so is the end of consent, given in another process or in this.
	go func() {
		for begun := r.read.Load(); r.read.Load() < begun+10; {
			time.Sleep(time.Millisecond)
		}
		w.setPolicy(s, contract.SetPolicyRequest{Enabled: contract.Some(false)})
	}()
	_, err := s.SearchEvents(context.Background(), scanning("heron"))
	failed(t, err, contract.CodeSearchDisabled)
	w.stands(&r.read)
}

// stands waits until a number does not grow any more.
func (w *world) stands(n *atomic.Int64) {
	w.t.Helper()
	for at := n.Load(); ; {
		time.Sleep(20 * time.Millisecond)
		now := n.Load()
		if now == at {
			return
		}
		if at = now; at > 1<<35 {
			w.t.Fatal("the reading goes on")
		}
	}
}

// A transcript of many sessions, each of which has more than enough, is not
// held in memory whole, and the answer is in order all the same.
func TestScanOfManySessionsInOneSource(t *testing.T) {
	w := newWorld(t)
	s := w.enabled(crowd{newFake("fakes")})
	w.write("fakes/crowd.fake", "crowd-000\n")
	w.reconcile(s)
	req := scanning("plover")
	req.Limit = 7
	r := w.events(s, req)
	var want []string
	for i := range 7 {
		want = append(want, fmt.Sprintf("crowd-%03d:%d", crowdSize-1-i/4, i%4))
	}
	if got := eventPlaces(r.Hits); got != strings.Join(want, " ") {
		t.Errorf("%q, want %q", got, want)
	}
	if all := w.events(s, scanning("plover")); len(all.Hits) != 4*crowdSize || !all.Total.Exact {
		t.Errorf("%d hits, %+v", len(all.Hits), all.Total)
	}
}

const crowdSize = 60

// crowd reads many sessions from each file, the oldest first.
type crowd struct{ *fakeReader }

func (crowd) Read(_ context.Context, env transcript.Env, _ transcript.Source, _ *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	if err := out.Begin(false); err != nil {
		return nil, err
	}
	for i := range crowdSize {
		id := fmt.Sprintf("crowd-%03d", i)
		h := transcript.Header{SessionID: id, Title: id, Relation: transcript.RelationRoot, Conversation: true}
		for seq := range 4 {
			e := &transcript.Event{SessionID: id, Seq: seq, Type: transcript.TypeUserMessage, Role: transcript.RoleUser, Surface: transcript.Current, Time: env.Time().Add(time.Duration(i-10*crowdSize) * time.Minute), Parts: []transcript.Part{{Text: "the plover nests"}}}
			h.SawTime(e.Time, env.Time())
			if err := out.Event(e); err != nil {
				return nil, err
			}
		}
		if err := out.Header(&h); err != nil {
			return nil, err
		}
	}
	return &transcript.Checkpoint{}, nil
}
