package exact

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/analysis"
	"github.com/sessionls/sessionls/index/transcript"
)

// withText is an event's record with its text.
func (l *log) withText(seq int, c *content, most int) contract.EventRecord {
	r := l.record(l.name, seq)
	text, cut := clipText(joined(c.parts), most)
	r.Text, r.TextTruncated = &text, cut || c.partCut
	return r
}

var null = json.RawMessage("null")

// full is an event's record with its text and the agent's own record.
func (l *log) full(seq int, c *content, most int) contract.EventRecord {
	r := l.withText(seq, c, most)
	if r.Data = c.data; r.Data == nil {
		r.Data = null
	}
	r.DataBytes, r.DataTruncated = c.dataBytes, c.dataBytes > 0
	return r
}

// withMissing is the header of an answer with these full events: it says so when
// the record of one is neither there nor too long. A kept copy has none, which its
// header says already.
func (l *log) withMissing(events []contract.EventRecord) contract.Header {
	missing := 0
	for i := range events {
		if e := &events[i]; string(e.Data) == string(null) && !e.DataTruncated && !e.Synthetic {
			missing++
		}
	}
	h := l.header
	switch {
	case l.kept || missing == 0:
		return h
	case missing == 1:
		h.Warnings = append(slices.Clone(h.Warnings), "a record of this answer is not valid JSON; its data is null")
	default:
		h.Warnings = append(slices.Clone(h.Warnings), fmt.Sprintf("%d records of this answer are not valid JSON; their data is null", missing))
	}
	return h
}

