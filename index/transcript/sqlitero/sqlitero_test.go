package sqlitero

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// create makes a database with one table of n rows and returns the open writer.
func create(t *testing.T, path, journal string, n int) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", "file://"+strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23").Replace(path)+"?_journal_mode="+journal+"&_busy_timeout=5000&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	exec(t, db, "PRAGMA synchronous=OFF")
	exec(t, db, "PRAGMA wal_autocheckpoint=0")
	exec(t, db, "CREATE TABLE t (id INTEGER PRIMARY KEY, Data TEXT)")
	for i := range n {
		exec(t, db, "INSERT INTO t VALUES (?, ?)", i, fmt.Sprint("row ", i))
	}
	return db
}

func exec(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

// files hashes everything in a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(b))
	}
	return out
}

// sameFiles fails when anything but the content of a -shm differs.
func sameFiles(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	after := files(t, dir)
	for name := range before {
		if strings.HasSuffix(name, "-shm") && after[name] != "" {
			after[name] = before[name]
		}
	}
	if !maps.Equal(before, after) {
		t.Errorf("files of the agent changed: before %v, after %v", before, after)
	}
}

func count(t *testing.T, d *DB) int {
	t.Helper()
	var n int
	if err := d.QueryRow(context.Background(), "SELECT count(*) FROM t").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func noCopiesLeft(t *testing.T) {
	t.Helper()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Cleanup(func() {
		if left, _ := os.ReadDir(tmp); len(left) > 0 {
			t.Errorf("private copies left behind: %v", left)
		}
	})
}

// clone copies a database's files as they stand, the way a crash or a backup
// leaves them.
func clone(t *testing.T, path string, suffixes ...string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "store.db")
	for _, s := range append([]string{""}, suffixes...) {
		b, err := os.ReadFile(path + s)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+s, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// Every state in which an agent may leave its store is read in full, and its
// folder afterwards holds the same files with the same bytes.
func TestOpenLeavesNoTrace(t *testing.T) {
	live := filepath.Join(t.TempDir(), "live.db")
	create(t, live, "WAL", 40) // stays open: all rows are in the -wal only
	quiet := filepath.Join(t.TempDir(), "quiet.db")
	create(t, quiet, "WAL", 40).Close() // checkpointed, no side files
	rollback := filepath.Join(t.TempDir(), "rollback.db")
	create(t, rollback, "DELETE", 40)
	odd := filepath.Join(t.TempDir(), "odd%41 ?#&;ä.db")
	create(t, odd, "WAL", 40).Close()
	empty := clone(t, quiet)
	if err := os.WriteFile(empty+"-wal", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(live, link); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name, path string
		mode       mode
	}{
		{"owner has it open, rows in the WAL only", live, readOnly},
		{"met through a link", link, readOnly},
		{"crashed owner, WAL and shm left", clone(t, live, "-wal", "-shm"), readOnly},
		{"WAL without shm", clone(t, live, "-wal"), copied},
		{"closed", quiet, immutable},
		{"empty WAL", empty, immutable},
		{"rollback journal mode", rollback, immutable},
		{"a path full of URI syntax", odd, immutable},
	} {
		t.Run(c.name, func(t *testing.T) {
			noCopiesLeft(t)
			before := files(t, filepath.Dir(c.path))
			d, err := Open(context.Background(), c.path)
			if err != nil {
				t.Fatal(err)
			}
			if d.mode != c.mode {
				t.Errorf("mode %d, want %d", d.mode, c.mode)
			}
			if n := count(t, d); n != 40 {
				t.Errorf("%d rows, want 40", n)
			}
			if _, err := d.Query(context.Background(), "DELETE FROM t"); err == nil {
				t.Error("a write was accepted")
			}
			if !d.Unchanged() {
				t.Error("Unchanged is false though nobody wrote")
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			sameFiles(t, filepath.Dir(c.path), before)
		})
	}
}

func TestFolderWithoutWritePermission(t *testing.T) {
	noCopiesLeft(t)
	live := filepath.Join(t.TempDir(), "live.db")
	create(t, live, "WAL", 7)
	for _, suffixes := range [][]string{{"-wal", "-shm"}, {"-wal"}, nil} {
		path := clone(t, live, suffixes...)
		dir := filepath.Dir(path)
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
		before := files(t, dir)
		d, err := Open(context.Background(), path)
		if err != nil {
			t.Fatalf("%v: %v", suffixes, err)
		}
		want := 7
		if suffixes == nil {
			want = 0 // without its WAL the file has not even the table
			if cols, err := d.Columns(context.Background(), "t"); err != nil || len(cols) != 0 {
				t.Errorf("columns %v, %v", cols, err)
			}
		} else if n := count(t, d); n != want {
			t.Errorf("%v: %d rows, want %d", suffixes, n, want)
		}
		d.Close()
		sameFiles(t, dir, before)
	}
}

func TestRefused(t *testing.T) {
	noCopiesLeft(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := filepath.Join(t.TempDir(), "good.db")
	create(t, good, "DELETE", 2000).Close()
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		missing    bool
	}{
		{"missing file", filepath.Join(dir, "none.db"), true},
		{"missing folder", filepath.Join(dir, "no", "none.db"), true},
		{"folder", dir, false},
		{"text", write("text.db", strings.Repeat("no database ", 500)), false},
		{"header only", write("head.db", string(b[:100])), false},
		{"first page damaged", write("page.db", string(b[:100])+strings.Repeat("\xff", len(b)-100)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := names(t, dir)
			d, err := Open(context.Background(), c.path)
			if err == nil {
				d.Close()
				t.Fatal("opened")
			}
			if errors.Is(err, fs.ErrNotExist) != c.missing {
				t.Errorf("error %v", err)
			}
			if after := names(t, dir); !slices.Equal(before, after) {
				t.Errorf("files before %v, after %v", before, after)
			}
		})
	}
}

func names(t *testing.T, dir string) []string {
	return slices.Sorted(maps.Keys(files(t, dir)))
}

// A store that must be copied is copied once for all its sessions, and again
// when it changed.
func TestCache(t *testing.T) {
	noCopiesLeft(t)
	live := filepath.Join(t.TempDir(), "live.db")
	create(t, live, "WAL", 5)
	path := clone(t, live, "-wal")
	var c Cache
	open := func() (*DB, error) { return c.Open(context.Background(), path) }
	one, err := open()
	if err != nil {
		t.Fatal(err)
	}
	two, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if one.Close(); count(t, two) != 5 {
		t.Error("closing one user took the copy from the other")
	}
	one.Close() // closing twice counts once
	if count(t, two) != 5 {
		t.Error("closing twice took the copy from the other")
	}
	two.Close()
	// The same state, by all that can be seen of it: the copy still serves.
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, len(good)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	three, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer three.Close()
	if count(t, three) != 5 {
		t.Error("the copy was not kept")
	}
	// A change that can be seen: a new copy, while the old one is in use.
	if err := os.WriteFile(path, good, 0o644); err != nil {
		t.Fatal(err)
	}
	four, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer four.Close()
	if count(t, three) != 5 || count(t, four) != 5 || three.db == four.db {
		t.Error("the change was not noticed")
	}
	// What is not copied is not kept.
	if d, err := c.Open(context.Background(), live); err != nil || d.release != nil {
		t.Errorf("a database read in place: %+v, %v", d, err)
	} else {
		d.Close()
	}
	if _, err := c.Open(context.Background(), path+".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	var none *Cache
	if d, err := none.Open(context.Background(), path); err != nil {
		t.Error(err)
	} else {
		d.Close()
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				d, err := open()
				if err != nil {
					t.Error(err)
					return
				}
				var n int
				if err := d.QueryRow(context.Background(), "SELECT count(*) FROM t").Scan(&n); err != nil || n != 5 {
					t.Errorf("%d rows, %v", n, err)
				}
				d.Close()
			}
		})
	}
	wg.Wait()
}

// A damaged page deep inside is an error of the query that meets it.
func TestDamagedInside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	create(t, path, "DELETE", 3000).Close()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(b) / 2; i < len(b); i++ {
		b[i] = 0xff
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var n int
	if err := d.QueryRow(context.Background(), "SELECT sum(length(data)) FROM t").Scan(&n); err == nil {
		t.Errorf("read %d from a damaged table", n)
	}
}

// An owner that writes all the time neither disturbs the reader nor is
// disturbed by it, and each query sees one committed state.
func TestLiveWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.db")
	w := create(t, path, "WAL", 0)
	exec(t, w, "PRAGMA wal_autocheckpoint=20")
	exec(t, w, "INSERT INTO t VALUES (0,'x'),(1,'x')")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 2; ; i += 2 {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := w.Exec("INSERT INTO t VALUES (?,'x'),(?,'x')", i, i+1); err != nil {
				t.Errorf("the owner was disturbed: %v", err)
				return
			}
		}
	})
	last := 0
	for range 60 {
		d, err := Open(context.Background(), path)
		if err != nil {
			t.Errorf("open: %v", err)
			continue
		}
		n := count(t, d)
		if n%2 != 0 {
			t.Errorf("%d rows: half a transaction was seen", n)
		}
		if d.Unchanged() && n < last {
			t.Errorf("%d rows after %d", n, last)
		}
		last = max(last, n)
		d.Close()
	}
	close(stop)
	wg.Wait()
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Errorf("the owner's log is gone: %v", err)
	}
}

func TestUnchangedNoticesAWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	w := create(t, path, "DELETE", 3)
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
	d, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	exec(t, w, "INSERT INTO t VALUES (99,'late')")
	if d.Unchanged() {
		t.Error("a write during the reading went unnoticed")
	}
}

func TestCancelledContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	create(t, path, "DELETE", 3).Close()
	ctx, cancel := context.WithCancel(context.Background())
	d, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	time.AfterFunc(20*time.Millisecond, cancel)
	var n int
	err = d.QueryRow(ctx, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT max(x) FROM c").Scan(&n)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("endless query ended with %v", err)
	}
	if _, err := Open(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("open with a cancelled context: %v", err)
	}
}

func TestColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	create(t, path, "DELETE", 1).Close()
	d, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for table, want := range map[string][]string{"t": {"data", "id"}, "none": nil, `t"; DROP TABLE t; --`: nil} {
		cols, err := d.Columns(context.Background(), table)
		if got := slices.Sorted(maps.Keys(cols)); err != nil || !slices.Equal(got, want) {
			t.Errorf("columns of %s: %v, %v; want %v", table, got, err, want)
		}
	}
}

func TestValue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	w := create(t, path, "DELETE", 0)
	text := strings.Repeat("größer 潮 ", 2<<20) // above one chunk, cut inside runes
	exec(t, w, "INSERT INTO t VALUES (1, ?)", text)
	w.Close()
	d, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const q = "SELECT substr(CAST(data AS BLOB), ?1, ?2) FROM t WHERE id = ?3"
	got, err := io.ReadAll(d.Value(context.Background(), int64(len(text)), q, 1))
	if err != nil || string(got) != text {
		t.Errorf("read %d bytes, %v; want %d", len(got), err, len(text))
	}
	if _, err := io.ReadAll(d.Value(context.Background(), 10, q, 2)); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("a row that is not there: %v", err)
	}
}
