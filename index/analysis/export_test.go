package analysis

// NewWholeMatcher is a Matcher that analyses every text as a whole.
func NewWholeMatcher(patterns []Pattern) *Matcher {
	m := NewMatcher(patterns)
	m.locator.none = true
	return m
}

// Located reports how many bytes of a text the Matcher analyses, -1 for all of them.
func (m *Matcher) Located(text string) int {
	parts, ok := m.locator.locate(text)
	if !ok {
		return -1
	}
	n := 0
	for _, p := range parts {
		n += p.to - p.from
	}
	return n
}
