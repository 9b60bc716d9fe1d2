package store

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sessionls/sessionls/index/analysis"
	"github.com/sessionls/sessionls/index/transcript"
)

// Words is a part that holds the distinct words of the middle of a long tool
// output, in order of first appearance. They are searchable one by one; no
// phrase spans two of them.
const Words transcript.PartKind = 3

// Budgets of matching.md rule 11, in bytes.
const (
	outputHead = 4 << 10
	outputTail = 8 << 10
)

// maxWords bounds the bytes kept of distinct middle words. A megabyte of
// ordinary log has a few thousand distinct words; only generated noise has
// more, and rule 11 lets that be left out.
const maxWords = 1 << 20

// reduceOutput splits a long tool output into head and tail, kept word for
// word, and the distinct words between them. reduced is the number of bytes
// that are no longer there.
func reduceOutput(text string) (kept, words string, reduced int64) {
	if len(text) <= outputHead+outputTail+256 {
		return text, "", 0
	}
	h := cutAt(text, outputHead)
	t := len(text) - outputTail
	for t < len(text) && !utf8.RuneStart(text[t]) {
		t++
	}
	if i := strings.IndexAny(text[t:min(t+256, len(text))], " \t\n"); i >= 0 {
		t += i
	}
	head, middle, tail := text[:h], text[h:t], text[t:]
	words = distinctWords(middle)
	kept = head + "\n…\n" + tail
	return kept, words, int64(len(text) - len(head) - len(tail) - len(words))
}

// cutAt returns the greatest index ≤ n that ends a word, or at least a rune.
func cutAt(text string, n int) int {
	if n >= len(text) {
		return len(text)
	}
	if i := strings.LastIndexAny(text[max(0, n-256):n], " \t\n"); i >= 0 {
		return max(0, n-256) + i
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

func distinctWords(text string) string {
	seen := make(map[string]struct{}, 256)
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		word = strings.TrimFunc(word, func(r rune) bool {
			return r < utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '#' && r != '.'
		})
		if word == "" {
			continue
		}
		if _, dup := seen[word]; dup || random(word) {
			continue
		}
		if b.Len()+len(word) > maxWords {
			// A word of letters is never left out for its size alone.
			if !letters(word) || b.Len() > 4*maxWords {
				continue
			}
		}
		seen[word] = struct{}{}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// random reports whether a token looks generated: hex of 12 and more, base64
// of 20 and more, digits of 6 and more. Words of letters up to 20 never do.
func random(w string) bool {
	if len(w) < 6 {
		return false
	}
	var digits, hex, upper, lower, other int
	for i := range len(w) {
		switch c := w[i]; {
		case c >= '0' && c <= '9':
			digits++
			hex++
		case c >= 'a' && c <= 'f':
			hex++
			lower++
		case c >= 'A' && c <= 'F':
			hex++
			upper++
		case c >= 'g' && c <= 'z':
			lower++
		case c >= 'G' && c <= 'Z':
			upper++
		case c == '+' || c == '/' || c == '=':
			other++
		default:
			return false
		}
	}
	switch {
	case digits == len(w):
		return true
	case hex == len(w) && digits > 0 && len(w) >= 12:
		return true
	case len(w) >= 20 && digits > 0 && upper > 0 && lower > 0:
		return true
	}
	return len(w) > 64 && other == 0 && digits > 0
}

func letters(w string) bool {
	if utf8.RuneCountInString(w) > 20 {
		return false
	}
	for _, r := range w {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return true
}

// Rows are cut at rowBytes; each repeats the last rowOverlap terms of the one
// before, so that a phrase is found across the cut (matching.md rule 6).
const (
	rowBytes   = 256 << 10
	rowOverlap = 64
)

// Chunk returns the k-th row's share of a part's text, "" beyond the last one.
func Chunk(text string, k int) string {
	if len(text) <= rowBytes {
		if k > 0 {
			return ""
		}
		return text
	}
	var out string
	analysis.New().Rows(text, rowBytes, rowOverlap, func(start, end int) bool {
		if k == 0 {
			out = text[start:end]
		}
		k--
		return k >= 0
	})
	return out
}
