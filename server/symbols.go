package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"go.lsp.dev/protocol"

	"github.com/sessionls/sessionls/contract"
)

// maxSymbols is how many sessions a list of symbols has: what a person looks
// through before typing one more letter.
const maxSymbols = 50

// symbol is a session as a workspace symbol. It is written by hand because a
// virtual document's name must go out as it is, and the protocol package
// normalises names.
type symbol struct {
	Name          string              `json:"name"`
	Kind          protocol.SymbolKind `json:"kind"`
	ContainerName string              `json:"containerName,omitzero"`
	Location      symbolLocation      `json:"location"`
	Data          *symbolData         `json:"data,omitzero"`
}

type symbolLocation struct {
	URI string `json:"uri"`
	// Range is left to workspaceSymbol/resolve where the client has it.
	Range *protocol.Range `json:"range,omitzero"`
}

// symbolData is what resolving needs.
type symbolData struct {
	Seq  int64  `json:"seq"`
	Mark string `json:"mark,omitzero"`
}

// workspaceSymbol serves workspace/symbol: the sessions that a query finds, or
// without one the newest of the open folders.
func (s *server) workspaceSymbol(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	raw := dig(params, "query")
	var query string
	if len(raw) > 0 && json.Unmarshal(raw, &query) != nil {
		return nil, contract.InvalidParams("query", "want a string")
	}
	symbols := []symbol{}
	if s.settings.Load().workspaceSymbols {
		var err error
		if strings.TrimSpace(query) == "" {
			symbols, err = s.newest(ctx)
		} else {
			symbols, err = s.found(ctx, query)
		}
		if err != nil {
			return nil, err
		}
		if !s.client.resolvesSymbols {
			s.placeSymbols(ctx, symbols)
		}
	}
	return json.Marshal(symbols)
}

// found are the sessions that a query finds. When there is no searching, being
// disabled or not ready yet, there are none: an editor asks all its servers and
// is not to be bothered with it.
func (s *server) found(ctx context.Context, query string) ([]symbol, error) {
	done, err := s.heavy.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	request := contract.NewSearchSessionsRequest(query)
	request.Limit = maxSymbols
	answer, err := s.service.SearchSessions(ctx, request)
	if err != nil {
		return nil, err
	}
	if answer.Results == nil {
		return []symbol{}, nil
	}
	symbols := make([]symbol, len(answer.Results.Hits))
	for i := range answer.Results.Hits {
		hit := &answer.Results.Hits[i]
		symbols[i] = symbolOf(hit.ExecutionHostID, hit.Agent, hit.SessionID, hit.Title, hit.Cwd, hit.UpdatedAt)
		if hit.Evidence != nil {
			symbols[i].show(hit.Evidence, query)
		}
	}
	return symbols, nil
}

// newest are the newest sessions of the open folders, of all where none is open.
func (s *server) newest(ctx context.Context) ([]symbol, error) {
	done, err := s.heavy.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	answer, err := s.service.ListSessions(ctx, contract.ListSessionsRequest{
		Filters: contract.Filters{ScopePaths: s.folders.list()},
		Sort:    contract.SessionSortUpdated,
		Limit:   maxSymbols,
	})
	var refused *contract.Error
	if errors.Is(err, contract.ErrNotReady) || errors.As(err, &refused) && refused.Code == contract.CodeSearchDisabled {
		return []symbol{}, nil // as found does it
	}
	if err != nil {
		return nil, err
	}
	symbols := make([]symbol, len(answer.Sessions))
	for i := range answer.Sessions {
		h := &answer.Sessions[i]
		symbols[i] = symbolOf(h.ExecutionHostID, h.Agent, h.SessionID, h.Title, h.Cwd, h.UpdatedAt)
	}
	return symbols, nil
}

func symbolOf(host contract.Host, agent, id, title string, cwd *string, updated *contract.Instant) symbol {
	container := []string{agent}
	if project := contract.ProjectName(cwd); project != "" {
		container = append(container, oneLine(project))
	}
	if updated != nil {
		container = append(container, contract.Age(updated.Time(), time.Now()))
	}
	return symbol{
		Name:          oneLine(title),
		Kind:          protocol.SymbolKindFile,
		ContainerName: strings.Join(container, " · "),
		Location:      symbolLocation{URI: contract.DocumentURI(host, agent, id)},
	}
}

