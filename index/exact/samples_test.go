package exact_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/transcript"
)

// events walks through the pages of a command, of that many events each.
func (w *world) events(command string, name contract.SessionName, limit int, more ...string) []contract.EventRecord {
	w.t.Helper()
	var all []contract.EventRecord
	members := append([]string{fmt.Sprintf(`"limit":%d`, limit)}, more...)
	for next := ""; ; {
		page := ask[contract.EventPage](w, command, of(name, append(members, next)[:len(members)+min(1, len(next))]...))
		all = append(all, page.Events...)
		if page.Page.HasMore != (page.Page.Cursor != nil) || len(page.Events) > limit {
			w.t.Fatalf("%s: %d events, page %+v", command, len(page.Events), page.Page)
		}
		if page.Page.Cursor == nil {
			return all
		}
		next = `"cursor":` + quoted(*page.Page.Cursor)
	}
}

// log reads a whole log in slices.
func (w *world) log(name contract.SessionName, limit int) []contract.EventRecord {
	w.t.Helper()
	var all []contract.EventRecord
	for from := int64(0); ; {
		r := ask[contract.ReadSessionResponse](w, "readSession", of(name, fmt.Sprintf(`"fromSeq":%d,"limit":%d`, from, limit)))
		all = append(all, r.Events...)
		if r.NextSeq == nil {
			return all
		}
		if *r.NextSeq != int64(len(all)) {
			w.t.Fatalf("next is %d after %d events", *r.NextSeq, len(all))
		}
		from = *r.NextSeq
	}
}

func seqs(events []contract.EventRecord) []int64 {
	out := make([]int64, len(events))
	for i, e := range events {
		out[i] = e.Seq
	}
	return out
}

// bare is a record without text and data.
func bare(e contract.EventRecord) string {
	e.Text, e.TextTruncated, e.Data, e.DataBytes, e.DataTruncated = nil, false, nil, 0, false
	b, _ := json.Marshal(e)
	return string(b)
}

// Whatever the agent, all reads of a session tell the same of it.
func TestSamplesOfAllAgents(t *testing.T) {
	w := samples(t, contract.TransportLocal)
	agents := map[string]int{}
	for _, h := range w.all() {
		name := nameOf(h)
		agents[h.Agent]++
		t.Run(h.Agent+" "+h.SessionID, func(t *testing.T) { w.consistent(t, name) })
	}
	for _, agent := range contract.Agents() {
		if agents[agent] == 0 {
			t.Errorf("no session of %s", agent)
		}
	}
}

func (w *world) consistent(t *testing.T, name contract.SessionName) {
	outer := w.t
	w.t = t
	defer func() { w.t = outer }()

	all := w.log(name, 7)
	if len(all) == 0 {
		t.Fatal("no events")
	}
	current := map[int64]bool{}
	for i, e := range all {
		if e.Seq != int64(i) || e.Agent != name.Agent || e.SessionID != name.SessionID || e.Text == nil || e.Data == nil || e.Type == "" || e.Role == "" {
			t.Errorf("event %d: %+v", i, e)
		}
		if string(e.Data) == "null" && !e.Synthetic {
			t.Errorf("event %d has no data: %s", i, bare(e))
		}
		if e.Surface == contract.SurfaceCurrent {
			current[e.Seq] = true
		}
	}
	for _, limit := range []int{1, 3, 1000} {
		listed := w.events("listEvents", name, limit)
		if len(listed) != len(all) {
			t.Fatalf("%d of %d events listed", len(listed), len(all))
		}
		for i, e := range listed {
			if e.Text != nil || e.Data != nil || bare(e) != bare(all[i]) {
				t.Errorf("listed %+v\nread %s", e, bare(all[i]))
			}
		}
	}
	// Events with text, whole and in pages.
	var worded []int64
	for _, e := range all {
		if *e.Text != "" {
			worded = append(worded, e.Seq)
		}
	}
	if got := seqs(w.events("filterEvents", name, 2)); !slices.Equal(got, worded) {
		t.Errorf("filterEvents: %v, with text are %v", got, worded)
	}
	for _, e := range all {
		fields := strings.Fields(*e.Text)
		if len(fields) == 0 {
			continue
		}
		// Any run of space for any other, in any case.
		text := strings.ToUpper(strings.Join(fields[:min(len(fields), 4)], " \n "))
		got := w.events("filterEvents", name, 100, `"text":`+quoted(text))
		if !slices.ContainsFunc(got, func(x contract.EventRecord) bool { return x.Seq == e.Seq && *x.Text == *e.Text }) {
			t.Errorf("%q is not found in event %d", text, e.Seq)
		}
	}
	// The surface: the current events, each once.
	var surface []int64
	for next := ""; ; {
		r := ask[contract.ReadSurfaceResponse](w, "readSurface", of(name, `"limit":2`+next))
		surface = append(surface, seqs(r.Events)...)
		if *r.CapturedThroughSeq != int64(len(all)-1) {
			t.Errorf("captured through %d of %d", *r.CapturedThroughSeq, len(all))
		}
		if r.Page.Cursor == nil {
			break
		}
		next = `,"cursor":` + quoted(*r.Page.Cursor)
	}
	for _, seq := range surface {
		if !current[seq] {
			t.Errorf("event %d is on the surface twice or not current", seq)
		}
		delete(current, seq)
	}
	if len(current) > 0 {
		t.Errorf("current, but not on the surface: %v", current)
	}
	for i, e := range all {
		r := ask[contract.ReadEventResponse](w, "readEvent", of(name, fmt.Sprintf(`"seq":%d,"before":2,"after":1`, i)))
		first, last := max(0, i-2), min(len(all)-1, i+1)
		if r.StartSeq != int64(first) || r.EndSeq != int64(last) || !slices.Equal(seqs(r.Events), seqs(all[first:last+1])) || r.Target.Seq != e.Seq || string(r.Target.Data) != string(e.Data) {
			t.Errorf("window around %d: %d to %d", i, r.StartSeq, r.EndSeq)
		}
		if e.EventID != nil {
			byID := ask[contract.ReadEventResponse](w, "readEvent", of(name, `"eventId":`+quoted(*e.EventID)))
			if byID.Target.EventID == nil || *byID.Target.EventID != *e.EventID {
				t.Errorf("by id %s: %+v", *e.EventID, byID.Target)
			}
		}
		w.traced(name, all, i)
	}
	w.rendered(name, all)
}

