package pi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sessionls/sessionls/index/transcript"
)

// skipped members are left out of lines beyond 4 MB: images and the extension
// state that repeats what the content says.
var skipped = []string{"thinkingSignature", "textSignature", "thoughtSignature", "details"}

// progressStep is how many bytes pass between two reports of progress.
const progressStep = 1 << 20

// Read implements transcript.Reader.
func (Reader) Read(ctx context.Context, env transcript.Env, src transcript.Source, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	f, err := transcript.OpenFile(src.Path)
	if err != nil {
		return nil, fmt.Errorf("read Pi session: %w", err)
	}
	defer f.Close()
	s := newSession(ctx, env, src, out)
	cp := &transcript.Checkpoint{Version: version}
	if prev != nil && prev.Version == version && f.Continues(prev) {
		if err := s.restore(prev.State); err == nil {
			s.resumed = true
			cp.Offset, cp.Bad = prev.Offset, prev.Bad
			if stale, err := s.stale(); err != nil {
				return nil, err
			} else if stale {
				return nil, transcript.ErrReread
			}
		} else {
			s = newSession(ctx, env, src, out)
		}
	}
	if err := out.Begin(s.resumed); err != nil {
		return nil, err
	}
	if _, err := f.Seek(cp.Offset, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read Pi session: %w", err)
	}
	lines := transcript.NewLines(f, cp.Offset, f.Size, skipped...)
	told := cp.Offset
	for {
		rec, err := lines.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read Pi session: %w", err)
		}
		s.Damaged = s.Damaged || lines.Bad > 0
		if err := s.record(rec); err != nil {
			return nil, err
		}
		if at := lines.Offset(); at-told >= progressStep {
			told = at
			out.Progress(at)
		}
	}
	s.Damaged = s.Damaged || lines.Bad > 0
	cp.Bad += lines.Bad
	cp.Torn = lines.Torn
	if err := s.finish(); err != nil {
		return nil, err
	}
	out.Progress(lines.Offset())
	if err := f.Mark(cp, lines.Offset()); err != nil {
		return nil, fmt.Errorf("read Pi session: %w", err)
	}
	cp.State = s.save()
	return cp, nil
}

// maxState bounds the carry-over, in bytes; a session that needs more is read anew when it grows.
const maxState = 64 << 10

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
	// Parent is the recorded parent as it stands in the header line; Leading
	// that all entries so far were copied from it, Found that its file was there.
	Parent  string `json:"parent,omitempty"`
	Leading bool   `json:"leading,omitempty"`
	Found   bool   `json:"found,omitempty"`
	Own     bool   `json:"own,omitempty"` // an own entry was read
}

func (s *session) save() []byte {
	b, err := json.Marshal(s.state)
	if err != nil || len(b) > maxState {
		return nil
	}
	return b
}

func (s *session) restore(b []byte) error {
	if err := json.Unmarshal(b, &s.state); err != nil {
		return fmt.Errorf("read the carry-over: %w", err)
	}
	return nil
}
