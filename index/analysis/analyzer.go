package analysis

import (
	"bytes"
	"hash/maphash"
	"math"
)

// Kind says what a term was made of.
type Kind uint8

// The kinds of terms.
const (
	KindWord  Kind = iota // letters and digits of an alphabetic script
	KindCJK               // one or two characters of a script written without spaces
	KindEmoji             // a pictograph or a flag
)

// Token is one term of the main stream. Consecutive tokens have consecutive positions.
type Token struct {
	// Term is valid during the callback only.
	Term []byte
	// Start and End are byte offsets into the text, on character boundaries. Start never falls from
	// token to token; the ranges of the pairs in an unspaced run overlap, and so do those of the word
	// that begins a dotted number (go1.26) and its parts.
	Start, End int32
	Kind       Kind

	mid int32 // end of the first character of a pair
}

// maxText is the most bytes of one text that are analysed, so that offsets fit in a Token.
const maxText = math.MaxInt32

// Analyzer analyses texts. It holds reusable buffers and is not safe for concurrent use.
type Analyzer struct {
	text    string
	sink    sink
	stopped bool

	term   []byte
	norm   []byte
	levels [3]level
	units  [2]unit
	glyphs []glyph // direct-mapped cache by code point, made when first needed
	plain  glyph

	out appender
}

// New returns an Analyzer.
func New() *Analyzer {
	a := &Analyzer{term: make([]byte, 0, 2*MaxTerm)}
	a.out.seed = maphash.MakeSeed()
	return a
}

type tokenFunc func(Token) bool

func (f tokenFunc) token(t Token) bool                { return f(t) }
func (f tokenFunc) joined(_ []byte, _, _, _ int) bool { return true }

// Tokens calls yield for every term of the main stream of text, in order, until it returns false.
// Of texts above 2 GiB the rest is left out. Tokens must not be called again, on the same
// Analyzer, before it has returned.
func (a *Analyzer) Tokens(text string, yield func(Token) bool) {
	a.scan(text, tokenFunc(yield))
}

// AppendMain appends the main stream of text to dst, every term followed by one space.
func (a *Analyzer) AppendMain(dst []byte, text string) []byte {
	a.out.begin(dst, nil, false)
	a.scan(text, &a.out)
	dst, _, _ = a.out.end()
	return dst
}

// Append appends both streams of text, every term followed by one space, and returns the number of
// terms in the main stream. A term stands in the side stream once per call.
func (a *Analyzer) Append(main, side []byte, text string) (newMain, newSide []byte, n int) {
	a.out.begin(main, side, true)
	a.scan(text, &a.out)
	return a.out.end()
}

// appender writes the streams.
type appender struct {
	main, side []byte
	wantSide   bool
	n          int

	seed maphash.Seed
	seen []seenTerm // open hash table over the side terms of this call; its length is a power of two
	used int
	call uint32 // an entry of another call is empty
}

type seenTerm struct {
	call   uint32
	length uint32
	off    int // in side
}

func (p *appender) begin(main, side []byte, wantSide bool) {
	p.main, p.side, p.wantSide, p.n = main, side, wantSide, 0
	p.used = 0
	p.call++
	if p.call == 0 { // wrapped: no entry may look current
		clear(p.seen)
		p.call = 1
	}
	if len(p.seen) > maxSeen {
		p.seen = nil
	}
}

// maxSeen bounds the table that is kept from one call to the next.
const maxSeen = 1 << 16

func (p *appender) end() (main, side []byte, n int) {
	main, side, n = p.main, p.side, p.n
	p.main, p.side = nil, nil
	return main, side, n
}

func (p *appender) token(t Token) bool {
	p.main = append(append(p.main, t.Term...), ' ')
	p.n++
	return true
}

func (p *appender) joined(term []byte, _, _, _ int) bool {
	if !p.wantSide {
		return true
	}
	if p.used*2 >= len(p.seen) {
		p.grow()
	}
	slot := p.find(term)
	if slot.call == p.call {
		return true
	}
	*slot = seenTerm{call: p.call, length: uint32(len(term)), off: len(p.side)}
	p.used++
	p.side = append(append(p.side, term...), ' ')
	return true
}

// find returns the entry of term, or the free one where it belongs.
func (p *appender) find(term []byte) *seenTerm {
	mask := uint64(len(p.seen) - 1)
	for h := maphash.Bytes(p.seed, term); ; h++ {
		e := &p.seen[h&mask]
		if e.call != p.call || bytes.Equal(p.side[e.off:e.off+int(e.length)], term) {
			return e
		}
	}
}

func (p *appender) grow() {
	old := p.seen
	p.seen = make([]seenTerm, max(256, 2*len(old)))
	for _, e := range old {
		if e.call == p.call {
			*p.find(p.side[e.off : e.off+int(e.length)]) = e
		}
	}
}
