package claude

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
)

const (
	// recentIDs bounds what is remembered of messages and blocks: lines of one
	// response lie close together.
	recentIDs = 128
	// openCalls bounds the calls that wait for their result.
	openCalls = 128
)

// session is what is known of one session while its records are read.
type session struct {
	h        transcript.Header
	seq      int
	tree     *tree
	links    *links // nil unless they are asked for
	messages recent // message ids that were counted
	blocks   recent // blocks of those messages, to drop cumulative copies
	open     calls
	titles   titles
	// first and last time of inherited records, used when nothing else has one.
	inheritedFrom, inheritedTo time.Time
	foreign                    string // the session id of the first records, when it is not this one's
	ownID                      bool   // some record carries this session's id
	newSummaries               bool   // a summary of this pass still waits for its message
	subagent                   bool   // a sub-agent's session
	warmup                     bool   // a sub-agent started only to fill a cache
	prompted                   bool   // the first user turn was seen
}

// titles keeps the candidates apart: a later summary never beats a title.
type titles struct {
	Custom, AI, Summary, Name, Command, Copied candidate `json:",omitzero"`
	// Told is what another file's summary says.
	Told string `json:",omitempty"`
	// Pending are summaries whose message was not met yet.
	Pending []pendingSummary `json:",omitempty"`
}

// candidate is what may become the title, and where it stands.
type candidate struct {
	Text string
	Seq  int
}

type pendingSummary struct {
	Leaf uint64
	candidate
}

const maxPending = 32

func newSession(id string) *session {
	s := &session{tree: newTree()}
	s.h.SessionID = id
	s.h.Relation = transcript.RelationRoot
	return s
}

// recent is a bounded set of hashes, oldest forgotten first.
type recent struct {
	order []uint64
	set   map[uint64]bool
}

// add reports whether h was not in the set.
func (r *recent) add(h uint64) bool {
	if r.set[h] {
		return false
	}
	if r.set == nil {
		r.set = map[uint64]bool{}
	}
	if len(r.order) >= recentIDs {
		delete(r.set, r.order[0])
		r.order = append(r.order[:0], r.order[1:]...)
	}
	r.order = append(r.order, h)
	r.set[h] = true
	return true
}

func (r *recent) restore(order []uint64) {
	for _, h := range order {
		r.add(h)
	}
}

// calls maps open tool calls to the tools' names.
type calls struct {
	order []openCall
}

type openCall struct {
	ID   uint64
	Name string
	UUID string `json:",omitempty"` // of the record that made the call, for calls that start a sub-agent
	Text uint64 `json:",omitempty"` // hash of the prompt given to the sub-agent
}

func (c *calls) add(o openCall) {
	if len(c.order) >= openCalls {
		c.order = append(c.order[:0], c.order[1:]...)
	}
	c.order = append(c.order, o)
}

// name returns the tool that a call named. The call stays open: a result can
// come in several records.
func (c *calls) name(id uint64) string {
	for i := len(c.order) - 1; i >= 0; i-- {
		if c.order[i].ID == id {
			return c.order[i].Name
		}
	}
	return ""
}

// started finds the call that gave a sub-agent this prompt.
func (c *calls) started(prompt uint64) string {
	for i := len(c.order) - 1; i >= 0; i-- {
		if c.order[i].Text == prompt && c.order[i].UUID != "" {
			return c.order[i].UUID
		}
	}
	return ""
}

// saw takes what every record may say about the session.
func (s *session) saw(r *record, env transcript.Env, inherited bool) time.Time {
	t := transcript.ParseTime(r.time)
	if inherited {
		if !t.IsZero() && (s.inheritedFrom.IsZero() || t.Before(s.inheritedFrom)) {
			s.inheritedFrom = t
		}
		if t.After(s.inheritedTo) {
			s.inheritedTo = t
		}
	} else {
		s.h.SawTime(t, env.Time())
	}
	if r.cwd != nil && !r.cwd.IsStr(s.h.CWD) {
		s.h.SawCWD(str(r.cwd))
	}
	if r.branch != nil && !r.branch.IsStr(s.h.Branch) {
		if b := str(r.branch); b != "" && b != "HEAD" {
			s.h.Branch = b
		}
	}
	if r.version != nil && !r.version.IsStr(s.h.Format) {
		if v := str(r.version); v != "" && len(v) < 64 {
			s.h.Format = v
		}
	}
	if s.foreign != "" && !s.ownID {
		s.ownID = r.session.IsStr(s.h.SessionID)
	}
	if s.h.Entrypoint == "" && r.entrypoint != nil {
		s.h.Entrypoint = str(r.entrypoint)
		s.h.Automated = s.h.Automated || strings.HasPrefix(s.h.Entrypoint, "sdk")
	}
	return t
}

