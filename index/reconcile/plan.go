package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// known is what the index remembers of a source. The carry-over of its reader
// is left in the database: a hundred thousand of them would fill the memory.
type known struct {
	id               int64
	agent, path, key string
	root, hint       string
	class            int
	size             int64
	mtime            time.Time
	signature        string
	state            store.State
	fails            int
	version          int
	// note says of an empty source that it was excluded, and of a copy that it
	// was read and that another one provides the session.
	note  string
	there bool
}

// goneClass is the rank of a source that is not there: any copy beats it.
const goneClass = math.MinInt32

// load reads what the index knows of all sources.
func (p *pass) load(ctx context.Context) error {
	p.known = map[sourceKey]*known{}
	if err := p.w.Known(ctx, p.remember); err != nil {
		return err
	}
	p.link()
	p.prune()
	return nil
}

// remember keeps what the index knows of a source.
func (p *pass) remember(s store.Known) error {
	if p.known[keyOf(&s.Source)] != nil {
		return nil
	}
	k := p.asKnown(s)
	p.known[sourceKey{k.agent, k.path, k.key}] = k
	return nil
}

func (p *pass) asKnown(s store.Known) *known {
	for _, text := range []*string{&s.Source.Agent, &s.Source.Root} {
		if one, ok := p.same[*text]; ok {
			*text = one
		} else {
			p.same[*text] = *text
		}
	}
	k := &known{
		id: s.ID, agent: s.Source.Agent, path: s.Source.Path, key: s.Source.Key, root: s.Source.Root, hint: s.Source.SessionID,
		class: s.Source.Class, size: s.Source.Size, mtime: s.Source.ModTime, signature: s.Source.Signature, state: s.State, fails: s.Fails,
		version: s.Version,
	}
	if s.State != store.StateFailed {
		k.note = s.Error
	}
	return k
}

// link connects what was found with what is known of it.
func (p *pass) link() {
	for _, f := range p.sources {
		k := p.known[keyOf(&f.Source)]
		if f.known = k; k == nil {
			continue
		}
		k.there = true
		// One copy of the text that both have is enough: there may be a
		// hundred thousand of them.
		k.path = f.Path
		if k.signature == f.Signature {
			k.signature = f.Signature
		}
	}
}

// note is one thing the index is told before reading begins.
type note func(*store.Tx) error

// due is a source to be read.
type due struct {
	*found
	// late ones come last: they were read before and are only to be read by a
	// newer reader, or failed before.
	late bool

	// partial is the row of the source if only what was said is read of it, 0 otherwise, and
	// counted how many of its bytes are counted as done already.
	partial, counted int64
}

// touched reports whether nothing is known to have changed but times and inode
// of a source's file: its size and what was read with it are as they were. Its
// bytes may still be others.
func (d *due) touched() bool {
	k := d.known
	if k == nil || k.state != store.StateRead || k.size != d.Size {
		return false
	}
	_, was, _ := strings.Cut(k.signature, "|")
	_, is, _ := strings.Cut(d.Signature, "|")
	return was == is
}

// plan compares the sources with what is known of them.
func (p *pass) plan() {
	groups := map[[2]string][]*found{}
	for _, f := range p.sources {
		if k := f.known; f.SessionID == "" && k != nil && k.hint != "" && (k.signature == f.Signature || k.state == store.StateRead) {
			// Learned when it was read.
			f.SessionID = k.hint
		}
		if f.SessionID != "" {
			at := [2]string{f.Agent, f.SessionID}
			groups[at] = append(groups[at], f)
		}
	}
	for _, g := range groups {
		if len(g) > 1 {
			for _, f := range g {
				f.group = g
			}
		}
	}
	dueIDs := map[[2]string]bool{}
	for _, f := range p.sources {
		if p.isDue(f) && f.SessionID != "" {
			dueIDs[[2]string{f.Agent, f.SessionID}] = true
		}
	}
	p.planGone(dueIDs)
	slices.SortStableFunc(p.due, func(a, b *due) int {
		if a.late != b.late {
			if a.late {
				return 1
			}
			return -1
		}
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Key, b.Key))
	})
	p.progress.FilesTotal = len(p.due)
	for _, d := range p.due {
		p.progress.BytesTotal += max(d.Size, 0)
	}
}

// failing reports whether the source failed as it is now.
func (f *found) failing() bool {
	return f.known != nil && f.known.state == store.StateFailed && f.known.signature == f.Signature
}

// barren reports whether the source is known to give no session as it is now:
// it failed or holds no conversation.
func (f *found) barren() bool {
	k := f.known
	return k != nil && k.signature == f.Signature && (k.state == store.StateFailed || k.state == store.StateEmpty && k.version == f.reader.Version() && !strings.HasPrefix(k.note, excludedMark))
}

// chosen is the copy of a session that is read: the best one that gives it.
func chosen(group []*found) *found {
	best := group[0]
	for _, f := range group[1:] {
		if a, b := f.barren(), best.barren(); a != b {
			if b {
				best = f
			}
		} else if f.Better(best.Source) {
			best = f
		}
	}
	return best
}

// stead is the copy to be read instead of one that was read in vain, nil if
// there is none or another one provides the session already.
func (f *found) stead() *found {
	var best *found
	for _, o := range f.group {
		switch {
		case o.tried || o.barren():
		case o.known != nil && o.known.state == store.StateRead && o.known.signature == o.Signature:
			return nil
		case best == nil || o.Better(best.Source):
			best = o
		}
	}
	return best
}

