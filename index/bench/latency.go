package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// Latency is how long searches of one kind took over LSP, from the client's
// first byte to its last.
type Latency struct {
	Kind string `json:"kind"`
	// Cold is each query's first time, in a server that has just begun, with the
	// files in the system's cache as they are; Warm is the second time.
	Cold Quantiles `json:"cold"`
	Warm Quantiles `json:"warm"`
	// CPUMs is the server's processor time for a warm search, on average; nil
	// where the system does not tell it. It hardly depends on what else the
	// machine does.
	CPUMs *float64 `json:"cpuMs,omitempty"`
	// Indexing is while the server builds its index; nothing where too few were
	// asked meanwhile.
	Indexing *Quantiles `json:"indexing,omitempty"`
}

// Quantiles of durations, in milliseconds.
type Quantiles struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50Ms"`
	P95 float64 `json:"p95Ms"`
	Max float64 `json:"maxMs"`
}

// quantiles by nearest rank.
func quantiles(took []time.Duration) Quantiles {
	if len(took) == 0 {
		return Quantiles{}
	}
	sorted := slices.Sorted(slices.Values(took))
	at := func(percent int) float64 { return milliseconds(sorted[(len(sorted)*percent+99)/100-1]) }
	return Quantiles{len(sorted), at(50), at(95), at(100)}
}

// QueryReport is how long searches take.
type QueryReport struct {
	// Initialize is how long a server takes to begin, FirstSearch how long the
	// first search in it.
	InitializeMs  float64   `json:"initializeMs"`
	FirstSearchMs float64   `json:"firstSearchMs"`
	Kinds         []Latency `json:"kinds"`
	// All are all kinds together.
	All Latency `json:"all"`
	// Server is what the idle server took for all of it.
	Server Cost `json:"server"`
	// Building is of the server that was asked while it built the index.
	Building Building `json:"building"`
}

// Building is what a server did while it built its index.
type Building struct {
	// FirstHitMs is when a search first found something, from the start of the
	// process on.
	FirstHitMs float64 `json:"firstHitMs"`
	// ReadyMs is when the index was current.
	ReadyMs float64 `json:"readyMs"`
	// Searches is how many were answered until then.
	Searches int  `json:"searches"`
	Server   Cost `json:"server"`
}

// ask makes a search and, if another page than the first is wanted, goes there,
// or to the last there is; the time is that of this page alone.
func ask(c *client, request contract.SearchSessionsRequest, page int) (*contract.SearchResults, time.Duration, error) {
	for {
		results, took, err := c.search(request)
		if err != nil || results == nil || page <= 1 || results.Page.Cursor == nil {
			return results, took, err
		}
		request.Cursor = results.Page.Cursor
		page--
	}
}

// idle asks a server that has nothing else to do, each query twice.
func (p *program) idle(ctx context.Context, kinds []queryKind, tell Tell) (_ *QueryReport, err error) {
	c, err := p.serve(ctx)
	if err != nil {
		return nil, err
	}
	out := &QueryReport{InitializeMs: milliseconds(time.Since(c.began))}
	defer func() {
		var closing error
		out.Server, closing = c.close()
		err = errors.Join(err, closing)
	}()
	if err := c.settle(ctx); err != nil {
		return nil, err
	}
	var all [2][]time.Duration
	var spent time.Duration // of the server's processor, for warm searches
	asked := 0
	for i, k := range kinds {
		tell("searching", int64(i), int64(len(kinds)))
		var took [2][]time.Duration
		var before time.Duration
		for round := range took {
			before, _ = timeOf(c.cmd.Process.Pid)
			for _, request := range k.requests {
				results, t, err := ask(c, request, k.page)
				if err != nil {
					return nil, fmt.Errorf("search for %q: %w", request.Query, err)
				}
				if results == nil {
					return nil, fmt.Errorf("search for %q: the index is not ready", request.Query)
				}
				if out.FirstSearchMs == 0 {
					out.FirstSearchMs = milliseconds(t)
				}
				took[round] = append(took[round], t)
			}
			all[round] = append(all[round], took[round]...)
		}
		kind := Latency{Kind: k.name, Cold: quantiles(took[0]), Warm: quantiles(took[1])}
		// A wanted tenth page is reached through nine others, which count.
		if after, ok := timeOf(c.cmd.Process.Pid); ok {
			searches := len(k.requests) * k.page
			asked, spent = asked+searches, spent+after-before
			kind.CPUMs = each(after-before, searches)
		}
		out.Kinds = append(out.Kinds, kind)
	}
	out.All = Latency{Kind: "all", Cold: quantiles(all[0]), Warm: quantiles(all[1])}
	if asked > 0 {
		out.All.CPUMs = each(spent, asked)
	}
	return out, nil
}

// each is the share of one in n, in milliseconds.
func each(all time.Duration, n int) *float64 {
	ms := milliseconds(all / time.Duration(n))
	return &ms
}

// glance is how often a server is asked for its status while it is waited for.
const glance = 100 * time.Millisecond

// settle waits until the server has looked at everything once.
func (c *client) settle(ctx context.Context) error {
	for {
		status, err := c.status()
		if err != nil {
			return err
		}
		if status.Phase == contract.PhaseCurrent || status.Phase == contract.PhaseDegraded {
			return nil
		}
		if err := sleep(ctx, glance); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// typing is the time between two searches while the index is built: about what a
// person needs for the next letter.
const typing = 50 * time.Millisecond

// whileBuilding asks a server that builds its index from nothing, kinds in turn.
func (p *program) whileBuilding(ctx context.Context, kinds []queryKind, out *QueryReport, tell Tell) (err error) {
	c, err := p.serve(ctx)
	if err != nil {
		return err
	}
	b := &out.Building
	defer func() {
		var closing error
		b.Server, closing = c.close()
		err = errors.Join(err, closing)
	}()
	// Cursors go stale with every commit: only first pages can be asked for.
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k queryKind) bool { return k.page > 1 })
	var policy contract.Policy
	if _, err := c.command("setPolicy", map[string]any{"enabled": true}, &policy); err != nil {
		return err
	}
	took := make([][]time.Duration, len(kinds))
	var all []time.Duration
	for i := 0; ; i++ {
		k := i % len(kinds)
		request := kinds[k].requests[i/len(kinds)%len(kinds[k].requests)]
		results, t, err := c.search(request)
		if err != nil {
			return fmt.Errorf("search for %q: %w", request.Query, err)
		}
		status, err := c.status()
		if err != nil {
			return err
		}
		if at := status.Progress; at != nil {
			tell("searching while the index is built", at.BytesDone, at.BytesTotal)
		}
		if results != nil && len(results.Hits) > 0 && b.FirstHitMs == 0 {
			b.FirstHitMs = milliseconds(time.Since(c.began))
		}
		if status.LastReconcileAt != nil {
			b.ReadyMs = milliseconds(time.Since(c.began))
			break
		}
		if results != nil {
			took[k] = append(took[k], t)
			all = append(all, t)
		}
		if err := sleep(ctx, typing); err != nil {
			return err
		}
	}
	b.Searches = len(all)
	for k := range kinds {
		i := slices.IndexFunc(out.Kinds, func(l Latency) bool { return l.Kind == kinds[k].name })
		if len(took[k]) > 0 {
			q := quantiles(took[k])
			out.Kinds[i].Indexing = &q
		}
	}
	if len(all) > 0 {
		q := quantiles(all)
		out.All.Indexing = &q
	}
	return nil
}
