package cli

import (
	"context"

	"github.com/sessionls/sessionls/contract"
)

// Service is what the command line needs of the index of this machine.
type Service interface {
	contract.Commands

	// Reconcile reads every transcript that is new or has changed, all of them
	// again if full. progress may be nil; it is called from any goroutine, one call
	// at a time. It needs consent.
	Reconcile(ctx context.Context, full bool, progress func(contract.Progress)) error

	// Resolve finds the one session that a name means. No such session and
	// several of them are errors with the codes of the contract.
	Resolve(ctx context.Context, name contract.SessionName) (contract.Header, error)

	// Places lists where each agent's transcripts are looked for, existing or not.
	Places(ctx context.Context) ([]Place, error)

	// Doctor looks at everything the service depends on. What it finds wrong is in
	// the report; an error means that there is no report.
	Doctor(ctx context.Context) (Report, error)

	// KnownHosts lists this machine, the configured environments and the hosts
	// that ssh's configuration names, in this order.
	KnownHosts(ctx context.Context) ([]KnownHost, error)

	// Config reads the configuration. That it cannot be followed is in the answer.
	Config(ctx context.Context) (Config, error)

	// Close ends the service.
	Close() error
}

// Place is where transcripts of one agent are looked for.
type Place struct {
	Label string // the agent's name for people
	Paths []string
}

// Report is what doctor found. With --json it is printed as it is.
type Report struct {
	// OK is true when no check has the state problem.
	OK     bool                 `json:"ok"`
	Checks contract.List[Check] `json:"checks"`
	// Details is the service's own report, for programs and bug reports.
	Details any `json:"details"`
}

// State is the outcome of a check.
type State string

// The states of a check. A warning can be lived with.
const (
	StateOK      State = "ok"
	StateWarning State = "warning"
	StateProblem State = "problem"
)

// Check is one thing that doctor looked at.
type Check struct {
	// Name says what was looked at, such as "index" or "claude".
	Name  string `json:"name"`
	State State  `json:"state"`
	// Detail is what was found.
	Detail string `json:"detail"`
	// Mend is what to do about it; "" when there is nothing to do.
	Mend string `json:"mend,omitzero"`
}

// Config is the user's configuration, explained. With --json it is printed as it is.
type Config struct {
	// Path is the file, whether it exists or not.
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
	// Problem says why the file cannot be followed; "" when all is well.
	Problem string `json:"problem,omitzero"`
	// Warnings are about parts of the file that are ignored.
	Warnings contract.List[string] `json:"warnings"`
	// Exclude, Roots and Hosts are the values in force.
	Exclude contract.List[string] `json:"exclude"`
	Roots   map[string][]string   `json:"roots"`
	// Hosts are the environments that can be asked, by id.
	Hosts map[string]ConfiguredHost `json:"hosts"`
	// Explained is a file that changes nothing and explains every key.
	Explained string `json:"explained"`
	// Files are the places where sessionls keeps its own data.
	Files contract.List[OwnFile] `json:"files"`
}

// ConfiguredHost is an environment of the configuration file, the host
// runtime:<id>.
type ConfiguredHost struct {
	Label    string   `json:"label"`
	Command  []string `json:"command"`
	Terminal []string `json:"terminal,omitzero"`
}

// OwnFile is a file or folder of sessionls itself.
type OwnFile struct {
	What string `json:"what"`
	Path string `json:"path"`
}
