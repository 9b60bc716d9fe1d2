package index

import (
	"strings"
	"unicode"
)

// ResumeCommand is the command line that continues a session, quoted for a
// POSIX shell and without cd; "" if its agent has none or the id could be taken
// for something else than an id.
func (s *Service) ResumeCommand(agent, sessionID string) string {
	rd := s.byAgent[agent]
	if rd == nil || sessionID == "" || strings.HasPrefix(sessionID, "-") || strings.ContainsFunc(sessionID, unicode.IsControl) {
		return ""
	}
	args := rd.ResumeArgs(sessionID)
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = quoteWord(arg)
	}
	return strings.Join(words, " ")
}

// quoteWord quotes an argument for a POSIX shell if it needs quoting.
func quoteWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
