package cursor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// tabsKey is the row with the chats of 2023 and 2024. Like the first
// conversations of the composer (listKey) they stand whole in one row of their
// window's store.
const tabsKey = "workbench.panel.aichat.view.aichat.chatdata"

// Beginnings of Source.Key that tell a conversation of a row from others.
const (
	tabMark    = "tab:"
	inlineMark = "inline:"
)

// tab is a conversation in a row that holds several.
type tab struct {
	id, title  string
	last, size int64
	hash       uint64
	messages   int
}

// rows are the rows that hold conversations: the list in them, the members of an
// element that name it, and how its sources' keys begin.
var rows = []struct{ key, list, mark string }{
	{tabsKey, "tabs", tabMark},
	{listKey, "allComposers", inlineMark},
}

// tabs finds the conversations that stand whole in rows of a store.
func (w *walk) tabs(s *kv, l *learned, path, window string) ([]transcript.Source, error) {
	if !s.item {
		return nil, nil
	}
	var found []transcript.Source
	var p place
	for _, row := range rows {
		tabs, err := l.tabs(s, row.key, row.list)
		if err != nil {
			return nil, err
		}
		for _, t := range tabs {
			if t.messages == 0 {
				continue
			}
			if window != "" && !p.known() {
				p = w.window(window)
			}
			h := hint{Folders: p.folders, Remote: p.remote, Name: t.title}
			src := transcript.Source{
				Agent: agentID, Path: path, Key: row.mark + t.id, Root: w.root.Path, SessionID: t.id, Class: classStore,
				Size: t.size, ModTime: transcript.FromEpoch(float64(t.last)), Hint: h.encode(),
			}
			src.Signature = fmt.Sprintf("row:%x|%x", t.hash, transcript.Hash(src.Hint))
			found = append(found, src)
		}
	}
	return found, nil
}

// tabs lists the conversations in a row; it is read only when it changed.
func (l *learned) tabs(s *kv, key, listed string) ([]tab, error) {
	st, err := s.stamp(itemTable, key)
	if errors.Is(err, errNoValue) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if have, ok := l.lists[key]; ok && have.stamp == st {
		return have.tabs, nil
	}
	var tabs []tab
	at := map[string]int{}
	err = s.each(key, listed, st.size, func(v jsonv.Value) error {
		id := tabID(v)
		if id == "" {
			return nil
		}
		t := tab{id: id, size: int64(len(v)), hash: transcript.Hash(string(v)), messages: max(v.Get("bubbles").Len(), v.Get("conversation").Len())}
		t.title = transcript.CleanTitle(first(v.Get("chatTitle").Str(), v.Get("name").Str()))
		t.last = max(ms(v.Get("lastSendTime")), ms(v.Get("lastUpdatedAt")), ms(v.Get("createdAt")))
		if i, twice := at[id]; twice {
			tabs[i] = t // the last one counts
			return nil
		}
		at[id] = len(tabs)
		tabs = append(tabs, t)
		return nil
	})
	if err != nil && s.ctx.Err() != nil {
		return nil, s.ctx.Err()
	}
	// What is damaged is read as far as it goes.
	l.lists[key] = list{stamp: st, tabs: tabs}
	return tabs, nil
}

func tabID(v jsonv.Value) string {
	if id := id128(v.Get("tabId")); id != "" {
		return id
	}
	return id128(v.Get("composerId"))
}

// each hands over the conversations in a row one by one.
func (s *kv) each(key, listed string, size int64, f func(jsonv.Value) error) error {
	if size > maxValue {
		return errTooLarge
	}
	var r io.Reader
	if size <= plainValue {
		var raw []byte
		if err := s.QueryRow(s.ctx, "SELECT value FROM "+itemTable+" WHERE key = ?", key).Scan(&raw); err != nil {
			return fmt.Errorf("read %s: %w", short(key), err)
		}
		r = bytes.NewReader(raw)
	} else {
		r = s.Value(s.ctx, size, "SELECT substr(CAST(value AS BLOB), ?1, ?2) FROM "+itemTable+" WHERE key = ?3", key)
	}
	_, err := transcript.ReadDocument(s.ctx, r, []string{listed}, heavy,
		func(string, jsonv.Value) error { return nil },
		func(_ string, _ int, v jsonv.Value) error { return f(v) })
	return err
}

// readRow reads a conversation out of the row that holds it.
func (b *builder) readRow(s *kv, src transcript.Source) error {
	found := false
	for _, row := range rows {
		id, ok := strings.CutPrefix(src.Key, row.mark)
		if !ok || !s.item {
			continue
		}
		st, err := s.stamp(itemTable, row.key)
		if errors.Is(err, errNoValue) {
			break
		}
		if err != nil {
			return err
		}
		var own []byte
		err = s.each(row.key, row.list, st.size, func(v jsonv.Value) error {
			if tabID(v) == id {
				own = append(own[:0], v...)
			}
			return nil
		})
		switch {
		case b.ctx.Err() != nil:
			return b.ctx.Err()
		case err != nil:
			b.cp.Bad++
		}
		if own == nil {
			break
		}
		found = true
		if err := b.row(own); err != nil {
			return err
		}
	}
	if !found {
		return errGone
	}
	return nil
}

// row emits the messages of a conversation that stands whole in a row.
func (b *builder) row(v jsonv.Value) error {
	b.h.Format = formatTab
	b.h.SetTitle(first(v.Get("chatTitle").Str(), v.Get("name").Str()), transcript.TitleAgent)
	for _, key := range []string{"createdAt", "lastSendTime", "lastUpdatedAt"} {
		b.h.SawTime(transcript.ParseTime(v.Get(key)), b.env.Time())
	}
	bubbles := v.Get("bubbles")
	if v.Get("conversation").Len() > 0 {
		bubbles, b.h.Format = v.Get("conversation"), formatComposer
	}
	var err error
	bubbles.Elems(func(_ int, m jsonv.Value) bool {
		if err = b.ctx.Err(); err == nil {
			err = b.bubble(id128(first2(m.Get("bubbleId"), m.Get("id"))), m, transcript.Current)
		}
		return err == nil
	})
	return err
}

func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

func first2(values ...jsonv.Value) jsonv.Value {
	for _, v := range values {
		if v.Exists() {
			return v
		}
	}
	return nil
}
