package commands

import "github.com/sessionls/sessionls/contract"

func readSession() command {
	return onHost("readSession", contract.Parser.ParseReadSession, contract.Commands.ReadSession)
}
