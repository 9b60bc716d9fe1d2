package analysis

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// sink receives what the scanner finds, in the order of the text. A false result stops the scan.
type sink interface {
	// token is one term of the main stream.
	token(t Token) bool
	// joined is one term of the side stream: the identifier at text[start:end] written as one
	// word, made of the last parts tokens, or a special word such as c++ (parts is 0).
	joined(term []byte, start, end, parts int) bool
}

// level collects the joined form of one nesting level of an identifier: the word with its camel
// case parts, words held by '_' and '-', and those held by '.'.
type level struct {
	buf        [MaxTerm]byte
	n          int // bytes in buf; above MaxTerm the form is too long and given up
	kids       int // members of the level below
	parts      int // tokens
	again      int // tokens among them that say again what another says
	start, end int
}

const tooLong = MaxTerm + 1

// add appends one member to the level.
func (l *level) add(term []byte, n, parts, again, start, end int) {
	if l.kids == 0 {
		l.start = start
	}
	l.end = end
	l.kids++
	l.parts += parts
	l.again += again
	if n > MaxTerm || l.n+n > MaxTerm {
		l.n = tooLong
		return
	}
	l.n += copy(l.buf[l.n:], term[:n])
}

func (l *level) reset() { l.n, l.kids, l.parts, l.again = 0, 0, 0, 0 }

// Shortest joined forms in bytes. Case alone must never keep a word from being found, so forms that
// only undo camel case (iOS) are kept however short; a.b and its like are noise.
const (
	minJoinedCase = 2
	minJoined     = 4
)

// worthJoining tells identifiers from versions, dates, addresses and UUIDs, which nobody types in
// one word.
func (l *level) worthJoining() bool {
	digits := 0
	for _, c := range l.buf[:l.n] {
		if byteClass[c] == classDigit {
			digits++
		}
	}
	letters := l.n - digits
	return letters > 0 && (l.parts-l.again <= 2 || letters > digits)
}

// scan feeds the terms of text to s.
func (a *Analyzer) scan(text string, s sink) {
	if len(text) > maxText {
		text = text[:maxText]
	}
	a.text, a.sink, a.stopped = text, s, false
	for i := 0; i < len(text) && !a.stopped; {
		switch byteClass[text[i]] {
		case classSep, classJoin:
			i++
		case classHigh:
			i = a.high(i)
		default:
			i = a.identifier(i)
		}
	}
	a.text, a.sink = "", nil
}

func (a *Analyzer) emit(term []byte, start, mid, end int, k Kind) {
	if !a.stopped && !a.sink.token(Token{Term: term, Start: int32(start), End: int32(end), mid: int32(mid), Kind: k}) {
		a.stopped = true
	}
}

func (a *Analyzer) emitJoined(term []byte, start, end, parts int) {
	if !a.stopped && !a.sink.joined(term, start, end, parts) {
		a.stopped = true
	}
}

// at describes the character at text[i], which is not ASCII, and returns its length in bytes.
// The result is valid until the next call.
func (a *Analyzer) at(i int) (*glyph, int) {
	r, size := utf8.DecodeRuneInString(a.text[i:])
	if r == utf8.RuneError {
		return &separator, size
	}
	if r >= 0x4E00 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7A3 { // unified ideographs, Hangul syllables: folded to themselves
		a.plain = glyph{r: r, class: classUnspaced, out: a.text[i : i+size]}
		return &a.plain, size
	}
	if a.glyphs == nil {
		a.glyphs = make([]glyph, glyphCache)
	}
	g := &a.glyphs[uint32(r)%glyphCache]
	if g.r != r {
		*g = describe(r)
	}
	return g, size
}

// glyphCache is the number of characters that an Analyzer remembers, a power of two.
const glyphCache = 1024

var separator = glyph{class: classSep}

// classAt returns the class of the character at text[i] with its length; the end of the text separates.
func (a *Analyzer) classAt(i int) (class, int) {
	if i >= len(a.text) {
		return classSep, 0
	}
	c := byteClass[a.text[i]]
	if c != classHigh {
		return c, 1
	}
	g, size := a.at(i)
	return g.class, size
}

