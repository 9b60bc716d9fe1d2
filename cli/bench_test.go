package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/bench/report"
)

// fakeBench measures nothing.
type fakeBench struct{ scenario string }

type fakeMeasured struct {
	Bench string `json:"bench"`
}

func (fakeMeasured) Tables() []report.Table {
	t := report.Table{Title: "Figures", Columns: []string{"kind", "n"}}
	t.Add("word", "1")
	return []report.Table{t, t}
}

func (b fakeBench) measure(what string, tell Tell) (Measured, error) {
	if b.scenario == "broken" {
		return nil, errors.New("disk I/O error")
	}
	tell(what, 1, 2)
	tell(what, 2, 2) // the same step: not a line of its own
	return fakeMeasured{"fake"}, nil
}

func (b fakeBench) Relevance(_ context.Context, r RelevanceBench, tell Tell) (Measured, error) {
	return b.measure(fmt.Sprintf("looking for %d needles", r.Needles), tell)
}

func (b fakeBench) Performance(_ context.Context, r PerformanceBench, tell Tell) (Measured, error) {
	return b.measure(fmt.Sprintf("measuring %d MB, rows %v", r.MB, r.Rows), tell)
}

func (b fakeBench) Pass(context.Context, string, string) (any, error) { return 1, nil }

// TestBenchPrintsTablesAndALine: the last line is JSON, and with --json there is
// no other.
func TestBenchPrintsTablesAndALine(t *testing.T) {
	for _, command := range [][]string{{"bench"}, {"bench", "relevance"}} {
		got := run("ok", command...)
		lines := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
		if len(lines) != 9 || lines[0] != "Figures" || lines[2] != "  word  1" || !json.Valid([]byte(lines[8])) {
			t.Errorf("%q:\n%s", command, got.out)
		}
		if strings.Count(got.err, "\n") != 1 {
			t.Errorf("%q told:\n%s", command, got.err)
		}
		only := run("ok", append(command, "--json")...)
		if only.out != lines[8]+"\n" || only.out != "{\"bench\":\"fake\"}\n" {
			t.Errorf("%q --json: %q", command, only.out)
		}
	}
}
