package commands

import "github.com/sessionls/sessionls/contract"

func searchSessions() command {
	return onHost("searchSessions", contract.Parser.ParseSearchSessions, contract.Commands.SearchSessions)
}
