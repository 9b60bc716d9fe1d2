package commands

import (
	"context"

	"github.com/sessionls/sessionls/contract"
)

// searchStatus is quick: it reads the indexer's counters. For other hosts it is
// the status of a service that is not there.
func searchStatus() command {
	return define("searchStatus", contract.Parser.ParseSearchStatus,
		func(ctx context.Context, service contract.Commands, request contract.SearchStatusRequest) (contract.SearchStatusResponse, error) {
			if !request.ExecutionHost.IsLocal() {
				return contract.IdleStatus(false), nil
			}
			return service.SearchStatus(ctx, request)
		}).asQuick()
}
