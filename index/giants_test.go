package index_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
)

const mb = 1 << 20

// heapBound is what the heap may grow by while anything is read. The program
// itself promises a resident size below 300 MB.
const heapBound = 300 * mb

// giant is a world with files that are written piece by piece.
type giant struct {
	*world
	f *os.File
	*bufio.Writer
}

func newGiant(t *testing.T, file string) *giant {
	t.Helper()
	if testing.Short() {
		t.Skip("writes some hundred megabytes")
	}
	g := &giant{world: newWorld(t)}
	path := g.write("x", "")
	path = filepath.Join(filepath.Dir(path), filepath.FromSlash(file))
	g.must(os.MkdirAll(filepath.Dir(path), 0o755))
	var err error
	g.f, err = os.Create(path)
	g.must(err)
	g.Writer = bufio.NewWriterSize(g.f, mb)
	return g
}

func (g *giant) put(text string) {
	if _, err := g.WriteString(text); err != nil {
		g.t.Fatal(err)
	}
}

// prose writes so many bytes of words, without quotes and escapes. They are long: under the
// race detector each takes its time.
func (g *giant) prose(bytes int) {
	var block strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&block, "%c%c%clongishwordofthistext%c%c%c ", 'a'+i%23, 'a'+i%19, 'a'+i%17, 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26)
	}
	for ; bytes > block.Len(); bytes -= block.Len() {
		g.put(block.String())
	}
	g.put(strings.Repeat("even ", bytes/5) + strings.Repeat(" ", bytes%5))
}

// index ends the file and reads it, within the bound.
func (g *giant) index() *index.Service {
	g.t.Helper()
	g.must(g.Flush())
	g.must(g.f.Close())
	s := g.enabled()
	g.bounded(func() { g.reconcile(s) })
	return s
}

// bounded fails if the heap grows beyond the bound while f runs. The limit is
// the program's own.
func (g *giant) bounded(f func()) {
	g.t.Helper()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(176 * mb))
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, peak := m.HeapInuse, m.HeapInuse
	done := make(chan struct{})
	var sampling sync.WaitGroup
	sampling.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
			}
		}
	})
	f()
	close(done)
	sampling.Wait()
	g.t.Logf("the heap grew by %d MB", (peak-before)/mb)
	if peak-before > heapBound {
		g.t.Errorf("the heap grew by %d MB", (peak-before)/mb)
	}
}

// partial is why the file was not read whole, "" if it was.
func (g *giant) partial(s *index.Service) string {
	g.t.Helper()
	report, err := s.Doctor(g.t.Context())
	g.must(err)
	var out []string
	for _, f := range report.Failures {
		out = append(out, f.Reason)
	}
	return strings.Join(out, "; ")
}

// giantTalk is how an agent writes a prompt and a tool's output: what stands
// before and after the text.
type giantTalk struct {
	file, head   string
	user, output [2]string
}

func giantTalks() map[string]giantTalk {
	return map[string]giantTalk{
		idA: {
			file:   claudeFile(idA),
			user:   [2]string{`{"type":"user","uuid":"u%d","cwd":"/w/loom","timestamp":"2026-11-20T10:00:00.000Z","message":{"role":"user","content":"`, "\"}}\n"},
			output: [2]string{`{"type":"user","uuid":"u%d","timestamp":"2026-11-20T10:00:00.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"`, "\"}]}}\n"},
		},
		codexA: {
			file:   codexFile(codexA),
			head:   codexMeta(codexA),
			user:   [2]string{`{"timestamp":"2026-11-20T10:00:0%d.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"`, "\"}]}}\n"},
			output: [2]string{`{"timestamp":"2026-11-20T10:00:0%d.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"`, "\"}}\n"},
		},
	}
}

// A prompt of 64 MB is kept whole and found by its last word; of a longer one
// head and tail are.
func TestGiantPrompts(t *testing.T) {
	for id, f := range giantTalks() {
		t.Run(f.file[1:6], func(t *testing.T) {
			g := newGiant(t, f.file)
			g.put(f.head)
			say := func(n int, text func()) {
				g.put(fmt.Sprintf(f.user[0], n))
				text()
				g.put(f.user[1])
			}
			say(1, func() { g.put("small before") })
			if id == idA {
				say(2, func() { g.prose(40 * mb); g.put("midword "); g.prose(24*mb - 100); g.put("whole to its lastword") })
			} else {
				say(2, func() { g.prose(2 * mb); g.put("midword "); g.prose(2 * mb); g.put("whole to its lastword") })
			}
			say(3, func() {
				g.put("headword ")
				g.prose(80 * mb)
				g.put("gonefromhere ")
				g.prose(20 * mb)
				g.put("tailword")
			})
			say(4, func() { g.put("small after") })
			s := g.index()
			at := func(n int) string { return fmt.Sprint(id, "#", n+strings.Count(f.head, "\n")) }
			g.bounded(func() {
				g.finds(s, `"small before"`, id+"#title", "lastword", at(1), `"whole to its lastword"`, at(1), "midword", at(1),
					"headword", at(2), "tailword", at(2), "gonefromhere", "", `"small after"`, at(3))
			})
			if why := g.partial(s); !strings.Contains(why, "cut") {
				t.Errorf("that a text was cut is not recorded: %q", why)
			}
			g.healthy(s)
		})
	}
}

