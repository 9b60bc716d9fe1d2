package vscode

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// node is a value of a session. A session of any size becomes a tree of places
// in its file; the bytes are read when an event is made of them. What a
// mutation log changes is only which places the tree points to.
type node struct {
	kind     byte // '{' or '[', 0 for anything else
	open     bool // keys and kids are known and stand for the value
	off, end int64
	keys     []string // of an object, beside kids
	kids     []*node
	index    map[string]int32 // of keys, once there are many
}

// none stands for an absent or deleted value.
func none() *node { return &node{} }

// absent tells a hole from a value.
func (n *node) absent() bool { return n.kind == 0 && n.end <= n.off }

func (n *node) add(key string, kid *node) {
	if n.kind == '{' {
		if n.index != nil {
			n.index[key] = int32(len(n.keys))
		}
		n.keys = append(n.keys, key)
	}
	n.kids = append(n.kids, kid)
}

// manyKeys is the number of members from which they are looked up in a map.
const manyKeys = 64

// find returns the position of a member, the last of equal names; -1 if absent.
func (n *node) find(key string) int {
	if len(n.keys) < manyKeys {
		for i := len(n.keys) - 1; i >= 0; i-- {
			if n.keys[i] == key {
				return i
			}
		}
		return -1
	}
	if n.index == nil {
		n.index = make(map[string]int32, len(n.keys))
		for i, k := range n.keys {
			n.index[k] = int32(i)
		}
	}
	if i, ok := n.index[key]; ok {
		return int(i)
	}
	return -1
}

// tree gives access to the values in a file.
type tree struct {
	ctx   context.Context
	file  io.ReaderAt
	buf   *bufio.Reader
	nodes int               // that may still be made
	large bool              // a value had more members than that
	names map[string]string // member names, each kept once
}

// sessionDepth opens a session, its requests and each one's members.
const sessionDepth = 3

func newTree(ctx context.Context, file io.ReaderAt) *tree {
	return &tree{ctx: ctx, file: file, buf: bufio.NewReaderSize(nil, 128<<10), nodes: maxNodes, names: map[string]string{}}
}

// scan finds the value in the bytes [off, end) of the file; see scanner.value.
// rest reports whether something else follows it.
func (t *tree) scan(off, end int64, depth int, only string) (n *node, rest bool, err error) {
	t.buf.Reset(io.NewSectionReader(t.file, off, end-off))
	s := scanner{ctx: t.ctx, r: t.buf, pos: off, nodes: &t.nodes, names: t.names}
	n, err = s.value(depth, only)
	if err == nil {
		_, perr := s.peek()
		rest = perr == nil
	}
	return n, rest, err
}

// expand makes the members or elements of a value known. Damage inside leaves
// what could be read.
func (t *tree) expand(n *node) error {
	if n.open || n.kind == 0 {
		return nil
	}
	got, _, err := t.scan(n.off, n.end, 1, "")
	if got != nil && got.kind == n.kind {
		n.keys, n.kids = got.keys, got.kids
	}
	n.open = true
	if err != nil && t.fatal(err) {
		t.large = t.large || errors.Is(err, errLarge)
		return err
	}
	return nil
}

// fatal tells errors that end a reading from damage in a value.
func (t *tree) fatal(err error) bool { return t.ctx.Err() != nil || errors.Is(err, errLarge) }

// get descends by member names; nil if a step is missing.
func (t *tree) get(n *node, keys ...string) *node {
	for _, key := range keys {
		if n == nil || n.kind != '{' || t.expand(n) != nil {
			return nil
		}
		i := n.find(key)
		if i < 0 {
			return nil
		}
		n = n.kids[i]
	}
	return n
}

// list returns the elements of an array, nil for anything else.
func (t *tree) list(n *node) []*node {
	if n == nil || n.kind != '[' || t.expand(n) != nil {
		return nil
	}
	return n.kids
}

// verbatim is the size up to which a value is read as it stands.
const verbatim = 4 << 20

// limits bounds what is read of one value. Text of people and models is kept
// up to 64 MB, as everywhere.
func limits(skip ...string) jsonv.Limits { return jsonv.DefaultLimits(skip...) }

// outputLimits bounds the result of a call, which the index reduces anyway:
// of more than 32 MB the start and the end.
func outputLimits() jsonv.Limits {
	return jsonv.Limits{String: 32 << 20, StringTail: 64 << 10, Total: 33 << 20}
}

// value reads the bytes of a value; large ones within lim. nil if absent.
func (t *tree) value(n *node, lim jsonv.Limits) jsonv.Value {
	if n == nil || n.end <= n.off && !n.open {
		return nil
	}
	if n.open {
		return t.write(nil, n, lim, 0)
	}
	size := n.end - n.off
	if size <= verbatim {
		b := make([]byte, size)
		k, err := t.file.ReadAt(b, n.off)
		if err != nil && k < len(b) {
			return nil // the file shrank
		}
		return jsonv.Value(b)
	}
	t.buf.Reset(io.NewSectionReader(t.file, n.off, size))
	// Room for what will be kept: growing by doubling would need twice that.
	s := jsonv.NewShrinker(lim, false, make([]byte, 0, min(size, int64(lim.Total))+1<<10))
	for t.ctx.Err() == nil {
		if _, err := t.buf.Peek(1); err != nil {
			break
		}
		b, _ := t.buf.Peek(t.buf.Buffered())
		k, done := s.Feed(b)
		_, _ = t.buf.Discard(k)
		if done || k == 0 {
			break
		}
	}
	return jsonv.Value(s.Bytes())
}

// write renders a value whose members are nodes.
func (t *tree) write(dst []byte, n *node, lim jsonv.Limits, depth int) []byte {
	if !n.open || depth > 64 || len(dst) > lim.Total {
		if n.open || len(dst) > lim.Total {
			return append(dst, "null"...)
		}
		v := t.value(n, lim)
		if len(v) == 0 {
			return append(dst, "null"...)
		}
		return append(dst, v...)
	}
	dst = append(dst, n.kind)
	for i, kid := range n.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.kind == '{' {
			dst = appendQuoted(dst, n.keys[i])
			dst = append(dst, ':')
		}
		dst = t.write(dst, kid, lim, depth+1)
	}
	return append(dst, n.kind+2)
}

func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c < ' ':
			dst = append(dst, ' ')
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// str reads a short text: an id, a kind, a name.
func (t *tree) str(n *node, keys ...string) string {
	n = t.get(n, keys...)
	if n == nil || n.kind != 0 || n.end-n.off > 64<<10 {
		return ""
	}
	return t.value(n, limits()).Str()
}

// small reads a value that is expected to be small, nil if it is not.
func (t *tree) small(n *node, keys ...string) jsonv.Value {
	n = t.get(n, keys...)
	if n == nil || n.end-n.off > 256<<10 {
		return nil
	}
	return t.value(n, limits())
}

// text reads a text that may be a string, or an object with it as value.
func (t *tree) text(n *node) string {
	if n == nil {
		return ""
	}
	for i := 0; n.kind == '{' && i < 3; i++ {
		if n = t.get(n, "value"); n == nil {
			return ""
		}
	}
	if n.kind != 0 {
		return ""
	}
	v := t.value(n, limits())
	if v.Kind() != jsonv.String {
		return ""
	}
	return transcript.CleanText(v.Str())
}
