package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// policyFile is the user's consent and retention on disk, shared by all
// processes. It is looked at on every request and read when it changed.
type policyFile struct {
	paths Paths

	mu     sync.Mutex
	stamp  stamp
	policy contract.Policy
}

// stamp tells one version of a small file from another.
type stamp struct {
	size  int64
	mtime time.Time
	info  fs.FileInfo
}

func (s stamp) same(info fs.FileInfo) bool {
	return s.info != nil && s.size == info.Size() && s.mtime.Equal(info.ModTime()) && os.SameFile(s.info, info)
}

// maxPolicy bounds the file; it holds two values.
const maxPolicy = 64 << 10

// load is the policy as it is now. One that cannot be read counts as
// undecided, so that nothing is read without consent; the error says why.
func (p *policyFile) load() (contract.Policy, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	info, err := os.Stat(p.paths.Policy())
	if errors.Is(err, fs.ErrNotExist) {
		p.stamp = stamp{}
		return contract.Policy{}, nil
	}
	if err != nil {
		return contract.Policy{}, fmt.Errorf("read the policy: %w", err)
	}
	if p.stamp.same(info) {
		return p.policy, nil
	}
	policy, err := readPolicy(p.paths.Policy())
	if err != nil {
		// Not kept: it may become readable without being changed.
		p.stamp = stamp{}
		return contract.Policy{}, err
	}
	p.policy, p.stamp = policy, stamp{info.Size(), info.ModTime(), info}
	return policy, nil
}

func readPolicy(path string) (contract.Policy, error) {
	f, err := os.Open(path)
	if err != nil {
		return contract.Policy{}, fmt.Errorf("read the policy: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxPolicy))
	if err != nil {
		return contract.Policy{}, fmt.Errorf("read the policy: %w", err)
	}
	var policy contract.Policy
	if err := json.Unmarshal(raw, &policy); err != nil {
		return contract.Policy{}, fmt.Errorf("read the policy %s: %w", path, err)
	}
	if d := policy.HistoryDays; d != nil && (*d < contract.MinHistoryDays || *d > contract.MaxHistoryDays) {
		return contract.Policy{}, fmt.Errorf("read the policy %s: historyDays is %d; allowed are %d to %d and null", path, *d, contract.MinHistoryDays, contract.MaxHistoryDays)
	}
	return policy, nil
}

// change applies a request and returns the policy before and after. Two
// processes that change it at once do so one after the other.
func (p *policyFile) change(ctx context.Context, request contract.SetPolicyRequest) (before, after contract.Policy, err error) {
	if err := p.paths.makeData(); err != nil {
		return before, after, err
	}
	lock, err := acquire(ctx, p.paths.Policy()+".lock")
	if err != nil {
		return before, after, err
	}
	defer lock.release()
	// An unreadable policy is replaced: it counts as undecided.
	before, _ = p.load()
	after = request.Apply(before)
	raw, err := json.Marshal(after)
	if err != nil {
		return before, after, fmt.Errorf("store the policy: %w", err)
	}
	if err := replaceFile(p.paths.Policy(), append(raw, '\n')); err != nil {
		return before, after, fmt.Errorf("store the policy: %w", err)
	}
	return before, after, nil
}

// replaceFile writes a file so that at any instant either the old or the new
// content is there whole.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
