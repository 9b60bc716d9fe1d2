package vscode

import (
	"github.com/sessionls/sessionls/index/transcript"
)

// links is what a reading that is asked for links keeps besides. All methods
// but emitted do nothing on nil.
type links struct {
	out transcript.Tracer
	// nodes are the values that the next event is made of. Their bytes are
	// read only if its record is wanted.
	nodes []*node
	asks  bool // it begins a request
	// hidden are the events that a restored checkpoint took back, until
	// something else is asked in their place.
	hidden []transcript.Run
}

func newLinks(out transcript.Sink) *links {
	t, ok := out.(transcript.Tracer)
	if !ok {
		return nil
	}
	return &links{out: t}
}

// from says what the next event is made of; nil stands for nothing.
func (l *links) from(nodes ...*node) {
	if l == nil {
		return
	}
	l.nodes, l.asks = l.nodes[:0], false
	for _, n := range nodes {
		l.add(n)
	}
}

// add adds one more item to a run of text.
func (l *links) add(n *node) {
	if l != nil && n != nil {
		l.nodes = append(l.nodes, n)
	}
}

// asked says that the next event is what a request asks: its record is the
// request without what became of it, which follows as events of its own.
func (l *links) asked(r *node) {
	if l == nil {
		return
	}
	ask := &node{kind: '{', open: true}
	for i, key := range r.keys {
		if key != "response" && key != "result" {
			ask.add(key, r.kids[i])
		}
	}
	l.from(ask)
	l.asks = true
}

func (l *links) emitted(c *chat, e *transcript.Event) error {
	nodes, asks := l.nodes, l.asks
	l.nodes, l.asks = nil, false
	if len(nodes) > 0 && l.out.Wants(e.SessionID, e.Seq) {
		n := nodes[0]
		if len(nodes) > 1 {
			n = &node{kind: '[', open: true, kids: nodes}
		}
		if err := transcript.PassData(l.out, e.SessionID, e.Seq, c.t.value(n, limits())); err != nil {
			return err
		}
	}
	switch {
	case e.Surface == transcript.Shadowed:
		l.hidden = transcript.AddRun(l.hidden, e.Seq)
	case asks && len(l.hidden) > 0:
		gone := l.hidden
		l.hidden = nil
		return transcript.Replace(l.out, e.SessionID, gone, e.Seq, false)
	}
	return nil
}
