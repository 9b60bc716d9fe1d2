//go:build unix

package faults_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// turn is one message of a session. Its word is nowhere else.
type turn struct {
	n    int // in its session, from 0; even ones are the user's
	word string
	text string
	at   time.Time
}

func (t turn) role() string {
	if t.n%2 == 0 {
		return "user"
	}
	return "assistant"
}

// stamp is the turn's time as agents write it.
func (t turn) stamp() string { return t.at.UTC().Format("2006-01-02T15:04:05.000Z") }

// session is a transcript as it lies on disk.
type session struct {
	by    author
	n     int
	id    string
	path  string // the file; for OpenCode the tree or the store
	word  string // in each of its turns and in no other session
	turns []turn
}

// name identifies the session in the index.
func (s *session) name() string { return s.by.agent() + ":" + s.id }

// author writes transcripts the way one agent does.
type author interface {
	agent() string
	// begin gives a new session its id and place below home.
	begin(s *session, home string)
	// write writes the whole session, over what is there.
	write(s *session) error
	// grow adds turns, which are the last of s.turns, to what is there.
	grow(s *session, more []turn) error
	// remove deletes what is there.
	remove(s *session) error
}

// began is when the first session began. In the past wherever this runs.
var began = time.Date(2025, 6, 1, 8, 0, 0, 0, time.UTC)

// wordOf spells a number in syllables: letters only, so that it is one word, and
// all of one length, so that one can replace another in place.
func wordOf(n int) string {
	const consonants, vowels = "bdfgklmnprstvz", "aiou"
	const syllables = len(consonants) * len(vowels)
	var b [8]byte
	for i := 3; i >= 0; i-- {
		s := n % syllables
		b[2*i], b[2*i+1] = consonants[s/len(vowels)], vowels[s%len(vowels)]
		n /= syllables
	}
	return string(b[:])
}

// words that everybody uses; heron is in every turn.
var filler = strings.Fields("heron tide marsh reed plover estuary count station table harbor ebb flood gauge survey wader egret nest drift")

// corpus makes sessions and remembers how many words it has used.
type corpus struct {
	home  string
	rnd   *rand.Rand
	words int
	made  int
}

func (c *corpus) word() string {
	c.words++
	// Far apart, so that none is another's misspelling.
	return wordOf(c.words * 7919 % (56 * 56 * 56 * 56))
}

// session makes a session of some turns; it is not written yet.
func (c *corpus) session(by author, turns int) *session {
	s := &session{by: by, n: c.made, word: c.word()}
	c.made++
	by.begin(s, c.home)
	c.add(s, turns)
	return s
}

// add makes more turns and returns them.
func (c *corpus) add(s *session, turns int) []turn {
	from := len(s.turns)
	for range turns {
		word := c.word()
		text := []string{s.word, word, filler[0]}
		for range 5 + c.rnd.IntN(40) {
			text = append(text, filler[c.rnd.IntN(len(filler))])
		}
		n := len(s.turns)
		s.turns = append(s.turns, turn{n: n, word: word, text: strings.Join(text, " "), at: began.Add(time.Duration(s.n)*time.Hour + time.Duration(n)*time.Second)})
	}
	return s.turns[from:]
}

// authors are all that the corpus is written by. openCode is nil where no store
// is wanted.
func authors(openCode *openCodeStore) []author {
	list := []author{claudeLog(), codexLog(), piLog(), geminiLog(), copilotLog(), openCodeTree{}}
	if openCode != nil {
		list = append(list, openCode)
	}
	return list
}

// jsonl is an agent that appends lines to a file per session.
type jsonl struct {
	id    string // of the agent
	place func(n int) (id, path string)
	head  func(s *session) []any
	lines func(s *session, t turn) []any
}

func (j *jsonl) agent() string { return j.id }

func (j *jsonl) begin(s *session, home string) {
	id, path := j.place(s.n)
	s.id, s.path = id, filepath.Join(home, filepath.FromSlash(path))
}

func encode(records []any) []byte {
	var b []byte
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			panic(err) // made of strings and maps
		}
		b = append(append(b, line...), '\n')
	}
	return b
}

