package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/sessionls/sessionls/contract"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (-update to accept):\n got:\n%s\nwant:\n%s", name, got, want)
	}
}

// fixedResults is a page with everything that a hit can hold, hostile text included.
func fixedResults() contract.SearchResults {
	cursor := "eyJ2IjoxfQ"
	return contract.SearchResults{
		Hits: contract.List[contract.Hit]{
			{
				Agent: "claude", SessionID: "3b0f7c52-9a41-4d0e-8c1b-5f2a6d7e9011", Title: "Fix the tide table overflow",
				Cwd: ptr("/home/dev/work/tidewatch"), Branch: ptr("main"), UpdatedAt: at("2026-03-14T10:00:00Z"), MessageCount: 24,
				Relation: contract.RelationRoot, MatchCount: 3, Source: contract.Source{Presence: contract.PresencePresent, FilePath: "/x"},
				Evidence: &contract.Evidence{
					Snippet: "the [[overflow]] happens when the [[tide]] table has more than 255 rows, because the index is a [[byte]] literal",
					Marks:   contract.List[contract.Mark]{{6, 14}, {36, 40}}, Role: contract.RoleAssistant, Timestamp: at("2026-03-14T09:58:00Z"),
					Seq: ptr(int64(42)), Type: "assistant/message", Surface: contract.SurfaceCurrent,
				},
				ResumeCommand: "claude --resume 3b0f7c52-9a41-4d0e-8c1b-5f2a6d7e9011",
			},
			{
				Agent: "codex", SessionID: "019cdc11-6a20-7b31-9f42-3d5e6f708192", Title: "潮汐表が溢れる問題を直す 🌊👩‍💻 そして長い題名は折り返されるべきです、必ず",
				Cwd: ptr(`C:\Users\dev\潮汐`), UpdatedAt: at("2025-01-02T00:00:00Z"), MessageCount: 1, Active: true,
				Relation: contract.RelationFork, Automated: true, DuplicateCount: 2, MatchCount: 1, Source: contract.Source{Presence: contract.PresenceMissing},
				Evidence: &contract.Evidence{
					Snippet: "🌊 [[潮汐]]表の行が255を超えると[[溢れ]]る。原因は索引の型です。それを直すには型を変えます。",
					Marks:   contract.List[contract.Mark]{{5, 7}, {23, 25}}, Role: contract.RoleUser,
					Seq: ptr(int64(0)), Type: "user/message", Surface: contract.SurfaceShadowed,
				},
			},
			{
				Agent: "pi", SessionID: "evil\x1b]0;id\aid", Title: "evil \x1b[31mred\x1b[0m\x1b]0;window title\a title\r\nwith \u202ereversed\u202c and \x00NUL \u009b2J end\u200b",
				Branch: ptr("feature/\x1b[5mblink"), MessageCount: 2, Relation: contract.RelationSubagent,
				Source: contract.Source{Presence: contract.PresenceUnverifiable}, MatchCount: 1,
				Evidence: &contract.Evidence{
					Snippet: "before\n\n[[a\x1b[2Jb]] after \x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\ \xff end",
					Marks:   contract.List[contract.Mark]{{10, 16}, {900, 901}, {3, 1}}, Role: contract.RoleTool, Type: "tool/result", Seq: ptr(int64(7)),
				},
			},
			{
				Agent: "gemini", SessionID: "6d1f2a3b", Title: "Overflow in the harbour", MessageCount: 9, UpdatedAt: at("2026-03-13T11:00:00Z"),
				Relation: contract.RelationRoot, MatchCount: 1, Source: contract.Source{Presence: contract.PresencePresent},
				Evidence: &contract.Evidence{
					Snippet: "[[Overflow]] in the harbour", Marks: contract.List[contract.Mark]{{2, 10}}, Role: contract.RoleUnknown, Type: contract.TypeSessionTitle,
				},
			},
			{Agent: "dsh", SessionID: "s-5", ExecutionHostID: "ssh:box", Title: "Only listed", MessageCount: 3, Source: contract.Source{Presence: contract.PresencePresent}},
		},
		Page: contract.Page{Cursor: &cursor, HasMore: true}, Generation: 9, Total: contract.Total{Sessions: 1234, Exact: false},
		Truncated: contract.Truncated{Candidates: true, Query: true, Freshness: true}, DurationMs: 12.3,
		Diagnostics: []contract.Diagnostic{{Start: 0, End: 11, Message: "unknown operator\nagnet:"}},
		Debug:       &contract.Debug{Route: contract.RouteOr, PlannerReport: contract.PlannerReport{Timings: contract.List[contract.Timing]{{Step: "rank", Ms: 1.25}}}},
	}
}

