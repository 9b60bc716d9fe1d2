package opencode

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// hasNext reports whether the session's messages stand in session_message. A
// session with rows there is read from them only: an upgrade may have copied
// its older messages over.
func (t *dbStore) hasNext() (bool, error) {
	if len(t.sc.next) == 0 {
		return false, nil
	}
	var one int
	err := t.db.QueryRow(t.ctx, `SELECT 1 FROM session_message WHERE session_id = ? LIMIT 1`, t.session).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for messages: %w", err)
	}
	return true, nil
}

// readNext reads the rows of session_message in their own order.
func (t *dbStore) readNext(b *builder) error {
	order := "seq"
	if !t.sc.next["seq"] {
		order = t.sc.next.max("", "time_created", "id") + ", id"
	}
	rows, err := t.db.Query(t.ctx, `SELECT id, `+t.sc.next.list("", "type", "time_created")+`, octet_length(data) FROM session_message WHERE session_id = ? ORDER BY `+order, t.session)
	if err != nil {
		return fmt.Errorf("list messages: %w", err)
	}
	defer rows.Close()
	var list []record
	for rows.Next() {
		var id, kind text
		var at sql.NullFloat64
		var size sql.NullInt64
		if err := rows.Scan(&id, &kind, &at, &size); err != nil {
			return fmt.Errorf("list messages: %w", err)
		}
		list = append(list, record{id: string(id), path: string(kind), at: transcript.FromEpoch(at.Float64), size: size.Int64})
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("list messages: %w", err)
	}
	rows.Close()
	inherit, same := b.inherit, b.inherit
	for i := range list {
		b.links.copied(same - i)
		if err := t.ctx.Err(); err != nil {
			return err
		}
		b.inherit = max(0, inherit-i)
		r := &list[i]
		v, err := t.data("session_message", r)
		if errors.Is(err, errDamaged) {
			b.cp.Bad++
			v = nil
		} else if err != nil {
			return err
		}
		b.bytes += int64(len(v))
		if err := b.nextMessage(r, v); err != nil {
			return err
		}
		b.out.Progress(b.bytes)
	}
	return nil
}

// nextMessage emits a session_message row, and the tools an answer holds.
func (b *builder) nextMessage(r *record, v jsonv.Value) error {
	e := &transcript.Event{ID: r.id, Type: transcript.TypeOther, RawType: r.path, Role: transcript.RoleSystem, Time: r.at, Surface: transcript.LogOnly}
	if at := transcript.ParseTime(v.Get("time", "created")); !at.IsZero() {
		e.Time = at
	}
	m := message{time: e.Time, model: v.Get("model", "id").Str(), failure: failure(v.Get("error"))}
	p := partView{b: b, e: e, m: &m}
	var tools []jsonv.Value
	text := v.Get("text").Str()
	switch r.path {
	case "user":
		e.Surface = ""
		m.role = transcript.RoleUser
		if text != "" {
			p.prose = []string{text}
		}
		v.Get("files").Elems(func(_ int, f jsonv.Value) bool {
			p.attached = true
			e.Files = transcript.AppendPath(e.Files, b.h.CWD, filePath(f))
			return true
		})
		p.finish()
	case "assistant":
		e.Surface = ""
		m.role = transcript.RoleAssistant
		v.Get("content").Elems(func(_ int, c jsonv.Value) bool {
			if p.look(c) {
				tools = append(tools, c)
			}
			return true
		})
		p.finish()
		b.h.SawTime(transcript.ParseTime(v.Get("time", "completed")), b.env.Time())
	case "synthetic":
		// What the agent tells the model on the user's behalf.
		e.Type, e.Role, e.Surface = transcript.TypeContext, transcript.RoleUser, ""
	case "system":
		e.Type, e.Surface = transcript.TypeSystem, ""
	case "shell":
		return b.nextShell(r, v, e.Time)
	case "compaction":
		e.Type, e.Surface = transcript.TypeCompaction, ""
		e.AddText(transcript.Prose, v.Get("summary").Str())
	case "agent-switched", "model-switched":
		e.Type = transcript.TypeContext
	case "":
		if !v.Exists() {
			e.Role = transcript.RoleUnknown
		}
	}
	b.h.SawModel(m.model)
	if b.reverted(r.id, "") && e.Surface != transcript.LogOnly {
		e.Surface = transcript.Shadowed
	}
	at := b.seq
	b.links.record(v)
	if err := b.emit(e); err != nil {
		return err
	}
	if e.Type == transcript.TypeCompaction && e.Surface == transcript.Current && len(e.Parts) > 0 {
		if err := b.shadow(at, at); err != nil {
			return err
		}
	}
	for _, c := range tools {
		b.links.record(c)
		if err := b.nextTool(c, r.id, m.time); err != nil {
			return err
		}
	}
	return nil
}

// nextTool emits a tool of an answer's content.
func (b *builder) nextTool(v jsonv.Value, message string, at time.Time) error {
	state := v.Get("state")
	c := toolCall{
		id: v.Get("id").Str(), name: first(v.Get("name").Str(), v.Get("tool").Str()), status: state.Get("status").Str(),
		input: state.Get("input"), meta: state.Get("structured"),
		start: transcript.ParseTime(v.Get("time", "created")), end: transcript.ParseTime(v.Get("time", "completed")),
	}
	state.Get("content").Elems(func(_ int, part jsonv.Value) bool {
		if s := part.Get("text").Str(); s != "" {
			if c.output != "" {
				c.output += "\n"
			}
			c.output += s
		}
		return true
	})
	if e := state.Get("error"); e.Exists() {
		if s := first(e.Str(), e.Get("message").Str()); s != "" {
			c.output = strings.TrimLeft(c.output+"\n"+s, "\n")
		}
		c.failed = true
	}
	return b.toolEvent(&c, "tool", message, "", at)
}

// nextShell emits a command the user ran from the prompt.
func (b *builder) nextShell(r *record, v jsonv.Value, at time.Time) error {
	b.links.record(v)
	c := toolCall{
		id: r.id, name: "shell", status: "completed", input: v.Get("command"), output: v.Get("output").Str(), meta: v,
		start: at, end: transcript.ParseTime(v.Get("time", "completed")),
	}
	return b.toolEvent(&c, r.path, r.id, "", at)
}
