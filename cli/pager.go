package cli

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
)

// pagerFlag adds --no-pager to a command whose answer can be long.
func (a *app) pagerFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&a.noPager, "no-pager", false, "print to the terminal at once, not through $PAGER")
	return cmd
}

// paged lets show print through the user's pager, if the answer goes to a terminal.
// It is called when the service is closed: somebody may read for hours.
func (a *app) paged(show func()) { a.later = show }

// showLater prints what was left for later. What the pager is given is clean: it needs
// to pass colours only.
func (a *app) showLater() error {
	show := a.later
	if show == nil {
		return nil
	}
	a.later = nil
	pager := a.pager()
	if pager == nil {
		show()
		return nil
	}
	in, err := pager.StdinPipe()
	if err != nil {
		return failed(err, "starting the pager")
	}
	if err := pager.Start(); err != nil {
		in.Close()
		show()
		return nil
	}
	// Ctrl-C is the pager's own while it has the terminal; this process must not end
	// before it, also not of a second one.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	before := a.screen.out
	a.screen.out = &quitWriter{to: in}
	show()
	a.screen.out = before
	in.Close()
	_ = pager.Wait() // how it ends is the user's choice
	return nil
}

// pager is the user's pager, nil for none. It is started without a shell.
func (a *app) pager() *exec.Cmd {
	out, ok := a.opts.Out.(*os.File)
	if a.noPager || a.asJSON || !ok || !isTerminal(out) || !isTerminal(a.opts.In) || a.opts.Getenv("TERM") == "dumb" {
		return nil
	}
	command := "less"
	for _, name := range []string{"PAGER", "SESSIONLS_PAGER"} {
		if value := a.opts.Getenv(name); value != "" {
			command = value
		}
	}
	words := strings.Fields(command)
	if len(words) == 0 || words[0] == "cat" {
		return nil
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil
	}
	pager := exec.Command(path, words[1:]...)
	pager.Stdout, pager.Stderr, pager.Env = out, a.opts.Err, os.Environ()
	if a.opts.Getenv("LESS") == "" {
		// Leave when all fits on the screen, pass colours, leave the text standing.
		pager.Env = append(pager.Env, "LESS=FRX")
	}
	return pager
}

// quitWriter drops what a pager that was left does not read any more.
type quitWriter struct {
	to   io.Writer
	quit bool
}

func (w *quitWriter) Write(p []byte) (int, error) {
	if !w.quit {
		_, err := w.to.Write(p)
		w.quit = err != nil
	}
	return len(p), nil
}