func fixedTranscript() contract.ReadSessionResponse {
	event := func(seq int64, kind string, role contract.Role, text string) contract.EventRecord {
		return contract.EventRecord{
			Agent: "claude", SessionID: "3b0f7c52", Seq: seq, Type: kind, Role: role, Text: &text, Time: at("2026-03-14T09:58:00Z"), Surface: contract.SurfaceCurrent,
		}
	}
	events := contract.List[contract.EventRecord]{
		event(0, "session/meta", contract.RoleSystem, ""),
		event(1, "user/message", contract.RoleUser, "Why does the tide table overflow?\n\n\tfor i := range rows {\n\t\tuse(i)\n\t}\nIt \x1b[31mfails\x1b[0m."),
		event(2, "tool/call", contract.RoleAssistant, "Bash\ngo test ./...\n-run Tide\n-v"),
		event(3, "tool/result", contract.RoleTool, "--- FAIL: TestTide\r\n    overflow\r\nline 3\nline 4\nline 5"),
		event(4, "assistant/message", contract.RoleAssistant, "The index is a byte. "+strings.Repeat("潮汐表は長い。", 20)),
		event(5, "other", contract.RoleUnknown, "a note of the agent"),
	}
	events[0].Text = nil
	events[5].Surface = contract.SurfaceLogOnly
	return contract.ReadSessionResponse{
		Session: contract.Header{
			Agent: "claude", SessionID: "3b0f7c52", Title: "Fix the tide table overflow", Cwd: ptr("/home/dev/work/tidewatch"), Branch: ptr("main"),
			CreatedAt: at("2026-03-14T09:00:00Z"), UpdatedAt: at("2026-03-14T10:00:00Z"), MessageCount: 24, Relation: contract.RelationFork, ParentSessionID: ptr("c2d90a11"),
			Presence: contract.PresenceMissing, SourcePath: "/x/\x1b[2J.jsonl", Warnings: contract.List[string]{"one record\nis damaged"},
		},
		Events: events, NextSeq: ptr(int64(6)),
	}
}

func render(do func(*screen), width int, pretty, colour bool) string {
	var out, errs bytes.Buffer
	do(&screen{out: &out, err: &errs, pretty: pretty, colour: colour, errColour: colour, width: width, now: fixedNow})
	return out.String() + errs.String()
}

func TestGoldenScreens(t *testing.T) {
	results, transcript := fixedResults(), fixedTranscript()
	status := newFake("").status
	status.DegradedRoots = contract.List[contract.DegradedRoot]{{Root: "/mnt/away", Reason: "cannot be listed"}}
	status.FilesFailed, status.FilesDue = 1, 2
	status.Notices = contract.List[string]{"the system allows no further \x1b[2Jwatches"}
	status.Progress = &contract.Progress{BytesDone: 1500, BytesTotal: 3000000, FilesDone: 1, FilesTotal: 4}
	show := func(f *searchFlags) func(s *screen) {
		return func(s *screen) { (&app{screen: s}).showResults(&results, status, f) }
	}
	for _, tc := range []struct {
		name           string
		do             func(*screen)
		width          int
		pretty, colour bool
	}{
		{"results-wide", show(&searchFlags{query: "agnet:codex tide"}), 100, true, false},
		{"results-narrow", show(&searchFlags{query: "agnet:codex tide"}), 32, true, false},
		{"results-colour", show(&searchFlags{query: "agnet:codex tide", debug: true}), 80, true, true},
		{"results-pipe", show(&searchFlags{query: "agnet:codex tide"}), 80, false, false},
		{"show-terminal", func(s *screen) { s.transcript(transcript, 4, false) }, 60, true, false},
		{"show-colour", func(s *screen) { s.transcript(transcript, -1, false) }, 60, true, true},
		{"show-pipe-full", func(s *screen) { s.transcript(transcript, -1, true) }, 60, false, false},
		{"status-terminal", func(s *screen) { (&app{screen: s}).showStatus(status) }, 80, true, false},
		{"status-pipe", func(s *screen) { (&app{screen: s}).showStatus(status) }, 80, false, false},
		{"doctor-narrow", func(s *screen) { s.report(fixedReport()) }, 44, true, false},
		{"doctor-pipe", func(s *screen) { s.report(fixedReport()) }, 44, false, false},
		{"config", func(s *screen) { s.config(fixedConfig()) }, 80, true, false},
		{"nothing", func(s *screen) { s.places(fixedPlaces()) }, 80, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := render(tc.do, tc.width, tc.pretty, tc.colour)
			golden(t, tc.name, got)
			for _, r := range got {
				if hidden(r) && r != '\n' && r != '\t' && (r != '\x1b' || !tc.colour) {
					t.Fatalf("%U reaches the screen", r)
				}
			}
			if strings.ContainsFunc(got, func(r rune) bool { return r == unicode.ReplacementChar }) && !strings.HasPrefix(tc.name, "results") {
				t.Error("a replacement character where no byte was invalid")
			}
		})
	}
}

// TestLinesFitTheTerminal holds every line that may be cut to the width; commands to copy and
// cursors are exempt.
func TestLinesFitTheTerminal(t *testing.T) {
	results, transcript := fixedResults(), fixedTranscript()
	for _, width := range []int{20, 33, 57, 80, 112} {
		got := render(func(s *screen) {
			for i, hit := range results.Hits {
				s.prettyHit(i+1, hit)
			}
			for _, e := range transcript.Events {
				if e.Text != nil {
					s.body(clean(*e.Text), plainStyle, 0)
				}
			}
		}, width, true, false)
		for line := range strings.SplitSeq(got, "\n") {
			if w := textWidth(line); w > width && !strings.Contains(line, "↳") {
				t.Errorf("%d columns of %d: %q", w, width, line)
			}
		}
	}
}
