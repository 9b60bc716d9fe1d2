package query

import (
	"strings"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/analysis"
	"github.com/sessionls/sessionls/index/store"
)

// unit is one thing to look for: a word, a quoted phrase, or a piece of a long
// unspaced run.
type unit struct {
	word     analysis.Word
	quoted   bool
	complete bool // the word is being typed: its last term may be completed
	variants []string
	literal  *analysis.Literal // of a quoted phrase
	optional bool              // a stop word: counts in phrases only
	among    bool              // there are other words to look for
	rung     rung              // how far from what was typed it is looked for
	instead  [][]string        // the terms it is looked for by, the likeliest first, where that is not typed
	pieces   []int             // units that stand in for this one
	piece    bool
}

// plan is what a request looks for.
type plan struct {
	units   []unit
	words   []int // units that are words of the query, not pieces
	content []int // those of them that are looked for: not the optional ones
	streams []store.Stream
	phrase  []string // all terms in order, nil unless there are two words
	open    bool     // the phrase's last term may be completed
	not     []unit
}

func newPlan(q *parsed, scope contract.Scope) *plan {
	p := &plan{streams: []store.Stream{store.Talk, store.ToolText}}
	if scope == contract.ScopeConversation {
		p.streams = p.streams[:1]
	}
	content := 0
	for i, w := range q.words {
		u := unit{word: w.Word, quoted: w.quoted, optional: w.Stop && !w.quoted}
		last := i == len(q.words)-1
		switch {
		case w.quoted:
			u.literal = analysis.NewLiteral(w.literal)
		default:
			u.complete = last && q.typing && w.Open
			u.variants = inflections(w.Word)
		}
		if !u.optional {
			content++
		}
		p.words = append(p.words, len(p.units))
		p.units = append(p.units, u)
	}
	if content == 0 {
		// Nothing but stop words: then they are what is looked for.
		for _, i := range p.words {
			p.units[i].optional = false
		}
	}
	for _, i := range p.words {
		if !p.units[i].optional {
			p.content = append(p.content, i)
		}
	}
	for _, i := range p.content {
		p.units[i].among = len(p.content) > 1
		if p.units[i].quoted {
			continue
		}
		for _, piece := range p.units[i].word.Pieces {
			if piece.Stop {
				continue
			}
			p.units[i].pieces = append(p.units[i].pieces, len(p.units))
			p.units = append(p.units, unit{word: piece, piece: true})
		}
	}
	p.planPhrase()
	for _, w := range q.not {
		p.not = append(p.not, unit{word: w, quoted: true})
	}
	return p
}

// planPhrase joins the terms of all words, if that makes a phrase the index
// can be asked for.
func (p *plan) planPhrase() {
	p.phrase, p.open = nil, false
	if len(p.words) < 2 {
		return
	}
	for k, i := range p.words {
		u := p.units[i]
		last := k == len(p.words)-1
		if u.word.SideOnly || u.word.Single && !last || u.rung == rungInside || u.rung == rungPrefix && !last {
			p.phrase = nil
			return
		}
		p.phrase = append(p.phrase, u.terms()...)
		p.open = u.completed() || u.word.Single
	}
}

// exact is the unit in its own form. A joined identifier may be spelt as one
// word elsewhere, so its joined form counts as the unit itself.
func (u *unit) exact() store.Expr {
	w := u.word
	switch u.rung {
	case rungNear, rungFar:
		if !u.among {
			return u.replaced()
		}
		return store.Expr{}
	case rungPrefix, rungInside:
		return store.Expr{}
	}
	any := make([]store.Expr, 0, 3)
	if !w.SideOnly {
		any = append(any, store.Phrase(w.Terms, w.Single))
	}
	if !u.quoted || w.SideOnly {
		for _, t := range w.Side {
			if w.SideOnly || len(w.Terms) > 1 || w.Terms[0] != t {
				any = append(any, store.Phrase([]string{t}, false))
			}
		}
	}
	return store.Any(any...)
}

// loose is what also counts as the unit, below its own form: completions of a
// word being typed, and inflections.
func (u *unit) loose() store.Expr {
	var any []store.Expr
	switch u.rung {
	case rungNear, rungFar:
		if u.among {
			return u.replaced()
		}
		return store.Expr{}
	case rungInside:
		return u.replaced()
	}
	if u.completed() {
		any = append(any, store.Phrase(u.word.Terms, true))
		for _, t := range u.word.Side {
			if len(u.word.Terms) > 1 || u.word.Terms[0] != t { // the index would put the same lists together twice
				any = append(any, store.Phrase([]string{t}, true))
			}
		}
	}
	for _, v := range u.variants {
		any = append(any, store.Phrase([]string{v}, false))
	}
	return store.Any(any...)
}

// pattern is the unit for the matcher that cuts snippets.
func (u *unit) pattern() analysis.Pattern {
	p := u.word.Pattern(u.completed())
	p.Variants = u.variants
	if u.instead != nil {
		p = u.replacedPattern()
	}
	if u.quoted && !u.word.SideOnly {
		p.Joined = nil
	}
	return p
}

// marks is the condition an event filter puts on rows, zero if none; ok is
// false if no row can meet it.
func marks(types, toolNames []string) (e store.Expr, filtered, ok bool) {
	var all []store.Expr
	add := func(values []string, mark func(string) string) bool {
		if values == nil {
			return true
		}
		filtered = true
		var any []store.Expr
		seen := map[string]bool{}
		for _, v := range values {
			if m := mark(v); !seen[m] {
				seen[m] = true
				any = append(any, store.Phrase([]string{m}, false))
			}
		}
		all = append(all, store.Any(any...))
		return len(any) > 0
	}
	if !add(types, store.MarkType) || !add(lower(toolNames), store.MarkTool) {
		return store.Expr{}, true, false
	}
	return store.All(all...), filtered, true
}

func lower(list []string) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.ToLower(s)
	}
	return out
}

// inflections are other forms of an English word: those of the same stem, and
// the word without the 's of a possessive.
func inflections(w analysis.Word) []string {
	switch {
	case w.SideOnly:
		return nil
	case len(w.Terms) == 1:
		return analysis.Variants(w.Terms[0])
	case len(w.Terms) == 2 && w.Terms[1] == "s" && (strings.HasSuffix(w.Text, "'s") || strings.HasSuffix(w.Text, "’s")):
		return append([]string{w.Terms[0]}, analysis.Variants(w.Terms[0])...)
	}
	return nil
}
