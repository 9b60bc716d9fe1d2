package vscode

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

var (
	errTorn   = errors.New("the value is cut off")
	errBroken = errors.New("the value is no JSON")
	errLarge  = errors.New("the session has more values than are kept")
)

const (
	// maxNodes bounds the values that are told apart in one session, and so
	// the memory of its tree (about 100 bytes each).
	maxNodes = 1 << 19
	// maxNest bounds the nesting of brackets.
	maxNest = 4096
	// maxKey bounds the bytes of a member name that are kept.
	maxKey = 512
)

// scanner finds where values lie in a file without keeping their bytes: a
// string of any size passes through one buffer.
type scanner struct {
	ctx   context.Context
	r     *bufio.Reader
	pos   int64 // of the next byte in the file
	nodes *int  // nodes left
	names map[string]string
}

// maxNames bounds the member names that are kept once each.
const maxNames = 4096

// name unescapes a raw member name. The same few dozen names recur without
// end.
func (s *scanner) name(raw []byte) string {
	if n, ok := s.names[string(raw)]; ok {
		return n
	}
	n := jsonv.Value(raw).Str()
	if len(s.names) < maxNames {
		s.names[string(raw)] = n
	}
	return n
}

// peek returns the next byte that is no white space; NULs and a byte order
// mark count as such.
func (s *scanner) peek() (byte, error) {
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			return 0, s.fail(err)
		}
		switch c {
		case ' ', '\t', '\r', '\n', 0, 0xef, 0xbb, 0xbf:
			s.pos++
		default:
			return c, s.r.UnreadByte()
		}
	}
}

func (s *scanner) fail(err error) error {
	if errors.Is(err, io.EOF) {
		return errTorn
	}
	return err
}

// skip consumes the byte that peek has shown.
func (s *scanner) skip() {
	_, _ = s.r.ReadByte()
	s.pos++
}

// value reads one value. Down to depth levels its members and elements become
// nodes; of an object at the top, only the member named only goes deeper than
// one level, if that is not "". With an error the node holds what was read.
func (s *scanner) value(depth int, only string) (*node, error) {
	if *s.nodes--; *s.nodes < 0 {
		return nil, errLarge
	}
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	c, err := s.peek()
	if err != nil {
		return nil, err
	}
	n := &node{off: s.pos}
	switch {
	case c == '"':
		err = s.str(nil)
	case (c == '{' || c == '[') && depth > 0:
		n.kind, n.open = c, true
		err = s.members(n, depth, only)
	case c == '{' || c == '[':
		n.kind = c
		err = s.nested()
	case c == '}' || c == ']' || c == ',' || c == ':':
		err = errBroken
	default:
		err = s.scalar()
	}
	n.end = s.pos
	if err != nil && len(n.kids) == 0 {
		return nil, err
	}
	return n, err
}

func (s *scanner) members(n *node, depth int, only string) error {
	s.skip()
	last := byte(']')
	if n.kind == '{' {
		last = '}'
	}
	for {
		c, err := s.peek()
		if err != nil {
			return err
		}
		switch c {
		case last:
			s.skip()
			return nil
		case ',':
			s.skip()
			continue
		case '}', ']', ':':
			return errBroken
		}
		key := ""
		if n.kind == '{' {
			if c != '"' {
				return errBroken
			}
			var raw []byte
			if err := s.str(&raw); err != nil {
				return err
			}
			key = s.name(raw)
			if c, err = s.peek(); err != nil {
				return err
			}
			if c != ':' {
				return errBroken
			}
			s.skip()
		}
		deeper := depth - 1
		if only != "" && key != only {
			deeper = 0
		}
		kid, err := s.value(deeper, "")
		if kid != nil {
			n.add(key, kid)
		}
		if err != nil {
			return err
		}
	}
}

// str consumes a string; its raw text, quotes included, goes to kept.
func (s *scanner) str(kept *[]byte) error {
	s.take(kept, 1)
	odd := false // the last byte was a backslash that escapes the next one
	for {
		b, err := s.chunk()
		if err != nil {
			return err
		}
		from := 0
		for {
			j := bytes.IndexByte(b[from:], '"')
			end := len(b)
			if j >= 0 {
				end = from + j
			}
			slashes := 0
			for k := end - 1; k >= from && b[k] == '\\'; k-- {
				slashes++
			}
			escaped := slashes%2 == 1
			if slashes == end-from && odd {
				escaped = !escaped
			}
			if j < 0 {
				odd = escaped
				s.take(kept, len(b))
				break
			}
			odd = false
			if !escaped {
				s.take(kept, end+1)
				return nil
			}
			from = end + 1
		}
	}
}

// chunk returns the bytes in the buffer, at least one.
func (s *scanner) chunk() ([]byte, error) {
	if s.r.Buffered() == 0 {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := s.r.Peek(1); err != nil {
			return nil, s.fail(err)
		}
	}
	return s.r.Peek(s.r.Buffered())
}

func (s *scanner) take(kept *[]byte, n int) {
	if kept != nil {
		b, _ := s.r.Peek(n)
		*kept = append(*kept, b[:min(len(b), max(0, maxKey-len(*kept)))]...)
	}
	_, _ = s.r.Discard(n)
	s.pos += int64(n)
}

// nested consumes an object or array without looking at what is inside.
func (s *scanner) nested() error {
	var stack []byte
	for {
		b, err := s.chunk()
		if err != nil {
			return err
		}
		i := 0
	bytes:
		for ; i < len(b); i++ {
			switch c := b[i]; c {
			case '"':
				break bytes
			case '{', '[':
				if len(stack) >= maxNest {
					return errBroken
				}
				stack = append(stack, c+2) // the closing bracket
			case '}', ']':
				if stack[len(stack)-1] != c {
					s.take(nil, i)
					return errBroken
				}
				if stack = stack[:len(stack)-1]; len(stack) == 0 {
					s.take(nil, i+1)
					return nil
				}
			}
		}
		s.take(nil, i)
		if i < len(b) {
			if err := s.str(nil); err != nil {
				return err
			}
		}
	}
}

// scalar consumes a number or a literal.
func (s *scanner) scalar() error {
	for n := 0; ; n++ {
		c, err := s.r.ReadByte()
		if err != nil {
			if err = s.fail(err); errors.Is(err, errTorn) && n > 0 {
				return nil // the end of the range ends a number
			}
			return err
		}
		switch {
		case c == ',' || c == '}' || c == ']' || c <= ' ':
			return s.r.UnreadByte()
		case c == '"' || c == '{' || c == '[' || c == ':' || n > 64:
			return errBroken
		}
		s.pos++
	}
}
