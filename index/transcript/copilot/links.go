package copilot

import (
	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// links is what a reading that is asked for links keeps besides. All methods
// that note something do nothing on nil.
type links struct {
	out   transcript.Tracer
	calls map[int]*transcript.Calls // by session
	// What belongs to the record at hand, passed on after its event.
	rec    transcript.Record
	gone   []transcript.Run
	sum    bool // it stands for what is gone
	before int  // what a summary stands before, -1 for nothing
	call   int  // what a result answers, -1 if unknown
}

func newLinks(out transcript.Tracer) *links {
	return &links{out: out, calls: map[int]*transcript.Calls{}, before: -1, call: -1}
}

func (l *links) record(rec transcript.Record) {
	if l == nil {
		return
	}
	l.rec, l.gone, l.sum, l.before, l.call = transcript.Record{}, nil, false, -1, -1
	if rec.Shared { // else it is of no use, and may be large
		l.rec = rec
	}
}

func (l *links) took(from, to int) {
	if l != nil {
		l.gone = append(l.gone, transcript.Run{From: from, To: to})
	}
}

// summed notes a compaction's summary, which stands before what was said while
// it was made.
func (l *links) summed(kept []run) {
	if l == nil {
		return
	}
	l.sum = true
	if len(kept) > 0 {
		l.before = kept[0].from
	}
}

func (l *links) called(session int, id string, seq int) {
	if l == nil {
		return
	}
	if l.calls[session] == nil {
		l.calls[session] = &transcript.Calls{}
	}
	l.calls[session].Add(id, seq)
}

func (l *links) answers(session int, id string) {
	if l == nil || l.calls[session] == nil {
		return
	}
	if seq, ok := l.calls[session].Seq(id); ok {
		l.call = seq
	}
}

func (l *links) emitted(fd *fold, i int, e *transcript.Event) error {
	id := fd.Sessions[i].H.SessionID
	if err := transcript.PassShared(l.out, id, e.Seq, l.rec); err != nil {
		return err
	}
	if l.call >= 0 {
		if err := l.out.Source(id, e.Seq, l.call, false); err != nil {
			return err
		}
	}
	if err := transcript.Replace(l.out, id, l.gone, e.Seq, l.sum); err != nil {
		return err
	}
	if l.before >= 0 {
		return l.out.Order(id, e.Seq, l.before)
	}
	return nil
}

// traceMessage passes on what belongs to a chat message of the first releases.
func traceMessage(out transcript.Tracer, calls *transcript.Calls, e *transcript.Event, v jsonv.Value) error {
	if err := transcript.PassData(out, e.SessionID, e.Seq, v); err != nil {
		return err
	}
	if call, ok := calls.Seq(v.Get("tool_call_id").Str()); ok {
		return out.Source(e.SessionID, e.Seq, call, false)
	}
	v.Get("tool_calls").Elems(func(_ int, c jsonv.Value) bool { calls.Add(c.Get("id").Str(), e.Seq); return true })
	return nil
}
