package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sessionls/sessionls/index/bench/corpus"
	"github.com/sessionls/sessionls/index/bench/report"
)

// RelevanceOptions say what to look for.
type RelevanceOptions struct {
	// Needles is how many of each kind are planted in a corpus of the bench's
	// own; 0 leaves them out.
	Needles int
	Seed    uint64
	// Corpus and Truth name a home with needles and its truth file, to be used
	// instead of a corpus of the bench's own.
	Corpus, Truth string
	// LoCoMo names a file of LoCoMo's dialogues; "" leaves them out. Together
	// puts all dialogues into one index instead of one each.
	LoCoMo   string
	Together bool
	// Ablate asks everything again of the ranking without each of its parts.
	Ablate bool
	Tell   Tell
}

// RelevanceReport is what was found.
type RelevanceReport struct {
	Bench   string         `json:"bench"` // relevance
	Needles *NeedlesReport `json:"needles,omitempty"`
	LoCoMo  *LoCoMoReport  `json:"locomo,omitempty"`
	// Ablations are there when they were asked for.
	Ablations []Ablation `json:"ablations,omitempty"`
}

// NeedlesReport is how often planted needles were found.
type NeedlesReport struct {
	Seed     uint64   `json:"seed"`
	Bytes    int64    `json:"bytes"`
	Sessions int      `json:"sessions"`
	All      Recall   `json:"all"`
	Kinds    []Recall `json:"kinds"`
}

// Recall is how often needles of one kind were found.
type Recall struct {
	Kind    string `json:"kind"`
	Needles int    `json:"needles"`
	// At1 is the share of needles for which a session that holds it came first.
	At1 float64 `json:"recallAt1"`
	// At10 is, on average, the share of the sessions that hold a needle that
	// were among the first ten.
	At10 float64 `json:"recallAt10"`
	// Misses are the first of the needles that did not come first, or not
	// wholly among ten.
	Misses []Miss `json:"misses,omitempty"`
}

// Miss is a needle that was not found as it should be.
type Miss struct {
	ID    string `json:"id"`
	Where string `json:"where"`
	Query string `json:"query"`
	Text  string `json:"text"`
	// Rank is where the first session that holds it came; 0 is not at all.
	Rank int `json:"rank"`
}

// missesTold bounds the misses of a kind in a report.
const missesTold = 10

// Relevance measures what searches find.
func Relevance(ctx context.Context, o RelevanceOptions) (_ *RelevanceReport, err error) {
	if (o.Corpus == "") != (o.Truth == "") {
		return nil, errors.New("a corpus and its truth file must be named together")
	}
	dir, remove, err := folder()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	out := &RelevanceReport{Bench: "relevance"}
	var ablations *ablations
	if o.Ablate {
		ablations = newAblations()
	}
	if o.Needles > 0 || o.Corpus != "" {
		if out.Needles, err = needles(ctx, o, dir, ablations); err != nil {
			return nil, err
		}
	}
	if o.LoCoMo != "" {
		if out.LoCoMo, err = loCoMo(ctx, o, dir, ablations); err != nil {
			return nil, err
		}
	}
	out.Ablations = ablations.close()
	return out, nil
}

// haystack is the corpus in which n needles of each kind are looked for: large
// enough that there is always something else to find.
func haystack(seed uint64, n int) corpus.Config {
	return corpus.Config{Seed: seed, Needles: n, Sessions: max(100, 15*n), Bytes: max(4_000_000, int64(n)*600_000)}
}

func needles(ctx context.Context, o RelevanceOptions, dir string, ablations *ablations) (_ *NeedlesReport, err error) {
	home, truth := o.Corpus, (*corpus.Truth)(nil)
	if home != "" {
		if home, err = absolute(home); err != nil {
			return nil, err
		}
		if truth, err = corpus.ReadTruth(o.Truth); err != nil {
			return nil, err
		}
	} else {
		home = filepath.Join(dir, "home")
		c := haystack(o.Seed, o.Needles)
		if truth, err = corpus.Write(ctx, home, c, func(done int64) { o.Tell("writing a corpus", done, c.Bytes) }); err != nil {
			return nil, err
		}
	}
	l, err := build(ctx, home, filepath.Join(dir, "needles"), "indexing it", o.Tell)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	out := &NeedlesReport{Seed: truth.Seed, Bytes: truth.Size, Sessions: len(truth.Sessions), All: Recall{Kind: "all"}}
	if err := l.seek(ctx, truth, o.Tell, out.add); err != nil {
		return nil, err
	}
	err = ablations.each(ctx, l, func(l *library, a *Ablation) error {
		return l.seek(ctx, truth, o.Tell, a.planted().add)
	})
	if err != nil {
		return nil, err
	}
	out.All.Misses = nil // told with their kinds
	out.All.close()
	for i := range out.Kinds {
		out.Kinds[i].close()
	}
	return out, nil
}

// seek looks for all needles and tells of each which sessions were found.
func (l *library) seek(ctx context.Context, truth *corpus.Truth, tell Tell, add func(*corpus.Needle, []string)) error {
	for i := range truth.Needles {
		tell("looking for needles", int64(i), int64(len(truth.Needles)))
		found, err := l.found(ctx, truth.Needles[i].Query)
		if err != nil {
			return err
		}
		add(&truth.Needles[i], found)
	}
	return nil
}

// add counts a needle for its kind and for all.
func (r *NeedlesReport) add(n *corpus.Needle, found []string) {
	k := slices.IndexFunc(r.Kinds, func(x Recall) bool { return x.Kind == n.Kind })
	if k < 0 {
		k, r.Kinds = len(r.Kinds), append(r.Kinds, Recall{Kind: n.Kind})
	}
	r.Kinds[k].add(n, found)
	r.All.add(n, found)
}

// add counts one needle; the shares are sums until close.
func (r *Recall) add(n *corpus.Needle, found []string) {
	r.Needles++
	rank := 1 + slices.IndexFunc(found, func(id string) bool { return slices.Contains(n.Expect, id) })
	if rank == 1 {
		r.At1++
	}
	ten, within := found[:min(10, len(found))], 0
	for _, id := range n.Expect {
		if slices.Contains(ten, id) {
			within++
		}
	}
	r.At10 += float64(within) / float64(len(n.Expect))
	if (rank != 1 || within < len(n.Expect)) && len(r.Misses) < missesTold {
		r.Misses = append(r.Misses, Miss{n.ID, n.Where, n.Query, n.Text, rank})
	}
}

func (r *Recall) close() {
	r.At1 /= float64(max(r.Needles, 1))
	r.At10 /= float64(max(r.Needles, 1))
}

// Tables are the report for people.
func (r *RelevanceReport) Tables() []report.Table {
	var out []report.Table
	if n := r.Needles; n != nil {
		t := report.Table{
			Title:   fmt.Sprintf("Needles in %d sessions, %s, seed %d", n.Sessions, megabytes(n.Bytes), n.Seed),
			Columns: []string{"kind", "needles", "recall@1", "recall@10"},
			Notes:   []string{"recall@1: a session that holds the needle is first; recall@10: the share of those that hold it among the first ten"},
		}
		for _, k := range append(slices.Clone(n.Kinds), n.All) {
			t.Add(k.Kind, fmt.Sprint(k.Needles), fmt.Sprintf("%.3f", k.At1), fmt.Sprintf("%.3f", k.At10))
		}
		out = append(out, t)
	}
	if l := r.LoCoMo; l != nil {
		out = append(out, l.table())
	}
	if len(r.Ablations) > 0 {
		out = append(out, r.ablationTable())
	}
	return out
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
