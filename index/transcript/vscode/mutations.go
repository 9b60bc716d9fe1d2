package vscode

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// A log (.jsonl, from VS Code 1.109 on) holds a session as changes to one
// document, one object a line (formats.md §8):
//
//	{"kind":0,"v":…}               the document
//	{"kind":1,"k":[path],"v":…}    set
//	{"kind":2,"k":[path],"v":[…],"i":n}  cut the list to n (if given), then append v (if given)
//	{"kind":3,"k":[path]}          delete
//
// VS Code replaces the file by a single kind 0 line now and then.

// The kinds of line.
const (
	opInitial = iota
	opSet
	opPush
	opDelete
)

const (
	// maxPad bounds the empty elements that a set or cut beyond the end of a
	// list may make.
	maxPad = 1024
	// maxPath bounds the raw bytes of a path.
	maxPath = 64 << 10
)

// errUnknownKind stops the reading of a log: what follows builds on a change
// that is not understood.
var errUnknownKind = errors.New("a change of an unknown kind")

// readLog applies a log and returns the session it ends with, nil if there is
// none.
func readLog(ctx context.Context, t *tree, f *transcript.File, cp *transcript.Checkpoint) (*node, error) {
	var root *node
	r := bufio.NewReaderSize(io.NewSectionReader(f, 0, f.Size), 128<<10)
	for off := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, ended, err := line(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("read VS Code chat log: %w", err)
		}
		if n == 0 {
			cp.Offset = off
			return root, nil
		}
		next, err := t.apply(root, off, off+n)
		switch {
		case err == nil:
			root = next
		case errors.Is(err, errTorn) && !ended:
			cp.Torn, cp.Offset = true, off
			return next, nil
		case errors.Is(err, errUnknownKind), errors.Is(err, errLarge):
			cp.Partial = err.Error()
			cp.Offset = off
			return root, nil
		case errors.Is(err, errEmpty):
		case ctx.Err() != nil:
			return nil, ctx.Err()
		default:
			cp.Bad++
		}
		off += n
	}
}

// line measures the next line and tells whether a newline ended it.
func line(ctx context.Context, r *bufio.Reader) (n int64, ended bool, err error) {
	for {
		b, err := r.ReadSlice('\n')
		n += int64(len(b))
		switch {
		case err == nil:
			return n, true, nil
		case errors.Is(err, io.EOF):
			return n, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return n, false, err
		}
		if err := ctx.Err(); err != nil {
			return n, false, err
		}
	}
}

var (
	errEmpty = errors.New("an empty line")
	errPath  = errors.New("a change of something that is not there")
)

// apply applies the line in the bytes [off, end) and returns the root. Of a
// damaged line the whole records count: two glued together, or one behind
// another that was cut off by a crash.
func (t *tree) apply(root *node, off, end int64) (*node, error) {
	var first error
	for resynced := false; ; {
		rec, rest, err := t.scan(off, end, 1, "")
		switch {
		case err == nil:
			root, err = t.record(root, rec)
			if err != nil || !rest {
				return root, errors.Join(first, err)
			}
			first, off = errBroken, rec.end
		case t.fatal(err):
			return root, err
		case first == nil && rec == nil && t.blank(off, end):
			return root, errEmpty
		default:
			if first == nil {
				first = err
			}
			i := t.resync(off, end)
			if i <= 0 || resynced {
				return root, first
			}
			off, resynced = off+i, true
		}
	}
}

// resync finds the last place in a damaged line where a record starts, 0 if
// there is none.
func (t *tree) resync(off, end int64) int64 {
	if end-off > verbatim {
		return 0
	}
	line := t.value(&node{off: off, end: end}, limits())
	for {
		const mark = `{"kind":`
		i := bytes.LastIndex(line, []byte(mark))
		if i <= 0 {
			return 0
		}
		// The kind of a change is a number; parts of an answer have names.
		if rest := bytes.TrimLeft(line[i+len(mark):], " "); len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
			return int64(i)
		}
		line = line[:i]
	}
}

// record applies one change.
func (t *tree) record(root, rec *node) (*node, error) {
	if rec.kind != '{' {
		return root, errBroken
	}
	kind, ok := t.small(rec, "kind").Int()
	if !ok {
		return root, errBroken
	}
	v := t.get(rec, "v")
	if kind == opInitial {
		if v == nil || v.kind != '{' {
			return root, errBroken
		}
		return t.session(v.off, v.end)
	}
	if kind != opSet && kind != opPush && kind != opDelete {
		return root, errUnknownKind
	}
	k := t.get(rec, "k")
	if root == nil || k == nil || k.kind != '[' || k.end-k.off > maxPath {
		return root, errPath
	}
	path := t.value(k, limits())
	switch kind {
	case opSet:
		if v == nil {
			v = none()
		}
		if path.Len() == 0 {
			return v, nil
		}
		return root, t.set(root, path, v)
	case opDelete:
		return root, t.set(root, path, nil)
	}
	return root, t.push(root, path, v, t.get(rec, "i"))
}

