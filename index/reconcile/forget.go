package reconcile

import (
	"context"
	"strings"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// Forgotten are sessions that the user wants out of the index for good. A nil
// one holds none.
type Forgotten struct {
	ids map[[2]string]struct{} // agent and session id
}

// Add puts a session among the forgotten.
func (f *Forgotten) Add(agent, sessionID string) {
	if f.ids == nil {
		f.ids = map[[2]string]struct{}{}
	}
	f.ids[[2]string{agent, sessionID}] = struct{}{}
}

// Len is how many were forgotten by name.
func (f *Forgotten) Len() int {
	if f == nil {
		return 0
	}
	return len(f.ids)
}

// Has reports whether a session was forgotten, itself or, for a sub-agent
// "<parent>#…", with its parent.
func (f *Forgotten) Has(agent, sessionID string) bool {
	if f.Len() == 0 || sessionID == "" {
		return false
	}
	for end := len(sessionID); end > 0; end = strings.LastIndexByte(sessionID[:end], '#') {
		if _, ok := f.ids[[2]string{agent, sessionID[:end]}]; ok {
			return true
		}
	}
	return false
}

// forgottenNote is the note on a source that was read for nothing, because only
// then it turned out whose it is.
const forgottenNote = "forgotten by the user"

// lapsed lists the sessions in the index that are forgotten, or sub-agents of
// what is excluded. ForgetSession drops what is there when it is called; this
// finds what a pass of another process, begun before, has brought since.
func (p *pass) lapsed(ctx context.Context) (out [][2]string, err error) {
	if p.cfg.Forgotten.Len()+p.shut.Len() == 0 || p.targeted() {
		return nil, nil
	}
	err = p.w.Names(ctx, func(agent, sid string) {
		if p.cfg.Forgotten.Has(agent, sid) || p.isShutOut(agent, sid) {
			out = append(out, [2]string{agent, sid})
		}
	})
	return out, err
}

func putForgotten(t *store.Tx, f *found, sessionID string) error {
	src := f.Source
	src.SessionID = sessionID
	_, err := t.PutSource(store.SourceState{
		Source: src, State: store.StateEmpty, Error: forgottenNote, Checkpoint: &transcript.Checkpoint{Version: f.reader.Version()},
	})
	return err
}
