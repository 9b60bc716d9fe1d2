package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sessionls/sessionls/contract"
)

// A session's virtual document is its whole transcript: the stretches of
// renderTranscript with its defaults, one after the other. What is too long for
// an editor ends at documentBytes and says so.
const documentBytes = 16 << 20

const documentCut = "\n---\n\n*The transcript goes on; it is too long to be shown in one document.*\n"

// render calls take with the stretches of a session's document until it returns
// false. before is the number of lines above the stretch.
func (s *server) render(ctx context.Context, host contract.Host, name contract.SessionName, take func(page contract.RenderTranscriptResponse, before int) bool) error {
	turns := s.heavy
	if !host.IsLocal() {
		turns = s.elsewhere
	}
	done, err := turns.Acquire(ctx)
	if err != nil {
		return err
	}
	defer done()
	request := contract.RenderTranscriptRequest{SessionName: name, ExecutionHost: host, Limit: contract.MaxRenderLimit, Tools: contract.ToolsFold}
	lines, bytes := 0, 0
	for {
		page, err := s.service.RenderTranscript(ctx, request)
		if err != nil {
			return err
		}
		if !take(page, lines) || page.NextSeq == nil {
			return nil
		}
		if *page.NextSeq <= request.FromSeq {
			return fmt.Errorf("rendering %s: the next stretch begins at event %d after one from %d on", name, *page.NextSeq, request.FromSeq)
		}
		lines += strings.Count(page.Markdown, "\n")
		// Short stretches count for more than they are: another host may send them
		// without end.
		if bytes += max(len(page.Markdown), documentBytes/4096); bytes > documentBytes {
			return nil
		}
		request.FromSeq = *page.NextSeq
	}
}

// textDocumentContent serves workspace/textDocumentContent (LSP 3.18).
func (s *server) textDocumentContent(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	document := text(dig(params, "uri"))
	host, name, _, err := contract.ParseDocumentURI(document)
	if err != nil {
		return nil, err
	}
	var doc strings.Builder
	var last contract.RenderTranscriptResponse
	err = s.render(ctx, host, name, func(page contract.RenderTranscriptResponse, _ int) bool {
		doc.WriteString(page.Markdown)
		last = page
		return true
	})
	if err != nil {
		return nil, err
	}
	if last.NextSeq != nil {
		doc.WriteString(documentCut)
	}
	s.documents.shown(document, last.Session)
	return marshal(&protocol.TextDocumentContentResult{Text: doc.String()})
}

// locate finds where a session's document shows an event: the words of mark on
// its lines, else the begin of its first line. An event that is not shown is
// looked for at the next one that is, else at the last.
func (s *server) locate(ctx context.Context, host contract.Host, name contract.SessionName, seq int64, mark string) (protocol.Range, error) {
	var at protocol.Range
	err := s.render(ctx, host, name, func(page contract.RenderTranscriptResponse, before int) bool {
		for _, r := range page.Lines {
			if r.Seq < seq {
				line := uint32(before + r.Line)
				at = protocol.Range{Start: protocol.Position{Line: line}, End: protocol.Position{Line: line}}
				continue
			}
			lines := strings.Split(page.Markdown, "\n")
			at = s.rangeOf(lines[min(r.Line, len(lines)):min(r.EndLine+1, len(lines))], mark)
			at.Start.Line += uint32(before + r.Line)
			at.End.Line += uint32(before + r.Line)
			return false
		}
		return true
	})
	return at, err
}

// rangeOf is the first place of mark on the lines, or their begin.
func (s *server) rangeOf(lines []string, mark string) protocol.Range {
	if mark == "" {
		return protocol.Range{}
	}
	for i, line := range lines {
		at := strings.Index(line, mark)
		if at < 0 {
			continue
		}
		return protocol.Range{
			Start: protocol.Position{Line: uint32(i), Character: s.units(line[:at])},
			End:   protocol.Position{Line: uint32(i), Character: s.units(line[:at+len(mark)])},
		}
	}
	return protocol.Range{}
}

// units is the length of a text in the units of positions that were agreed on.
func (s *server) units(text string) uint32 {
	if s.client.positionEncoding == protocol.PositionEncodingKindUTF8 {
		return uint32(len(text))
	}
	n := uint32(0)
	for _, r := range text {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

// documents remembers what virtual documents the client was given, so that it
// can be told when one has grown.
type documents struct {
	mu    sync.Mutex
	given []given // oldest first
}

type given struct {
	uri   string
	name  contract.SessionName
	state documentState
}

// documentState changes when a session's document does.
type documentState struct {
	epoch    int64
	updated  contract.Instant
	messages int
	presence contract.Presence
}

// maxDocuments is how many documents are followed: those asked for last.
const maxDocuments = 32

// refreshInterval is the shortest time between two looks at the documents.
const refreshInterval = time.Second

func stateOf(h contract.Header) documentState {
	d := documentState{epoch: h.Epoch, messages: h.MessageCount, presence: h.Presence}
	if h.UpdatedAt != nil {
		d.updated = *h.UpdatedAt
	}
	return d
}

// shown remembers that the client has a document of this machine.
func (d *documents) shown(uri string, of contract.Header) {
	if !of.ExecutionHostID.IsLocal() {
		return // its status is not known here
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.given {
		if d.given[i].uri == uri {
			d.given = append(d.given[:i], d.given[i+1:]...)
			break
		}
	}
	if len(d.given) == maxDocuments {
		d.given = append(d.given[:0], d.given[1:]...)
	}
	d.given = append(d.given, given{uri, contract.SessionName{Agent: of.Agent, SessionID: of.SessionID}, stateOf(of)})
}

// changed lists the documents whose sessions are no longer as they were given.
func (d *documents) changed(headers map[contract.SessionName]contract.Header) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var uris []string
	for i := range d.given {
		h, ok := headers[d.given[i].name]
		if state := stateOf(h); ok && state != d.given[i].state {
			d.given[i].state = state
			uris = append(uris, d.given[i].uri)
		}
	}
	return uris
}

func (d *documents) names() []contract.SessionName {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := make([]contract.SessionName, len(d.given))
	for i, g := range d.given {
		names[i] = g.name
	}
	return names
}

// followDocuments has the client ask again for documents that have grown.
func (s *server) followDocuments(ctx context.Context, wake <-chan struct{}) {
	for {
		// The first look is for what came before the wake-ups did.
		for _, document := range s.grownDocuments(ctx) {
			params := &protocol.TextDocumentContentRefreshParams{URI: uri.URI(document)}
			if _, err := s.call(ctx, protocol.MethodWorkspaceTextDocumentContentRefresh, params); err != nil {
				s.log.Debug().Err(err).Msg("a document was not refreshed")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(refreshInterval):
		}
		select {
		case <-ctx.Done():
			return
		case _, open := <-wake:
			if !open {
				return
			}
		}
	}
}

func (s *server) grownDocuments(ctx context.Context) []string {
	names := s.documents.names()
	if len(names) == 0 {
		return nil
	}
	answer, err := s.service.ReadTitles(ctx, contract.ReadTitlesRequest{Sessions: names})
	if err != nil {
		return nil // disabled, or the index is being built anew
	}
	headers := make(map[contract.SessionName]contract.Header, len(names))
	for _, t := range answer.Titles {
		if t.Session != nil {
			headers[contract.SessionName{Agent: t.Session.Agent, SessionID: t.Session.SessionID}] = *t.Session
		}
	}
	return s.documents.changed(headers)
}
