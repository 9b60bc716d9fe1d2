package exact

import (
	"context"
	"slices"

	"github.com/sessionls/sessionls/contract"
)

// maxListed bounds each list of positions in the answer of traceEvent.
const maxListed = 100_000

// TraceEvent answers traceEvent.
func (e *Engine) TraceEvent(ctx context.Context, request contract.TraceEventRequest) (contract.TraceEventResponse, error) {
	var out contract.TraceEventResponse
	err := e.with(ctx, request.SessionName, func(l *log) error {
		target, err := l.target(request.EventName)
		if err != nil {
			return err
		}
		if err := l.surfaceFault(); err != nil {
			return err
		}
		out = contract.TraceEventResponse{Session: l.header, Target: l.record(l.name, target)}
		if l.kept {
			out.Session.Warnings = append(out.Session.Warnings, "how events stand to each other is not kept")
		}
		t := tracing{l: l, out: &out, target: int32(target)}
		t.replacements()
		t.provenance()
		for _, c := range l.copies {
			if c.seq == t.target {
				out.InheritedFrom = &contract.InheritedFrom{SessionID: c.parent, Seq: int64(c.original)}
				break
			}
		}
		return nil
	})
	return out, err
}

type tracing struct {
	l      *log
	out    *contract.TraceEventResponse
	target int32
}

// list adds [from, to) to a list, within bounds.
func (t *tracing) list(to *contract.List[int64], from, end int32) {
	for ; from < end; from++ {
		if len(*to) == maxListed {
			t.out.Truncated = true
			return
		}
		*to = append(*to, int64(from))
	}
}

func (t *tracing) replacements() {
	for _, r := range t.l.replaced {
		if r.by == t.target {
			t.list(&t.out.ReplacedEventSeqs, r.from, r.to)
		}
	}
	if t.l.replacedBy == nil {
		return
	}
	// A replacer that is replaced by what it replaced is in no honest log.
	seen := map[int32]bool{t.target: true}
	for at := t.by(t.target); at >= 0 && !seen[at]; at = t.by(at) {
		seen[at] = true
		t.list(&t.out.ReplacementChain, at, at+1)
	}
	if len(t.out.ReplacementChain) > 0 {
		first := t.out.ReplacementChain[0]
		t.out.ReplacedBy = &first
	}
}

// by is what replaced an event, -1 if nothing did.
func (t *tracing) by(seq int32) int32 {
	if int(seq) >= len(t.l.replacedBy) {
		return -1
	}
	return t.l.replacedBy[seq]
}

func (t *tracing) provenance() {
	linked, recorded := len(t.out.ReplacementChain)+len(t.out.ReplacedEventSeqs) > 0, false
	for _, s := range t.l.sources {
		switch {
		case s.seq == t.target:
			t.list(&t.out.SourceEventSeqs, s.from, s.to)
		case s.from <= t.target && t.target < s.to:
			t.list(&t.out.DerivedEventSeqs, s.seq, s.seq+1)
		default:
			continue
		}
		linked, recorded = true, recorded || s.recorded
		t.out.DerivedProvenance = t.out.DerivedProvenance || !s.recorded
	}
	slices.Sort(t.out.DerivedEventSeqs)
	t.out.DerivedEventSeqs = slices.Compact(t.out.DerivedEventSeqs)
	// What replaces without citing what it replaced was told by the format.
	t.out.DerivedProvenance = t.out.DerivedProvenance || linked && !recorded
}