// high handles text[i:] where it begins with a character that is not ASCII and stands outside of
// any term, and returns the offset behind what it consumed.
func (a *Analyzer) high(i int) int {
	g, size := a.at(i)
	switch {
	case g.class.word():
		return a.identifier(i)
	case g.class == classUnspaced:
		return a.unspacedRun(i)
	case g.class == classEmoji:
		return a.pictograph(i, i+size)
	case g.class == classRegional:
		end := i + size
		if c, n := a.classAt(end); c == classRegional {
			end += n
		}
		return a.pictograph(i, end)
	}
	return i + size
}

// pictograph emits text[i:end] and takes what modifies it into the token.
func (a *Analyzer) pictograph(i, end int) int {
	term := append(a.term[:0], a.text[i:end]...)
	for {
		c, size := a.classAt(end)
		if c != classStrip {
			break
		}
		end += size
	}
	a.emit(term, i, end, end, KindEmoji)
	return end
}

// identifier emits the run of words at text[i:] that '_', '-' and '.' hold together and returns the offset behind it.
func (a *Analyzer) identifier(i int) int {
	text := a.text
	if i > 0 && text[i-1] == '.' && text[i]|0x20 == 'n' {
		a.dotNet(i)
	}
	if byteClass[text[i]] != classHigh {
		// Most words are ASCII, of one part and alone.
		j := i + 1
		for j < len(text) && byteClass[text[j]] <= classDigit {
			j++
		}
		if j == len(text) || byteClass[text[j]] == classSep ||
			byteClass[text[j]] == classJoin && (j+1 == len(text) || byteClass[text[j+1]] == classSep) {
			term := append(a.term[:0], text[i:min(j, i+MaxTerm)]...)
			if byteClass[term[0]] == classUpper {
				term[0] |= 0x20
			}
			a.emit(term, i, j, j, KindWord)
			if j < len(text) && (text[j] == '+' || text[j] == '#') {
				a.special(j)
			}
			return j
		}
	}
	words, snake, dotted := &a.levels[0], &a.levels[1], &a.levels[2]
	words.reset()
	snake.reset()
	dotted.reset()
	for {
		end := a.word(i)
		a.closeLevel(words, snake, minJoinedCase)
		next, joiner := a.joiner(end)
		if joiner == 0 || joiner == '.' {
			a.closeLevel(snake, dotted, minJoined)
		}
		if joiner == 0 || a.stopped {
			a.closeLevel(dotted, nil, minJoined)
			if end < len(text) && (text[end] == '+' || text[end] == '#') {
				a.special(end)
			}
			return end
		}
		i = next
	}
}

// closeLevel reports the joined form of l if it has several members, and makes l a member of up.
func (a *Analyzer) closeLevel(l, up *level, shortest int) {
	if l.kids > 1 && l.n >= shortest && l.n <= MaxTerm && (shortest == minJoinedCase || l.worthJoining()) {
		a.emitJoined(l.buf[:l.n], l.start, l.end, l.parts)
	}
	if up != nil {
		up.add(l.buf[:], l.n, l.parts, l.again, l.start, l.end)
	}
	l.reset()
}

// joiner looks for a character that holds the word ending at text[end] and another together; it
// returns the start of that word, and 0 for the character when there is none.
func (a *Analyzer) joiner(end int) (next int, joiner byte) {
	at := func(i int) (byte, int) {
		if i >= len(a.text) {
			return 0, 0
		}
		switch c := a.text[i]; byteClass[c] {
		case classJoin:
			return c, 1
		case classHigh:
			if g, size := a.at(i); g.class == classJoin {
				return g.out[0], size
			}
		}
		return 0, 0
	}
	c, size := at(end)
	if c == 0 {
		return end, 0
	}
	next = end + size
	for c == '_' {
		d, n := at(next)
		if d != '_' {
			break
		}
		next += n
	}
	if k, _ := a.classAt(next); !k.word() {
		return end, 0
	}
	return next, c
}

// part is the term that word is building.
type part struct {
	term       []byte
	full       bool // cut at MaxTerm
	marks      bool // contains combining marks, whose order must be made canonical
	any        bool // has at least one character
	start, end int

	letters int  // bytes of term before its first digit, at text[digits]
	digits  int  // meaningful when letters is not 0
	mixed   bool // not just letters, then digits
}

// count notes where the digits of the part begin; it is told of every character before it is added.
func (p *part) count(c class, at int) {
	switch {
	case c != classDigit:
		p.mixed = p.mixed || p.letters > 0
	case !p.any:
		p.mixed = true
	case p.letters == 0:
		p.letters, p.digits = len(p.term), at
	}
}

