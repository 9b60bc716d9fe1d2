package exact

import (
	"context"
	"slices"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
)

// maxFamily bounds how many descendants are looked at.
const maxFamily = 20000

// TraceSession answers traceSession. Only rows of headers are read.
func (e *Engine) TraceSession(ctx context.Context, request contract.TraceSessionRequest) (contract.TraceSessionResponse, error) {
	var out contract.TraceSessionResponse
	err := e.View(ctx, func(snap *store.Snapshot) error {
		target, err := Resolve(ctx, snap, request.SessionName)
		if err != nil {
			return err
		}
		f := family{e: e, ctx: ctx, snap: snap, page: newPage()}
		out = contract.TraceSessionResponse{Target: Header(target, e.Now())}
		f.page.fits(out.Target)
		if err := f.ancestors(target, &out); err != nil {
			return err
		}
		return f.descendants(target, &out)
	})
	return out, err
}

type family struct {
	e    *Engine
	ctx  context.Context
	snap *store.Snapshot
	page *page
}

func (f *family) ancestors(target *store.Session, out *contract.TraceSessionResponse) error {
	seen := map[string]bool{target.SID: true}
	root := out.Target
	for x := target; ; {
		id := x.ParentID
		if id == "" {
			out.Complete, out.Root = true, &root
			return nil
		}
		if seen[id] {
			return contract.Failed(contract.CodeInvalidLineage, nil, "the recorded ancestors of %.200q lead back to %.200q", target.SID, id)
		}
		seen[id] = true
		parent, err := f.snap.Exactly(f.ctx, x.Agent, id)
		if err != nil {
			return err
		}
		if parent == nil {
			out.UnresolvedParentID = &id
			return nil
		}
		root = Header(parent, f.e.Now())
		if !f.page.fits(root) {
			// Beyond any answer: the walk goes on for the root, or a cycle.
			out.Truncated = true
		} else {
			out.Ancestors = append(out.Ancestors, root)
		}
		x = parent
	}
}

// relative is a descendant on the way to becoming a node.
type relative struct {
	session  *store.Session
	header   contract.Header
	depth    int
	parent   int // among the relatives, -1 for a child of the target
	children []int
}

// descendants goes down level by level, so that an answer that ends early lacks
// the deepest, and builds the nodes without recursion.
func (f *family) descendants(target *store.Session, out *contract.TraceSessionResponse) error {
	var all []relative
	at := map[string]int{target.SID: -1}
	level := []string{target.SID}
	for depth := 1; len(level) > 0; depth++ {
		children, err := f.snap.Children(f.ctx, target.Agent, level, maxFamily+1-len(all))
		if err != nil {
			return err
		}
		level = nil
		for _, x := range children {
			if _, known := at[x.SID]; known {
				continue // a cycle elsewhere
			}
			r := relative{session: x, header: Header(x, f.e.Now()), depth: depth, parent: at[x.ParentID]}
			if len(all) >= maxFamily || !f.page.fits(r.header) {
				out.Truncated = true
				level = nil
				break
			}
			at[x.SID] = len(all)
			if r.parent >= 0 {
				all[r.parent].children = append(all[r.parent].children, len(all))
			}
			all = append(all, r)
			level = append(level, x.SID)
		}
	}
	nodes := make([]contract.LineageNode, len(all))
	for i, r := range slices.Backward(all) {
		nodes[i] = contract.LineageNode{Session: r.header, Depth: r.depth, Descendants: []contract.LineageNode{}}
		if r.depth < contract.MaxNesting {
			for _, child := range r.children {
				nodes[i].Descendants = append(nodes[i].Descendants, nodes[child])
			}
		}
	}
	out.Descendants = []contract.LineageNode{}
	for i, r := range all {
		if r.parent < 0 {
			out.Descendants = append(out.Descendants, nodes[i])
		}
		if r.depth > contract.MaxNesting {
			out.Deeper = append(out.Deeper, contract.DeeperSession{Session: r.header, ParentSessionID: r.session.ParentID, Depth: r.depth})
		}
	}
	return nil
}
