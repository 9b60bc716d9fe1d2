package exact

import (
	"context"
	"io"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/analysis"
	"github.com/sessionls/sessionls/index/transcript"
)

// wanted is the text that a scan looks for. It is safe for concurrent use.
type wanted struct {
	literal *analysis.Literal // nil for a regular expression
	regex   *regexp.Regexp
	size    int               // of its program
	must    *analysis.Literal // what stands in every match of it; nil if nothing is known to
}

func newWanted(query string, regex bool) (*wanted, error) {
	if !regex {
		return &wanted{literal: analysis.NewSubstring(query)}, nil
	}
	compiled, size, err := contract.CompilePattern(query)
	if err != nil {
		return nil, contract.InvalidParams("query", "%v", err)
	}
	w := &wanted{regex: compiled, size: size}
	if must := required(compiled.String()); utf8.RuneCountInString(must) > 1 {
		w.must = analysis.NewLiteral(must)
	}
	return w, nil
}

// required is a text that is part of every match of a pattern, "" if none is
// known.
func required(pattern string) string {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	return longestIn(tree.Simplify(), 0)
}

// maxTree is how deep a pattern is looked into.
const maxTree = 50

func longestIn(re *syntax.Regexp, depth int) (longest string) {
	if depth > maxTree {
		return ""
	}
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return longestIn(re.Sub[0], depth+1)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if s := longestIn(sub, depth+1); len(s) > len(longest) {
				longest = s
			}
		}
	}
	return longest
}

// pieceBytes is how much text is searched between two looks at the context. A
// literal passes it in a quarter of a millisecond.
const pieceBytes = 256 << 10

// holds reports whether the literal stands in an event's text, which is its
// parts with a line feed between them. A search that is ended finds nothing.
func holds(ctx context.Context, l *analysis.Literal, parts []transcript.Part) bool {
	search := l.Search()
	for i, p := range parts {
		if i > 0 && search.Feed("\n") {
			return true
		}
		for text := p.Text; len(text) > 0; {
			n := min(pieceBytes, len(text))
			for n < len(text) && !utf8.RuneStart(text[n]) {
				n++
			}
			if search.Feed(text[:n]) {
				return true
			}
			if text = text[n:]; len(text) > 0 && ctx.Err() != nil {
				return false
			}
		}
	}
	return false
}

// in reports whether an event's text holds what is wanted. A search that is
// ended finds nothing.
func (w *wanted) in(ctx context.Context, parts []transcript.Part) bool {
	if w.literal != nil {
		return holds(ctx, w.literal, parts)
	}
	if w.must != nil && !holds(ctx, w.must, parts) {
		return false
	}
	text := joined(parts)
	return text != "" && w.first(ctx, text) != nil
}

// direct is how much text the pattern is run over at once. A program takes up to
// five nanoseconds for each instruction and character.
func (w *wanted) direct() int { return min(4<<20/max(w.size, 1), pieceBytes) }

// first is the first match of the pattern, nil for none.
func (w *wanted) first(ctx context.Context, text string) []int {
	if len(text) <= w.direct() {
		return w.regex.FindStringIndex(text)
	}
	loc := w.regex.FindReaderIndex(&stoppable{ctx: ctx, text: text, every: w.direct()})
	if ctx.Err() != nil {
		return nil
	}
	return loc
}

// stoppable reads a text until the context ends.
type stoppable struct {
	ctx       context.Context
	text      string
	at, since int
	every     int // bytes between two looks at the context
}

// ReadRune implements io.RuneReader.
func (s *stoppable) ReadRune() (r rune, size int, err error) {
	if s.at >= len(s.text) {
		return 0, 0, io.EOF
	}
	if s.at-s.since >= s.every {
		s.since = s.at
		if s.ctx.Err() != nil {
			return 0, 0, io.EOF
		}
	}
	if c := s.text[s.at]; c < utf8.RuneSelf {
		s.at++
		return rune(c), 1, nil
	}
	r, size = utf8.DecodeRuneInString(s.text[s.at:])
	s.at += size
	return r, size, nil
}

// around is how much text after the first match is searched for more to mark.
const around = 4 << 10

// maxMarks is how many matches are marked at most.
const maxMarks = 100

// spans are the first matches in a text that holds what is wanted, for the
// snippet.
func (w *wanted) spans(ctx context.Context, text string) []analysis.Span {
	if w.literal != nil {
		first := w.literal.Find(text, 1)
		if len(first) == 0 {
			return nil
		}
		from := first[0].Start
		end := min(len(text), first[0].End+around)
		spans := w.literal.Find(text[from:end], maxMarks)
		for i := range spans {
			spans[i].Start += from
			spans[i].End += from
		}
		return spans
	}
	all := [][]int{w.first(ctx, text)}
	if len(text) <= min(around, w.direct()) {
		all = w.regex.FindAllStringIndex(text, maxMarks)
	}
	var spans []analysis.Span
	for _, loc := range all {
		if len(loc) == 2 && loc[0] < loc[1] {
			spans = append(spans, analysis.Span{Start: loc[0], End: loc[1]})
		}
	}
	return spans
}
