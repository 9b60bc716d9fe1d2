package jsonv

import (
	"bytes"
	"unicode/utf8"
)

// Limits bounds what a Shrinker keeps of one value or line.
type Limits struct {
	// String is how many raw bytes of one string are kept word for word; of a
	// longer one the first String-StringTail and the last StringTail bytes.
	String, StringTail int
	// Total bounds the kept bytes of the whole value. Once it is reached each
	// further string keeps 256 bytes, and what goes beyond another megabyte is
	// dropped, which leaves the value broken.
	Total int
	// Skip names members whose value is replaced by null: copies of what
	// stands elsewhere (Claude Code's toolUseResult, Codex's
	// replacement_history).
	Skip []string
}

// DefaultLimits keeps 64 MB of a string, the bound of matching.md rule 11 for
// the text of a person or a model.
func DefaultLimits(skip ...string) Limits {
	return Limits{String: 64 << 20, StringTail: 64 << 10, Total: 72 << 20, Skip: skip}
}

const (
	blobProbe = 512 // bytes of a string looked at before it is called a blob
	blobKeep  = 64  // bytes kept of a blob
	lateKeep  = 256 // bytes kept of each string once Total is reached
	slack     = 1 << 20
)

// cutMark stands where bytes of a string were left out. U+2026 on a line of
// its own keeps the words before and after apart.
const cutMark = ` \n\u2026\n `

// Shrinker copies one JSON value, or one line, from a stream of chunks while
// it leaves out images and other base64, members that repeat other text, and
// the middle of strings beyond the limits. Its memory is bounded by Limits.
type Shrinker struct {
	lim  Limits
	line bool // a line ends at a newline, whatever the state
	out  []byte
	cut  int64
	bare int64 // of these, what holds no text: skipped members and base64

	stack     []byte // open containers, '{' or '['
	expectKey bool   // the next string is a member name
	skipDepth int    // depth whose current member is being skipped; 0 = none
	scalar    bool   // inside a bare number or literal that is the whole value
	broken    bool
	done      bool

	inStr, esc, isKey, blob bool
	start                   int    // index in out where the string's text starts
	raw                     int64  // raw bytes of the string so far
	key                     []byte // the last member name, raw, at most 64 bytes
	tail                    []byte // last bytes of an over-long string
}

// NewShrinker returns a Shrinker for one value (line=false: ends when the
// value is complete) or for one line (ends at the newline, which is consumed).
// buf is reused for the output.
func NewShrinker(lim Limits, line bool, buf []byte) *Shrinker {
	return &Shrinker{lim: lim, line: line, out: buf[:0]}
}

// Bytes is what was kept; valid until the buffer is used again.
func (s *Shrinker) Bytes() []byte { return s.out }

// Cut is the number of raw bytes left out.
func (s *Shrinker) Cut() int64 { return s.cut }

// Lost is the part of Cut that was text: what went beyond the limits.
func (s *Shrinker) Lost() int64 { return s.cut - s.bare }

// Broken reports that even the structure had to be cut.
func (s *Shrinker) Broken() bool { return s.broken }

// Feed takes the next chunk and returns how many bytes of it were consumed and
// whether the value or line is complete.
func (s *Shrinker) Feed(b []byte) (n int, done bool) {
	i := 0
	for i < len(b) && !s.done {
		if s.inStr {
			i += s.feedString(b[i:])
			continue
		}
		c := b[i]
		if s.scalar && (c == ',' || c == '}' || c == ']' || c <= ' ') {
			s.done = true // a bare number or literal ends before this byte
			break
		}
		i++
		s.structure(c)
	}
	return i, s.done
}

func (s *Shrinker) structure(c byte) {
	switch c {
	case '"':
		s.inStr, s.esc, s.blob, s.raw = true, false, false, 0
		s.isKey = s.expectKey
		s.expectKey = false
		if s.isKey {
			s.key = s.key[:0]
		}
		s.tail = s.tail[:0]
		s.put(c)
		s.start = len(s.out)
	case '{', '[':
		s.put(c)
		if len(s.stack) > maxDepth {
			s.broken = true
			s.done = !s.line
			return
		}
		s.stack = append(s.stack, c)
		s.expectKey = c == '{'
	case '}', ']':
		if s.skipDepth > 0 && len(s.stack) <= s.skipDepth {
			s.skipDepth = 0
		}
		s.put(c)
		if len(s.stack) > 0 {
			s.stack = s.stack[:len(s.stack)-1]
		}
		s.expectKey = false
		s.done = len(s.stack) == 0 && !s.line
	case ':':
		s.put(c)
		if s.skipDepth == 0 && s.inObject() && s.skippedKey() {
			s.out = append(s.out, "null"...)
			s.skipDepth = len(s.stack)
		}
	case ',':
		if s.skipDepth > 0 && len(s.stack) <= s.skipDepth {
			s.skipDepth = 0
		}
		s.put(c)
		s.expectKey = s.inObject()
	case '\n':
		s.done = s.line
	case ' ', '\t', '\r':
	default:
		s.scalar = len(s.stack) == 0 && !s.line
		s.put(c)
	}
}

