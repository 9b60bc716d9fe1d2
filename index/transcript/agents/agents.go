// Package agents is the registry of the agents whose transcripts are read.
package agents

import (
	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/claude"
	"github.com/sessionls/sessionls/index/transcript/cline"
	"github.com/sessionls/sessionls/index/transcript/codex"
	"github.com/sessionls/sessionls/index/transcript/copilot"
	"github.com/sessionls/sessionls/index/transcript/cursor"
	"github.com/sessionls/sessionls/index/transcript/dsh"
	"github.com/sessionls/sessionls/index/transcript/gemini"
	"github.com/sessionls/sessionls/index/transcript/opencode"
	"github.com/sessionls/sessionls/index/transcript/pi"
	"github.com/sessionls/sessionls/index/transcript/vscode"
)

// All lists a new reader for every agent, in the order of the contract. A new
// agent is a new package and a line here.
func All() []transcript.Reader {
	return []transcript.Reader{
		claude.New(),
		codex.New(),
		pi.New(),
		dsh.New(),
		gemini.New(),
		opencode.New(),
		copilot.New(),
		vscode.New(),
		cursor.New(),
		cline.New(),
	}
}
