package codex

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// The file of a fork or a sub-agent starts with its own session_meta and may
// go on with the records of its parent, the parent's session_meta and turns
// included, re-stamped. The copy ends before the first turn whose id the
// parent does not have. Times and ids of the items say nothing.

// copied says how far the copy reaches. It is part of the carry-over state.
type copied struct {
	// Parent tells that the parent's file was found.
	Parent bool `json:"parent,omitempty"`
	// End is the offset at which the session's own records start.
	End int64 `json:"end,omitempty"`
	// Decided is false while no own turn has been seen: what is appended may
	// still change the verdict.
	Decided bool `json:"decided,omitempty"`
}

// everything is the End of a file of which all is copied so far.
const everything = math.MaxInt64

// turns is the set of turn ids of a thread, hashed.
type turns map[uint64]struct{}

// maxTurns bounds the turn ids kept of a parent, maxParent the bytes of it that are looked at.
const (
	maxTurns  = 1 << 20
	maxParent = 4 << 30
)

var (
	wordMeta    = []byte(`"session_meta"`)
	wordContext = []byte(`"turn_context"`)
	wordTask    = []byte(`"task_started"`)
	wordTurn    = []byte(`"turn_started"`)
)

// marker reads the head of a line: the id of the session it names when it is a
// session_meta, the id of the turn it begins when it begins one.
func marker(head []byte) (meta, turn string) {
	early := head[:min(len(head), 512)]
	isMeta := bytes.Contains(early, wordMeta)
	if !isMeta && !bytes.Contains(early, wordContext) && !bytes.Contains(early, wordTask) && !bytes.Contains(early, wordTurn) {
		return "", ""
	}
	var top [2]jsonv.Value
	jsonv.Parse(head).Pick([]string{"type", "payload"}, top[:])
	switch kind := top[0].Str(); kind {
	case "session_meta":
		return threadID(top[1].Get("id")), ""
	case "turn_context":
		return "", top[1].Get("turn_id").Str()
	case "event_msg":
		switch top[1].Get("type").Str() {
		case "task_started", "turn_started":
			return "", top[1].Get("turn_id").Str()
		}
	}
	return "", ""
}

// parentTurns reads the ids of a thread's turns from its file. found is false when there is none.
func parentTurns(ctx context.Context, src transcript.Source, id string) (ids turns, found bool, err error) {
	path := findThread(src, id)
	if path == "" {
		return nil, false, nil
	}
	f, err := open(path)
	if err != nil {
		return nil, false, nil // gone or unreadable: as good as missing
	}
	defer f.Close()
	ids = turns{}
	err = transcript.Heads(ctx, io.LimitReader(f, maxParent), 0, func(head []byte, _, _ int64) bool {
		if _, turn := marker(head); turn != "" {
			ids[transcript.Hash(turn)] = struct{}{}
		}
		return len(ids) < maxTurns
	})
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	// A file that breaks off still told the turns before the break.
	return ids, err == nil && !f.broken() || len(ids) > 0, nil
}

// measure finds out how much of the file at path is copied. parent is nil when
// the parent is unknown: then only what stands before another session's
// session_meta is certainly foreign.
func measure(ctx context.Context, path, self string, parent turns) (c copied, err error) {
	f, err := open(path)
	if err != nil {
		return c, err
	}
	defer f.Close()
	c.Parent = parent != nil
	var foreign int64 // end of the last foreign session_meta
	shared := false
	err = transcript.Heads(ctx, f, 0, func(head []byte, offset, length int64) bool {
		meta, turn := marker(head)
		if meta != "" && meta != self {
			foreign = offset + length
		}
		if turn == "" || parent == nil {
			return true
		}
		if _, ok := parent[transcript.Hash(turn)]; ok {
			shared = true
			return true
		}
		c.Decided = true
		if shared || foreign > 0 {
			c.End = offset
		}
		return false
	})
	if ctx.Err() != nil {
		return c, ctx.Err()
	}
	_ = err // a damaged end; what was seen before it counts
	switch {
	case c.Decided:
	case shared:
		c.End = everything
	default:
		c.End = foreign
	}
	return c, nil
}

