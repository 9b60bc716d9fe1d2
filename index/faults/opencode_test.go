//go:build unix

package faults_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // OpenCode's store is an SQLite file
)

const openCodeProject = "4f2c9d1e7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d"

// openCodeRecords are the records of a turn, which the tree and the store hold alike.
func openCodeRecords(s *session, t turn) (messageID string, message object, partID string, part object) {
	messageID, partID = fmt.Sprintf("msg_%06d%06d", s.n, t.n), fmt.Sprintf("prt_%06d%06d", s.n, t.n)
	message = object{"role": t.role(), "time": object{"created": t.at.UnixMilli(), "completed": t.at.UnixMilli()}, "agent": "build"}
	if t.role() == "assistant" {
		message["modelID"], message["providerID"], message["finish"] = "claude-sonnet-4-5", "anthropic", "stop"
		message["parentID"] = fmt.Sprintf("msg_%06d%06d", s.n, t.n-1)
		message["path"] = object{"cwd": fmt.Sprintf("/w/p%d", s.n%5), "root": "/w"}
	}
	return messageID, message, partID, object{"type": "text", "text": t.text}
}

// openCodeTree is OpenCode before 1.2: a file for each record.
type openCodeTree struct{}

func (openCodeTree) agent() string { return "opencode" }

func (openCodeTree) begin(s *session, home string) {
	s.id, s.path = fmt.Sprintf("ses_tree%06d", s.n), filepath.Join(home, ".local/share/opencode/storage")
}

// put replaces a file at once.
func put(record any, path ...string) error {
	to := filepath.Join(path...)
	data, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(to+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}

func (o openCodeTree) write(s *session) error {
	if err := o.remove(s); err != nil {
		return err
	}
	return o.grow(s, s.turns)
}

func (openCodeTree) grow(s *session, more []turn) error {
	for _, t := range more {
		mid, message, pid, part := openCodeRecords(s, t)
		message["id"], message["sessionID"] = mid, s.id
		part["id"], part["messageID"], part["sessionID"] = pid, mid, s.id
		err := errors.Join(put(message, s.path, "message", s.id, mid+".json"), put(part, s.path, "part", mid, pid+".json"))
		if err != nil {
			return err
		}
	}
	last := s.turns[len(s.turns)-1]
	return put(object{
		"id": s.id, "version": "1.1.36", "projectID": openCodeProject, "directory": fmt.Sprintf("/w/p%d", s.n%5), "title": "Count " + s.word,
		"time": object{"created": s.turns[0].at.UnixMilli(), "updated": last.at.UnixMilli()},
	}, s.path, "session", openCodeProject, s.id+".json")
}

func (openCodeTree) remove(s *session) error {
	// The session first: without it the rest belongs to nobody.
	err := os.Remove(filepath.Join(s.path, "session", openCodeProject, s.id+".json"))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	parts, globErr := filepath.Glob(filepath.Join(s.path, "part", fmt.Sprintf("msg_%06d*", s.n)))
	err = errors.Join(err, globErr, os.RemoveAll(filepath.Join(s.path, "message", s.id)))
	for _, p := range parts {
		err = errors.Join(err, os.RemoveAll(p))
	}
	return err
}

// openCodeStore is OpenCode since 1.2: one SQLite file, held open by the agent.
type openCodeStore struct {
	db    *sql.DB
	clock int64 // of the last change, epoch milliseconds; no two are alike
}

func newOpenCodeStore(t *testing.T, home string) *openCodeStore {
	t.Helper()
	path := filepath.Join(home, ".local/share/opencode/opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_busy_timeout=10000&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	_, err = db.Exec(`
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL, vcs text, name text, time_created integer NOT NULL, time_updated integer NOT NULL, sandboxes text NOT NULL);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, workspace_id text, parent_id text, slug text NOT NULL, directory text NOT NULL, path text, title text NOT NULL, version text NOT NULL, share_url text, summary_additions integer, summary_deletions integer, summary_files integer, summary_diffs text, revert text, permission text, agent text, model text, time_created integer NOT NULL, time_updated integer NOT NULL, time_compacting integer, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
INSERT INTO project VALUES ('` + openCodeProject + `','/w','git',NULL,1773600000000,1773617630522,'[]');`)
	if err != nil {
		t.Fatal(err)
	}
	return &openCodeStore{db: db}
}

func (*openCodeStore) agent() string { return "opencode" }

func (*openCodeStore) begin(s *session, home string) {
	s.id, s.path = fmt.Sprintf("ses_base%06d", s.n), filepath.Join(home, ".local/share/opencode/opencode.db")
}

func (o *openCodeStore) write(s *session) error {
	return o.change(s, s.turns, true)
}

func (o *openCodeStore) grow(s *session, more []turn) error { return o.change(s, more, false) }

func (o *openCodeStore) change(s *session, turns []turn, anew bool) error {
	tx, err := o.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	o.clock = max(o.clock+1, time.Now().UnixMilli())
	if anew {
		if err := drop(tx, s); err != nil {
			return err
		}
		first := s.turns[0].at.UnixMilli()
		_, err := tx.Exec(`INSERT INTO session (id,project_id,slug,directory,title,version,time_created,time_updated) VALUES (?,?,'calm-tide',?,?,'1.2.24',?,?)`,
			s.id, openCodeProject, fmt.Sprintf("/w/p%d", s.n%5), "Count "+s.word, first, first)
		if err != nil {
			return err
		}
	}
	for _, t := range turns {
		mid, message, pid, part := openCodeRecords(s, t)
		m, err := json.Marshal(message)
		if err != nil {
			return err
		}
		p, err := json.Marshal(part)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO message VALUES (?,?,?,?,?)`, mid, s.id, t.at.UnixMilli(), o.clock, string(m)); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO part VALUES (?,?,?,?,?,?)`, pid, mid, s.id, t.at.UnixMilli(), o.clock, string(p)); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(`UPDATE session SET time_updated = ? WHERE id = ?`, o.clock, s.id); err != nil {
		return err
	}
	return tx.Commit()
}

func drop(tx *sql.Tx, s *session) error {
	for _, q := range []string{`DELETE FROM part WHERE session_id = ?`, `DELETE FROM message WHERE session_id = ?`, `DELETE FROM session WHERE id = ?`} {
		if _, err := tx.Exec(q, s.id); err != nil {
			return err
		}
	}
	return nil
}

func (o *openCodeStore) remove(s *session) error {
	tx, err := o.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := drop(tx, s); err != nil {
		return err
	}
	return tx.Commit()
}
