package commands

import (
	"context"

	"github.com/sessionls/sessionls/contract"
)

// setPolicy is quick: withdrawing consent must not wait for the searches it
// ends.
func setPolicy() command {
	return define("setPolicy", contract.Parser.ParseSetPolicy,
		func(ctx context.Context, service contract.Commands, request contract.SetPolicyRequest) (contract.Policy, error) {
			return service.SetPolicy(ctx, request)
		}).asQuick()
}
