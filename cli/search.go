package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

// searchFlags are the flags of search.
type searchFlags struct {
	query        string // what is asked for in the end
	scope, sort  string
	fresh, debug bool
	limit        int
	cursor       string
	agents       []string
	paths        []string
	since, until string
}

func (a *app) searchCommand() *cobra.Command {
	f := &searchFlags{scope: string(contract.ScopeAll), sort: string(contract.SortRelevance)}
	cmd := &cobra.Command{
		Use:     "search QUERY…",
		Aliases: []string{"s"},
		Short:   "Find sessions by words, operators and filters",
		Long:    searchHelp(),
		Example: searchExamples,
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		request, err := a.searchRequest(cmd, f, args)
		if err != nil {
			return err
		}
		return a.withService(ctx, func(service Service) error { return a.search(ctx, service, f, request) })
	})
	scopes := []string{string(contract.ScopeConversation), string(contract.ScopeAll)}
	sorts := []string{string(contract.SortRelevance), string(contract.SortNewest)}
	flags := cmd.Flags()
	flags.Var(newChoice(&f.scope, scopes...), "scope", "what to look at: conversation (never tool output) or all")
	flags.BoolVar(&f.fresh, "fresh", false, "first read all that changed on disk, for at most five seconds")
	flags.IntVarP(&f.limit, "limit", "n", contract.DefaultLimit, fmt.Sprintf("sessions on a page, 1 to %d; on a terminal %d if not given", contract.MaxLimit, shortPage))
	flags.StringVar(&f.cursor, "cursor", "", "go on after a page: the cursor it ended with")
	flags.StringSliceVarP(&f.agents, "agent", "a", nil, "only these agents: "+strings.Join(a.agents(), ", "))
	flags.StringArrayVarP(&f.paths, "path", "p", nil, "only sessions in this folder or below it (may be repeated)")
	flags.StringVar(&f.since, "since", "", "not older than: 12h, 7d, 2w, 2026-11-01 or 2026-11-01T09:00:00Z")
	flags.StringVar(&f.until, "until", "", "not newer than, in the same forms")
	flags.Var(newChoice(&f.sort, sorts...), "sort", "relevance or newest")
	flags.BoolVar(&f.debug, "debug", false, "tell how the query was answered")
	a.hostFlag(a.jsonFlag(cmd))
	a.complete(cmd, "scope", scopes...)
	a.complete(cmd, "sort", sorts...)
	a.complete(cmd, "agent", a.agents()...)
	a.complete(cmd, "since", "1d", "7d", "2w", "30d")
	a.complete(cmd, "until", "1d", "7d", "2w", "30d")
	a.complete(cmd, "cursor")
	_ = cmd.MarkFlagDirname("path") // fails only for a flag that does not exist
	// The operators are worth offering where words are typed.
	cmd.ValidArgsFunction = func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return completeOperator(a.agents(), toComplete), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return cmd
}

// shortPage is the page on a terminal: its first, best session should still be in sight.
const shortPage = 8

// agents lists the agents that can be named.
func (a *app) agents() []string {
	if a.parser.Agents != nil {
		return a.parser.Agents
	}
	return contract.Agents()
}

// searchRequest makes the contract's request of the flags. Only what was given is
// in it, so that the contract's defaults and checks hold.
func (a *app) searchRequest(cmd *cobra.Command, f *searchFlags, args []string) (map[string]any, error) {
	filters := map[string]any{"sort": f.sort}
	query := strings.Join(args, " ")
	clauses := 0
	if len(f.agents) > 0 {
		filters["agents"] = f.agents
		clauses++
	}
	if len(f.paths) > 0 {
		paths := make([]string, len(f.paths))
		for i, p := range f.paths {
			absolute, err := absolutePath(p)
			if err != nil {
				return nil, usage("", "--path: %v", err)
			}
			paths[i] = absolute
		}
		filters["scopePaths"] = paths
		clauses++
	}
	for _, bound := range []struct{ flag, value string }{{"until", f.until}, {"since", f.since}} {
		if !cmd.Flags().Changed(bound.flag) {
			continue
		}
		clauses++
		switch m, ok := contract.ParseMoment(bound.value); {
		case !ok:
			return nil, usage("", "--%s: %q is no time; allowed: %s", bound.flag, cleanLine(bound.value), contract.MomentForms)
		case m.Fixed():
			filters[bound.flag] = contract.InstantOf(m.At(time.Time{}, false))
		default:
			// As an operator it is bound to the clock of the first page, so that
			// --cursor goes on with the same search. It stands first: a query is
			// read up to a limit.
			query = strings.TrimRight(bound.flag+":"+bound.value+" "+query, " ")
		}
	}
	if strings.TrimSpace(strings.Join(args, "")) == "" && clauses == 0 {
		return nil, usage("for example: sessionls search tide table overflow; see `sessionls search --help`",
			"QUERY: words to look for are required, or a filter such as --agent or --since")
	}
	f.query = query
	request := map[string]any{
		"query":         query,
		"scope":         f.scope,
		"limit":         f.limit,
		"filters":       filters,
		"executionHost": a.host,
		// The route is told in debug only, and people are told when words were given up.
		"debug": f.debug || !a.asJSON,
	}
	if !cmd.Flags().Changed("limit") && a.screen.pretty && !a.asJSON {
		request["limit"] = shortPage
	}
	if f.fresh {
		request["freshness"] = contract.FreshnessWait
	}
	if cmd.Flags().Changed("cursor") {
		request["cursor"] = f.cursor
	}
	return request, nil
}

