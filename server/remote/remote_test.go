package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/remote"
)

const box contract.Host = "runtime:box"

// local is this machine's service: nothing that is asked of another host may get
// here.
type local struct {
	contract.Commands
	t *testing.T
}

func (l local) SearchSessions(_ context.Context, q contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
	if !q.ExecutionHost.IsLocal() {
		l.t.Errorf("this machine was asked for %s", q.ExecutionHost)
	}
	return contract.ResultsResponse(contract.SearchResults{Hits: contract.List[contract.Hit]{{Title: "of this machine"}}}), nil
}

// hosts are hosts of which runtime:box behaves as the scenario says.
func hosts(t *testing.T, scenario string) *remote.Hosts {
	return hostsWith(t, scenario, func(o remote.Options) remote.Options { return o })
}

func hostsWith(t *testing.T, scenario string, change func(remote.Options) remote.Options) *remote.Hosts {
	t.Helper()
	h := remote.New(change(remote.Options{
		Local: local{t: t}, Version: "1.0",
		Environments: func() (map[string]remote.Environment, error) {
			return map[string]remote.Environment{
				"box":     {Command: []string{os.Args[0], hostPrefix + scenario}},
				"nothing": {Command: []string{"/nonexistent/program"}},
			}, nil
		},
	}))
	t.Cleanup(h.Close)
	return h
}

func search(query string, host contract.Host) contract.SearchSessionsRequest {
	q := contract.NewSearchSessionsRequest(query)
	q.ExecutionHost = host
	return q
}

// firstHit searches and returns the only hit.
func firstHit(t *testing.T, h *remote.Hosts, q contract.SearchSessionsRequest) contract.Hit {
	t.Helper()
	got, err := h.SearchSessions(context.Background(), q)
	if err != nil || got.Results == nil || len(got.Results.Hits) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	return got.Results.Hits[0]
}

// refused is the error of a request, which must be one of the contract.
func refused(t *testing.T, err error) *contract.Error {
	t.Helper()
	var coded *contract.Error
	if !errors.As(err, &coded) {
		t.Fatalf("%v is no error of the contract", err)
	}
	return coded
}

func TestLocalRequestsStayHere(t *testing.T) {
	h := hosts(t, "missing")
	for _, host := range []contract.Host{"", contract.LocalHost} {
		if got := firstHit(t, h, search("x", host)); got.Title != "of this machine" || got.ExecutionHostID != "" {
			t.Errorf("%q: %+v", host, got)
		}
	}
	if remote.Connected(h) != 0 {
		t.Error("a host was connected")
	}
}

func TestRequestsAreTheOtherHostsOwn(t *testing.T) {
	h := hosts(t, "echo")
	q := search("tide <table>", box)
	q.Filters.Agents = []string{"pi"}
	hit := firstHit(t, h, q)
	var asked map[string]any
	if err := json.Unmarshal([]byte(hit.Title), &asked); err != nil {
		t.Fatal(err)
	}
	if asked["query"] != "tide <table>" || fmt.Sprint(asked["filters"]) != "map[agents:[pi] sort:relevance]" {
		t.Errorf("asked %v", asked)
	}
	if _, there := asked["executionHost"]; there {
		t.Error("the host is told a host")
	}
	if hit.ExecutionHostID != box {
		t.Errorf("the hit is of %q", hit.ExecutionHostID)
	}
	var said map[string]any
	if err := json.Unmarshal([]byte(firstHit(t, hosts(t, "transport"), search("x", box)).Title), &said); err != nil || said["transport"] != "remote" {
		t.Errorf("the host is told %v, %v", said, err)
	}
}

