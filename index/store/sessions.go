package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
)

// Filter selects sessions. All clauses must hold; a nil clause holds always,
// an empty list never.
type Filter struct {
	Agents []string
	// Under are comparison keys (contract.PathKey) of folders that the cwd, or
	// another folder the session worked in, equals or lies below.
	Under        []string
	Since, Until *time.Time // of the update time, inclusive
	IDs          []string
	CWDs         []*string // exact; nil matches sessions without
	Parents      []*string
	CreatedFrom  *time.Time
	CreatedTo    *time.Time
	Presence     []string
	// Active asks whether the transcript grew after ActiveSince.
	Active      *bool
	ActiveSince time.Time
	Relations   []string
	Automated   *bool
	Branches    []string
	Models      []string
	Files       []string // paths or path suffixes at a segment
	// Repo, Path and BranchLike are substrings that must all be found, without
	// regard to case: in the last two segments of the cwd, in the cwd (and in
	// the transcript's path if PathOfFile), in the branch.
	Repo, Path, BranchLike, ModelLike []string
	PathOfFile                        bool
}

// IsZero reports whether the filter lets every session pass.
func (f *Filter) IsZero() bool {
	where, _ := f.where()
	return where == ""
}

// where renders the filter. Lists go in as one JSON parameter each, so their
// length is not bounded by SQLite's limit on parameters.
func (f *Filter) where() (string, []any) {
	var conds []string
	var args []any
	add := func(cond string, a ...any) {
		conds = append(conds, cond)
		args = append(args, a...)
	}
	list := func(column string, values []string) {
		if values != nil {
			add(column+` IN (SELECT value FROM json_each(?))`, jsonList(values))
		}
	}
	nullable := func(column string, values []*string) {
		if values == nil {
			return
		}
		var some []string
		null := false
		for _, v := range values {
			if v == nil {
				null = true
			} else {
				some = append(some, *v)
			}
		}
		cond := column + ` IN (SELECT value FROM json_each(?))`
		if null {
			cond = `(` + cond + ` OR ` + column + ` IS NULL)`
		}
		add(cond, jsonList(some))
	}
	like := func(column string, values []string) {
		for _, v := range values {
			add(`instr(coalesce(`+column+`,''), ?) > 0`, strings.ToLower(v))
		}
	}
	list(`agent`, f.Agents)
	list(`sid`, f.IDs)
	nullable(`cwd`, f.CWDs)
	nullable(`parent`, f.Parents)
	list(`presence`, f.Presence)
	list(`relation`, f.Relations)
	list(`branch`, f.Branches)
	if f.Under != nil {
		var any []string
		for _, k := range f.Under {
			// '0' follows '/' in order: the range holds everything below the folder.
			below := strings.TrimSuffix(k, "/")
			any = append(any, `key = ? OR key >= ? AND key < ?`)
			args = append(args, k, below+"/", below+"0")
		}
		conds = append(conds, `id IN (SELECT session FROM place WHERE `+orNone(any)+`)`)
	}
	if f.Models != nil {
		lines := make([]string, len(f.Models))
		for i, m := range f.Models {
			lines[i] = joinLines([]string{m})
		}
		add(`EXISTS(SELECT 1 FROM json_each(?) WHERE instr(models, value) > 0)`, jsonList(lines))
	}
	if f.Files != nil {
		cond, a := touched(f.Files)
		add(cond, a...)
	}
	instants := func(column, op string, t *time.Time) {
		if t != nil {
			add(column+` `+op+` ?`, t.UnixMilli())
		}
	}
	instants(`updated`, `>=`, f.Since)
	instants(`updated`, `<=`, f.Until)
	instants(`created`, `>=`, f.CreatedFrom)
	instants(`created`, `<=`, f.CreatedTo)
	if f.Active != nil {
		add(`(presence = 'present' AND grown >= ?) = ?`, f.ActiveSince.UnixMilli(), *f.Active)
	}
	if f.Automated != nil {
		add(`automated = ?`, *f.Automated)
	}
	for _, v := range f.Repo {
		like(`repo_fold`, []string{strings.ReplaceAll(v, `\`, "/")}) // as Project writes it
	}
	if f.PathOfFile {
		like(`(cwd_fold || ' ' || path_fold)`, f.Path)
	} else {
		like(`cwd_fold`, f.Path)
	}
	like(`lower(branch)`, f.BranchLike)
	like(`lower(models)`, f.ModelLike)
	return strings.Join(conds, " AND "), args
}

// What SQLite takes of an expression and of a pattern is bounded; these are the
// lists and paths that stay far below it.
const (
	fewFiles  = 64
	shortPath = 4096
)

// touched is the condition that a session's list of files has one of the paths,
// or one that ends with it by whole segments.
func touched(files []string) (string, []any) {
	var whole, ends []string
	short := true
	for _, p := range files {
		p = strings.ReplaceAll(p, `\`, "/")
		whole, ends = append(whole, p), append(ends, strings.TrimPrefix(p, "/"))
		short = short && len(p) <= shortPath
	}
	if len(files) <= fewFiles && short {
		var conds []string
		var args []any
		for i := range whole {
			conds = append(conds, `path = ? OR path LIKE ? ESCAPE '\'`)
			args = append(args, whole[i], `%/`+escapeLike(ends[i]))
		}
		return `id IN (SELECT session FROM file WHERE ` + orNone(conds) + `)`, args
	}
	// The ends of all paths are looked up in the list, so that a long one costs
	// no more for each path. Case is folded as LIKE does it.
	return `id IN (
		WITH RECURSIVE rest(session, path) AS (
			SELECT session, substr(path, instr(path, '/') + 1) FROM file WHERE instr(path, '/') > 0
			UNION ALL SELECT session, substr(path, instr(path, '/') + 1) FROM rest WHERE instr(path, '/') > 0)
		SELECT session FROM rest WHERE lower(path) IN (SELECT lower(value) FROM json_each(?))
		UNION ALL SELECT session FROM file WHERE path IN (SELECT value FROM json_each(?)))`, []any{jsonList(ends), jsonList(whole)}
}

func orNone(conds []string) string {
	if len(conds) == 0 {
		return "0"
	}
	return strings.Join(conds, " OR ")
}

func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

func jsonList(values []string) string {
	if values == nil {
		values = []string{}
	}
	for i := range values {
		values[i] = strings.ToValidUTF8(values[i], "\uFFFD")
	}
	b, err := json.Marshal(values)
	if err != nil {
		return "[]" // strings always have a JSON form
	}
	return string(b)
}

// SessionIDs is the set of sessions that pass all filters.
func (s *Snapshot) SessionIDs(ctx context.Context, filters []Filter) (map[int64]bool, error) {
	var conds []string
	var args []any
	for i := range filters {
		if where, a := filters[i].where(); where != "" {
			conds = append(conds, where)
			args = append(args, a...)
		}
	}
	query := `SELECT id FROM session`
	if len(conds) > 0 {
		query += ` WHERE ` + strings.Join(conds, " AND ")
	}
	rows, err := s.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("filter sessions: %w", err)
	}
	defer rows.Close()
	out := map[int64]bool{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("filter sessions: %w", err)
		}
		out[id] = true
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("filter sessions: %w", err)
	}
	return out, nil
}

