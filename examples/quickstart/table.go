package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bursar-dev/bursar/usage"
)

// A table is text in columns. align has one character per column: '<' or '>'.
type table struct {
	align string
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write writes the rows, indented, each column as wide as its widest cell.
func (t *table) write(w *bytes.Buffer) {
	widths := make([]int, len(t.align))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if widths[i] > 0 {
				line.WriteString("  ")
			}
			if t.align[i] == '>' {
				cell = space + cell
			} else {
				cell += space
			}
			line.WriteString(cell)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// bar draws a part of a whole.
func bar(part float64, width int) string {
	full := int(min(1, part) * float64(width))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// short gives an amount as a table shows it: dollars in cents, large counts in
// thousands and millions. Exact figures are what -json is for.
func short(m usage.Meter, n int64) string {
	switch {
	case m == usage.CostUSD:
		return fmt.Sprintf("%.2f", float64(n)/float64(usage.USD))
	case n >= 1_000_000:
		return fmt.Sprintf("%.3fM", float64(n)/1e6)
	case n >= 100_000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	default:
		return strconv.FormatInt(n, 10)
	}
}

// columns is how wide the text is.
const columns = 100

// wrap writes a line, and what does not fit below it, indented a little more.
func wrap(w *bytes.Buffer, line string) {
	line = strings.TrimRight(line, " \n")
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	for utf8.RuneCountInString(line) > columns {
		cut := strings.LastIndex(line[:columns], " ")
		if cut <= len(indent)+2 {
			break // one word that is too long
		}
		fmt.Fprintln(w, line[:cut])
		line = indent + "  " + line[cut+1:]
	}
	fmt.Fprintln(w, line)
}