// stale reports whether more is known about the copied part than when the
// carry-over was written, or may be as soon as records are added.
func (s *session) stale(appended bool) bool {
	if s.CopyOf == "" || s.Copied.Parent && s.Copied.Decided {
		return false
	}
	if s.Copied.Parent {
		return appended
	}
	return findThread(s.src, s.CopyOf) != ""
}

// findThread returns the file of a thread in the same home, "" if there is
// none. Ids carry the time of their creation, so the folder of that day is
// looked at before all others.
func findThread(src transcript.Source, id string) string {
	if fileID.FindString(id) != id || id == "" {
		return ""
	}
	dirs, _ := places(transcript.Root{Path: src.Root, Configured: true})
	var patterns []string
	add := func(parts ...string) {
		for _, ext := range []string{".jsonl", ".jsonl.zst"} {
			dir := transcript.GlobLiteral(filepath.Join(parts...))
			patterns = append(patterns, filepath.Join(dir, "*"+id+ext))
		}
	}
	for _, dir := range dirs {
		if filepath.Base(dir) == archiveDir {
			continue
		}
		if at, ok := idTime(id); ok {
			for _, day := range []int{0, -1, 1} {
				d := at.AddDate(0, 0, day)
				add(dir, d.Format("2006"), d.Format("01"), d.Format("02"))
			}
		}
	}
	add(filepath.Dir(src.Path))
	for _, dir := range dirs {
		add(dir)
		for _, ext := range []string{".jsonl", ".jsonl.zst"} {
			patterns = append(patterns, filepath.Join(transcript.GlobLiteral(dir), "*", "*", "*", "*"+id+ext))
		}
	}
	for _, p := range patterns {
		found, err := filepath.Glob(p)
		if err != nil {
			continue
		}
		for _, path := range found {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && path != src.Path {
				return path
			}
		}
	}
	return ""
}

// idTime reads the time in a version 7 UUID.
func idTime(id string) (time.Time, bool) {
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(b) != 16 || b[6]>>4 != 7 {
		return time.Time{}, false
	}
	ms := int64(b[0])<<40 | int64(b[1])<<32 | int64(b[2])<<24 | int64(b[3])<<16 | int64(b[4])<<8 | int64(b[5])
	return time.UnixMilli(ms).UTC(), true
}

// origin is what the first session_meta says about where a session comes from.
type origin struct {
	relation transcript.Relation
	parent   string // recorded parent
	copyOf   string // thread whose records were copied, mostly the parent
	depth    int
}

func originOf(meta jsonv.Value, self string) (o origin) {
	var f [4]jsonv.Value
	meta.Pick([]string{"source", "parent_thread_id", "forked_from_id", "session_id"}, f[:])
	fork, parent := threadID(f[2]), threadID(f[1])
	o.relation = transcript.RelationRoot
	if sub := f[0].Get("subagent"); sub.Exists() {
		spawn := sub.Get("thread_spawn")
		if id := threadID(spawn.Get("parent_thread_id")); id != "" {
			parent = id
		}
		o.relation, o.depth = transcript.RelationSubagent, 1
		if n, ok := spawn.Get("depth").Int(); ok && n > 0 && n < 1000 {
			o.depth = int(n)
		}
		if family := threadID(f[3]); parent == "" && fork == "" && family != self {
			parent = family
		}
	} else if parent != "" {
		o.relation, o.depth = transcript.RelationSubagent, 1
	} else if fork != "" {
		o.relation = transcript.RelationFork
	}
	o.parent, o.copyOf = parent, fork
	if o.parent == "" {
		o.parent = fork
	}
	if o.copyOf == "" {
		o.copyOf = parent
	}
	if o.parent == self {
		return origin{relation: transcript.RelationRoot}
	}
	return o
}
