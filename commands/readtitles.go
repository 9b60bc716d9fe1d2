package commands

import "github.com/sessionls/sessionls/contract"

// readTitles is quick: it reads rows of headers, and a list on a screen waits
// for it.
func readTitles() command {
	return onHost("readTitles", contract.Parser.ParseReadTitles, contract.Commands.ReadTitles).asQuick()
}
