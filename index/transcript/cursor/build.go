package cursor

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// errGone says that a conversation is not in its store any more.
var errGone = fmt.Errorf("the conversation is not in the store: %w", fs.ErrNotExist)

// builder turns the records of one conversation into events and its header.
type builder struct {
	ctx context.Context
	env transcript.Env
	out transcript.Sink
	cp  *transcript.Checkpoint
	// tracer is nil unless links are asked for.
	tracer transcript.Tracer
	calls  transcript.Calls

	h       transcript.Header
	prove   prover
	seq     int
	bytes   int64
	inherit bool // what follows was copied from the parent
	same    bool // and stands there at the same position
	remote  bool // the folder is on another machine

	// touched are files of a conversation of the editor as long as nothing else tells
	// where it belongs.
	touched []string

	asked    []transcript.Run // shadowed events, until something else was asked
	at       map[string]int   // events of messages that a summary may name
	summed   map[string]bool  // messages up to which a summary stands already
	shadowed int              // events before it that a summary stands for
}

func newBuilder(ctx context.Context, env transcript.Env, src transcript.Source, h hint, out transcript.Sink) *builder {
	b := &builder{ctx: ctx, env: env, out: out, cp: &transcript.Checkpoint{Version: version}}
	b.tracer, _ = out.(transcript.Tracer)
	b.h = transcript.Header{
		SessionID: src.SessionID, Relation: transcript.RelationRoot, InheritedKnown: true, Archived: h.Archived,
	}
	if h.Parent != "" {
		b.h.Relation, b.h.ParentID, b.h.LineageEvidence, b.h.DelegationDepth = h.Relation, h.Parent, h.Evidence, h.Depth
		b.h.InheritedKnown = h.Relation == transcript.RelationSubagent
	}
	for _, dir := range h.Folders {
		b.h.SawCWD(dir)
	}
	if h.Remote != "" && len(h.Folders) == 0 {
		// Not a path of this machine: nothing can be opened in it.
		b.remote = true
		b.h.Warn("the folder is on another machine: " + transcript.CleanTitle(h.Remote))
	}
	if b.h.CWD == "" && h.Remote == "" {
		b.prove = prover{Project: h.Project, Hash: h.Hash}
	}
	b.h.SetTitle(h.Name, transcript.TitleAgent)
	return b
}

// emit numbers an event and hands it over with the agent's own record, unless the
// event names its bytes.
func (b *builder) emit(e *transcript.Event, record []byte) error {
	e.SessionID, e.Seq, e.Inherited = b.h.SessionID, b.seq, b.inherit
	if e.Surface == "" {
		e.Surface = transcript.Current
	}
	if e.Role == "" {
		e.Role = transcript.RoleUnknown
	}
	b.h.Conversation = b.h.Conversation || e.Message
	if e.Inherited {
		e.Message = false
		b.h.InheritedCount++
	}
	if e.Message {
		b.h.MessageCount++
	}
	if !e.Inherited || b.h.CreatedAt.IsZero() { // a copy is as old as the conversation that it was made for
		b.h.SawTime(e.Time, b.env.Time())
	}
	b.seq++
	if err := b.out.Event(e); err != nil {
		return err
	}
	b.bytes += int64(len(record))
	if b.tracer == nil {
		return nil
	}
	if e.Length == 0 {
		if err := transcript.PassData(b.tracer, e.SessionID, e.Seq, record); err != nil {
			return err
		}
	}
	switch {
	case e.Surface == transcript.Shadowed:
		b.asked = transcript.AddRun(b.asked, e.Seq)
	case e.Type == transcript.TypeUserMessage && len(b.asked) > 0:
		gone := b.asked
		b.asked = nil
		return transcript.Replace(b.tracer, e.SessionID, gone, e.Seq, false)
	}
	return nil
}

// maxTouched bounds the files that a folder is told by.
const maxTouched = 1000

// files notes where an event's files lie.
func (b *builder) files(e *transcript.Event) {
	if b.h.CWD == "" && len(b.touched) < maxTouched {
		b.touched = append(b.touched, e.Files...)
	}
}

// finish hands over the header.
func (b *builder) finish() (*transcript.Checkpoint, error) {
	if !b.h.Conversation {
		return nil, transcript.ErrNoSession
	}
	if b.h.CWD == "" && !b.remote {
		if dir := common(b.touched); dir != "" {
			b.h.SawCWD(dir)
			b.h.Warn("no folder is recorded: it is the one that all files of the conversation lie in")
		}
	}
	b.h.Finish(label)
	b.cp.Offset = b.bytes
	return b.cp, b.out.Header(&b.h)
}

// common is the folder that all of several files lie in, "" when that is near the
// top of the disk.
func common(files []string) string {
	dir := ""
	seen := map[string]bool{}
	for _, f := range files {
		f = strings.ReplaceAll(f, `\`, "/")
		if !path.IsAbs(f) {
			continue
		}
		seen[f] = true
		if dir == "" {
			dir = path.Dir(f)
			continue
		}
		for dir != "/" && dir != "." && f != dir && !strings.HasPrefix(f, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	if len(seen) < 2 || strings.Count(dir, "/") < 3 {
		return ""
	}
	return dir
}

// summary emits what stands for the messages up to one of them.
func (b *builder) summary(v jsonv.Value, raw string) error {
	if s := v.Get("summary"); s.Kind() == jsonv.Object {
		v = s
	}
	text, last := v.Get("summary").Str(), id128(v.Get("truncationLastBubbleIdInclusive"))
	if strings.TrimSpace(text) == "" || b.summed[last] {
		return nil
	}
	if b.summed == nil {
		b.summed = map[string]bool{}
	}
	b.summed[last] = true
	seq := b.seq
	e := &transcript.Event{Type: transcript.TypeCompaction, RawType: raw, Role: transcript.RoleSystem}
	to, known := b.at[last]
	if !known || to < b.shadowed {
		e.Surface = transcript.LogOnly // it is not known what it stands for
	}
	e.AddText(transcript.Prose, text)
	if err := b.emit(e, v); err != nil || e.Surface == transcript.LogOnly {
		return err
	}
	from := b.shadowed
	b.shadowed = to + 1
	if err := b.out.Surface(b.h.SessionID, from, to+1, transcript.Shadowed); err != nil || b.tracer == nil {
		return err
	}
	if err := transcript.Replace(b.tracer, b.h.SessionID, []transcript.Run{{From: from, To: to + 1}}, seq, true); err != nil {
		return err
	}
	if to+1 < seq {
		return b.tracer.Order(b.h.SessionID, seq, to+1)
	}
	return nil
}
