package index

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/reconcile"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// report is what the last passes observed, kept in the index: every process
// tells the same of it, also one that just began. It does not move the
// generation.
type report struct {
	At       int64                `json:"at"`    // end of the last pass, ms
	SweptAt  int64                `json:"swept"` // end of the last sweep, ms
	Due      int                  `json:"due"`   // sources that failed and will be tried again
	Degraded []reconcile.Degraded `json:"degraded,omitempty"`
	Roots    map[string][]string  `json:"roots,omitempty"` // by agent, the folders that were looked into
}

// reportNote is the name under which the index keeps it.
const reportNote = "report"

// readReport reads a report, nil for none or one that cannot be read: then all
// is looked at again.
func readReport(text string) *report {
	var r report
	if text == "" || json.Unmarshal([]byte(text), &r) != nil || r.SweptAt == 0 {
		return nil
	}
	return &r
}

// keepReport adds what a pass observed to the report in the index. It fails
// only if the index is damaged: no answer depends on it.
func (s *Service) keepReport(ctx context.Context, w *store.Writer, last *report, result *reconcile.Result) error {
	r := &report{}
	if last != nil {
		*r = *last
	}
	r.At = s.now().UnixMilli()
	if result.Swept {
		*r = report{At: r.At, SweptAt: r.At, Due: result.Due}
	} else if r.Due > 0 || result.Failed > 0 {
		n, err := w.Retrying(ctx, reconcile.MaxFails)
		if err != nil {
			return onlyDamage(err)
		}
		r.Due = n
	}
	r.look(result)
	text, err := json.Marshal(r)
	if err != nil {
		return onlyDamage(err)
	}
	return onlyDamage(w.Note(ctx, reportNote, string(text)))
}

func onlyDamage(err error) error {
	if store.IsDamage(err) {
		return err
	}
	return nil
}

// look takes over what a pass saw of the roots it discovered.
func (r *report) look(result *reconcile.Result) {
	if len(result.Agents) == 0 && !result.Swept {
		return
	}
	roots := map[string][]string{}
	for agent, list := range r.Roots {
		if !slices.Contains(result.Agents, agent) {
			roots[agent] = list
		}
	}
	var looked []string
	for _, root := range result.Roots {
		looked = append(looked, root.Path)
		if (root.Err == nil || root.Configured || !errors.Is(root.Err, fs.ErrNotExist)) && !slices.Contains(roots[root.Agent], root.Path) {
			roots[root.Agent] = append(roots[root.Agent], root.Path)
		}
	}
	r.Roots = roots
	degraded := slices.DeleteFunc(slices.Clone(r.Degraded), func(d reconcile.Degraded) bool {
		return slices.ContainsFunc(looked, func(root string) bool { return transcript.Within(root, d.Root) })
	})
	for _, d := range result.Degraded {
		if !slices.Contains(degraded, d) {
			degraded = append(degraded, d)
		}
	}
	r.Degraded = degraded
}

// addTo puts what the passes observed into a status.
func (r *report) addTo(status *contract.Status) {
	if r == nil {
		return
	}
	for _, d := range r.Degraded {
		status.DegradedRoots = append(status.DegradedRoots, contract.DegradedRoot{Root: d.Root, Reason: d.Reason})
	}
	status.FilesDue = r.Due
	at, swept := r.At, r.SweptAt
	status.LastReconcileAt, status.LastSweepCompletedAt = &at, &swept
}
