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

	// Show reads up to limit events of one session from position from on. Events
	// carry their text.
	Show(ctx context.Context, name contract.SessionName, from int64, limit int) (Transcript, error)

	// Doctor looks at everything the service depends on. What it finds wrong is in
	// the report; an error means that there is no report.
	Doctor(ctx context.Context) (Report, error)

	// Close ends the service.
	Close() error
}

// Transcript is a slice of one session's log.
type Transcript struct {
	Session contract.Header                     `json:"session"`
	Events  contract.List[contract.EventRecord] `json:"events"`
	// NextSeq is where the next slice begins; nil at the end of the log.
	NextSeq *int64 `json:"nextSeq"`
}

// Report is what doctor found. With --json it is printed as it is.
type Report struct {
	// OK is true when no check has the state problem.
	OK     bool                 `json:"ok"`
	Checks contract.List[Check] `json:"checks"`
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

// Config is the user's configuration file, explained. With --json it is printed
// as it is.
type Config struct {
	// Path is the file, whether it exists or not.
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
	// Problem says why the file is not used; "" when all is well.
	Problem string                   `json:"problem,omitzero"`
	Keys    contract.List[ConfigKey] `json:"keys"`
	// Files are the places where sessionls keeps its own data.
	Files contract.List[OwnFile] `json:"files"`
}

// ConfigKey is one key of the configuration file.
type ConfigKey struct {
	Key  string `json:"key"`
	Type string `json:"type"`
	// Help explains it in a sentence or two.
	Help string `json:"help"`
	// Example is a line of TOML.
	Example string `json:"example"`
	// Value is what is in force now.
	Value any `json:"value"`
}

// OwnFile is a file or folder of sessionls itself.
type OwnFile struct {
	What string `json:"what"`
	Path string `json:"path"`
}
