package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/cli"
	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/server/remote"
)

// terminal is the service as the command line sees it.
type terminal struct {
	service
	paths index.Paths
}

// Places implements cli.Service.
func (t terminal) Places(ctx context.Context) ([]cli.Place, error) {
	found, err := t.localService.Doctor(ctx)
	if err != nil {
		return nil, err
	}
	var out []cli.Place
	for _, agent := range found.Agents {
		place := cli.Place{Label: agent.Label}
		for _, p := range agent.Places {
			place.Paths = append(place.Paths, p.Path)
		}
		out = append(out, place)
	}
	return out, nil
}

// KnownHosts implements cli.Service.
func (t terminal) KnownHosts(context.Context) ([]cli.KnownHost, error) {
	out := []cli.KnownHost{{Host: contract.LocalHost, Label: "this machine", Source: "local"}}
	user, _, err := t.localService.Config()
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(user.Hosts)) {
		host, _ := contract.ParseHost("runtime:" + id) // else it would have been left out
		out = append(out, cli.KnownHost{Host: host, Label: user.Hosts[id].Label, Source: "config"})
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("look for ssh's configuration: %w", err)
	}
	for _, host := range remote.SSHHosts(home) {
		target, _ := host.SSHTarget()
		out = append(out, cli.KnownHost{Host: host, Label: target, Source: "ssh_config"})
	}
	return out, nil
}

// Config implements cli.Service.
func (t terminal) Config(context.Context) (cli.Config, error) {
	user, warnings, err := t.localService.Config()
	_, statErr := os.Stat(t.paths.ConfigFile())
	out := cli.Config{
		Path: t.paths.ConfigFile(), Exists: statErr == nil, Warnings: warnings,
		Exclude: user.Exclude, Roots: user.Roots, Explained: index.ConfigText,
		Files: contract.List[cli.OwnFile]{
			{What: "index", Path: t.paths.Index()}, {What: "policy", Path: t.paths.Policy()}, {What: "log", Path: t.paths.Log()},
		},
	}
	if out.Roots == nil {
		out.Roots = map[string][]string{}
	}
	out.Hosts = make(map[string]cli.ConfiguredHost, len(user.Hosts))
	for id, host := range user.Hosts {
		out.Hosts[id] = cli.ConfiguredHost(host)
	}
	if err != nil {
		out.Problem = err.Error()
	}
	return out, nil
}

// Doctor implements cli.Service: the report as a list of checks.
func (t terminal) Doctor(ctx context.Context) (cli.Report, error) {
	found, err := t.localService.Doctor(ctx)
	if err != nil {
		return cli.Report{}, err
	}
	return checks(found), nil
}

