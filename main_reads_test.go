package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

// TestReadingOnTheCommandLine reads a session of each agent in every way: they must
// agree on its events.
func TestReadingOnTheCommandLine(t *testing.T) {
	m := newMachine(t, true)
	m.must(t, 0, "index")
	read := 0
	for _, agent := range m.status(t).Agents {
		listed := m.results(t, "--agent", agent.Agent, "--limit", "1", "--sort", "newest")
		if len(listed.Hits) == 0 {
			continue
		}
		read++
		hit := listed.Hits[0]
		name := hit.Agent + ":" + hit.SessionID

		file := filepath.Join(m.home, "export.json")
		m.must(t, 0, "export", name, "--output", file, "--force")
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var exported struct {
			Session contract.Header
			Events  []contract.EventRecord
		}
		if err := json.Unmarshal(raw, &exported); err != nil || exported.Session.SessionID != hit.SessionID || len(exported.Events) == 0 {
			t.Fatalf("%s: %v, %d events", name, err, len(exported.Events))
		}
		if out := m.must(t, 0, "export", name, "--format", "json").out; out != string(raw) {
			t.Errorf("%s: the file and standard output differ", name)
		}
		for i, e := range exported.Events {
			if e.Seq != int64(i) || len(e.Data) == 0 && !e.Synthetic {
				t.Errorf("%s: event %d: %+v", name, i, e)
			}
		}

		rows := strings.Split(strings.TrimSuffix(m.must(t, 0, "events", name, "--limit", "1000").out, "\n"), "\n")
		if len(rows) != len(exported.Events) {
			t.Errorf("%s: %d rows of %d events", name, len(rows), len(exported.Events))
		}
		for i, row := range rows[:min(len(rows), len(exported.Events))] {
			e, columns := exported.Events[i], strings.Split(row, "\t")
			if len(columns) != 7 || columns[0] != fmt.Sprint(i) || columns[2] != string(e.Surface) || columns[3] != string(e.Role) || columns[4] != e.Type {
				t.Errorf("%s: row %q of %s %s %s", name, row, e.Surface, e.Role, e.Type)
			}
		}

		markdown := m.must(t, 0, "export", name, "--tools", "full", "--thinking").out
		if !strings.HasPrefix(markdown, "# ") || strings.Contains(markdown, "\x1b") {
			t.Errorf("%s: %.200q", name, markdown)
		}
		if tree := m.must(t, 0, "trace", name).out; !strings.Contains(tree, "0\t"+string(hit.Relation)+"\t"+name+"\t") {
			t.Errorf("%s: %q", name, tree)
		}
		m.must(t, 0, "trace", name, "--event", "0")
		m.must(t, 1, "trace", name, "--event", fmt.Sprint(len(exported.Events)))

		// The folders of the samples are nowhere, so that no agent is started.
		plan := m.run(t, "", "resume", name)
		if plan.code != 0 && plan.out != "" || plan.code == 0 && plan.out == "" {
			t.Errorf("%s: exit code %d, %q", name, plan.code, plan.out)
		}
		if got := m.must(t, 4, "resume", name, "--exec"); !strings.Contains(got.err, "not continued: ") || got.out != "" {
			t.Errorf("%s: %q, %q", name, got.out, got.err)
		}
	}
	if read < 8 {
		t.Errorf("sessions of %d agents were read", read)
	}
}