// traced holds the links of an event against the surface and each other.
func (w *world) traced(name contract.SessionName, all []contract.EventRecord, i int) {
	w.t.Helper()
	r := ask[contract.TraceEventResponse](w, "traceEvent", of(name, fmt.Sprintf(`"seq":%d`, i)))
	n := int64(len(all))
	for _, list := range [][]int64{r.ReplacementChain, r.ReplacedEventSeqs, r.SourceEventSeqs, r.DerivedEventSeqs} {
		for _, seq := range list {
			if seq < 0 || seq >= n || seq == int64(i) {
				w.t.Errorf("event %d is linked to %d of %d", i, seq, n)
			}
		}
	}
	if (r.ReplacedBy != nil) != (len(r.ReplacementChain) > 0) || r.ReplacedBy != nil && *r.ReplacedBy != r.ReplacementChain[0] {
		w.t.Errorf("event %d: replaced by %v, chain %v", i, r.ReplacedBy, r.ReplacementChain)
	}
	if r.ReplacedBy != nil && all[i].Surface != contract.SurfaceShadowed {
		w.t.Errorf("event %d is replaced and %s", i, all[i].Surface)
	}
	for _, seq := range r.SourceEventSeqs {
		back := ask[contract.TraceEventResponse](w, "traceEvent", of(name, fmt.Sprintf(`"seq":%d`, seq)))
		if !slices.Contains(back.DerivedEventSeqs, int64(i)) {
			w.t.Errorf("event %d comes from %d, which does not know", i, seq)
		}
	}
}

// rendered holds the Markdown against the map of its lines: in pieces it is the
// same as whole.
func (w *world) rendered(name contract.SessionName, all []contract.EventRecord) {
	w.t.Helper()
	whole := ask[contract.RenderTranscriptResponse](w, "renderTranscript", of(name, `"limit":2000,"tools":"full","thinking":true`))
	if again := ask[contract.RenderTranscriptResponse](w, "renderTranscript", of(name, `"limit":2000,"tools":"full","thinking":true`)); again.Markdown != whole.Markdown {
		w.t.Error("rendered twice, two texts")
	}
	lines := strings.Split(whole.Markdown, "\n")
	at := -1
	shown := map[int64]bool{}
	for _, l := range whole.Lines {
		if l.Line <= at || l.EndLine < l.Line || l.EndLine >= len(lines) || lines[l.Line] == "" || lines[l.EndLine] == "" {
			w.t.Errorf("lines %+v after %d of %d", l, at, len(lines))
		}
		at = l.EndLine
		shown[l.Seq] = true
	}
	for _, e := range all {
		if strings.TrimSpace(*e.Text) != "" && e.Type != "session/title" && !shown[e.Seq] {
			w.t.Errorf("event %d is not shown: %s", e.Seq, bare(e))
		}
	}
	var joined []contract.LineRange
	for from := int64(0); ; {
		r := ask[contract.RenderTranscriptResponse](w, "renderTranscript", of(name, fmt.Sprintf(`"fromSeq":%d,"limit":2,"tools":"full","thinking":true`, from)))
		joined = append(joined, r.Lines...)
		if r.NextSeq == nil {
			break
		}
		from = *r.NextSeq
	}
	if len(joined) != len(whole.Lines) {
		w.t.Errorf("%d events in pieces, %d as a whole", len(joined), len(whole.Lines))
	}
	none := ask[contract.RenderTranscriptResponse](w, "renderTranscript", of(name, `"limit":2000,"tools":"none"`))
	if strings.Contains(none.Markdown, "**Tool call") || strings.Contains(none.Markdown, "**Output") {
		w.t.Error("tools are shown")
	}
}