// TestCursorsAreBoundToTheirHost: wrapped when they come, unwrapped when they go,
// and refused elsewhere without a call.
func TestCursorsAreBoundToTheirHost(t *testing.T) {
	with := strings.Replace(page(plainHit, ""), `"cursor":null,"hasMore":false`, `"cursor":"inner","hasMore":true`, 1)
	got, err := hosts(t, "answer:"+with).SearchSessions(context.Background(), search("x", box))
	if err != nil {
		t.Fatal(err)
	}
	cursor := got.Results.Page.Cursor
	if cursor == nil || *cursor != contract.WrapCursor(box, "inner") {
		t.Fatalf("cursor %v", cursor)
	}
	q := search("x", box)
	q.Cursor = cursor
	if hit := firstHit(t, hosts(t, "echo"), q); !strings.Contains(hit.Title, `"cursor":"inner"`) {
		t.Errorf("asked %s", hit.Title)
	}

	// This host would say that it has no program; it is not asked.
	h := hosts(t, "missing")
	for _, foreign := range []string{"", "inner", contract.WrapCursor("ssh:other", "inner"), *cursor + "x"} {
		q := search("x", box)
		q.Cursor = &foreign
		if got, err := h.SearchSessions(context.Background(), q); err != nil || got.Kind != contract.KindMalformedCursor {
			t.Errorf("%q: %+v, %v", foreign, got, err)
		}
		_, err := h.ListSessions(context.Background(), contract.ListSessionsRequest{Cursor: &foreign, ExecutionHost: box})
		if e := refused(t, err); e.Code != contract.CodeInvalidCursor || e.RPCCode != contract.RPCInvalidParams {
			t.Errorf("%q: %v", foreign, e)
		}
	}
}

// TestHostileAnswers: what a host says of itself is redacted, stamped, cleaned
// and mended, or refused.
func TestHostileAnswers(t *testing.T) {
	lie := `{"agent":"claude","executionHostId":"local","sessionId":"s\u0000-1","title":"a\u001b[2J\u202eb\nc","cwd":"/work/\u0007x","relation":"marriage",` +
		`"parentSessionId":"/home/me/.pi/parent.jsonl","source":{"presence":"sworn","filePath":"/etc/passwd","codexHome":"/root"},"resumeCommand":"rm -rf /",` +
		`"evidence":{"snippet":"[[x]]\u0000y\nz","marks":[[2,3],[1,2],[3,900],[-1,1],[5,4]],"role":"boss","surface":"current","type":"t"},"later":{"data":[{}]}}`
	hit := firstHit(t, hosts(t, "answer:"+page(lie, `,"news":[1]`)), search("x", box))
	if hit.ExecutionHostID != box || hit.Source != (contract.Source{Presence: contract.PresenceUnverifiable}) || hit.ResumeCommand != "" || *hit.ParentSessionID != "parent.jsonl" {
		t.Errorf("not redacted: %+v", hit)
	}
	if hit.SessionID != "s-1" || hit.Title != "a[2Jbc" || *hit.Cwd != "/work/x" || hit.Relation != contract.RelationContinuation {
		t.Errorf("not cleaned: %+v", hit)
	}
	if e := hit.Evidence; e.Snippet != "[[x]] y\nz" || fmt.Sprint(e.Marks) != "[[2 3]]" || e.Role != contract.RoleUnknown {
		t.Errorf("not mended: %+v", e)
	}

	for name, scenario := range map[string]string{
		"no object":            `answer:[]`,
		"null":                 `answer:null`,
		"no kind":              `answer:{}`,
		"another kind":         `answer:{"kind":"surprise"}`,
		"wrong type":           `answer:` + page(`{"agent":7}`, ""),
		"nobody's session":     `answer:` + page(`{"title":"x"}`, ""),
		"more than asked":      `answer:` + page(strings.Repeat(plainHit+",", 20)+plainHit, ""),
		"an unbounded cursor":  `answer:` + strings.Replace(page(plainHit, ""), `"cursor":null`, `"cursor":"`+strings.Repeat("x", 9000)+`"`, 1),
		"a gigabyte":           `huge`,
		"a bomb":               `bomb`,
		"words nobody asked":   `chatter`,
		"an unknown surface":   `answer:` + page(strings.Replace(plainHit, `"evidence":null`, `"evidence":{"snippet":"","marks":[],"role":"user","surface":"deep"}`, 1), ""),
		"evidence of no shape": `answer:` + page(strings.Replace(plainHit, `"evidence":null`, `"evidence":[]`, 1), ""),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := hosts(t, scenario).SearchSessions(context.Background(), search("x", box))
			if e := refused(t, err); e.RPCCode != contract.RPCRequestFailed || !strings.Contains(e.Message, string(box)+" does not answer as a session service would") {
				t.Errorf("%v", e)
			}
		})
	}
}

