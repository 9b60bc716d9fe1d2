package index

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/sessionls/sessionls/index/reconcile"
)

// Config is the user's configuration file. It is only ever read.
type Config struct {
	// Roots are further folders with transcripts, by agent.
	Roots map[string][]string `toml:"roots"`
	// Exclude are globs of transcripts or working directories to leave out.
	Exclude []string `toml:"exclude"`
	// Hosts are environments whose sessions can be asked for, by id.
	Hosts map[string]Environment `toml:"-"`
}

// ConfigText is a configuration file that changes nothing and explains every
// key.
const ConfigText = `# Configuration of sessionls. Everything is optional; sessionls never writes
# this file. Changes count from the next look at the disk on.

# Transcripts that stay out of the index, and are dropped from it: globs of the
# transcript's path or of a folder the session worked in. "*" stays within a
# folder name, "**" crosses folders, "~" is your home folder. A pattern that
# matches a folder covers everything below it, and a session's sub-agents go with
# it; one that begins with neither "/", "~" nor a drive may begin anywhere.
#
# exclude = ["~/private", "**/customers/*/secret"]

# Further folders in which to look for an agent's transcripts, besides the usual
# ones and those its own environment variables name. Absolute, or below "~/".
# Agents: claude, codex, pi, dsh, gemini, opencode, copilot, vscode, cursor, cline.
#
# [roots]
# claude = ["/mnt/old-laptop/home/me/.claude"]
# codex = ["~/backup/codex"]

# Containers, virtual machines and other environments with a sessionls of their
# own, each under an id: what runs there is searched with --host runtime:ID. An
# SSH host needs no entry: --host ssh:NAME takes every name that ssh takes.
#
# command    starts "sessionls serve" there with its standard input and output
#            connected; a program and its arguments, no shell reads them
# label      its name for people; the id if not given
# terminal   runs a program there on a terminal, for "sessionls resume"
#
# [hosts.devbox]
# label = "Dev container"
# command = ["docker", "exec", "-i", "devbox", "sessionls", "serve"]
# terminal = ["docker", "exec", "-it", "devbox"]
#
# [hosts.ubuntu]
# command = ["wsl.exe", "-d", "Ubuntu", "--", "sessionls", "serve"]
`

// maxConfig bounds the configuration file.
const maxConfig = 1 << 20

// loadConfig reads the configuration. No file is an empty configuration. An
// error means that it cannot be followed: as it may exclude what must not be
// read, nothing may be read then. What is merely unknown is a warning.
func loadConfig(path, home string, agents []string) (cfg Config, exclude *reconcile.Excluder, warnings []string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil, nil, nil
	}
	if err != nil {
		return cfg, nil, nil, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(raw) > maxConfig {
		err = fmt.Errorf("it is larger than %d bytes", maxConfig)
	}
	if err != nil {
		return cfg, nil, nil, fmt.Errorf("read the configuration %s: %w", path, err)
	}
	var file struct {
		Config
		Hosts map[string]any `toml:"hosts"`
	}
	meta, err := toml.Decode(strings.TrimPrefix(string(raw), "\uFEFF"), &file)
	if err != nil {
		return Config{}, nil, nil, fmt.Errorf("read the configuration %s: %w", path, err)
	}
	for _, table := range []string{"roots", "hosts"} {
		// The decoder takes a value in a table's place for an absent table.
		if kind := meta.Type(table); kind != "" && kind != "Hash" {
			return Config{}, nil, nil, fmt.Errorf("read the configuration %s: %s must be a table, as in [%s]", path, table, table)
		}
	}
	cfg = file.Config
	for _, key := range meta.Undecoded() {
		if key[0] == "hosts" {
			continue // read below
		}
		warnings = append(warnings, fmt.Sprintf("%s: the key %s is not known", path, key))
	}
	var ignored []string
	cfg.Hosts, ignored = environments(file.Hosts)
	for _, warning := range ignored {
		warnings = append(warnings, path+": "+warning)
	}
	for agent, roots := range cfg.Roots {
		if !slices.Contains(agents, agent) {
			warnings = append(warnings, fmt.Sprintf("%s: roots.%s: no such agent; known are %s", path, agent, strings.Join(agents, ", ")))
			delete(cfg.Roots, agent)
			continue
		}
		var good []string
		for _, root := range roots {
			if rest, ok := strings.CutPrefix(root, "~/"); ok {
				root = filepath.Join(home, rest)
			}
			if !filepath.IsAbs(root) {
				warnings = append(warnings, fmt.Sprintf("%s: roots.%s: %q is not an absolute path and is ignored", path, agent, root))
				continue
			}
			good = append(good, filepath.Clean(root))
		}
		cfg.Roots[agent] = good
	}
	if exclude, err = reconcile.NewExcluder(home, cfg.Exclude); err != nil {
		return Config{}, nil, nil, fmt.Errorf("read the configuration %s: %w", path, err)
	}
	slices.Sort(warnings)
	return cfg, exclude, warnings, nil
}

// Config is the configuration as it is now, and what of it is ignored. An error
// means that it cannot be followed.
func (s *Service) Config() (cfg Config, warnings []string, err error) {
	cfg, _, warnings, err = loadConfig(s.paths.ConfigFile(), s.env.Home, s.agentIDs())
	return cfg, warnings, err
}
