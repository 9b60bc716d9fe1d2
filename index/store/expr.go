package store

import "github.com/sessionls/sessionls/index/postings"

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

// Expr is a condition on rows. It is only built from terms, so that no text of a
// user is ever syntax. The zero Expr matches nothing.
type Expr = postings.Expr

// Phrase matches the terms at consecutive positions; with prefix the last one
// need only begin so.
func Phrase(terms []string, prefix bool) Expr { return postings.Phrase(terms, prefix) }

// Any matches what one of the expressions matches.
func Any(list ...Expr) Expr { return postings.Any(list...) }

// All matches what all of the expressions match; nothing if one is zero.
func All(list ...Expr) Expr { return postings.All(list...) }
