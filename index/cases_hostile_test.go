package index_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/testdata/samplehome"
)

// hostileSample is a transcript of the samples that is damaged in every way.
type hostileSample struct {
	agent, samples, file string
	document             bool // one JSON document, no lines
}

var hostileSamples = []hostileSample{
	{"claude", "claude-code", ".claude/projects/-home-dev-work-tidewatch/3b0f7c52-9a41-4d0e-8c1b-5f2a6d7e9011.jsonl", false},
	{"codex", "codex", ".codex/sessions/2026/03/11/rollout-2026-03-11T10-00-00-019cdc11-6a20-7b31-9f42-3d5e6f708192.jsonl", false},
	{"pi", "pi", ".pi/agent/sessions/--home-dev-work-tidewatch--/2026-03-27T06-30-00-000Z_019d2f10-aaaa-7bbb-8ccc-ddddeeeeffff.jsonl", false},
	{"dsh", "dsh-raw-root", ".dsh/sessions/--home-dev-work-tidewatch--/session-6b1f9d2c-3e4a-4b5c-8d6e-7f8091a2b3c4/session.jsonl", false},
	{"gemini", "gemini-cli", ".gemini/tmp/tidewatch/chats/session-2026-04-02T10-11-6d1f2a3b.jsonl", false},
	{"copilot", "copilot-cli", ".copilot/session-state/9c1d7e30-5b2a-4f68-8e4d-0a1b2c3d4e5f/events.jsonl", false},
	{"vscode", "vscode-copilot-chat", ".config/Code/User/workspaceStorage/0f1e2d3c4b5a69788796a5b4c3d2e1f0/chatSessions/6e5d4c3b-2a19-4f08-9e7d-6c5b4a392817.jsonl", false},
	{"vscode", "vscode-copilot-chat", ".config/Code/User/workspaceStorage/0f1e2d3c4b5a69788796a5b4c3d2e1f0/chatSessions/2b7c8d9e-0f1a-4b2c-8d3e-4f5a6b7c8d9e.json", true},
	{"gemini", "gemini-cli", ".gemini/tmp/bd24d6b98b2834f5e60711ff6619732b5c3e5ec941bc167099717e64b1b9deb7/chats/session-2025-12-01T08-30-a9b8c7d6.json", true},
	{"opencode", "opencode", ".local/share/opencode/storage/part/msg_b3e0f6100001bYm3/prt_b3e0f6101004bd.json", true},
}

// hostile is a home of one agent's samples, one of whose files is rewritten
// again and again, and a session of another agent that must never suffer.
type hostile struct {
	*world
	s      *index.Service
	sample hostileSample
	good   string
}

func newHostile(t *testing.T, sample hostileSample) *hostile {
	h := &hostile{world: newWorld(t), sample: sample}
	h.must(samplehome.Copy(h.home, "../testdata/home/"+sample.samples))
	if sample.agent == "opencode" {
		h.must(os.Remove(h.path(".local/share/opencode/opencode.db"))) // its sessions would be read instead
	}
	if sample.agent == "vscode" {
		// Another telling of the session, which is taken when this one fails.
		h.must(os.RemoveAll(filepath.Join(filepath.Dir(filepath.Dir(h.path(sample.file))), "GitHub.copilot-chat")))
	}
	if sample.agent == "codex" {
		h.write(claudeFile("witness-session"), user("witness-session", "w", "unharmed bystander"))
	} else {
		h.write(codexFile(codexB), codexMeta(codexB)+codexUser("unharmed bystander"))
	}
	good, err := os.ReadFile(h.path(sample.file))
	h.must(err)
	h.good = string(good)
	h.s = h.enabled()
	return h
}

