// Package jsonv walks JSON text without decoding what nobody asks for.
//
// Transcripts are mostly copies, images and tool output: a reader wants a few
// members of each record and must step over the rest at memory speed. A Value
// is a slice of the original bytes; nothing is allocated until a string is
// unescaped. The walker is lenient where transcripts are damaged or odd
// (invalid UTF-8, lone surrogates, duplicate keys, raw control bytes inside
// strings, records nested without bound): it reads what can be read and never
// panics. Valid tells whether a whole record is well formed.
package jsonv

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Value is the raw text of one JSON value, without surrounding white space.
// The zero Value stands for an absent member.
type Value []byte

// Kind is the type of a JSON value.
type Kind uint8

// The kinds of value. Absent is the kind of a member that is not there, and of
// text that does not start a JSON value.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// Parse returns the first JSON value in b, without checking its inside.
func Parse(b []byte) Value {
	i := skipSpace(b, 0)
	if i >= len(b) {
		return nil
	}
	end := skipValue(b, i)
	if end <= i {
		return nil
	}
	return Value(b[i:end])
}

// Kind tells what v is, from its first byte.
func (v Value) Kind() Kind {
	if len(v) == 0 {
		return Absent
	}
	switch c := v[0]; {
	case c == '"':
		return String
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == 't' || c == 'f':
		return Bool
	case c == 'n':
		return Null
	case c == '-' || c >= '0' && c <= '9':
		return Number
	}
	return Absent
}

// Exists reports whether v is there and is not null.
func (v Value) Exists() bool { k := v.Kind(); return k != Absent && k != Null }

// Get descends through objects by key. The last of duplicate keys wins, as in
// JavaScript, which wrote nearly all transcripts. A missing step gives nil.
func (v Value) Get(path ...string) Value {
	for _, key := range path {
		var found Value
		v.Each(func(k, val Value) bool {
			if k.equalKey(key) {
				found = val
			}
			return true
		})
		if found == nil {
			return nil
		}
		v = found
	}
	return v
}

// Pick fills out[i] with the member named keys[i], in one pass over v.
// Members that are not there are left as they were.
func (v Value) Pick(keys []string, out []Value) {
	v.Each(func(k, val Value) bool {
		for i, key := range keys {
			if k.equalKey(key) {
				out[i] = val
				break
			}
		}
		return true
	})
}

// Each calls f for every member of an object with its raw key (quotes and
// escapes included; compare with Key or EqualKey) until f returns false.
func (v Value) Each(f func(key, val Value) bool) {
	if len(v) == 0 || v[0] != '{' {
		return
	}
	i := 1
	for {
		i = skipSpace(v, i)
		if i < len(v) && v[i] == ',' {
			i = skipSpace(v, i+1)
		}
		if i >= len(v) || v[i] != '"' {
			return
		}
		ke := skipString(v, i)
		key := v[i:min(ke, len(v))]
		i = skipSpace(v, ke)
		if i >= len(v) || v[i] != ':' {
			return
		}
		i = skipSpace(v, i+1)
		if i >= len(v) {
			return
		}
		end := skipValue(v, i)
		if end <= i {
			return
		}
		if !f(key, v[i:end]) {
			return
		}
		i = end
	}
}

// Elems calls f for every element of an array until f returns false.
func (v Value) Elems(f func(i int, val Value) bool) {
	if len(v) == 0 || v[0] != '[' {
		return
	}
	i := 1
	for n := 0; ; n++ {
		i = skipSpace(v, i)
		if i < len(v) && v[i] == ',' {
			i = skipSpace(v, i+1)
		}
		if i >= len(v) || v[i] == ']' {
			return
		}
		end := skipValue(v, i)
		if end <= i {
			return
		}
		if !f(n, v[i:end]) {
			return
		}
		i = end
	}
}

// Strings calls f for every string at any depth of v that is no member name,
// in order of appearance, until f returns false. It takes time linear in v
// however deep v is nested.
func (v Value) Strings(f func(s Value) bool) {
	for i := 0; i < len(v); {
		if v[i] != '"' {
			i++
			continue
		}
		end := skipString(v, i)
		s := v[i:end]
		i = skipSpace(v, end)
		if i < len(v) && v[i] == ':' {
			continue
		}
		if !f(s) {
			return
		}
	}
}

// EqualKey reports whether a raw key, as Each hands it over, spells s.
func (v Value) EqualKey(s string) bool { return v.equalKey(s) }

func (v Value) equalKey(s string) bool {
	if len(v) == len(s)+2 && string(v[1:len(v)-1]) == s {
		return true
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return false
	}
	return v.Str() == s
}

