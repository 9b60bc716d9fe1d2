package query_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/transcript"
)

// TestPhraseOverRows holds rule 6: a long event lies in several rows that
// overlap by 64 tokens, and a phrase is found wherever it stands in it; none
// spans two events.
func TestPhraseOverRows(t *testing.T) {
	const row = 256 << 10
	path := storetest.Path(t)
	var sessions []storetest.Session
	for i := -60; i <= 60; i += 12 {
		var b strings.Builder
		for b.Len() < row+i {
			b.WriteString("filler ")
		}
		b.WriteString("quill marmot\nbasalt plover ")
		for b.Len() < row+row/2 {
			b.WriteString("filler ")
		}
		sessions = append(sessions, storetest.Talk(fmt.Sprint("s", i), b.String()))
	}
	sessions = append(sessions, storetest.Talk("apart", "quill marmot", "basalt plover"))
	storetest.Build(t, path, sessions...)
	r := storetest.Open(t, path)
	for _, s := range sessions {
		id := s.Header.SessionID
		req := contract.NewSearchSessionsRequest(`"quill marmot basalt plover"`)
		req.Filters.SessionIDs = []string{id}
		res := ask(t, r, req).Results
		if (len(res.Hits) == 1) != (id != "apart") {
			t.Errorf("%s: %d hits", id, len(res.Hits))
		}
		if len(res.Hits) == 1 && !strings.Contains(res.Hits[0].Evidence.Snippet, "[[quill marmot\nbasalt plover]]") && !strings.Contains(res.Hits[0].Evidence.Snippet, "[[quill marmot basalt plover]]") {
			t.Errorf("%s: snippet %q", id, res.Hits[0].Evidence.Snippet)
		}
	}
}

// TestScopes holds rules 10 and 11: title, branch and project are found in both
// scopes, tool output and commands in all alone, and a title outranks a body.
func TestScopes(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path,
		storetest.Session{Header: transcript.Header{SessionID: "head", Title: "Mend the quillwort", Branch: "fix/marmot-9", CWD: "/work/basaltine"}, Events: []transcript.Event{storetest.Say("user", "go on")}},
		storetest.Session{Header: transcript.Header{SessionID: "body", Title: "zz"}, Events: []transcript.Event{
			storetest.Say("user", "a quillwort, a marmot and basaltine"), storetest.Say("call", "grep plover src/x.go"), storetest.Say("tool", "E: ibises missing"),
		}})
	r := storetest.Open(t, path)
	cases := []struct{ query, all, conversation string }{
		{"quillwort ", "head body", "head body"},
		{"marmot-9 ", "head", "head"},
		{"fix/marmot", "head", "head"},
		{"basaltine ", "head body", "head body"},
		{"plover ", "body", ""},
		{"src/x.go ", "body", ""},
		{"ibises ", "body", ""},
	}
	for _, c := range cases {
		for scope, want := range map[contract.Scope]string{contract.ScopeAll: c.all, contract.ScopeConversation: c.conversation} {
			req := contract.NewSearchSessionsRequest(c.query)
			req.Scope = scope
			if got := ids(ask(t, r, req).Results); got != want {
				t.Errorf("%q in %s: %q, want %q", c.query, scope, got, want)
			}
		}
	}
}

// TestOldMatchOfTheWantedProject holds rule 13: newer matches elsewhere, more
// of them than are looked at, hide none that the filters let pass; and a total
// that is cut says so, the same on every page.
func TestOldMatchOfTheWantedProject(t *testing.T) {
	path := storetest.Path(t)
	old := storetest.Talk("old", "a quill")
	old.Header.CWD = "/work/wanted"
	busy := storetest.Session{Header: transcript.Header{SessionID: "busy", Title: "zz"}}
	for range 20_001 {
		busy.Events = append(busy.Events, storetest.Say("user", "a quill"))
	}
	storetest.Build(t, path, old, busy)
	r := storetest.Open(t, path)
	for _, c := range []struct {
		query, want string
		exact       bool
	}{
		{"quill ", "busy", false},
		{"quill repo:wanted", "old", true},
		{`"quill"`, "busy old", true},
		{"quil repo:wanted ", "old", true}, // near a word
		{"uill repo:wanted ", "old", true},
	} {
		res := search(t, r, c.query)
		if got := strings.Fields(ids(res)); strings.Join(got, " ") != c.want && !(len(got) == 2 && c.want == "busy old") || res.Total.Exact != c.exact {
			t.Errorf("%q: %v, total %+v", c.query, got, res.Total)
		}
	}
}

// TestMiddleOfOutput holds rule 11: of the middle of a long output every word of
// letters up to twenty is found, and words at both ends stand in phrases.
func TestMiddleOfOutput(t *testing.T) {
	path := storetest.Path(t)
	pad := strings.Repeat("nothing of note\n", 4000)
	text := "begin quill marmot " + pad + "middle basalt abcdefghijklmnopqrst 9f8e7d6c5b4a3f2e1d " + pad + " E: plover ibises missing"
	storetest.Build(t, path, storetest.Session{Header: transcript.Header{SessionID: "s", Title: "zz"}, Events: []transcript.Event{storetest.Say("tool", text)}})
	r := storetest.Open(t, path)
	for query, want := range map[string]bool{
		`"quill marmot"`: true, `"plover ibises"`: true, "basalt ": true, "abcdefghijklmnopqrst ": true, `"middle basalt"`: false, `"9f8e7d6c5b4a3f2e1d"`: false,
	} {
		if got := len(search(t, r, query).Hits) == 1; got != want {
			t.Errorf("%s: found %v, want %v", query, got, want)
		}
	}
}

// TestReproducible holds rule 15: the same index and request give the same
// answer, by every rung and from another process's point of view.
func TestReproducible(t *testing.T) {
	path := storetest.Path(t)
	var sessions []storetest.Session
	for i := range 40 {
		sessions = append(sessions, storetest.Talk(fmt.Sprint("s", i), fmt.Sprintf("the quill%d marmot%d terminal%d and opencode%d", i%7, i%5, i%3, i%11)))
	}
	storetest.Build(t, path, sessions...)
	for _, query := range []string{"quill", "marmt4 ", "terminak ", "code1 ", "quill3 marmot2 termnal1 ", "zzqx ", "the ", `"and opencode3"`} {
		var want string
		for range 3 {
			res := search(t, storetest.Open(t, path), query)
			res.DurationMs = 0
			b, err := json.Marshal(res)
			if err != nil {
				t.Fatal(err)
			}
			if want == "" {
				want = string(b)
			}
			if string(b) != want {
				t.Errorf("%q:\n%s\n%s", query, want, b)
			}
		}
	}
}
