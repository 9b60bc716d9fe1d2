package cli

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything and tell how to mend what is wrong",
		Long: `Check everything sessionls depends on: consent, its own files, the index, and each
agent's transcripts, with the files that could not be read. Each finding comes with
what to do about it. Nothing is changed. Exit code 4 if there is a problem.`,
		Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			return a.withService(ctx, func(service Service) error {
				report, err := service.Doctor(ctx)
				if err != nil {
					return err
				}
				if a.asJSON {
					if err := a.printValue(report); err != nil {
						return err
					}
				} else {
					a.screen.report(report)
				}
				if !report.OK {
					return silent(ExitFailed)
				}
				return nil
			})
		}),
	}
	return a.jsonFlag(cmd)
}

// report prints checks with a sign each.
func (s *screen) report(r Report) {
	wide := 0
	for _, c := range r.Checks {
		wide = min(24, max(wide, textWidth(cleanLine(c.Name))))
	}
	problems, warnings := 0, 0
	for _, c := range r.Checks {
		sign := span{"✓ ", good}
		switch c.State {
		case StateWarning:
			sign, warnings = span{"! ", warn}, warnings+1
		case StateProblem:
			sign, problems = span{"✗ ", bad}, problems+1
		}
		margin := strings.Repeat(" ", 2+wide+2)
		lead := []span{sign, {pad(truncate(cleanLine(c.Name), wide), wide) + "  ", bold}}
		s.paragraph(lead, margin, span{cleanLine(c.Detail), plainStyle})
		if c.Mend != "" {
			s.paragraph([]span{{text: margin}, {"→ ", accent}}, margin+"  ", span{cleanLine(c.Mend), dim})
		}
	}
	s.say("")
	switch {
	case problems > 0:
		s.line(span{count(problems, "problem", "problems") + ", " + count(warnings, "warning", "warnings"), bad})
	case warnings > 0:
		s.line(span{"no problems, " + count(warnings, "warning", "warnings"), warn})
	default:
		s.line(span{"all is well", good})
	}
}

// paragraph prints text after a lead; on a terminal it is wrapped, and the lines
// after the first begin with margin.
func (s *screen) paragraph(lead []span, margin string, body span) {
	lines := [][]span{{body}}
	if s.pretty {
		lines = wrap([]span{body}, max(20, s.width-textWidth(margin)), 0)
	}
	for i, line := range lines {
		if i > 0 {
			lead = []span{{text: margin}}
		}
		s.line(append(lead[:len(lead):len(lead)], line...)...)
	}
	if len(lines) == 0 {
		s.line(lead...)
	}
}

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration: where it is, every key explained, what is in force",
		Long: `Show where the configuration file is, explain every key and show the value in force,
and list the files that sessionls keeps. The configuration is only ever read.`,
		Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			return a.withService(ctx, func(service Service) error {
				config, err := service.Config(ctx)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printValue(config)
				}
				a.screen.config(config)
				return nil
			})
		}),
	}
	return a.jsonFlag(cmd)
}

// config prints the explained configuration, then what is in force. All of it is
// TOML, so that it can be made the file.
func (s *screen) config(c Config) {
	state := "does not exist: the defaults are in force"
	switch {
	case c.Problem != "":
		state = "cannot be followed, so nothing is read: " + cleanLine(c.Problem)
	case c.Exists:
		state = "is in force"
	}
	s.line(span{"# " + cleanLine(c.Path), bold}, span{" " + state, dim})
	for _, warning := range c.Warnings {
		s.line(span{"# ! " + cleanLine(warning), warn})
	}
	s.say("")
	for line := range strings.SplitSeq(strings.TrimSpace(clean(c.Explained)), "\n") {
		s.line(span{line, dim})
	}
	s.say("")
	s.line(span{"# In force now:", bold})
	s.say("exclude = %s", tomlValue(c.Exclude))
	s.say("[roots]")
	for _, agent := range slices.Sorted(maps.Keys(c.Roots)) {
		s.say("%s = %s", cleanLine(agent), tomlValue(c.Roots[agent]))
	}
	for _, id := range slices.Sorted(maps.Keys(c.Hosts)) {
		host := c.Hosts[id]
		s.say("[hosts.%s]", tomlText(id))
		s.say("label = %s", tomlText(host.Label))
		s.say("command = %s", tomlValue(host.Command))
		if host.Terminal != nil {
			s.say("terminal = %s", tomlValue(host.Terminal))
		}
	}
	s.say("")
	s.line(span{"# Files of sessionls:", bold})
	for _, f := range c.Files {
		s.line(span{"#   " + pad(cleanLine(f.What), 8) + cleanLine(f.Path), dim})
	}
}

// tomlValue writes a list of strings; JSON's form is TOML's, too.
func tomlValue(v []string) string { return tomlText(contract.List[string](v)) }

// tomlText writes a string, a key, or a list.
func tomlText(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return `""` // strings always have a form
	}
	return cleanLine(string(raw))
}
