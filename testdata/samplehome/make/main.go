// Command make makes a home directory out of the samples: make DST SRC. The
// Makefile's demo runs it.
package main

import (
	"fmt"
	"os"

	"github.com/sessionls/sessionls/testdata/samplehome"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: make DST SRC")
		os.Exit(2)
	}
	if err := samplehome.Make(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
