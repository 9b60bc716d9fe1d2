package transcript

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAppendPath(t *testing.T) {
	var files []string
	for _, p := range []string{"a.go", " a.go ", "/w/a.go", "sub/b.go", "", "  ", "two\nlines", "NUL\x00", strings.Repeat("x", 5000), `C:\w\c.go`} {
		files = AppendPath(files, "/w", p)
	}
	if want := []string{"/w/a.go", "/w/sub/b.go", `C:\w\c.go`}; !slices.Equal(files, want) {
		t.Errorf("%q, want %q", files, want)
	}
	for i := range 2 * MaxFiles {
		files = AppendPath(files, "", "/w/"+strings.Repeat("i", i%2000))
	}
	if len(files) != MaxFiles {
		t.Errorf("%d files", len(files))
	}
}

func TestFirstFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sessions"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "agent"), "a file")
	for _, c := range []struct {
		below []string
		want  string
	}{{[]string{"none", "agent", "sessions"}, filepath.Join(dir, "sessions")}, {[]string{"none"}, dir}, {nil, dir}} {
		if got := FirstFolder(dir, c.below...); got != c.want {
			t.Errorf("%q: %s, want %s", c.below, got, c.want)
		}
	}
}

func TestGlobLiteral(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "odd [a]?*")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Skip("no such names here")
	}
	write(t, filepath.Join(dir, "x"), "")
	if found, err := filepath.Glob(filepath.Join(GlobLiteral(dir), "*")); err != nil || len(found) != 1 {
		t.Errorf("%q, %v", found, err)
	}
}
