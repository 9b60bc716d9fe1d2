package pi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/pi"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const dir = ".pi/agent/sessions/--w--/"

func name(id string) string { return dir + "2026-03-01T08-00-00-000Z_" + id + ".jsonl" }

func header(id, more string) string {
	return fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-03-01T08:00:00.000Z","cwd":"/w"%s}`+"\n", id, more)
}

func entry(id, parent, typ, rest string) string {
	p := "null"
	if parent != "" {
		p = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"type":%q,"id":%q,"parentId":%s,"timestamp":"2026-03-01T08:00:01.000Z",%s}`+"\n", typ, id, p, rest)
}

func user(id, parent, text string) string {
	return entry(id, parent, "message", `"message":{"role":"user","content":"`+text+`"}`)
}

func answer(id, parent, text string) string {
	return entry(id, parent, "message", `"message":{"role":"assistant","content":[{"type":"text","text":"`+text+`"}]}`)
}

func read(t testing.TB, text string) (*transcripttest.Session, *transcript.Checkpoint) {
	t.Helper()
	home := transcripttest.Write(t, map[string]string{name("s1"): text})
	rd, env := pi.New(), transcripttest.Env(home, nil)
	sessions, cp, err := transcripttest.ReadAll(t, rd, env, transcripttest.Sources(t, rd, env)[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(sessions) != 1 || sessions["s1"] == nil {
		t.Fatalf("sessions %v", transcripttest.Sorted(sessions))
	}
	return sessions["s1"], cp
}

// surfaces writes one letter for each event: c, s, l.
func surfaces(s *transcripttest.Session) string {
	var b strings.Builder
	for _, e := range s.Events {
		b.WriteByte(e.Surface[0])
	}
	return b.String()
}

// Damaged files give every record that can be read (B1, B2, B4, B6).
func TestHazards(t *testing.T) {
	h := header("s1", "")
	for _, c := range []struct {
		name, text, prose, surfaces string
		bad                         int
		torn                        bool
	}{
		{"torn last record", h + user("a", "", "one") + answer("b", "a", "two") + `{"type":"message","id":"c","parentId":"b","message":{"role":"user","content":"the plover ne`,
			"user: one | assistant: two", "lcc", 0, true},
		{"NUL run", h + user("a", "", "one") + strings.Repeat("\x00", 400) + "\n" + answer("b", "a", "quill marmot"), "user: one | assistant: quill marmot", "lcc", 1, false},
		{"spliced records", h + user("a", "", "one") + `{"type":"message","id":"x","message":{"role":"assistant","content":"half ` + user("c", "x", "find me: basalt"), "user: one | user: find me: basalt", "lcc", 1, false},
		{"a lost parent does not hide what precedes it", h + user("a", "", "one") + "{broken\n" + answer("c", "b", "three"), "user: one | assistant: three", "lcc", 1, false},
		{"an unknown parent in a sound file is a root", h + user("a", "", "one") + answer("c", "b", "three"), "user: one | assistant: three", "lsc", 0, false},
		{"itself as parent", h + user("a", "", "one") + answer("b", "b", "two"), "user: one | assistant: two", "lsc", 0, false},
		{"lone surrogate", h + user("a", "", `errored \ud83d... at tern`), "user: errored \uFFFD... at tern", "lc", 0, false},
		{"invalid UTF-8", h + user("a", "", "gu\xffll"), "user: gu\uFFFDll", "lc", 0, false},
		{"duplicate keys", h + entry("a", "", "message", `"message":null,"message":{"role":"user","content":"last wins"}`), "user: last wins", "lc", 0, false},
		{"CRLF and BOM", "\ufeff" + strings.ReplaceAll(h+user("a", "", "windows"), "\n", "\r\n"), "user: windows", "lc", 0, false},
		{"U+2028", h + user("a", "", "a\u2028b"), "user: a\u2028b", "lc", 0, false},
		{"content as list, object, null, number", h + entry("a", "", "message", `"message":{"role":"user","content":[{"type":"text","text":"listed"},"bare"]}`) + entry("b", "a", "message", `"message":{"role":"user","content":{"type":"text","text":"one"}}`) + entry("c", "b", "message", `"message":{"role":"user","content":null}`) + entry("d", "c", "message", `"message":{"role":"user","content":7}`),
			"user: listed | user: bare | user: one", "lcccc", 0, false},
		{"rubbish", h + "nonsense\n7\n[]\n[1,2]\n{}\n" + user("a", "", "after"), "user: after", "lllllc", 2, false},
		{"ids missing", h + `{"type":"message","message":{"role":"user","content":"one"}}` + "\n" + `{"type":"message","message":{"role":"assistant","content":"two"}}` + "\n", "user: one | assistant: two", "lcc", 0, false},
		{"tool result without call id (B16)", h + user("a", "", "go") + entry("b", "a", "message", `"message":{"role":"toolResult","content":"ok"}`), "user: go", "lcc", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, cp := read(t, c.text)
			if got := s.Said(); got != c.prose {
				t.Errorf("prose %q, want %q", got, c.prose)
			}
			if got := surfaces(s); !strings.HasPrefix(c.name, "rubbish") && got != c.surfaces {
				t.Errorf("surfaces %s, want %s", got, c.surfaces)
			}
			if !strings.HasPrefix(c.name, "rubbish") && (cp.Bad != c.bad || cp.Torn != c.torn) {
				t.Errorf("bad %d torn %v, want %d %v", cp.Bad, cp.Torn, c.bad, c.torn)
			}
		})
	}
}

