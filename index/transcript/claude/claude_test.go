package claude_test

import (
	"testing"

	"github.com/sessionls/sessionls/index/transcript/claude"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const samples = "../../../testdata/home/claude-code"

// TestGolden reads the invented sample home, file by file.
func TestGolden(t *testing.T) {
	transcripttest.Golden(t, claude.New(), samples, "../../../testdata/golden/claude.txt")
}
