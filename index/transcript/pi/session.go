package pi

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// session is one Pi session while it is read.
type session struct {
	state
	ctx     context.Context
	env     transcript.Env
	src     transcript.Source
	out     transcript.Sink
	now     time.Time
	resumed bool
	parent  *parentFile
	tree    tree
	links   *links // nil unless they are asked for
}

func newSession(ctx context.Context, env transcript.Env, src transcript.Source, out transcript.Sink) *session {
	s := &session{ctx: ctx, env: env, src: src, out: out, now: env.Time()}
	h := &s.Header
	h.SessionID = src.SessionID
	if h.SessionID == "" {
		h.SessionID = fileID(strings.TrimSuffix(filepath.Base(src.Path), ".jsonl"))
	}
	h.Relation, h.InheritedKnown = transcript.RelationRoot, true
	s.tree.ids = map[uint64]int32{}
	return s
}

// isHeader reports whether a line describes the session.
func isHeader(v jsonv.Value) bool {
	return v.Get("type").IsStr("session") || v.Get("kind").IsStr("header")
}

var topKeys = []string{"type", "kind", "id", "parentId", "timestamp", "message", "lane", "entry", "fact", "op", "namespace", "key", "value", "leafId"}

// fields are the members of a line or a write.
type fields struct {
	typ, kind, id, parentID, timestamp, message, lane, entry, fact, op, namespace, key, value, leafID jsonv.Value
}

func pickFields(v jsonv.Value) fields {
	var f [14]jsonv.Value
	v.Pick(topKeys, f[:])
	return fields{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11], f[12], f[13]}
}

// record turns a line into the next event; a line of the harness that commits
// several writes at once into one event for each.
func (s *session) record(rec transcript.Record) error {
	if rec.Value.Kind() != jsonv.Array {
		return s.write(rec.Value, rec)
	}
	var err error
	n := 0
	rec.Shared = true
	rec.Value.Elems(func(_ int, v jsonv.Value) bool {
		n++
		err = s.write(v, rec)
		return err == nil
	})
	if n == 0 && err == nil {
		err = s.write(rec.Value, rec)
	}
	return err
}

func (s *session) write(v jsonv.Value, rec transcript.Record) error {
	f := pickFields(v)
	ev := transcript.Event{
		SessionID: s.Header.SessionID, Seq: s.Seq, ID: transcript.CleanWord(f.id.Str()), Time: transcript.ParseTime(f.timestamp),
		Type: transcript.TypeOther, RawType: transcript.CleanWord(f.typ.Str()), Role: transcript.RoleSystem, Surface: transcript.LogOnly,
		Offset: rec.Offset, Length: rec.Length,
	}
	s.Seq++
	s.links.record(v, rec)
	if s.Seq >= math.MaxInt32 {
		return nil // the tree counts in 32 bits; no file of that length exists
	}
	if !s.resumed {
		s.tree.nodes = append(s.tree.nodes, node{parent: noNode})
	}
	kind := f.kind.Str()
	switch {
	case kind == "header" || f.typ.IsStr("session") && f.message == nil:
		return s.header(&ev, v, kind)
	case kind == "":
		return s.entry(&ev, v, f, rec)
	}
	s.Harness = true
	if ev.RawType == "" {
		ev.RawType = transcript.CleanWord(kind)
	}
	switch kind {
	case "entry":
		if f.entry.Kind() == jsonv.Object {
			lane := f.lane
			v, f = f.entry, pickFields(f.entry)
			if f.lane == nil {
				f.lane = lane
			}
			ev.ID, ev.RawType = transcript.CleanWord(f.id.Str()), transcript.CleanWord(f.typ.Str())
			if t := transcript.ParseTime(f.timestamp); !t.IsZero() {
				ev.Time = t
			}
		}
		return s.entry(&ev, v, f, rec)
	case "lane":
		if lane := f.lane.Str(); lane == "" || lane == mainLane {
			if err := s.moveLeaf(ev.Seq, f.leafID); err != nil {
				return err
			}
		}
	case "fact":
		s.fact(&ev, f.fact.Str(), v)
		s.links.labels(ev.Seq, v.Get("targetId").Str())
	case "register":
		switch ns := f.namespace.Str(); {
		case ns == "lane.leaf" && f.key.IsStr(mainLane):
			leaf := f.value
			if leaf.Kind() == jsonv.Object {
				leaf = leaf.Get("leafId")
			}
			if err := s.moveLeaf(ev.Seq, leaf); err != nil {
				return err
			}
		case strings.HasPrefix(ns, "fact."):
			s.register(&ev, strings.TrimPrefix(ns, "fact."), f)
		}
	}
	return s.deliver(&ev)
}

// mainLane is the lane whose path is the conversation.
const mainLane = "main"

