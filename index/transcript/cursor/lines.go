package cursor

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
)

// project lists the transcripts of a project: agent-transcripts/<id>/<id>.jsonl,
// those of its sub-agents in <id>/subagents, and of earlier releases <id>.jsonl or
// <id>.txt.
func (w *walk) project(dir string) error {
	scripts := filepath.Join(dir, scriptsFolder)
	names := w.list(scripts)
	if len(names) == 0 {
		return nil
	}
	var h hint
	if folder := w.folders.project(dir); folder != "" {
		h.Folders = []string{folder}
	} else {
		h.Project = filepath.Base(dir)
	}
	for _, name := range names {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(scripts, name)
		if isScript(name) {
			if err := w.script(path, "", h); err != nil {
				return err
			}
			continue
		}
		for _, below := range w.list(path) {
			switch {
			case isScript(below):
				if err := w.script(filepath.Join(path, below), "", h); err != nil {
					return err
				}
			case below == "subagents":
				for _, child := range w.list(filepath.Join(path, below)) {
					if !isScript(child) {
						continue
					}
					if err := w.script(filepath.Join(path, below, child), name, h); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func isScript(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".jsonl" || ext == ".txt") && len(name) > len(ext) && !strings.HasPrefix(name, ".")
}

func (w *walk) script(path, parent string, h hint) error {
	info := w.file(path)
	if info == nil {
		return nil
	}
	ext := filepath.Ext(path)
	id := strings.TrimSuffix(filepath.Base(path), ext)
	class := classLines
	switch {
	case info.Size() == 0:
		class = classEmpty
	case ext == ".txt":
		class = classText
	}
	if parent != "" {
		h.Parent, h.Relation, h.Evidence, h.Depth = parent, transcript.RelationSubagent, transcript.EvidencePath, 1
		id = parent + transcript.SubagentMark + id
	}
	return w.yieldFile(path, info, id, class, h)
}

func (w *walk) yieldFile(path string, info fs.FileInfo, id string, class int, h hint, companions ...string) error {
	src := transcript.Source{
		Agent: agentID, Path: path, Root: w.root.Path, SessionID: id, Class: class, Size: info.Size(), ModTime: info.ModTime(), Hint: h.encode(),
	}
	for _, c := range companions {
		// What a log holds counts for when it was written to.
		if ci, err := os.Stat(c); err == nil && ci.ModTime().After(src.ModTime) && ci.Size() > 0 {
			src.ModTime = ci.ModTime()
		}
	}
	src.Signature = fmt.Sprintf("%s|%x", transcript.Signature(info, companions...), transcript.Hash(src.Hint))
	return w.yield(src)
}

// lines is what a reading of a transcript goes on from.
type lines struct {
	Seq    int               `json:"seq"`
	Header transcript.Header `json:"header"`
	Prove  prover            `json:"prove,omitzero"`
}

// readLines reads a transcript of lines. It is appended to, so that a reading goes
// on where the last one ended.
func readLines(ctx context.Context, env transcript.Env, src transcript.Source, h hint, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	f, err := transcript.OpenFile(src.Path)
	if err != nil {
		return nil, fmt.Errorf("read Cursor transcript: %w", err)
	}
	defer f.Close()
	b := newBuilder(ctx, env, src, h, out)
	b.h.Format = formatLines
	cp, resumed := f.Resume(prev, version, func(state []byte) bool {
		var st lines
		if json.Unmarshal(state, &st) != nil || st.Header.SessionID != src.SessionID || b.h.CWD != "" && st.Header.CWD != b.h.CWD || b.h.ParentID != st.Header.ParentID {
			return false
		}
		b.seq, b.h, b.prove = st.Seq, st.Header, st.Prove
		return true
	})
	if resumed {
		b.tracer = nil // a part has no links
	}
	b.cp = cp
	if err := out.Begin(resumed); err != nil {
		return nil, err
	}
	ls := f.Lines(cp.Offset)
	if err := ls.Each(ctx, cp, out.Progress, b.line); err != nil {
		return nil, err
	}
	state := lines{Seq: b.seq, Header: b.h.Clone(), Prove: b.prove}
	if _, err := b.finish(); err != nil {
		return nil, err
	}
	if err := f.Mark(cp, ls.Offset()); err != nil {
		return nil, fmt.Errorf("read Cursor transcript: %w", err)
	}
	return cp, cp.Keep(&state)
}

// line emits the event of a line.
func (b *builder) line(rec transcript.Record) error {
	e := &transcript.Event{Offset: rec.Offset, Length: rec.Length}
	v := rec.Value
	role := v.Get("role").Str()
	var made, answered []string
	switch kind := v.Get("type").Str(); {
	case role != "":
		content := v.Get("message", "content")
		if !content.Exists() {
			content = first2(v.Get("content"), v.Get("message"))
		}
		e.Time = transcript.ParseTime(first2(v.Get("timestamp"), v.Get("createdAt")))
		b.model(first2(v.Get("model"), v.Get("message", "model")))
		e.ID = id128(first2(v.Get("id"), v.Get("message", "id")))
		made, answered = b.message(role, content, e)
	case kind == "turn_ended":
		e.Type, e.RawType, e.Role, e.Surface = transcript.TypeTurnEnd, kind, transcript.RoleSystem, transcript.LogOnly
		if status := v.Get("status").Str(); status == "error" {
			e.Failed = true
			e.AddText(transcript.Output, first(v.Get("error", "message").Str(), v.Get("error").Str()))
		}
	default:
		e.Type, e.RawType, e.Surface = transcript.TypeOther, transcript.CleanWord(kind), transcript.LogOnly
	}
	seq := b.seq
	if err := b.emit(e, nil); err != nil {
		return err
	}
	if b.tracer != nil {
		if err := transcript.PassShared(b.tracer, b.h.SessionID, seq, rec); err != nil {
			return err
		}
	}
	return b.link(seq, made, answered)
}
