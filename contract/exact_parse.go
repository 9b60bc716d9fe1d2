package contract

import (
	"slices"
	"strings"
	"unicode"
)

// ParseListSessions reads the request of listSessions.
func (p Parser) ParseListSessions(raw []byte) (ListSessionsRequest, error) {
	r := newReader(raw)
	return finish(r, ListSessionsRequest{
		Filters:       p.filters(r),
		Sort:          word(r, "sort", SessionSortCreated, SessionSortCreated, SessionSortUpdated),
		Limit:         r.limit(MaxReadLimit),
		Cursor:        r.text("cursor"),
		ExecutionHost: executionHost(r),
	})
}

// ParseReadSession reads the request of readSession.
func (p Parser) ParseReadSession(raw []byte) (ReadSessionRequest, error) {
	r := newReader(raw)
	return finish(r, ReadSessionRequest{
		SessionName:   p.sessionName(r),
		FromSeq:       r.fromSeq(),
		Limit:         r.limit(MaxReadLimit),
		ExecutionHost: executionHost(r),
	})
}

// ParseListEvents reads the request of listEvents.
func (p Parser) ParseListEvents(raw []byte) (ListEventsRequest, error) {
	r := newReader(raw)
	return finish(r, ListEventsRequest{
		SessionName:   p.sessionName(r),
		Filters:       eventFilters(r, "filters"),
		Limit:         r.limit(MaxReadLimit),
		Cursor:        r.text("cursor"),
		ExecutionHost: executionHost(r),
	})
}

// ParseFilterEvents reads the request of filterEvents.
func (p Parser) ParseFilterEvents(raw []byte) (FilterEventsRequest, error) {
	r := newReader(raw)
	return finish(r, FilterEventsRequest{
		SessionName:   p.sessionName(r),
		Filters:       eventFilters(r, "filters"),
		Text:          r.solidText("text"),
		Limit:         r.limit(MaxReadLimit),
		Cursor:        r.text("cursor"),
		ExecutionHost: executionHost(r),
	})
}

// ParseReadEvent reads the request of readEvent.
func (p Parser) ParseReadEvent(raw []byte) (ReadEventRequest, error) {
	r := newReader(raw)
	return finish(r, ReadEventRequest{
		SessionName:   p.sessionName(r),
		EventName:     eventName(r),
		Before:        int(r.whole("before", 0, MaxWindow, 0)),
		After:         int(r.whole("after", 0, MaxWindow, 0)),
		MaxBytes:      int(r.whole("maxBytes", 1, MaxRecordBytes, DefaultRecordBytes)),
		ExecutionHost: executionHost(r),
	})
}

// ParseReadSurface reads the request of readSurface.
func (p Parser) ParseReadSurface(raw []byte) (ReadSurfaceRequest, error) {
	r := newReader(raw)
	return finish(r, ReadSurfaceRequest{
		SessionName:   p.sessionName(r),
		Limit:         r.limit(MaxReadLimit),
		Cursor:        r.text("cursor"),
		ExecutionHost: executionHost(r),
	})
}

// ParseReadTitles reads the request of readTitles.
func (p Parser) ParseReadTitles(raw []byte) (ReadTitlesRequest, error) {
	r := newReader(raw)
	return finish(r, ReadTitlesRequest{Sessions: p.sessionNames(r), ExecutionHost: executionHost(r)})
}

// ParseTraceSession reads the request of traceSession.
func (p Parser) ParseTraceSession(raw []byte) (TraceSessionRequest, error) {
	r := newReader(raw)
	return finish(r, TraceSessionRequest{SessionName: p.sessionName(r), ExecutionHost: executionHost(r)})
}

// ParseTraceEvent reads the request of traceEvent.
func (p Parser) ParseTraceEvent(raw []byte) (TraceEventRequest, error) {
	r := newReader(raw)
	return finish(r, TraceEventRequest{SessionName: p.sessionName(r), EventName: eventName(r), ExecutionHost: executionHost(r)})
}

