package query

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/sessionls/sessionls/contract"
)

// evidenceOf is the snippet of a text for a query.
func evidenceOf(queryText, text string) *contract.Evidence {
	s := &search{ctx: context.Background()}
	s.query = parse(queryText, contract.Agents(), time.Now())
	s.plan = newPlan(&s.query, contract.ScopeAll)
	ev := &contract.Evidence{}
	s.cut(ev, newSnippets(s.plan).find([]searched{{text: text, prose: true}}))
	return ev
}

// shown is a text as a snippet may show it: white space runs are one space,
// control and bidi characters are not there.
func shown(text string) string {
	var b strings.Builder
	space := false
	for g := uniseg.NewGraphemes(text); g.Next(); {
		c := g.Str()
		if strings.TrimFunc(c, unicode.IsSpace) == "" {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		for _, r := range c {
			if !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) {
				b.WriteRune(r)
				space = false
			}
		}
	}
	return b.String()
}

// borders are the places where clusters of a text meet, its ends among them.
func borders(text string) map[int]bool {
	out, at := map[int]bool{0: true}, 0
	for g := uniseg.NewGraphemes(text); g.Next(); {
		at += len(g.Str())
		out[at] = true
	}
	return out
}

// checkSnippet holds a snippet against the text it was cut from: every mark lies
// between its brackets, what is between two gaps is text of the source, and no
// cut and no mark goes through a cluster. The text must not hold an ellipsis.
func checkSnippet(t *testing.T, ev *contract.Evidence, text string) {
	t.Helper()
	units := utf16.Encode([]rune(ev.Snippet))
	last := 0
	type cut struct{ from, to int }
	var marks []cut // in bytes of bare
	var bare strings.Builder
	for _, m := range ev.Marks {
		if m[0] < last+2 || m[1] < m[0] || m[1]+2 > len(units) {
			t.Fatalf("mark %v after %d of %q", m, last, ev.Snippet)
		}
		if open, end := string(utf16.Decode(units[m[0]-2:m[0]])), string(utf16.Decode(units[m[1]:m[1]+2])); open != "[[" || end != "]]" {
			t.Fatalf("mark %v of %q stands between %q and %q", m, ev.Snippet, open, end)
		}
		bare.WriteString(string(utf16.Decode(units[last : m[0]-2])))
		from := bare.Len()
		bare.WriteString(string(utf16.Decode(units[m[0]:m[1]])))
		marks = append(marks, cut{from, bare.Len()})
		last = m[1] + 2
	}
	bare.WriteString(string(utf16.Decode(units[last:])))
	if n := utf8.RuneCountInString(bare.String()); n > snippetRunes {
		t.Fatalf("%d code points in %q", n, ev.Snippet)
	}
	source := shown(text)
	ends := borders(source)
	from := 0 // in source
	at := 0   // in bare
	for _, whole := range strings.Split(bare.String(), "…") {
		piece := strings.Trim(whole, " ")
		left := strings.Index(whole, piece)
		k := -1
		// Of several places the one is meant at which clusters end.
		for try := from; ; {
			i := strings.Index(source[try:], piece)
			if i < 0 {
				break
			}
			if k = try + i; ends[k] && ends[k+len(piece)] {
				break
			}
			try = k + 1
		}
		if k < 0 {
			t.Fatalf("%q of %q is not in %q", piece, ev.Snippet, source)
		}
		if !ends[k] || !ends[k+len(piece)] {
			t.Fatalf("%q of %q cuts through a cluster of %q", piece, ev.Snippet, source)
		}
		for _, m := range marks {
			a, b := m.from-at-left+k, m.to-at-left+k
			if a >= k && b <= k+len(piece) && (!ends[a] || !ends[b]) {
				t.Fatalf("a mark of %q goes through a cluster of %q", ev.Snippet, source)
			}
		}
		from = k + len(piece)
		at += len(whole) + len("…")
	}
}

func FuzzSnippet(f *testing.F) {
	long := strings.Repeat("some words that nobody asks for, ", 40)
	for _, seed := range [][2]string{
		{"busy timeout", long + "the busy\r\n\ttimeout" + long},
		{"café", "un cafe\u0301 noir" + strings.Repeat(" e\u0301", 400)},
		{"👩", strings.Repeat("👩‍👩‍👧‍👦", 120)}, {"flag", strings.Repeat("🇩🇪🇫🇷", 200) + " flag " + strings.Repeat("🇩🇪", 300)},
		{"한글", strings.Repeat("한글 각각 ", 100)}, {"ภาษา", strings.Repeat("ภาษาไทยน้ำ", 60)},
		{"索引", strings.Repeat("全文索引的重建", 100)}, {"kamsa", strings.Repeat("हिन्दी ", 200) + "kamsa"},
		{"resolve", long + "resolveTerminalPath(" + long}, {`"a b"`, "a\nb " + long + "[[a b]]"},
		{"x", "x" + strings.Repeat("\u0301", 700) + " x"}, {"alpha omega", "alpha" + long + long + "omega"},
		{"x", strings.Repeat("y", 3000) + " x " + strings.Repeat("y", 3000)},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, q, text string) {
		if len(text) > 20_000 || strings.Contains(text, "…") || !utf8.ValidString(text) || !utf8.ValidString(q) {
			return
		}
		// What is not shown must not hold what is shown apart.
		for g := uniseg.NewGraphemes(text); g.Next(); {
			for _, r := range g.Runes() {
				if unicode.IsControl(r) && !unicode.IsSpace(r) || unicode.Is(unicode.Bidi_Control, r) {
					return
				}
			}
			if c := g.Runes(); len(c) > 1 && unicode.IsSpace(c[0]) && !unicode.IsSpace(c[1]) {
				return // a mark on a space, which is trimmed here
			}
			if len(g.Runes()) > maxCluster {
				checkMarksOnly(t, evidenceOf(q, text))
				return
			}
		}
		checkSnippet(t, evidenceOf(q, text), text)
	})
}

// checkMarksOnly is for texts with clusters beyond what is shown of one.
func checkMarksOnly(t *testing.T, ev *contract.Evidence) {
	t.Helper()
	n := len(utf16.Encode([]rune(ev.Snippet)))
	for _, m := range ev.Marks {
		if m[0] < 2 || m[1] < m[0] || m[1]+2 > n {
			t.Fatalf("mark %v of %q", m, ev.Snippet)
		}
	}
	if utf8.RuneCountInString(ev.Snippet) > snippetRunes+4*len(ev.Marks) {
		t.Fatalf("%d code points", utf8.RuneCountInString(ev.Snippet))
	}
}
