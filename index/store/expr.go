package store

import "strings"

// Stream is one of the two bodies of searchable text.
type Stream uint8

const (
	// Talk is what people and models said, with the sessions' titles, branches
	// and projects.
	Talk Stream = iota
	// ToolText is what tools got and printed.
	ToolText
)

func (s Stream) table() string {
	if s == ToolText {
		return "tool"
	}
	return "talk"
}

// Expr is a full-text condition. It is only built from terms, each quoted, so
// that no text of a user is ever syntax. The zero Expr matches nothing.
type Expr struct{ s string }

// IsZero reports whether the expression matches nothing.
func (e Expr) IsZero() bool { return e.s == "" }

// Phrase matches the terms at consecutive positions; with prefix the last one
// need only begin so.
func Phrase(terms []string, prefix bool) Expr {
	if len(terms) == 0 {
		return Expr{}
	}
	var b strings.Builder
	b.WriteByte('"')
	for i, t := range terms {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.ReplaceAll(t, `"`, `""`))
	}
	b.WriteByte('"')
	if prefix {
		b.WriteString(" *")
	}
	return Expr{b.String()}
}

// Any matches what one of the expressions matches.
func Any(list ...Expr) Expr { return join(list, " OR ", false) }

// All matches what all of the expressions match; nothing if one is zero.
func All(list ...Expr) Expr { return join(list, " AND ", true) }

func join(list []Expr, op string, all bool) Expr {
	var parts []string
	for _, e := range list {
		if e.s == "" {
			if all {
				return Expr{}
			}
			continue
		}
		parts = append(parts, "("+e.s+")")
	}
	switch len(parts) {
	case 0:
		return Expr{}
	case 1:
		return Expr{parts[0][1 : len(parts[0])-1]}
	}
	return Expr{halved(parts, op)}
}

// halved joins the parts of a long list in halves: FTS5 copies what stands to the
// left of each operator, so that one after the other would take minutes for tens
// of thousands.
func halved(parts []string, op string) string {
	if len(parts) <= 32 {
		return strings.Join(parts, op)
	}
	half := len(parts) / 2
	return "(" + halved(parts[:half], op) + ")" + op + "(" + halved(parts[half:], op) + ")"
}
