//go:build !unix

package index

import (
	"errors"
	"os"
)

// openAlive fails: there are no named pipes of that kind.
func openAlive(string, bool) (*os.File, error) { return nil, errors.ErrUnsupported }
