package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// tooOld reports whether retention excludes a transcript of that time.
func (p *pass) tooOld(t time.Time) bool { return !p.cutoff.IsZero() && t.Before(p.cutoff) }

// purging is what a pass drops because retention, the configuration or the user
// do not allow it any more.
type purging struct {
	drop     []*known
	dropping map[int64]bool
	shut     []*found    // excluded by a folder the session worked in
	sessions [][2]string // to be dropped by agent and id
}

func (x *purging) add(k *known) {
	if k != nil && !x.dropping[k.id] {
		x.dropping[k.id] = true
		x.drop = append(x.drop, k)
	}
}

// purge drops what is not allowed any more, and keeps such sources from being
// read.
func (p *pass) purge(ctx context.Context) (any bool, err error) {
	x := &purging{dropping: map[int64]bool{}}
	leap, err := p.leapt(ctx)
	if err != nil {
		return false, err
	}
	p.sources = slices.DeleteFunc(p.sources, func(f *found) bool {
		excluded := p.cfg.Exclude.Match(f.Path)
		out := excluded || p.tooOld(f.ModTime) || p.cfg.Forgotten.Has(f.Agent, f.SessionID)
		if excluded {
			p.shutOut(f.Agent, f.SessionID)
		}
		if out {
			x.add(f.known)
		}
		return out
	})
	for _, k := range p.known {
		excluded := p.cfg.Exclude.Match(k.path)
		if excluded || p.isShut(k) {
			p.shutOut(k.agent, k.hint)
		}
		if !k.there && (excluded || p.tooOld(k.mtime) && !leap) {
			x.add(k)
		}
	}
	if err := p.purgeFolders(ctx, x); err != nil {
		return false, err
	}
	if err := p.purgeBelow(ctx, x); err != nil {
		return false, err
	}
	if x.sessions, err = p.lapsed(ctx); err != nil {
		return false, err
	}
	if len(x.drop)+len(x.sessions) == 0 {
		return false, nil
	}
	p.result.Purged = len(x.drop) + len(x.sessions)
	return true, p.update(ctx, func(t *store.Tx) error {
		for _, k := range x.drop {
			if err := errors.Join(t.ForksDue(k.id), t.DropSource(k.id)); err != nil {
				return err
			}
		}
		for _, s := range x.sessions {
			if _, err := t.Forget(s[0], s[1]); err != nil {
				return err
			}
		}
		for _, f := range x.shut {
			if err := putExcluded(t, f, p.cfg.Exclude); err != nil {
				return err
			}
		}
		return nil
	})
}

// purgeFolders finds sessions that are excluded by a folder they worked in. What
// a targeted pass reads is looked at while it is read.
func (p *pass) purgeFolders(ctx context.Context, x *purging) error {
	if p.cfg.Exclude == nil || p.targeted() {
		return nil
	}
	byID, there := map[int64]*known{}, map[int64]*found{}
	for _, k := range p.known {
		byID[k.id] = k
	}
	for _, f := range p.sources {
		if f.known != nil {
			there[f.known.id] = f
		}
	}
	return p.w.Folders(ctx, func(source int64, sid, folder string) {
		k := byID[source]
		if k == nil || !p.cfg.Exclude.Match(folder) {
			return
		}
		p.shutOut(k.agent, sid)
		p.shutOut(k.agent, k.hint)
		if x.dropping[source] {
			return
		}
		x.add(k)
		if f := there[source]; f != nil {
			if f.SessionID == "" {
				f.SessionID = strings.Clone(sid)
			}
			x.shut = append(x.shut, f)
		}
	})
}

// purgeBelow keeps out the sub-agents of what is excluded.
func (p *pass) purgeBelow(ctx context.Context, x *purging) error {
	if p.cfg.Exclude == nil {
		return nil
	}
	if p.targeted() {
		// Their parents may not be among what the pass looks at.
		for _, f := range p.sources {
			parent, _, ok := strings.Cut(f.SessionID, "#")
			if !ok {
				continue
			}
			err := p.w.KnownSession(ctx, f.Agent, parent, func(k store.Known) error {
				if k.Error == p.cfg.Exclude.note() || p.cfg.Exclude.Match(k.Source.Path) {
					p.shutOut(f.Agent, parent)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	p.sources = slices.DeleteFunc(p.sources, func(f *found) bool {
		out := p.isShutOut(f.Agent, f.SessionID)
		if out {
			x.add(f.known)
		}
		return out
	})
	for _, k := range p.known {
		if !k.there && p.isShutOut(k.agent, k.hint) {
			x.add(k)
		}
	}
	return nil
}

// isShut reports whether a source was left out, by the configuration as it is,
// because of a folder its session worked in.
func (p *pass) isShut(k *known) bool {
	return p.cfg.Exclude != nil && k.state == store.StateEmpty && k.note == p.cfg.Exclude.note()
}

// shutOut keeps a session's sub-agents out, since the session is excluded.
func (p *pass) shutOut(agent, sessionID string) {
	if sessionID == "" {
		return
	}
	if p.shut == nil {
		p.shut = &Forgotten{}
	}
	p.shut.Add(agent, sessionID)
}

// isShutOut reports whether a session is a sub-agent of one that is excluded.
func (p *pass) isShutOut(agent, sessionID string) bool {
	i := strings.LastIndexByte(sessionID, '#')
	return i > 0 && p.shut.Has(agent, sessionID[:i])
}

func putExcluded(t *store.Tx, f *found, e *Excluder) error {
	_, err := t.PutSource(store.SourceState{
		Source: f.Source, State: store.StateEmpty, Error: e.note(),
		Checkpoint: &transcript.Checkpoint{Version: f.reader.Version()},
	})
	return err
}

// A clock that is suddenly far ahead would have retention drop everything. What
// is on disk comes back with the right time; kept copies would be lost. So after
// a leap they stay until the clock has been where it is for a while.

const (
	// leapFrom is from how long without a pass on the clock may have been set.
	leapFrom = 36 * time.Hour
	// clockEvery bounds how often the time is written down.
	clockEvery = 12 * time.Hour
	clockNote  = "clock"
)

// clock is what the index remembers of the time, in epoch milliseconds.
type clock struct {
	Seen int64 `json:"seen"`
	// Leapt is when it was first seen to have leapt; 0 if it has not.
	Leapt int64 `json:"leapt,omitempty"`
}

// leapt reports whether the clock may have been set far ahead.
func (p *pass) leapt(ctx context.Context) (bool, error) {
	if p.cutoff.IsZero() || p.targeted() {
		return !p.cutoff.IsZero(), nil // a targeted pass leaves it to the sweeps
	}
	text, err := p.w.Noted(ctx, clockNote)
	if err != nil {
		return false, err
	}
	var was clock
	if json.Unmarshal([]byte(text), &was) != nil {
		was = clock{}
	}
	at := p.now.UnixMilli()
	now := was
	since := p.now.Sub(time.UnixMilli(was.Seen))
	switch {
	case was.Seen == 0 || since < 0:
		now = clock{Seen: at}
	case since < leapFrom:
		if since >= clockEvery || was.Leapt != 0 {
			now = clock{Seen: at}
		}
	case was.Leapt == 0 || was.Leapt > at:
		now.Leapt = at
	case p.now.Sub(time.UnixMilli(was.Leapt)) >= grace:
		now = clock{Seen: at}
	}
	if now != was {
		raw, err := json.Marshal(now)
		if err != nil {
			return false, fmt.Errorf("remember the time: %w", err)
		}
		p.notes = append(p.notes, func(t *store.Tx) error { return t.Note(clockNote, string(raw)) })
	}
	return now.Leapt != 0, nil
}
