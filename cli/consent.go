package cli

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

var (
	errNoAnswer = errors.New("the answer is empty")
	errDisabled = errors.New("disabled by the user")
)

func isDisabled(err error) bool { return errors.Is(err, errDisabled) }

// check reads a search request as the contract does, for its errors only.
func (a *app) check(request map[string]any) error {
	raw, err := json.Marshal(request)
	if err != nil {
		return failed(err, "writing the request")
	}
	_, err = a.parser.ParseSearchSessions(raw)
	return err
}

// consent makes sure that transcripts may be read. Who runs a search or builds
// an index while undecided has decided, and is told so in one line.
func (a *app) consent(ctx context.Context, service Service) error {
	policy, err := service.GetPolicy(ctx, contract.GetPolicyRequest{})
	if err != nil {
		return err
	}
	if policy.Allows() {
		return nil
	}
	if policy.Decided() {
		return &fault{code: ExitUnavailable, what: "search is switched off", hint: enableHint, cause: errDisabled}
	}
	if _, err := service.SetPolicy(ctx, contract.SetPolicyRequest{Enabled: contract.Some(true)}); err != nil {
		return err
	}
	a.screen.note("Search is now on: your agents' transcripts are indexed on this machine and stay on it (`sessionls disable` turns it off).")
	return nil
}

func (a *app) enableCommand() *cobra.Command {
	days := 0
	cmd := &cobra.Command{
		Use:   "enable",
		Short: "Allow reading and indexing your agents' transcripts",
		Long: `Allow sessionls to read the transcripts of your coding agents and to keep an index of
them. Transcripts are only ever read; the index stays on this machine. The
decision holds for every editor and terminal.

With --days only transcripts that changed in the last N days are kept in the index;
--days 0 keeps all history.`,
		Example: `  sessionls enable
  sessionls enable --days 90`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = a.run(func(ctx context.Context, _ []string) error {
		request := map[string]any{"enabled": true}
		if cmd.Flags().Changed("days") {
			request["historyDays"] = days
			if days == 0 {
				request["historyDays"] = nil
			}
		}
		return a.changePolicy(ctx, request)
	})
	cmd.Flags().IntVar(&days, "days", 0, "keep only the last N days, 1 to 3650; 0 is all history")
	a.complete(cmd, "days", "30", "90", "365")
	return a.jsonFlag(cmd)
}

func (a *app) disableCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "disable",
		Short: "Stop reading transcripts; the index file is kept",
		Long: `Stop reading and searching, in every editor and terminal. The index file is
kept for when you enable search again; "sessionls clear" deletes it.`,
		Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			return a.changePolicy(ctx, map[string]any{"enabled": false})
		}),
	}
	return a.jsonFlag(cmd)
}

func (a *app) changePolicy(ctx context.Context, request map[string]any) error {
	// A bad number is refused before the service is opened.
	raw, err := json.Marshal(request)
	if err != nil {
		return failed(err, "writing the request")
	}
	if _, err := a.parser.ParseSetPolicy(raw); err != nil {
		return err
	}
	return a.withService(ctx, func(service Service) error {
		var policy contract.Policy
		if done, err := a.answered(ctx, service, "setPolicy", request, &policy); done || err != nil {
			return err
		}
		if !policy.Allows() {
			a.screen.line(span{"Search is off.", bold}, span{text: " Nothing is read any more; the index file is kept (`sessionls clear` deletes it)."})
			return nil
		}
		kept := "all history"
		if policy.HistoryDays != nil {
			kept = "the last " + count(*policy.HistoryDays, "day", "days")
		}
		a.screen.line(span{"Search is on", bold}, span{text: " for " + kept + ". Try: sessionls search WORDS"})
		return nil
	})
}

func (a *app) clearCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clear",
		Short: "Delete the index; transcripts are not touched",
		Long: `Delete the index and everything in it, also what was kept of transcripts that their
agent has deleted. Transcripts themselves are never touched. If search is on,
the next search or editor builds the index anew.`,
		Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			return a.withService(ctx, func(service Service) error {
				var response contract.ClearResponse
				if done, err := a.answered(ctx, service, "clear", map[string]any{}, &response); done || err != nil {
					return err
				}
				a.screen.line(span{"The index is deleted.", bold}, span{text: " Your transcripts are untouched."})
				return nil
			})
		}),
	}
	return a.jsonFlag(cmd)
}
