package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/contract"
)

// hostile is what a transcript may hold: sequences that clear the screen or set the
// window's title, an override of direction, a C1 control, a NUL, line breaks.
const hostile = "\x1b[2J\x1b]0;window\aevil \u202etxet\u202c \u009b31m\x00\r\nnext\tline\u2028"

func (f *fake) ListSessions(_ context.Context, q contract.ListSessionsRequest) (contract.ListSessionsResponse, error) {
	if f.scenario == "broken" {
		return contract.ListSessionsResponse{}, errors.New("disk I/O error")
	}
	var out contract.ListSessionsResponse
	for _, h := range []contract.Header{
		{Agent: "claude", SessionID: "3b0f7c52-full", Title: "Fix the tide\ttable\x1b[2J", Cwd: ptr("/home/dev/work/tidewatch"), UpdatedAt: at("2026-03-14T10:00:00Z")},
		{Agent: "claude", SessionID: "3b0f7c52-full#agent-1", Title: "Look for the overflow"},
		{Agent: "codex", SessionID: "019cdc11", Title: "Harbour", UpdatedAt: at("2026-03-13T10:00:00Z")},
		{Agent: "pi", SessionID: "a $(b)", Title: "an id that no shell takes as it is"},
	} {
		if q.Filters.Agents == nil || slices.Contains(q.Filters.Agents, h.Agent) {
			out.Sessions = append(out.Sessions, h)
		}
	}
	return out, nil
}

func fixedEvents(text bool) contract.EventPage {
	t := fixedTranscript()
	page := contract.EventPage{Session: t.Session, Page: contract.Page{HasMore: true, Cursor: ptr("eyJ2IjoyfQ")}}
	for _, e := range t.Events {
		switch {
		case !text:
			e.Text = nil
		case e.Text == nil:
			continue
		}
		e.Data = nil
		page.Events = append(page.Events, e)
	}
	page.Events[1].Time = at("2026-03-13T23:59:59Z")
	return page
}

func (f *fake) ListEvents(_ context.Context, q contract.ListEventsRequest) (contract.EventPage, error) {
	page := fixedEvents(false)
	switch f.scenario {
	case "echo":
		return page, contract.Failed(contract.CodeCorruptSession, nil, "%s", echoEvents(q.Filters, nil, q.Limit, q.Cursor))
	case "stale":
		return page, contract.StaleCursorError()
	case "hostile":
		for i := range page.Events {
			e := &page.Events[i]
			e.Type, e.RawType, e.Role, e.Surface = hostile, hostile, contract.Role(hostile), contract.Surface(hostile)
		}
		page.Session.Title, page.Page.Cursor = hostile, ptr(hostile)
	}
	if q.Filters != nil && slices.Equal(q.Filters.Tools, []string{"nothing"}) {
		return contract.EventPage{Session: page.Session}, nil
	}
	return page, nil
}

func (f *fake) FilterEvents(_ context.Context, q contract.FilterEventsRequest) (contract.EventPage, error) {
	page := fixedEvents(true)
	switch f.scenario {
	case "echo":
		return page, contract.Failed(contract.CodeCorruptSession, nil, "%s", echoEvents(q.Filters, q.Text, q.Limit, q.Cursor))
	case "hostile":
		for i := range page.Events {
			page.Events[i].Text = ptr(hostile + strings.Repeat("long ", 1<<16) + hostile)
		}
	}
	if q.Cursor == nil {
		// Two pages, to be put together.
		page.Events = page.Events[:2]
		return page, nil
	}
	page.Events, page.Page = page.Events[2:], contract.Page{}
	return page, nil
}

