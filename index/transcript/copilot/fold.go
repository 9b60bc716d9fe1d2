package copilot

import (
	"encoding/json"
	"hash/maphash"
	"sort"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// Bounds of what a fold remembers. They are part of the reading: a resumed
// reading forgets the same things as a whole one.
const (
	maxCalls    = 96      // tool calls, newest kept
	maxMessages = 32      // assistant messages, newest kept
	maxAgents   = 128     // agent ids with a known tool call
	maxSessions = 4096    // sub-agents of one log; later ones count as the main session
	maxID       = 128     // bytes of an id or a name
	maxIDs      = 1 << 20 // event ids that a rewind may name
)

// state is what a resumed reading needs to go on.
type state struct {
	Sessions []*session        `json:"sessions"`
	Calls    []call            `json:"calls,omitempty"`
	Messages []message         `json:"messages,omitempty"`
	Agents   map[string]string `json:"agents,omitempty"` // agent id → tool call id
	CWD      string            `json:"cwd,omitempty"`    // the present one, for relative paths
}

type session struct {
	Key  string            `json:"key,omitempty"` // tool call id of a sub-agent, "" for the main session
	Next int               `json:"next"`          // next seq
	H    transcript.Header `json:"header"`
}

type call struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Session int    `json:"session,omitempty"` // index of the session that made the call
	Event   string `json:"event,omitempty"`   // event id of the call
	Title   string `json:"title,omitempty"`   // what a sub-agent is asked to do, short
}

type message struct {
	Session int    `json:"session,omitempty"`
	ID      string `json:"id"`
	Text    uint64 `json:"text,string,omitempty"` // hash of the last text seen
	Counted bool   `json:"counted,omitempty"`
}

// run is a range [from, to) of seqs that the model sees.
type run struct{ from, to int }

type place struct{ session, seq int32 }

type fold struct {
	state
	env     transcript.Env
	opt     Options
	out     transcript.Sink
	resumed bool

	byKey map[string]int
	// Kept in a whole reading only; a resumed one never changes surfaces.
	current  map[int][]run
	ids      map[uint64]place
	seed     maphash.Seed
	compacts int    // seq of the main session's last compaction start, -1 if none
	links    *links // nil unless they are asked for
}

func newFold(env transcript.Env, opt Options, out transcript.Sink) *fold {
	fd := &fold{
		env: env, opt: opt, out: out, byKey: map[string]int{"": 0},
		current: map[int][]run{}, ids: map[uint64]place{}, seed: maphash.MakeSeed(), compacts: -1,
	}
	fd.Agents = map[string]string{}
	fd.Sessions = []*session{{H: transcript.Header{
		SessionID: opt.SessionID, Relation: transcript.RelationRoot, InheritedKnown: true,
		Format: opt.Format, Entrypoint: opt.Entrypoint,
	}}}
	return fd
}

// resume takes the carry-over of an earlier reading; false if it is not usable.
func (fd *fold) resume(b []byte) bool {
	var st state
	if json.Unmarshal(b, &st) != nil || len(st.Sessions) == 0 || st.Sessions[0] == nil || st.Sessions[0].H.SessionID != fd.opt.SessionID {
		return false
	}
	for i, s := range st.Sessions {
		if s == nil {
			return false
		}
		fd.byKey[s.Key] = i
	}
	for _, c := range st.Calls {
		if c.Session < 0 || c.Session >= len(st.Sessions) {
			return false
		}
	}
	if st.Agents == nil {
		st.Agents = map[string]string{}
	}
	fd.state, fd.resumed = st, true
	return true
}

// emit completes an event of session i and hands it over.
func (fd *fold) emit(i int, e *transcript.Event) error {
	s := fd.Sessions[i]
	e.SessionID, e.Seq = s.H.SessionID, s.Next
	s.Next++
	s.H.SawTime(e.Time, fd.env.Time())
	if e.Message {
		s.H.MessageCount++
		s.H.Conversation = true
	}
	if !fd.resumed {
		if e.ID != "" && len(fd.ids) < maxIDs {
			fd.ids[maphash.String(fd.seed, e.ID)] = place{int32(i), int32(e.Seq)}
		}
		// The system prompt survives every compaction and rewind.
		if e.Surface == transcript.Current && e.Type != transcript.TypeSystem {
			runs := fd.current[i]
			if n := len(runs); n > 0 && runs[n-1].to == e.Seq {
				runs[n-1].to++
			} else {
				fd.current[i] = append(runs, run{e.Seq, e.Seq + 1})
			}
		}
	}
	if err := fd.out.Event(e); err != nil || fd.links == nil {
		return err
	}
	return fd.links.emitted(fd, i, e)
}

