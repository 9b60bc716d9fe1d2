package claude

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// Copies of a conversation are told by the records they share: a background
// hand-off, --fork-session and the --resume of 2025 write every record that has
// a uuid again under a new session id, mostly without a word about where it
// came from (formats.md §3, Lineage). A record is the same when uuid, type and
// message are.

const (
	headBytes    = 256 << 10 // of a file, looked at for its first records
	headKeys     = 4         // first records that make files relatives
	maxFolders   = 1024      // folders remembered; a build goes from one to the next, newest file first
	maxScanned   = 500_000   // record keys remembered of whole files
	maxRanks     = 64        // families whose order is remembered
	maxRelatives = 64        // relatives of one file that are compared
	maxTold      = 20_000    // summaries remembered of a folder's files
	recheck      = time.Second
	// A folder listed within settle of its last change may have changed again
	// in the same tick of its clock; it is listed anew, but not more often than
	// relist.
	settle = 2 * time.Second
	relist = 100 * time.Millisecond
)

// head is what the first records of a file tell.
type head struct {
	session string           // first sessionId
	keys    []uint64         // of the first records with a uuid
	told    []pendingSummary // of other sessions, which releases of 2025 wrote at the head of a new file
	forked  bool             // one of them carries forkedFrom
	bg      bool             // the first of them was written by a background process
}

// scan is the shape of a whole file, record by record with a uuid.
type scan struct {
	head
	all   []uint64
	turns []bool  // a user or assistant record
	times []int64 // Unix milliseconds, 0 unknown
	gaps  []int32 // records without uuid before each
	index map[uint64]struct{}
}

type familyCache struct {
	mu      sync.Mutex
	seed    maphash.Seed
	folders map[string]*folder
	scans   map[string]*scan // by path, size and time
	scanned int
	ranks   map[string]map[string]int // by the members' scans: id → place in the order
}

// folder remembers the heads of a project folder's main files.
type folder struct {
	mod     time.Time
	listed  time.Time
	checked time.Time
	id      map[string]string // name → file identity
	byKey   map[uint64][]string
	told    map[uint64]string // summaries that files have of others, by the last message of what they sum up
	lent    bool              // a reading has told: it is replaced, not changed
	pending map[string]int64  // files without a record so far, with the size seen
}

// key identifies a record that was copied as it stood.
func (c *familyCache) key(r *record) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	_, _ = h.Write(r.uuid)
	_, _ = h.WriteString(r.typ)
	if r.message != nil {
		_, _ = h.Write(r.message)
	} else {
		_, _ = h.Write(r.time)
	}
	return h.Sum64()
}

// head reads the first records of a file; what cannot be read tells nothing.
func (c *familyCache) head(path string) head {
	var h head
	f, err := transcript.OpenFile(path)
	if err != nil {
		return h
	}
	defer f.Close()
	first := true
	_ = c.each(context.Background(), f, min(f.Size, headBytes), func(r *record) bool {
		if h.session == "" && len(r.session) < 256 {
			h.session = str(r.session)
		}
		if idHash(r.uuid) == 0 {
			if leaf := idHash(r.leaf); leaf != 0 && r.typ == "summary" && len(h.told) < maxPending {
				if text := transcript.CleanTitle(str(r.title)); text != "" {
					h.told = append(h.told, pendingSummary{Leaf: leaf, candidate: candidate{Text: text}})
				}
			}
			return true
		}
		h.forked = h.forked || r.forked.Kind() == jsonv.Object
		if first {
			first = false
			h.bg = r.kind.IsStr("bg")
		}
		h.keys = append(h.keys, c.key(r))
		return len(h.keys) < headKeys
	})
	return h
}

// each calls f for the records of the first end bytes until it returns false.
func (c *familyCache) each(ctx context.Context, f io.Reader, end int64, use func(r *record) bool) error {
	lines := transcript.NewLines(f, 0, end, skipMembers...)
	var r record
	for {
		rec, err := lines.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		parse(rec.Value, &r)
		if !use(&r) {
			return nil
		}
	}
}