func TestResultWithoutCallID(t *testing.T) { // B16
	s, _ := read(t, header("s1", "")+user("a", "", "go")+entry("b", "a", "message", `"message":{"role":"toolResult","content":"ok"}`))
	if got := s.Text(transcript.Output); got != "ok\n" {
		t.Errorf("output %q", got)
	}
}

// B7, B37: a giant line between small ones, its end included; images cost no
// memory and are no text.
func TestGiantLines(t *testing.T) {
	giant := entry("b", "a", "message", `"message":{"role":"toolResult","toolName":"bash","content":[{"type":"image","data":"`+strings.Repeat("iVBORw0KGgoAAAANSUhEUg", 20<<20/22)+`"},{"type":"text","text":"`+strings.Repeat("dots and more dots. ", 20<<20/20)+`E: widget 7731 missing"}]}`)
	s, cp := read(t, header("s1", "")+user("a", "", "before")+giant+answer("c", "b", "after"))
	if got := s.Said(); got != "user: before | assistant: after" || cp.Bad != 0 || surfaces(s) != "lccc" {
		t.Errorf("prose %q, bad %d, surfaces %s", got, cp.Bad, surfaces(s))
	}
	if out := s.Text(transcript.Output); !strings.HasPrefix(out, "dots") || !strings.HasSuffix(out, "E: widget 7731 missing\n") {
		t.Errorf("output of %d bytes lost its start or its end", len(out))
	}
}

// B21: 17 forks, the long branch always the second child: all 124 entries are
// there, and the path to the leaf is what the model sees.
func TestNestedForks(t *testing.T) {
	text, parent, n := header("s1", ""), "", 0
	var want strings.Builder
	want.WriteByte('l')
	add := func(id, parent string, surface byte) {
		text += user(id, parent, "entry "+id)
		want.WriteByte(surface)
		n++
	}
	for fork := range 17 {
		for i := range 6 { // the way to the fork
			id := fmt.Sprintf("m%d-%d", fork, i)
			add(id, parent, 'c')
			parent = id
		}
		add(fmt.Sprintf("x%d", fork), parent, 's') // first child, abandoned
	}
	for i := n; i < 124; i++ {
		id := fmt.Sprintf("e%d", i)
		add(id, parent, 'c')
		parent = id
	}
	s, _ := read(t, text)
	if len(s.Events) != 125 || s.MessageCount != 124 {
		t.Fatalf("%d events, %d messages", len(s.Events), s.MessageCount)
	}
	if got := surfaces(s); got != want.String() {
		t.Errorf("surfaces\n%s, want\n%s", got, want.String())
	}
	for i, e := range s.Events[1:] {
		if len(e.Parts) != 1 || e.Parts[0].Text != "entry "+e.ID {
			t.Errorf("event %d: %v", i+1, e.Parts)
		}
	}
}