// positions are the whole numbers [from, to).
func positions(from, to int) []int {
	out := make([]int, 0, max(0, to-from))
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// ReadSession answers readSession.
func (e *Engine) ReadSession(ctx context.Context, request contract.ReadSessionRequest) (contract.ReadSessionResponse, error) {
	var out contract.ReadSessionResponse
	err := e.with(ctx, request.SessionName, func(l *log) error {
		out = contract.ReadSessionResponse{}
		from, to := l.slice(request.FromSeq, readLimit(request.Limit, contract.MaxReadLimit))
		got, err := l.fetch(ctx, wish{seqs: positions(from, to), data: true, max: contract.DefaultRecordBytes})
		if err != nil {
			return err
		}
		page := newPage()
		at := from
		for ; at < to && got[at] != nil; at++ {
			event := l.full(at, got[at], contract.DefaultRecordBytes)
			if !page.fits(event) {
				break
			}
			out.Events = append(out.Events, event)
		}
		out.NextSeq = l.next(at)
		out.Session = l.withMissing(out.Events)
		return nil
	})
	return out, err
}

// slice is the positions [from, to) of at most limit events, clamped to the log.
func (l *log) slice(fromSeq int64, limit int) (from, to int) {
	from = int(min(max(fromSeq, 0), int64(len(l.events))))
	return from, min(from+limit, len(l.events))
}

// next is where a slice goes on after it ended before a position.
func (l *log) next(at int) *int64 {
	if at >= len(l.events) {
		return nil
	}
	seq := int64(at)
	return &seq
}

// matcher holds events against an events clause.
type matcher struct {
	*contract.EventFilters
	tools []string // in lower case
}

func newMatcher(f *contract.EventFilters) *matcher {
	m := &matcher{EventFilters: f}
	if f == nil {
		m.EventFilters = &contract.EventFilters{}
	}
	for _, tool := range m.Tools {
		m.tools = append(m.tools, strings.ToLower(tool))
	}
	return m
}

func (m *matcher) passes(l *log, seq int) bool {
	k, e := l.kind(seq), &l.events[seq]
	return m.surface(l.surface(seq)) && m.allows(k.typ, k.role, seq, e.time, k.tools)
}

// surface holds an event's surface against the clause.
func (m *matcher) surface(s transcript.Surface) bool {
	return m.Surfaces == nil || slices.Contains(m.Surfaces, contract.Surface(s))
}

// allows holds all but the surface of an event against the clause.
func (m *matcher) allows(typ string, role transcript.Role, seq int, millis int64, tools []string) bool {
	if m.Types != nil && !slices.Contains(m.Types, typ) ||
		m.Roles != nil && !slices.Contains(m.Roles, contract.Role(role)) ||
		m.Seq != nil && !m.Seq.Contains(int64(seq)) ||
		m.Time != nil && (millis == noTime || !m.Time.Contains(contract.Instant(millis))) {
		return false
	}
	return m.Tools == nil || slices.ContainsFunc(tools, func(tool string) bool { return slices.Contains(m.tools, strings.ToLower(tool)) })
}

// resume is the position after which a walk goes on, -1 for its start.
func (l *log) resume(cursor *string, hash string) (int, error) {
	if cursor == nil {
		return -1, nil
	}
	c, err := contract.CheckReadCursor(*cursor, l.fence, hash)
	if err != nil {
		return 0, err
	}
	if c.Last >= int64(len(l.events)) || l.check(int(c.Last)) != c.Check {
		return 0, contract.StaleCursorError()
	}
	return int(c.Last), nil
}

// more is the page of a walk that goes on after an event.
func (l *log) more(hash string, last int) contract.Page {
	cursor := contract.EncodeReadCursor(contract.ReadCursor{RequestHash: hash, Fence: l.fence, Last: int64(last), Check: l.check(last)})
	return contract.Page{Cursor: &cursor, HasMore: true}
}

// ListEvents answers listEvents.
func (e *Engine) ListEvents(ctx context.Context, request contract.ListEventsRequest) (contract.EventPage, error) {
	var out contract.EventPage
	err := e.with(ctx, request.SessionName, func(l *log) error {
		if err := l.surfaceFault(); err != nil {
			return err
		}
		out = contract.EventPage{Session: l.header}
		hash := request.Hash(l.name)
		last, err := l.resume(request.Cursor, hash)
		if err != nil {
			return err
		}
		limit, page, m := readLimit(request.Limit, contract.MaxReadLimit), newPage(), newMatcher(request.Filters)
		for seq := last + 1; seq < len(l.events); seq++ {
			if !m.passes(l, seq) {
				continue
			}
			event := l.record(l.name, seq)
			if len(out.Events) == limit || !page.fits(event) {
				out.Page = l.more(hash, last)
				break
			}
			out.Events, last = append(out.Events, event), seq
		}
		return nil
	})
	return out, err
}

// FilterEvents answers filterEvents.
func (e *Engine) FilterEvents(ctx context.Context, request contract.FilterEventsRequest) (contract.EventPage, error) {
	var out contract.EventPage
	err := e.with(ctx, request.SessionName, func(l *log) error {
		if err := l.surfaceFault(); err != nil {
			return err
		}
		out = contract.EventPage{Session: l.header}
		hash := request.Hash(l.name)
		last, err := l.resume(request.Cursor, hash)
		if err != nil {
			return err
		}
		limit, page, m := readLimit(request.Limit, contract.MaxReadLimit), newPage(), newMatcher(request.Filters)
		var seqs []int
		for seq := last + 1; seq < len(l.events); seq++ {
			if l.events[seq].text > 0 && m.passes(l, seq) {
				seqs = append(seqs, seq)
			}
		}
		// add puts an event on the page; false when the page is full.
		add := func(seq int, c *content) bool {
			event := l.withText(seq, c, contract.DefaultRecordBytes)
			if len(out.Events) == limit || !page.fits(event) {
				out.Page = l.more(hash, last)
				return false
			}
			out.Events, last = append(out.Events, event), seq
			return true
		}
		if request.Text == nil {
			some := seqs[:min(len(seqs), limit+1)]
			got, err := l.fetch(ctx, wish{seqs: some, max: contract.DefaultRecordBytes})
			if err != nil {
				return err
			}
			for _, seq := range some {
				if got[seq] == nil {
					out.Page = l.more(hash, last)
					break
				}
				if !add(seq, got[seq]) {
					break
				}
			}
			return nil
		}
		literal := analysis.NewLiteral(*request.Text)
		return l.stream(ctx, seqs, func(seq int, parts []transcript.Part) bool {
			text := joined(parts)
			if !literal.In(text) {
				return true
			}
			return add(seq, &content{parts: []transcript.Part{{Text: strings.Clone(text)}}})
		})
	})
	return out, err
}

// target finds the event that a request names.
func (l *log) target(name contract.EventName) (int, error) {
	at := -1
	if name.Seq != nil {
		if *name.Seq < 0 || *name.Seq >= int64(len(l.events)) {
			return 0, contract.Failed(contract.CodeEventNotFound, nil, "the session has no event %d; it has %d", *name.Seq, len(l.events))
		}
		at = int(*name.Seq)
	}
	if name.EventID == nil {
		return at, nil
	}
	id := *name.EventID
	switch found := l.find(id); {
	case at >= 0 && l.id(at) != id:
		return 0, contract.Failed(contract.CodeEventNotFound, nil, "event %d of the session does not have the id %.200q", at, id)
	case at < 0 && found < 0:
		return 0, contract.Failed(contract.CodeEventNotFound, nil, "the session has no event with the id %.200q", id)
	case at < 0:
		at = found
	}
	return at, nil
}

// ReadEvent answers readEvent.
func (e *Engine) ReadEvent(ctx context.Context, request contract.ReadEventRequest) (contract.ReadEventResponse, error) {
	var out contract.ReadEventResponse
	err := e.with(ctx, request.SessionName, func(l *log) error {
		target, err := l.target(request.EventName)
		if err != nil {
			return err
		}
		most := contract.DefaultRecordBytes
		if request.MaxBytes > 0 {
			most = min(request.MaxBytes, contract.MaxRecordBytes)
		}
		first := max(0, target-min(max(request.Before, 0), contract.MaxWindow))
		last := min(len(l.events)-1, target+min(max(request.After, 0), contract.MaxWindow))
		out = contract.ReadEventResponse{StartSeq: int64(first), EndSeq: int64(last)}
		// The target first: whatever its neighbours take, it is whole.
		own, err := l.fetch(ctx, wish{seqs: []int{target}, data: true, max: most})
		if err != nil {
			return err
		}
		if own[target] == nil {
			return errChanged
		}
		out.Target = l.full(target, own[target], most)
		page := newPage()
		page.fits(out.Target)
		if first < last {
			around := slices.DeleteFunc(positions(first, last+1), func(seq int) bool { return seq == target })
			got, err := l.fetch(ctx, wish{seqs: around, data: true, max: most})
			if err != nil {
				return err
			}
			own = got
		}
		for seq := first; seq <= last; seq++ {
			if seq == target {
				out.Events = append(out.Events, out.Target)
				continue
			}
			out.Events = append(out.Events, l.neighbour(seq, own[seq], most, page))
		}
		out.Session = l.withMissing(out.Events)
		return nil
	})
	return out, err
}

// neighbour is a full event, or as much of it as there is room for.
func (l *log) neighbour(seq int, c *content, most int, page *page) contract.EventRecord {
	if c != nil {
		if event := l.full(seq, c, most); page.fits(event) {
			return event
		}
	}
	event := l.record(l.name, seq)
	empty := ""
	event.Data, event.DataBytes, event.DataTruncated = null, l.events[seq].length, true
	event.Text, event.TextTruncated = &empty, l.events[seq].text > 0
	return event
}

// ReadSurface answers readSurface.
func (e *Engine) ReadSurface(ctx context.Context, request contract.ReadSurfaceRequest) (contract.ReadSurfaceResponse, error) {
	var out contract.ReadSurfaceResponse
	err := e.with(ctx, request.SessionName, func(l *log) error {
		if err := l.surfaceFault(); err != nil {
			return err
		}
		out = contract.ReadSurfaceResponse{Session: l.header}
		if n := int64(len(l.events)); n > 0 {
			n--
			out.CapturedThroughSeq = &n
		}
		hash := request.Hash(l.name)
		last, err := l.resume(request.Cursor, hash)
		if err != nil {
			return err
		}
		order := l.current()
		if last >= 0 {
			at := slices.Index(order, int32(last))
			if at < 0 {
				return contract.StaleCursorError() // it has left the surface since
			}
			order = order[at+1:]
		}
		limit, page := readLimit(request.Limit, contract.MaxReadLimit), newPage()
		for at := 0; at < len(order); {
			// Stretches of ascending positions are fetched at once.
			var seqs []int
			for i := at; i < len(order) && len(out.Events)+len(seqs) <= limit && (i == at || order[i] > order[i-1]); i++ {
				seqs = append(seqs, int(order[i]))
			}
			got, err := l.fetch(ctx, wish{seqs: seqs, max: contract.DefaultRecordBytes})
			if err != nil {
				return err
			}
			for _, seq := range seqs {
				if got[seq] == nil {
					break // the next fetch begins with it
				}
				event := l.withText(seq, got[seq], contract.DefaultRecordBytes)
				if len(out.Events) == limit || !page.fits(event) {
					out.Page = l.more(hash, last)
					return nil
				}
				out.Events, last = append(out.Events, event), seq
				at++
			}
		}
		return nil
	})
	return out, err
}