// title takes a record that names the session.
func (s *session) title(r *record) {
	text := transcript.CleanTitle(str(r.title))
	if text == "" {
		return
	}
	t := candidate{text, s.seq}
	switch r.typ {
	case "custom-title":
		s.titles.Custom = t
	case "ai-title":
		s.titles.AI = t
	case "agent-name":
		s.titles.Name = t
	case "summary":
		// It mostly describes another file, whose reading takes it (told): believed only
		// when its message is here.
		leaf := idHash(r.leaf)
		if leaf == 0 {
			return
		}
		if _, here := s.tree.index[leaf]; here {
			s.titles.Summary = t
		} else if len(s.titles.Pending) < maxPending {
			s.titles.Pending = append(s.titles.Pending, pendingSummary{leaf, t})
			s.newSummaries = true
		}
	}
}

// told takes the summary that another file has of this session: the one of the
// latest message, if there are several. What was copied is another session's.
func (s *session) told(summaries map[uint64]string) {
	if len(summaries) == 0 {
		return
	}
	for i := len(s.tree.nodes) - 1; i >= 0; i-- {
		n := &s.tree.nodes[i]
		if text := summaries[n.id]; text != "" && int(n.seq) >= s.h.InheritedCount {
			s.titles.Told = text
			return
		}
	}
}

// header is the session's header as it stands, finished.
func (s *session) header(env transcript.Env) *transcript.Header {
	h := s.h.Clone()
	for _, p := range s.titles.Pending {
		if _, here := s.tree.index[p.Leaf]; here {
			s.titles.Summary = p.candidate
		}
	}
	set := func(t candidate, from transcript.TitleSource) { h.SetTitleAt(t.Text, from, t.Seq) }
	set(s.titles.Command, transcript.TitlePrompt)
	set(s.titles.Copied, transcript.TitlePrompt)
	set(s.titles.Name, transcript.TitleAgent) // the last one wins
	h.SetTitle(s.titles.Told, transcript.TitleAgent)
	for _, t := range []candidate{s.titles.Summary, s.titles.AI} {
		set(t, transcript.TitleAgent)
	}
	set(s.titles.Custom, transcript.TitleUser)
	if h.CreatedAt.IsZero() {
		h.SawTime(s.inheritedFrom, env.Time())
		h.SawTime(s.inheritedTo, env.Time())
	}
	if s.warmup {
		h.Conversation = false
	}
	if s.tree.overflow {
		h.Warn("more records than surfaces can be told for: all messages count as current")
	}
	h.Finish(label)
	return &h
}

// state is the carry-over of a main or sub-agent file from one pass to the next.
type state struct {
	Header      transcript.Header
	Seq         int
	Titles      titles
	Nodes       string
	Calls       string
	Total       int
	Chained     bool
	Overflow    bool
	Dangling    []uint64
	Messages    []uint64
	Blocks      []uint64
	Open        []openCall
	From, To    time.Time // of inherited records
	Warmup      bool
	Prompted    bool
	Foreign     string
	OwnID       bool
	InheritOpen bool // everything so far is inherited: more may follow
}

func (s *session) save(cp *transcript.Checkpoint, inheritOpen bool) error {
	st := state{
		Header: s.h, Seq: s.seq, Titles: s.titles, Total: s.tree.total, Chained: s.tree.chained, Overflow: s.tree.overflow,
		Dangling: s.tree.dangling, Messages: s.messages.order, Blocks: s.blocks.order, Open: s.open.order,
		From: s.inheritedFrom, To: s.inheritedTo, Warmup: s.warmup, Prompted: s.prompted, Foreign: s.foreign, OwnID: s.ownID, InheritOpen: inheritOpen,
	}
	st.Nodes, st.Calls = s.tree.window()
	return cp.Keep(&st)
}

func (s *session) restore(b []byte) bool {
	var st state
	if json.Unmarshal(b, &st) != nil || st.InheritOpen || st.Header.SessionID == "" {
		return false
	}
	s.h, s.seq, s.titles = st.Header, st.Seq, st.Titles
	s.inheritedFrom, s.inheritedTo, s.warmup, s.prompted = st.From, st.To, st.Warmup, st.Prompted
	s.foreign, s.ownID = st.Foreign, st.OwnID
	s.messages.restore(st.Messages)
	s.blocks.restore(st.Blocks)
	s.open.order = st.Open
	t := newTree()
	t.total, t.chained, t.overflow, t.dangling = st.Total, st.Chained, st.Overflow, st.Dangling
	t.waiting = map[uint64]bool{}
	for _, d := range st.Dangling {
		t.waiting[d] = true
	}
	s.tree = t
	return t.restore(st.Nodes, st.Calls)
}
