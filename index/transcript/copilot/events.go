package copilot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sessionls/sessionls/index/transcript"
)

// agentMark stands between the id of a session and that of its sub-agent.
const agentMark = "#agent-"

// maxState bounds the carry-over of a checkpoint, in bytes. A log with more
// to remember is read anew when it grows.
const maxState = 60 << 10

// Options adapt the reading of Copilot's events to the program that wrote them.
type Options struct {
	SessionID  string // of the main session
	Label      string // the agent's name for fallback titles
	Version    int    // format version for the checkpoint
	Format     string
	Entrypoint string
	// Finish completes the main session's header before it goes out, each time
	// anew (titles and folders that other files record). May be nil.
	Finish func(h *transcript.Header)
}

// ReadEvents reads a log of Copilot events, one JSON object a line. Events of
// sub-agents stand in the same file; they become sessions of their own with
// the id <session>#agent-<tool call>. Appended events are read on from prev,
// except compactions and rewinds, which change earlier ones (ErrReread).
func ReadEvents(ctx context.Context, env transcript.Env, path string, opt Options, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	fd := newFold(env, opt, out)
	cp := &transcript.Checkpoint{Version: opt.Version}
	var start int64
	if prev != nil && prev.Version == opt.Version && f.Continues(prev) && fd.resume(prev.State) {
		start, cp.Bad, cp.Partial = prev.Offset, prev.Bad, prev.Partial
	}
	if err := out.Begin(fd.resumed); err != nil {
		return nil, err
	}
	lines := transcript.NewLines(io.NewSectionReader(f, start, f.Size-start), start, f.Size,
		"reasoningOpaque", "encryptedContent", "transformedContent", "toolTelemetry")
	for n := 0; ; n++ {
		rec, err := lines.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read Copilot events: %w", err)
		}
		if err := fd.record(rec); err != nil {
			return nil, err
		}
		if n%256 == 0 {
			out.Progress(lines.Offset())
		}
	}
	if err := fd.finish(); err != nil {
		return nil, err
	}
	out.Progress(lines.Offset())
	cp.Bad += lines.Bad
	cp.Torn = lines.Torn
	if err := f.Mark(cp, lines.Offset()); err != nil {
		return nil, err
	}
	state, err := json.Marshal(&fd.state)
	if err != nil {
		return nil, fmt.Errorf("store the position in Copilot events: %w", err)
	}
	if len(state) <= maxState {
		cp.State = state
	}
	return cp, nil
}
