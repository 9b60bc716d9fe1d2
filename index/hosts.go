package index

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/exact"
)

// Environment is a container, a virtual machine or the like: the host
// `runtime:<id>`.
type Environment struct {
	// Label is its name for people; the id if none is given.
	Label string
	// Command starts `sessionls serve` in it: a program and its arguments, which
	// no shell reads.
	Command []string
	// Terminal runs a program in it on a terminal, to which `sh -c …` is added;
	// nil if there is no way.
	Terminal []string
}

// environments reads the table of hosts. An entry that cannot be used is left
// out, with a warning: it must not keep the rest of the file from being followed.
func environments(table map[string]any) (hosts map[string]Environment, warnings []string) {
	for _, id := range slices.Sorted(maps.Keys(table)) {
		if _, ok := contract.ParseHost("runtime:" + id); !ok {
			warnings = append(warnings, fmt.Sprintf("hosts.%q: an id has no white space and no control characters; ignored", id))
			continue
		}
		fields, ok := table[id].(map[string]any)
		if !ok {
			warnings = append(warnings, fmt.Sprintf("hosts.%s must be a table, as in [hosts.%s]; ignored", id, id))
			continue
		}
		e := Environment{Label: id}
		var faults []string
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			var ok bool
			switch key {
			case "label":
				e.Label, ok = fields[key].(string)
				ok = ok && e.Label != ""
			case "command":
				e.Command, ok = commandOf(fields[key])
			case "terminal":
				e.Terminal, ok = commandOf(fields[key])
			default:
				warnings = append(warnings, fmt.Sprintf("the key hosts.%s.%s is not known", id, key))
				continue
			}
			if !ok {
				faults = append(faults, key)
			}
		}
		switch {
		case len(faults) > 0:
			warnings = append(warnings, fmt.Sprintf("hosts.%s: %s: a label is a string, a command is a list of strings such as [\"docker\", \"exec\", \"-i\", \"box\", \"sessionls\", \"serve\"]; ignored", id, strings.Join(faults, ", ")))
		case e.Command == nil:
			warnings = append(warnings, fmt.Sprintf("hosts.%s has no command; ignored", id))
		default:
			if hosts == nil {
				hosts = map[string]Environment{}
			}
			hosts[id] = e
		}
	}
	return hosts, warnings
}

// commandOf reads a program and its arguments.
func commandOf(value any) ([]string, bool) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return nil, false
	}
	argv := make([]string, len(list))
	for i, element := range list {
		if argv[i], ok = element.(string); !ok || strings.ContainsRune(argv[i], 0) {
			return nil, false
		}
	}
	return argv, argv[0] != ""
}

// RemotePlan is how a session of another host is continued in a terminal of this
// machine: of holds what that host says of it, of which only the agent, the id,
// the folder, and that it cannot be continued, are used. The command goes to the folder by itself, so the plan
// has none. Nothing is looked at, here or there.
func (s *Service) RemotePlan(host contract.Host, of contract.ResumePlanResponse, shell contract.Shell) contract.ResumePlanResponse {
	out := contract.ResumePlanResponse{Agent: of.Agent, SessionID: of.SessionID}
	warn := func(code contract.ResumeWarningCode, format string, args ...any) {
		out.Warnings = append(out.Warnings, contract.ResumeWarning{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	there := s.exact.RemoteArgv(of.Agent, of.SessionID)
	if there == nil || slices.ContainsFunc(of.Warnings, func(w contract.ResumeWarning) bool { return w.Code == contract.WarnNoCommand }) {
		warn(contract.WarnNoCommand, "%s cannot continue this session from a command line", of.Agent)
		return out
	}
	// The shell there is taken for one that understands POSIX quotes and &&, as
	// fish and csh do.
	line, ok := exact.Quote(contract.ShellPosix, there)
	if !ok {
		warn(contract.WarnUnsafeID, "the id of the session could be taken for something else than an id")
		return out
	}
	if of.Cwd != nil && strings.HasPrefix(*of.Cwd, "/") {
		if folder, ok := exact.Quote(contract.ShellPosix, []string{*of.Cwd}); ok {
			line = "cd " + folder + " && " + line
		}
	} else {
		warn(contract.WarnNoDirectory, "the folder of the session is not known, or cannot be gone to from here")
	}
	if target, ok := host.SSHTarget(); ok {
		out.Argv = []string{"ssh", "-t", target, line}
	} else {
		id, _ := host.RuntimeID()
		user, _, err := s.Config()
		if terminal := user.Hosts[id].Terminal; err == nil && terminal != nil {
			out.Argv = append(slices.Clone(terminal), "sh", "-c", line)
		} else {
			warn(contract.WarnNoCommand, "the configuration file has no hosts.%s.terminal, the command that runs a program there on a terminal", id)
			return out
		}
	}
	if command, ok := exact.Quote(shell, out.Argv); ok {
		out.Command = &command
	} else {
		warn(contract.WarnUnsafeShell, "the command cannot be written safely for %s", shell)
	}
	return out
}
