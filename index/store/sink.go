package store

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/transcript"
)

// maxFiles bounds the distinct touched paths kept of one session.
const maxFiles = 20000

// Sink writes what a reader finds in one source into the transaction. It
// implements transcript.Sink. After the reader returned, call Close, or Abort
// to take back what a failed reading wrote.
type Sink struct {
	t        *Tx
	source   int64
	src      transcript.Source
	label    string
	progress func(int64)

	resumed  bool
	begun    bool
	before   []int64 // sessions this source had
	sessions map[string]*sessionWriter
	last     *sessionWriter // whose span is open
	talk     analysed       // the row being built
	tool     analysed
	side     []byte
	adopt    map[string]bool // see Adopt

	// Events is the number of events taken, Discarded names a session of the
	// source that a better source already provides, Due are other sources that
	// are to be read anew because of what this one has. Partial says that text of
	// tools was left out, as TalkFirst does.
	Events    int
	Discarded string
	Due       []int64
	Partial   bool
}

// sessionWriter is a session being written.
type sessionWriter struct {
	id        int64
	sid       string
	discard   bool
	taken     bool // from another source
	events    int
	messages  int
	surfaces  surfaces
	epoch     int64
	headRow   int64
	headText  string
	inherited []uint64
	adopted   []uint64
	estate    *estate // nil if what was inherited belongs to another session
	files     map[string]struct{}
	newFiles  []string
	headed    bool
	fresh     bool // it was not in the index before
	touched   bool

	raw      []byte // the open block
	long     []longText
	rawSeq   int
	rawRow   int64 // first FTS row of the open block, 0 if none
	spanFrom int64 // first row of the open span
	info     []byte
}

// ErrTakenInVain is described at Sink.Close.
var ErrTakenInVain = errors.New("a file without a conversation took the place of one that has it")

// NewSink prepares to write a source. id is the source's row; label names the
// agent in titles of sessions that have none; progress may be nil.
func (t *Tx) NewSink(id int64, src transcript.Source, label string, progress func(int64)) *Sink {
	return &Sink{t: t, source: id, src: src, label: label, progress: progress, sessions: map[string]*sessionWriter{}}
}

// Begin implements transcript.Sink.
func (s *Sink) Begin(resumed bool) error {
	if s.begun {
		return errors.New("a source was begun twice")
	}
	s.begun, s.resumed = true, resumed
	var err error
	s.before, err = s.t.sessionsOf(s.source)
	if err != nil || resumed {
		return err
	}
	for _, id := range s.before {
		if err := s.t.dropText(id); err != nil {
			return err
		}
	}
	return nil
}

// Progress implements transcript.Sink.
func (s *Sink) Progress(bytes int64) {
	if s.progress != nil {
		s.progress(bytes)
	}
}

// Source is the row of the source that is written.
func (s *Sink) Source() int64 { return s.source }

// Adopt has what the source's sessions inherited from these count as their own
// text: they are not in the index and will not be. The source must have been read once
// in this transaction, so that it is known which sessions have what from them.
func (s *Sink) Adopt(parents []string) {
	s.adopt = map[string]bool{}
	for _, id := range parents {
		s.adopt[id] = true
	}
	adopted := true
	s.t.adopted = &adopted
}

