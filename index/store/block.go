package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
	"unsafe"

	"github.com/klauspost/compress/zstd"

	"github.com/sessionls/sessionls/index/transcript"
)

// blockBytes is the raw size at which a block is closed. Larger blocks
// compress better, smaller ones are read faster: one is decoded per hit.
const blockBytes = 48 << 10

// maxBlock bounds a decoded block: an event of 64 MB (matching.md rule 11)
// plus its fields. A larger claim in a block's header is damage.
const maxBlock = 160 << 20

// Stored is an event as the index keeps it.
type Stored struct {
	Seq       int
	ID        string
	Type      string
	RawType   string
	Role      transcript.Role
	Time      time.Time
	Inherited bool
	Failed    bool
	Surface   transcript.Surface // filled in by readers from the session
	Tools     []string
	Parts     []transcript.Part
	Rows      int   // FTS rows of this event
	rowAt     int   // the first one, from the block's first row
	Reduced   int64 // bytes of tool output left out of Parts

	lent []loan // parts whose text is still to be filled in; see lender
}

type codec struct {
	enc  *zstd.Encoder
	fast *zstd.Encoder // half the time for a fifteenth more
	dec  *zstd.Decoder
}

// codecs are shared: an encoder or decoder holds about a megabyte and is safe
// for concurrent EncodeAll and DecodeAll.
var codecs = sync.OnceValues(func() (*codec, error) {
	enc, err := newEncoder(zstd.SpeedDefault)
	if err != nil {
		return nil, err
	}
	fast, err := newEncoder(zstd.SpeedFastest)
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxBlock), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("set up decompression: %w", err)
	}
	return &codec{enc, fast, dec}, nil
})

func newEncoder(level zstd.EncoderLevel) (*zstd.Encoder, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(window))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	return enc, nil
}

const (
	flagInherited = 1 << iota
	flagFailed
	flagTime
)

var roles = []transcript.Role{transcript.RoleUnknown, transcript.RoleUser, transcript.RoleAssistant, transcript.RoleTool, transcript.RoleSystem}

func roleCode(r transcript.Role) byte {
	for i, x := range roles {
		if x == r {
			return byte(i)
		}
	}
	return 0
}

// appendEvent adds all of the event but the text of its parts to a raw block.
func appendEvent(b []byte, e *transcript.Event, parts []transcript.Part, rowAt, rows int, reduced int64) []byte {
	var flags byte
	if e.Inherited {
		flags |= flagInherited
	}
	if e.Failed {
		flags |= flagFailed
	}
	if !e.Time.IsZero() {
		flags |= flagTime
	}
	b = append(b, flags, roleCode(e.Role))
	b = binary.AppendUvarint(b, uint64(e.Seq))
	if flags&flagTime != 0 {
		b = binary.AppendVarint(b, e.Time.UnixMilli())
	}
	b = appendString(b, e.ID)
	b = appendString(b, e.Type)
	b = appendString(b, e.RawType)
	b = binary.AppendUvarint(b, uint64(rows))
	b = binary.AppendUvarint(b, uint64(rowAt))
	b = binary.AppendUvarint(b, uint64(reduced))
	b = binary.AppendUvarint(b, uint64(len(e.Tools)))
	for _, t := range e.Tools {
		b = appendString(b, t)
	}
	return binary.AppendUvarint(b, uint64(len(parts)))
}

