package copilot

import (
	"context"

	"github.com/sessionls/sessionls/index/transcript"
)

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
	cp, _ := f.Resume(prev, opt.Version, fd.resume)
	if t, ok := out.(transcript.Tracer); ok && !fd.resumed {
		fd.links = newLinks(t)
	}
	if err := out.Begin(fd.resumed); err != nil {
		return nil, err
	}
	lines := f.Lines(cp.Offset, "reasoningOpaque", "encryptedContent", "transformedContent", "toolTelemetry")
	if err := lines.Each(ctx, cp, out.Progress, fd.record); err != nil {
		return nil, err
	}
	if err := fd.finish(); err != nil {
		return cp, err
	}
	if err := f.Mark(cp, lines.Offset()); err != nil {
		return nil, err
	}
	return cp, cp.Keep(&fd.state)
}
