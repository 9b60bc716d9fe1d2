package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
)

// What must be unchanged for a file to be read on (formats.md §2.5): everything
// before the offset up to wholeSpan bytes, as agents also rewrite in place and
// then append; beyond that hashSpan bytes at the head and before the offset,
// since reading a large file again for each line appended costs too much. A hash of
// all of it goes on with each of them, for when the file was only touched or copied.
const (
	hashSpan  = 4096
	wholeSpan = 4 << 20
)

// File is a transcript file opened for reading, with the size it had then.
type File struct {
	*os.File
	Size int64
	Info fs.FileInfo

	prev *Checkpoint // that Resume goes on from
}

// OpenFile opens a transcript read-only. Anything that is no regular file (a
// pipe would block, a device is endless) is refused.
func OpenFile(path string) (*File, error) {
	// Looked at before opening: opening a pipe for reading waits for a writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("look at transcript: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open transcript %s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, fmt.Errorf("look at transcript: %w", err)
	}
	return &File{File: f, Size: info.Size(), Info: info}, nil
}

// ReadSmall reads a regular file that stands beside transcripts (settings, a
// list of names), nil when that is not possible or it is longer than limit
// bytes: a reader does without.
func ReadSmall(path string, limit int64) []byte {
	f, err := OpenFile(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if f.Size > limit {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil
	}
	return b
}

// Hash names a text in little space (FNV-1a).
func Hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s)
	return h.Sum64()
}

// MaxState bounds the carry-over of a checkpoint, in bytes. A session that has
// more to remember is read anew when it grows.
const MaxState = 64 << 10

// Resume returns the checkpoint to read on from: where prev stopped, if it is
// of this version of the reader, what it stands for is unchanged, and restore
// takes up its state; else the start of the file. A restore that fails must
// leave things as they were.
func (f *File) Resume(prev *Checkpoint, version int, restore func(state []byte) bool) (cp *Checkpoint, resumed bool) {
	if f.continues(prev) && prev.Version == version && restore(prev.State) {
		f.prev = prev
		return &Checkpoint{Version: version, Offset: prev.Offset, Bad: prev.Bad, Partial: prev.Partial}, true
	}
	return &Checkpoint{Version: version}, false
}

// Whole reports whether there are hashes of everything that was read, so that a
// change anywhere in it is noticed.
func (c *Checkpoint) Whole() bool { return c.Offset <= wholeSpan || c.Sum != nil }

// Keep stores a reader's carry-over, as JSON. One beyond MaxState is left out:
// then the source cannot be continued.
func (c *Checkpoint) Keep(state any) error {
	b, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("keep the position: %w", err)
	}
	if c.State = b; len(b) > MaxState {
		c.State = nil
	}
	return nil
}

// continues reports whether the bytes that prev stands for are still in place,
// so that reading may go on at prev.Offset.
func (f *File) continues(prev *Checkpoint) bool {
	if prev == nil || prev.State == nil || prev.Offset <= 0 || f.Size < prev.Offset {
		return false
	}
	head, tail, err := f.hashes(prev.Offset)
	if err != nil || head != prev.Head || tail != prev.Tail {
		return false
	}
	if !prev.Verify || prev.Offset <= wholeSpan {
		return true
	}
	sum, err := f.sum(nil, 0, prev.Offset)
	return err == nil && prev.Sum != nil && bytes.Equal(sum, prev.Sum)
}

// Mark fills the checkpoint's offset and hashes. Those of a file that was
// changed while it was read may be of other bytes than were read: they are left
// out, and then nothing continues. A large one is trusted to have grown, or it
// might never be caught up with.
func (f *File) Mark(c *Checkpoint, offset int64) error {
	head, tail, err := f.hashes(offset)
	if err != nil {
		return err
	}
	var sum []byte
	if offset > wholeSpan {
		// What was read before without a hash of all of it is not known to be
		// what is there now.
		switch p := f.prev; {
		case p == nil || p.Offset <= wholeSpan:
			sum, err = f.sum(nil, 0, offset)
		case p.Sum != nil:
			sum, err = f.sum(p.Sum, p.Offset, offset)
		}
		if err != nil {
			return err
		}
	}
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at transcript: %w", err)
	}
	if Signature(info) != Signature(f.Info) {
		if sum = nil; offset <= wholeSpan {
			head, tail = 0, 0
		}
	}
	c.Offset, c.Head, c.Tail, c.Sum = offset, head, tail, sum
	return nil
}

// sum is the state of a hash over the bytes before to, given that over the bytes
// before from; nil is that of none.
func (f *File) sum(before []byte, from, to int64) ([]byte, error) {
	h := sha256.New()
	if before != nil {
		if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(before); err != nil {
			return nil, nil // written by another version of the hash: not known
		}
	}
	if _, err := io.Copy(h, io.NewSectionReader(f, from, max(0, to-from))); err != nil {
		return nil, fmt.Errorf("note what was read: %w", err)
	}
	state, err := h.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("note what was read: %w", err)
	}
	return state, nil
}

func (f *File) hashes(offset int64) (head, tail uint64, err error) {
	sum := func(from, n int64) (uint64, error) {
		h := sha256.New() // in hardware: a third of what FNV takes
		if _, err := io.Copy(h, io.NewSectionReader(f, from, n)); err != nil {
			return 0, fmt.Errorf("check what was read before: %w", err)
		}
		return binary.BigEndian.Uint64(h.Sum(nil)), nil
	}
	n := min(offset, hashSpan)
	if head, err = sum(0, n); err != nil {
		return 0, 0, err
	}
	if offset <= wholeSpan {
		n = offset
	}
	if tail, err = sum(offset-n, n); err != nil {
		return 0, 0, err
	}
	return head, tail, nil
}
