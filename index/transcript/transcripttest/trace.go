package transcripttest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
)

// Links is what a Trace recorded of one session, by position.
type Links struct {
	By        map[int]int        // what took an event off the surface first
	Sources   map[int][]int      // what an event was made from
	Recorded  map[int]bool       // whose sources the file itself holds
	Originals map[int]string     // of copies: "session/position"
	Data      map[int]string     // the agent's records, where they were handed over
	Synthetic []transcript.Event // the balanced end of an interrupted turn
	replaced  map[int][]int      // by replacer, in the order told
	order     []int              // of all events, once one was moved
	moved     map[int]int        // event → the one it stands before
}

// Trace is a Recorder that also takes links, and checks the rules they must
// keep.
type Trace struct {
	*Recorder
	Links  map[string]*Links
	strict bool
}

// NewTrace returns an empty Trace. A strict one wants damage told.
func NewTrace(t testing.TB, strict bool) *Trace {
	return &Trace{Recorder: NewRecorder(t), Links: map[string]*Links{}, strict: strict}
}

// Strict implements transcript.Strict.
func (tr *Trace) Strict() bool { return tr.strict }

// Begin implements transcript.Sink.
func (tr *Trace) Begin(resumed bool) error {
	if resumed {
		tr.t.Error("a reading with links is no continued one")
	}
	return tr.Recorder.Begin(resumed)
}

func (tr *Trace) links(id string) *Links {
	l := tr.Links[id]
	if l == nil {
		l = &Links{By: map[int]int{}, Sources: map[int][]int{}, Recorded: map[int]bool{}, Originals: map[int]string{}, Data: map[int]string{},
			replaced: map[int][]int{}, moved: map[int]int{}}
		tr.Links[id] = l
	}
	if tr.headers[id] {
		tr.t.Errorf("session %q: a link after the header", id)
	}
	return l
}

// check reports positions that no event of the session has so far.
func (tr *Trace) check(what, id string, seqs ...int) bool {
	tr.t.Helper()
	n := len(tr.session(id).Events) + len(tr.links(id).Synthetic)
	for _, s := range seqs {
		if s < 0 || s >= n {
			tr.t.Errorf("session %q: %s %v of %d events", id, what, seqs, n)
			return false
		}
	}
	return true
}

// Replaced implements transcript.Tracer.
func (tr *Trace) Replaced(id string, from, to, by int) error {
	l := tr.links(id)
	if from >= to || by >= from && by < to || !tr.check("replaced", id, from, to-1, by) {
		tr.t.Errorf("session %q: [%d,%d) replaced by %d", id, from, to, by)
		return nil
	}
	for i := from; i < to; i++ {
		if old, twice := l.By[i]; twice && old == by {
			tr.t.Errorf("session %q: %d replaced by %d twice", id, i, by)
		} else if !twice {
			l.By[i] = by
		}
		l.replaced[by] = append(l.replaced[by], i)
	}
	return nil
}

// Source implements transcript.Tracer.
func (tr *Trace) Source(id string, seq, source int, recorded bool) error {
	l := tr.links(id)
	if !tr.check("source", id, seq, source) {
		return nil
	}
	if seq == source {
		tr.t.Errorf("session %q: %d is its own source", id, seq)
	}
	l.Sources[seq] = append(l.Sources[seq], source)
	l.Recorded[seq] = l.Recorded[seq] || recorded
	return nil
}

// Sources implements transcript.Tracer.
func (tr *Trace) Sources(id string, seq, from, to int) error {
	if from >= to {
		tr.t.Errorf("session %q: sources [%d,%d) of %d", id, from, to, seq)
	}
	for i := from; i < to; i++ {
		if err := tr.Source(id, seq, i, false); err != nil {
			return err
		}
	}
	return nil
}

// Order implements transcript.Tracer.
func (tr *Trace) Order(id string, seq, before int) error {
	l := tr.links(id)
	if !tr.check("order", id, seq, before) || seq == before {
		tr.t.Errorf("session %q: %d moved before %d", id, seq, before)
		return nil
	}
	l.moved[seq] = before
	for i := len(l.order); i < len(tr.session(id).Events); i++ {
		l.order = append(l.order, i)
	}
	l.order = slices.Delete(l.order, slices.Index(l.order, seq), slices.Index(l.order, seq)+1)
	l.order = slices.Insert(l.order, slices.Index(l.order, before), seq)
	return nil
}

// Inherited implements transcript.Tracer.
func (tr *Trace) Inherited(id string, seq int, parent string, original int) error {
	l := tr.links(id)
	if !tr.check("inherited", id, seq) {
		return nil
	}
	if !tr.session(id).Events[seq].Inherited || parent == "" || original < 0 {
		tr.t.Errorf("session %q: %d is said to be %d of %q", id, seq, original, parent)
	}
	l.Originals[seq] = fmt.Sprintf("%s/%d", parent, original)
	return nil
}

// Wants implements transcript.Tracer.
func (tr *Trace) Wants(string, int) bool { return true }

// Data implements transcript.Tracer.
func (tr *Trace) Data(id string, seq int, data []byte) error {
	l := tr.links(id)
	if !tr.check("data", id, seq) {
		return nil
	}
	if _, twice := l.Data[seq]; twice || !json.Valid(data) {
		tr.t.Errorf("session %q: data of %d is given twice or is no JSON: %.200q", id, seq, data)
	}
	l.Data[seq] = string(data)
	return nil
}

