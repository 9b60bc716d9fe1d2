// Package transcripttest is what the readers' tests share: a sink that records
// sessions the way the index would, their rendering as golden text, and checks
// that hold for every agent (growth in steps equals one reading, damage never
// loses what can be read).
package transcripttest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Now is the present in tests.
var Now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Env is an environment with the given home folder and variables.
func Env(home string, vars map[string]string) transcript.Env {
	return transcript.Env{
		Home: home, GOOS: "linux",
		Getenv: func(k string) string { return vars[k] },
		Now:    func() time.Time { return Now },
	}
}

// Session is one recorded session.
type Session struct {
	transcript.Header
	Events []transcript.Event
}

// Recorder is a transcript.Sink that keeps everything in memory and checks the
// rules every reader must keep (dense seq, one header per session).
type Recorder struct {
	Sessions map[string]*Session
	begun    bool
	headers  map[string]bool
	t        testing.TB
}

// NewRecorder returns an empty Recorder that reports broken rules to t.
func NewRecorder(t testing.TB) *Recorder {
	return &Recorder{Sessions: map[string]*Session{}, t: t}
}

// Begin implements transcript.Sink.
func (r *Recorder) Begin(resumed bool) error {
	if !resumed {
		r.Sessions = map[string]*Session{}
	}
	r.begun, r.headers = true, map[string]bool{}
	return nil
}

func (r *Recorder) session(id string) *Session {
	if !r.begun {
		r.t.Errorf("session %q before Begin", id)
	}
	s := r.Sessions[id]
	if s == nil {
		s = &Session{}
		r.Sessions[id] = s
	}
	return s
}

// Event implements transcript.Sink.
func (r *Recorder) Event(e *transcript.Event) error {
	s := r.session(e.SessionID)
	if e.Seq != len(s.Events) {
		r.t.Errorf("session %q: seq %d where %d belongs", e.SessionID, e.Seq, len(s.Events))
	}
	if e.Surface == "" || e.Role == "" || e.Type == "" {
		r.t.Errorf("session %q seq %d: surface %q, role %q, type %q must be set", e.SessionID, e.Seq, e.Surface, e.Role, e.Type)
	}
	c := *e
	c.Parts = nil
	for _, p := range e.Parts {
		if p.Text == "" {
			r.t.Errorf("session %q seq %d: empty part", e.SessionID, e.Seq)
		}
		c.Parts = append(c.Parts, transcript.Part{Kind: p.Kind, Text: strings.Clone(p.Text)})
	}
	c.Tools = append([]string(nil), e.Tools...)
	c.Files = append([]string(nil), e.Files...)
	s.Events = append(s.Events, c)
	return nil
}

// Surface implements transcript.Sink.
func (r *Recorder) Surface(id string, from, to int, surface transcript.Surface) error {
	s := r.session(id)
	if from < 0 || to > len(s.Events) || from > to {
		r.t.Errorf("session %q: surface of [%d,%d) of %d events", id, from, to, len(s.Events))
		return nil
	}
	for i := from; i < to; i++ {
		s.Events[i].Surface = surface
	}
	return nil
}

// Header implements transcript.Sink.
func (r *Recorder) Header(h *transcript.Header) error {
	if h.SessionID == "" {
		r.t.Error("header without session id")
	}
	if r.headers[h.SessionID] {
		r.t.Errorf("session %q: second header in one reading", h.SessionID)
	}
	r.headers[h.SessionID] = true
	r.session(h.SessionID).Header = *h
	return nil
}

// Progress implements transcript.Sink.
func (r *Recorder) Progress(int64) {}

