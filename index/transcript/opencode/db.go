package opencode

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"slices"
	"sort"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/sqlitero"
)

// fullScan is the size in bytes of a database up to which the times of all its
// parts are looked at: no index holds them, so that means its whole table. In
// a larger one only the sessions of the last days are, and the others are told
// by their messages' times and by counts.
const fullScan = 512 << 20

// recentDays is what counts as the last days, before the newest session.
const recentDays = 3 * 24 * time.Hour

// openTries is how often a database that changes while it is read without
// locks is read again.
const openTries = 3

// errMoving says that a database without a log was written to while it was read.
var errMoving = errors.New("the database is being written to")

// mark is what tells one state of a session from another.
type mark struct {
	session         string
	written         int64 // of the session itself, ms
	updated         int64 // of the session and its project, ms
	own             uint64
	counts          [3]int64 // messages, parts, session_message rows
	times           [3]int64
	bytes           int64
	partTimesLooked bool
}

func (m *mark) signature() string {
	return fmt.Sprintf("db:%d:%x:%d:%d:%d:%d:%d:%d:%v", m.updated, m.own, m.counts[0], m.times[0], m.counts[1], m.times[1], m.counts[2], m.times[2], m.partTimesLooked)
}

// discoverDB yields a source for each session of a database, or for those of
// the last days only. The watermarks are read with one query per table, not one
// per session.
func discoverDB(ctx context.Context, open *sqlitero.Cache, root, path string, recent bool, yield func(transcript.Source) error) error {
	var marks []*mark
	err := errMoving
	for try := 0; try < openTries && errors.Is(err, errMoving); try++ {
		marks, err = readMarks(ctx, open, path, recent)
	}
	if err != nil {
		return err
	}
	for _, m := range marks {
		if err := ctx.Err(); err != nil {
			return err
		}
		newest := max(m.updated, m.times[0], m.times[1], m.times[2])
		src := transcript.Source{
			Agent: "opencode", Path: path, Key: m.session, Root: root, SessionID: m.session, Class: classDB,
			Size: m.bytes, ModTime: transcript.FromEpoch(float64(newest)), Signature: m.signature(),
		}
		if err := yield(src); err != nil {
			return &stopped{err}
		}
	}
	return nil
}

