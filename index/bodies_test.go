package index_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index"
)

// noise is a line of text in which nothing is repeated; it begins with a word.
func noise(word string) string {
	r := rand.New(rand.NewPCG(uint64(len(word)), uint64(word[0])))
	b := []byte(word)
	for range 300 {
		b = fmt.Appendf(b, " %x", r.Uint64())
	}
	return string(b)
}

// speaks checks that a session has these texts, as the index keeps them.
func (w *world) speaks(id string, want ...string) {
	w.t.Helper()
	var got []string
	for _, e := range w.show(nil, id).Events {
		got = append(got, *e.Text)
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("%s says %.60q, want %.60q", id, got, want)
	}
}

// hasBytes reports whether the beginning of a text is in the files of the index.
func (w *world) hasBytes(text string) bool {
	w.t.Helper()
	for _, side := range []string{"", "-wal"} {
		raw, err := os.ReadFile(w.paths.Index() + side)
		if err == nil && bytes.Contains(raw, []byte(text[:60])) {
			return true
		}
	}
	return false
}

// TestSharedText: what many sessions have is found in each and read from each, whatever
// becomes of the one that it was read in first.
func TestSharedText(t *testing.T) {
	w := newWorld(t)
	fake := newFake("fakes")
	prompt, own := noise("plover"), noise("heron")
	file := func(name string, lines ...string) string {
		return w.write("fakes/"+name+".fake", "session-"+name+"\n"+strings.Join(lines, "\n")+"\n")
	}
	file("a", prompt, own)
	s := w.enabled(fake)
	w.reconcile(s)
	const n = 20
	for i := range n {
		file(fmt.Sprintf("x%02d", i), fmt.Sprintf("session number%d", i), prompt)
	}
	w.reconcile(s)
	all := func(s *index.Service, query string, want int) {
		t.Helper()
		if got := strings.Fields(w.hits(s, query)); len(got) != min(want, 20) {
			t.Errorf("%s: %d sessions, want %d: %q", query, len(got), want, got)
		}
	}
	last := prompt[strings.LastIndex(prompt, " ")+1:]
	all(s, "plover", n+1)
	all(s, last, n+1)
	w.speaks("session-a", prompt, own)
	w.speaks("session-x07", "session number7", prompt)
	w.healthy(s)

	w.append("fakes/x03.fake", own+"\n"+prompt+"\n")
	w.reconcile(s)
	w.speaks("session-x03", "session number3", prompt, own, prompt)
	file("a", "begun anew", prompt, prompt)
	w.reconcile(s)
	w.speaks("session-a", "begun anew", prompt, prompt)
	w.speaks("session-x03", "session number3", prompt, own, prompt)
	w.speaks("session-x07", "session number7", prompt)
	w.healthy(s)

	w.forget(s, "session-a")
	all(s, last, n)
	w.forget(s, "session-x03")
	all(s, "heron", 0)
	if w.hasBytes(own) {
		t.Error("what was forgotten is in the index")
	}
	w.healthy(s)

	// Kept by an index of another version.
	w.must(os.Remove(w.path("fakes/x07.fake")))
	w.must(os.Remove(w.path("fakes/x08.fake")))
	w.reconcile(s)
	w.must(s.Close())
	w.alter(`UPDATE meta SET value = 1000 WHERE key = 'schema'`)
	s = w.service(fake)
	w.reconcile(s)
	w.speaks("session-x07", "session number7", prompt)
	w.speaks("session-x08", "session number8", prompt)
	all(s, last, n-1)
	w.healthy(s)
	if got := w.asides(); got != "" {
		t.Errorf("left behind: %s", got)
	}

	if !w.hasBytes(prompt) {
		t.Error("what is there is not seen in the files")
	}
	for i := range n {
		if i != 3 {
			w.forget(s, fmt.Sprintf("session-x%02d", i))
		}
	}
	all(s, last, 0)
	if w.hasBytes(prompt) {
		t.Error("what all have forgotten is in the index")
	}
}
