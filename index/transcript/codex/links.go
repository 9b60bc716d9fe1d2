package codex

import (
	"bytes"
	"context"
	"hash/maphash"
	"math"
	"slices"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// links is what a reading that is asked for links keeps besides. Methods that
// are called without asking do nothing on nil.
type links struct {
	out    transcript.Tracer
	calls  transcript.Calls
	refs   []ref
	told   map[int]bool // calls whose output stands in the file as an item
	parent *originals
	data   []byte // of the record at hand
	from   int
}

// ref ties an answer to its call. One that an event tells counts only without
// an item that says the same.
type ref struct {
	seq, call int
	twin      bool
}

// maxRefs bounds the answers remembered.
const maxRefs = 1 << 20

func (s *session) trace(out transcript.Sink) {
	if t, ok := out.(transcript.Tracer); ok {
		s.links = &links{out: t, told: map[int]bool{}, from: -1}
		s.live.trace = true
	}
}

// record notes what will be passed on with a record's event, which may be held
// back.
func (l *links) record(s *session, ev *transcript.Event, rec transcript.Record, payload jsonv.Value) {
	l.data, l.from = nil, -1
	if (s.packed || rec.Shared) && l.out.Wants(ev.SessionID, ev.Seq) {
		l.data = bytes.Clone(rec.Value)
	}
	if l.parent != nil && s.isCopy(rec.Offset) {
		l.from = l.parent.find(payload)
	}
}

func (l *links) delivered(s *session, h *held) error {
	if err := transcript.PassData(l.out, h.ev.SessionID, h.ev.Seq, h.data); err != nil {
		return err
	}
	if h.from < 0 || !h.ev.Inherited {
		return nil
	}
	return l.out.Inherited(h.ev.SessionID, h.ev.Seq, s.CopyOf, h.from)
}

func (l *links) called(id string, seq int) {
	if l != nil {
		l.calls.Add(id, seq)
	}
}

// answered notes an output that is an item.
func (l *links) answered(seq int, id string) {
	if l == nil {
		return
	}
	if call, ok := l.calls.Seq(id); ok && len(l.refs) < maxRefs {
		l.refs = append(l.refs, ref{seq: seq, call: call})
		l.told[call] = true
	}
}

// ends notes an event that tells the end of a call.
func (l *links) ends(seq int, id string) {
	if l == nil {
		return
	}
	if call, ok := l.calls.Seq(id); ok && len(l.refs) < maxRefs {
		l.refs = append(l.refs, ref{seq: seq, call: call, twin: true})
	}
}

func (l *links) finish(s *session) error {
	if l == nil {
		return nil
	}
	id := s.Header.SessionID
	for _, r := range l.refs {
		if r.twin && l.told[r.call] {
			continue
		}
		if err := l.out.Source(id, r.seq, r.call, false); err != nil {
			return err
		}
	}
	for _, t := range s.live.tolls {
		if err := transcript.Replace(l.out, id, t.runs, t.by, t.summary); err != nil {
			return err
		}
	}
	return nil
}

// originals are the records of a parent's file by what they say: a copy is
// stamped anew, its payload stays.
type originals struct {
	seed maphash.Seed
	at   map[uint64][]int32
	next int32 // copies stand in the parent's order
}

// maxOriginals bounds the records of a parent that are remembered.
const maxOriginals = 1 << 20

func readOriginals(ctx context.Context, src transcript.Source, id string) (*originals, error) {
	path := findThread(src, id)
	if path == "" {
		return nil, nil
	}
	f, err := open(path)
	if err != nil {
		return nil, nil // gone since: the links are left out
	}
	defer f.Close()
	o := &originals{seed: maphash.MakeSeed(), at: map[uint64][]int32{}}
	seq := int32(0)
	lines := transcript.NewLines(f, 0, math.MaxInt64, skipped...)
	for seq < maxOriginals {
		rec, err := lines.Next(ctx)
		if err != nil {
			break
		}
		if p := rec.Value.Get("payload"); p != nil {
			h := maphash.Bytes(o.seed, p)
			o.at[h] = append(o.at[h], seq)
		}
		seq++
	}
	return o, ctx.Err()
}

// find returns the next record with this payload, -1 if there is none.
func (o *originals) find(payload jsonv.Value) int {
	if payload == nil {
		return -1
	}
	same := o.at[maphash.Bytes(o.seed, payload)]
	i, _ := slices.BinarySearch(same, o.next)
	if i == len(same) {
		return -1
	}
	o.next = same[i] + 1
	return int(same[i])
}
