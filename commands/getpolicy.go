package commands

import (
	"context"

	"github.com/sessionls/sessionls/contract"
)

// getPolicy is quick: it reads one small file.
func getPolicy() command {
	return define("getPolicy", contract.Parser.ParseGetPolicy,
		func(ctx context.Context, service contract.Commands, request contract.GetPolicyRequest) (contract.Policy, error) {
			return service.GetPolicy(ctx, request)
		}).asQuick()
}
