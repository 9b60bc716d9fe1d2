package query

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/analysis"
)

// Bounds of what is used of a query (contract.md §3).
const (
	maxRunes = 512
	maxWords = 48
)

// parsed is a query string taken apart: text to match, text to exclude and the
// operators. User text is data; nothing of it is ever FTS syntax.
type parsed struct {
	words []word
	// typing says that the query ends inside its last word, which may then be
	// completed.
	typing      bool
	not         []analysis.Word
	ops         operators
	diagnostics []contract.Diagnostic
	cut         bool
}

// word is a word or quoted phrase of the text.
type word struct {
	analysis.Word
	quoted  bool
	literal string // the text between the quotes
}

// operators are what the operator tokens ask for. They AND with each other, so
// every list holds values that must all be met.
type operators struct {
	agents, repos, paths, branches, files, models, roles, tools [][]string
	since, until                                                []time.Time
	relations                                                   [][]string
	active, missing, automated                                  bool
	any                                                         bool
}

var operatorNames = []string{"agent", "path", "repo", "branch", "file", "role", "tool", "model", "since", "until", "is", "not"}

var isWords = []string{"root", "fork", "subagent", "continuation", "active", "missing", "automated"}

var roleWords = []string{"user", "assistant", "tool", "system", "unknown"}

type parser struct {
	out    parsed
	query  string
	a      *analysis.Analyzer
	agents []string
	now    time.Time
	budget int
	rest   int // where the words begin that were too many
}

// parse reads a query. now gives relative times their meaning and its location
// the day boundaries.
func parse(query string, agents []string, now time.Time) parsed {
	p := &parser{a: analysis.New(), agents: agents, now: now, budget: maxWords, rest: len(query)}
	whole, full := query, len(query)
	n := 0
	for i := range query {
		if n == maxRunes {
			query = query[:i]
			break
		}
		n++
	}
	p.query = query
	p.run()
	if len(query) < full {
		p.out.cut = true
		p.rest = min(p.rest, len(query))
	}
	if p.out.cut {
		p.out.diagnostics = append(p.out.diagnostics, contract.Diagnostic{
			Start: utf16Len(whole[:p.rest]), End: utf16Len(whole), Message: fmt.Sprintf("From here on the query was not used: %d characters and %d words are.", maxRunes, maxWords),
		})
	}
	last, _ := utf8.DecodeLastRuneInString(query)
	p.out.typing = p.out.typing && !p.out.cut && !unicode.IsSpace(last)
	return p.out
}

func (p *parser) run() {
	q := p.query
	for i := 0; i < len(q); {
		r, size := utf8.DecodeRuneInString(q[i:])
		if unicode.IsSpace(r) {
			i += size
			continue
		}
		if next, ok := p.operator(i); ok {
			i = next
			continue
		}
		if text, next, ok := quoted(q, i); ok {
			if w, ok := p.a.Word(text, i+1); ok && p.spend(i) {
				p.out.words = append(p.out.words, word{w, true, text})
			}
			p.out.typing = false
			i = next
			continue
		}
		end := bareEnd(q, i)
		words := p.a.Words(q[i:end])
		for _, w := range words {
			w = shift(w, i)
			if !p.spend(w.Start) {
				break
			}
			p.out.words = append(p.out.words, word{Word: w})
		}
		if len(words) > 0 {
			p.out.typing = words[len(words)-1].End+i == end
		} else {
			p.out.typing = false
		}
		i = end
	}
}

// shift moves a word analysed in a part of the query to its place in it.
func shift(w analysis.Word, by int) analysis.Word {
	w.Start += by
	w.End += by
	pieces := make([]analysis.Word, len(w.Pieces))
	for i, p := range w.Pieces {
		pieces[i] = shift(p, by)
	}
	if len(pieces) > 0 {
		w.Pieces = pieces
	}
	return w
}

// spend takes a word that begins at a byte of the query from the budget.
func (p *parser) spend(at int) bool {
	if p.budget == 0 {
		p.out.cut = true
		p.rest = min(p.rest, at)
		return false
	}
	p.budget--
	return true
}

// quoted reads a quoted span that opens at q[i]. An unclosed quote is text.
func quoted(q string, i int) (text string, next int, ok bool) {
	if q[i] != '"' {
		return "", 0, false
	}
	j := strings.IndexByte(q[i+1:], '"')
	if j < 0 {
		return "", 0, false
	}
	return q[i+1 : i+1+j], i + j + 2, true
}

// bareEnd is the end of the run up to white space.
func bareEnd(q string, i int) int {
	if j := strings.IndexFunc(q[i:], unicode.IsSpace); j >= 0 {
		return i + j
	}
	return len(q)
}

