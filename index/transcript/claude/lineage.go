package claude

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
)

// lineage is what is known of a main file's parent before it is read.
type lineage struct {
	parent, event string
	relation      transcript.Relation
	evidence      transcript.Evidence
	copied        int // leading records with a uuid that are the parent's
	lead          int // leading records with a uuid that were copied, whoever owns them
	known         bool
	warning       string
	// foreign is the session id under which the first records were written,
	// when it is another one whose file is not here.
	foreign string
}

// lineage finds out whose copy the beginning of a main file is.
func (c *familyCache) lineage(ctx context.Context, root string, p place, id string) (lineage, error) {
	h := c.head(p.path)
	if h.forked {
		return c.forked(ctx, root, p, id)
	}
	if len(h.keys) == 0 {
		return lineage{}, nil
	}
	dir := filepath.Dir(p.path)
	names := c.relatives(p.path, h.keys)
	foreign := ""
	if h.session != "" && h.session != id && filepath.Base(h.session) == h.session {
		foreign = h.session
		if name := foreign + ext; !slices.Contains(names, name) {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return lineage{foreign: foreign}, nil
	}
	slices.Sort(names)
	mine, err := c.scan(ctx, p.path)
	if err != nil {
		return lineage{}, err
	}
	var best *candidate
	for _, name := range names {
		other := placeOf(filepath.Join(dir, name))
		otherID := other.session
		if otherID == "" {
			otherID = other.stem
		}
		if otherID == id || other.copied {
			continue // a copy of this file, not of its conversation
		}
		theirs, err := c.scan(ctx, other.path)
		if err != nil {
			if ctx.Err() != nil {
				return lineage{}, err
			}
			continue
		}
		cand := compare(id, mine, otherID, theirs)
		if cand == nil || !cand.parent {
			continue
		}
		if best == nil || cand.shared > best.shared || cand.shared == best.shared && owns(cand, best) {
			best = cand
		}
	}
	if best == nil {
		return lineage{foreign: foreign}, nil
	}
	return lineage{
		parent: best.id, relation: transcript.RelationFork, evidence: transcript.EvidenceOverlap, copied: best.shared, lead: best.shared, known: true,
	}, nil
}

// forked reads the prefix of a file whose records carry forkedFrom.
func (c *familyCache) forked(ctx context.Context, root string, p place, id string) (lineage, error) {
	f, err := transcript.OpenFile(p.path)
	if err != nil {
		return lineage{}, err
	}
	defer f.Close()
	l := lineage{relation: transcript.RelationFork, evidence: transcript.EvidenceLine, known: true}
	seen := 0
	err = c.each(ctx, f, f.Size, func(r *record) bool {
		if idHash(r.uuid) == 0 {
			return true
		}
		seen++
		from := str(r.forked.Get("sessionId"))
		if from == "" || from == id || len(from) > 256 {
			return !r.conversation() // the first own turn ends the copy
		}
		l.copied, l.parent, l.event = seen, from, str(r.forked.Get("messageUuid"))
		return true
	})
	if err != nil {
		return lineage{}, err
	}
	l.lead = l.copied
	if l.parent != "" && !mainExists(root, filepath.Dir(p.path), l.parent) {
		// Nobody else has these messages: they are found here or nowhere.
		l.copied, l.known = 0, false
		l.warning = "the session it was forked from is gone; the copied messages count as its own"
	}
	return l, nil
}

// candidate is a relative, seen from the file that asks.
type candidate struct {
	id     string
	scan   *scan
	shared int // leading records of the file that asks which the relative has
	parent bool
}

// compare tells how much of mine begins as a copy of theirs, and who of the two
// is the original. The answer rests on facts that appending does not change,
// so that never both count as the other's copy; nil without a common record.
func compare(id string, mine *scan, otherID string, theirs *scan) *candidate {
	have := make(map[uint64]bool, len(theirs.all))
	for _, k := range theirs.all {
		have[k] = true
	}
	n := 0
	for i, k := range mine.all {
		if have[k] {
			n = i + 1
		} else if mine.turns[i] {
			break // the first own turn ends the copy
		}
	}
	if n == 0 {
		return nil
	}
	c := &candidate{id: otherID, scan: theirs, shared: n}
	c.parent = original(otherID, theirs, id, mine)
	return c
}

// original reports whether a is the original and b the copy.
func original(aID string, a *scan, bID string, b *scan) bool {
	// The copy says so itself.
	if a.forked != b.forked {
		return b.forked
	}
	// Copied records kept the session id they were written under.
	if aNames, bNames := b.session == aID && a.session != bID, a.session == bID && b.session != aID; aNames != bNames {
		return aNames
	}
	// A background process copied; only its records are stamped so.
	if a.bg != b.bg {
		return b.bg
	}
	// Records without uuid, side branches and progress are not copied: only the
	// original has something between the common ones.
	firstA, gapsA := divergence(a, b)
	firstB, gapsB := divergence(b, a)
	if (gapsA > 0) != (gapsB > 0) {
		return gapsA > 0
	}
	// A copy is made of all there is, so the original goes on later or not at all.
	if firstA != firstB {
		return firstA == 0 || firstB != 0 && firstA > firstB
	}
	return aID < bID
}

// divergence returns the time of a's first record after those it has in common
// with b (0: none), and how many records lie between the common ones that b
// lacks.
func divergence(a, b *scan) (first int64, gaps int) {
	have := make(map[uint64]bool, len(b.all))
	for _, k := range b.all {
		have[k] = true
	}
	start, end, common := -1, -1, 0
	for i, k := range a.all {
		if !have[k] {
			continue
		}
		if start < 0 {
			start = i
		}
		end = i
		common++
	}
	if start < 0 {
		return 0, 0
	}
	if end+1 < len(a.all) {
		first = max(a.times[end+1], 1)
	}
	return first, end + 1 - start - common + int(a.gaps[end]-a.gaps[start])
}

// owns decides between two relatives with the same records in common.
func owns(a, b *candidate) bool { return original(a.id, a.scan, b.id, b.scan) }

const (
	ownerTail  = 256 << 10 // of each sibling, where a continued record mostly is
	ownerTotal = 512 << 20 // bytes of siblings read whole
	ownerFiles = 2000
)

// owner finds the session in the same folder that holds the record named by a
// dangling parent, "" if none does.
func (c *familyCache) owner(ctx context.Context, p place, uuid string) (string, error) {
	if len(uuid) < 8 || strings.ContainsAny(uuid, `"\`) {
		return "", nil
	}
	dir := filepath.Dir(p.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", nil // the file itself can be read, so this is no reason to fail
	}
	var names []string
	for _, e := range entries {
		n := e.Name()
		if strings.HasSuffix(n, ext) && !strings.HasPrefix(n, agentPrefix) && n != filepath.Base(p.path) && len(names) < ownerFiles {
			names = append(names, n)
		}
	}
	needle := []byte(`"uuid":"` + uuid + `"`)
	left := int64(ownerTotal)
	for _, whole := range []bool{false, true} {
		for _, n := range names {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			o := placeOf(filepath.Join(dir, n))
			if o.copied || left <= 0 {
				continue
			}
			read, found := holds(o.path, needle, whole, left)
			if whole {
				left -= read
			}
			if found {
				if o.session != "" {
					return o.session, nil
				}
				return o.stem, nil
			}
		}
	}
	return "", nil
}

// holds searches a file's tail, or the whole of it up to limit, for needle.
func holds(path string, needle []byte, whole bool, limit int64) (read int64, found bool) {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	if !whole {
		if _, err := f.Seek(max(0, f.Size-ownerTail), io.SeekStart); err != nil {
			return 0, false
		}
		limit = ownerTail
	}
	r := bufio.NewReaderSize(io.LimitReader(f, limit), 256<<10)
	for {
		b, err := r.Peek(256 << 10)
		if bytes.Contains(b, needle) {
			return read, true
		}
		if err != nil || len(b) <= len(needle) {
			return read + int64(len(b)), false
		}
		n, err := r.Discard(len(b) - len(needle))
		read += int64(n)
		if err != nil && !errors.Is(err, io.EOF) {
			return read, false
		}
	}
}
