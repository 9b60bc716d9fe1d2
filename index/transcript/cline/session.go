package cline

import (
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// maxManifest bounds the file that describes a session, in bytes.
const maxManifest = 16 << 20

// session reads a document of messages, and what is written beside it.
func (b *builder) session(f *transcript.File, path string) error {
	b.h.Format = formatSession
	folder := filepath.Base(filepath.Dir(path))
	child := strings.TrimSuffix(filepath.Base(path), messagesEnd) != folder
	b.manifest(jsonv.Parse(transcript.ReadSmall(filepath.Join(filepath.Dir(path), folder+".json"), maxManifest)), child)
	if child {
		b.h.Relation, b.h.ParentID, b.h.LineageEvidence, b.h.DelegationDepth = transcript.RelationSubagent, folder, transcript.EvidencePath, 1
	}
	var updated time.Time
	_, err := transcript.ReadDocument(b.ctx, io.LimitReader(f, f.Size), []string{"messages"}, bulk,
		func(key string, v jsonv.Value) error {
			if key == "updated_at" {
				updated = transcript.ParseTime(v)
			}
			return nil
		},
		func(_ string, _ int, v jsonv.Value) error {
			if err := b.message(v); err != nil {
				return &sinkError{err}
			}
			return nil
		})
	if !b.timed {
		b.h.SawTime(updated, b.env.Time()) // messages of the first releases have no times
	}
	return err
}

// manifest takes what is known of a session besides its messages. A sub-agent's
// title and model are its own.
func (b *builder) manifest(v jsonv.Value, child bool) {
	b.h.SawCWD(transcript.CleanPath(v.Get("cwd").Str()))
	b.h.SawCWD(transcript.CleanPath(v.Get("workspace_root").Str()))
	if child {
		return
	}
	b.h.Entrypoint = transcript.CleanWord(v.Get("source").Str())
	b.h.Automated = string(v.Get("interactive")) == "false"
	b.h.SawModel(transcript.CleanWord(v.Get("model").Str()))
	b.h.SawTime(transcript.ParseTime(v.Get("started_at")), b.env.Time())
	b.h.SetTitle(typed(v.Get("metadata", "title").Str()), transcript.TitleAgent)
	if from := transcript.CleanWord(v.Get("metadata", "fork", "forkedFromSessionId").Str()); from != "" && from != b.h.SessionID {
		b.h.Relation, b.h.ParentID, b.h.LineageEvidence = transcript.RelationFork, from, transcript.EvidenceHeader
		b.inherit = b.readParent(from)
		if b.h.InheritedKnown = b.inherit != nil; !b.h.InheritedKnown {
			b.h.Warn("the parent's transcript was not found: copied events may count as this session's own")
		}
	}
}

// A fork begins with copies of its parent's messages, which keep their ids.

// parent is what is known of the messages of one: the places of their ids.
type parent struct{ at map[uint64]int }

// maxIDs bounds the messages that are looked at of a parent.
const maxIDs = 1 << 20

// readParent reads the ids of a session beside this one; nil if it is not there.
func (b *builder) readParent(id string) *parent {
	if strings.ContainsAny(id, `/\`) || strings.HasPrefix(id, ".") {
		return nil // no name of a folder
	}
	root := filepath.Dir(filepath.Dir(b.src.Path))
	f, err := transcript.OpenFile(filepath.Join(root, id, id+messagesEnd))
	if err != nil {
		return nil
	}
	defer f.Close()
	p := &parent{at: map[uint64]int{}}
	_, _ = transcript.ReadDocument(b.ctx, io.LimitReader(f, f.Size), []string{"messages"}, append([]string{"content"}, bulk...),
		func(string, jsonv.Value) error { return nil },
		func(_ string, i int, v jsonv.Value) error {
			if id := v.Get("id").Str(); id != "" {
				p.at[transcript.Hash(transcript.CleanWord(id))] = i
			}
			if i >= maxIDs {
				return io.EOF
			}
			return nil
		})
	return p
}

// take returns the place of a copied message in the parent.
func (p *parent) take(id string) (at int, copied bool) {
	if p == nil || id == "" {
		return 0, false
	}
	at, copied = p.at[transcript.Hash(id)]
	return at, copied
}
