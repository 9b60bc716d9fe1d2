package claude_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript/claude"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

// TestOwners plays families of sessions that are copied and written on in any
// order, and checks what search relies on: every turn belongs to exactly one
// session, and parents form no circle.
func TestOwners(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 11))
		var files [][]string // of each session
		var ids []string
		clock, n := 0, 0
		turns := map[string]bool{}
		id := func() string { return fmt.Sprintf("%08x-0000-4000-8000-%012d", r.Uint32(), len(ids)) }
		write := func(i int) {
			for range 1 + r.IntN(4) {
				n++
				record := fmt.Sprint("record-", n)
				clock += 1 + r.IntN(50)
				typ := [...]string{"user", "assistant", "progress"}[min(r.IntN(7)/3, 2)]
				if len(files[i]) == 0 {
					typ = "user" // without a turn it is no session
				}
				line := rec(typ, record, "-", fmt.Sprintf(`,"message":{"id":"m%d","content":"word %d"}`, n, n))
				turns[record] = typ != "progress"
				line = strings.Replace(strings.ReplaceAll(line, sid, ids[i]), "09:15:02", fmt.Sprintf("%02d:%02d:%02d", clock/3600, clock/60%60, clock%60), 1)
				files[i] = append(files[i], line)
				if r.IntN(4) == 0 {
					files[i] = append(files[i], `{"type":"file-history-snapshot"}`)
				}
			}
		}
		start := func() {
			ids, files = append(ids, id()), append(files, nil)
			write(len(ids) - 1)
		}
		start()
		for range 3 + r.IntN(8) {
			i := r.IntN(len(ids))
			switch op := r.IntN(6); op {
			case 0:
				start()
			case 1, 2, 3: // a copy: by a background process, a resume, a fork
				c := id()
				var copied []string
				for _, line := range files[i] {
					if !strings.Contains(line, `"uuid"`) || op == 2 && strings.Contains(line, `"progress"`) {
						continue
					}
					line = strings.ReplaceAll(line, ids[i], c)
					if op == 1 && !strings.Contains(line, "sessionKind") {
						line = strings.TrimSuffix(line, "}") + `,"sessionKind":"bg"}`
					}
					copied = append(copied, line)
				}
				ids, files = append(ids, c), append(files, copied)
				if r.IntN(4) > 0 {
					write(len(ids) - 1)
				}
			default:
				write(i)
			}
		}
		home := map[string]string{}
		for i := range ids {
			home[folder+ids[i]+".jsonl"] = lines(files[i]...)
		}
		all := transcripttest.One(t, claude.New(), home)
		owner := map[string]string{}
		for _, id := range transcripttest.Sorted(all) {
			for _, e := range all[id].Events {
				if e.ID == "" || e.Inherited || e.RawType == "progress" {
					continue
				}
				if other := owner[e.ID]; other != "" {
					t.Errorf("seed %d: %s belongs to %.8s and to %.8s", seed, e.ID, other, id)
				}
				owner[e.ID] = id
			}
		}
		for k := 1; k <= n; k++ {
			if record := fmt.Sprint("record-", k); owner[record] == "" && turns[record] {
				t.Errorf("seed %d: %s belongs to nobody", seed, record)
			}
		}
		for id := range all {
			for steps, at := 0, id; all[at] != nil && all[at].ParentID != ""; steps, at = steps+1, all[at].ParentID {
				if steps > len(all) {
					t.Fatalf("seed %d: %s is its own ancestor", seed, id)
				}
			}
		}
		if t.Failed() {
			for i := range ids {
				s := all[ids[i]]
				if s != nil {
					t.Logf("%.8s parent %.8s inherited %d of %d", ids[i], s.ParentID, s.InheritedCount, len(s.Events))
				}
			}
			return
		}
	}
}