func TestManyTinyEntries(t *testing.T) {
	var b strings.Builder
	b.WriteString(header("s1", ""))
	parent := ""
	for i := range 100_000 {
		id := fmt.Sprintf("%08x", i)
		b.WriteString(user(id, parent, "x"))
		parent = id
	}
	s, cp := read(t, b.String())
	if len(s.Events) != 100_001 || s.MessageCount != 100_000 || s.Events[1].Surface != transcript.Current || len(cp.State) == 0 {
		t.Errorf("%d events, %d messages", len(s.Events), s.MessageCount)
	}
}

func TestTimes(t *testing.T) { // B51
	for _, stamp := range []string{"1785000000", "1785000000000", `"1785000000"`, `"2026-07-25T17:20:00Z"`} {
		s, _ := read(t, header("s1", "")+strings.ReplaceAll(user("a", "", "when"), `"2026-03-01T08:00:01.000Z"`, stamp))
		if want := time.Date(2026, 7, 25, 17, 20, 0, 0, time.UTC); !s.UpdatedAt.Equal(want) {
			t.Errorf("%s: updated %v, want %v", stamp, s.UpdatedAt, want)
		}
	}
}

// Without a time of its own an entry has that of its message.
func TestMessageTime(t *testing.T) {
	s, _ := read(t, header("s1", "")+`{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"x","timestamp":1785000000000}}`+"\n")
	if want := time.Date(2026, 7, 25, 17, 20, 0, 0, time.UTC); !s.UpdatedAt.Equal(want) {
		t.Errorf("updated %v, want %v", s.UpdatedAt, want)
	}
}

// B71 and formats.md §10: where sessions are looked for.
func TestPlaces(t *testing.T) {
	session := func(id string) string { return header(id, "") + user("a", "", "x") }
	flat := transcripttest.Write(t, map[string]string{"2026-03-01T08-00-00-000Z_flat.jsonl": session("flat")})
	other := transcripttest.Write(t, map[string]string{"sessions/--x--/2026-03-01T08-00-00-000Z_other.jsonl": session("other")})
	home := transcripttest.Write(t, map[string]string{name("s1"): session("s1"), "alt/t_alt.jsonl": session("alt")})
	settings := func(dir string) map[string]string {
		return map[string]string{".pi/agent/settings.json": fmt.Sprintf(`{"theme":"dark","sessionDir":%q}`, dir)}
	}
	for _, c := range []struct {
		name     string
		vars     map[string]string
		settings map[string]string
		extra    []string
		want     string
	}{
		{"default", nil, nil, nil, "s1"},
		{"session dir", map[string]string{"PI_CODING_AGENT_SESSION_DIR": flat}, nil, nil, "flat s1"},
		{"agent dir", map[string]string{"PI_CODING_AGENT_DIR": other}, nil, nil, "other"},
		{"settings", nil, settings(flat), nil, "flat s1"},
		{"settings below the home", nil, settings("~/alt"), nil, "alt s1"},
		{"settings, but the variable wins", map[string]string{"PI_CODING_AGENT_SESSION_DIR": flat}, settings("~/alt"), nil, "flat s1"},
		{"relative settings", nil, settings("alt"), nil, "s1"},
		{"relative variable", map[string]string{"PI_CODING_AGENT_SESSION_DIR": "flat"}, nil, nil, "s1"},
		{"extra home", nil, nil, []string{other}, "other s1"},
		{"extra folder", nil, nil, []string{flat}, "flat s1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(home, ".pi", "agent", "settings.json")
			if c.settings != nil {
				if err := os.WriteFile(path, []byte(c.settings[".pi/agent/settings.json"]), 0o644); err != nil {
					t.Fatal(err)
				}
				defer os.Remove(path)
			}
			env := transcripttest.Env(home, c.vars)
			env.Extra = c.extra
			var got []string
			for _, s := range transcripttest.Sources(t, pi.New(), env) {
				got = append(got, s.SessionID)
			}
			slices.Sort(got)
			if strings.Join(got, " ") != c.want {
				t.Errorf("found %v, want %s", got, c.want)
			}
		})
	}
	env := transcripttest.Env(filepath.Join(home, "nobody"), nil)
	err := pi.New().Discover(t.Context(), env, pi.New().Roots(env)[0], func(transcript.Source) error { return nil }, func(string, error) {})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder gives %v", err)
	}
}

