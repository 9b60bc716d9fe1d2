package commands

import "github.com/sessionls/sessionls/contract"

// resumePlan is quick: it reads one header and looks at a few names on disk.
func resumePlan() command {
	return onHost("resumePlan", contract.Parser.ParseResumePlan, contract.Commands.ResumePlan).asQuick()
}
