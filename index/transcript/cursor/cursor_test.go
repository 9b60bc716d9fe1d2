package cursor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const samples = "../../../testdata/home/cursor"

func TestGolden(t *testing.T) {
	transcripttest.Golden(t, New(), transcripttest.Home(t, samples), "../../../testdata/golden/cursor.txt")
}

var _ interface {
	transcript.Locator
	transcript.Homebound
	transcript.Selective
} = &reader{}

func TestRoots(t *testing.T) {
	home := filepath.FromSlash("/home/dev")
	for _, c := range []struct {
		name, goos string
		vars       map[string]string
		want       []string // besides those that are always there
	}{
		{"linux", "linux", nil, []string{".config/Cursor/User"}},
		{"mac", "darwin", map[string]string{"XDG_CONFIG_HOME": "/xdg"}, []string{"Library/Application Support/Cursor/User"}},
		{"windows", "windows", nil, []string{"AppData/Roaming/Cursor/User"}},
		{"windows, moved", "windows", map[string]string{"APPDATA": "/roaming"}, []string{"/roaming/Cursor/User"}},
		{"linux, moved", "linux", map[string]string{"XDG_CONFIG_HOME": "/xdg"}, []string{"/xdg/Cursor/User", "/xdg/cursor/projects", "/xdg/cursor/chats", "/xdg/cursor/acp-sessions"}},
		{"the tool's data", "linux", map[string]string{"CURSOR_DATA_DIR": "/d", "CURSOR_CONFIG_DIR": "/c"},
			[]string{".config/Cursor/User", "/d/projects", "/d/chats", "/d/acp-sessions", "/c/projects", "/c/chats", "/c/acp-sessions"}},
		{"one of them, twice", "linux", map[string]string{"CURSOR_DATA_DIR": "/c", "CURSOR_CONFIG_DIR": "/c"}, []string{".config/Cursor/User", "/c/projects", "/c/chats", "/c/acp-sessions"}},
		{"relative, empty", "linux", map[string]string{"CURSOR_DATA_DIR": "d", "CURSOR_CONFIG_DIR": ""}, []string{".config/Cursor/User"}},
	} {
		env := transcripttest.Env(home, c.vars)
		env.GOOS = c.goos
		var got []string
		for _, r := range New().Roots(env) {
			if r.Configured {
				t.Errorf("%s: %+v is not configured", c.name, r)
			}
			got = append(got, filepath.ToSlash(strings.TrimPrefix(r.Path, home+string(filepath.Separator))))
		}
		want := append([]string{".cursor-server/data/User", ".cursor/projects", ".cursor/chats", ".cursor/acp-sessions"}, c.want...)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}

// A person may name any of the folders on the way.
func TestConfiguredRoots(t *testing.T) {
	home := transcripttest.Home(t, samples)
	server := transcripttest.Home(t, filepath.Join(samples, ".config", "Cursor"))
	all := len(transcripttest.Sources(t, New(), transcripttest.Env(home, nil)))
	for _, c := range []struct {
		dir  string
		want int
	}{
		{home, all}, {filepath.Join(home, ".cursor"), 10}, {filepath.Join(home, ".cursor", "projects"), 5}, {filepath.Join(home, ".cursor", "chats"), 4}, {filepath.Join(home, ".cursor", "acp-sessions"), 1},
		{filepath.Join(home, ".config", "Cursor"), all - 10}, {filepath.Join(home, ".config", "Cursor", "User"), all - 10}, {server, all - 10},
	} {
		env := transcripttest.Env(t.TempDir(), nil)
		env.Extra = []string{c.dir}
		if got := len(transcripttest.Sources(t, New(), env)); got != c.want {
			t.Errorf("%s: %d sources, want %d", strings.TrimPrefix(c.dir, home), got, c.want)
		}
	}
	env := transcripttest.Env(t.TempDir(), nil)
	missing := filepath.Join(env.Home, "nowhere")
	env.Extra = []string{missing}
	roots := New().Roots(env)
	if last := roots[len(roots)-1]; last.Path != missing || !last.Configured {
		t.Errorf("a folder that is not there: %+v", last)
	}
}

func TestResumeArgs(t *testing.T) {
	rd := New()
	if got := rd.ResumeArgs("id"); !slices.Equal(got, []string{"cursor-agent", "--resume", "id"}) {
		t.Errorf("%q", got)
	}
	if got := rd.ResumeArgs("id#agent-x"); got != nil {
		t.Errorf("a sub-agent: %q", got)
	}
}

func TestResumeFolder(t *testing.T) {
	path := filepath.Join("/home/dev/.cursor/chats", hashOf("/w/second"), "id", "store.db")
	for _, c := range []struct {
		cwd  string
		cwds []string
		want string
	}{{"/w/second", nil, "/w/second"}, {"/w/first", []string{"/w/x", "/w/second"}, "/w/second"}, {"/w/first", []string{"/w/x"}, "/w/first"}, {"", nil, ""}} {
		h := transcript.Header{CWD: c.cwd, CWDs: c.cwds}
		if got := (&reader{}).ResumeFolder(path, &h); got != c.want {
			t.Errorf("%q %q: %q, want %q", c.cwd, c.cwds, got, c.want)
		}
	}
}

// One conversation in several places is read from where most of it is.
func TestCopies(t *testing.T) {
	home := transcripttest.Home(t, samples)
	env := transcripttest.Env(home, nil)
	const both, lost = "7a6b5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d", "51d1e000-1111-4222-8333-444455556606"
	scripts := ".cursor/projects/home-dev-work-tidewatch/agent-transcripts/"
	format := func(id string) string {
		t.Helper()
		s := read(t, env)[id]
		if s == nil {
			return ""
		}
		return s.Format
	}
	if a, b := format(both), format(lost); a != formatStore || b != formatLines {
		t.Errorf("%s, %s", a, b)
	}
	remove := func(rel string) {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(home, filepath.FromSlash(rel))); err != nil {
			t.Fatal(err)
		}
	}
	// Written, but nothing is in it yet.
	empty := filepath.Join(home, filepath.FromSlash(scripts+lost+"/"+lost+".jsonl"))
	if err := os.Truncate(empty, 0); err != nil {
		t.Fatal(err)
	}
	if got := format(lost); got != formatComposer {
		t.Errorf("with an empty transcript: %s", got)
	}
	if err := os.WriteFile(filepath.Join(home, filepath.FromSlash(scripts+both+".txt")), []byte("user:\nx\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	remove(".cursor/chats/629517fcab1d492cc99960f248f7573c/" + both)
	if got := format(both); got != formatLines {
		t.Errorf("without the store: %s", got)
	}
	remove(scripts + both)
	if got := format(both); got != formatText {
		t.Errorf("without the lines: %s", got)
	}
}
