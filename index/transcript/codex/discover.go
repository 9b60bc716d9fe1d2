package codex

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/sessionls/sessionls/index/transcript"
)

// fileID takes the thread id from the end of a rollout's name.
var fileID = regexp.MustCompile(`([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})$`)

// depth of YYYY/MM/DD below sessions, and one folder more.
const depth = 4

type rollout struct {
	path     string
	info     fs.FileInfo
	id       string
	zst      bool
	archived bool
	size     int64 // plain size
	exact    bool  // size is not an estimate
}

// Discover implements transcript.Reader.
func (rd Reader) Discover(ctx context.Context, env transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) error {
	if _, err := os.Stat(root.Path); err != nil {
		return fmt.Errorf("look for Codex sessions: %w", err)
	}
	dirs, home := places(root)
	var all []rollout
	copies := map[string]int{}
	for _, dir := range dirs {
		err := root.Walk(ctx, dir, depth, func(path string, info fs.FileInfo) error {
			r, ok := asRollout(path, info)
			if ok {
				all = append(all, r)
				copies[r.id]++
			}
			return nil
		}, report)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			report(dir, err)
		}
	}
	if len(all) == 0 {
		return nil
	}
	var ids []string
	if root.Only != "" && len(copies) <= fewThreads {
		ids = slices.Collect(maps.Keys(copies))
	}
	known := rd.names(ctx, env, home, ids, report)
	for _, r := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.zst && !r.exact && (copies[r.id] > 1 || root.Only != "") {
			// Only a thread with several files needs the true length, to
			// tell which of them is longer. There may be more than are looked
			// at here.
			if n, err := plainSize(ctx, r.path); err == nil {
				r.size = n
			}
		}
		if err := yield(r.source(root, known[r.id])); err != nil {
			return err
		}
	}
	return nil
}

func asRollout(path string, info fs.FileInfo) (rollout, bool) {
	r := rollout{path: path, info: info, size: info.Size(), exact: true}
	name, zst := strings.CutSuffix(filepath.Base(path), ".zst")
	stem, ok := strings.CutSuffix(name, ".jsonl")
	if !ok || stem == "history" || stem == "session_index" {
		return r, false
	}
	r.id = strings.ToLower(fileID.FindString(stem))
	r.zst = zst
	r.archived = isArchived(path)
	if zst {
		r.size, r.exact = frameSize(path, info.Size())
	}
	return r, true
}

func isArchived(path string) bool {
	return strings.Contains(filepath.ToSlash(path), "/"+archiveDir+"/")
}

// source describes a rollout. Of several files of one thread the one with the
// longer text must be read, whatever its form; of equally long ones the plain
// before the compressed and the live before the archived. Class is compared first, so it carries both: the
// plain size above, the form in its last two bits.
func (r rollout) source(root transcript.Root, n names) transcript.Source {
	form := 0
	if !r.archived {
		form += 2
	}
	if !r.zst {
		form++
	}
	hint := n.hint()
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, hint)
	return transcript.Source{
		Agent: agentID, Path: r.path, Root: root.Path, SessionID: r.id,
		Class: int(min(r.size, math.MaxInt/8))*4 + form, Size: r.size, ModTime: r.info.ModTime(),
		Signature: fmt.Sprintf("%s|%x", transcript.Signature(r.info), sum.Sum64()),
		Hint:      hint,
	}
}

// ratio is the compression assumed where a frame does not say its content's
// size; maxRatio the most that zstd reaches, so that a forged header is not believed.
const (
	ratio    = 5
	maxRatio = 40000
)

// frameSize returns the plain size of a zstd file as its first frame states
// it, else an estimate.
func frameSize(path string, size int64) (n int64, exact bool) {
	estimate := size * ratio
	f, err := os.Open(path)
	if err != nil {
		return estimate, false
	}
	defer f.Close()
	buf := make([]byte, zstd.HeaderMaxSize)
	got, _ := io.ReadFull(f, buf)
	var h zstd.Header
	if err := h.Decode(buf[:got]); err != nil || !h.HasFCS || h.FrameContentSize > uint64(size)*maxRatio {
		return estimate, false
	}
	return int64(h.FrameContentSize), true
}

// maxMeasured bounds how far a compressed file is unpacked to learn its size.
const maxMeasured = 4 << 30

func plainSize(ctx context.Context, path string) (int64, error) {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	z, err := transcript.NewZstdReader(f)
	if err != nil {
		return 0, err
	}
	defer z.Close()
	n, err := io.Copy(io.Discard, io.LimitReader(&ctxReader{ctx, z}, maxMeasured))
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil && n == 0 {
		return 0, fmt.Errorf("unpack %s: %w", path, err)
	}
	return n, nil
}

// ctxReader ends reading when its context does.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// hint is what Read needs of the titles found outside the rollout.
func (n names) hint() string {
	if n == (names{}) {
		return ""
	}
	b, err := json.Marshal(n)
	if err != nil {
		return ""
	}
	return string(b)
}
