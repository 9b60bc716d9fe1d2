package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

// onSession is run for a command about one session: it finds the one that is named, so
// that a wrong name is told before anything else is done. The request that do gets
// names it already.
func (a *app) onSession(do func(ctx context.Context, service Service, session contract.Header, request map[string]any) error) func(*cobra.Command, []string) error {
	return a.run(func(ctx context.Context, args []string) error {
		return a.withService(ctx, func(service Service) error {
			name, session, err := a.named(ctx, service, args[0])
			if err != nil {
				return err
			}
			return do(ctx, service, session, a.onHost(map[string]any{"sessionId": name.SessionID, "agent": name.Agent}))
		})
	})
}

// offered is how many sessions completion looks through, the newest ones.
const offered = contract.MaxReadLimit

// completionTime bounds how long a person who pressed Tab waits for sessions, of
// another host above all.
const completionTime = 5 * time.Second

// completeSession offers the newest sessions, each with its title. Whatever stands
// against that is no matter of a person who pressed Tab: nothing is offered then.
func (a *app) completeSession(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	const done = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if len(args) > 0 {
		return nil, done
	}
	var words []string
	ctx, end := context.WithTimeout(cmd.Context(), completionTime)
	defer end()
	_ = a.withService(ctx, func(service Service) error {
		if err := a.mayRead(ctx, service); err != nil {
			return err
		}
		request := a.onHost(map[string]any{"sort": contract.SessionSortUpdated, "limit": offered})
		name := a.parser.SessionArgument(typed)
		agent := name.Agent
		if before, _, found := strings.Cut(typed, ":"); found && agent == "" {
			agent = before // "claude:" alone
		}
		if agent != "" {
			request["filters"] = map[string]any{"agents": []string{agent}}
		}
		var page contract.ListSessionsResponse
		if _, err := a.ask(ctx, service, "listSessions", request, &page); err != nil {
			return err
		}
		for _, h := range page.Sessions {
			word := h.SessionID
			if agent != "" {
				word = h.Agent + ":" + h.SessionID
			}
			if !strings.HasPrefix(word, typed) || !shellSafeWord(word) {
				continue
			}
			about := []string{truncate(cleanLine(h.Title), 60), cleanLine(h.Agent), project(h.Cwd)}
			if h.UpdatedAt != nil {
				about = append(about, contract.Age(h.UpdatedAt.Time(), a.opts.Now()))
			}
			words = append(words, word+"\t"+joinKnown(about, " · "))
		}
		return nil
	})
	return words, done
}

// shellSafeWord tells the ids that can be typed as they are.
func shellSafeWord(s string) bool {
	return shellSafe.MatchString(strings.ReplaceAll(s, "#", "")) && !strings.HasPrefix(s, "#") && !strings.HasPrefix(s, "-")
}

// joinKnown joins what is not empty.
func joinKnown(parts []string, by string) string {
	var known []string
	for _, p := range parts {
		if p != "" {
			known = append(known, p)
		}
	}
	return strings.Join(known, by)
}

// row prints columns for a program: tabs between them, none of them empty.
func (s *screen) row(columns ...string) {
	for i, c := range columns {
		if c = cleanLine(c); c == "" {
			c = "-"
		}
		columns[i] = c
	}
	s.say("%s", strings.Join(columns, "\t"))
}
