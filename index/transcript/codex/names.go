package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/sqlitero"
)

// names is what stands about a thread outside its rollout.
type names struct {
	// Name is the last thread_name of session_index.jsonl, At its time.
	Name string    `json:"name,omitempty"`
	At   time.Time `json:"at,omitzero"`
	// Seq is where the rollout itself tells the name, nil for the other stores.
	Seq *int `json:"seq,omitempty"`
	// Title is threads.title of the state database. Codex fills it with the
	// first prompt until the thread is named.
	Title string `json:"title,omitempty"`
}

func parseNames(hint string) (n names) {
	if hint != "" {
		_ = json.Unmarshal([]byte(hint), &n) // our own form; an unreadable one is no title
	}
	return n
}

// titleBytes bounds what is kept of a title; Codex stores whole prompts there.
const titleBytes = 400

// indexFile lists the threads that were named.
const indexFile = "session_index.jsonl"

// names collects the titles that Codex keeps beside the rollouts: all, or those
// of the threads with the given ids and perhaps of others. What cannot be read
// is reported; the rollouts are readable without.
func (rd Reader) names(ctx context.Context, env transcript.Env, home string, ids []string, report func(string, error)) map[string]names {
	out, whole := map[string]names{}, true
	index := filepath.Join(home, indexFile)
	if err := rd.titles.index(ctx, index, out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		report(index, err)
		whole = false
	}
	if db := stateDB(env, home); db != "" {
		if err := readStateDB(ctx, rd.open, db, ids, out); err != nil && !errors.Is(err, fs.ErrNotExist) {
			report(db, err)
			whole = false
		}
	}
	if ids == nil && whole {
		rd.titles.keep(home, out)
	}
	return out
}

func readIndex(ctx context.Context, f *transcript.File, out map[string]names) error {
	lines := transcript.NewLines(f, 0, f.Size)
	for {
		rec, err := lines.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		id := strings.ToLower(rec.Value.Get("id").Str())
		if id == "" || len(id) > 200 {
			continue
		}
		n := out[id]
		n.Name = transcript.Clip(rec.Value.Get("thread_name").Str(), titleBytes)
		n.At = transcript.ParseTime(rec.Value.Get("updated_at"))
		out[id] = n
	}
}

// stateDB finds the state database with the highest schema number, in
// CODEX_SQLITE_HOME, the configured sqlite_home, or the home.
func stateDB(env transcript.Env, home string) string {
	for _, dir := range []string{env.Var("CODEX_SQLITE_HOME"), configuredSQLiteHome(env, home), home} {
		if dir == "" {
			continue
		}
		best, path := -1, ""
		found, err := filepath.Glob(filepath.Join(transcript.GlobLiteral(dir), "state_*.sqlite"))
		if err != nil {
			continue
		}
		for _, p := range found {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(p), "state_"), ".sqlite"))
			if err == nil && n > best {
				best, path = n, p
			}
		}
		if path != "" {
			return path
		}
	}
	return ""
}

// maxConfig bounds how much of config.toml is looked at, in bytes.
const maxConfig = 1 << 20

func configuredSQLiteHome(env transcript.Env, home string) string {
	f, err := transcript.OpenFile(filepath.Join(home, "config.toml"))
	if err != nil {
		return ""
	}
	defer f.Close()
	var c struct {
		Dir string `toml:"sqlite_home"`
	}
	if _, err := toml.NewDecoder(io.LimitReader(f, maxConfig)).Decode(&c); err != nil || c.Dir == "" {
		return ""
	}
	if rest, ok := strings.CutPrefix(c.Dir, "~/"); ok {
		return filepath.Join(env.Home, rest)
	}
	if !filepath.IsAbs(c.Dir) {
		return filepath.Join(home, c.Dir)
	}
	return c.Dir
}

func readStateDB(ctx context.Context, open *sqlitero.Cache, path string, ids []string, out map[string]names) error {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return err
	}
	db, err := open.Open(ctx, path)
	if err != nil {
		return fmt.Errorf("open the state database: %w", err)
	}
	defer db.Close()
	cols, err := db.Columns(ctx, "threads")
	if err != nil {
		return fmt.Errorf("look at the state database: %w", err)
	}
	if !cols["id"] || !cols["title"] {
		return nil // another schema: the rollouts and the index remain
	}
	where := ""
	if cols["first_user_message"] {
		where = " AND title <> coalesce(first_user_message, '')"
	}
	args := []any{titleBytes}
	if ids != nil {
		where += " AND id IN (" + strings.TrimSuffix(strings.Repeat("?,", 2*len(ids)), ",") + ")"
		for _, id := range ids {
			args = append(args, id, strings.ToUpper(id))
		}
	}
	rows, err := db.Query(ctx, "SELECT CAST(id AS TEXT), substr(CAST(title AS TEXT), 1, ?) FROM threads WHERE id IS NOT NULL AND title IS NOT NULL AND title <> ''"+where, args...)
	if err != nil {
		return fmt.Errorf("read titles: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, title string
		if err := rows.Scan(&id, &title); err != nil {
			return fmt.Errorf("read titles: %w", err)
		}
		id = strings.ToLower(id)
		n := out[id]
		n.Title = transcript.Clip(title, titleBytes)
		out[id] = n
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read titles: %w", err)
	}
	return nil
}
