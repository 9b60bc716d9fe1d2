package vocabulary

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/sessionls/sessionls/index/analysis"
)

// maxLen is the longest word, in bytes and so in characters.
const maxLen = analysis.MaxTerm

// Chunk is a set of words. It never changes and is safe for concurrent use.
type Chunk struct {
	// ascii holds the words of ASCII letters and digits by length, one behind
	// the other in ascending order.
	ascii [maxLen + 1][]byte
	// other holds all others by their number of characters, each followed by a
	// newline, in ascending order.
	other [maxLen + 1][]byte
}

// ErrMalformed is returned for bytes that no chunk was encoded to.
var ErrMalformed = errors.New("a chunk of the vocabulary is malformed")

// The encoding of a chunk is a sequence of groups: one byte with the length,
// asciiGroup added for those of the first kind, the size of the group in bytes
// as a uvarint, and the group as it is in memory.
const asciiGroup = 0x80

// Encode returns the encoding of the chunk with the given words: ascending,
// distinct, of 1 to 64 bytes of UTF-8 without newlines.
func Encode(words [][]byte) []byte {
	var c Chunk
	size := 0
	for _, w := range words {
		if n := len(w); isASCII(w) {
			c.ascii[n] = append(c.ascii[n], w...)
		} else {
			n := utf8.RuneCount(w)
			c.other[n] = append(append(c.other[n], w...), '\n')
		}
		size += len(w) + 1
	}
	out := make([]byte, 0, size+4*maxLen)
	for n := range maxLen + 1 {
		out = appendGroup(out, byte(n)|asciiGroup, c.ascii[n])
		out = appendGroup(out, byte(n), c.other[n])
	}
	return out
}

func appendGroup(out []byte, kind byte, words []byte) []byte {
	if len(words) == 0 {
		return out
	}
	out = binary.AppendUvarint(append(out, kind), uint64(len(words)))
	return append(out, words...)
}

// Decode reads what Encode has written; the chunk keeps raw.
func Decode(raw []byte) (*Chunk, error) {
	c := &Chunk{}
	for len(raw) > 0 {
		kind := raw[0]
		size, n := binary.Uvarint(raw[1:])
		if n <= 0 || size > uint64(len(raw)-1-n) {
			return nil, ErrMalformed
		}
		words := raw[1+n : 1+n+int(size) : 1+n+int(size)]
		raw = raw[1+n+int(size):]
		length := int(kind &^ asciiGroup)
		if length == 0 || length > maxLen || len(words) == 0 {
			return nil, ErrMalformed
		}
		if kind&asciiGroup != 0 {
			if len(words)%length != 0 {
				return nil, ErrMalformed
			}
			c.ascii[length] = words
		} else {
			if words[len(words)-1] != '\n' || !utf8.Valid(words) {
				return nil, ErrMalformed
			}
			c.other[length] = words
		}
	}
	return c, nil
}

// Words calls f for every word until it returns false. The bytes must not be
// changed.
func (c *Chunk) Words(f func(word []byte) bool) {
	for n := range maxLen + 1 {
		for g := c.ascii[n]; len(g) > 0; g = g[n:] {
			if !f(g[:n:n]) {
				return
			}
		}
		for g := c.other[n]; len(g) > 0; {
			i := bytes.IndexByte(g, '\n')
			if !f(g[:i:i]) {
				return
			}
			g = g[i+1:]
		}
	}
}

// Merge encodes the words of several chunks as one.
func Merge(chunks ...*Chunk) []byte {
	var all [][]byte
	for _, c := range chunks {
		c.Words(func(w []byte) bool {
			all = append(all, w)
			return true
		})
	}
	return Encode(distinct(all))
}

// distinct sorts words and drops repetitions.
func distinct(words [][]byte) [][]byte {
	slices.SortFunc(words, bytes.Compare)
	return slices.CompactFunc(words, bytes.Equal)
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
