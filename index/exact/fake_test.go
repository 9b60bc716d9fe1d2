package exact_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
)

// fakeReader reads *.fake below <home>/one and <home>/two: JSON lines, each an
// event or the header of a session, so that a test says in its own words what a
// reader finds.
type fakeReader struct {
	agent   string
	argv    []string
	waiting chan struct{} // is told of a line that waits
}

// fakeLine is a line of such a file. Members that are set say what it is.
type fakeLine struct {
	Session string `json:"session"` // whose line it is

	// Header.
	Parent, Cwd, Title string
	Created            int // seconds
	Subagent           bool

	// Event.
	Text, Call, Output, ID, Type string
	LogOnly                      bool
	Inherited                    int // seq in the parent, -1 for none
	Pad                          string

	// Links, told after all events.
	Replaced, Order, Sources []int // [from, to, by], [seq, before], [seq, from, to]
	Recorded                 []int // [seq, source]

	// Faults.
	Fail string // corrupt, surface, io, panic, wait
}

func (f *fakeReader) Agent() transcript.Agent { return transcript.Agent{ID: f.agent, Label: "Fake"} }
func (f *fakeReader) Version() int            { return 1 }
func (f *fakeReader) ResumeArgs(id string) []string {
	if f.argv == nil {
		return nil
	}
	return append(append([]string{}, f.argv...), id)
}

func (f *fakeReader) Roots(env transcript.Env) []transcript.Root {
	return []transcript.Root{{Path: filepath.Join(env.Home, "one")}, {Path: filepath.Join(env.Home, "two")}}
}

func (f *fakeReader) Discover(_ context.Context, _ transcript.Env, root transcript.Root, yield func(transcript.Source) error, _ func(string, error)) error {
	list, err := os.ReadDir(root.Path)
	if err != nil {
		return err
	}
	for _, e := range list {
		path := filepath.Join(root.Path, e.Name())
		info, err := os.Stat(path)
		if err != nil || !strings.HasSuffix(path, ".fake") {
			continue
		}
		src := transcript.Source{
			Agent: f.agent, Path: path, Root: root.Path, SessionID: strings.TrimSuffix(e.Name(), ".fake"),
			Size: info.Size(), ModTime: info.ModTime(), Signature: transcript.Signature(info),
		}
		if err := yield(src); err != nil {
			return err
		}
	}
	return nil
}

func (f *fakeReader) Read(ctx context.Context, _ transcript.Env, src transcript.Source, _ *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	raw, err := os.ReadFile(src.Path)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if err := out.Begin(false); err != nil {
		return nil, err
	}
	tracer, _ := out.(transcript.Tracer)
	strict, _ := out.(transcript.Strict)
	seqs := map[string]int{}
	headers := map[string]*transcript.Header{}
	var order []string
	var surface bool
	cp := &transcript.Checkpoint{Version: 1}
	for offset, rest := int64(0), raw; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		at, n := offset, int64(len(rest)-len(after))
		rest, offset = after, offset+n
		l := fakeLine{Inherited: -1}
		if json.Unmarshal(line, &l) != nil {
			cp.Bad++
			continue
		}
		switch l.Fail {
		case "corrupt":
			if strict != nil && strict.Strict() {
				return nil, fmt.Errorf("line at %d: %w", at, transcript.ErrCorrupt)
			}
			continue
		case "surface":
			surface = true
			continue
		case "io":
			return nil, &fs.PathError{Op: "read", Path: src.Path, Err: errors.New("input/output error")}
		case "panic":
			panic("as the test says")
		case "wait":
			f.waiting <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		if l.Session == "" {
			l.Session = src.SessionID
		}
		h := headers[l.Session]
		if h == nil {
			h = &transcript.Header{SessionID: l.Session, Conversation: true, Relation: transcript.RelationRoot}
			headers[l.Session] = h
			order = append(order, l.Session)
		}
		h.SawCWD(l.Cwd)
		if l.Parent != "" {
			h.ParentID, h.Relation = l.Parent, transcript.RelationFork
		}
		if l.Subagent {
			h.Relation = transcript.RelationSubagent
		}
		h.SetTitle(l.Title, transcript.TitleUser)
		if l.Created != 0 {
			h.CreatedAt = time.Unix(int64(l.Created), 0)
		}
		if err := f.links(tracer, l); err != nil {
			return nil, err
		}
		if l.Text+l.Call+l.Output+l.Type+l.ID == "" {
			continue
		}
		e := &transcript.Event{
			SessionID: l.Session, Seq: seqs[l.Session], ID: l.ID, Type: l.Type, RawType: "fake", Role: transcript.RoleUser, Surface: transcript.Current,
			Offset: at, Length: n, Inherited: l.Inherited >= 0, Message: true,
		}
		seqs[l.Session]++
		if e.Type == "" {
			e.Type = transcript.TypeUserMessage
		}
		if strings.HasPrefix(e.Type, "assistant") {
			e.Role = transcript.RoleAssistant
		}
		if l.LogOnly {
			e.Surface = transcript.LogOnly
		}
		e.AddText(transcript.Prose, l.Text)
		if l.Call != "" {
			e.Role, e.Tools = transcript.RoleAssistant, []string{"Bash"}
			e.AddText(transcript.Call, l.Call)
		}
		if l.Output != "" {
			e.Role = transcript.RoleTool
			e.AddText(transcript.Output, l.Output)
		}
		if err := out.Event(e); err != nil {
			return nil, err
		}
		if l.Inherited >= 0 && tracer != nil {
			h.InheritedCount++
			if err := tracer.Inherited(l.Session, e.Seq, h.ParentID, l.Inherited); err != nil {
				return nil, err
			}
		}
	}
	for _, id := range order {
		if err := out.Header(headers[id]); err != nil {
			return nil, err
		}
	}
	if surface && strict != nil && strict.Strict() {
		return cp, fmt.Errorf("event 1: %w", transcript.ErrInvalidSurface)
	}
	return cp, nil
}

func (f *fakeReader) links(tracer transcript.Tracer, l fakeLine) error {
	if tracer == nil {
		return nil
	}
	var errs []error
	if r := l.Replaced; r != nil {
		errs = append(errs, tracer.Replaced(l.Session, r[0], r[1], r[2]))
	}
	if o := l.Order; o != nil {
		errs = append(errs, tracer.Order(l.Session, o[0], o[1]))
	}
	if s := l.Sources; s != nil {
		errs = append(errs, tracer.Sources(l.Session, s[0], s[1], s[2]))
	}
	if s := l.Recorded; s != nil {
		errs = append(errs, tracer.Source(l.Session, s[0], s[1], true))
	}
	return errors.Join(errs...)
}
