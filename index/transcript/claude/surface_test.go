package claude_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
)

const (
	boundary = `{"type":"system","subtype":"compact_boundary","parentUuid":null,"logicalParentUuid":"a3","uuid":"b","sessionId":"` + sid + `","compactMetadata":{"trigger":"auto"}}`
	summary  = `{"type":"user","isCompactSummary":true,"parentUuid":"b","uuid":"s","message":{"role":"user","content":"This session is being continued from a previous conversation that ran out of context.\nThe plover was ringed."}}`
)

// worked is the example of lineage.md §8.
func worked() []string {
	return []string{
		user("u1", "", "one"), say("a1", "u1", "m1", "first"), user("u2", "a1", "two"), say("a2", "u2", "m2", "second"),
		user("u2b", "a1", "two again"), say("a3", "u2b", "m3", "third"), boundary, summary, user("u4", "s", "four"), say("a4", "u4", "m4", "fourth"),
	}
}

func TestSurfaces(t *testing.T) {
	attachment := func(uuid, parent string) string {
		return rec("attachment", uuid, parent, `,"attachment":{"type":"edited_text_file","filename":"x"}`)
	}
	progress := func(uuid, parent string) string { return rec("progress", uuid, parent, `,"data":{"type":"hook"}`) }
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"worked example", worked(), "ssssss-CCC"},
		{"one line", []string{user("u1", "", "one")}, "C"},
		{"rewind", []string{user("u1", "", "one"), say("a1", "u1", "m1", "x"), user("u2", "a1", "no"), user("u3", "a1", "yes")}, "CCsC"},
		{"parallel tools", []string{
			user("u1", "", "one"), call("a1", "u1", "m1", "t1", "Bash", `{}`), call("a2", "a1", "m1", "t2", "Bash", `{}`),
			result("r1", "a1", "t1", "x"), result("r2", "a2", "t2", "y"), say("a3", "r2", "m2", "done"),
		}, "CCCCCC"},
		{"a call abandoned with its branch", []string{
			user("u1", "", "one"), user("u2", "u1", "no"), call("a1", "u2", "m1", "t1", "Bash", `{}`), result("r1", "a1", "t1", "x"),
			user("u3", "u1", "yes"), say("a3", "u3", "m2", "done"),
		}, "CsssCC"},
		{"attachments beside the path", []string{
			user("u1", "", "one"), attachment("h1", "u1"), say("a1", "u1", "m1", "x"), attachment("h2", "a1"), attachment("h3", "h2"),
		}, "CCCCC"},
		{"an attachment that leads to an abandoned turn", []string{
			user("u1", "", "one"), say("a1", "u1", "m1", "x"), attachment("h1", "a1"), user("u2", "h1", "no"), attachment("h2", "a1"), user("u3", "h2", "yes"),
		}, "CCssCC"},
		{"progress and system lines carry the chain", []string{
			user("u1", "", "one"), progress("p1", "u1"), say("a1", "p1", "m1", "x"), rec("system", "y1", "a1", `,"subtype":"turn_duration"`), user("u2", "y1", "two"),
		}, "C-C-C"},
		{"the parent comes later in the file", []string{
			user("u1", "", "one"), result("r1", "a1", "t1", "x"), call("a1", "u1", "m1", "t1", "Bash", `{}`), say("a2", "r1", "m2", "done"),
		}, "CCCC"},
		{"a lost record hides nothing before it", []string{
			user("u1", "", "one"), say("a1", "u1", "m1", "x"), user("u3", "lost", "two"), say("a3", "u3", "m3", "y"),
		}, "CCCC"},
		{"records without links are one line of talk", []string{
			user("u1", "-", "one"), say("a1", "-", "m1", "x"), `{"type":"user","message":{"content":"bare"}}`,
		}, "CCC"},
		{"every parent null is no tree", []string{user("u1", "", "one"), say("a1", "", "m1", "x"), user("u2", "", "two")}, "CCC"},
		{"parents in a circle", []string{user("u1", "a1", "one"), say("a1", "u1", "m1", "x")}, "CC"},
		{"its own parent", []string{user("u1", "u1", "one"), say("a1", "u1", "m1", "x")}, "CC"},
		{"boundary without summary", []string{user("u1", "", "one"), say("a1", "u1", "m1", "x"), boundary, user("u2", "b", "two")}, "ss-C"},
		{"summary without boundary", []string{
			user("u1", "", "one"), say("a1", "u1", "m1", "x"), strings.Replace(summary, `"parentUuid":"b"`, `"parentUuid":"a1"`, 1), user("u2", "s", "two"),
		}, "ssCC"},
		{"a preserved segment", []string{
			user("u1", "", "one"), say("a1", "u1", "m1", "x"), user("u2", "a1", "two"), say("a2", "u2", "m2", "y"),
			strings.Replace(boundary, `"trigger":"auto"`, `"preservedSegment":{"headUuid":"u2","tailUuid":"a2"}`, 1), summary, user("u4", "s", "four"),
		}, "ssCC-CC"},
		{"a failed request and an interruption", []string{
			user("u1", "", "one"), rec("assistant", "e1", "u1", `,"isApiErrorMessage":true,"message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"API Error: overloaded"}]}`),
			user("i1", "e1", "[Request interrupted by user]"), user("u2", "i1", "two"),
		}, "C-CC"},
		{"a record written twice", []string{user("u1", "", "one"), user("u1", "", "one"), say("a1", "u1", "m1", "x")}, "C-C"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := surfaces(read(t, lines(c.lines...))); got != c.want {
				t.Errorf("surfaces %s, want %s", got, c.want)
			}
		})
	}
}