func TestGrowth(t *testing.T) {
	home := transcripttest.Home(t, samples)
	found, err := filepath.Glob(filepath.Join(home, ".pi", "agent", "sessions", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if strings.Contains(path, "empty-1") {
			continue // no session
		}
		rel, err := filepath.Rel(home, path)
		if err != nil {
			t.Fatal(err)
		}
		continued := 0
		for seed := range uint64(12) {
			continued += transcripttest.Grows(t, pi.New(), home, filepath.ToSlash(rel), transcripttest.Steps(seed, 60, 500))
		}
		if continued == 0 {
			t.Errorf("%s was never continued", rel)
		}
	}
}

func TestGrowthInsideCharacters(t *testing.T) {
	text, parent := header("s1", ""), ""
	for i := range 60 {
		id := fmt.Sprintf("n%d", i)
		text += user(id, parent, fmt.Sprintf("größe 潮汐 🌊 %d", i))
		parent = id
	}
	home := transcripttest.Write(t, map[string]string{name("s1"): text})
	steps := make([]int, 0, 300)
	for range 300 {
		steps = append(steps, 31)
	}
	if n := transcripttest.Grows(t, pi.New(), home, name("s1"), steps); n < 200 {
		t.Errorf("%d continued readings of 300", n)
	}
}

// What is appended is read on only when it leaves earlier entries as they are.
func TestAppendedEntries(t *testing.T) {
	before := header("s1", "") + user("a", "", "one") + answer("b", "a", "two")
	for _, c := range []struct {
		name, after string
		reread      bool
	}{
		{"next entry", user("c", "b", "three"), false},
		{"name", entry("c", "b", "session_info", `"name":"x"`), false},
		{"branch", user("c", "a", "three"), true},
		{"new root", user("c", "", "three"), true},
		{"compaction", entry("c", "b", "compaction", `"summary":"s","firstKeptEntryId":"b"`), true},
		{"leaf elsewhere", `{"type":"leaf","targetId":"a"}` + "\n", true},
		{"leaf as it is", `{"type":"leaf","targetId":"b"}` + "\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := transcripttest.Write(t, map[string]string{name("s1"): before})
			rd, env := pi.New(), transcripttest.Env(home, nil)
			src := transcripttest.Sources(t, rd, env)[0]
			_, cp, err := transcripttest.ReadAll(t, rd, env, src)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(src.Path, []byte(before+c.after), 0o644); err != nil {
				t.Fatal(err)
			}
			rec := transcripttest.NewRecorder(t)
			rec.Sessions["s1"] = &transcripttest.Session{Events: make([]transcript.Event, 3)}
			_, err = rd.Read(context.Background(), env, src, cp, rec)
			if c.reread != errors.Is(err, transcript.ErrReread) || !c.reread && err != nil {
				t.Errorf("error %v, reread wanted: %v", err, c.reread)
			}
		})
	}
}

