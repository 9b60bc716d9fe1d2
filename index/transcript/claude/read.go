package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/sessionls/sessionls/index/transcript"
)

// Read implements transcript.Reader.
func (r *Reader) Read(ctx context.Context, env transcript.Env, src transcript.Source, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	f, err := transcript.OpenFile(src.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rd := &reading{r: r, env: env, src: src, place: placeOf(src.Path), out: out, f: f}
	rd.tracer, _ = out.(transcript.Tracer)
	cp, resumed := f.Resume(prev, version, rd.resume)
	if !resumed {
		if err := rd.start(ctx); err != nil {
			return nil, err
		}
		rd.main.links = newLinks(rd.tracer)
	}
	if err := out.Begin(resumed); err != nil {
		return nil, err
	}
	return cp, rd.run(ctx, cp, resumed)
}

// reading is one pass over one file.
type reading struct {
	r     *Reader
	env   transcript.Env
	src   transcript.Source
	place place
	out   transcript.Sink
	f     *transcript.File
	// tracer is out when links are asked for, nil otherwise; originals are then
	// the positions of the parent's records.
	tracer    transcript.Tracer
	originals map[uint64]int32

	main   *session
	sides  map[string]*session // inline sub-agents by key
	order  []*session          // sides in order of appearance
	sideOf map[uint64]*session // record → the inline sub-agent it belongs to

	copied     int  // leading records with a uuid that belong to the parent session
	lead       int  // leading records with a uuid that were copied
	seen       int  // records with a uuid so far
	wasFull    bool // the tree had overflowed before this pass
	askOwner   string
	firstChain bool // the first record of the chain was seen

	line record
	ev   transcript.Event
}

// resume takes up the state of an earlier pass.
func (rd *reading) resume(state []byte) bool {
	s := newSession("")
	if !s.restore(state) {
		return false
	}
	s.subagent = rd.place.agent != ""
	rd.main, rd.wasFull, rd.firstChain = s, s.tree.overflow, true
	return true
}

// start begins a file from its first byte: who is it, and whose copy.
func (rd *reading) start(ctx context.Context) error {
	p := rd.place
	if p.session == "" {
		p.session = rd.r.families.head(p.path).session
	}
	if p.agent != "" {
		rd.startAgent(ctx, p)
		return ctx.Err()
	}
	id := p.session
	if id == "" {
		id = p.stem
	}
	rd.main = newSession(id)
	l, err := rd.r.families.lineage(ctx, rd.src.Root, p, id)
	if err != nil {
		return err
	}
	rd.main.foreign = l.foreign
	if l.parent != "" {
		h := &rd.main.h
		h.Relation, h.ParentID, h.ParentEvent, h.LineageEvidence, h.InheritedKnown = l.relation, l.parent, l.event, l.evidence, l.known
		rd.copied, rd.lead = l.copied, l.lead
		if l.copied > 0 && transcript.WantsLinks(rd.tracer) {
			if rd.originals, err = rd.r.families.positions(ctx, l.file); err != nil {
				return err
			}
		}
		if l.warning != "" {
			h.Warn(l.warning)
		}
	}
	return nil
}

// startAgent begins a sub-agent's file.
func (rd *reading) startAgent(ctx context.Context, p place) {
	id := agentPrefix + p.agent
	if p.session != "" {
		id = agentSession(p.session, p.agent)
	}
	s := newSession(id)
	s.subagent = true
	h := &s.h
	h.Relation, h.DelegationDepth, h.InheritedKnown = transcript.RelationSubagent, 1, true
	meta := readMeta(p.metaFile())
	h.SetTitle(meta.Description, transcript.TitleAgent)
	if meta.SpawnDepth > 1 && meta.SpawnDepth < 1000 {
		h.DelegationDepth = meta.SpawnDepth
	}
	rd.main = s
	if p.session == "" {
		h.Warn("the session that started this sub-agent is not known")
		return
	}
	h.ParentID, h.LineageEvidence = p.session, transcript.EvidencePath
	if !p.nested {
		h.LineageEvidence = transcript.EvidenceLine
	}
	files := []string{p.mainFile(p.session)}
	switch {
	case p.parentAgent != "":
		h.ParentID, h.DelegationDepth = agentSession(p.session, p.parentAgent), max(2, h.DelegationDepth)
		files = []string{parentAgentFile(p)}
	case h.DelegationDepth > 1 && p.nested:
		// Sub-agents of sub-agents lie in one folder; the call says whose it is.
		if file, call, ok := rd.r.launches.among(ctx, p); ok {
			h.ParentID, h.ParentEvent, h.LineageEvidence = agentSession(p.session, placeOf(file).agent), call, transcript.EvidenceLine
			return
		}
	}
	for _, file := range files {
		if call, ok := rd.r.launches.find(ctx, file, p.agent); ok {
			h.ParentEvent, h.LineageEvidence = call, transcript.EvidenceLine
			return
		}
	}
}

// meta is what <agent>.meta.json says.
type meta struct {
	Description string `json:"description"`
	AgentType   string `json:"agentType"`
	SpawnDepth  int    `json:"spawnDepth"`
}

const maxMeta = 1 << 20

func readMeta(path string) (m meta) {
	b := transcript.ReadSmall(path, maxMeta)
	_ = json.Unmarshal(bytes.TrimPrefix(b, []byte("\ufeff")), &m) // a broken one says nothing
	return m
}

// giantLine is the length from which a line must not keep its memory.
const giantLine = 1 << 20

// run reads the records from where cp stands and moves it on.
func (rd *reading) run(ctx context.Context, cp *transcript.Checkpoint, resumed bool) error {
	lines := rd.f.Lines(cp.Offset, skipMembers...)
	err := lines.Each(ctx, cp, rd.out.Progress, func(rec transcript.Record) error {
		parse(rec.Value, &rd.line)
		err := rd.record(&rec)
		if rec.Length > giantLine {
			// The next line may be as large: hold on to nothing of this one.
			rd.line = record{}
			clear(rd.ev.Parts)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := rd.finish(ctx, resumed); err != nil {
		return err
	}
	if err := rd.f.Mark(cp, lines.Offset()); err != nil {
		return err
	}
	if len(rd.order) > 0 {
		// Inline sub-agents were written by versions that no longer append:
		// their files are read anew should they grow.
		return nil
	}
	return rd.main.save(cp, rd.lead > 0 && rd.seen <= rd.lead)
}

// finish tells surfaces and headers once every record is known.
func (rd *reading) finish(ctx context.Context, resumed bool) error {
	m := rd.main
	if resumed && (len(rd.order) > 0 || m.tree.overflow != rd.wasFull) {
		return transcript.ErrReread
	}
	if !resumed && rd.askOwner != "" && m.h.ParentID == "" {
		owner, err := rd.r.families.owner(ctx, rd.place, rd.askOwner)
		if err != nil {
			return err
		}
		m.h.ParentEvent = rd.askOwner
		if owner != "" {
			m.h.Relation, m.h.ParentID, m.h.LineageEvidence, m.h.InheritedKnown = transcript.RelationContinuation, owner, transcript.EvidenceLine, true
		} else {
			m.h.ParentEvent = ""
			m.h.Warn("it continues a conversation whose file is not here")
		}
	}
	if m.foreign != "" && m.ownID && m.h.ParentID == "" {
		// Written on from a copy of a session that is gone: the copy stays
		// findable here.
		m.h.Relation, m.h.ParentID, m.h.LineageEvidence, m.h.InheritedKnown = transcript.RelationFork, m.foreign, transcript.EvidenceLine, false
	}
	if m.h.Relation == transcript.RelationRoot {
		m.h.InheritedKnown = true
	}
	// Only when it is read whole: a line appended must not cost a look at all the
	// files beside it.
	if !resumed && !m.subagent {
		m.told(rd.r.families.summaries(filepath.Dir(rd.place.path)))
	}
	talked := false
	for i, s := range append([]*session{m}, rd.order...) {
		if s.seq == 0 && i == 0 && len(rd.order) > 0 {
			continue // a file of inline sub-agents only
		}
		if !s.tree.settle() {
			return transcript.ErrReread
		}
		if err := s.tree.shadowed(func(from, to int) error {
			return rd.out.Surface(s.h.SessionID, from, to, transcript.Shadowed)
		}); err != nil {
			return err
		}
		if err := s.trace(); err != nil {
			return err
		}
		h := s.header(rd.env)
		if resumed && s.newSummaries {
			return transcript.ErrReread
		}
		talked = talked || h.Conversation
		if s.seq > 0 {
			if err := rd.out.Header(h); err != nil {
				return err
			}
		}
	}
	if !talked {
		return transcript.ErrNoSession
	}
	return nil
}
