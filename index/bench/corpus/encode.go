package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Role is who speaks in an Event.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Event is something said, or a tool call and what came of it.
type Event struct {
	At   time.Time
	Role Role
	Text string
	// Tool, Input and Blob are of the tool: its name (Bash, Read or Edit), the
	// command or path, and an image in base64 instead of a text.
	Tool, Input, Blob string
	// Before is the whole file before an edit, which some agents record.
	Before string
}

// head is what is known of a session before its first event.
type head struct {
	id, cwd, title string
	start          time.Time
	rnd            *rand.Rand // for the ids of records
}

// encoder writes a session as an agent would.
type encoder interface {
	add(Event)
	// size is how many bytes were written until now.
	size() int64
	// finish ends the session and returns its files, the main one first.
	finish(at time.Time) []file
}

func newEncoder(agent string, h head) encoder {
	switch agent {
	case "codex":
		return newCodex(h)
	case "gemini":
		return newGemini(h)
	case "pi":
		return newPi(h)
	case "opencode":
		return newOpenCode(h)
	}
	return newClaude(h)
}

// Talk writes one session of Claude Code's form below home: the events as they
// are, which must not be tool calls.
func Talk(home, id, cwd string, events []Event) error {
	h := head{id: id, cwd: cwd, start: time.Unix(0, 0), rnd: rand.New(rand.NewPCG(uint64(len(events)), hashOf(id)))}
	if len(events) > 0 {
		h.start = events[0].At
	}
	e, last := newClaude(h), h.start
	for _, event := range events {
		e.add(event)
		last = event.At
	}
	return save(home, e.finish(last))
}

// Filler writes one session of about n bytes in Claude Code's form below home, in
// which one message holds a word. The same arguments give the same bytes.
func Filler(home, id string, seed uint64, n int64, word string) error {
	v := newVocabulary(seed, 5_000)
	w := newVoice(rand.New(rand.NewPCG(seed, 5)), v)
	s := &session{project: &project{cwd: fillerFolder, files: []*sourceFile{w.newFile()}}, target: n, start: end, plants: []plant{{"user", word}}}
	s.Agent, s.ID = "claude", id
	return s.write(home, v, seed)
}

// fillerFolder is where Filler's sessions work.
const fillerFolder = "/home/dev/work/filler"

// Extend appends a message of the user's to a session that Filler wrote.
func Extend(home, id, text string, at time.Time) error {
	c := newClaude(head{id: id, cwd: fillerFolder, rnd: rand.New(rand.NewPCG(hashOf(text), 6))})
	path := filepath.Join(home, filepath.FromSlash(c.path()))
	before, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("append to a session: %w", err)
	}
	// It follows the last record.
	if i := bytes.LastIndex(before, []byte(`,"uuid":"`)); i >= 0 && len(before) > i+45 {
		c.last = string(before[i+9 : i+45])
	}
	c.add(Event{At: at, Role: User, Text: "And now " + text + "."})
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("append to a session: %w", err)
	}
	_, err = f.Write(c.b)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("append to a session: %w", err)
	}
	return nil
}

// hashOf is FNV-1a.
func hashOf(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// lines is a file of one JSON record a line.
type lines struct {
	head
	b []byte
}

func (l *lines) size() int64 { return int64(len(l.b)) }

// line adds a record: a format in which %q is a JSON string.
func (l *lines) line(format string, args ...any) {
	l.b = append(record(l.b, format, args...), '\n')
}

// record appends a format with its arguments to b. %q takes a string and writes
// it as JSON, without what fmt would do to it; the other verbs are fmt's.
func record(b []byte, format string, args ...any) []byte {
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			return append(b, format...)
		}
		b = append(b, format[:i]...)
		switch s, ok := args[0].(string); {
		case ok && format[i+1] == 'q':
			b = quoted(b, s)
		case ok:
			b = append(b, s...)
		default:
			b = fmt.Appendf(b, format[i:i+2], args[0])
		}
		format, args = format[i+2:], args[1:]
	}
}

// quoted appends s as a JSON string.
func quoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case '\r':
			b = append(b, '\\', 'r')
		default:
			if c < ' ' {
				b = fmt.Appendf(b, "\\u%04x", c)
				continue
			}
			b = append(b, c)
		}
	}
	return append(b, '"')
}

func (h *head) uuid() string { return newUUID(h.rnd) }

// token is a random part of an id.
func (h *head) token() string { return fmt.Sprintf("%016x", h.rnd.Uint64()) }

// opaque is lo to hi characters that mean nothing to a reader, as signatures and
// encrypted reasoning are.
func (h *head) opaque(lo, hi int) string {
	var b strings.Builder
	for n := between(h.rnd, lo, hi); b.Len() < n; {
		b.WriteString(h.token())
	}
	return b.String()
}

// stamp is the form of time that the agents write.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// slug is how Claude Code and Pi name the folder of a working directory.
func slug(cwd string) string { return strings.ReplaceAll(cwd, "/", "-") }
