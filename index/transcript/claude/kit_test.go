package claude_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/claude"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const (
	sid    = "1a2b3c4d-0000-4000-8000-00000000000a"
	sid2   = "1a2b3c4d-0000-4000-8000-00000000000b"
	folder = ".claude/projects/-w-loom/"
	file   = folder + sid + ".jsonl"
	file2  = folder + sid2 + ".jsonl"
)

// lines joins records to a file.
func lines(records ...string) string { return strings.Join(records, "\n") + "\n" }

// rec is a record with the usual fields. parent "" is null, "-" leaves it out.
func rec(typ, uuid, parent, more string) string {
	p := `"parentUuid":null,`
	switch parent {
	case "":
	case "-":
		p = ""
	default:
		p = `"parentUuid":"` + parent + `",`
	}
	return fmt.Sprintf(`{%s"type":"%s","uuid":"%s","sessionId":"%s","cwd":"/w/loom","timestamp":"2026-03-11T09:15:02Z"%s}`, p, typ, uuid, sid, more)
}

func user(uuid, parent, text string) string {
	return rec("user", uuid, parent, fmt.Sprintf(`,"message":{"role":"user","content":%q}`, text))
}

func say(uuid, parent, id, text string) string {
	return rec("assistant", uuid, parent, fmt.Sprintf(`,"message":{"role":"assistant","id":%q,"model":"m-1","content":[{"type":"text","text":%q}]}`, id, text))
}

func call(uuid, parent, id, tool, name, input string) string {
	return rec("assistant", uuid, parent, fmt.Sprintf(`,"message":{"role":"assistant","id":%q,"model":"m-1","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}`, id, tool, name, input))
}

func result(uuid, parent, tool, content string) string {
	return rec("user", uuid, parent, fmt.Sprintf(`,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, tool, content))
}

// read reads one file laid out at the usual place.
func read(t testing.TB, text string) *transcripttest.Session {
	t.Helper()
	all := transcripttest.One(t, claude.New(), map[string]string{file: text})
	s := all[sid]
	if s == nil {
		t.Fatalf("no session %s among %v", sid, transcripttest.Sorted(all))
	}
	return s
}

func readErr(t testing.TB, text string) error {
	t.Helper()
	env := transcripttest.Env(transcripttest.Write(t, map[string]string{file: text}), nil)
	rd := claude.New()
	src := transcripttest.Sources(t, rd, env)
	if len(src) != 1 {
		t.Fatalf("%d sources", len(src))
	}
	_, _, err := transcripttest.ReadAll(t, rd, env, src[0])
	return err
}

// surfaces renders the surface of each event as one letter.
func surfaces(s *transcripttest.Session) string {
	var b strings.Builder
	for _, e := range s.Events {
		b.WriteByte(map[transcript.Surface]byte{transcript.Current: 'C', transcript.Shadowed: 's', transcript.LogOnly: '-'}[e.Surface])
	}
	return b.String()
}

func has(t testing.TB, s *transcripttest.Session, kind transcript.PartKind, want string) {
	t.Helper()
	if got := strings.Count(s.Text(kind), want); got != 1 {
		t.Errorf("%q stands %d times in %q, want once", want, got, s.Text(kind))
	}
}

func hasNot(t testing.TB, s *transcripttest.Session, words ...string) {
	t.Helper()
	for _, k := range []transcript.PartKind{transcript.Prose, transcript.Call, transcript.Output} {
		for _, w := range words {
			if strings.Contains(s.Text(k), w) {
				t.Errorf("%q is noise, but stands in %q", w, s.Text(k))
			}
		}
	}
}

// appended reads a file, appends more and reads on from the checkpoint.
func appended(t testing.TB, first, more string) (s *transcripttest.Session, cp *transcript.Checkpoint, err error) {
	t.Helper()
	home := transcripttest.Write(t, map[string]string{file: first})
	env, rd := transcripttest.Env(home, nil), claude.New()
	recorder := transcripttest.NewRecorder(t)
	src := transcripttest.Sources(t, rd, env)[0]
	cp, err = rd.Read(context.Background(), env, src, nil, recorder)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(home, filepath.FromSlash(file)), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(more); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	src = transcripttest.Sources(t, rd, env)[0]
	cp, err = rd.Read(context.Background(), env, src, cp, recorder)
	return recorder.Sessions[sid], cp, err
}

func isNoSession(err error) bool { return errors.Is(err, transcript.ErrNoSession) }
