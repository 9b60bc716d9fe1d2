//go:build !unix

package index

import (
	"errors"
	"os"
)

// openAlive fails: there are no named pipes of that kind.
func openAlive(string, bool) (*os.File, error) { return nil, errors.ErrUnsupported }

// openBell fails: the holder of the seat watches the folder that requests are in.
func openBell(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// listens fails: the lock tells whether there is a holder.
func listens(string) (bool, error) { return false, errors.ErrUnsupported }

func ring(string) {}