// TestAnswersToOtherQuestions are refused.
func TestAnswersToOtherQuestions(t *testing.T) {
	ctx := context.Background()
	name := contract.SessionName{SessionID: "session-1"}
	event := `{"agent":"claude","sessionId":"session-1","seq":3,"role":"user","surface":"current"}`
	for what, ask := range map[string]struct {
		answer string
		do     func(*remote.Hosts) error
	}{
		"another session": {`{"session":` + strings.Replace(header, "session-1", "session-2", 1) + `,"events":[],"nextSeq":null}`, func(h *remote.Hosts) error {
			_, err := h.ReadSession(ctx, contract.ReadSessionRequest{SessionName: name, ExecutionHost: box})
			return err
		}},
		"a stretch without end": {`{"session":` + header + `,"markdown":"x","lines":[],"nextSeq":5}`, func(h *remote.Hosts) error {
			_, err := h.RenderTranscript(ctx, contract.RenderTranscriptRequest{SessionName: name, FromSeq: 5, ExecutionHost: box})
			return err
		}},
		"another event": {`{"session":` + header + `,"target":` + event + `,"events":[]}`, func(h *remote.Hosts) error {
			seq := int64(4)
			_, err := h.ReadEvent(ctx, contract.ReadEventRequest{SessionName: name, EventName: contract.EventName{Seq: &seq}, ExecutionHost: box})
			return err
		}},
		"a title without a session": {`{"titles":[{"sessionId":"session-1","status":"fulfilled"}]}`, func(h *remote.Hosts) error {
			_, err := h.ReadTitles(ctx, contract.ReadTitlesRequest{Sessions: contract.List[contract.SessionName]{name}, ExecutionHost: box})
			return err
		}},
		"more titles": {`{"titles":[{"sessionId":"a","status":"rejected"},{"sessionId":"b","status":"rejected"}]}`, func(h *remote.Hosts) error {
			_, err := h.ReadTitles(ctx, contract.ReadTitlesRequest{Sessions: contract.List[contract.SessionName]{name}, ExecutionHost: box})
			return err
		}},
	} {
		t.Run(what, func(t *testing.T) {
			if e := refused(t, ask.do(hosts(t, "answer:"+ask.answer))); !strings.Contains(e.Message, "does not answer as a session service would") {
				t.Errorf("%v", e)
			}
		})
	}
}

func TestHeadersAreRedactedAndStamped(t *testing.T) {
	dirty := `{"agent":"pi","sessionId":"session-1","executionHostId":"ssh:else","title":"","relation":"fork","presence":"present","parentSessionId":"C:\\u\\p.jsonl","sourcePath":"/home/me/x.jsonl","warnings":["see '/home/me/x y.jsonl'"]}`
	got, err := hosts(t, `answer:{"target":`+dirty+`,"ancestors":[`+dirty+`],"descendants":[{"session":`+dirty+`,"depth":1,"descendants":[]}],"complete":false,"unresolvedParentId":"/home/me/p.jsonl"}`).
		TraceSession(context.Background(), contract.TraceSessionRequest{SessionName: contract.SessionName{SessionID: "session-1"}, ExecutionHost: box})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range []contract.Header{got.Target, got.Ancestors[0], got.Descendants[0].Session} {
		if h.ExecutionHostID != box || h.SourcePath != "" || *h.ParentSessionID != "p.jsonl" || h.Warnings[0] != "see 'x y.jsonl'" || h.Title != "session-1" {
			t.Errorf("%d: %+v", i, h)
		}
	}
	if *got.UnresolvedParentID != "p.jsonl" {
		t.Errorf("parent %q", *got.UnresolvedParentID)
	}
}

