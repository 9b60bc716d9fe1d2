package cursor

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// chats lists the chats of a folder, which is named by its hash.
func (w *walk) chats(dir string) error {
	names := w.list(dir)
	for _, name := range names {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.chat(filepath.Join(dir, name), dir); err != nil {
			return err
		}
	}
	return nil
}

// chat yields one chat. group is the folder of chats that it lies in, "" for one
// that lies in none.
func (w *walk) chat(dir, group string) error {
	path := filepath.Join(dir, storeFile)
	info := w.file(path)
	if info == nil {
		return nil
	}
	note := jsonv.Parse(transcript.ReadSmall(filepath.Join(dir, metaFile), maxSmall))
	h := hint{Name: transcript.CleanTitle(note.Get("title").Str())}
	hash := ""
	if group != "" {
		hash = filepath.Base(group)
	}
	switch cwd := transcript.CleanPath(note.Get("cwd").Str()); {
	case cwd != "":
		h.Folders = []string{cwd}
	case hash != "":
		if folder := w.group(group); folder != "" {
			h.Folders = []string{folder}
		} else if isHash(hash) {
			h.Hash = hash
		}
	}
	id := filepath.Base(dir)
	if note.Get("isSubagent").True() {
		// Only its store tells of which one.
		parent, call := w.parent(path)
		if parent != "" && parent != id {
			h.Parent, h.Relation, h.Evidence, h.Depth, h.Call = parent, transcript.RelationSubagent, transcript.EvidenceHeader, 1, call
			id = parent + transcript.SubagentMark + id
		}
	}
	return w.yieldFile(path, info, id, classStore, h, path+"-wal", filepath.Join(dir, metaFile))
}

// group is the folder that a folder of chats belongs to: what one of them notes,
// else the one whose hash is its name.
func (w *walk) group(dir string) string {
	hash := filepath.Base(dir)
	if folder, ok := w.folders.byName[hash]; ok {
		return folder
	}
	// All of them are asked, even if only one is looked at.
	entries, err := os.ReadDir(dir)
	if err == nil {
		for _, e := range entries {
			note := jsonv.Parse(transcript.ReadSmall(filepath.Join(dir, e.Name(), metaFile), maxSmall))
			if cwd := note.Get("cwd").Str(); cwd != "" && hashOf(cwd) == hash {
				if w.folders.byName == nil {
					w.folders.byName = map[string]string{}
				}
				w.folders.byName[hash] = cwd
				return cwd
			}
		}
	}
	return w.folders.chats(hash)
}

// parent reads from a chat's store which chat started it.
func (w *walk) parent(path string) (parent, call string) {
	db, err := w.rd.stores.Open(w.ctx, path)
	if err != nil {
		return "", ""
	}
	defer db.Close()
	c := &chat{ctx: w.ctx, db: db}
	meta, err := c.meta()
	if err != nil {
		return "", ""
	}
	sub := meta.Get("subagentInfo")
	return id128(sub.Get("parentAgentId")), id128(sub.Get("toolCallId"))
}

// database is what a chat reads from.
type database interface {
	QueryRow(ctx context.Context, query string, args ...any) *sql.Row
}

// chat is the store of one chat: blobs named by the hash of what they hold, and
// one row that names the first of them.
type chat struct {
	ctx context.Context
	db  database
}

// meta reads what the store says of the chat as a whole, JSON as it stands or in
// hexadecimal digits.
func (c *chat) meta() (jsonv.Value, error) {
	var raw []byte
	err := c.db.QueryRow(c.ctx, "SELECT value FROM meta WHERE octet_length(value) <= ? ORDER BY key <> '0' LIMIT 1", 4*maxSmall).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errNoValue
	}
	if err != nil {
		return nil, fmt.Errorf("read what the chat is: %w", err)
	}
	if text, err := hex.DecodeString(strings.TrimSpace(string(raw))); err == nil {
		raw = text
	}
	return whole(raw)
}