// B62 and its kind: a parent is looked for where sessions are, never at a path
// outside, whoever wrote it down.
func TestParentPaths(t *testing.T) {
	parent := header("p1", "") + user("a", "", "asked before") + answer("b", "a", "said before")
	const file = "2026-02-01T08-00-00-000Z_p1.jsonl"
	for where, found := range map[string]bool{"custom/deep/": true, "outside/": false, "custom/../outside/": false} {
		home := transcripttest.Write(t, map[string]string{where + file: parent})
		at, err := json.Marshal(home + "/" + where + file)
		if err != nil {
			t.Fatal(err)
		}
		fork := header("s1", `,"parentSession":`+string(at)) + user("a", "", "asked before") + answer("b", "a", "said before") + user("c", "b", "asked later")
		path := filepath.Join(home, filepath.FromSlash(name("s1")))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(fork), 0o644)); err != nil {
			t.Fatal(err)
		}
		rd, env := pi.New(), transcripttest.Env(home, map[string]string{"PI_CODING_AGENT_SESSION_DIR": filepath.Join(home, "custom")})
		for _, src := range transcripttest.Sources(t, rd, env) {
			if src.SessionID != "s1" {
				continue
			}
			sessions, _, err := transcripttest.ReadAll(t, rd, env, src)
			if err != nil {
				t.Fatal(err)
			}
			inherited := map[bool]int{true: 2}[found]
			if s := sessions["s1"]; s.InheritedKnown != found || s.InheritedCount != inherited || s.ParentID != "p1" {
				t.Errorf("parent in %s: %+v", where, s.Header)
			}
		}
	}
}

// A fork finds its parent by path, by the name in its own folder, or below the
// root; one that turns up later makes the fork be read anew.
func TestParents(t *testing.T) {
	parent := header("p1", "") + user("a", "", "asked before") + answer("b", "a", "said before") + user("z", "b", "asked elsewhere")
	fork := header("s1", `,"parentSession":"/elsewhere/2026-02-01T08-00-00-000Z_p1.jsonl"`) + user("a", "", "asked before") + answer("b", "a", "said before") + user("c", "b", "asked later")
	home := transcripttest.Write(t, map[string]string{name("s1"): fork})
	rd, env := pi.New(), transcripttest.Env(home, nil)
	src := transcripttest.Sources(t, rd, env)[0]
	sessions, cp, err := transcripttest.ReadAll(t, rd, env, src)
	if err != nil {
		t.Fatal(err)
	}
	if s := sessions["s1"]; s.InheritedKnown || s.InheritedCount != 0 || s.ParentID != "p1" || s.Relation != transcript.RelationFork || s.LineageEvidence != transcript.EvidencePath {
		t.Errorf("without parent: %+v", s.Header)
	}
	path := filepath.Join(home, ".pi", "agent", "sessions", "--other--", "2026-02-01T08-00-00-000Z_p1.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(parent), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := rd.Read(context.Background(), env, src, cp, transcripttest.NewRecorder(t)); !errors.Is(err, transcript.ErrReread) {
		t.Errorf("error %v, want ErrReread", err)
	}
	sessions, _, err = transcripttest.ReadAll(t, rd, env, src)
	if err != nil {
		t.Fatal(err)
	}
	if s := sessions["s1"]; !s.InheritedKnown || s.InheritedCount != 2 || s.MessageCount != 1 || s.Title != "asked later" || s.ParentEvent != "b" {
		t.Errorf("with parent: %+v", s.Header)
	}
}

// Lines without ids (v1) are told by their bytes.
func TestForkOfVersion1(t *testing.T) {
	lines := `{"type":"message","timestamp":"2025-12-01T08:00:00Z","message":{"role":"user","content":"old prompt"}}` + "\n"
	sessions := transcripttest.One(t, pi.New(), map[string]string{
		name("p1"): `{"type":"session","id":"p1","timestamp":"2025-12-01T08:00:00Z","cwd":"/w"}` + "\n" + lines,
		name("s1"): `{"type":"session","id":"s1","timestamp":"2025-12-02T08:00:00Z","cwd":"/w","branchedFrom":"/x/2026-03-01T08-00-00-000Z_p1.jsonl"}` + "\n" + lines + strings.ReplaceAll(lines, "old", "new"),
	})
	if s := sessions["s1"]; s.InheritedCount != 1 || s.MessageCount != 1 || s.Title != "new prompt" || s.Format != "v1" {
		t.Errorf("%+v", s.Header)
	}
}

func FuzzRead(f *testing.F) {
	found, err := filepath.Glob(filepath.Join(samples, ".pi", "agent", "sessions", "*", "*.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`[{"kind":"entry","entry":{"type":"message","id":"a"}},[],7]` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		transcripttest.Damaged(t, pi.New(), name("s1"), data)
	})
}
