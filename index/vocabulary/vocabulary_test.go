package vocabulary_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessionls/sessionls/index/vocabulary"
)

// build puts each list of words into a chunk of its own.
func build(t testing.TB, lists ...string) vocabulary.Vocabulary {
	t.Helper()
	var v vocabulary.Vocabulary
	for _, list := range lists {
		s := vocabulary.NewSet()
		s.Add([]byte(list + " "))
		for _, raw := range s.Take(1 << 20) {
			c, err := vocabulary.Decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, c)
		}
	}
	return v
}

func TestNear(t *testing.T) {
	v := build(t, "terminal termin terminals database parser server sever teh the базы данных база größe x 42 777", "terminal термин naïf")
	cases := []struct {
		word  string
		limit int
		want  string
	}{
		{"terminl", 1, "termin/1 terminal/1"},
		{"terminl", 2, "termin/1 terminal/1 terminals/2"},
		{"etrminal", 1, "terminal/1"}, // swapped, the first letter too
		{"derminal", 1, "terminal/1"},
		{"databsae", 2, "database/1"},
		{"datbsae", 2, "database/2"},
		{"severr", 1, "sever/1 "},
		{"hte", 1, "the/1 "},
		{"база", 1, "базы/1"},
		{"данныx", 1, "данных/1"}, // a Latin letter
		{"grosse", 2, ""},
		{"größte", 1, "größe/1"},
		{"termiн", 1, "termin/1"},
		{"zzzzzz", 2, ""},
		{"", 1, ""},
		{strings.Repeat("a", 65), 2, ""},
	}
	for _, c := range cases {
		near, err := v.Near(context.Background(), c.word, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range near {
			got = append(got, fmt.Sprintf("%s/%d", n.Word, n.Distance))
		}
		slices.Sort(got)
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s within %d: %v, want %v", c.word, c.limit, got, want)
		}
	}
}

func TestContaining(t *testing.T) {
	v := build(t, "code opencode opencodebase codec decoder encoder deco kode naïveté", "opencode barcode кодировка abcd cdef")
	cases := []struct {
		part  string
		limit int
		want  string
		more  bool
	}{
		{"code", 10, "codec decoder encoder barcode opencode opencodebase", false},
		{"code", 3, "codec decoder encoder", true},
		{"cdc", 10, "", false}, // from one word of the chunk into the next
		{"одир", 10, "кодировка", false},
		{"ïv", 10, "naïveté", false},
		{"opencodebase", 10, "", false}, // the word itself
		{"", 10, "", false},
	}
	for _, c := range cases {
		got, more, err := v.Containing(context.Background(), c.part, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, strings.Fields(c.want)) || more != c.more {
			t.Errorf("%q: %v %v, want %s %v", c.part, got, more, c.want, c.more)
		}
	}
}

// TestSearchesCanBeCancelled: both searches look at the context.
func TestSearchesCanBeCancelled(t *testing.T) {
	v := build(t, "opencode terminal")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := v.Near(ctx, "terminl", 2); !errors.Is(err, context.Canceled) {
		t.Errorf("Near: %v", err)
	}
	if _, _, err := v.Containing(ctx, "code", 9); !errors.Is(err, context.Canceled) {
		t.Errorf("Containing: %v", err)
	}
}

// TestSet: what is a word, and that each comes once.
func TestSet(t *testing.T) {
	s := vocabulary.NewSet()
	s.Add([]byte("terminal path terminal | =tool=bash x ab 索引 引 🚀 c++ 12345 123456 deadbeef 3f2a9b1c00 cafebabe1234 utf8 e0308 база größe "))
	s.Add([]byte("path terminal later "))
	var got []string
	for _, raw := range s.Take(1 << 20) {
		c, err := vocabulary.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		c.Words(func(w []byte) bool { got = append(got, string(w)); return true })
	}
	slices.Sort(got)
	if want := strings.Fields("12345 ab deadbeef e0308 größe later path terminal utf8 база"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	s.Add([]byte("later path anew "))
	if chunks := s.Take(1 << 20); len(chunks) != 1 || !bytes.Contains(chunks[0], []byte("anew")) || bytes.Contains(chunks[0], []byte("path")) {
		t.Errorf("second take: %q", chunks)
	}
	s.Reset()
	s.Add([]byte("path "))
	if chunks := s.Take(1 << 20); len(chunks) != 1 {
		t.Errorf("after a reset: %q", chunks)
	}
	if chunks := s.Take(1 << 20); chunks != nil {
		t.Errorf("nothing new: %q", chunks)
	}
}

// TestManyWords: small chunks together hold every word once, and merged they are one.
func TestManyWords(t *testing.T) {
	s := vocabulary.NewSet()
	want := map[string]bool{}
	rnd := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for range 20_000 {
		w := make([]byte, 3+rnd.IntN(8))
		for i := range w {
			w[i] = 'a' + byte(rnd.IntN(26))
		}
		want[string(w)] = true
		text = append(append(text, w...), ' ')
	}
	s.Add(text)
	var chunks []*vocabulary.Chunk
	count := func(c *vocabulary.Chunk) (n int) {
		c.Words(func(w []byte) bool {
			if !want[string(w)] {
				t.Fatalf("%q was not added", w)
			}
			n++
			return true
		})
		return n
	}
	n := 0
	for _, raw := range s.Take(10_000) {
		if len(raw) > 11_000 {
			t.Errorf("a chunk of %d bytes", len(raw))
		}
		c, err := vocabulary.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		chunks = append(chunks, c)
		n += count(c)
	}
	if n != len(want) {
		t.Errorf("%d words, want %d", n, len(want))
	}
	merged, err := vocabulary.Decode(vocabulary.Merge(append(chunks, chunks[0])...))
	if err != nil || count(merged) != len(want) {
		t.Errorf("merged: %d words, %v", count(merged), err)
	}
}

// osa is the textbook's matrix.
func osa(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// FuzzNear holds the search against the textbook's matrix.
func FuzzNear(f *testing.F) {
	f.Add("terminal", "terminl")
	f.Add("abcd", "badc")
	f.Add("größe", "grösse")
	f.Add("aaab", "baaa")
	f.Fuzz(func(t *testing.T, word, query string) {
		v := build(t, word)
		if len(v) == 0 || !utf8.ValidString(query) || strings.ContainsAny(word, " \n") {
			return
		}
		want := osa([]rune(word), []rune(query))
		near, err := v.Near(context.Background(), query, 2)
		if err != nil {
			t.Fatal(err)
		}
		possible := want >= 1 && want <= 2 && query != "" && utf8.RuneCountInString(query) <= 64
		if got := len(near) == 1 && near[0].Distance == want; got != possible {
			t.Errorf("%q from %q: %v, distance %d", word, query, near, want)
		}
	})
}

// FuzzDecode: damaged chunks are an error or a chunk, never a panic.
func FuzzDecode(f *testing.F) {
	f.Add(vocabulary.Encode([][]byte{[]byte("abc"), []byte("größe"), []byte("terminal")}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := vocabulary.Decode(raw)
		if err != nil {
			return
		}
		v := vocabulary.Vocabulary{c}
		if _, err := v.Near(context.Background(), "terminl", 2); err != nil {
			t.Fatal(err)
		}
		if _, _, err := v.Containing(context.Background(), "erm", 8); err != nil {
			t.Fatal(err)
		}
		c.Words(func([]byte) bool { return true })
	})
}
