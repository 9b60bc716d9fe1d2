package server

import (
	"context"

	"github.com/sessionls/sessionls/contract"
)

// The exact reads of the fake service.

func (f *fakeService) ListSessions(_ context.Context, _ contract.ListSessionsRequest) (contract.ListSessionsResponse, error) {
	return contract.ListSessionsResponse{Sessions: contract.List[contract.Header]{contract.Header{Title: "exact"}}}, nil
}

func (f *fakeService) ReadSession(_ context.Context, _ contract.ReadSessionRequest) (contract.ReadSessionResponse, error) {
	return contract.ReadSessionResponse{Session: contract.Header{Title: "exact"}}, nil
}

func (f *fakeService) ListEvents(_ context.Context, _ contract.ListEventsRequest) (contract.EventPage, error) {
	return contract.EventPage{Session: contract.Header{Title: "exact"}}, nil
}

func (f *fakeService) FilterEvents(_ context.Context, _ contract.FilterEventsRequest) (contract.EventPage, error) {
	return contract.EventPage{Session: contract.Header{Title: "exact"}}, nil
}

func (f *fakeService) ReadEvent(_ context.Context, _ contract.ReadEventRequest) (contract.ReadEventResponse, error) {
	return contract.ReadEventResponse{Session: contract.Header{Title: "exact"}}, nil
}

func (f *fakeService) ReadSurface(_ context.Context, _ contract.ReadSurfaceRequest) (contract.ReadSurfaceResponse, error) {
	return contract.ReadSurfaceResponse{Session: contract.Header{Title: "exact"}}, nil
}

func (f *fakeService) ReadTitles(_ context.Context, _ contract.ReadTitlesRequest) (contract.ReadTitlesResponse, error) {
	return contract.ReadTitlesResponse{Titles: contract.List[contract.TitleResult]{{SessionName: contract.SessionName{SessionID: "s"}, Status: contract.TitleRejected, Code: contract.CodeSessionNotFound}}}, nil
}

func (f *fakeService) TraceSession(_ context.Context, _ contract.TraceSessionRequest) (contract.TraceSessionResponse, error) {
	return contract.TraceSessionResponse{Target: contract.Header{Title: "exact"}, Descendants: []contract.LineageNode{}, Complete: true}, nil
}

func (f *fakeService) TraceEvent(_ context.Context, _ contract.TraceEventRequest) (contract.TraceEventResponse, error) {
	return contract.TraceEventResponse{Session: contract.Header{Title: "exact"}}, nil
}

func (f *fakeService) RenderTranscript(_ context.Context, _ contract.RenderTranscriptRequest) (contract.RenderTranscriptResponse, error) {
	return contract.RenderTranscriptResponse{Session: contract.Header{Title: "exact"}}, nil
}

func (f *fakeService) ResumePlan(_ context.Context, q contract.ResumePlanRequest) (contract.ResumePlanResponse, error) {
	return contract.ResumePlanResponse{Agent: "pi", SessionID: q.SessionID, Argv: []string{"pi"}}, nil
}

func (f *fakeService) SearchEvents(ctx context.Context, q contract.SearchEventsRequest) (contract.SearchEventsResponse, error) {
	if f.events != nil {
		return f.events(ctx, q)
	}
	return contract.SearchEventsResponse{}, nil
}