// TestOldHosts have no service, by either sign of it.
func TestOldHosts(t *testing.T) {
	ctx := context.Background()
	for _, scenario := range []string{"old", "offers-nothing-it-has"} {
		h := hosts(t, scenario)
		if got, err := h.SearchSessions(ctx, search("x", box)); err != nil || got.Kind != contract.KindUnavailable || got.Reason != contract.ReasonNoService {
			t.Errorf("%s: %+v, %v", scenario, got, err)
		}
		got, err := h.SearchStatus(ctx, contract.SearchStatusRequest{ExecutionHost: box})
		if err != nil || got.Enabled || got.Phase != contract.PhaseIdle {
			t.Errorf("%s: %+v, %v", scenario, got, err)
		}
		_, err = h.ListSessions(ctx, contract.ListSessionsRequest{ExecutionHost: box})
		if e := refused(t, err); e.RPCCode != contract.RPCRequestFailed || e.Code != contract.CodeSearchDisabled {
			t.Errorf("%s: %v", scenario, e)
		}
	}
}

// TestFailures holds what each says: what is wrong, and what to do.
func TestFailures(t *testing.T) {
	for scenario, want := range map[string]string{
		"missing":      "has no sessionls on its PATH (sh: 1: [31msessionls: not found); install it there",
		"nologin":      "exit code 1 (This account is currently not available.)",
		"endless":      "prints something that is not of the protocol (motd motd",
		"hangs":        "gave no answer in 300ms; does",
		"other-server": `answers as "gopls", which is not sessionls`,
		"dies":         "was lost twice while it answered (client_loop: send disconnect: Broken pipe)",
		"silent":       "does not answer any more",
		`error:{"code":-32803,"message":"off","data":{"code":"SESSION_QUERY_SEARCH_DISABLED"}}`:                               "search is switched off on runtime:box: its user decides, with `sessionls enable` in box",
		`error:{"code":-32603,"message":"a\u001b[31m` + strings.Repeat("x", 1000) + `"}`:                                      "runtime:box could not answer: a[31mxxx",
		`error:{"code":-32803,"message":"m","data":{"code":"SUDO"}}`:                                                          "runtime:box could not answer: m",
		`error:{"code":-32602,"message":"limit: bad","data":{"code":"SESSION_QUERY_INVALID_LIMIT","field":"limit"}}`:          "limit: bad (on runtime:box)",
		`error:{"code":-32803,"message":"none","data":{"code":"SESSION_QUERY_SESSION_NOT_FOUND","candidates":"none at all"}}`: "could not answer: none",
		`error:{"code":-32800,"message":"tired"}`:                                                                             "could not answer: tired",
	} {
		t.Run(strings.Split(scenario, ":")[0], func(t *testing.T) {
			h := hostsWith(t, scenario, func(o remote.Options) remote.Options {
				if scenario == "hangs" || scenario == "silent" {
					start := 300 * time.Millisecond
					if scenario == "silent" {
						start = time.Minute
					}
					return remote.Impatient(o, start, 100*time.Millisecond, 100*time.Millisecond)
				}
				return o
			})
			_, err := h.SearchSessions(context.Background(), search("x", box))
			e := refused(t, err)
			if !strings.Contains(e.Message, want) || len(e.Message) > 800 || strings.ContainsAny(e.Message, "\x1b\n") {
				t.Errorf("%q\nwants %q", e.Message, want)
			}
		})
	}
	for host, want := range map[contract.Host]string{
		"runtime:nothing": `"/nonexistent/program" cannot be started`,
		"runtime:a.b":     `runtime:a.b is not in the configuration file (configured are box, nothing); add [hosts."a.b"]`,
	} {
		_, err := hosts(t, "echo").SearchSessions(context.Background(), search("x", host))
		if e := refused(t, err); !strings.Contains(e.Message, want) {
			t.Errorf("%q\nwants %q", e.Message, want)
		}
	}
}

