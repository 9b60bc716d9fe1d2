package index_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

// What queries mean.
func TestCasesOfQueries(t *testing.T) {
	one := func(t *testing.T, texts ...string) (*world, func(query string) string) {
		w := newWorld(t)
		for i, text := range texts {
			id := fmt.Sprint("session-", i)
			w.write(claudeFile(id), user(id, id+"-0", "start")+user(id, id+"-1", text))
		}
		s := w.enabled()
		w.reconcile(s)
		w.healthy(s)
		return w, func(q string) string { return w.hits(s, q) }
	}
	t.Run("B74 B76 syntax is text", func(t *testing.T) {
		w, hits := one(t, `got error-401 and status:500, it's u@h a,b why? #tag [x] foo(bar) 2 * 3 AND "half a OR wrong-book NEAR( {u} ^x +y -z; DROP TABLE`, "nothing of that")
		for _, q := range []string{"error-401", "status:500", "it's", "u@h", "a,b", "why?", "#tag", "[x]", "foo(", `"half`, "wrong-book", "a OR wrong-book", "NEAR(", "{u}", "^x", "+y", "-z", "AND"} {
			w.equal(q, hits(q), "session-0")
		}
		for _, q := range []string{"*", `"`, `""`, "'", "\x00", "\xff", "(", ")", ":", "%"} {
			hits(q) // an answer, not an error
		}
	})
	t.Run("B77 wildcards of SQL", func(t *testing.T) {
		w, hits := one(t, "it is 100% sure", "it cost 1000", "snake_case", "snakeXcase", `back\slash`)
		for q, want := range map[string]string{"100%": "session-0", "1000": "session-1", `"snake_case"`: "session-2", `back\slash`: "session-4", "repo:%": "", "path:100%": "", "repo:_": "", `branch:\`: ""} {
			w.equal(q, hits(q), want)
		}
	})
	t.Run("B79 B92 scripts without spaces", func(t *testing.T) {
		_, hits := one(t, "昨晚重构了索引服务", "重跑gen-itgc后", "无关的内容")
		for q, want := range map[string]string{
			"索引服务": "session-0", "重构": "session-0", "索": "session-0", "gen": "session-1", "gen-itgc": "session-1", "跑gen": "session-1", "itgc后": "session-1",
			"索引是什么时候重构的？": "session-0", "「索引服务」": "session-0",
		} {
			if got := hits(q); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %q, want %q first", q, got, want)
			}
		}
	})
	t.Run("B81 all that hold a word", func(t *testing.T) {
		var texts []string
		for i := range 16 {
			texts = append(texts, []string{"the opencode store", "OpenCode again", "with open-code", "in openCodeStore"}[i%4])
		}
		_, hits := one(t, texts...)
		if got := len(strings.Fields(hits("opencode"))); got != 16 {
			t.Errorf("%d sessions hold the word, want 16", got)
		}
	})
	t.Run("B82 one prompt in many sessions", func(t *testing.T) {
		w := newWorld(t)
		var prompt strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&prompt, "word%d ", i*7919%20_011)
		}
		for i := range 50 {
			id := fmt.Sprintf("%08d-session", i)
			w.write(claudeFile(id), user(id, id+"-0", "start")+user(id, id+"-1", prompt.String()))
		}
		s := w.enabled()
		w.reconcile(s)
		one := int64(prompt.Len())
		if st := w.status(s); st.IndexBytes > 50*one*2 {
			t.Errorf("an index of %d bytes for %d", st.IndexBytes, 50*one)
		}
		req := contract.NewSearchSessionsRequest("word19999")
		w.equal("sessions", w.search(s, req).Total.Sessions, 50)
	})
	t.Run("B84 parts of a number", func(t *testing.T) {
		w, hits := one(t, "host 10.0.0.5 is down", "10 items of 0 and 5")
		w.equal("address", hits("10.0.0.5"), "session-0")
	})
	t.Run("B86 snippet at the phrase", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), user(idA, "u0", "start")+user(idA, "u1", strings.Repeat("cache ", 5000)+"then the cache stampede lock"))
		s := w.enabled()
		if got := w.first(s, "cache stampede lock").Evidence.Snippet; !strings.Contains(strings.NewReplacer("[[", "", "]]", "").Replace(got), "cache stampede lock") {
			t.Errorf("snippet %q", got)
		}
	})
	t.Run("B87 misspelt operand", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), user(idA, "u", "a spelt chough"))
		s := w.enabled()
		w.reconcile(s)
		r := w.search(s, contract.NewSearchSessionsRequest("agent:cladue chough"))
		if len(r.Diagnostics) != 1 || r.Diagnostics[0].Start != 0 || r.Diagnostics[0].End != len("agent:cladue") || !strings.Contains(r.Diagnostics[0].Message, "claude") {
			t.Errorf("diagnostics %+v", r.Diagnostics)
		}
		w.equal("the rest is asked", len(r.Hits), 1)
	})
	t.Run("B89 the name of the file", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), user(idB, "u", "renamed dipper"))
		s := w.enabled()
		h := w.first(s, "dipper")
		w.equal("shown by the id that was found", w.show(s, h.SessionID).Session.SessionID, h.SessionID)
		w.equal("and filtered", w.filtered(s, h.SessionID), h.SessionID)
	})
	t.Run("B91 unknown word", func(t *testing.T) {
		w, hits := one(t, "some text", "more text")
		w.equal("nothing", hits("zzqx"), "")
	})
}
