package contract

import (
	"fmt"
	"regexp"
	"strings"
)

// Host names where transcripts lie: [LocalHost], "ssh:<target>" or
// "runtime:<environmentId>".
type Host string

// LocalHost is this machine.
const LocalHost Host = "local"

// The prefixes of hosts that are not this machine.
const (
	sshPrefix     = "ssh:"
	runtimePrefix = "runtime:"
)

var (
	// A target never begins with a dash and holds nothing a shell or ssh could
	// take for an option.
	sshTargetPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@:%\[\]-]{0,254}$`)
	// The contract leaves the form of an environment id to the user's own
	// configuration file; what could not be shown or compared safely is refused.
	runtimeIDPattern = regexp.MustCompile(`^[^\s\p{C}]{1,255}$`)
)

// ParseHost reads the name of a host. "all" and everything that is no host is
// refused: one request goes to exactly one host.
func ParseHost(s string) (Host, bool) {
	switch {
	case s == string(LocalHost):
		return LocalHost, true
	case strings.HasPrefix(s, sshPrefix):
		return asHost(s, sshTargetPattern.MatchString(s[len(sshPrefix):]))
	case strings.HasPrefix(s, runtimePrefix):
		return asHost(s, runtimeIDPattern.MatchString(s[len(runtimePrefix):]))
	}
	return "", false
}

func asHost(s string, ok bool) (Host, bool) {
	if !ok {
		return "", false
	}
	return Host(s), true
}

// IsLocal reports whether the host is this machine; so is the empty host.
func (h Host) IsLocal() bool { return h == "" || h == LocalHost }

// SSHTarget is the target of an SSH host.
func (h Host) SSHTarget() (string, bool) { return strings.CutPrefix(string(h), sshPrefix) }

// RuntimeID is the environment id of a runtime host.
func (h Host) RuntimeID() (string, bool) { return strings.CutPrefix(string(h), runtimePrefix) }

// Invocation is how a person runs sessionls on the host, as a part of a sentence,
// such as "`ssh box sessionls enable`".
func (h Host) Invocation(arguments string) string {
	if target, ok := h.SSHTarget(); ok {
		return fmt.Sprintf("`ssh %s sessionls %s`", target, arguments)
	}
	if id, ok := h.RuntimeID(); ok {
		return fmt.Sprintf("`sessionls %s` in %s", arguments, id)
	}
	return fmt.Sprintf("`sessionls %s`", arguments)
}
