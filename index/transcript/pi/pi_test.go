package pi_test

import (
	"testing"

	"github.com/sessionls/sessionls/index/transcript/pi"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const samples = "../../../testdata/home/pi"

func TestGolden(t *testing.T) {
	transcripttest.Golden(t, pi.New(), samples, "../../../testdata/golden/pi.txt")
}