func (s *Shrinker) inObject() bool {
	return len(s.stack) > 0 && s.stack[len(s.stack)-1] == '{'
}

func (s *Shrinker) skippedKey() bool {
	for _, k := range s.lim.Skip {
		if string(s.key) == k {
			return true
		}
	}
	return false
}

func (s *Shrinker) put(c byte) {
	if s.skipDepth > 0 || len(s.out) > s.lim.Total+slack {
		s.broken = s.broken || s.skipDepth == 0
		s.cut++
		if s.skipDepth > 0 {
			s.bare++
		}
		return
	}
	s.out = append(s.out, c)
}

// feedString takes string text up to and including the closing quote and
// returns the bytes consumed.
func (s *Shrinker) feedString(b []byte) int {
	// Find the end of the string, or of the line that was cut inside it.
	end, closing := len(b), false
	for i := 0; i < len(b); {
		if s.esc {
			s.esc = false
			i++
			continue
		}
		j := bytes.IndexAny(b[i:min(len(b), i+64)], "\"\\\n")
		if j < 0 {
			i = min(len(b), i+64)
			continue
		}
		i += j
		if b[i] == '\\' {
			s.esc = true
			i++
			continue
		}
		if b[i] == '\n' {
			if !s.line {
				i++
				continue
			}
			s.keep(b[:i])
			s.endString()
			s.done = true
			return i + 1
		}
		end, closing = i, true
		break
	}
	s.keep(b[:end])
	if !closing {
		return end
	}
	s.endString()
	s.put('"')
	s.done = len(s.stack) == 0 && !s.line
	return end + 1
}

// grow makes room for n more bytes. A large output doubles, but not beyond what
// it may come to hold at most: the last doubling would be the dearest.
func (s *Shrinker) grow(n int) {
	need := len(s.out) + n
	if need <= cap(s.out) || need < growBytes {
		return
	}
	most := s.lim.Total + s.lim.StringTail + slack
	out := make([]byte, len(s.out), max(need, min(2*need, most)))
	copy(out, s.out)
	s.out = out
}

// growBytes is the size from which an output grows by grow.
const growBytes = 1 << 20

// keep adds text of the current string, within the limits.
func (s *Shrinker) keep(b []byte) {
	s.raw += int64(len(b))
	if s.isKey && len(s.key) < 64 {
		s.key = append(s.key, b[:min(len(b), 64-len(s.key))]...)
	}
	if s.skipDepth > 0 || s.blob {
		s.cut += int64(len(b))
		s.bare += int64(len(b))
		return
	}
	if len(s.out) > s.lim.Total+slack {
		s.broken = true
		s.cut += int64(len(b))
		return
	}
	limit, late := s.lim.String-s.lim.StringTail, s.start >= s.lim.Total
	limit = min(limit, max(lateKeep, s.lim.Total-s.start))
	for have := len(s.out) - s.start; have < limit && len(b) > 0; have = len(s.out) - s.start {
		n, probing := min(limit-have, len(b)), !s.isKey && have < blobProbe
		if probing { // base64 needs no room for more
			n = min(n, blobProbe-have)
		}
		s.grow(n)
		s.out = append(s.out, b[:n]...)
		b = b[n:]
		if have += n; probing && have == blobProbe && isBlob(s.out[s.start:]) {
			s.blob = true
			s.cut += int64(have - blobKeep + len(b))
			s.bare += int64(have - blobKeep + len(b))
			s.out = s.out[:s.start+blobKeep]
			return
		}
	}
	if len(b) == 0 {
		return
	}
	if s.lim.StringTail == 0 || late {
		s.cut += int64(len(b))
		return
	}
	s.tail = append(s.tail, b...)
	if extra := len(s.tail) - s.lim.StringTail; extra > s.lim.StringTail {
		s.cut += int64(extra)
		s.tail = s.tail[:copy(s.tail, s.tail[extra:])]
	}
}

