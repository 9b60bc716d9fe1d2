package commands

import "github.com/sessionls/sessionls/contract"

func readEvent() command {
	return onHost("readEvent", contract.Parser.ParseReadEvent, contract.Commands.ReadEvent)
}
