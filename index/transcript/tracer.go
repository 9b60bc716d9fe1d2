package transcript

import "encoding/json"

// Tracer is a Sink that also follows how events stand to each other: what
// took an event off the surface, what an event was made from, in which order
// the model sees them, and what the agent's own record holds. The index keeps
// none of it; exact reads (contract.md §9) read a source anew with a Tracer. A
// reader asks once whether its Sink is one and does none of this work if not.
//
// All calls about an event but Wants come after its Event call, those about a
// session before its Header call. Events that a reader hands over before it can
// know (a rewind that a later record shows) are linked at the end. A Tracer is
// given a whole reading only, never one that continues a checkpoint.
type Tracer interface {
	Sink
	// Replaced says that event by took the events [from, to) off the surface,
	// by a compaction, a rewind or a rollback. Only the first one to do so
	// counts for an event: a chain is followed through by itself. The replacer
	// may be log-only (lineage.md §1.2 rule 3), but is never among [from, to).
	// The calls for one replacer come in the order its victims had on the surface.
	Replaced(sessionID string, from, to, by int) error
	// Source says that event seq was made from event source: a result from its
	// call, a summary from what it stands for. Recorded tells links that the
	// file itself holds from those that follow from the format (lineage.md
	// §1.2 rule 5). The calls for one event come in the order of its list.
	Source(sessionID string, seq, source int, recorded bool) error
	// Sources is Source, derived, for the run of sources [from, to).
	Sources(sessionID string, seq, from, to int) error
	// Order moves event seq to directly before event before in model order.
	// Without it model order is the order of positions. Calls apply one after
	// the other, each to the order that those before it made.
	Order(sessionID string, seq, before int) error
	// Inherited says that event seq, a copy, is event original of session
	// parentID where that is known from the file or its parent's.
	Inherited(sessionID string, seq int, parentID string, original int) error
	// Wants reports whether the agent's own record of an event is asked for. It
	// may be asked before the Event call. A reader whose record is no byte range
	// of the file (Event.Length is 0), or holds several events, then calls Data
	// with it, right after the Event call. Otherwise the bytes are the record.
	Wants(sessionID string, seq int) bool
	// Data is the agent's own record as one JSON value, valid during the call. It
	// goes before the bytes that the event names. Members too large to keep may
	// have been left out.
	Data(sessionID string, seq int, json []byte) error
	// Synthetic hands over an event that is in no record: the balanced end of
	// an interrupted turn (contract.md §9). It comes after the last real one,
	// with a position of its own, and is never indexed. Sources and Data of it
	// may follow.
	Synthetic(e *Event) error
}

// Strict is implemented by a Tracer that wants damage told: a reader of logs
// that its own service refuses (dsh) ends with [ErrCorrupt] or
// [ErrInvalidSurface] instead of keeping what it can. The latter is returned
// after all events and headers have been handed over, as they are without
// Strict: what needs no surface can still be answered.
type Strict interface{ Strict() bool }

// Plain is implemented by a Tracer that takes events and their records, but no
// links: what costs the reading of other files (the originals of copies) is then
// left out.
type Plain interface{ Plain() bool }

// WantsLinks reports whether t takes links.
func WantsLinks(t Tracer) bool {
	if t == nil {
		return false
	}
	p, ok := t.(Plain)
	return !ok || !p.Plain()
}

// PassShared gives t the record of the event at seq if it shares its line with
// something else, so that the line's bytes are not the record.
func PassShared(t Tracer, sessionID string, seq int, rec Record) error {
	if !rec.Shared {
		return nil
	}
	return PassData(t, sessionID, seq, rec.Value)
}

// PassData gives t the record of the event at seq if it is asked for. Readers
// are lenient; what is not valid JSON is no record to hand over.
func PassData(t Tracer, sessionID string, seq int, record []byte) error {
	if t == nil || len(record) == 0 || !t.Wants(sessionID, seq) || !json.Valid(record) {
		return nil
	}
	return t.Data(sessionID, seq, record)
}

// Run is a range of positions [From, To).
type Run struct{ From, To int }

// AddRun appends a position to runs that ascend; one that follows the last run
// lengthens it.
func AddRun(runs []Run, seq int) []Run {
	if n := len(runs); n > 0 && runs[n-1].To == seq {
		runs[n-1].To++
		return runs
	}
	return append(runs, Run{seq, seq + 1})
}

// Replace passes the runs that event by took off the surface to t, and as its
// sources if it stands for them (a summary, not a rewind).
func Replace(t Tracer, sessionID string, runs []Run, by int, summary bool) error {
	for _, r := range runs {
		if err := t.Replaced(sessionID, r.From, r.To, by); err != nil {
			return err
		}
	}
	if !summary {
		return nil
	}
	for _, r := range runs {
		if err := t.Sources(sessionID, by, r.From, r.To); err != nil {
			return err
		}
	}
	return nil
}

// maxCalls bounds what Calls remembers.
const maxCalls = 1 << 20

// Calls remembers which event made each tool call, to tie the results to them.
// The zero value is ready.
type Calls struct{ seq map[uint64]int }

// Add notes that the event at seq made a call. Of equal ids the last one holds.
func (c *Calls) Add(id string, seq int) {
	if id == "" || len(c.seq) >= maxCalls {
		return
	}
	if c.seq == nil {
		c.seq = map[uint64]int{}
	}
	c.seq[Hash(id)] = seq
}

// Seq returns the event that made a call.
func (c *Calls) Seq(id string) (seq int, ok bool) {
	if id == "" {
		return 0, false
	}
	seq, ok = c.seq[Hash(id)]
	return seq, ok
}