// session finds the parts of a document that events are made of.
func (t *tree) session(off, end int64) (*node, error) {
	n, _, err := t.scan(off, end, sessionDepth, "requests")
	if err != nil && (n == nil || t.fatal(err)) {
		return n, err
	}
	return n, nil
}

func (t *tree) blank(off, end int64) bool {
	if end-off > 64<<10 {
		return false
	}
	for _, c := range t.value(&node{off: off, end: end}, limits()) {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// step descends by one element of a path; nil if it leads nowhere.
func (t *tree) step(n *node, key jsonv.Value) (*node, error) {
	i, err := t.index(n, key)
	if err != nil || i < 0 || i >= len(n.kids) {
		return nil, err
	}
	return n.kids[i], nil
}

// index is the position of a path's element in n; -1 if a member is absent, a
// number beyond the end for a place in a list that does not exist yet.
func (t *tree) index(n *node, key jsonv.Value) (int, error) {
	if err := t.expand(n); err != nil {
		return 0, err
	}
	switch n.kind {
	case '{':
		return n.find(key.Str()), nil
	case '[':
		i, ok := key.Int()
		if !ok || i < 0 || i > math.MaxInt32 {
			return 0, errPath
		}
		return int(i), nil
	}
	return 0, errPath
}

// parent descends to the value that holds the last element of the path.
func (t *tree) parent(root *node, path jsonv.Value) (n *node, last jsonv.Value, err error) {
	n = root
	path.Elems(func(_ int, key jsonv.Value) bool {
		if last != nil {
			var next *node
			if next, err = t.step(n, last); err != nil {
				return false
			}
			if next == nil {
				err = errPath
				return false
			}
			n = next
		}
		last = key
		return true
	})
	if err == nil && last == nil {
		err = errPath
	}
	return n, last, err
}

// set puts v at a path; nil deletes what is there.
func (t *tree) set(root *node, path jsonv.Value, v *node) error {
	n, last, err := t.parent(root, path)
	if err != nil {
		return err
	}
	i, err := t.index(n, last)
	if err != nil {
		return err
	}
	switch {
	case i >= 0 && i < len(n.kids):
		if v == nil {
			v = none() // a hole reads like an absent value
		}
		n.kids[i] = v
	case v == nil:
	case n.kind == '{':
		n.add(last.Str(), v)
	default:
		if err := t.pad(n, i); err != nil {
			return err
		}
		n.add("", v)
	}
	return nil
}

// pad makes a list have at least size elements.
func (t *tree) pad(n *node, size int) error {
	if size > len(n.kids)+maxPad {
		return errPath
	}
	if t.nodes -= max(0, size-len(n.kids)); t.nodes < 0 {
		return errLarge
	}
	for len(n.kids) < size {
		n.kids = append(n.kids, none())
	}
	return nil
}

// push cuts the list at a path to size elements, if given, and appends those
// of v, if given. A list that is not there is made.
func (t *tree) push(root *node, path jsonv.Value, v, size *node) error {
	n, last, err := t.parent(root, path)
	if err != nil {
		return err
	}
	i, err := t.index(n, last)
	if err != nil {
		return err
	}
	var list *node
	if i >= 0 && i < len(n.kids) {
		list = n.kids[i]
	}
	if list == nil || list.absent() || t.literal(list) == "null" {
		list = &node{kind: '[', open: true}
		if err := t.set(root, path, list); err != nil {
			return err
		}
	}
	if list.kind != '[' {
		return errPath
	}
	if err := t.expand(list); err != nil {
		return err
	}
	if size != nil {
		if to, ok := t.small(size).Int(); ok {
			if to < 0 || to > int64(len(list.kids)+maxPad) {
				return errPath
			}
			if int(to) < len(list.kids) {
				clear(list.kids[to:])
				list.kids = list.kids[:to]
			}
			if err := t.pad(list, int(to)); err != nil {
				return err
			}
		}
	}
	if v == nil || v.kind != '[' {
		return nil
	}
	if err := t.expand(v); err != nil {
		return err
	}
	list.kids = append(list.kids, v.kids...)
	return nil
}

// literal is the text of a literal, "" for anything longer.
func (t *tree) literal(n *node) string {
	if n.kind != 0 || n.end-n.off > 8 {
		return ""
	}
	return string(t.value(n, limits()))
}
