package postings

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// pages is a Store in memory.
type pages map[string][]byte

func key(segment int64, file File, number uint32) string {
	return fmt.Sprintf("%d/%d/%d", segment, file, number)
}

func (p pages) Page(_ context.Context, segment int64, file File, number uint32) ([]byte, error) {
	return p[key(segment, file, number)], nil
}

func (p pages) put(segment int64) Put {
	return func(file File, number uint32, page []byte) error {
		k := key(segment, file, number)
		if p[k] != nil {
			return fmt.Errorf("page %s twice", k)
		}
		if len(page) > PageBytes {
			return fmt.Errorf("page %s has %d bytes", k, len(page))
		}
		p[k] = bytes.Clone(page)
		return nil
	}
}

// text is a row: terms with gaps, and marks.
type text struct {
	main  []string
	marks []string
}

// corpus is an index as a list, to compare with.
type corpus map[int64]text

func (c corpus) holds(row int64, e Expr) bool {
	switch e.op {
	case opAny:
		return slices.ContainsFunc(e.list, func(e Expr) bool { return c.holds(row, e) })
	case opAll:
		return !slices.ContainsFunc(e.list, func(e Expr) bool { return !c.holds(row, e) })
	case opPhrase:
		t := c[row]
		fits := func(have string, i int) bool {
			if have == "|" {
				return false
			}
			if e.open && i == len(e.terms)-1 {
				return strings.HasPrefix(have, e.terms[i])
			}
			return have == e.terms[i]
		}
		if len(e.terms) == 1 && slices.ContainsFunc(t.marks, func(m string) bool { return fits(m, 0) }) {
			return true
		}
		for at := 0; at+len(e.terms) <= len(t.main); at++ {
			ok := true
			for i := range e.terms {
				ok = ok && fits(t.main[at+i], i)
			}
			if ok {
				return true
			}
		}
	}
	return false
}

func (c corpus) search(e Expr, from, before int64, limit int) []int64 {
	var out []int64
	for row := range c {
		if row >= from && row < before && c.holds(row, e) {
			out = append(out, row)
		}
	}
	slices.SortFunc(out, func(a, b int64) int { return int(b - a) })
	return out[:min(limit, len(out))]
}

// invent makes rows whose words are as unevenly frequent as those of a text.
func invent(r *rand.Rand, first int64, n, words int) corpus {
	c := corpus{}
	row := first
	for range n {
		row += 1 + int64(r.IntN(3))
		var t text
		for range 1 + r.IntN(60) {
			if r.IntN(12) == 0 {
				t.main = append(t.main, "|")
			}
			t.main = append(t.main, word(r, words))
		}
		t.marks = []string{fmt.Sprintf("=type=%d", r.IntN(3))}
		if r.IntN(4) == 0 {
			t.marks = append(t.marks, "joined"+word(r, words))
		}
		c[row] = t
	}
	return c
}

func word(r *rand.Rand, words int) string {
	k := int(math.Pow(float64(words), r.Float64()))
	return fmt.Sprintf("%c%d", 'a'+k%7, k)
}

func segment(t testing.TB, p pages, id int64, c corpus) *Segment {
	t.Helper()
	b := NewBuilder()
	var rows []int64
	for row := range c {
		rows = append(rows, row)
	}
	slices.Sort(rows)
	for _, row := range rows {
		x := c[row]
		if err := b.Add(row, []byte(strings.Join(x.main, " ")+" "), []byte(strings.Join(x.marks, " "))); err != nil {
			t.Fatal(err)
		}
	}
	root, err := b.Flush(p.put(id), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), id, root, p)
	if err != nil {
		t.Fatal(err)
	}
	s.Gone = true
	return s
}

