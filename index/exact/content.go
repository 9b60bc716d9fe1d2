package exact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// content is what is in an event.
type content struct {
	parts   []transcript.Part
	partCut bool // the parts are not whole

	data      json.RawMessage // nil if there is none to be had
	dataBytes int64           // of a record that is too large
}

// wish says what is to be fetched of events.
type wish struct {
	seqs []int // ascending
	data bool  // the agent's own records, too
	max  int   // bytes of the text and of the record of one event
}

// fetchBytes bounds what one fetch holds, besides the first event: twice a page.
// Events beyond it are left out, in the order of positions.
const fetchBytes = 2 * contract.MaxPageBytes

// fetched is what a fetch has taken so far.
type fetched struct {
	wish
	at   map[int]*content
	room int
}

// take makes room for n more bytes; false ends the fetch.
func (f *fetched) take(n int) bool {
	if f.room -= n; f.room < 0 && len(f.at) > 0 {
		return false
	}
	return true
}

// fetch gets what is in events. Those that are missing from the answer did not
// fit; the first is never missing.
func (l *log) fetch(ctx context.Context, w wish) (map[int]*content, error) {
	f := &fetched{wish: w, at: map[int]*content{}, room: fetchBytes}
	if len(w.seqs) == 0 {
		return f.at, nil
	}
	if l.kept {
		return f.at, l.fromBlocks(ctx, f, func(int, []transcript.Part) bool { return true })
	}
	// What has no text needs no reading; what the index has whole, none of the
	// transcript.
	texts := &fetched{wish: w, at: f.at, room: fetchBytes}
	for _, seq := range w.seqs {
		if l.events[seq].text == 0 {
			f.at[seq] = &content{}
		}
	}
	if l.synced && len(f.at) < len(w.seqs) {
		whole := func(seq int, parts []transcript.Part) bool { return textBytes(parts) == int(l.events[seq].text) }
		if err := l.fromBlocks(ctx, texts, whole); err != nil {
			return nil, err
		}
	}
	need := map[int]bool{}
	var ranges []int
	room := fetchBytes
	for i, seq := range w.seqs {
		if f.at[seq] == nil {
			need[seq] = true
		}
		if !w.data {
			continue
		}
		n := l.events[seq].length
		switch {
		case !l.ranged(seq):
			need[seq] = true
		case n > int64(w.max):
			ranges = append(ranges, seq) // told by its length alone
		default:
			if room -= int(n); room >= 0 || i == 0 {
				ranges = append(ranges, seq)
			}
		}
	}
	if len(need) > 0 {
		if err := l.fromWindow(ctx, f, need); err != nil {
			return nil, err
		}
	}
	if w.data {
		if err := l.fromRanges(ctx, f, ranges); err != nil {
			return nil, err
		}
	}
	return f.at, nil
}

// ranged reports whether an event's record is the bytes that it names.
func (l *log) ranged(seq int) bool {
	e := &l.events[seq]
	if e.length <= 0 {
		return false
	}
	same := func(o int) bool {
		return o >= 0 && o < len(l.events) && l.events[o].length > 0 && l.events[o].offset == e.offset
	}
	return !same(seq-1) && !same(seq+1) // else it is one of several in a record
}

// fromBlocks takes text from the index, of the events for which usable says so.
func (l *log) fromBlocks(ctx context.Context, f *fetched, usable func(seq int, parts []transcript.Part) bool) error {
	err := l.e.View(ctx, func(snap *store.Snapshot) error {
		next := 0
		return snap.Events(ctx, l.session, f.seqs[0], func(e *store.Stored) bool {
			for next < len(f.seqs) && f.seqs[next] < e.Seq {
				next++
			}
			if next == len(f.seqs) || ctx.Err() != nil {
				return false
			}
			if f.seqs[next] != e.Seq || f.at[e.Seq] != nil || !usable(e.Seq, e.Parts) {
				return true
			}
			parts, cut := cloneParts(e.Parts, f.max, func(k transcript.PartKind) bool { return k == store.Words })
			if !f.take(textBytes(parts)) {
				return false
			}
			f.at[e.Seq] = &content{parts: parts, partCut: cut}
			return true
		})
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("read the kept copy: %w", err)
	}
	return nil
}

// fromWindow reads the transcript up to the last event that is needed, and takes
// text and records on the way.
func (l *log) fromWindow(ctx context.Context, f *fetched, need map[int]bool) error {
	w := &window{want: need, data: f.data}
	w.id = l.name.SessionID
	for seq := range need {
		w.last = max(w.last, seq)
	}
	got := 0
	w.take = func(seq int, e *transcript.Event) error {
		if k := l.kind(seq); e.ID != l.id(seq) || e.Type != k.typ {
			return errChanged
		}
		got++
		c := f.at[seq]
		if c == nil {
			parts, cut := cloneParts(e.Parts, f.max, nil)
			if !f.take(textBytes(parts)) {
				return errEnough
			}
			c = &content{parts: parts, partCut: cut}
			f.at[seq] = c
		}
		return nil
	}
	w.record = func(seq int, raw []byte) {
		c := f.at[seq]
		if c == nil {
			return
		}
		if len(raw) > f.max {
			c.dataBytes = int64(len(raw))
			return
		}
		if f.room -= len(raw); f.room >= 0 || len(f.at) == 1 {
			c.data = record(raw)
			return
		}
		c.dataBytes = int64(len(raw))
	}
	_, err := read(ctx, l.reader, l.env, l.src, w)
	switch {
	case w.reached:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errChanged), errors.Is(err, fs.ErrNotExist), err == nil && got < len(need):
		return errChanged
	case err != nil && got < len(need):
		return l.unreadable(err)
	}
	return nil
}