// show adds what was found. Where the title lacks the query the matched words
// are added, so that clients which filter by name keep it (contract §10).
func (s *symbol) show(e *contract.Evidence, query string) {
	words := matchedWords(e)
	if !containsFold(s.Name, query) && len(words) > 0 {
		s.Name += " — " + strings.Join(words, " ")
	}
	if e.Seq != nil {
		s.Data = &symbolData{Seq: *e.Seq}
		if len(words) > 0 {
			s.Data.Mark = words[0]
		}
	}
}

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(strings.TrimSpace(part)))
}

// maxMatched bounds the matched words in a symbol's name.
const maxMatched = 8

// matchedWords are the distinct marked texts of a snippet, in their order.
func matchedWords(e *contract.Evidence) []string {
	var words []string
	for _, piece := range e.Pieces() {
		word := oneLine(piece.Text)
		if piece.Marked && word != "" && !slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) }) && len(words) < maxMatched {
			words = append(words, word)
		}
	}
	return words
}

// oneLine flattens a text for a list.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// placing bounds the time in which symbols get their ranges when the client
// cannot ask for one later. Those that come too late stand at the begin.
const placing = 300 * time.Millisecond

func (s *server) placeSymbols(ctx context.Context, symbols []symbol) {
	ctx, cancel := context.WithTimeout(ctx, placing)
	defer cancel()
	for i := range symbols {
		at := protocol.Range{}
		if symbols[i].Data != nil && ctx.Err() == nil {
			if found, err := s.place(ctx, &symbols[i]); err == nil {
				at = found
			}
		}
		symbols[i].Location.Range, symbols[i].Data = &at, nil
	}
}

func (s *server) place(ctx context.Context, of *symbol) (protocol.Range, error) {
	host, name, _, err := contract.ParseDocumentURI(of.Location.URI)
	if err != nil {
		return protocol.Range{}, err
	}
	return s.locate(ctx, host, name, of.Data.Seq, of.Data.Mark)
}

// resolveSymbol serves workspaceSymbol/resolve: the symbol with its range.
func (s *server) resolveSymbol(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	var of symbol
	if err := json.Unmarshal(params, &of); err != nil {
		return nil, contract.InvalidParams("params", "want a workspace symbol")
	}
	if _, _, _, err := contract.ParseDocumentURI(of.Location.URI); err != nil {
		return nil, err
	}
	at := protocol.Range{}
	if of.Data != nil {
		var err error
		if at, err = s.place(ctx, &of); err != nil {
			return nil, err
		}
	}
	of.Location.Range = &at
	return json.Marshal(of)
}

// folders are the paths that are open in the client.
type folders struct {
	mu    sync.Mutex
	paths []string
}

// list returns at most as many as a request takes.
func (f *folders) list() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.paths[:min(len(f.paths), contract.MaxScopePaths)])
}

// set takes those of initialize.
func (f *folders) set(params json.RawMessage) {
	var uris []string
	for _, raw := range elements(dig(params, "workspaceFolders")) {
		uris = append(uris, text(dig(raw, "uri")))
	}
	if len(uris) == 0 {
		uris = []string{text(dig(params, "rootUri"))}
	}
	f.change(nil, uris)
	if path := text(dig(params, "rootPath")); path != "" && len(f.list()) == 0 {
		f.mu.Lock()
		f.paths = []string{path}
		f.mu.Unlock()
	}
}

func (f *folders) change(removed, added []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range removed {
		if p := folderPath(u); p != "" {
			f.paths = slices.DeleteFunc(f.paths, func(have string) bool { return have == p })
		}
	}
	for _, u := range added {
		if p := folderPath(u); p != "" && len(p) <= contract.MaxScopePathLength && !slices.Contains(f.paths, p) {
			f.paths = append(f.paths, p)
		}
	}
}

// folderPath is the path of a file URI, in any system's form; "" for what is no
// folder of this machine.
func folderPath(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	path := u.Path
	if len(path) >= 3 && path[0] == '/' && path[2] == ':' { // file:///c:/work
		path = path[1:]
	}
	if u.Host != "" && u.Host != "localhost" {
		path = "//" + u.Host + path
	}
	return path
}

// didChangeWorkspaceFolders takes folders that were opened and closed.
func (s *server) didChangeWorkspaceFolders(_ context.Context, params json.RawMessage) error {
	uris := func(list json.RawMessage) (out []string) {
		for _, raw := range elements(list) {
			out = append(out, text(dig(raw, "uri")))
		}
		return out
	}
	s.folders.change(uris(dig(params, "event", "removed")), uris(dig(params, "event", "added")))
	return nil
}
