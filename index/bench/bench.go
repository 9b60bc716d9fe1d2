// Package bench measures the program: what it finds ([Relevance]) and what it
// costs ([Performance]). Everything happens in a folder of the bench's own,
// which is removed at the end: indexes of the user are neither read nor
// written, and transcripts of a home that is named are only read.
//
// What costs time runs in processes of its own, because the memory and the
// processor time of a process are what the system tells of it.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/query"
	"github.com/sessionls/sessionls/index/transcript"
)

// Tell is told what is being done and how far it is; total is 0 where that is
// not known. It may be called from any goroutine.
type Tell func(what string, done, total int64)

// folder makes a temporary folder; remove removes it with all that is in it.
func folder() (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp("", "sessionls-bench-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the bench: %w", err)
	}
	return dir, func() error {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove the bench's folder: %w", err)
		}
		return nil
	}, nil
}

// library is an index of one home, in this process.
type library struct {
	*index.Service
	home, own string
}

// openLibrary opens the index below own of the transcripts below home, and
// gives the consent. The environment's folders of agents are not looked at.
func openLibrary(ctx context.Context, home, own string) (*library, error) {
	return openRanked(ctx, home, own, nil)
}

// openRanked is openLibrary with another ranking than the usual one.
func openRanked(ctx context.Context, home, own string, ranking *query.Ranking) (*library, error) {
	s, err := index.Open(ctx, index.Options{
		Paths:   index.PathsUnder(own),
		Env:     transcript.Env{Home: home, Getenv: func(string) string { return "" }},
		Ranking: ranking,
	})
	if err != nil {
		return nil, err
	}
	yes := true
	if _, err := s.SetPolicy(ctx, contract.SetPolicyRequest{Enabled: contract.Optional[bool]{Set: true, Value: &yes}}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &library{s, home, own}, nil
}

// build opens the index and brings it up to date.
func build(ctx context.Context, home, own, what string, tell Tell) (*library, error) {
	l, err := openLibrary(ctx, home, own)
	if err != nil {
		return nil, err
	}
	err = l.Reconcile(ctx, false, func(p contract.Progress) { tell(what, p.BytesDone, p.BytesTotal) })
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// search asks for one page.
func (l *library) search(ctx context.Context, request contract.SearchSessionsRequest) (*contract.SearchResults, error) {
	response, err := l.SearchSessions(ctx, request)
	if err != nil {
		return nil, err
	}
	if response.Results == nil {
		return nil, fmt.Errorf("a search was answered with %q", response.Kind)
	}
	return response.Results, nil
}

// found lists the sessions of the first page for a query.
func (l *library) found(ctx context.Context, query string) ([]string, error) {
	results, err := l.search(ctx, contract.NewSearchSessionsRequest(query))
	if err != nil {
		return nil, fmt.Errorf("search for %q: %w", query, err)
	}
	out := make([]string, len(results.Hits))
	for i, hit := range results.Hits {
		out[i] = hit.SessionID
	}
	return out, nil
}

// absolute is a folder that the user named.
func absolute(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the folder %s: %w", dir, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("look at the corpus: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("look at the corpus: %s is no folder", path)
	}
	return path, nil
}
