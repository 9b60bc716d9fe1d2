package query_test

import (
	"fmt"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/transcript"
)

// TestBeginningsInLargeIndex: what is being typed is completed in tool text, too, however
// short it is and however many words begin so; only the rows that are looked at have a bound, and the
// answer says when it was reached.
func TestBeginningsInLargeIndex(t *testing.T) {
	tools := storetest.Session{Header: transcript.Header{SessionID: "s", Title: "zz"}}
	for i := range 20_100 {
		tools.Events = append(tools.Events, storetest.Say("tool", fmt.Sprintf("drum%da drum%[1]db drum%[1]dc tuba%[1]da tuba%[1]db tuba%[1]dc", i)))
	}
	tools.Events = append(tools.Events, storetest.Say("tool", "a quail, an oboe"))
	talk := storetest.Session{Header: transcript.Header{SessionID: "t", Title: "yy"}, Events: []transcript.Event{storetest.Say("user", "a drummer with oboes")}}
	path := storetest.Path(t)
	storetest.Build(t, path, tools, talk)
	r := storetest.Open(t, path)
	for _, tt := range []struct {
		query       string
		sort        contract.Sort
		sessions    int
		approximate bool
	}{
		{"q", contract.SortRelevance, 1, false},
		{"qu", contract.SortRelevance, 1, false},
		{"qu", contract.SortNewest, 1, false},
		{"qua", contract.SortRelevance, 1, false},
		{"obo", contract.SortRelevance, 2, false},
		{"dru", contract.SortRelevance, 2, true}, // more rows than are looked at
		{"dru", contract.SortNewest, 2, false},
		{"drum77", contract.SortRelevance, 1, false},
		{"tub", contract.SortRelevance, 1, true},
		{"tub", contract.SortNewest, 1, false},
	} {
		req := contract.NewSearchSessionsRequest(tt.query)
		req.Filters.Sort = tt.sort
		res := ask(t, r, req).Results
		if res.Total.Sessions != tt.sessions || res.Total.Exact == tt.approximate || res.Truncated.Candidates != tt.approximate {
			t.Errorf("%s by %s: total %+v, truncated %+v", tt.query, tt.sort, res.Total, res.Truncated)
		}
	}
}
