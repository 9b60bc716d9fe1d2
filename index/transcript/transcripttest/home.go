package transcripttest

import (
	"database/sql"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"github.com/sessionls/sessionls/index/transcript"
)

// Home copies a sample home to a fresh folder and makes the databases of which
// it holds the SQL.
func Home(t testing.TB, samples string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS(samples)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
		to, ok := strings.CutSuffix(path, ".sql")
		if err != nil || !ok {
			return err
		}
		script, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		Database(t, to, string(script))
		return os.Remove(path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// Database runs SQL on the database at path, made if it is not there.
func Database(t testing.TB, path, script string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path+"?_synchronous=OFF")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
}

// Said lists who said what, in order: the prose of a session.
func (s *Session) Said() string {
	var out []string
	for _, e := range s.Events {
		for _, p := range e.Parts {
			if p.Kind == transcript.Prose {
				out = append(out, string(e.Role)+": "+p.Text)
			}
		}
	}
	return strings.Join(out, " | ")
}

// Steps makes n byte counts up to most, for Grows.
func Steps(seed uint64, n, most int) []int {
	rnd := rand.New(rand.NewPCG(seed, 7))
	steps := make([]int, n)
	for i := range steps {
		steps[i] = 1 + rnd.IntN(most)
	}
	return steps
}
