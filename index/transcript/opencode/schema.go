package opencode

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sessionls/sessionls/index/transcript/sqlitero"
)

// columns are the columns a table has in this version of the schema.
type columns map[string]bool

// one names a column, or NULL where the schema lacks it.
func (c columns) one(prefix, name string) string {
	if !c[name] {
		return "NULL"
	}
	return prefix + name
}

func (c columns) list(prefix string, names ...string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = c.one(prefix, n)
	}
	return strings.Join(out, ", ")
}

// max is the first of the columns that exists, in order of preference.
func (c columns) max(prefix string, names ...string) string {
	for _, n := range names {
		if c[n] {
			return prefix + n
		}
	}
	return "NULL"
}

func (c columns) without(name string) columns {
	out := columns{}
	for k, v := range c {
		out[k] = v && k != name
	}
	return out
}

// schema holds the columns of the tables that matter. Columns came and went
// with the versions and in the relatives; only session.id is required.
type schema struct {
	session, project, message, part, next columns
}

func readSchema(ctx context.Context, db *sqlitero.DB) (*schema, error) {
	var sc schema
	for _, t := range []struct {
		name string
		cols *columns
	}{{"session", &sc.session}, {"project", &sc.project}, {"message", &sc.message}, {"part", &sc.part}, {"session_message", &sc.next}} {
		cols, err := db.Columns(ctx, t.name)
		if err != nil {
			return nil, err
		}
		*t.cols = cols
	}
	if !sc.session["id"] {
		return nil, errors.New("no OpenCode database: it has no session table")
	}
	for name, cols := range map[string]columns{"message": sc.message, "part": sc.part, "session_message": sc.next} {
		if len(cols) > 0 && (!cols["id"] || !cols["session_id"] || !cols["data"]) {
			return nil, fmt.Errorf("unknown OpenCode schema: table %s lacks id, session_id or data", name)
		}
	}
	if len(sc.part) > 0 && !sc.part["message_id"] {
		return nil, errors.New("unknown OpenCode schema: table part lacks message_id")
	}
	return &sc, nil
}

func (sc *schema) joinProject() string {
	if !sc.project["id"] || !sc.session["project_id"] {
		return ""
	}
	return "LEFT JOIN project p ON p.id = s.project_id"
}

func (sc *schema) projectTime() string {
	if sc.joinProject() == "" {
		return "NULL"
	}
	return sc.project.one("p.", "time_updated")
}

// text takes any column's value as text: an id or a title that another tool
// stored as a number or a blob is still one.
type text string

// Scan implements sql.Scanner.
func (t *text) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*t = ""
	case string:
		*t = text(v)
	case []byte:
		*t = text(v)
	case int64:
		*t = text(strconv.FormatInt(v, 10))
	default:
		*t = text(fmt.Sprint(v))
	}
	return nil
}
