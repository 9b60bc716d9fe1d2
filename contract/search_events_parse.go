package contract

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// ParseSearchEvents reads the request of searchEvents.
func (p Parser) ParseSearchEvents(raw []byte) (SearchEventsRequest, error) {
	r := newReader(raw)
	request := NewSearchEventsRequest("")
	if _, named := r.field("sessionId"); named {
		request.SessionName = p.sessionName(r)
	} else if _, agent := r.field("agent"); agent {
		r.fail("agent", "it tells sessions of one sessionId apart; to search those of an agent, use filters.agents")
	}
	if query := r.text("query"); query != nil {
		request.Query = *query
	} else {
		r.fail("query", "a string is required")
	}
	request.Scope = word(r, "scope", ScopeAll, ScopeConversation, ScopeAll)
	request.Freshness = word(r, "freshness", FreshnessIndexed, FreshnessIndexed, FreshnessWait)
	if request.OfSession() {
		request.Filters.Events = eventFilters(r, "filters")
		if filters, ok := r.object("filters"); ok {
			request.Filters.Sort = word(filters, "sort", SortRelevance, SortRelevance, SortNewest)
		}
	} else {
		request.Filters = p.filters(r)
	}
	request.Limit = eventLimit(r)
	request.Cursor = r.text("cursor")
	request.Mode = word(r, "mode", ModeIndex, ModeIndex, ModeScan)
	if regex := r.flag("regex"); regex != nil {
		request.Regex = *regex
	}
	request.PartialResultToken = r.token("partialResultToken")
	request.ExecutionHost = executionHost(r)
	checkScan(r, request)
	return finish(r, request)
}

// eventLimit reads the limit of searchEvents, which may be none.
func eventLimit(r reader) int {
	raw, ok := r.field("limit")
	if !ok {
		return DefaultEventLimit
	}
	n, whole := int64(0), false
	if kindOf(raw) == "a number" {
		n, whole = integerOf(string(raw))
	}
	if !whole || n > MaxEventLimit {
		r.fail("limit", "want a whole number up to %d, got %s; with 0 or less there are no hits", MaxEventLimit, quote(string(raw)))
	}
	return int(max(n, 0))
}

// checkScan holds the fields of a request against its mode.
func checkScan(r reader, request SearchEventsRequest) {
	switch {
	case request.Mode != ModeScan:
		if request.Regex {
			r.fail("regex", `regular expressions are for "mode": "scan"; the index is asked for words`)
		}
	case request.Cursor != nil:
		r.fail("cursor", "a scan has no further pages, so it takes no cursor; ask for more with limit")
	case request.Regex:
		if _, _, err := CompilePattern(request.Query); err != nil {
			r.fail("query", "%v", err)
		}
	case len(request.Query) > MaxScanQuery:
		r.fail("query", "a text of %d bytes; a scan takes up to %d", len(request.Query), MaxScanQuery)
	}
}

// maxInstructions bounds a compiled pattern: for each character of the text the
// matcher may have to follow all of them.
const maxInstructions = 2000

// CompilePattern compiles the regular expression of a scan, in RE2's syntax. Case
// does not matter unless the pattern says (?-i). size is the number of the
// program's instructions. The error says what is wrong with the pattern.
func CompilePattern(pattern string) (compiled *regexp.Regexp, size int, err error) {
	if len(pattern) > MaxPattern {
		return nil, 0, fmt.Errorf("a pattern of %d bytes; at most %d are taken", len(pattern), MaxPattern)
	}
	// As Compile does it, to be able to look at the size of the program.
	tree, err := syntax.Parse("(?i)"+pattern, syntax.Perl)
	if err != nil {
		return nil, 0, badPattern(pattern, err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, 0, badPattern(pattern, err)
	}
	if size = len(program.Inst); size > maxInstructions {
		return nil, 0, fmt.Errorf("%s is too large a pattern: it repeats too much", quote(pattern))
	}
	compiled, err = regexp.Compile("(?i)" + pattern)
	if err != nil {
		return nil, 0, badPattern(pattern, err)
	}
	return compiled, size, nil
}

func badPattern(pattern string, err error) error {
	var fault *syntax.Error
	if errors.As(err, &fault) {
		return fmt.Errorf("%s is no regular expression (RE2): %s", quote(pattern), fault.Code)
	}
	return err
}

// token reads the token of a client's progress: a string or an integer.
func (r reader) token(name string) []byte {
	raw, ok := r.field(name)
	if !ok {
		return nil
	}
	raw = bytes.TrimSpace(raw)
	whole := kindOf(raw) == "a string"
	if kindOf(raw) == "a number" {
		_, whole = integerOf(string(raw))
	}
	switch {
	case !whole:
		r.fail(name, "want a string or an integer, got %s", quote(string(raw)))
	case len(raw) > MaxProgressToken:
		r.fail(name, "a token of %d bytes; at most %d are taken", len(raw), MaxProgressToken)
	}
	return bytes.Clone(raw)
}
