package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for bash, zsh, fish or powershell",
		Long: `Print a completion script. It completes commands, flags, agents, the operators of
a query, and sessions by their ids.`,
		Example: `  source <(sessionls completion bash)       # in ~/.bashrc
  sessionls completion zsh > "${fpath[1]}/_sessionls"
  sessionls completion fish > ~/.config/fish/completions/sessionls.fish`,
		ValidArgs: shells(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("", "SHELL: exactly one is required; allowed: %s", strings.Join(shells(), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			script, ok := map[string]func(io.Writer) error{
				"bash":       func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
				"zsh":        root.GenZshCompletion,
				"fish":       func(w io.Writer) error { return root.GenFishCompletion(w, true) },
				"powershell": root.GenPowerShellCompletionWithDesc,
			}[args[0]]
			if !ok {
				return usage("", "SHELL: %q is not known; allowed: %s", cleanLine(args[0]), strings.Join(shells(), ", "))
			}
			if err := script(a.out); err != nil {
				return failed(err, "writing the script")
			}
			return nil
		},
	}
}

// completeOperator offers the operators of a query, and the words of those that take
// a few only.
func completeOperator(agents []string, typed string) []string {
	name, _, hasColon := strings.Cut(typed, ":")
	if typed == "" {
		return nil
	}
	var out []string
	if !hasColon {
		for _, op := range operators() {
			if strings.HasPrefix(op.name, typed) {
				out = append(out, op.name+"\t"+op.meaning)
			}
		}
		return out
	}
	words := map[string][]string{
		"agent": agents,
		"role":  {"user", "assistant", "tool", "system"},
		"is":    {"root", "fork", "subagent", "continuation", "active", "missing", "automated"},
		"since": {"1d", "7d", "2w"},
		"until": {"1d", "7d", "2w"},
	}[name]
	for _, w := range words {
		if full := name + ":" + w; strings.HasPrefix(full, typed) {
			out = append(out, full)
		}
	}
	return out
}