func (p *part) add(s string) {
	p.any = true
	if p.full || len(p.term)+len(s) > MaxTerm {
		p.full = true
		return
	}
	p.term = append(p.term, s...)
}

// word emits the parts of the word at text[i:] and returns the offset behind it.
func (a *Analyzer) word(i int) int {
	text := a.text
	p := part{term: a.term[:0], start: i}
	prev := classSep   // class of the character before, marks aside
	letter := classSep // class of the last letter in this part
	upper := 0         // upper case letters in a row
	var last struct {  // the last of them
		at, len, end int // its offset; length and end of the part without it
		full         bool
		out          string
	}
	for i < len(text) && !a.stopped {
		c, size, out := byteClass[text[i]], 1, ""
		if c == classHigh {
			var g *glyph
			g, size = a.at(i)
			c, out = g.class, g.out
			p.marks = p.marks || c.word() && g.comb
		} else if c.word() {
			b := text[i]
			if c == classUpper {
				b |= 0x20
			}
			out = asciiChars[b : b+1]
		}
		switch c {
		case classUpper:
			if p.any && (prev == classLower ||
				prev == classDigit && letter != classSep && (letter == classLower || a.lowerAfter(i+size))) {
				a.flush(&p)
				p.start, letter = i, classSep
				upper = 0
			}
			upper++
			last.at, last.len, last.end, last.full, last.out = i, len(p.term), p.end, p.full, out
			letter = c
		case classLower:
			if upper > 1 && prev == classUpper && !(out == "s" && !a.wordAfter(i+size)) {
				// An abbreviation before a word: its last letter is the word's first.
				p.term, p.full, p.end = p.term[:last.len], last.full, last.end
				a.flush(&p)
				p.start = last.at
				p.add(last.out)
			}
			upper = 0
			letter = c
		case classDigit:
			upper = 0
		case classMark:
		case classStrip:
			i += size
			p.end = i
			continue
		case classIgnore:
			i += size
			continue
		default:
			a.flushLast(&p, i)
			return i
		}
		if c != classMark {
			prev = c
		}
		p.count(c, i)
		p.add(out)
		i += size
		p.end = i
	}
	a.flushLast(&p, i)
	return i
}

// asciiChars holds every ASCII character at its own offset, to slice strings of one character from.
var asciiChars = func() string {
	var b strings.Builder
	for i := range utf8.RuneSelf {
		b.WriteByte(byte(i))
	}
	return b.String()
}()

// lowerAfter reports whether the character at text[i], marks aside, is a lower case letter.
func (a *Analyzer) lowerAfter(i int) bool { return a.classAfter(i) == classLower }

// wordAfter reports whether the character at text[i], marks aside, continues a word in lower case.
func (a *Analyzer) wordAfter(i int) bool {
	c := a.classAfter(i)
	return c.word() && c != classUpper
}

func (a *Analyzer) classAfter(i int) class {
	for {
		c, size := a.classAt(i)
		if c != classStrip && c != classIgnore {
			return c
		}
		i += size
	}
}

// flushLast emits the last part of a word that ends at text[i].
//
// Where that is the beginning of a dotted number with a name or a v glued to it (go1.26.8, v2.0.0), the
// name and the number's first member follow as terms of their own, so that the number is
// found without the name. They follow, and do not stand in the part's place, because whether a part begins
// such a number is known by what comes behind it: who has typed lib/python3 so far, or quotes it,
// must find lib/python3.11.
func (a *Analyzer) flushLast(p *part, i int) {
	if p.letters == 0 || p.mixed || p.full || !a.numberAfter(i) {
		a.flush(p)
		return
	}
	a.emit(a.normal(p, p.term), p.start, p.end, p.end, KindWord)
	a.emit(a.normal(p, p.term[:p.letters]), p.start, p.digits, p.digits, KindWord)
	a.emit(p.term[p.letters:], p.digits, p.end, p.end, KindWord)
	term := a.normal(p, p.term)
	a.levels[0].add(term, len(term), 3, 2, p.start, p.end)
	*p = part{term: p.term[:0]}
}

// numberAfter reports whether the text goes on at i with a dot and a digit.
func (a *Analyzer) numberAfter(i int) bool {
	next, joiner := a.joiner(i)
	if joiner != '.' {
		return false
	}
	c, _ := a.classAt(next)
	return c == classDigit
}

