package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class says what a character does to the term it stands in or next to.
type class uint8

// The order matters: everything up to classMark is a character of a word, and up to classDigit
// one that an ASCII word continues with without a second look.
const (
	classLower    class = iota // letter that is not upper case, caseless scripts included
	classDigit                 // decimal digit
	classUpper                 // upper or title case letter
	classMark                  // combining mark that carries meaning (Indic vowel signs)
	classSep                   // ends a term
	classJoin                  // '_', '-' or '.': ends a term but may hold an identifier together
	classHigh                  // not ASCII: ask Analyzer.at
	classStrip                 // belongs to the character before it but is not indexed (diacritics, variation selectors, skin tones)
	classIgnore                // invisible, as if it were not there
	classBreak                 // zero width space: ends a word, but not a run of an unspaced script
	classUnspaced              // script without spaces between words
	classEmoji                 // pictograph, a term of its own
	classRegional              // half of a flag
)

func (c class) word() bool { return c <= classMark }

// byteClass classifies single bytes; bytes above 0x7f are all classHigh.
var byteClass = func() (t [256]class) {
	for i := range t {
		switch c := byte(i); {
		case 'a' <= c && c <= 'z':
			t[i] = classLower
		case 'A' <= c && c <= 'Z':
			t[i] = classUpper
		case '0' <= c && c <= '9':
			t[i] = classDigit
		case c == '_' || c == '-' || c == '.':
			t[i] = classJoin
		case c >= utf8.RuneSelf:
			t[i] = classHigh
		default:
			t[i] = classSep
		}
	}
	return t
}()

// glyph is what is known about one character that is not ASCII.
type glyph struct {
	r     rune
	class class
	comb  bool   // composes with what stands next to it: the term must be brought into normal form
	out   string // what is indexed in its place
}

// unspacedScripts are the scripts indexed as pairs of characters.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Yi,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// strippedMarks are the combining marks that are diacritics of alphabetic scripts: a reader expects
// the word to be found without them. Marks of other scripts are part of the spelling.
var strippedMarks = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0300, Hi: 0x036F, Stride: 1}, // combining diacritical marks
	{Lo: 0x0483, Hi: 0x0489, Stride: 1}, // Cyrillic
	{Lo: 0x0591, Hi: 0x05C7, Stride: 1}, // Hebrew points
	{Lo: 0x0610, Hi: 0x061A, Stride: 1}, // Arabic signs and vowels
	{Lo: 0x064B, Hi: 0x065F, Stride: 1},
	{Lo: 0x0670, Hi: 0x0670, Stride: 1},
	{Lo: 0x06D6, Hi: 0x06ED, Stride: 1},
	{Lo: 0x0711, Hi: 0x0711, Stride: 1}, // Syriac
	{Lo: 0x0730, Hi: 0x074A, Stride: 1},
	{Lo: 0x1AB0, Hi: 0x1AFF, Stride: 1},
	{Lo: 0x1DC0, Hi: 0x1DFF, Stride: 1},
	{Lo: 0x20D0, Hi: 0x20FF, Stride: 1}, // for symbols, the keycap among them
	{Lo: 0xFE20, Hi: 0xFE2F, Stride: 1},
}, R32: []unicode.Range32{
	{Lo: 0x1D165, Hi: 0x1D1AD, Stride: 1}, // musical symbols
}}

// emoji are the blocks of pictographs. Arrows, box drawing, block elements and braille stay out: they
// are decoration in tool output and would be among the commonest terms.
var emoji = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x2139, Hi: 0x2139, Stride: 1},
		{Lo: 0x231A, Hi: 0x231B, Stride: 1},
		{Lo: 0x2328, Hi: 0x2328, Stride: 1},
		{Lo: 0x23CF, Hi: 0x23CF, Stride: 1},
		{Lo: 0x23E9, Hi: 0x23FA, Stride: 1},
		{Lo: 0x2600, Hi: 0x2767, Stride: 1}, // up to the ornamental brackets
		{Lo: 0x2776, Hi: 0x27BF, Stride: 1},
		{Lo: 0x2934, Hi: 0x2935, Stride: 1},
		{Lo: 0x2B05, Hi: 0x2B07, Stride: 1},
		{Lo: 0x2B1B, Hi: 0x2B1C, Stride: 1},
		{Lo: 0x2B50, Hi: 0x2B50, Stride: 1},
		{Lo: 0x2B55, Hi: 0x2B55, Stride: 1},
		{Lo: 0x3297, Hi: 0x3299, Stride: 2},
	},
	R32: []unicode.Range32{
		{Lo: 0x1F000, Hi: 0x1F0FF, Stride: 1},
		{Lo: 0x1F170, Hi: 0x1F1E5, Stride: 1},
		{Lo: 0x1F200, Hi: 0x1FAFF, Stride: 1},
	},
}

