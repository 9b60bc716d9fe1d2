package exact_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/commands"
	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/testdata/samplehome"
)

// present is the time in these tests.
var present = time.Date(2031, 11, 30, 12, 0, 0, 0, time.UTC)

// world is a home with transcripts and a service over it, asked as an editor
// asks: by name, in JSON.
type world struct {
	t       *testing.T
	home    string
	own     string
	service *index.Service
	run     *commands.Registry
}

// newWorld opens a service over an empty home, with consent. No readers means
// all.
func newWorld(t *testing.T, transport contract.Transport, readers ...transcript.Reader) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, home: filepath.Join(dir, "home"), own: filepath.Join(dir, "own")}
	w.must(os.MkdirAll(w.home, 0o755))
	w.open(contract.TransportLocal, readers...)
	_, err := w.service.SetPolicy(t.Context(), contract.SetPolicyRequest{Enabled: contract.Some(true)})
	w.must(err)
	if transport == contract.TransportRemote {
		w.open(transport, readers...)
	}
	return w
}

func (w *world) open(transport contract.Transport, readers ...transcript.Reader) {
	w.t.Helper()
	service, err := index.Open(context.Background(), index.Options{
		Paths: index.PathsUnder(w.own), Readers: readers, Transport: transport, Now: func() time.Time { return present },
		Env: transcript.Env{Home: w.home, GOOS: "linux", Getenv: func(string) string { return "" }},
	})
	w.must(err)
	w.t.Cleanup(func() { service.Close() })
	w.service, w.run = service, commands.New(service, contract.Parser{}, "")
}

// samples is a world with the samples of all agents, indexed.
func samples(t *testing.T, transport contract.Transport) *world {
	t.Helper()
	w := newWorld(t, transport)
	w.must(samplehome.Make(w.home, "../../testdata/home"))
	w.reconcile()
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
}

func (w *world) write(rel, text string) string {
	w.t.Helper()
	path := filepath.Join(w.home, filepath.FromSlash(rel))
	w.must(os.MkdirAll(filepath.Dir(path), 0o755))
	w.must(os.WriteFile(path, []byte(text), 0o644))
	return path
}

func (w *world) reconcile() {
	w.t.Helper()
	w.must(w.service.Reconcile(w.t.Context(), false, nil))
}

// ask runs a command with a request in JSON and reads its answer.
func ask[R any](w *world, command, request string) R {
	w.t.Helper()
	r, err := try[R](w, command, request)
	if err != nil {
		w.t.Fatalf("%s%s: %v", command, request, err)
	}
	return r
}

func try[R any](w *world, command, request string) (R, error) {
	w.t.Helper()
	var r R
	raw, err := w.run.Run(w.t.Context(), "sessionls."+command, []json.RawMessage{json.RawMessage(request)})
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		w.t.Fatalf("%s%s: %v", command, request, err)
	}
	return r, nil
}

// fails runs a command that is to be refused.
func (w *world) fails(command, request, code string) *contract.Error {
	w.t.Helper()
	_, err := try[json.RawMessage](w, command, request)
	var fault *contract.Error
	if !errors.As(err, &fault) || fault.Code != code {
		w.t.Errorf("%s%s: got %v, want %s", command, request, err, code)
		return &contract.Error{}
	}
	return fault
}

// of is a request about a session, with more members.
func of(name contract.SessionName, more ...string) string {
	b, err := json.Marshal(name)
	if err != nil {
		panic(err)
	}
	return strings.Join(append([]string{strings.TrimSuffix(string(b), "}")}, more...), ",") + "}"
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// all lists every session.
func (w *world) all() []contract.Header {
	w.t.Helper()
	return ask[contract.ListSessionsResponse](w, "listSessions", `{"limit":1000}`).Sessions
}

func nameOf(h contract.Header) contract.SessionName {
	return contract.SessionName{SessionID: h.SessionID, Agent: h.Agent}
}

// raw runs a command and gives its answer as it is sent.
func (w *world) raw(command, request string) json.RawMessage {
	w.t.Helper()
	raw, err := w.run.Run(w.t.Context(), "sessionls."+command, []json.RawMessage{json.RawMessage(request)})
	w.must(err)
	return raw
}