// Str returns a string value unescaped, with invalid UTF-8 and lone surrogates
// as U+FFFD. Of a number or a boolean it returns the text (writers store ids
// and counters either way), of anything else "".
func (v Value) Str() string {
	switch v.Kind() {
	case String:
		if plain, ok := v.plain(); ok {
			return string(plain)
		}
		if len(v) < largeStr {
			return string(v.AppendStr(nil))
		}
		// One copy of a large text is enough: nobody else has these bytes.
		b := v.AppendStr(make([]byte, 0, len(v)))
		return unsafe.String(unsafe.SliceData(b), len(b))
	case Number, Bool:
		return string(v)
	}
	return ""
}

// largeStr is the size from which a text is worth saving a copy of.
const largeStr = 64 << 10

// IsStr reports whether v is a string that spells s.
func (v Value) IsStr(s string) bool { return v.Kind() == String && v.equalKey(s) }

// plain returns the inside of a string that needs no unescaping.
func (v Value) plain() ([]byte, bool) {
	in := v[1:]
	if n := len(in); n > 0 && in[n-1] == '"' {
		in = in[:n-1]
	}
	if bytes.IndexByte(in, '\\') >= 0 || !utf8.Valid(in) {
		return nil, false
	}
	return in, true
}

// AppendStr appends the unescaped text of a string value to dst.
func (v Value) AppendStr(dst []byte) []byte {
	if v.Kind() != String {
		return dst
	}
	in := v[1:]
	// A string cut off by the end of the record has no closing quote; a quote
	// at the end that is escaped belongs to the text.
	if n := len(in); n > 0 && closed(v, 0, len(v)) {
		in = in[:n-1]
	}
	for len(in) > 0 {
		j := bytes.IndexByte(in, '\\')
		if j < 0 {
			return appendValid(dst, in)
		}
		dst = appendValid(dst, in[:j])
		in = in[j+1:]
		if len(in) == 0 {
			return dst
		}
		c := in[0]
		in = in[1:]
		switch c {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			r, n := hex4(in)
			if n < 4 {
				dst = utf8.AppendRune(dst, utf8.RuneError)
				in = in[n:]
				break
			}
			in = in[4:]
			if utf16.IsSurrogate(r) {
				if len(in) >= 6 && in[0] == '\\' && in[1] == 'u' {
					if lo, n := hex4(in[2:]); n == 4 {
						if full := utf16.DecodeRune(r, lo); full != utf8.RuneError {
							dst = utf8.AppendRune(dst, full)
							in = in[6:]
							break
						}
					}
				}
				r = utf8.RuneError
			}
			dst = utf8.AppendRune(dst, r)
		default: // \" \\ \/ and escapes that JSON does not know
			dst = append(dst, c)
		}
	}
	return dst
}

func appendValid(dst, b []byte) []byte {
	if utf8.Valid(b) {
		return append(dst, b...)
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		dst = utf8.AppendRune(dst, r)
		b = b[n:]
	}
	return dst
}

func hex4(b []byte) (rune, int) {
	var r rune
	for i := range 4 {
		if i >= len(b) {
			return 0, i
		}
		c := b[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, i
		}
		r = r<<4 | rune(c)
	}
	return r, 4
}

// Float returns a number, also one written as a string; ok is false for
// anything else and for NaN and infinities.
func (v Value) Float() (f float64, ok bool) {
	k := v.Kind()
	if k != Number && k != String || len(v) > 64 {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.Str(), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// Int returns a number cut to an integer; ok as for Float.
func (v Value) Int() (n int64, ok bool) {
	f, ok := v.Float()
	if !ok || f > math.MaxInt64/2 || f < math.MinInt64/2 {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.Str(), 10, 64); err == nil {
		return n, true
	}
	return int64(f), true
}

// True reports whether v is the literal true.
func (v Value) True() bool { return string(v) == "true" }

// Len returns the number of elements of an array, 0 for anything else.
func (v Value) Len() int {
	n := 0
	v.Elems(func(int, Value) bool { n++; return true })
	return n
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string that opens at b[i].
// An unterminated string ends with b.
func skipString(b []byte, i int) int {
	i++
	for {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return len(b)
		}
		// The quote is escaped when an odd number of backslashes precede it.
		k := i + j
		n := 0
		for k-1-n >= i && b[k-1-n] == '\\' {
			n++
		}
		i = k + 1
		if n%2 == 0 {
			return i
		}
	}
}

// skipValue returns the index after the value that starts at b[i], or i when
// no value starts there. Nesting is counted, not recursed into.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
				if depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(b)
	case ',', ':', '}', ']':
		return i
	}
	start := i
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r', ':', '"', '{', '[':
			if i == start {
				return i
			}
			return i
		}
		i++
	}
	return i
}
