package commands

import (
	"context"

	"github.com/sessionls/sessionls/contract"
)

// clearIndex is quick: a person who wants the index gone must not wait for
// searches in it.
func clearIndex() command {
	return define("clear", contract.Parser.ParseClear,
		func(ctx context.Context, service contract.Commands, request contract.ClearRequest) (contract.ClearResponse, error) {
			return service.Clear(ctx, request)
		}).asQuick()
}
