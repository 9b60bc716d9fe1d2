package contract_test

import (
	"context"

	"github.com/sessionls/sessionls/contract"
)

// The exact reads of the fake service.

func (s service) ListSessions(_ context.Context, _ contract.ListSessionsRequest) (contract.ListSessionsResponse, error) {
	return contract.ListSessionsResponse{Sessions: contract.List[contract.Header]{contract.Header{Title: "exact"}}}, s.err
}

func (s service) ReadSession(_ context.Context, _ contract.ReadSessionRequest) (contract.ReadSessionResponse, error) {
	return contract.ReadSessionResponse{Session: contract.Header{Title: "exact"}}, s.err
}

func (s service) ListEvents(_ context.Context, _ contract.ListEventsRequest) (contract.EventPage, error) {
	return contract.EventPage{Session: contract.Header{Title: "exact"}}, s.err
}

func (s service) FilterEvents(_ context.Context, _ contract.FilterEventsRequest) (contract.EventPage, error) {
	return contract.EventPage{Session: contract.Header{Title: "exact"}}, s.err
}

func (s service) ReadEvent(_ context.Context, _ contract.ReadEventRequest) (contract.ReadEventResponse, error) {
	return contract.ReadEventResponse{Session: contract.Header{Title: "exact"}}, s.err
}

func (s service) ReadSurface(_ context.Context, _ contract.ReadSurfaceRequest) (contract.ReadSurfaceResponse, error) {
	return contract.ReadSurfaceResponse{Session: contract.Header{Title: "exact"}}, s.err
}

func (s service) ReadTitles(_ context.Context, _ contract.ReadTitlesRequest) (contract.ReadTitlesResponse, error) {
	return contract.ReadTitlesResponse{Titles: contract.List[contract.TitleResult]{{SessionName: contract.SessionName{SessionID: "s"}, Status: contract.TitleRejected, Code: contract.CodeSessionNotFound}}}, s.err
}

func (s service) TraceSession(_ context.Context, _ contract.TraceSessionRequest) (contract.TraceSessionResponse, error) {
	return contract.TraceSessionResponse{Target: contract.Header{Title: "exact"}, Descendants: []contract.LineageNode{}, Complete: true}, s.err
}

func (s service) TraceEvent(_ context.Context, _ contract.TraceEventRequest) (contract.TraceEventResponse, error) {
	return contract.TraceEventResponse{Session: contract.Header{Title: "exact"}}, s.err
}

func (s service) RenderTranscript(_ context.Context, _ contract.RenderTranscriptRequest) (contract.RenderTranscriptResponse, error) {
	return contract.RenderTranscriptResponse{Session: contract.Header{Title: "exact"}}, s.err
}

func (s service) ResumePlan(_ context.Context, q contract.ResumePlanRequest) (contract.ResumePlanResponse, error) {
	return contract.ResumePlanResponse{Agent: "pi", SessionID: q.SessionID, Argv: []string{"pi"}}, s.err
}

func (s service) SearchEvents(_ context.Context, _ contract.SearchEventsRequest) (contract.SearchEventsResponse, error) {
	return contract.SearchEventsResponse{Total: contract.EventTotal{Events: 7}}, s.err
}
