//go:build unix

package faults_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// exitWithin is how long a server may take to end. It is far more than it takes;
// only a failing test waits that long.
const exitWithin = time.Minute

// However a server is told to end, in the midst of a build, it ends soon, with the
// exit code that the protocol asks for, and leaves an index that goes on.
func TestEnds(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(s *server)
		code int
	}{
		{"shutdown, exit", func(s *server) {
			_ = s.call("shutdown", nil, nil)
			s.send(map[string]any{"jsonrpc": "2.0", "method": "exit"})
		}, 0},
		{"SIGTERM", func(s *server) { s.signal(syscall.SIGTERM) }, 1},
		{"SIGINT", func(s *server) { s.signal(syscall.SIGINT) }, 1},
		{"the input is closed", func(s *server) { s.in.Close() }, 1},
		{"both ends are closed", func(s *server) { s.out.Close(); s.in.Close() }, 1},
		{"the client is gone and requests go on", func(s *server) {
			s.out.Close()
			for range 20 {
				s.ask("searchStatus", object{})
			}
		}, 1},
		{"the client does not read, SIGTERM", func(s *server) { s.flood(); s.signal(syscall.SIGTERM) }, 1},
		{"the client does not read and closes the input", func(s *server) { s.flood(); s.in.Close() }, 1},
		{"the client does not read and says exit", func(s *server) {
			s.flood()
			s.send(map[string]any{"jsonrpc": "2.0", "method": "exit"})
		}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			sessions := w.write(authors(nil), pick(100, 200, 1000), 8)
			s := w.start()
			// Somewhere in the build.
			time.Sleep(time.Duration(w.rnd.IntN(150)) * time.Millisecond)
			began := time.Now()
			tc.end(s)
			if got := s.exit(t, exitWithin); got != tc.code {
				t.Errorf("exit code %d, want %d: %s", got, tc.code, s.said.String())
			}
			t.Logf("ended in %v", time.Since(began).Round(time.Millisecond))
			if strings.Contains(s.said.String(), "ERR") {
				t.Errorf("an ordinary end is an error in the log: %s", s.said.String())
			}
			look := w.look(w.own, nil)
			after, _ := w.clean()
			if r, err := look.SearchStatus(t.Context(), contract.SearchStatusRequest{}); err == nil && r.Sessions > 0 {
				w.between("after the end", w.read(look), after)
			}
			look.Close()
			s = w.start()
			last := sessions[len(sessions)-1]
			if got, want := w.fresh(s, last.word), last.name()+" present"; got != want {
				t.Errorf("the next server: %q, want %q", got, want)
			}
			w.complete("completed by the next server")
		})
	}
}

// ask sends a request without waiting for the answer.
func (s *server) ask(name string, argument any) {
	s.mu.Lock()
	s.next++
	id := s.next
	s.mu.Unlock()
	s.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": "workspace/executeCommand", "params": map[string]any{"command": "sessionls." + name, "arguments": []any{argument}}})
}

// flood stops reading and asks for more than a pipe holds.
func (s *server) flood() {
	s.pause()
	for range 300 {
		s.ask("searchStatus", object{})
	}
	time.Sleep(100 * time.Millisecond)
}
