package cli

import (
	"context"
	"errors"
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

With --check each is asked how its search stands, all at once; those that need a password are
unreachable. A host answers only if its own user has switched search on there.`,
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
				return a.printValue(map[string]any{"hosts": rows})
			}
			a.screen.hosts(rows, check)
			return nil
		})
	})
	cmd.Flags().BoolVar(&check, "check", false, "ask each host how its search stands")
	return a.jsonFlag(cmd)
}

// checksAtOnce is how many hosts are asked at a time.
const checksAtOnce = 8

// checkHosts asks each host for its status.
func (a *app) checkHosts(ctx context.Context, service Service, rows []checkedHost) {
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

// hosts prints a line for each host; into a pipe with tabs between the columns.
func (s *screen) hosts(rows []checkedHost, checked bool) {
	from := map[string]string{"local": "this machine", "config": "configuration file", "ssh_config": "~/.ssh/config"}
	table := [][]string{{"host", "name", "known from"}}
	right := []bool{false, false, false}
	if checked {
		table[0] = append(table[0], "search")
		right = append(right, false)
	}
	for _, row := range rows {
		cells := []string{cleanLine(string(row.Host)), cleanLine(row.Label), from[row.Source]}
		if checked {
			cells = append(cells, stateWords(row))
		}
		if s.pretty {
			table = append(table, cells)
		} else {
			s.row(cells...)
		}
	}
	if s.pretty {
		s.table(table, right)
	}
}

func stateWords(row checkedHost) string {
	switch row.State {
	case HostEnabled:
		return count(row.Status.Sessions, "session", "sessions") + ", " + cleanLine(string(row.Status.Phase))
	case HostNotEnabled:
		return "not switched on; " + row.Host.Invocation("enable") + " does"
	}
	return cleanLine(row.Detail)
}

// failedElsewhere reports whether an error is about another host, which nothing
// that is done here would mend.
func failedElsewhere(err error) bool {
	var about interface{ FailedHost() string }
	return errors.As(err, &about)
}
