package commands

import (
	"context"

	"github.com/sessionls/sessionls/contract"
)

// forgetSession is quick: what is to be gone must not wait for searches that may
// still show it.
func forgetSession() command {
	return define("forgetSession", contract.Parser.ParseForgetSession,
		func(ctx context.Context, service contract.Commands, request contract.ForgetSessionRequest) (contract.ForgetSessionResponse, error) {
			return service.ForgetSession(ctx, request)
		}).asQuick()
}
