package reconcile

import (
	"errors"
	"strings"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// guard stands between a reader and the sink: it tells failures of the index
// from those of the reader, and keeps out what is excluded.
type guard struct {
	*store.Sink
	p        *pass
	agent    string
	begun    bool
	resumed  bool
	shut     bool   // excluded by the configuration
	excluded string // the session for which it is
	lapsed   string // a session of it that is forgotten
	any      bool   // there were events
	copied   bool   // events were inherited
	parents  []string
	fault    error
	sessions []string // ids of the conversations, the first few
}

// errExcluded ends the reading of a source that is to stay out of the index.
var errExcluded = errors.New("excluded by the configuration")

func (g *guard) pass(err error) error {
	if err != nil && g.fault == nil && store.IsFault(err) {
		g.fault = err
	}
	return err
}

// Begin implements transcript.Sink.
func (g *guard) Begin(resumed bool) error {
	g.begun, g.resumed = true, resumed
	return g.pass(g.Sink.Begin(resumed))
}

// Event implements transcript.Sink.
func (g *guard) Event(e *transcript.Event) error {
	g.any = true
	if g.p.cfg.Forgotten.Has(g.agent, e.SessionID) {
		return nil
	}
	g.copied = g.copied || e.Inherited && len(e.Parts) > 0
	return g.pass(g.Sink.Event(e))
}

// Surface implements transcript.Sink.
func (g *guard) Surface(sessionID string, from, to int, s transcript.Surface) error {
	if g.p.cfg.Forgotten.Has(g.agent, sessionID) {
		return nil
	}
	return g.pass(g.Sink.Surface(sessionID, from, to, s))
}

// Header implements transcript.Sink.
func (g *guard) Header(h *transcript.Header) error {
	if g.p.cfg.Forgotten.Has(g.agent, h.SessionID) {
		if g.lapsed == "" || len(h.SessionID) < len(g.lapsed) {
			g.lapsed = strings.Clone(h.SessionID)
		}
		return nil
	}
	if g.p.cfg.Exclude.MatchAny(h.CWD, h.CWDs) || g.p.isShutOut(g.agent, h.SessionID) {
		g.shut, g.excluded = true, strings.Clone(h.SessionID)
		return errExcluded
	}
	if h.ParentID != "" && h.InheritedCount > 0 && len(g.parents) < maxParents {
		g.parents = append(g.parents, strings.Clone(h.ParentID))
	}
	if h.Conversation && len(g.sessions) < 2 {
		g.sessions = append(g.sessions, h.SessionID)
	}
	return g.pass(g.Sink.Header(h))
}

// maxParents bounds how many parents of the sessions of one source are looked
// up.
const maxParents = 100

// lost lists those of the parents that are neither in the index nor among what
// was found: they were dropped by retention, by the configuration or by the
// user, while the reader still sees their transcripts.
func (p *pass) lost(t *store.Tx, agent string, parents []string) (lost []string, err error) {
	if p.coming == nil {
		p.coming = map[[2]string]struct{}{}
		for _, f := range p.sources {
			if f.SessionID != "" {
				p.coming[[2]string{f.Agent, f.SessionID}] = struct{}{}
			}
		}
	}
	for _, id := range parents {
		if _, ok := p.coming[[2]string{agent, id}]; ok && !p.shut.Has(agent, id) {
			continue
		}
		_, have, err := t.Provided(transcript.Source{Agent: agent}, []string{id})
		if err != nil {
			return nil, err
		}
		if !have[id] {
			lost = append(lost, id)
		}
	}
	return lost, nil
}
