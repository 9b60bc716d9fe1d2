package corpus_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/bench/corpus"
)

func write(t *testing.T, c corpus.Config) (home string, truth *corpus.Truth) {
	t.Helper()
	home = t.TempDir()
	truth, err := corpus.Write(context.Background(), home, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return home, truth
}

// hash is one of all files' names, times and contents.
func hash(t *testing.T, home string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(home, path)
		fmt.Fprintf(h, "%s %d %x\n", rel, info.ModTime().UnixMilli(), sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestSameSeedSameBytes(t *testing.T) {
	config := corpus.Config{Seed: 7, Bytes: corpus.MinBytes, Needles: 2}
	first, truth := write(t, config)
	second, again := write(t, config)
	if hash(t, first) != hash(t, second) || !reflect.DeepEqual(truth, again) {
		t.Error("the same seed gave another corpus")
	}
	config.Seed = 8
	other, _ := write(t, config)
	if hash(t, first) == hash(t, other) {
		t.Error("another seed gave the same corpus")
	}
}

// TestNeedlesStandWhereTheTruthSays: the text of each needle is in the files of
// the sessions named, and in no other session's.
func TestNeedlesStandWhereTheTruthSays(t *testing.T) {
	home, truth := write(t, corpus.Config{Seed: 1, Bytes: 4 * corpus.MinBytes, Needles: 4})
	text := map[string]string{} // of each session, as JSON
	for _, s := range truth.Sessions {
		files := []string{s.Path}
		if s.Agent == "opencode" {
			messages, err := filepath.Glob(filepath.Join(home, ".local/share/opencode/storage/message", s.ID, "*.json"))
			if err != nil || len(messages) == 0 {
				t.Fatalf("%s has no messages: %v", s.ID, err)
			}
			for _, m := range messages {
				id := strings.TrimSuffix(filepath.Base(m), ".json")
				parts, _ := filepath.Glob(filepath.Join(home, ".local/share/opencode/storage/part", id, "*.json"))
				for _, p := range parts {
					rel, _ := filepath.Rel(home, p)
					files = append(files, rel)
				}
			}
		}
		for _, f := range files {
			data, err := os.ReadFile(filepath.Join(home, f))
			if err != nil {
				t.Fatal(err)
			}
			if len(data) == 0 || strings.HasSuffix(f, ".json") && !json.Valid(data) {
				t.Errorf("%s is no JSON", f)
			}
			if strings.HasSuffix(f, ".jsonl") {
				for line := range strings.Lines(string(data)) {
					if !json.Valid([]byte(line)) {
						t.Fatalf("%s: a line is no JSON: %.200s", f, line)
					}
				}
			}
			text[s.ID] += string(data)
		}
	}
	kinds := map[string]int{}
	for _, n := range truth.Needles {
		kinds[n.Kind]++
		for id, all := range text {
			holds := true
			for part := range strings.SplitSeq(n.Text, " … ") {
				holds = holds && strings.Contains(all, part)
			}
			if want := slices.Contains(n.Expect, id); holds != want {
				t.Errorf("%s %q in %s: %v, the truth says %v", n.ID, n.Text, id, holds, want)
			}
		}
	}
	for _, kind := range corpus.Kinds() {
		if kinds[kind] == 0 {
			t.Errorf("no needle of kind %s", kind)
		}
	}
	agents := map[string]bool{}
	for _, s := range truth.Sessions {
		agents[s.Agent] = true
	}
	if len(agents) != 5 {
		t.Errorf("agents: %v", agents)
	}
	if truth.Size < 3*corpus.MinBytes || truth.Size > 12*corpus.MinBytes {
		t.Errorf("%d bytes", truth.Size)
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []corpus.Config{
		{Bytes: corpus.MinBytes - 1}, {Bytes: corpus.MaxBytes + 1}, {Bytes: -1},
		{Bytes: corpus.MinBytes, Needles: -1}, {Bytes: corpus.MinBytes, Needles: corpus.MaxNeedles + 1},
	} {
		if _, err := corpus.Write(context.Background(), t.TempDir(), c, nil); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := corpus.Write(ctx, t.TempDir(), corpus.Config{Bytes: corpus.MinBytes}, nil); err == nil {
		t.Error("it went on after the end")
	}
}

func TestReadTruth(t *testing.T) {
	for text, good := range map[string]bool{
		`{"needles":[{"id":"a","kind":"word","query":"x","expect":["s"]}]}`: true,
		`{"needles":[]}`: false,
		`{"needles":[{"id":"a","kind":"word","query":"","expect":["s"]}]}`: false,
		`{"needles":[{"id":"a","kind":"word","query":"x"}]}`:               false,
		`[]`: false, ``: false, "\x00": false,
	} {
		path := filepath.Join(t.TempDir(), "truth.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := corpus.ReadTruth(path); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := corpus.ReadTruth(t.TempDir()); err == nil {
		t.Error("a folder was taken for a truth file")
	}
	if endless := "/dev/zero"; runtime.GOOS != "windows" {
		if _, err := corpus.ReadTruth(endless); err == nil {
			t.Error("a file without end was taken for a truth file")
		}
	}
}

// TestExtend appends one whole record that follows the last one.
func TestExtend(t *testing.T) {
	home, id := t.TempDir(), "9e0a0000-0000-4000-8000-000000000001"
	if err := corpus.Filler(home, id, 1, 20_000, "hereword"); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(home, ".claude/projects/*/"+id+".jsonl"))
	if len(files) != 1 {
		t.Fatal(files)
	}
	before, _ := os.ReadFile(files[0])
	if err := corpus.Extend(home, id, "laterword", time.Unix(1_790_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	after, _ := os.ReadFile(files[0])
	added, ok := strings.CutPrefix(string(after), string(before))
	var last, record struct{ UUID, ParentUUID string }
	lines := strings.Split(strings.TrimSpace(string(before)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(added), &record); err != nil || !ok || !strings.Contains(added, "laterword") || strings.Count(added, "\n") != 1 {
		t.Fatalf("%v: %s", err, added)
	}
	if record.ParentUUID != last.UUID || record.UUID == last.UUID {
		t.Errorf("it follows %q, the last is %q", record.ParentUUID, last.UUID)
	}
	if err := corpus.Extend(home, "unknown", "x", time.Unix(0, 0)); err == nil {
		t.Error("a session that is not there was extended")
	}
}