// ParseRenderTranscript reads the request of renderTranscript.
func (p Parser) ParseRenderTranscript(raw []byte) (RenderTranscriptRequest, error) {
	r := newReader(raw)
	request := RenderTranscriptRequest{
		SessionName: p.sessionName(r),
		FromSeq:     r.fromSeq(),
		Limit:       r.limit(MaxRenderLimit),
	}
	if thinking := r.flag("thinking"); thinking != nil {
		request.Thinking = *thinking
	}
	request.Tools = word(r, "tools", ToolsFold, ToolsFold, ToolsFull, ToolsNone)
	request.ExecutionHost = executionHost(r)
	return finish(r, request)
}

// ParseResumePlan reads the request of resumePlan.
func (p Parser) ParseResumePlan(raw []byte) (ResumePlanRequest, error) {
	r := newReader(raw)
	return finish(r, ResumePlanRequest{
		SessionName:   p.sessionName(r),
		Shell:         word(r, "shell", ShellPosix, ShellPosix, ShellFish, ShellCmd, ShellPowerShell),
		ExecutionHost: executionHost(r),
	})
}

// finish gives the request that was read, or nothing and the first fault.
func finish[Q any](r reader, request Q) (Q, error) {
	if err := r.err(); err != nil {
		var none Q
		return none, err
	}
	return request, nil
}

// whole reads an optional whole number within bounds.
func (r reader) whole(name string, low, high, fallback int64) int64 {
	raw, ok := r.field(name)
	if !ok {
		return fallback
	}
	if kindOf(raw) != "a number" {
		r.fail(name, "want a whole number from %d to %d, got %s", low, high, kindOf(raw))
		return fallback
	}
	n, whole := integerOf(string(raw))
	if !whole || n < low || n > high {
		r.fail(name, "want a whole number from %d to %d, got %s", low, high, quote(string(raw)))
		return fallback
	}
	return n
}

// limit reads the page size of an exact read.
func (r reader) limit(most int64) int { return int(r.whole("limit", 1, most, DefaultReadLimit)) }

// fromSeq reads where a slice begins.
func (r reader) fromSeq() int64 { return r.whole("fromSeq", 0, 1<<63-1, 0) }

// solidText reads an optional string that must not be blank.
func (r reader) solidText(name string) *string {
	s := r.text(name)
	if s != nil && strings.TrimFunc(*s, unicode.IsSpace) == "" {
		r.fail(name, "the text is blank; leave it out to filter by nothing")
		return nil
	}
	return s
}

// eventName reads the name of an event. Any whole number may be asked for: one
// that no event has is for the log to tell.
func eventName(r reader) EventName {
	name := EventName{EventID: r.text("eventId")}
	if raw, ok := r.field("seq"); ok {
		n, whole := int64(0), false
		if kind := kindOf(raw); kind != "a number" {
			r.fail("seq", "want a whole number, got %s", kind)
		} else if n, whole = integerOf(string(raw)); !whole {
			r.fail("seq", "want a whole number, got %s", quote(string(raw)))
		}
		name.Seq = &n
	}
	if name.Seq == nil && name.EventID == nil {
		r.fail("seq", "the position of an event (seq) or its id (eventId) is required")
	}
	return name
}

// sessionNames reads a list of names.
func (p Parser) sessionNames(r reader) List[SessionName] {
	list := r.elements("sessions")
	switch {
	case r.failed():
		return nil
	case list == nil:
		r.fail("sessions", "a list of sessions, each with sessionId and perhaps agent, is required")
		return nil
	case len(list) > MaxTitles:
		r.fail("sessions", "%d sessions; at most %d are allowed", len(list), MaxTitles)
		return nil
	}
	out := make(List[SessionName], 0, len(list))
	for i, raw := range list {
		if kind := kindOf(raw); kind != "object" {
			r.fail("sessions", "element %d: want an object with sessionId and perhaps agent, got %s", i, kind)
			return nil
		}
		element := newReader(raw)
		name := p.sessionName(element)
		if fault := *element.fault; fault != nil {
			// The name of the field within the element follows in the message.
			in := InvalidParams("sessions", "element %d: %s", i, fault.Message)
			in.Allowed = slices.Clone(fault.Allowed)
			r.keep(in)
			return nil
		}
		out = append(out, name)
	}
	return out
}
