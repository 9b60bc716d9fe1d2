package query

import (
	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/analysis"
)

// Excerpt is the snippet of a text around the first of the spans, in which all
// that are shown are marked; without spans it is the text's beginning. shortened
// says that there is more text.
func Excerpt(text string, spans []analysis.Span) (snippet string, marks contract.List[contract.Mark], shortened bool) {
	var s search
	var ev contract.Evidence
	v := view{texts: []searched{{text: text, spans: spans}}, parts: []stretch{{}}}
	if len(spans) > 0 {
		v.parts[0] = stretch{from: spans[0].Start, to: spans[0].End}
	}
	s.cut(&ev, v)
	return ev.Snippet, ev.Marks, s.shortened > 0
}