// session returns the writer of a session, loading or creating its row.
func (s *Sink) session(sid string) (*sessionWriter, error) {
	if w := s.sessions[sid]; w != nil {
		return w, nil
	}
	if !s.begun {
		return nil, errors.New("an event came before the source was begun")
	}
	w := &sessionWriter{sid: strings.Clone(sid), files: map[string]struct{}{}}
	s.sessions[w.sid] = w
	var source int64
	var surf, inh, own []byte
	var parent sql.NullString
	var inherited int
	st, err := s.t.stmt(`SELECT id, source, events, messages, epoch, surfaces, head_row, head_text, parent, inherited, inherited_ids, adopted_ids FROM session WHERE agent = ? AND sid = ?`)
	if err != nil {
		return nil, err
	}
	err = st.QueryRow(s.src.Agent, sid).Scan(&w.id, &source, &w.events, &w.messages, &w.epoch, &surf, &w.headRow, &w.headText, &parent, &inherited, &inh, &own)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		res, err := s.t.exec(`INSERT INTO session(agent, sid, source, title, title_source, cwd_key, cwd_fold, repo_fold, path, path_fold, models, grown, messages, events,
			relation, inherited, inherited_known, depth, automated, entrypoint, format, warnings, presence, epoch, head_row, head_text)
			VALUES(?,?,?,'','','','','',?,?,'',0,0,0,'root',0,0,0,0,'','','','present',1,0,'')`,
			s.src.Agent, w.sid, s.source, s.src.Path, fold(s.src.Path))
		if err != nil {
			return nil, err
		}
		if w.id, err = res.LastInsertId(); err != nil {
			return nil, fmt.Errorf("add a session: %w", err)
		}
		w.epoch, w.fresh = 1, true
		return w, nil
	case err != nil:
		return nil, fmt.Errorf("look up a session: %w", err)
	}
	if source != s.source {
		better, err := s.betterThan(source)
		if err != nil {
			return nil, err
		}
		if !better {
			w.discard = true
			s.Discarded = w.sid
			return w, nil
		}
		if err := s.t.dropText(w.id); err != nil {
			return nil, err
		}
		if _, err := s.t.exec(`UPDATE session SET source = ?, path = ?, path_fold = ? WHERE id = ?`, s.source, s.src.Path, fold(s.src.Path), w.id); err != nil {
			return nil, err
		}
		if _, err := s.t.exec(`UPDATE source SET state = ?, carry = NULL WHERE id = ?`, StateTwin, source); err != nil {
			return nil, err
		}
		s.reset(w)
		w.taken = true
		return w, nil
	}
	if !s.resumed {
		if s.reset(w); s.adopt[parent.String] && inherited > 0 {
			err = s.inherit(w, parent.String, inherited)
		}
		return w, err
	}
	w.surfaces = decodeSurfaces(surf)
	w.inherited, w.adopted = decodeHashes(inh), decodeHashes(own)
	return w, nil
}

// reset starts a session's log anew under its old id.
func (s *Sink) reset(w *sessionWriter) {
	w.events, w.messages, w.surfaces, w.inherited, w.adopted, w.headRow, w.headText = 0, 0, surfaces{}, nil, nil, 0, ""
	w.epoch++
}

// betterThan reports whether this source is preferred over another that holds
// the same session.
func (s *Sink) betterThan(other int64) (bool, error) {
	var o transcript.Source
	var mtime int64
	tx, err := s.t.look()
	if err != nil {
		return false, err
	}
	err = tx.QueryRow(`SELECT class, size, mtime, path FROM source WHERE id = ?`, other).Scan(&o.Class, &o.Size, &mtime, &o.Path)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("compare sources: %w", err)
	}
	o.ModTime = time.UnixMilli(mtime)
	return s.src.Better(o), nil
}

// next counts an event in and returns the writer of its session.
func (s *Sink) next(e *transcript.Event) (*sessionWriter, error) {
	w, err := s.session(e.SessionID)
	if err != nil || w.discard {
		return w, err
	}
	if e.Seq != w.events {
		return w, fmt.Errorf("session %s: event %d where %d belongs", w.sid, e.Seq, w.events)
	}
	s.Events++
	w.events++
	w.touched = true
	s.t.changed = true
	w.surfaces.add(e.Seq, e.Surface)
	return w, nil
}

