package remote

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// Environment is a `runtime:` host of the user's configuration.
type Environment struct {
	// Command starts the service there: a program and its arguments.
	Command []string
}

// connectTimeout is how long ssh tries to reach a host.
const connectTimeout = 10 * time.Second

// argv is the command line that starts the service of a host. No shell reads
// it on this side.
func (h *Hosts) argv(host contract.Host) ([]string, error) {
	if target, ok := host.SSHTarget(); ok {
		return []string{
			"ssh", "-T", // no terminal: it would change bytes
			"-o", "BatchMode=yes", // ask for nothing: standard input is the protocol's
			"-o", fmt.Sprintf("ConnectTimeout=%d", int(connectTimeout.Seconds())),
			"-o", "ClearAllForwardings=yes", // a port that is forwarded already must not be in the way
			"-o", "RemoteCommand=none", // nor what the configuration runs for people
			"--", target, "sessionls", "serve",
		}, nil
	}
	id, ok := host.RuntimeID()
	if !ok {
		return nil, failed(host, nil, "%s is no host that can be asked", host)
	}
	configured, err := h.opts.Environments()
	if err != nil {
		return nil, failed(host, err, "%s: the configuration cannot be followed: %v", host, err)
	}
	environment, ok := configured[id]
	if !ok {
		known := "none is"
		if len(configured) > 0 {
			known = "configured are " + strings.Join(slices.Sorted(maps.Keys(configured)), ", ")
		}
		return nil, failed(host, nil, "%s is not in the configuration file (%s); add [hosts.%s] with the command that starts `sessionls serve` there; `sessionls config` tells where", host, known, tomlKey(id))
	}
	return environment.Command, nil
}

// tomlKey writes a key of the configuration file.
func tomlKey(id string) string {
	for _, r := range id {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return fmt.Sprintf("%q", id)
		}
	}
	return id
}