func (j *jsonl) whole(s *session) []byte {
	b := encode(j.head(s))
	for _, t := range s.turns {
		b = append(b, encode(j.lines(s, t))...)
	}
	return b
}

func (j *jsonl) write(s *session) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(s.path, j.whole(s), 0o600)
}

func (j *jsonl) grow(s *session, more []turn) error {
	var b []byte
	for _, t := range more {
		b = append(b, encode(j.lines(s, t))...)
	}
	return appendTo(s.path, b)
}

func (j *jsonl) remove(s *session) error { return os.Remove(s.path) }

func appendTo(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

type object = map[string]any

func claudeLog() *jsonl {
	return &jsonl{
		id: "claude",
		place: func(n int) (string, string) {
			id := fmt.Sprintf("c1a0de00-%04x-4000-8000-%012x", n, n)
			return id, fmt.Sprintf(".claude/projects/-w-p%d/%s.jsonl", n%5, id)
		},
		head: func(s *session) []any {
			return []any{object{"type": "mode", "mode": "normal", "sessionId": s.id}}
		},
		lines: func(s *session, t turn) []any {
			line := func(k int, role string, content any) object {
				message := object{"role": role, "content": content}
				if role == "assistant" {
					message["model"], message["id"], message["type"] = "claude-sonnet-4-5", fmt.Sprintf("msg_%d_%d_%d", s.n, t.n, k), "message"
				}
				r := object{
					"parentUuid": nil, "isSidechain": false, "userType": "external", "entrypoint": "cli", "cwd": fmt.Sprintf("/w/p%d", s.n%5),
					"sessionId": s.id, "version": "2.1.230", "gitBranch": "main", "type": role, "message": message,
					"uuid": fmt.Sprintf("c1a0de00-%04x-4000-9000-%06x%06x", s.n, t.n, k), "timestamp": t.stamp(),
				}
				if t.n+k > 0 {
					r["parentUuid"] = fmt.Sprintf("c1a0de00-%04x-4000-9000-%06x%06x", s.n, t.n, k-1)
					if k == 0 {
						r["parentUuid"] = fmt.Sprintf("c1a0de00-%04x-4000-9000-%06x%06x", s.n, t.n-1, 0)
					}
				}
				return r
			}
			if t.role() == "user" {
				return []any{line(0, "user", t.text)}
			}
			out := []any{line(0, "assistant", []any{object{"type": "text", "text": t.text}})}
			if t.n%4 == 3 {
				call := fmt.Sprintf("toolu_%d_%d", s.n, t.n)
				out = append(out,
					line(1, "assistant", []any{object{"type": "tool_use", "id": call, "name": "Bash", "input": object{"command": "grep -n heron " + s.word + ".txt"}}}),
					line(2, "user", []any{object{"type": "tool_result", "tool_use_id": call, "content": "heron in " + s.word}}))
			}
			return out
		},
	}
}

func codexLog() *jsonl {
	record := func(t string, kind string, payload object) any {
		return object{"timestamp": t, "type": kind, "payload": payload}
	}
	return &jsonl{
		id: "codex",
		place: func(n int) (string, string) {
			id := fmt.Sprintf("019cdc11-%04x-7000-8000-%012x", n, n)
			return id, fmt.Sprintf(".codex/sessions/2025/06/%02d/rollout-2025-06-%02dT10-00-00-%s.jsonl", 1+n%28, 1+n%28, id)
		},
		head: func(s *session) []any {
			at := s.turns[0].stamp()
			return []any{record(at, "session_meta", object{
				"id": s.id, "timestamp": at, "cwd": fmt.Sprintf("/w/p%d", s.n%5), "originator": "codex-tui", "cli_version": "0.145.0", "source": "cli",
				"model_provider": "openai", "git": object{"branch": "main"},
			})}
		},
		lines: func(s *session, t turn) []any {
			kind, event := "input_text", object{"type": "user_message", "message": t.text, "images": []any{}}
			if t.role() == "assistant" {
				kind, event = "output_text", object{"type": "agent_message", "message": t.text}
			}
			return []any{
				record(t.stamp(), "response_item", object{"type": "message", "role": t.role(), "content": []any{object{"type": kind, "text": t.text}}}),
				record(t.stamp(), "event_msg", event),
			}
		},
	}
}

func piLog() *jsonl {
	return &jsonl{
		id: "pi",
		place: func(n int) (string, string) {
			id := fmt.Sprintf("019d2f20-%04x-7222-8333-%012x", n, n)
			return id, fmt.Sprintf(".pi/agent/sessions/--w-p%d--/2025-06-01T10-00-00-000Z_%s.jsonl", n%5, id)
		},
		head: func(s *session) []any {
			return []any{object{"type": "session", "version": 3, "id": s.id, "timestamp": s.turns[0].stamp(), "cwd": fmt.Sprintf("/w/p%d", s.n%5)}}
		},
		lines: func(s *session, t turn) []any {
			message := object{"role": t.role(), "content": []any{object{"type": "text", "text": t.text}}, "timestamp": t.at.UnixMilli()}
			if t.role() == "assistant" {
				message["provider"], message["model"], message["stopReason"] = "anthropic", "claude-opus-4-5", "stop"
			}
			var parent any
			if t.n > 0 {
				parent = fmt.Sprintf("%08x", t.n-1)
			}
			return []any{object{"type": "message", "id": fmt.Sprintf("%08x", t.n), "parentId": parent, "timestamp": t.stamp(), "message": message}}
		},
	}
}

func geminiLog() *jsonl {
	return &jsonl{
		id: "gemini",
		place: func(n int) (string, string) {
			id := fmt.Sprintf("6d1f2a3b-%04x-4e6f-8a7b-%012x", n, n)
			return id, fmt.Sprintf(".gemini/tmp/p%d/chats/session-2025-06-01T10-%02d-%08x.jsonl", n%5, n%60, n)
		},
		head: func(s *session) []any {
			at := s.turns[0].stamp()
			return []any{object{"sessionId": s.id, "projectHash": strings.Repeat("bd24", 16), "startTime": at, "lastUpdated": at, "kind": "main"}}
		},
		lines: func(s *session, t turn) []any {
			r := object{"id": fmt.Sprintf("g%d-%d", s.n, t.n), "timestamp": t.stamp(), "type": "user", "content": []any{object{"text": t.text}}}
			if t.role() == "assistant" {
				r["type"], r["content"], r["model"] = "gemini", t.text, "gemini-3-flash-preview"
			}
			return []any{r, object{"$set": object{"lastUpdated": t.stamp()}}}
		},
	}
}

func copilotLog() *jsonl {
	record := func(kind string, data object, s *session, n int, at string) any {
		return object{"type": kind, "data": data, "id": fmt.Sprintf("e%06x-%04x-4000-8000-000000000000", n, s.n), "timestamp": at, "parentId": nil}
	}
	return &jsonl{
		id: "copilot",
		place: func(n int) (string, string) {
			id := fmt.Sprintf("9c1d7e30-%04x-4f68-8e4d-%012x", n, n)
			return id, ".copilot/session-state/" + id + "/events.jsonl"
		},
		head: func(s *session) []any {
			at := s.turns[0].stamp()
			return []any{record("session.start", object{
				"sessionId": s.id, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.64", "startTime": at,
				"context": object{"cwd": fmt.Sprintf("/w/p%d", s.n%5), "branch": "main"},
			}, s, 0, at)}
		},
		lines: func(s *session, t turn) []any {
			if t.role() == "user" {
				return []any{record("user.message", object{"content": t.text, "attachments": []any{}, "interactionId": fmt.Sprint("i", t.n)}, s, t.n+1, t.stamp())}
			}
			return []any{record("assistant.message", object{
				"messageId": fmt.Sprint("m", t.n), "model": "claude-sonnet-4.6", "content": t.text, "toolRequests": []any{}, "turnId": fmt.Sprint(t.n),
			}, s, t.n+1, t.stamp())}
		},
	}
}
