package bench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/sessionls/sessionls/contract"
)

// queryKind is searches of one kind, made of what the index holds.
type queryKind struct {
	name     string
	requests []contract.SearchSessionsRequest
	// page is which page is wanted, from 1.
	page int
}

// sample is what a part of the sessions holds. The same index gives the same
// sample.
type sample struct {
	sessions int
	words    []sampledWord // by how many sessions hold them, most first, then by letters
	phrases  []string
	cjk      []string
	compound []string // identifiers of several parts
	hits     []contract.Hit
}

type sampledWord struct {
	text     string
	sessions int
}

// How much is sampled: sessions, events of each, and bytes of an event.
const (
	sampledSessions = 240
	sampledEvents   = 80
	sampledText     = 4096
)

// takeSample reads sessions that are spread over the whole history.
func takeSample(ctx context.Context, l *library, tell Tell) (*sample, error) {
	request := contract.NewSearchSessionsRequest("")
	request.Filters = contract.Filters{Sort: contract.SortNewest, Agents: contract.Agents()}
	request.Limit = contract.MaxLimit
	var all []contract.Hit
	for {
		results, err := l.search(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list the sessions: %w", err)
		}
		all = append(all, results.Hits...)
		if request.Cursor = results.Page.Cursor; request.Cursor == nil {
			break
		}
	}
	s := &sample{}
	step := max(1, len(all)/sampledSessions)
	counts, phrases, cjk, compound := map[string]int{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := 0; i < len(all); i += step {
		tell("sampling words", int64(i), int64(len(all)))
		hit := all[i]
		shown, err := l.FilterEvents(ctx, contract.FilterEventsRequest{SessionName: contract.SessionName{Agent: hit.Agent, SessionID: hit.SessionID}, Limit: sampledEvents})
		if err != nil {
			return nil, fmt.Errorf("read a session: %w", err)
		}
		s.sessions++
		s.hits = append(s.hits, hit)
		here := map[string]bool{}
		for _, e := range shown.Events {
			if e.Text == nil {
				continue
			}
			text := *e.Text
			text = strings.ToValidUTF8(text[:min(len(text), sampledText)], "")
			prose := e.Type == "user/message" || e.Type == "assistant/message"
			sampleText(text, prose, here, phrases, cjk, compound)
		}
		for w := range here {
			counts[w]++
		}
	}
	for w, n := range counts {
		s.words = append(s.words, sampledWord{w, n})
	}
	slices.SortFunc(s.words, func(a, b sampledWord) int {
		return cmp.Or(cmp.Compare(b.sessions, a.sessions), strings.Compare(a.text, b.text))
	})
	s.phrases, s.cjk, s.compound = slices.Sorted(maps.Keys(phrases)), slices.Sorted(maps.Keys(cjk)), slices.Sorted(maps.Keys(compound))
	if len(s.words) < 10 {
		return nil, fmt.Errorf("the corpus has too little text to make queries of: %d words", len(s.words))
	}
	return s, nil
}

// sampleText adds the words of a text, and now and then three of them in a row.
func sampleText(text string, prose bool, words, phrases, cjk, compound map[string]bool) {
	fields := strings.Fields(text)
	for i, field := range fields {
		w := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) })
		switch {
		case w == "":
		case plainWord(w):
			words[strings.ToLower(w)] = true
			if prose && i%17 == 0 && i+2 < len(fields) && w == field && plainWord(fields[i+1]) && plainWord(fields[i+2]) {
				phrases[strings.Join(fields[i:i+3], " ")] = true
			}
		case unicode.In([]rune(w)[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			r := []rune(w)
			if n := 2 + i%3; len(r) >= n+2 {
				cjk[string(r[1:1+n])] = true
			}
		case len(w) >= 10 && len(w) <= 40 && camelCase(w):
			compound[w] = true
		}
	}
}