// texts reads the home with the sample's file as given ("" without it) and
// returns what all sessions of its agent say, each text once. Whatever is in
// the file, the answer is no failure of anything else.
func (h *hostile) texts(what, file string) map[string]bool {
	h.t.Helper()
	path := h.path(h.sample.file)
	_ = os.Remove(path)
	if file != "" {
		h.must(os.MkdirAll(filepath.Dir(path), 0o755))
		h.must(os.WriteFile(path, []byte(file), 0o644))
	}
	h.reconcile(h.s)
	if file == "" {
		h.reconcile(h.s) // where another file claimed to have its session
	}
	if r := h.ask(h.s, `"unharmed bystander"`); len(r.Results.Hits) != 1 {
		h.t.Fatalf("%s: another session is gone", what)
	}
	st := h.status(h.s)
	failed := 0
	for _, a := range st.Agents {
		if a.Agent != h.sample.agent && a.Failed != 0 {
			h.t.Errorf("%s: %s failed", what, a.Agent)
		}
		failed += int(a.Failed)
	}
	report, err := h.s.Doctor(h.t.Context())
	h.must(err)
	reasons := 0
	for _, f := range report.Failures {
		if strings.Contains(f.Reason, "unexpectedly") {
			h.t.Errorf("%s: %+v", what, f)
		}
		if filepath.Base(f.Path) == filepath.Base(h.sample.file) && f.Reason != "" {
			reasons++
		}
	}
	if failed > 1 || failed > reasons || (failed > 0) != (st.Phase == contract.PhaseDegraded) {
		h.t.Errorf("%s: %d failures, %d reasons, phase %s", what, failed, reasons, st.Phase)
	}
	req := contract.NewSearchSessionsRequest("")
	req.Filters.Agents = []string{h.sample.agent}
	req.Limit = 100
	out := map[string]bool{}
	for _, hit := range h.search(h.s, req).Hits {
		if hit.Source.Presence != contract.PresencePresent {
			continue
		}
		r := h.kept(contract.SessionName{Agent: h.sample.agent, SessionID: hit.SessionID})
		for _, e := range r.Events {
			for part := range strings.SplitSeq(*e.Text, "\n") {
				if part = strings.TrimSpace(part); part != "" {
					out[part] = true
				}
			}
		}
	}
	return out
}

// holds fails unless every text of want is in got.
func (h *hostile) holds(what string, got, want map[string]bool) {
	h.t.Helper()
	all := ""
	for text := range want {
		if !got[text] {
			if all == "" {
				all = strings.Join(slices.Collect(maps.Keys(got)), "\n")
			}
			if strings.Contains(all, text) {
				continue // a record that goes on with the text of another
			}
			h.t.Errorf("%s: lost %.200q", what, text)
			return
		}
	}
}

// searchable asks for some of the texts.
func (h *hostile) searchable(what string, texts map[string]bool) {
	h.t.Helper()
	n := 0
	for text := range texts {
		if strings.ContainsAny(text, `"`) || len(text) > 200 || strings.IndexFunc(text, func(r rune) bool { return r >= 'a' && r <= 'z' }) < 0 {
			continue
		}
		if n++; n > 3 {
			return
		}
		if r := h.ask(h.s, `"`+text+`"`); len(r.Results.Hits) == 0 {
			h.t.Errorf("%s: %q is shown but not found", what, text)
		}
	}
}

var (
	isoTime  = regexp.MustCompile(`"20\d\d-\d\d-\d\dT[0-9:.]+Z"`)
	msTime   = regexp.MustCompile(`\b1[78]\d{11}\b`)
	idMember = regexp.MustCompile(`"(uuid|id|messageId|requestId|responseId|call_id|tool_use_id|toolCallId|callID)"(\s*:)`)
)

func TestHostileTranscripts(t *testing.T) {
	for _, sample := range hostileSamples {
		t.Run(sample.agent+" "+filepath.Ext(sample.file), func(t *testing.T) {
			t.Parallel()
			h := newHostile(t, sample)
			whole := h.texts("as it is", h.good)
			if len(whole) < 3 {
				t.Fatalf("the sample says %d things", len(whole))
			}
			h.searchable("as it is", whole)
			h.clocks(whole)
			if sample.document {
				h.document(whole)
			} else {
				h.lines(whole)
			}
			h.holds("as it was", h.texts("as it was", h.good), whole)
			if st := h.status(h.s); st.FilesFailed != 0 || st.Phase != contract.PhaseCurrent {
				t.Errorf("the failure is not over: %+v", st)
			}
		})
	}
}

// clocks sets every time of the file to something no clock should show, and
// takes the ids away.
func (h *hostile) clocks(whole map[string]bool) {
	for _, c := range []struct{ name, iso, ms string }{
		{"epoch 0", `"1970-01-01T00:00:00.000Z"`, "0"},
		{"far future", `"9999-12-31T23:59:59.999Z"`, "253402300799999"},
		{"beyond any", `"292277026596-12-04T15:30:07Z"`, "9223372036854775807"},
		{"before any", `"-000001-01-01T00:00:00Z"`, "-1"},
		{"no time", `"yesterday"`, "null"},
		{"seconds", "1785000000", "1785000000"},
		{"microseconds as text", `"1785000000000000"`, `"1785000000000000"`},
		{"lists", `["2026"]`, `{"at":1}`},
	} {
		if h.sample.agent == "dsh" && c.name == "lists" {
			continue // a log of the harness has the types that it says
		}
		file := msTime.ReplaceAllString(isoTime.ReplaceAllString(h.good, c.iso), c.ms)
		got := h.texts(c.name, file)
		h.holds(c.name, got, whole)
		h.searchable(c.name, got)
	}
}

