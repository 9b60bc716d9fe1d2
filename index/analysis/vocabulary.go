package analysis

import "unicode/utf8"

// InVocabulary reports whether a term is one that other spellings are proposed
// from: a word or identifier of an alphabetic script, two characters at least,
// that a person may have meant. Left out are characters of unspaced scripts
// and emoji, which are found by any part of them anyway, terms that are no text (marks, c++), and what
// looks generated: digits of 6 and more, hex and base64 (matching.md rule 11).
// Half of the distinct terms of a large index are of that last kind.
func InVocabulary(term []byte) bool {
	var digits, hex, changes int
	before := classSep
	for i, c := range term {
		k := byteClass[c]
		switch k {
		case classHigh:
			return utf8.Valid(term[i:]) && alphabetic(term[i:])
		case classDigit:
			digits++
			hex++
		case classLower:
			if c <= 'f' {
				hex++
			}
		default:
			return false
		}
		if i > 0 && k != before {
			changes++
		}
		before = k
	}
	n := len(term)
	switch {
	case n < 2, digits == n && n >= 6:
		return false
	case hex == n && n >= 8 && changes >= 2, hex == n && digits > 0 && n >= 12:
		return false
	}
	return n < 20 || changes < 4
}

// alphabetic reports whether a term, given from its first character that is not
// ASCII, is of a script with words.
func alphabetic(term []byte) bool {
	r, _ := utf8.DecodeRune(term)
	return describe(r).class.word() && utf8.RuneCount(term) > 1
}

// Spelt reports whether a term is spelt with letters or digits of a script with
// words, so that it may be misspelt or part of another.
func Spelt(term string) bool {
	r, size := utf8.DecodeRuneInString(term)
	if size == 1 {
		return byteClass[term[0]].word()
	}
	return size > 1 && r != utf8.RuneError && describe(r).class.word()
}
