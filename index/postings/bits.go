package postings

import (
	"encoding/binary"
	"math/bits"
)

// escape is the quotient from which a value is written plainly: an outlier must
// not take thousands of bits.
const escape = 24

// bitWriter appends bits, the highest first.
type bitWriter struct {
	b   []byte
	acc uint64 // bits not written yet, from the highest
	n   uint   // how many of them, below 64
}

// put writes the lowest n bits of v, at most 64.
func (w *bitWriter) put(v uint64, n uint) {
	v <<= 64 - n
	w.acc |= v >> w.n
	if w.n += n; w.n >= 64 {
		w.b = binary.BigEndian.AppendUint64(w.b, w.acc)
		w.n -= 64
		w.acc = v << (n - w.n)
	}
}

// rice writes a value with parameter k: the quotient by 2^k as that many ones and
// a zero, then the rest in k bits.
func (w *bitWriter) rice(v uint32, k uint) {
	q := v >> k
	if q >= escape {
		w.put(1<<escape-1, escape)
		w.put(uint64(v), 32)
		return
	}
	w.put((1<<q-1)<<(k+1)|uint64(v)&(1<<k-1), uint(q)+1+k)
}

// gamma writes a value from 1 in Elias' gamma code.
func (w *bitWriter) gamma(v uint32) {
	n := uint(bits.Len32(v))
	w.put(uint64(v), 2*n-1)
}

// end fills the last byte and returns what was written.
func (w *bitWriter) end() []byte {
	for n := (w.n + 7) / 8; n > 0; n-- {
		w.b = append(w.b, byte(w.acc>>56))
		w.acc <<= 8
	}
	w.n = 0
	return w.b
}

// bitReader reads what a bitWriter has written. Beyond its end it reads zeros and
// becomes bad.
type bitReader struct {
	b   []byte
	acc uint64 // the next bits, from the highest
	n   uint   // how many of them there are
	bad bool
}

func (r *bitReader) reset(b []byte) { *r = bitReader{b: b} }

func (r *bitReader) fill() {
	if len(r.b) >= 8 {
		r.acc |= binary.BigEndian.Uint64(r.b) >> r.n
		k := (63 - r.n) / 8
		r.b = r.b[k:]
		r.n += 8 * k
		// Bits beyond n are those of the next byte; they come again.
		return
	}
	for r.n <= 56 && len(r.b) > 0 {
		r.acc |= uint64(r.b[0]) << (56 - r.n)
		r.b = r.b[1:]
		r.n += 8
	}
}

func (r *bitReader) take(n uint) {
	if n > r.n {
		r.bad = true
		r.acc, r.n = 0, 0
		return
	}
	r.acc <<= n
	r.n -= n
}

func (r *bitReader) get(n uint) uint32 {
	if n == 0 {
		return 0
	}
	if r.n < n {
		r.fill()
	}
	v := uint32(r.acc >> (64 - n))
	r.take(n)
	return v
}

func (r *bitReader) rice(k uint) uint32 {
	if r.n < escape+32 {
		r.fill()
	}
	q := uint(bits.LeadingZeros64(^r.acc))
	if q >= escape {
		r.take(escape)
		return r.get(32)
	}
	if n := q + 1 + k; n <= r.n {
		v := uint32(q)<<k | uint32(r.acc<<(q+1)>>1>>(63-k))
		r.acc <<= n
		r.n -= n
		return v
	}
	r.take(q + 1)
	return uint32(q)<<k | r.get(k)
}

func (r *bitReader) gamma() uint32 {
	if r.n < 48 {
		r.fill()
	}
	z := uint(bits.LeadingZeros64(r.acc))
	if z > 31 {
		r.bad = true
		return 1
	}
	r.take(z)
	return r.get(z + 1)
}

// riceParameter is a good parameter for values of a sum: the logarithm of
// their mean times ln 2.
func riceParameter(sum uint64, n int) uint {
	if n == 0 {
		return 0
	}
	mean := sum * 44 / 64 / uint64(n) // ln 2 is about 44/64
	return uint(min(bits.Len64(mean), 31))
}