// Synthetic implements transcript.Tracer.
func (tr *Trace) Synthetic(e *transcript.Event) error {
	l := tr.links(e.SessionID)
	if want := len(tr.session(e.SessionID).Events) + len(l.Synthetic); e.Seq != want {
		tr.t.Errorf("session %q: synthetic event %d where %d belongs", e.SessionID, e.Seq, want)
	}
	c := *e
	c.Parts = slices.Clone(e.Parts)
	l.Synthetic = append(l.Synthetic, c)
	return nil
}

// Chain follows the replacements of an event to the last one.
func (l *Links) Chain(seq int) []int {
	var out []int
	for {
		by, ok := l.By[seq]
		if !ok || slices.Contains(out, by) {
			return out
		}
		out, seq = append(out, by), by
	}
}

// Replaced lists what an event took off the surface.
func (l *Links) Replaced(by int) []int { return l.replaced[by] }

// Derived lists the events that were made from one.
func (l *Links) Derived(seq int) []int {
	var out []int
	for s, from := range l.Sources {
		if slices.Contains(from, seq) {
			out = append(out, s)
		}
	}
	sort.Ints(out)
	return out
}

// Model lists the events that the model still sees, in its order.
func (tr *Trace) Model(id string) []int {
	events := tr.Sessions[id].Events
	var order []int
	if l := tr.Links[id]; l != nil {
		order = slices.Clone(l.order)
	}
	for i := len(order); i < len(events); i++ {
		order = append(order, i)
	}
	return slices.DeleteFunc(order, func(i int) bool { return events[i].Surface != transcript.Current })
}

// TraceAll reads one source whole, with and without links, and checks that the
// sessions are the same and that all links hold.
func TraceAll(t testing.TB, rd transcript.Reader, env transcript.Env, src transcript.Source) (*Trace, error) {
	t.Helper()
	tr := NewTrace(t, false)
	_, err := rd.Read(context.Background(), env, src, nil, tr)
	plain, _, plainErr := ReadAll(t, rd, env, src)
	if (err == nil) != (plainErr == nil) {
		t.Errorf("read %s: error %v with links, %v without", src.Path, err, plainErr)
	}
	if err != nil {
		return tr, err
	}
	for _, id := range Sorted(plain) {
		with := tr.Sessions[id]
		if with == nil {
			t.Errorf("session %q is missing with links", id)
			continue
		}
		if got, want := Render(with), Render(plain[id]); got != want {
			t.Errorf("session %q differs with links:\n%s", id, diff(want, got))
		}
	}
	for id, l := range tr.Links {
		s := tr.Sessions[id]
		if s == nil || !tr.headers[id] {
			t.Errorf("links of session %q, which has no header", id)
			continue
		}
		for seq, by := range l.By {
			if s.Events[seq].Surface != transcript.Shadowed {
				t.Errorf("session %q: %d is %s, but replaced by %d", id, seq, s.Events[seq].Surface, by)
			}
		}
	}
	return tr, nil
}

// Traces reads every source below a home with links. Sessions are found by their
// ids; those of one source share its Trace.
func Traces(t testing.TB, rd transcript.Reader, home string) map[string]*Trace {
	t.Helper()
	env, out := Env(home, nil), map[string]*Trace{}
	for _, src := range Sources(t, rd, env) {
		tr, err := TraceAll(t, rd, env, src)
		if err != nil {
			t.Fatalf("read %s: %v", src.Path, err)
		}
		for id := range tr.Sessions {
			out[id] = tr
		}
	}
	return out
}

// runs renders ascending runs of numbers as "1-3 5".
func runs(seqs []int) string {
	var b strings.Builder
	for i := 0; i < len(seqs); {
		j := i
		for j+1 < len(seqs) && seqs[j+1] == seqs[j]+1 {
			j++
		}
		fmt.Fprintf(&b, " %d", seqs[i])
		if j > i {
			fmt.Fprintf(&b, "-%d", seqs[j])
		}
		i = j + 1
	}
	return b.String()
}

// Render writes the links as text, one kind after the other.
func (l *Links) Render() string {
	if l == nil {
		return ""
	}
	var b strings.Builder
	for _, by := range keys(l.replaced) {
		fmt.Fprintf(&b, "  %d replaces%s\n", by, runs(l.replaced[by]))
	}
	for _, seq := range keys(l.Sources) {
		recorded := ""
		if l.Recorded[seq] {
			recorded = ", as recorded"
		}
		fmt.Fprintf(&b, "  %d is made from%s%s\n", seq, runs(l.Sources[seq]), recorded)
	}
	for _, seq := range keys(l.moved) {
		fmt.Fprintf(&b, "  %d stands before %d\n", seq, l.moved[seq])
	}
	for _, seq := range keys(l.Originals) {
		fmt.Fprintf(&b, "  %d is a copy of %s\n", seq, l.Originals[seq])
	}
	for i := range l.Synthetic {
		e := &l.Synthetic[i]
		fmt.Fprintf(&b, "  %d %s is synthetic\n", e.Seq, e.Type)
	}
	return b.String()
}

func keys[V any](m map[int]V) []int {
	out := make([]int, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Ints(out)
	return out
}
