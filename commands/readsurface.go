package commands

import "github.com/sessionls/sessionls/contract"

func readSurface() command {
	return onHost("readSurface", contract.Parser.ParseReadSurface, contract.Commands.ReadSurface)
}
