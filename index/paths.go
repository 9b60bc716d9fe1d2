package index

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
)

// Paths are the folders of sessionls' own files, absolute.
type Paths struct {
	Data   string // index, locks, requests, policy
	State  string // log
	Config string // config.toml, only ever read
}

// DefaultPaths are the user's: SESSIONLS_HOME for everything if it is an
// absolute path, else sessionls' folders under the XDG base folders (on macOS
// and Windows those systems' equivalents). It reads the environment anew and is
// to be called once, by main.
func DefaultPaths() Paths {
	if home := os.Getenv("SESSIONLS_HOME"); filepath.IsAbs(home) {
		return PathsUnder(home)
	}
	xdg.Reload()
	return Paths{
		Data:   filepath.Join(xdg.DataHome, "sessionls"),
		State:  filepath.Join(xdg.StateHome, "sessionls"),
		Config: filepath.Join(xdg.ConfigHome, "sessionls"),
	}
}

// PathsUnder keeps all files in one folder.
func PathsUnder(home string) Paths {
	home = filepath.Clean(home)
	return Paths{Data: home, State: home, Config: home}
}

// Index is the database.
func (p Paths) Index() string { return filepath.Join(p.Data, "index.db") }

// Lock is the file whose OS lock the index's writer holds.
func (p Paths) Lock() string { return filepath.Join(p.Data, "index.lock") }

// Seat is the file whose OS lock the process holds that watches transcripts.
func (p Paths) Seat() string { return filepath.Join(p.Data, "watch.lock") }

// Bell is the pipe that wakes that process when it is asked for something.
func (p Paths) Bell() string { return filepath.Join(p.Data, "watch.lock.bell") }

// Requests is the database through which it is asked.
func (p Paths) Requests() string { return filepath.Join(p.Data, "control.db") }

// Policy is the file with the user's consent and retention.
func (p Paths) Policy() string { return filepath.Join(p.Data, "policy.json") }

// Forgotten is the file with the sessions that the user had forgotten.
func (p Paths) Forgotten() string { return filepath.Join(p.Data, "forgotten.json") }

// Log is the log file.
func (p Paths) Log() string { return filepath.Join(p.State, "sessionls.log") }

// ConfigFile is the user's configuration.
func (p Paths) ConfigFile() string { return filepath.Join(p.Config, "config.toml") }

// makeData creates the data folder, for the user's eyes only.
func (p Paths) makeData() error {
	if err := os.MkdirAll(p.Data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	return nil
}
