package corpus

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// everyday are the most frequent words, most frequent first.
const everyday = `the to a of and in is it that for this with on be we not are as i you can if from have
but at or by an so was will when there they which do no has what all one should would then than just also only
now here its more how where need because after before into about each other some any our out up does new same first
like make sure see use used using get got still want let might could why who again both while between without
since already once every another during against through over under around last next most few many much less even
really maybe probably please thanks look looks think know keep try tried works working happens seems means change
changes changed fix fixed add added remove removed move moved rename check checked wrong right good bad better best`

// technical are words of the trade; they stand among the everyday ones.
const technical = `file test error function code line run build value type name path list string read write server
client request response data index query cache thread lock memory log deploy version commit branch merge conflict
parse compile fail failed pass config service interface token user permission login session message update delete
module dependency install environment variable object array field table transaction connection timeout retry queue
task process schedule metric document comment buffer stream socket header payload schema migration database column
row key hash map slice pointer struct method class package import export loop counter offset limit page cursor
handler router middleware endpoint worker pool channel context deadline signal event listener callback promise
async iterator generator decorator template render component style layout button form input output terminal shell
script command flag option argument default directory folder archive backup restore snapshot replica shard cluster
node proxy gateway certificate secret credential policy role audit trace span latency throughput benchmark profile
allocation garbage collector heap stack frame register overflow underflow boundary unicode encoding decoder encoder
compression checksum signature regression coverage fixture mock assertion warning panic exception fallback feature
toggle release rollback canary staging production dashboard alert threshold harbor station forecast sensor catalog`

var onsets = strings.Fields("b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p pl pr r s sc sh sl sp st str t th tr v w")
var nuclei = strings.Fields("a e i o u ai ea ee ie oa oo ou")
var codas = strings.Fields("- - b ck d g l ll m n nd ng nt p r rd rt s ss st t x")
var suffixes = strings.Fields("- - - - s ed ing er tion ment ness ly able ize al ive")

// vocabulary is the words of a corpus, most frequent first.
type vocabulary struct {
	words []string
	// plain is how many of the first words are English.
	plain int
}

func newVocabulary(seed uint64, n int) *vocabulary {
	rnd := rand.New(rand.NewPCG(seed, 1))
	v := &vocabulary{}
	seen := map[string]bool{}
	add := func(w string) {
		if !seen[w] {
			seen[w] = true
			v.words = append(v.words, w)
		}
	}
	a, b := strings.Fields(everyday), strings.Fields(technical)
	for len(a)+len(b) > 0 {
		if len(a) > 0 {
			add(a[0])
			a = a[1:]
		}
		if len(b) > 0 {
			add(b[0])
			b = b[1:]
		}
	}
	v.plain = len(v.words)
	for len(v.words) < n {
		add(invent(rnd, 1+rnd.IntN(3)) + none(pick(rnd, suffixes)))
	}
	return v
}

// invent makes a word of n syllables that English could have.
func invent(rnd *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pick(rnd, onsets))
		b.WriteString(pick(rnd, nuclei))
		b.WriteString(none(pick(rnd, codas)))
	}
	return b.String()
}

func none(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

func pick[T any](rnd *rand.Rand, list []T) T { return list[rnd.IntN(len(list))] }

// chance is true in share of all cases.
func chance(rnd *rand.Rand, share float64) bool { return rnd.Float64() < share }

// between is lo to hi, both included.
func between(rnd *rand.Rand, lo, hi int) int { return lo + rnd.IntN(hi-lo+1) }

// reserved invents words that no vocabulary holds: their clusters occur in
// none of its syllables.
type reserved struct {
	rnd  *rand.Rand
	seen map[string]bool
}

var strange = strings.Fields("qu zv vl kz gz zn vr zk dz mz")

// word is a new one, 9 to 12 letters long and ending in a consonant.
func (r *reserved) word() string {
	for {
		var b strings.Builder
		for range 3 {
			b.WriteString(pick(r.rnd, strange))
			b.WriteString(pick(r.rnd, nuclei[:5]))
		}
		b.WriteString(pick(r.rnd, []string{"lb", "mp", "rk", "nt", "rv"}))
		w := b.String()
		// Those that differ in little are typing mistakes of each other.
		near := slices.ContainsFunc(neighbours(w), func(n string) bool { return r.seen[n] })
		if near {
			continue
		}
		for _, n := range neighbours(w) {
			r.seen[n] = true
		}
		return w
	}
}

// neighbours are w with one and with two letters left out: words within two
// edits of each other share one.
func neighbours(w string) []string {
	out := []string{w}
	for i := range w {
		once := w[:i] + w[i+1:]
		out = append(out, once)
		for j := i; j < len(once); j++ {
			out = append(out, once[:j]+once[j+1:])
		}
	}
	return out
}
