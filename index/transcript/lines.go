package transcript

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// wholeLine is the size up to which a line is kept as it stands. Longer lines
// go through a jsonv.Shrinker, so that a record of any size passes in bounded
// memory. Real lines reach 2.1 MB.
const wholeLine = 4 << 20

// Record is one line of a JSONL transcript. Its bytes are valid until the next
// call of Next.
type Record struct {
	Value  jsonv.Value
	Raw    []byte // the line without its newline, shrunk when it was long
	Offset int64  // of the line's first byte in the file
	Length int64  // bytes on disk, newline included
	Cut    int64  // bytes left out of a long line
	Shared bool   // found on a damaged line, which holds more than this record
}

// Lines reads the records of a JSONL file up to the size it had when it was
// opened. Damage is skipped and counted, never fatal: NUL runs, lines that are
// no JSON, two records spliced on one line. A last line without newline is
// taken when it is a complete record; otherwise it is left for the next pass
// (Offset stays before it, Torn tells).
type Lines struct {
	r       *bufio.Reader
	lim     jsonv.Limits
	off     int64
	end     int64
	buf     []byte
	pending []jsonv.Value // further records recovered from a damaged line
	last    Record

	// Bad counts damaged lines, Torn reports an incomplete last line, Cut is
	// the number of bytes that were left out of over-long records, Lost that of
	// those that were text: beyond what is kept of one record.
	Bad  int
	Torn bool
	Cut  int64
	Lost int64
}

// NewLines reads lines from r, whose first byte stands at offset in the file,
// and stops at end (the size of the file when it was opened; a file that grows
// while it is read is finished by the next pass). Members named in skip are
// dropped from long lines.
func NewLines(r io.Reader, offset, end int64, skip ...string) *Lines {
	size := max(0, end-offset)
	return &Lines{
		// No more than there is: of small files there may be hundreds of thousands.
		r:   bufio.NewReaderSize(io.LimitReader(r, size), int(min(256<<10, size+1))),
		lim: jsonv.DefaultLimits(skip...), off: offset, end: end,
	}
}

// Lines reads the file from a byte offset to the size it had when it was opened.
func (f *File) Lines(offset int64, skip ...string) *Lines {
	return NewLines(io.NewSectionReader(f, offset, max(0, f.Size-offset)), offset, f.Size, skip...)
}

// Offset is the position after the last line that Next returned or skipped;
// where the next pass continues.
func (l *Lines) Offset() int64 { return l.off }

// progressStep is how many bytes pass between two reports of progress.
const progressStep = 1 << 20

// Each calls f for every record. It reports the offset to progress about once a
// megabyte and at the end, and then adds to cp what was damaged, torn or cut.
func (l *Lines) Each(ctx context.Context, cp *Checkpoint, progress func(offset int64), f func(Record) error) error {
	told := l.off
	for {
		rec, err := l.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := f(rec); err != nil {
			return err
		}
		if l.off-told >= progressStep {
			told = l.off
			progress(told)
		}
	}
	progress(l.off)
	cp.Bad += l.Bad
	cp.Torn = l.Torn
	if l.Lost > 0 {
		cp.Partial = "over-long texts were cut"
	}
	return nil
}

// Next returns the next record, io.EOF after the last one.
func (l *Lines) Next(ctx context.Context) (Record, error) {
	for {
		if len(l.pending) > 0 {
			rec := l.last
			rec.Value = l.pending[0]
			rec.Raw, rec.Shared = rec.Value, true
			l.pending = l.pending[1:]
			return rec, nil
		}
		if err := ctx.Err(); err != nil {
			return Record{}, err
		}
		raw, n, cut, nl, err := l.line(ctx)
		if err != nil {
			return Record{}, err
		}
		rec := Record{Raw: raw, Offset: l.off, Length: n, Cut: cut}
		raw = bytes.Trim(raw, "\x00 \t\r\n\ufeff")
		if len(raw) == 0 {
			if !nl {
				// A hole at the end may still be filled by its writer.
				l.Torn = n > 0
				return Record{}, io.EOF
			}
			if len(rec.Raw) > 0 && bytes.IndexByte(rec.Raw, 0) >= 0 {
				l.Bad++
			}
			l.off += n
			continue
		}
		end, ok := jsonv.Complete(raw)
		if ok && len(bytes.TrimSpace(raw[end:])) == 0 {
			l.off += n
			l.Cut += cut
			rec.Value = raw[:end]
			return rec, nil
		}
		if !nl {
			l.Torn = true
			return Record{}, io.EOF
		}
		l.off += n
		l.Bad++
		l.Cut += cut
		l.last = rec
		l.pending = recoverRecords(raw)
	}
}

// line returns the next line, its length on disk, the bytes cut from it and
// whether it ended in a newline. io.EOF only when nothing was left.
func (l *Lines) line(ctx context.Context) (raw []byte, n, cut int64, nl bool, err error) {
	l.buf = l.buf[:0]
	if cap(l.buf) > 2*wholeLine {
		l.buf = nil // a giant line must not keep its memory
	}
	for {
		chunk, err := l.r.ReadSlice('\n')
		n += int64(len(chunk))
		if err == nil || errors.Is(err, io.EOF) {
			nl = err == nil
			if n == 0 {
				return nil, 0, 0, false, io.EOF
			}
			if len(l.buf) == 0 {
				return chunk, n, 0, nl, nil
			}
			l.buf = append(l.buf, chunk...)
			return l.buf, n, 0, nl, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, n, 0, false, fmt.Errorf("read line at byte %d: %w", l.off, err)
		}
		l.buf = append(l.buf, chunk...)
		if len(l.buf) > wholeLine {
			return l.longLine(ctx, n)
		}
	}
}

// longLine reads the rest of a line of any length, n bytes of which are read.
func (l *Lines) longLine(ctx context.Context, n int64) (raw []byte, total, cut int64, nl bool, err error) {
	s := jsonv.NewShrinker(l.lim, true, nil)
	_, nl = s.Feed(l.buf)
	l.buf = nil
	for !nl {
		if err := ctx.Err(); err != nil {
			return nil, n, 0, false, err
		}
		chunk, err := l.r.ReadSlice('\n')
		n += int64(len(chunk))
		_, nl = s.Feed(chunk)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, n, 0, false, fmt.Errorf("read line at byte %d: %w", l.off, err)
		}
	}
	l.Lost += s.Lost()
	return s.Bytes(), n, s.Cut(), nl, nil
}

// maxResync bounds the attempts to find a record inside a damaged line, and
// resyncBytes what they may read together beyond the line's own length.
const (
	maxResync   = 256
	resyncBytes = 64 << 20
)

// recoverRecords finds what whole records a damaged line holds: records glued
// together, or a record cut off and overwritten by the next one (a crash or
// two writers without a lock). Objects inside the cut record are not records;
// only an object that is followed by another one or by the end of the line is.
func recoverRecords(line []byte) []jsonv.Value {
	var out []jsonv.Value
	start := []byte(`{"`)
	budget := len(line) + resyncBytes
	for i, tries := 0, 0; tries < maxResync && budget > 0; tries++ {
		j := bytes.Index(line[i:], start)
		if j < 0 {
			break
		}
		i += j
		end, ok := jsonv.Complete(line[i:])
		budget -= end
		if !ok {
			i += 2
			continue
		}
		rest := bytes.TrimLeft(line[i+end:], "\x00 \t\r")
		if len(rest) > 0 && !bytes.HasPrefix(rest, start) {
			i += 2
			continue
		}
		out = append(out, jsonv.Value(line[i:i+end]))
		i += end
	}
	return out
}
