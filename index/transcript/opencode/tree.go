package opencode

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

const (
	// plainFile is the size up to which a record's file is kept as it stands.
	plainFile = 4 << 20
	// maxWaits bounds the half-written records waited for in one session: more
	// of them are the remains of a crash.
	maxWaits = 8
	// maxSpawners bounds the answers in which a sub-agent's start is looked for.
	maxSpawners = 3
	// maxAncestors bounds the walk from a sub-agent to its root.
	maxAncestors = 16
)

// walk is one discovery of the trees below a data folder.
type walk struct {
	ctx    context.Context
	root   transcript.Root
	yield  func(transcript.Source) error
	report func(string, error)
	seen   transcript.Seen
}

// tree yields storage/session/<project>/ses_*.json.
func (w *walk) tree() error {
	storage := filepath.Join(w.root.Path, "storage")
	for _, project := range w.folders(filepath.Join(storage, "session")) {
		l := layout{messages: filepath.Join(storage, "message"), parts: filepath.Join(storage, "part")}
		if err := w.sessions(project, l, classTree); err != nil {
			return err
		}
	}
	return nil
}

// oldTrees yields project/<name>/storage/session/info/ses_*.json.
func (w *walk) oldTrees() error {
	for _, project := range w.folders(filepath.Join(w.root.Path, "project")) {
		info := filepath.Join(project, "storage", "session", "info")
		if err := w.sessions(info, layoutOf(filepath.Join(info, "x")), classOldTree); err != nil {
			return err
		}
	}
	return nil
}

// folders lists the folders in dir, links to folders included, each once.
func (w *walk) folders(dir string) []string {
	entries, err := w.root.ReadDir(dir)
	if err != nil {
		if !missing(err) {
			w.report(dir, err)
		}
		return nil
	}
	var out []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() || !w.seen.First(path, info) {
			continue
		}
		out = append(out, path)
	}
	return out
}

