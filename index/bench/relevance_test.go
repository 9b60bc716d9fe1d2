package bench_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/bench"
	"github.com/sessionls/sessionls/index/bench/corpus"
	"github.com/sessionls/sessionls/index/query"
)

func silent(string, int64, int64) {}

func relevance(t *testing.T, o bench.RelevanceOptions) *bench.RelevanceReport {
	t.Helper()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	o.Tell = silent
	got, err := bench.Relevance(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("it left %v behind: %v", left, err)
	}
	return got
}

// TestRecallIsWhatItIs: a home of which is known what is found.
func TestRecallIsWhatItIs(t *testing.T) {
	home := t.TempDir()
	ids := []string{"9e0a0000-0000-4000-8000-000000000001", "9e0a0000-0000-4000-8000-000000000002"}
	for i, word := range []string{"kzaqulb", "vlozemp"} {
		if err := corpus.Filler(home, ids[i], uint64(i+1), 20_000, word); err != nil {
			t.Fatal(err)
		}
	}
	truth := corpus.Truth{Seed: 3, Needles: []corpus.Needle{
		{ID: "a", Kind: "there", Query: "kzaqulb", Expect: ids[:1]},
		{ID: "b", Kind: "there", Query: "vlozemp", Expect: ids[1:]},
		{ID: "c", Kind: "half", Query: "kzaqulb", Expect: ids},
		{ID: "d", Kind: "elsewhere", Query: "vlozemp", Expect: ids[:1], Where: "user", Text: "vlozemp"},
	}}
	raw, err := json.Marshal(truth)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "truth.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	got := relevance(t, bench.RelevanceOptions{Needles: 5, Corpus: home, Truth: file}).Needles
	want := map[string][2]float64{"there": {1, 1}, "half": {1, 0.5}, "elsewhere": {0, 0}}
	for _, k := range got.Kinds {
		if w := want[k.Kind]; k.At1 != w[0] || k.At10 != w[1] {
			t.Errorf("%s: recall@1 %v, recall@10 %v, want %v", k.Kind, k.At1, k.At10, w)
		}
	}
	if len(got.Kinds) != 3 || got.All.Needles != 4 || got.All.At1 != 0.75 || got.All.At10 != 0.625 {
		t.Errorf("%+v", got)
	}
	if miss := got.Kinds[2].Misses; len(miss) != 1 || miss[0].ID != "d" || miss[0].Rank != 0 {
		t.Errorf("misses %+v", miss)
	}
}

// TestNeedlesAreFound: what is planted in the agents' transcripts is found by
// every kind of query.
func TestNeedlesAreFound(t *testing.T) {
	got := relevance(t, bench.RelevanceOptions{Needles: 2, Seed: 5})
	if len(got.Needles.Kinds) != len(corpus.Kinds()) {
		t.Errorf("%d kinds of %d", len(got.Needles.Kinds), len(corpus.Kinds()))
	}
	for _, k := range got.Needles.Kinds {
		if k.Needles != 2 || k.At1 != 1 || k.At10 != 1 {
			t.Errorf("%+v", k)
		}
	}
	tables := got.Tables()
	if len(tables) != 1 || len(tables[0].Rows) != len(corpus.Kinds())+1 {
		t.Fatalf("%+v", tables)
	}
	var out strings.Builder
	if err := tables[0].Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"recall@1", "CJK 1", "two messages", "all"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("no %q in\n%s", text, out.String())
		}
	}
}

// talks are two invented dialogues in LoCoMo's form.
const talks = `[
{"sample_id":"one","conversation":{"speaker_a":"Ada","speaker_b":"Bo",
 "session_1_date_time":"1:56 pm on 8 May, 2023","session_1":[{"speaker":"Ada","dia_id":"D1:1","text":"I bought a kayak for the lake."},{"speaker":"Bo","dia_id":"D1:2","text":"Lovely!"}],
 "session_2_date_time":"unknown","session_2":[{"speaker":"Bo","dia_id":"D2:1","text":"My pottery class begins in June."}]},
 "qa":[{"question":"Who bought a kayak?","evidence":["D1:1"],"category":4},
  {"question":"When does the pottery class begin?","evidence":["D2:1"],"category":2},
  {"question":"Who bought a kayak?","evidence":["D2:1"],"category":9},
  {"question":"kayak pottery class","evidence":["D1:1; D2:1"],"category":1},
  {"question":"Anything without evidence?","evidence":[],"category":5}]},
{"sample_id":"two","conversation":{"speaker_a":"Cy","speaker_b":"Di","session_1":[{"speaker":"Cy","dia_id":"D1:1","text":"The violin needs a new string."}]},
 "qa":[{"question":"What does the violin need?","evidence":["D1:1"],"category":4}]}]`

