package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/sessionls/sessionls/index/bench/report"
	"github.com/sessionls/sessionls/index/query"
)

// Ablation is what is found by the ranking without one of its parts: what the
// part is worth is what is lost.
type Ablation struct {
	Without string   `json:"without"`
	Needles *Recall  `json:"needles,omitempty"`
	LoCoMo  *Answers `json:"locomo,omitempty"`

	ranking query.Ranking
}

// ablations are all of them; nil for none.
type ablations struct{ list []Ablation }

func newAblations() *ablations {
	a := &ablations{}
	for _, x := range query.Ablations() {
		a.list = append(a.list, Ablation{Without: x.Name, ranking: x.Ranking})
	}
	return a
}

// each opens the library's index again for every ablation.
func (a *ablations) each(ctx context.Context, l *library, ask func(*library, *Ablation) error) error {
	if a == nil {
		return nil
	}
	for i := range a.list {
		x := &a.list[i]
		again, err := openRanked(ctx, l.home, l.own, &x.ranking)
		if err != nil {
			return err
		}
		if err := errors.Join(ask(again, x), again.Close()); err != nil {
			return fmt.Errorf("ask without %s: %w", x.Without, err)
		}
	}
	return nil
}

func (a *Ablation) planted() *Recall {
	if a.Needles == nil {
		a.Needles = &Recall{Kind: "all"}
	}
	return a.Needles
}

func (a *Ablation) answered() *Answers {
	if a.LoCoMo == nil {
		a.LoCoMo = &Answers{Category: "all"}
	}
	return a.LoCoMo
}

func (a *ablations) close() []Ablation {
	if a == nil {
		return nil
	}
	for i := range a.list {
		if n := a.list[i].Needles; n != nil {
			n.close()
			n.Misses = nil // of so many rankings too many
		}
		if l := a.list[i].LoCoMo; l != nil {
			l.close()
		}
	}
	return a.list
}

// ablationTable compares each ablation with the whole ranking.
func (r *RelevanceReport) ablationTable() report.Table {
	t := report.Table{
		Title:   "The ranking without each of its parts",
		Columns: []string{"without", "recall@1", "recall@10", "hit@1 %", "hit@5 %", "MRR"},
		Notes:   []string{"recall of the needles, hits and MRR of LoCoMo's questions"},
	}
	add := func(name string, n *Recall, l *Answers) {
		row := []string{name, "", "", "", "", ""}
		if n != nil {
			row[1], row[2] = fmt.Sprintf("%.3f", n.At1), fmt.Sprintf("%.3f", n.At10)
		}
		if l != nil {
			row[3], row[4], row[5] = fmt.Sprintf("%.1f", 100*l.Hit1), fmt.Sprintf("%.1f", 100*l.Hit5), fmt.Sprintf("%.3f", l.MRR)
		}
		t.Add(row...)
	}
	var needles *Recall
	var answers *Answers
	if r.Needles != nil {
		needles = &r.Needles.All
	}
	if r.LoCoMo != nil {
		answers = &r.LoCoMo.All
	}
	add("nothing", needles, answers)
	for i := range r.Ablations {
		a := &r.Ablations[i]
		add(a.Without, a.Needles, a.LoCoMo)
	}
	return t
}
