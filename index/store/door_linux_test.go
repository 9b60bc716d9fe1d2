package store_test

import (
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/mattn/go-sqlite3"

	"github.com/sessionls/sessionls/index/store"
)

// mapHeld reports whether somebody has the lock that says that the map of a
// database's log is in use. SQLite cuts the map off when it finds nobody has.
func mapHeld(t *testing.T, path string) bool {
	t.Helper()
	// Opening and closing it would give up the locks of this process, so the file
	// stays open until the end; and only this kind of question sees locks of the same process.
	f, err := os.Open(path + "-shm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	const dms = 128 // UNIX_SHM_DMS, the "dead man switch"
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: dms, Len: 1}
	if err := syscall.FcntlFlock(f.Fd(), ofdGetLock, &lock); err != nil {
		t.Skip(err)
	}
	return lock.Type != syscall.F_UNLCK
}

// Locks of open files instead of processes, which the package syscall does not name.
const (
	ofdGetLock = 36 // F_OFD_GETLK
	ofdSetLock = 37 // F_OFD_SETLK
)

// descriptors counts how often this process has a file open.
func descriptors(path string) (n int) {
	list, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range list {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && to == path {
			n++
		}
	}
	return n
}

// newIndex makes an index and leaves it open.
func newIndex(t *testing.T, path string) {
	t.Helper()
	w, err := store.OpenWriter(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	if err := w.Note(ctx, "a", "note"); err != nil {
		t.Fatal(err)
	}
	if !mapHeld(t, path) {
		t.Fatal("the map of an open index is not held")
	}
}

// What the door is for: a connection that opens a database and its map while the
// index is replaced opens the map of the new one, by name. When it closes it,
// the process has lost its lock on that map, because locks of POSIX end with the
// first descriptor that is closed. The next process that opens the index takes
// itself for the first one and cuts the map off, and whoever has it mapped gets
// SIGBUS.
func TestWhatTheDoorIsFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	old, err := store.OpenWriter(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	// The connection is held up between its files by a lock on the database, as
	// SQLite takes them to keep readers out.
	const sharedFirst, sharedSize = 0x40000002, 510
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: sharedFirst, Len: sharedSize}
	if err := syscall.FcntlFlock(file.Fd(), ofdSetLock, &lock); err != nil {
		t.Skip(err)
	}
	opened := make(chan error, 1)
	go func() {
		conn, err := (&sqlite3.SQLiteDriver{}).Open("file:" + path + "?mode=ro&_busy_timeout=60000")
		if err == nil {
			_, err = conn.(driver.ExecerContext).ExecContext(ctx, `SELECT 1 FROM sqlite_schema LIMIT 1`, nil)
			err = errors.Join(err, conn.Close())
		}
		opened <- err
	}()
	for end := time.Now().Add(30 * time.Second); descriptors(path) < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the database is not opened")
		}
	}
	if _, err := store.SetAside(path); err != nil {
		t.Fatal(err)
	}
	newIndex(t, path)
	lock.Type = syscall.F_UNLCK
	if err := syscall.FcntlFlock(file.Fd(), ofdSetLock, &lock); err != nil {
		t.Fatal(err)
	}
	t.Logf("opening the replaced one: %v", <-opened)
	if mapHeld(t, path) {
		t.Error("the lock is still held: SQLite does without the door now")
	}
}

// A connection that came through the door has opened all its files, so replacing
// the index does no harm.
func TestThroughTheDoor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	old, err := store.OpenWriter(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := store.OpenReader(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.SetAside(path); err != nil {
		t.Fatal(err)
	}
	newIndex(t, path)
	if _, _, err := r.Moved(ctx); err != nil {
		t.Errorf("the old one: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if !mapHeld(t, path) {
		t.Error("the lock on the map of the new index is lost")
	}
}

// While somebody is in the door, nobody replaces; while somebody replaces, nobody
// opens.
func TestDoorIsAskedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	newIndex(t, path)
	for _, tc := range []struct {
		name string
		take func(*flock.Flock) error
		do   func() error
	}{
		{"open", (*flock.Flock).Lock, func() error {
			r, err := store.OpenReader(ctx, path)
			if err == nil {
				err = r.Close()
			}
			return err
		}},
		{"replace", (*flock.Flock).RLock, func() error { _, err := store.SetAside(path); return err }},
	} {
		held := flock.New(strings.TrimSuffix(path, ".db") + ".door")
		if err := tc.take(held); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- tc.do() }()
		select {
		case <-ended:
			t.Errorf("%s: it did not ask for the door", tc.name)
		case <-time.After(100 * time.Millisecond):
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
