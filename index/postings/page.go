package postings

import (
	"context"
	"encoding/binary"
	"fmt"
)

// File is one of the files of a segment.
type File uint8

// The files of a segment.
const (
	Terms File = iota
	Index
	Rows
	Documents
	Positions
	files
)

// PageBytes is the most a page has. What SQLite keeps of a row in the page of its
// table is 489 bytes, and on each page beyond it 4,092 (https://sqlite.org/fileformat2.html, "Cell payload overflow
// pages", with pages of 4 KB), so that two of these are filled.
const PageBytes = 489 + 2*4092

// Store gives the pages of segments.
type Store interface {
	// Page returns a page, nil if there is none. It must not be changed, nor
	// does it change.
	Page(ctx context.Context, segment int64, file File, number uint32) ([]byte, error)
}

// Put takes a page of a segment that is being written. The page is valid during
// the call.
type Put func(file File, number uint32, page []byte) error

// fileWriter cuts what is appended into pages.
type fileWriter struct {
	file File
	put  Put
	buf  []byte
	size int64 // of the whole file
	next uint32
}

func (w *fileWriter) append(b []byte) error {
	w.size += int64(len(b))
	for len(b) > 0 {
		n := min(len(b), PageBytes-len(w.buf))
		w.buf = append(w.buf, b[:n]...)
		b = b[n:]
		if len(w.buf) == PageBytes {
			if err := w.page(); err != nil {
				return err
			}
		}
	}
	return nil
}

// page ends the page.
func (w *fileWriter) page() error {
	if len(w.buf) == 0 {
		return nil
	}
	err := w.put(w.file, w.next, w.buf)
	w.next++
	w.buf = w.buf[:0]
	return err
}

// fileReader reads a file on from some place.
type fileReader struct {
	seg  *Segment
	file File
	at   int64
	page []byte // the page at at, if it is number
	no   uint32
	held bool
	buf  []byte // what stood on two pages
}

// next returns n bytes and goes on behind them. They are valid until the next call.
func (r *fileReader) next(ctx context.Context, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	for first := true; ; first = false {
		no, off := uint32(r.at/PageBytes), int(r.at%PageBytes)
		if !r.held || r.no != no {
			page, err := r.seg.page(ctx, r.file, no)
			if err != nil {
				return nil, err
			}
			r.page, r.no, r.held = page, no, true
		}
		if off >= len(r.page) {
			return nil, malformed("a list beyond its file")
		}
		part := r.page[off:min(len(r.page), off+n)]
		r.at += int64(len(part))
		if first && len(part) == n {
			return part, nil
		}
		if first {
			r.buf = r.buf[:0]
		}
		r.buf = append(r.buf, part...)
		if n -= len(part); n == 0 {
			return r.buf, nil
		}
	}
}

// uvarint reads a number.
func (r *fileReader) uvarint(ctx context.Context) (uint64, error) {
	if r.held && uint32(r.at/PageBytes) == r.no {
		if off := int(r.at % PageBytes); off < len(r.page) {
			if v, n := binary.Uvarint(r.page[off:]); n > 0 {
				r.at += int64(n)
				return v, nil
			}
		}
	}
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b, err := r.next(ctx, 1)
		if err != nil {
			return 0, err
		}
		v |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return v, nil
		}
	}
	return 0, malformed("a number")
}

func (s *Segment) page(ctx context.Context, file File, number uint32) ([]byte, error) {
	page, err := s.store.Page(ctx, s.ID, file, number)
	if err != nil {
		return nil, fmt.Errorf("read postings: %w", err)
	}
	if page == nil {
		return nil, malformed(fmt.Sprintf("page %d of file %d is missing", number, file))
	}
	return page, nil
}
