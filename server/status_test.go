package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/rpc/rpctest"
)

func isStatus(m rpctest.Message) bool { return m.Method == methodStatus }

// recorder is a notifier in a bubble with its own clock.
type recorder struct {
	status  contract.Status
	err     error
	enabled bool
	stuck   chan struct{} // nil, or sending waits for it
	sent    []contract.Status
	at      []time.Duration
	wake    chan struct{}
	set     chan struct{}
}

// inBubble runs the notifier until do returns. do may change the recorder when every
// goroutine rests, which step sees to.
func inBubble(t *testing.T, do func(r *recorder, step func(change func()))) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		r := &recorder{enabled: true, wake: make(chan struct{}, 1), set: make(chan struct{}, 1)}
		r.status = contract.Status{Enabled: true, Decided: true, Phase: contract.PhaseCurrent, Writer: contract.WriterThis}
		n := &notifier{
			status:  func(context.Context) (contract.Status, error) { return r.status, r.err },
			enabled: func() bool { return r.enabled },
			send: func(_ context.Context, s contract.Status) error {
				if r.stuck != nil {
					<-r.stuck
				}
				r.sent = append(r.sent, s)
				r.at = append(r.at, time.Since(begin))
				return nil
			},
			build: &buildProgress{},
			log:   zerolog.New(io.Discard),
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			n.run(ctx, r.wake, r.set)
		}()
		synctest.Wait()
		do(r, func(change func()) {
			synctest.Wait()
			change()
			select {
			case r.wake <- struct{}{}:
			default:
			}
			synctest.Wait()
		})
		cancel()
		<-done
	})
}

func TestStatusIsSentOnStart(t *testing.T) {
	inBubble(t, func(r *recorder, _ func(func())) {
		if len(r.sent) != 1 || r.at[0] != 0 {
			t.Errorf("%d sent at %v", len(r.sent), r.at)
		}
	})
}

func TestPhaseAndPolicyAreToldAtOnce(t *testing.T) {
	inBubble(t, func(r *recorder, step func(func())) {
		step(func() { r.status.Phase = contract.PhaseIndexing })
		step(func() { r.status.Phase = contract.PhaseDegraded })
		step(func() { r.status.Enabled = false })
		step(func() { r.status.Decided = false })
		if len(r.sent) != 5 || r.at[4] != 0 {
			t.Errorf("%d sent at %v", len(r.sent), r.at)
		}
	})
}

func TestNothingNewIsNotTold(t *testing.T) {
	inBubble(t, func(r *recorder, step func(func())) {
		now := int64(1)
		step(func() {})
		step(func() { r.status.LastReconcileAt = &now })
		step(func() { r.status.DegradedRoots = contract.List[contract.DegradedRoot]{} })
		time.Sleep(time.Hour)
		step(func() { r.err = errors.New("not now") })
		if len(r.sent) != 1 {
			t.Errorf("%d sent", len(r.sent))
		}
	})
}

// TestBusyIndexIsToldFourTimesASecond moves the generation every millisecond for
// two seconds.
func TestBusyIndexIsToldFourTimesASecond(t *testing.T) {
	for name, change := range map[string]func(*contract.Status, int){
		"generation": func(s *contract.Status, i int) { s.Generation = int64(i) },
		"progress":   func(s *contract.Status, i int) { s.Progress = &contract.Progress{FilesDone: i} },
		"failures":   func(s *contract.Status, i int) { s.FilesFailed = i },
		"roots": func(s *contract.Status, i int) {
			s.DegradedRoots = contract.List[contract.DegradedRoot]{{Root: fmt.Sprint(i)}}
		},
		"identity": func(s *contract.Status, i int) { s.Identity = fmt.Sprint(i) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *recorder, step func(func())) {
				for i := range 2000 {
					step(func() { change(&r.status, i+1) })
					time.Sleep(time.Millisecond)
				}
				time.Sleep(time.Hour) // the last one comes although nothing wakes
				synctest.Wait()
				for i := 1; i < len(r.at); i++ {
					if gap := r.at[i] - r.at[i-1]; gap < 250*time.Millisecond {
						t.Errorf("two notifications within %v", gap)
					}
				}
				// At 0, at each full interval up to 2 s, and nothing after the end.
				if len(r.sent) != 9 {
					t.Errorf("%d sent in two seconds, at %v", len(r.sent), r.at)
				}
				last, _ := json.Marshal(r.sent[len(r.sent)-1])
				want, _ := json.Marshal(r.status)
				if string(last) != string(want) {
					t.Errorf("the last one told is\n%s\nnot\n%s", last, want)
				}
			})
		})
	}
}

