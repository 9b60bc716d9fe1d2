//go:build !unix

package bench

import (
	"os"
	"time"
)

func maxResident(*os.ProcessState) int64 { return 0 }

func ownTime() time.Duration { return 0 }
