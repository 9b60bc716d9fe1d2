package index

import (
	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/exact"
)

// ResumeCommand is the command line that continues a session, quoted for a
// POSIX shell and without cd; "" if its agent has none for it or the id could be
// taken for something else than an id.
func (s *Service) ResumeCommand(agent, sessionID, format string) string {
	line, _ := exact.Quote(contract.ShellPosix, s.exact.Argv(agent, sessionID, format))
	return line
}
