package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/reconcile"
	"github.com/sessionls/sessionls/index/requests"
	"github.com/sessionls/sessionls/index/store"
)

// tombstones are the sessions the user had forgotten, in a file beside the
// index that survives it and is shared by all processes. It is looked at before
// each transaction and read when it changed.
type tombstones struct {
	paths Paths

	mu    sync.Mutex
	stamp stamp
	set   *reconcile.Forgotten
}

// tombstoneFile is the file's content.
type tombstoneFile struct {
	Version  int                    `json:"version"`
	Sessions []contract.SessionName `json:"sessions"`
}

const tombstoneVersion = 1

// maxTombstones bounds the file, in bytes: a hundred thousand sessions.
const maxTombstones = 16 << 20

// load is the set as it is now, to be kept and compared. An error means that
// nothing may be read: the file says what must not be.
func (x *tombstones) load() (*reconcile.Forgotten, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	info, err := os.Stat(x.paths.Forgotten())
	if errors.Is(err, fs.ErrNotExist) {
		if x.set != nil || x.stamp.info != nil {
			x.set, x.stamp = nil, stamp{}
		}
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was forgotten: %w", err)
	}
	if x.stamp.same(info) {
		return x.set, nil
	}
	file, err := readTombstones(x.paths.Forgotten())
	if err != nil {
		x.set, x.stamp = nil, stamp{}
		return nil, err
	}
	set := &reconcile.Forgotten{}
	for _, name := range file.Sessions {
		set.Add(name.Agent, name.SessionID)
	}
	x.set, x.stamp = set, stamp{info.Size(), info.ModTime(), info}
	return set, nil
}

func readTombstones(path string) (tombstoneFile, error) {
	var file tombstoneFile
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil
	}
	if err != nil {
		return file, fmt.Errorf("read what was forgotten: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxTombstones))
	if err == nil {
		err = json.Unmarshal(raw, &file)
	}
	if err == nil && file.Version != tombstoneVersion {
		err = fmt.Errorf("its version is %d, not %d", file.Version, tombstoneVersion)
	}
	if err != nil {
		return tombstoneFile{}, fmt.Errorf("read what was forgotten, %s: %w", path, err)
	}
	return file, nil
}

// add puts a session into the file. Two processes do so one after the other.
func (x *tombstones) add(ctx context.Context, name contract.SessionName) error {
	if err := x.paths.makeData(); err != nil {
		return err
	}
	lock, err := acquire(ctx, x.paths.Forgotten()+".lock")
	if err != nil {
		return err
	}
	defer lock.release()
	file, err := readTombstones(x.paths.Forgotten())
	if err != nil {
		return err
	}
	for _, known := range file.Sessions {
		if known == name {
			return nil
		}
	}
	file.Version, file.Sessions = tombstoneVersion, append(file.Sessions, name)
	raw, err := json.Marshal(file)
	if err != nil {
		return fmt.Errorf("record what is forgotten: %w", err)
	}
	if len(raw) >= maxTombstones {
		return fmt.Errorf("record what is forgotten: %s is full; 'sessionls clear' begins anew", x.paths.Forgotten())
	}
	if err := replaceFile(x.paths.Forgotten(), append(raw, '\n')); err != nil {
		return fmt.Errorf("record what is forgotten: %w", err)
	}
	return nil
}

// remove lets everything be read again.
func (x *tombstones) remove(ctx context.Context) error {
	if _, err := os.Lstat(x.paths.Forgotten()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := acquire(ctx, x.paths.Forgotten()+".lock")
	if err != nil {
		return err
	}
	defer lock.release()
	if err := os.Remove(x.paths.Forgotten()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete what was forgotten: %w", err)
	}
	return nil
}

// ForgetSession implements contract.Commands. The tombstone is written first:
// whatever fails afterwards, the session is dropped by the next pass.
func (s *Service) ForgetSession(ctx context.Context, request contract.ForgetSessionRequest) (contract.ForgetSessionResponse, error) {
	var none contract.ForgetSessionResponse
	if s.exposure(ctx) == contract.TransportRemote {
		return none, contract.Failed(contract.CodeSearchDisabled, nil, "the index is the user's of this machine: nothing is forgotten from another one")
	}
	header, err := s.Resolve(ctx, request.SessionName)
	if err != nil {
		return none, err
	}
	name := contract.SessionName{Agent: header.Agent, SessionID: header.SessionID}
	if err := s.tombstones.add(ctx, name); err != nil {
		return none, s.failure(ctx, err)
	}
	response, served, err := askFor[contract.SessionName, contract.ForgetSessionResponse](ctx, s, requests.Forget, name)
	if !served && err == nil {
		response, err = s.forget(ctx, name, always)
	}
	if s.allowed() {
		s.request(false) // forks of it are due, and a pass may have been interrupted
	}
	s.wake.all()
	if err != nil {
		return none, s.failure(ctx, err)
	}
	return response, nil
}

// forget drops a session from the index. Passes of this process are
// interrupted; those of others end by themselves when they see the tombstone.
// wanted is as for clear.
func (s *Service) forget(ctx context.Context, name contract.SessionName, wanted func(context.Context) error) (out contract.ForgetSessionResponse, err error) {
	if err := s.seize(ctx); err != nil {
		return out, err
	}
	leave, err := s.lock(ctx)
	if err != nil {
		return out, err
	}
	defer leave()
	if err := wanted(ctx); err != nil {
		return out, err
	}
	w, err := s.openWriter(ctx)
	if err != nil {
		return out, err
	}
	defer func() {
		if closing := w.Close(); closing != nil && err == nil {
			err = closing
		}
	}()
	var dropped []string
	err = w.Update(ctx, func(t *store.Tx) error {
		var err error
		dropped, err = t.Forget(name.Agent, name.SessionID)
		return err
	})
	if err != nil {
		return out, fmt.Errorf("forget a session: %w", err)
	}
	if len(dropped) == 0 {
		// Another process was faster, or the index was rebuilt meanwhile.
		dropped = []string{name.SessionID}
	}
	for _, id := range dropped {
		out.Forgotten = append(out.Forgotten, contract.SessionName{Agent: name.Agent, SessionID: id})
	}
	if out.Generation, err = w.Generation(ctx); err != nil {
		return out, err
	}
	// What was set aside may hold it, too. One that is still to be carried over
	// goes when it was; the tombstone holds for it.
	return out, errors.Join(store.RemoveDamaged(s.paths.Index()), w.Scrub(ctx))
}
