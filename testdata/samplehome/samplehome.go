// Package samplehome makes a home directory out of the samples in testdata/home:
// all agents in one, with the SQLite stores built from their scripts. The demo
// and the tests of the whole program run on it.
package samplehome

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // the stores are SQLite files
)

// alternatives are samples of the same files in another form, which cannot be in
// one home with the first.
func alternatives() []string { return []string{"dsh-raw-root", "opencode-next"} }

// Make copies the samples below src (one folder for each agent, laid out like a home
// directory) into dst, which it creates. A file X.sql is run to make the
// SQLite file X. Files of dst that exist are an error.
func Make(dst, src string) error {
	agents, err := os.ReadDir(src)
	if err != nil {
		return fmt.Errorf("listing the samples: %w", err)
	}
	made := 0
	for _, agent := range agents {
		if !agent.IsDir() || contains(alternatives(), agent.Name()) {
			continue
		}
		if err := Copy(dst, filepath.Join(src, agent.Name())); err != nil {
			return err
		}
		made++
	}
	if made == 0 {
		return fmt.Errorf("no samples in %s", src)
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// Copy copies one home directory of samples into dst, as [Make] does.
func Copy(dst, src string) error {
	return filepath.WalkDir(src, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dst, rel)
		if entry.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("reading a sample: %w", err)
		}
		if store, isScript := strings.CutSuffix(to, ".sql"); isScript {
			return build(store, string(content))
		}
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return fmt.Errorf("copying a sample: %w", err)
		}
		_, err = f.Write(content)
		return errors.Join(err, f.Close(), settle(to))
	})
}

// build runs a script against a new SQLite file.
func build(path, script string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("building %s: it exists", path)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		return fmt.Errorf("building %s: %w", path, err)
	}
	_, err = db.Exec(script)
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("building %s: %w", path, err)
	}
	return settle(path)
}

// settle makes a file look as if nobody had written to it for a day: the sessions are
// not active.
func settle(path string) error {
	then := time.Now().Add(-24 * time.Hour)
	return os.Chtimes(path, then, then)
}
