package transcript

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// ErrTorn is returned with what could be read when a document ends too early:
// its writer is in the middle of rewriting it, or crashed there.
var ErrTorn = errors.New("the JSON document is cut off")

// ReadDocument streams one JSON object from r. The elements of the top-level
// arrays named in lists go to elem one at a time, in order of appearance;
// every other member goes to member. Values are valid during the call only.
// Members named in skip are replaced by null wherever they stand. Memory is
// bounded by the largest element, itself bounded by jsonv.DefaultLimits; a
// document of any size passes. cut is the number of bytes left out.
func ReadDocument(ctx context.Context, r io.Reader, lists, skip []string,
	member func(key string, v jsonv.Value) error,
	elem func(list string, i int, v jsonv.Value) error,
) (cut int64, err error) {
	d := &document{r: bufio.NewReaderSize(r, 256<<10), lim: jsonv.DefaultLimits(skip...)}
	defer func() { cut = d.cut }()
	c, err := d.next()
	if err != nil {
		return 0, torn(err)
	}
	if c != '{' {
		return 0, fmt.Errorf("read document: it starts with %q, not with an object", c)
	}
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		c, err := d.next()
		if err != nil {
			return 0, torn(err)
		}
		switch c {
		case '}':
			return 0, nil
		case ',':
			continue
		case '"':
		default:
			return 0, fmt.Errorf("read document: %q where a member name belongs", c)
		}
		d.back()
		k, err := d.value(ctx)
		if err != nil {
			return 0, torn(err)
		}
		key := k.Str()
		if c, err = d.next(); err != nil {
			return 0, torn(err)
		}
		if c != ':' {
			return 0, fmt.Errorf("read document: %q after the member name %.40q", c, key)
		}
		if c, err = d.next(); err != nil {
			return 0, torn(err)
		}
		if c == ',' || c == '}' || c == ']' || c == ':' {
			return 0, fmt.Errorf("read document: %q where the value of %.40q belongs", c, key)
		}
		d.back()
		if c == '[' && slices.Contains(lists, key) {
			if err := d.list(ctx, key, elem); err != nil {
				return 0, torn(err)
			}
			continue
		}
		skipped := slices.Contains(skip, key)
		v, err := d.value(ctx)
		if err != nil {
			return 0, torn(err)
		}
		if skipped {
			v = jsonv.Value("null")
		}
		if err := member(key, v); err != nil {
			return 0, err
		}
	}
}

// ReadArray streams one JSON array from r as ReadDocument streams its lists, within
// limits that the caller gives. lost is the number of bytes of text left out.
func ReadArray(ctx context.Context, r io.Reader, lim jsonv.Limits, elem func(i int, v jsonv.Value) error) (lost int64, err error) {
	d := &document{r: bufio.NewReaderSize(r, 256<<10), lim: lim}
	c, err := d.next()
	if err != nil {
		return 0, torn(err)
	}
	if c != '[' {
		return 0, fmt.Errorf("read document: it starts with %q, not with a list", c)
	}
	d.back()
	err = d.list(ctx, "", func(_ string, i int, v jsonv.Value) error { return elem(i, v) })
	return d.lost, torn(err)
}

func torn(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrTorn
	}
	return err
}

type document struct {
	r   *bufio.Reader
	lim jsonv.Limits
	buf []byte
	cut int64
	// lost is the part of cut that was text.
	lost int64
}

// next returns the next byte that is no white space (a byte order mark and
// NUL bytes count as such).
func (d *document) next() (byte, error) {
	for {
		c, err := d.r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch c {
		case ' ', '\t', '\r', '\n', 0, 0xef, 0xbb, 0xbf:
		default:
			return c, nil
		}
	}
}

func (d *document) back() { _ = d.r.UnreadByte() }

// value reads one whole value.
func (d *document) value(ctx context.Context) (jsonv.Value, error) {
	if cap(d.buf) > 2*wholeLine {
		d.buf = nil
	}
	s := jsonv.NewShrinker(d.lim, false, d.buf)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := d.r.Peek(1); err != nil {
			return nil, err
		}
		b, _ := d.r.Peek(d.r.Buffered())
		n, done := s.Feed(b)
		if n == 0 && !done {
			return nil, errors.New("read document: a value is missing")
		}
		_, _ = d.r.Discard(n)
		if done {
			d.buf = s.Bytes()
			d.cut += s.Cut()
			d.lost += s.Lost()
			if s.Broken() {
				return nil, errors.New("read document: nested or structured beyond any bound")
			}
			return jsonv.Value(d.buf), nil
		}
	}
}

func (d *document) list(ctx context.Context, key string, elem func(string, int, jsonv.Value) error) error {
	if _, err := d.next(); err != nil { // the bracket
		return err
	}
	for i := 0; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := d.next()
		if err != nil {
			return err
		}
		switch c {
		case ']':
			return nil
		case ',':
			continue
		case '}', ':':
			return fmt.Errorf("read document: %q inside the list %s", c, key)
		}
		d.back()
		v, err := d.value(ctx)
		if err != nil {
			return err
		}
		if err := elem(key, i, v); err != nil {
			return err
		}
		i++
	}
}
