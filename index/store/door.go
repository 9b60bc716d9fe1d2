package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/mattn/go-sqlite3"
)

// A connection opens three files by their names: the database, its log and the
// shared map of the log. Were the index replaced in between, it would have the
// map of another database open, and with it hold and give up locks that are not
// its own; a process that uses the new index then finds its map cut off under
// it, which ends the process (SIGBUS).
//
// How it comes to that is proven by TestWhatTheDoorIsFor up to the last step, the
// signal, which needs one more process at the right instant: SQLite asks whether
// another process has the byte UNIX_SHM_DMS of the map locked, and cuts the map to
// three bytes if not (os_unix.c, unixLockSharedMemory); and a process loses that
// lock when it closes any of its descriptors of the map. So there is a door: connections are
// opened in it together, an index is replaced in it alone.

// doorSuffix replaces ".db" in the name of the door, a lock file that is never
// deleted.
const doorSuffix = ".door"

// doorWait bounds how long somebody is waited for who was stopped in the door.
const doorWait = 2 * time.Second

// door enters; leave is to be called soon. In a folder that cannot be written
// to nothing is replaced, so there no door is needed.
func door(path string, alone bool) (leave func()) {
	f := flock.New(strings.TrimSuffix(path, ".db")+doorSuffix, flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), doorWait)
	defer cancel()
	try := f.TryRLockContext
	if alone {
		try = f.TryLockContext
	}
	// Without the lock it goes on: the harm is possible, not certain.
	_, _ = try(ctx, 2*time.Millisecond)
	return func() { _ = f.Close() }
}

// connector opens connections to the index.
type connector struct{ path, dsn string }

// openDB is sql.Open for the index itself.
func openDB(path string, writer bool) *sql.DB {
	return sql.OpenDB(connector{path, dsn(path, writer)})
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	leave := door(c.path, false)
	defer leave()
	conn, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	if e, ok := conn.(driver.ExecerContext); ok {
		// The first question opens the other files. What is wrong with them
		// shows in the second.
		_, _ = e.ExecContext(ctx, `SELECT 1 FROM sqlite_schema LIMIT 1`, nil)
	}
	return conn, nil
}