// A session whose transcript is gone is read from the kept copy: the same
// records and texts, no data and no links.
func TestKeptCopies(t *testing.T) {
	w := samples(t, contract.TransportLocal)
	before := map[contract.SessionName][]contract.EventRecord{}
	for _, h := range w.all() {
		before[nameOf(h)] = w.log(nameOf(h), 1000)
	}
	// Gone, and the index does not know yet; then when it does.
	for _, h := range w.all() {
		if strings.HasSuffix(h.SourcePath, ".jsonl") {
			w.must(os.Remove(h.SourcePath))
		}
	}
	for _, noticed := range []bool{false, true} {
		if noticed {
			w.reconcile()
		}
		kept := 0
		for _, h := range w.all() {
			if _, err := os.Stat(h.SourcePath); err == nil {
				continue // or another copy took its place
			}
			kept++
			name := nameOf(h)
			r := ask[contract.ReadSessionResponse](w, "readSession", of(name, `"limit":1000`))
			if r.Session.Presence == contract.PresencePresent || !strings.Contains(strings.Join(r.Session.Warnings, "\n"), "the copy kept in the index") {
				t.Errorf("%s: %s, %q", h.SessionID, r.Session.Presence, r.Session.Warnings)
			}
			was := slices.DeleteFunc(slices.Clone(before[name]), func(e contract.EventRecord) bool { return e.Synthetic })
			if len(r.Events) != len(was) {
				t.Fatalf("%s: %d of %d events", h.SessionID, len(r.Events), len(was))
			}
			for i, e := range r.Events {
				if string(e.Data) != "null" || e.DataTruncated {
					t.Errorf("%s event %d has data %s", h.SessionID, i, e.Data)
				}
				// What was inherited is kept by its owner.
				if bare(e) != bare(was[i]) || *e.Text != *was[i].Text && !e.Inherited {
					t.Errorf("%s event %d:\n got %s %q\nwant %s %q", h.SessionID, i, bare(e), *e.Text, bare(was[i]), *was[i].Text)
				}
			}
			trace := ask[contract.TraceEventResponse](w, "traceEvent", of(name, `"seq":0`))
			if trace.ReplacedBy != nil || len(trace.DerivedEventSeqs) > 0 || !strings.Contains(strings.Join(trace.Session.Warnings, "\n"), "not kept") {
				t.Errorf("%s: links of a kept copy: %+v", h.SessionID, trace)
			}
			if r := ask[contract.RenderTranscriptResponse](w, "renderTranscript", of(name, `"thinking":true`)); r.Markdown == "" {
				t.Errorf("%s: nothing rendered", h.SessionID)
			}
			plan := ask[contract.ResumePlanResponse](w, "resumePlan", of(name))
			if *plan.Checks.Transcript || plan.Argv != nil && !slices.ContainsFunc(plan.Warnings, func(x contract.ResumeWarning) bool { return x.Code == contract.WarnNoTranscript }) {
				t.Errorf("%s: plan %+v", h.SessionID, plan)
			}
		}
		if kept == 0 {
			t.Fatal("no kept copies")
		}
	}
}

// Over a connection to another machine no answer names a path of a transcript.
func TestRemoteAnswersNameNoPaths(t *testing.T) {
	w := samples(t, contract.TransportRemote)
	local := newWorldAt(t, w)
	for _, h := range local.all() {
		name := nameOf(h)
		for command, request := range map[string]string{
			"listSessions": `{"limit":1000}`, "readTitles": `{"sessions":[` + of(name) + `]}`, "traceSession": of(name), "listEvents": of(name, `"limit":1`), "readSurface": of(name, `"limit":1`),
			"traceEvent": of(name, `"seq":0`), "resumePlan": of(name), "filterEvents": of(name, `"limit":1`), "renderTranscript": of(name, `"limit":1`),
		} {
			raw := string(ask[json.RawMessage](w, command, request))
			if strings.Contains(raw, `"sourcePath"`) || strings.Contains(raw, quoted(h.SourcePath)) {
				t.Errorf("%s: %s", command, raw)
			}
			if command == "resumePlan" && (!strings.Contains(raw, `"argv":null,"command":null`) || !strings.Contains(raw, `"checks":{"binary":null,"directory":null,"transcript":null}`)) {
				t.Errorf("plan: %s", raw)
			}
		}
	}
}