// Event implements transcript.Sink.
func (s *Sink) Event(e *transcript.Event) error {
	w, err := s.next(e)
	if err != nil || w.discard {
		return err
	}
	if e.Message && !e.Inherited {
		w.messages++
	}
	for _, f := range e.Files {
		if _, ok := w.files[f]; !ok && len(w.files) < maxFiles && f != "" && len(f) < 4096 {
			f = strings.Clone(f)
			w.files[f] = struct{}{}
			w.newFiles = append(w.newFiles, f)
		}
	}
	if e.Inherited && !w.owns(e) {
		// The text belongs to the owner; here only the fact that it was copied.
		return s.put(w, e, nil, 0)
	}
	parts, left := e.Parts, int64(0)
	if s.t.w.mode == TalkFirst {
		parts, left = talkOf(parts)
		s.Partial = s.Partial || left > 0
	}
	parts, reduced := reduceParts(parts)
	return s.put(w, e, parts, reduced+left)
}

// keep takes an event as another index kept it: its output is reduced, and the
// text that belongs to another session is left out.
func (s *Sink) keep(e *transcript.Event, reduced int64) error {
	w, err := s.next(e)
	if err != nil || w.discard {
		return err
	}
	return s.put(w, e, e.Parts, reduced)
}

// put writes an event with the parts of it that are kept.
func (s *Sink) put(w *sessionWriter, e *transcript.Event, parts []transcript.Part, reduced int64) (err error) {
	switch {
	case !e.Inherited:
	case len(parts) > 0:
		w.adopted = append(w.adopted, hashInherited(e.ID, e.Seq))
	case e.ID != "":
		w.inherited = append(w.inherited, hashID(e.ID))
	}
	var rows rowRange
	if len(parts) > 0 {
		if rows, err = s.index(w, e, parts); err != nil {
			return err
		}
	}
	return s.store(w, e, parts, rows, reduced)
}

// closeSpan writes the open span of a session.
func (s *Sink) closeSpan(w *sessionWriter) error {
	if w.spanFrom == 0 {
		return nil
	}
	err := s.t.later(`INSERT INTO span(first, session, info) VALUES(?,?,?)`, w.spanFrom, w.id, bytes.Clone(w.info))
	w.spanFrom, w.info = 0, w.info[:0]
	return err
}

// store adds the event to the session's open block.
func (s *Sink) store(w *sessionWriter, e *transcript.Event, parts []transcript.Part, rows rowRange, reduced int64) error {
	text := 0
	for _, p := range parts {
		text += len(p.Text)
	}
	giant := text > giantBytes
	if giant {
		// In a block of its own, so that no other text is in one that large.
		if err := s.closeBlock(w); err != nil {
			return err
		}
	}
	if len(w.raw) == 0 {
		w.rawSeq, w.rawRow = e.Seq, 0
	}
	at := 0
	if rows.n > 0 {
		if w.rawRow == 0 {
			w.rawRow = rows.first
		}
		at = int(rows.first - w.rawRow)
	}
	w.raw = appendEvent(w.raw, e, parts, at, rows.n, reduced)
	if giant {
		return s.putGiant(w, parts)
	}
	w.addParts(parts)
	if len(w.raw) >= blockBytes {
		return s.closeBlock(w)
	}
	return nil
}

// giantBytes is the size of an event's text from which it is not copied into
// the open block.
const giantBytes = 4 << 20

func (s *Sink) closeBlock(w *sessionWriter) error {
	if len(w.raw) == 0 {
		return nil
	}
	// What will be replaced soon is not worth keeping apart from what others have.
	soon := s.t.w.mode == TalkFirst && s.Partial
	b := rawBlock{session: w.id, seq: w.rawSeq, row: w.rawRow, raw: w.raw, long: w.long, soon: soon}
	w.raw, w.long = (*buffers.Get().(*[]byte))[:0], nil
	return s.t.putBlock(b)
}

// putGiant writes the open block, whose last event has these parts, and begins
// another.
func (s *Sink) putGiant(w *sessionWriter, parts []transcript.Part) error {
	var block int64
	err := compressGiant(w.raw, parts, func(piece []byte) (err error) {
		if block == 0 {
			block, err = s.putPiece(w, piece)
		} else {
			_, err = s.t.exec(`INSERT INTO more(block, data) VALUES(?,?)`, block, piece)
		}
		return err
	})
	w.raw = w.raw[:0]
	return err
}