// normal returns a term of the part in normal form, valid until the next call.
func (a *Analyzer) normal(p *part, term []byte) []byte {
	if !p.marks {
		return term
	}
	a.norm = norm.NFC.Append(a.norm[:0], term...)
	return a.norm
}

// flush emits the part and makes it empty.
func (a *Analyzer) flush(p *part) {
	if !p.any || len(p.term) == 0 {
		return
	}
	term := a.normal(p, p.term)
	n := len(term)
	if p.full {
		n = tooLong
	}
	a.emit(term, p.start, p.end, p.end, KindWord)
	a.levels[0].add(term, n, 1, 0, p.start, p.end)
	*p = part{term: p.term[:0]}
}

// special reports c++, g++, c# and f#, whose sign stands at text[i:] behind a word.
func (a *Analyzer) special(i int) {
	text := a.text
	if a.wordBefore(i - 1) {
		return
	}
	letter, rest := text[i-1]|0x20, text[i:]
	switch {
	case (letter == 'c' || letter == 'g') && strings.HasPrefix(rest, "++") && !strings.HasPrefix(rest, "+++"):
		a.emitJoined([]byte{letter, '+', '+'}, i-1, i+2, 0)
	case (letter == 'c' || letter == 'f') && rest[0] == '#' && !strings.HasPrefix(rest, "##"):
		a.emitJoined([]byte{letter, '#'}, i-1, i+1, 0)
	}
}

// dotNet reports .net, whose name stands at text[i:] behind the dot.
func (a *Analyzer) dotNet(i int) {
	end := i + 3
	if end > len(a.text) || !strings.EqualFold(a.text[i:end], "net") || a.wordBefore(i-1) {
		return
	}
	if c, _ := a.classAt(end); !c.word() {
		a.emitJoined([]byte(".net"), i-1, end, 0)
	}
}

// wordBefore reports whether a character of a word ends at text[i].
func (a *Analyzer) wordBefore(i int) bool {
	if i <= 0 {
		return false
	}
	if text := a.text; byteClass[text[i-1]] != classHigh {
		return byteClass[text[i-1]].word()
	}
	_, size := utf8.DecodeLastRuneInString(a.text[:i])
	c, _ := a.classAt(i - size)
	return c.word() || c == classStrip
}

// unit is one character of an unspaced run with what composes with it.
type unit struct {
	buf        [24]byte
	n          int
	start, end int
}

func (u *unit) set(s string, start, end int) {
	u.n = copy(u.buf[:], s)
	u.start, u.end = start, end
}

// unspacedRun emits the run of unspaced characters at text[i:] and returns the offset behind it.
func (a *Analyzer) unspacedRun(i int) int {
	u, v := &a.units[0], &a.units[1] // the last two characters; v is valid when n is 2
	n := 0
	for i < len(a.text) && !a.stopped {
		c, size := byteClass[a.text[i]], 1
		if c != classHigh {
			break
		}
		var g *glyph
		g, size = a.at(i)
		switch g.class {
		case classUnspaced:
			if n > 0 && g.comb {
				if last := []*unit{u, v}[n-1]; a.compose(last, g.out) {
					last.end = i + size
					break
				}
			}
			switch n {
			case 0:
				u.set(g.out, i, i+size)
				n = 1
			case 1:
				v.set(g.out, i, i+size)
				n = 2
			default:
				a.pair(u, v)
				u, v = v, u
				v.set(g.out, i, i+size)
			}
		case classStrip:
			[]*unit{u, v}[n-1].end = i + size
		case classIgnore, classBreak:
		default:
			size = 0
		}
		if size == 0 {
			break
		}
		i += size
	}
	if n == 2 {
		a.pair(u, v)
		u = v
	}
	a.emit(append(a.term[:0], u.buf[:u.n]...), u.start, u.end, u.end, KindCJK)
	return i
}

func (a *Analyzer) pair(u, v *unit) {
	term := append(a.term[:0], u.buf[:u.n]...)
	a.emit(append(term, v.buf[:v.n]...), u.start, u.end, v.end, KindCJK)
}

// compose appends s to the character u if both are one character in normal form.
func (a *Analyzer) compose(u *unit, s string) bool {
	a.norm = append(append(a.norm[:0], u.buf[:u.n]...), s...)
	out := norm.NFC.Append(a.norm[len(a.norm):], a.norm...)
	if _, size := utf8.DecodeRune(out); size != len(out) {
		return false
	}
	u.n = copy(u.buf[:], out)
	return true
}
