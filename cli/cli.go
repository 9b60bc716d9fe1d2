package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sessionls/sessionls/commands"
	"github.com/sessionls/sessionls/contract"
)

// Options of Main. All fields but Getenv and Now are required.
type Options struct {
	Args    []string // without the program's name
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Version Version
	// Open gives the service of this machine; the caller closes it.
	Open func(ctx context.Context) (Service, error)
	// Serve is the language server on the standard streams; it returns the exit code.
	Serve func(ctx context.Context) int
	// Bench measures this program.
	Bench Bench
	// Quote writes arguments as a command line for a shell; ok is false when there
	// is no safe way.
	Quote func(shell contract.Shell, args []string) (line string, ok bool)

	Getenv func(string) string // os.Getenv if nil
	Now    func() time.Time    // time.Now if nil; its location is the user's
}

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, opts Options) int {
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	a := &app{opts: opts, host: string(contract.LocalHost), out: &checkedWriter{to: opts.Out}, parser: contract.Parser{}}
	root := a.root()
	root.SetArgs(append([]string{}, opts.Args...)) // nil would mean the process's own
	root.SetIn(opts.In)
	root.SetOut(a.out)
	root.SetErr(opts.Err)

	err := root.ExecuteContext(ctx)
	if a.out.err != nil {
		// A full disk, say: half an answer must not pass for one.
		err = failed(a.out.err, "writing the answer")
	}
	if err == nil {
		return a.code
	}
	var own *fault
	if !errors.As(err, &own) {
		// Whatever did not come out of a command is about how it was called.
		own = usage("", "%s", err.Error())
	}
	if own.what != "" {
		a.complain(own)
	}
	return own.code
}

// app is one run of the program.
type app struct {
	opts   Options
	out    *checkedWriter
	parser contract.Parser
	code   int // exit code of a command that ended well

	host   string // --host
	color  string // --color
	asJSON bool   // --json
	// noPager is --no-pager.
	noPager bool
	// later prints the answer once the service is closed; nil when it was printed.
	later  func()
	screen *screen
}

// checkedWriter remembers the first error, so that not every line printed has to be
// looked after.
type checkedWriter struct {
	to  io.Writer
	err error
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.to.Write(p)
	w.err = err
	return n, err
}

// complain prints a fault: what was wrong on one line, what to do on the next.
func (a *app) complain(f *fault) {
	colour := a.screen != nil && a.screen.errColour
	what, more, _ := strings.Cut(f.what, "\n")
	fmt.Fprintln(a.opts.Err, paint(colour, span{"sessionls: ", bad}, span{text: cleanLine(what)}))
	if more != "" {
		fmt.Fprintln(a.opts.Err, clean(more))
	}
	if f.hint != "" {
		fmt.Fprintln(a.opts.Err, paint(colour, span{"  " + f.hint, dim}))
	}
}

// root builds the tree of commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "sessionls",
		Short:         "Search the sessions of your coding agents",
		Long:          rootHelp,
		Example:       rootExamples,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          a.noCommand,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.screen = newScreen(a.opts, a.color)
			a.screen.out = a.out
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isTerminal(a.opts.In) {
				a.welcome()
				return nil
			}
			a.code = a.opts.Serve(cmd.Context())
			return nil
		},
	}
	a.color = "auto"
	root.PersistentFlags().Var(newChoice(&a.color, "auto", "always", "never"), "color", "colours: auto, always or never")
	a.complete(root, "color", "auto", "always", "never")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagFault(cmd, err) })
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(a.helpCommand())
	root.AddGroup(
		&cobra.Group{ID: "find", Title: "Find and read:"},
		&cobra.Group{ID: "index", Title: "The index:"},
		&cobra.Group{ID: "consent", Title: "Consent:"},
		&cobra.Group{ID: "other", Title: "Other:"},
	)
	add := func(group string, list ...*cobra.Command) {
		for _, c := range list {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("find", a.searchCommand(), a.showCommand(), a.eventsCommand(), a.traceCommand(), a.resumeCommand(), a.exportCommand())
	add("index", a.statusCommand(), a.indexCommand(), a.forgetCommand(), a.clearCommand())
	add("consent", a.enableCommand(), a.disableCommand())
	add("other", a.serveCommand(), a.configCommand(), a.hostsCommand(), a.doctorCommand(), a.benchCommand(), a.versionCommand(), a.completionCommand())
	root.SetHelpCommandGroupID("other")
	root.SetUsageTemplate(usageTemplate)
	return root
}

// noCommand refuses words that are no command. Most who write some meant to search.
func (a *app) noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := fmt.Sprintf("to search for it: sessionls search %s", shellWords(args))
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean `sessionls %s`? All commands: sessionls --help", near[0])
	}
	return usage(hint, "there is no command %q", cleanLine(args[0]))
}