// document damages a file that is one JSON document.
func (h *hostile) document(map[string]bool) {
	without := h.texts("without", "")
	at := func(n int) int { return len(h.good) * n / 10 }
	for n := range 10 {
		name := fmt.Sprintf("cut at %d", at(n))
		h.holds(name, h.texts(name, h.good[:at(n)]), without)
		name = fmt.Sprintf("hole at %d", at(n))
		h.holds(name, h.texts(name, h.good[:at(n)]+strings.Repeat("\x00", 200)+h.good[min(len(h.good), at(n)+200):]), without)
		name = fmt.Sprintf("bytes at %d", at(n))
		h.holds(name, h.texts(name, h.good[:at(n)]+"\xff\xed\xa0\x80\u2028"+h.good[at(n):]), without)
	}
	for _, all := range []string{"null", "[]", "{}", "[[[[", "\xff\xfe{\x00}\x00", "\ufeff" + h.good, strings.ReplaceAll(h.good, "\n", "\r\n"), strings.Repeat(`{"a":`, 20_000), strings.Repeat("\x00", 5000)} {
		h.holds(fmt.Sprintf("%.20q", all), h.texts(fmt.Sprintf("%.20q", all), all), without)
	}
}

// lines damages a file of one record a line.
func (h *hostile) lines(whole map[string]bool) {
	lines := strings.SplitAfter(strings.TrimSuffix(h.good, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	join := func(at int, with ...string) string {
		return strings.Join(slices.Concat(lines[:at], with, lines[at+1:]), "")
	}
	// Cut anywhere, it says at least what its whole lines say.
	for n := range 8 {
		at := len(h.good) * (2*n + 1) / 16
		cut := h.good[:at]
		want := h.texts("whole lines", cut[:strings.LastIndexByte(cut, '\n')+1])
		name := fmt.Sprintf("cut at %d", at)
		got := h.texts(name, cut)
		h.holds(name, got, want)
		h.searchable(name, got)
	}
	// Damage to one record costs that record at most.
	for n := range min(4, len(lines)) {
		at := n * len(lines) / min(4, len(lines))
		line := strings.TrimSuffix(lines[at], "\n")
		half := line[:len(line)/2]
		without := h.texts("without a line", join(at))
		damaged := map[string]string{
			"cut":          half + "\n",
			"spliced":      half,
			"hole":         strings.Repeat("\x00", 300) + "\n",
			"hole inside":  half + strings.Repeat("\x00", 40) + line[len(line)/2:] + "\n",
			"no JSON":      "Segmentation fault (core dumped)\n",
			"other JSON":   "null\n42\n[{}]\n\"text\"\n{}\n\n",
			"binary":       "\xff\xfe\x00\x01\x80\n",
			"deep":         strings.Repeat(`{"a":[`, 5000) + "\n",
			"unknown type": `{"type":"x-future","kind":99,"id":"zz","payload":{"type":"x"},"data":{"a":1},"message":{"role":"x"}}` + "\n",
		}
		if h.sample.agent == "vscode" {
			delete(damaged, "unknown type") // a change of an unknown kind ends a log of changes
		}
		for name, with := range damaged {
			name = fmt.Sprintf("%s at line %d", name, at)
			h.holds(name, h.texts(name, join(at, with)), without)
		}
		// These leave the record readable.
		for name, with := range map[string]string{
			"duplicate key": strings.Replace(line, "{", `{"x-extra":1,"x-extra":2,`, 1) + "\n",
			"return":        line + "\r\n",
			"mark":          "\ufeff" + line + "\n",
			"another after": line + "\n" + `{"type":"x-future","payload":{"type":"x"},"data":{"a":1}}` + "\n",
		} {
			name = fmt.Sprintf("%s at line %d", name, at)
			h.holds(name, h.texts(name, join(at, with)), whole)
		}
		for name, odd := range map[string]string{"surrogate": `\ud83d`, "invalid UTF-8": "\xff\xed\xa0\x80", "U+2028": "\u2028", "NUL": `\u0000`} {
			with := line
			for _, text := range []string{`"text":"`, `"content":"`, `"message":"`, `"value":"`, `"output":"`, `"text": "`, `"content": "`} {
				if i := strings.Index(line, text); i >= 0 {
					with = line[:i+len(text)] + "odd" + odd + "ity " + line[i+len(text):]
					break
				}
			}
			name = fmt.Sprintf("%s at line %d", name, at)
			got := h.texts(name, join(at, with+"\n"))
			h.holds(name, got, without)
			for text := range got {
				if strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text) {
					h.t.Errorf("%s: %q", name, text)
				}
			}
		}
	}
	h.texts("no ids", idMember.ReplaceAllString(h.good, `"x-$1"$2`))
}