// newWorldAt is a local service over the same home.
func newWorldAt(t *testing.T, at *world) *world {
	w := &world{t: t, home: at.home, own: at.own}
	w.open(contract.TransportLocal)
	return w
}

// A title says which event gave it: the one that names the session, or the first
// prompt or reply. Only names that stand outside the log have none.
func TestTitlesSayWhichEventGaveThem(t *testing.T) {
	w := samples(t, contract.TransportLocal)
	named, spoken := map[string]bool{}, map[string]bool{}
	for _, h := range w.all() {
		name := nameOf(h)
		r := ask[contract.ReadTitlesResponse](w, "readTitles", `{"sessions":[`+of(name)+`]}`)
		title := r.Titles[0].Title
		if title == nil {
			continue
		}
		if title.Seq == nil {
			if title.Source == "prompt" || title.Source == "reply" {
				t.Errorf("%v: the %s that gave %q is not known", name, title.Source, title.Text)
			}
			continue
		}
		e := w.log(name, 1000)[*title.Seq]
		switch title.Source {
		case "prompt", "reply":
			first := strings.Fields(strings.TrimSuffix(title.Text, "…"))[0]
			if want := map[string]contract.Role{"prompt": contract.RoleUser, "reply": contract.RoleAssistant}[title.Source]; e.Role != want || !strings.Contains(*e.Text, first) {
				t.Errorf("%v: %q comes from %s of %s: %.80q", name, title.Text, title.Source, e.Role, *e.Text)
			}
			spoken[h.Agent] = true
		default:
			if e.Type != transcript.TypeTitle {
				t.Errorf("%v: %q comes from a %s", name, title.Text, e.Type)
			}
			named[h.Agent] = true
		}
	}
	for _, agent := range []string{"claude", "codex", "pi", "copilot"} {
		if !named[agent] {
			t.Errorf("%s: no event names a session", agent)
		}
	}
	for _, agent := range []string{"claude", "codex", "pi", "dsh", "gemini", "copilot", "vscode"} {
		if !spoken[agent] {
			t.Errorf("%s: no prompt gives a title", agent)
		}
	}
}

// What a compaction of Codex shows follows lineage.md §3: it is what the model sees
// in place of all before it, which is shadowed by it. The history that its record
// repeats is in the record, and no text: neither shown nor found (matching.md rule 12).
func TestCodexCompaction(t *testing.T) {
	w := samples(t, contract.TransportLocal)
	name := contract.SessionName{Agent: "codex", SessionID: "019de003-0000-7000-8000-00000000cccc"}
	surface := ask[contract.ReadSurfaceResponse](w, "readSurface", of(name))
	if len(surface.Events) != 2 || surface.Events[0].Seq != 6 || *surface.Events[0].Text != "Datums were listed." || surface.Events[1].Seq != 7 {
		t.Errorf("surface %+v", surface.Events)
	}
	e := ask[contract.ReadEventResponse](w, "readEvent", of(name, `"seq":6`)).Events[0]
	if e.Type != transcript.TypeCompaction || e.Surface != contract.SurfaceCurrent || *e.Text != "Datums were listed." || !strings.Contains(string(e.Data), "never indexed: bollard") {
		t.Errorf("event %+v with %s", e, e.Data)
	}
	trace := ask[contract.TraceEventResponse](w, "traceEvent", of(name, `"seq":6`))
	if got := fmt.Sprint(trace.ReplacedEventSeqs, trace.SourceEventSeqs, trace.DerivedProvenance); got != "[1 3 4 5] [1 3 4 5] true" {
		t.Errorf("trace %s", got)
	}
	for _, mode := range []string{"index", "scan"} {
		search := func(text string) []contract.EventHit {
			return ask[contract.SearchEventsResponse](w, "searchEvents", of(name, `"query":"`+text+`"`, `"mode":"`+mode+`"`)).Hits
		}
		if hits := search("Datums were listed"); len(hits) == 0 || hits[0].Seq != 6 {
			t.Errorf("%s of the summary: %+v", mode, hits)
		}
		if hits := search("bollard"); len(hits) != 0 {
			t.Errorf("%s of what is repeated: %+v", mode, hits)
		}
	}
}