// operator reads an operator at the start of a token.
func (p *parser) operator(i int) (next int, ok bool) {
	q := p.query
	colon := i
	for colon < len(q) && colon-i < 16 && (q[colon]|0x20 >= 'a' && q[colon]|0x20 <= 'z') {
		colon++
	}
	if colon == i || colon >= len(q) || q[colon] != ':' {
		return 0, false
	}
	name := strings.ToLower(q[i:colon])
	at := colon + 1
	var operand string
	end := bareEnd(q, at)
	operand = q[at:end]
	if at < len(q) && (q[at] == '"' || q[at] == '\'') {
		if j := strings.IndexByte(q[at+1:], q[at]); j >= 0 {
			operand, end = q[at+1:at+1+j], at+j+2
		}
	}
	operand = strings.TrimSpace(operand)
	if !slices.Contains(operatorNames, name) {
		near := nearest(name, operatorNames)
		if near == "" || operand == "" || strings.HasPrefix(operand, ":") || strings.HasPrefix(operand, "/") {
			return 0, false // everything else is text: https://x, foo::bar, status:500
		}
		p.diagnose(i, end, "unknown operator %s: – did you mean %s:? Operators are %s.", name, near, strings.Join(operatorNames, ": ")+":")
		return end, true
	}
	if operand == "" {
		return end, true
	}
	p.apply(name, operand, i, at, end)
	return end, true
}

func (p *parser) apply(name, operand string, start, at, end int) {
	o := &p.out.ops
	switch name {
	case "not":
		w, ok := p.a.Word(operand, at)
		if !ok {
			p.diagnose(start, end, "not:%s has no word in it, so it excludes nothing.", operand)
		} else if p.spend(start) {
			p.out.not = append(p.out.not, w)
			o.any = true
		}
		return
	case "agent":
		p.choice(&o.agents, name, operand, p.agents, start, end)
		return
	case "role":
		p.choice(&o.roles, name, operand, roleWords, start, end)
		return
	case "is":
		p.is(operand, start, end)
		return
	case "since", "until":
		m, ok := contract.ParseMoment(operand)
		if !ok {
			p.diagnose(start, end, "%s:%s is no time. Use 7d, 12h, 2w, 2026-11-01 or an ISO time.", name, operand)
			return
		}
		t := m.At(p.now, name == "until")
		if name == "since" {
			o.since = append(o.since, t)
		} else {
			o.until = append(o.until, t)
		}
	case "repo":
		o.repos = append(o.repos, []string{operand})
	case "path":
		o.paths = append(o.paths, []string{operand})
	case "branch":
		o.branches = append(o.branches, []string{operand})
	case "file":
		o.files = append(o.files, []string{operand})
	case "model":
		o.models = append(o.models, []string{operand})
	case "tool":
		o.tools = append(o.tools, []string{operand})
	}
	o.any = true
}

// choice takes an operand that must be one of known, or several with commas.
func (p *parser) choice(to *[][]string, name, operand string, known []string, start, end int) {
	var values []string
	for v := range strings.SplitSeq(strings.ToLower(operand), ",") {
		if v = strings.TrimSpace(v); v == "" {
			continue
		}
		if !slices.Contains(known, v) {
			p.unknown(name, v, known, start, end)
			continue
		}
		values = append(values, v)
	}
	if len(values) > 0 {
		*to = append(*to, values)
		p.out.ops.any = true
	}
}

func (p *parser) is(operand string, start, end int) {
	o := &p.out.ops
	switch v := strings.ToLower(operand); v {
	case "active":
		o.active = true
	case "missing":
		o.missing = true
	case "automated":
		o.automated = true
	case "root", "fork", "subagent", "continuation":
		o.relations = append(o.relations, []string{v})
	default:
		p.unknown("is", v, isWords, start, end)
		return
	}
	o.any = true
}

// unknown remarks on an operand that is none of those known.
func (p *parser) unknown(name, value string, known []string, start, end int) {
	hint := "."
	if near := nearest(value, known); near != "" {
		hint = fmt.Sprintf(" – did you mean %s:%s?", name, near)
	}
	p.diagnose(start, end, "%s:%s is unknown%s Known: %s.", name, value, hint, strings.Join(known, ", "))
}

// diagnose remarks on bytes start to end of the query.
func (p *parser) diagnose(start, end int, format string, args ...any) {
	p.out.diagnostics = append(p.out.diagnostics, contract.Diagnostic{
		Start: utf16Len(p.query[:start]), End: utf16Len(p.query[:end]), Message: fmt.Sprintf(format, args...),
	})
}

// nearest returns the known word one edit away from s (a transposition counts
// as one), "" if there is none or s is too short to tell.
func nearest(s string, known []string) string {
	if len(s) < 3 {
		return ""
	}
	for _, k := range known {
		limit := 1
		if len(k) >= 6 && len(s) >= 6 {
			limit = 2
		}
		if len(k) >= 4 && s != k && distance(s, k) <= limit {
			return k
		}
	}
	return ""
}

// distance is the optimal string alignment distance.
func distance(a, b string) int {
	if len(a) > 32 || len(b) > 32 {
		return 99
	}
	var d [34][34]int
	for i := range len(a) + 1 {
		d[i][0] = i
	}
	for j := range len(b) + 1 {
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

// utf16Len is the length of s in UTF-16 code units, the wire's measure.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
