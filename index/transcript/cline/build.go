package cline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// builder turns the records of one conversation into events and its header.
type builder struct {
	ctx context.Context
	env transcript.Env
	src transcript.Source
	out transcript.Sink
	cp  *transcript.Checkpoint
	// tracer is nil unless links are asked for.
	tracer transcript.Tracer
	calls  transcript.Calls

	h       transcript.Header
	seq     int
	timed   bool    // an own record has a time
	inherit *parent // of a fork, as long as what is read was copied
}

func newBuilder(ctx context.Context, env transcript.Env, src transcript.Source, out transcript.Sink) *builder {
	b := &builder{ctx: ctx, env: env, src: src, out: out, cp: &transcript.Checkpoint{Version: version}}
	b.tracer, _ = out.(transcript.Tracer)
	b.h = transcript.Header{SessionID: src.SessionID, Relation: transcript.RelationRoot, InheritedKnown: true}
	return b
}

// emit numbers an event and hands it over with the agent's own record: an element
// of a list is no byte range that could be found again.
func (b *builder) emit(e *transcript.Event, record jsonv.Value) error {
	e.SessionID, e.Seq = b.h.SessionID, b.seq
	if e.Surface == "" {
		e.Surface = transcript.Current
	}
	if e.Role == "" {
		e.Role = transcript.RoleUnknown
	}
	if e.Type == "" {
		e.Type = transcript.TypeOther
	}
	b.h.Conversation = b.h.Conversation || e.Message
	original, copied := b.inherit.take(e.ID)
	if copied {
		e.Inherited, e.Message = true, false
		b.h.InheritedCount++
	} else {
		b.inherit = nil
		b.h.SawTime(e.Time, b.env.Time())
		b.timed = b.timed || !e.Time.IsZero()
	}
	if e.Message {
		b.h.MessageCount++
	}
	b.seq++
	if err := b.out.Event(e); err != nil || b.tracer == nil {
		return err
	}
	if copied && transcript.WantsLinks(b.tracer) {
		if err := b.tracer.Inherited(e.SessionID, e.Seq, b.h.ParentID, original); err != nil {
			return err
		}
	}
	return transcript.PassData(b.tracer, e.SessionID, e.Seq, record)
}

// link ties a result to the call at a position.
func (b *builder) link(seq, call int) error {
	if b.tracer == nil || call < 0 || call == seq {
		return nil
	}
	return b.tracer.Source(b.h.SessionID, seq, call, false)
}

// ended notes how a document ended. What stands before the damage was read.
func (b *builder) ended(f *transcript.File, err error) error {
	b.cp.Offset = f.Size
	var out *sinkError
	switch {
	case err == nil:
	case errors.Is(err, transcript.ErrTorn):
		b.cp.Torn = true
	case b.ctx.Err() != nil:
		return b.ctx.Err()
	case errors.As(err, &out):
		return out.err
	case b.seq == 0:
		return fmt.Errorf("read Cline's conversation: %w", err)
	default:
		b.cp.Bad, b.cp.Partial = 1, "the document is damaged"
	}
	return nil
}

// sinkError is an error of the one that events are handed to.
type sinkError struct{ err error }

func (e *sinkError) Error() string { return e.err.Error() }

// array streams a list of records into f. What f returns is no damage of the list.
func (b *builder) array(r io.Reader, f func(i int, v jsonv.Value) error) error {
	lost, err := transcript.ReadArray(b.ctx, r, jsonv.DefaultLimits(bulk...), func(i int, v jsonv.Value) error {
		if err := f(i, v); err != nil {
			return &sinkError{err}
		}
		return nil
	})
	if lost > 0 {
		b.cp.Partial = partialCut
	}
	return err
}

// partialCut is Checkpoint.Partial of what had texts beyond all measure.
const partialCut = "over-long texts were cut"

// finish hands over the header.
func (b *builder) finish() error {
	if !b.h.Conversation {
		return transcript.ErrNoSession
	}
	b.h.Finish(label)
	return b.out.Header(&b.h)
}

// prose gives an event what somebody said.
func (b *builder) prose(e *transcript.Event, text string) bool {
	text = strings.TrimSpace(text)
	from := transcript.TitleReply
	if e.Role == transcript.RoleUser {
		from = transcript.TitlePrompt
	}
	if !e.AddText(transcript.Prose, text) {
		return false
	}
	b.h.OfferTitle(text, from, b.seq)
	return true
}