// record is a record as it goes into an answer; nil if it is no JSON, or JSON
// that no decoder takes (nested too deep).
func record(raw []byte) json.RawMessage {
	raw = bytes.Trim(raw, " \t\r\n\x00\ufeff")
	raw = bytes.ToValidUTF8(bytes.Clone(raw), []byte("\uFFFD"))
	if !json.Valid(raw) {
		return nil
	}
	return raw
}

// fromRanges reads records by their place in the file.
func (l *log) fromRanges(ctx context.Context, f *fetched, seqs []int) error {
	var file *ranges
	defer func() {
		if file != nil {
			file.Close()
		}
	}()
	for _, seq := range seqs {
		c := f.at[seq]
		if c == nil || c.data != nil {
			continue // it did not fit, or the reader gave it
		}
		e := &l.events[seq]
		if e.length > int64(f.max) {
			c.dataBytes = e.length
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if file == nil {
			var err error
			if file, err = openRanges(l.src.Path, l.info); err != nil {
				return err
			}
		}
		raw, err := file.read(ctx, e.offset, int(e.length))
		if err != nil {
			return err
		}
		if c.data = record(raw); c.data == nil && seq < l.own {
			c.dataBytes = e.length
		}
	}
	return nil
}

// ranges reads stretches of a file, or of what is compressed in it, in
// ascending order.
type ranges struct {
	*transcript.File
	plain io.ReadCloser // of a compressed file
	at    int64
}

// openRanges opens a transcript that is still the one that was outlined: it may
// have grown since.
func openRanges(path string, was fs.FileInfo) (*ranges, error) {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return nil, errors.Join(errChanged, err)
	}
	if was == nil || !os.SameFile(was, f.Info) || f.Size < was.Size() || f.Size == was.Size() && !f.Info.ModTime().Equal(was.ModTime()) {
		f.Close()
		return nil, errChanged
	}
	r := &ranges{File: f}
	magic := make([]byte, 4)
	if _, err := f.ReadAt(magic, 0); err == nil && bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		if r.plain, err = transcript.NewZstdReader(io.NewSectionReader(f, 0, f.Size)); err != nil {
			f.Close()
			return nil, err
		}
	}
	return r, nil
}

// Close closes the file.
func (r *ranges) Close() {
	if r.plain != nil {
		_ = r.plain.Close()
	}
	_ = r.File.Close()
}

func (r *ranges) read(ctx context.Context, offset int64, n int) ([]byte, error) {
	buf := make([]byte, n)
	if r.plain == nil {
		if _, err := r.ReadAt(buf, offset); err != nil {
			return nil, errors.Join(errChanged, err)
		}
		return buf, nil
	}
	if offset < r.at {
		return nil, errChanged
	}
	for r.at < offset {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k, err := io.CopyN(io.Discard, r.plain, min(offset-r.at, 1<<20))
		if r.at += k; err != nil {
			return nil, errors.Join(errChanged, err)
		}
	}
	k, err := io.ReadFull(r.plain, buf)
	if r.at += int64(k); err != nil {
		return nil, errors.Join(errChanged, err)
	}
	return buf, nil
}

// stream hands over the text of events one after the other until take says
// enough: everything is read once, whatever its size.
func (l *log) stream(ctx context.Context, seqs []int, take func(seq int, parts []transcript.Part) (more bool)) error {
	if len(seqs) == 0 {
		return nil
	}
	if l.kept {
		next := 0
		err := l.e.View(ctx, func(snap *store.Snapshot) error {
			return snap.Events(ctx, l.session, seqs[0], func(e *store.Stored) bool {
				for next < len(seqs) && seqs[next] < e.Seq {
					next++
				}
				if next == len(seqs) || ctx.Err() != nil {
					return false
				}
				if seqs[next] != e.Seq {
					return true
				}
				return take(e.Seq, slices.DeleteFunc(e.Parts, func(p transcript.Part) bool { return p.Kind == store.Words }))
			})
		})
		return errors.Join(err, ctx.Err())
	}
	w := &window{want: make(map[int]bool, len(seqs)), last: seqs[len(seqs)-1]}
	w.id = l.name.SessionID
	for _, seq := range seqs {
		w.want[seq] = true
	}
	w.take = func(seq int, e *transcript.Event) error {
		if k := l.kind(seq); e.ID != l.id(seq) || e.Type != k.typ {
			return errChanged
		}
		if !take(seq, e.Parts) {
			return errEnough
		}
		return nil
	}
	_, err := read(ctx, l.reader, l.env, l.src, w)
	switch {
	case w.reached:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errChanged), errors.Is(err, fs.ErrNotExist):
		return errChanged
	case errors.Is(err, transcript.ErrNoSession):
		return errChanged
	case err != nil:
		return l.unreadable(err)
	}
	return nil
}