// An output of 100 MB on one line between small records (B7).
func TestGiantOutput(t *testing.T) {
	for id, f := range giantTalks() {
		t.Run(f.file[1:6], func(t *testing.T) {
			g := newGiant(t, f.file)
			g.put(f.head + fmt.Sprintf(f.user[0], 1) + "small before" + f.user[1])
			g.put(fmt.Sprintf(f.output[0], 2) + "headword ")
			g.prose(30 * mb)
			g.put("midword ")
			g.prose(70 * mb)
			g.put(`E: widget 7731 missing` + f.output[1])
			g.put(fmt.Sprintf(f.user[0], 3) + "small after" + f.user[1])
			s := g.index()
			at := func(n int) string { return fmt.Sprint(id, "#", n+strings.Count(f.head, "\n")) }
			g.finds(s, `"small before"`, id+"#title", "headword", at(1), "midword", at(1), `"widget 7731 missing"`, at(1), `"small after"`, at(2))
			g.healthy(s)
		})
	}
}

// The same history with the same image in every record of compaction (B9).
func TestGiantReplays(t *testing.T) {
	g := newGiant(t, codexFile(codexA))
	g.put(codexMeta(codexA) + codexUser("the first basalt"))
	image := "data:image/png;base64," + strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAB3dE5gH/", mb/32)
	var history strings.Builder
	for i := range 40 {
		fmt.Fprintf(&history, `{"type":"message","role":"user","content":[{"type":"input_text","text":"replayed heron %d"}]},`, i)
	}
	history.WriteString(`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"` + image + `"}]}`)
	for i := range 200 {
		g.put(codexLine("compacted", `{"message":"summary `+fmt.Sprint("shale", i)+`","replacement_history":[`+history.String()+`]}`))
	}
	g.put(codexUser("the last zanzibarica"))
	s := g.index()
	g.finds(s, "zanzibarica", codexA+"#202", "basalt", codexA+"#title", `"replayed heron"`, "", "shale199", codexA+"#201")
	if st := g.status(s); st.Events != 203 || st.IndexBytes > 4*mb {
		t.Errorf("%d events, an index of %d bytes", st.Events, st.IndexBytes)
	}
	g.healthy(s)
}

func TestManyTinyRecords(t *testing.T) {
	for id, f := range giantTalks() {
		t.Run(f.file[1:6], func(t *testing.T) {
			g := newGiant(t, f.file)
			g.put(f.head)
			for i := range 100_000 {
				if id == idA {
					g.put(fmt.Sprintf(`{"type":"user","uuid":"u%d","message":{"content":"tiny%d"}}`+"\n", i, i))
				} else {
					g.put(fmt.Sprintf(f.user[0], 1) + fmt.Sprint("tiny", i) + f.user[1])
				}
			}
			s := g.index()
			head := strings.Count(f.head, "\n")
			g.finds(s, "tiny99999", fmt.Sprint(id, "#", 99999+head), "tiny50000", fmt.Sprint(id, "#", 50000+head))
			if st := g.status(s); st.Events != int64(100_000+head) {
				t.Errorf("%d events", st.Events)
			}
			g.healthy(s)
		})
	}
}

// Few messages among much bookkeeping (B12).
func TestFewMessagesAmongMuch(t *testing.T) {
	g := newGiant(t, claudeFile(idA))
	filler := strings.Repeat("progress of something ", 60)
	for i := range 40_000 {
		if i%2857 == 0 {
			g.put(user(idA, fmt.Sprint("u", i), fmt.Sprint("real message", i/2857)))
			continue
		}
		g.put(`{"type":"progress","uuid":"p` + fmt.Sprint(i) + `","data":{"type":"hook_progress","text":"` + filler + `"}}` + "\n")
	}
	s := g.index()
	g.finds(s, "message14", idA+"#39998", `"progress of something"`, "")
	g.equal("messages", g.show(s, idA).Session.MessageCount, 15)
	g.healthy(s)
}

// A chat of VS Code that is mostly one output (B14).
func TestGiantChat(t *testing.T) {
	const id = "11111111-0000-4000-8000-000000000001"
	g := newGiant(t, ".config/Code/User/workspaceStorage/0f1e/chatSessions/"+id+".json")
	g.put(`{"version":3,"sessionId":"` + id + `","creationDate":1785000000000,"requests":[` +
		`{"requestId":"r1","timestamp":1785000000000,"message":{"text":"why does the gannet test fail"},"response":[{"value":"Because of the fulmar."}]},` +
		`{"requestId":"r2","timestamp":1785000001000,"message":{"text":"run the skua suite"},"response":[{"kind":"toolInvocationSerialized","toolId":"run_in_terminal","toolCallId":"c1","isComplete":true,"resultDetails":{"input":"make","output":[{"type":"embed","isText":true,"value":"`)
	g.prose(150 * mb)
	g.put(`"}]}},{"value":"It ended with a puffin."}]}]}`)
	s := g.index()
	g.finds(s, "gannet", id+"#title", "fulmar", id+"#1", "skua", id+"#2", "puffin", id+"#4")
	if st := g.status(s); st.Phase != contract.PhaseCurrent || st.FilesFailed != 0 {
		t.Errorf("status %+v", st)
	}
}
