package analysis

import (
	"unicode"
	"unicode/utf8"
)

// Literal is a text to be found character by character, where only case and the amount of white
// space do not matter. It ranks exact matches of a phrase, which the index knows by its terms alone.
// It is safe for concurrent use.
type Literal struct {
	runes []rune
	back  []int32 // by length of a partial match: the longest shorter one that it ends with
}

// NewLiteral compiles s. White space around it does not count.
func NewLiteral(s string) *Literal {
	l := &Literal{}
	for i := 0; i < len(s); {
		r, size := literalRune(s[i:])
		i += size
		if r != ' ' || len(l.runes) > 0 && l.runes[len(l.runes)-1] != ' ' {
			l.runes = append(l.runes, r)
		}
	}
	if n := len(l.runes); n > 0 && l.runes[n-1] == ' ' {
		l.runes = l.runes[:n-1]
	}
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
	if len(l.runes) == 0 {
		return false
	}
	n := int32(0)
	space := false
	for i := 0; i < len(text); {
		r, size := literalRune(text[i:])
		i += size
		if r == ' ' && space {
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
			return true
		}
	}
	return false
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
	}
	return unicode.ToLower(unicode.ToUpper(r)), size
}
