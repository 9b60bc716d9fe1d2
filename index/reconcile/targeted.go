package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// A targeted pass is told the paths at which something changed. It asks the
// readers which sources that concerns and looks at those only, at the other
// copies of their sessions, and at what is known of them. Whatever it cannot
// place, and everything that may be gone, has the agent's roots discovered as a
// sweep does: only that proves anything.

// targeted reports whether the pass looks only at what was told to have changed.
func (p *pass) targeted() bool { return p.cfg.Paths != nil && !p.cfg.Full }

// target is one agent in a targeted pass.
type target struct {
	*agent
	id      string
	places  []Place
	locator transcript.Locator // nil if the reader is none

	sources  []*found
	have     map[sourceKey]bool
	scopes   []string
	sessions []string
	wide     bool // its roots are to be discovered
}

// locate finds the sources that the changed paths concern, and what is known of
// them.
func (p *pass) locate(ctx context.Context) error {
	p.known = map[sourceKey]*known{}
	p.wide = map[string]bool{}
	for _, rd := range p.cfg.Readers {
		t := p.newTarget(rd)
		t.changed(ctx, p.cfg.Paths, p.cfg.Suspect)
		if err := p.relate(ctx, t); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !t.wide {
			p.sources = append(p.sources, t.sources...)
			continue
		}
		p.wide[t.id] = true
		if err := p.discoverAgent(ctx, rd); err != nil {
			return err
		}
		if err := p.w.KnownOf(ctx, t.id, p.remember); err != nil {
			return err
		}
	}
	p.link()
	p.prune()
	return nil
}

func (p *pass) newTarget(rd transcript.Reader) *target {
	t := &target{agent: &agent{reader: rd, env: p.cfg.Env}, id: rd.Agent().ID, have: map[sourceKey]bool{}}
	t.env.Extra = p.cfg.Roots[t.id]
	t.locator, _ = rd.(transcript.Locator)
	t.places = placesFor(rd, t.env)
	return t
}

// changed places the paths; suspect are those that were degraded.
func (t *target) changed(ctx context.Context, paths, suspect []string) {
	for _, path := range paths {
		for _, p := range t.places {
			if t.wide || ctx.Err() != nil {
				return
			}
			if !p.Concerns(path) {
				continue
			}
			// The place itself, not what lies below it: appending to one of many
			// transcripts under a degraded root tells nothing about the root. A
			// database changes in its log first.
			if slices.Contains(suspect, path) || slices.Contains(suspect, strings.TrimSuffix(path, "-wal")) {
				t.wide = true
				return
			}
			at := path
			if transcript.Within(path, p.Root.Path) {
				at = p.Root.Path // a folder above came, went or was renamed
			}
			loc, err := t.ask(ctx, p.Root, at)
			if err != nil {
				t.wide = true
				return
			}
			t.take(loc.Sources)
			if loc.Scope != "" {
				t.scopes = append(t.scopes, loc.Scope)
			}
			t.sessions = append(t.sessions, loc.Sessions...)
		}
	}
}

func (t *target) take(sources []transcript.Source) {
	for _, s := range sources {
		if k := keyOf(&s); !t.have[k] {
			t.have[k] = true
			t.sources = append(t.sources, &found{Source: s, agent: t.agent})
		}
	}
}

// ask is Locate with a panic turned into an error.
func (t *target) ask(ctx context.Context, root transcript.Root, path string) (loc transcript.Located, err error) {
	if t.locator == nil {
		return loc, transcript.ErrUnplaced
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("placing a change ended unexpectedly: %v", r)
		}
	}()
	return t.locator.Locate(ctx, t.env, root, path)
}

// relate remembers what is known of a target's sources, adds the other copies
// of their sessions, and notices what is not there any more.
func (p *pass) relate(ctx context.Context, t *target) error {
	var lost bool
	expect := func(k store.Known) error {
		if k.Source.Class != goneClass && !t.have[keyOf(&k.Source)] {
			lost = true
		}
		return p.remember(k)
	}
	for _, scope := range t.scopes {
		if t.wide {
			return nil
		}
		if err := p.w.KnownAt(ctx, t.id, scope, expect); err != nil {
			return err
		}
		t.wide = t.wide || lost
	}
	ids := slices.Clone(t.sessions)
	for _, f := range t.sources {
		id := f.SessionID
		if p.known[keyOf(&f.Source)] == nil {
			if err := p.w.KnownSource(ctx, f.Agent, f.Path, f.Key, p.remember); err != nil {
				return err
			}
		}
		if k := p.known[keyOf(&f.Source)]; k != nil && id == "" {
			id = k.hint
		}
		if id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		var others []*known
		err := p.w.KnownSession(ctx, t.id, id, func(s store.Known) error {
			if err := p.remember(s); err != nil {
				return err
			}
			if k := keyOf(&s.Source); s.Source.Class != goneClass && !t.have[k] {
				others = append(others, p.known[k])
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, k := range others {
			if t.wide || !t.again(ctx, k) {
				t.wide = true
				return nil
			}
		}
	}
	return nil
}

// again looks for a known source where it was. It reports whether it is there.
func (t *target) again(ctx context.Context, k *known) bool {
	for _, p := range t.places {
		if p.Root.Path != k.root {
			continue
		}
		loc, err := t.ask(ctx, p.Root, k.path)
		if err != nil {
			return false
		}
		loc.Sources = slices.DeleteFunc(loc.Sources, func(s transcript.Source) bool { return s.Path != k.path || s.Key != k.key })
		t.take(loc.Sources)
		if len(loc.Sources) > 0 {
			return true
		}
	}
	return false
}

// prune forgets what is known of sources that a targeted pass did not look for.
func (p *pass) prune() {
	if !p.targeted() {
		return
	}
	for at, k := range p.known {
		if !k.there && !p.wide[k.agent] {
			delete(p.known, at)
		}
	}
}

// fewKnown is up to how many sources it is cheaper to ask for each than for all.
const fewKnown = 200

// absent maps sources whose sessions are not all present to their presence.
func (p *pass) absent(ctx context.Context) (map[int64]string, error) {
	if !p.targeted() || len(p.known) > fewKnown {
		return p.w.Absent(ctx)
	}
	ids := make([]int64, 0, len(p.known))
	for _, k := range p.known {
		ids = append(ids, k.id)
	}
	return p.w.AbsentAmong(ctx, ids)
}

// maxActive is how many sources a result names.
const maxActive = 2048

// active lists the sources a pass found, newest first.
func (p *pass) active() []transcript.Source {
	list := slices.Clone(p.sources)
	slices.SortFunc(list, func(a, b *found) int { return b.ModTime.Compare(a.ModTime) })
	out := make([]transcript.Source, 0, min(len(list), maxActive))
	for _, f := range list[:min(len(list), maxActive)] {
		out = append(out, f.Source)
	}
	return out
}
