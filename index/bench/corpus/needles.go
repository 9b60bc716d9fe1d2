package corpus

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// plant is a text to be put into a session.
type plant struct{ where, text string }

// kind is a way in which something said is looked for.
type kind struct {
	name string
	// where the texts may stand; each needle takes the next place.
	where []string
	make  func(p *planter, i int) (query string, texts []string)
}

// Kinds are the names of the needles' kinds, in the order of a report.
func Kinds() []string {
	var out []string
	for _, k := range kinds() {
		out = append(out, k.name)
	}
	return out
}

func one(text, query string) (string, []string) { return query, []string{text} }

func kinds() []kind {
	said := []string{"user", "assistant", "tool", "tool"}
	return []kind{
		{"word", said, func(p *planter, _ int) (string, []string) { w := p.word(); return one(w, w) }},
		{"two words", said, func(p *planter, _ int) (string, []string) {
			a, b := p.word(), p.word()
			return one(a+" "+p.plain()+" "+p.plain()+" "+p.plain()+" "+b, b+" "+a)
		}},
		{"two messages", said, func(p *planter, _ int) (string, []string) {
			a, b := p.word(), p.word()
			return a + " " + b, []string{a, b}
		}},
		{"phrase", said, func(p *planter, _ int) (string, []string) {
			text := p.plain() + " " + p.plain() + " " + p.plain() + " " + p.plain()
			return one(text, `"`+text+`"`)
		}},
		{"identifier part", said, func(p *planter, _ int) (string, []string) {
			w := p.word()
			return one(p.technical()+title(w)+title(p.technical())+"()", w+" ")
		}},
		{"joined identifier", said, func(p *planter, i int) (string, []string) {
			a, b := p.word(), p.word()
			forms := []string{a + title(b), a + "_" + b, a + "-" + b, title(a) + title(b), a + b, a + " " + b}
			return one(forms[i%3], forms[(i/3+i)%len(forms)])
		}},
		{"snake", said, func(p *planter, _ int) (string, []string) {
			w := p.word()
			return one(p.technical()+"_"+w+"_"+p.technical(), w+" ")
		}},
		{"hyphenated", said, func(p *planter, _ int) (string, []string) {
			text := p.technical() + "-" + p.word() + "-" + p.technical()
			return one(text, text)
		}},
		{"path", said, func(p *planter, i int) (string, []string) {
			file := p.word() + "_" + p.technical() + "." + endings[i%len(endings)]
			text := "src/" + p.technical() + "/" + file
			return one(text, []string{file, text}[i%2])
		}},
		{"error code", said, func(p *planter, _ int) (string, []string) {
			code := p.code()
			return one("error["+code+"]: "+p.plain()+" "+p.plain(), code)
		}},
		{"prefix", said, func(p *planter, i int) (string, []string) {
			w := p.word()
			return one(w+[]string{"istic", "ement", "ational", "hood"}[i%4], w)
		}},
		{"inflection", said, func(p *planter, i int) (string, []string) {
			w := p.word()
			forms := [][2]string{{"ing", "ed"}, {"ed", "ing"}, {"s", "ing"}, {"ing", "s"}}[i%4]
			return one(w+forms[0], w+forms[1]+" ")
		}},
		{"substring", said, func(p *planter, _ int) (string, []string) {
			text := p.word() + p.word()
			return one(text, text[4:14]+" ")
		}},
		{"typo", said, func(p *planter, i int) (string, []string) { w := p.word(); return one(w, mistype(p.rnd, w, i)+" ") }},
		{"accent", said, func(p *planter, i int) (string, []string) {
			w := p.word()
			marked := strings.NewReplacer("a", "á", "e", "é", "i", "ï", "o", "ö", "u", "ü").Replace(w)
			if i%2 == 1 {
				return one(w, marked)
			}
			return one(marked, w)
		}},
		{"CJK 1", said, func(p *planter, _ int) (string, []string) {
			c := p.single()
			return one("上游"+c+"又断开", c)
		}},
		{"CJK 2", said, func(p *planter, _ int) (string, []string) {
			run := p.han(4)
			return one("昨天"+run+"没写完", string([]rune(run)[1:3]))
		}},
		{"CJK n", said, func(p *planter, i int) (string, []string) {
			run := p.han(6)
			return one("等"+run+"上线再说", string([]rune(run)[:3+i%4]))
		}},
		{"glued", said, func(p *planter, _ int) (string, []string) {
			w := p.word()
			return one("改完"+w+"就发布", w+" ")
		}},
		{"emoji", said, func(p *planter, _ int) (string, []string) { e := p.emoji(); return one(e, e) }},
		{"deep in tool output", []string{"deep"}, func(p *planter, _ int) (string, []string) { w := p.word(); return one(w, w+" ") }},
		{"title", []string{"title"}, func(p *planter, _ int) (string, []string) { w := p.word(); return one(w, w+" ") }},
	}
}

