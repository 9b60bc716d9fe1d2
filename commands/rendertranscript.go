package commands

import "github.com/sessionls/sessionls/contract"

func renderTranscript() command {
	return onHost("renderTranscript", contract.Parser.ParseRenderTranscript, contract.Commands.RenderTranscript)
}
