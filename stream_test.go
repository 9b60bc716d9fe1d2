package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/rpc/rpctest"
)

// TestStreamOfHits: a scan over the server's own streams gives the hits of the
// answer without a token, all before an answer that has none.
func TestStreamOfHits(t *testing.T) {
	m := newMachine(t, true)
	m.must(t, 0, "search", "tide")
	client := m.serving(t)
	ask := func(id, request string) contract.SearchEventsResponse {
		client.Send(`{"jsonrpc":"2.0","id":` + id + `,"method":"workspace/executeCommand","params":{"command":"sessionls.searchEvents","arguments":[` + request + `]}}`)
		var out contract.SearchEventsResponse
		if answer := client.Response(id); json.Unmarshal(answer.Result, &out) != nil || answer.Error != nil {
			t.Fatalf("%s: %s", request, answer.Raw)
		}
		return out
	}
	for i, mode := range []string{"scan", "index"} {
		whole := ask(fmt.Sprint(10+i), `{"query":"tide","mode":"`+mode+`","limit":1000}`)
		if len(whole.Hits) < 10 || len(client.Unread()) != 0 {
			t.Fatalf("%s: %d hits, %d messages", mode, len(whole.Hits), len(client.Unread()))
		}
		answer := ask(fmt.Sprint(20+i), `{"query":"tide","mode":"`+mode+`","limit":1000,"partialResultToken":"`+mode+`"}`)
		if len(answer.Hits) != 0 || answer.Total != whole.Total {
			t.Errorf("%s: %d hits in the answer, total %+v", mode, len(answer.Hits), answer.Total)
		}
		// What is unread now came before the answer.
		var ahead []contract.EventHit
		for range client.Unread() {
			var p struct {
				Token string
				Value contract.PartialHits
			}
			if m := client.Notification("$/progress"); json.Unmarshal(m.Params, &p) != nil || p.Token != mode || p.Value.Kind != contract.KindHits {
				t.Fatalf("%s: %s", mode, m.Raw)
			}
			ahead = append(ahead, p.Value.Hits...)
		}
		if !reflect.DeepEqual(ahead, []contract.EventHit(whole.Hits)) {
			t.Errorf("%s: %d hits ahead of the answer, %d without a token", mode, len(ahead), len(whole.Hits))
		}
	}
}

// serving is a client of a server on the machine, after initialize.
func (m machine) serving(t *testing.T) *rpctest.Peer {
	t.Helper()
	cmd := exec.Command(os.Args[0], "serve")
	cmd.Env = m.environment()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		r.Close()
	})
	client := rpctest.Over(t, in, r)
	client.Send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":null,"capabilities":{}}}`)
	client.Response("0")
	return client
}