// planter invents needles and remembers what is taken.
type planter struct {
	*reserved
	v     *vocabulary
	taken string // Chinese and Japanese text that stands in the corpus
}

func newPlanter(seed uint64, v *vocabulary) *planter {
	p := &planter{reserved: &reserved{rnd: rand.New(rand.NewPCG(seed, 2)), seen: map[string]bool{}}, v: v}
	p.taken = strings.Join(chinese, "") + strings.Join(japanese, "") + "上游又断开昨天没写完等上线再说改完就发布"
	return p
}

// plain is a word that occurs here and there.
func (p *planter) plain() string { return p.v.words[min(p.v.plain+p.rnd.IntN(3000), len(p.v.words)-1)] }

// technical is a word of the trade.
func (p *planter) technical() string { return p.v.words[80+p.rnd.IntN(p.v.plain-80)] }

// fresh calls f until it gives what is not taken.
func (p *planter) fresh(f func() string) string {
	for {
		if s := f(); !p.seen[s] {
			p.seen[s] = true
			return s
		}
	}
}

func (p *planter) code() string {
	return p.fresh(func() string { return fmt.Sprintf("E7%05d", p.rnd.IntN(100_000)) })
}

// single is a Chinese character that stands nowhere else.
func (p *planter) single() string {
	return p.fresh(func() string { return p.character(0x4e00, 0x9f00) })
}

// han is a run of n Chinese characters of which no two neighbours stand beside
// each other elsewhere. The characters themselves do, in other needles.
func (p *planter) han(n int) string {
again:
	for {
		run := make([]string, n)
		for i := range run {
			run[i] = p.character(hanFrom, hanTo)
		}
		for i := range n - 1 {
			if p.seen[run[i]+run[i+1]] {
				continue again
			}
		}
		for i, c := range run {
			p.seen[c] = true // none of them is a single one later
			if i > 0 {
				p.seen[run[i-1]+c] = true
			}
		}
		return strings.Join(run, "")
	}
}

// The characters of han are few, so that they recur.
const hanFrom, hanTo = 0x6d80, 0x6e00

// character is a Chinese character that no word of the corpus has, of a range
// and not of han's unless it is han's.
func (p *planter) character(from, to int) string {
	for {
		r := rune(between(p.rnd, from, to))
		if r >= hanFrom && r <= hanTo && from != hanFrom {
			continue
		}
		if !strings.ContainsRune(p.taken, r) {
			return string(r)
		}
	}
}

// emoji are three animals in a row.
func (p *planter) emoji() string {
	animal := func() rune { return rune(between(p.rnd, 0x1f400, 0x1f43c)) }
	return p.fresh(func() string { return string([]rune{animal(), animal(), animal()}) })
}

// mistype makes one edit of a word: two letters swapped, one left out, one
// doubled, another one; each n-th time the first letter is concerned.
func mistype(rnd *rand.Rand, w string, n int) string {
	b := []byte(w)
	i := between(rnd, 2, len(b)-3)
	if n%8 == 7 {
		i = 0
	}
	switch n % 4 {
	case 0:
		for b[i] == b[i+1] {
			i--
		}
		b[i], b[i+1] = b[i+1], b[i]
		return string(b)
	case 1:
		return w[:i] + w[i+1:]
	case 2:
		return w[:i+1] + w[i:]
	}
	b[i] = 'a' + (b[i]-'a'+7)%26
	return string(b)
}

// sow decides which needle stands in which session. Every fifth one stands in
// two.
func (c *Config) sow(v *vocabulary, sessions []*session) []Needle {
	p := newPlanter(c.Seed, v)
	var out []Needle
	for _, k := range kinds() {
		count := c.Needles
		if k.name == "deep in tool output" {
			count = min(count, max(2, len(sessions)/8)) // each costs some hundred kilobytes
		}
		for i := range count {
			query, texts := k.make(p, i)
			n := Needle{ID: fmt.Sprintf("%s-%03d", strings.ReplaceAll(k.name, " ", "-"), i), Kind: k.name, Where: k.where[i%len(k.where)], Query: query, Text: strings.Join(texts, " … ")}
			copies := 1
			if i%5 == 0 && n.Where != "deep" {
				copies = 2
			}
			for range copies {
				s := pick(p.rnd, sessions)
				for n.holds(s.ID) || n.Where == "title" && s.Agent == "gemini" { // which has no titles
					s = pick(p.rnd, sessions)
				}
				s.plants = append(s.plants, plant{n.Where, texts[0]})
				if len(texts) > 1 {
					other := "assistant"
					if n.Where == "assistant" {
						other = "tool"
					}
					s.plants = append(s.plants, plant{other, texts[1]})
				}
				n.Expect, n.Agents = append(n.Expect, s.ID), append(n.Agents, s.Agent)
			}
			out = append(out, n)
		}
	}
	return out
}

func (n *Needle) holds(id string) bool {
	for _, e := range n.Expect {
		if e == id {
			return true
		}
	}
	return false
}
