//go:build unix

package faults_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

var (
	longForm = flag.Bool("faults.long", false, "the long form: minutes")
	seedFlag = flag.Uint64("faults.seed", 0, "seed of everything random; 0 takes one from the clock")

	// program is the path of sessionls, built once for all tests.
	program string
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(withProgram(m))
}

func withProgram(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sessionls-faults-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "sessionls")
	args := append([]string{"build", "-tags", "sqlite_fts5", "-buildvcs=false", "-o", program}, raceFlags...)
	build := exec.Command("go", append(args, "github.com/sessionls/sessionls")...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// seeded is the source of everything random in a test; the seed is printed when
// the test fails.
func seeded(t *testing.T) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -run '^%s$' -faults.seed=%d", t.Name(), seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// pick chooses by the form the tests run in. With the race detector everything
// takes many times as long, so the plain form does what the short one does.
func pick[T any](short, plain, long T) T {
	switch {
	case *longForm:
		return long
	case testing.Short(), len(raceFlags) > 0:
		return short
	}
	return plain
}
