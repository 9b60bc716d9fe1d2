package store

import (
	"encoding/binary"
	"hash/fnv"
	"strings"
	"time"
)

// Project is what a session's folder is called: the last two segments of its
// cwd (one if there is only one), "" if unknown.
func Project(cwd string) string {
	s := strings.Trim(strings.ReplaceAll(cwd, `\`, "/"), "/")
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '/' })
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

func fold(s string) string { return strings.ToLower(s) }

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// joinLines keeps a list in one column with a newline around each element, so
// that membership is a substring test.
func joinLines(list []string) string {
	if len(list) == 0 {
		return ""
	}
	clean := make([]string, len(list))
	for i, s := range list {
		clean[i] = strings.ReplaceAll(s, "\n", " ")
	}
	return "\n" + strings.Join(clean, "\n") + "\n"
}

func splitLines(s string) []string {
	if s = strings.Trim(s, "\n"); s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func hashID(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

func encodeHashes(list []uint64) []byte {
	if len(list) == 0 {
		return nil
	}
	b := make([]byte, 0, 8*len(list))
	for _, h := range list {
		b = binary.BigEndian.AppendUint64(b, h)
	}
	return b
}

func decodeHashes(b []byte) []uint64 {
	out := make([]uint64, 0, len(b)/8)
	for ; len(b) >= 8; b = b[8:] {
		out = append(out, binary.BigEndian.Uint64(b))
	}
	return out
}