// appendPart adds a part of the event that appendEvent has added.
func appendPart(b []byte, p transcript.Part) []byte {
	return appendString(append(b, byte(p.Kind)&^lentBit), p.Text)
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// window is how far back, in bytes, compression looks for repetitions. Nearly all
// blocks are smaller, and an encoder keeps as much memory as that.
const window = 1 << 20

func compress(raw []byte) ([]byte, error) {
	c, err := codecs()
	if err != nil {
		return nil, err
	}
	return c.enc.EncodeAll(raw, nil), nil
}

// compressSoon is compress for what will be replaced soon.
func compressSoon(raw []byte) ([]byte, error) {
	c, err := codecs()
	if err != nil {
		return nil, err
	}
	return c.fast.EncodeAll(raw, nil), nil
}

// moreBytes is the size of the pieces in which the compressed block of a giant
// event is stored: the first in its row, the others in the table "more". SQLite
// and its driver copy a value as a whole, so it must not be large.
const moreBytes = 4 << 20

// compressGiant compresses a block that ends with the parts of a giant event,
// without copying their text, and hands it over in pieces that are valid during
// the call.
func compressGiant(raw []byte, parts []transcript.Part, put func(piece []byte) error) error {
	size := len(raw)
	for _, p := range parts {
		size += 1 + uvarintLen(uint64(len(p.Text))) + len(p.Text)
	}
	out := pieces{put: put}
	enc, err := newEncoder(zstd.SpeedDefault)
	if err != nil {
		return err
	}
	enc.ResetContentSize(&out, int64(size))
	_, err = enc.Write(raw)
	buf := make([]byte, 0, 256<<10)
	for _, p := range parts {
		if err == nil {
			_, err = enc.Write(binary.AppendUvarint(append(buf, byte(p.Kind)), uint64(len(p.Text))))
		}
		for text := p.Text; err == nil && text != ""; {
			n := min(len(text), cap(buf))
			_, err = enc.Write(append(buf, text[:n]...))
			text = text[n:]
		}
	}
	if err = errors.Join(err, enc.Close()); err == nil {
		err = out.flush()
	}
	if err != nil {
		return fmt.Errorf("compress an event: %w", err)
	}
	return nil
}

// pieces is a writer that hands on what is written in pieces of moreBytes.
type pieces struct {
	buf []byte
	put func([]byte) error
}

func (w *pieces) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		k := min(len(b), moreBytes-len(w.buf))
		w.buf = append(w.buf, b[:k]...)
		b = b[k:]
		if len(w.buf) == moreBytes {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (w *pieces) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	err := w.put(w.buf)
	w.buf = w.buf[:0]
	return err
}

func uvarintLen(x uint64) int {
	n := 1
	for ; x >= 0x80; x >>= 7 {
		n++
	}
	return n
}

// decodeBlock yields the events of a stored block in order until yield returns
// false. Damage is an ErrDamaged, never an oversized allocation.
func decodeBlock(data []byte, yield func(*Stored) bool) error {
	raw, err := expand(data)
	if err != nil {
		return err
	}
	return eachEvent(raw, yield)
}

// expand decompresses a stored block.
func expand(data []byte) (string, error) {
	c, err := codecs()
	if err != nil {
		return "", err
	}
	raw, err := c.dec.DecodeAll(data, nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	// No copy: nobody else has these bytes, and a block may be 64 MB.
	return viewString(raw), nil
}

// viewString is b as a string that shares its memory.
func viewString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// unpackedSize is how large a stored block says that it is, math.MaxInt64 if there is none or
// it does not say.
func unpackedSize(data []byte) int64 {
	var h zstd.Header
	if err := h.Decode(data); err != nil || !h.HasFCS || h.FrameContentSize > maxBlock {
		return math.MaxInt64
	}
	return int64(h.FrameContentSize)
}

// eachEvent yields the events of a block, which share its memory. What they share with others
// is to be filled in by a lender.
func eachEvent(raw string, yield func(*Stored) bool) error {
	d := decoder{b: raw}
	for len(d.b) > 0 && !d.bad {
		e := d.event()
		if d.bad {
			break
		}
		if !yield(e) {
			return nil
		}
	}
	if d.bad {
		return fmt.Errorf("%w: an event block is malformed", ErrDamaged)
	}
	return nil
}

type decoder struct {
	b   string
	bad bool
	// part, if set, is told of each part with a text of its own, and how much was left
	// before it.
	part func(left int, text string)
}

func (d *decoder) event() *Stored {
	e := &Stored{}
	flags := d.byte()
	e.Inherited, e.Failed = flags&flagInherited != 0, flags&flagFailed != 0
	if r := d.byte(); int(r) < len(roles) {
		e.Role = roles[r]
	} else {
		d.bad = true
	}
	e.Seq = d.int()
	if flags&flagTime != 0 {
		e.Time = time.UnixMilli(d.signed()).UTC()
	}
	e.ID, e.Type, e.RawType = d.string(), d.string(), d.string()
	e.Rows, e.rowAt = d.int(), d.int()
	e.Reduced = int64(d.int())
	for n := d.count(); n > 0; n-- {
		e.Tools = append(e.Tools, d.string())
	}
	for n := d.count(); n > 0; n-- {
		d.addPart(e)
	}
	return e
}

func (d *decoder) addPart(e *Stored) {
	left := len(d.b)
	k := d.byte()
	p := transcript.Part{Kind: transcript.PartKind(k &^ lentBit)}
	if k&lentBit != 0 {
		e.lent = append(e.lent, loan{len(e.Parts), int64(d.int())})
	} else if p.Text = d.string(); d.part != nil && !d.bad {
		d.part(left, p.Text)
	}
	e.Parts = append(e.Parts, p)
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.bad = true
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) uvarint() uint64 {
	var x uint64
	for s := uint(0); s < 64; s += 7 {
		c := d.byte()
		if d.bad {
			return 0
		}
		x |= uint64(c&0x7f) << s
		if c < 0x80 {
			return x
		}
	}
	d.bad = true
	return 0
}

func (d *decoder) signed() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (d *decoder) int() int {
	u := d.uvarint()
	if u > 1<<50 {
		d.bad = true
		return 0
	}
	return int(u)
}

// count reads a length of a list whose elements take at least one byte each.
func (d *decoder) count() int {
	n := d.int()
	if n > len(d.b) {
		d.bad = true
		return 0
	}
	return n
}

func (d *decoder) string() string {
	n := d.int()
	if n > len(d.b) {
		d.bad = true
		return ""
	}
	s := d.b[:n]
	d.b = d.b[n:]
	return s
}
