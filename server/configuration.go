package server

import (
	"context"
	"encoding/json"
	"regexp"
	"time"

	"go.lsp.dev/protocol"

	"github.com/sessionls/sessionls/contract"
)

// section is the name of the configuration section.
const section = "sessionls"

// settings are the client's. They are replaced as a whole, never changed.
type settings struct {
	// workspaceSymbols: sessions are offered as workspace symbols.
	workspaceSymbols bool
	// statusNotifications: sessionls/status is sent.
	statusNotifications bool
	// commandPrefix is the first part of command names. Only the one in
	// initializationOptions counts, for the names are announced once.
	commandPrefix string
}

func defaultSettings() *settings {
	return &settings{workspaceSymbols: true, statusNotifications: true, commandPrefix: contract.CommandPrefix}
}

// prefixPattern is what editors accept in the name of a command.
var prefixPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)

// merge returns the settings changed by what raw holds: the section, or an
// object with the section in it. What is not understood changes nothing.
func (s *settings) merge(raw json.RawMessage) *settings {
	if inner := dig(raw, section); isObject(inner) {
		raw = inner
	}
	out := *s
	if v, ok := flag(dig(raw, "workspaceSymbols")); ok {
		out.workspaceSymbols = v
	}
	if v, ok := flag(dig(raw, "statusNotifications")); ok {
		out.statusNotifications = v
	}
	if v := text(dig(raw, "commandPrefix")); prefixPattern.MatchString(v) {
		out.commandPrefix = v
	}
	return &out
}

// configure merges new settings and tells the notifier.
func (s *server) configure(raw json.RawMessage) {
	for {
		old := s.settings.Load()
		if s.settings.CompareAndSwap(old, old.merge(raw)) {
			break
		}
	}
	select {
	case s.settingsChanged <- struct{}{}:
	default:
	}
}

// didChangeConfiguration takes settings that were sent along. A client that keeps
// them for itself is asked, elsewhere than on the read loop.
func (s *server) didChangeConfiguration(_ context.Context, params json.RawMessage) error {
	if sent := dig(params, "settings"); isObject(sent) && string(sent) != "{}" {
		s.configure(sent)
		return nil
	}
	select {
	case s.pullAgain <- struct{}{}:
	default:
	}
	return nil
}

// followConfiguration asks anew whenever didChangeConfiguration came without
// settings.
func (s *server) followConfiguration(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.pullAgain:
			s.pullConfiguration(ctx)
		}
	}
}

// patienceForClient bounds the wait for an answer without which the server can do.
const patienceForClient = time.Second

// pullConfiguration asks the client for the section, if it answers such questions.
func (s *server) pullConfiguration(ctx context.Context) {
	if !s.client.configuration {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patienceForClient)
	defer cancel()
	name := section
	answer, err := s.call(ctx, protocol.MethodWorkspaceConfiguration, &protocol.ConfigurationParams{
		Items: []protocol.ConfigurationItem{{Section: &name}},
	})
	var items []json.RawMessage
	switch {
	case err != nil:
		s.log.Debug().Err(err).Msg("no configuration from the client")
	case json.Unmarshal(answer, &items) == nil && len(items) > 0:
		s.configure(items[0])
	}
}

// registerConfiguration asks for workspace/didChangeConfiguration where it comes only on
// request, as in VS Code.
func (s *server) registerConfiguration(ctx context.Context) {
	if !s.client.dynamicConfiguration {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patienceForClient)
	defer cancel()
	options, err := json.Marshal(map[string]string{"section": section})
	if err != nil {
		return
	}
	_, err = s.call(ctx, protocol.MethodClientRegisterCapability, &protocol.RegistrationParams{
		Registrations: []protocol.Registration{{
			ID:              "sessionls-configuration",
			Method:          protocol.MethodWorkspaceDidChangeConfiguration,
			RegisterOptions: protocol.LSPAny(options),
		}},
	})
	if err != nil {
		s.log.Debug().Err(err).Msg("the client did not register for configuration changes")
	}
}
