package claude

import (
	"encoding/base64"
	"encoding/binary"
	"slices"

	"github.com/sessionls/sessionls/index/transcript"
)

// node is what is kept of one record that has a place in the conversation's
// tree, to tell at the end which records the model still sees.
type node struct {
	id     uint64 // hash of uuid, 0 without one
	parent uint64 // hash of parentUuid, 0 for a root or a record that names none
	group  uint64 // hash of message.id: lines of one response belong together
	answer uint64 // hash of the tool call that a tool_result line answers
	print  uint64 // hash of the message, to know a line written twice
	seq    int32
	up     int32 // index of the parent once resolved, -1 for none
	flags  uint16
}

const (
	isTurn     uint16 = 1 << iota // a user or assistant line: may be the leaf
	isVisible                     // has a surface (the others are log-only)
	isBoundary                    // compact_boundary: the path ends here
	isSummary                     // isCompactSummary
	isLinear                      // names no parent: follows the record before it
	isRoot                        // parentUuid is null
	isOld                         // read in an earlier pass (from the window)
	onPath                        // on the path from the leaf
	isTail                        // follows the leaf: what goes on from it changes nothing before
	isCurrent
)

const (
	// maxNodes bounds the tree's memory (about 30 MB). A longer session is read
	// without surfaces: every message counts as current, with a warning.
	maxNodes = 250_000
	// A checkpoint carries the last nodes, and the turns before them: while a
	// long call runs, hundreds of progress records follow it.
	windowNodes = 100
	windowTurns = 60
	// maxDangling bounds the parents a checkpoint remembers that were not found.
	maxDangling = 64
)

// tree finds the active branch of one session (lineage.md §2).
type tree struct {
	nodes    []node
	index    map[uint64]int32  // id → node
	calls    map[uint64]uint64 // tool call → group of the line that made it
	total    int               // nodes of the whole session, those of earlier passes included
	chained  bool              // some record's parent was found: the file has a tree
	overflow bool
	kept     preserved
	cleared  []cleared
	dangling []uint64        // parents that were not found, the last ones
	waiting  map[uint64]bool // dangling ones of earlier passes
	late     bool            // one of them turned up
	resumed  bool
	answers  map[uint64]int32 // tool call → node of its result, made when needed
}

// preserved is what the latest compaction says it kept of the messages before.
type preserved struct {
	boundary   uint64 // id of the compaction's record
	head, tail uint64 // a stretch of the chain
	anchor     uint64 // the record it follows: the boundary itself, or the summary
	ids        []uint64
}

// cleared is what a microcompaction took out of the model's sight: the results
// of single tool calls, and attachments.
type cleared struct {
	marker     uint64 // id of the microcompaction's record
	calls, ids []uint64
}

// maxCleared bounds the microcompactions of a session, and what one may name.
const maxCleared = 4096

func newTree() *tree {
	return &tree{index: map[uint64]int32{}, calls: map[uint64]uint64{}}
}

// twin reports whether one of the last nodes is the same record: the same id
// with the same message, written twice.
func (t *tree) twin(id, print uint64) bool {
	if id == 0 {
		return false
	}
	i, ok := t.index[id]
	return ok && int(i) >= len(t.nodes)-windowNodes && t.nodes[i].print == print
}

func (t *tree) add(n node) {
	t.total++
	if t.total > maxNodes {
		t.overflow = true
		t.nodes, t.index, t.calls = nil, nil, nil
		return
	}
	i := int32(len(t.nodes))
	n.up = -1
	t.late = t.late || n.id != 0 && t.waiting[n.id]
	if n.id != 0 {
		if _, dup := t.index[n.id]; !dup {
			t.index[n.id] = i
		}
	}
	t.nodes = append(t.nodes, n)
}

func (t *tree) called(tool, group uint64) {
	if !t.overflow && tool != 0 {
		t.calls[tool] = group
	}
}

// resolve finds every new node's parent. A parent that is not in the file
// (lost with a damaged line) is replaced by the record before, so that one
// lost line never hides what came earlier. It reports whether a resumed pass
// met a parent it does not know, or learned that the file has a tree after all.
func (t *tree) resolve() (unknown bool) {
	was := t.chained
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.flags&isOld != 0 || n.flags&isBoundary != 0 || n.parent == 0 {
			continue
		}
		if j, ok := t.index[n.parent]; ok && int(j) != i {
			n.up = j
			t.chained = true
			continue
		}
		n.up = int32(i) - 1
		unknown = true
		t.dangling = append(t.dangling, n.parent)
		if extra := len(t.dangling) - maxDangling; extra > 0 {
			t.dangling = t.dangling[extra:]
		}
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.flags&isOld == 0 && n.flags&isBoundary == 0 && (n.flags&isLinear != 0 || n.flags&isRoot != 0 && !t.chained) {
			n.up = int32(i) - 1
		}
	}
	return unknown || was != t.chained
}