func checks(found index.Report) cli.Report {
	out := cli.Report{Details: found}
	add := func(name string, state cli.State, format string, args ...any) {
		out.Checks = append(out.Checks, cli.Check{Name: name, State: state, Detail: fmt.Sprintf(format, args...)})
	}
	switch policy := found.Policy; {
	case !policy.Allows():
		add("consent", cli.StateWarning, "search is not enabled")
	case policy.HistoryDays != nil:
		add("consent", cli.StateOK, "search is enabled, for the last %s", several(int64(*policy.HistoryDays), "day"))
	default:
		add("consent", cli.StateOK, "search is enabled, for all history")
	}
	switch c := found.Config; {
	case c.Error != "":
		add("config", cli.StateProblem, "%s", c.Error)
	case !c.Exists:
		add("config", cli.StateOK, "none (%s)", c.Path)
	case len(c.Warnings) > 0:
		add("config", cli.StateWarning, "%s", c.Path)
	default:
		add("config", cli.StateOK, "%s", c.Path)
	}
	switch x := found.Index; {
	case x.Error != "":
		add("index", cli.StateProblem, "%s: %s", x.Path, x.Error)
	case !x.Exists:
		add("index", cli.StateWarning, "none yet (%s)", x.Path)
	default:
		add("index", cli.StateOK, "%s: %s, %s, whole", x.Path, several(int64(x.Sessions), "session"), several(x.Events, "event"))
	}
	if n := found.Kept.Missing; n > 0 {
		add("kept", cli.StateOK, "%s whose transcripts are gone, as copies; `sessionls forget` drops one, `enable --days` old ones, `clear` all", several(int64(n), "session"))
	}
	if n := found.Kept.Unverifiable; n > 0 {
		out.Checks = append(out.Checks, cli.Check{
			Name: "kept", State: cli.StateWarning, Detail: several(int64(n), "session") + " of folders that are gone, empty or cannot be read now",
			Mend: "nothing is lost: they are as before once the folder is back; `sessionls status` names it",
		})
	}
	if n := found.Kept.Forgotten; n > 0 {
		add("forgotten", cli.StateOK, "%s kept out of the index; `sessionls clear` takes that back, and drops copies of transcripts that are gone", several(int64(n), "session"))
	}
	for _, agent := range found.Agents {
		out.Checks = append(out.Checks, agentCheck(agent))
		out.Checks = append(out.Checks, barrenChecks(agent)...)
	}
	for _, failure := range found.Failures {
		detail := failure.Path
		if failure.Key != "" {
			detail += " (" + failure.Key + ")"
		}
		add(failure.Agent, cli.StateWarning, "%s: %s", detail, failure.Reason)
	}
	for _, problem := range found.Problems {
		out.Checks = append(out.Checks, cli.Check{Name: "to do", State: cli.StateWarning, Detail: problem.What, Mend: problem.Mend})
	}
	v := found.Versions
	add("versions", cli.StateOK, "%s, SQLite %s with FTS5, %s", v.Go, v.SQLite, v.System)
	out.OK = true
	for _, c := range out.Checks {
		out.OK = out.OK && c.State != cli.StateProblem
	}
	return out
}

// agentCheck says where an agent's transcripts are. That an agent is not in use here
// is no fault.
func agentCheck(agent index.AgentReport) cli.Check {
	c := cli.Check{Name: agent.Agent, State: cli.StateOK}
	var places []string
	for _, place := range agent.Places {
		switch {
		case place.Sources != nil:
			places = append(places, fmt.Sprintf("%s: %s", place.Path, several(int64(*place.Sources), "transcript")))
		case place.Found && place.Reason == "":
			places = append(places, place.Path+": not counted")
		case place.Found:
			c.State = cli.StateWarning
			places = append(places, place.Path+": "+place.Reason)
		case place.Configured:
			c.State = cli.StateWarning
			places = append(places, place.Path+": configured, but not there")
		}
	}
	switch {
	case len(places) == 0:
		c.Detail = "not found"
		if len(agent.Places) > 0 {
			c.Detail += " (" + agent.Places[0].Path + ")"
		}
	default:
		c.Detail = fmt.Sprintf("%s indexed; %s", several(int64(agent.Sessions), "session"), strings.Join(places, "; "))
	}
	return c
}

// barrenChecks tell of an agent's transcripts that gave no session. One that was
// opened and left without a word is no fault; that all of them are is one.
func barrenChecks(agent index.AgentReport) (out []cli.Check) {
	if n := agent.Unreadable.Count; n > 0 {
		out = append(out, cli.Check{
			Name: agent.Agent, State: cli.StateWarning, Detail: several(int64(n), "transcript") + " without one record that can be read: " + named(agent.Unreadable),
			Mend: "look whether the disk or a copy damaged it, or delete it if it is no transcript; it is read again when it changes",
		})
	}
	if n := agent.Silent.Count; n > 0 {
		c := cli.Check{Name: agent.Agent, State: cli.StateOK, Detail: several(int64(n), "transcript") + " without a conversation, and so without a session: " + named(agent.Silent)}
		if agent.Sessions == 0 {
			c.State = cli.StateWarning
			c.Mend = "if you did talk in it, " + agent.Label + " may write another format now: see whether there is a newer sessionls"
		}
		out = append(out, c)
	}
	return out
}

// named names the files of a list as far as it does.
func named(l index.FileList) string {
	text := strings.Join(l.Paths, "; ")
	if more := l.Count - len(l.Paths); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// several is a number of things.
func several(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