func TestLoCoMo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talks.json")
	if err := os.WriteFile(file, []byte(talks), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, together := range []bool{false, true} {
		got := relevance(t, bench.RelevanceOptions{LoCoMo: file, Together: together})
		l := got.LoCoMo
		if got.Needles != nil || l.Dialogues != 2 || l.Sessions != 3 || l.Together != together || l.All.Questions != 5 {
			t.Fatalf("%+v", l)
		}
		want := map[string]bench.Answers{
			"single-hop": {Questions: 2, Hit1: 1, Hit5: 1, MRR: 1}, "temporal": {Questions: 1, Hit1: 1, Hit5: 1, MRR: 1},
			"multi-hop": {Questions: 1, Hit1: 1, Hit5: 1, MRR: 1}, "category 9": {Questions: 1, Hit1: 0},
		}
		for _, c := range l.Categories {
			w := want[c.Category]
			if c.Questions != w.Questions || c.Hit1 != w.Hit1 || c.Category != "category 9" && (c.Hit5 != w.Hit5 || c.MRR != w.MRR) {
				t.Errorf("together %v: %+v, want %+v", together, c, w)
			}
		}
		if len(l.Categories) != 4 || len(got.Tables()) != 1 || len(got.Tables()[0].Rows) != 5 {
			t.Errorf("%+v", l.Categories)
		}
	}
}

// TestAblations: each part of the ranking is left out once, of the same
// questions and needles.
func TestAblations(t *testing.T) {
	home := t.TempDir()
	id := "9e0a0000-0000-4000-8000-000000000001"
	if err := corpus.Filler(home, id, 1, 20_000, "kzaqulb"); err != nil {
		t.Fatal(err)
	}
	truth := filepath.Join(t.TempDir(), "truth.json")
	talk := filepath.Join(t.TempDir(), "talks.json")
	for file, text := range map[string]string{truth: `{"needles":[{"id":"a","kind":"word","query":"kzaqulb","expect":["` + id + `"]}]}`, talk: talks} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := relevance(t, bench.RelevanceOptions{Corpus: home, Truth: truth, LoCoMo: talk, Ablate: true})
	if len(got.Ablations) != len(query.Ablations()) {
		t.Fatalf("%d ablations", len(got.Ablations))
	}
	for i, a := range got.Ablations {
		if a.Without != query.Ablations()[i].Name || a.Needles.Needles != 1 || a.Needles.At1 != 1 || a.LoCoMo.Questions != 5 || a.LoCoMo.Hit1 != 0.8 {
			t.Errorf("%+v %+v %+v", a, a.Needles, a.LoCoMo)
		}
	}
	tables := got.Tables()
	if last := tables[len(tables)-1]; len(last.Rows) != 1+len(got.Ablations) {
		t.Errorf("%+v", last)
	}
}

func TestRelevanceRefuses(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte(`[{"sample_id":"x","conversation":{"speaker_a":1}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []bench.RelevanceOptions{
		{Corpus: t.TempDir()}, {Truth: bad},
		{Corpus: filepath.Join(t.TempDir(), "none"), Truth: bad}, {Corpus: bad, Truth: bad}, {Corpus: t.TempDir(), Truth: bad},
		{LoCoMo: bad}, {LoCoMo: filepath.Join(t.TempDir(), "none")}, {Needles: corpus.MaxNeedles + 1},
	} {
		o.Tell = silent
		if _, err := bench.Relevance(context.Background(), o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := bench.Relevance(ctx, bench.RelevanceOptions{Needles: 1, Tell: silent}); err == nil {
		t.Error("it went on after the end")
	}
}
