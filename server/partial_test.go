package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/rpc/rpctest"
)

// hitsFrom are n hits, numbered by their positions.
func hitsFrom(first, n int) (out []contract.EventHit) {
	for i := range n {
		out = append(out, contract.EventHit{EventRecord: contract.EventRecord{Agent: "pi", SessionID: "s", Seq: int64(first + i)}, Snippet: strings.Repeat("<text> ", 60)})
	}
	return out
}

// finds is a service that finds n hits, in pairs, and then the rest of the
// request's behaviour.
func finds(n int, then func(ctx context.Context) error) *fakeService {
	service := newFakeService()
	service.events = func(ctx context.Context, q contract.SearchEventsRequest) (contract.SearchEventsResponse, error) {
		out := contract.SearchEventsResponse{Total: contract.EventTotal{Events: n}}
		for i := 0; i < n; i += 2 {
			if q.OnHits == nil {
				out.Hits = append(out.Hits, hitsFrom(i, 2)...)
			} else if err := q.OnHits(hitsFrom(i, 2)); err != nil {
				return out, err
			}
		}
		return out, then(ctx)
	}
	return service
}

func atOnce(context.Context) error { return nil }

// ahead are the positions of the hits that came ahead of an answer, under a
// token; the answer must be the last of the messages.
func ahead(t *testing.T, messages []rpctest.Message, token, id string) (seqs []int64) {
	t.Helper()
	for i, m := range messages {
		if m.Method == "" && string(m.ID) == id {
			if i != len(messages)-1 {
				t.Errorf("%d messages follow the answer", len(messages)-1-i)
			}
			continue
		}
		var p struct {
			Token json.RawMessage      `json:"token"`
			Value contract.PartialHits `json:"value"`
		}
		if m.Method != "$/progress" || json.Unmarshal(m.Params, &p) != nil || string(p.Token) != token || p.Value.Kind != contract.KindHits {
			t.Fatalf("%.300s", m.Raw)
		}
		if !strings.Contains(m.Raw, "<text>") {
			t.Errorf("escaped: %.300s", m.Raw)
		}
		for _, h := range p.Value.Hits {
			seqs = append(seqs, h.Seq)
		}
	}
	return seqs
}

func inOrder(t *testing.T, seqs []int64, n int) {
	t.Helper()
	if len(seqs) != n {
		t.Errorf("%d hits, want %d", len(seqs), n)
	}
	for i, seq := range seqs {
		if seq != int64(i) {
			t.Fatalf("hit %d is event %d", i, seq)
		}
	}
}

// await waits for the answer and returns all messages.
func await(s session, id string) []rpctest.Message {
	var all []rpctest.Message
	answered := func() bool {
		all = s.Unread()
		for _, m := range all {
			if m.Method == "" && string(m.ID) == id {
				return true
			}
		}
		return false
	}
	if !answered() {
		m := s.Response(id) // takes it out; what came before is still there
		all = append(s.Unread(), m)
	}
	return all
}

func TestHitsGoOutAheadOfTheAnswer(t *testing.T) {
	for _, token := range []string{`"a \"token\" <é>"`, `17`, `-1`, `""`} {
		s := started(t, finds(400, atOnce))
		s.Send(execute(5, "sessionls.searchEvents", `{"query":"x","limit":1000,"partialResultToken":`+token+`}`))
		all := await(s, "5")
		inOrder(t, ahead(t, all, token, "5"), 400)
		if last := all[len(all)-1].Raw; !strings.Contains(last, `"hits":[]`) || !strings.Contains(last, `"events":400`) {
			t.Errorf("the answer: %.300s", last)
		}
	}
	s := started(t, finds(6, atOnce))
	s.Send(execute(5, "sessionls.searchEvents", `{"query":"x"}`))
	if m := s.Response("5"); strings.Count(m.Raw, `"seq":`) != 6 || len(s.Unread()) != 0 {
		t.Errorf("without a token: %.300s, then %v", m.Raw, s.Unread())
	}
	s = started(t, finds(0, atOnce))
	s.Send(execute(5, "sessionls.searchEvents", `{"query":"x","partialResultToken":1}`))
	if m := s.Response("5"); !strings.Contains(m.Raw, `"hits":[]`) || len(s.Unread()) != 0 {
		t.Errorf("without a hit: %.300s, then %v", m.Raw, s.Unread())
	}
}

// What was found before a failure goes out before it is told.
func TestHitsBeforeAFailure(t *testing.T) {
	s := started(t, finds(10, func(context.Context) error {
		return contract.Failed(contract.CodeIndexFailed, nil, "the disk is gone")
	}))
	s.Send(execute(5, "sessionls.searchEvents", `{"query":"x","partialResultToken":1}`))
	all := await(s, "5")
	inOrder(t, ahead(t, all, "1", "5"), 10)
	if all[len(all)-1].Error == nil {
		t.Errorf("%s", all[len(all)-1].Raw)
	}
}

// A client that does not read holds up its answer, not the search.
func TestSearchDoesNotWaitForASlowClient(t *testing.T) {
	searched := make(chan struct{})
	s := started(t, finds(1000, func(context.Context) error { close(searched); return nil }))
	resume := s.Pause()
	// The pause begins with the message after next.
	s.Send(execute(4, "sessionls.searchStatus"))
	s.Send(execute(5, "sessionls.searchEvents", `{"query":"x","limit":1000,"partialResultToken":"t"}`))
	<-searched
	resume()
	s.Response("4")
	inOrder(t, ahead(t, await(s, "5"), `"t"`, "5"), 1000)
}

// A search that is cancelled is answered so, whatever was sent.
func TestStreamIsCancelled(t *testing.T) {
	begun := make(chan struct{})
	s := started(t, finds(10, func(ctx context.Context) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}))
	s.Send(execute(5, "sessionls.searchEvents", `{"query":"x","partialResultToken":"t"}`))
	<-begun
	s.Send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":5}}`)
	if m := s.Response("5"); m.Error == nil || !strings.Contains(m.Raw, fmt.Sprint(contract.RPCRequestCancelled)) {
		t.Errorf("%s", m.Raw)
	}
}