// foldedLetters are letters whose stroke or ligature is no combining mark in Unicode, so that
// decomposition leaves them alone although people type them without it.
var foldedLetters = map[rune]string{
	'ß': "ss", 'ø': "o", 'ł': "l", 'đ': "d", 'ħ': "h", 'ŧ': "t", 'æ': "ae", 'œ': "oe",
}

// apostropheLetter is an apostrophe although its category is that of letters.
const apostropheLetter = 0x02BC

// describe classifies a character that is not ASCII and folds it.
func describe(r rune) glyph {
	g := glyph{r: r, class: classSep}
	switch {
	case r >= 0xFF01 && r <= 0xFF5E: // full-width ASCII
		c := byte(r - 0xFEE0)
		g.class = byteClass[c]
		g.out = strings.ToLower(string(rune(c)))
		return g
	case r == 0x2010 || r == 0x2011: // hyphens proper
		g.class, g.out = classJoin, "-"
		return g
	case r == 0x02BB || r == apostropheLetter: // letters by category, apostrophes by use
		return g
	case r == 0x200B:
		g.class = classBreak
		return g
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF, r >= 0x1F3FB && r <= 0x1F3FF:
		g.class = classStrip
		return g
	case r == 0x034F, r == 0x00AD, r == 0xFEFF, r == 0x061C, r >= 0x200C && r <= 0x200F, r >= 0x202A && r <= 0x202E,
		r >= 0x2060 && r <= 0x206F, r >= 0xE0000 && r <= 0xE007F, r >= 0x180B && r <= 0x180F:
		g.class = classIgnore
		return g
	case r >= 0x1F1E6 && r <= 0x1F1FF:
		g.class, g.out = classRegional, string(r)
		return g
	case unicode.Is(strippedMarks, r) && unicode.IsMark(r), unicode.Is(unicode.Me, r):
		g.class = classStrip
		return g
	case unicode.Is(emoji, r):
		g.class, g.out = classEmoji, string(r)
		return g
	}
	if out, ok := unspaced(r); ok {
		g.class, g.out = classUnspaced, out
		g.comb = !norm.NFC.PropertiesString(out).BoundaryBefore()
		return g
	}
	switch {
	case unicode.IsLetter(r), unicode.Is(unicode.Nl, r):
		g.class, g.out = classLower, foldLetters(norm.NFKD.String(string(r)))
		if unicode.IsUpper(r) || unicode.IsTitle(r) {
			g.class = classUpper
		}
		if g.out == "" {
			g.class = classStrip
		}
		g.comb = strings.ContainsFunc(g.out, unicode.IsMark)
	case unicode.Is(unicode.Nd, r):
		g.class, g.out = classDigit, norm.NFKD.String(string(r))
	case unicode.IsMark(r):
		g.class, g.out, g.comb = classMark, norm.NFD.String(string(r)), true
	}
	return g
}

// unspaced reports whether r belongs to a script that is indexed by pairs of characters, and the
// form it is indexed in.
func unspaced(r rune) (string, bool) {
	switch {
	case r >= 0xFF66 && r <= 0xFF9F: // half-width katakana with its sound marks
		return norm.NFKC.String(string(r)), true
	case r >= 0xFFA1 && r <= 0xFFDC: // half-width Hangul letters; composing them, as NFKC does, would tear words apart
		if i := r - 0xFFA1; i < 30 {
			return string(0x3131 + i), true
		}
		if i := r - 0xFFC2; i >= 0 && i&7 < 6 {
			return string(min(0x314F+i/8*6+i&7, 0x3163)), true
		}
		return "", false
	case r >= 0x2E80 && r <= 0x2FDF, r >= 0xF900 && r <= 0xFAFF, r >= 0x2F800 && r <= 0x2FA1F: // radicals and compatibility ideographs
		if !unicode.Is(unicode.Han, r) {
			return "", false
		}
		return norm.NFKC.String(string(r)), true
	case r == 0x3099, r == 0x309A, r == 0x30FC, r == 0x3006, r >= 0x3031 && r <= 0x3035: // shared by both kana, hence of no script
		return string(r), true
	}
	if unicode.In(r, unspacedScripts...) && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || unicode.Is(unicode.Nl, r)) {
		return norm.NFC.String(string(r)), true
	}
	return "", false
}

// foldLetters lower-cases decomposed text and drops diacritics and whatever is not part of a word,
// which compatibility decompositions may contain.
func foldLetters(s string) string {
	var b strings.Builder
	for _, d := range s {
		mark := unicode.IsMark(d)
		if mark && unicode.Is(strippedMarks, d) || !mark && !unicode.IsLetter(d) && !unicode.IsNumber(d) || d == apostropheLetter {
			continue
		}
		d = unicode.ToLower(unicode.ToUpper(d)) // by way of upper case, where the variants of one letter meet
		if f, ok := foldedLetters[d]; ok {
			b.WriteString(f)
		} else {
			b.WriteRune(d)
		}
	}
	return b.String()
}
