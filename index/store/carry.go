package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
)

// What is kept of transcripts that are gone cannot be read again, so a database
// of another version, or a damaged one, is read as far as it goes and its
// sessions are written into the new one. Kept and KeptSession are the form in
// between: their meaning never changes, so that a new schema needs one more
// layout below, and the writing side stays as it is.

// Kept is a source as another index kept it, with the sessions read from it.
type Kept struct {
	Source   transcript.Source
	Sessions []KeptSession
}

// KeptSession is a session as another index kept it.
type KeptSession struct {
	Header   transcript.Header
	Presence string
	Events   int      // how many it has
	Files    []string // paths the session touched
	Places   []string // keys of the folders it worked in
	// Each calls f for its events in order, from 0 and without gaps, as far as
	// they can be read; how many that were is returned.
	Each func(ctx context.Context, f func(*transcript.Event, int64) error) (int, error)
}

// layout is how an index of one schema version is read.
type layout struct {
	sessions, session, source, places, files, blocks, block string
	// decode yields the events of a block.
	decode func(data []byte, yield func(*Stored) bool) error
}

// untitled is the last version that did not keep which event gave a title.
const untitled = 5

// layoutOf is how a version is read. Others than those told apart here are tried with
// the present layout: most changes leave these columns as they are, and what does
// not fit is refused by SQLite.
func layoutOf(version int) layout {
	l := layout{
		sessions: `SELECT id FROM session ORDER BY id`,
		session: `SELECT source, agent, sid, path, presence, grown, events, title, title_source, title_at, cwd, branch, model, models, repo_url, created, updated, messages,
			relation, parent, parent_event, evidence, inherited, inherited_known, depth, automated, entrypoint, format, warnings, surfaces FROM session WHERE id = ?`,
		source: `SELECT path, key, root, hint_id, class, size, mtime FROM source WHERE id = ?`,
		places: `SELECT key FROM place WHERE session = ? ORDER BY key`,
		files:  `SELECT path FROM file WHERE session = ? ORDER BY path`,
		blocks: `SELECT id FROM block WHERE session = ? ORDER BY first_seq`,
		block:  `SELECT data FROM block WHERE id = ?`,
		decode: decodeBlock,
	}
	if version > 0 && version <= untitled {
		l.session = strings.Replace(l.session, "title_at", "0", 1)
	}
	return l
}

// Old is a database that was set aside, open for reading what can be read.
type Old struct {
	db *sql.DB
	layout
	torn bool // some text that is referred to could not be read
}

