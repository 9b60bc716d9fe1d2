package pi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sessionls/sessionls/index/transcript"
)

// skipped members are left out of lines beyond 4 MB: images and the extension
// state that repeats what the content says.
var skipped = []string{"thinkingSignature", "textSignature", "thoughtSignature", "details"}

// Read implements transcript.Reader.
func (Reader) Read(ctx context.Context, env transcript.Env, src transcript.Source, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	f, err := transcript.OpenFile(src.Path)
	if err != nil {
		return nil, fmt.Errorf("read Pi session: %w", err)
	}
	defer f.Close()
	s := newSession(ctx, env, src, out)
	s.links = newLinks(out)
	cp, resumed := f.Resume(prev, version, s.restore)
	if s.resumed = resumed; resumed {
		s.links = nil // a part has none
		if stale, err := s.stale(); err != nil {
			return nil, err
		} else if stale {
			return nil, transcript.ErrReread
		}
	}
	if err := out.Begin(s.resumed); err != nil {
		return nil, err
	}
	lines := f.Lines(cp.Offset, skipped...)
	err = lines.Each(ctx, cp, out.Progress, func(rec transcript.Record) error {
		s.Damaged = s.Damaged || lines.Bad > 0
		return s.record(rec)
	})
	if err != nil {
		return nil, err
	}
	s.Damaged = s.Damaged || lines.Bad > 0
	if err := s.finish(); err != nil {
		return cp, err
	}
	if err := f.Mark(cp, lines.Offset()); err != nil {
		return nil, fmt.Errorf("read Pi session: %w", err)
	}
	return cp, cp.Keep(&s.state)
}

// state is the carry-over between readings.
type state struct {
	Seq    int               `json:"seq"`
	Header transcript.Header `json:"header"`
	// Known tells that a header line was read, Damaged that a line was not
	// readable: a missing parent entry may have stood on it.
	Known   bool `json:"known,omitempty"`
	Damaged bool `json:"damaged,omitempty"`
	// Leaf is the hashed id of the entry new ones continue; Any that there is one.
	Leaf uint64 `json:"leaf,omitempty"`
	Any  bool   `json:"any,omitempty"`
	// Harness tells the v4 forms, where the leaf is stored.
	Harness bool   `json:"harness,omitempty"`
	Name    string `json:"name,omitempty"`
	Foreign string `json:"foreign,omitempty"` // first prompt among the copied entries
	// NameSeq and ForeignSeq are where these stand.
	NameSeq    int `json:"nameSeq,omitempty"`
	ForeignSeq int `json:"foreignSeq,omitempty"`
	// Parent is the recorded parent as it stands in the header line; Leading
	// that all entries so far were copied from it, Found that its file was there.
	Parent  string `json:"parent,omitempty"`
	Leading bool   `json:"leading,omitempty"`
	Found   bool   `json:"found,omitempty"`
	Own     bool   `json:"own,omitempty"` // an own entry was read
}

func (s *session) restore(b []byte) bool {
	var st state
	if json.Unmarshal(b, &st) != nil {
		return false
	}
	s.state = st
	return true
}
