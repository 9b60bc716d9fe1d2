package query_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/query"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/transcript"
)

// The relevance benches of matching.md. They assert nothing: `make bench`
// prints recall and the times, and a change of the ranking is judged by them.

// needle is a text planted in one session and what a person would type to find
// it.
type needle struct{ kind, role, text, query string }

// corpus is an invented library of sessions with needles of every kind.
func corpus(sessions, perKind int) ([]storetest.Session, []needle, []int) {
	rnd := rand.New(rand.NewPCG(11, 12))
	syllables := strings.Fields("ba ce di fo gu la me ni po ru sa te vi wo zu kra ple sto tri gle")
	invent := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(syllables[rnd.IntN(len(syllables))])
		}
		return b.String()
	}
	vocabulary := strings.Fields("the to and of in is it that for this with file error test code function line run build change value type name path list string read write server client request data")
	for len(vocabulary) < 4000 {
		vocabulary = append(vocabulary, invent(2+rnd.IntN(2)))
	}
	zipf := rand.NewZipf(rnd, 1.1, 4, uint64(len(vocabulary)-1))
	prose := func(n int) string {
		words := make([]string, n)
		for i := range words {
			words[i] = vocabulary[zipf.Uint64()]
		}
		return strings.Join(words, " ")
	}
	han := func(n int) string {
		r := make([]rune, n)
		for i := range r {
			r[i] = 0x4e00 + rune(rnd.IntN(5000))
		}
		return string(r)
	}
	all := make([]storetest.Session, sessions)
	for i := range all {
		all[i].Header = transcript.Header{SessionID: fmt.Sprintf("s%04d", i), Title: prose(6), TitleSource: transcript.TitleAgent}
		for k := range 20 + rnd.IntN(30) {
			role := []string{"user", "assistant", "call", "tool", "tool"}[k%5]
			n := 30 + rnd.IntN(60)
			if role == "tool" {
				n = 100 + rnd.IntN(2500)
			}
			all[i].Events = append(all[i].Events, storetest.Say(role, prose(n)))
		}
	}
	unique := func() string { return "q" + invent(4) + "x" }
	kinds := []struct {
		name string
		make func() []needle // several texts go to different messages of the session
	}{
		{"word", func() []needle { w := unique(); return []needle{{text: w, query: w}} }},
		{"two words", func() []needle {
			a, b := unique(), unique()
			return []needle{{text: a + " " + prose(5) + " " + b, query: b + " " + a + " "}}
		}},
		{"two messages", func() []needle {
			a, b := unique(), unique()
			return []needle{{text: a, query: a + " " + b + " "}, {text: b}}
		}},
		{"identifier part", func() []needle {
			w := unique()
			return []needle{{text: "get" + strings.ToUpper(w[:1]) + w[1:] + "Buffer()", query: w + " "}}
		}},
		{"joined identifier", func() []needle {
			a, b := unique(), unique()
			return []needle{{text: a + "_" + b, query: strings.ToUpper(a[:1]) + a[1:] + strings.ToUpper(b[:1]) + b[1:]}}
		}},
		{"hyphenated", func() []needle {
			w := unique()
			return []needle{{text: "retry-" + w + "-budget", query: "retry-" + w + "-budget"}}
		}},
		{"path", func() []needle {
			w := unique()
			return []needle{{text: "src/parser/" + w + "_lexer.rs", query: w + "_lexer.rs"}}
		}},
		{"CJK 1", func() []needle {
			r := string(rune(0x9000 + rnd.IntN(200)))
			return []needle{{text: han(4) + r + han(4), query: r}}
		}},
		{"CJK 2", func() []needle { h := han(8); return []needle{{text: h, query: string([]rune(h)[3:5])}} }},
		{"CJK n", func() []needle { h := han(12); return []needle{{text: h, query: string([]rune(h)[3:9])}} }},
		{"glued", func() []needle { w := unique(); return []needle{{text: han(3) + w + han(3), query: w}} }},
		{"prefix", func() []needle { w := unique(); return []needle{{text: w + "ation", query: w}} }},
		{"inflection", func() []needle { w := unique(); return []needle{{text: w + "ing", query: w + "ed "}} }},
		{"phrase", func() []needle {
			p := vocabulary[40+rnd.IntN(200)] + " " + vocabulary[40+rnd.IntN(200)] + " " + vocabulary[40+rnd.IntN(200)] + " " + vocabulary[40+rnd.IntN(200)]
			return []needle{{text: p, query: `"` + p + `"`}}
		}},
		{"deep in tool output", func() []needle {
			w := unique()
			return []needle{{role: "tool", text: prose(30_000) + " " + w + " " + prose(30_000), query: w + " "}}
		}},
		{"title", func() []needle { w := unique(); return []needle{{role: "title", text: w, query: w + " "}} }},
	}
	var needles []needle
	var at []int
	for _, kind := range kinds {
		for range perKind {
			i := rnd.IntN(sessions)
			for k, n := range kind.make() {
				n.kind = kind.name
				role := n.role
				if role == "" {
					role = []string{"user", "assistant", "tool"}[rnd.IntN(3)]
				}
				if role == "title" {
					all[i].Header.Title += " " + n.text
				} else {
					all[i].Events = append(all[i].Events, storetest.Say(role, prose(8)+" "+n.text+" "+prose(8)))
				}
				if k == 0 {
					needles, at = append(needles, n), append(at, i)
				}
			}
		}
	}
	return all, needles, at
}

