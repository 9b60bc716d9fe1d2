package commands

import (
	"context"

	"github.com/sessionls/sessionls/contract"
)

// searchSessions answers for other hosts that they have no service, which is the
// contract's answer for a host that cannot be asked this.
func searchSessions() command {
	return define("searchSessions", contract.Parser.ParseSearchSessions,
		func(ctx context.Context, service contract.Commands, request contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
			if !request.ExecutionHost.IsLocal() {
				return contract.UnavailableResponse(contract.ReasonNoService), nil
			}
			return service.SearchSessions(ctx, request)
		})
}