const putBlock = `INSERT INTO block(id, session, first_seq, first_row, data) VALUES(?,?,?,?,?)`

// putPiece writes the first piece of a block that has more of them.
func (s *Sink) putPiece(w *sessionWriter, data []byte) (id int64, err error) {
	res, err := s.t.exec(putBlock, nil, w.id, w.rawSeq, w.rawRow, data)
	if err != nil {
		return 0, err
	}
	if id, err = res.LastInsertId(); err != nil {
		return 0, fmt.Errorf("add a block: %w", err)
	}
	return id, nil
}

// Surface implements transcript.Sink.
func (s *Sink) Surface(sid string, from, to int, v transcript.Surface) error {
	w, err := s.session(sid)
	if err != nil || w.discard {
		return err
	}
	if from < 0 || to > w.events || from > to {
		return fmt.Errorf("session %s: surface of events %d to %d of %d", sid, from, to, w.events)
	}
	w.surfaces.set(from, to, w.events, v)
	w.touched, s.t.changed = true, true
	return nil
}

// Header implements transcript.Sink.
func (s *Sink) Header(h *transcript.Header) error {
	w, err := s.session(h.SessionID)
	if err != nil || w.discard {
		return err
	}
	if !h.Conversation {
		return nil // Close drops it
	}
	w.headed = true
	if w.fresh {
		// Forks that adopted its text give it back.
		w.fresh = false
		if err := s.disown(w.sid); err != nil {
			return err
		}
	}
	head := *h
	head.FinishTitle(s.label)
	if err := s.head(w, &head); err != nil {
		return err
	}
	updated := head.UpdatedAt
	if updated.IsZero() {
		updated = s.src.ModTime
	}
	slices.Sort(w.inherited)
	slices.Sort(w.adopted)
	if err := s.settle(w); err != nil {
		return err
	}
	err = s.t.later(`UPDATE session SET title=?, title_source=?, title_at=?, cwd=?, cwd_key=?, cwd_fold=?, repo_fold=?, branch=?, model=?, models=?, repo_url=?,
		created=?, updated=?, grown=?, messages=?, events=?, relation=?, parent=?, parent_event=?, evidence=?, inherited=?, inherited_known=?, inherited_ids=?, adopted_ids=?,
		depth=?, automated=?, entrypoint=?, format=?, warnings=?, presence='present', epoch=?, surfaces=?, head_row=?, head_text=? WHERE id=?`,
		head.Title, string(head.TitleSource), head.TitleAt, null(head.CWD), contract.PathKey(head.CWD), fold(head.CWD), fold(Project(head.CWD)), null(head.Branch), null(head.Model),
		joinLines(head.Models), null(head.RepoURL), instant(head.CreatedAt), instant(updated), s.src.ModTime.UnixMilli(), w.messages, w.events,
		string(head.Relation), null(head.ParentID), null(head.ParentEvent), null(string(head.LineageEvidence)), head.InheritedCount, head.InheritedKnown, encodeHashes(w.inherited), encodeHashes(w.adopted),
		head.DelegationDepth, head.Automated, head.Entrypoint, head.Format, joinLines(head.Warnings), w.epoch, w.surfaces.encode(), w.headRow, w.headText, w.id)
	if err != nil {
		return err
	}
	for _, dir := range append([]string{head.CWD}, head.CWDs...) {
		if dir == "" {
			continue
		}
		if err := s.t.later(`INSERT OR IGNORE INTO place(session, key) VALUES(?,?)`, w.id, contract.PathKey(dir)); err != nil {
			return err
		}
	}
	for _, f := range w.newFiles {
		if err := s.t.later(`INSERT OR IGNORE INTO file(session, path) VALUES(?,?)`, w.id, strings.ReplaceAll(f, `\`, "/")); err != nil {
			return err
		}
	}
	w.newFiles = nil
	return nil
}

// disown has the forks of a session that took its text for their own, because
// it was not in the index, be read again.
//
// They are looked up first, and nearly always there are none: an UPDATE that may touch
// several rows opens a savepoint, once for each session of a first index.
func (s *Sink) disown(parent string) error {
	if s.t.adopted == nil {
		st, err := s.t.stmt(`SELECT EXISTS(SELECT 1 FROM session WHERE adopted_ids IS NOT NULL)`)
		if err != nil {
			return err
		}
		s.t.adopted = new(bool)
		if err := st.QueryRow().Scan(s.t.adopted); err != nil {
			return fmt.Errorf("look for forks: %w", err)
		}
	}
	if !*s.t.adopted {
		return nil
	}
	st, err := s.t.stmt(`SELECT DISTINCT source FROM session WHERE agent = ? AND parent = ? AND adopted_ids IS NOT NULL AND source <> ?`)
	if err != nil {
		return err
	}
	rows, err := st.Query(s.src.Agent, parent, s.source)
	if err != nil {
		return fmt.Errorf("look for forks: %w", err)
	}
	defer rows.Close()
	var forks []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return fmt.Errorf("look for forks: %w", err)
		}
		forks = append(forks, id)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("look for forks: %w", err)
	}
	for _, id := range forks {
		if err := s.due(id); err != nil {
			return err
		}
	}
	return nil
}

// head writes the row by which title, branch and project are found.
func (s *Sink) head(w *sessionWriter, h *transcript.Header) error {
	text := strings.Join([]string{h.Title, h.Branch, Project(h.CWD)}, "\n")
	if text == w.headText {
		return nil
	}
	if w.headRow != 0 {
		if err := s.t.dropRows(w.headRow, []byte{kindHead, 0}); err != nil {
			return err
		}
	}
	// A span of its own, so that it can be replaced alone.
	if err := s.closeSpan(w); err != nil {
		return err
	}
	r := ftsRow{kind: kindHead}
	for _, t := range []string{h.Title, h.Branch, Project(h.CWD)} {
		s.analyse(&r, kindHead, false, t)
	}
	row, err := s.insert(w, &r, MarkType(transcript.TypeTitle), 0)
	if err != nil {
		return err
	}
	w.headRow, w.headText = row, text
	s.t.changed = true
	return s.closeSpan(w)
}

// Close finishes the source: open blocks and spans are written, and sessions
// the source no longer has are dropped.
//
// ErrTakenInVain says that the source took a session over from another one and
// then had no conversation: the transaction must be undone.
func (s *Sink) Close() error {
	kept := map[int64]bool{}
	for _, sid := range slices.Sorted(mapKeys(s.sessions)) {
		w := s.sessions[sid]
		if w.discard {
			continue
		}
		if err := errors.Join(s.closeBlock(w), s.closeSpan(w)); err != nil {
			return err
		}
		if !w.headed && w.taken {
			return ErrTakenInVain
		}
		if !w.headed && !s.resumed {
			continue // no conversation: dropped below or never listed
		}
		kept[w.id] = true
	}
	for _, id := range s.before {
		if !kept[id] && !s.resumed {
			if err := s.t.dropSession(id); err != nil {
				return err
			}
		}
	}
	for _, w := range s.sessions {
		if !w.discard && !kept[w.id] && !slices.Contains(s.before, w.id) {
			if err := s.t.dropSession(w.id); err != nil {
				return err
			}
		}
	}
	return nil
}

// Abort takes back what a failed reading wrote. A session the source had
// before is dropped, too: what is in the file now is not known.
func (s *Sink) Abort() error {
	for _, w := range s.sessions {
		if w.discard {
			continue
		}
		if err := s.closeSpan(w); err != nil {
			return err
		}
		if err := s.t.dropSession(w.id); err != nil {
			return err
		}
	}
	if !s.resumed {
		for _, id := range s.before {
			if err := s.t.dropSession(id); err != nil {
				return err
			}
		}
	}
	return nil
}

func mapKeys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