// foreignPath is the spelling of a folder of another system, which must stay as it
// is: a drive, a share or a URI.
var foreignPath = regexp.MustCompile(`^(?:[A-Za-z]:[\\/]|\\\\|[A-Za-z][A-Za-z0-9+.-]+://)`)

// absolutePath is a folder as sessions record it: absolute and without dots. A
// link is not resolved, as the agent may have been started through it.
func absolutePath(p string) (string, error) {
	if p == "" || foreignPath.MatchString(p) {
		return p, nil // the contract says what is wrong with ""
	}
	if p == "~" || strings.HasPrefix(p, "~/") {
		// --path=~/x is not expanded by every shell.
		if home, err := os.UserHomeDir(); err == nil {
			p = home + p[1:]
		}
	}
	return filepath.Abs(p)
}

// search runs a search and prints its answer.
func (a *app) search(ctx context.Context, service Service, f *searchFlags, request map[string]any) error {
	// A request that is wrong is refused before anything is asked or read.
	if err := a.check(request); err != nil {
		return err
	}
	if !a.elsewhere() {
		if err := a.consent(ctx, service); err != nil {
			return a.refuseDisabled(err)
		}
		if err := a.catchUp(ctx, service, f.fresh || request["cursor"] != nil); err != nil {
			return err
		}
	}
	var response contract.SearchSessionsResponse
	raw, err := a.ask(ctx, service, "searchSessions", request, &response)
	if err != nil {
		return err
	}
	if a.asJSON {
		a.print(raw)
	}
	switch response.Kind {
	case contract.KindStaleCursor:
		return &fault{code: ExitFailed, what: "--cursor: the index has changed since that page",
			hint: "search again without --cursor"}
	case contract.KindMalformedCursor:
		return usage("use the cursor that a page of this very search ended with, or none",
			"--cursor: this is no cursor of this search")
	case contract.KindUnavailable:
		return noSearch(response.Reason, contract.Host(a.host))
	}
	if response.Results == nil {
		return failed(errNoAnswer, "searching")
	}
	if !a.asJSON {
		status, err := service.SearchStatus(ctx, contract.SearchStatusRequest{ExecutionHost: contract.Host(a.host)})
		if err != nil {
			return err
		}
		if status.Sessions == 0 && len(response.Results.Hits) == 0 && !a.elsewhere() {
			return a.nothingAnywhere(ctx, service)
		}
		a.showResults(response.Results, status, f)
	}
	if len(response.Results.Hits) == 0 {
		return silent(ExitNoMatch)
	}
	return nil
}

// refuseDisabled keeps --json's promise that a search which was understood is
// answered on standard output: the contract has an answer for one that is
// switched off.
func (a *app) refuseDisabled(err error) error {
	if a.asJSON && isDisabled(err) {
		if printing := a.printValue(contract.UnavailableResponse(contract.ReasonDisabled)); printing != nil {
			return printing
		}
	}
	return err
}

// noSearch says why there is no search on that host.
func noSearch(reason contract.Reason, host contract.Host) error {
	switch {
	case reason == contract.ReasonNoService:
		return unavailable("install a newer sessionls there", "--host: there is no search service on %s", cleanLine(string(host)))
	case reason == contract.ReasonDisabled && host.IsLocal():
		return unavailable(enableHint, "search is switched off")
	case reason == contract.ReasonDisabled:
		return unavailable("its user decides, with "+host.Invocation("enable"), "search is not switched on on %s", cleanLine(string(host)))
	case !host.IsLocal():
		return unavailable(host.Invocation("doctor")+" tells what is in the way", "the index on %s cannot be opened", cleanLine(string(host)))
	}
	return unavailable("`sessionls doctor` tells what is in the way", "the index cannot be opened")
}
