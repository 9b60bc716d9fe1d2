package transcript

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{"b.jsonl", "x/a.jsonl", "x/y/deep.jsonl", "x/y/z/deeper.jsonl"} {
		path := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"a-loop": dir, "a-copy.jsonl": filepath.Join(dir, "b.jsonl"), "dangling": filepath.Join(dir, "nowhere")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no symlinks here")
		}
	}
	for depth, want := range []string{"a-copy.jsonl", "a-copy.jsonl x/a.jsonl", "a-copy.jsonl x/a.jsonl x/y/deep.jsonl"} {
		var got []string
		err := Walk(context.Background(), dir, depth, func(path string, _ fs.FileInfo) error {
			rel, err := filepath.Rel(dir, path)
			got = append(got, filepath.ToSlash(rel))
			return err
		}, func(path string, err error) { t.Errorf("%s: %v", path, err) })
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("depth %d: %v, %v, want %s", depth, got, err, want)
		}
	}
	nothing := func(string, fs.FileInfo) error { return nil }
	if err := Walk(context.Background(), filepath.Join(dir, "none"), 1, nothing, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
	if err := Walk(context.Background(), filepath.Join(dir, "b.jsonl"), 1, nothing, nil); err == nil {
		t.Error("a file is no folder")
	}
	stop := errors.New("stop")
	if err := Walk(context.Background(), dir, 2, func(string, fs.FileInfo) error { return stop }, nil); !errors.Is(err, stop) {
		t.Errorf("the caller's error: %v", err)
	}
}

func TestHeads(t *testing.T) {
	long := strings.Repeat("l", 3*HeadSize)
	text := "one\n" + long + "\n\nlast"
	var heads, offsets, lengths []int
	err := Heads(context.Background(), strings.NewReader(text), 100, func(head []byte, offset, length int64) bool {
		heads, offsets, lengths = append(heads, len(head)), append(offsets, int(offset)), append(lengths, int(length))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	n := len(long) + 1
	if !slices.Equal(heads, []int{4, HeadSize, 1, 4}) || !slices.Equal(offsets, []int{100, 104, 104 + n, 105 + n}) || !slices.Equal(lengths, []int{4, n, 1, 4}) {
		t.Errorf("heads %v, offsets %v, lengths %v", heads, offsets, lengths)
	}
}
