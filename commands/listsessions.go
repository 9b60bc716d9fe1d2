package commands

import "github.com/sessionls/sessionls/contract"

func listSessions() command {
	return onHost("listSessions", contract.Parser.ParseListSessions, contract.Commands.ListSessions)
}
