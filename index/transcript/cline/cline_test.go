package cline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const samples = "../../../testdata/home/cline"

func TestGolden(t *testing.T) {
	transcripttest.Golden(t, New(), transcripttest.Home(t, samples), "../../../testdata/golden/cline.txt")
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
		want       []string // some of them, relative to home
	}{
		{"linux", "linux", nil, []string{"sessions .cline/data/sessions", "storage .cline/data", "user .config/Code/User", "user .config/VSCodium/User", "user .config/Cursor/User", "user .vscode-server/data/User", "user .var/app/com.visualstudio.code/config/Code/User"}},
		{"mac", "darwin", map[string]string{"XDG_CONFIG_HOME": "/xdg"}, []string{"sessions .cline/data/sessions", "user Library/Application Support/Code/User", "user Library/Application Support/Windsurf/User"}},
		{"windows", "windows", map[string]string{"APPDATA": "/roaming"}, []string{"sessions .cline/data/sessions", "user /roaming/Code/User", "user /roaming/Code - Insiders/User"}},
		{"windows, usual", "windows", nil, []string{"user AppData/Roaming/Code/User"}},
		{"editors moved", "linux", map[string]string{"XDG_CONFIG_HOME": "/xdg", "VSCODE_PORTABLE": "/stick"}, []string{"user /xdg/Code/User", "user /stick/user-data/User"}},
		{"moved", "linux", map[string]string{"CLINE_DIR": "/c"}, []string{"sessions /c/data/sessions", "storage /c/data"}},
		{"data moved", "linux", map[string]string{"CLINE_DIR": "/c", "CLINE_DATA_DIR": "/d"}, []string{"sessions /d/sessions", "storage /d"}},
		{"sessions moved", "linux", map[string]string{"CLINE_DIR": "/c", "CLINE_SESSION_DATA_DIR": "/s"}, []string{"sessions /s", "storage /c/data"}},
		{"relative, empty", "linux", map[string]string{"CLINE_DIR": "c", "CLINE_DATA_DIR": "", "CLINE_SESSION_DATA_DIR": "./s"}, []string{"sessions .cline/data/sessions", "storage .cline/data"}},
	} {
		env := transcripttest.Env(home, c.vars)
		env.GOOS = c.goos
		var got []string
		kinds := map[string]int{}
		for _, r := range New().Roots(env) {
			kinds[r.Kind]++
			got = append(got, r.Kind+" "+filepath.ToSlash(strings.TrimPrefix(r.Path, home+string(filepath.Separator))))
			if r.Configured {
				t.Errorf("%s: %+v is not configured", c.name, r)
			}
		}
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no %q in %q", c.name, want, got)
			}
		}
		if kinds[kindSessions] != 1 || kinds[kindStorage] != 1 {
			t.Errorf("%s: %v", c.name, kinds)
		}
	}
}

// A person may name any of the folders on the way.
func TestConfiguredRoots(t *testing.T) {
	home := transcripttest.Home(t, samples)
	all := len(transcripttest.Sources(t, New(), transcripttest.Env(home, nil)))
	storage := filepath.Join(home, ".config", "Code", "User", "globalStorage", "saoudrizwan.claude-dev")
	for _, c := range []struct {
		dir  string
		want int
	}{
		{home, all}, {filepath.Join(home, ".cline"), 5}, {filepath.Join(home, ".cline", "data"), 5}, {filepath.Join(home, ".cline", "data", "sessions"), 4}, {filepath.Join(home, ".cline", "data", "tasks"), 1},
		{filepath.Join(home, ".config", "Code"), 3}, {filepath.Join(home, ".config", "Code", "User"), 3}, {storage, 3}, {filepath.Join(storage, "tasks"), 3},
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

func TestResumes(t *testing.T) {
	rd := &reader{}
	if got := rd.ResumeArgs("17_x"); !slices.Equal(got, []string{"cline", "--id", "17_x"}) {
		t.Errorf("%q", got)
	}
	if got := rd.ResumeArgs("17_x#agent-y"); got != nil {
		t.Errorf("a sub-agent: %q", got)
	}
	if !rd.Resumes(formatSession) || rd.Resumes(formatTask) || rd.Resumes(formatSent) {
		t.Error("the tool knows sessions, and nothing else")
	}
	if dir := rd.ResumeFolder("", &transcript.Header{CWD: "/w", LastCWD: "/w/sub"}); dir != "/w" {
		t.Errorf("in %s", dir)
	}
}

// Sources are told by their places; what is no transcript is left alone.
func TestPlaces(t *testing.T) {
	const storage = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/"
	shown := `[{"ts":1757000000000,"type":"say","say":"task","text":"x"}]`
	home := transcripttest.Write(t, map[string]string{
		storage + "tasks/1/ui_messages.json": shown, storage + "tasks/2/claude_messages.json": shown, storage + "tasks/3/api_conversation_history.json": `[{"role":"user","content":"x"}]`,
		storage + "tasks/4/task_metadata.json": `{}`, storage + "tasks/_index.json": `[]`, storage + "tasks/.5/ui_messages.json": shown, storage + "tasks/file": "x", storage + "tasks/6/ui_messages.json/x": "x",
		storage + "settings/cline_mcp_settings.json":                                                              `{}`,
		".config/Code/User/profiles/p1/globalStorage/saoudrizwan.claude-dev/tasks/7/ui_messages.json":             shown,
		".config/Code/User/profiles/p1/profiles/p2/globalStorage/saoudrizwan.claude-dev/tasks/8/ui_messages.json": shown,
		".config/VSCodium/User/globalStorage/Saoudrizwan.Cline-Nightly/tasks/9/ui_messages.json":                  shown,
		".config/Code/User/globalStorage/somebody.else/tasks/10/ui_messages.json":                                 shown,
		".cline/data/sessions/s/s.messages.json":                                                                  `{}`, ".cline/data/sessions/s/s.compaction.json": `{}`, ".cline/data/sessions/s/.messages.json": `{}`, ".cline/data/sessions/s/a__t.messages.json": `{}`,
		".cline/data/sessions/.trash/x.messages.json": `{}`, ".cline/data/sessions/sessions.db": "x", ".cline/data/workspaces/chat/notes.json": `{}`,
	})
	var got []string
	for _, s := range transcripttest.Sources(t, New(), transcripttest.Env(home, nil)) {
		got = append(got, s.SessionID)
	}
	slices.Sort(got)
	if want := "1 2 3 7 9 s s#agent-a__t"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
}

// What the history says of other tasks is no change of this one.
func TestHistory(t *testing.T) {
	home := transcripttest.Home(t, samples)
	env := transcripttest.Env(home, nil)
	signatures := func() map[string]string {
		m := map[string]string{}
		for _, s := range transcripttest.Sources(t, New(), env) {
			m[s.SessionID] = s.Signature
		}
		return m
	}
	before := signatures()
	history := filepath.Join(home, ".config/Code/User/globalStorage/saoudrizwan.claude-dev/state/taskHistory.json")
	if err := os.WriteFile(history, []byte(`[{"id":"1757000000000","task":"`+strings.Repeat("long ", 1<<20)+`","cwdOnTaskInitialization":"/w/other","modelId":"m"},
		{"id":"1765000000000","ts":1766000000000,"cwdOnTaskInitialization":"/home/dev/work/buoyfeed","modelId":"claude-opus-4-5"},{"id":"17`), 0o600); err != nil {
		t.Fatal(err)
	}
	for id, was := range before {
		if now := signatures()[id]; (now != was) != (id == "1757000000000") {
			t.Errorf("%s: %s became %s", id, was, now)
		}
	}
}
