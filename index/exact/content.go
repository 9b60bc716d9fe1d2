package exact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
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
	at map[int]*content
	// room is for one pass over a source: whatever an earlier one took, each has
	// room for the events that only it can give.
	room int
}

// begin starts a pass.
func (f *fetched) begin() { f.room = fetchBytes }

// take makes room for n more bytes of an event; false ends the pass. There is
// room for the first event that was asked for, or nobody would get beyond it.
func (f *fetched) take(seq, n int) bool {
	f.room -= n
	return f.room >= 0 || seq == f.seqs[0]
}

// fetch gets what is in events. Those that are missing from the answer did not
// fit; the first is never missing.
func (l *log) fetch(ctx context.Context, w wish) (map[int]*content, error) {
	f := &fetched{wish: w, at: map[int]*content{}}
	if len(w.seqs) == 0 {
		return f.at, nil
	}
	if l.kept {
		return f.at, l.fromBlocks(ctx, f, func(int, []transcript.Part) bool { return true })
	}
	// What has no text needs no reading; what the index has whole, none of the
	// transcript.
	for _, seq := range w.seqs {
		if l.events[seq].text == 0 {
			f.at[seq] = &content{}
		}
	}
	if l.synced && len(f.at) < len(w.seqs) {
		if err := l.fromBlocks(ctx, f, l.hasWhole); err != nil {
			return nil, err
		}
	}
	if err := l.fromRecords(ctx, f); err != nil {
		return nil, err
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
		// A record that several events name may be handed over by the reader. If
		// it is not, the bytes are the record after all.
		if !l.ranged(seq) {
			need[seq] = true
		}
		n := l.events[seq].length
		switch {
		case n <= 0:
		case n > int64(w.max):
			ranges = append(ranges, seq) // told by its length alone
		default:
			if room -= int(n); room >= 0 || i == 0 {
				ranges = append(ranges, seq)
			} else {
				delete(f.at, seq)
				delete(need, seq)
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

// ranged reports whether an event's record is the bytes that it names, and no
// other event's.
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
	f.begin()
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
			if !f.take(e.Seq, textBytes(parts)) {
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

// maxRecord is the size of a record, in bytes, up to which text is looked for in
// it. Larger ones are shortened by the readers.
const maxRecord = 4 << 20

// fromRecords takes long text, which the index has shortened, out of the records
// it is in: a string of the record, cleaned, that is the event's text by its
// length and hash. It spares reading a transcript up to there. What is not found
// so is left to the reader.
func (l *log) fromRecords(ctx context.Context, f *fetched) error {
	f.begin()
	file := lazyRanges{log: l}
	defer file.close()
	for _, seq := range f.seqs {
		e := &l.events[seq]
		if f.at[seq] != nil || e.hash == 0 || !l.ranged(seq) || e.length > maxRecord {
			continue
		}
		raw, err := file.read(ctx, seq)
		if err != nil {
			return err
		}
		found := ""
		jsonv.Parse(raw).Strings(func(v jsonv.Value) bool {
			if len(v) < int(e.text) {
				return true
			}
			if s := transcript.CleanText(v.Str()); len(s) == int(e.text) && maphash.String(l.seed, s) == e.hash {
				found = s
			}
			return found == ""
		})
		if found == "" {
			continue
		}
		parts, cut := cloneParts([]transcript.Part{{Kind: e.part, Text: found}}, f.max, nil)
		if !f.take(seq, textBytes(parts)) {
			return nil
		}
		f.at[seq] = &content{parts: parts, partCut: cut}
	}
	return nil
}

// fromWindow reads the transcript up to the last event that is needed, and takes
// text and records on the way.
func (l *log) fromWindow(ctx context.Context, f *fetched, need map[int]bool) error {
	f.begin()
	w := &window{want: need, data: f.data}
	w.id = l.name.SessionID
	for seq := range need {
		w.last = max(w.last, seq)
	}
	got := map[int]bool{}
	w.take = func(seq int, e *transcript.Event) error {
		if k := l.kind(seq); e.ID != l.id(seq) || e.Type != k.typ {
			return errChanged
		}
		got[seq] = true
		c := f.at[seq]
		if c == nil {
			parts, cut := cloneParts(e.Parts, f.max, nil)
			if !f.take(seq, textBytes(parts)) {
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
		if f.take(seq, len(raw)) {
			c.data = record(raw)
		} else {
			delete(f.at, seq) // one without its record would be another
		}
	}
	_, err := read(ctx, l.reader, l.env, l.src, w)
	switch {
	case w.reached:
		for seq := range need {
			if !got[seq] {
				delete(f.at, seq) // its text may be known, its record is not
			}
		}
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errChanged), errors.Is(err, fs.ErrNotExist), err == nil && len(got) < len(need):
		return errChanged
	case err != nil && len(got) < len(need):
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
	file := lazyRanges{log: l}
	defer file.close()
	for _, seq := range seqs {
		c := f.at[seq]
		if c == nil || c.data != nil || c.dataBytes > 0 {
			continue // it did not fit, or the reader gave it
		}
		e := &l.events[seq]
		if e.length > int64(f.max) {
			c.dataBytes = e.length
			continue
		}
		raw, err := file.read(ctx, seq)
		if err != nil {
			return err
		}
		c.data = record(raw)
	}
	return nil
}

// lazyRanges opens the transcript when the first record is asked for.
type lazyRanges struct {
	log  *log
	file *ranges
}

func (z *lazyRanges) read(ctx context.Context, seq int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if z.file == nil {
		var err error
		if z.file, err = openRanges(z.log.src.Path, z.log.info); err != nil {
			return nil, err
		}
	}
	e := &z.log.events[seq]
	return z.file.read(ctx, e.offset, int(e.length))
}

func (z *lazyRanges) close() {
	if z.file != nil {
		z.file.Close()
	}
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
