package index_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

// One line that never ends, of words or of nothing that is text, is not held in
// memory, and costs no other session anything.
func TestLineWithoutEnd(t *testing.T) {
	noise := make([]byte, mb)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(r.Uint32())
		if noise[i] == '\n' {
			noise[i] = 0
		}
	}
	for _, tt := range []struct{ name, id, block string }{
		{"words", codexA, strings.Repeat("warp and weft ", mb/14)},
		{"noise", idA, string(noise)},
		{"noise with line ends", codexA, string(noise[:mb-1]) + "\n"},
		{"open brackets", idA, strings.Repeat(`{"message":[`, mb/12)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGiant(t, giantTalks()[tt.id].file)
			for range 100 {
				g.put(tt.block)
			}
			g.write(claudeFile(idB), user(idB, "w", "unharmed bystander"))
			s := g.index()
			g.finds(s, "bystander", idB+"#title", "weft", "")
			g.equal("sessions", g.status(s).Sessions, 1)
		})
	}
}

// Hundreds of sessions that begin with the same prompt are all found, page by
// page, each once.
func TestCopiesOfOnePrompt(t *testing.T) {
	w := newWorld(t)
	const copies = 500
	prompt := strings.Repeat("please mend the heddle of the loom and ", 100)
	for i := range copies {
		id := fmt.Sprintf("%08x-1111-4111-8111-111111111111", i)
		w.write(claudeFile(id), user(id, id+"-u", prompt))
	}
	s := w.enabled()
	w.reconcile(s)
	seen := map[string]bool{}
	req := contract.NewSearchSessionsRequest("heddle loom")
	req.Limit = contract.MaxLimit
	for {
		res := w.search(s, req)
		w.equal("sessions", res.Total.Sessions, copies)
		for _, h := range res.Hits {
			if seen[h.SessionID] {
				t.Fatalf("%s comes twice", h.SessionID)
			}
			seen[h.SessionID] = true
		}
		if req.Cursor = res.Page.Cursor; req.Cursor == nil {
			break
		}
	}
	w.equal("sessions on all pages", len(seen), copies)
	w.healthy(s)
}

func TestManyTinyFiles(t *testing.T) {
	w := newWorld(t)
	const files = 3000
	for i := range files {
		id := fmt.Sprintf("%08x-2222-4111-8111-111111111111", i)
		w.write(fmt.Sprintf("/.claude/projects/-w-%d/%s.jsonl", i/100, id), user(id, id+"-u", fmt.Sprintf("tiny number%d", i)))
	}
	s := w.enabled()
	w.reconcile(s)
	last := fmt.Sprintf("%08x-2222-4111-8111-111111111111", files-1)
	w.finds(s, fmt.Sprint("number", files-1), last+"#title")
	res := w.search(s, contract.NewSearchSessionsRequest("tiny "))
	w.equal("sessions", res.Total.Sessions, files)
	w.healthy(s)
}
