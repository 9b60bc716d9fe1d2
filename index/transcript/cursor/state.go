package cursor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// readState reads one conversation of the editor. It is edited in place, so it is
// always read whole: the checkpoint has no State.
func (rd *reader) readState(ctx context.Context, env transcript.Env, src transcript.Source, h hint, out transcript.Sink) (*transcript.Checkpoint, error) {
	s, err := openKV(ctx, rd.stores, src.Path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	b := newBuilder(ctx, env, src, h, out)
	b.h.Entrypoint = "ide"
	if err := out.Begin(false); err != nil {
		return nil, err
	}
	if strings.HasPrefix(src.Key, tabMark) || strings.HasPrefix(src.Key, inlineMark) {
		err = b.readRow(s, src)
	} else {
		err = b.readComposer(s, src.Key, h)
	}
	if err != nil {
		return nil, err
	}
	if !s.Unchanged() {
		return nil, transcript.ErrReread
	}
	return b.finish()
}

// held is a message that has a row of its own.
type held struct {
	id   string
	size int64
	at   time.Time
}

// readComposer reads a conversation whose messages have rows of their own, or
// stand in its record.
func (b *builder) readComposer(s *kv, id string, h hint) error {
	if !s.disk {
		return errGone
	}
	b.h.Format = formatComposer
	record, err := s.value(diskTable, composerPrefix+id, heavy...)
	switch {
	case errors.Is(err, errNoValue):
		return errGone
	case errors.Is(err, errDamaged):
		b.cp.Bad++
	case errors.Is(err, errTooLarge):
		b.cp.Partial = err.Error()
	case err != nil:
		return err
	}
	// The next values may take its place in memory.
	record = slices.Clone(record)
	b.bytes += int64(len(record))
	b.composer(record)
	rows := map[string]int64{}
	prefix := bubblePrefix + id + ":"
	if err := s.keys(prefix, func(id string, _ int64, size sql.NullInt64) {
		if size.Valid && !strings.Contains(id, ":") { // without a value it was deleted
			rows[id] = size.Int64
		}
	}); err != nil {
		return err
	}
	listed := messages(record)
	copied, err := b.copied(s, h, listed)
	if err != nil {
		return err
	}
	if h.Relation == transcript.RelationSubagent {
		if b.h.ParentEvent, err = s.caller(h); err != nil {
			return err
		}
	}
	unlisted, err := b.unlisted(s, prefix, rows, listed)
	if err != nil {
		return err
	}
	missing := 0
	var newest time.Time
	for i, m := range listed {
		b.inherit = i < copied
		b.same = b.same && b.seq == i
		v := m.inline
		if size, ok := rows[m.id]; ok {
			v, err = b.load(s, prefix+m.id, size)
			if err != nil {
				return err
			}
		} else if v == nil {
			missing++
			continue
		}
		if at := bubbleTime(v); !at.IsZero() {
			newest = at
			for len(unlisted) > 0 && unlisted[0].at.Before(at) {
				if err := b.unlistedOne(s, prefix, unlisted[0], transcript.Shadowed); err != nil {
					return err
				}
				unlisted = unlisted[1:]
			}
		}
		if err := b.listed(m.id, v); err != nil {
			return err
		}
		if m.id == id128(record.Get("latestConversationSummary", "lastBubbleId")) {
			if err := b.summary(record.Get("latestConversationSummary"), "latestConversationSummary"); err != nil {
				return err
			}
		}
		b.out.Progress(b.bytes)
	}
	b.inherit = false
	// What comes after all that is listed is so new that the list lacks it.
	for _, m := range unlisted {
		surface := transcript.Shadowed
		if !m.at.IsZero() && m.at.After(newest) || len(listed) == 0 {
			surface = transcript.Current
		}
		if err := b.unlistedOne(s, prefix, m, surface); err != nil {
			return err
		}
	}
	if err := b.summary(record.Get("latestConversationSummary"), "latestConversationSummary"); err != nil {
		return err
	}
	if missing > 0 {
		b.h.Warn(fmt.Sprintf("%d of the %d messages that the conversation lists are not in the store any more", missing, len(listed)))
	}
	return nil
}

// composer takes what the conversation's record says of it as a whole.
func (b *builder) composer(v jsonv.Value) {
	b.h.Archived = b.h.Archived || v.Get("isArchived").True()
	b.h.SetTitle(v.Get("name").Str(), transcript.TitleAgent)
	b.model(v.Get("modelConfig", "modelName"))
	b.h.SawTime(transcript.ParseTime(v.Get("createdAt")), b.env.Time())
	b.h.SawTime(transcript.ParseTime(v.Get("lastUpdatedAt")), b.env.Time())
	if branch := v.Get("activeBranch", "branchName").Str(); branch != "" {
		b.h.Branch = transcript.CleanWord(branch)
	}
}

// model records a model; the word that stands for any is none.
func (b *builder) model(v jsonv.Value) {
	if name := transcript.CleanWord(v.Str()); name != "default" {
		b.h.SawModel(name)
	}
}

// listing is a message as a conversation's record lists it.
type listing struct {
	id     string
	inline jsonv.Value // where it stands in the record
}

// messages lists the messages of a conversation in their order.
func messages(v jsonv.Value) []listing {
	var out []listing
	list := v.Get("fullConversationHeadersOnly")
	if list.Len() == 0 {
		v.Get("conversation").Elems(func(_ int, m jsonv.Value) bool {
			out = append(out, listing{id128(m.Get("bubbleId")), m})
			return true
		})
		return out
	}
	inline := map[string]jsonv.Value{}
	v.Get("conversationMap").Each(func(key, m jsonv.Value) bool {
		if m.Kind() == jsonv.Object {
			inline[key.Str()] = m
		}
		return true
	})
	list.Elems(func(_ int, m jsonv.Value) bool {
		if id := id128(m.Get("bubbleId")); id != "" {
			out = append(out, listing{id, inline[id]})
		}
		return true
	})
	return out
}

// load reads a message's row; nil for one that cannot be read, which is counted.
func (b *builder) load(s *kv, key string, size int64) (jsonv.Value, error) {
	v, err := s.sized(diskTable, key, size, heavy...)
	switch {
	case err == nil && v.Kind() == jsonv.Object:
		return v, nil
	case err == nil, errors.Is(err, errDamaged), errors.Is(err, errNoValue):
		b.cp.Bad++
	case errors.Is(err, errTooLarge):
		b.cp.Partial = err.Error()
	default:
		return nil, err
	}
	return nil, nil
}

// listed emits a listed message, also one that cannot be read: its place counts.
func (b *builder) listed(id string, v jsonv.Value) error {
	if v == nil {
		return b.emit(&transcript.Event{ID: id, Type: transcript.TypeOther, RawType: "bubble", Surface: transcript.LogOnly}, []byte("null"))
	}
	return b.bubble(id, v, transcript.Current)
}

// maxUnlisted bounds the messages that are in no list.
const maxUnlisted = 5000

// unlisted finds the messages that are not in the conversation's list, oldest
// first. Cursor leaves them behind when a person edits an earlier prompt.
func (b *builder) unlisted(s *kv, prefix string, rows map[string]int64, listed []listing) ([]held, error) {
	in := make(map[string]bool, len(listed))
	for _, m := range listed {
		in[m.id] = true
	}
	var out []held
	for _, id := range sorted(rows) {
		if in[id] || len(out) >= maxUnlisted {
			continue
		}
		v, err := s.sized(diskTable, prefix+id, rows[id], heavy...)
		if err != nil {
			if b.ctx.Err() != nil {
				return nil, b.ctx.Err()
			}
			continue
		}
		out = append(out, held{id, rows[id], bubbleTime(v)})
	}
	// Those without a time go last: nothing tells where they stood.
	slices.SortStableFunc(out, func(a, o held) int {
		if a.at.IsZero() != o.at.IsZero() {
			if a.at.IsZero() {
				return 1
			}
			return -1
		}
		return a.at.Compare(o.at)
	})
	return out, nil
}

func (b *builder) unlistedOne(s *kv, prefix string, m held, surface transcript.Surface) error {
	v, err := b.load(s, prefix+m.id, m.size)
	if err != nil || v == nil {
		return err
	}
	inherit := b.inherit
	b.inherit = false
	err = b.bubble(m.id, v, surface)
	b.inherit = inherit
	return err
}

// copied counts the leading messages that a copy of another conversation shares
// with it.
func (b *builder) copied(s *kv, h hint, listed []listing) (int, error) {
	if h.Relation != transcript.RelationFork || h.Origin == "" {
		return 0, nil
	}
	v, err := s.value(diskTable, composerPrefix+h.Origin, heavy...)
	switch {
	case errors.Is(err, errNoValue), errors.Is(err, errDamaged), errors.Is(err, errTooLarge):
		return 0, nil // nothing to compare with
	case err != nil:
		return 0, err
	}
	n := 0
	for i, m := range messages(v) {
		if i >= len(listed) || m.id == "" || m.id != listed[i].id {
			break
		}
		n++
	}
	b.h.InheritedKnown = true
	if n > 0 {
		b.h.ParentEvent = listed[n-1].id
	}
	if b.tracer == nil || !transcript.WantsLinks(b.tracer) || v.Get("latestConversationSummary").Exists() {
		return n, nil
	}
	// The originals stand at the same positions if nothing but what is listed is
	// there.
	left := map[string]bool{}
	for _, m := range messages(v) {
		left[m.id] = m.inline == nil
	}
	b.same = true
	if err := s.keys(bubblePrefix+h.Origin+":", func(id string, _ int64, size sql.NullInt64) {
		if _, in := left[id]; size.Valid && !in {
			b.same = false
		} else if size.Valid {
			left[id] = false
		}
	}); err != nil {
		return 0, err
	}
	for _, missing := range left {
		b.same = b.same && !missing
	}
	return n, nil
}

// caller finds the message of the parent whose call started a sub-agent.
func (s *kv) caller(h hint) (string, error) {
	if h.Call == "" || h.Origin == "" {
		return "", nil
	}
	// An id may have two lines, which JSON spells otherwise.
	call, _, _ := strings.Cut(h.Call, "\n")
	prefix := bubblePrefix + h.Origin + ":"
	var key string
	err := s.QueryRow(s.ctx, "SELECT key FROM "+diskTable+" WHERE key >= ? AND key < ? AND instr(CAST(value AS TEXT), ?) > 0 AND instr(CAST(value AS TEXT), '\"toolFormerData\"') > 0 ORDER BY key LIMIT 1",
		prefix, after(prefix), `"`+call).Scan(&key)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("look for the call that started the conversation: %w", err)
	}
	return strings.TrimPrefix(key, prefix), nil
}