// shellWords shows arguments so that they can be pasted back.
func shellWords(args []string) string {
	shown := make([]string, len(args))
	for i, arg := range args {
		shown[i] = shellWord(cleanLine(arg))
	}
	return truncate(strings.Join(shown, " "), 100)
}

func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve an editor: the Language Server Protocol on standard input and output",
		Long: `Serve an editor over the Language Server Protocol on standard input and output.
Editors start this themselves; "sessionls" without a command does the same when
its input is not a terminal. The log goes to a file (see "sessionls config").`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isTerminal(a.opts.In) {
				a.screen.note("waiting for an editor on standard input; Ctrl-D ends")
			}
			a.code = a.opts.Serve(cmd.Context())
			return nil
		},
	}
}

// run wraps what a command does: SIGINT and SIGTERM cancel it, and every error that
// comes out of it has an exit code.
func (a *app) run(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		// A second Ctrl-C ends the process the hard way.
		context.AfterFunc(ctx, stop)
		if err := do(ctx, args); err != nil {
			return explain(ctx, err)
		}
		return nil
	}
}

// withService opens the service around do.
func (a *app) withService(ctx context.Context, do func(Service) error) (err error) {
	service, err := a.opts.Open(ctx)
	if err != nil {
		return explain(ctx, err)
	}
	defer func() {
		if closing := service.Close(); closing != nil && err == nil {
			err = failed(closing, "closing the index")
		}
		if showing := a.showLater(); showing != nil && err == nil {
			err = showing
		}
	}()
	return do(service)
}

// ask runs a command of the contract and reads its answer into response. The
// answer's JSON is returned too, for --json.
func (a *app) ask(ctx context.Context, service Service, command string, request map[string]any, response any) (json.RawMessage, error) {
	raw, err := json.Marshal(request)
	if err != nil {
		return nil, failed(err, "writing the request")
	}
	answer, err := commands.New(service, a.parser, "").Run(ctx, contract.CommandPrefix+"."+command, []json.RawMessage{raw})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(answer, response); err != nil {
		return nil, failed(err, "reading the answer of %s", command)
	}
	return answer, nil
}

// answered is ask for a command whose answer --json prints as it is: then it is
// done, and nothing is left to show.
func (a *app) answered(ctx context.Context, service Service, command string, request map[string]any, response any) (done bool, err error) {
	raw, err := a.ask(ctx, service, command, request, response)
	if err == nil && a.asJSON {
		a.print(raw)
	}
	return a.asJSON, err
}

// print writes a JSON document and a line break.
func (a *app) print(raw json.RawMessage) {
	if isTerminal(a.opts.Out) {
		raw = json.RawMessage(visibleJSON(string(raw)))
	}
	fmt.Fprintf(a.out, "%s\n", raw)
}

// printValue writes a value as JSON.
func (a *app) printValue(value any) error {
	var document bytes.Buffer
	encoder := json.NewEncoder(&document)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return failed(err, "writing the answer")
	}
	a.print(bytes.TrimSuffix(document.Bytes(), []byte("\n")))
	return nil
}

// jsonFlag adds --json to a command.
func (a *app) jsonFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&a.asJSON, "json", false, "print the answer as JSON")
	return cmd
}

// complete offers words for a flag.
func (a *app) complete(cmd *cobra.Command, flag string, words ...string) {
	// An error would say that the flag does not exist, which the tests rule out.
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	})
}

// choice is a flag that takes one of a few words.
type choice struct {
	value   *string
	allowed []string
}

func newChoice(value *string, allowed ...string) *choice { return &choice{value, allowed} }

func (c *choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c *choice) Type() string { return "word" }

func (c *choice) Set(s string) error {
	for _, word := range c.allowed {
		if s == word {
			*c.value = s
			return nil
		}
	}
	return fmt.Errorf("allowed: %s", strings.Join(c.allowed, ", "))
}

// flagFault words the errors of the flag parser.
func flagFault(cmd *cobra.Command, err error) *fault {
	hint := fmt.Sprintf("see `%s --help`", cmd.CommandPath())
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		flag, want := invalid.GetFlag(), ""
		switch flag.Value.(type) {
		case *choice:
			want = invalid.Unwrap().Error()
		default:
			switch flag.Value.Type() {
			case "int", "int64":
				want = "want a whole number"
			case "bool":
				want = "want true or false"
			default:
				want = invalid.Unwrap().Error()
			}
		}
		return usage(hint, "--%s: %q is not known; %s", flag.Name, cleanLine(invalid.GetValue()), want)
	}
	return usage(hint, "%s", err.Error())
}
