package query_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/sessionls/sessionls/index/store/storetest"
)

// TestDiagnostics: what of a query was not understood, where it stands in UTF-16
// code units, and what is known instead. The rest of the query is answered.
func TestDiagnostics(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("s", "a needle"))
	r := storetest.Open(t, path)
	cases := []struct {
		query string
		at    string // what the remark is about, "" for no remark
		says  []string
	}{
		{`needle agent:cladue`, `agent:cladue`, []string{"agent:cladue is unknown", "did you mean agent:claude?", "codex"}},
		{`needle agent:zzz`, `agent:zzz`, []string{"agent:zzz is unknown. Known: ", "claude"}},
		{`needle agent:claude,cladue`, `agent:claude,cladue`, []string{"agent:cladue is unknown", "agent:claude?"}},
		{`needle agnet:claude`, `agnet:claude`, []string{"unknown operator agnet:", "agent:?", "branch:", "not:"}},
		{`needle rloe:user`, `rloe:user`, []string{"role:?"}},
		{`🚀 needle role:robot`, `role:robot`, []string{"role:robot is unknown", "user, assistant, tool, system, unknown"}},
		{`needle is:sub-agent`, `is:sub-agent`, []string{"is:subagent?", "continuation"}},
		{`needle is:"sub agent" `, `is:"sub agent"`, []string{"is:sub agent is unknown", "is:subagent?"}},
		{`重 since:soon needle`, `since:soon`, []string{"since:soon is no time", "7d", "2026-11-01"}},
		{`needle until:2026-13-01`, `until:2026-13-01`, []string{"is no time"}},
		{`needle not:***`, `not:***`, []string{"has no word in it"}},
		{`needle agent:`, ``, nil}, // a blank operand is dropped
		{`needle https://x`, ``, nil},
		{`needle foo::bar`, ``, nil},
		{`needle status:500`, ``, nil},
		{`needle "half`, ``, nil},
		{`needle agent:claude role:user not:thread`, ``, nil},
		{strings.Repeat("needle ", 48) + "one two", "one two", []string{"From here on the query was not used", "48 words"}},
		{strings.Repeat("needle ", 48) + `"one two" x`, `"one two" x`, []string{"48 words"}},
		{"needle " + strings.Repeat("🚀", 505) + "x y", "x y", []string{"512 characters"}},
	}
	for _, c := range cases {
		t.Run(c.query[max(0, len(c.query)-24):], func(t *testing.T) {
			res := search(t, r, c.query)
			if len(res.Hits) != 1 && !strings.Contains(c.query, "not:thread") && !strings.Contains(c.query, "::") && len(c.says) > 0 {
				t.Errorf("the rest of the query found %d sessions", len(res.Hits))
			}
			if c.at == "" {
				if len(res.Diagnostics) > 0 {
					t.Errorf("remarks %+v", res.Diagnostics)
				}
				return
			}
			if len(res.Diagnostics) != 1 {
				t.Fatalf("remarks %+v", res.Diagnostics)
			}
			d := res.Diagnostics[0]
			units := utf16.Encode([]rune(c.query))
			if got := string(utf16.Decode(units[d.Start:d.End])); got != c.at {
				t.Errorf("about %q, want %q", got, c.at)
			}
			for _, part := range c.says {
				if !strings.Contains(d.Message, part) {
					t.Errorf("%q does not say %q", d.Message, part)
				}
			}
		})
	}
}