// settle marks what is current. It reports false when, after a resumed pass, a
// node of an earlier one would change its surface or the new branch cannot be
// traced to the old one.
func (t *tree) settle() bool {
	if t.overflow {
		return true
	}
	unknown := t.resolve()
	if t.resumed && (unknown || t.late || len(t.cleared) > 0) {
		return false
	}
	oldFlags := make([]uint16, 0, windowNodes+windowTurns)
	hadLeaf := false
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.flags&isOld == 0 {
			break
		}
		oldFlags = append(oldFlags, n.flags)
		hadLeaf = hadLeaf || n.flags&onPath != 0
		n.flags &^= onPath | isCurrent | isTail
	}
	leaf := -1
	for i := len(t.nodes) - 1; i >= 0; i-- {
		if t.nodes[i].flags&isTurn != 0 {
			leaf = i
			break
		}
	}
	if leaf < 0 && t.resumed && t.total > len(t.nodes) {
		t.extend(oldFlags)
		return true
	}
	joined := t.walk(leaf, oldFlags)
	t.spread()
	for i := leaf + 1; leaf >= 0 && i < len(t.nodes); i++ {
		if n := &t.nodes[i]; int(n.up) == leaf || n.up > int32(leaf) && t.nodes[n.up].flags&isTail != 0 {
			n.flags |= isTail
		}
	}
	if !t.resumed {
		return true
	}
	if !joined && (hadLeaf || t.total > len(t.nodes)) {
		return false
	}
	for i, old := range oldFlags {
		n := &t.nodes[i]
		if n.flags&isVisible == 0 {
			continue
		}
		now := n.flags&isCurrent != 0
		switch {
		case old&isCurrent != 0 && !now && old&onPath != 0, old&isCurrent == 0 && now:
			return false
		case old&isCurrent != 0:
			n.flags |= isCurrent // its reason lies before the window
		}
	}
	// A result whose call lies before the window cannot be judged here.
	for i := len(oldFlags); i < len(t.nodes); i++ {
		n := &t.nodes[i]
		if n.answer != 0 && n.flags&isCurrent == 0 {
			if _, ok := t.calls[n.answer]; !ok {
				return false
			}
		}
	}
	return true
}

// extend judges new nodes when the leaf lies before the window and none of
// them is a turn: they follow their parents.
func (t *tree) extend(old []uint16) {
	for i := range t.nodes {
		n := &t.nodes[i]
		if i < len(old) {
			n.flags = old[i]
		} else if n.up >= 0 {
			n.flags |= t.nodes[n.up].flags & (isCurrent | isTail)
		}
	}
}

// walk marks the path from the leaf back to a root or the latest compaction
// and reports whether it met a node that was on the path before.
func (t *tree) walk(leaf int, old []uint16) (joined bool) {
	for i := leaf; i >= 0; {
		n := &t.nodes[i]
		if n.flags&onPath != 0 {
			break // a loop of parents
		}
		n.flags |= onPath | isCurrent
		if i < len(old) && old[i]&(onPath|isTail) != 0 {
			joined = true
		}
		if n.flags&isBoundary != 0 {
			break
		}
		up := int(n.up)
		if n.flags&isSummary != 0 {
			// Nothing before a compaction's summary is seen any more.
			if up >= 0 && t.nodes[up].flags&isBoundary != 0 {
				t.nodes[up].flags |= onPath | isCurrent
			}
			break
		}
		i = up
	}
	return joined
}

// spread marks what is seen although the path bypasses it: lines of a response
// that has a line on the path, the results of its tool calls (parallel calls
// fork the tree), attachments that hang aside, and preserved segments.
func (t *tree) spread() {
	t.preserve()
	groups := map[uint64]bool{}
	for i := range t.nodes {
		if n := &t.nodes[i]; n.group != 0 && n.flags&isCurrent != 0 {
			groups[n.group] = true
		}
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.flags&isCurrent != 0 {
			continue
		}
		if n.group != 0 && groups[n.group] {
			n.flags |= isCurrent
		} else if n.answer != 0 {
			if g, ok := t.calls[n.answer]; ok && groups[g] {
				n.flags |= isCurrent
			}
		}
	}
	// Attachments below a current record, unless a turn that was abandoned
	// follows them.
	leads := make([]bool, len(t.nodes))
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := &t.nodes[i]
		abandoned := n.flags&isTurn != 0 && n.flags&isCurrent == 0 || leads[i]
		if up := n.up; abandoned && up >= 0 {
			leads[up] = true
		}
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.flags&isTurn != 0 || n.flags&isCurrent != 0 || leads[i] || n.up < 0 || n.flags&isBoundary != 0 {
			continue
		}
		if t.nodes[n.up].flags&isCurrent != 0 {
			n.flags |= isCurrent
		}
	}
	t.clear()
}

// clear takes off the surface what microcompactions on the path name.
func (t *tree) clear() {
	for _, c := range t.cleared {
		at, ok := t.index[c.marker]
		if !ok || t.nodes[at].flags&isCurrent == 0 {
			continue
		}
		for _, i := range t.named(c, at) {
			t.nodes[i].flags &^= isCurrent
		}
	}
}