// shadow takes what the model saw of session i in [from, to) out of its view.
// The runs before from are not touched, so that many rewinds of a long log cost
// what they remove.
func (fd *fold) shadow(i, from, to int) error {
	runs := fd.current[i]
	first := sort.Search(len(runs), func(k int) bool { return runs[k].to > from })
	kept := append([]run(nil), runs[first:]...)
	runs = runs[:first]
	for k, r := range kept {
		if r.from >= to {
			runs = append(runs, kept[k:]...)
			break
		}
		a, b := max(r.from, from), min(r.to, to)
		if err := fd.out.Surface(fd.Sessions[i].H.SessionID, a, b, transcript.Shadowed); err != nil {
			return err
		}
		fd.links.took(a, b)
		if r.from < a {
			runs = append(runs, run{r.from, a})
		}
		if b < r.to {
			runs = append(runs, run{b, r.to})
		}
	}
	fd.current[i] = runs
	return nil
}

// sub returns the session of the sub-agent that a tool call started.
func (fd *fold) sub(key string) int {
	if i, ok := fd.byKey[key]; ok {
		return i
	}
	main := fd.Sessions[0]
	if len(fd.Sessions) > maxSessions {
		main.H.Warn("more sub-agents than can be told apart")
		return 0
	}
	parent, event, title := 0, "", ""
	if c := fd.call(key); c != nil {
		parent, event, title = c.Session, c.Event, c.Title
	}
	p := &fd.Sessions[parent].H
	s := &session{Key: key, H: transcript.Header{
		SessionID: fd.opt.SessionID + transcript.SubagentMark + key, Relation: transcript.RelationSubagent,
		ParentID: p.SessionID, ParentEvent: event, LineageEvidence: transcript.EvidenceLine,
		DelegationDepth: p.DelegationDepth + 1, InheritedKnown: true,
		Format: fd.opt.Format, Entrypoint: fd.opt.Entrypoint,
	}}
	s.H.SetTitle(title, transcript.TitleAgent)
	fd.Sessions = append(fd.Sessions, s)
	fd.byKey[key] = len(fd.Sessions) - 1
	return len(fd.Sessions) - 1
}

func (fd *fold) call(id string) *call {
	if id == "" {
		return nil
	}
	for i := len(fd.Calls) - 1; i >= 0; i-- {
		if fd.Calls[i].ID == id {
			return &fd.Calls[i]
		}
	}
	return nil
}

func (fd *fold) addCall(c call) {
	if c.ID == "" || len(c.ID) > 256 {
		return
	}
	if len(fd.Calls) >= maxCalls {
		fd.Calls = append(fd.Calls[:0], fd.Calls[1:]...)
	}
	fd.Calls = append(fd.Calls, c)
}

func (fd *fold) message(session int, id string) *message {
	for i := len(fd.Messages) - 1; i >= 0; i-- {
		if fd.Messages[i].ID == id && fd.Messages[i].Session == session {
			return &fd.Messages[i]
		}
	}
	if len(fd.Messages) >= maxMessages {
		fd.Messages = append(fd.Messages[:0], fd.Messages[1:]...)
	}
	fd.Messages = append(fd.Messages, message{Session: session, ID: id})
	return &fd.Messages[len(fd.Messages)-1]
}

// route says which session an event belongs to.
func (fd *fold) route(kind string, v, data jsonv.Value) int {
	if key := data.Get("parentToolCallId").Str(); key != "" {
		return fd.sub(key)
	}
	agent := v.Get("agentId").Str()
	switch kind {
	case "subagent.started", "subagent.completed", "subagent.failed":
		// The life of a sub-agent belongs to the session that called it.
		id := data.Get("toolCallId").Str()
		if kind == "subagent.started" && agent != "" && id != "" && len(fd.Agents) < maxAgents && len(agent)+len(id) < 256 {
			fd.Agents[agent] = id
		}
		if c := fd.call(id); c != nil {
			return c.Session
		}
		return 0
	}
	if agent != "" && agent != fd.opt.SessionID {
		if id, ok := fd.Agents[agent]; ok {
			return fd.sub(id)
		}
		return fd.sub(agent)
	}
	if kind == "tool.execution_start" || kind == "tool.execution_complete" {
		if c := fd.call(data.Get("toolCallId").Str()); c != nil {
			return c.Session
		}
	}
	return 0
}

// finish hands over the headers.
func (fd *fold) finish() error {
	conversation := false
	for _, s := range fd.Sessions {
		conversation = conversation || s.H.Conversation
	}
	if !conversation {
		return transcript.ErrNoSession
	}
	var main transcript.Header
	for i, s := range fd.Sessions {
		h := s.H.Clone() // the carry-over must stay as it is
		if i == 0 {
			if fd.opt.Finish != nil {
				fd.opt.Finish(&h)
			}
			main = h
		} else {
			// A sub-agent works where its session does.
			if h.CWD == "" {
				h.CWD = main.CWD
			}
			if h.Branch == "" {
				h.Branch = main.Branch
			}
			if h.RepoURL == "" {
				h.RepoURL = main.RepoURL
			}
		}
		h.Finish(fd.opt.Label)
		if err := fd.out.Header(&h); err != nil {
			return err
		}
	}
	return nil
}
