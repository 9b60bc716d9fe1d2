package commands

import "context"

// searchEvents sends its hits ahead of the answer when the client has given a
// token and there is a way to send them.
func searchEvents() command {
	return command{name: "searchEvents", run: func(ctx context.Context, of *Registry, raw []byte) (any, error) {
		request, err := of.parser.ParseSearchEvents(raw)
		if err != nil {
			return nil, err
		}
		if request.PartialResultToken == nil || of.progress == nil {
			return of.service.SearchEvents(ctx, request)
		}
		partial := of.progress(ctx, request.PartialResultToken)
		request.OnHits = partial.Send
		response, err := of.service.SearchEvents(ctx, request)
		// Whatever came of it: what was found goes out before the answer does.
		if sent := partial.Close(); err == nil && sent != nil {
			return nil, sent
		}
		return response, err
	}}
}
