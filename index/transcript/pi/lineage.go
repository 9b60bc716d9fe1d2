package pi

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// A fork copies entries with their ids. The copied part ends at the first
// entry whose id the parent does not have.

// parentFile is what is read of a parent's file.
type parentFile struct {
	id  string              // of its header line, else of its name
	ids map[uint64]struct{} // of its entries; lines without id by their bytes
}

// maxIDs and maxParent bound what is read of a parent: entries and bytes.
const (
	maxIDs    = 1 << 20
	maxParent = 4 << 30
)

// entryKey identifies an entry across files: its id, or its line when it has
// none (v1). head is the line, at most transcript.HeadSize bytes of it.
func entryKey(id string, head []byte) uint64 {
	if id != "" {
		return transcript.Hash("#" + id)
	}
	return transcript.Hash(string(trimLine(head)))
}

// entryID reads the id of an entry, which one form of the harness wraps.
func entryID(v jsonv.Value) string {
	if e := v.Get("entry"); e.Kind() == jsonv.Object {
		return e.Get("id").Str()
	}
	return v.Get("id").Str()
}

func trimLine(line []byte) []byte {
	line = line[:min(len(line), transcript.HeadSize)]
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}

// findParent returns the file a recorded parent stands for: a path, which may have moved
// with its folder, or an id (v4). "" when it is not there. A path outside the
// places of sessions is not looked at, whatever a transcript names: it may be one
// of another machine, and asking for it costs where folders are mounted on demand.
func (s *session) findParent() string {
	if s.Parent == "" {
		return ""
	}
	path := filepath.Clean(filepath.FromSlash(strings.ReplaceAll(s.Parent, `\`, "/")))
	isFile := func(p string) bool {
		info, err := os.Stat(p)
		return err == nil && info.Mode().IsRegular() && p != s.src.Path
	}
	if filepath.IsAbs(path) {
		for _, root := range (Reader{}).Roots(s.env) {
			if transcript.Within(root.Path, path) && isFile(path) {
				return path
			}
		}
	}
	base := filepath.Base(path)
	literal := transcript.GlobLiteral
	pattern := literal(base)
	if !strings.HasSuffix(base, ".jsonl") {
		pattern = "*" + pattern + ".jsonl" // an id: with or without a time before it
	}
	for _, dir := range []string{literal(filepath.Dir(s.src.Path)), literal(s.src.Root), filepath.Join(literal(s.src.Root), "*")} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err == nil {
			for _, p := range found {
				if isFile(p) {
					return p
				}
			}
		}
	}
	return ""
}

// readParent reads the ids in a parent's file.
func readParent(ctx context.Context, path string) (*parentFile, error) {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return nil, fmt.Errorf("read parent: %w", err)
	}
	defer f.Close()
	p := &parentFile{id: fileID(strings.TrimSuffix(filepath.Base(path), ".jsonl")), ids: map[uint64]struct{}{}}
	err = transcript.Heads(ctx, io.LimitReader(f, min(f.Size, maxParent)), 0, func(head []byte, offset, _ int64) bool {
		v := jsonv.Parse(head)
		if isHeader(v) {
			if id := v.Get("id").Str(); id != "" {
				p.id = transcript.CleanWord(id)
			}
			return true
		}
		v.Items(func(w jsonv.Value) { p.ids[entryKey(entryID(w), head)] = struct{}{} })
		return len(p.ids) < maxIDs
	})
	if err != nil {
		return nil, fmt.Errorf("read parent: %w", err)
	}
	return p, nil
}

// lookUpParent reads the parent when it is needed: to name it, or to tell copied entries.
func (s *session) lookUpParent() error {
	path := s.findParent()
	if path != "" {
		p, err := readParent(s.ctx, path)
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if err == nil {
			s.parent = p
			if s.links != nil && transcript.WantsLinks(s.links.out) {
				s.links.originals = positions(s.ctx, path)
			}
		}
	}
	h := &s.Header
	s.Found = s.parent != nil
	s.Leading = s.Found
	h.InheritedKnown = s.Found
	if s.Found {
		h.ParentID = s.parent.id
		return nil
	}
	h.Warn("the parent's transcript was not found: copied events may count as this session's own")
	return nil
}

// stale reports whether the parent's file has turned up since the carry-over
// was written. While all entries are copied ones its ids are needed again.
func (s *session) stale() (bool, error) {
	if s.Parent == "" {
		return false, nil
	}
	if !s.Found {
		return s.findParent() != "", nil
	}
	if !s.Leading {
		return false, nil
	}
	path := s.findParent()
	if path == "" {
		return true, nil
	}
	p, err := readParent(s.ctx, path)
	if s.ctx.Err() != nil {
		return false, s.ctx.Err()
	}
	s.parent = p
	return err != nil, nil
}

// copiedEntry reports whether an entry belongs to the copied beginning.
func (s *session) copiedEntry(id string, line []byte) bool {
	if !s.Leading {
		s.Own = true
		return false
	}
	key := entryKey(id, line)
	if _, ok := s.parent.ids[key]; ok {
		s.links.copied(key)
		return true
	}
	s.Leading, s.Own = false, true
	return false
}