// blob reads a blob, errNoValue if there is none.
func (c *chat) blob(id []byte) ([]byte, error) {
	var data []byte
	var size sql.NullInt64
	name := hex.EncodeToString(id)
	err := c.db.QueryRow(c.ctx, "SELECT octet_length(data) FROM blobs WHERE id = ?", name).Scan(&size)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !size.Valid {
		return nil, errNoValue
	}
	if err != nil {
		return nil, fmt.Errorf("read a message: %w", err)
	}
	if size.Int64 > maxValue {
		return nil, errTooLarge
	}
	if err := c.db.QueryRow(c.ctx, "SELECT data FROM blobs WHERE id = ?", name).Scan(&data); err != nil {
		return nil, fmt.Errorf("read a message: %w", err)
	}
	return data, nil
}

// node is a blob that names others, in the wire format of protocol buffers.
type node struct {
	refs     [][]byte // of field 1: messages in their order
	others   [][]byte // names in other fields
	messages []jsonv.Value
}

// hashSize is the length of a blob's name.
const hashSize = 32

// parseNode reads a node; false if the bytes are none.
func parseNode(b []byte) (n node, ok bool) {
	for len(b) > 0 {
		tag, w := varint(b)
		if w == 0 || tag>>3 == 0 {
			return n, false
		}
		b = b[w:]
		size := uint64(0)
		switch tag & 7 {
		case 0:
			if _, w = varint(b); w == 0 {
				return n, false
			}
			size = uint64(w)
		case 1:
			size = 8
		case 5:
			size = 4
		case 2:
			if size, w = varint(b); w == 0 {
				return n, false
			}
			b = b[w:]
		default:
			return n, false
		}
		if size > uint64(len(b)) {
			return n, false
		}
		field := b[:size]
		b = b[size:]
		if tag&7 != 2 {
			continue
		}
		switch {
		case len(field) == hashSize && tag>>3 == 1:
			n.refs = append(n.refs, field)
		case len(field) == hashSize:
			n.others = append(n.others, field)
		case len(field) > 1 && field[0] == '{':
			if v, err := whole(field); err == nil && v.Get("role").Exists() {
				n.messages = append(n.messages, v)
			}
		}
	}
	return n, true
}