func (w *walk) sessions(dir string, l layout, class int) error {
	entries, err := w.root.ReadDir(dir)
	if err != nil {
		if !missing(err) {
			w.report(dir, err)
		}
		return nil
	}
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !strings.HasPrefix(id, "ses") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if err != nil {
			if !missing(err) {
				w.report(path, err)
			}
			continue
		}
		if !info.Mode().IsRegular() || !w.seen.First(path, info) {
			continue
		}
		// A message that is still written to changes its own file and the
		// folder of its parts, neither of which touches the message folder.
		// Ids ascend, so the last name is the newest message.
		messages := filepath.Join(l.messages, id)
		newest := ""
		if names, err := recordNames(messages); err == nil && len(names) > 0 {
			newest = names[len(names)-1]
		}
		err = w.yield(transcript.Source{
			Agent: "opencode", Path: path, Root: w.root.Path, SessionID: id, Class: class, Size: info.Size(), ModTime: info.ModTime(),
			Signature: transcript.Signature(info, messages, filepath.Join(messages, newest+".json"), l.partDir(id, newest)),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// layout says where the records of a tree's sessions lie.
type layout struct {
	messages, parts string
	bySession       bool // parts/<session>/<message>, else parts/<message>
}

// layoutOf tells the generation from the place of a session's file.
func layoutOf(path string) layout {
	dir := filepath.Dir(path)
	up := filepath.Dir(dir)
	if filepath.Base(dir) == "info" && filepath.Base(up) == "session" && filepath.Base(filepath.Dir(up)) == "storage" {
		return layout{messages: filepath.Join(up, "message"), parts: filepath.Join(up, "part"), bySession: true}
	}
	storage := filepath.Dir(up)
	return layout{messages: filepath.Join(storage, "message"), parts: filepath.Join(storage, "part")}
}

func (l layout) partDir(session, message string) string {
	if l.bySession {
		return filepath.Join(l.parts, session, message)
	}
	return filepath.Join(l.parts, message)
}

// recordNames lists the ids of the records in a folder, in ascending order.
func recordNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	out := names[:0]
	for _, n := range names {
		if id, ok := strings.CutSuffix(n, ".json"); ok && id != "" {
			out = append(out, id)
		}
	}
	sort.Strings(out)
	return out, nil
}

// treeStore reads the records of one session from its files.
type treeStore struct {
	ctx     context.Context
	layout  layout
	session string
	wait    time.Duration // before a half-written record is read again
	waited  int
	buf     []byte
}

func readTree(ctx context.Context, src transcript.Source, b *builder, wait time.Duration) error {
	st := &treeStore{ctx: ctx, layout: layoutOf(src.Path), wait: wait}
	v, err := st.file(src.Path)
	damaged := err == errDamaged
	if err != nil && !damaged {
		return fmt.Errorf("read session: %w", err)
	}
	s := session{id: src.SessionID, format: "tree"}
	if st.layout.bySession {
		s.format = "tree-0"
	}
	if damaged {
		b.cp.Bad++
	} else {
		s.title, s.dir, s.parent = v.Get("title").Str(), v.Get("directory").Str(), v.Get("parentID").Str()
		s.created = transcript.ParseTime(v.Get("time", "created"))
		s.archived = v.Get("time", "archived").Exists()
		s.revertMessage, s.revertPart = v.Get("revert", "messageID").Str(), v.Get("revert", "partID").Str()
		if id := v.Get("id").Str(); id != "" {
			s.id = id
		}
	}
	st.session = src.SessionID // the folders are named as the file is
	if s.parent != "" {
		s.depth = max(1, st.depth(filepath.Dir(src.Path), s.parent))
	}
	if err := b.begin(s); err != nil {
		return err
	}
	if damaged {
		b.h.Warn("the session's own record is damaged")
	}
	if s.parent != "" {
		if b.h.ParentEvent, err = st.spawnedBy(&s); err != nil {
			return err
		}
	}
	messages, err := st.messages(b)
	if err != nil {
		return err
	}
	for i := range messages {
		if err := b.message(st, &messages[i]); err != nil {
			return err
		}
		messages[i].data = nil
	}
	return nil
}

// depth counts the sessions above one, itself a child of parent.
func (t *treeStore) depth(dir, parent string) int {
	n := 0
	for parent != "" && n < maxAncestors && parent == filepath.Base(parent) {
		n++
		v, err := t.file(filepath.Join(dir, parent+".json"))
		if err != nil {
			break
		}
		parent = v.Get("parentID").Str()
	}
	return n
}

// messages lists a session's messages by time, then id. Small ones are kept:
// they had to be opened for their time.
func (t *treeStore) messages(b *builder) ([]record, error) {
	dir := filepath.Join(t.layout.messages, t.session)
	names, err := recordNames(dir)
	if err != nil && !missing(err) {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	out := make([]record, 0, len(names))
	kept := 0
	var last time.Time
	for _, id := range names {
		if err := t.ctx.Err(); err != nil {
			return nil, err
		}
		r := record{id: id, path: filepath.Join(dir, id+".json"), at: last}
		v, err := t.file(r.path)
		if missing(err) {
			continue
		}
		if err == nil {
			if at := parseMessage(v).time; !at.IsZero() {
				r.at = at
			}
			if kept+len(v) <= cacheBytes {
				r.data = append(jsonv.Value(nil), v...)
				kept += len(v)
				b.bytes += int64(len(v))
			}
		} else if err != errDamaged {
			return nil, err
		}
		last = r.at
		out = append(out, r)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].at.Before(out[j].at) })
	return out, nil
}

func (t *treeStore) parts(message string) ([]record, error) {
	dir := t.layout.partDir(t.session, message)
	names, err := recordNames(dir)
	if err != nil {
		if missing(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("list parts: %w", err)
	}
	out := make([]record, 0, len(names))
	for _, id := range names {
		out = append(out, record{id: id, path: filepath.Join(dir, id+".json")})
	}
	return out, nil
}

func (t *treeStore) load(r *record, _ bool) (jsonv.Value, error) {
	v, err := t.file(r.path)
	if err != nil && t.ctx.Err() == nil {
		return nil, errDamaged // gone, unreadable or half written: one record
	}
	return v, err
}

// file reads a record's file. One that is half written is given a moment.
func (t *treeStore) file(path string) (jsonv.Value, error) {
	v, err := t.once(path)
	if err != errDamaged || t.waited >= maxWaits {
		return v, err
	}
	t.waited++
	select {
	case <-t.ctx.Done():
		return nil, t.ctx.Err()
	case <-time.After(t.wait):
	}
	return t.once(path)
}

func (t *treeStore) once(path string) (jsonv.Value, error) {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readObject(f, f.Size, &t.buf)
}

// readObject reads one JSON object of about size bytes into buf; what is large
// is shrunk on the way.
func readObject(r io.Reader, size int64, buf *[]byte) (jsonv.Value, error) {
	if cap(*buf) > 2*plainFile {
		*buf = nil
	}
	out := (*buf)[:0]
	if size <= plainFile {
		if int64(cap(out)) < size+512 {
			out = make([]byte, 0, size+512)
		}
		for {
			n, err := r.Read(out[len(out):cap(out)])
			out = out[:len(out)+n]
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("read record: %w", err)
			}
			if len(out) == cap(out) { // it grew since it was looked at
				return nil, errDamaged
			}
		}
	} else {
		s := jsonv.NewShrinker(jsonv.DefaultLimits("diffs", "filediff"), false, out)
		piece := make([]byte, 256<<10)
		for done := false; !done; {
			n, err := r.Read(piece)
			for at := 0; at < n && !done; {
				var k int
				if k, done = s.Feed(piece[at:n]); k == 0 && !done {
					return nil, errDamaged
				}
				at += k
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("read record: %w", err)
			}
		}
		out = s.Bytes()
	}
	*buf = out
	v := jsonv.Parse(trim(out))
	if v.Kind() != jsonv.Object || !jsonv.Valid(v) {
		return nil, errDamaged
	}
	return v, nil
}

// trim drops a byte order mark and NULs around a record.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == 0 || b[0] <= ' ') {
		b = b[1:]
	}
	if len(b) >= 3 && b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf {
		b = b[3:]
	}
	return b
}

// spawnedBy finds the part of the parent whose task tool names the session as
// its own: in one of the parent's last answers before the session began.
func (t *treeStore) spawnedBy(s *session) (string, error) {
	if s.parent != filepath.Base(s.parent) || s.created.IsZero() {
		return "", nil
	}
	dir := filepath.Join(t.layout.messages, s.parent)
	names, err := recordNames(dir)
	if err != nil {
		return "", nil // no parent here
	}
	for looked := 0; len(names) > 0 && looked < maxSpawners; names = names[:len(names)-1] {
		if err := t.ctx.Err(); err != nil {
			return "", err
		}
		id := names[len(names)-1]
		v, err := t.once(filepath.Join(dir, id+".json"))
		if err != nil {
			continue
		}
		if m := parseMessage(v); m.role != transcript.RoleAssistant || m.time.After(s.created.Add(time.Second)) {
			continue
		}
		looked++
		parts := t.layout.partDir(s.parent, id)
		ids, err := recordNames(parts)
		if err != nil {
			continue
		}
		for _, part := range ids {
			v, err := t.once(filepath.Join(parts, part+".json"))
			if err == nil && v.Get("state", "metadata", "sessionId").IsStr(s.id) {
				return part, nil
			}
		}
	}
	return "", nil
}
