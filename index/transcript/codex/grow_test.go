package codex_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/codex"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

// Every sample read in random steps, also inside a character, gives what one
// reading gives.
func TestGrowth(t *testing.T) {
	dir := transcripttest.Home(t, samples)
	err := filepath.WalkDir(filepath.Join(dir, ".codex"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(d.Name(), "rollout-") || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		if strings.Contains(path, "000000005678") {
			return nil // no session
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		continued := 0
		for seed := range uint64(4) {
			continued += transcripttest.Grows(t, codex.New(), dir, filepath.ToSlash(rel), transcripttest.Steps(seed, 60, 900))
		}
		if continued == 0 {
			t.Errorf("%s was never continued", rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestGrowthInsideCharacters(t *testing.T) {
	text := metaLine(idA)
	for i := range 40 {
		text += userLine(fmt.Sprintf("größe 潮汐 🌊 %d", i)) + line("event_msg", fmt.Sprintf(`{"type":"user_message","message":"größe 潮汐 🌊 %d"}`, i)) + answerLine(fmt.Sprintf("réponse %d", i))
	}
	home := transcripttest.Write(t, map[string]string{name(idA): text})
	steps := make([]int, 0, 400)
	for range 400 {
		steps = append(steps, 37)
	}
	if n := transcripttest.Grows(t, codex.New(), home, name(idA), steps); n < 300 {
		t.Errorf("%d continued readings of 400", n)
	}
}

// step reads a file, appends to it and reads on.
func step(t *testing.T, before, after string) (cp *transcript.Checkpoint, err error) {
	t.Helper()
	home := transcripttest.Write(t, map[string]string{name(idA): before})
	rd, env := codex.New(), transcripttest.Env(home, nil)
	src := transcripttest.Sources(t, rd, env)[0]
	_, cp, err = transcripttest.ReadAll(t, rd, env, src)
	if err != nil {
		t.Fatal(err)
	}
	if cp.State == nil {
		t.Fatal("no carry-over")
	}
	if err := os.WriteFile(src.Path, []byte(before+after), 0o644); err != nil {
		t.Fatal(err)
	}
	rec := transcripttest.NewRecorder(t)
	rec.Sessions[idA] = &transcripttest.Session{Events: make([]transcript.Event, strings.Count(before, "\n"))}
	return rd.Read(context.Background(), env, transcripttest.Sources(t, rd, env)[0], cp, rec)
}

func TestAppendedRecordsThatChangeEarlierOnes(t *testing.T) {
	before := metaLine(idA) + userLine("one") + answerLine("two") + line("event_msg", `{"type":"agent_message","message":"late twin"}`)
	for _, c := range []struct {
		name, after string
		reread      bool
	}{
		{"message", userLine("three"), false},
		{"title", line("event_msg", `{"type":"thread_name_updated","thread_name":"x"}`), false},
		{"nothing rolled back", line("event_msg", `{"type":"thread_rolled_back","num_turns":0}`), false},
		{"rollback", line("event_msg", `{"type":"thread_rolled_back","num_turns":1}`), true},
		{"compaction", line("compacted", `{"message":"m"}`), true},
		{"item of an event already told", answerLine("late twin"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := step(t, before, c.after)
			if c.reread != errors.Is(err, transcript.ErrReread) || !c.reread && err != nil {
				t.Errorf("error %v, reread wanted: %v", err, c.reread)
			}
		})
	}
}

func childLines(child, parent string) string {
	return line("session_meta", `{"id":"`+child+`","cwd":"/w","source":"cli","forked_from_id":"`+parent+`"}`) + metaLine(parent) +
		turnLine("t1") + userLine("asked before") + answerLine("said before") + turnLine("t2") + userLine("asked later")
}

func turnLine(id string) string {
	return line("turn_context", `{"turn_id":"`+id+`","cwd":"/w","model":"m"}`)
}

// A fork whose parent's file turns up later is read anew; then the copied part
// is known. The parent may be packed, archived, or in another day's folder.
func TestParentTurnsUp(t *testing.T) {
	parent := metaLine(idA) + turnLine("t1") + userLine("asked before") + answerLine("said before") + turnLine("t9")
	for _, place := range []string{name(idA), name(idA) + ".zst", ".codex/archived_sessions/rollout-x-" + idA + ".jsonl", ".codex/sessions/2025/12/31/rollout-x-" + idA + ".jsonl"} {
		home := transcripttest.Write(t, map[string]string{name(idB): childLines(idB, idA)})
		rd, env := codex.New(), transcripttest.Env(home, nil)
		src := transcripttest.Sources(t, rd, env)[0]
		sessions, cp, err := transcripttest.ReadAll(t, rd, env, src)
		if err != nil {
			t.Fatal(err)
		}
		if s := sessions[idB]; s.InheritedKnown || s.InheritedCount != 1 || s.MessageCount != 3 || s.Relation != transcript.RelationFork || s.ParentID != idA {
			t.Errorf("without parent: %+v", s.Header)
		}
		text := parent
		if strings.HasSuffix(place, ".zst") {
			text = pack(t, parent, false)
		}
		path := filepath.Join(home, filepath.FromSlash(place))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := rd.Read(context.Background(), env, src, cp, transcripttest.NewRecorder(t)); !errors.Is(err, transcript.ErrReread) {
			t.Errorf("%s: error %v, want ErrReread", place, err)
		}
		sessions, _, err = transcripttest.ReadAll(t, rd, env, src)
		if err != nil {
			t.Fatal(err)
		}
		s := sessions[idB]
		if !s.InheritedKnown || s.InheritedCount != 4 || s.MessageCount != 1 || s.Title != "asked later" {
			t.Errorf("%s: with parent: %+v", place, s.Header)
		}
		if s.Events[0].Inherited || !s.Events[4].Inherited || s.Events[5].Inherited {
			t.Errorf("%s: the copy ends before the first own turn", place)
		}
	}
}

// Titles: the thread's name beats the prompt; of two names the newer one holds;
// a title of the state database that repeats the prompt is no name.
func TestTitles(t *testing.T) {
	const prompt = "tidy the gull parser and its tests"
	schema := "CREATE TABLE threads (id TEXT PRIMARY KEY, title TEXT NOT NULL, first_user_message TEXT);"
	row := func(title string) string {
		return schema + "INSERT INTO threads VALUES ('" + idA + "','" + title + "','x');"
	}
	index := func(name, at string) string {
		return `{"id":"` + idA + `","thread_name":"older","updated_at":"2026-01-01T00:00:00Z"}` + "\n" + `{"id":"` + idA + `","thread_name":"` + name + `","updated_at":"` + at + `"}` + "\n"
	}
	event := line("event_msg", `{"type":"thread_name_updated","thread_id":"`+idA+`","thread_name":"From the event"}`)
	for _, c := range []struct {
		name, extra, index, db, want string
		source                       transcript.TitleSource
	}{
		{"prompt", "", "", "", prompt, transcript.TitlePrompt},
		{"event", event, "", "", "From the event", transcript.TitleAgent},
		{"index", "", index("From the index", "2026-02-01T00:00:00Z"), "", "From the index", transcript.TitleAgent},
		{"event newer than index", event, index("From the index", "2026-02-01T00:00:00Z"), "", "From the event", transcript.TitleAgent},
		{"index newer than event", event, index("From the index", "2026-04-01T00:00:00Z"), "", "From the index", transcript.TitleAgent},
		{"database", event, index("From the index", "2026-04-01T00:00:00Z"), row("From the database"), "From the database", transcript.TitleAgent},
		{"database repeats the prompt", event, "", row("tidy the gull parser"), "From the event", transcript.TitleAgent},
		{"database repeats the prompt, no name", "", "", row("tidy the gull parser"), prompt, transcript.TitlePrompt},
		{"database of another thread", "", "", schema, prompt, transcript.TitlePrompt},
		{"database without the table", "", "", "CREATE TABLE other (x)", prompt, transcript.TitlePrompt},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{name(idA): metaLine(idA) + userLine("# AGENTS.md instructions for /w\\n\\n<INSTRUCTIONS>x</INSTRUCTIONS>") + userLine(prompt) + c.extra}
			if c.index != "" {
				files[".codex/session_index.jsonl"] = c.index
			}
			home := transcripttest.Write(t, files)
			if c.db != "" {
				transcripttest.Database(t, filepath.Join(home, ".codex", "state_5.sqlite"), row("From an older schema"))
				transcripttest.Database(t, filepath.Join(home, ".codex", "state_12.sqlite"), c.db)
			}
			s, _ := readFrom(t, home)
			if s.Title != c.want || s.TitleSource != c.source {
				t.Errorf("title %q (%s), want %q (%s)", s.Title, s.TitleSource, c.want, c.source)
			}
		})
	}
}

// A new name changes the signature, and reading on gives the new title without
// an event more.
func TestRenamed(t *testing.T) {
	home := transcripttest.Write(t, map[string]string{name(idA): metaLine(idA) + userLine("one")})
	rd, env := codex.New(), transcripttest.Env(home, nil)
	before := transcripttest.Sources(t, rd, env)[0]
	_, cp, err := transcripttest.ReadAll(t, rd, env, before)
	if err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(home, ".codex", "state_5.sqlite")
	transcripttest.Database(t, db, "CREATE TABLE threads (id TEXT, title TEXT); INSERT INTO threads VALUES ('"+idA+"', 'Renamed');")
	after := transcripttest.Sources(t, rd, env)[0]
	if after.Signature == before.Signature {
		t.Error("the signature did not change with the title")
	}
	rec := transcripttest.NewRecorder(t)
	if _, err := rd.Read(context.Background(), env, after, cp, rec); err != nil {
		t.Fatal(err)
	}
	if s := rec.Sessions[idA]; s == nil || s.Title != "Renamed" || len(s.Events) != 0 || s.MessageCount != 1 {
		t.Errorf("%+v", s)
	}
	if again := transcripttest.Sources(t, rd, env)[0]; again.Signature != after.Signature {
		t.Error("the signature changes without a cause")
	}
}

func TestDamagedStateDatabase(t *testing.T) {
	home := transcripttest.Write(t, map[string]string{name(idA): metaLine(idA) + userLine("one"), ".codex/state_5.sqlite": strings.Repeat("no database ", 500)})
	rd, env := codex.New(), transcripttest.Env(home, nil)
	var sources, reports int
	err := rd.Discover(context.Background(), env, rd.Roots(env)[0], func(transcript.Source) error { sources++; return nil }, func(string, error) { reports++ })
	if err != nil || sources != 1 || reports != 1 {
		t.Errorf("%d sources, %d reports, %v", sources, reports, err)
	}
}

func TestSQLiteHome(t *testing.T) {
	for _, how := range []string{"env", "config", "relative config"} {
		home := transcripttest.Write(t, map[string]string{name(idA): metaLine(idA) + userLine("one")})
		vars, dir := map[string]string{}, t.TempDir()
		config := ""
		switch how {
		case "env":
			vars["CODEX_SQLITE_HOME"] = dir
		case "config":
			config = fmt.Sprintf("model = \"x\"\nsqlite_home = %q\n", dir)
		case "relative config":
			dir = filepath.Join(home, ".codex", "db")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			config = "sqlite_home = \"db\"\n"
		}
		if config != "" {
			if err := os.WriteFile(filepath.Join(home, ".codex", "config.toml"), []byte(config), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		transcripttest.Database(t, filepath.Join(dir, "state_1.sqlite"), "CREATE TABLE threads (id TEXT, title TEXT); INSERT INTO threads VALUES ('"+idA+"', 'Named');")
		rd, env := codex.New(), transcripttest.Env(home, vars)
		sessions, _, err := transcripttest.ReadAll(t, rd, env, transcripttest.Sources(t, rd, env)[0])
		if err != nil || sessions[idA].Title != "Named" {
			t.Errorf("%s: %v, %v", how, sessions[idA], err)
		}
	}
}

// Nothing of the agent's is touched, and a linked folder is walked once.
func TestDiscoveryLeavesNoTrace(t *testing.T) {
	home := transcripttest.Home(t, samples)
	codexHome := filepath.Join(home, ".codex")
	if err := os.Symlink(filepath.Join(codexHome, "sessions"), filepath.Join(codexHome, "sessions", "loop")); err != nil {
		t.Skip("no symlinks here")
	}
	list := func() (names []string) {
		err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
			names = append(names, path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	before := list()
	rd, env := codex.New(), transcripttest.Env(home, nil)
	seen := map[string]bool{}
	for _, s := range transcripttest.Sources(t, rd, env) {
		if seen[s.SessionID] {
			t.Errorf("%s found twice", s.Path)
		}
		seen[s.SessionID] = true
	}
	if after := list(); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("files before %v, after %v", before, after)
	}
}

func TestPipeIsNoTranscript(t *testing.T) {
	home := transcripttest.Write(t, map[string]string{name(idA): metaLine(idA) + userLine("one")})
	if err := os.Symlink("/dev/zero", filepath.Join(home, ".codex", "sessions", "rollout-x-"+idB+".jsonl")); err != nil {
		t.Skip("no symlinks here")
	}
	if s, _ := readFrom(t, home); s.SessionID != idA {
		t.Error(s.SessionID)
	}
}

func FuzzRead(f *testing.F) {
	err := filepath.WalkDir(samples, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		text, err := os.ReadFile(path)
		f.Add(text)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(childLines(idA, idB) + line("event_msg", `{"type":"thread_rolled_back","num_turns":"99"}`)))
	f.Add([]byte(line("compacted", `{"message":{},"replacement_history":7}`) + userLine("x")))
	f.Fuzz(func(t *testing.T, data []byte) {
		transcripttest.Damaged(t, codex.New(), name(idA), data)
	})
}
