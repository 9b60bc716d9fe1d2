package claude

import (
	"slices"
	"sort"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// links is what a reading that is asked for links keeps of a session besides
// its tree. All methods do nothing on nil.
type links struct {
	out     transcript.Tracer
	calls   map[uint64]int32 // tool call → position
	refs    []ref
	logical map[int32]uint64 // node of a compaction → id of the record before it
	kept    []preserved      // of all compactions; the tree knows the last one's
}

// ref says that the event at seq was made from a tool call, or from a record.
type ref struct {
	seq          int32
	call, record uint64
}

func newLinks(out transcript.Tracer) *links {
	if out == nil {
		return nil
	}
	return &links{out: out, calls: map[uint64]int32{}, logical: map[int32]uint64{}}
}

func (l *links) called(call uint64, seq int) {
	if l == nil || call == 0 || len(l.calls) >= maxNodes {
		return
	}
	if _, twice := l.calls[call]; !twice {
		l.calls[call] = int32(seq)
	}
}

// answer notes a result: of the call it names, else of the line that asked.
func (l *links) answer(seq int, call uint64, r *record) {
	if l != nil && len(l.refs) < maxNodes {
		l.refs = append(l.refs, ref{int32(seq), call, idHash(r.toolParent)})
	}
}

// names notes the message that a title or a snapshot of files belongs to.
func (l *links) names(seq int, id jsonv.Value) {
	if h := idHash(id); l != nil && h != 0 && len(l.refs) < maxNodes {
		l.refs = append(l.refs, ref{seq: int32(seq), record: h})
	}
}

// compacted notes a compaction, whose node is the next one.
func (l *links) compacted(s *session, r *record) {
	if l == nil || s.tree.overflow {
		return
	}
	l.logical[int32(len(s.tree.nodes))] = idHash(r.logical)
	if k := s.tree.kept; k.tail != 0 || len(k.ids) > 0 {
		l.kept = append(l.kept, k)
	}
}

// original links a copied record to the one it was copied from.
func (rd *reading) original(e *transcript.Event, rec *transcript.Record) error {
	r := &rd.line
	if err := transcript.PassShared(rd.tracer, e.SessionID, e.Seq, *rec); err != nil || !e.Inherited {
		return err
	}
	id := idHash(r.forked.Get("messageUuid"))
	if id == 0 {
		id = idHash(r.uuid)
	}
	at, ok := rd.originals[id]
	if id == 0 || !ok {
		return nil
	}
	return rd.tracer.Inherited(e.SessionID, e.Seq, rd.main.h.ParentID, int(at))
}

// trace passes on a session's links once its tree is settled.
func (s *session) trace() error {
	l, t := s.links, s.tree
	if l == nil {
		return nil
	}
	for _, r := range l.refs {
		from, ok := l.calls[r.call]
		if !ok || r.call == 0 {
			var i int32
			if i, ok = t.index[r.record]; ok && r.record != 0 {
				from = t.nodes[i].seq
			}
		}
		if !ok || from == r.seq {
			continue
		}
		if err := l.out.Source(s.h.SessionID, int(r.seq), int(from), false); err != nil {
			return err
		}
	}
	if t.overflow || len(t.nodes) == 0 {
		return nil
	}
	return newTrunk(t, l).trace(s.h.SessionID)
}

// trunk is the chain from the session's first record to its leaf, compactions
// crossed, which the walk for surfaces is not: each record's place on it, or
// where the branch it stands on left it, tells what took it off the surface.
type trunk struct {
	t     *tree
	l     *links
	up    []int32 // parent of each node, across compactions
	chain []int32 // nodes from the root to the leaf
	at    []int32 // place of each node on the chain, or of where it hangs
	aside []bool  // on a branch that was abandoned
	// visible are the places on the chain that have a surface, and most the
	// highest position up to each.
	visible, most []int32
	compactions   []int32          // places on the chain that end what was before
	kept          map[int32]*stays // by place of the compaction
	cleared       map[int32]int32  // node → place of the microcompaction
}

// stays is what a compaction left on the surface.
type stays struct {
	nodes  map[int32]bool
	groups map[uint64]bool
	ahead  bool // in front of the summary
}

const unplaced = -2

func newTrunk(t *tree, l *links) *trunk {
	k := &trunk{t: t, l: l, up: make([]int32, len(t.nodes)), at: make([]int32, len(t.nodes)), aside: make([]bool, len(t.nodes))}
	leaf := int32(-1)
	for i := range t.nodes {
		n := &t.nodes[i]
		k.up[i], k.at[i] = n.up, unplaced
		if n.flags&isBoundary != 0 {
			k.up[i] = int32(i) - 1
			if j, ok := t.index[l.logical[int32(i)]]; ok && int(j) != i {
				k.up[i] = j
			}
		}
		if n.flags&isTurn != 0 {
			leaf = int32(i)
		}
	}
	for i := leaf; i >= 0 && k.at[i] == unplaced; i = k.up[i] {
		k.at[i] = 0
		k.chain = append(k.chain, i)
	}
	slices.Reverse(k.chain)
	for p, i := range k.chain {
		k.at[i] = int32(p)
		n := &t.nodes[i]
		if n.flags&isVisible != 0 {
			k.visible = append(k.visible, int32(p))
			most := n.seq
			if m := len(k.most); m > 0 {
				most = max(most, k.most[m-1])
			}
			k.most = append(k.most, most)
		}
		if n.flags&isSummary != 0 || n.flags&isBoundary != 0 && !k.summaryFollows(p) {
			k.compactions = append(k.compactions, int32(p))
		}
	}
	k.preserved()
	k.cleared = map[int32]int32{}
	for _, c := range t.cleared {
		i, ok := t.index[c.marker]
		if !ok || k.at[i] < 0 {
			continue
		}
		for _, j := range t.named(c, i) {
			if _, before := k.cleared[j]; !before {
				k.cleared[j] = k.at[i]
			}
		}
	}
	k.place()
	return k
}

// summaryFollows reports whether the chain goes on from a boundary with its
// summary, of which only context may stand before.
func (k *trunk) summaryFollows(p int) bool {
	for _, i := range k.chain[p+1:] {
		f := k.t.nodes[i].flags
		if f&isSummary != 0 {
			return true
		}
		if f&(isTurn|isBoundary) != 0 {
			return false
		}
	}
	return false
}

// preserved finds what each compaction on the chain kept.
func (k *trunk) preserved() {
	k.kept = map[int32]*stays{}
	steps := 4 * len(k.up) // in all: stretches may overlap
	for _, p := range k.l.kept {
		b, ok := k.t.index[p.boundary]
		if !ok || k.at[b] < 0 {
			continue
		}
		// Its summary is the next compaction from there on, if it is not itself.
		c := sort.Search(len(k.compactions), func(i int) bool { return k.compactions[i] >= k.at[b] })
		if c == len(k.compactions) {
			continue
		}
		s := &stays{nodes: map[int32]bool{}, groups: map[uint64]bool{}, ahead: p.anchor == p.boundary}
		add := func(i int32) {
			s.nodes[i] = true
			if g := k.t.nodes[i].group; g != 0 {
				s.groups[g] = true
			}
		}
		i, ok := k.t.index[p.tail]
		for ; ok && i >= 0 && steps > 0 && !s.nodes[i]; i = k.t.nodes[i].up {
			steps--
			add(i)
			if k.t.nodes[i].id == p.head {
				break
			}
		}
		for _, id := range p.ids {
			if i, ok := k.t.index[id]; ok {
				add(i)
			}
		}
		k.kept[k.compactions[c]] = s
	}
}

// place finds for each node off the chain where it hangs, and whether it was
// abandoned: what only stands beside the chain shares the chain's fate.
func (k *trunk) place() {
	t := k.t
	groups := map[uint64]int32{}
	for p, i := range k.chain {
		if g := t.nodes[i].group; g != 0 {
			groups[g] = int32(p)
		}
	}
	beside := func(i int32) (at int32, ok bool) {
		n := &t.nodes[i]
		if n.group != 0 {
			at, ok = groups[n.group]
		} else if n.answer != 0 {
			at, ok = groups[t.calls[n.answer]]
		}
		return at, ok
	}
	leads := make([]bool, len(t.nodes)) // to an abandoned turn
	for i := len(t.nodes) - 1; i >= 0; i-- {
		if k.at[i] != unplaced || k.up[i] < 0 {
			continue
		}
		_, kept := beside(int32(i))
		if leads[i] || t.nodes[i].flags&isTurn != 0 && !kept {
			leads[k.up[i]] = true
		}
	}
	var stack []int32
	for i := range t.nodes {
		// Climb to a node whose place is known, then give it to those passed.
		j := int32(i)
		for stack = stack[:0]; j >= 0 && k.at[j] == unplaced; j = k.up[j] {
			if p, ok := beside(j); ok {
				k.at[j] = p
				break
			}
			k.at[j] = -1 // for a loop of parents
			stack = append(stack, j)
		}
		at, aside := int32(-1), true
		if j >= 0 {
			at, aside = k.at[j], k.aside[j]
		}
		for s := len(stack) - 1; s >= 0; s-- {
			n := stack[s]
			aside = aside || t.nodes[n].flags&isTurn != 0 || leads[n]
			k.at[n], k.aside[n] = at, aside
		}
	}
}

// by returns the node that took node i off the surface, -1 if none is known.
func (k *trunk) by(i int32) int32 {
	t, n := k.t, &k.t.nodes[i]
	if k.aside[i] {
		// The first record after the fork point that came later.
		from := sort.Search(len(k.visible), func(j int) bool { return k.visible[j] > k.at[i] })
		j := from + sort.Search(len(k.most)-from, func(j int) bool { return k.most[from+j] > n.seq })
		if j == len(k.visible) {
			return -1
		}
		return k.chain[k.visible[j]]
	}
	by := int32(-1)
	c := sort.Search(len(k.compactions), func(j int) bool { return k.compactions[j] > k.at[i] })
	for ; c < len(k.compactions); c++ {
		p := k.compactions[c]
		s := k.kept[p]
		if s != nil && (s.nodes[i] || n.group != 0 && s.groups[n.group] || n.answer != 0 && s.groups[t.calls[n.answer]]) {
			continue
		}
		by = p
		break
	}
	if p, ok := k.cleared[i]; ok && (by < 0 || p < by) {
		by = p
	}
	if by < 0 {
		return -1
	}
	return k.chain[by]
}

func (k *trunk) trace(session string) error {
	t := k.t
	replaced := map[int32][]transcript.Run{}
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.flags&isVisible == 0 || n.flags&isCurrent != 0 {
			continue
		}
		if by := k.by(int32(i)); by >= 0 && int(by) != i {
			replaced[by] = transcript.AddRun(replaced[by], int(n.seq))
		}
	}
	order := make([]int32, 0, len(replaced))
	for by := range replaced {
		order = append(order, by)
	}
	slices.Sort(order)
	for _, by := range order {
		n := &t.nodes[by]
		summary := n.flags&isSummary != 0
		if summary {
			if p := k.at[by]; p > 0 {
				if b := &t.nodes[k.chain[p-1]]; b.flags&isBoundary != 0 {
					if err := k.l.out.Source(session, int(n.seq), int(b.seq), false); err != nil {
						return err
					}
				}
			}
		}
		if err := transcript.Replace(k.l.out, session, replaced[by], int(n.seq), summary); err != nil {
			return err
		}
	}
	// What a compaction kept stands behind its summary.
	for _, p := range k.compactions {
		s, by := k.kept[p], &t.nodes[k.chain[p]]
		if s == nil || s.ahead || by.flags&isSummary == 0 {
			continue
		}
		first := by.seq
		for i := range s.nodes {
			if n := &t.nodes[i]; n.flags&isVisible != 0 {
				first = min(first, n.seq)
			}
		}
		if first < by.seq {
			if err := k.l.out.Order(session, int(by.seq), int(first)); err != nil {
				return err
			}
		}
	}
	return nil
}
