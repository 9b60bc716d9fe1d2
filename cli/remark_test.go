package cli

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/sessionls/sessionls/contract"
)

// TestPointAt: the marks stand under the part of the query, whatever is before
// it and however narrow the screen is.
func TestPointAt(t *testing.T) {
	cases := []struct {
		name, before, about, after string
		width                      int
		want                       string
	}{
		{"plain", "tide ", "agent:cladue", " overflow", 80, "  tide agent:cladue overflow\n       ^^^^^^^^^^^^\n"},
		{"wide letters and emoji", "潮汐 👍🏽 ", "is:odd", "", 80, "  潮汐 👍🏽 is:odd\n          ^^^^^^\n"},
		{"two lines, an escape", "a\nb \x1b[31m", "is:odd", "\x1b[2J c", 80, "  a b is:odd c\n      ^^^^^^\n"},
		{"a long query", strings.Repeat("word ", 40), "is:odd", strings.Repeat(" word", 40), 30, "  …word word is:odd word word…\n             ^^^^^^\n"},
		{"a long part", "x ", strings.Repeat("y", 50), " z", 20, "  " + strings.Repeat("y", 17) + "…\n  " + strings.Repeat("^", 18) + "\n"},
		{"nothing to see", "", "\u200b", "", 20, "  \n  ^\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			size := func(s string) int { return len(utf16.Encode([]rune(s))) }
			d := contract.Diagnostic{Start: size(c.before), End: size(c.before) + size(c.about)}
			got := render(func(s *screen) { s.pointAt(c.before+c.about+c.after, d) }, c.width, true, false)
			if got != c.want {
				t.Errorf("got\n%s(%q)\nwant\n%s", got, got, c.want)
			}
		})
	}
	for _, d := range []contract.Diagnostic{{Start: -1, End: 2}, {Start: 2, End: 2}, {Start: 0, End: 9}} {
		if got := render(func(s *screen) { s.pointAt("query", d) }, 80, true, false); got != "" {
			t.Errorf("%+v: %q", d, got)
		}
	}
}