func (s *Shrinker) endString() {
	s.inStr = false
	if s.skipDepth > 0 || len(s.out) > s.lim.Total+slack {
		return
	}
	kept := int64(len(s.out) - s.start)
	if s.raw == kept+int64(len(s.tail)) && len(s.tail) <= s.lim.StringTail {
		s.out = append(s.out, s.tail...) // nothing is missing between
		return
	}
	// Never leave half a character or escape before the mark.
	s.out = trimCut(s.out, s.start)
	trimmed := kept - int64(len(s.out)-s.start)
	s.cut += trimmed
	if s.blob {
		s.bare += trimmed
	}
	s.out = append(s.out, cutMark...)
	t := s.tail
	if extra := len(t) - s.lim.StringTail; extra > 0 {
		t = t[extra:]
	}
	t = t[safeStart(t):]
	s.cut += int64(len(s.tail) - len(t))
	s.out = append(s.out, t...)
}

// trimCut drops a character or an escape sequence that was cut at the end of
// b[start:], and the first half of an escaped surrogate pair.
func trimCut(b []byte, start int) []byte {
	for i := len(b) - 1; i >= start && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if b[i] >= utf8.RuneSelf && !utf8.FullRune(b[i:]) {
				b = b[:i]
			}
			break
		}
	}
	from := max(start, len(b)-6)
	i := bytes.LastIndexByte(b[from:], '\\')
	if i < 0 {
		return b
	}
	i += from
	n := 0
	for k := i; k >= start && b[k] == '\\'; k-- {
		n++
	}
	if n%2 == 0 { // an escaped backslash
		return b
	}
	if i+1 == len(b) || b[i+1] == 'u' && len(b) < i+6 {
		b = b[:i] // what precedes may now be the first half of a pair
	}
	return trimHalf(b, start)
}

// trimHalf drops an escaped high surrogate at the end of b[start:].
func trimHalf(b []byte, start int) []byte {
	i := len(b) - 6
	if i < start || b[i] != '\\' || b[i+1] != 'u' {
		return b
	}
	if r, n := hex4(b[i+2:]); n < 4 || r < 0xd800 || r > 0xdbff {
		return b
	}
	for k, n := i, 0; ; k-- {
		if k < start || b[k] != '\\' {
			if n%2 == 0 {
				return b
			}
			return b[:i]
		}
		n++
	}
}

// lowHalf reports whether b starts with an escaped low surrogate.
func lowHalf(b []byte) bool {
	if len(b) < 6 || b[1] != 'u' {
		return false
	}
	r, n := hex4(b[2:6])
	return n == 4 && r >= 0xdc00 && r <= 0xdfff
}

// safeStart returns where the rest of a string may be taken up that was
// entered somewhere: at a space, so that no word is cut, else at any place
// that is not inside a character or an escape sequence.
func safeStart(t []byte) int {
	if i := bytes.IndexByte(t[:min(len(t), 4096)], ' '); i >= 0 {
		return i
	}
	lastSlash := -1
	if len(t) > 0 && t[0] == '\\' {
		lastSlash = 0
	}
	for i := 1; i < len(t); i++ {
		if t[i] == '\\' {
			// The first of a run of backslashes starts an escape.
			// The second half of a surrogate pair is nothing without the first.
			if t[i-1] != '\\' && !lowHalf(t[i:]) {
				return i
			}
			lastSlash = i
			continue
		}
		if i >= 6 && i-lastSlash >= 6 && utf8.RuneStart(t[i]) {
			return i
		}
	}
	return len(t)
}

// isBlob reports whether the start of a string looks like base64 or a data
// URL rather than like text: no white space, hardly any punctuation.
func isBlob(b []byte) bool {
	if bytes.HasPrefix(b, []byte("data:")) && bytes.Contains(b[:min(len(b), 128)], []byte(";base64,")) {
		return true
	}
	for _, c := range b[:min(len(b), blobProbe)] {
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9',
			c == '+', c == '/', c == '=', c == '-', c == '_', c == '\\':
		default:
			return false
		}
	}
	// A wall of one letter ("aaaa…") or a path is text; base64 mixes cases.
	var upper, lower, digit bool
	for _, c := range b[:min(len(b), blobProbe)] {
		upper = upper || c >= 'A' && c <= 'Z'
		lower = lower || c >= 'a' && c <= 'z'
		digit = digit || c >= '0' && c <= '9'
	}
	return upper && lower && digit
}
