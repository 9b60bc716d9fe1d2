package pi

import (
	"context"
	"maps"
	"slices"
	"sort"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// links is what a reading that is asked for links keeps besides the tree. All
// methods that note something do nothing on nil.
type links struct {
	out       transcript.Tracer
	calls     transcript.Calls
	refs      []ref
	summaries []summary
	moves     []int32          // records that moved the leaf, log-only
	originals map[uint64]int32 // the parent's entries, by key
	value     jsonv.Value      // the write at hand, when it shares its line
	from      int              // its place in the parent, -1 if it is no copy
}

// ref says that the event at seq was made from another one: a result from a
// call, a label from the entry named by a hashed id.
type ref struct {
	seq, call int
	entry     uint64
}

// summary is a branch_summary, and the entry before it in the file: where the
// branch was left.
type summary struct{ seq, left int32 }

// maxRefs bounds what is remembered of results and labels.
const maxRefs = 1 << 20

func newLinks(out transcript.Sink) *links {
	t, ok := out.(transcript.Tracer)
	if !ok {
		return nil
	}
	return &links{out: t, from: -1}
}

func (l *links) record(v jsonv.Value, rec transcript.Record) {
	if l == nil {
		return
	}
	l.value, l.from = nil, -1
	if rec.Shared {
		l.value = v
	}
}

func (l *links) copied(key uint64) {
	if l == nil {
		return
	}
	if at, ok := l.originals[key]; ok {
		l.from = int(at)
	}
}

func (l *links) called(seq int, b jsonv.Value) {
	if l != nil {
		l.calls.Add(b.Get("id").Str(), seq)
	}
}

func (l *links) answered(seq int, id string) {
	if l == nil {
		return
	}
	if call, ok := l.calls.Seq(id); ok && len(l.refs) < maxRefs {
		l.refs = append(l.refs, ref{seq: seq, call: call})
	}
}

func (l *links) labels(seq int, target string) {
	if l != nil && target != "" && len(l.refs) < maxRefs {
		l.refs = append(l.refs, ref{seq: seq, entry: transcript.Hash(target)})
	}
}

// summarized is called when the entry is in the tree: the one before is not the
// tree's last any more.
func (l *links) summarized(s *session, seq int) {
	if l == nil {
		return
	}
	for i := int32(seq) - 1; i >= 0; i-- {
		if s.tree.nodes[i].seen&isEntry != 0 {
			l.summaries = append(l.summaries, summary{int32(seq), i})
			return
		}
	}
}

func (l *links) moved(seq int) {
	if l != nil {
		l.moves = append(l.moves, int32(seq))
	}
}

func (l *links) delivered(s *session, ev *transcript.Event) error {
	if err := transcript.PassData(l.out, ev.SessionID, ev.Seq, l.value); err != nil {
		return err
	}
	if !ev.Inherited || l.from < 0 {
		return nil
	}
	return l.out.Inherited(ev.SessionID, ev.Seq, s.Header.ParentID, l.from)
}

// finish passes on the links once the whole tree is known.
func (l *links) finish(s *session) error {
	if l == nil {
		return nil
	}
	id := s.Header.SessionID
	for _, r := range l.refs {
		from := r.call
		if r.entry != 0 {
			at, ok := s.tree.ids[r.entry]
			if !ok || int(at) == r.seq {
				continue
			}
			from = int(at)
		}
		if err := l.out.Source(id, r.seq, from, false); err != nil {
			return err
		}
	}
	f := folded{t: &s.tree, l: l, id: id, path: s.tree.path(s.Leaf)}
	slices.Reverse(f.path)
	if len(f.path) == 0 {
		return nil
	}
	return f.trace()
}

// folded tells what took each entry off the surface.
type folded struct {
	t    *tree
	l    *links
	id   string
	path []int32 // from the root to the leaf
	at   []int32 // place on the path of each node, or of where its branch left it
	by   []int32 // the branch summary that took a node off, noNode if none
}

// isGone tells what left the surface from what is on it or never was.
func (f *folded) isGone(seq int32) bool { return f.t.nodes[seq].seen&(isContext|onPath) == isContext }

func (f *folded) trace() error {
	n := len(f.t.nodes)
	f.at, f.by = make([]int32, n), make([]int32, n)
	on := make([]bool, n)
	for i := range f.by {
		f.by[i], f.at[i] = noNode, -1
	}
	for p, seq := range f.path {
		f.at[seq], on[seq] = int32(p), true
	}
	for seq := range f.t.nodes {
		// A parent stands before its children.
		if up := f.t.nodes[seq].parent; !on[seq] && up >= 0 {
			f.at[seq] = f.at[up]
		}
	}
	if err := f.summaries(on); err != nil {
		return err
	}
	if err := f.branches(on); err != nil {
		return err
	}
	return f.compactions()
}

// summaries ties each branch summary to the entries it stands for: those from
// where the branch was left up to what both branches share.
func (f *folded) summaries(on []bool) error {
	steps := 4*len(f.t.nodes) + 1<<16 // in all: branches may overlap
	for _, s := range f.l.summaries {
		a, b := s.left, f.t.nodes[s.seq].parent
		var left []int32
		for ; a != b && steps > 0; steps-- {
			if a > b {
				if f.t.nodes[a].seen&isContext != 0 {
					left = append(left, a)
				}
				a = f.t.nodes[a].parent
			} else {
				b = f.t.nodes[b].parent
			}
		}
		if a != b {
			return nil // no file of people's looks like this
		}
		slices.Reverse(left)
		var gone, made []transcript.Run
		for _, seq := range left {
			made = transcript.AddRun(made, int(seq))
			if !on[seq] && f.isGone(seq) && f.by[seq] == noNode {
				f.by[seq] = s.seq
				gone = transcript.AddRun(gone, int(seq))
			}
		}
		if err := transcript.Replace(f.l.out, f.id, gone, int(s.seq), false); err != nil {
			return err
		}
		for _, r := range made {
			if err := f.l.out.Sources(f.id, int(s.seq), r.From, r.To); err != nil {
				return err
			}
		}
	}
	return nil
}

// branches ties what stands beside the path to the first entry that came later
// and below the point where the branch left it, else to the record that moved
// the leaf.
func (f *folded) branches(on []bool) error {
	var seen []int32 // places on the path that the model sees or saw
	for p, seq := range f.path {
		if f.t.nodes[seq].seen&isContext != 0 {
			seen = append(seen, int32(p))
		}
	}
	runs := map[int32][]transcript.Run{}
	for i := range f.t.nodes {
		seq := int32(i)
		if on[seq] || !f.isGone(seq) || f.by[seq] != noNode || f.t.nodes[seq].seen&isAside != 0 {
			continue
		}
		// Places and positions both ascend along the path.
		j := sort.Search(len(seen), func(j int) bool { return seen[j] > f.at[seq] && f.path[seen[j]] > seq })
		by := int32(noNode)
		if j < len(seen) {
			by = f.path[seen[j]]
		} else if m := sort.Search(len(f.l.moves), func(m int) bool { return f.l.moves[m] > seq }); m < len(f.l.moves) {
			by = f.l.moves[m]
		}
		if by != noNode {
			runs[by] = transcript.AddRun(runs[by], i)
		}
	}
	for _, by := range slices.Sorted(maps.Keys(runs)) {
		if err := transcript.Replace(f.l.out, f.id, runs[by], int(by), false); err != nil {
			return err
		}
	}
	return nil
}

// compactions ties the entries on the path to the compaction that replaced
// them, and puts each compaction before what it kept.
func (f *folded) compactions() error {
	from, last := 0, int32(noNode) // what precedes from is replaced already
	for p, c := range f.path {
		n := &f.t.nodes[c]
		if n.seen&isCompaction == 0 {
			continue
		}
		kept := p
		if n.first >= 0 && f.at[n.first] < int32(p) && f.path[f.at[n.first]] == n.first {
			kept = int(f.at[n.first])
		}
		// The compaction before stands at the beginning of the surface.
		var first, rest []transcript.Run
		if last != noNode && f.isGone(last) {
			first = transcript.AddRun(nil, int(last))
		}
		for ; from < kept; from++ {
			if seq := f.path[from]; f.isGone(seq) && f.t.nodes[seq].seen&isCompaction == 0 {
				rest = transcript.AddRun(rest, int(seq))
			}
		}
		if err := transcript.Replace(f.l.out, f.id, append(first, rest...), int(c), true); err != nil {
			return err
		}
		for _, seq := range f.path[kept:p] {
			if m := f.t.nodes[seq].seen; m&isContext != 0 && m&isCompaction == 0 {
				if err := f.l.out.Order(f.id, int(c), int(seq)); err != nil {
					return err
				}
				break
			}
		}
		last = c
	}
	return nil
}

// positions maps the entries of a parent's file to their places in its session.
func positions(ctx context.Context, path string) map[uint64]int32 {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return nil // gone since: the links are left out
	}
	defer f.Close()
	at, seq := map[uint64]int32{}, int32(0)
	add := func(v jsonv.Value, line []byte) {
		key := entryKey(entryID(v), line)
		if _, twice := at[key]; !twice {
			at[key] = seq
		}
		seq++
	}
	lines := f.Lines(0, skipped...)
	for len(at) < maxIDs {
		rec, err := lines.Next(ctx)
		if err != nil {
			break
		}
		if rec.Value.Kind() != jsonv.Array || rec.Value.Len() == 0 {
			add(rec.Value, rec.Raw)
			continue
		}
		rec.Value.Elems(func(_ int, v jsonv.Value) bool { add(v, rec.Raw); return true })
	}
	return at
}
