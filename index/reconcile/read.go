package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// read reads what is due, then copies in the place of those that turned out to
// give nothing, and at last what became due by what was read.
func (p *pass) read(ctx context.Context) error {
	if err := p.readDue(ctx); err != nil {
		return err
	}
	for len(p.steads) > 0 {
		d := p.steads[0]
		p.steads = p.steads[1:]
		if err := p.readOne(ctx, d); err != nil {
			return err
		}
	}
	return p.readAgain(ctx)
}

// readAgain reads the sources whose copies of a text have another owner now, in
// the order in which they became due.
func (p *pass) readAgain(ctx context.Context) error {
	if len(p.again) == 0 {
		return nil
	}
	there := make(map[sourceKey]*found, len(p.sources))
	for _, f := range p.sources {
		there[keyOf(&f.Source)] = f
	}
	for times := map[int64]int{}; len(p.again) > 0; {
		id := p.again[0]
		p.again = p.again[1:]
		var f *found
		err := p.w.KnownByID(ctx, id, func(s store.Known) error {
			switch {
			case s.Source.Signature != "": // it was read since
			case there[keyOf(&s.Source)] != nil:
				f = there[keyOf(&s.Source)]
				f.known = p.asKnown(s)
			case p.targeted() && s.Source.Class != goneClass:
				p.result.Due++ // it was not looked for
			}
			return nil
		})
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		if times[id]++; times[id] > maxAgain {
			p.result.Due++
			continue
		}
		p.progress.FilesTotal++
		p.progress.BytesTotal += max(f.Size, 0)
		if err := p.readOne(ctx, &due{found: f}); err != nil {
			return err
		}
	}
	return nil
}

// maxAgain is how often a source is read in one pass because of what others have.
// Two that cannot agree are left to the next one.
const maxAgain = 3

func (p *pass) readDue(ctx context.Context) error {
	p.tell(0)
	for _, d := range p.due {
		d.tried = true
	}
	building := p.worthBuilding()
	var never []*due
	for _, d := range p.due {
		if building && d.unread() {
			never = append(never, d)
			continue
		}
		// What grew since is little and wanted soonest.
		if err := p.readOne(ctx, d); err != nil {
			return err
		}
	}
	if len(never) == 0 {
		return nil
	}
	return p.build(ctx, never)
}

// readOne reads a source in a transaction of its own: going on where it was
// left if it only grew, else from its start. When it fails, what was read of it
// before is kept.
func (p *pass) readOne(ctx context.Context, d *due) error {
	var a *attempt
	// What changed without growing was not appended to, but it may have been
	// touched only, or copied.
	grew := d.known != nil && d.known.size != d.Size
	for _, anew := range []bool{p.cfg.Full || !grew && !d.touched(), true} {
		err := p.update(ctx, func(t *store.Tx) error {
			a = &attempt{p: p, t: t, d: d}
			var prev *transcript.Checkpoint
			if !anew {
				var err error
				if prev, err = t.Checkpoint(d.known.id); err != nil {
					return err
				}
				if prev != nil && (prev.Version != d.reader.Version() || !grew && !prev.Whole()) {
					prev = nil
				}
				if prev != nil {
					prev.Verify = !grew
				}
			}
			if err := a.run(ctx, prev); err != nil {
				return err
			}
			if a.failure != nil || a.reread || a.vain || a.gone {
				return errUndo
			}
			return nil
		})
		if err != nil && !errors.Is(err, errUndo) {
			return err
		}
		if !a.reread || anew {
			break
		}
	}
	if a.failure != nil || a.reread || a.vain {
		if err := p.update(ctx, func(t *store.Tx) error {
			a.t = t
			if a.vain {
				return a.putEmpty()
			}
			_, err := a.putFailed()
			return err
		}); err != nil {
			return err
		}
	}
	p.done(a)
	return nil
}