func readMarks(ctx context.Context, open *sqlitero.Cache, path string, recent bool) ([]*mark, error) {
	db, err := open.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	sc, err := readSchema(ctx, db)
	if err != nil {
		return nil, err
	}
	marks := map[string]*mark{}
	rows, err := db.Query(ctx, `SELECT s.id, `+sc.session.max("s.", "time_updated", "time_created")+`, `+sc.projectTime()+`, `+
		sc.session.list("s.", "title", "directory", "parent_id", "fork_session_id", "revert", "time_archived")+` FROM session s `+sc.joinProject())
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	defer rows.Close()
	var order []*mark
	var newest int64
	for rows.Next() {
		var id text
		var updated, project sql.NullFloat64
		var own [6]text
		if err := rows.Scan(&id, &updated, &project, &own[0], &own[1], &own[2], &own[3], &own[4], &own[5]); err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		if id == "" || marks[string(id)] != nil {
			continue
		}
		h := fnv.New64a()
		for _, s := range own {
			h.Write([]byte(s))
			h.Write([]byte{0})
		}
		m := &mark{session: string(id), written: int64(updated.Float64), updated: int64(max(updated.Float64, project.Float64)), own: h.Sum64()}
		marks[m.session] = m
		order = append(order, m)
		newest = max(newest, int64(updated.Float64))
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	rows.Close()

	var pages, pageSize int64
	if err := db.QueryRow(ctx, "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size").Scan(&pages, &pageSize); err != nil {
		return nil, fmt.Errorf("look at size: %w", err)
	}
	small := pages*pageSize <= fullScan
	since := newest - recentDays.Milliseconds()
	all, late := "", fmt.Sprintf("WHERE session_id IN (SELECT id FROM session WHERE time_updated >= %d)", since)
	if recent = recent && sc.session["time_updated"]; recent {
		// The marks of those that are left are the same as with all.
		order = slices.DeleteFunc(order, func(m *mark) bool { return m.written < since })
		all = late
	}
	if err := addMarks(ctx, db, sc.message, "message", 0, marks, all, false); err != nil {
		return nil, err
	}
	if err := addMarks(ctx, db, sc.next, "session_message", 2, marks, all, false); err != nil {
		return nil, err
	}
	if small || recent {
		err = addMarks(ctx, db, sc.part, "part", 1, marks, all, true)
	} else if err = addMarks(ctx, db, sc.part.without("time_updated"), "part", 1, marks, "", false); err == nil && sc.session["time_updated"] {
		err = addMarks(ctx, db, sc.part, "part", 1, marks, late, true)
	}
	if err != nil {
		return nil, err
	}
	if !db.Unchanged() {
		return nil, errMoving
	}
	return order, nil
}

// addMarks adds the counts and times of one table's rows to the sessions.
func addMarks(ctx context.Context, db *sqlitero.DB, cols columns, table string, i int, marks map[string]*mark, where string, sizes bool) error {
	if !cols["session_id"] {
		return nil
	}
	length := "0"
	if sizes && cols["data"] {
		length = "sum(octet_length(data))"
	}
	rows, err := db.Query(ctx, `SELECT session_id, count(*), max(`+cols.one("", "time_updated")+`), `+length+` FROM `+table+` `+where+` GROUP BY session_id`)
	if err != nil {
		return fmt.Errorf("read watermarks of %s: %w", table, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id text
		var n int64
		var at, bytes sql.NullFloat64
		if err := rows.Scan(&id, &n, &at, &bytes); err != nil {
			return fmt.Errorf("read watermarks of %s: %w", table, err)
		}
		if m := marks[string(id)]; m != nil {
			m.counts[i], m.times[i] = n, int64(at.Float64)
			m.bytes += int64(bytes.Float64)
			m.partTimesLooked = m.partTimesLooked || table == "part" && at.Valid
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read watermarks of %s: %w", table, err)
	}
	return nil
}

// dbStore reads the records of one session from a database.
type dbStore struct {
	ctx     context.Context
	db      *sqlitero.DB
	sc      *schema
	session string
	byID    map[string][]record // parts by message
	buf     []byte
}

func readDB(ctx context.Context, open *sqlitero.Cache, src transcript.Source, b *builder) error {
	db, err := open.Open(ctx, src.Path)
	if err != nil {
		return err
	}
	defer db.Close()
	sc, err := readSchema(ctx, db)
	if err != nil {
		return err
	}
	st := &dbStore{ctx: ctx, db: db, sc: sc, session: src.Key}
	s, err := st.sessionRow()
	if err != nil {
		return err
	}
	next, err := st.hasNext()
	if err != nil {
		return err
	}
	if next {
		s.format = "db-next"
	}
	if err := b.begin(s); err != nil {
		return err
	}
	if err := st.lineage(b, next); err != nil {
		return err
	}
	if next {
		err = st.readNext(b)
	} else {
		err = st.readMessages(b)
	}
	if err != nil {
		return err
	}
	if !db.Unchanged() {
		return transcript.ErrReread
	}
	return nil
}

func (t *dbStore) sessionRow() (session, error) {
	s := session{id: t.session, format: "db"}
	var dir, title, parent, fork, forkMessage, revert text
	var created, archived sql.NullFloat64
	err := t.db.QueryRow(t.ctx, `SELECT `+t.sc.session.list("", "directory", "title", "parent_id", "fork_session_id", "fork_message_id", "revert", "time_created", "time_archived")+
		` FROM session WHERE id = ?`, t.session).Scan(&dir, &title, &parent, &fork, &forkMessage, &revert, &created, &archived)
	if errors.Is(err, sql.ErrNoRows) {
		return s, fmt.Errorf("read session %s: %w", t.session, fs.ErrNotExist)
	}
	if err != nil {
		return s, fmt.Errorf("read session %s: %w", t.session, err)
	}
	s.dir, s.title, s.parent, s.fork, s.forkMessage = string(dir), string(title), string(parent), string(fork), string(forkMessage)
	s.created = transcript.FromEpoch(created.Float64)
	s.archived = archived.Float64 > 0
	r := jsonv.Parse([]byte(revert))
	s.revertMessage, s.revertPart = r.Get("messageID").Str(), r.Get("partID").Str()
	return s, nil
}

func (t *dbStore) readMessages(b *builder) error {
	if !t.sc.message["session_id"] {
		return nil
	}
	messages, err := t.list(t.sc.message, "message", "id")
	if err != nil {
		return err
	}
	sort.SliceStable(messages, func(i, j int) bool {
		if !messages[i].at.Equal(messages[j].at) {
			return messages[i].at.Before(messages[j].at)
		}
		return messages[i].id < messages[j].id
	})
	if t.sc.part["session_id"] {
		parts, err := t.list(t.sc.part, "part", "message_id")
		if err != nil {
			return err
		}
		t.byID = make(map[string][]record, len(messages))
		for _, p := range parts {
			// list puts the column it was asked for in path.
			t.byID[p.path] = append(t.byID[p.path], p)
		}
	}
	inherit, same := b.inherit, 0
	if b.links != nil && inherit > 0 && transcript.WantsLinks(b.links.out) {
		if same, err = t.sameParts(b.h.ParentID, messages[:min(inherit, len(messages))]); err != nil {
			return err
		}
	}
	for i := range messages {
		b.links.copied(same - i)
		b.inherit = max(0, inherit-i)
		if err := b.message(t, &messages[i]); err != nil {
			return err
		}
		delete(t.byID, messages[i].id)
	}
	return nil
}

// list reads ids, times and sizes of a session's rows, ordered by id; owner is
// the column that goes into record.path.
func (t *dbStore) list(cols columns, table, owner string) ([]record, error) {
	rows, err := t.db.Query(t.ctx, `SELECT id, `+owner+`, `+cols.one("", "time_created")+`, octet_length(data) FROM `+table+` WHERE session_id = ? ORDER BY id`, t.session)
	if err != nil {
		return nil, fmt.Errorf("list rows of %s: %w", table, err)
	}
	defer rows.Close()
	var out []record
	for rows.Next() {
		var id, own text
		var at sql.NullFloat64
		var size sql.NullInt64
		if err := rows.Scan(&id, &own, &at, &size); err != nil {
			return nil, fmt.Errorf("list rows of %s: %w", table, err)
		}
		out = append(out, record{id: string(id), path: string(own), at: transcript.FromEpoch(at.Float64), size: size.Int64})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list rows of %s: %w", table, err)
	}
	return out, nil
}

func (t *dbStore) parts(message string) ([]record, error) { return t.byID[message], nil }

func (t *dbStore) load(r *record, part bool) (jsonv.Value, error) {
	table := "message"
	if part {
		table = "part"
	}
	return t.data(table, r)
}

// data reads one row's JSON.
func (t *dbStore) data(table string, r *record) (jsonv.Value, error) {
	if r.size > plainFile {
		return readObject(t.db.Value(t.ctx, r.size, `SELECT substr(CAST(data AS BLOB), ?1, ?2) FROM `+table+` WHERE id = ?3`, r.id), r.size, &t.buf)
	}
	var raw []byte
	err := t.db.QueryRow(t.ctx, `SELECT data FROM `+table+` WHERE id = ?`, r.id).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errDamaged // deleted since it was listed
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", table, transcript.Clip(r.id, shownID), err)
	}
	v := jsonv.Parse(trim(raw))
	if v.Kind() != jsonv.Object || !jsonv.Valid(v) {
		return nil, errDamaged
	}
	return v, nil
}
