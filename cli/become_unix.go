//go:build unix

package cli

import (
	"os"
	"slices"
	"strings"
	"syscall"
)

// become replaces this process by another program, in a folder if that is not "".
// It comes back only with an error.
func become(path string, argv []string, dir string) (int, error) {
	env := os.Environ()
	if dir != "" {
		if err := os.Chdir(dir); err != nil {
			return 0, err
		}
		// The first of two would count.
		env = slices.DeleteFunc(env, func(s string) bool { return strings.HasPrefix(s, "PWD=") })
		env = append(env, "PWD="+dir)
	}
	return 0, syscall.Exec(path, argv, env)
}
