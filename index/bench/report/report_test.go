package report_test

import (
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/bench/report"
)

func TestTable(t *testing.T) {
	table := report.Table{Title: "Things", Columns: []string{"kind", "n", "share"}, Notes: []string{"a note"}}
	table.Add("two words", "7", "0.5")
	table.Add("ü", "1234")
	var out strings.Builder
	if err := table.Write(&out); err != nil {
		t.Fatal(err)
	}
	want := `Things
  kind          n  share
  two words     7    0.5
  ü          1234      –
  a note
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
