package store

import (
	"bytes"
	"math"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
)

// rowRange is the FTS rows of one event.
type rowRange struct {
	first int64
	n     int
}

// reduceParts applies matching.md rule 11 to tool output and drops what holds
// no text.
func reduceParts(in []transcript.Part) (out []transcript.Part, reduced int64) {
	for _, p := range in {
		if p.Text == "" {
			continue
		}
		if p.Kind != transcript.Output {
			out = append(out, p)
			continue
		}
		kept, words, n := reduceOutput(p.Text)
		reduced += n
		out = append(out, transcript.Part{Kind: transcript.Output, Text: kept})
		if words != "" {
			out = append(out, transcript.Part{Kind: Words, Text: words})
		}
	}
	return out, reduced
}

// talkOf are the parts of an event that people and models said, and how many bytes the
// others have.
func talkOf(in []transcript.Part) (talk []transcript.Part, left int64) {
	for _, p := range in {
		if p.Kind == transcript.Prose {
			talk = append(talk, p)
		} else {
			left += int64(len(p.Text))
		}
	}
	return talk, left
}

// index writes the event's FTS rows: one, or several when a part is longer
// than a row. Row k holds the k-th share of each part.
func (s *Sink) index(w *sessionWriter, e *transcript.Event, parts []transcript.Part) (rowRange, error) {
	shares := make([][]string, len(parts))
	n := 0
	for i, p := range parts {
		s.t.w.analyzer.Rows(p.Text, rowBytes, rowOverlap, func(start, end int) bool {
			shares[i] = append(shares[i], p.Text[start:end])
			return true
		})
		n = max(n, len(shares[i]))
	}
	marks := eventMarks(e)
	var out rowRange
	for k := range n {
		var r ftsRow
		for i, p := range parts {
			if k < len(shares[i]) {
				s.analyse(&r, kindOf(e.Role, p.Kind), p.Kind == Words, shares[i][k])
			}
		}
		if k > 0 {
			r.kind |= kindMore
		}
		row, err := s.insert(w, &r, marks, roleCode(e.Role))
		if err != nil {
			return out, err
		}
		if k == 0 {
			out.first = row
		}
		out.n++
	}
	return out, nil
}

// ftsRow is a row while it is built: the analysed text of both tables, and the
// kinds of text it has.
type ftsRow struct {
	kind  byte
	terms int
}

// gap is a term no text has; it keeps phrases from spanning two pieces.
const gap = " | "

// analyse adds a text to the buffers of its table.
func (s *Sink) analyse(r *ftsRow, kind byte, words bool, text string) {
	buf := &s.talk
	if kind == kindTool {
		buf = &s.tool
	}
	before := r.terms
	pieces := func(yield func(string) bool) { yield(text) }
	if words {
		pieces = strings.FieldsSeq(text)
	}
	s.side = s.side[:0]
	for piece := range pieces {
		var n int
		buf.main, s.side, n = s.t.w.analyzer.Append(buf.main, s.side, piece)
		if n > 0 {
			buf.main = append(buf.main, gap...)
			r.terms += n
		}
	}
	for term := range bytes.FieldsSeq(s.side) {
		buf.side = append(append(buf.side, term...), gap...)
	}
	if r.terms > before {
		r.kind |= kind
	}
}

// analysed are the terms of a row for one table.
type analysed struct{ main, side []byte }

func (a *analysed) reset() { a.main, a.side = a.main[:0], a.side[:0] }

// Bits of a row's kind in its span.
const (
	kindUser      = 1 << 0
	kindAssistant = 1 << 1
	kindTool      = 1 << 2
	kindHead      = 1 << 3
	kindRoleShift = 4
	kindMore      = 1 << 7 // not the first row of its event
)

// kindOf is the kind of text a part of an event is.
func kindOf(role transcript.Role, kind transcript.PartKind) byte {
	switch {
	case kind != transcript.Prose:
		return kindTool
	case role == transcript.RoleUser:
		return kindUser
	}
	return kindAssistant
}

// insert writes the row that analyse has built.
func (s *Sink) insert(w *sessionWriter, r *ftsRow, marks string, role byte) (int64, error) {
	defer s.talk.reset()
	defer s.tool.reset()

	if s.last != nil && s.last != w {
		if err := s.closeSpan(s.last); err != nil {
			return 0, err
		}
	}
	s.last = w
	row, err := s.t.row()
	if err != nil {
		return 0, err
	}
	if w.spanFrom != 0 && row != w.spanFrom+int64(len(w.info)/2) {
		if err := s.closeSpan(w); err != nil {
			return 0, err
		}
	}
	if w.spanFrom == 0 {
		w.spanFrom = row
	}
	w.info = append(w.info, r.kind|role<<kindRoleShift, lengthCode(r.terms))
	if r.kind&(kindUser|kindAssistant|kindHead) != 0 {
		if err := s.t.text(Talk, row, &s.talk, marks); err != nil {
			return 0, err
		}
	}
	if r.kind&kindTool != 0 {
		if err := s.t.text(ToolText, row, &s.tool, marks); err != nil {
			return 0, err
		}
	}
	return row, nil
}

// lengthCode keeps a row's length in one byte, an eighth of a doubling a step.
func lengthCode(terms int) byte { return byte(min(255, 8*math.Log2(float64(terms+1)))) }

// eventMarks are the terms by which filters find rows: tools and types.
func eventMarks(e *transcript.Event) string {
	var b strings.Builder
	b.WriteString(MarkType(e.Type))
	for _, t := range e.Tools {
		b.WriteByte(' ')
		b.WriteString(MarkTool(t))
	}
	return b.String()
}

// MarkTool and MarkType are the terms of the mark column for a tool name and
// an event type. The leading "=" keeps them apart from all text terms.
func MarkTool(name string) string { return "=tool=" + markWord(strings.ToLower(name)) }

// MarkType is the mark of an event type; see MarkTool.
func MarkType(name string) string { return "=type=" + markWord(strings.ToLower(name)) }

func markWord(s string) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r == '"' || r == 0x7f {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
	return clip(s, 120)
}