// TestFailuresOfSSH gives the words of ssh the sense they have for a person. A
// program named ssh stands first on the PATH.
func TestFailuresOfSSH(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for scenario, want := range map[string]string{
		"unknown":     "ssh:me@nowhere: ssh does not know this host (ssh: Could not resolve hostname nowhere: Name or service not known); check the name, or add it to ~/.ssh/config",
		"denied":      "ssh could not log in (me@box: Permission denied (publickey).); nothing can be typed here, so `ssh me@nowhere` must work",
		"untrusted":   "ssh does not trust the key of this host (Host key verification failed.); run `ssh me@nowhere` once",
		"unreachable": "did not answer in 10s",
		"missing":     "`ssh me@nowhere sessionls version` must work",
	} {
		script := "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + filepath.Join(dir, "args") + "\nexec " + os.Args[0] + " " + hostPrefix + scenario + "\n"
		if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := hosts(t, "").SearchSessions(context.Background(), search("x", "ssh:me@nowhere"))
		if e := refused(t, err); !strings.Contains(e.Message, want) {
			t.Errorf("%s: %q\nwants %q", scenario, e.Message, want)
		}
		args, err := os.ReadFile(filepath.Join(dir, "args"))
		if got := strings.Join(strings.Fields(string(args)), " "); err != nil || got != "-T -o BatchMode=yes -o ConnectTimeout=10 -o ClearAllForwardings=yes -o RemoteCommand=none -- me@nowhere sessionls serve" {
			t.Errorf("ssh %s, %v", got, err)
		}
	}
}

func TestErrorsKeepTheirCandidates(t *testing.T) {
	_, err := hosts(t, `error:{"code":-32803,"message":"two","data":{"code":"SESSION_QUERY_SOURCE_CONFLICT","candidates":[{"agent":"pi","sessionId":"a\u0007","title":"t"}]}}`).
		ReadSession(context.Background(), contract.ReadSessionRequest{SessionName: contract.SessionName{SessionID: "a"}, ExecutionHost: box})
	e := refused(t, err)
	raw, encoding := json.Marshal(e.Candidates)
	if encoding != nil || e.Code != contract.CodeSourceConflict || string(raw) != `[{"agent":"pi","sessionId":"a","title":"t"}]` {
		t.Errorf("%s %s", e.Code, raw)
	}
}

func TestBannersAndSlownessAreNoFailures(t *testing.T) {
	firstHit(t, hosts(t, "banner"), search("x", box))
	// A host that still answers other requests is waited for.
	slow := hostsWith(t, "slow", func(o remote.Options) remote.Options {
		return remote.Impatient(o, time.Minute, 20*time.Millisecond, time.Minute)
	})
	if hit := firstHit(t, slow, search("x", box)); hit.Title != "tide" {
		t.Errorf("%+v", hit)
	}
}

func TestALostConnectionIsMadeOnceMore(t *testing.T) {
	h := hosts(t, "dies:"+filepath.Join(t.TempDir(), "died"))
	firstHit(t, h, search("x", box))
	if n := remote.Connected(h); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestOneConnectionForAHost(t *testing.T) {
	h := hostsWith(t, "echo", func(o remote.Options) remote.Options { o.Idle = 50 * time.Millisecond; return o })
	var asking sync.WaitGroup
	for range 40 {
		asking.Go(func() { firstHit(t, h, search("x", box)) })
	}
	asking.Wait()
	if n := remote.Connected(h); n > 1 {
		t.Errorf("%d connections", n)
	}
	for deadline := time.Now().Add(30 * time.Second); remote.Connected(h) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("an idle connection is not closed")
		}
	}
	firstHit(t, h, search("x", box)) // and made again
}

// TestManyHosts: whoever is not in use makes room for the next one.
func TestManyHosts(t *testing.T) {
	const more = 40
	h := hostsWith(t, "echo", func(o remote.Options) remote.Options {
		one, err := o.Environments()
		o.Environments = func() (map[string]remote.Environment, error) {
			many := map[string]remote.Environment{}
			for i := range more {
				many[fmt.Sprint("box", i)] = one["box"]
			}
			return many, err
		}
		return o
	})
	for i := range more {
		firstHit(t, h, search("x", contract.Host(fmt.Sprint("runtime:box", i))))
	}
	if n := remote.Connected(h); n >= more {
		t.Errorf("%d hosts are connected", n)
	}
	// The last ones are those that stay.
	firstHit(t, h, search("x", contract.Host(fmt.Sprint("runtime:box", more-1))))
}

