package index_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sessionls/sessionls/index/transcript"
)

// fakeReader reads files made up for tests: <root>/*.fake, whose first line is
// the session's id and every further line something a user said. A line that
// begins with "!" makes the reader misbehave.
type fakeReader struct {
	agent   string
	roots   []string // below home
	version int
	// anonymous has discovery not know the ids of sessions.
	anonymous bool
	lost      bool // Roots panics
	// meanwhile, if set, is called for each line that is read.
	meanwhile func(line string)

	mu    sync.Mutex
	looks int      // how often it was asked what there is
	reads []string // base names in the order they were read, "+" when continued
}

func newFake(roots ...string) *fakeReader {
	return &fakeReader{agent: "claude", roots: roots, version: 1}
}

// taken is what was read since it was last asked, in order.
func (f *fakeReader) taken() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := strings.Join(f.reads, " ")
	f.reads = nil
	return s
}

// looked is how often it was asked what there is since this was last asked.
func (f *fakeReader) looked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.looks
	f.looks = 0
	return n
}

func (f *fakeReader) Agent() transcript.Agent { return transcript.Agent{ID: f.agent, Label: "Fake"} }
func (f *fakeReader) Version() int            { return f.version }

func (f *fakeReader) Roots(env transcript.Env) []transcript.Root {
	if f.lost {
		panic("where am I")
	}
	var out []transcript.Root
	for _, r := range f.roots {
		out = append(out, transcript.Root{Path: filepath.Join(env.Home, r)})
	}
	for _, r := range env.Extra {
		out = append(out, transcript.Root{Path: r, Configured: true})
	}
	return out
}

func (f *fakeReader) Discover(_ context.Context, _ transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) error {
	f.mu.Lock()
	f.looks++
	f.mu.Unlock()
	entries, err := os.ReadDir(root.Path)
	if err != nil {
		return fmt.Errorf("list fakes: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(root.Path, e.Name())
		if e.Name() == "panic-on-discovery" {
			panic("a surprise in a folder")
		}
		if e.Name() == "trouble" {
			report(path, fs.ErrPermission)
		}
		if filepath.Ext(path) != ".fake" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		src := transcript.Source{Agent: f.agent, Path: path, Root: root.Path, Size: info.Size(), ModTime: info.ModTime(), Signature: transcript.Signature(info)}
		if data, err := os.ReadFile(path); err == nil && !f.anonymous {
			id, _, _ := strings.Cut(string(data), "\n")
			src.SessionID = id
		}
		if err := yield(src); err != nil {
			return err
		}
	}
	return nil
}

func (f *fakeReader) Read(_ context.Context, _ transcript.Env, src transcript.Source, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	data, err := os.ReadFile(src.Path)
	if err != nil {
		return nil, err
	}
	resumed := prev != nil && int64(len(data)) >= prev.Offset && bytes.HasPrefix(data, prev.State)
	name := strings.TrimSuffix(filepath.Base(src.Path), ".fake")
	if resumed {
		name += "+"
	}
	f.mu.Lock()
	f.reads = append(f.reads, name)
	f.mu.Unlock()
	if prev != nil && !resumed {
		return nil, transcript.ErrReread
	}
	if err := out.Begin(resumed); err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	id, seq := lines[0], 0
	h := transcript.Header{SessionID: id, Title: "fake " + id, TitleSource: transcript.TitleUser, CWD: "/w/fake", Relation: transcript.RelationRoot}
	done := 0
	if resumed {
		for _, line := range strings.SplitAfter(string(prev.State), "\n")[1:] {
			if word, _, _ := strings.Cut(line, " "); line != "" && word != "!cwd" && word != "!parent" {
				done++
			}
		}
	}
	for _, line := range lines[1:] {
		if f.meanwhile != nil {
			f.meanwhile(line)
		}
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "!fail":
			return nil, errors.New(rest)
		case "!panic":
			panic(rest)
		case "!empty":
			return nil, transcript.ErrNoSession
		case "!gap":
			seq += 7
		case "!cwd":
			h.CWD = rest
			continue
		case "!parent":
			h.ParentID, h.Relation, h.InheritedCount = rest, transcript.RelationFork, max(1, strings.Count(string(data), "\n!copied "))
			continue
		}
		h.Conversation = true
		inherited := word == "!copied"
		if inherited {
			line = rest
		}
		if seq >= done {
			e := &transcript.Event{
				SessionID: id, Seq: seq, Type: transcript.TypeUserMessage, RawType: "line", Role: transcript.RoleUser, Surface: transcript.Current,
				Message: true, Parts: []transcript.Part{{Text: line}}, Inherited: inherited, ID: eventID(line, inherited),
			}
			if err := out.Event(e); err != nil {
				return nil, err
			}
		}
		seq++
	}
	if err := out.Header(&h); err != nil {
		return nil, err
	}
	return &transcript.Checkpoint{Offset: int64(len(data)), State: data, Version: f.version}, nil
}

// eventID lets copied events be recognised.
func eventID(line string, inherited bool) string {
	if inherited {
		return "id of " + line
	}
	return ""
}

func (f *fakeReader) ResumeArgs(id string) []string { return []string{"fake", "--resume", id} }
