package reconcile

import (
	"context"
	"errors"

	"github.com/sessionls/sessionls/index/store"
)

// CarryOver brings into the index what a database that was set aside keeps and
// what cannot be read any more: after a pass, whatever is on disk is in the
// index already. Retention, exclusions and tombstones hold for it as for
// everything. It returns how many sessions were brought, and whether all of the
// old database could be read; the error is of the index, or of what ended it.
//
// What is brought counts as unverifiable until the next pass has judged it.
func CarryOver(ctx context.Context, w *store.Writer, cfg Config, from string) (carried int, whole bool, err error) {
	p := newPass(w, cfg)
	old, err := store.OpenOld(ctx, from)
	if err != nil {
		return 0, false, nil
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	labels := map[string]string{}
	for _, rd := range cfg.Readers {
		labels[rd.Agent().ID] = rd.Agent().Label
	}
	// Rows below those of the build: these sessions are the oldest.
	w.SetMode(store.Bulk)
	defer w.SetMode(store.Live)
	whole, err = old.Sources(ctx, func(k *store.Kept) error {
		if labels[k.Source.Agent] == "" || p.tooOld(k.Source.ModTime) || cfg.Exclude.Match(k.Source.Path) {
			return nil
		}
		kept, err := p.left(k)
		if err != nil || len(kept.Sessions) == 0 {
			return err
		}
		return p.update(ctx, func(t *store.Tx) error {
			n, err := t.Import(ctx, kept, labels[k.Source.Agent])
			carried += n
			return err
		})
	})
	return carried, whole, err
}

// left is what of a source is to be brought.
func (p *pass) left(k *store.Kept) (*store.Kept, error) {
	ids := make([]string, len(k.Sessions))
	for i, s := range k.Sessions {
		ids[i] = s.Header.SessionID
	}
	kept := &store.Kept{Source: k.Source}
	kept.Source.Class = goneClass
	read, have, err := p.w.Provided(k.Source, ids)
	if err != nil || read {
		return kept, err
	}
	for _, s := range k.Sessions {
		h := s.Header
		if have[h.SessionID] || p.cfg.Forgotten.Has(k.Source.Agent, h.SessionID) || p.cfg.Exclude.MatchAny(h.CWD, s.Places) {
			continue
		}
		if s.Presence != missing {
			s.Presence = unverifiable
		}
		kept.Sessions = append(kept.Sessions, s)
	}
	return kept, nil
}
