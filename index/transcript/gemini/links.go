package gemini

import (
	"maps"
	"slices"
	"sort"

	"github.com/sessionls/sessionls/index/transcript"
)

// gone is what records took out of the list of messages: by record, the places
// in the order of the list. Its methods do nothing on nil.
type gone struct{ by map[int][]transcript.Run }

func (g *gone) take(places []int, by int) {
	if g == nil || len(places) == 0 {
		return
	}
	if g.by == nil {
		g.by = map[int][]transcript.Run{}
	}
	for _, at := range places {
		g.by[by] = transcript.AddRun(g.by[by], at)
	}
}

// replace notes what of a list another one does not have any more.
func (g *gone) replace(old, list []int, by int) {
	if g == nil {
		return
	}
	kept := make(map[int]bool, len(list))
	for _, at := range list {
		kept[at] = true
	}
	g.take(slices.DeleteFunc(slices.Clone(old), func(at int) bool { return kept[at] }), by)
}

// left reports whether the model saw an event and does not any more: the list
// also holds what is shown to the person only.
func (c *chat) left(at int) bool {
	i := sort.Search(len(c.shadowed), func(i int) bool { return c.shadowed[i].To > at })
	return i < len(c.shadowed) && c.shadowed[i].From <= at
}

// trace passes on what left the list, and the order of what stayed: a
// checkpoint may put new messages before old ones.
func (c *chat) trace(p *plan) error {
	for _, by := range slices.Sorted(maps.Keys(p.gone.by)) {
		if by >= c.nextSeq {
			break // the file changed while it was read
		}
		var runs []transcript.Run
		for _, r := range p.gone.by[by] {
			for at := r.From; at < r.To; at++ {
				if c.left(at) {
					runs = transcript.AddRun(runs, at)
				}
			}
		}
		if err := transcript.Replace(c.tracer, c.h.SessionID, runs, by, false); err != nil {
			return err
		}
	}
	lowest := c.nextSeq // where what follows stands now
	for i := len(p.list) - 1; i >= 0; i-- {
		at := p.list[i]
		if at >= c.nextSeq {
			break
		}
		if at > lowest {
			if err := c.tracer.Order(c.h.SessionID, at, p.list[i+1]); err != nil {
				return err
			}
			continue
		}
		lowest = at
	}
	return nil
}
