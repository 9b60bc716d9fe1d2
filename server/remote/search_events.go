package remote

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sessionls/sessionls/contract"
)

// SearchEvents implements contract.Commands. Hits that are wanted as they are
// found come under a token of this side's own, and are as little trusted as
// those of an answer.
func (h *Hosts) SearchEvents(ctx context.Context, request contract.SearchEventsRequest) (contract.SearchEventsResponse, error) {
	c := command[contract.SearchEventsRequest, contract.SearchEventsResponse]{
		name: "searchEvents", local: contract.Commands.SearchEvents, redact: contract.RedactEvents,
		check: func(q contract.SearchEventsRequest, r *contract.SearchEventsResponse) error {
			switch {
			case q.OfSession() && r.Session != nil:
				if err := of(q.SessionName, *r.Session); err != nil {
					return err
				}
			case q.OfSession() && !q.AsksNothing():
				return errors.New("it does not tell the session")
			}
			return atMost(len(r.Hits), max(q.Limit, 1))
		},
	}
	if request.OnHits == nil || request.ExecutionHost.IsLocal() {
		if !request.ExecutionHost.IsLocal() {
			request.PartialResultToken = nil // whoever has it is not listening
		}
		return ask(ctx, h, c, request)
	}
	hits := &incomingHits{host: request.ExecutionHost, room: request.Limit, onHits: request.OnHits}
	c.stream = hits.take
	response, err := ask(ctx, h, c, request)
	if hits.err == nil && err == nil && len(response.Hits) > 0 {
		// That host does not send hits ahead.
		hits.hand(response.Hits)
		response.Hits = nil
	}
	if hits.err != nil {
		return contract.SearchEventsResponse{}, hits.failure()
	}
	return response, err
}

// incomingHits hands on the hits of one request as they come in. take and what
// looks at the fields afterwards follow each other: a connection delivers in
// order.
type incomingHits struct {
	host   contract.Host
	room   int // hits that may still come
	onHits func([]contract.EventHit) error
	err    error
	ours   bool // err is onHits' own
}

// take gets the value of a notification. After the first failure nothing more
// is handed on; the error ends the request.
func (in *incomingHits) take(value json.RawMessage) error {
	if in.err != nil {
		return in.err
	}
	partial, err := read[contract.PartialHits](in.host, value)
	switch {
	case err == nil && partial.Kind != contract.KindHits:
		return nil // of a later version
	case err == nil && len(partial.Hits) > in.room:
		err = errors.New("it sends more hits than were asked for")
	}
	if err != nil {
		in.err = err
		return err
	}
	in.hand(partial.Hits)
	return in.err
}

func (in *incomingHits) hand(hits []contract.EventHit) {
	in.room -= len(hits)
	if err := in.onHits(hits); err != nil {
		in.err, in.ours = err, true
	}
}

func (in *incomingHits) failure() error {
	if in.ours {
		return in.err
	}
	return strange(in.host, in.err)
}
