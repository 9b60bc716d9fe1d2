package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
)

// skipped members are left out of lines beyond 4 MB: copies of what stands
// elsewhere, instructions, payloads nobody can read.
var skipped = []string{"replacement_history", "base_instructions", "dynamic_tools", "encrypted_content"}

// file is an opened rollout; reading it gives plain text.
type file struct {
	io.Reader
	plain *transcript.File
	zst   bool
	size  int64 // plain size; math.MaxInt64 when compressed
	close func()
}

func (f *file) Close() { f.close() }

// open opens a rollout. When it is not there, its compressed or plain twin is
// tried: Codex packs cold rollouts at any time.
func open(path string) (*file, error) {
	f, err := transcript.OpenFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		twin, zst := strings.CutSuffix(path, ".zst")
		if !zst {
			twin = path + ".zst"
		}
		if g, terr := transcript.OpenFile(twin); terr == nil {
			f, err, path = g, nil, twin
		}
	}
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(path, ".zst") {
		return &file{Reader: io.LimitReader(f, f.Size), plain: f, size: f.Size, close: func() { f.Close() }}, nil
	}
	z, err := transcript.NewZstdReader(io.LimitReader(f, f.Size))
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{Reader: z, plain: f, zst: true, size: math.MaxInt64, close: func() { z.Close(); f.Close() }}, nil
}

// progressStep is how many bytes pass between two reports of progress.
const progressStep = 1 << 20

// Read implements transcript.Reader.
func (Reader) Read(ctx context.Context, env transcript.Env, src transcript.Source, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	f, err := open(src.Path)
	if err != nil {
		return nil, fmt.Errorf("read Codex session: %w", err)
	}
	defer f.Close()
	s := newSession(ctx, env, src, out)
	cp := &transcript.Checkpoint{Version: version}
	resumed := false
	if !f.zst && prev != nil && prev.Version == version && f.plain.Continues(prev) {
		if err := s.restore(prev.State); err == nil {
			resumed = true
			cp.Offset, cp.Bad = prev.Offset, prev.Bad
			if _, err := f.plain.Seek(prev.Offset, io.SeekStart); err != nil {
				return nil, fmt.Errorf("read Codex session: %w", err)
			}
			f.Reader = f.plain
			if s.stale(f.size > prev.Offset) {
				return nil, transcript.ErrReread
			}
		} else {
			s = newSession(ctx, env, src, out)
		}
	}
	s.resumed = resumed
	if err := out.Begin(resumed); err != nil {
		return nil, err
	}
	lines := transcript.NewLines(f, cp.Offset, f.size, skipped...)
	told := cp.Offset
	for {
		rec, err := lines.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if !f.zst || ctx.Err() != nil {
				return nil, fmt.Errorf("read Codex session: %w", err)
			}
			// A packed file that breaks off: what was unpacked is read.
			lines.Torn = true
			cp.Partial = "the compressed file is damaged or cut off"
			break
		}
		if err := s.record(rec); err != nil {
			return nil, err
		}
		if at := lines.Offset(); at-told >= progressStep {
			told = at
			out.Progress(at)
		}
	}
	cp.Bad += lines.Bad
	cp.Torn = lines.Torn
	if err := s.finish(); err != nil {
		return nil, err
	}
	out.Progress(lines.Offset())
	if f.zst {
		cp.Offset = lines.Offset()
		return cp, nil
	}
	if err := f.plain.Mark(cp, lines.Offset()); err != nil {
		return nil, fmt.Errorf("read Codex session: %w", err)
	}
	cp.State = s.save()
	return cp, nil
}

// maxState bounds the carry-over, in bytes; a session that needs more is read anew when it grows.
const maxState = 64 << 10

// state is the carry-over between readings.
type state struct {
	Seq     int               `json:"seq"`
	Header  transcript.Header `json:"header"`
	Known   bool              `json:"known"` // a session_meta was read
	Dir     string            `json:"dir,omitempty"`
	Named   names             `json:"named,omitzero"`
	Prompt  string            `json:"prompt,omitempty"`
	Foreign string            `json:"foreign,omitempty"`
	CopyOf  string            `json:"copyOf,omitempty"`
	Copied  copied            `json:"copied,omitzero"`
	Twins   twins             `json:"twins,omitzero"`
	Calls   []call            `json:"calls,omitempty"`
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
	for i := range s.Twins.Waiting {
		s.Twins.Waiting[i].Told = true
	}
	s.first = s.Seq
	return nil
}

// fallbackID names a session whose file says no id: that in the file's name,
// else the name itself.
func fallbackID(src transcript.Source) string {
	if src.SessionID != "" {
		return src.SessionID
	}
	name := strings.TrimSuffix(filepath.Base(src.Path), ".zst")
	return strings.TrimSuffix(name, ".jsonl")
}
