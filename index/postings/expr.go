package postings

// Expr is a condition on rows. The zero Expr matches nothing.
type Expr struct {
	op    op
	list  []Expr   // of any and all
	terms []string // of phrase
	open  bool     // the last term need only begin so
}

type op uint8

const (
	opNone op = iota
	opPhrase
	opAny
	opAll
)

// IsZero reports whether the expression matches nothing.
func (e Expr) IsZero() bool { return e.op == opNone }

// Phrase matches the terms at consecutive positions; with prefix the last one
// need only begin so.
func Phrase(terms []string, prefix bool) Expr {
	if len(terms) == 0 {
		return Expr{}
	}
	return Expr{op: opPhrase, terms: terms, open: prefix}
}

// Any matches what one of the expressions matches.
func Any(list ...Expr) Expr {
	var some []Expr
	for _, e := range list {
		if !e.IsZero() {
			some = append(some, e)
		}
	}
	return join(opAny, some)
}

// All matches what all of the expressions match; nothing if one is zero.
func All(list ...Expr) Expr {
	for _, e := range list {
		if e.IsZero() {
			return Expr{}
		}
	}
	return join(opAll, append([]Expr(nil), list...))
}

func join(o op, list []Expr) Expr {
	switch len(list) {
	case 0:
		return Expr{}
	case 1:
		return list[0]
	}
	return Expr{op: o, list: list}
}
