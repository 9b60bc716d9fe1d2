package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// A root that held transcripts and is suddenly empty may be a mount point
// without its disk, or an agent's folder in the middle of being moved. It
// proves nothing until it was found empty twice, some time apart, and only if
// it is the very folder that held them.

const (
	// grace is the time between the two looks.
	grace = 5 * time.Minute
	// suddenly is from how many transcripts on it counts as sudden when a root
	// loses the last of those that lay in it itself.
	suddenly = 2

	rootsNote = "roots"
)

// memo is what the index remembers of a root.
type memo struct {
	// Folder identifies the folder that held transcripts.
	Folder string `json:"folder,omitempty"`
	// Empty is when it was first found without any, in epoch milliseconds; 0
	// if it was not.
	Empty int64 `json:"empty,omitempty"`
}

// memoKey names a root of an agent.
func memoKey(agent, root string) string { return agent + " " + root }

// recall compares the roots with what is remembered of them, and has it
// remembered how they are now.
func (p *pass) recall(ctx context.Context) error {
	if len(p.places) == 0 {
		return nil
	}
	text, err := p.w.Noted(ctx, rootsNote)
	if err != nil {
		return err
	}
	p.memos = map[string]memo{}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &p.memos); err != nil {
			p.memos = map[string]memo{} // written by nobody we know: begin anew
		}
	}
	changed := false
	for _, pl := range p.places {
		at := memoKey(pl.Agent, pl.Path)
		was := p.memos[at]
		now := was
		sources := 0
		for _, same := range p.placesOf(pl.Agent, pl.Path) {
			sources += same.Sources
		}
		switch {
		case pl.Err != nil:
			now.Empty = 0 // not there is not empty
		case sources > 0:
			now = memo{Folder: folderID(pl.Path)}
		case was.Folder != "" && (was.Empty == 0 || was.Empty > p.now.UnixMilli()):
			now.Empty = p.now.UnixMilli()
		}
		if now != was {
			p.memos[at] = now
			changed = true
		}
	}
	if !changed {
		return nil
	}
	raw, err := json.Marshal(p.memos)
	if err != nil {
		return fmt.Errorf("remember the roots: %w", err)
	}
	p.notes = append(p.notes, func(t *store.Tx) error { return t.Note(rootsNote, string(raw)) })
	return nil
}

// emptied reports whether a root without transcripts proves that they are gone.
func (p *pass) emptied(agent, root string) bool {
	m := p.memos[memoKey(agent, root)]
	return m.Empty != 0 && p.now.Sub(time.UnixMilli(m.Empty)) >= grace && m.Folder == folderID(root)
}

func folderID(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	if id := transcript.FileID(info); id != "" {
		return id
	}
	return "?" // the system tells nothing to go by but the time
}
