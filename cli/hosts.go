package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

// KnownHost is a host that can be asked for its sessions.
type KnownHost struct {
	Host contract.Host `json:"host"`
	// Label is its name for people.
	Label string `json:"label"`
	// Source says where it is known from: "local", "config" (the configuration
	// file) or "ssh_config".
	Source string `json:"source"`
}

// HostState is what asking a host came to.
type HostState string

// The states of a host. HostNotEnabled is one whose user has not switched search
// on, or whose sessionls is too old to be asked; HostUnreachable gives no answer.
const (
	HostEnabled     HostState = "enabled"
	HostNotEnabled  HostState = "not-enabled"
	HostUnreachable HostState = "unreachable"
)

// checkedHost is a row of `sessionls hosts`.
type checkedHost struct {
	KnownHost
	// State is there with --check only.
	State HostState `json:"state,omitzero"`
	// Detail says why a host is unreachable.
	Detail string `json:"detail,omitzero"`
	// Status is the host's own.
	Status *contract.Status `json:"status,omitzero"`
}

func (a *app) hostsCommand() *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use:   "hosts",
		Short: "List the hosts whose sessions can be searched",
		Long: `List the hosts whose sessions can be searched with --host: this machine, the environments
in the configuration file, and the hosts that your ssh configuration names. Any other name that
ssh takes will do, too: --host ssh:NAME.

With --check each is asked how its search stands, many at the same time; one that does not
answer is given up after half a minute, and those that need a password cannot be reached. A
host answers only if its own user has switched search on there.`,
		Example: `  sessionls hosts --check
  sessionls search tide table --host ssh:devbox
  sessionls show 3b0f7c52 --host runtime:devcontainer`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = a.run(func(ctx context.Context, _ []string) error {
		return a.withService(ctx, func(service Service) error {
			known, err := service.KnownHosts(ctx)
			if err != nil {
				return err
			}
			config, err := service.Config(ctx)
			if err != nil {
				return err
			}
			ignored := aboutHosts(config.Warnings)
			rows := make(contract.List[checkedHost], len(known))
			for i, host := range known {
				rows[i].KnownHost = host
			}
			if check {
				a.checkHosts(ctx, service, rows)
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			if a.asJSON {
				return a.printValue(hostList{rows, ignored})
			}
			for _, warning := range ignored {
				a.screen.note("%s", cleanLine(warning))
			}
			a.screen.hosts(rows, check)
			return nil
		})
	})
	cmd.Flags().BoolVar(&check, "check", false, "ask each host how its search stands")
	return a.jsonFlag(cmd)
}

// hostList is what `sessionls hosts --json` prints.
type hostList struct {
	Hosts contract.List[checkedHost] `json:"hosts"`
	// Warnings are about hosts of the configuration file that are left out.
	Warnings []string `json:"warnings,omitempty"`
}

// aboutHosts are the warnings about the hosts of the configuration file: whoever
// misses a host looks here for it.
func aboutHosts(warnings []string) []string {
	var out []string
	for _, warning := range warnings {
		if strings.Contains(warning, "hosts.") {
			out = append(out, warning)
		}
	}
	return out
}

// checksAtOnce is how many hosts are asked at a time.
const checksAtOnce = 16

// checkHosts asks each host for its status.
func (a *app) checkHosts(ctx context.Context, service Service, rows []checkedHost) {
	if others := len(rows) - 1; others > 0 && a.screen.errTerminal {
		a.screen.note("asking %s; one that does not answer takes half a minute, Ctrl-C ends", count(others, "other host", "other hosts"))
	}
	var asking sync.WaitGroup
	turns := make(chan struct{}, checksAtOnce)
	for i := range rows {
		asking.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			row := &rows[i]
			var status contract.Status
			_, err := a.ask(ctx, service, "searchStatus", map[string]any{"executionHost": row.Host}, &status)
			var refused *contract.Error
			switch {
			case errors.As(err, &refused):
				row.State, row.Detail = HostUnreachable, refused.Message
			case err != nil:
				row.State, row.Detail = HostUnreachable, err.Error()
			case !status.Enabled:
				row.State, row.Status = HostNotEnabled, &status
			default:
				row.State, row.Status = HostEnabled, &status
			}
		})
	}
	asking.Wait()
}

// hosts prints a line for each host; into a pipe with tabs between the columns, on
// a terminal with the long words, which say what to do, below all lines.
func (s *screen) hosts(rows []checkedHost, checked bool) {
	from := map[string]string{"local": "this machine", "config": "configuration file", "ssh_config": "~/.ssh/config"}
	table := [][]string{{"host", "name", "known from"}}
	right := []bool{false, false, false}
	if checked {
		table[0] = append(table[0], "search")
		right = append(right, false)
	}
	var advice []string
	for _, row := range rows {
		cells := []string{cleanLine(string(row.Host)), cleanLine(row.Label), from[row.Source]}
		if checked {
			state, more := stateWords(row)
			if more != "" && s.pretty {
				advice = append(advice, more)
			} else if more != "" {
				state = more
			}
			cells = append(cells, state)
		}
		if s.pretty {
			table = append(table, cells)
		} else {
			s.row(cells...)
		}
	}
	if !s.pretty {
		return
	}
	s.table(table, right)
	if len(advice) > 0 {
		s.say("")
	}
	for _, words := range advice {
		for _, line := range wrap([]span{{words, plainStyle}}, s.width, maxAdvice) {
			s.line(line...)
		}
	}
}

// maxAdvice is the most lines that are said about one host.
const maxAdvice = 8

// stateWords is how a host stands in a few words, and all that there is to say if
// that is more.
func stateWords(row checkedHost) (state, more string) {
	switch row.State {
	case HostEnabled:
		return count(row.Status.Sessions, "session", "sessions") + ", " + cleanLine(string(row.Status.Phase)), ""
	case HostNotEnabled:
		return "not switched on", fmt.Sprintf("%s: not switched on; %s does", cleanLine(string(row.Host)), row.Host.Invocation("enable"))
	}
	more = cleanLine(row.Detail)
	if !strings.Contains(more, string(row.Host)) {
		more = cleanLine(string(row.Host)) + ": " + more
	}
	return "no answer", more
}

// failedElsewhere reports whether an error is about another host, which nothing
// that is done here would mend.
func failedElsewhere(err error) bool {
	var about interface{ FailedHost() string }
	return errors.As(err, &about)
}