// OpenOld opens a database that was set aside.
func OpenOld(ctx context.Context, path string) (*Old, error) {
	if err := lengthen(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite3", dsn(path, false))
	if err != nil {
		return nil, fmt.Errorf("open the index set aside: %w", err)
	}
	db.SetMaxOpenConns(1)
	version := 0
	// A version that cannot be read is no version: the layout is tried.
	_ = db.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'schema'`).Scan(&version)
	return &Old{db: db, layout: layoutOf(version)}, nil
}

// lengthen gives a database that was cut off the length its header speaks of:
// SQLite refuses a shorter one altogether, while empty pages are damage that
// only those meet who need them.
func lengthen(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open the index set aside: %w", err)
	}
	defer f.Close()
	head := make([]byte, 32)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:16]) != "SQLite format 3\x00" {
		return nil // no database: nothing to be had from it
	}
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open the index set aside: %w", err)
	}
	// https://www.sqlite.org/fileformat2.html#the_database_header: page size
	// (1 is 65536) and number of pages.
	page := int64(binary.BigEndian.Uint16(head[16:]))
	if page == 1 {
		page = 65536
	}
	want := page * int64(binary.BigEndian.Uint32(head[28:]))
	if have := info.Size(); have < want && want-have <= maxCut {
		if err := f.Truncate(want); err != nil {
			return fmt.Errorf("open the index set aside: %w", err)
		}
	}
	return nil
}

// maxCut bounds how much of a database may be missing at its end; the file gets
// longer without taking room on the disk.
const maxCut = 1 << 36

// Close closes it.
func (o *Old) Close() error {
	if err := o.db.Close(); err != nil {
		return fmt.Errorf("close the index set aside: %w", err)
	}
	return nil
}

// Sources calls f for every source that has sessions. What cannot be read is
// left out and makes whole false; the error is f's or of the end of ctx.
func (o *Old) Sources(ctx context.Context, f func(*Kept) error) (whole bool, err error) {
	ids, whole := o.ids(ctx)
	type member struct {
		session KeptSession
		from    transcript.Source // as far as the session's row tells
	}
	// The rows of one source are not next to each other; what is remembered
	// of each is its number.
	bySource := map[int64][]int64{}
	for _, id := range ids {
		var source int64
		if err := o.db.QueryRowContext(ctx, `SELECT source FROM session WHERE id = ?`, id).Scan(&source); err != nil {
			whole = false
			continue
		}
		bySource[source] = append(bySource[source], id)
	}
	for _, source := range slices.Sorted(mapKeys(bySource)) {
		var list []member
		for _, id := range bySource[source] {
			session, from, err := o.one(ctx, id)
			if err != nil {
				whole = false
				continue
			}
			list = append(list, member{session, from})
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if len(list) == 0 {
			continue
		}
		k := &Kept{Source: list[0].from}
		var mtime int64
		s := k.Source
		if err := o.db.QueryRowContext(ctx, o.source, source).Scan(&s.Path, &s.Key, &s.Root, &s.SessionID, &s.Class, &s.Size, &mtime); err == nil {
			s.ModTime = time.UnixMilli(mtime)
			k.Source = s
		} else {
			whole = false
		}
		for _, m := range list {
			each, events := m.session.Each, m.session.Events
			m.session.Each = func(ctx context.Context, f func(*transcript.Event, int64) error) (int, error) {
				n, err := each(ctx, f)
				whole = whole && n >= events
				return n, err
			}
			k.Sessions = append(k.Sessions, m.session)
		}
		if err := f(k); err != nil {
			return false, err
		}
	}
	return whole && !o.torn, ctx.Err()
}

// ids lists the sessions: from the start, and if that meets damage, also from
// the end and by an index, which lie elsewhere in the file.
func (o *Old) ids(ctx context.Context) (ids []int64, whole bool) {
	seen := map[int64]struct{}{}
	list := func(query string) error {
		rows, err := o.db.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return err
			}
			seen[id] = struct{}{}
		}
		return rows.Err()
	}
	if whole = list(o.sessions) == nil; !whole {
		_ = list(o.sessions + ` DESC`)
		_ = list(`SELECT id FROM session INDEXED BY session_source`)
	}
	for id := range seen {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, whole
}

func (o *Old) one(ctx context.Context, id int64) (KeptSession, transcript.Source, error) {
	var k KeptSession
	var src transcript.Source
	h := &k.Header
	var source, grown int64
	var cwd, branch, model, repo, parent, parentEvent, evidence sql.NullString
	var created, updated sql.NullInt64
	var models, warnings string
	var surf []byte
	err := o.db.QueryRowContext(ctx, o.session, id).Scan(&source, &src.Agent, &h.SessionID, &src.Path, &k.Presence, &grown, &k.Events, &h.Title, &h.TitleSource, &h.TitleAt, &cwd, &branch,
		&model, &models, &repo, &created, &updated, &h.MessageCount, &h.Relation, &parent, &parentEvent, &evidence, &h.InheritedCount, &h.InheritedKnown,
		&h.DelegationDepth, &h.Automated, &h.Entrypoint, &h.Format, &warnings, &surf)
	if err != nil {
		return k, src, fmt.Errorf("read a kept session: %w", err)
	}
	src.SessionID, src.ModTime = h.SessionID, time.UnixMilli(grown)
	h.CWD, h.Branch, h.Model, h.RepoURL = cwd.String, branch.String, model.String, repo.String
	h.ParentID, h.ParentEvent, h.LineageEvidence = parent.String, parentEvent.String, transcript.Evidence(evidence.String)
	h.CreatedAt, h.UpdatedAt = fromNull(created), fromNull(updated)
	h.Models, h.Warnings = splitLines(models), splitLines(warnings)
	h.Conversation = true
	// Only for filters: better without than not at all.
	k.Places, _ = o.texts(ctx, o.places, id)
	k.Files, _ = o.texts(ctx, o.files, id)
	surfaces := decodeSurfaces(surf)
	k.Each = func(ctx context.Context, f func(*transcript.Event, int64) error) (int, error) {
		return o.each(ctx, id, surfaces, f)
	}
	return k, src, nil
}

func (o *Old) texts(ctx context.Context, query string, id int64) ([]string, error) {
	rows, err := o.db.QueryContext(ctx, query, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// each reads events until the first that cannot be read.
func (o *Old) each(ctx context.Context, id int64, surfaces surfaces, f func(*transcript.Event, int64) error) (n int, err error) {
	rows, err := o.db.QueryContext(ctx, o.blocks, id)
	if err != nil {
		return 0, ctx.Err()
	}
	var blocks []int64
	for rows.Next() {
		var block int64
		if rows.Scan(&block) != nil {
			break
		}
		blocks = append(blocks, block)
	}
	rows.Close()
	l := o.lender()
	for _, block := range blocks {
		var data []byte
		if o.db.QueryRowContext(ctx, o.block, block).Scan(&data) != nil {
			return n, ctx.Err()
		}
		var failed error
		gap := false
		damage := o.decode(data, func(e *Stored) bool {
			if gap = e.Seq != n; gap {
				return false
			}
			o.fillKept(ctx, l, e)
			failed = f(&transcript.Event{
				Seq: e.Seq, ID: e.ID, Type: e.Type, RawType: e.RawType, Role: e.Role, Time: e.Time, Surface: surfaces.at(e.Seq), Inherited: e.Inherited,
				Parts: e.Parts, Tools: e.Tools, Failed: e.Failed,
			}, e.Reduced)
			n++
			return failed == nil
		})
		if failed != nil {
			return n, failed
		}
		if damage != nil || gap {
			break
		}
	}
	return n, ctx.Err()
}

// cutWarning says of a session that less than all of it is left.
const cutWarning = "the end of it was lost with a damaged index; its transcript could not be read again"

// Import writes a source as another index kept it. It has no checkpoint and no
// signature: should it be there, it is read anew. Sessions that a better source
// provides are left out, and so are those of which no event is left. How many
// were written is returned.
func (t *Tx) Import(ctx context.Context, k *Kept, label string) (int, error) {
	src := k.Source
	src.Signature = ""
	id, err := t.PutSource(SourceState{Source: src, State: StateRead})
	if err != nil {
		return 0, err
	}
	s := t.NewSink(id, src, label, nil)
	if err := s.Begin(false); err != nil {
		return 0, err
	}
	written := map[string]string{}
	for _, session := range k.Sessions {
		h := session.Header
		n, err := session.Each(ctx, func(e *transcript.Event, reduced int64) error {
			e.SessionID = h.SessionID
			return s.keep(e, reduced)
		})
		if err != nil {
			return 0, err
		}
		w := s.sessions[h.SessionID]
		if n == 0 || w == nil || w.discard {
			continue
		}
		if n < session.Events {
			h.Warn(cutWarning)
		}
		w.messages = h.MessageCount
		for _, f := range session.Files {
			if f != "" && len(w.newFiles) < maxFiles {
				w.newFiles = append(w.newFiles, f)
			}
		}
		h.CWDs = session.Places
		if err := s.Header(&h); err != nil {
			return 0, err
		}
		written[h.SessionID] = session.Presence
	}
	if err := s.Close(); err != nil {
		return 0, err
	}
	if len(written) == 0 {
		return 0, t.DropBare(id)
	}
	for sid, presence := range written {
		if _, err := t.exec(`UPDATE session SET presence = ? WHERE agent = ? AND sid = ?`, presence, src.Agent, sid); err != nil {
			return 0, err
		}
	}
	return len(written), nil
}

// Provided reports whether a source is known, and not as failing, and which of
// the sessions are in the index: what another index kept of them is not needed.
func (w *Writer) Provided(src transcript.Source, sessionIDs []string) (source bool, sessions map[string]bool, err error) {
	return provided(w.db, src, sessionIDs)
}

// Provided is Writer.Provided within a transaction.
func (t *Tx) Provided(src transcript.Source, sessionIDs []string) (source bool, sessions map[string]bool, err error) {
	tx, err := t.look()
	if err != nil {
		return false, nil, err
	}
	return provided(tx, src, sessionIDs)
}

func provided(q interface {
	QueryRow(query string, args ...any) *sql.Row
}, src transcript.Source, sessionIDs []string) (source bool, sessions map[string]bool, err error) {
	var state State
	err = q.QueryRow(`SELECT state FROM source WHERE agent = ? AND path = ? AND key = ?`, src.Agent, src.Path, src.Key).Scan(&state)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, nil, fmt.Errorf("look up a source: %w", err)
	}
	sessions = map[string]bool{}
	for _, id := range sessionIDs {
		var n int
		if err := q.QueryRow(`SELECT count(*) FROM session WHERE agent = ? AND sid = ?`, src.Agent, id).Scan(&n); err != nil {
			return false, nil, fmt.Errorf("look up a session: %w", err)
		}
		if n > 0 {
			sessions[id] = true
		}
	}
	return state != "" && state != StateFailed, sessions, nil
}
