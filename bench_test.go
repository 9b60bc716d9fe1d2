package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/bench"
)

// TestBench measures a small corpus with processes of its own and looks at what
// is told, not at how fast it was.
func TestBench(t *testing.T) {
	m := newMachine(t, false)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	got := m.must(t, 0, "bench", "--mb", "1", "--queries", "2")
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	var r bench.PerformanceReport
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatalf("%v:\n%s", err, got.out)
	}
	x := &r.Index
	if x.Sessions != 25 || x.Failed != 0 || x.Events < 100 { // 24, and the one that grows
		t.Errorf("%d sessions, %d failed, %d events", x.Sessions, x.Failed, x.Events)
	}
	if x.Transcripts < 1_000_000 || x.Pass.Index < 100_000 || x.PerByte <= 0 || x.MBPerS <= 0 || x.WallMs <= 0 || len(x.Sizes.Parts) < 5 {
		t.Errorf("index %+v", x)
	}
	if len(x.Phases) != 3 || x.Phases[0].Name != "look" || x.Phases[1].Name != "read" || x.Phases[2].Name != "finish" {
		t.Errorf("phases %+v", x.Phases)
	}
	if len(r.Refresh) != 3 {
		t.Errorf("refresh %+v", r.Refresh)
	}
	kinds := map[string]bool{}
	for _, k := range r.Query.Kinds {
		kinds[k.Kind] = true
		if k.Cold.N != 2 || k.Warm.N != 2 || k.Warm.P50 <= 0 || k.Warm.P50 > k.Warm.P95 || k.Warm.P95 > k.Warm.Max {
			t.Errorf("%+v", k)
		}
	}
	for _, kind := range []string{"rare word", "common word", "two words", "phrase", "prefix as typed", "CJK", "substring", "typo", "operators only", "filters", "page 10"} {
		if !kinds[kind] {
			t.Errorf("no searches of kind %s", kind)
		}
		if !strings.Contains(got.out, "  "+kind+" ") {
			t.Errorf("no row %s", kind)
		}
	}
	for _, text := range []string{"first index", "nothing changed", "one line appended", "one file", "The index: ", "Searches over LSP"} {
		if !strings.Contains(got.out, text) {
			t.Errorf("no %q in\n%s", text, got.out)
		}
	}
	for _, dir := range []string{m.home, tmp} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("it left %v in %s, %v", entries, dir, err)
		}
	}
	if _, err := os.Stat(m.own); err == nil {
		t.Error("the user's own folder was made")
	}
}

// TestBenchOnAHome reads a home that is named and changes nothing in it.
func TestBenchOnAHome(t *testing.T) {
	m := newMachine(t, true)
	before := listing(t, m.home)
	got := m.must(t, 0, "bench", "--corpus", m.home, "--rows", "index,refresh", "--json")
	var r bench.PerformanceReport
	if err := json.Unmarshal([]byte(got.out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Index.Sessions < 10 || len(r.Refresh) != 3 || r.Query != nil {
		t.Errorf("%s", got.out)
	}
	if after := listing(t, m.home); after != before {
		t.Errorf("the home was\n%s\nand is\n%s", before, after)
	}
	if got := m.run(t, "", "bench", "--corpus", m.own+"/none"); got.code != 4 || !strings.Contains(got.err, "none") {
		t.Errorf("%d %s", got.code, got.err)
	}
	empty := newMachine(t, false)
	if got := empty.run(t, "", "bench", "--corpus", empty.home, "--rows", "index"); got.code != 4 || !strings.Contains(got.err, "no session") {
		t.Errorf("%d %s", got.code, got.err)
	}
}

// listing is every file below a folder with its size and time.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&out, path, info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
