package server

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.lsp.dev/protocol"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/rpc/rpctest"
)

// display is a client's side of work-done progress, in a bubble.
type display struct {
	build *buildProgress
	asked []string
	shown []string // "token json"
}

func newDisplay() *display {
	d := &display{build: &buildProgress{created: make(chan string, 1)}}
	d.build.create = func(_ context.Context, token string) { d.asked = append(d.asked, token) }
	d.build.send = func(_ context.Context, token string, value any) error {
		raw, err := protocol.Marshal(value)
		d.shown = append(d.shown, token[len("sessionls/build/"):]+" "+string(raw))
		return err
	}
	return d
}

// tell passes a status as the notifier would.
func (d *display) tell(phase contract.Phase, progress *contract.Progress, swept bool) time.Duration {
	status := contract.Status{Phase: phase, Progress: progress, Sessions: 42}
	if swept {
		at := int64(1)
		status.LastSweepCompletedAt = &at
	}
	return d.build.tell(context.Background(), status)
}

func bytesDone(done, total int64) *contract.Progress {
	return &contract.Progress{BytesDone: done, BytesTotal: total, FilesDone: int(done / 10), FilesTotal: int(total / 10)}
}

func TestFirstBuildIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisplay()
		const second = time.Second
		d.tell(contract.PhaseIdle, nil, false)
		d.tell(contract.PhaseIndexing, nil, false) // nothing known yet
		if len(d.asked) != 0 {
			t.Error("asked for a token too early")
		}
		d.tell(contract.PhaseIndexing, bytesDone(0, 1000), false)
		d.tell(contract.PhaseIndexing, bytesDone(10, 1000), false)
		if len(d.asked) != 1 || len(d.shown) != 0 {
			t.Fatalf("asked %q, shown %q before the client agreed", d.asked, d.shown)
		}
		d.build.agreed = d.asked[0]
		d.tell(contract.PhaseIndexing, bytesDone(100, 1000), false)
		if again := d.tell(contract.PhaseIndexing, bytesDone(200, 1000), false); again != statusInterval {
			t.Errorf("a report within the interval: come again in %v", again)
		}
		time.Sleep(statusInterval)
		d.tell(contract.PhaseIndexing, bytesDone(500, 1000), false)
		time.Sleep(second)
		d.tell(contract.PhaseIndexing, bytesDone(500, 1000), false) // the same
		d.tell(contract.PhaseIndexing, bytesDone(600, 2000), false) // the total grew
		time.Sleep(second)
		d.tell(contract.PhaseIndexing, bytesDone(3000, 2000), false) // more than all
		d.tell(contract.PhaseCurrent, nil, true)
		d.tell(contract.PhaseIndexing, bytesDone(1, 2), true) // a later pass is no first build
		want := []string{
			`1 {"kind":"begin","title":"Indexing agent sessions","cancellable":false,"message":"10 of 100 files, 100 B of 1.0 kB","percentage":10}`,
			`1 {"kind":"report","message":"50 of 100 files, 500 B of 1.0 kB","percentage":50}`,
			`1 {"kind":"report","message":"60 of 200 files, 600 B of 2.0 kB","percentage":50}`,
			`1 {"kind":"report","message":"300 of 200 files, 3.0 kB of 2.0 kB","percentage":100}`,
			`1 {"kind":"end","message":"42 sessions"}`,
		}
		if got := strings.Join(d.shown, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("shown\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
		if len(d.asked) != 1 {
			t.Errorf("asked for %d tokens", len(d.asked))
		}
	})
}

func TestEachBuildHasItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisplay()
		d.tell(contract.PhaseIndexing, bytesDone(0, 0), false)
		d.build.agreed = d.asked[0]
		d.tell(contract.PhaseIndexing, bytesDone(0, 0), false)
		d.tell(contract.PhaseIdle, nil, false) // disabled midway
		d.tell(contract.PhaseIndexing, bytesDone(1, 10), false)
		d.build.agreed = d.asked[1]
		d.tell(contract.PhaseIndexing, bytesDone(1, 10), false)
		want := []string{
			`1 {"kind":"begin","title":"Indexing agent sessions","cancellable":false,"message":"0 of 0 files, 0 B of 0 B","percentage":0}`,
			`1 {"kind":"end","message":"stopped"}`,
			`2 {"kind":"begin","title":"Indexing agent sessions","cancellable":false,"message":"0 of 1 files, 1 B of 10 B","percentage":10}`,
		}
		if got := strings.Join(d.shown, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("shown\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
	})
}

func TestShortBuildAndLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisplay()
		d.tell(contract.PhaseIndexing, bytesDone(0, 10), false)
		d.tell(contract.PhaseCurrent, nil, true)
		d.build.agreed = d.asked[0] // too late
		d.tell(contract.PhaseCurrent, nil, true)
		if len(d.shown) != 0 {
			t.Errorf("shown %q", d.shown)
		}
		d.tell(contract.PhaseIndexing, bytesDone(0, 10), false) // cleared: the token is still good
		if len(d.asked) != 1 || len(d.shown) != 1 {
			t.Errorf("asked %q, shown %q", d.asked, d.shown)
		}
	})
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1_234_567: "1.2 MB", 3_400_000_000: "3.4 GB", -5: "-5 B"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestProgressOverTheWire(t *testing.T) {
	service := newFakeService()
	s := start(t, service)
	s.Send(fmt.Sprintf(neovimInitialize, os.Getpid()))
	s.Response("0")
	s.Send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	s.answer(s.Notification("workspace/configuration").ID, `"result":[null]`)
	service.change(func(st *contract.Status) {
		st.Phase, st.Enabled, st.Decided, st.Progress = contract.PhaseIndexing, true, true, bytesDone(250, 1000)
	})
	create := s.Notification("window/workDoneProgress/create")
	if string(create.Params) != `{"token":"sessionls/build/1"}` {
		t.Errorf("created %s", create.Params)
	}
	s.answer(create.ID, `"result":null`)
	kind := func() string {
		t.Helper()
		var p struct {
			Token string
			Value struct{ Kind string }
		}
		if err := json.Unmarshal(s.Notification("$/progress").Params, &p); err != nil {
			t.Fatal(err)
		}
		if p.Token != "sessionls/build/1" {
			t.Errorf("token %q", p.Token)
		}
		return p.Value.Kind
	}
	if got := kind(); got != "begin" {
		t.Errorf("%s first", got)
	}
	service.change(func(st *contract.Status) { st.Progress = bytesDone(500, 1000) })
	if got := kind(); got != "report" {
		t.Errorf("%s second", got)
	}
	service.change(func(st *contract.Status) { st.Phase, st.Progress = contract.PhaseCurrent, nil })
	if got := kind(); got != "end" {
		t.Errorf("%s third", got)
	}
}

func TestRefusedProgress(t *testing.T) {
	service := newFakeService()
	s := start(t, service)
	s.Send(fmt.Sprintf(neovimInitialize, os.Getpid()))
	s.Response("0")
	service.change(func(st *contract.Status) { st.Phase, st.Progress = contract.PhaseIndexing, bytesDone(250, 1000) })
	s.Send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	s.answer(s.Notification("workspace/configuration").ID, `"result":[null]`)
	s.answer(s.Notification("window/workDoneProgress/create").ID, `"error":{"code":-32601,"message":"no"}`)
	service.change(func(st *contract.Status) { st.Phase, st.Progress = contract.PhaseCurrent, nil })
	s.Await("the last status", func(m rpctest.Message) bool { return isStatus(m) && strings.Contains(string(m.Params), `"current"`) })
	for _, m := range s.Unread() {
		if m.Method == "$/progress" || m.Method == "window/workDoneProgress/create" {
			t.Errorf("%s although the client refused", m.Raw)
		}
	}
}

func TestNoProgressForClientsWithoutIt(t *testing.T) {
	service := newFakeService()
	service.change(func(st *contract.Status) { st.Phase, st.Progress = contract.PhaseIndexing, bytesDone(250, 1000) })
	s := started(t, service)
	s.Send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	s.Notification(methodStatus)
	service.change(func(st *contract.Status) { st.Phase = contract.PhaseCurrent })
	s.Notification(methodStatus)
	if rest := s.Unread(); len(rest) != 0 {
		t.Errorf("came unasked: %s", rest[0].Raw)
	}
}
