package cli

import (
	"strings"
	"unicode/utf16"

	"github.com/rivo/uniseg"

	"github.com/sessionls/sessionls/contract"
)

// pointAt prints the query with a mark under the part that a remark is about, as
// compilers do. Of a long query the surroundings are shown.
func (s *screen) pointAt(query string, d contract.Diagnostic) {
	units := utf16.Encode([]rune(query))
	if d.Start < 0 || d.Start >= d.End || d.End > len(units) {
		return // another query's
	}
	piece := func(from, to int) string { return level(string(utf16.Decode(units[from:to]))) }
	before, about, after := piece(0, d.Start), piece(d.Start, d.End), piece(d.End, len(units))
	const margin = "  "
	room := s.width - len(margin)
	about = truncate(about, room)
	left := room - textWidth(about)
	before = truncateLeft(before, max(left-min(textWidth(after), left/2), 0))
	after = truncate(after, max(left-textWidth(before), 0))
	s.line(span{text: margin + before}, span{about, warn}, span{text: strings.TrimRight(after, " ")})
	s.line(span{margin + strings.Repeat(" ", textWidth(before)) + strings.Repeat("^", max(textWidth(about), 1)), warn})
}

// level makes s safe and shows each line break as a space; unlike cleanLine it
// keeps spaces, so that the pieces of a line still make the line.
func level(s string) string { return strings.ReplaceAll(clean(s), "\n", " ") }

// truncateLeft shortens s to at most width columns at its beginning; what was cut
// is told by "…".
func truncateLeft(s string, width int) string {
	columns := textWidth(s)
	if columns <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	state := -1
	for s != "" && columns > width-1 {
		var w int
		_, s, w, state = uniseg.FirstGraphemeClusterInString(s, state)
		columns -= w
	}
	return "…" + s
}
