package cli

import (
	"strings"

	"github.com/rivo/uniseg"
)

// span is text in one style. The text is clean.
type span struct {
	text  string
	style style
}

// style is the parameters of an SGR sequence; "" is the terminal's own.
type style string

// The styles. They stay within the sixteen colours that every terminal theme
// defines, so that they are readable on light and dark grounds.
const (
	plainStyle style = ""
	bold       style = "1"
	dim        style = "2"
	marked     style = "1;33"
	good       style = "32"
	warn       style = "33"
	bad        style = "31"
	accent     style = "36"
	userStyle  style = "1;36"
	agentStyle style = "1;32"
	toolStyle  style = "35"
)

// paint writes spans, with colours or without.
func paint(colour bool, spans ...span) string {
	var out strings.Builder
	for _, s := range spans {
		if !colour || s.style == plainStyle || s.text == "" {
			out.WriteString(s.text)
			continue
		}
		out.WriteString("\x1b[" + string(s.style) + "m" + s.text + "\x1b[0m")
	}
	return out.String()
}

// textWidth is the number of columns that s takes on a terminal.
func textWidth(s string) int { return uniseg.StringWidth(s) }

// truncate shortens s to at most width columns; what was cut is told by "…".
func truncate(s string, width int) string {
	if textWidth(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	used, rest, state := 0, s, -1
	for rest != "" {
		_, after, w, next := uniseg.FirstGraphemeClusterInString(rest, state)
		if used+w > width-1 {
			break
		}
		used += w
		rest, state = after, next
	}
	return strings.TrimRight(s[:len(s)-len(rest)], " ") + "…"
}

// pad fills s with spaces up to width columns.
func pad(s string, width int) string {
	if n := width - textWidth(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// cell is what stands in one or two columns and is never torn apart: a letter with
// its accents, an emoji with its modifiers.
type cell struct {
	text  string
	style style
	width int
}

func cells(spans []span) []cell {
	var out []cell
	for _, s := range spans {
		rest, state := s.text, -1
		for rest != "" {
			var c cell
			c.text, rest, c.width, state = uniseg.FirstGraphemeClusterInString(rest, state)
			c.style = s.style
			out = append(out, c)
		}
	}
	return out
}

// wrap breaks one line of text into lines of at most width columns: at spaces,
// around wide (CJK) characters, else wherever the line is full. With maxLines > 0
// no more lines than that are made, and the last one ends in "…" if text is left.
func wrap(spans []span, width, maxLines int) [][]span {
	width = max(width, 2)
	all := cells(spans)
	var lines [][]span
	for start := 0; start < len(all); {
		end, used := start, 0
		for end < len(all) && used+all[end].width <= width {
			used += all[end].width
			end++
		}
		if end == start {
			end++ // a cell wider than the line
		}
		next := end
		if end < len(all) {
			if maxLines > 0 && len(lines) == maxLines-1 {
				for end > start+1 && used > width-1 {
					end--
					used -= all[end].width
				}
				last := append(join(all[start:end]), span{text: "…"})
				return append(lines, last)
			}
			if at := breakAt(all, start, end); at > start {
				end, next = at, at
			}
			for next < len(all) && all[next].text == " " {
				next++
			}
		}
		for end > start && all[end-1].text == " " {
			end--
		}
		lines = append(lines, join(all[start:end]))
		start = next
	}
	return lines
}

// breakAt finds the last place in (start, end] where a line may end before
// cell end; start if there is none.
func breakAt(all []cell, start, end int) int {
	for i := end; i > start; i-- {
		if all[i].text == " " || all[i-1].text == " " || all[i].width > 1 || all[i-1].width > 1 {
			return i
		}
	}
	return start
}

// join makes spans of cells again.
func join(list []cell) []span {
	var out []span
	for i := 0; i < len(list); {
		j := i
		var text strings.Builder
		for j < len(list) && list[j].style == list[i].style {
			text.WriteString(list[j].text)
			j++
		}
		out = append(out, span{text: text.String(), style: list[i].style})
		i = j
	}
	return out
}
