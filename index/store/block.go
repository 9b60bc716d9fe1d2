package store

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

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
}

type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// codecs are shared: an encoder or decoder holds about a megabyte and is safe
// for concurrent EncodeAll and DecodeAll.
var codecs = sync.OnceValues(func() (*codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxBlock), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("set up decompression: %w", err)
	}
	return &codec{enc, dec}, nil
})

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

// appendEvent adds the event to a raw block.
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
	b = binary.AppendUvarint(b, uint64(len(parts)))
	for _, p := range parts {
		b = append(b, byte(p.Kind))
		b = appendString(b, p.Text)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func compress(raw []byte) ([]byte, error) {
	c, err := codecs()
	if err != nil {
		return nil, err
	}
	return c.enc.EncodeAll(raw, nil), nil
}

// decodeBlock yields the events of a stored block in order until yield returns
// false. Damage is an ErrDamaged, never an oversized allocation.
func decodeBlock(data []byte, yield func(*Stored) bool) error {
	c, err := codecs()
	if err != nil {
		return err
	}
	raw, err := c.dec.DecodeAll(data, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	d := decoder{b: string(raw)}
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
		k := transcript.PartKind(d.byte())
		e.Parts = append(e.Parts, transcript.Part{Kind: k, Text: d.string()})
	}
	return e
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
