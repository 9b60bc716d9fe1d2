package commands

import "github.com/sessionls/sessionls/contract"

// searchStatus is quick: it reads the indexer's counters.
func searchStatus() command {
	return onHost("searchStatus", contract.Parser.ParseSearchStatus, contract.Commands.SearchStatus).asQuick()
}
