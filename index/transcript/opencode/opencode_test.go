package opencode

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const dataDir = ".local/share/opencode"

// home copies a sample home and builds the databases whose text it holds.
func home(t testing.TB, name string) string {
	t.Helper()
	from := filepath.Join("..", "..", "..", "testdata", "home", name)
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".sql") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		database(t, strings.TrimSuffix(path, ".sql"), string(text))
		return os.Remove(path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// database runs SQL text on a database file and closes it.
func database(t testing.TB, path, text string) {
	t.Helper()
	db := open(t, path)
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, path string) *sql.DB {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path+"?_synchronous=OFF")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

func TestGolden(t *testing.T) {
	for _, name := range []string{"opencode", "opencode-next"} {
		t.Run(name, func(t *testing.T) {
			transcripttest.Golden(t, New(), home(t, name), filepath.Join("..", "..", "..", "testdata", "golden", name+".txt"))
		})
	}
}

var _ transcript.Reader = reader{}
