package codex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Codex writes a message as a response item and as an event, in neighbouring
// records: of 2,863 pairs seen all were one record apart, in either order. An
// event is a twin when an item with the same words stands within windowRecords
// before or after it, and no further than windowBytes behind it. Until that is
// known the event and all records after it are held back, since events are
// handed over in order and an event without item must keep its text.
const (
	windowRecords = 16
	windowBytes   = 8 << 20
	maxKeys       = 128
)

// seen is the key of an item's text, at its seq.
type seen struct {
	Key uint64 `json:"k"`
	Seq int    `json:"s"`
}

// waiting is an event whose item may still come.
type waiting struct {
	seen
	Offset int64 `json:"o"`
	// Told marks an event that was handed over with its text at the end of an
	// earlier reading. If its item comes after all, the source is read anew.
	Told bool `json:"-"`
}

type twins struct {
	Keys    []seen    `json:"keys,omitempty"`
	Waiting []waiting `json:"waiting,omitempty"`
}

// twinKey hashes what a text says, whatever its white space: blocks of one
// message are joined with or without line breaks in its twin. 0 for no words.
func twinKey(kind byte, texts ...string) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	h = (h ^ uint64(kind)) * prime
	any := false
	for _, s := range texts {
		for i := 0; i < len(s); i++ {
			c := s[i]
			if c <= ' ' {
				continue
			}
			any = true
			h = (h ^ uint64(c)) * prime
		}
	}
	if !any {
		return 0
	}
	return h | 1
}

// advance forgets what is too far behind the record at seq and offset, and
// returns how many waiting events have waited in vain.
func (t *twins) advance(seq int, offset int64) (expired []int) {
	n := 0
	for n < len(t.Keys) && (seq-t.Keys[n].Seq > windowRecords || len(t.Keys)-n > maxKeys) {
		n++
	}
	t.Keys = t.Keys[n:]
	if len(t.Waiting) == 0 {
		return nil
	}
	kept := t.Waiting[:0]
	for _, w := range t.Waiting {
		if seq-w.Seq > windowRecords || offset-w.Offset > windowBytes {
			expired = append(expired, w.Seq)
			continue
		}
		kept = append(kept, w)
	}
	t.Waiting = kept
	return expired
}

// item records an item's key. It returns the seq of the waiting event that is
// its twin, -1 if there is none, and whether that event was already handed over.
func (t *twins) item(key uint64, seq int) (event int, told bool) {
	if key == 0 {
		return -1, false
	}
	t.Keys = append(t.Keys, seen{key, seq})
	for i, w := range t.Waiting {
		if w.Key == key {
			t.Waiting = append(t.Waiting[:i], t.Waiting[i+1:]...)
			return w.Seq, w.Told
		}
	}
	return -1, false
}

// event reports whether an item has said the same; otherwise the event waits.
func (t *twins) event(key uint64, seq int, offset int64) (twin bool) {
	if key == 0 {
		return false
	}
	for _, k := range t.Keys {
		if k.Key == key {
			return true
		}
	}
	t.Waiting = append(t.Waiting, waiting{seen: seen{key, seq}, Offset: offset})
	return false
}

// plan takes the text of a proposed plan out of the message that carries it;
// the plan is told once more by an event.
func plan(text string) string {
	const open, end = "<proposed_plan>", "</proposed_plan>"
	i := strings.Index(text, open)
	if i < 0 {
		return ""
	}
	text = text[i+len(open):]
	if j := strings.Index(text, end); j >= 0 {
		text = text[:j]
	}
	return text
}

// samePrompt reports whether a title is merely the beginning of a prompt.
func samePrompt(title, prompt string) bool {
	title = strings.TrimRight(squeeze(title), ".…")
	return title != "" && strings.HasPrefix(squeeze(prompt), title)
}

func squeeze(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == utf8.RuneError || unicode.IsSpace(r) {
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