// await waits until a file is there.
func await(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Error("no " + filepath.Base(path))
			return
		}
	}
}

// cancelled searches the box and gives it up when the box has been started, which it
// notes in a file.
func cancelled(t *testing.T, h *remote.Hosts, file string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		await(t, file)
		cancel()
	}()
	if _, err := h.SearchSessions(ctx, search("x", box)); refused(t, err).RPCCode != contract.RPCRequestCancelled {
		t.Errorf("%v", err)
	}
}

// Whoever types cancels one search for the next: the connection that the first has
// begun serves the last.
func TestTypingConnectsOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "starts")
	h := hostsWith(t, "opens:"+file, func(o remote.Options) remote.Options { return remote.Lingering(o, time.Hour) })
	for range 5 {
		cancelled(t, h, file)
	}
	if err := os.WriteFile(file+".open", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	firstHit(t, h, search("x", box))
	if got, err := os.ReadFile(file); string(got) != "started\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// A connection that nobody waits for is given up after a while; who comes later gets
// another one.
func TestUnwantedConnectionIsGivenUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "starts")
	h := hostsWith(t, "opens:"+file, func(o remote.Options) remote.Options { return remote.Lingering(o, time.Millisecond) })
	cancelled(t, h, file)
	for deadline := time.Now().Add(2 * time.Minute); remote.Lines(h) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the connection is still being made")
		}
	}
	if err := os.WriteFile(file+".open", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	firstHit(t, h, search("x", box))
	if got, err := os.ReadFile(file); string(got) != "started\nstarted\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestCancellationCrosses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "told")
	h := hosts(t, "cancelled:"+file)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := h.SearchSessions(ctx, search("x", box))
		ended <- err
	}()
	await(t, file+".asked")
	cancel()
	if e := refused(t, <-ended); e.RPCCode != contract.RPCRequestCancelled || e.Code != contract.CodeAborted {
		t.Errorf("%v", e)
	}
	await(t, file)
	if remote.Connected(h) != 1 {
		t.Error("a cancelled request costs the connection")
	}
	deadline, end := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer end()
	if _, err := hosts(t, "hangs").SearchSessions(deadline, search("x", box)); refused(t, err).RPCCode != contract.RPCRequestCancelled {
		t.Errorf("%v", err)
	}
}

