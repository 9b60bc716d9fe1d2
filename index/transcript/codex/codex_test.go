package codex_test

import (
	"testing"

	"github.com/sessionls/sessionls/index/transcript/codex"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const samples = "../../../testdata/home/codex"

func TestGolden(t *testing.T) {
	transcripttest.Golden(t, codex.New(), transcripttest.Home(t, samples), "../../../testdata/golden/codex.txt")
}
