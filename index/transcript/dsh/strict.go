package dsh

import (
	"fmt"
	"math"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// strict tells the damage for which the harness's own service refuses a log
// (reference A.2, A.7, A.17). All methods do nothing on nil.
type strict struct {
	bad    int   // damaged lines so far
	defect error // in what follows the last end of a turn so far
	wrong  error // the first violation of the surface's rules
}

// maxInt is the largest integer of JavaScript that is exact.
const maxInt = 1<<53 - 1

// known are the event types of format version 0. A log with another one is
// refused unless the event says that it can be ignored.
var known = func() map[string]bool {
	m := map[string]bool{}
	for _, t := range strings.Fields(`
		agent-preset/selected agent/inbox/spliced approval/asked approval/decided approval/policy assistant/chunk assistant/message
		command/run command/done compaction/start compaction/summary compaction/prune compaction/end feedback/record goal/change
		hook/invoked hook/result llm/retry llm/retry-started permission/preset plan/mode request/context request/header sandbox/mode
		schedule/change session/end-seed session/title session/title-llm-request step/start step/end subagent/descriptor
		team/member team/task team/message/queued team/message/delivered todo/write tool-workflow/run-start tool-workflow/run-end
		tool-workflow/agent-start tool-workflow/agent-end tool/call tool/result tool/code-dispatch tool/code-dispatch-start
		turn/start turn/end user/message web/deepseek-search-llm-request`) {
		m[t] = true
	}
	// Under their old names, which are read as the new ones.
	m["steering/message"] = true
	for _, t := range []string{"start", "summary", "prune", "end"} {
		m["compact/"+t] = true
	}
	return m
}()

func corrupt(format string, args ...any) error {
	return fmt.Errorf("read dsh session: %w: %s", transcript.ErrCorrupt, fmt.Sprintf(format, args...))
}

// broken notes a defect. Where nothing was committed after it, the service cuts
// the log there; before the end of a turn it is corruption.
func (s *strict) broken(format string, args ...any) {
	if s != nil && s.defect == nil {
		s.defect = corrupt(format, args...)
	}
}

// invalid notes a violation of the surface's rules. What follows a defect would
// be cut off, so it violates nothing.
func (s *strict) invalid(format string, args ...any) {
	if s != nil && s.wrong == nil && s.defect == nil {
		s.wrong = fmt.Errorf("read dsh session: %w: %s", transcript.ErrInvalidSurface, fmt.Sprintf(format, args...))
	}
}

func (s *strict) surface() error {
	if s == nil {
		return nil
	}
	return s.wrong
}

// lines notes damaged lines before the record at hand.
func (s *strict) lines(bad int) {
	if s != nil && bad > s.bad {
		s.bad = bad
		s.broken("a line is no record")
	}
}

// frames is the end of a log with damaged frames, however late they are.
func (s *strict) frames(bad int) error {
	if s == nil {
		return nil
	}
	return corrupt("%d damaged frames", bad)
}

// record checks a record's envelope.
func (s *strict) record(l *log, kind string, v jsonv.Value) error {
	if s == nil {
		return nil
	}
	if !l.Begun {
		return checkHeader(kind, v)
	}
	switch kind {
	case "session":
		s.broken("a second header")
		return nil
	case "text-chunks", "reasoning-chunks", "tool-call-chunks":
		list := v.Get("data", "texts")
		if kind == "tool-call-chunks" {
			list = v.Get("data", "args")
		}
		if n := list.Len(); list.Kind() != jsonv.Array || n == 0 || v.Get("data", "dt").Len() != n-1 || !isCount(v.Get("seq0")) || !isCount(v.Get("time0")) {
			s.broken("malformed row %s", kind)
		}
		return nil
	case "":
		s.broken("a record without type")
		return nil
	}
	if !known[kind] && !v.Get("ignorable").True() {
		return corrupt("unknown event type %.80q, which cannot be ignored", kind)
	}
	if !isCount(v.Get("seq")) || !isCount(v.Get("time")) {
		s.broken("an event without number or time")
	}
	if kind == "turn/end" && s.defect != nil {
		return s.defect
	}
	return nil
}

// checkHeader checks the first line, which no log lacks.
func checkHeader(kind string, v jsonv.Value) error {
	text := func(key string) bool { x := v.Get(key); return !x.Exists() || x.Kind() == jsonv.String }
	count := func(key string) bool { x := v.Get(key); return !x.Exists() || isCount(x) }
	switch {
	case kind != "session":
		return corrupt("no header")
	case v.Get("id").Str() == "":
		return corrupt("a header without id")
	case !isCount(v.Get("createdAt")), !isCount(v.Get("delegationDepth")), !count("seedLength"), !text("cwd"), !text("parentSession"), !text("origin"):
		return corrupt("a malformed header")
	}
	return nil
}

// isCount reports a number that is an integer from 0 on and exact in JavaScript.
func isCount(v jsonv.Value) bool {
	f, ok := v.Float()
	return ok && v.Kind() == jsonv.Number && f >= 0 && f <= maxInt && f == math.Trunc(f)
}

// sources checks what an event says about its surface by itself: messages carry
// an operation, nothing else carries one or sources; sources are earlier events.
func (s *strict) sources(kind string, number int64, op, sources jsonv.Value) {
	if s == nil {
		return
	}
	if !onSurface(kind) {
		if op != nil || sources != nil {
			s.invalid("%s %d is no message, but has an operation or sources", kind, number)
		}
		return
	}
	if !op.IsStr("append") && (!op.Get("op").IsStr("replace") || members(op) != 3 || !isCount(op.Get("start")) || !isCount(op.Get("end"))) {
		s.invalid("the operation of %s %d is none", kind, number)
	}
	if sources == nil {
		if op.Kind() == jsonv.Object {
			s.invalid("%s %d replaces events, but cites none", kind, number)
		}
		return
	}
	if sources.Kind() != jsonv.Array || sources.Len() == 0 && kind != "assistant/message" {
		s.invalid("the sources of %s %d are no list of events", kind, number)
		return
	}
	seen := map[int64]bool{}
	sources.Elems(func(_ int, v jsonv.Value) bool {
		n, _ := v.Int()
		if !isCount(v) || n >= number || seen[n] {
			s.invalid("%s %d cites %.40s, which is no earlier event or cited before", kind, number, v)
			return false
		}
		seen[n] = true
		return true
	})
}

// replaces checks a replacement against what it removes: all of it is cited,
// and a result stands for one result, from which it differs in content only.
func (s *strict) replaces(self node, gone []node, sources jsonv.Value) {
	if s == nil || s.wrong != nil {
		return
	}
	if self.result && (len(gone) != 1 || !gone[0].result || gone[0].print != self.print) {
		s.invalid("result %d replaces something else than a result of the same call", self.number)
	}
	cited := make(map[int64]bool, len(gone))
	sources.Elems(func(_ int, v jsonv.Value) bool {
		n, _ := v.Int()
		cited[n] = true
		return true
	})
	for _, n := range gone {
		if !cited[n.number] {
			s.invalid("event %d replaces %d without citing it", self.number, n.number)
		}
	}
}

// print tells a result from others by all that a shortened copy keeps.
func print(d jsonv.Value) uint64 {
	var b strings.Builder
	for _, v := range []jsonv.Value{d.Get("turn"), d.Get("step"), d.Get("error"), d.Get("meta"), d.Get("message", "role"), d.Get("message", "source")} {
		b.Write(v)
		b.WriteByte(0)
	}
	d.Get("message", "content").Elems(func(_ int, block jsonv.Value) bool {
		b.Write(block.Get("toolCallId"))
		b.Write(block.Get("isError"))
		b.WriteByte(0)
		return true
	})
	return transcript.Hash(b.String())
}

func onSurface(kind string) bool {
	return kind == "user/message" || kind == "assistant/message" || kind == "tool/result"
}

func members(v jsonv.Value) (n int) {
	v.Each(func(_, _ jsonv.Value) bool { n++; return true })
	return n
}
