package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

func (a *app) forgetCommand() *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "forget SESSION",
		Short: "Drop one session from the index for good; its transcript is not touched",
		Long: `Drop one session and its sub-agents from the index, with what was kept of a transcript
that is gone, and keep them out: they are not read again, also after the index was
built anew. The transcript itself is never touched. Only "sessionls clear", which
deletes the whole index, takes it back.`,
		Example: `  sessionls forget 3b0f7c52
  sessionls forget codex:019cdc11-6a20-7b31-9f42-3d5e6f708192 --yes`,
		Args: oneSession,
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		if !yes && !(isTerminal(a.opts.In) && isTerminal(a.opts.Err)) {
			return usage("say --yes to forget without being asked", "forgetting cannot be taken back, and there is no terminal to ask on")
		}
		return a.withService(ctx, func(service Service) error { return a.forget(ctx, service, args[0], yes) })
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.ValidArgsFunction = a.completeSession
	return a.jsonFlag(cmd)
}

// oneSession checks that one session is named.
func oneSession(_ *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] != "" {
		return nil
	}
	return usage("find its id with `sessionls search`; 8 or more characters of its beginning are enough",
		"SESSION: exactly one session is required, got %d", len(args))
}

func (a *app) forget(ctx context.Context, service Service, argument string, yes bool) error {
	name, session, err := a.named(ctx, service, argument)
	if err != nil {
		return err
	}
	if !yes {
		question := fmt.Sprintf("Forget %q (%s) for good? [y/N] ", cleanLine(session.Title), cleanLine(name.String()))
		agreed, err := confirm(a.opts.In, a.opts.Err, question)
		if err != nil {
			return failed(err, "reading your answer")
		}
		if !agreed {
			a.screen.note("Nothing was forgotten.")
			return silent(ExitNoMatch)
		}
	}
	over := a.after(patientFor, "Removing what it said from the index; a large one takes a minute or more…")
	var response contract.ForgetSessionResponse
	done, err := a.answered(ctx, service, "forgetSession", map[string]any{"sessionId": name.SessionID, "agent": name.Agent}, &response)
	over()
	if done || err != nil {
		return err
	}
	more := ""
	if n := len(response.Forgotten) - 1; n > 0 {
		more = " with " + count(n, "sub-agent", "sub-agents")
	}
	a.screen.line(span{"Forgotten", bold}, span{text: more + ": " + cleanLine(session.Title) + ". The transcript is untouched; `sessionls clear` takes it back."})
	return nil
}

// named finds the session that an argument of the command line means.
func (a *app) named(ctx context.Context, service Service, argument string) (contract.SessionName, contract.Header, error) {
	if err := a.mayRead(ctx, service); err != nil {
		return contract.SessionName{}, contract.Header{}, err
	}
	resolve := service.Resolve
	if a.elsewhere() {
		resolve = func(ctx context.Context, name contract.SessionName) (contract.Header, error) {
			return a.resolveElsewhere(ctx, service, name)
		}
	}
	session, err := resolve(ctx, a.parser.SessionArgument(argument))
	var refused *contract.Error
	if !a.elsewhere() && errors.As(err, &refused) && refused.Code == contract.CodeSessionNotFound {
		// It may have begun since the index was brought up to date, if it ever was.
		if err := a.catchUp(ctx, service, false); err != nil {
			return contract.SessionName{}, contract.Header{}, err
		}
		session, err = resolve(ctx, a.parser.SessionArgument(argument))
	}
	if err != nil {
		return contract.SessionName{}, contract.Header{}, err
	}
	return contract.SessionName{Agent: session.Agent, SessionID: session.SessionID}, session, nil
}

// confirm asks a question. Only "y" or "yes" agrees; the end of the input does not.
func confirm(in io.Reader, out io.Writer, question string) (bool, error) {
	if _, err := io.WriteString(out, question); err != nil {
		return false, err
	}
	line, err := bufio.NewReader(io.LimitReader(in, 1<<10)).ReadString('\n')
	if err != nil && err != io.EOF {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}