func TestCompactionSummary(t *testing.T) {
	s := read(t, lines(worked()...))
	e := s.Events[7]
	if e.Type != transcript.TypeCompaction || e.Role != transcript.RoleSystem || e.Message {
		t.Errorf("summary is %s of %s, message %v", e.Type, e.Role, e.Message)
	}
	has(t, s, transcript.Prose, "The plover was ringed.")
	hasNot(t, s, "being continued")
	if s.MessageCount != 8 {
		t.Errorf("%d messages, want 8", s.MessageCount)
	}
}

// TestAppend: what goes on from the leaf is read on; what changes earlier
// surfaces is refused.
func TestAppend(t *testing.T) {
	base := []string{user("u1", "", "one"), call("a1", "u1", "m1", "t1", "Bash", `{"command":"ls"}`), call("a2", "a1", "m1", "t2", "Bash", `{}`)}
	for _, c := range []struct {
		name   string
		more   string
		reread bool
		want   string // surfaces after
		count  int    // messages after
	}{
		{"goes on", lines(result("r2", "a2", "t2", "y"), say("a3", "r2", "m2", "done")), false, "CCCCC", 3},
		{"parallel results", lines(result("r1", "a1", "t1", "x"), result("r2", "a2", "t2", "y")), false, "CCCCC", 2},
		{"another line of the same response", lines(say("a3", "a2", "m1", "more")), false, "CCCC", 2},
		{"bookkeeping", lines(`{"type":"mode","mode":"plan"}`), false, "CCC-", 2},
		{"a title", lines(`{"type":"custom-title","customTitle":"ring the plover"}`), false, "CCC-", 2},
		{"without links", lines(`{"type":"user","message":{"content":"bare"}}`), false, "CCCC", 3},
		{"a rewind", lines(user("u2", "u1", "other")), true, "", 0},
		{"a compaction", lines(boundary, summary), true, "", 0},
		{"a parent nobody knows", lines(user("u2", "gone", "other")), true, "", 0},
		{"an inline sub-agent", lines(rec("user", "x1", "", `,"isSidechain":true,"message":{"content":"look"}`)), true, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, cp, err := appended(t, lines(base...), c.more)
			if c.reread {
				if !errors.Is(err, transcript.ErrReread) {
					t.Errorf("error %v, want ErrReread", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := surfaces(s); got != c.want || s.MessageCount != c.count {
				t.Errorf("surfaces %s, %d messages; want %s, %d", got, s.MessageCount, c.want, c.count)
			}
			if len(cp.State) == 0 || len(cp.State) > 64<<10 {
				t.Errorf("state of %d bytes", len(cp.State))
			}
		})
	}
}
