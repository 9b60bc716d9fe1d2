package corpus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config says which corpus to write.
type Config struct {
	Seed uint64
	// Bytes is about how large the transcripts are together; at least 1 MB.
	Bytes int64
	// Sessions is how many there are; 0 is one for each 300 KB.
	Sessions int
	// Needles is how many of each kind are planted.
	Needles int
}

// Bounds of a Config.
const (
	MinBytes = 1_000_000
	MaxBytes = 100_000_000_000
	// MaxNeedles is what the reserved words suffice for.
	MaxNeedles = 1000
)

// sessionBytes is the mean size of a session where their number is not given,
// minSessions the least number of them.
const (
	sessionBytes = 300_000
	minSessions  = 24
)

// end is when the last session may have begun.
var end = time.Date(2026, 8, 1, 18, 0, 0, 0, time.UTC)

// session is a planned session.
type session struct {
	Session
	n       int
	target  int64
	start   time.Time
	project *project
	plants  []plant
	title   string
}

// project is a folder that sessions work in.
type project struct {
	cwd   string
	files []*sourceFile
}

// Write writes a corpus below home, which is created and must hold none yet.
// progress, which may be nil, is told how many bytes were written; it is called
// from several goroutines. The truth is returned, not written.
func Write(ctx context.Context, home string, c Config, progress func(done int64)) (*Truth, error) {
	if c.Bytes < MinBytes || c.Bytes > MaxBytes {
		return nil, fmt.Errorf("write a corpus: its size must be %d to %d bytes", MinBytes, int64(MaxBytes))
	}
	if c.Needles < 0 || c.Needles > MaxNeedles {
		return nil, fmt.Errorf("write a corpus: the needles of a kind must be 0 to %d", MaxNeedles)
	}
	v := newVocabulary(c.Seed, 40_000)
	sessions := c.plan(v)
	truth := &Truth{Seed: c.Seed, Needles: c.sow(v, sessions)}

	// A session depends on its seed alone, so the order in which they are
	// written changes nothing.
	var (
		done  atomic.Int64
		next  atomic.Int64
		group sync.WaitGroup
		mu    sync.Mutex
		errs  []error
	)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(sessions) || ctx.Err() != nil {
					return
				}
				s := sessions[i]
				if err := s.write(home, v, c.Seed); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
					return
				}
				if n := done.Add(s.Bytes); progress != nil {
					progress(n)
				}
			}
		})
	}
	group.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return nil, fmt.Errorf("write a corpus: %w", err)
	}
	for _, s := range sessions {
		truth.Sessions = append(truth.Sessions, s.Session)
		truth.Size += s.Bytes
	}
	return truth, nil
}

// plan decides which sessions there are.
func (c *Config) plan(v *vocabulary) []*session {
	rnd := rand.New(rand.NewPCG(c.Seed, 3))
	n := c.Sessions
	if n <= 0 {
		n = int(c.Bytes / sessionBytes)
	}
	n = max(n, minSessions)
	projects := make([]*project, max(3, min(60, n/12)))
	for i := range projects {
		s := newVoice(rnd, v)
		projects[i] = &project{cwd: "/home/dev/work/" + invent(rnd, 2) + "-" + s.word()}
		for range 12 {
			projects[i].files = append(projects[i].files, s.newFile())
		}
	}
	agents := agents()
	sessions := make([]*session, n)
	weights, sum := make([]float64, n), 0.0
	for i := range sessions {
		s := &session{n: i, project: pick(rnd, projects), start: end.Add(-time.Duration(rnd.Float64() * float64(180*24*time.Hour))).Truncate(time.Millisecond)}
		s.Agent = pick(rnd, agents)
		if i < len(agents) {
			s.Agent = agents[i] // every agent occurs, in small corpora too
		}
		if chance(rnd, 0.6) || s.Agent == "opencode" {
			s.title = title(v.words[rnd.IntN(v.plain)]) + " " + v.words[rnd.IntN(2000)] + " " + v.words[rnd.IntN(v.plain)] + " " + v.words[rnd.IntN(len(v.words))]
		}
		s.ID = newUUID(rnd)
		if s.Agent == "opencode" {
			s.ID = "ses_" + strings.ReplaceAll(s.ID, "-", "")[:26]
		}
		weights[i] = math.Exp(0.8 * rnd.NormFloat64())
		sum += weights[i]
		sessions[i] = s
	}
	for i, s := range sessions {
		// What the last turn overshoots by is left out of the targets.
		s.target = max(4000, int64(float64(c.Bytes)*weights[i]/sum*0.96))
	}
	return sessions
}

func newUUID(rnd *rand.Rand) string {
	a, b := rnd.Uint64(), rnd.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff)
}

