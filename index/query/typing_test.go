package query_test

import (
	"fmt"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/transcript"
)

// TestShortPrefixInLargeIndex: in a large index one or two letters being typed are
// not completed in tool text, and the answer says so; sorted by time it is exact.
func TestShortPrefixInLargeIndex(t *testing.T) {
	s := storetest.Session{Header: transcript.Header{SessionID: "s", Title: "zz"}}
	for i := range 20_100 {
		s.Events = append(s.Events, storetest.Say("tool", fmt.Sprintf("nothing %d", i)))
	}
	s.Events = append(s.Events, storetest.Say("tool", "a quail"))
	path := storetest.Path(t)
	storetest.Build(t, path, s)
	r := storetest.Open(t, path)
	for sort, want := range map[contract.Sort]int{contract.SortRelevance: 0, contract.SortNewest: 1} {
		req := contract.NewSearchSessionsRequest("qu")
		req.Filters.Sort = sort
		res := ask(t, r, req).Results
		if res.Total.Sessions != want || res.Total.Exact != (want == 1) || res.Truncated.Candidates != (want == 0) {
			t.Errorf("%s: total %+v, truncated %+v", sort, res.Total, res.Truncated)
		}
	}
}
