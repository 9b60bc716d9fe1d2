package dsh

import (
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// Bounds of what is held back while an answer streams in.
const (
	maxHeld   = 64      // events
	maxStream = 1 << 20 // bytes of text
)

// stream follows the chunks of an answer. They are copies of the
// assistant/message that ends it, and no text (matching.md rule 12); the one
// exception is an answer whose end never came, since nothing else holds what it
// said. So the last chunk, and what other events come after it, is held back
// until it is known.
type stream struct {
	text  strings.Builder
	key   string // turn and step
	held  []*transcript.Event
	chunk *transcript.Event // the last chunk, the first of held
}

// at notes the step that a chunk belongs to; the text of another is dropped.
func (s *stream) at(d jsonv.Value) {
	key := string(d.Get("turn")) + "/" + string(d.Get("step"))
	if key != s.key {
		s.key = key
		s.text.Reset()
	}
}

func (s *stream) add(text string) {
	if s.text.Len()+len(text) <= maxStream {
		s.text.WriteString(text)
	}
}

// chunk takes in an unpacked chunk.
func (l *log) chunk(d jsonv.Value, e *transcript.Event) error {
	c := d.Get("chunk")
	l.stream.at(d)
	switch kind := c.Get("type").Str(); {
	case strings.HasPrefix(kind, "text"):
		l.stream.add(textOf(c))
	case kind == "block-start" && c.Get("blockType").IsStr("text") && l.stream.text.Len() > 0:
		l.stream.add("\n")
	case kind == "block-end" && c.Get("block", "type").IsStr("text"):
		if whole := c.Get("block", "text").Str(); !strings.HasSuffix(l.stream.text.String(), whole) {
			l.stream.add(whole)
		}
	}
	return l.hold(e)
}

// textOf is the text of a delta in the forms it was written in.
func textOf(c jsonv.Value) string {
	for _, v := range []jsonv.Value{c.Get("text"), c.Get("delta"), c.Get("delta", "text")} {
		if v.Kind() == jsonv.String {
			return v.Str()
		}
	}
	return ""
}

// hold lets go of the chunk before, which is not the last, and holds this one.
func (l *log) hold(e *transcript.Event) error {
	if err := l.release(); err != nil {
		return err
	}
	l.stream.chunk = e
	l.stream.held = append(l.stream.held, e)
	return nil
}

// pass emits an event that is no chunk, in its place behind what is held.
func (l *log) pass(e *transcript.Event) error {
	if l.stream.chunk == nil {
		return l.emit(e)
	}
	switch e.Type {
	case "assistant/message":
		l.stream.text.Reset()
	case "turn/start", "turn/end", "step/start", "step/end", "user/message", "session/end-seed":
		l.show()
	case "llm/retry", "llm/retry-started":
		l.stream.text.Reset() // the attempt is made again
	default:
		// Something beside the stream, such as a prompt that is queued.
		if len(l.stream.held) < maxHeld {
			l.stream.held = append(l.stream.held, e)
			return nil
		}
	}
	if err := l.release(); err != nil {
		return err
	}
	return l.emit(e)
}

// nextSeq is the number that an event which is passed on now will get.
func (l *log) nextSeq() int { return l.Seq + len(l.stream.held) }

// show gives the last chunk the text that nothing else holds.
func (l *log) show() {
	if l.stream.chunk != nil {
		l.stream.chunk.Message = l.stream.chunk.AddText(transcript.Prose, l.stream.text.String())
	}
	l.stream.text.Reset()
}

// release emits what is held.
func (l *log) release() error {
	held := l.stream.held
	l.stream.held, l.stream.chunk = nil, nil
	for _, e := range held {
		if err := l.emit(e); err != nil {
			return err
		}
	}
	return nil
}

// settle emits what is held before an event of the given type changes earlier
// ones.
func (l *log) settle(kind string) error {
	if kind != "assistant/message" {
		l.show()
	}
	l.stream.text.Reset()
	return l.release()
}

// end emits what is held because the log ends here, for now.
func (l *log) end() error {
	if l.stream.chunk != nil {
		l.show()
		l.Streaming = l.stream.chunk.Parts != nil
	}
	return l.release()
}
