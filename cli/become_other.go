//go:build !unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

var errBatch = errors.New("it is a batch file, which the shell would read; run the command yourself")

// become runs another program in this one's place, in a folder if that is not "",
// and returns its exit code: Windows cannot replace a process.
func become(path string, argv []string, dir string) (int, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".bat", ".cmd":
		// cmd.exe runs it, and takes characters of the arguments for its own.
		for _, arg := range argv[1:] {
			if !shellSafe.MatchString(arg) || strings.ContainsAny(arg, "%,=") {
				return 0, errBatch
			}
		}
	}
	child := exec.Command(path, argv[1:]...)
	child.Stdin, child.Stdout, child.Stderr, child.Dir = os.Stdin, os.Stdout, os.Stderr, dir
	// Ctrl-C is the child's, as it would be if it had replaced this process.
	signal.Ignore(os.Interrupt)
	var exit *exec.ExitError
	if err := child.Run(); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	} else if err != nil {
		return 0, err
	}
	return 0, nil
}