// done counts a source that was tried.
func (p *pass) done(a *attempt) {
	a.d.partial = 0
	if p.talking && a.state == store.StateRead && a.sink.Partial {
		a.d.partial, a.d.counted = a.sink.Source(), a.d.talkShare()
		p.progress.BytesDone += a.d.counted
		p.again = append(p.again, a.due...)
		p.tell(0)
		return
	}
	p.progress.FilesDone++
	p.progress.BytesDone += max(a.d.Size, 0) - a.d.counted
	if err := a.failed(); a.gone {
		if a.d.known != nil {
			p.result.Due++ // to be judged by the next pass
		}
		p.cfg.Log.Debug().Str("agent", a.d.Agent).Str("path", a.d.Path).Msg("a transcript vanished before it was read")
	} else if err != nil {
		p.result.Failed++
		if a.fails() < MaxFails {
			p.result.Due++
		}
		p.cfg.Log.Warn().Str("agent", a.d.Agent).Str("path", a.d.Path).Str("key", a.d.Key).Err(err).Msg("a transcript could not be read")
	} else {
		p.result.Read++
		p.again = append(p.again, a.due...)
	}
	if a.state != store.StateRead && a.state != store.StateTwin && !a.excluded {
		if o := a.d.stead(); o != nil {
			o.tried = true
			p.steads = append(p.steads, &due{found: o})
			p.progress.FilesTotal++
			p.progress.BytesTotal += max(o.Size, 0)
		}
	}
	p.tell(0)
}

// attempt is one reading of one source inside a transaction.
type attempt struct {
	p       *pass
	t       *store.Tx
	d       *due
	sink    *store.Sink
	failure error   // the source cannot be read
	reread  bool    // it must be read from its start
	vain    bool    // it has no conversation, but the session of a source that had one
	gone    bool    // it was deleted or moved away since it was found
	due     []int64 // other sources that are to be read anew

	state    store.State // what became of it, "" if it failed
	excluded bool
}

// tell passes on how far the reading of the source is.
func (a *attempt) tell(bytes int64) {
	switch {
	case a.p.talking:
		bytes = bytes / 10 * talkTenths
	case a.d.counted > 0:
		bytes = bytes / 10 * (10 - talkTenths)
	}
	a.p.tell(bytes)
}

// failed is the reason to count the source as failed, nil if it was read.
func (a *attempt) failed() error {
	if a.failure == nil && a.reread && !a.gone {
		return errors.New("the reader asked for another reading of a source read from its start")
	}
	return a.failure
}

// fails is how often this source, as it is now, has failed.
func (a *attempt) fails() int {
	if a.d.failing() {
		return a.d.known.fails + 1
	}
	return 1
}

func (a *attempt) putFailed() (int64, error) {
	text := firstLine(a.failed().Error())
	s := store.SourceState{Source: a.d.Source, State: store.StateFailed, Fails: a.fails(), Error: text}
	if a.d.saidOnly() {
		s.Checkpoint = &transcript.Checkpoint{Version: store.TalkOnly} // it still is
	}
	return a.t.PutSource(s)
}

// putEmpty records that the source has no conversation.
func (a *attempt) putEmpty() error {
	a.state = store.StateEmpty
	_, err := a.t.PutSource(store.SourceState{Source: a.d.Source, State: a.state, Checkpoint: &transcript.Checkpoint{Version: a.d.reader.Version()}})
	return err
}

// abort takes back what the attempt wrote and records the failure, in the same
// transaction.
func (a *attempt) abort() error {
	if err := a.sink.Abort(); err != nil {
		return err
	}
	if a.gone {
		return a.t.DropBare(a.sink.Source())
	}
	_, err := a.putFailed()
	return err
}

// run reads the source. The error is of the index; what the source is to blame
// for is in failure and reread, and the transaction is then to be undone.
func (a *attempt) run(ctx context.Context, prev *transcript.Checkpoint) error {
	var had []store.Adoption
	if a.d.known != nil {
		var err error
		if had, err = a.t.Adoptions(a.d.known.id); err != nil {
			return err
		}
	}
	lost, err := a.once(ctx, prev, nil)
	if err == nil && len(lost) > 0 {
		_, err = a.once(ctx, nil, lost)
	}
	if err != nil || len(had) == 0 || a.failure != nil || a.reread || a.vain || a.gone {
		return err
	}
	released, err := a.t.Released(had)
	a.due = append(a.due, released...)
	return err
}

