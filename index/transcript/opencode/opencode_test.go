package opencode

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const dataDir = ".local/share/opencode"

// home copies a sample home and builds the databases whose text it holds.
func home(t testing.TB, name string) string {
	t.Helper()
	return transcripttest.Home(t, filepath.Join("..", "..", "..", "testdata", "home", name))
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
