package transcript

import (
	"context"
	"errors"
	"time"
)

// Agent names one coding agent.
type Agent struct {
	ID    string // the contract's word: claude, codex, pi…
	Label string // as people write it: Claude Code
}

// Env is what a reader may know of the machine. Nothing else of the process
// environment is consulted, so tests give any home they like.
type Env struct {
	Home   string
	GOOS   string // runtime.GOOS
	Getenv func(string) string
	Now    func() time.Time
	// Extra are further root folders for this agent from the user's
	// configuration, absolute.
	Extra []string
}

// Var returns an environment variable that holds an absolute path, else "":
// an empty or relative override counts as unset.
func (e Env) Var(name string) string {
	if e.Getenv == nil {
		return ""
	}
	v := e.Getenv(name)
	if !isAbs(v) {
		return ""
	}
	return v
}

// Time is the present, for the sanity checks of time stamps.
func (e Env) Time() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}

// Root is a place where an agent may keep transcripts. It need not exist.
type Root struct {
	Path string
	// Kind tells a reader's layouts apart ("tree", "db", "archive"…).
	Kind string
	// Configured marks a root that the user named; its absence is reported.
	Configured bool
	// Only, if set, is a path at or below Path: Discover then lists only what
	// lies there, see LocateBelow.
	Only string
}

// Source is one readable unit: a transcript file, or one session inside a
// shared store. (Agent, Path, Key) identifies it.
type Source struct {
	Agent string
	Path  string // absolute
	Key   string // session id inside a shared store (database); "" when Path is the unit
	Root  string // Root.Path it was found under
	// SessionID is the main session's id as far as it is known without
	// reading ("" if unknown). Copies of one session in several places are
	// told by it, and only the preferred one is read.
	SessionID string
	// Class, then Size, then ModTime say which of several copies of a session
	// is read: larger wins (newer schema over older, live over archive, plain
	// over compressed; formats.md §33).
	Class int
	// Size is the plain (uncompressed) size in bytes as far as known, for
	// progress and preference.
	Size    int64
	ModTime time.Time
	// Signature changes whenever the source may read differently: size, times
	// and inode of the file and of companions that are read with it, or a
	// row watermark. Compared for equality only.
	Signature string
	// Hint carries what discovery already learned and Read needs again (a
	// title from an index file, a project folder…), in the reader's own form.
	Hint string
}

// Checkpoint is how far a source has been read. It is stored in the same
// transaction as the rows it stands for.
type Checkpoint struct {
	Offset int64 // bytes consumed
	// Head and Tail are hashes of the first bytes and of the bytes just before
	// Offset: appending is only read on when both are unchanged.
	Head, Tail uint64
	// Sum is the state of a running hash over everything before Offset, kept
	// of files for which Head and Tail are of their ends only; nil if it is
	// not known. Verify asks for it to be compared as well: the file changed
	// without growing, so that nothing was appended. It is not stored.
	Sum    []byte
	Verify bool
	// State is the reader's carry-over (JSON): sequence numbers, open calls,
	// the header so far. Nil means the source cannot be continued.
	State []byte
	// Version is the reader's format version; another one means reading anew.
	Version int
	// Bad counts records that could not be read; Torn reports an incomplete
	// last record; Partial says why less than everything was read ("" if not).
	Bad     int
	Torn    bool
	Partial string
}

// NothingRead is Checkpoint.Partial of a source of which not one record could be
// read.
const NothingRead = "not one record of it can be read"

// ErrReread is returned by Read when what was appended changes earlier events
// (a rewind, a compaction, a late rewrite) or the old part is no longer the
// same. The caller drops what the call emitted and reads the source anew.
var ErrReread = errors.New("earlier events changed: read the source again")

// ErrNoSession is returned by Read when a source holds no conversation.
var ErrNoSession = errors.New("no conversation in this file")

// ErrCorrupt and ErrInvalidSurface are returned by Read to a [Strict] sink
// for a log that its own service would refuse: a record that is none, and a
// record that replaces or cites what is not there.
var (
	ErrCorrupt        = errors.New("the log is corrupt")
	ErrInvalidSurface = errors.New("the log's surface is invalid")
)

// Sink receives what a reader finds. It copies what it keeps.
type Sink interface {
	// Begin is called once before anything else: resumed says whether the
	// events continue those of the checkpoint or replace them.
	Begin(resumed bool) error
	// Event hands over the next event of a session; Seq is dense per session.
	Event(e *Event) error
	// Surface changes the surface of events [from, to) of a session that were
	// handed over in this call.
	Surface(sessionID string, from, to int, s Surface) error
	// Header hands over a session's header, after its events, once per call.
	Header(h *Header) error
	// Progress reports bytes read so far.
	Progress(bytes int64)
}

// Reader reads one agent's transcripts. Implementations hold no global state,
// never write to, lock or repair an agent's file, and are safe for concurrent use.
type Reader interface {
	Agent() Agent
	// Version is the reader's format version, raised when the same bytes would
	// read differently; older checkpoints are then not continued.
	Version() int
	// Roots lists the places to look in, existing or not.
	Roots(env Env) []Root
	// Discover lists the sources below a root. Trouble with single folders is
	// reported through report and does not end the walk. A root that does not
	// exist yields nothing and an error that wraps fs.ErrNotExist.
	Discover(ctx context.Context, env Env, root Root, yield func(Source) error, report func(path string, err error)) error
	// Read reads a source from prev (nil: from the start) into out and returns
	// the new checkpoint. Damage inside the source is counted in it; an error
	// means nothing could be read (or ErrReread, ErrNoSession, ctx.Err()). With
	// ErrNoSession the checkpoint tells of that damage, too.
	Read(ctx context.Context, env Env, src Source, prev *Checkpoint, out Sink) (*Checkpoint, error)
	// ResumeArgs is the command line that continues a session in its cwd, nil
	// if the agent has none.
	ResumeArgs(sessionID string) []string
}

// Homebound is implemented by a Reader whose agent continues a session only from
// the folder under which it keeps it (formats.md §1.3): the last one that the
// session worked in does not do.
type Homebound interface {
	// ResumeFolder is that folder, given the session's file and its header as
	// Read gave it; "" if it is not known.
	ResumeFolder(path string, h *Header) string
}

// Selective is implemented by a Reader whose agent continues only some of its
// sessions from a command line, told by Header.Format.
type Selective interface{ Resumes(format string) bool }

// Better reports whether s is preferred over o as the copy of one session that
// is read: class, then size, then the newer file. Of equals the lower path.
func (s Source) Better(o Source) bool {
	switch {
	case s.Class != o.Class:
		return s.Class > o.Class
	case s.Size != o.Size:
		return s.Size > o.Size
	case !s.ModTime.Equal(o.ModTime):
		return s.ModTime.After(o.ModTime)
	}
	return s.Path < o.Path
}
