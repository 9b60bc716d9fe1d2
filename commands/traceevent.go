package commands

import "github.com/sessionls/sessionls/contract"

func traceEvent() command {
	return onHost("traceEvent", contract.Parser.ParseTraceEvent, contract.Commands.TraceEvent)
}
