package dsh

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Bounds of decompression and of the search for the next frame after damage.
const (
	maxWindow = 64 << 20
	maxResync = 256
)

var frameMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// errFrame says that no frame starts here; errCut that one starts and goes on
// beyond the end; errSum that only its checksum does.
var (
	errFrame = errors.New("no zstd frame")
	errCut   = errors.New("zstd frame cut off")
	errSum   = fmt.Errorf("%w before its checksum", errCut)
)

// frames reads the text of concatenated zstd frames, one frame at a time, so
// that a damaged one costs no other and the place after the last whole frame
// is known. A frame that is cut off by the end gives what can be decoded.
type frames struct {
	f    io.ReaderAt
	size int64
	at   int64 // where the next frame starts
	done int64 // end of the last whole frame
	dec  *zstd.Decoder

	start    int64 // of the current frame
	cur      bool  // inside a frame
	damaged  bool  // the frame before was not what it seemed: look for the next from inside it
	last     bool  // the current frame is the torn one
	inject   bool  // a line break is due: the text before it was damaged
	newline  bool  // the text so far ends a line
	bad      int   // damaged frames
	torn     bool
	tornText bool // the torn frame gave text
}

func newFrames(f io.ReaderAt, start, size int64) (*frames, error) {
	dec, err := newDecoder(false)
	if err != nil {
		return nil, err
	}
	return &frames{f: f, size: size, at: start, done: start, dec: dec, newline: true}, nil
}

// newDecoder returns a decoder without goroutines of its own. sumless lets a
// wrong checksum pass.
func newDecoder(sumless bool) (*zstd.Decoder, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow), zstd.IgnoreChecksum(sumless))
	if err != nil {
		return nil, fmt.Errorf("read dsh session: %w", err)
	}
	return dec, nil
}

func (fr *frames) close() { fr.dec.Close() }

// Read implements io.Reader.
func (fr *frames) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if fr.inject {
			fr.inject, fr.newline = false, true
			p[0] = '\n'
			return 1, nil
		}
		if !fr.cur {
			if err := fr.open(); err != nil {
				return 0, err
			}
			continue // a line break may be due first
		}
		n, err := fr.dec.Read(p)
		if err != nil {
			fr.cur = false
			switch {
			case fr.last:
				fr.torn = true
			case err == io.EOF:
				fr.done = fr.at
			default: // a checksum or the inside of a whole frame is wrong
				fr.bad++
				fr.at, fr.damaged = fr.start+1, true
				fr.inject = !fr.newline || n > 0 && p[n-1] != '\n'
			}
		}
		if n > 0 {
			fr.newline = p[n-1] == '\n'
			fr.tornText = fr.tornText || fr.last
			return n, nil
		}
	}
	return 0, nil
}

// open finds the next frame and starts decoding it.
func (fr *frames) open() error {
	if fr.last || fr.at >= fr.size {
		return io.EOF
	}
	start := fr.at
	end, err := int64(0), errFrame
	if !fr.damaged {
		end, err = fr.frame(start)
	}
	if err != nil {
		next, nextEnd, ok := fr.resync(start + 1)
		switch {
		case ok: // damage in the middle of the log
			start, end = next, nextEnd
			fr.inject = fr.inject || !fr.newline
		case errors.Is(err, errCut):
			end, fr.last = fr.size, true
		case fr.damaged:
			fr.at, fr.done = fr.size, fr.size
			return io.EOF
		}
		if !fr.damaged && !fr.last {
			fr.bad++
		}
		if !ok && !fr.last {
			fr.at = fr.size
			return io.EOF
		}
	}
	var dec io.Reader = io.NewSectionReader(fr.f, start, end-start)
	if fr.last && errors.Is(err, errSum) {
		// All its blocks are there. Without the sum they would be withheld.
		dec = io.MultiReader(dec, bytes.NewReader(make([]byte, 4)))
		fr.dec.Close()
		if fr.dec, err = newDecoder(true); err != nil {
			return err
		}
	}
	if err := fr.dec.Reset(dec); err != nil && !fr.last {
		return fmt.Errorf("read dsh session: %w", err)
	}
	fr.start, fr.at, fr.cur, fr.damaged = start, end, true, false
	return nil
}

// frame returns the end of the frame that starts at byte at, by its headers.
func (fr *frames) frame(at int64) (end int64, err error) {
	var buf [zstd.HeaderMaxSize]byte
	n, err := fr.f.ReadAt(buf[:min(int64(len(buf)), fr.size-at)], at)
	if err != nil && err != io.EOF {
		return 0, fmt.Errorf("read dsh session: %w", err)
	}
	if k := min(n, len(frameMagic)); !bytes.Equal(buf[:k], frameMagic[:k]) && !(n >= 4 && buf[0]&0xf0 == 0x50 && bytes.Equal(buf[1:4], []byte{0x2a, 0x4d, 0x18})) {
		return 0, errFrame
	}
	var h zstd.Header
	if err := h.Decode(buf[:n]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, errCut
		}
		return 0, errFrame
	}
	at += int64(h.HeaderSize)
	if h.Skippable {
		if at += int64(h.SkippableSize); at > fr.size {
			return 0, errCut
		}
		return at, nil
	}
	for last := false; !last; {
		var b [3]byte
		if at+3 > fr.size {
			return 0, errCut
		}
		if _, err := fr.f.ReadAt(b[:], at); err != nil {
			return 0, errCut
		}
		v := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		last = v&1 == 1
		size := int64(v >> 3)
		switch v >> 1 & 3 {
		case 1: // one byte, repeated
			size = 1
		case 3:
			return 0, errFrame
		}
		if at += 3 + size; at > fr.size {
			return 0, errCut
		}
	}
	if h.HasCheckSum {
		if at += 4; at > fr.size {
			return 0, errSum
		}
	}
	return at, nil
}

// resync looks for the next whole frame from byte at on.
func (fr *frames) resync(at int64) (start, end int64, ok bool) {
	buf := make([]byte, 64<<10)
	for tries := 0; at < fr.size && tries < maxResync; {
		n, _ := fr.f.ReadAt(buf[:min(int64(len(buf)), fr.size-at)], at)
		i := bytes.Index(buf[:n], frameMagic)
		if i < 0 {
			if n < len(buf) {
				return 0, 0, false
			}
			at += int64(n - len(frameMagic) + 1)
			continue
		}
		tries++
		at += int64(i)
		if end, err := fr.frame(at); err == nil {
			return at, end, true
		}
		at++
	}
	return 0, 0, false
}