// agents are the agents in whose forms sessions are written, each as often as
// it stands here.
func agents() []string {
	return []string{"claude", "codex", "gemini", "pi", "opencode", "claude", "claude", "claude", "codex", "codex"}
}

// file is a file of a session.
type file struct {
	path string // relative to the home folder, with slashes
	data []byte
	at   time.Time // when it was last written to
}

func save(home string, files []file) error {
	for _, f := range files {
		path := filepath.Join(home, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(path, f.at, f.at); err != nil {
			return err
		}
	}
	return nil
}

// take removes a plant for a place and returns its text, "" if there is none.
func (s *session) take(where string) string {
	i := slices.IndexFunc(s.plants, func(p plant) bool { return p.where == where })
	if i < 0 {
		return ""
	}
	text := s.plants[i].text
	s.plants = slices.Delete(s.plants, i, i+1)
	return text
}

func (s *session) has(where ...string) bool {
	return slices.ContainsFunc(s.plants, func(p plant) bool { return slices.Contains(where, p.where) })
}

// write writes the session's files.
func (s *session) write(home string, v *vocabulary, seed uint64) error {
	rnd := rand.New(rand.NewPCG(seed, 1000+uint64(s.n)))
	w := newVoice(rnd, v)
	w.files = s.project.files
	for t := s.take("title"); t != ""; t = s.take("title") {
		s.title = strings.TrimSpace(s.title + " " + t)
	}
	e := newEncoder(s.Agent, head{id: s.ID, cwd: s.project.cwd, title: s.title, start: s.start, rnd: rnd})
	clock := s.start
	for turn := 0; turn < 2 || e.size() < s.target || len(s.plants) > 0; turn++ {
		s.turn(w, e, &clock)
	}
	files := e.finish(clock)
	s.Path = files[0].path
	for _, f := range files {
		s.Bytes += int64(len(f.data))
	}
	return save(home, files)
}

// turn is a question, work, and an answer.
func (s *session) turn(w *voice, e encoder, clock *time.Time) {
	tick := func(most int) time.Time {
		*clock = clock.Add(time.Duration(500+w.rnd.IntN(most*1000)) * time.Millisecond)
		return *clock
	}
	around := func(text, planted, form string) string {
		if planted == "" {
			return text
		}
		return text + "\n" + fmt.Sprintf(form, planted) + " " + w.prose(60)
	}
	e.add(Event{At: tick(300), Role: User, Text: around(w.prose(w.length(250, 1, 8000)), s.take("user"), "It is about %s, I think.")})
	for range w.length(5, 0.7, 30) {
		if chance(w.rnd, 0.5) {
			e.add(Event{At: tick(20), Role: Assistant, Text: around(w.answer(w.length(300, 0.8, 5000)), s.take("assistant"), "This is where %s comes in.")})
		}
		e.add(s.step(w, tick(30)))
		if e.size() > s.target && !s.has("tool", "deep") {
			break
		}
	}
	e.add(Event{At: tick(20), Role: Assistant, Text: around(w.answer(w.length(1200, 0.9, 10_000)), s.take("assistant"), "This is where %s comes in.")})
}

// step is a tool call and its output.
func (s *session) step(w *voice, at time.Time) Event {
	file := pick(w.rnd, w.files)
	step := Event{At: at, Role: Tool, Tool: "Bash", Input: "rg -n " + w.camel() + " " + w.path()}
	deep := s.take("deep")
	planted := ""
	if deep == "" {
		planted = s.take("tool")
	}
	switch p := w.rnd.Float64(); {
	case deep != "":
		step.Text = w.output(between(w.rnd, 160_000, 300_000)) + "found " + deep + " in the cache\n" + w.output(between(w.rnd, 40_000, 120_000))
	case planted != "":
		step.Text = w.output(w.length(900, 1, 12_000)) + "using " + planted + " from now on\n" + w.output(w.length(900, 1, 12_000))
	case p < 0.003:
		step.Text = w.output(between(w.rnd, 80_000, 700_000))
	case p < 0.006:
		step.Tool, step.Input, step.Blob = "Read", "docs/screenshot.png", w.blob(between(w.rnd, 30_000, 400_000))
	case p < 0.35:
		step.Tool, step.Input, step.Text = "Read", file.path, file.read(w.rnd)
	case p < 0.45:
		step.Tool, step.Input, step.Text = "Edit", file.path, "The file "+file.path+" has been updated.\n"+w.output(400)
		step.Before = strings.Join(file.lines, "\n")
	case p < 0.6 && len(w.printed) > 0:
		step.Text = pick(w.rnd, w.printed) // the same command again
	default:
		step.Text = w.output(w.length(1500, 1.2, 40_000))
		w.printed = append(w.printed, step.Text)
	}
	return step
}