// Sources discovers everything a reader finds under a home, sorted by path.
func Sources(t testing.TB, rd transcript.Reader, env transcript.Env) []transcript.Source {
	t.Helper()
	var out []transcript.Source
	for _, root := range rd.Roots(env) {
		err := rd.Discover(context.Background(), env, root, func(s transcript.Source) error {
			if s.Agent != rd.Agent().ID || s.Path == "" || s.Signature == "" {
				t.Errorf("source %+v: agent, path and signature must be set", s)
			}
			out = append(out, s)
			return nil
		}, func(path string, err error) { t.Errorf("discover %s: %v", path, err) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("discover root %s: %v", root.Path, err)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Path != out[j].Path {
			return out[i].Path < out[j].Path
		}
		return out[i].Key < out[j].Key
	})
	return out
}

// ReadAll reads one source whole.
func ReadAll(t testing.TB, rd transcript.Reader, env transcript.Env, src transcript.Source) (map[string]*Session, *transcript.Checkpoint, error) {
	t.Helper()
	rec := NewRecorder(t)
	cp, err := rd.Read(context.Background(), env, src, nil, rec)
	return rec.Sessions, cp, err
}

// Golden reads every source under home and compares the rendering with the
// golden file; `go test -update` rewrites it.
func Golden(t *testing.T, rd transcript.Reader, home, golden string) {
	t.Helper()
	env := Env(home, nil)
	var b strings.Builder
	for _, src := range Sources(t, rd, env) {
		rel, _ := filepath.Rel(home, src.Path)
		fmt.Fprintf(&b, "== %s", filepath.ToSlash(rel))
		if src.Key != "" {
			fmt.Fprintf(&b, " [%s]", src.Key)
		}
		b.WriteByte('\n')
		sessions, cp, err := ReadAll(t, rd, env, src)
		if err != nil {
			fmt.Fprintf(&b, "error: %s\n\n", strings.ReplaceAll(err.Error(), home, "~"))
			continue
		}
		fmt.Fprintf(&b, "known id %q class %d; bad %d torn %v partial %q\n", src.SessionID, src.Class, cp.Bad, cp.Torn, cp.Partial)
		tr, err := TraceAll(t, rd, env, src)
		if err != nil {
			t.Errorf("trace %s: %v", rel, err)
		}
		for _, id := range Sorted(sessions) {
			b.WriteString(strings.ReplaceAll(Render(sessions[id])+tr.Links[id].Render(), home, "~"))
		}
		b.WriteByte('\n')
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("differs from %s:\n%s", golden, diff(string(want), got))
	}
}

// Sorted returns the session ids in order.
func Sorted(m map[string]*Session) []string {
	ids := make([]string, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids
}

// Render writes a session as text: its header, then a line for each event.
func Render(s *Session) string {
	var b strings.Builder
	h := s.Header
	at := ""
	if h.TitleAt > 0 {
		at = fmt.Sprintf(" #%d", h.TitleAt-1)
	}
	ts := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	fmt.Fprintf(&b, "session %s\n  title %q (%s%s)\n  cwd %q %q branch %q model %q %q repo %q\n", h.SessionID, h.Title, h.TitleSource, at, h.CWD, h.CWDs, h.Branch, h.Model, h.Models, h.RepoURL)
	fmt.Fprintf(&b, "  %s … %s, %d messages, conversation %v\n", ts(h.CreatedAt), ts(h.UpdatedAt), h.MessageCount, h.Conversation)
	fmt.Fprintf(&b, "  %s parent %q event %q evidence %q inherited %d known %v depth %d\n", h.Relation, h.ParentID, h.ParentEvent, h.LineageEvidence, h.InheritedCount, h.InheritedKnown, h.DelegationDepth)
	fmt.Fprintf(&b, "  automated %v entrypoint %q format %q archived %v\n", h.Automated, h.Entrypoint, h.Format, h.Archived)
	for _, w := range h.Warnings {
		fmt.Fprintf(&b, "  warning: %s\n", w)
	}
	for i := range s.Events {
		e := &s.Events[i]
		fmt.Fprintf(&b, "  %d %s %s (%s) %s %s %s", e.Seq, e.ID, e.Type, e.RawType, e.Role, e.Surface, ts(e.Time))
		for _, f := range []struct {
			on   bool
			name string
		}{{e.Inherited, "inherited"}, {e.Message, "message"}, {e.Failed, "failed"}} {
			if f.on {
				b.WriteString(" " + f.name)
			}
		}
		if len(e.Tools) > 0 {
			fmt.Fprintf(&b, " tools %q", e.Tools)
		}
		if len(e.Files) > 0 {
			fmt.Fprintf(&b, " files %q", e.Files)
		}
		b.WriteByte('\n')
		for _, p := range e.Parts {
			text := p.Text
			if len(text) > 400 {
				text = fmt.Sprintf("%s…(%d bytes)…%s", strings.ToValidUTF8(text[:200], ""), len(text), strings.ToValidUTF8(text[len(text)-100:], ""))
			}
			fmt.Fprintf(&b, "      %s %q\n", [...]string{"prose", "call", "output"}[p.Kind], text)
		}
	}
	return b.String()
}

// Write lays files out under a fresh folder and returns it.
func Write(t testing.TB, files map[string]string) string {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		p := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// One lays files out, reads every source, with and without links, and returns all
// sessions by id.
func One(t testing.TB, rd transcript.Reader, files map[string]string) map[string]*Session {
	t.Helper()
	env := Env(Write(t, files), nil)
	out := map[string]*Session{}
	for _, src := range Sources(t, rd, env) {
		tr, err := TraceAll(t, rd, env, src)
		if errors.Is(err, transcript.ErrNoSession) {
			continue
		}
		if err != nil {
			t.Errorf("read %s: %v", src.Path, err)
			continue
		}
		for id, s := range tr.Sessions {
			out[id] = s
		}
	}
	return out
}

// Text joins the text of all parts of one kind.
func (s *Session) Text(kind transcript.PartKind) string {
	var b strings.Builder
	for _, e := range s.Events {
		for _, p := range e.Parts {
			if p.Kind == kind {
				b.WriteString(p.Text + "\n")
			}
		}
	}
	return b.String()
}

// Grows checks that a file read in steps, as it grows by the given byte
// counts, gives the same sessions as reading it at once. It returns how many
// steps were continued rather than read anew.
func Grows(t *testing.T, rd transcript.Reader, home, rel string, steps []int) (continued int) {
	t.Helper()
	path := filepath.Join(home, filepath.FromSlash(rel))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	env := Env(home, nil)
	find := func() (transcript.Source, bool) {
		for _, s := range Sources(t, rd, env) {
			if s.Path == path {
				return s, true
			}
		}
		return transcript.Source{}, false
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	rec := NewRecorder(t)
	var cp *transcript.Checkpoint
	at := 0
	for i := 0; at < len(whole); i++ {
		n := 1 + len(whole)/3
		if i < len(steps) {
			n = steps[i]
		}
		n = min(n, len(whole)-at)
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(whole[at : at+n]); err != nil {
			t.Fatal(err)
		}
		f.Close()
		at += n
		src, ok := find()
		if !ok {
			continue
		}
		next := NewRecorder(t)
		next.Sessions = clone(rec.Sessions)
		ncp, err := rd.Read(context.Background(), env, src, cp, next)
		if err == nil && cp != nil {
			continued++
		}
		if errors.Is(err, transcript.ErrReread) {
			next = NewRecorder(t)
			ncp, err = rd.Read(context.Background(), env, src, nil, next)
		}
		if errors.Is(err, transcript.ErrNoSession) {
			rec, cp = NewRecorder(t), nil
			continue
		}
		if err != nil {
			t.Fatalf("after %d of %d bytes: %v", at, len(whole), err)
		}
		rec, cp = next, ncp
	}
	src, ok := find()
	if !ok {
		t.Fatalf("%s is not discovered", rel)
	}
	want, _, err := ReadAll(t, rd, env, src)
	if err != nil {
		t.Fatal(err)
	}
	render := func(m map[string]*Session) string {
		var b strings.Builder
		for _, id := range Sorted(m) {
			b.WriteString(Render(m[id]))
		}
		return b.String()
	}
	if got, want := render(rec.Sessions), render(want); got != want {
		t.Errorf("%s read in steps %v differs from one reading:\n%s", rel, steps, diff(want, got))
	}
	return continued
}

func clone(m map[string]*Session) map[string]*Session {
	out := map[string]*Session{}
	for id, s := range m {
		out[id] = &Session{Header: s.Header, Events: append([]transcript.Event(nil), s.Events...)}
	}
	return out
}

// Damaged reads arbitrary bytes as a source's file, with and without links, and
// checks that nothing panics, hangs or breaks the rules a Trace checks. For fuzz
// tests.
func Damaged(t testing.TB, rd transcript.Reader, rel string, data []byte) {
	home := Write(t, map[string]string{rel: string(data)})
	env := Env(home, nil)
	for _, src := range Sources(t, rd, env) {
		_, _ = TraceAll(t, rd, env, src)
	}
}

// diff shows the first lines in which two texts differ.
func diff(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	var b strings.Builder
	shown := 0
	for i := 0; i < max(len(w), len(g)) && shown < 12; i++ {
		var a, c string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			c = g[i]
		}
		if a != c {
			fmt.Fprintf(&b, "line %d\n- %s\n+ %s\n", i+1, a, c)
			shown++
		}
	}
	return b.String()
}
