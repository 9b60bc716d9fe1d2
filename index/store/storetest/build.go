// Package storetest builds small indexes for tests from sessions written as Go
// values.
package storetest

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// Now is the present of the tests.
var Now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Session is a session to be indexed. Zero fields get sensible values.
type Session struct {
	Agent  string // claude if empty
	Header transcript.Header
	Events []transcript.Event
}

// Say is an event with one text. role "tool" makes it tool output, "call" a
// tool call of the assistant.
func Say(role, text string) transcript.Event {
	e := transcript.Event{Role: transcript.Role(role), Surface: transcript.Current, Message: true}
	kind := transcript.Prose
	switch role {
	case "user":
		e.Type = transcript.TypeUserMessage
	case "assistant":
		e.Type = transcript.TypeAssistantMessage
	case "call":
		e.Role, e.Type, e.Message = transcript.RoleAssistant, transcript.TypeToolCall, false
		kind = transcript.Call
	case "tool":
		e.Type, e.Message = transcript.TypeToolResult, false
		kind = transcript.Output
	}
	e.Parts = []transcript.Part{{Kind: kind, Text: text}}
	return e
}

// Talk is a session whose user says the texts.
func Talk(id string, texts ...string) Session {
	s := Session{Header: transcript.Header{SessionID: id}}
	for _, t := range texts {
		s.Events = append(s.Events, Say("user", t))
	}
	return s
}

// Path is a new place for an index.
func Path(t testing.TB) string { return filepath.Join(t.TempDir(), "index.db") }

// Build writes the sessions, each as a source of its own, in one transaction.
func Build(t testing.TB, path string, sessions ...Session) {
	t.Helper()
	w, err := store.OpenWriter(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Update(context.Background(), func(tx *store.Tx) error {
		for _, s := range sessions {
			if err := Write(tx, s); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// Write indexes one session as a source of its own.
func Write(tx *store.Tx, s Session) error {
	if s.Agent == "" {
		s.Agent = "claude"
	}
	h := s.Header
	src := transcript.Source{Agent: s.Agent, Path: "/transcripts/" + h.SessionID + ".jsonl", Signature: fmt.Sprint(len(s.Events)), ModTime: Now.Add(-time.Hour), Size: 1}
	id, err := tx.PutSource(store.SourceState{Source: src, State: store.StateRead, Checkpoint: &transcript.Checkpoint{}})
	if err != nil {
		return err
	}
	sink := tx.NewSink(id, src, "Claude Code", nil)
	if err := sink.Begin(false); err != nil {
		return err
	}
	for i := range s.Events {
		e := s.Events[i]
		e.SessionID, e.Seq = h.SessionID, i
		if e.ID == "" {
			e.ID = fmt.Sprintf("%s-e%d", h.SessionID, i)
		}
		if e.Time.IsZero() {
			e.Time = Now.Add(-time.Duration(1000-i) * time.Minute)
		}
		if err := sink.Event(&e); err != nil {
			return err
		}
		h.SawTime(e.Time, Now)
	}
	if h.Relation == "" {
		h.Relation = transcript.RelationRoot
	}
	if h.Title == "" {
		h.SetTitle("session "+h.SessionID, transcript.TitleUser)
	}
	h.Conversation = true
	if err := sink.Header(&h); err != nil {
		return err
	}
	return sink.Close()
}

// Open opens the index for reading until the test ends.
func Open(t testing.TB, path string) *store.Reader {
	t.Helper()
	r, err := store.OpenReader(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
