package remote

import (
	"context"
	"fmt"

	"github.com/sessionls/sessionls/contract"
)

// SearchSessions implements contract.Commands.
func (h *Hosts) SearchSessions(ctx context.Context, request contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
	return ask(ctx, h, command[searchSessions, contract.SearchSessionsResponse]{
		name: "searchSessions",
		local: func(service contract.Commands, ctx context.Context, q searchSessions) (contract.SearchSessionsResponse, error) {
			return service.SearchSessions(ctx, contract.SearchSessionsRequest(q))
		},
		redact: contract.RedactResponse,
		check: func(q searchSessions, r *contract.SearchSessionsResponse) error {
			if r.Results == nil {
				return nil
			}
			return atMost(len(r.Results.Hits), q.Limit)
		},
		noCursor:  contract.MalformedResponse,
		noService: func() contract.SearchSessionsResponse { return contract.UnavailableResponse(contract.ReasonNoService) },
	}, searchSessions(request))
}

// SearchStatus implements contract.Commands.
func (h *Hosts) SearchStatus(ctx context.Context, request contract.SearchStatusRequest) (contract.SearchStatusResponse, error) {
	return ask(ctx, h, command[searchStatus, contract.Status]{
		name: "searchStatus",
		local: func(service contract.Commands, ctx context.Context, q searchStatus) (contract.Status, error) {
			return service.SearchStatus(ctx, contract.SearchStatusRequest(q))
		},
		redact:    contract.RedactStatus,
		noService: func() contract.Status { return contract.IdleStatus(false) },
	}, searchStatus(request))
}

// These two name their host in a field only.
type (
	searchSessions contract.SearchSessionsRequest
	searchStatus   contract.SearchStatusRequest
)

func (q searchSessions) Host() contract.Host { return q.ExecutionHost }
func (q searchStatus) Host() contract.Host   { return q.ExecutionHost }

// ListSessions implements contract.Commands.
func (h *Hosts) ListSessions(ctx context.Context, request contract.ListSessionsRequest) (contract.ListSessionsResponse, error) {
	return ask(ctx, h, command[contract.ListSessionsRequest, contract.ListSessionsResponse]{
		name: "listSessions", local: contract.Commands.ListSessions, redact: contract.RedactSessions,
		check: func(q contract.ListSessionsRequest, r *contract.ListSessionsResponse) error {
			return atMost(len(r.Sessions), q.Limit)
		},
	}, request)
}

// ReadSession implements contract.Commands.
func (h *Hosts) ReadSession(ctx context.Context, request contract.ReadSessionRequest) (contract.ReadSessionResponse, error) {
	return ask(ctx, h, command[contract.ReadSessionRequest, contract.ReadSessionResponse]{
		name: "readSession", local: contract.Commands.ReadSession,
		redact: func(r contract.ReadSessionResponse, t contract.Transport) contract.ReadSessionResponse {
			r.Session = contract.RedactHeader(r.Session, t)
			return r
		},
		check: func(q contract.ReadSessionRequest, r *contract.ReadSessionResponse) error {
			return first(of(q.SessionName, r.Session), atMost(len(r.Events), q.Limit), goesOn(q.FromSeq, r.NextSeq))
		},
	}, request)
}

// ListEvents implements contract.Commands.
func (h *Hosts) ListEvents(ctx context.Context, request contract.ListEventsRequest) (contract.EventPage, error) {
	return ask(ctx, h, command[contract.ListEventsRequest, contract.EventPage]{
		name: "listEvents", local: contract.Commands.ListEvents, redact: redactEvents,
		check: func(q contract.ListEventsRequest, r *contract.EventPage) error {
			return first(of(q.SessionName, r.Session), atMost(len(r.Events), q.Limit))
		},
	}, request)
}

