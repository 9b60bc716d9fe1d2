package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/sessionls/sessionls/contract"
)

// client is what initialize told about the other side.
type client struct {
	positionEncoding     protocol.PositionEncodingKind
	workDoneProgress     bool // takes window/workDoneProgress/create
	configuration        bool // answers workspace/configuration
	dynamicConfiguration bool // wants workspace/didChangeConfiguration registered
	resolvesSymbols      bool // asks for a symbol's range when it needs it
	contentRequests      bool // asks for the content of virtual documents
}

func readClient(params json.RawMessage) client {
	capability := func(path ...string) bool {
		value, _ := flag(dig(params, append([]string{"capabilities"}, path...)...))
		return value
	}
	c := client{
		positionEncoding:     protocol.PositionEncodingKindUTF16,
		workDoneProgress:     capability("window", "workDoneProgress"),
		configuration:        capability("workspace", "configuration"),
		dynamicConfiguration: capability("workspace", "didChangeConfiguration", "dynamicRegistration"),
	}
	// UTF-8 spares both sides a conversion; without an offer the protocol
	// knows UTF-16 only.
	offered := texts(dig(params, "capabilities", "general", "positionEncodings"))
	if slices.Contains(offered, string(protocol.PositionEncodingKindUTF8)) {
		c.positionEncoding = protocol.PositionEncodingKindUTF8
	}
	c.resolvesSymbols = slices.Contains(texts(dig(params, "capabilities", "workspace", "symbol", "resolveSupport", "properties")), "location.range")
	c.contentRequests = isObject(dig(params, "capabilities", "workspace", "textDocumentContent"))
	return c
}

func (s *server) initialize(_ context.Context, params json.RawMessage) (json.RawMessage, error) {
	if len(params) > 0 && string(params) != "null" && !isObject(params) {
		return nil, contract.InvalidParams("params", "want an object")
	}
	s.client = readClient(params)
	s.folders.set(params)
	set := s.settings.Load().merge(dig(params, "initializationOptions"))
	s.settings.Store(set)
	s.commands = s.commands.WithPrefix(set.commandPrefix)
	// Another machine says so itself, since its way in (ssh, a container) looks
	// like any other pipe. It can only make answers narrower by that.
	if text(dig(params, "initializationOptions", "transport")) == string(contract.TransportRemote) {
		s.transport = contract.TransportRemote
	}

	var pid int
	if json.Unmarshal(dig(params, "processId"), &pid) == nil && pid > 0 {
		s.conn.WatchParent(pid)
	}
	s.log.Info().
		Str("client", text(dig(params, "clientInfo", "name"))).
		Str("version", text(dig(params, "clientInfo", "version"))).
		Str("positionEncoding", string(s.client.positionEncoding)).
		Str("transport", string(s.transport)).
		Msg("initialize")

	yes := true
	workspace := &protocol.WorkspaceOptions{
		WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{Supported: &yes, ChangeNotifications: protocol.Boolean(true)},
	}
	if s.client.contentRequests {
		workspace.TextDocumentContent = &protocol.TextDocumentContentOptions{Schemes: []string{contract.DocumentScheme}}
	}
	return marshal(&protocol.InitializeResult{
		Capabilities: protocol.ServerCapabilities{
			PositionEncoding:        s.client.positionEncoding,
			ExecuteCommandProvider:  protocol.ExecuteCommandOptions{Commands: s.commands.Names()},
			WorkspaceSymbolProvider: &protocol.WorkspaceSymbolOptions{ResolveProvider: &yes},
			Workspace:               workspace,
		},
		ServerInfo: protocol.ServerInfo{Name: "sessionls", Version: protocol.NewOptional(s.version)},
	})
}

// initialized starts what talks to the client on its own account, in a
// goroutine: here an answer could not be read.
func (s *server) initialized(ctx context.Context, _ json.RawMessage) error {
	if s.started.Swap(true) {
		return fmt.Errorf("initialized sent twice")
	}
	s.goBackground(func() {
		s.registerConfiguration(ctx)
		s.pullConfiguration(ctx) // before the first status, which it may forbid
		s.goBackground(func() { s.followConfiguration(ctx) })
		if s.client.contentRequests {
			s.goBackground(func() { s.followDocuments(ctx, s.service.Subscribe(ctx)) })
		}
		s.newNotifier().run(ctx, s.service.Subscribe(ctx), s.settingsChanged)
	})
	return nil
}

// shutdown has nothing to do: the connection refuses requests from now on, and
// what runs is cancelled by exit.
func (s *server) shutdown(context.Context, json.RawMessage) (json.RawMessage, error) {
	return nil, nil
}
