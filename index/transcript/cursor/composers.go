package cursor

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/vscode"
)

// Prefixes of keys.
const (
	composerPrefix = "composerData:"
	bubblePrefix   = "bubbleId:"
)

// heavy are the members of a conversation's record that hold copies of files and
// the state of the window; they are most of it.
var heavy = []string{
	"originalFileStates", "codeBlockData", "richText", "context", "capabilities", "usageData", "allAttachedFileCodeChunksUris",
	"conversationState", "promptTokenBreakdown", "todos",
}

// composer is what a conversation's record says of it as a whole.
type composer struct {
	stamp
	id, name         string
	created, updated int64 // ms
	listed           int   // messages it lists
	first            string
	inline           bool // its messages stand in the record itself
	place
	parent, call string   // of one that another started
	children     []string // that it started
	attempt      bool     // one of several answers to the same prompt
	archived     bool
}

// place is where a conversation belongs.
type place struct {
	folders   []string
	remote    string
	workspace string // name of the window's folder below workspaceStorage
}

func (p place) known() bool { return len(p.folders) > 0 || p.remote != "" }

// parseComposer reads a conversation's record.
func parseComposer(id string, v jsonv.Value) *composer {
	c := &composer{id: id, name: transcript.CleanTitle(v.Get("name").Str()), archived: v.Get("isArchived").True(), attempt: v.Get("isBestOfNSubcomposer").True()}
	c.created, c.updated = ms(v.Get("createdAt")), ms(v.Get("lastUpdatedAt"))
	if at := ms(v.Get("conversationCheckpointLastUpdatedAt")); at > c.updated {
		c.updated = at
	}
	c.updated = max(c.updated, c.created)
	headers, inline := v.Get("fullConversationHeadersOnly"), v.Get("conversation")
	c.listed = headers.Len()
	if headers.Len() == 0 {
		headers = inline
	}
	headers.Elems(func(_ int, h jsonv.Value) bool {
		c.first = id128(h.Get("bubbleId"))
		return false
	})
	c.inline = inline.Len() > 0
	if !c.inline && v.Get("conversationMap").Kind() == jsonv.Object {
		v.Get("conversationMap").Each(func(_, _ jsonv.Value) bool { c.inline = true; return false })
	}
	c.place = placeOf(v.Get("workspaceIdentifier"))
	sub := v.Get("subagentInfo")
	for _, p := range []jsonv.Value{sub.Get("parentComposerId"), sub.Get("parentAgentId"), v.Get("parentComposerId")} {
		if c.parent == "" {
			c.parent = id128(p)
		}
	}
	c.call = id128(sub.Get("toolCallId"))
	for _, key := range []string{"subagentComposerIds", "subComposerIds"} {
		v.Get(key).Elems(func(_ int, s jsonv.Value) bool {
			if child := id128(s); child != "" {
				c.children = append(c.children, child)
			}
			return len(c.children) < 4096
		})
	}
	if c.parent == id {
		c.parent = ""
	}
	return c
}

// id128 is an id of bounded length, "" for anything else.
func id128(v jsonv.Value) string {
	if k := v.Kind(); k != jsonv.String && k != jsonv.Number || len(v) > 200 {
		return ""
	}
	return strings.TrimSpace(transcript.CleanWord(v.Str()))
}

func ms(v jsonv.Value) int64 {
	if t := transcript.ParseTime(v); !t.IsZero() {
		return t.UnixMilli()
	}
	return 0
}

// placeOf reads the address of a window.
func placeOf(v jsonv.Value) place {
	p := place{workspace: id128(v.Get("id"))}
	uri := v.Get("uri")
	scheme := uri.Get("scheme").Str()
	switch path := uri.Get("fsPath").Str(); {
	case uri.Kind() == jsonv.String:
		path, local := vscode.LocalPath(uri.Str())
		if !local {
			p.remote = transcript.CleanWord(uri.Str())
		} else if path = transcript.CleanPath(path); path != "" {
			p.folders = []string{path}
		}
	case scheme != "" && scheme != "file":
		p.remote = transcript.CleanWord(scheme + "://" + uri.Get("authority").Str() + uri.Get("path").Str())
	default:
		if path == "" {
			path = uri.Get("path").Str()
		}
		if path = transcript.CleanPath(path); path != "" {
			p.folders = []string{path}
		}
	}
	return p
}

// learned is what is known of one store as it was when it was looked at last.
type learned struct {
	mu        sync.Mutex
	composers map[string]*composer
	lists     map[string]list // by key of the row
	// Of a window's store: its state then, and the conversations it names.
	state string
	ids   []string
}

// list is what a row that holds conversations held.
type list struct {
	stamp
	tabs []tab
}