// named lists the records before node at that a microcompaction cleared.
func (t *tree) named(c cleared, at int32) []int32 {
	var out []int32
	for _, id := range c.ids {
		if i, ok := t.index[id]; ok && i < at {
			out = append(out, i)
		}
	}
	if len(c.calls) > 0 && t.answers == nil {
		t.answers = map[uint64]int32{}
		for i := range t.nodes {
			if a := t.nodes[i].answer; a != 0 {
				t.answers[a] = int32(i)
			}
		}
	}
	for _, id := range c.calls {
		if i, ok := t.answers[id]; ok && i < at {
			out = append(out, i)
		}
	}
	return out
}

// preserve keeps what the compaction on the path says it preserved.
func (t *tree) preserve() {
	b, ok := t.index[t.kept.boundary]
	if !ok || t.nodes[b].flags&onPath == 0 {
		return
	}
	i, ok := t.index[t.kept.tail]
	for steps := 0; ok && i >= 0 && steps < len(t.nodes); steps++ {
		n := &t.nodes[i]
		n.flags |= isCurrent
		if n.id == t.kept.head {
			break
		}
		i = n.up
	}
	for _, id := range t.kept.ids {
		if i, ok := t.index[id]; ok {
			t.nodes[i].flags |= isCurrent
		}
	}
}

// shadowed calls f for runs of new events [from, to) that are not current.
func (t *tree) shadowed(f func(from, to int) error) error {
	from, to := -1, -1
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.flags&isOld != 0 || n.flags&isVisible == 0 || n.flags&isCurrent != 0 {
			continue
		}
		if int(n.seq) == to {
			to++
			continue
		}
		if to > from {
			if err := f(from, to); err != nil {
				return err
			}
		}
		from, to = int(n.seq), int(n.seq)+1
	}
	if to > from {
		return f(from, to)
	}
	return nil
}

// nodeSize is the size of a node in a checkpoint: five hashes, up, flags.
const nodeSize = 5*8 + 2 + 2

// window packs the last nodes, and the calls they made, for a checkpoint.
func (t *tree) window() (nodes, calls string) {
	kept := t.recent()
	place := make(map[int32]uint16, len(kept)) // node → position in the window, from 1
	var b, c []byte
	groups := map[uint64]bool{}
	for k, i := range kept {
		n := t.nodes[i]
		for _, h := range []uint64{n.id, n.parent, n.group, n.answer, n.print} {
			b = binary.LittleEndian.AppendUint64(b, h)
		}
		// The nearest ancestor that is kept; 0: none.
		up := n.up
		for steps := 0; up >= 0 && place[up] == 0 && steps < len(t.nodes); steps++ {
			up = t.nodes[up].up
		}
		b = binary.LittleEndian.AppendUint16(b, place[up])
		b = binary.LittleEndian.AppendUint16(b, n.flags|isOld)
		place[i] = uint16(k + 1)
		if n.group != 0 {
			groups[n.group] = true
		}
	}
	for tool, g := range t.calls {
		if groups[g] && len(c) < 16*windowNodes {
			c = binary.LittleEndian.AppendUint64(c, tool)
			c = binary.LittleEndian.AppendUint64(c, g)
		}
	}
	return base64.StdEncoding.EncodeToString(b), base64.StdEncoding.EncodeToString(c)
}

// recent lists the nodes a checkpoint carries, in order.
func (t *tree) recent() []int32 {
	var out []int32
	turns := 0
	for i := len(t.nodes) - 1; i >= 0; i-- {
		last := i >= len(t.nodes)-windowNodes
		if !last && t.nodes[i].flags&isTurn == 0 {
			continue
		}
		if !last {
			if turns++; turns > windowTurns {
				break
			}
		}
		out = append(out, int32(i))
	}
	slices.Reverse(out)
	return out
}

// restore is the inverse of window; false for anything malformed.
func (t *tree) restore(nodes, calls string) bool {
	b, err := base64.StdEncoding.DecodeString(nodes)
	if err != nil || len(b)%nodeSize != 0 {
		return false
	}
	c, err := base64.StdEncoding.DecodeString(calls)
	if err != nil || len(c)%16 != 0 {
		return false
	}
	for count := len(b) / nodeSize; len(b) > 0; b = b[nodeSize:] {
		var n node
		for i, h := range []*uint64{&n.id, &n.parent, &n.group, &n.answer, &n.print} {
			*h = binary.LittleEndian.Uint64(b[8*i:])
		}
		n.up = int32(binary.LittleEndian.Uint16(b[40:])) - 1
		n.flags = binary.LittleEndian.Uint16(b[42:])
		n.seq = -1
		if int(n.up) >= count {
			return false
		}
		if _, dup := t.index[n.id]; n.id != 0 && !dup {
			t.index[n.id] = int32(len(t.nodes))
		}
		t.nodes = append(t.nodes, n)
	}
	for ; len(c) > 0; c = c[16:] {
		t.calls[binary.LittleEndian.Uint64(c)] = binary.LittleEndian.Uint64(c[8:])
	}
	t.resumed = true
	return true
}

// surface is what an event is called before the whole tree is known.
func surface(visible bool) transcript.Surface {
	if visible {
		return transcript.Current
	}
	return transcript.LogOnly
}
