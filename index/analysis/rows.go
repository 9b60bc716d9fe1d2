package analysis

import (
	"strings"
	"unicode/utf8"
)

// minRow is the smallest row size that Rows accepts, in bytes.
const minRow = 1024

// Rows cuts text into rows of at most size bytes (1024 at least) and calls yield with the
// range of each until it returns false. Rows end behind white space where there is any within
// reach, and each begins overlap tokens before the end of the one before, so that every phrase of up to
// overlap terms stands whole in some row; where tokens are so long that the overlap would
// exceed half a row, it holds fewer. A text that fits is one row, the empty text none.
func (a *Analyzer) Rows(text string, size, overlap int, yield func(start, end int) bool) {
	size = max(size, minRow)
	for start := 0; start < len(text); {
		if len(text)-start <= size {
			yield(start, len(text))
			return
		}
		end := rowEnd(text, start+size, size/4)
		if !yield(start, end) {
			return
		}
		start = a.overlapStart(text, start+size/2, end, overlap)
	}
}

// rowEnd returns a good offset to cut text, at most limit and at least limit-reach.
func rowEnd(text string, limit, reach int) int {
	if i := strings.LastIndexAny(text[limit-reach:limit], " \n\t\r"); i >= 0 {
		return limit - reach + i + 1
	}
	end := limit
	for end > limit-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

// overlapStart returns the start of the token that has overlap-1 tokens between it and end, not below lowest.
func (a *Analyzer) overlapStart(text string, lowest, end, overlap int) int {
	if overlap <= 0 {
		return end
	}
	from := max(lowest, end-overlap*(MaxTerm+1))
	for from < end && !utf8.RuneStart(text[from]) {
		from++
	}
	ring := make([]int, overlap)
	n := 0
	a.Tokens(text[from:end], func(t Token) bool {
		ring[n%overlap] = from + int(t.Start)
		n++
		return true
	})
	switch {
	case n == 0:
		return end
	case n < overlap:
		return ring[min(n-1, 1)] // the first token may be the rest of one
	}
	return ring[n%overlap]
}
