package codex

import (
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

var topKeys = []string{"timestamp", "type", "payload", "record_type", "id"}

// record turns one line into the next event.
func (s *session) record(rec transcript.Record) error {
	var top [5]jsonv.Value
	rec.Value.Pick(topKeys, top[:])
	ev := transcript.Event{
		SessionID: s.Header.SessionID, Seq: s.Seq, Time: transcript.ParseTime(top[0]),
		Type: transcript.TypeOther, Role: transcript.RoleSystem, Surface: transcript.LogOnly,
		Offset: rec.Offset, Length: rec.Length,
	}
	s.Seq++
	for _, seq := range s.Twins.advance(ev.Seq, rec.Offset) {
		s.settle(seq, false)
	}
	if err := s.drain(false); err != nil {
		return err
	}
	kind, payload := top[1].Str(), top[2]
	if s.links != nil {
		s.links.record(s, &ev, rec, payload)
	}
	ev.RawType = kind
	switch {
	case payload.Kind() == jsonv.Object && kind != "":
		if kind == "session_meta" {
			return s.meta(&ev, payload)
		}
		ev.Inherited = s.isCopy(rec.Offset)
		switch kind {
		case "turn_context":
			return s.turnContext(&ev, payload)
		case "response_item":
			return s.item(&ev, payload)
		case "event_msg":
			return s.event(&ev, payload)
		case "compacted":
			return s.compacted(&ev, payload)
		case "inter_agent_communication":
			return s.agentMessage(&ev, payload)
		}
	case top[3].Exists(): // {"record_type":"state"} of 2025
		ev.RawType = top[3].Str()
	case kind == "" && top[4].Kind() == jsonv.String && top[0].Exists():
		return s.oldMeta(&ev, rec.Value)
	case kind != "" && payload == nil:
		// A bare item of 2025. It has no time of its own.
		ev.Inherited = s.isCopy(rec.Offset)
		return s.item(&ev, rec.Value)
	}
	ev.Inherited = s.isCopy(rec.Offset)
	return s.put(ev, false)
}

// isCopy reports whether the record at offset was copied from a parent.
func (s *session) isCopy(offset int64) bool { return offset < s.Copied.End }

func (s *session) meta(ev *transcript.Event, p jsonv.Value) error {
	ev.Type = transcript.TypeSessionMeta
	id := threadID(p.Get("id"))
	ev.ID = id
	if !s.Known && ev.Offset > 0 && s.src.SessionID != "" && id != s.src.SessionID {
		// The session's own first line is lost; this one is the parent's.
		s.Known = true
		s.directory(p.Get("cwd").Str())
		s.Header.Warn("the session's own description is damaged: its parent is unknown")
		return s.put(*ev, false)
	}
	if s.Known {
		// Written again on resume, or the copied one of a parent.
		ev.Inherited = s.isCopy(ev.Offset)
		if id == s.Header.SessionID {
			ev.Inherited = false
			s.repository(p.Get("git"))
		} else if s.CopyOf != "" && !ev.Inherited && !s.Copied.Parent {
			return transcript.ErrReread // it proves that more before it was copied
		}
		return s.put(*ev, false)
	}
	s.Known = true
	h := &s.Header
	if id != "" && ev.Seq == 0 {
		// Events carry the id; it can only be taken before the first of them.
		h.SessionID, ev.SessionID = id, id
	}
	h.SawTime(transcript.ParseTime(p.Get("timestamp")), s.now)
	s.directory(p.Get("cwd").Str())
	s.repository(p.Get("git"))
	if p.Get("history_mode").IsStr("paginated") {
		h.Format = "rollout paginated"
	}
	s.launch(p)
	o := originOf(p, h.SessionID)
	h.Relation, h.ParentID, h.DelegationDepth = o.relation, o.parent, o.depth
	if o.parent != "" {
		h.LineageEvidence = transcript.EvidenceHeader
		s.CopyOf = o.copyOf
		if err := s.findCopy(); err != nil {
			return err
		}
	}
	return s.put(*ev, false)
}

// threadID reads a thread's id: UUIDs in one spelling, "" for what cannot be one.
func threadID(v jsonv.Value) string {
	id := v.Str()
	if len(id) > 200 {
		return ""
	}
	if fileID.FindString(id) == id {
		return strings.ToLower(id)
	}
	return transcript.CleanWord(id)
}

// findCopy determines how much of the file repeats its parent.
func (s *session) findCopy() error {
	ids, found, err := parentTurns(s.ctx, s.src, s.CopyOf)
	if err != nil {
		return err
	}
	if !found {
		ids = nil
		s.Header.Warn("the parent's transcript was not found: copied events may count as this session's own")
	}
	if s.Copied, err = measure(s.ctx, s.src.Path, s.Header.SessionID, ids); err != nil {
		return err
	}
	if s.links != nil && s.Copied.End > 0 && transcript.WantsLinks(s.links.out) {
		if s.links.parent, err = readOriginals(s.ctx, s.src, s.CopyOf); err != nil {
			return err
		}
	}
	s.Header.InheritedKnown = s.Copied.Parent && (s.Copied.Decided || s.Copied.End == everything)
	return nil
}

// launch tells from where a session was started, and whether by a program.
func (s *session) launch(p jsonv.Value) {
	h := &s.Header
	originator, source := p.Get("originator").Str(), p.Get("source")
	switch {
	case source.Kind() == jsonv.String:
		h.Entrypoint = transcript.CleanWord(source.Str())
	case source.Get("subagent").Exists():
		h.Entrypoint = "subagent"
	default:
		h.Entrypoint = transcript.CleanWord(originator)
	}
	low := strings.ToLower(originator)
	h.Automated = h.Entrypoint == "exec" || h.Entrypoint == "mcp" ||
		strings.Contains(low, "exec") || strings.Contains(low, "sdk") || strings.Contains(low, "mcp")
}

func (s *session) directory(dir string) {
	dir = transcript.CleanPath(dir)
	s.Header.SawCWD(dir)
	if dir != "" {
		s.Dir = dir
	}
}

func (s *session) repository(git jsonv.Value) {
	if b := git.Get("branch").Str(); b != "" {
		s.Header.Branch = transcript.CleanWord(b)
	}
	if u := git.Get("repository_url").Str(); u != "" {
		s.Header.RepoURL = transcript.CleanWord(u)
	}
}

// oldMeta is the first line of mid-2025 files: {id, timestamp, instructions, git}.
func (s *session) oldMeta(ev *transcript.Event, v jsonv.Value) error {
	ev.Type = transcript.TypeSessionMeta
	if !s.Known {
		s.Known = true
		id := threadID(v.Get("id"))
		if id != "" && ev.Seq == 0 {
			s.Header.SessionID, ev.SessionID = id, id
		}
		ev.ID = id
		s.Header.Format = "rollout 2025"
		s.Header.SawTime(ev.Time, s.now)
		s.directory(v.Get("cwd").Str())
		s.repository(v.Get("git"))
	}
	return s.put(*ev, false)
}

func (s *session) turnContext(ev *transcript.Event, p jsonv.Value) error {
	ev.Type = transcript.TypeContext
	if !ev.Inherited {
		var f [2]jsonv.Value
		p.Pick([]string{"cwd", "model"}, f[:])
		s.directory(f[0].Str())
		s.Header.SawModel(transcript.CleanWord(f[1].Str()))
	}
	return s.put(*ev, false)
}

// compacted ends what the model saw so far. The record's own copy of the
// history is never text; its summary is.
func (s *session) compacted(ev *transcript.Event, p jsonv.Value) error {
	if s.resumed {
		return transcript.ErrReread
	}
	var f [2]jsonv.Value
	p.Pick([]string{"message", "replacement_history"}, f[:])
	ev.Type, ev.Surface = transcript.TypeCompaction, transcript.Current
	ev.AddText(transcript.Prose, f[0].Str())
	// On a line beyond 4 MB the list was replaced by null; it was there.
	s.live.compact(ev.Seq, f[1] == nil || f[1].Kind() == jsonv.Null && ev.Length < longLine)
	s.live.add(ev.Seq, false)
	return s.put(*ev, false)
}

// longLine is the length beyond which members are left out of a line.
const longLine = 4 << 20
