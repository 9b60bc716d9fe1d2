package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

// hostFlag adds --host to a command.
func (a *app) hostFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Var(&hostValue{&a.host}, "host", "whose sessions: local, ssh:TARGET or runtime:ID")
	// An error would say that the flag does not exist.
	_ = cmd.RegisterFlagCompletionFunc("host", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return a.completeHost(cmd.Context()), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	})
	return cmd
}

// completeHost offers the hosts that are known; nothing when they cannot be read.
func (a *app) completeHost(ctx context.Context) []string {
	var words []string
	_ = a.withService(ctx, func(service Service) error {
		known, err := service.KnownHosts(ctx)
		for _, host := range known {
			if shellSafeWord(string(host.Host)) {
				words = append(words, string(host.Host)+"\t"+cleanLine(host.Label))
			}
		}
		return err
	})
	return words
}

// hostValue is a flag that takes the name of a host.
type hostValue struct{ value *string }

func (h *hostValue) String() string {
	if h.value == nil || *h.value == "" {
		return string(contract.LocalHost)
	}
	return *h.value
}

func (h *hostValue) Type() string { return "host" }

func (h *hostValue) Set(s string) error {
	if _, ok := contract.ParseHost(s); !ok {
		return fmt.Errorf("allowed: local, ssh:TARGET, runtime:ID; one host at a time")
	}
	*h.value = s
	return nil
}

// elsewhere reports whether another host is to be asked.
func (a *app) elsewhere() bool { return !contract.Host(a.host).IsLocal() }

// onHost adds the host to ask to a request.
func (a *app) onHost(request map[string]any) map[string]any {
	if a.elsewhere() {
		request["executionHost"] = a.host
	}
	return request
}

// mayRead refuses to read sessions of this machine without consent. Another host
// has its own, and says so itself.
func (a *app) mayRead(ctx context.Context, service Service) error {
	if a.elsewhere() {
		return nil
	}
	policy, err := service.GetPolicy(ctx, contract.GetPolicyRequest{})
	if err == nil && !policy.Allows() {
		err = unavailable(enableHint, "search is switched off")
	}
	return err
}

// resolveElsewhere finds the one session of the host that a name means.
func (a *app) resolveElsewhere(ctx context.Context, service Service, name contract.SessionName) (contract.Header, error) {
	var titles contract.ReadTitlesResponse
	if _, err := a.ask(ctx, service, "readTitles", a.onHost(map[string]any{"sessions": []contract.SessionName{name}}), &titles); err != nil {
		return contract.Header{}, err
	}
	if len(titles.Titles) == 1 && titles.Titles[0].Session != nil {
		return *titles.Titles[0].Session, nil
	}
	// That says only that there is none; this says why, and what was meant perhaps.
	var page contract.EventPage
	request := a.onHost(map[string]any{"sessionId": name.SessionID, "agent": name.Agent, "limit": 1})
	if name.Agent == "" {
		delete(request, "agent")
	}
	_, err := a.ask(ctx, service, "listEvents", request, &page)
	return page.Session, err
}
