package cli

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

// resumeShells are the shells a command is quoted for.
func resumeShells() []string {
	return []string{string(contract.ShellPosix), string(contract.ShellFish), string(contract.ShellCmd), string(contract.ShellPowerShell)}
}

func (a *app) resumeCommand() *cobra.Command {
	shell, execute := string(contract.ShellPosix), false
	cmd := &cobra.Command{
		Use:               "resume SESSION",
		Short:             "Tell how to continue a session, or do so",
		Long:              resumeHelp,
		Example:           resumeExamples,
		Args:              oneSession,
		ValidArgsFunction: a.completeSession,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if execute && a.asJSON {
			return usage("", "--exec and --json do not go together")
		}
		var plan contract.ResumePlanResponse
		err := a.onSession(func(ctx context.Context, service Service, session contract.Header, request map[string]any) error {
			request["shell"] = shell
			raw, err := a.ask(ctx, service, "resumePlan", request, &plan)
			switch {
			case err != nil || execute:
				return err
			case a.asJSON:
				a.print(raw)
				return nil
			}
			return a.showPlan(session, plan, contract.Shell(shell))
		})(cmd, args)
		if err != nil || !execute {
			return err
		}
		// The service is closed now, as this process may end here.
		return a.execute(plan)
	}
	cmd.Flags().BoolVarP(&execute, "exec", "x", false, "go to the session's folder and become the agent")
	cmd.Flags().Var(newChoice(&shell, resumeShells()...), "shell", "write the command for: posix (sh, bash, zsh), fish, cmd or powershell")
	a.complete(cmd, "shell", resumeShells()...)
	return a.hostFlag(a.jsonFlag(cmd))
}

// commandLine is a plan as one line to paste: into the folder, then the command. Ok is
// false when there is no way to write it safely for that shell.
func (a *app) commandLine(plan contract.ResumePlanResponse, shell contract.Shell) (line string, ok bool) {
	if plan.Command == nil || cleanLine(*plan.Command) != *plan.Command {
		return "", false
	}
	if plan.Cwd == nil {
		return *plan.Command, true
	}
	dir := *plan.Cwd
	if cleanLine(dir) != dir {
		return "", false // what is seen would not be what is pasted
	}
	into, format := []string{"cd", dir}, "%s && %s"
	switch shell {
	case contract.ShellCmd:
		into = []string{"cd", "/d", dir}
	case contract.ShellPowerShell:
		into, format = []string{"Set-Location", "-LiteralPath", dir}, "%s; if ($?) { %s }"
	}
	quoted, ok := a.opts.Quote(shell, into)
	return fmt.Sprintf(format, quoted, *plan.Command), ok
}

// noCommand says why a plan has none.
func noCommand(plan contract.ResumePlanResponse) string {
	if len(plan.Warnings) > 0 {
		return cleanLine(plan.Warnings[0].Message)
	}
	return "there is no command that continues this session"
}

// showPlan prints a plan. Into a pipe goes the line to run alone, and what stands
// against it to standard error.
func (a *app) showPlan(session contract.Header, plan contract.ResumePlanResponse, shell contract.Shell) error {
	line, ok := a.commandLine(plan, shell)
	s := a.screen
	if !s.pretty {
		switch {
		case plan.Argv == nil:
			return &fault{code: ExitFailed, what: noCommand(plan)}
		case !ok:
			return &fault{code: ExitFailed, what: "the command cannot be written safely for this shell", hint: "`sessionls resume --exec` needs no shell"}
		}
		for _, w := range plan.Warnings {
			s.note("%s", cleanLine(w.Message))
		}
		s.say("%s", line)
		return nil
	}
	for _, title := range wrap([]span{{cleanLine(session.Title), bold}}, s.width, 2) {
		s.line(title...)
	}
	s.say("")
	switch {
	case ok:
		s.line(span{"  " + line, accent}) // not cut: it is there to be copied
		s.say("")
	case plan.Argv != nil:
		if plan.Cwd != nil {
			s.line(span{"  folder   ", dim}, span{text: cleanLine(*plan.Cwd)})
		}
		for i, arg := range plan.Argv {
			name := ""
			if i == 0 {
				name = "command"
			}
			s.line(span{"  " + pad(name, 9), dim}, span{text: cleanLine(arg)})
		}
		s.say("")
	}
	if session.ExecutionHostID.IsLocal() {
		s.checks(plan)
	} else {
		s.planWarnings(plan, nil)
	}
	if plan.Argv == nil {
		return silent(ExitFailed)
	}
	return nil
}

