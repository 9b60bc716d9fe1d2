package exact

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
)

func parts(texts ...string) (out []transcript.Part) {
	for _, s := range texts {
		out = append(out, transcript.Part{Text: s})
	}
	return out
}

func TestWantedText(t *testing.T) {
	long := strings.Repeat("filler text ", 60_000)
	for _, tt := range []struct {
		query string
		regex bool
		in    []string
		want  bool
	}{
		{"Tide  table", false, []string{"the TIDE  TABLE"}, true},
		{"Tide  table", false, []string{"the TIDE\n\ttable"}, false},
		{" tide\n", false, []string{"tide"}, true},
		{"tide table", false, []string{"the tide", "table"}, false},
		{"tide\ntable", false, []string{"the tide", "table"}, true},
		{"tidetable", false, []string{"the tide", "table"}, false},
		{"a.c", false, []string{"abc"}, false},
		{"needle at\nthe end", false, []string{long + "needle at", "the end"}, true},
		{"a.c", true, []string{"xABCx"}, true},
		{"(?-i)abc", true, []string{"ABC"}, false},
		{`tide\s+table`, true, []string{"the tide", "table"}, true},
		{`tide table`, true, []string{"tide  table"}, false},
		{`^b`, true, []string{"a", "b"}, false},
		{`(?m)^b`, true, []string{"a", "b"}, true},
		{`needle (at|in)\s+the end`, true, []string{long + "needle at", "the end"}, true},
		{`[0-9]+ geese`, true, []string{long + "12 geese" + long}, true},
		{`[0-9]+ geese`, true, []string{long}, false},
		{`x*`, true, []string{"abc"}, true},
		{`x*`, true, nil, false},
		{"\xff", false, []string{"a\xff"}, true},
	} {
		w, err := newWanted(tt.query, tt.regex)
		if err != nil {
			t.Fatal(err)
		}
		p := parts(tt.in...)
		if got := w.in(context.Background(), p); got != tt.want {
			t.Errorf("%q: %v", tt.query, got)
		}
		text := joined(p)
		for _, s := range w.spans(context.Background(), text) {
			if !w.in(context.Background(), parts(text[s.Start:s.End])) && tt.query[0] != '^' {
				t.Errorf("%q: marked %q", tt.query, text[s.Start:s.End])
			}
		}
	}
	ended, end := context.WithCancel(context.Background())
	end()
	for _, regex := range []bool{false, true} {
		w, err := newWanted("needle", regex)
		if err != nil {
			t.Fatal(err)
		}
		if w.in(ended, parts(long+long+"needle")) {
			t.Error("a search that was ended went on to the last megabyte")
		}
	}
}

// However a pattern is searched for (first by a word that it must hold, in
// pieces), it is found where package regexp finds it.
func FuzzWantedPattern(f *testing.F) {
	f.Add(`err(or)?s? at \d+`, "Errors at 12")
	f.Add(`(foo|foobar)+baz`, "FOObarbaz")
	f.Add(`k{2,3}`, "\u212aK")
	f.Add(`(?i:ſtop)x?`, "STOP")
	f.Add(`(?-i)Ab  c`, "Ab  c")
	f.Add(`a(?:b|)c+[x-z]`, "acz")
	f.Add("[^a]\xff", "b\xff")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		w, err := newWanted(pattern, true)
		if err != nil {
			return
		}
		if len(text) > 4096 {
			text = text[:4096]
		}
		want := text != "" && regexp.MustCompile("(?i)"+pattern).MatchString(text)
		if got := w.in(context.Background(), parts(text)); got != want {
			t.Fatalf("%q in %q: %v, want %v (must hold %q)", pattern, text, got, want, required("(?i)"+pattern))
		}
		w.size = 1 << 22 // read rune by rune
		if got := w.in(context.Background(), parts(text)); got != want {
			t.Fatalf("%q in %q, in pieces: %v, want %v", pattern, text, got, want)
		}
	})
}
