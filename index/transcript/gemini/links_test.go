package gemini_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript/gemini"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

// TestLinks: rewinds and checkpoints take messages off the surface, a
// checkpoint may put new ones before old ones.
func TestLinks(t *testing.T) {
	note := `{"id":"i","timestamp":"2026-04-02T10:12:00.000Z","type":"info","content":"note"}` + "\n"
	back := func(id string) string { return `{"$rewindTo":"` + id + `"}` + "\n" }
	set := func(messages ...string) string {
		for i, m := range messages {
			messages[i] = strings.TrimSpace(m)
		}
		return `{"$set":{"messages":[` + strings.Join(messages, ",") + `]}}` + "\n"
	}
	for _, c := range []struct {
		name, text string // after the first line
		by         map[int]int
		model      []int
		data       map[int]string
	}{
		{"nothing", user("a", "1") + model("b", "2"), map[int]int{}, []int{1, 2}, map[int]string{}},
		{"rewind", user("a", "1") + model("b", "2") + note + user("c", "3") + back("b") + user("d", "4"), map[int]int{2: 5, 4: 5}, []int{1, 6}, map[int]string{}},
		{"two rewinds", user("a", "1") + user("b", "2") + back("b") + user("c", "3") + back("a"), map[int]int{2: 3, 4: 5, 1: 5}, []int{}, map[int]string{}},
		{"checkpoint", user("a", "1") + model("b", "2") + user("c", "3") + set(model("s", "sum"), user("c", "3"), user("n", "new")) + user("d", "4"),
			map[int]int{1: 4, 2: 4}, []int{5, 3, 6, 7}, map[int]string{5: strings.TrimSpace(model("s", "sum")), 6: strings.TrimSpace(user("n", "new"))}},
		{"checkpoint with two before", user("a", "1") + set(model("s", "sum"), model("t", "sum"), user("a", "1")), map[int]int{}, []int{3, 4, 1},
			map[int]string{3: strings.TrimSpace(model("s", "sum")), 4: strings.TrimSpace(model("t", "sum"))}},
		{"a message written again stays where it was", user("a", "1") + user("b", "2") + user("a", "more of it") + back("b"), map[int]int{2: 4}, []int{1}, map[int]string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := transcripttest.Traces(t, gemini.New(), transcripttest.Write(t, map[string]string{log: meta + c.text}))[sid]
			by, data := map[int]int{}, map[int]string{}
			if l := tr.Links[sid]; l != nil {
				by, data = l.By, l.Data
			}
			if !reflect.DeepEqual(by, c.by) {
				t.Errorf("replaced by %v, want %v", by, c.by)
			}
			if got := tr.Model(sid); !slices.Equal(got, c.model) {
				t.Errorf("model order %v, want %v", got, c.model)
			}
			if !reflect.DeepEqual(data, c.data) {
				t.Errorf("data %v, want %v", data, c.data)
			}
		})
	}
}

// A document's messages are handed over: they are no lines of the file.
func TestDocumentData(t *testing.T) {
	a, b := strings.TrimSpace(user("a", "one")), strings.TrimSpace(model("b", "two"))
	text := strings.TrimSuffix(meta, "}\n") + `,"messages":[` + a + `,` + b + `]}`
	tr := transcripttest.Traces(t, gemini.New(), transcripttest.Write(t, map[string]string{doc: text}))[sid]
	if got, want := tr.Links[sid].Data, (map[int]string{0: a, 1: b}); !reflect.DeepEqual(got, want) {
		t.Errorf("data %v, want %v", got, want)
	}
}
