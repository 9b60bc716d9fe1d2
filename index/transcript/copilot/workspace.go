package copilot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/goccy/go-yaml"

	"github.com/sessionls/sessionls/index/transcript"
)

// maxWorkspace bounds workspace.yaml, which holds some ten short lines.
const maxWorkspace = 16 << 10

// workspace is what a session's workspace.yaml adds to its events. Newer
// sessions may lack all but cwd.
type workspace struct {
	CWD        string `yaml:"cwd"`
	Repository string `yaml:"repository"`
	Branch     string `yaml:"branch"`
	Name       string `yaml:"name"`
	UserNamed  bool   `yaml:"user_named"`
	Summary    string `yaml:"summary"`

	warning string
}

func workspaceFile(events string) string {
	return filepath.Join(filepath.Dir(events), "workspace.yaml")
}

// readWorkspace never fails: a session is whole without this file.
func readWorkspace(path string) (w workspace) {
	defer func() {
		// The YAML library is not ours and meets arbitrary bytes here.
		if r := recover(); r != nil {
			w = workspace{warning: "workspace.yaml could not be read"}
		}
	}()
	err := func() error {
		f, err := transcript.OpenFile(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if f.Size > maxWorkspace {
			return fmt.Errorf("larger than %d bytes", maxWorkspace)
		}
		b, err := io.ReadAll(io.LimitReader(f, maxWorkspace))
		if err != nil {
			return err
		}
		return yaml.Unmarshal(b, &w)
	}()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.warning = "workspace.yaml could not be read"
	}
	return w
}

// apply completes the header of the main session: events win for what they
// record, the name wins over every other title (formats.md §7).
func (w workspace) apply(h *transcript.Header) {
	if w.warning != "" {
		h.Warn(w.warning)
	}
	if h.CWD == "" {
		h.SawCWD(w.CWD)
	}
	if h.Branch == "" {
		h.Branch = w.Branch
	}
	if h.RepoURL == "" {
		h.RepoURL = repoURL(w.Repository, "")
	}
	switch {
	case w.Name != "" && w.UserNamed:
		h.SetTitle(w.Name, transcript.TitleUser)
	case w.Name != "":
		h.SetTitle(w.Name, transcript.TitleAgent)
	case h.TitleSource != transcript.TitleAgent:
		h.SetTitle(w.Summary, transcript.TitleAgent)
	}
}
