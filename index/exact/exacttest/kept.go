// Package exacttest shows tests what the index keeps of a session. Answers of
// the service prefer the transcript, where that is there.
package exacttest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/exact"
	"github.com/sessionls/sessionls/index/store"
)

// Kept is what the index has of one session.
type Kept struct {
	Session contract.Header        `json:"session"`
	Events  []contract.EventRecord `json:"events"`
}

// Read reads a session from the index at a path.
func Read(ctx context.Context, index string, name contract.SessionName, now time.Time) (kept Kept, err error) {
	r, err := store.OpenReader(ctx, index)
	if err != nil {
		return kept, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return kept, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	x, err := exact.Resolve(ctx, snap, name)
	if err != nil {
		return kept, err
	}
	kept.Session = exact.Header(x, now)
	err = snap.Events(ctx, x, 0, func(e *store.Stored) bool {
		kept.Events = append(kept.Events, record(x, e))
		return true
	})
	return kept, err
}

func record(of *store.Session, e *store.Stored) contract.EventRecord {
	var parts []string
	for _, p := range e.Parts {
		if p.Kind != store.Words {
			parts = append(parts, p.Text)
		}
	}
	text := strings.Join(parts, "\n")
	r := contract.EventRecord{
		Agent: of.Agent, SessionID: of.SID, Seq: int64(e.Seq), Type: e.Type, RawType: e.RawType, Role: contract.Role(e.Role),
		Surface: contract.Surface(e.Surface), Inherited: e.Inherited, Text: &text,
	}
	if e.ID != "" {
		r.EventID = &e.ID
	}
	if !e.Time.IsZero() {
		at := contract.InstantOf(e.Time)
		r.Time = &at
	}
	return r
}
