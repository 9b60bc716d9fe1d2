package exact

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/query"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// unit is what is read at once: a source with those of its sessions that are
// scanned, by their places in the order.
type unit struct {
	ranks []int
}

// scanned is a session of a unit under way.
type scanned struct {
	rank    int
	session *store.Session
	adopted store.Adopted // what it inherited and is its own text
	seen    bool          // the session was in the source
	hits    int
	// held are hits whose surface is only known at the end of the reading; nil
	// when the index knows it.
	held *[]contract.EventHit
}

// scanUnit reads a unit. What goes wrong with its sessions is noted, not
// returned: the error is that of the context or of the index.
func (s *scan) scanUnit(ctx context.Context, u *unit) (fault error) {
	defer func() {
		if r := recover(); r != nil {
			fault = fmt.Errorf("scanning ended unexpectedly: %v", r)
		}
		for _, rank := range u.ranks {
			s.finish(rank)
		}
	}()
	list := make([]*scanned, 0, len(u.ranks))
	var origin store.Origin
	err := s.e.View(ctx, func(snap *store.Snapshot) error {
		list, origin = list[:0], store.Origin{}
		ids := make([]int64, len(u.ranks))
		for i, rank := range u.ranks {
			ids[i] = s.order[rank].Session
		}
		sessions, err := snap.Sessions(ctx, ids)
		if err != nil {
			return err
		}
		for i, rank := range u.ranks {
			x := sessions[ids[i]]
			if x == nil {
				continue // dropped since
			}
			adopted, err := snap.Adopted(ctx, x)
			if err != nil {
				return err
			}
			list = append(list, &scanned{rank: rank, session: x, adopted: adopted})
		}
		if len(list) == 0 || list[0].session.Presence != string(contract.PresencePresent) {
			return nil
		}
		origin, err = snap.Origin(ctx, list[0].session)
		if errors.Is(err, store.ErrNoOrigin) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if origin.Source.Path != "" {
		if err := s.fromSource(ctx, origin, list); err != nil {
			return err
		}
	}
	for _, x := range list {
		if x.seen {
			continue
		}
		if err := s.fromKept(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// fromSource scans the transcript of a unit.
func (s *scan) fromSource(ctx context.Context, origin store.Origin, list []*scanned) error {
	reader := s.e.byAgent[origin.Source.Agent]
	if reader == nil {
		return nil // of an agent that this version does not read
	}
	env, err := s.e.Env(origin.Source.Agent)
	if err != nil {
		s.skip(list, contract.CodePersistenceFailed)
		return nil
	}
	src, err := s.e.Locate(ctx, origin.Source)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return nil // the index has not noticed yet
	case err != nil:
		s.skip(list, contract.CodePersistenceFailed)
		return nil
	}
	sink := &scanSink{s: s, ctx: ctx, sessions: map[string]*scanned{}}
	synced := origin.State == store.StateRead && origin.Source.Signature == src.Signature
	for _, x := range list {
		if !synced {
			x.held = new([]contract.EventHit)
		}
		sink.sessions[x.session.SID] = x
	}
	_, err = read(ctx, reader, env, src, sink)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, x := range list {
		if x.held != nil {
			s.release(x)
		}
	}
	switch {
	case err == nil, errors.Is(err, errEnough):
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case !errors.Is(err, transcript.ErrNoSession):
		s.skip(list, contract.CodePersistenceFailed)
		return nil
	}
	if !sink.any && src.Size > 0 && src.Key == "" {
		// There is a file, and no record of it can be decoded.
		s.skip(list, contract.CodeCorruptSession)
	}
	return nil
}

// fromKept scans the copy that the index keeps of a session.
func (s *scan) fromKept(ctx context.Context, x *scanned) error {
	var stop error
	err := s.e.View(ctx, func(snap *store.Snapshot) error {
		return snap.Events(ctx, x.session, 0, func(e *store.Stored) bool {
			if stop = ctx.Err(); stop != nil {
				return false
			}
			parts := slices.DeleteFunc(e.Parts, func(p transcript.Part) bool { return p.Kind == store.Words })
			if len(parts) == 0 || !s.events.surface(e.Surface) || !s.events.allows(e.Type, e.Role, e.Seq, millis(e.Time), e.Tools) {
				return true
			}
			stop = s.match(ctx, x, query.Record(x.session, e), parts)
			return stop == nil
		})
	})
	if errors.Is(stop, errEnough) {
		stop = nil
	}
	return errors.Join(err, stop)
}

// scanSink takes the events of the sessions that are scanned.
type scanSink struct {
	s        *scan
	ctx      context.Context
	sessions map[string]*scanned
	any      bool // anything was in the source
}

var _ transcript.Sink = (*scanSink)(nil)

// Begin implements transcript.Sink.
func (k *scanSink) Begin(bool) error { return nil }

// Header implements transcript.Sink.
func (k *scanSink) Header(*transcript.Header) error { return nil }

// Progress implements transcript.Sink.
func (k *scanSink) Progress(int64) {}

// Event implements transcript.Sink.
func (k *scanSink) Event(e *transcript.Event) error {
	k.any = true
	if err := k.ctx.Err(); err != nil {
		return err
	}
	x := k.sessions[e.SessionID]
	if x == nil {
		return nil
	}
	x.seen = true
	if len(e.Parts) == 0 || e.Inherited && !x.adopted.Has(e.ID, e.Seq) || !k.s.events.allows(e.Type, e.Role, e.Seq, millis(e.Time), e.Tools) {
		return nil
	}
	surface := e.Surface
	if x.held == nil {
		// What a later record does to it the index knows already.
		if surface = x.session.SurfaceOf(e.Seq); !k.s.events.surface(surface) {
			return nil
		}
	}
	err := k.s.match(k.ctx, x, recordOf(x.session, e, surface), e.Parts)
	if errors.Is(err, errEnough) && len(k.sessions) > 1 {
		return nil // enough of this one
	}
	return err
}

// Surface implements transcript.Sink.
func (k *scanSink) Surface(id string, from, to int, v transcript.Surface) error {
	if x := k.sessions[id]; x != nil && x.held != nil {
		for i := range *x.held {
			if h := &(*x.held)[i]; int64(from) <= h.Seq && h.Seq < int64(to) {
				h.Surface = contract.Surface(v)
			}
		}
	}
	return nil
}

// recordOf is an event as its reader hands it over, without text and data.
func recordOf(of *store.Session, e *transcript.Event, surface transcript.Surface) contract.EventRecord {
	return contract.EventRecord{
		Agent: of.Agent, SessionID: of.SID, Seq: int64(e.Seq), EventID: optional(strings.Clone(e.ID)), Type: strings.Clone(e.Type), RawType: strings.Clone(e.RawType),
		Role: contract.Role(e.Role), Time: instant(e.Time), Surface: contract.Surface(surface), Inherited: e.Inherited,
	}
}

// maxHeld bounds the hits of a session whose surfaces are not known yet, where
// only those of some are wanted.
const maxHeld = 4 * contract.MaxEventLimit

// match looks into an event and takes the hit. errEnough says that no more of
// its session are wanted.
func (s *scan) match(ctx context.Context, x *scanned, record contract.EventRecord, parts []transcript.Part) error {
	if s.scope == contract.ScopeConversation {
		parts = slices.DeleteFunc(slices.Clone(parts), func(p transcript.Part) bool { return p.Kind != transcript.Prose })
	}
	if !s.want.in(ctx, parts) {
		return ctx.Err()
	}
	text := joined(parts)
	hit := contract.EventHit{EventRecord: record}
	var cut bool
	hit.Snippet, hit.Marks, cut = query.Excerpt(text, s.want.spans(ctx, text))
	if err := ctx.Err(); err != nil {
		return err
	}
	if x.held == nil {
		x.hits++
		s.found(x.rank, hit, cut)
		if x.hits >= s.limit {
			return errEnough
		}
		return nil
	}
	if cut {
		s.cut.Add(1)
	}
	*x.held = append(*x.held, hit)
	if len(*x.held) >= maxHeld || len(*x.held) >= s.limit && s.events.Surfaces == nil {
		s.partial.Store(true)
		return errEnough
	}
	return nil
}

// release hands over the hits whose surfaces are known now.
func (s *scan) release(x *scanned) {
	for _, hit := range *x.held {
		if x.hits < s.limit && s.events.surface(transcript.Surface(hit.Surface)) {
			x.hits++
			s.found(x.rank, hit, false)
		}
	}
	x.held = nil
}