func TestPhaseOvertakesTheInterval(t *testing.T) {
	inBubble(t, func(r *recorder, step func(func())) {
		step(func() { r.status.Generation = 1 }) // has to wait
		time.Sleep(10 * time.Millisecond)
		step(func() { r.status.Phase = contract.PhaseIndexing }) // has not
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(r.sent) != 2 || r.at[1] != 10*time.Millisecond || r.sent[1].Generation != 1 {
			t.Errorf("sent at %v", r.at)
		}
	})
}

func TestSlowReaderGetsTheNewest(t *testing.T) {
	inBubble(t, func(r *recorder, step func(func())) {
		r.stuck = make(chan struct{})
		for i := range 1000 {
			step(func() {
				r.status.Generation = int64(i + 1)
				r.status.Phase = []contract.Phase{contract.PhaseIndexing, contract.PhaseCurrent}[i%2]
			})
		}
		close(r.stuck)
		synctest.Wait()
		time.Sleep(time.Hour)
		synctest.Wait()
		// The first, the one that was stuck, and the newest.
		if len(r.sent) != 3 || r.sent[2].Generation != 1000 {
			t.Errorf("%d sent, the last of generation %d", len(r.sent), r.sent[len(r.sent)-1].Generation)
		}
	})
}

func TestStatusNotWanted(t *testing.T) {
	inBubble(t, func(r *recorder, step func(func())) {
		r.enabled = false
		step(func() { r.status.Phase = contract.PhaseIndexing })
		step(func() { r.status.Phase = contract.PhaseDegraded })
		if len(r.sent) != 1 {
			t.Errorf("%d sent", len(r.sent))
		}
		r.enabled = true
		r.set <- struct{}{}
		synctest.Wait()
		if len(r.sent) != 2 || r.sent[1].Phase != contract.PhaseDegraded {
			t.Errorf("%d sent after it is wanted again", len(r.sent))
		}
	})
}

// TestStatusOverTheWire follows one user from undecided to a finished index.
func TestStatusOverTheWire(t *testing.T) {
	service := newFakeService()
	s := started(t, service)
	s.Send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	s.Send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`) // twice is once
	next := func() contract.Status {
		t.Helper()
		var status contract.Status
		if err := json.Unmarshal(s.Notification(methodStatus).Params, &status); err != nil {
			t.Fatal(err)
		}
		return status
	}
	if got := next(); got.Phase != contract.PhaseIdle || got.Enabled || got.Decided {
		t.Errorf("first: %+v", got)
	}
	s.Send(execute(1, "sessionls.setPolicy", `{"enabled":true}`))
	s.Response("1")
	if got := next(); !got.Enabled || !got.Decided {
		t.Errorf("after consent: %+v", got)
	}
	service.change(func(st *contract.Status) { st.Phase = contract.PhaseIndexing })
	if got := next(); got.Phase != contract.PhaseIndexing {
		t.Errorf("indexing: %+v", got)
	}
	swept := int64(1_700_000_000_000)
	service.change(func(st *contract.Status) {
		st.Phase, st.Generation, st.LastSweepCompletedAt, st.Sessions = contract.PhaseCurrent, 3, &swept, 12
	})
	notification := s.Notification(methodStatus)
	s.Send(execute(2, "sessionls.searchStatus"))
	if answer := s.Response("2"); string(answer.Result) != string(notification.Params) {
		t.Errorf("the notification says\n%s\nthe command\n%s", notification.Params, answer.Result)
	}
	if rest := s.Unread(); len(rest) != 0 {
		t.Errorf("also came: %s", rest[0].Raw)
	}
}

// TestStatusToAClientThatDoesNotRead shows that requests are served while
// a notification is stuck, and that the server still ends.
func TestStatusToAClientThatDoesNotRead(t *testing.T) {
	service := newFakeService()
	s := started(t, service)
	resume := s.Pause()
	s.Send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	for i := range 1000 {
		service.change(func(st *contract.Status) {
			st.Generation = int64(i)
			st.Phase = []contract.Phase{contract.PhaseIndexing, contract.PhaseCurrent}[i%2]
		})
	}
	reached := make(chan struct{}, 1)
	service.search = func(context.Context, contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
		reached <- struct{}{}
		return contract.MalformedResponse(), nil
	}
	s.Send(execute(1, "sessionls.searchSessions", `{"query":"x"}`))
	<-reached
	resume()
	s.Response("1")
	s.Await("the newest status", func(m rpctest.Message) bool {
		return isStatus(m) && strings.Contains(string(m.Params), `"generation":999`)
	})
	s.Pause()
	service.change(func(st *contract.Status) { st.Phase = contract.PhaseClosed })
	s.Send(`{"jsonrpc":"2.0","method":"exit"}`)
	s.exitCode(t)
}
