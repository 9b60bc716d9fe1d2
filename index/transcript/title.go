package transcript

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// titleRunes is the length titles are cut to, at a word.
const titleRunes = 100

// placeholder matches titles that agents set before they know better.
var placeholder = regexp.MustCompile(`(?i)^(?:(?:new|child) session - \d{4}-\d\d-\d\d\S*|new agent|new chat|new conversation|untitled|warmup|chat|session)$`)

// untitled matches lines that name nothing: slash commands and nothing more (a
// path such as "/usr/local gives an error" is none), the field and speaker
// markers of prompt templates, rules, and code fences.
var untitled = regexp.MustCompile("(?i)^(?:" + strings.Join([]string{
	`/[A-Za-z][\w:.-]{0,40}(?:\s+/[A-Za-z][\w:.-]{0,40})*`,
	`\[\[.{0,80}\]\]`,
	`@?\[?(?:system|developer|user|human|assistant)\]?:`,
	`[#=*_~>\x60\s-]+`,
	`(?:\x60{3,}|~{3,})\s*[\w.+#-]{0,20}`,
}, "|") + ")$")

// sequences matches what programs send to a terminal: CSI with its parameters,
// OSC with its text (ECMA-48 5.4, 5.6), and escapes of two characters.
var sequences = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])`)

// CleanTitle makes one plain line of a title: terminal sequences go, control
// characters and line breaks become spaces, runs of space one, cut to about 100
// characters at a word. "" for a placeholder.
func CleanTitle(s string) string {
	if len(s) > 8*titleRunes {
		s = s[:8*titleRunes]
	}
	s = sequences.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
	if placeholder.MatchString(s) {
		return ""
	}
	if utf8.RuneCountInString(s) <= titleRunes {
		return s
	}
	cut := string([]rune(s)[:titleRunes])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,.;:-") + "…"
}

// PromptTitle derives a title from a typed prompt: its first line that is
// more than commands and markers. text must already be free of envelopes
// (Typed). "" when there is none.
func PromptTitle(text string) string {
	if strings.HasPrefix(text, "# ") {
		// Comments on a diff and other lists that people make with the mouse.
		if prompt, ok := codexRequest(text); ok && strings.TrimSpace(prompt) != "" {
			text = prompt
		}
	}
	text = CleanText(text) // a pasted picture is no name
	if len(text) > 1<<16 {
		text = text[:1<<16]
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || untitled.MatchString(line) {
			continue
		}
		if t := CleanTitle(strings.TrimLeft(line, "# ")); t != "" {
			return t
		}
	}
	return ""
}

var strength = map[TitleSource]int{"": 0, TitleFallback: 1, TitleReply: 2, TitlePrompt: 3, TitleAgent: 4, TitleUser: 5}

// SetTitle offers a title. A stronger source replaces a weaker one; of equal
// ones the first prompt or reply stays, while the latest name that a person or
// the agent gave wins. It stands outside the session's log: where it is what an event
// of that said, that is where it comes from.
func (h *Header) SetTitle(text string, from TitleSource) {
	at := 0
	if h.Title != "" && h.Title == CleanTitle(text) {
		at = h.TitleAt
	}
	h.setTitle(text, from, at)
}

// SetTitleAt is SetTitle for a title that the event at a position gives.
func (h *Header) SetTitleAt(text string, from TitleSource, seq int) { h.setTitle(text, from, seq+1) }

func (h *Header) setTitle(text string, from TitleSource, at int) {
	if !h.WantsTitle(from) {
		return
	}
	if text = CleanTitle(text); text != "" {
		h.Title, h.TitleSource, h.TitleAt = text, from, at
	}
}

// WantsTitle reports whether a title from this source could still become the
// header's; deriving one from every message of a session costs time.
func (h *Header) WantsTitle(from TitleSource) bool {
	have, now := strength[h.TitleSource], strength[from]
	return now > have || now == have && now >= strength[TitleAgent]
}

// OfferTitle offers the title that a typed prompt or a reply at a position gives,
// free of envelopes, unless a better one is there already.
func (h *Header) OfferTitle(text string, from TitleSource, seq int) {
	if h.WantsTitle(from) {
		h.SetTitleAt(PromptTitle(text), from, seq)
	}
}

// Finish completes a header before it is handed over: it has a title, and a
// sub-agent counts as automated, since a program wrote its prompts.
func (h *Header) Finish(label string) {
	h.Automated = h.Automated || h.Relation == RelationSubagent
	h.FinishTitle(label)
}

// FinishTitle makes sure that the title is not empty: project and date, else
// the agent's label and the start of the session's id.
func (h *Header) FinishTitle(label string) {
	if h.Title != "" {
		return
	}
	h.TitleSource = TitleFallback
	project := path.Base(strings.ReplaceAll(h.CWD, `\`, "/"))
	if h.CWD != "" && project != "/" && project != "." && !h.CreatedAt.IsZero() {
		h.Title = CleanTitle(project + " " + h.CreatedAt.UTC().Format("2006-01-02"))
	}
	if h.Title == "" {
		h.Title = strings.TrimSpace(label + " " + CleanTitle(Clip(h.SessionID, 8)))
	}
	if h.Title == "" {
		h.Title = "session"
	}
}
