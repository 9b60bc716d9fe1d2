package commands

import "github.com/sessionls/sessionls/contract"

func listEvents() command {
	return onHost("listEvents", contract.Parser.ParseListEvents, contract.Commands.ListEvents)
}
