package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Literal is a text to be found character by character, where only case and the amount of white
// space do not matter, or case alone. It ranks exact matches of a phrase, which the index knows by
// its terms alone. It is safe for concurrent use.
type Literal struct {
	runes []rune
	// verbatim: white space is what it is, like any other character.
	verbatim bool
	back     []int32 // by length of a partial match: the longest shorter one that it ends with
	// starts are the bytes by which a character begins that may be the literal's
	// first one.
	starts [256]bool
}

// NewLiteral compiles s, any run of white space in which stands for any other. White space around
// it does not count.
func NewLiteral(s string) *Literal { return compile(s, false) }

// NewSubstring compiles s, in which white space matters. That around it does not count.
func NewSubstring(s string) *Literal { return compile(s, true) }

func compile(s string, verbatim bool) *Literal {
	l := &Literal{verbatim: verbatim}
	s = strings.TrimSpace(s)
	for i, space := 0, false; i < len(s); {
		r, size := l.rune(s[i:])
		i += size
		if !l.more(r, space) {
			l.runes = append(l.runes, r)
		}
		space = r == ' '
	}
	l.begin()
	l.back = make([]int32, len(l.runes)+1)
	for n, i := int32(0), 1; i < len(l.runes); i++ {
		for n > 0 && l.runes[i] != l.runes[n] {
			n = l.back[n]
		}
		if l.runes[i] == l.runes[n] {
			n++
		}
		l.back[i+1] = n
	}
	return l
}

// In reports whether the literal stands in text. It takes time linear in the text. An
// empty literal stands nowhere.
func (l *Literal) In(text string) bool {
	_, in := l.first(text)
	return in
}

// Find lists the places in text where the literal stands, without overlaps, at most limit of them.
func (l *Literal) Find(text string, limit int) []Span {
	var out []Span
	if len(l.runes) == 0 {
		return nil
	}
	for from := 0; len(out) < limit; {
		end, in := l.first(text[from:])
		if !in {
			break
		}
		end += from
		out = append(out, Span{Start: l.startOf(text[from:end]) + from, End: end})
		from = end
	}
	return out
}

// startOf is where the literal begins in a text that ends with it.
func (l *Literal) startOf(text string) int {
	at := len(text)
	space := false
	for n := len(l.runes); n > 0; {
		start := at - 1
		for start > 0 && at-start < utf8.UTFMax && !utf8.RuneStart(text[start]) {
			start--
		}
		r, size := l.rune(text[start:])
		if start+size != at { // invalid bytes are characters of their own
			start = at - 1
			r, _ = l.rune(text[start:])
		}
		at = start
		if l.more(r, space) {
			continue
		}
		space = r == ' '
		n--
	}
	return at
}

// first is the end of the first place where the literal stands.
func (l *Literal) first(text string) (end int, in bool) {
	s := LiteralSearch{l: l}
	if end = s.feed(text); end < 0 {
		return 0, false
	}
	return end, true
}

// LiteralSearch looks for a literal in a text that comes in pieces, each of whole characters.
type LiteralSearch struct {
	l     *Literal
	n     int32 // characters of the literal that the text so far ends with
	space bool  // white space came last: more of it is no other
}

// Search begins a search.
func (l *Literal) Search() *LiteralSearch { return &LiteralSearch{l: l} }

// Feed takes the next piece and reports whether the literal ends in it.
func (s *LiteralSearch) Feed(piece string) bool { return s.feed(piece) >= 0 }

// feed is Feed that tells where the literal ends; -1 for nowhere.
func (s *LiteralSearch) feed(text string) int {
	l := s.l
	if len(l.runes) == 0 {
		return -1
	}
	n, space := s.n, s.space
	for i := 0; i < len(text); {
		if n == 0 {
			// Nothing is begun: go on to where the literal can begin.
			for i < len(text) && !l.starts[text[i]] {
				i++
			}
			if i == len(text) {
				break
			}
			space = false // the literal does not begin with one
		}
		r, size := l.rune(text[i:])
		i += size
		if l.more(r, space) {
			continue
		}
		space = r == ' '
		for n > 0 && r != l.runes[n] {
			n = l.back[n]
		}
		if r == l.runes[n] {
			n++
		}
		if int(n) == len(l.runes) {
			s.n, s.space = 0, false
			return i
		}
	}
	s.n, s.space = n, space
	return -1
}

// begin fills in starts.
func (l *Literal) begin() {
	if len(l.runes) == 0 {
		return
	}
	first := l.runes[0]
	for c := range l.starts {
		switch {
		case c < utf8.RuneSelf:
			r, _ := l.rune(string(rune(c)))
			l.starts[c] = r == first
		case first >= utf8.RuneSelf:
			l.starts[c] = true
		default:
			l.starts[c] = strings.IndexByte(foldedStarts, byte(c)) >= 0
		}
	}
}

// foldedStarts are the first bytes of the characters beyond ASCII that fold to a
// letter of it: of ſ and the Kelvin sign.
const foldedStarts = "\xc5\xe2"

// more reports whether a character only lengthens the run of white space before it.
func (l *Literal) more(r rune, space bool) bool { return space && r == ' ' && !l.verbatim }

// rune decodes the first character of s as it is compared.
func (l *Literal) rune(s string) (rune, int) {
	r, size := literalRune(s)
	if r == ' ' && l.verbatim {
		return utf8.DecodeRuneInString(s)
	}
	return r, size
}

// literalRune decodes the first character of s and folds it: white space to a space, letters to one
// case, invalid bytes to values of their own.
func literalRune(s string) (rune, int) {
	if c := s[0]; c < utf8.RuneSelf {
		switch {
		case byteClass[c] == classUpper:
			c |= 0x20
		case '\t' <= c && c <= '\r':
			c = ' '
		}
		return rune(c), 1
	}
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1:
		return unicode.MaxRune + 1 + rune(s[0]), 1
	case unicode.IsSpace(r):
		return ' ', size
	case r == 'İ', r == 'ı':
		// Each is the other case of i in Turkish alone, and so of nothing in
		// Unicode's simple folding.
		return r, size
	}
	return unicode.ToLower(unicode.ToUpper(r)), size // as unicode.SimpleFold groups them, and faster
}