// plainWord: 4 to 20 ASCII letters, of which at most the first is a capital.
func plainWord(w string) bool {
	if len(w) < 4 || len(w) > 20 {
		return false
	}
	for i := range len(w) {
		if c := w[i]; (c < 'a' || c > 'z') && (i > 0 || c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// camelCase: ASCII letters with a capital inside.
func camelCase(w string) bool {
	inner := false
	for i := range len(w) {
		c := w[i]
		switch {
		case c >= 'A' && c <= 'Z':
			inner = inner || i > 0
		case c < 'a' || c > 'z':
			return false
		}
	}
	return inner
}

// queries makes n searches of each kind.
func (s *sample) queries(seed uint64, n int) []queryKind {
	rnd := rand.New(rand.NewPCG(seed, 4))
	// Words by how many of the sampled sessions hold them: the common ones are
	// the most frequent, the rare ones of one session.
	first := func(below int) int {
		i, _ := slices.BinarySearchFunc(s.words, below, func(w sampledWord, below int) int { return cmp.Compare(below, w.sessions) })
		return i
	}
	rare := s.words[min(first(1), len(s.words)-1):]
	middle := s.words[min(len(s.words)/50, len(s.words)-1):max(1, len(s.words)-len(rare))]
	if len(middle) == 0 {
		middle = s.words
	}
	common := s.words[:max(1, min(len(s.words)/20, 200))]
	word := func(of []sampledWord) string { return of[rnd.IntN(len(of))].text }
	var out []queryKind
	add := func(name string, make func(i int) contract.SearchSessionsRequest) {
		k := queryKind{name: name, page: 1}
		for i := range n {
			k.requests = append(k.requests, make(i))
		}
		out = append(out, k)
	}
	text := func(name string, make func(i int) string) {
		add(name, func(i int) contract.SearchSessionsRequest { return contract.NewSearchSessionsRequest(make(i)) })
	}
	one := func(list []string) string { return list[rnd.IntN(len(list))] }

	text("rare word", func(int) string { return word(rare) + " " })
	text("common word", func(int) string { return word(common) + " " })
	text("two words", func(int) string { return word(middle) + " " + word(common) + " " })
	text("three common words", func(int) string { return word(common) + " " + word(common) + " " + word(common) + " " })
	if len(s.phrases) > 0 {
		text("phrase", func(int) string { return `"` + one(s.phrases) + `"` })
	}
	text("prefix as typed", func(i int) string { w := word(middle); return w[:min(len(w), 1+i%5)] })
	if len(s.cjk) > 0 {
		text("CJK", func(int) string { return one(s.cjk) })
	}
	if len(s.compound) > 0 {
		text("substring", func(int) string { w := strings.ToLower(one(s.compound)); return w[2:8] + " " })
	}
	text("typo", func(int) string {
		w := word(middle)
		for range 50 {
			if len(w) >= 6 {
				break
			}
			w = word(middle)
		}
		i := len(w) / 2
		return w[:i] + string(w[i-1]) + w[i:] + " " // a letter twice
	})
	text("operators only", func(i int) string {
		hit := s.hits[rnd.IntN(len(s.hits))]
		return []string{"agent:" + hit.Agent, "is:root", "role:user", "since:10y agent:" + hit.Agent, "tool:Bash"}[i%5]
	})
	add("filters", func(i int) contract.SearchSessionsRequest {
		hit := s.hits[rnd.IntN(len(s.hits))]
		r := contract.NewSearchSessionsRequest(word(common) + " ")
		switch {
		case i%3 == 0 && hit.Cwd != nil && *hit.Cwd != "":
			r.Filters.ScopePaths = []string{*hit.Cwd}
		case i%3 == 1 && hit.UpdatedAt != nil:
			r.Filters.Since = hit.UpdatedAt
		default:
			r.Filters.Agents = []string{hit.Agent}
		}
		return r
	})
	add("page 10", func(int) contract.SearchSessionsRequest {
		r := contract.NewSearchSessionsRequest(word(common) + " ")
		r.Limit = 5
		return r
	})
	out[len(out)-1].page = 10
	return out
}
