package sqlitero

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// copyTries is how often a copy is repeated when the store changes under it.
const copyTries = 3

// openCopy copies the database and its logs to a private folder and opens the
// copy. The -shm is not copied: SQLite builds it from the log.
func (d *DB) openCopy(ctx context.Context) error {
	tmp, err := os.MkdirTemp("", "sessionls-ro-") // mode 0700
	if err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	d.tmp, d.mode = tmp, copied
	fail := func(err error) error {
		_ = os.RemoveAll(tmp)
		d.tmp = ""
		return err
	}
	to := filepath.Join(tmp, "copy.db")
	for try := 1; ; try++ {
		// The log after the database: what a checkpoint moves meanwhile would
		// else be in neither.
		before := d.states()
		err := errors.Join(copyFile(ctx, d.path, to), copyFile(ctx, d.path+"-wal", to+"-wal"), copyFile(ctx, d.path+"-journal", to+"-journal"))
		if err != nil {
			return fail(fmt.Errorf("copy database: %w", err))
		}
		if d.states() == before {
			break
		}
		if try == copyTries {
			return fail(errors.New("copy database: it is being written all the time"))
		}
	}
	// The copy is ours: SQLite may roll back a journal and build its -shm.
	if err := d.connect(ctx, dsn(to, copied)); err != nil {
		return fail(err)
	}
	// Where an open file may be unlinked the copy of somebody's conversations
	// vanishes now, and is not left behind even when this process is killed.
	if os.RemoveAll(tmp) == nil {
		d.tmp = ""
	}
	return nil
}

func (d *DB) states() string {
	return state(d.path) + "|" + state(d.path+"-wal") + "|" + state(d.path+"-journal")
}

// copyFile copies a file; one that does not exist is left out, and removed
// from where an earlier try may have put it.
func copyFile(ctx context.Context, from, to string) (err error) {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(to)
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	var n int64
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		k, err := io.CopyN(out, in, 8<<20)
		if n += k; n > MaxCopy {
			return errors.New("it grew beyond what is copied")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
