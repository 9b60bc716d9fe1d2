package contract

import (
	"strings"
	"unicode/utf8"
)

// Piece is a part of a snippet.
type Piece struct {
	Text   string
	Marked bool
}

// The brackets around a mark in a snippet.
const (
	markOpen  = "[["
	markClose = "]]"
)

// Pieces divides the snippet at its marks and takes the brackets around them
// away. Marks that do not fit the snippet are ignored.
func (e *Evidence) Pieces() []Piece {
	var out []Piece
	snippet := e.Snippet
	at := 0 // byte offset of what is not yet in out
	offsets := newUTF16Index(snippet)
	for _, m := range e.Marks {
		start, end := offsets.byteOffset(m[0]), offsets.byteOffset(m[1])
		if start < at || end <= start {
			continue
		}
		before, inside := snippet[at:start], snippet[start:end]
		next := end
		if strings.HasSuffix(before, markOpen) && strings.HasPrefix(snippet[end:], markClose) {
			before = strings.TrimSuffix(before, markOpen)
			next = end + len(markClose)
		}
		out = append(out, Piece{Text: before}, Piece{Text: inside, Marked: true})
		at = next
	}
	return append(out, Piece{Text: snippet[at:]})
}

// utf16Index finds byte offsets of offsets in UTF-16 code units, asked for in
// ascending order.
type utf16Index struct {
	s           string
	bytes, unit int
}

func newUTF16Index(s string) *utf16Index { return &utf16Index{s: s} }

// byteOffset is -1 for an offset that lies before an earlier one, outside the
// string or within a character.
func (x *utf16Index) byteOffset(unit int) int {
	if unit < x.unit {
		return -1
	}
	for x.unit < unit && x.bytes < len(x.s) {
		r, n := utf8.DecodeRuneInString(x.s[x.bytes:])
		x.bytes += n
		x.unit++
		if r > 0xffff {
			x.unit++
		}
	}
	if x.unit != unit {
		return -1
	}
	return x.bytes
}
