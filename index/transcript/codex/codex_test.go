package codex_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/sessionls/sessionls/index/transcript/codex"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const samples = "../../../testdata/home/codex"

// home copies the samples and builds their databases.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(samples)); err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob(filepath.Join(dir, ".codex", "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		database(t, strings.TrimSuffix(script, ".sql"), string(text))
	}
	return dir
}

func database(t *testing.T, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
}

func TestGolden(t *testing.T) {
	transcripttest.Golden(t, codex.New(), home(t), "../../../testdata/golden/codex.txt")
}