// isDue decides about one source and adds it to the due list if it is to be
// read.
func (p *pass) isDue(f *found) bool {
	k := f.known
	take := func(late bool) bool {
		p.due = append(p.due, &due{found: f, late: late})
		return true
	}
	if k != nil && (f.group != nil || k.class == goneClass) && (k.class != f.Class || k.size != f.Size || k.mtime.UnixMilli() != f.ModTime.UnixMilli()) {
		// What copies are compared by must be as it is now.
		p.notes = append(p.notes, func(t *store.Tx) error { return t.SetRank(k.id, f.Class, f.Size, f.ModTime) })
	}
	if f.failing() && !p.cfg.Full {
		if k.fails >= MaxFails {
			p.result.Held++
			return false
		}
		return take(true)
	}
	if f.group != nil && chosen(f.group) != f {
		if k == nil || k.signature != f.Signature {
			p.notes = append(p.notes, func(t *store.Tx) error {
				_, err := t.PutSource(store.SourceState{Source: f.Source, State: store.StateTwin})
				return err
			})
		}
		return false
	}
	switch {
	case k == nil || p.cfg.Full || k.signature != f.Signature:
		return take(false)
	case k.state == store.StateTwin:
		// Read in vain before: another try only helps if the copy that
		// provides the session is not there any more.
		if k.note != "" && slices.ContainsFunc(f.group, func(o *found) bool { return o != f && o.known != nil && o.known.state == store.StateRead }) {
			return false
		}
		return take(false)
	case strings.HasPrefix(k.note, excludedMark):
		return k.note != p.cfg.Exclude.note() && take(true)
	case k.note == forgottenNote && k.state == store.StateEmpty:
		return !p.cfg.Forgotten.Has(k.agent, k.hint) && take(true)
	case k.version != f.reader.Version():
		return take(k.version != store.TalkOnly)
	}
	return false
}

// planGone judges what is known but was not found. What another source is about
// to provide is left alone: it was renamed or moved.
func (p *pass) planGone(dueIDs map[[2]string]bool) {
	p.want = map[int64]string{}
	before, doubts := map[[2]string]int{}, map[[2]string]doubt{}
	for _, k := range p.known {
		if k.state == store.StateRead && p.was[k.id] != missing {
			before[[2]string{k.agent, k.root}]++
		}
		if !k.there {
			p.gone = append(p.gone, k)
		}
	}
	slices.SortFunc(p.gone, func(a, b *known) int { return cmp.Compare(a.id, b.id) })
	p.gone = slices.DeleteFunc(p.gone, p.elsewhere)
	for _, k := range p.gone {
		if k.class != goneClass {
			p.notes = append(p.notes, func(t *store.Tx) error { return t.SetRank(k.id, goneClass, k.size, k.mtime) })
		}
		if k.hint != "" && dueIDs[[2]string{k.agent, k.hint}] {
			continue
		}
		presence, why := p.presenceOf(k, before[[2]string{k.agent, k.root}])
		if presence == unverifiable && p.was[k.id] == missing {
			presence, why = missing, "" // that was proven before
		}
		switch presence {
		case missing:
			p.result.Missing++
		case unverifiable:
			p.result.Unverified++
			if why != "" {
				at := [2]string{k.agent, k.root}
				doubts[at] = doubt{doubts[at].sources + 1, why}
			}
		}
		p.want[k.id] = presence
		if presence == missing && k.state == store.StateFailed {
			// It counts as failed no longer; should it come back, it is read.
			p.notes = append(p.notes, func(t *store.Tx) error {
				_, err := t.PutSource(store.SourceState{State: store.StateRead, Source: transcript.Source{
					Agent: k.agent, Path: k.path, Key: k.key, Root: k.root, SessionID: k.hint, Class: goneClass, Size: k.size, ModTime: k.mtime,
				}})
				return err
			})
		}
	}
	p.reportRoots(before, doubts)
}

// note tells the index in one transaction what was found before anything is
// read.
func (p *pass) note(ctx context.Context) error {
	set := map[int64]string{}
	for id, presence := range p.want {
		if was := cmp.Or(p.was[id], present); was != presence {
			set[id] = presence
		}
	}
	for _, f := range p.sources {
		if f.known != nil && p.was[f.known.id] != "" {
			set[f.known.id] = present
		}
	}
	if len(set)+len(p.notes) == 0 {
		return nil
	}
	return p.update(ctx, func(t *store.Tx) error {
		for _, n := range p.notes {
			if err := n(t); err != nil {
				return err
			}
		}
		for id, presence := range set {
			if err := t.SetPresence(id, presence); err != nil {
				return fmt.Errorf("record what is gone: %w", err)
			}
		}
		return nil
	})
}

// tidy forgets sources that are gone and that no session comes from: copies,
// empty files, and those that were moved.
func (p *pass) tidy(ctx context.Context) error {
	var bare []int64
	for _, k := range p.gone {
		if p.want[k.id] != unverifiable && (k.state != store.StateRead || p.result.Read > 0) {
			bare = append(bare, k.id)
		}
	}
	if len(bare) == 0 {
		return nil
	}
	return p.update(ctx, func(t *store.Tx) error {
		for _, id := range bare {
			if err := t.DropBare(id); err != nil {
				return err
			}
		}
		return nil
	})
}
