package exact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
)

// whole is a sink that makes the outline of one session of a source.
type whole struct {
	id      string
	strict  bool
	b       builder
	seen    bool // the session was in the source
	any     bool // anything was
	headed  bool
	header  transcript.Header
	stopped error
}

var _ transcript.Tracer = (*whole)(nil)

// Strict implements transcript.Strict.
func (w *whole) Strict() bool { return w.strict }

// Begin implements transcript.Sink.
func (w *whole) Begin(bool) error { return nil }

// Event implements transcript.Sink.
func (w *whole) Event(e *transcript.Event) error {
	w.any = true
	if e.SessionID != w.id {
		return nil
	}
	w.seen = true
	return w.stop(w.b.event(e, 0))
}

func (w *whole) stop(err error) error {
	if err != nil && w.stopped == nil {
		w.stopped = err
	}
	return err
}

// Synthetic implements transcript.Tracer.
func (w *whole) Synthetic(e *transcript.Event) error {
	if e.SessionID != w.id {
		return nil
	}
	return w.stop(w.b.event(e, synthetic))
}

// Surface implements transcript.Sink.
func (w *whole) Surface(id string, from, to int, s transcript.Surface) error {
	if id != w.id {
		return nil
	}
	at := surfaceIndex(s)
	for i := max(from, 0); i < min(to, len(w.b.o.events)); i++ {
		w.b.o.events[i].surface = at
	}
	return nil
}

// Header implements transcript.Sink.
func (w *whole) Header(h *transcript.Header) error {
	if h.SessionID == w.id {
		w.header, w.headed = h.Clone(), true
	}
	return nil
}

// Progress implements transcript.Sink.
func (w *whole) Progress(int64) {}

// Replaced implements transcript.Tracer.
func (w *whole) Replaced(id string, from, to, by int) error {
	if id == w.id {
		w.b.take(from, to, by)
	}
	return nil
}

// Source implements transcript.Tracer.
func (w *whole) Source(id string, seq, source int, recorded bool) error {
	if id == w.id {
		w.b.from(seq, source, source+1, recorded)
	}
	return nil
}

// Sources implements transcript.Tracer.
func (w *whole) Sources(id string, seq, from, to int) error {
	if id == w.id {
		w.b.from(seq, from, to, false)
	}
	return nil
}

// Order implements transcript.Tracer.
func (w *whole) Order(id string, seq, before int) error {
	if id == w.id {
		w.b.move(seq, before)
	}
	return nil
}

// Inherited implements transcript.Tracer.
func (w *whole) Inherited(id string, seq int, parent string, original int) error {
	if id == w.id {
		w.b.copyOf(seq, parent, original)
	}
	return nil
}

// Wants implements transcript.Tracer.
func (w *whole) Wants(string, int) bool { return false }

// Data implements transcript.Tracer.
func (w *whole) Data(string, int, []byte) error { return nil }

// errEnough ends a reading early.
var errEnough = errors.New("read far enough")

// window is a sink that takes what is in some events of a session. It ends the
// reading after the last of them.
type window struct {
	whole   // for what is not of interest
	want    map[int]bool
	last    int
	data    bool // take the agent's own records, too
	take    func(seq int, e *transcript.Event) error
	record  func(seq int, json []byte)
	reached bool // the last one was handed over
}

// Plain implements transcript.Plain.
func (w *window) Plain() bool { return true }

// Event implements transcript.Sink.
func (w *window) Event(e *transcript.Event) error {
	if e.SessionID != w.id {
		return nil
	}
	return w.offer(e)
}

func (w *window) offer(e *transcript.Event) error {
	if e.Seq > w.last {
		w.reached = true
		return errEnough
	}
	if w.want[e.Seq] {
		if err := w.take(e.Seq, e); err != nil {
			w.reached = errors.Is(err, errEnough)
			return err
		}
	}
	return nil
}

// Synthetic implements transcript.Tracer.
func (w *window) Synthetic(e *transcript.Event) error {
	if e.SessionID != w.id {
		return nil
	}
	return w.offer(e)
}

// Surface implements transcript.Sink.
func (w *window) Surface(string, int, int, transcript.Surface) error { return nil }

// Header implements transcript.Sink.
func (w *window) Header(*transcript.Header) error { return nil }

// Replaced, Source, Sources, Order and Inherited implement transcript.Tracer.
func (w *window) Replaced(string, int, int, int) error     { return nil }
func (w *window) Source(string, int, int, bool) error      { return nil }
func (w *window) Sources(string, int, int, int) error      { return nil }
func (w *window) Order(string, int, int) error             { return nil }
func (w *window) Inherited(string, int, string, int) error { return nil }

// Wants implements transcript.Tracer.
func (w *window) Wants(id string, seq int) bool {
	return w.want[seq] && w.data && id == w.id
}

// Data implements transcript.Tracer.
func (w *window) Data(id string, seq int, json []byte) error {
	if w.Wants(id, seq) {
		w.record(seq, json)
	}
	return nil
}

// read has a reader read a source from its start; a panic is an error.
func read(ctx context.Context, rd transcript.Reader, env transcript.Env, src transcript.Source, out transcript.Sink) (cp *transcript.Checkpoint, err error) {
	defer func() {
		if r := recover(); r != nil {
			cp, err = nil, fmt.Errorf("reading %s ended unexpectedly: %v", src.Path, r)
		}
	}()
	return rd.Read(ctx, env, src, nil, out)
}

// clipText is the first n bytes of a text at most, at a character's end.
func clipText(s string, n int) (string, bool) {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\uFFFD"), false
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return strings.ToValidUTF8(s[:n], "\uFFFD"), true
}

// cloneParts copies at most n bytes of an event's parts; cut reports whether
// that is less than all.
func cloneParts(parts []transcript.Part, n int, skip func(transcript.PartKind) bool) (out []transcript.Part, cut bool) {
	for _, p := range parts {
		if skip != nil && skip(p.Kind) {
			continue
		}
		text, shortened := clipText(p.Text, n)
		if text == "" && shortened {
			return out, true
		}
		out = append(out, transcript.Part{Kind: p.Kind, Text: strings.Clone(text)})
		if n -= len(text); shortened || n < 0 {
			return out, true
		}
	}
	return slices.Clip(out), false
}
