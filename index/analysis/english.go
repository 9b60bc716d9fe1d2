package analysis

import (
	"strings"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// maxVariants bounds the result of Variants.
const maxVariants = 24

// endings are the suffixes tried on a stem, commonest first.
var endings = []string{
	"", "s", "es", "ed", "ing", "d", "er", "ers", "ion", "ions", "ation", "ations", "ly", "ment", "ments", "ings", "or", "ors", "able", "al",
}

// Variants returns the English inflections and derivations that share the Snowball stem of term,
// without term itself: failed, failing and fails for fail; of the common irregular words also the
// other forms: built for build, and the other way round. It returns nil for terms that are no
// plain English word: shorter than three letters, with digits or letters outside a to z, and for stop words,
// whose forms say nothing. The result holds at most 24 words, commonest endings first,
// and some that nobody uses. It is the same every time.
func Variants(term string) []string {
	if len(term) < 3 || len(term) > MaxTerm/2 || IsStop(term) {
		return nil
	}
	for i := range len(term) {
		if byteClass[term[i]] != classLower {
			return nil
		}
	}
	stem := english.Stem(term, true)
	if stem == "" {
		return nil
	}
	v := variants{seen: map[string]bool{term: true}}
	if f := irregularForms[term]; f != nil {
		// Built has the forms of build and none of its own.
		v.add(f.word)
		for _, forms := range [][]string{f.forms, Variants(f.word)} {
			for _, form := range forms {
				v.add(form)
			}
		}
		return v.out
	}
	// First what is but another inflection of the same word: stems are often shorter than the words
	// they come from (depend for dependencies).
	v.inflect(term, stem)
	if f := irregularStems[stem]; f != nil && isInflection(term, f.word) {
		for _, form := range f.forms {
			v.add(form)
		}
	}
	bases := stemBases(stem, stem != term)
	for _, ending := range endings {
		for _, base := range bases {
			if base.fits(ending) {
				v.addOf(stem, base.word+ending)
			}
		}
	}
	return v.out
}

// variants collects the forms of one term.
type variants struct {
	out  []string
	seen map[string]bool
}

func (v *variants) add(word string) {
	if len(v.out) == maxVariants || v.seen[word] {
		return
	}
	v.seen[word] = true
	v.out = append(v.out, word)
}

// addOf adds a word if it has the stem.
func (v *variants) addOf(stem, word string) {
	if len(word) > 2 && !v.seen[word] && english.Stem(word, true) == stem {
		v.add(word)
	}
}

// inflect adds the inflections of a word with that stem.
func (v *variants) inflect(word, stem string) {
	for _, root := range roots(word) {
		v.addOf(stem, root)
		if y, ok := strings.CutSuffix(root, "y"); ok {
			v.addOf(stem, y+"ies")
			v.addOf(stem, y+"ied")
		}
		if e, ok := strings.CutSuffix(root, "e"); ok {
			v.addOf(stem, e+"ed")
			v.addOf(stem, e+"ing")
		}
		for _, ending := range inflections {
			v.addOf(stem, root+ending)
		}
	}
}

var inflections = []string{"s", "es", "ed", "ing"}

// roots returns term and what may be left of it without its inflection.
func roots(term string) []string {
	out := []string{term}
	for _, r := range [...]struct{ ending, root string }{
		{"ies", "y"}, {"ied", "y"}, {"s", ""}, {"es", ""}, {"ed", ""}, {"ed", "e"}, {"ing", ""}, {"ing", "e"},
	} {
		if head, ok := strings.CutSuffix(term, r.ending); ok && len(head) > 1 {
			out = append(out, head+r.root)
		}
	}
	return out
}

// isInflection reports whether term is word, or word with an inflection.
func isInflection(term, word string) bool {
	for _, root := range roots(term) {
		// running: of the root runn one n is the inflection's
		if root == word || len(root) == len(word)+1 && root[len(root)-1] == root[len(root)-2] && root[:len(word)] == word {
			return true
		}
	}
	return false
}

// stemBase is what endings are put on.
type stemBase struct {
	word string
	fits func(ending string) bool
}

// stemBases returns the words that a stem may stand for: it may have lost an e (cach), turned y into
// i (queri, where cut says that it is not a word itself) or undone a doubling (stop).
func stemBases(stem string, cut bool) []stemBase {
	all := func(string) bool { return true }
	vowel := func(ending string) bool { return ending != "" && strings.IndexByte("aeio", ending[0]) >= 0 }
	consonant := func(ending string) bool { return !vowel(ending) }
	final := stem[len(stem)-1]
	if final == 'i' && cut {
		return []stemBase{
			{stem, func(ending string) bool { return strings.HasPrefix(ending, "e") || ending == "ly" || ending == "able" }},
			{stem[:len(stem)-1] + "y", func(ending string) bool { return !strings.HasPrefix(ending, "e") && ending != "s" && ending != "d" }},
		}
	}
	bases := []stemBase{{stem, all}, {stem + "e", consonant}}
	if final == 'e' || final == 'o' { // agreeing and canoeing keep the e
		bases[1].fits = all
	}
	if strings.IndexByte("aeiouwxy", final) < 0 {
		bases = append(bases, stemBase{stem + string(final), vowel})
	}
	return bases
}

// stopWords carry grammar rather than content in an English question.
var stopWords = wordSet(`
a about above after again against all also am an and any are as at be because been before being below between both but by
can cannot could did do does doing done down during each either else etc ever every few for from further get gets got had
has have having he her here hers herself him himself his how however i if in into is it its itself just let lets may me
might mine more most much must my myself neither no nor not now of off often on once only onto or other our ours ourselves
out over own per please rather same shall she should since so some such than that the their theirs them themselves then
there these they this those though through thus to too under until up upon us very was we were what whatever when where
whether which while who whom whose why will with within without would yes yet you your yours yourself yourselves`)

// contractions are what stands behind the apostrophe of one; before it may stand the left half of a negation.
var contractions = wordSet(`s t d ll m re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn mustn can`)

func wordSet(s string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// IsStop reports whether a term of the main stream is an English stop word.
func IsStop(term string) bool { return stopWords[term] }

// isStopWord reports whether the whole word, given with its terms, is a stop word or a contraction of them.
func isStopWord(text string, terms []string) bool {
	if len(terms) == 1 {
		return IsStop(terms[0])
	}
	if len(terms) != 2 || !strings.ContainsAny(text, "'’‘ʼ＇") {
		return false
	}
	return (IsStop(terms[0]) || contractions[terms[0]]) && contractions[terms[1]]
}

// grammarChars are Chinese characters that rarely stand in a word worth searching for, and stopPairs
// question and time words of Chinese, Japanese and Korean. They matter only for the pieces of a sentence.
const grammarChars = "的了是吗呢么吧啊嘛什怎哪这那我你他她们把被让给跟和与及或很都也就还又"

var stopPairs = wordSet(`时候 為什 為何 為甚 如何 何时 何時 為了 因为 所以 可以 可能 没有 有没 一个 一下 我们 你们 怎样 這個 那個 時候 嗎 什麼 甚麼 怎麼`)

// isStopPair reports whether a piece of an unspaced run is grammar: a known one, or nothing but hiragana.
func isStopPair(term string) bool {
	if stopPairs[term] || strings.ContainsAny(term, grammarChars) {
		return true
	}
	for _, r := range term {
		if r < 0x3041 || r > 0x309F {
			return false
		}
	}
	return utf8.RuneCountInString(term) > 1
}
