package claude_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/claude"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

// found lists the sources under a home, relative to it.
func found(t *testing.T, home string, env transcript.Env) []string {
	t.Helper()
	var out []string
	for _, s := range transcripttest.Sources(t, claude.New(), env) {
		rel, err := filepath.Rel(home, s.Path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, filepath.ToSlash(rel))
	}
	sort.Strings(out)
	return out
}

func TestPlaces(t *testing.T) { // B71
	one := lines(user("u1", "", "one"))
	home := transcripttest.Write(t, map[string]string{
		file: one, ".config/claude/projects/-w/" + sid2 + ".jsonl": one, "xdg/claude/projects/-w/" + sid2 + ".jsonl": one,
		"cfg/projects/-w/" + sid + ".jsonl": one, "other/.claude/projects/-w/" + sid + ".jsonl": one, "bare/-w/" + sid + ".jsonl": one,
		"deep/Claude/local-agent-mode-sessions/a/b/local_1/.claude/projects/-w/" + sid + ".jsonl": one, "deep/Claude/local-agent-mode-sessions/a/b/local_1/audit.jsonl": one,
		"single/" + sid + ".jsonl": one, "single/" + sid + "/subagents/agent-a.jsonl": one,
	})
	at := func(p string) string { return filepath.Join(home, filepath.FromSlash(p)) }
	for _, c := range []struct {
		name  string
		vars  map[string]string
		extra []string
		want  []string
	}{
		{"default", nil, nil, []string{file, ".config/claude/projects/-w/" + sid2 + ".jsonl"}},
		{"XDG", map[string]string{"XDG_CONFIG_HOME": at("xdg")}, nil, []string{file, "xdg/claude/projects/-w/" + sid2 + ".jsonl"}},
		{"desktop app", map[string]string{"CLAUDE_CONFIG_DIR": at("none"), "XDG_CONFIG_HOME": at("deep")}, nil, []string{"deep/Claude/local-agent-mode-sessions/a/b/local_1/.claude/projects/-w/" + sid + ".jsonl"}},
		{"override", map[string]string{"CLAUDE_CONFIG_DIR": at("cfg")}, nil, []string{"cfg/projects/-w/" + sid + ".jsonl"}},
		{"relative override", map[string]string{"CLAUDE_CONFIG_DIR": "cfg"}, nil, []string{file, ".config/claude/projects/-w/" + sid2 + ".jsonl"}},
		{"configured", map[string]string{"CLAUDE_CONFIG_DIR": at("none")}, []string{at("cfg"), at("other"), at("bare")}, []string{
			"bare/-w/" + sid + ".jsonl", "cfg/projects/-w/" + sid + ".jsonl", "other/.claude/projects/-w/" + sid + ".jsonl"}},
		{"one project's folder", map[string]string{"CLAUDE_CONFIG_DIR": at("none")}, []string{at("single")}, []string{
			"single/" + sid + ".jsonl", "single/" + sid + "/subagents/agent-a.jsonl"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := transcripttest.Env(home, c.vars)
			env.Extra = c.extra
			sort.Strings(c.want)
			if got := found(t, home, env); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("found %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestWalk(t *testing.T) { // B64
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege")
	}
	one := lines(user("u1", "", "one"))
	home := transcripttest.Write(t, map[string]string{
		file: one, "elsewhere/" + sid2 + ".jsonl": one, folder + "empty.jsonl": "", folder + "notes.txt": "x", folder + "memory/x.md": "x",
		folder + sid + "/tool-results/x.jsonl": one, folder + sid + "/subagents/journal.jsonl": one, folder + sid + "/subagents/a/b/agent-1.jsonl": one,
	})
	at := func(p string) string { return filepath.Join(home, filepath.FromSlash(p)) }
	for link, to := range map[string]string{
		".claude/projects/-linked": at("elsewhere"), ".claude/projects/-twice": at(folder), folder + "loop": at(folder), folder + sid + "/subagents/up": at(folder + sid),
		folder + "gone.jsonl": at("nowhere"), folder + "dir.jsonl": at("elsewhere"), folder + sid2 + "-x.jsonl": at(file),
	} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	got := found(t, home, transcripttest.Env(home, nil))
	// Of several paths to one file the first one met is taken.
	if len(got) != 3 || !strings.HasSuffix(got[0], sid2+".jsonl") && !strings.HasSuffix(got[2], sid2+".jsonl") {
		t.Errorf("found %q, want the main file, the linked folder's and the sub-agent's, once each", got)
	}
}

func TestUnreadable(t *testing.T) {
	rd := claude.New()
	home := transcripttest.Write(t, map[string]string{file: lines(user("u1", "", "one")), ".claude/projects/-locked/" + sid2 + ".jsonl": "x"})
	env := transcripttest.Env(home, nil)
	locked := filepath.Join(home, ".claude", "projects", "-locked")
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o755) })
	var sources, reports int
	err := rd.Discover(context.Background(), env, rd.Roots(env)[0], func(transcript.Source) error { sources++; return nil }, func(string, error) { reports++ })
	if os.Getuid() == 0 { // root reads everything
		if err != nil || sources != 2 {
			t.Errorf("%d sources, error %v", sources, err)
		}
	} else if err != nil || sources != 1 || reports != 1 {
		t.Errorf("%d sources, %d reports, error %v; want 1, 1, nil", sources, reports, err)
	}
	err = rd.Discover(context.Background(), env, transcript.Root{Path: filepath.Join(home, "none")}, func(transcript.Source) error { return nil }, func(string, error) {})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing root: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := rd.Discover(ctx, env, rd.Roots(env)[0], func(transcript.Source) error { return nil }, func(string, error) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestSources: copies of one session carry one id, the preferred class wins,
// and a companion's change shows in the signature.
func TestSources(t *testing.T) {
	sub := folder + sid + "/subagents/agent-a1.jsonl"
	home := transcripttest.Write(t, map[string]string{
		file: lines(user("u1", "", "one")), folder + sid + " (conflicted copy).jsonl": lines(user("u1", "", "one")),
		sub: lines(user("u1", "", "one")), folder + "agent-a1.jsonl": lines(user("u2", "", "one")),
	})
	env := transcripttest.Env(home, nil)
	byPath := func() map[string]transcript.Source {
		m := map[string]transcript.Source{}
		for _, s := range transcripttest.Sources(t, claude.New(), env) {
			rel, _ := filepath.Rel(home, s.Path)
			m[filepath.ToSlash(rel)] = s
		}
		return m
	}
	before := byPath()
	if len(before) != 4 {
		t.Fatalf("%d sources", len(before))
	}
	for path, want := range map[string]struct {
		id    string
		class int
	}{
		file: {sid, 1}, folder + sid + " (conflicted copy).jsonl": {sid, 0}, sub: {sid + "#agent-a1", 1}, folder + "agent-a1.jsonl": {sid + "#agent-a1", 0},
	} {
		if s := before[path]; s.SessionID != want.id || s.Class != want.class {
			t.Errorf("%s: id %s class %d, want %s %d", path, s.SessionID, s.Class, want.id, want.class)
		}
	}
	if err := os.WriteFile(filepath.Join(home, filepath.FromSlash(folder+sid+"/subagents/agent-a1.meta.json")), []byte(`{"description":"x"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	after := byPath()
	if after[sub].Signature == before[sub].Signature || after[file].Signature != before[file].Signature {
		t.Error("the description's file must show in the sub-agent's signature, and only there")
	}
}
