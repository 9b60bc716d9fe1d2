package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Truth is what a corpus holds: its sessions, and where which needle is. It is
// also the form of the truth file that a foreign corpus comes with.
type Truth struct {
	Seed uint64 `json:"seed"`
	// Size is the bytes of all transcripts.
	Size     int64     `json:"size"`
	Sessions []Session `json:"sessions"`
	Needles  []Needle  `json:"needles"`
}

// Session is one session of a corpus.
type Session struct {
	ID    string `json:"id"`
	Agent string `json:"agent"`
	// Path is its main file, relative to the home folder, with slashes.
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Needle is a text that stands in some sessions and nowhere else, and a query
// that should find them.
type Needle struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Where says what it is part of: user, assistant, tool, deep (far inside a
	// long tool output) or title.
	Where string `json:"where"`
	Query string `json:"query"`
	Text  string `json:"text"`
	// Expect are the ids of all sessions that hold it, Agents their agents.
	Expect []string `json:"expect"`
	Agents []string `json:"agents"`
}

// maxTruth bounds a truth file: one for ten gigabytes has ten megabytes.
const maxTruth = 256 << 20

// ReadTruth reads a truth file.
func ReadTruth(path string) (*Truth, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the truth file: %w", err)
	}
	if info.Size() > maxTruth {
		return nil, fmt.Errorf("read the truth file %s: it is larger than %d bytes", path, maxTruth)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the truth file: %w", err)
	}
	t := new(Truth)
	if err := json.Unmarshal(raw, t); err != nil {
		return nil, fmt.Errorf("read the truth file %s: %w", path, err)
	}
	if len(t.Needles) == 0 {
		return nil, fmt.Errorf("read the truth file %s: %w", path, errors.New("it names no needles"))
	}
	for _, n := range t.Needles {
		if n.Kind == "" || n.Query == "" || len(n.Expect) == 0 {
			return nil, fmt.Errorf("read the truth file %s: needle %q lacks a kind, a query or the sessions expected", path, n.ID)
		}
	}
	return t, nil
}