// BenchmarkNeedles reports, for each kind of planted needle, how often its
// session came first and among the first ten, and the time of a search.
func BenchmarkNeedles(b *testing.B) {
	sessions, needles, at := corpus(300, 20)
	path := storetest.Path(b)
	storetest.Build(b, path, sessions...)
	r := storetest.Open(b, path)
	var kinds []string
	for _, n := range needles {
		if !slices.Contains(kinds, n.kind) {
			kinds = append(kinds, n.kind)
		}
	}
	for _, kind := range kinds {
		b.Run(strings.ReplaceAll(kind, " ", "_"), func(b *testing.B) {
			var first, ten, all float64
			for b.Loop() {
				for i, n := range needles {
					if n.kind != kind {
						continue
					}
					all++
					rank := slices.IndexFunc(search(b, r, n.query).Hits, func(h contract.Hit) bool { return h.SessionID == sessions[at[i]].Header.SessionID })
					if rank == 0 {
						first++
					}
					if rank >= 0 && rank < 10 {
						ten++
					}
				}
			}
			b.ReportMetric(first/all, "recall@1")
			b.ReportMetric(ten/all, "recall@10")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/all, "µs/search")
		})
	}
}

// BenchmarkLoCoMo asks the questions of LoCoMo (Maharana et al., ACL 2024) word
// for word of its dialogues, each turn an event, each session a session, and
// reports at which rank a session with evidence came. LOCOMO names the file
// locomo10.json; LOCOMO_ALL=1 puts all dialogues into one index instead of one
// each.
func BenchmarkLoCoMo(b *testing.B) {
	file := os.Getenv("LOCOMO")
	if file == "" {
		b.Skip("LOCOMO names no file")
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	var dialogues []dialogue
	if err := json.Unmarshal(raw, &dialogues); err != nil {
		b.Fatal(err)
	}
	groups := [][]dialogue{dialogues}
	if os.Getenv("LOCOMO_ALL") == "" {
		groups = nil
		for _, d := range dialogues {
			groups = append(groups, []dialogue{d})
		}
	}
	var n, hit1, hit5, mrr float64
	for b.Loop() {
		for _, g := range groups {
			r := g[0].index(b, g)
			for _, d := range g {
				for _, q := range d.QA {
					rank, ok := d.rank(b, r, q)
					if !ok {
						continue
					}
					n++
					if rank == 1 {
						hit1++
					}
					if rank > 0 && rank <= 5 {
						hit5++
					}
					if rank > 0 {
						mrr += 1 / float64(rank)
					}
				}
			}
		}
	}
	n = math.Max(n, 1)
	b.ReportMetric(100*hit1/n, "hit@1_%")
	b.ReportMetric(100*hit5/n, "hit@5_%")
	b.ReportMetric(mrr/n, "MRR")
}

type dialogue struct {
	ID           string                     `json:"sample_id"`
	QA           []question                 `json:"qa"`
	Conversation map[string]json.RawMessage `json:"conversation"`
}

type question struct {
	Question string   `json:"question"`
	Evidence []string `json:"evidence"`
}

func (dialogue) index(b *testing.B, group []dialogue) *store.Reader {
	path := storetest.Path(b)
	var all []storetest.Session
	for _, d := range group {
		var first string
		_ = json.Unmarshal(d.Conversation["speaker_a"], &first)
		for k := 1; ; k++ {
			raw, ok := d.Conversation[fmt.Sprintf("session_%d", k)]
			if !ok {
				break
			}
			var turns []struct {
				Speaker string `json:"speaker"`
				ID      string `json:"dia_id"`
				Text    string `json:"text"`
			}
			if err := json.Unmarshal(raw, &turns); err != nil {
				b.Fatal(err)
			}
			s := storetest.Session{Header: transcript.Header{SessionID: fmt.Sprintf("%s-%d", d.ID, k)}}
			for _, t := range turns {
				role := "user"
				if t.Speaker != first {
					role = "assistant"
				}
				e := storetest.Say(role, t.Speaker+": "+t.Text)
				e.ID = t.ID
				s.Events = append(s.Events, e)
			}
			all = append(all, s)
		}
	}
	storetest.Build(b, path, all...)
	return storetest.Open(b, path)
}

// rank is the place of the first session with evidence, 0 if it is not among
// the first twenty; ok is false for a question without evidence.
func (d dialogue) rank(b *testing.B, r *store.Reader, q question) (rank int, ok bool) {
	var want []string
	for _, ev := range q.Evidence {
		session, _, _ := strings.Cut(strings.TrimPrefix(ev, "D"), ":")
		want = append(want, d.ID+"-"+session)
	}
	if len(want) == 0 {
		return 0, false
	}
	snap, err := r.Snapshot(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	defer snap.Close()
	resp, err := query.New().Search(context.Background(), snap, contract.NewSearchSessionsRequest(q.Question), query.Options{Now: time.Now(), Transport: contract.TransportLocal})
	if err != nil || resp.Results == nil {
		b.Fatalf("%q: %v", q.Question, err)
	}
	i := slices.IndexFunc(resp.Results.Hits, func(h contract.Hit) bool { return slices.Contains(want, h.SessionID) })
	return i + 1, true
}