// echoEvents shows the parts of a request that the flags of events fill.
func echoEvents(f *contract.EventFilters, text *string, limit int, cursor *string) string {
	raw, err := json.Marshal(map[string]any{"filters": f, "text": text, "limit": limit, "cursor": cursor})
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// fixedFamily has ancestors up to an unknown one, and descendants on several levels.
func fixedFamily(scenario string) contract.TraceSessionResponse {
	header := func(id, title string, relation contract.Relation) contract.Header {
		return contract.Header{Agent: "claude", SessionID: id, Title: title, Relation: relation, CreatedAt: at("2026-03-14T09:00:00Z"), Presence: contract.PresencePresent}
	}
	node := func(depth int, h contract.Header, below ...contract.LineageNode) contract.LineageNode {
		return contract.LineageNode{Session: h, Depth: depth, Descendants: below}
	}
	target := header("3b0f7c52-9a41-4d0e-8c1b-5f2a6d7e9011", "Fix the tide table overflow", contract.RelationFork)
	out := contract.TraceSessionResponse{Target: target, Descendants: []contract.LineageNode{}, Complete: true, Root: &target}
	switch scenario {
	case "alone":
		out.Target.Relation = contract.RelationRoot
	case "deep":
		// 3,000 ancestors, 200 levels below and as many deeper ones, 60 children.
		for i := range 3000 {
			out.Ancestors = append(out.Ancestors, header(fmt.Sprintf("up-%d", i+1), fmt.Sprintf("Ancestor %d", i+1), contract.RelationContinuation))
		}
		chain := []contract.LineageNode{}
		for depth := contract.MaxNesting; depth > 0; depth-- {
			chain = []contract.LineageNode{node(depth, header(fmt.Sprintf("down-%d", depth), fmt.Sprintf("Descendant %d", depth), contract.RelationFork), chain...)}
		}
		out.Descendants = chain
		for i := range 60 {
			out.Descendants = append(out.Descendants, node(1, header(fmt.Sprintf("child-%d", i), fmt.Sprintf("Child %d", i), contract.RelationSubagent)))
		}
		for i := range 7 {
			out.Deeper = append(out.Deeper, contract.DeeperSession{Session: header(fmt.Sprintf("deeper-%d", i), "Deeper", contract.RelationFork), Depth: 201 + i})
		}
		out.Truncated = true
	case "hostile":
		out.Target.Title, out.UnresolvedParentID, out.Complete, out.Root = hostile, ptr(hostile), false, nil
		out.Target.Warnings = contract.List[string]{hostile}
		out.Descendants = []contract.LineageNode{node(1, header(hostile, strings.Repeat(hostile, 1000), contract.Relation(hostile)))}
	default:
		out.Ancestors = contract.List[contract.Header]{header("c2d90a11", "Why the harbour floods", contract.RelationContinuation), header("a0000001", "潮汐表が溢れる問題を直す、とても長い題名", contract.RelationFork)}
		out.Complete, out.Root, out.UnresolvedParentID = false, nil, ptr("/gone/session.jsonl")
		gone := header("d4e5f607", "Try a wider type", contract.RelationFork)
		gone.Presence = contract.PresenceMissing
		out.Descendants = []contract.LineageNode{
			node(1, header(target.SessionID+"#agent-1", "Look for the overflow in every package of the repository and report", contract.RelationSubagent)),
			node(1, gone, node(2, header("e5f60718", "And narrow it again", contract.RelationContinuation))),
		}
	}
	return out
}

func (f *fake) TraceSession(context.Context, contract.TraceSessionRequest) (contract.TraceSessionResponse, error) {
	if f.scenario == "cycle" {
		return contract.TraceSessionResponse{}, contract.Failed(contract.CodeInvalidLineage, nil, "the recorded ancestors lead back to it")
	}
	return fixedFamily(f.scenario), nil
}

func fixedEventTrace(scenario string) contract.TraceEventResponse {
	t := fixedTranscript()
	out := contract.TraceEventResponse{Session: t.Session, Target: t.Events[4]}
	out.Target.Text = nil
	switch scenario {
	case "alone":
	case "hostile":
		out.InheritedFrom = &contract.InheritedFrom{SessionID: hostile, Seq: 7}
		out.Session.Warnings = contract.List[string]{hostile}
	default:
		out.ReplacementChain, out.ReplacedBy = contract.List[int64]{80, 120}, ptr(int64(80))
		out.ReplacedEventSeqs = contract.List[int64]{1, 2, 3, 5}
		out.SourceEventSeqs = contract.List[int64]{3}
		for i := range int64(30) {
			out.DerivedEventSeqs = append(out.DerivedEventSeqs, 10+2*i)
		}
		out.DerivedProvenance, out.Truncated = true, true
		out.InheritedFrom = &contract.InheritedFrom{SessionID: "c2d90a11", Seq: 4}
	}
	return out
}

func (f *fake) TraceEvent(_ context.Context, q contract.TraceEventRequest) (contract.TraceEventResponse, error) {
	if q.EventID != nil && *q.EventID != "42" || q.Seq != nil && *q.Seq > 5 {
		return contract.TraceEventResponse{}, contract.Failed(contract.CodeEventNotFound, nil, "the session has no such event")
	}
	return fixedEventTrace(f.scenario), nil
}

func fixedPlan(shell contract.Shell) contract.ResumePlanResponse {
	return contract.ResumePlanResponse{
		Agent: "claude", SessionID: "3b0f7c52", Argv: []string{"claude", "--resume", "3b0f7c52"}, Command: ptr("claude --resume 3b0f7c52 # " + string(shell)),
		Cwd:      ptr("/home/dev/work/tide watch"),
		Checks:   contract.ResumeChecks{Binary: ptr(true), Directory: ptr(true), Transcript: ptr(true)},
		Warnings: contract.List[contract.ResumeWarning]{{Code: contract.WarnActive, Message: "the session may be open\nelsewhere"}},
	}
}

func (f *fake) ResumePlan(_ context.Context, q contract.ResumePlanRequest) (contract.ResumePlanResponse, error) {
	plan := fixedPlan(q.Shell)
	if dir, ok := strings.CutPrefix(f.scenario, "exec:"); ok {
		plan.Argv, plan.Cwd = []string{"agent-of-the-test", "--resume", "it's $(a) b"}, &dir
		plan.Checks.Transcript = nil // not known: no reason to refuse
		return plan, nil
	}
	warn := func(code contract.ResumeWarningCode) {
		plan.Warnings = contract.List[contract.ResumeWarning]{{Code: code, Message: string(code)}}
	}
	switch f.scenario {
	case "no-command":
		plan.Argv, plan.Command = nil, nil
		warn(contract.WarnNoCommand)
	case "no-binary":
		plan.Checks.Binary = ptr(false)
		warn(contract.WarnNoBinary)
	case "no-directory":
		plan.Checks.Directory = ptr(false)
		warn(contract.WarnNoDirectory)
	case "no-transcript":
		plan.Checks.Transcript = ptr(false)
		warn(contract.WarnNoTranscript)
	case "unknown":
		plan.Cwd, plan.Checks = nil, contract.ResumeChecks{}
		warn(contract.WarnNoDirectory)
	case "lost":
		plan.Argv, plan.Cwd = []string{"no-such-program-of-the-test"}, nil
	case "hostile":
		plan.Argv, plan.Command, plan.Cwd = []string{"claude", hostile}, ptr(hostile), ptr(hostile)
		plan.Warnings = contract.List[contract.ResumeWarning]{{Code: contract.WarnActive, Message: hostile}}
	}
	return plan, nil
}

func (f *fake) ReadSurface(context.Context, contract.ReadSurfaceRequest) (contract.ReadSurfaceResponse, error) {
	return contract.ReadSurfaceResponse{Session: fixedTranscript().Session, CapturedThroughSeq: ptr(int64(5))}, nil
}

// ReadSession gives an export two events a page, one of them too large for it.
func (f *fake) ReadSession(ctx context.Context, q contract.ReadSessionRequest) (contract.ReadSessionResponse, error) {
	t := fixedTranscript()
	switch {
	case f.scenario == "slow" && q.FromSeq > 0:
		fmt.Fprintln(os.Stderr, "reading")
		<-ctx.Done()
		return t, contract.Aborted(ctx.Err())
	case f.scenario == "rewritten" && q.FromSeq > 0:
		t.Session.Epoch++
	case f.scenario == "occupied":
		// Another program makes the file while this one writes.
		if err := os.WriteFile(filepath.Join(os.Getenv(exportFolder), "session.json"), []byte("theirs"), 0o600); err != nil {
			return t, err
		}
	}
	all := t.Events
	t.Events = nil
	if q.Limit < contract.MaxReadLimit {
		for _, e := range all {
			if e.Seq >= q.FromSeq && len(t.Events) < q.Limit {
				t.Events = append(t.Events, e)
			}
		}
		if len(t.Events) == 0 {
			t.NextSeq = nil
		}
		return t, nil
	}
	t.NextSeq = nil
	for _, e := range all {
		switch {
		case e.Seq < q.FromSeq:
		case len(t.Events) == 2:
			t.NextSeq = ptr(e.Seq)
			return t, nil
		default:
			e.Data = json.RawMessage(fmt.Sprintf(`{"n":%d}`, e.Seq))
			if e.Seq == 3 {
				e.Text, e.TextTruncated, e.Data, e.DataBytes, e.DataTruncated = ptr("---"), true, json.RawMessage("null"), 300_000, true
			}
			t.Events = append(t.Events, e)
		}
	}
	return t, nil
}

func (f *fake) ReadEvent(_ context.Context, q contract.ReadEventRequest) (contract.ReadEventResponse, error) {
	t := fixedTranscript()
	seq := *q.Seq
	if seq > 5 {
		return contract.ReadEventResponse{}, contract.Failed(contract.CodeEventNotFound, nil, "the session has no event %d; it has 6", seq)
	}
	if q.MaxBytes == contract.MaxRecordBytes {
		t.Events[seq].Data = json.RawMessage(`{"large":"` + strings.Repeat("x", 300_000) + `"}`)
	}
	if f.scenario == "hostile" {
		t.Events[seq].Text = ptr(hostile)
	}
	first, last := max(0, seq-int64(q.Before)), min(5, seq+int64(q.After))
	return contract.ReadEventResponse{Session: t.Session, Target: t.Events[seq], Events: t.Events[first : last+1], StartSeq: first, EndSeq: last}, nil
}

// RenderTranscript gives a page for each event.
func (f *fake) RenderTranscript(_ context.Context, q contract.RenderTranscriptRequest) (contract.RenderTranscriptResponse, error) {
	t := fixedTranscript()
	out := contract.RenderTranscriptResponse{
		Session: t.Session, Markdown: fmt.Sprintf("## Event %d, thinking %v, tools %s\n\n", q.FromSeq, q.Thinking, q.Tools),
		Lines: contract.List[contract.LineRange]{{Seq: q.FromSeq}}, Truncated: q.FromSeq == 3,
	}
	if q.FromSeq < 5 {
		out.NextSeq = ptr(q.FromSeq + 1)
	}
	return out, nil
}
