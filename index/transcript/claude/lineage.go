package claude

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
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
	file    string // the parent's, when records were copied from it
}

// lineage finds out whose copy the beginning of a main file is.
func (c *familyCache) lineage(ctx context.Context, root string, p place, id string) (lineage, error) {
	h := c.head(p.path)
	if h.forked {
		return c.forked(ctx, root, p, id)
	}
	none := lineage{}
	if h.session != id && filepath.Base(h.session) == h.session && h.session != "" {
		none.foreign = h.session
	}
	if len(h.keys) == 0 || len(c.relatives(p.path, h)) == 0 {
		return none, nil
	}
	family, err := c.family(ctx, p, id)
	if err != nil {
		return lineage{}, err
	}
	me := family[0]
	rank := c.rank(family)
	var best *member
	shared := 0
	for _, m := range family[1:] {
		if rank[m.id] > rank[id] {
			continue
		}
		n := me.leading(m)
		if n > shared || n > 0 && n == shared && rank[m.id] < rank[best.id] {
			best, shared = m, n
		}
	}
	if best == nil {
		return none, nil
	}
	return lineage{
		parent: best.id, relation: transcript.RelationFork, evidence: transcript.EvidenceOverlap, copied: shared, lead: shared, known: true,
		file: best.path,
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
	if l.file = mainFile(root, filepath.Dir(p.path), l.parent); l.parent != "" && l.file == "" {
		// Nobody else has these messages: they are found here or nowhere.
		l.copied, l.known = 0, false
		l.warning = "the session it was forked from is gone; the copied messages count as its own"
	}
	return l, nil
}

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