func expression(r *rand.Rand, words, depth int, rows []text) Expr {
	switch k := r.IntN(8); {
	case depth > 0 && k == 0:
		var list []Expr
		for range 2 + r.IntN(3) {
			list = append(list, expression(r, words, depth-1, rows))
		}
		return Any(list...)
	case depth > 0 && k <= 2:
		var list []Expr
		for range 2 + r.IntN(2) {
			list = append(list, expression(r, words, depth-1, rows))
		}
		return All(list...)
	case k == 3:
		return Phrase([]string{fmt.Sprintf("=type=%d", r.IntN(4))}, false)
	case k == 4 && r.IntN(3) == 0:
		return Phrase([]string{string("abcdefgh0"[r.IntN(9)])}, true)
	case k <= 5:
		// A phrase that is somewhere.
		x := rows[r.IntN(len(rows))].main
		from := r.IntN(len(x))
		p := slices.Clone(x[from:min(len(x), from+1+r.IntN(4))])
		open := r.IntN(2) == 0
		if last := p[len(p)-1]; open && len(last) > 1 {
			p[len(p)-1] = last[:1+r.IntN(len(last)-1)]
		}
		return Phrase(p, open)
	}
	return Phrase([]string{word(r, words)}, r.IntN(4) == 0)
}

// What a search finds is what going through all rows finds, whatever the
// segments, before and after they are merged.
func TestSearchFindsWhatIsThere(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 7))
		words := []int{40, 3000, 60000}[r.IntN(3)]
		p := pages{}
		all := corpus{}
		var list []*Segment
		var rows []text
		first := int64(1) << 40
		for id := range int64(1 + r.IntN(4)) {
			c := invent(r, first, 1+r.IntN(1200), words)
			s := segment(t, p, id, c)
			first = s.Newest() + 1<<20
			if seed%3 == 1 {
				first += 1 << 33 // further apart than four bytes tell
			}
			list = append(list, s)
			for row, x := range c {
				all[row] = x
				rows = append(rows, x)
			}
		}
		slices.Reverse(list) // the newest first
		compare := func(list []*Segment, alive func(int64) bool, n int) {
			t.Helper()
			for range n {
				e := expression(r, words, 3, rows)
				from, before, limit := int64(math.MinInt64), int64(math.MaxInt64), 1<<30
				if r.IntN(3) == 0 {
					from = 1<<40 + int64(r.IntN(8000))
				}
				if r.IntN(3) == 0 {
					before = 1<<40 + int64(r.IntN(16000))
				}
				if r.IntN(2) == 0 {
					limit = 1 + r.IntN(50)
				}
				got, err := Search(context.Background(), list, e, from, before, limit, alive)
				if err != nil {
					t.Fatal(err)
				}
				if want := all.search(e, from, before, limit); !slices.Equal(got, want) {
					t.Fatalf("seed %d: %+v from %d before %d limit %d: %d rows %v, want %d %v", seed, e, from, before, limit, len(got), head10(got), len(want), head10(want))
				}
			}
		}
		compare(list, nil, 25)
		for row := range all {
			if r.IntN(5) == 0 {
				delete(all, row)
			}
		}
		alive := func(row int64) bool { _, ok := all[row]; return ok }
		compare(list, alive, 20)
		root, err := Merge(context.Background(), list, alive, p.put(99))
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 0 {
			continue
		}
		merged, err := Open(context.Background(), 99, root, p)
		if err != nil {
			t.Fatal(err)
		}
		compare([]*Segment{merged}, nil, 25)
		for _, s := range append(list, merged) {
			if err := s.Verify(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		seen := map[string]bool{}
		for _, x := range all {
			for _, w := range append(x.main, x.marks...) {
				seen[w] = true
			}
		}
		delete(seen, "|")
		if err := merged.EachTerm(context.Background(), func(term []byte) {
			n++
			if !seen[string(term)] {
				t.Fatalf("%q is in no row", term)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if n != len(seen) {
			t.Fatalf("%d terms, want %d", n, len(seen))
		}
	}
}

func head10(l []int64) []int64 { return l[:min(10, len(l))] }

// A row with very many occurrences, rows with one, long terms, terms that begin alike, a
// row without any: each is found where it is.
func TestOddRows(t *testing.T) {
	ctx := context.Background()
	long := strings.Repeat("x", 900)
	c := corpus{
		10: {main: slices.Repeat([]string{"again"}, 200_000)},
		11: {},
		12: {main: []string{"|", "|"}},
		13: {main: []string{"a"}},
		14: {main: []string{long + "1", long + "2", "\xff\xfe", "\x00"}, marks: []string{"=m"}},
		15: {main: append(slices.Repeat([]string{"|"}, 300_000), "far", "away")},
		16: {main: []string{"again", "|", "again"}, marks: []string{"again", "=m"}},
	}
	p := pages{}
	s := segment(t, p, 1, c)
	if s.Len() != 7 || s.Newest() != 16 || s.Oldest() != 10 {
		t.Fatalf("%d rows from %d to %d", s.Len(), s.Oldest(), s.Newest())
	}
	for _, e := range []Expr{
		Phrase([]string{"again"}, false), Phrase([]string{"again", "again"}, false), Phrase([]string{"again", "again", "aga"}, true), Phrase([]string{"a"}, true),
		Phrase([]string{"a"}, false), Phrase([]string{long}, true), Phrase([]string{long + "1", long}, true), Phrase([]string{"\xff\xfe", "\x00"}, false), Phrase([]string{"|"}, false),
		Phrase([]string{"far", "away"}, false), Phrase([]string{"=m"}, false), Phrase([]string{"=m", "=m"}, false), Phrase([]string{"nowhere"}, true), Phrase([]string{"a", ""}, true),
		Phrase([]string{""}, true), {}, All(), Any(), Any(Expr{}, Phrase([]string{"far"}, false)), All(Phrase([]string{"far"}, false), Expr{}),
	} {
		got, err := Search(ctx, []*Segment{s}, e, math.MinInt64, math.MaxInt64, 100, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := c.search(e, math.MinInt64, math.MaxInt64, 100); !slices.Equal(got, want) {
			t.Errorf("%.80q: %v, want %v", fmt.Sprint(e), got, want)
		}
	}
	if root, err := Merge(ctx, []*Segment{s}, func(int64) bool { return false }, p.put(2)); err != nil || root != nil {
		t.Errorf("without rows there is no segment: %v %v", root, err)
	}
	b := NewBuilder()
	if err := b.Add(5, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(5, nil, nil); err == nil {
		t.Error("a row came twice")
	}
	over := segment(t, p, 3, corpus{12: {main: []string{"a"}}})
	if _, err := Merge(ctx, []*Segment{s, over}, nil, pages{}.put(4)); err == nil {
		t.Error("segments that overlap were merged")
	}
}

// use does with a segment all that can be done.
func use(id int64, root []byte, p pages) error {
	ctx := context.Background()
	s, err := Open(ctx, id, root, p)
	if err != nil {
		return err
	}
	s.Gone = true
	for _, e := range []Expr{Phrase([]string{"a0"}, false), Phrase([]string{"b"}, true), Phrase([]string{"b1", "a"}, true), Phrase([]string{"a0", "b1"}, false),
		All(Phrase([]string{"c"}, true), Phrase([]string{"=type=1"}, false)), Any(Phrase([]string{"g6"}, false), Phrase([]string{"e4", "d"}, true))} {
		if _, err := Search(ctx, []*Segment{s}, e, math.MinInt64, math.MaxInt64, 1000, nil); err != nil {
			return err
		}
	}
	if _, err := Merge(ctx, []*Segment{s}, func(row int64) bool { return row%7 != 0 }, pages{}.put(9)); err != nil {
		return err
	}
	if _, err := Merge(ctx, []*Segment{s}, nil, pages{}.put(9)); err != nil {
		return err
	}
	return s.Verify(ctx)
}

// built is a segment with pages of every kind.
func built(t testing.TB) (root []byte, p pages) {
	r := rand.New(rand.NewPCG(3, 4))
	b := NewBuilder()
	c := invent(r, 1<<40, 700, 8000)
	for i := range int64(1400) {
		row := 1<<40 + i
		x := c[row]
		if err := b.Add(row, []byte(strings.Join(x.main, " ")), []byte(strings.Join(x.marks, " "))); err != nil {
			t.Fatal(err)
		}
	}
	p = pages{}
	root, err := b.Flush(p.put(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	for file := range files {
		if p[key(1, file, 0)] == nil && file != Index {
			t.Fatalf("no page of file %d", file)
		}
	}
	return root, p
}

// Damaged pages give an error or a wrong answer, never more.
func TestDamage(t *testing.T) {
	root, p := built(t)
	if err := use(1, root, p); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range p {
		names = append(names, name)
	}
	slices.Sort(names)
	r := rand.New(rand.NewPCG(5, 6))
	failed := 0
	for range 100 {
		bad := pages{}
		for name, page := range p {
			bad[name] = page
		}
		head := bytes.Clone(root)
		switch name := names[r.IntN(len(names))]; r.IntN(5) {
		case 0:
			head[r.IntN(len(head))] ^= 1 << r.IntN(8)
		case 1:
			delete(bad, name)
		case 2:
			bad[name] = bad[name][:r.IntN(len(bad[name]))]
		default:
			page := bytes.Clone(bad[name])
			for range 1 + r.IntN(4) {
				page[r.IntN(len(page))] = byte(r.Uint32())
			}
			bad[name] = page
		}
		if use(1, head, bad) != nil {
			failed++
		}
	}
	if failed < 25 {
		t.Errorf("only %d of 100 damaged segments were noticed", failed)
	}
}

// FuzzSegment: no bytes in the place of a page or of the root do more than fail.
func FuzzSegment(f *testing.F) {
	root, p := built(f)
	f.Add(byte(0), uint16(3), []byte{1, 2, 3})
	f.Add(byte(1), uint16(0), p[key(1, Terms, 0)][:200])
	f.Add(byte(4), uint16(100), p[key(1, Documents, 0)][:64])
	f.Add(byte(5), uint16(7), []byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(_ *testing.T, which byte, at uint16, data []byte) {
		bad := pages{}
		for name, page := range p {
			bad[name] = page
		}
		head := root
		over := func(page []byte) []byte {
			page = bytes.Clone(page)
			if len(page) == 0 {
				return data
			}
			copy(page[int(at)%len(page):], data)
			return page
		}
		if which%6 == 0 {
			head = over(root)
		} else {
			name := key(1, File(which%6-1), uint32(which/6)%3)
			bad[name] = over(bad[name])
		}
		_ = use(1, head, bad)
	})
}

// FuzzBits: what is written is read.
func FuzzBits(f *testing.F) {
	f.Add([]byte{1, 2, 3, 255, 0, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		var w bitWriter
		r := rand.New(rand.NewPCG(uint64(len(data)), 1))
		type value struct {
			kind, k uint
			v       uint32
		}
		var list []value
		for _, c := range data {
			x := value{uint(c) % 3, uint(r.IntN(32)), r.Uint32() >> r.IntN(32)}
			switch x.kind {
			case 0:
				w.rice(x.v, x.k)
			case 1:
				x.v = max(x.v, 1)
				w.gamma(x.v)
			default:
				x.v &= 1<<x.k - 1
				w.put(uint64(x.v), x.k)
			}
			list = append(list, x)
		}
		var rd bitReader
		rd.reset(w.end())
		for i, x := range list {
			var got uint32
			switch x.kind {
			case 0:
				got = rd.rice(x.k)
			case 1:
				got = rd.gamma()
			default:
				got = rd.get(x.k)
			}
			if got != x.v || rd.bad {
				t.Fatalf("value %d: %d, want %d (%v)", i, got, x.v, rd.bad)
			}
		}
		for range 100 {
			rd.get(31)
		}
		if !rd.bad {
			t.Fatal("the end was not noticed")
		}
	})
}
