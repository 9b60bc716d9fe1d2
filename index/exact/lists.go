package exact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/query"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// ListSessions answers listSessions.
func (e *Engine) ListSessions(ctx context.Context, request contract.ListSessionsRequest) (contract.ListSessionsResponse, error) {
	var out contract.ListSessionsResponse
	err := e.View(ctx, func(snap *store.Snapshot) error {
		out = contract.ListSessionsResponse{}
		now := e.Now()
		walk := contract.ReadCursor{
			RequestHash: request.Hash(), Clock: contract.InstantOf(now),
			Fence: contract.Fence{Generation: snap.Generation, Identity: snap.Identity},
		}
		if request.Cursor != nil {
			var err error
			if walk, err = contract.CheckReadCursor(*request.Cursor, walk.Fence, walk.RequestHash); err != nil {
				return err
			}
		}
		ids, err := query.Sessions(ctx, snap, request.Filters, walk.Clock.Time().In(now.Location()))
		if err != nil {
			return err
		}
		order := store.ByCreated
		if request.Sort == contract.SessionSortUpdated {
			order = store.ByUpdated
		}
		// One more tells whether there is another page.
		limit := readLimit(request.Limit, contract.MaxReadLimit)
		list, err := snap.Page(ctx, order, ids, walk.Last, limit+1)
		if errors.Is(err, store.ErrNoOrigin) {
			return contract.StaleCursorError()
		}
		if err != nil {
			return err
		}
		page := newPage()
		for i, x := range list {
			header := Header(x, now)
			if i == limit || !page.fits(header) {
				walk.Last = list[i-1].ID
				cursor := contract.EncodeReadCursor(walk)
				out.Page = contract.Page{Cursor: &cursor, HasMore: true}
				break
			}
			out.Sessions = append(out.Sessions, header)
		}
		return nil
	})
	return out, err
}

// readLimit is the limit of a request that no parser has filled in.
func readLimit(limit, most int) int {
	if limit <= 0 {
		return contract.DefaultReadLimit
	}
	return min(limit, most)
}

// page counts the bytes of an answer's JSON.
type page struct{ size int }

func newPage() *page { return &page{} }

// fits adds an element and reports whether there is room for it. There is for
// the first one.
func (p *page) fits(element any) bool {
	b, err := json.Marshal(element)
	if err != nil {
		return true // the answer's own encoding tells
	}
	first := p.size == 0
	p.size += len(b) + 1
	return first || p.size <= contract.MaxPageBytes
}

// ReadTitles answers readTitles.
func (e *Engine) ReadTitles(ctx context.Context, request contract.ReadTitlesRequest) (contract.ReadTitlesResponse, error) {
	var out contract.ReadTitlesResponse
	err := e.View(ctx, func(snap *store.Snapshot) error {
		out = contract.ReadTitlesResponse{}
		seen := map[contract.SessionName]bool{}
		now := e.Now()
		for _, name := range request.Sessions {
			if seen[name] {
				continue
			}
			seen[name] = true
			x, err := Resolve(ctx, snap, name)
			var known *contract.Error
			switch {
			case errors.As(err, &known):
				out.Titles = append(out.Titles, contract.TitleResult{SessionName: name, Status: contract.TitleRejected, Code: code(err)})
				continue
			case err != nil:
				return fmt.Errorf("read titles: %w", err)
			}
			header := Header(x, now)
			result := contract.TitleResult{SessionName: name, Status: contract.TitleFulfilled, Session: &header}
			if x.TitleSource != transcript.TitleFallback && x.TitleSource != "" {
				result.Title = &contract.Title{Text: x.Title, Source: string(x.TitleSource)}
				if x.TitleAt > 0 {
					seq := int64(x.TitleAt) - 1
					result.Title.Seq = &seq
				}
			}
			out.Titles = append(out.Titles, result)
		}
		return nil
	})
	return out, err
}
