package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/sessionls/sessionls/commands"
	"github.com/sessionls/sessionls/contract"
)

// partialInterval is the least time between two notifications of hits: the
// first goes out at once, the others are gathered.
const partialInterval = 50 * time.Millisecond

// partialHits sends the hits of one request as they are found. The search only
// puts them down here, which is bounded by the request's limit; a goroutine of
// its own writes them, which may take as long as the client does not read.
type partialHits struct {
	ctx    context.Context
	notify func(ctx context.Context, method string, params json.RawMessage) error
	token  json.RawMessage

	mu      sync.Mutex
	pending []contract.EventHit
	err     error
	begun   bool

	wake   chan struct{} // room for one
	closed chan struct{}
	done   chan struct{} // closed when the goroutine has returned
}

// openPartial implements commands.Progress.
func (s *server) openPartial(ctx context.Context, token json.RawMessage) commands.PartialResults {
	return &partialHits{
		ctx: ctx, notify: s.conn.Notify, token: token,
		wake: make(chan struct{}, 1), closed: make(chan struct{}), done: make(chan struct{}),
	}
}

var errAnswered = errors.New("the request has been answered")

// Send implements commands.PartialResults.
func (p *partialHits) Send(hits []contract.EventHit) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.closed:
		return errAnswered
	default:
	}
	if p.err != nil || len(hits) == 0 {
		return p.err
	}
	p.pending = append(p.pending, hits...)
	if !p.begun {
		p.begun = true
		go p.run()
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return nil
}

// Close implements commands.PartialResults.
func (p *partialHits) Close() error {
	p.mu.Lock()
	close(p.closed) // under the lock: nothing may come after
	begun := p.begun
	p.mu.Unlock()
	if !begun {
		return nil
	}
	select {
	case <-p.done:
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *partialHits) run() {
	defer close(p.done)
	for {
		last := false
		select {
		case <-p.ctx.Done():
			return
		case <-p.wake:
		case <-p.closed:
			last = true
		}
		if err := p.flush(); err != nil {
			p.mu.Lock()
			p.err, p.pending = err, nil
			p.mu.Unlock()
			return
		}
		if last {
			return
		}
		timer := time.NewTimer(partialInterval)
		select {
		case <-timer.C:
		case <-p.closed:
		case <-p.ctx.Done():
		}
		timer.Stop()
	}
}

// flush sends what is pending.
func (p *partialHits) flush() error {
	p.mu.Lock()
	hits := p.pending
	p.pending = nil
	p.mu.Unlock()
	if len(hits) == 0 {
		return nil
	}
	params, err := commands.Encode(struct {
		Token json.RawMessage      `json:"token"`
		Value contract.PartialHits `json:"value"`
	}{p.token, contract.PartialHits{Kind: contract.KindHits, Hits: hits}})
	if err != nil {
		return fmt.Errorf("encoding hits: %w", err)
	}
	if err := p.notify(p.ctx, protocol.MethodProgress, params); err != nil {
		return errors.Join(errors.New("the client does not take the hits"), err)
	}
	return nil
}