func varint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 10 {
		v |= uint64(b[n]&0x7f) << (7 * n)
		n++
		if b[n-1] < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

// readChat reads a chat of the command line tool. What the latest node does not
// name is what earlier states left behind.
func (rd *reader) readChat(ctx context.Context, env transcript.Env, src transcript.Source, h hint, out transcript.Sink) (*transcript.Checkpoint, error) {
	db, err := rd.stores.Open(ctx, src.Path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	for table, columns := range map[string][]string{"meta": {"key", "value"}, "blobs": {"id", "data"}} {
		cols, err := db.Columns(ctx, table)
		if err != nil {
			return nil, err
		}
		if len(cols) == 0 {
			return nil, transcript.ErrNoSession // it was made and nothing was said
		}
		for _, name := range columns {
			if !cols[name] {
				return nil, fmt.Errorf("unknown schema of a Cursor chat: table %s lacks %s", table, name)
			}
		}
	}
	b := newBuilder(ctx, env, src, h, out)
	b.h.Format, b.h.Entrypoint = formatStore, "cli"
	if err := out.Begin(false); err != nil {
		return nil, err
	}
	c := &chat{ctx: ctx, db: db}
	meta, err := c.meta()
	switch {
	case errors.Is(err, errNoValue):
		return nil, transcript.ErrNoSession
	case errors.Is(err, errDamaged):
		return nil, fmt.Errorf("read what the chat is: %w", err)
	case err != nil:
		return nil, err
	}
	b.chat(meta)
	b.times(jsonv.Parse(transcript.ReadSmall(filepath.Join(filepath.Dir(src.Path), metaFile), maxSmall)))
	if err := b.nodes(c, meta.Get("latestRootBlobId").Str()); err != nil {
		return nil, err
	}
	if !db.Unchanged() {
		return nil, transcript.ErrReread
	}
	return b.finish()
}

// chat takes what a store says of its chat as a whole.
func (b *builder) chat(meta jsonv.Value) {
	if b.h.TitleSource != transcript.TitleAgent {
		b.h.SetTitle(meta.Get("name").Str(), transcript.TitleAgent)
	}
	if cwd := transcript.CleanPath(meta.Get("cwd").Str()); cwd != "" && b.h.CWD == "" {
		b.h.SawCWD(cwd)
		b.prove = prover{}
	}
	model := meta.Get("lastUsedModel")
	if model.Kind() == jsonv.Object {
		model = first2(model.Get("modelId"), model.Get("model"), model.Get("id"), model.Get("name"))
	}
	b.model(model)
	b.h.SawTime(transcript.ParseTime(meta.Get("createdAt")), b.env.Time())
	if sub := meta.Get("subagentInfo"); b.h.ParentID == "" {
		if parent := id128(sub.Get("parentAgentId")); parent != "" && parent != b.h.SessionID {
			b.h.Relation, b.h.ParentID, b.h.LineageEvidence, b.h.DelegationDepth = transcript.RelationSubagent, parent, transcript.EvidenceHeader, 1
		}
	}
}

func (b *builder) times(note jsonv.Value) {
	for _, key := range []string{"createdAtMs", "updatedAtMs"} {
		b.h.SawTime(transcript.ParseTime(note.Get(key)), b.env.Time())
	}
}

// maxNodes bounds a chain of nodes.
const maxNodes = 100_000

// nodes emits the messages that a node names. Of earlier releases' it holds the
// last ones itself and names the node before it.
func (b *builder) nodes(c *chat, root string) error {
	id, err := hex.DecodeString(root)
	if err != nil || len(id) == 0 {
		if root == "" {
			return nil // nothing was said yet
		}
		return errors.New("the chat does not say where it begins")
	}
	var chain []node
	seen := map[string]bool{}
	for len(id) > 0 && !seen[string(id)] && len(chain) < maxNodes {
		seen[string(id)] = true
		data, err := c.blob(id)
		id = nil
		if errors.Is(err, errNoValue) {
			if len(chain) == 0 {
				return errors.New("the latest state of the chat is not in its store")
			}
			b.h.Warn("the beginning of the chat is not in its store any more")
			break
		}
		if err != nil {
			return err
		}
		n, ok := parseNode(data)
		if !ok {
			if len(chain) == 0 {
				return errors.New("the state of the chat is of an unknown form, or encrypted")
			}
			b.cp.Bad++
			break
		}
		chain = append(chain, n)
		if len(n.messages) > 0 { // the node before it, whichever field names it
			for _, ref := range append(n.refs, n.others...) {
				if data, err := c.blob(ref); err == nil {
					if before, ok := parseNode(data); ok && (len(before.messages) > 0 || len(before.refs) > 0) {
						id = ref
						break
					}
				}
			}
		}
	}
	bad, missing := 0, 0
	for i := len(chain) - 1; i >= 0; i-- {
		n := chain[i]
		if len(n.messages) > 0 {
			for _, v := range n.messages {
				if err := b.stored("", v); err != nil {
					return err
				}
			}
			continue
		}
		for _, ref := range n.refs {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			data, err := c.blob(ref)
			switch {
			case errors.Is(err, errNoValue):
				missing++
				continue
			case errors.Is(err, errTooLarge):
				b.cp.Partial = err.Error()
				continue
			case err != nil:
				return err
			}
			v, err := whole(data)
			if err != nil || v.Kind() != jsonv.Object {
				bad++
				continue
			}
			if err := b.stored(hex.EncodeToString(ref), v); err != nil {
				return err
			}
		}
	}
	b.cp.Bad += bad
	if b.seq == 0 && bad > 0 {
		return errors.New("none of the chat's messages can be read: they are encrypted or of an unknown form")
	}
	if missing > 0 {
		b.h.Warn(fmt.Sprintf("%d messages that the chat names are not in its store any more", missing))
	}
	return nil
}

// stored emits a message of a chat's store.
func (b *builder) stored(id string, v jsonv.Value) error {
	e := &transcript.Event{ID: id, Time: transcript.ParseTime(first2(v.Get("createdAt"), v.Get("timestamp")))}
	made, answered := b.message(v.Get("role").Str(), v.Get("content"), e)
	e.RawType = first(e.RawType, "message")
	b.model(v.Get("providerOptions", "cursor", "modelName"))
	if err := b.emit(e, v); err != nil {
		return err
	}
	b.out.Progress(b.bytes)
	return b.link(e.Seq, made, answered)
}