// Session is a session's row.
type Session struct {
	ID       int64
	Agent    string
	SID      string
	Path     string
	Presence string
	Epoch    int64
	Grown    time.Time // mtime of the transcript when it was last read
	Events   int
	Bad      int // records of its source that could not be read
	// TalkOnly says that the tools' text is not read yet.
	TalkOnly bool
	transcript.Header

	surfaces surfaces
}

// ActiveFor is how long a session counts as active after its transcript grew.
const ActiveFor = 2 * time.Minute

// ActiveAt reports whether the session's transcript is there and grew shortly
// before now. What is gone or cannot be reached grows no more.
func (s *Session) ActiveAt(now time.Time) bool {
	return s.Presence == "present" && !s.Grown.Before(now.Add(-ActiveFor))
}

// SurfaceOf is the surface of an event of the session, by its position.
func (s *Session) SurfaceOf(seq int) transcript.Surface { return s.surfaces.at(seq) }

// HasSurface reports whether the session has an event on a surface that is
// wanted.
func (s *Session) HasSurface(wanted func(transcript.Surface) bool) bool {
	return slices.ContainsFunc(s.surfaces.runs, func(r run) bool { return wanted(r.s) })
}

const sessionColumns = `id, agent, sid, path, presence, epoch, grown, events, title, title_source, title_at, cwd, branch, model, models, repo_url, created, updated, messages,
 relation, parent, parent_event, evidence, inherited, inherited_known, depth, automated, entrypoint, format, warnings, surfaces,
 coalesce((SELECT bad FROM source WHERE source.id = session.source), 0),
 coalesce((SELECT version FROM source WHERE source.id = session.source), 0)`

func scanSession(rows *sql.Rows) (*Session, error) {
	var s Session
	var grown int64
	var cwd, branch, model, repo, parent, parentEvent, evidence sql.NullString
	var created, updated sql.NullInt64
	var models, warnings string
	var surf []byte
	var version int
	err := rows.Scan(&s.ID, &s.Agent, &s.SID, &s.Path, &s.Presence, &s.Epoch, &grown, &s.Events, &s.Title, &s.TitleSource, &s.TitleAt, &cwd, &branch, &model, &models, &repo,
		&created, &updated, &s.MessageCount, &s.Relation, &parent, &parentEvent, &evidence, &s.InheritedCount, &s.InheritedKnown, &s.DelegationDepth,
		&s.Automated, &s.Entrypoint, &s.Format, &warnings, &surf, &s.Bad, &version)
	if err != nil {
		return nil, fmt.Errorf("read a session: %w", err)
	}
	s.SessionID = s.SID
	s.TalkOnly = version == TalkOnly
	s.Grown = time.UnixMilli(grown)
	s.CWD, s.Branch, s.Model, s.RepoURL = cwd.String, branch.String, model.String, repo.String
	s.ParentID, s.ParentEvent, s.LineageEvidence = parent.String, parentEvent.String, transcript.Evidence(evidence.String)
	s.CreatedAt, s.UpdatedAt = fromNull(created), fromNull(updated)
	s.Models, s.Warnings = splitLines(models), splitLines(warnings)
	s.Conversation = true
	s.surfaces = decodeSurfaces(surf)
	return &s, nil
}

