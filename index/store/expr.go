package store

import "strings"

// Columns is a set of columns of the full-text table.
type Columns uint8

// The columns, see the package comment.
const (
	ColUser Columns = 1 << iota
	ColAssistant
	ColTool
	ColHead
	ColSide
	ColToolSide
	ColMark

	// Talk is text of people and models with the sessions' heads, ToolText
	// what tools got and printed; their side columns hold joined identifiers.
	Talk     = ColUser | ColAssistant | ColHead
	ToolText = ColTool
)

var columnNames = []string{colUser, colAssistant, colTool, colHead, colSide, colToolSide, colMark}

// Expr is a full-text condition. It is only built from terms, each quoted, so
// that no text of a user is ever syntax. The zero Expr matches nothing.
type Expr struct{ s string }

// IsZero reports whether the expression matches nothing.
func (e Expr) IsZero() bool { return e.s == "" }

// Phrase matches the terms at consecutive positions in one of the columns; with
// prefix the last term need only begin so.
func Phrase(cols Columns, terms []string, prefix bool) Expr {
	if len(terms) == 0 {
		return Expr{}
	}
	var b strings.Builder
	b.WriteString("{")
	for i, name := range columnNames {
		if cols&(1<<i) != 0 {
			b.WriteString(" " + name)
		}
	}
	b.WriteString(" } : \"")
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
	return Expr{strings.Join(parts, op)}
}