// maxLearned bounds the stores that are remembered.
const maxLearned = 4096

func (rd *reader) learn(path string) *learned {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	l := rd.seen[path]
	if l == nil {
		if len(rd.seen) >= maxLearned {
			clear(rd.seen)
		}
		l = &learned{lists: map[string]list{}}
		rd.seen[path] = l
	}
	return l
}

// composers reads the records of all conversations in a store, those only that
// changed since they were read.
func (l *learned) all(s *kv) (map[string]*composer, error) {
	if !s.disk {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]*composer{}
	stamps := map[string]stamp{}
	err := s.keys(composerPrefix, func(id string, row int64, size sql.NullInt64) {
		if id != "" && len(id) <= 200 && size.Valid { // without a value it was deleted
			stamps[id] = stamp{row, size.Int64}
		}
	})
	if err != nil {
		return nil, err
	}
	for id, st := range stamps {
		if c := l.composers[id]; c != nil && c.stamp == st {
			out[id] = c
			continue
		}
		v, err := s.sized(diskTable, composerPrefix+id, st.size, heavy...)
		if err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, errTooLarge) && !errors.Is(err, errNoValue) {
			return nil, err
		}
		c := parseComposer(id, v) // of a damaged one nothing is known but its messages
		c.stamp = st
		out[id] = c
	}
	l.composers = out
	return out, nil
}

// family tells how the conversations of a store come from each other.
type family struct {
	all      map[string]*composer
	parentOf map[string]string
	owner    map[string]string // of a first message that several begin with
}

func newFamily(all map[string]*composer) *family {
	f := &family{all: all, parentOf: map[string]string{}, owner: map[string]string{}}
	ids := make([]string, 0, len(all))
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		c := all[id]
		for _, child := range c.children {
			if child != id && f.parentOf[child] == "" {
				f.parentOf[child] = id
			}
		}
	}
	for _, id := range ids {
		if parent := all[id].parent; parent != "" {
			f.parentOf[id] = parent
		}
	}
	for _, id := range ids {
		c := all[id]
		if len(c.first) < tellingID || f.parentOf[id] != "" {
			continue
		}
		if o := all[f.owner[c.first]]; o == nil || c.created < o.created {
			f.owner[c.first] = id
		}
	}
	return f
}

// tellingID is the length of an id from which it is the same in two places only
// when it was copied.
const tellingID = 16

// session is the session id of a conversation: a sub-agent's holds its parent's.
func (f *family) session(id string) string {
	if parent := f.parentOf[id]; parent != "" && (f.all[id] == nil || !f.all[id].attempt) {
		return parent + transcript.SubagentMark + id
	}
	return id
}

// maxAncestors bounds a walk towards the first session.
const maxAncestors = 64

// describe says in a hint where a conversation comes from.
func (f *family) describe(c *composer, h *hint) {
	parent := f.parentOf[c.id]
	switch {
	case parent != "":
		h.Parent, h.Origin, h.Call, h.Evidence = f.session(parent), parent, c.call, transcript.EvidenceHeader
		h.Relation = transcript.RelationSubagent
		if c.attempt {
			h.Relation = transcript.RelationFork
			return
		}
		for up := c.id; f.parentOf[up] != "" && h.Depth < maxAncestors; up = f.parentOf[up] {
			h.Depth++
		}
	case f.owner[c.first] != "" && f.owner[c.first] != c.id:
		// A message's id names it wherever it is: this one is a copy.
		h.Origin = f.owner[c.first]
		h.Parent, h.Relation, h.Evidence = f.session(h.Origin), transcript.RelationFork, transcript.EvidenceOverlap
	}
}

// fullScan is the size in bytes of a store up to which the lengths of all its
// messages are looked at. In a larger one the numbers of the rows tell alone.
const fullScan = 512 << 20

// openTries is how often a store that changes while it is read without locks is
// read again.
const openTries = 3

// errMoving says that a store without a log was written to while it was read.
var errMoving = errors.New("the database is being written to")

// recentRows is how many of the newest rows tell which conversations somebody is
// writing to.
const recentRows = 10_000

