package commands

import "github.com/sessionls/sessionls/contract"

func traceSession() command {
	return onHost("traceSession", contract.Parser.ParseTraceSession, contract.Commands.TraceSession)
}