// checks prints what was looked at, then what else there is to know.
func (s *screen) checks(plan contract.ResumePlanResponse) {
	told := map[contract.ResumeWarningCode]bool{}
	sign := func(state *bool, yes, unknown, no string, code contract.ResumeWarningCode) {
		switch {
		case state == nil:
			s.line(span{"? ", warn}, span{text: unknown})
		case *state:
			s.line(span{"✓ ", good}, span{text: yes})
		default:
			s.line(span{"✗ ", bad}, span{text: no})
		}
		told[code] = true
	}
	if len(plan.Argv) > 0 {
		program := cleanLine(plan.Argv[0])
		sign(plan.Checks.Binary, program+" is on the PATH", "whether "+program+" is on the PATH is not known", program+" is not on the PATH", contract.WarnNoBinary)
		dir := "the folder"
		if plan.Cwd != nil {
			dir = "the folder " + cleanLine(*plan.Cwd)
		}
		sign(plan.Checks.Directory, dir+" is there", "the folder of the session is not known", dir+" is not there any more", contract.WarnNoDirectory)
		sign(plan.Checks.Transcript, "the transcript is there", "whether the transcript is there is not known",
			"the transcript is not there: the agent will not find the session", contract.WarnNoTranscript)
	}
	s.planWarnings(plan, told)
}

// planWarnings prints those of a plan that were not told yet.
func (s *screen) planWarnings(plan contract.ResumePlanResponse, told map[contract.ResumeWarningCode]bool) {
	for _, w := range plan.Warnings {
		if !told[w.Code] {
			s.line(span{"! ", warn}, span{text: cleanLine(w.Message)})
		}
	}
}

// execute becomes the agent. A check that failed stands against that; one that could
// not be made does not.
func (a *app) execute(plan contract.ResumePlanResponse) error {
	refuse := func(hint, format string, args ...any) error {
		return &fault{code: ExitFailed, what: "not continued: " + fmt.Sprintf(format, args...), hint: hint}
	}
	failedCheck := func(state *bool) bool { return state != nil && !*state }
	switch {
	case len(plan.Argv) == 0:
		return refuse("", "%s", noCommand(plan))
	case failedCheck(plan.Checks.Binary):
		return refuse("install it, or put it on the PATH", "%s is not on the PATH", cleanLine(plan.Argv[0]))
	case failedCheck(plan.Checks.Directory):
		return refuse("`sessionls resume` prints the command, to be run elsewhere", "the folder of the session is not there any more: %s", cleanLine(text(plan.Cwd)))
	case failedCheck(plan.Checks.Transcript):
		return refuse("`sessionls export` writes what is kept of it", "the transcript is not there, and the agent would not find the session")
	}
	path, err := exec.LookPath(plan.Argv[0])
	if err == nil {
		// What was found stays what is run, whatever folder it is run in.
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return refuse("install it, or put it on the PATH", "%s", err.Error())
	}
	for _, w := range plan.Warnings {
		a.screen.note("%s", cleanLine(w.Message))
	}
	code, err := become(path, slices.Clone(plan.Argv), text(plan.Cwd))
	if err != nil {
		return failed(err, "starting %s", cleanLine(plan.Argv[0]))
	}
	a.code = code
	return nil
}