func (s *session) header(ev *transcript.Event, v jsonv.Value, kind string) error {
	ev.Type = transcript.TypeSessionMeta
	if kind != "" {
		ev.RawType = "header"
	}
	if s.Known || s.Any {
		return s.deliver(ev) // a second one describes nothing new
	}
	s.Known = true
	h := &s.Header
	if id := transcript.CleanWord(v.Get("id").Str()); id != "" && ev.Seq == 0 {
		h.SessionID, ev.SessionID = id, id
	}
	h.Format = "v1"
	for _, key := range []string{"v", "version"} {
		if n := v.Get(key); n.Exists() {
			h.Format = "v" + transcript.CleanWord(n.Str())
		}
	}
	s.Harness = kind != ""
	for _, key := range []string{"timestamp", "createdAt"} {
		if t := transcript.ParseTime(v.Get(key)); !t.IsZero() {
			ev.Time = t
		}
	}
	h.SawCWD(transcript.CleanPath(v.Get("cwd").Str()))
	h.SawModel(transcript.CleanWord(v.Get("modelId").Str()))
	for _, key := range []string{"parentSessionId", "parentSession", "legacyParentSessionPath", "branchedFrom"} {
		if p := v.Get(key).Str(); p != "" && len(p) <= 4096 {
			s.Parent = p
			h.Relation, h.LineageEvidence = transcript.RelationFork, transcript.EvidenceHeader
			h.ParentID = parentName(key, p)
			if key != "parentSessionId" {
				h.LineageEvidence = transcript.EvidencePath
			}
			if err := s.lookUpParent(); err != nil {
				return err
			}
			if s.Found {
				h.LineageEvidence = transcript.EvidenceHeader
			}
			break
		}
	}
	return s.deliver(ev)
}

// parentName is the id in a recorded parent: the end of its file's name, else
// the text itself.
func parentName(key, p string) string {
	if key == "parentSessionId" {
		return transcript.CleanWord(p)
	}
	base := p[strings.LastIndexAny(p, `/\`)+1:]
	if stem, ok := strings.CutSuffix(base, ".jsonl"); ok {
		return transcript.CleanWord(fileID(stem))
	}
	return transcript.CleanWord(p)
}

// fact is a v4 line that names the session or labels an entry.
func (s *session) fact(ev *transcript.Event, fact string, v jsonv.Value) {
	switch fact {
	case "name":
		s.named(ev, v.Get("name"))
	case "label":
		ev.AddText(transcript.Prose, v.Get("label").Str())
	}
	if fact != "" {
		ev.RawType = "fact/" + transcript.CleanWord(fact)
	}
}

func (s *session) register(ev *transcript.Event, fact string, f fields) {
	ev.RawType = "register/fact." + transcript.CleanWord(fact)
	value := f.value
	if f.op.IsStr("delete") {
		value = nil
	}
	switch fact {
	case "name":
		if value.Kind() == jsonv.Object {
			value = value.Get("name")
		}
		s.named(ev, value)
	case "label":
		s.links.labels(ev.Seq, f.key.Str())
		if value.Kind() == jsonv.Object {
			value = value.Get("label")
		}
		ev.AddText(transcript.Prose, value.Str())
	}
}

// named records the name of the session; an empty one takes it back.
func (s *session) named(ev *transcript.Event, name jsonv.Value) {
	ev.Type = transcript.TypeTitle
	s.Name, s.NameSeq = strings.TrimSpace(transcript.CleanWord(name.Str())), ev.Seq
}

// deliver passes an event to the sink and counts it in the header.
func (s *session) deliver(ev *transcript.Event) error {
	h := &s.Header
	if ev.Inherited {
		ev.Message = false
		h.InheritedCount++
		h.ParentEvent = ev.ID
	} else {
		h.SawTime(ev.Time, s.now)
	}
	if ev.Message {
		h.MessageCount++
	}
	if ev.Type == transcript.TypeUserMessage && ev.Role == transcript.RoleUser ||
		ev.Role == transcript.RoleAssistant && len(ev.Parts) > 0 {
		h.Conversation = true
	}
	if len(ev.Parts) > 0 && ev.Parts[0].Kind == transcript.Prose {
		s.offerTitle(ev, ev.Parts[0].Text)
	}
	if err := s.out.Event(ev); err != nil || s.links == nil {
		return err
	}
	return s.links.delivered(s, ev)
}

func (s *session) offerTitle(ev *transcript.Event, text string) {
	h := &s.Header
	switch {
	case ev.Role == transcript.RoleUser && ev.Inherited:
		if s.Foreign == "" {
			s.Foreign, s.ForeignSeq = transcript.PromptTitle(text), ev.Seq
		}
	case ev.Role == transcript.RoleUser:
		h.OfferTitle(text, transcript.TitlePrompt, ev.Seq)
	case ev.Role == transcript.RoleAssistant && !ev.Inherited:
		h.OfferTitle(text, transcript.TitleReply, ev.Seq)
	}
}

// finish hands over the surfaces that the tree decides, and the header.
func (s *session) finish() error {
	if !s.Header.Conversation {
		return transcript.ErrNoSession
	}
	if !s.resumed {
		err := s.tree.shadowed(s.Leaf, func(from, to int) error {
			return s.out.Surface(s.Header.SessionID, from, to, transcript.Shadowed)
		})
		if err != nil {
			return err
		}
		if err := s.links.finish(s); err != nil {
			return err
		}
	}
	h := s.Header.Clone()
	if !s.Known {
		h.Warn("the file has no header: id from its name")
	}
	if s.Found && s.Own && h.InheritedCount == 0 {
		// A new session that was started from another one shares nothing with it.
		h.Relation = transcript.RelationContinuation
	}
	h.SetTitleAt(s.Foreign, transcript.TitlePrompt, s.ForeignSeq)
	h.SetTitleAt(s.Name, transcript.TitleUser, s.NameSeq)
	h.Finish(label)
	return s.out.Header(&h)
}