// FilterEvents implements contract.Commands.
func (h *Hosts) FilterEvents(ctx context.Context, request contract.FilterEventsRequest) (contract.EventPage, error) {
	return ask(ctx, h, command[contract.FilterEventsRequest, contract.EventPage]{
		name: "filterEvents", local: contract.Commands.FilterEvents, redact: redactEvents,
		check: func(q contract.FilterEventsRequest, r *contract.EventPage) error {
			return first(of(q.SessionName, r.Session), atMost(len(r.Events), q.Limit))
		},
	}, request)
}

func redactEvents(r contract.EventPage, t contract.Transport) contract.EventPage {
	r.Session = contract.RedactHeader(r.Session, t)
	return r
}

// ReadEvent implements contract.Commands.
func (h *Hosts) ReadEvent(ctx context.Context, request contract.ReadEventRequest) (contract.ReadEventResponse, error) {
	return ask(ctx, h, command[contract.ReadEventRequest, contract.ReadEventResponse]{
		name: "readEvent", local: contract.Commands.ReadEvent,
		redact: func(r contract.ReadEventResponse, t contract.Transport) contract.ReadEventResponse {
			r.Session = contract.RedactHeader(r.Session, t)
			return r
		},
		check: func(q contract.ReadEventRequest, r *contract.ReadEventResponse) error {
			return first(of(q.SessionName, r.Session), atMost(len(r.Events), q.Before+1+q.After), at(q.EventName, r.Target))
		},
	}, request)
}

// ReadSurface implements contract.Commands.
func (h *Hosts) ReadSurface(ctx context.Context, request contract.ReadSurfaceRequest) (contract.ReadSurfaceResponse, error) {
	return ask(ctx, h, command[contract.ReadSurfaceRequest, contract.ReadSurfaceResponse]{
		name: "readSurface", local: contract.Commands.ReadSurface,
		redact: func(r contract.ReadSurfaceResponse, t contract.Transport) contract.ReadSurfaceResponse {
			r.Session = contract.RedactHeader(r.Session, t)
			return r
		},
		check: func(q contract.ReadSurfaceRequest, r *contract.ReadSurfaceResponse) error {
			return first(of(q.SessionName, r.Session), atMost(len(r.Events), q.Limit))
		},
	}, request)
}

// ReadTitles implements contract.Commands.
func (h *Hosts) ReadTitles(ctx context.Context, request contract.ReadTitlesRequest) (contract.ReadTitlesResponse, error) {
	return ask(ctx, h, command[contract.ReadTitlesRequest, contract.ReadTitlesResponse]{
		name: "readTitles", local: contract.Commands.ReadTitles, redact: contract.RedactTitles,
		check: func(q contract.ReadTitlesRequest, r *contract.ReadTitlesResponse) error {
			return atMost(len(r.Titles), len(q.Sessions))
		},
	}, request)
}

// TraceSession implements contract.Commands.
func (h *Hosts) TraceSession(ctx context.Context, request contract.TraceSessionRequest) (contract.TraceSessionResponse, error) {
	return ask(ctx, h, command[contract.TraceSessionRequest, contract.TraceSessionResponse]{
		name: "traceSession", local: contract.Commands.TraceSession, redact: contract.RedactLineage,
		check: func(q contract.TraceSessionRequest, r *contract.TraceSessionResponse) error {
			return of(q.SessionName, r.Target)
		},
	}, request)
}

// TraceEvent implements contract.Commands.
func (h *Hosts) TraceEvent(ctx context.Context, request contract.TraceEventRequest) (contract.TraceEventResponse, error) {
	return ask(ctx, h, command[contract.TraceEventRequest, contract.TraceEventResponse]{
		name: "traceEvent", local: contract.Commands.TraceEvent,
		redact: func(r contract.TraceEventResponse, t contract.Transport) contract.TraceEventResponse {
			r.Session = contract.RedactHeader(r.Session, t)
			return r
		},
		check: func(q contract.TraceEventRequest, r *contract.TraceEventResponse) error {
			return first(of(q.SessionName, r.Session), at(q.EventName, r.Target))
		},
	}, request)
}

