package pi

import (
	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// tree is the shape of a session: for each record the entry it continues, and
// what it means for the surface. Eight bytes a record, ids hashed.
type tree struct {
	nodes []node           // by seq
	ids   map[uint64]int32 // hashed entry id → seq
	last  int32            // seq of the last entry, valid when any is set
	any   bool
}

const (
	noNode = -1 // a root
	keeps  = -2 // of node.first: not a compaction
)

type node struct {
	parent int32
	first  int32 // of a compaction: the first kept entry, noNode when none is kept
	seen   uint8
}

// What a node is.
const (
	isEntry      uint8 = 1 << iota
	isContext          // what the model sees when it is on the path
	isCompaction       // replaces what precedes it on the path
	onPath
	isAside // an entry of another lane than the conversation's
)

// chain finds the entry that a new one continues and moves the leaf. It
// returns ErrReread when a continued reading cannot know what the new entry
// does to earlier ones.
func (s *session) chain(seq int, f fields) error {
	id, parentID := f.id.Str(), f.parentID
	lane := f.lane.Str()
	moves := !s.Harness || lane == mainLane
	if s.resumed {
		return s.chainOn(id, parentID, moves)
	}
	t := &s.tree
	parent := int32(noNode)
	switch {
	case parentID.Kind() == jsonv.String && parentID.Str() != id:
		p, ok := t.ids[transcript.Hash(parentID.Str())]
		if ok {
			parent = p
		} else if s.Damaged && t.any {
			// The missing entry stood on a line that cannot be read.
			parent = t.last
		}
	case parentID == nil && t.any:
		parent = t.last // v1 is linear
	}
	n := &t.nodes[seq]
	n.parent, n.seen, n.first = parent, n.seen|isEntry, keeps
	if lane != "" && !moves {
		n.seen |= isAside
	}
	t.last, t.any, s.Any = int32(seq), true, true
	if id != "" {
		t.ids[transcript.Hash(id)] = int32(seq)
	}
	if moves {
		s.Leaf = transcript.Hash(id)
	}
	return nil
}

// chainOn is chain for a continued reading: only an entry that continues the
// leaf leaves the earlier ones as they are.
func (s *session) chainOn(id string, parentID jsonv.Value, moves bool) error {
	if moves && s.Any {
		switch parentID.Kind() {
		case jsonv.String:
			if transcript.Hash(parentID.Str()) != s.Leaf {
				return transcript.ErrReread
			}
		case jsonv.Absent: // v1
		default:
			return transcript.ErrReread
		}
	}
	s.Any = true
	if moves {
		s.Leaf = transcript.Hash(id)
	}
	return nil
}

// moveLeaf sets the stored leaf.
func (s *session) moveLeaf(seq int, id jsonv.Value) error {
	leaf := transcript.Hash(id.Str())
	if s.resumed && leaf != s.Leaf {
		return transcript.ErrReread
	}
	if leaf != s.Leaf {
		s.links.moved(seq)
	}
	s.Leaf = leaf
	return nil
}

// path lists the entries from the leaf to the root.
func (t *tree) path(leaf uint64) (path []int32) {
	if !t.any {
		return nil
	}
	at, ok := t.ids[leaf]
	if !ok {
		at = t.last // an unknown leaf falls back to the last entry
	}
	for i := at; i != noNode; i = t.nodes[i].parent {
		path = append(path, i)
	}
	return path
}

// shadowed calls f for the ranges of entries that the model no longer sees:
// those beside the path to the leaf, and those a compaction on it replaced.
func (t *tree) shadowed(leaf uint64, f func(from, to int) error) error {
	path := t.path(leaf)
	if len(path) == 0 {
		return nil
	}
	compaction := len(path)
	for i, seq := range path {
		if t.nodes[seq].seen&isCompaction != 0 {
			compaction = i
			break
		}
	}
	end := len(path)
	if compaction < len(path) {
		end = compaction + 1
		if first := t.nodes[path[compaction]].first; first >= 0 {
			for i := compaction + 1; i < len(path); i++ {
				if path[i] == first {
					end = i + 1
					break
				}
			}
		}
	}
	for i, seq := range path[:end] {
		if i > compaction && t.nodes[seq].seen&isCompaction != 0 {
			continue // an earlier compaction among kept entries is not kept
		}
		t.nodes[seq].seen |= onPath
	}
	from := -1
	for i := range t.nodes {
		gone := t.nodes[i].seen&isContext != 0 && t.nodes[i].seen&onPath == 0
		switch {
		case gone && from < 0:
			from = i
		case !gone && from >= 0:
			if err := f(from, i); err != nil {
				return err
			}
			from = -1
		}
	}
	if from >= 0 {
		return f(from, len(t.nodes))
	}
	return nil
}
