package commands

import "github.com/sessionls/sessionls/contract"

func filterEvents() command {
	return onHost("filterEvents", contract.Parser.ParseFilterEvents, contract.Commands.FilterEvents)
}
