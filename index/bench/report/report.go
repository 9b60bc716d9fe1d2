// Package report is the form in which measurements are told to people. It knows
// nothing of what was measured.
package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is a table of figures. Every row has as many cells as there are
// columns; the text in them is the program's own.
type Table struct {
	Title   string
	Columns []string
	Rows    [][]string
	// Notes say what the figures mean.
	Notes []string
}

// Add adds a row. Cells that are missing are shown as "–": not measured.
func (t *Table) Add(cells ...string) {
	for len(cells) < len(t.Columns) {
		cells = append(cells, "–")
	}
	t.Rows = append(t.Rows, cells)
}

// Write writes the table with its columns aligned, the first to the left and
// the others to the right.
func (t *Table) Write(w io.Writer) error {
	wide := make([]int, len(t.Columns))
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		for i, cell := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	b.WriteString(t.Title + "\n")
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		b.WriteString(" ")
		for i, cell := range row {
			space := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString(" " + cell)
				if len(row) > 1 {
					b.WriteString(space)
				}
				continue
			}
			b.WriteString("  " + space + cell)
		}
		b.WriteString("\n")
	}
	for _, note := range t.Notes {
		b.WriteString("  " + note + "\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write a table: %w", err)
	}
	return nil
}
