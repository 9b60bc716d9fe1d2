package query

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sessionls/sessionls/index/analysis"
	"github.com/sessionls/sessionls/index/store"
)

const (
	// shortWord is the length in characters up to which one edit is repaired,
	// above two (matching.md rule 8).
	shortWord = 7
	// nearGroup is how many equally near words stand for one together.
	nearGroup = 6
	// maxWeighed is how many near words the index is asked about.
	maxWeighed = 32
	// maxRepairedParts is how many parts of an identifier are repaired.
	maxRepairedParts = 2
	// commonRows is the number of rows from which all words are equally common.
	commonRows = 512
)

// A near word is the likelier the more often it is used, in doublings of that,
// and by these amounts: swapped neighbours are the commonest slip, and the
// first letter is rarely wrong. One that is less likely by unlikely or more
// than the best is only tried where that one finds nothing.
const (
	likelySwapped = 3.0
	likelyFirst   = 2.0
	likelyTalk    = 2.0 // a row of talk, against one of tool text, in doublings
	unlikely      = 3.0
)

// edits is how many edits are repaired in a word.
func edits(word string) int {
	if utf8.RuneCountInString(word) <= shortWord {
		return 1
	}
	return 2
}

// repairable reports whether a term may be taken for a misspelt one: numbers
// and what looks generated are not.
func repairable(term string) bool {
	return utf8.RuneCountInString(term) >= minUnknown && analysis.InVocabulary([]byte(term)) && !number(term)
}

func notNumber(term string) bool { return !number(term) }

func number(term string) bool {
	for i := range len(term) {
		if term[i] < '0' || term[i] > '9' {
			return false
		}
	}
	return true
}

// likely is a word that may have been meant: one term, or those of an identifier
// or path.
type likely struct {
	terms    []string
	distance int // 1 or 2
	chance   float64
}

// spell finds the words near the unit: to its own or joined form, and, where
// that is made of parts, to those of them that the index does not hold.
func (p *proposals) spell() error {
	var list []likely
	if whole := p.u.whole(); repairable(whole) && !slices.ContainsFunc(p.u.word.Terms, number) {
		near, err := p.nearTo(whole)
		if err != nil {
			return err
		}
		list = near
	}
	if len(p.u.word.Terms) > 1 {
		parts, err := p.nearParts()
		if err != nil {
			return err
		}
		list = append(list, parts...)
	}
	list, err := p.weigh(list)
	if err != nil {
		return err
	}
	p.near = groups(list)
	return nil
}

// groups cuts what weigh has put in order into groups that count alike, by
// distance.
func groups(list []likely) (out [3][][][]string) {
	var first *likely
	for i := range list {
		l := &list[i]
		of := &out[l.distance]
		if first == nil || first.distance != l.distance || first.chance-l.chance >= unlikely || len((*of)[len(*of)-1]) == nearGroup {
			*of = append(*of, nil)
			first = l
		}
		last := len(*of) - 1
		(*of)[last] = append((*of)[last], l.terms)
	}
	return out
}

// nearTo finds the words near a word.
func (p *proposals) nearTo(word string) ([]likely, error) {
	all, err := p.s.vocabulary()
	if err != nil {
		return nil, err
	}
	near, err := all.Near(p.s.ctx, word, edits(word))
	if err != nil {
		return nil, err
	}
	list := make([]likely, 0, len(near))
	for _, n := range near {
		if sameDigits(word, n.Word) {
			list = append(list, likely{[]string{n.Word}, n.Distance, chance(word, n.Word)})
		}
	}
	return list, nil
}

// sameDigits reports whether two words have the same digits in the same order.
// E0307 and E0308 are two errors, not one and its misspelling.
func sameDigits(a, b string) bool {
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, s)
	}
	return digits(a) == digits(b)
}

// chance is how likely a word was meant, how often it is used aside.
func chance(typed, meant string) float64 {
	x, y := []rune(typed), []rune(meant)
	var c float64
	if x[0] == y[0] {
		c += likelyFirst
	}
	slices.Sort(x)
	slices.Sort(y)
	if slices.Equal(x, y) {
		c += likelySwapped
	}
	return c
}

// weigh asks the index how common the likeliest words are in what is searched,
// and returns those that are there by distance, the likeliest first.
func (p *proposals) weigh(list []likely) ([]likely, error) {
	order := func(a, b likely) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(b.chance, a.chance), slices.Compare(a.terms, b.terms))
	}
	slices.SortFunc(list, order)
	var asked [3]int
	var out []likely
	for _, l := range list {
		if asked[l.distance]++; asked[l.distance] > maxWeighed {
			continue
		}
		n, err := p.common(p.u.phrase(l.terms))
		if err != nil {
			return nil, err
		}
		if n > 0 {
			l.chance += math.Log2(n)
			out = append(out, l)
		}
	}
	slices.SortFunc(out, order)
	return out, nil
}

// common is how often an expression stands in what is searched, the filters
// aside.
func (p *proposals) common(e store.Expr) (float64, error) {
	n := 0.0
	for _, st := range p.s.plan.streams {
		rows, err := p.s.snap.Rows(p.s.ctx, st, e, math.MinInt64, math.MaxInt64, commonRows)
		if err != nil {
			return 0, err
		}
		share := float64(len(rows))
		if st == store.Talk {
			share *= math.Exp2(likelyTalk)
		}
		n += share
	}
	return n, nil
}

// nearParts repairs those parts of an identifier or path that the index does
// not hold. Of the ways that make a phrase the index has, the likeliest is
// returned: one that a snippet can show.
func (p *proposals) nearParts() ([]likely, error) {
	ways := []likely{{terms: p.u.word.Terms}}
	parts := 0
	for i, t := range p.u.word.Terms {
		held, err := p.s.holds(store.Phrase([]string{t}, i == len(p.u.word.Terms)-1 && p.u.complete))
		if err != nil {
			return nil, err
		}
		if held {
			continue
		}
		if parts++; parts > maxRepairedParts || !repairable(t) {
			return nil, nil
		}
		near, err := p.nearTo(t)
		if err != nil {
			return nil, err
		}
		if near, err = (&proposals{s: p.s, u: &unit{}}).weigh(near); err != nil {
			return nil, err
		}
		var next []likely
		for _, w := range ways {
			for _, n := range near[:min(nearGroup, len(near))] {
				terms := slices.Clone(w.terms)
				terms[i] = n.terms[0]
				next = append(next, likely{terms, min(w.distance+n.distance, 2), w.chance + n.chance})
			}
		}
		ways = next
	}
	if parts == 0 {
		return nil, nil
	}
	ways, err := p.weigh(ways)
	return ways[:min(1, len(ways))], err
}
