package exact

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// log is one session's log, open for the length of a request.
type log struct {
	e       *Engine
	session *store.Session
	name    contract.SessionName // in full
	header  contract.Header
	fence   contract.Fence // the session's epoch
	*outline

	// Of a log that is read from its transcript.
	reader transcript.Reader
	env    transcript.Env
	src    transcript.Source
	// synced says that the index has read the transcript as it is now.
	synced bool
}

var (
	// errGone says that a session is not in its transcript any more.
	errGone = errors.New("the transcript is gone")
	// errChanged says that a transcript changed between the outline and the
	// reading of a record.
	errChanged = errors.New("the transcript changed while it was read")
)

// tries is how often a request is begun anew because of errChanged.
const tries = 3

// with runs f over a session's log, anew when the transcript changes meanwhile.
func (e *Engine) with(ctx context.Context, name contract.SessionName, f func(*log) error) error {
	var err error
	for range tries {
		var l *log
		if l, err = e.open(ctx, name); err == nil {
			err = f(l)
		}
		if !errors.Is(err, errChanged) {
			break
		}
	}
	if errors.Is(err, errChanged) {
		return contract.Failed(contract.CodePersistenceFailed, err, "the transcript of %.200q is being rewritten; ask again", name.String())
	}
	return err
}

// open finds a session and reads its outline.
func (e *Engine) open(ctx context.Context, name contract.SessionName) (*log, error) {
	l := &log{e: e}
	var origin store.Origin
	var twins []store.Origin
	err := e.View(ctx, func(snap *store.Snapshot) error {
		x, err := Resolve(ctx, snap, name)
		if err != nil {
			return err
		}
		l.session, l.name = x, contract.SessionName{Agent: x.Agent, SessionID: x.SID}
		l.fence = contract.Fence{Generation: x.Epoch, Identity: snap.Identity}
		l.header = Header(x, e.Now())
		if l.header.Presence != contract.PresencePresent {
			return nil
		}
		origin, err = snap.Origin(ctx, x)
		switch {
		case errors.Is(err, store.ErrNoOrigin):
			return nil
		case err != nil:
			return err
		}
		twins, err = snap.Twins(ctx, x)
		return err
	})
	if err != nil {
		return nil, err
	}
	if origin.Source.Path != "" {
		err := l.fromTranscript(ctx, origin, twins)
		if !errors.Is(err, errGone) {
			return l, err
		}
		// The index has not noticed yet.
		l.header.Presence = contract.PresenceUnverifiable
		l.header.Warnings = append(l.header.Warnings, keptWarning("its transcript cannot be reached now"))
	}
	return l, l.fromKept(ctx)
}

// fromKept makes the outline of the copy that the index keeps.
func (l *log) fromKept(ctx context.Context) error {
	return l.e.View(ctx, func(snap *store.Snapshot) error {
		key := strings.Join([]string{"kept", snap.Identity, strconv.FormatInt(snap.Generation, 10), strconv.FormatInt(l.session.ID, 10)}, "\x00")
		var err error
		l.outline, err = l.e.cache.get(ctx, key, func() (*outline, error) {
			b := newBuilder()
			b.o.kept = true
			var fault error
			err := snap.Events(ctx, l.session, 0, func(e *store.Stored) bool {
				if fault = ctx.Err(); fault == nil {
					fault = b.stored(e)
				}
				return fault == nil
			})
			if err = errors.Join(err, fault); err != nil {
				return nil, fmt.Errorf("read the kept copy: %w", err)
			}
			return b.finish(), nil
		})
		return err
	})
}

// fromTranscript makes the outline of the session's transcript. errGone says
// that the session is not in it, or it is not there.
func (l *log) fromTranscript(ctx context.Context, origin store.Origin, twins []store.Origin) error {
	var err error
	l.reader = l.e.byAgent[l.name.Agent]
	if l.reader == nil {
		return errGone // of an agent that this version does not read
	}
	if l.env, err = l.e.Env(l.name.Agent); err != nil {
		return l.unreadable(err)
	}
	if l.src, l.outline, err = l.outlineOf(ctx, origin.Source); err != nil {
		return err
	}
	l.synced = origin.State == store.StateRead && origin.Source.Signature == l.src.Signature && l.session.Events == l.own
	for _, w := range l.warnings {
		if len(l.header.Warnings) < transcript.MaxWarnings && !slices.Contains(l.header.Warnings, w) {
			l.header.Warnings = append(l.header.Warnings, w)
		}
	}
	return l.compare(ctx, origin, twins)
}