func TestHitsAheadOfTheAnswer(t *testing.T) {
	ask := func(limit int, onHits func([]contract.EventHit) error) (contract.SearchEventsResponse, error) {
		q := contract.NewSearchEventsRequest("x")
		q.ExecutionHost, q.Limit, q.PartialResultToken, q.OnHits = box, limit, json.RawMessage(`7`), onHits
		return hosts(t, "stream").SearchEvents(context.Background(), q)
	}
	var seqs []int64
	got, err := ask(3, func(hits []contract.EventHit) error {
		for _, hit := range hits {
			seqs = append(seqs, hit.Seq)
			if hit.ExecutionHostID != box || hit.Snippet != "a b" {
				t.Errorf("%+v", hit)
			}
		}
		return nil
	})
	if err != nil || !slices.Equal(seqs, []int64{0, 1, 2}) || len(got.Hits) != 0 || got.Total.Events != 3 {
		t.Errorf("%v, %+v, %v", seqs, got, err)
	}
	if _, err := ask(2, func([]contract.EventHit) error { return nil }); !strings.Contains(refused(t, err).Message, "more hits than were asked for") {
		t.Errorf("%v", err)
	}
	full := errors.New("full")
	if _, err := ask(3, func([]contract.EventHit) error { return full }); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

// TestAnotherMachineDoesNotGetFurther: a request that came over a remote
// connection is not sent on.
func TestAnotherMachineDoesNotGetFurther(t *testing.T) {
	ctx := contract.WithTransport(context.Background(), contract.TransportRemote)
	h := hosts(t, "echo")
	_, err := h.SearchSessions(ctx, search("x", box))
	if e := refused(t, err); e.Code != contract.CodeSearchDisabled || remote.Connected(h) != 0 {
		t.Errorf("%v", e)
	}
}

func TestResumePlanIsMadeHere(t *testing.T) {
	theirs := `answer:{"agent":"pi","sessionId":"session-1","argv":["rm"],"command":"rm","cwd":"/w","checks":{"binary":true},"warnings":[{"code":"active","message":"m"}]}`
	var told contract.ResumePlanResponse
	h := hostsWith(t, theirs, func(o remote.Options) remote.Options {
		o.ResumePlan = func(host contract.Host, of contract.ResumePlanResponse, shell contract.Shell) contract.ResumePlanResponse {
			told = of
			return contract.ResumePlanResponse{Agent: string(host), SessionID: string(shell)}
		}
		return o
	})
	got, err := h.ResumePlan(context.Background(), contract.ResumePlanRequest{SessionName: contract.SessionName{SessionID: "session-1"}, Shell: contract.ShellFish, ExecutionHost: box})
	if err != nil || got.Agent != string(box) || got.SessionID != "fish" {
		t.Errorf("%+v, %v", got, err)
	}
	if told.Argv != nil || told.Command != nil || told.Checks.Binary != nil || told.Warnings != nil || *told.Cwd != "/w" {
		t.Errorf("told %+v", told)
	}
}

func TestClosedHostsAreNotAsked(t *testing.T) {
	h := hosts(t, "echo")
	firstHit(t, h, search("x", box))
	h.Close()
	if _, err := h.SearchSessions(context.Background(), search("x", box)); refused(t, err).RPCCode != contract.RPCRequestFailed {
		t.Errorf("%v", err)
	}
}

// TestCloseEndsWhatIsBeingMade: the program ends after Close, and nobody else would
// end the command of a connection that is still being made.
func TestCloseEndsWhatIsBeingMade(t *testing.T) {
	started := filepath.Join(t.TempDir(), "pid")
	h := hostsWith(t, "", func(o remote.Options) remote.Options {
		o.Environments = func() (map[string]remote.Environment, error) {
			return map[string]remote.Environment{"box": {Command: []string{"sh", "-c", `echo $$ >"$0.new"; mv "$0.new" "$0"; exec sleep 1000`, started}}}, nil
		}
		return o
	})
	answered := make(chan error)
	go func() {
		_, err := h.SearchSessions(context.Background(), search("x", box))
		answered <- err
	}()
	var pid int
	for deadline := time.Now().Add(30 * time.Second); pid == 0; time.Sleep(5 * time.Millisecond) {
		if raw, err := os.ReadFile(started); err == nil {
			_, _ = fmt.Sscan(string(raw), &pid)
		} else if time.Now().After(deadline) {
			t.Fatal("the command is not started")
		}
	}
	h.Close()
	// Waited for, so that not even a zombie is left.
	if running, err := os.FindProcess(pid); err == nil && running.Signal(syscall.Signal(0)) == nil {
		t.Error("the command still runs")
	}
	if err := refused(t, <-answered); !strings.Contains(err.Message, "closing") {
		t.Errorf("%v", err)
	}
}

func TestSSHHosts(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".ssh")
	for name, text := range map[string]string{
		"config": "Include conf.d/* \nHost box \"quoted\" web-*  !not ?one\n  HostName h\nHOST=late\nhost = spaced\nMatch host x\n# Host comment\nHost -dash a/b\nHost box\nHost \"open\nInclude config\n" +
			"Include ~/.ssh/more\n\tHost\ttabbed\n",
		"conf.d/1": "Host first\n",
		"more":     "Host more\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []contract.Host{"ssh:first", "ssh:box", "ssh:quoted", "ssh:late", "ssh:spaced", "ssh:more", "ssh:tabbed"}
	if got := remote.SSHHosts(home); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := remote.SSHHosts(t.TempDir()); got != nil {
		t.Errorf("without a file %q", got)
	}
}