// relatives are the names of the other main files in path's folder that share
// one of the first records, and of the one whose id those records carry.
func (c *familyCache) relatives(path string, h head) []string {
	dir, self := filepath.Split(path)
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.folder(filepath.Clean(dir))
	seen := map[string]bool{self: true}
	var out []string
	if name := h.session + ext; h.session != "" && !seen[name] && d.id[name] != "" {
		seen[name] = true
		out = append(out, name)
	}
	for _, k := range h.keys {
		for _, name := range d.byKey[k] {
			if !seen[name] && len(out) < maxRelatives {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	return out
}

// summaries are those that the files of a folder have at their heads. A release of
// 2025 that began a session wrote there what the sessions before it were about,
// and nothing into their own files. One that comes after its session was read
// names it when that is read again.
func (c *familyCache) summaries(dir string) map[uint64]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.folder(filepath.Clean(dir))
	d.lent = d.told != nil
	return d.told
}

// folder brings what is known of a folder up to date. A folder's time changes
// when files come and go.
func (c *familyCache) folder(dir string) *folder {
	d := c.folders[dir]
	info, err := os.Stat(dir)
	if err != nil {
		return &folder{}
	}
	if d == nil {
		if len(c.folders) >= maxFolders {
			c.folders = nil
		}
		if c.folders == nil {
			c.folders = map[string]*folder{}
		}
		d = &folder{id: map[string]string{}, byKey: map[uint64][]string{}, pending: map[string]int64{}}
		c.folders[dir] = d
	}
	now := time.Now()
	if !info.ModTime().Equal(d.mod) || d.listed.Sub(d.mod) < settle && now.Sub(d.listed) >= relist {
		d.mod, d.listed = info.ModTime(), now
		c.list(dir, d)
	}
	if now.Sub(d.checked) >= recheck {
		d.checked = now
		for name, size := range d.pending {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil || info.Size() == size {
				continue
			}
			delete(d.pending, name)
			c.enter(dir, d, name, info.Size())
		}
	}
	return d
}

func (c *familyCache) list(dir string, d *folder) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ext) || strings.HasPrefix(name, agentPrefix) {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		id := transcript.FileID(info)
		if have, known := d.id[name]; known && have == id {
			continue
		}
		d.id[name] = id
		c.enter(dir, d, name, info.Size())
	}
}

func (c *familyCache) enter(dir string, d *folder, name string, size int64) {
	h := c.head(filepath.Join(dir, name))
	if len(h.told) > 0 && len(d.told) < maxTold {
		if d.lent {
			d.told, d.lent = maps.Clone(d.told), false
		}
		if d.told == nil {
			d.told = map[uint64]string{}
		}
		for _, s := range h.told {
			d.told[s.Leaf] = s.Text
		}
	}
	if len(h.keys) == 0 {
		d.pending[name] = size
		return
	}
	for _, k := range h.keys {
		d.byKey[k] = append(d.byKey[k], name)
	}
}

// scan reads a whole file's record keys, or takes them from an earlier time.
func (c *familyCache) scan(ctx context.Context, path string) (s *scan, id string, err error) {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	id = path + "\x00" + transcript.Signature(f.Info)
	c.mu.Lock()
	s = c.scans[id]
	c.mu.Unlock()
	if s != nil {
		return s, id, nil
	}
	s = &scan{index: map[uint64]struct{}{}}
	gaps := int32(0)
	err = c.each(ctx, f, f.Size, func(r *record) bool {
		if s.session == "" && len(r.session) < 256 {
			s.session = str(r.session)
		}
		if idHash(r.uuid) == 0 {
			gaps++
			return true
		}
		if len(s.all) == 0 {
			s.bg = r.kind.IsStr("bg")
		}
		s.forked = s.forked || len(s.all) < headKeys && r.forked.Kind() == jsonv.Object
		var ms int64
		if t := transcript.ParseTime(r.time); !t.IsZero() {
			ms = t.UnixMilli()
		}
		k := c.key(r)
		s.index[k] = struct{}{}
		s.all, s.turns = append(s.all, k), append(s.turns, r.conversation())
		s.times, s.gaps = append(s.times, ms), append(s.gaps, gaps)
		return len(s.all) < maxScanned
	})
	if err != nil {
		return nil, "", err
	}
	s.keys = s.all[:min(len(s.all), headKeys)]
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.scanned += len(s.all); c.scanned > maxScanned || c.scans == nil {
		c.scans, c.scanned = map[string]*scan{}, len(s.all)
	}
	c.scans[id] = s
	return s, id, nil
}

// mainFile finds a session's main file, in dir or in another project folder
// below root; "" if there is none.
func mainFile(root, dir, session string) string {
	if session != filepath.Base(session) {
		return ""
	}
	is := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Mode().IsRegular()
	}
	if path := filepath.Join(dir, session+ext); is(path) {
		return path
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 && !e.IsDir() {
			continue
		}
		if path := filepath.Join(root, e.Name(), session+ext); is(path) {
			return path
		}
	}
	return ""
}

// positions maps the records of a main file that have a uuid to their places in
// its session, for links from copies. What cannot be read has none.
func (c *familyCache) positions(ctx context.Context, path string) (map[uint64]int32, error) {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return nil, nil // gone since: the links are left out
	}
	defer f.Close()
	at, seq := map[uint64]int32{}, int32(0)
	_ = c.each(ctx, f, f.Size, func(r *record) bool { // a damaged end: what was seen before it counts
		if r.sidechain {
			return true // of an inline sub-agent's session
		}
		if id := idHash(r.uuid); id != 0 {
			if _, twice := at[id]; !twice {
				at[id] = seq
			}
		}
		seq++
		return len(at) < maxNodes
	})
	return at, ctx.Err()
}
