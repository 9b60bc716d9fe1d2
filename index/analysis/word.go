package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word is one word or quoted phrase of a query, analysed.
type Word struct {
	// Text is the word as it was typed; Start and End are its byte range in the query.
	Text       string
	Start, End int

	// Terms are matched in the main stream: one term, or a phrase of several.
	Terms []string
	// Single says that the last of Terms is one character of an unspaced script and must be
	// matched as a prefix: such a character begins a pair unless it ends its run. With one term
	// that is the whole word.
	Single bool
	// Open says that the word ends with a character of a word, so that its last term may be
	// completed (terminal for termin). Callers complete only the last word of a query. It is false
	// for 100%, foo( and "x", whose end is certain, and for unspaced scripts, where any substring
	// matches anyway.
	Open bool

	// Side are alternatives to Terms, each a single term to be matched in the side stream and, because an
	// identifier of several parts may be spelt as one word elsewhere, in the main stream as well.
	Side []string
	// SideOnly says that Terms lose what the word is about (c for c++) and Side alone is to be matched.
	SideOnly bool

	// Stop says that the word is an English stop word, a contraction of such words included, or, for
	// a piece, that it holds nothing but grammar.
	Stop bool

	// Pieces are smaller words that a long run without spaces, or one glued to words of another
	// script, falls into. Nobody will have written a whole question the same way, so they
	// stand in for the word where not every word is demanded. They never have pieces themselves.
	Pieces []Word
}

// longRun is the number of characters above which an unspaced run has pieces.
const longRun = 4

// Word analyses one word or quoted phrase that begins at byte start of the query. It reports false
// when there is no term in it.
func (a *Analyzer) Word(text string, start int) (Word, bool) {
	var c collector
	a.scan(text, &c)
	if len(c.tokens) == 0 {
		return Word{}, false
	}
	w := Word{Text: text, Start: start, End: start + len(text)}
	w.Pieces = a.pieces(text, start, c.tokens)
	tokens := c.tokens
	if n := len(tokens); n > 1 && tokens[n-1].kind == KindCJK && tokens[n-2].kind == KindCJK && tokens[n-2].end == tokens[n-1].end {
		// The pair before covers the last character; demanding it alone would demand the end of a run.
		tokens = tokens[:n-1]
	}
	for _, t := range tokens {
		w.Terms = append(w.Terms, t.term)
	}
	last := tokens[len(tokens)-1]
	w.Single = last.kind == KindCJK && utf8.RuneCountInString(last.term) == 1
	w.Open = last.kind == KindWord && last.end == len(text)
	spaced := strings.ContainsFunc(text, unicode.IsSpace)
	switch {
	case c.special != "" && len(tokens) == 1:
		w.Side, w.SideOnly, w.Open = []string{c.special}, true, false
	case len(tokens) == 1 && last.kind == KindWord:
		if len(last.term) >= minJoinedCase {
			w.Side = []string{last.term}
		}
	case c.parts == len(tokens):
		w.Side = []string{c.joinedTerm}
	}
	w.Stop = !spaced && !w.SideOnly && isStopWord(text, w.Terms)
	return w, true
}

// Words analyses free text: it is split at white space and at the punctuation of unspaced scripts,
// which do not put spaces next to it. Words without a term are left out. Quotes and operators
// have no meaning here.
func (a *Analyzer) Words(query string) []Word {
	var words []Word
	for i := 0; i < len(query); {
		r, size := utf8.DecodeRuneInString(query[i:])
		if splitsWords(r) {
			i += size
			continue
		}
		start := i
		for i < len(query) {
			r, size = utf8.DecodeRuneInString(query[i:])
			if splitsWords(r) {
				break
			}
			i += size
		}
		if w, ok := a.Word(query[start:i], start); ok {
			words = append(words, w)
		}
	}
	return words
}

// splitsWords reports whether r stands between the words of a query.
func splitsWords(r rune) bool {
	switch {
	case r < 0x20 || r == 0x7F || unicode.IsSpace(r):
		return true
	case r >= 0x3001 && r <= 0x3003, r >= 0x3008 && r <= 0x3011, r >= 0x3014 && r <= 0x301F: // ideographic punctuation
		return true
	case r >= 0xFF5F && r <= 0xFF64: // its half-width forms
		return true
	}
	return strings.ContainsRune("！（），：；？［］｛｝", r)
}

// pieces cuts a word that is a long unspaced run, or such a run glued to something else, into words.
func (a *Analyzer) pieces(text string, start int, tokens []collected) []Word {
	chars, others := 0, 0
	for _, t := range tokens {
		if t.kind == KindCJK {
			chars++
		} else {
			others++
		}
	}
	if chars <= longRun && (chars == 0 || others == 0) {
		return nil
	}
	var words []Word
	anyContent := false
	for i := 0; i < len(tokens); {
		t := tokens[i]
		if t.kind == KindCJK {
			single := i+1 == len(tokens) || tokens[i+1].kind != KindCJK || tokens[i+1].start >= t.end
			alone := i == 0 || tokens[i-1].kind != KindCJK || tokens[i-1].end != t.end
			i++
			if single && !alone {
				continue // the pair before has it
			}
			w := Word{Text: text[t.start:t.end], Start: start + t.start, End: start + t.end,
				Terms: []string{t.term}, Single: single, Stop: isStopPair(t.term)}
			anyContent = anyContent || !w.Stop
			words = append(words, w)
			continue
		}
		begin := 0 // what stands before may belong to the word (.net)
		if i > 0 {
			begin = tokens[i-1].end
		}
		j := i + 1
		for j < len(tokens) && tokens[j].kind != KindCJK {
			j++
		}
		end := tokens[j-1].end
		if j < len(tokens) {
			end = tokens[j].start
		}
		if w, ok := a.Word(text[begin:end], start+begin); ok {
			w.Open = w.Open && j == len(tokens)
			anyContent = anyContent || !w.Stop
			words = append(words, w)
		}
		i = j
	}
	if !anyContent {
		for i := range words {
			words[i].Stop = false
		}
	}
	return words
}

// collected is a token that outlives the scan.
type collected struct {
	term       string
	start, end int
	kind       Kind
}

// collector gathers what Word needs.
type collector struct {
	tokens     []collected
	joinedTerm string // joined form with the most parts
	parts      int
	special    string
}

func (c *collector) token(t Token) bool {
	c.tokens = append(c.tokens, collected{string(t.Term), int(t.Start), int(t.End), t.Kind})
	return true
}

func (c *collector) joined(term []byte, _, _, parts int) bool {
	switch {
	case parts == 0:
		c.special = string(term)
	case parts > c.parts:
		c.joinedTerm, c.parts = string(term), parts
	}
	return true
}