// RenderTranscript implements contract.Commands.
func (h *Hosts) RenderTranscript(ctx context.Context, request contract.RenderTranscriptRequest) (contract.RenderTranscriptResponse, error) {
	return ask(ctx, h, command[contract.RenderTranscriptRequest, contract.RenderTranscriptResponse]{
		name: "renderTranscript", local: contract.Commands.RenderTranscript,
		redact: func(r contract.RenderTranscriptResponse, t contract.Transport) contract.RenderTranscriptResponse {
			r.Session = contract.RedactHeader(r.Session, t)
			return r
		},
		check: func(q contract.RenderTranscriptRequest, r *contract.RenderTranscriptResponse) error {
			return first(of(q.SessionName, r.Session), goesOn(q.FromSeq, r.NextSeq))
		},
	}, request)
}

// ResumePlan implements contract.Commands. The plan of another host's session is
// made here: what that host says beyond the names is not looked at.
func (h *Hosts) ResumePlan(ctx context.Context, request contract.ResumePlanRequest) (contract.ResumePlanResponse, error) {
	plan, err := ask(ctx, h, command[contract.ResumePlanRequest, contract.ResumePlanResponse]{
		name: "resumePlan", local: contract.Commands.ResumePlan, redact: contract.RedactResumePlan,
		check: func(q contract.ResumePlanRequest, r *contract.ResumePlanResponse) error {
			return of(q.SessionName, contract.Header{Agent: r.Agent, SessionID: r.SessionID})
		},
	}, request)
	if err != nil || request.ExecutionHost.IsLocal() || h.opts.ResumePlan == nil {
		return plan, err
	}
	return h.opts.ResumePlan(request.ExecutionHost, plan, request.Shell), nil
}

// Clear implements contract.Commands. Like the next three it is about this machine
// only.
func (h *Hosts) Clear(ctx context.Context, request contract.ClearRequest) (contract.ClearResponse, error) {
	return h.opts.Local.Clear(ctx, request)
}

// GetPolicy implements contract.Commands.
func (h *Hosts) GetPolicy(ctx context.Context, request contract.GetPolicyRequest) (contract.Policy, error) {
	return h.opts.Local.GetPolicy(ctx, request)
}

// SetPolicy implements contract.Commands.
func (h *Hosts) SetPolicy(ctx context.Context, request contract.SetPolicyRequest) (contract.Policy, error) {
	return h.opts.Local.SetPolicy(ctx, request)
}

// ForgetSession implements contract.Commands.
func (h *Hosts) ForgetSession(ctx context.Context, request contract.ForgetSessionRequest) (contract.ForgetSessionResponse, error) {
	return h.opts.Local.ForgetSession(ctx, request)
}

// first is the first of several faults.
func first(faults ...error) error {
	for _, fault := range faults {
		if fault != nil {
			return fault
		}
	}
	return nil
}

// atMost refuses more parts than were asked for; 0 asked for any number.
func atMost(n, limit int) error {
	if limit > 0 && n > limit {
		return fmt.Errorf("it sends %d parts where %d were asked for", n, limit)
	}
	return nil
}

// of refuses an answer about another session than the one that was named.
func of(name contract.SessionName, h contract.Header) error {
	if exact, prefix := name.Match(h.Agent, h.SessionID); !exact && !prefix {
		return fmt.Errorf("it answers about the session %q", brief(h.SessionID))
	}
	return nil
}

// at refuses an answer about another event than the one that was named.
func at(name contract.EventName, e contract.EventRecord) error {
	if name.Seq != nil && *name.Seq != e.Seq || name.EventID != nil && (e.EventID == nil || *e.EventID != *name.EventID) {
		return fmt.Errorf("it answers about the event %d", e.Seq)
	}
	return nil
}

// goesOn refuses a next stretch that does not lie behind the present one: whoever
// follows it would never come to an end.
func goesOn(from int64, next *int64) error {
	if next != nil && *next <= from {
		return fmt.Errorf("after event %d it goes on at %d", from, *next)
	}
	return nil
}