func fromNull(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMilli(n.Int64).UTC()
}

// Sessions reads sessions by row id; missing ones are left out.
func (s *Snapshot) Sessions(ctx context.Context, ids []int64) (map[int64]*Session, error) {
	b, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	list, err := s.querySessions(ctx, `WHERE id IN (SELECT value FROM json_each(?))`, string(b))
	if err != nil {
		return nil, err
	}
	out := make(map[int64]*Session, len(list))
	for _, x := range list {
		out[x.ID] = x
	}
	return out, nil
}

// Named finds the sessions an id names: the one that has it, else those whose
// id begins with it if prefix is set. A sub-agent's id begins with its parent's,
// so a beginning that both share names the parent alone. agent "" stands for
// any. At most 20.
func (s *Snapshot) Named(ctx context.Context, agent, id string, prefix bool) ([]*Session, error) {
	list, err := s.querySessions(ctx, `WHERE sid = ? AND (? = '' OR agent = ?) ORDER BY agent, sid LIMIT 20`, id, agent, agent)
	if err != nil || len(list) > 0 || !prefix {
		return list, err
	}
	// The parent is what stands before the first mark after the beginning.
	return s.querySessions(ctx, `WHERE substr(sid, 1, length(?1)) = ?1 AND (?2 = '' OR agent = ?2) AND NOT EXISTS (
		SELECT 1 FROM session AS parent WHERE parent.agent = session.agent AND instr(substr(session.sid, length(?1) + 1), ?3) > 0
			AND parent.sid = substr(session.sid, 1, length(?1) + instr(substr(session.sid, length(?1) + 1), ?3) - 1))
		ORDER BY agent, sid LIMIT 20`, id, agent, transcript.SubagentMark)
}

func (s *Snapshot) querySessions(ctx context.Context, tail string, args ...any) ([]*Session, error) {
	rows, err := s.tx.QueryContext(ctx, `SELECT `+sessionColumns+` FROM session `+tail, args...)
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	defer rows.Close()
	var out []*Session
	for rows.Next() {
		x, err := scanSession(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	return out, nil
}

// Times are when a session began and was last updated, in epoch milliseconds;
// Created is Updated where the beginning is not known.
type Times struct{ Created, Updated int64 }

// Times gives the times of all sessions by id; sessions without are left out.
// The map is shared: it must not be changed.
func (s *Snapshot) Times(ctx context.Context) (map[int64]Times, error) {
	s.r.mu.Lock()
	have := s.r.times
	s.r.mu.Unlock()
	if have.of != nil && have.generation == s.Generation {
		return have.of, nil
	}
	rows, err := s.tx.QueryContext(ctx, `SELECT id, coalesce(created, updated), updated FROM session WHERE updated IS NOT NULL`)
	if err != nil {
		return nil, fmt.Errorf("read session times: %w", err)
	}
	defer rows.Close()
	out := map[int64]Times{}
	for rows.Next() {
		var id int64
		var t Times
		if err := rows.Scan(&id, &t.Created, &t.Updated); err != nil {
			return nil, fmt.Errorf("read session times: %w", err)
		}
		out[id] = t
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read session times: %w", err)
	}
	s.r.mu.Lock()
	if s.r.times.generation < s.Generation {
		s.r.times = times{s.Generation, out}
	}
	s.r.mu.Unlock()
	return out, nil
}

// Copies counts the sessions that carry a copy of an event of this session:
// forks and continuations that inherited it, from this one or as this one did.
func (s *Snapshot) Copies(ctx context.Context, of *Session, eventID string) (int, error) {
	if eventID == "" {
		return 0, nil
	}
	rows, err := s.tx.QueryContext(ctx, `SELECT inherited_ids FROM session WHERE agent = ? AND parent IN (?, ?) AND sid <> ? AND inherited_ids IS NOT NULL`,
		of.Agent, of.SID, cmp.Or(of.ParentID, of.SID), of.SID)
	if err != nil {
		return 0, fmt.Errorf("count copies: %w", err)
	}
	defer rows.Close()
	h, n := hashID(eventID), 0
	for rows.Next() {
		var b sql.RawBytes
		if err := rows.Scan(&b); err != nil {
			return 0, fmt.Errorf("count copies: %w", err)
		}
		k := len(b) / 8
		i := sort.Search(k, func(i int) bool { return binary.BigEndian.Uint64(b[8*i:]) >= h })
		if i < k && binary.BigEndian.Uint64(b[8*i:]) == h {
			n++
		}
	}
	return n, rows.Err()
}