// recent lists the conversations that the newest rows of a store belong to.
func (s *kv) recent() (map[string]bool, error) {
	ids := map[string]bool{}
	if !s.disk {
		return ids, nil
	}
	rows, err := s.Query(s.ctx, "SELECT key FROM "+diskTable+" WHERE rowid > (SELECT max(rowid) FROM "+diskTable+") - ?", recentRows)
	if err != nil {
		return nil, fmt.Errorf("look for what changed: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var key sql.NullString
		if err := rows.Scan(&key); err != nil {
			return nil, fmt.Errorf("look for what changed: %w", err)
		}
		if id, ok := strings.CutPrefix(key.String, composerPrefix); ok {
			ids[id] = true
		} else if rest, ok := strings.CutPrefix(key.String, bubblePrefix); ok {
			id, _, _ := strings.Cut(rest, ":")
			ids[id] = true
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for what changed: %w", err)
	}
	return ids, nil
}

// store lists the conversations in a store. window is its folder, if it is the
// store of one.
func (w *walk) store(path, window string) error {
	info := w.file(path)
	if info == nil {
		return nil
	}
	found, err := w.sources(path, window, false)
	if err != nil {
		if w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		w.report(path, err)
		return nil
	}
	for _, src := range found {
		if err := w.yield(src); err != nil {
			return err
		}
	}
	return nil
}

// sources finds the conversations in a store, or those of the last days only.
func (w *walk) sources(path, window string, recent bool) (found []transcript.Source, err error) {
	err = errMoving
	for try := 0; try < openTries && errors.Is(err, errMoving); try++ {
		found, err = w.once(path, window, recent)
	}
	return found, err
}

func (w *walk) once(path, window string, recent bool) ([]transcript.Source, error) {
	s, err := openKV(w.ctx, w.rd.stores, path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var found []transcript.Source
	l := w.rd.learn(path)
	if found, err = w.conversations(s, l, path, recent); err != nil {
		return nil, err
	}
	tabs, err := w.tabs(s, l, path, window)
	if err != nil {
		return nil, err
	}
	if !s.Unchanged() {
		return nil, errMoving
	}
	return append(found, tabs...), nil
}

// conversations finds the conversations whose messages have rows of their own.
func (w *walk) conversations(s *kv, l *learned, path string, recent bool) ([]transcript.Source, error) {
	all, err := l.all(s)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	only := map[string]bool(nil)
	if recent {
		if only, err = s.recent(); err != nil {
			return nil, err
		}
	}
	var pages, pageSize int64
	if err := s.QueryRow(w.ctx, "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size").Scan(&pages, &pageSize); err != nil {
		return nil, fmt.Errorf("look at size: %w", err)
	}
	count := "SELECT count(*), max(rowid), 0 FROM "
	if pages*pageSize <= fullScan {
		count = "SELECT count(value), max(rowid), sum(octet_length(value)) FROM "
	}
	count += diskTable + " WHERE key >= ? AND key < ?"

	f := newFamily(all)
	var found []transcript.Source
	at := &places{w: w, s: s, path: path, family: f}
	for _, id := range sorted(all) {
		c := all[id]
		if only != nil && !only[id] {
			continue
		}
		var n int64
		var row, bytes sql.NullInt64
		prefix := bubblePrefix + id + ":"
		if err := s.QueryRow(w.ctx, count, prefix, after(prefix)).Scan(&n, &row, &bytes); err != nil {
			return nil, fmt.Errorf("count messages: %w", err)
		}
		if n == 0 && !c.inline {
			continue // never used, or emptied
		}
		h := hint{Name: c.name, Archived: c.archived}
		f.describe(c, &h)
		p, err := at.of(c)
		if err != nil {
			return nil, err
		}
		h.Folders, h.Remote = p.folders, p.remote
		src := transcript.Source{
			Agent: agentID, Path: path, Key: id, Root: w.root.Path, SessionID: f.session(id), Class: classComposer,
			Size: c.size + bytes.Int64, ModTime: transcript.FromEpoch(float64(c.updated)), Hint: h.encode(),
		}
		if !c.inline && n*2 < int64(c.listed) {
			src.Class = classTorn
		}
		src.Signature = fmt.Sprintf("kv:%d:%d:%d:%d:%d|%x", c.row, c.size, n, row.Int64, bytes.Int64, transcript.Hash(src.Hint))
		found = append(found, src)
	}
	return found, nil
}

// places finds where conversations belong: by what they record, by the list of
// all conversations, by the windows that name them, or as those they come from.
type places struct {
	w      *walk
	s      *kv
	path   string
	family *family
	// What tells it for all of them is read when it is needed.
	heads, windows map[string]place
}

func (p *places) of(c *composer) (found place, err error) {
	for range maxAncestors {
		if found, err = p.own(c); err != nil || found.known() {
			return found, err
		}
		if c = p.family.all[p.family.parentOf[c.id]]; c == nil {
			break
		}
	}
	return found, nil
}

func (p *places) own(c *composer) (place, error) {
	if c.place.known() {
		return c.place, nil
	}
	if found := p.w.workspace(p.path, c.place.workspace); found.known() {
		return found, nil
	}
	if p.heads == nil {
		var err error
		if p.heads, err = p.w.heads(p.s, p.path); err != nil {
			return place{}, err
		}
	}
	if found := p.heads[c.id]; found.known() {
		return found, nil
	}
	if p.windows == nil {
		p.windows = p.w.windows(p.path)
	}
	return p.windows[c.id], nil
}

// workspace is where the window was opened that has a folder of that name.
func (w *walk) workspace(path, name string) place {
	if name == "" || name != filepath.Base(name) || name == "." || name == ".." {
		return place{}
	}
	return w.window(filepath.Join(userOf(path), workspaceFolder, name))
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// userOf is the User folder that a shared store lies in, whatever its profile.
func userOf(path string) string {
	dir := filepath.Dir(filepath.Dir(path))
	if filepath.Base(filepath.Dir(dir)) == profilesFolder {
		return filepath.Dir(filepath.Dir(dir))
	}
	return dir
}

// window is where a window was opened.
func (w *walk) window(dir string) place {
	folders, remote := vscode.Window(dir)
	return place{folders: folders, remote: remote}
}

// headsKey is the row that lists all conversations of all windows, and the table
// that followed it.
const (
	headsKey   = "composer.composerHeaders"
	headsTable = "composerHeaders"
)

// heads reads what the list of all conversations says of where they belong.
func (w *walk) heads(s *kv, path string) (map[string]place, error) {
	out := map[string]place{}
	take := func(id, workspace string, v jsonv.Value) {
		p := placeOf(v.Get("workspaceIdentifier"))
		for _, name := range []string{p.workspace, workspace} {
			if !p.known() {
				p = w.workspace(path, name)
			}
		}
		if id != "" && p.known() {
			out[id] = p
		}
	}
	if s.item {
		v, err := s.value(itemTable, headsKey)
		if err != nil && !errors.Is(err, errNoValue) && !errors.Is(err, errDamaged) && !errors.Is(err, errTooLarge) {
			return nil, err
		}
		v.Get("allComposers").Elems(func(_ int, c jsonv.Value) bool {
			take(id128(c.Get("composerId")), "", c)
			return true
		})
	}
	cols, err := s.Columns(w.ctx, headsTable)
	if err != nil || !cols["composerid"] || !cols["value"] {
		return out, err
	}
	workspace := "''"
	if cols["workspaceid"] {
		workspace = "workspaceId"
	}
	rows, err := s.Query(w.ctx, "SELECT composerId, "+workspace+", value FROM "+headsTable)
	if err != nil {
		return nil, fmt.Errorf("list conversations: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, workspace sql.NullString
		var value []byte
		if err := rows.Scan(&id, &workspace, &value); err != nil {
			return nil, fmt.Errorf("list conversations: %w", err)
		}
		take(id.String, workspace.String, jsonv.Parse(value))
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list conversations: %w", err)
	}
	return out, nil
}

// listKey is the row of a window's store that names its conversations, and in the
// first releases held them.
const listKey = "composer.composerData"

// windows tells for conversations which window names them: the only thing that
// ties older ones to a folder. A store that cannot be read names none.
func (w *walk) windows(path string) map[string]place {
	out := map[string]place{}
	dir := filepath.Join(userOf(path), workspaceFolder)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return out
	}
	for _, e := range entries {
		if w.ctx.Err() != nil {
			break
		}
		folder := filepath.Join(dir, e.Name())
		ids := w.named(filepath.Join(folder, stateFile))
		if len(ids) == 0 {
			continue
		}
		p := w.window(folder)
		if !p.known() {
			continue
		}
		for _, id := range ids {
			if _, named := out[id]; !named {
				out[id] = p
			}
		}
	}
	return out
}

// named lists the conversations that a window's store names.
func (w *walk) named(path string) []string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	state := transcript.Signature(info, path+"-wal")
	l := w.rd.learn(path)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == state {
		return l.ids
	}
	s, err := openKV(w.ctx, w.rd.stores, path)
	if err != nil {
		return nil
	}
	defer s.Close()
	if !s.item {
		return nil
	}
	v, err := s.value(itemTable, listKey, "conversation")
	if err != nil && !errors.Is(err, errNoValue) && !errors.Is(err, errDamaged) {
		return nil
	}
	l.state, l.ids = state, nil
	add := func(v jsonv.Value) {
		if id := id128(v); id != "" && len(l.ids) < 100_000 {
			l.ids = append(l.ids, id)
		}
	}
	v.Get("allComposers").Elems(func(_ int, c jsonv.Value) bool { add(c.Get("composerId")); return true })
	for _, key := range []string{"selectedComposerIds", "lastFocusedComposerIds"} {
		v.Get(key).Elems(func(_ int, id jsonv.Value) bool { add(id); return true })
	}
	add(v.Get("selectedComposerId"))
	return l.ids
}
