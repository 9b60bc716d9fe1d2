//go:build unix && !linux

package faults_test

import "errors"

// lockHolders is known on Linux only.
func lockHolders(string) ([]int, error) { return nil, errors.ErrUnsupported }
