//go:build unix

package faults_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/sessionls/sessionls/contract"
)

// facts are what the files have said and when, so that an answer can be judged by
// the moments at which it was asked for and came. Moments are counted, not timed.
type facts struct {
	mu     sync.Mutex
	now    int
	words  map[string]*word
	spoken []*word // in the order they were planned
	states map[*session]*state
	clears []span         // of the index
	closed []span         // consent was withdrawn
	seen   map[string]int // words that a fresh answer had, and since when
}

// span is a stretch of moments; to is 0 while it lasts.
type span struct{ from, to int }

func (s span) meets(from, to int) bool { return s.from <= to && (s.to == 0 || s.to >= from) }

// word is in one session or in none.
type word struct {
	text    string
	of      *session
	write   span // when it was written; zero before
	removal span // when it was taken out, by a rewrite or a deletion; zero before
}

// state is what happens to a session besides growing.
type state struct {
	changes []span // rewrites, moves, deletion
	deleted span
}

func newFacts() *facts {
	return &facts{words: map[string]*word{}, states: map[*session]*state{}, seen: map[string]int{}}
}

func (f *facts) tick() int {
	f.now++
	return f.now
}

// plan announces a change: words to be written, words to be taken out. The
// returned function says that it is done.
func (f *facts) plan(s *session, add, out []turn, only bool) (done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.tick()
	st := f.states[s]
	if st == nil {
		st = &state{}
		f.states[s] = st
	}
	change := -1
	if !only {
		st.changes = append(st.changes, span{from: at})
		change = len(st.changes) - 1
	}
	for _, t := range add {
		x := &word{text: t.word, of: s, write: span{from: at}}
		f.words[t.word], f.spoken = x, append(f.spoken, x)
	}
	for _, t := range out {
		f.words[t.word].removal = span{from: at}
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		end := f.tick()
		if change >= 0 {
			st.changes[change].to = end
		}
		for _, t := range add {
			f.words[t.word].write.to = end
		}
		for _, t := range out {
			f.words[t.word].removal.to = end
		}
	}
}

// delete announces a deletion.
func (f *facts) delete(s *session) (done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	st := f.states[s]
	st.deleted.from = f.tick()
	st.changes = append(st.changes, st.deleted)
	k := len(st.changes) - 1
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		st.deleted.to = f.tick()
		st.changes[k] = st.deleted
	}
}

// clearing announces that the index is cleared.
func (f *facts) clearing() (done func()) { return f.announce(&f.clears) }

// disabling announces that the consent is withdrawn and given again.
func (f *facts) disabling() (done func()) { return f.announce(&f.closed) }

func (f *facts) announce(what *[]span) (done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*what = append(*what, span{from: f.tick()})
	k := len(*what) - 1
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		(*what)[k].to = f.tick()
	}
}

func meet(spans []span, from, to int) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.meets(from, to) })
}

// question is a word to be asked for: mostly one that was written, newest ones
// more often, sometimes one that was not.
func (f *facts) question(rnd *rand.Rand, planned func(*rand.Rand) string) (text string, asked int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.spoken)
	switch {
	case n == 0 || rnd.IntN(12) == 0:
		return planned(rnd), f.tick()
	case rnd.IntN(2) == 0:
		return f.spoken[n-1-rnd.IntN(min(n, 12))].text, f.tick()
	}
	return f.spoken[rnd.IntN(n)].text, f.tick()
}

// verdict is what comes of judging an answer.
type verdict int

const (
	unsure  verdict = iota // something happened meanwhile
	late                   // the answer says that it did not wait for everything
	present                // checked: it is there
	absent                 // checked: it is not there
	kept                   // checked: it is there, of a deleted transcript
	clear                  // no index at the moment
)

// judge compares an answer to a fresh search for a word, asked for and received
// at two moments, with what the files said then.
func (f *facts) judge(text string, a answer, asked int) (verdict, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	came := f.tick()
	cleared, closed := meet(f.clears, asked, came), meet(f.closed, asked, came)
	if a.Kind != contract.KindResults {
		if a.Kind == contract.KindUnavailable && (a.Reason == contract.ReasonNotReady && (cleared || closed) || a.Reason == contract.ReasonDisabled && closed) {
			return clear, nil
		}
		return unsure, fmt.Errorf("%q: %s", text, said(a))
	}
	if a.Total.Exact == a.Truncated.Candidates || a.Total.Sessions < len(a.Hits) || !a.Page.HasMore && a.Total.Sessions != len(a.Hits) {
		return unsure, fmt.Errorf("%q: %d hits, total %+v, %+v", text, len(a.Hits), a.Total, a.Truncated)
	}
	x := f.words[text]
	if x == nil || x.write.from > came {
		if len(a.Hits) > 0 {
			return absent, fmt.Errorf("%q was never written and is found: %s %s", text, said(a), a.Hits[0].Evidence.Snippet)
		}
		return absent, nil
	}
	if len(a.Hits) > 1 || len(a.Hits) == 1 && a.Hits[0].Agent+":"+a.Hits[0].SessionID != x.of.name() {
		return present, fmt.Errorf("%q is in %s and found in %s", text, x.of.name(), said(a))
	}
	if a.Truncated.Freshness {
		return late, nil
	}
	st := f.states[x.of]
	calm := !meet(st.changes, asked, came)
	written := x.write.to != 0 && x.write.to < asked
	found := len(a.Hits) == 1
	if found {
		if evidence := a.Hits[0].Evidence; evidence == nil || !strings.Contains(evidence.Snippet, "[["+text+"]]") {
			return present, fmt.Errorf("%q: the snippet does not show it: %+v", text, evidence)
		}
	}
	switch {
	case !calm || !written || cleared || closed:
		return unsure, nil
	case x.removal.from == 0 && st.deleted.from == 0:
		if !found {
			return present, fmt.Errorf("%q was written to %s (%s) at moment %d, asked for at %d, and is not found; changes %v", text, x.of.name(), x.of.path, x.write.to, asked, st.changes)
		}
		if p := a.Hits[0].Source.Presence; p != contract.PresencePresent {
			return present, fmt.Errorf("%q: %s is there and called %s (asked at %d, changes %v)", text, x.of.name(), p, asked, st.changes)
		}
		f.seen[text] = came
		return present, nil
	case x.removal.to != 0 && x.removal.to < asked && !(st.deleted.from != 0 && st.deleted.from < x.removal.from):
		if st.deleted.from != 0 {
			// The rewrite may never have been read before the file was deleted.
			return unsure, nil
		}
		if found {
			return absent, fmt.Errorf("%q was taken out of %s at moment %d and is still found at %d; changes %v", text, x.of.name(), x.removal.to, asked, st.changes)
		}
		return absent, nil
	case st.deleted.to != 0 && st.deleted.to < asked:
		seen, ok := f.seen[text]
		lost := slices.ContainsFunc(f.clears, func(s span) bool { return s.to == 0 || s.to > seen })
		if !found {
			if ok && !lost {
				return kept, fmt.Errorf("%q of the deleted %s was searchable at %d and is lost at %d", text, x.of.name(), seen, asked)
			}
			return unsure, nil
		}
		if p := a.Hits[0].Source.Presence; p == contract.PresencePresent || a.Hits[0].ResumeCommand != "" {
			return kept, fmt.Errorf("%q: %s is deleted and called %s (resume %q)", text, x.of.name(), p, a.Hits[0].ResumeCommand)
		}
		return kept, nil
	}
	return unsure, nil
}