// outlineOf looks for a source and reads the session's outline from it.
func (l *log) outlineOf(ctx context.Context, known transcript.Source) (transcript.Source, *outline, error) {
	src, err := l.e.Locate(ctx, known)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return src, nil, errGone
	case ctx.Err() != nil:
		return src, nil, ctx.Err()
	case err != nil:
		return src, nil, l.unreadable(err)
	}
	key := strings.Join([]string{"live", src.Agent, src.Path, src.Key, l.name.SessionID, src.Signature}, "\x00")
	o, err := l.e.cache.get(ctx, key, func() (*outline, error) { return l.build(ctx, src) })
	return src, o, err
}

func (l *log) build(ctx context.Context, src transcript.Source) (*outline, error) {
	info, err := os.Stat(src.Path)
	if err != nil {
		info = nil // reading tells
	}
	w := &whole{b: newBuilder(), id: l.name.SessionID, strict: l.name.Agent == contract.AgentDsh}
	cp, err := read(ctx, l.reader, l.env, src, w)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case w.stopped != nil:
		return nil, l.unreadable(w.stopped)
	case errors.Is(err, transcript.ErrCorrupt):
		return nil, l.corrupt(err)
	case errors.Is(err, transcript.ErrInvalidSurface) && w.seen:
		w.b.o.strict = err
	case errors.Is(err, fs.ErrNotExist):
		return nil, errGone
	case err != nil && !errors.Is(err, transcript.ErrNoSession):
		var path *fs.PathError
		if errors.As(err, &path) || src.Key != "" {
			return nil, l.unreadable(err)
		}
		return nil, l.corrupt(err)
	}
	if !w.seen {
		if !w.any && info != nil && info.Size() > 0 && src.Key == "" {
			return nil, l.corrupt(errors.New("none of its records can be decoded"))
		}
		return nil, errGone
	}
	o := w.b.finish()
	o.info = info
	if w.headed {
		o.facts, o.folder = factsOf(&w.header), w.header.LastCWD
		if home, ok := l.reader.(transcript.Homebound); ok {
			o.folder = home.ResumeFolder(src.Path, &w.header)
		}
		o.warnings = append(o.warnings, w.header.Warnings...)
	}
	if cp != nil && cp.Partial != "" {
		o.warnings = append(o.warnings, cp.Partial)
	}
	return o, nil
}

func (l *log) unreadable(err error) error {
	return contract.Failed(contract.CodePersistenceFailed, err, "the transcript of %.200q cannot be read: %v", l.name.String(), err)
}

func (l *log) corrupt(err error) error {
	return contract.Failed(contract.CodeCorruptSession, err, "the transcript of %.200q is corrupt: %v", l.name.String(), err)
}

// surfaceFault refuses what needs a surface that the agent's own service would
// not accept.
func (l *log) surfaceFault() error {
	if l.strict == nil {
		return nil
	}
	return contract.Failed(contract.CodeInvalidSurface, l.strict, "the surface of %.200q is not valid: %v", l.name.String(), l.strict)
}

// facts are what two copies of one session must agree in.
type facts struct {
	created, cwd, parent string
	inherited, depth     int
	known                bool // inherited is
}

func factsOf(h *transcript.Header) facts {
	f := facts{cwd: h.CWD, parent: h.ParentID, inherited: h.InheritedCount, depth: h.DelegationDepth, known: h.InheritedKnown}
	if !h.CreatedAt.IsZero() {
		f.created = strconv.FormatInt(h.CreatedAt.UnixMilli(), 10)
	}
	return f
}

// contradict reports whether both know something and know it differently.
func (f facts) contradict(o facts) bool {
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	return differ(f.created, o.created) || differ(f.cwd, o.cwd) || differ(f.parent, o.parent) ||
		f.depth != o.depth || f.known && o.known && f.inherited != o.inherited
}

// compare holds the other copies of the session against the one that is read.
// Those of another class are what the agent itself left behind, such as an older
// form, and are not expected to agree; copies that cannot be read prove nothing.
func (l *log) compare(ctx context.Context, origin store.Origin, twins []store.Origin) error {
	for _, twin := range twins {
		if twin.Source.Class != origin.Source.Class {
			continue
		}
		_, o, err := l.outlineOf(ctx, twin.Source)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && o.facts.contradict(l.facts) {
			return contract.Failed(contract.CodeSourceConflict, nil, "two transcripts have the session %.200q and do not agree on what it is", l.name.String())
		}
	}
	return nil
}
