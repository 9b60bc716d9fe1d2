package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// maxJSON bounds what is read at once: a truth file for ten gigabytes has ten
// megabytes, the whole of LoCoMo three.
const maxJSON = 64 << 20

// ReadJSON reads a file of JSON that the user named. Files that are larger than
// that hold something else.
func ReadJSON(path string, into any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxJSON+1))
	if err == nil && len(raw) > maxJSON {
		err = fmt.Errorf("it is larger than %d bytes", maxJSON)
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// ReadTruth reads a truth file.
func ReadTruth(path string) (*Truth, error) {
	t := new(Truth)
	if err := ReadJSON(path, t); err != nil {
		return nil, fmt.Errorf("read the truth file: %w", err)
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
