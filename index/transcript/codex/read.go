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
	zst   *packed // nil for a plain one
}

func (f *file) Close() {
	if f.zst != nil {
		f.zst.z.Close()
	}
	f.plain.Close()
}

// packed unpacks a rollout. Of a file that breaks off, what could be unpacked
// is all there is.
type packed struct {
	z      io.ReadCloser
	broken bool
}

func (p *packed) Read(b []byte) (int, error) {
	n, err := p.z.Read(b)
	if err != nil && err != io.EOF {
		p.broken, err = true, io.EOF
	}
	return n, err
}

// broken reports whether reading found the compressed form damaged or cut off.
func (f *file) broken() bool { return f.zst != nil && f.zst.broken }

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
		return &file{Reader: io.LimitReader(f, f.Size), plain: f}, nil
	}
	z, err := transcript.NewZstdReader(io.LimitReader(f, f.Size))
	if err != nil {
		f.Close()
		return nil, err
	}
	p := &packed{z: z}
	return &file{Reader: p, plain: f, zst: p}, nil
}

// Read implements transcript.Reader.
func (Reader) Read(ctx context.Context, env transcript.Env, src transcript.Source, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	f, err := open(src.Path)
	if err != nil {
		return nil, fmt.Errorf("read Codex session: %w", err)
	}
	defer f.Close()
	s := newSession(ctx, env, src, out)
	s.packed = f.zst != nil
	s.trace(out)
	cp := &transcript.Checkpoint{Version: version}
	var lines *transcript.Lines
	if f.zst == nil {
		cp, s.resumed = f.plain.Resume(prev, version, s.restore)
		if s.resumed && s.stale(f.plain.Size > prev.Offset) {
			return nil, transcript.ErrReread
		}
		lines = f.plain.Lines(cp.Offset, skipped...)
	} else {
		lines = transcript.NewLines(f, 0, math.MaxInt64, skipped...)
	}
	if err := out.Begin(s.resumed); err != nil {
		return nil, err
	}
	if err := lines.Each(ctx, cp, out.Progress, s.record); err != nil {
		return nil, err
	}
	if f.broken() {
		cp.Torn, cp.Partial = true, "the compressed file is damaged or cut off"
	}
	if err := s.finish(); err != nil {
		return cp, err
	}
	if f.zst != nil {
		cp.Offset = lines.Offset() // and no state: it cannot be continued
		return cp, nil
	}
	if err := f.plain.Mark(cp, lines.Offset()); err != nil {
		return nil, fmt.Errorf("read Codex session: %w", err)
	}
	return cp, cp.Keep(&s.state)
}

// state is the carry-over between readings.
type state struct {
	Seq     int               `json:"seq"`
	Header  transcript.Header `json:"header"`
	Known   bool              `json:"known"` // a session_meta was read
	Dir     string            `json:"dir,omitempty"`
	Named   names             `json:"named,omitzero"`
	Prompt  string            `json:"prompt,omitempty"`
	Foreign string            `json:"foreign,omitempty"`
	// ForeignSeq is where Foreign stands.
	ForeignSeq int `json:"foreignSeq,omitempty"`

	CopyOf string `json:"copyOf,omitempty"`
	Copied copied `json:"copied,omitzero"`
	Twins  twins  `json:"twins,omitzero"`
	Calls  []call `json:"calls,omitempty"`
}

func (s *session) restore(b []byte) bool {
	var st state
	if json.Unmarshal(b, &st) != nil {
		return false
	}
	for i := range st.Twins.Waiting {
		st.Twins.Waiting[i].Told = true
	}
	s.state = st
	return true
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