// once reads the source, from its start or from prev. lost are sessions which its
// own inherited from and that are not in the index, nor will be: to be found, it
// must be read again with what came from them as its own (adopt).
func (a *attempt) once(ctx context.Context, prev *transcript.Checkpoint, adopt []string) (lost []string, err error) {
	d := a.d
	version := d.reader.Version()
	// The state is replaced below; now the row must be there for its id, and
	// for comparing copies.
	id, err := a.t.PutSource(store.SourceState{Source: d.Source, State: store.StateEmpty})
	if err != nil {
		return nil, err
	}
	a.sink = a.t.NewSink(id, d.Source, d.reader.Agent().Label, a.tell)
	if adopt != nil {
		a.sink.Adopt(adopt)
	}
	g := &guard{Sink: a.sink, p: a.p, agent: d.Agent}
	cp, err := a.read(ctx, prev, g)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case g.fault != nil:
		return nil, g.fault
	case g.shut:
		if err := errors.Join(a.t.ForksDue(id), a.sink.Abort(), a.t.DropSource(id)); err != nil {
			return nil, err
		}
		a.excluded = true
		// Its sub-agents, too, those that were read before.
		for _, sid := range []string{d.SessionID, g.excluded} {
			if sid == "" {
				continue
			}
			a.p.shutOut(d.Agent, sid)
			if _, err := a.t.Forget(d.Agent, sid); err != nil {
				return nil, err
			}
		}
		if d.SessionID == "" {
			d.SessionID = g.excluded
		}
		return nil, putExcluded(a.t, d.found, a.p.cfg.Exclude)
	case errors.Is(err, fs.ErrNotExist) && d.vanished():
		a.gone = true
		return nil, nil
	case errors.Is(err, transcript.ErrReread), errors.Is(err, transcript.ErrNoSession) && g.resumed:
		a.reread = true
		return nil, nil
	case errors.Is(err, transcript.ErrNoSession):
		if cp == nil {
			cp = &transcript.Checkpoint{}
		}
		if !g.begun {
			if err := a.sink.Begin(false); err != nil {
				return nil, err
			}
		}
		if !g.any && (cp.Bad > 0 || cp.Torn) && cp.Partial == "" {
			cp.Partial = transcript.NothingRead
		}
	case err != nil:
		a.failure = err
		return nil, nil
	case cp == nil:
		a.failure = errors.New("the reader says nothing of how far it got")
		return nil, nil
	}
	if err := a.sink.Close(); err != nil {
		if errors.Is(err, store.ErrTakenInVain) {
			a.vain = true
			return nil, nil
		}
		if store.IsFault(err) {
			return nil, err
		}
		a.failure = err
		return nil, nil
	}
	a.due = append(a.due, a.sink.Due...)
	if adopt == nil && !g.resumed && g.copied && a.sink.Events > 0 {
		if lost, err = a.p.lost(a.t, d.Agent, g.parents); err != nil || len(lost) > 0 {
			return lost, err
		}
	}
	if g.resumed && d.known != nil && d.known.mtime.UnixMilli() != d.ModTime.UnixMilli() {
		a.t.Changed() // which sessions are active goes by it
	}
	if cp.Version = version; a.sink.Partial {
		cp = &transcript.Checkpoint{Version: store.TalkOnly, Bad: cp.Bad, Torn: cp.Torn, Partial: cp.Partial}
	}
	s := store.SourceState{ID: id, Source: d.Source, State: store.StateRead, Checkpoint: cp}
	switch {
	case a.sink.Discarded != "" && a.sink.Events == 0:
		s.State, s.Checkpoint = store.StateTwin, nil
		s.Error = "another copy of this session is read"
		if s.Source.SessionID == "" {
			s.Source.SessionID = a.sink.Discarded
		}
	case !g.resumed && len(g.sessions) == 0:
		s.State = store.StateEmpty
	case s.Source.SessionID == "" && len(g.sessions) == 1:
		// Known from now on, for telling copies apart.
		s.Source.SessionID = g.sessions[0]
	}
	if g.lapsed != "" && s.State == store.StateEmpty {
		// Nothing else came from it: not even the carry-over is kept.
		a.excluded = true
		return nil, putForgotten(a.t, d.found, g.lapsed)
	}
	a.state = s.State
	_, err = a.t.PutSource(s)
	return nil, err
}

// vanished reports whether the file of a source that was found is not there any
// more.
func (f *found) vanished() bool {
	_, err := os.Lstat(f.Path)
	return errors.Is(err, fs.ErrNotExist)
}

// read is Read with a panic turned into a failure of this source.
func (a *attempt) read(ctx context.Context, prev *transcript.Checkpoint, out transcript.Sink) (cp *transcript.Checkpoint, err error) {
	defer func() {
		if r := recover(); r != nil {
			cp, err = nil, fmt.Errorf("reading ended unexpectedly: %v", r)
			a.p.cfg.Log.Error().Str("agent", a.d.Agent).Str("path", a.d.Path).Bytes("stack", debug.Stack()).Err(err).Msg("a reader panicked")
		}
	}()
	return a.d.reader.Read(ctx, a.d.env, a.d.Source, prev, out)
}
